//! Notifications about documents and files, as messages to the state thread.

use engine::is_python;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, TextDocumentItem,
    VersionedTextDocumentIdentifier, WorkspaceFolder,
};

use crate::lsp::state::StateMessage;
use workspace::absolute;

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

/// `textDocument/didSave`: only of Python and of settings does what is on disk matter.
pub(crate) fn did_save(params: DidSaveTextDocumentParams) -> Option<StateMessage> {
    let uri = params.text_document.uri;
    let path = uri.path().as_str();
    (is_python(path) || path.ends_with("/fencepost.toml")).then_some(StateMessage::Saved(uri))
}

/// `workspace/didChangeWatchedFiles`.
pub(crate) fn did_change_watched_files(params: DidChangeWatchedFilesParams) -> StateMessage {
    StateMessage::FilesChanged(params.changes.into_iter().map(|change| change.uri).collect())
}

/// `workspace/didChangeWorkspaceFolders`.
pub(crate) fn did_change_workspace_folders(params: DidChangeWorkspaceFoldersParams) -> StateMessage {
    let paths = |folders: Vec<WorkspaceFolder>| {
        folders.iter().filter_map(|folder| folder.uri.to_file_path()).map(|path| absolute(&path)).collect()
    };
    StateMessage::FoldersChanged { added: paths(params.event.added), removed: paths(params.event.removed) }
}

/// `textDocument/didClose`.
pub(crate) fn did_close(params: DidCloseTextDocumentParams) -> StateMessage {
    StateMessage::Close { uri: params.text_document.uri }
}
