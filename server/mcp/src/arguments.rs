//! From the arguments of a tool to a command line, so that both mean, and refuse, the same.

use std::ffi::OsString;

use serde_json::{Map, Value};

use crate::bound::LIMIT;
use crate::tool::{FieldKind, Tool};

/// What a call of a tool asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallArguments {
    /// The options, as a command line has them.
    pub options: Vec<OsString>,
    /// The words behind them; the path is none of them.
    pub words: Vec<OsString>,
    /// The file to look at, or that the text stands for.
    pub path: Option<String>,
    /// The text to look at.
    pub text: Option<String>,
    /// Characters of the answer at most.
    pub limit: usize,
}

impl CallArguments {
    /// Reads the arguments of a tool.
    ///
    /// # Errors
    ///
    /// A sentence, where they are wrong.
    pub fn read(tool: &Tool, arguments: &Map<String, Value>) -> Result<CallArguments, String> {
        if let Some(unknown) = arguments.keys().find(|name| !tool.names().any(|known| known == *name)) {
            let known: Vec<&str> = tool.names().collect();
            return Err(format!("`{}` takes no `{unknown}`; it takes `{}`", tool.name, known.join("`, `")));
        }
        let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
        let (mut options, mut words) = (Vec::new(), Vec::new());
        for field in tool.fields() {
            let Some(value) = given(field.name) else { continue };
            let wrong = |what: &str| Err(format!("`{}` is {what}", field.name));
            match field.kind {
                FieldKind::Flag(option) => match value.as_bool() {
                    Some(true) => options.push(option.into()),
                    Some(false) => {}
                    None => return wrong("true or false"),
                },
                FieldKind::Text(option) | FieldKind::Number(option) | FieldKind::Choice(option, _) => {
                    match plain(value) {
                        Some(text) => options.push(format!("{option}={text}").into()),
                        None => return wrong("a text or a number"),
                    }
                }
                FieldKind::Pairs(option) => {
                    let Some(members) = value.as_object() else { return wrong("an object") };
                    for (name, value) in members {
                        let Some(text) = plain(value) else { return wrong("an object of texts and numbers") };
                        options.push(format!("{option}={name}={text}").into());
                    }
                }
                FieldKind::Word => match plain(value) {
                    Some(text) => words.push(text.into()),
                    None => return wrong("a text"),
                },
            }
        }
        let text_of = |name: &str| match given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{name}` is a text")),
        };
        let (path, text) = (text_of("path")?, text_of("text")?);
        match path.as_deref() {
            None if tool.source.is_some() && text.is_none() => {
                return Err("what to look at? Give `path` or `text`".to_owned());
            }
            // Standard input is where the messages come from.
            Some("-" | "") => return Err("`path` names a file".to_owned()),
            _ => {}
        }
        let limit = match given("limit") {
            None => LIMIT,
            Some(limit) => limit.as_u64().ok_or("`limit` is a number")?.clamp(1000, 1 << 24) as usize,
        };
        Ok(CallArguments { options, words, path, text, limit })
    }
}

/// A value as the command line has it; a `bool` as Python has it.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Parameter;
    use serde_json::json;

    const FIELDS: &[Parameter] = &[
        Parameter::new("deep", FieldKind::Flag("--deep"), ""),
        Parameter::new("seed", FieldKind::Number("--seed"), ""),
        Parameter::new("set", FieldKind::Pairs("--set"), ""),
        Parameter::new("kind", FieldKind::Word, ""),
    ];
    const TOOL: Tool =
        Tool { name: "look", title: "", description: "", source: Some("A file"), read_only: true, fields: &[FIELDS] };

    fn asked(arguments: &Value) -> Result<CallArguments, String> {
        CallArguments::read(&TOOL, arguments.as_object().expect("an object"))
    }

    #[test]
    fn arguments_become_a_command_line() {
        let given = json!({ "path": "--help", "deep": true, "seed": 3, "set": { "a": 1, "b": "-x", "c": true }, "kind": "k",
            "limit": 5 });
        let made = asked(&given).expect("good");
        assert_eq!(made.options, ["--deep", "--seed=3", "--set=a=1", "--set=b=-x", "--set=c=True"]);
        assert_eq!((made.words, made.path.as_deref(), made.limit), (vec!["k".into()], Some("--help"), 1000));
        let made = asked(&json!({ "text": "module {}", "deep": false, "seed": null })).expect("good");
        assert_eq!((made.options, made.text.as_deref(), made.limit), (vec![], Some("module {}"), LIMIT));
        // The schema says what it takes.
        let schema = jsonschema::validator_for(&TOOL.described()["inputSchema"]).expect("a schema");
        assert!(!schema.is_valid(&given), "a limit below 1000");
        assert!(
            schema.is_valid(&json!({ "path": "k", "set": { "a": 1 } })) && !schema.is_valid(&json!({ "deep": true }))
        );
    }

    #[test]
    fn wrong_arguments_are_said() {
        for (arguments, said) in [
            (json!({}), "Give `path` or `text`"),
            (json!({ "path": "-" }), "names a file"),
            (json!({ "path": 3 }), "`path` is a text"),
            (
                json!({ "path": "k", "sed": 1 }),
                "takes no `sed`; it takes `path`, `text`, `deep`, `seed`, `set`, `kind`, `limit`",
            ),
            (json!({ "path": "k", "deep": "yes" }), "true or false"),
            (json!({ "path": "k", "set": { "a": [] } }), "an object of texts"),
            (json!({ "path": "k", "limit": "no" }), "`limit` is a number"),
        ] {
            let error = asked(&arguments).expect_err("it is wrong");
            assert!(error.contains(said), "{error}");
        }
    }
}
