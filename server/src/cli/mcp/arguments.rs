//! From the arguments of a tool to a command line, so that both mean, and refuse, the same.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use serde_json::{Map, Value};

use super::super::args::{Args, Command};
use super::super::sources::{Origin, Source, looks_like_python};
use super::tools::{FieldKind, Tool};
use crate::workspace::absolute;

/// What a call of a tool asks for.
#[derive(Debug)]
pub(super) struct Asked {
    /// As the command line would.
    pub(super) command: Command,
    /// The text that came with it.
    pub(super) given: Option<Source>,
    /// Characters of the answer at most.
    pub(super) limit: usize,
}

/// Reads the arguments of a tool.
///
/// # Errors
///
/// A sentence, or what the command line says, where they are wrong.
pub(super) fn read(tool: &Tool, arguments: &Map<String, Value>) -> Result<Asked, String> {
    if let Some(unknown) = arguments.keys().find(|name| !tool.takes(name)) {
        let known: Vec<&str> = tool.fields().map(|field| field.name).chain(["path", "text", "limit"]).collect();
        let hint = settings::nearest(unknown, known.into_iter().filter(|name| tool.takes(name)));
        let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("`{}` takes no `{unknown}`{hint}", tool.name));
    }
    let mut line: Vec<OsString> = vec!["fencepost".into(), tool.name.into()];
    if tool.source {
        line.push("--color=never".into());
    }
    let mut words: Vec<OsString> = Vec::new();
    for field in tool.fields() {
        let Some(value) = arguments.get(field.name).filter(|value| !value.is_null()) else { continue };
        let wrong = |what: &str| Err(format!("`{}` is {what}", field.name));
        match field.kind {
            FieldKind::Flag(option) => match value.as_bool() {
                Some(true) => line.push(option.into()),
                Some(false) => {}
                None => return wrong("true or false"),
            },
            FieldKind::Text(option) | FieldKind::Number(option) | FieldKind::Choice(option, _) => match plain(value) {
                Some(text) => line.push(format!("{option}={text}").into()),
                None => return wrong("a text or a number"),
            },
            FieldKind::Pairs(option) => {
                let Some(members) = value.as_object() else { return wrong("an object") };
                for (name, value) in members {
                    let Some(text) = plain(value) else { return wrong("an object of texts and numbers") };
                    line.push(format!("{option}={name}={text}").into());
                }
            }
            FieldKind::Word => match plain(value) {
                Some(text) => words.push(text.into()),
                None => return wrong("a text"),
            },
        }
    }
    let given = if tool.source { source(arguments, &mut words)? } else { None };
    line.push("--".into());
    line.extend(words);
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => super::LIMIT,
        Some(limit) => limit.as_u64().ok_or("`limit` is a number")?.clamp(1000, 1 << 24) as usize,
    };
    let command = Args::try_parse_from(line).map_err(|error| said(&error))?.command;
    Ok(Asked { command, given, limit })
}

/// The text that is given, and the path to look at.
fn source(arguments: &Map<String, Value>, words: &mut Vec<OsString>) -> Result<Option<Source>, String> {
    let text_of = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(format!("`{name}` is a text")),
    };
    let path = match (text_of("path")?, text_of("text")?) {
        (None, None) => return Err("what to look at? Give `path` or `text`".to_owned()),
        // Standard input is where the messages come from.
        (Some("-" | ""), None) => return Err("`path` names a file".to_owned()),
        (Some(path), None) => {
            words.push(path.into());
            return Ok(None);
        }
        (Some(path), Some(text)) => (absolute(Path::new(path)), text),
        (None, Some(text)) => {
            let name = if looks_like_python(text) { "text.py" } else { "text.ttgir" };
            (PathBuf::from(name), text)
        }
    };
    let (path, text) = path;
    words.push(path.clone().into());
    Ok(Some(Source { origin: Origin::Given(path, Arc::from(text)), named: true }))
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

/// What clap says, without the usage of a command line.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text).split("\n\nFor more").next().unwrap_or(&text);
    text.trim_start_matches("error: ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(tool: &str, arguments: &Value) -> Result<Asked, String> {
        let tool = Tool::named(tool).expect("a tool");
        read(tool, arguments.as_object().expect("an object"))
    }

    #[test]
    fn arguments_are_those_of_the_command_line() {
        let made =
            asked("check", &json!({ "path": "--help", "set": { "slots": 3 }, "explain_proof": true })).expect("good");
        let Command::Check(check) = made.command else { panic!("a check") };
        assert_eq!((check.paths, check.explain_proof), (vec![PathBuf::from("--help")], true));
        assert_eq!(check.python.set, [("slots".to_owned(), "3".to_owned())]);
        let made = asked("run", &json!({ "text": "module {}", "grid": "4,4", "arguments": { "M": 256 }, "seeds": 3 }));
        let made = made.expect("good");
        let Command::Run(run) = made.command else { panic!("a run") };
        assert_eq!((run.grid, run.seeds, run.path), (Some([4, 4, 1]), 3, PathBuf::from("text.ttgir")));
        assert!(made.given.is_some());
    }

    #[test]
    fn wrong_arguments_are_said() {
        for (tool, arguments, said) in [
            ("check", json!({}), "Give `path` or `text`"),
            ("check", json!({ "path": "-" }), "names a file"),
            ("check", json!({ "path": 3 }), "`path` is a text"),
            ("check", json!({ "path": "k.py", "targe": "sm_90" }), "did you mean `target`?"),
            ("check", json!({ "path": "k.py", "target": "sm_9" }), "sm_90"),
            ("check", json!({ "path": "k.py", "explain_proof": "yes" }), "true or false"),
            ("trace", json!({ "path": "k.py", "finding": 0 }), "invalid value '0'"),
            ("run", json!({ "path": "k.py", "backend": "gpu" }), "gpu"),
            ("explain", json!({ "path": "k.py" }), "takes no `path`"),
        ] {
            let error = asked(tool, &arguments).map(|_| ()).expect_err("it is wrong");
            assert!(error.contains(said) && !error.contains("Usage"), "{error}");
        }
    }
}
