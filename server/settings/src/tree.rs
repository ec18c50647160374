//! Settings as a tree, whether they are TOML with places or JSON without.

use std::ops::Range;

use base::TextRange;
use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its place; empty in JSON.
    pub(crate) range: TextRange,
    /// The value.
    pub(crate) value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Switch(bool),
    Number(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// What no setting takes.
    Other(&'static str),
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where its key stands.
    pub(crate) key_range: TextRange,
    /// Its key.
    pub(crate) key: String,
    /// Its value.
    pub(crate) node: Node,
}

impl Value {
    /// What it is, in words.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Value::Switch(_) => "true or false",
            Value::Number(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(what) => what,
        }
    }
}

/// The rows of a text in TOML, in its order, and what does not parse.
pub(crate) fn toml(text: &str) -> (Vec<Entry>, Vec<(TextRange, String)>) {
    let (whole, errors) = DeTable::parse_recoverable(text);
    let errors = errors.iter().map(|error| {
        let place = error.span().map_or(TextRange::new(0, 0), range);
        (place, error.message().to_owned())
    });
    (entries(whole.get_ref()), errors.collect())
}

fn range(of: Range<usize>) -> TextRange {
    TextRange::new(of.start as u32, of.end as u32)
}

fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    let mut all: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key_range: range(key.span()),
            key: key.get_ref().to_string(),
            node: node(value.get_ref(), range(value.span())),
        })
        .collect();
    all.sort_by_key(|entry| entry.key_range.start);
    all
}

fn node(value: &DeValue<'_>, place: TextRange) -> Node {
    let value = match value {
        DeValue::Boolean(value) => Value::Switch(*value),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Other("a number that is too large"),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::Other("no number"),
        },
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item.get_ref(), range(item.span()))).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table)),
    };
    Node { range: place, value }
}

/// The rows of an object in JSON; `null` is what is not there.
pub(crate) fn json(object: &serde_json::Map<String, Json>) -> Vec<Entry> {
    let rows = object.iter().filter(|(_, value)| !value.is_null());
    let place = TextRange::new(0, 0);
    rows.map(|(key, value)| Entry { key_range: place, key: key.clone(), node: of_json(value) }).collect()
}

fn of_json(value: &Json) -> Node {
    let value = match value {
        Json::Null => Value::Other("null"),
        Json::Bool(value) => Value::Switch(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Number(number),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(of_json).collect()),
        Json::Object(object) => Value::Table(json(object)),
    };
    Node { range: TextRange::new(0, 0), value }
}
