//! A report as text for a terminal or an editor's buffer.

use super::block::Block;
use super::content::blocks;
use super::sheet::Sheet;
use crate::cli::paint::{Paint, Style};
use crate::lanes::wrap;

/// One report, at most `width` columns wide where its names allow.
pub fn draw(sheet: &Sheet<'_>, width: usize, paint: Paint) -> String {
    print(&blocks(sheet, width.saturating_sub(INDENT).max(60)), width, paint)
}

/// Blocks of any document.
pub fn print(blocks: &[Block], width: usize, paint: Paint) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| blocks.get(at));
        let apart = match block {
            Block::Title(_) | Block::Heading(_) => before.is_some(),
            Block::Part(_) => !matches!(before, None | Some(Block::Heading(_))),
            Block::Text(_) => matches!(before, Some(Block::Table(_) | Block::Drawing(_))),
            Block::Table(_) | Block::Drawing(_) => matches!(before, Some(Block::Table(_))),
            Block::Fields(_) | Block::List(_) => false,
        };
        if apart {
            lines.push(String::new());
        }
        lines.extend(block_lines(block, width.max(60), paint));
    }
    lines.push(String::new());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// How far the contents of a section stand from the edge.
const INDENT: usize = 2;

fn block_lines(block: &Block, width: usize, paint: Paint) -> Vec<String> {
    let inner = width - INDENT;
    match block {
        Block::Title(text) => vec![paint.text(Style::Bold, text)],
        Block::Heading(text) => {
            let rule = "-".repeat(text.chars().count().min(width));
            vec![paint.text(Style::Bold, text), paint.text(Style::Dim, &rule)]
        }
        Block::Part(text) => wrap(text, width).iter().map(|line| paint.text(Style::Frame, line)).collect(),
        Block::Text(text) => indent(wrap(text, inner), paint),
        Block::Drawing(text) => indent(text.lines().map(str::to_owned).collect(), paint),
        Block::Fields(fields) => {
            let names = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            let mut lines = Vec::new();
            for (name, text) in fields {
                for (at, line) in wrap(text, inner.saturating_sub(names + 2)).into_iter().enumerate() {
                    let name = if at == 0 { name } else { "" };
                    lines.push(format!("{name:names$}  {line}"));
                }
            }
            indent(lines, paint)
        }
        Block::List(entries) => {
            let mut lines = Vec::new();
            for entry in entries {
                for (at, line) in wrap(entry, inner - 2).into_iter().enumerate() {
                    lines.push(format!("{}{line}", if at == 0 { "- " } else { "  " }));
                }
            }
            indent(lines, paint)
        }
        Block::Table(table) => indent(table.text(inner), paint),
    }
}

/// What is missing stands out.
fn indent(lines: Vec<String>, paint: Paint) -> Vec<String> {
    let mark = |line: String| {
        if paint.is_on() && line.contains("MISSING") && !line.contains("none MISSING") {
            line.replace("MISSING", &paint.text(Style::Bad, "MISSING"))
        } else {
            line
        }
    };
    lines.into_iter().map(|line| format!("{:INDENT$}{}", "", mark(line)).trim_end().to_owned()).collect()
}
