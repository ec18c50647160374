//! What a language server answers, as an object, so that the wire is compiled without it.

use std::pin::Pin;

use serde_json::Value;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::*;

use crate::notifications::Lost;

/// An answer on its way. Nothing of a request is done before it is polled first, and a service has sent on what the
/// request is about before it awaits anything, so that messages keep their order.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What is served, one row a request and one a notification: methods of the service and of the router that calls
/// it.
macro_rules! served {
    ($each:ident) => {
        $each! {
            requests {
                diagnostic(DocumentDiagnosticParams) -> DocumentDiagnosticReportResult;
                workspace_diagnostic(WorkspaceDiagnosticParams) -> WorkspaceDiagnosticReportResult;
                hover(HoverParams) -> Option<Hover>;
                goto_definition(GotoDefinitionParams) -> Option<GotoDefinitionResponse>;
                goto_type_definition(request::GotoTypeDefinitionParams) -> Option<request::GotoTypeDefinitionResponse>;
                goto_implementation(request::GotoImplementationParams) -> Option<request::GotoImplementationResponse>;
                prepare_rename(TextDocumentPositionParams) -> Option<PrepareRenameResponse>;
                rename(RenameParams) -> Option<WorkspaceEdit>;
                prepare_call_hierarchy(CallHierarchyPrepareParams) -> Option<Vec<CallHierarchyItem>>;
                incoming_calls(CallHierarchyIncomingCallsParams) -> Option<Vec<CallHierarchyIncomingCall>>;
                outgoing_calls(CallHierarchyOutgoingCallsParams) -> Option<Vec<CallHierarchyOutgoingCall>>;
                symbol(WorkspaceSymbolParams) -> Option<WorkspaceSymbolResponse>;
                document_link(DocumentLinkParams) -> Option<Vec<DocumentLink>>;
                references(ReferenceParams) -> Option<Vec<Location>>;
                document_highlight(DocumentHighlightParams) -> Option<Vec<DocumentHighlight>>;
                document_symbol(DocumentSymbolParams) -> Option<DocumentSymbolResponse>;
                folding_range(FoldingRangeParams) -> Option<Vec<FoldingRange>>;
                completion(CompletionParams) -> Option<CompletionResponse>;
                completion_resolve(CompletionItem) -> CompletionItem;
                signature_help(SignatureHelpParams) -> Option<SignatureHelp>;
                semantic_tokens_full(SemanticTokensParams) -> Option<SemanticTokensResult>;
                semantic_tokens_full_delta(SemanticTokensDeltaParams) -> Option<SemanticTokensFullDeltaResult>;
                semantic_tokens_range(SemanticTokensRangeParams) -> Option<SemanticTokensRangeResult>;
                selection_range(SelectionRangeParams) -> Option<Vec<SelectionRange>>;
                inlay_hint(InlayHintParams) -> Option<Vec<InlayHint>>;
                code_lens(CodeLensParams) -> Option<Vec<CodeLens>>;
                execute_command(ExecuteCommandParams) -> Option<Value>;
                code_action(CodeActionParams) -> Option<CodeActionResponse>;
                code_action_resolve(CodeAction) -> CodeAction;
            }
            notifications {
                initialized(InitializedParams);
                did_change_configuration(DidChangeConfigurationParams);
                did_open(DidOpenTextDocumentParams);
                did_change(DidChangeTextDocumentParams);
                did_save(DidSaveTextDocumentParams);
                did_change_watched_files(DidChangeWatchedFilesParams);
                did_change_workspace_folders(DidChangeWorkspaceFoldersParams);
                did_close(DidCloseTextDocumentParams);
            }
        }
    };
}

pub(crate) use served;

macro_rules! language_service {
    (
        requests { $($request:ident($params:ty) -> $result:ty;)* }
        notifications { $($notification:ident($taken:ty);)* }
    ) => {
        /// A language server behind the wire. No notification may block.
        pub trait LanguageService: Send + Sync {
            /// Answers `initialize`.
            ///
            /// # Errors
            ///
            /// Where the client cannot be served.
            fn initialize(&self, params: InitializeParams) -> Result<InitializeResult>;

            /// Takes `shutdown`.
            fn shutdown(&self);

            /// Takes `window/workDoneProgress/cancel`.
            fn cancel_progress(&self, token: &ProgressToken);

            /// Takes that a message could not be read, what it may have been about, and what is wrong with it.
            fn unreadable(&self, what: Lost, why: &str);

            /// Answers a method beyond the protocol.
            fn extension(&self, method: &'static str, params: Value) -> Answer<'_, Value>;

            $(
                #[doc = concat!("Answers `", stringify!($request), "`.")]
                fn $request(&self, params: $params) -> Answer<'_, $result>;
            )*

            $(
                #[doc = concat!("Takes `", stringify!($notification), "`.")]
                fn $notification(&self, params: $taken);
            )*
        }
    };
}

served!(language_service);

macro_rules! names {
    (
        requests { $($request:ident($params:ty) -> $result:ty;)* }
        notifications { $($notification:ident($taken:ty);)* }
    ) => {
        /// The methods of [`LanguageService`] that answer requests.
        pub const REQUESTS: &[&str] = &[$(stringify!($request)),*];

        /// The methods of [`LanguageService`] that take notifications.
        pub const NOTIFICATIONS: &[&str] = &[$(stringify!($notification)),*];
    };
}

served!(names);
