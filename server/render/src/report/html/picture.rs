//! The picture of a run in a page, in pieces that a reader may fold.

use maud::{Markup, PreEscaped, html};

use super::text::counted;
use crate::trace::{Piece, narrow, svg};

/// The patterns that pictures are filled with; a page has them once.
pub(super) fn patterns() -> Markup {
    html! {
        svg class="patterns run-picture" width="0" height="0" aria-hidden="true" { (PreEscaped(svg::patterns())) }
    }
}

/// A picture in its frame, which is called `label`.
pub(super) fn draw(pieces: &[Piece], label: &str) -> Markup {
    let narrow = pieces.iter().find_map(|piece| match piece {
        Piece::Narrow(width, rows) => Some((*width, rows)),
        _ => None,
    });
    let fit = narrow.map_or_else(String::new, |(width, _)| narrow::fit(width));
    html! {
        div class="fitted" {
            div class={ "scroll run-picture " (fit) } tabindex="0" role="region" aria-label=(label) {
                div { @for piece in pieces { (drawn(piece)) } }
            }
            @for piece in pieces { @if let Piece::Legend(legend) = piece { div class=(fit) { (legend) } } }
            @if let Some((_, rows)) = narrow { (rows) }
        }
    }
}

fn drawn(piece: &Piece) -> Markup {
    match piece {
        Piece::Shown(svg) => PreEscaped(svg.clone()),
        Piece::Legend(_) | Piece::Narrow(..) => html! {},
        Piece::Folded { stretch, does, parts, left_out } => html! {
            details class="steps" {
                summary {
                    "… " (counted((stretch.to + 1 - stretch.from) as usize, "step")) " ("
                    (stretch.from) "–" (stretch.to) "): " (does)
                }
                @for (at, part) in parts.iter().enumerate() {
                    @if at > 0 && *left_out > 0 {
                        p class="quiet" { "… " (counted(*left_out, "line")) " more: " code { "fencepost trace" } " draws them" }
                    }
                    (PreEscaped(part))
                }
            }
        },
    }
}
