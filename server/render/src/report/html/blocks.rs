//! Blocks as HTML: lists of a dump's sections, and what a pass changed.

use maud::{Markup, html};

use super::text::table;
use crate::report::blocks::DocBlock;

/// All blocks, in their order.
pub(super) fn draw(blocks: &[DocBlock]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &DocBlock) -> Markup {
    match block {
        DocBlock::Title(text) => html! { h2 { (text) } },
        DocBlock::Heading(text) => html! { h3 { (text) } },
        DocBlock::Part(text) => html! { h4 { (text) } },
        DocBlock::Text(text) => html! { p { (text) } },
        DocBlock::Drawing(text) => html! { pre.edit { (text) } },
        DocBlock::Fields(fields) => html! {
            dl.summary { @for (name, value) in fields { div { dt { (name) } dd { (value) } } } }
        },
        DocBlock::List(items) => html! { ul { @for item in items { li { (item) } } } },
        DocBlock::Table(it) => {
            let (heads, rows) = it.cells();
            let body = html! { tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } } };
            table("Table", &heads, &body)
        }
    }
}
