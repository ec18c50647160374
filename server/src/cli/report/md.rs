//! A report as Markdown, with the tables as tables.

use super::block::{Block, escape};
use super::content::blocks;
use super::sheet::Sheet;

/// Columns of the drawings.
const WIDTH: usize = 100;

/// One report.
pub fn draw(sheet: &Sheet<'_>) -> String {
    print(&blocks(sheet, WIDTH))
}

/// Blocks of any document.
pub fn print(blocks: &[Block]) -> String {
    blocks.iter().map(|block| format!("{}\n", markdown(block))).collect()
}

fn markdown(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("# {}\n", escape(text)),
        Block::Heading(text) => format!("## {}\n", escape(text)),
        Block::Part(text) => format!("### {}\n", escape(text)),
        Block::Text(text) => format!("{}\n", escape(text)),
        Block::Drawing(text) => format!("```text\n{text}\n```\n"),
        Block::Fields(fields) => {
            fields.iter().map(|(name, text)| format!("- {name}: {}\n", escape(text))).collect::<String>()
        }
        Block::List(entries) => entries.iter().map(|entry| format!("- {}\n", escape(entry))).collect::<String>(),
        Block::Table(table) => table.markdown(),
    }
}
