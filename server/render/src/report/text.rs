//! A report as text for a terminal or an editor's buffer.

use super::blocks::DocBlock;
use super::content::blocks;
use super::view::ReportView;
use crate::style::{Painter, Style};
use crate::wrap::wrap;

/// One report, at most `width` columns wide where its names allow.
pub fn draw(view: &ReportView<'_>, width: usize, paint: Painter) -> String {
    print(&blocks(view, width.saturating_sub(INDENT).max(60)), width, paint)
}

/// Blocks of any document.
pub fn print(blocks: &[DocBlock], width: usize, paint: Painter) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| blocks.get(at));
        let apart = match block {
            DocBlock::Title(_) | DocBlock::Heading(_) => before.is_some(),
            DocBlock::Part(_) => !matches!(before, None | Some(DocBlock::Heading(_))),
            DocBlock::Text(_) => matches!(before, Some(DocBlock::Table(_) | DocBlock::Drawing(_))),
            DocBlock::Table(_) | DocBlock::Drawing(_) => matches!(before, Some(DocBlock::Table(_))),
            DocBlock::Fields(_) | DocBlock::List(_) => false,
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

fn block_lines(block: &DocBlock, width: usize, paint: Painter) -> Vec<String> {
    let inner = width - INDENT;
    match block {
        DocBlock::Title(text) => vec![paint.text(Style::Bold, text)],
        DocBlock::Heading(text) => {
            let rule = "-".repeat(text.chars().count().min(width));
            vec![paint.text(Style::Bold, text), paint.text(Style::Dim, &rule)]
        }
        DocBlock::Part(text) => wrap(text, width).iter().map(|line| paint.text(Style::Frame, line)).collect(),
        DocBlock::Text(text) => indent(wrap(text, inner), paint),
        DocBlock::Drawing(text) => indent(text.lines().map(str::to_owned).collect(), paint),
        DocBlock::Fields(fields) => {
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
        DocBlock::List(entries) => {
            let mut lines = Vec::new();
            for entry in entries {
                for (at, line) in wrap(entry, inner - 2).into_iter().enumerate() {
                    lines.push(format!("{}{line}", if at == 0 { "- " } else { "  " }));
                }
            }
            indent(lines, paint)
        }
        DocBlock::Table(table) => indent(table.text(inner), paint),
    }
}

/// What is missing stands out.
fn indent(lines: Vec<String>, paint: Painter) -> Vec<String> {
    let mark = |line: String| {
        if paint.is_on() && line.contains("MISSING") && !line.contains("none MISSING") {
            line.replace("MISSING", &paint.text(Style::Bad, "MISSING"))
        } else {
            line
        }
    };
    lines.into_iter().map(|line| format!("{:INDENT$}{}", "", mark(line)).trim_end().to_owned()).collect()
}
