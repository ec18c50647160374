//! What the JSON documents share: the tool, positions, ranges and inputs.

use base::TextRange;
use serde::Serialize;

/// The tool that made a document.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tool {
    /// `fencepost`
    name: &'static str,
    /// The version of the tool
    version: &'static str,
}

/// This tool.
pub(crate) const TOOL: Tool = Tool { name: "fencepost", version: env!("CARGO_PKG_VERSION") };

/// Line and character of an offset, both from 0.
pub(crate) type Positions<'a> = &'a dyn Fn(u32) -> (u32, u32);

/// A place in a text, counted from 0
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Position {
    pub(crate) line: u32,
    /// In the units that `positionEncoding` names
    pub(crate) character: u32,
}

/// A part of a text; `end` is one past its last character
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Range {
    start: Position,
    end: Position,
}

impl Range {
    /// A range by the positions of its ends.
    pub(crate) fn new(range: TextRange, positions: Positions<'_>) -> Range {
        let position = |offset| {
            let (line, character) = positions(offset);
            Position { line, character }
        };
        Range { start: position(range.start), end: position(range.end) }
    }

    /// The same; nothing for what has no place in the text.
    pub(crate) fn placed(range: TextRange, positions: Positions<'_>) -> Option<Range> {
        (!range.is_empty()).then(|| Range::new(range, positions))
    }
}

/// A value that a kernel was given
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Input<'a> {
    name: &'a str,
    value: i64,
}

impl Input<'_> {
    /// Inputs by name and value.
    pub(crate) fn all(inputs: &[(String, i64)]) -> Vec<Input<'_>> {
        inputs.iter().map(|(name, value)| Input { name, value: *value }).collect()
    }
}

/// A document as a value, whose members are sorted by name.
pub(crate) fn value(document: impl Serialize) -> serde_json::Value {
    // The types of documents have string keys and finite numbers only: this cannot fail.
    serde_json::to_value(document).unwrap_or_default()
}
