//! A report as Markdown, with the tables as tables.

use super::blocks::{DocBlock, escape};
use super::content::blocks;
use super::view::ReportView;

/// Columns of the drawings.
const WIDTH: usize = 100;

/// One report.
pub fn draw(view: &ReportView<'_>) -> String {
    print(&blocks(view, WIDTH))
}

/// Blocks of any document.
pub fn print(blocks: &[DocBlock]) -> String {
    blocks.iter().map(|block| format!("{}\n", markdown(block))).collect()
}

fn markdown(block: &DocBlock) -> String {
    match block {
        DocBlock::Title(text) => format!("# {}\n", escape(text)),
        DocBlock::Heading(text) => format!("## {}\n", escape(text)),
        DocBlock::Part(text) => format!("### {}\n", escape(text)),
        DocBlock::Text(text) => format!("{}\n", escape(text)),
        DocBlock::Drawing(text) => format!("```text\n{text}\n```\n"),
        DocBlock::Fields(fields) => {
            fields.iter().map(|(name, text)| format!("- {name}: {}\n", escape(text))).collect::<String>()
        }
        DocBlock::List(entries) => entries.iter().map(|entry| format!("- {}\n", escape(entry))).collect::<String>(),
        DocBlock::Table(table) => table.markdown(),
    }
}
