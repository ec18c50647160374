//! Attributes of an op.

use std::fmt;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attr {
    /// It is there, and that is all: `is_async`.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of a type: `4 : i32`, and `4` where the form spells it in place.
    Int(i128, &'static str),
    /// `array<i32: 1, 0>`.
    Ints(Vec<i64>),
    /// A case of an enum, by its keyword: `fadd`.
    Word(String),
    /// `"cuda:90"`.
    Text(String),
    /// The name of a function.
    Symbol(String),
    /// An attribute of a dialect, as it is written: `#ttng.redOp<max>`.
    Dialect(String),
}

impl Attr {
    /// As the form spells it in place: without the type of a number.
    pub(super) fn in_place(&self) -> String {
        match self {
            Attr::Int(value, _) => value.to_string(),
            other => other.to_string(),
        }
    }
}

/// `1, 0`.
pub(super) fn comma_separated<T: fmt::Display>(parts: impl IntoIterator<Item = T>) -> String {
    let parts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
    parts.join(", ")
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::Unit => Ok(()),
            Attr::Bool(value) => write!(f, "{value}"),
            Attr::Int(value, ty) => write!(f, "{value} : {ty}"),
            Attr::Ints(values) if values.is_empty() => f.write_str("array<i32>"),
            Attr::Ints(values) => write!(f, "array<i32: {}>", comma_separated(values)),
            Attr::Word(word) | Attr::Dialect(word) => f.write_str(word),
            Attr::Text(text) => write!(f, "\"{text}\""),
            Attr::Symbol(name) => write!(f, "@{name}"),
        }
    }
}

impl From<bool> for Attr {
    fn from(value: bool) -> Attr {
        Attr::Bool(value)
    }
}

/// A number of 32 bits, as most are.
impl From<i64> for Attr {
    fn from(value: i64) -> Attr {
        Attr::Int(value.into(), "i32")
    }
}

impl From<&str> for Attr {
    fn from(word: &str) -> Attr {
        Attr::Word(word.to_owned())
    }
}

impl From<Vec<i64>> for Attr {
    fn from(values: Vec<i64>) -> Attr {
        Attr::Ints(values)
    }
}
