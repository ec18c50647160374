//! The JSON schemas of `fencepost.toml` and of an editor's settings, made from the table.

use serde_json::{Map, Value, json};

use crate::table::{self, SETTINGS, Said, Setting, Takes};

/// The schema of `fencepost.toml`, with which editors of TOML check and complete it.
pub fn schema() -> Value {
    let rows = SETTINGS.iter().filter(|row| row.said == Said::Anywhere);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": crate::FILE,
        "description": "Settings of Fencepost for the files below a folder",
        "type": "object",
        "additionalProperties": false,
        "properties": properties(rows, &|row| row.name.to_owned()),
    })
}

/// The settings of an editor below `fencepost.`, by their names there, as schemas.
pub fn editor_properties() -> Map<String, Value> {
    let name = |row: &Setting| row.editor_name();
    let said = |row: &Setting| {
        let mut value = property(row, &name);
        // Editors take the default of a type for what is not set, and an empty text is no target.
        match row.takes {
            Takes::Target | Takes::Release | Takes::Text => {
                value["type"] = json!(["string", "null"]);
                value["default"] = Value::Null;
            }
            Takes::Texts => value["default"] = json!([]),
            _ if row.is_table() => value["default"] = json!({}),
            _ => {}
        }
        (format!("fencepost.{}", row.editor_name()), value)
    };
    SETTINGS.iter().map(said).collect()
}

fn properties<'a>(rows: impl Iterator<Item = &'a Setting>, name: &dyn Fn(&Setting) -> String) -> Map<String, Value> {
    rows.map(|row| (name(row), property(row, name))).collect()
}

fn property(row: &Setting, name: &dyn Fn(&Setting) -> String) -> Value {
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let mut out = match row.takes {
        Takes::Target => json!({ "type": "string", "examples": table::TARGETS }),
        Takes::Release => json!({ "type": "string", "pattern": "^3\\.[0-9]+(\\..*)?$" }),
        Takes::Word(words) => json!({ "type": "string", "enum": words }),
        Takes::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Takes::Switch => json!({ "type": "boolean" }),
        Takes::Text => json!({ "type": "string" }),
        Takes::Texts => json!({ "anyOf": [{ "type": "string" }, texts] }),
        Takes::Rows(rows) => json!({ "type": "object", "additionalProperties": false,
            "properties": properties(rows.iter(), name) }),
        Takes::Kinds => {
            let levels: Vec<&str> = table::levels().collect();
            let kinds: Map<String, Value> =
                table::kinds().map(|kind| (kind.to_owned(), json!({ "enum": levels }))).collect();
            json!({ "type": "object", "additionalProperties": false, "properties": kinds })
        }
        Takes::Values => json!({ "type": "object",
            "additionalProperties": { "anyOf": [scalar, { "type": "array", "items": scalar }] } }),
        Takes::Map => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Takes::Recipes => json!({ "type": "object",
            "additionalProperties": { "anyOf": [{ "type": "string" }, texts] } }),
    };
    out["description"] = row.documentation.into();
    if let Some(usual) = row.usual() {
        out["default"] = serde_json::from_str(&usual).unwrap_or(Value::Null);
    }
    out
}
