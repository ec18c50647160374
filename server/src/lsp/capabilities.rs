//! What the server announces: what it serves, and nothing else.

use tower_lsp::ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, DiagnosticOptions,
    DiagnosticServerCapabilities, ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability,
    OneOf, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};

use super::facts::Facts;
use super::runs;

fn kinds(facts: &Facts) -> Vec<CodeActionKind> {
    let mut kinds = vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE];
    if facts.offers.trusted {
        kinds.push(CodeActionKind::SOURCE);
    }
    kinds
}

/// The server's capabilities for this client.
pub fn server_capabilities(facts: &Facts) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(facts.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: Some(DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some("fencepost".to_owned()),
            ..DiagnosticOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: facts.action_literals.then(|| {
            CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(kinds(facts)),
                ..CodeActionOptions::default()
            })
        }),
        inlay_hint_provider: facts.hints.then_some(OneOf::Left(true)),
        code_lens_provider: (facts.lenses || (facts.any_lenses && facts.offers.trusted))
            .then_some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: facts.offers.trusted.then(|| ExecuteCommandOptions {
            commands: vec![runs::COMMAND.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
