//! `textDocument/hover`: as Markdown, or as plain text for clients that show no Markdown.
//!
//! Who does what with a barrier is an aligned text block: most editors show no tables.

use std::fmt::Write;

use engine::Source;
use engine::ide;
use engine::instances as gluon;
use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::lsp::snapshot::Snapshot;

/// The hover at a position.
pub(crate) fn hover(snapshot: &Snapshot, position: Position) -> Option<Hover> {
    let offset = snapshot.mapper().offset(position);
    let (hover, language) = match &*snapshot.source {
        Source::Ir(document) => (ide::hover(document, offset)?, "ttgir"),
        Source::Other(text) => return settings_hover(snapshot, text, offset),
        Source::Python(_) => (gluon::hover(&*snapshot.elaboration_now()?, offset)?, "python"),
    };
    let rows = rows(snapshot, &hover);
    let (kind, value) = if snapshot.client.markdown {
        (MarkupKind::Markdown, markdown(&hover, &rows, language))
    } else {
        (MarkupKind::PlainText, plain(&hover, &rows))
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

fn markdown(hover: &ide::Hover, rows: &str, language: &str) -> String {
    let mut out = String::new();
    // A type such as `!ttg.memdesc<…>` would be taken for HTML.
    let _ = write!(out, "`{}`", hover.title.replace('`', "'"));
    if !hover.code.is_empty() {
        let _ = write!(out, "\n\n```{language}\n{}\n```", hover.code);
    }
    if !rows.is_empty() {
        let _ = write!(out, "\n\n```text\n{rows}\n```");
    }
    out
}

fn plain(hover: &ide::Hover, rows: &str) -> String {
    let parts = [hover.title.as_str(), hover.code.as_str(), rows];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// `line 81  partition0  wait    [%slot]  phase %phase`, aligned.
fn rows(snapshot: &Snapshot, hover: &ide::Hover) -> String {
    let mapper = snapshot.mapper();
    let cells: Vec<[String; 5]> = hover
        .rows
        .iter()
        .map(|row| {
            let line = mapper.position(row.range.start).line + 1;
            [format!("line {line}"), row.partition.clone(), row.verb.clone(), row.slot.clone(), row.detail.clone()]
        })
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width);
    let mut lines: Vec<String> = Vec::new();
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths).filter(|(_, width)| *width > 0) {
            let _ = write!(line, "{cell:width$}  ");
        }
        lines.push(line.trim_end().to_owned());
    }
    if hover.more > 0 {
        lines.push(format!("… and {} more", hover.more));
    }
    for (name, text) in &hover.carried {
        lines.push(format!("where {name} is {text}"));
    }
    lines.join("\n")
}
