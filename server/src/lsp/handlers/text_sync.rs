//! Notifications about documents and files, as messages to the state thread.

use engine::is_python;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    TextDocumentItem, VersionedTextDocumentIdentifier,
};

use crate::lsp::state::StateMessage;

/// `textDocument/didOpen`.
pub(crate) fn did_open(params: DidOpenTextDocumentParams) -> StateMessage {
    let TextDocumentItem { uri, language_id, version, text } = params.text_document;
    StateMessage::Open { uri, language: language_id, version, text }
}

/// `textDocument/didChange`.
pub(crate) fn did_change(params: DidChangeTextDocumentParams) -> StateMessage {
    let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
    StateMessage::Change { uri, version, changes: params.content_changes }
}

/// `textDocument/didSave`: only of Python does what is on disk matter.
pub(crate) fn did_save(params: &DidSaveTextDocumentParams) -> Option<StateMessage> {
    is_python(params.text_document.uri.path().as_str()).then_some(StateMessage::FilesChanged)
}

/// `textDocument/didClose`.
pub(crate) fn did_close(params: DidCloseTextDocumentParams) -> StateMessage {
    StateMessage::Close { uri: params.text_document.uri }
}
