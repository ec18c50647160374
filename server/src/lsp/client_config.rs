//! What the client said it can do, reduced to what the server asks about.

use tower_lsp::ls_types::{ClientCapabilities, MarkupKind};

use super::position::Encoding;
use super::runs::params::RunCapabilities;
use transport::Refreshable;

/// What the client can do; what it does not state it cannot.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientConfig {
    /// How columns are counted.
    pub(crate) encoding: Encoding,
    /// It asks for diagnostics itself.
    pub(crate) pull_diagnostics: bool,
    /// It shows how far the analysis of each kernel is.
    pub(crate) status: bool,
    /// Diagnostics may carry related places.
    pub(crate) related_information: bool,
    /// Diagnostics may carry a link.
    pub(crate) code_links: bool,
    /// Diagnostics may carry data.
    pub(crate) diagnostic_data: bool,
    /// Hovers may be Markdown.
    pub(crate) markdown: bool,
    /// Symbols may be a tree.
    pub(crate) symbol_tree: bool,
    /// Edits may name the version they are for.
    pub(crate) versioned_edits: bool,
    /// It asks what a rename is about first.
    pub(crate) prepared_renames: bool,
    /// It shows who calls whom.
    pub(crate) call_hierarchy: bool,
    /// It shows links.
    pub(crate) document_links: bool,
    /// Code actions may be literals.
    pub(crate) action_literals: bool,
    /// It asks for the edit of a code action when that is chosen.
    pub(crate) lazy_edits: bool,
    /// Progress can be shown.
    pub(crate) progress: bool,
    /// It shows completions.
    pub(crate) completion: bool,
    /// Completions may say what they insert before and what they replace.
    pub(crate) insert_replace: bool,
    /// It shows signatures.
    pub(crate) signatures: bool,
    /// Parts of signatures may be given by their place.
    pub(crate) label_offsets: bool,
    /// It paints semantic tokens.
    pub(crate) semantic_tokens: bool,
    /// It shows inlay hints.
    pub(crate) inlay_hints: bool,
    /// It knows the command that shows a report.
    pub(crate) report_lenses: bool,
    /// It knows the command that shows a timeline.
    pub(crate) timeline_lenses: bool,
    /// It knows the command that shows the ops of a kernel in Python.
    pub(crate) ir_lenses: bool,
    /// It knows the command that shows the program of a kernel in TTGIR beside it.
    pub(crate) program_lenses: bool,
    /// It shows code lenses.
    pub(crate) code_lenses: bool,
    /// It watches files that it is told of.
    pub(crate) watches_files: bool,
    /// It watches files in folders outside of the workspace, too.
    pub(crate) watches_folders: bool,
    /// It says when its settings change where it is told to.
    pub(crate) registers_settings: bool,
    /// It can be asked for its settings.
    pub(crate) gives_settings: bool,
    /// What it asks for again where it is told to.
    pub(crate) refreshable: Refreshable,
    /// What can be run.
    pub(crate) runs: RunCapabilities,
}

/// The client's command that shows a kernel's report; its argument is a [`super::handlers::code_lens::KernelLens`].
pub(crate) const SHOW_REPORT: &str = "fencepost.showReport";

/// The client's command that shows a kernel's run, with the same argument.
pub(crate) const SHOW_TIMELINE: &str = "fencepost.showTimeline";

/// The server's command that says a kernel's verdict in full, with the same argument.
pub(crate) const SHOW_VERDICT: &str = "fencepost.showVerdict";

/// The server's command that says which Python was asked for Triton and has none.
pub(crate) const SHOW_PYTHON: &str = "fencepost.showPython";

/// The client's command that shows the ops as which a kernel in Python is analysed, with a lens' argument.
pub(crate) const SHOW_IR: &str = "fencepost.showIr";

/// The client's command that shows the program of an op beside it; its argument names the document and a position.
pub(crate) const SHOW_LINKED: &str = "fencepost.showLinked";

impl ClientConfig {
    /// Reads the capabilities of `initialize`.
    pub(crate) fn new(client: &ClientCapabilities, runs: RunCapabilities) -> ClientConfig {
        let text = client.text_document.clone().unwrap_or_default();
        let encodings = client.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let pushed = text.publish_diagnostics.unwrap_or_default();
        let pulled = text.diagnostic.clone().unwrap_or_default();
        let formats = text.hover.and_then(|hover| hover.content_format).unwrap_or_default();
        let item = text.completion.as_ref().and_then(|completion| completion.completion_item.as_ref());
        let signature = text.signature_help.as_ref().and_then(|help| help.signature_information.as_ref());
        let signature = signature.and_then(|information| information.parameter_information.as_ref());
        let workspace = client.workspace.as_ref();
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let is = |flag: Option<bool>| flag.unwrap_or(false);
        let refreshable = Refreshable {
            diagnostics: is(workspace.and_then(|it| it.diagnostics.as_ref()).and_then(|it| it.refresh_support)),
            inlay_hints: is(workspace.and_then(|it| it.inlay_hint.as_ref()).and_then(|it| it.refresh_support)),
            code_lenses: is(workspace.and_then(|it| it.code_lens.as_ref()).and_then(|it| it.refresh_support)),
        };
        ClientConfig {
            encoding: Encoding::negotiate(encodings.unwrap_or_default()),
            pull_diagnostics: text.diagnostic.is_some(),
            status: client.experimental.as_ref().is_some_and(|it| it.get("fencepostStatus") == Some(&true.into())),
            related_information: is(pushed.related_information) || is(pulled.related_information),
            code_links: is(pushed.code_description_support) || is(pulled.code_description_support),
            diagnostic_data: is(pushed.data_support) || is(pulled.data_support),
            markdown: formats.contains(&MarkupKind::Markdown),
            symbol_tree: is(text.document_symbol.and_then(|symbol| symbol.hierarchical_document_symbol_support)),
            versioned_edits: is(edits.and_then(|edit| edit.document_changes)),
            prepared_renames: is(text.rename.and_then(|rename| rename.prepare_support)),
            call_hierarchy: text.call_hierarchy.is_some(),
            document_links: text.document_link.is_some(),
            lazy_edits: text.code_action.as_ref().is_some_and(|action| {
                let resolved = action.resolve_support.as_ref().map(|it| it.properties.as_slice()).unwrap_or_default();
                is(action.data_support) && resolved.iter().any(|property| property == "edit")
            }),
            action_literals: text.code_action.is_some_and(|action| action.code_action_literal_support.is_some()),
            progress: is(client.window.as_ref().and_then(|window| window.work_done_progress)),
            completion: text.completion.is_some(),
            insert_replace: is(item.and_then(|item| item.insert_replace_support)),
            signatures: text.signature_help.is_some(),
            label_offsets: is(signature.and_then(|it| it.label_offset_support)),
            semantic_tokens: text.semantic_tokens.is_some(),
            inlay_hints: text.inlay_hint.is_some(),
            code_lenses: text.code_lens.is_some(),
            report_lenses: text.code_lens.is_some() && commands(client).any(|command| command == SHOW_REPORT),
            ir_lenses: text.code_lens.is_some() && commands(client).any(|command| command == SHOW_IR),
            program_lenses: text.code_lens.is_some() && commands(client).any(|command| command == SHOW_LINKED),
            watches_files: is(workspace
                .and_then(|it| it.did_change_watched_files.as_ref())
                .and_then(|it| it.dynamic_registration)),
            watches_folders: workspace
                .and_then(|it| it.did_change_watched_files.as_ref())
                .is_some_and(|it| is(it.dynamic_registration) && is(it.relative_pattern_support)),
            registers_settings: is(workspace
                .and_then(|it| it.did_change_configuration.as_ref())
                .and_then(|it| it.dynamic_registration)),
            gives_settings: is(workspace.and_then(|it| it.configuration)),
            refreshable,
            timeline_lenses: text.code_lens.is_some() && commands(client).any(|command| command == SHOW_TIMELINE),
            runs,
        }
    }
}

/// Commands that the client says it has, as `experimental.commands.commands`.
fn commands(client: &ClientCapabilities) -> impl Iterator<Item = &str> {
    let commands = client.experimental.as_ref().and_then(|it| it.pointer("/commands/commands"));
    commands.and_then(|commands| commands.as_array()).into_iter().flatten().filter_map(|command| command.as_str())
}
