//! The text of a document as its editor has it, with positions in the session's encoding.

use serde_json::{Value, json};

/// What columns count in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    pub(crate) fn named(name: Option<&str>) -> Encoding {
        match name {
            Some("utf-8") => Encoding::Utf8,
            Some("utf-32") => Encoding::Utf32,
            _ => Encoding::Utf16,
        }
    }

    fn length(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
            Encoding::Utf32 => text.chars().count(),
        }
    }
}

pub(crate) struct Mirror {
    pub(crate) text: String,
    /// Where each line starts.
    starts: Vec<usize>,
}

impl Mirror {
    pub(crate) fn new(text: String) -> Mirror {
        let mut mirror = Mirror { text, starts: Vec::new() };
        mirror.count();
        mirror
    }

    fn count(&mut self) {
        let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        self.starts = std::iter::once(0).chain(ends).collect();
    }

    pub(crate) fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Where a line starts, and its text without its end.
    pub(crate) fn line(&self, number: usize) -> (usize, &str) {
        let start = self.starts.get(number).copied().unwrap_or(self.text.len());
        let rest = self.text.get(start..).unwrap_or("");
        (start, rest.split('\n').next().unwrap_or("").trim_end_matches('\r'))
    }

    pub(crate) fn position(&self, at: usize, encoding: Encoding) -> Value {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let before = self.text.get(self.starts[line]..at).unwrap_or("");
        json!({ "line": line, "character": encoding.length(before) })
    }

    /// Makes an edit, and says it in the protocol's words.
    pub(crate) fn edit(&mut self, start: usize, end: usize, with: &str, encoding: Encoding) -> Value {
        let range = json!({ "start": self.position(start, encoding), "end": self.position(end, encoding) });
        self.text.replace_range(start..end, with);
        self.count();
        json!([{ "range": range, "text": with }])
    }
}
