//! A tool is a command of a command line: from what it takes its JSON schema and its command lines are made.

use serde_json::{Map, Value, json};

/// A tool: a command of the command line.
#[derive(Debug)]
pub struct Tool {
    /// The name of the command.
    pub name: &'static str,
    /// What people read.
    pub title: &'static str,
    /// What an agent reads.
    pub description: &'static str,
    /// What it looks at, in words; `None` for a tool that looks at no file.
    pub source: Option<&'static str>,
    /// Whether it only reads; a client may ask its user before it calls others.
    pub read_only: bool,
    /// What it takes beside that.
    pub fields: &'static [&'static [Parameter]],
}

/// Something that a tool takes.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: FieldKind,
    /// What an agent reads.
    pub help: &'static str,
}

/// What a field is, and how it is said on the command line.
#[derive(Debug)]
pub enum FieldKind {
    /// An option without a value.
    Flag(&'static str),
    /// An option with a value.
    Text(&'static str),
    /// An option with a number.
    Number(&'static str),
    /// An option with one of these values.
    Choice(&'static str, &'static [&'static str]),
    /// An option that is given once for each member, as `NAME=VALUE`.
    Pairs(&'static str),
    /// A word of its own.
    Word,
}

impl Parameter {
    /// A field with this name.
    pub const fn new(name: &'static str, kind: FieldKind, help: &'static str) -> Parameter {
        Parameter { name, kind, help }
    }
}

impl Tool {
    /// What it takes beside a source.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Parameter> {
        self.fields.iter().copied().flatten()
    }

    /// The names of all that it takes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let source: &[&str] = if self.source.is_some() { &["path", "text"] } else { &[] };
        source.iter().copied().chain(self.fields().map(|field| field.name)).chain(["limit"])
    }

    /// What a client is told of it.
    pub(crate) fn described(&self) -> Value {
        let mut properties = Map::new();
        let mut add = |name: &str, schema: Value| properties.insert(name.to_owned(), schema);
        if let Some(source) = self.source {
            let path = format!("{source}, best as an absolute path. With `text`: the file that the text stands for");
            add("path", json!({ "type": "string", "description": path }));
            add("text", json!({ "type": "string", "description": "The text to look at, in place of what is on disk" }));
        }
        for field in self.fields() {
            add(field.name, field.schema());
        }
        let limit = format!("Characters of the answer's text at most; {} by default", crate::bound::LIMIT);
        add("limit", json!({ "type": "integer", "minimum": 1000, "description": limit }));
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if self.source.is_some() {
            schema["anyOf"] = json!([{ "required": ["path"] }, { "required": ["text"] }]);
        }
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema,
            "annotations": { "title": self.title, "readOnlyHint": self.read_only, "openWorldHint": false },
        })
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            FieldKind::Flag(_) => json!({ "type": "boolean" }),
            FieldKind::Text(_) | FieldKind::Word => json!({ "type": "string" }),
            FieldKind::Number(_) => json!({ "type": "number", "minimum": 0 }),
            FieldKind::Choice(_, values) => json!({ "type": "string", "enum": values }),
            FieldKind::Pairs(_) => {
                json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
            }
        };
        schema["description"] = json!(self.help);
        schema
    }
}
