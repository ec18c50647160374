//! What the server announces: what it serves, and nothing else.

use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DiagnosticOptions, DiagnosticServerCapabilities, DocumentLinkOptions,
    ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability, ImplementationProviderCapability,
    OneOf, RenameOptions, SelectionRangeProviderCapability, SemanticTokensServerCapabilities, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, TypeDefinitionProviderCapability, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use transport::CONTENT_METHOD;

use super::client_config::{ClientConfig, SHOW_PYTHON, SHOW_VERDICT};
use super::extensions::EXTENSIONS;
use super::handlers::{completion, fix_all_action, semantic_tokens, signature_help};
use super::runs::params;

fn kinds(client: &ClientConfig) -> Vec<CodeActionKind> {
    let mut kinds = vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE, fix_all_action::KIND];
    if client.runs.trusted {
        kinds.push(CodeActionKind::SOURCE);
    }
    kinds
}

/// Commands that the server has for this client.
fn commands(client: &ClientConfig) -> Vec<String> {
    let verdict = client.code_lenses.then_some(SHOW_VERDICT);
    let runs = [params::COMMAND, params::REPLAY_COMMAND].into_iter().filter(|_| client.runs.trusted);
    let python = (client.code_lenses && client.runs.trusted).then_some(SHOW_PYTHON);
    verdict.into_iter().chain(runs).chain(python).map(str::to_owned).collect()
}

/// The server's capabilities for this client.
pub(crate) fn server_capabilities(client: &ClientConfig) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: Some(DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some("fencepost".to_owned()),
            // Helpers, launches and settings of other files.
            inter_file_dependencies: true,
            workspace_diagnostics: true,
            ..DiagnosticOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        rename_provider: Some(match client.prepared_renames {
            true => OneOf::Right(RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            }),
            false => OneOf::Left(true),
        }),
        call_hierarchy_provider: client.call_hierarchy.then_some(CallHierarchyServerCapability::Simple(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_link_provider: client.document_links.then(|| DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        completion_provider: client.completion.then(|| CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(completion::trigger_characters()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: client.signatures.then(|| SignatureHelpOptions {
            trigger_characters: Some(signature_help::TRIGGERS.map(str::to_owned).into()),
            ..SignatureHelpOptions::default()
        }),
        semantic_tokens_provider: client
            .semantic_tokens
            .then(|| SemanticTokensServerCapabilities::SemanticTokensOptions(semantic_tokens::options())),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        code_action_provider: client.action_literals.then(|| {
            CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(kinds(client)),
                resolve_provider: client.lazy_edits.then_some(true),
                ..CodeActionOptions::default()
            })
        }),
        inlay_hint_provider: client.inlay_hints.then_some(OneOf::Left(true)),
        code_lens_provider: client.code_lenses.then_some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(commands(client))
            .filter(|commands| !commands.is_empty())
            .map(|commands| ExecuteCommandOptions { commands, ..ExecuteCommandOptions::default() }),
        experimental: Some(json!({ "fencepost": { "requests": beyond_the_protocol(), "runs": runs(client) } })),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            ..WorkspaceServerCapabilities::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// What kernels can be run on: `{ "cpu": true, "gpu": false, "gsan": false }`.
fn runs(client: &ClientConfig) -> Value {
    client.runs.served().into_iter().map(|(name, served)| (name.to_owned(), Value::Bool(served))).collect()
}

/// Requests that the protocol does not know.
fn beyond_the_protocol() -> Vec<&'static str> {
    EXTENSIONS.into_iter().filter(|method| *method != CONTENT_METHOD).collect()
}

/// Whether the client asks for actions of a kind. Kinds are hierarchical: who asks for `source` takes
/// `source.fencepost`, who asks for everything takes all.
pub(crate) fn wants_action(kind: &CodeActionKind, params: &CodeActionParams) -> bool {
    let kind = kind.as_str();
    let takes = |only: &CodeActionKind| {
        let only = only.as_str();
        only.is_empty() || kind.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    params.context.only.as_ref().is_none_or(|only| only.iter().any(takes))
}
