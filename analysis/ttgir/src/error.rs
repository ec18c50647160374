//! What can be wrong with a text.

use base::TextRange;

/// One mistake, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where the mistake stands in the text.
    pub range: TextRange,
    /// What, in words.
    pub message: String,
    /// What, as a fixed short name.
    pub code: &'static str,
    /// Other places that explain it.
    pub related: Vec<(TextRange, String)>,
    /// What should probably stand at `range` instead.
    pub suggestion: Option<String>,
}

impl SyntaxError {
    pub(super) fn new(range: TextRange, code: &'static str, message: impl Into<String>) -> SyntaxError {
        SyntaxError { range, message: message.into(), code, related: Vec::new(), suggestion: None }
    }

    pub(super) fn suggest(mut self, suggestion: Option<String>) -> SyntaxError {
        if let Some(word) = &suggestion {
            self.message.push_str(&format!("; did you mean `{word}`?"));
        }
        self.suggestion = suggestion;
        self
    }

    pub(super) fn relate(mut self, range: TextRange, message: impl Into<String>) -> SyntaxError {
        self.related.push((range, message.into()));
        self
    }
}
