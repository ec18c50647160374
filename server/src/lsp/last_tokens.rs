//! The last full answer of semantic tokens, which the next one is compared with.

use tower_lsp::ls_types::SemanticToken as Token;

/// The last full answer to the client.
#[derive(Debug, Default)]
pub(crate) struct LastTokens {
    number: u64,
    /// It.
    pub(crate) data: Vec<Token>,
}

impl LastTokens {
    /// Takes a new answer and gives its name.
    pub(crate) fn replace(&mut self, data: Vec<Token>) -> String {
        self.number += 1;
        self.data = data;
        self.name()
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.number.to_string()
    }
}
