//! `textDocument/hover`: as Markdown, or as plain text for clients that show no Markdown.

mod report;
mod text;

use base::{Cancel, TextRange};
use engine::Source;
use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use super::verdict;
use crate::lsp::snapshot::Snapshot;

/// The hover at a position.
pub(crate) fn hover(snapshot: &Snapshot, position: Position) -> Option<Hover> {
    let offset = snapshot.mapper().offset(position);
    let (mut hover, language) = match &*snapshot.source {
        Source::Ir(document) => (ide::hover(document, offset)?, "ttgir"),
        Source::Other(text) => return settings_hover(snapshot, text, offset),
        Source::Python(file) => {
            let elaboration = snapshot.elaboration_now();
            let stop = || snapshot.cache.is_outdated();
            let cancel = Cancel::when(&stop);
            let sources = snapshot.sources(&cancel, &|_| {});
            (ide::python::hover(file, elaboration.as_deref(), &sources, offset)?, "python")
        }
    };
    if !hover.rows.is_empty()
        && let Some(report) = report::at_hand(snapshot, hover.kernel)
    {
        ide::add_edges(&mut hover, &report);
    }
    // At a barrier, a buffer and the kernel's own name.
    let wanted = |kernel: &TextRange| !hover.rows.is_empty() || hover.range == *kernel;
    let verdict = hover.kernel.filter(wanted).map(|kernel| verdict::sentence(snapshot, kernel));
    let (kind, value) = if snapshot.client.markdown {
        (MarkupKind::Markdown, text::markdown(snapshot, &hover, language, verdict.as_deref()))
    } else {
        (MarkupKind::PlainText, text::plain(snapshot, &hover, verdict.as_deref()))
    };
    let contents = HoverContents::Markup(MarkupContent { kind, value });
    Some(Hover { contents, range: Some(snapshot.mapper().range(hover.range)) })
}

/// What a place of `fencepost.toml` is about.
fn settings_hover(snapshot: &Snapshot, text: &str, offset: u32) -> Option<Hover> {
    let found = settings::hover(text, offset)?;
    let (kind, value) = if snapshot.client.markdown {
        (MarkupKind::Markdown, found.text)
    } else {
        (MarkupKind::PlainText, found.text.replace("**", "").replace('`', ""))
    };
    let contents = HoverContents::Markup(MarkupContent { kind, value });
    Some(Hover { contents, range: Some(snapshot.mapper().range(found.range)) })
}
