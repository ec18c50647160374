//! What the client said it can do, reduced to what the server asks about.

use tower_lsp::ls_types::{ClientCapabilities, MarkupKind};

use super::position::Encoding;
use super::runs::Offers;

/// Facts about the client; those it does not state are taken as "cannot".
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// How columns are counted.
    pub encoding: Encoding,
    /// It asks for diagnostics itself.
    pub pull: bool,
    /// Diagnostics may carry related places.
    pub related: bool,
    /// Diagnostics may carry a link.
    pub link: bool,
    /// Diagnostics may carry data.
    pub data: bool,
    /// Hovers may be Markdown.
    pub markdown: bool,
    /// Symbols may be a tree.
    pub symbol_tree: bool,
    /// Edits may name the version they are for.
    pub versioned_edits: bool,
    /// Code actions may be literals.
    pub action_literals: bool,
    /// Progress can be shown.
    pub progress: bool,
    /// It shows inlay hints.
    pub hints: bool,
    /// It knows the command that shows a report.
    pub lenses: bool,
    /// It shows code lenses.
    pub any_lenses: bool,
    /// What can be run.
    pub offers: Offers,
}

/// The command that shows a kernel's report, with the document's name and [`super::report::Lens`].
pub const SHOW_REPORT: &str = "fencepost.showReport";

impl Facts {
    /// Reads the capabilities of `initialize`.
    pub fn of(client: &ClientCapabilities, offers: Offers) -> Facts {
        let text = client.text_document.clone().unwrap_or_default();
        let encodings = client.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let pushed = text.publish_diagnostics.unwrap_or_default();
        let pulled = text.diagnostic.clone().unwrap_or_default();
        let formats = text.hover.and_then(|hover| hover.content_format).unwrap_or_default();
        let edits = client.workspace.as_ref().and_then(|workspace| workspace.workspace_edit.as_ref());
        let is = |flag: Option<bool>| flag.unwrap_or(false);
        Facts {
            encoding: Encoding::negotiate(encodings.unwrap_or_default()),
            pull: text.diagnostic.is_some(),
            related: is(pushed.related_information) || is(pulled.related_information),
            link: is(pushed.code_description_support) || is(pulled.code_description_support),
            data: is(pushed.data_support) || is(pulled.data_support),
            markdown: formats.contains(&MarkupKind::Markdown),
            symbol_tree: is(text.document_symbol.and_then(|symbol| symbol.hierarchical_document_symbol_support)),
            versioned_edits: is(edits.and_then(|edit| edit.document_changes)),
            action_literals: text.code_action.is_some_and(|action| action.code_action_literal_support.is_some()),
            progress: is(client.window.as_ref().and_then(|window| window.work_done_progress)),
            hints: text.inlay_hint.is_some(),
            any_lenses: text.code_lens.is_some(),
            lenses: text.code_lens.is_some() && commands(client).any(|command| command == SHOW_REPORT),
            offers,
        }
    }
}

/// Commands that the client says it has, as `experimental.commands.commands`.
fn commands(client: &ClientCapabilities) -> impl Iterator<Item = &str> {
    let commands = client.experimental.as_ref().and_then(|it| it.pointer("/commands/commands"));
    commands.and_then(|commands| commands.as_array()).into_iter().flatten().filter_map(|command| command.as_str())
}
