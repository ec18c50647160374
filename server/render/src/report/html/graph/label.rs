//! What stands beside the lines: one block of rows a bundle, one row or more an edge, nothing cut.

use base::TextRange;
use report::Edge;

use crate::report::html::bundle::{Bundle, EdgeClass};
use crate::report::html::links::Links;
use crate::report::html::text::width;
use crate::wrap::wrap;

/// Characters of a row, where no name is longer.
const ROW: usize = 40;
/// Width of a character, in hundredths of a pixel.
const LETTER: usize = 672;
/// Height of a row.
pub(super) const LINE: i32 = 15;
/// Above the first and below the last row of a block.
const INSIDE: i32 = 4;
/// Between two blocks.
const BETWEEN: i32 = 5;
/// Room for the sample of the line that the block is about.
pub(super) const SAMPLE: i32 = 22;
/// Right of all.
const MARGIN: i32 = 7;

/// A row of a block.
pub(super) struct LabelRow {
    /// What is said.
    pub(super) text: String,
    /// Whether it goes on with the row before.
    pub(super) more: bool,
    /// The line of the text that it is about.
    pub(super) line: Option<u32>,
}

/// The block of a bundle.
pub(super) struct Block {
    /// From the top of the label.
    pub(super) top: i32,
    /// Its height.
    pub(super) height: i32,
    /// Its rows.
    pub(super) rows: Vec<LabelRow>,
}

/// The label of a connection: its bundles' blocks below each other.
pub(super) struct Label {
    /// Width of all blocks.
    pub(super) width: i32,
    /// Height of all.
    pub(super) height: i32,
    /// Width of the rows' words.
    pub(super) words: i32,
    /// One a bundle.
    pub(super) blocks: Vec<Block>,
}

impl Label {
    /// The label of these bundles.
    pub(super) fn new(links: &Links<'_>, bundles: &[&Bundle]) -> Label {
        let mut blocks: Vec<Block> = Vec::new();
        let mut top = 0;
        for bundle in bundles {
            let rows = rows(links, bundle);
            let height = rows.len() as i32 * LINE + 2 * INSIDE;
            blocks.push(Block { top, height, rows });
            top += height + BETWEEN;
        }
        let all = || blocks.iter().flat_map(|block| &block.rows);
        let words = all().map(|row| text_width(width(&row.text))).max().unwrap_or(0);
        let lines = all().filter_map(|row| row.line).map(line_width).max().unwrap_or(0);
        Label { width: SAMPLE + words + lines + MARGIN, height: (top - BETWEEN).max(0), words, blocks }
    }
}

/// The base line of a row, from the top of its block.
pub(super) fn base_line(row: usize) -> i32 {
    INSIDE + LINE * row as i32 + 11
}

/// Width of so many characters.
fn text_width(characters: usize) -> i32 {
    (characters * LETTER).div_ceil(100) as i32
}

/// Width of a line number, with the room before it.
pub(super) fn line_width(line: u32) -> i32 {
    text_width(line.to_string().len() + 1) + 12
}

fn rows(links: &Links<'_>, bundle: &Bundle) -> Vec<LabelRow> {
    let report = links.report();
    if bundle.class == EdgeClass::Missing {
        let mut rows: Vec<LabelRow> = Vec::new();
        for &(at, row) in &bundle.rows {
            let Some(block) = report.coverage.get(at) else { continue };
            let member = report.buffers.get(block.buffer).zip(block.rows.get(row));
            let Some(member) = member.and_then(|(buffer, row)| buffer.members.get(row.member)) else { continue };
            let (text, line) = (format!("✗ MISSING: {}", member.name), links.view.line(block.writer.range));
            if !rows.iter().any(|known| known.text == text && known.line == line) {
                rows.push(LabelRow { text, more: false, line });
            }
        }
        return rows;
    }
    let edges = bundle.edges.iter().filter_map(|&at| report.edges.get(at));
    edges.flat_map(|edge| edge_rows(links, edge)).collect()
}

/// The barrier's name, what it orders, and the line where it is waited for.
fn edge_rows(links: &Links<'_>, edge: &Edge) -> Vec<LabelRow> {
    let report = links.report();
    let barrier = edge.barrier.and_then(|at| report.barriers.get(at));
    let name = barrier.map_or_else(|| edge.mechanism.name().to_owned(), |barrier| barrier.name.clone());
    let mut data: Vec<&str> = Vec::new();
    for &(buffer, member) in &edge.data {
        let member = report.buffers.get(buffer).and_then(|buffer| buffer.members.get(member));
        let name = member.map_or("?", |member| member.name.as_str());
        if !data.contains(&name) {
            data.push(name);
        }
    }
    let places: Vec<TextRange> = edge.waits.iter().chain(&edge.arrivals).copied().collect();
    let line = places.into_iter().find_map(|at| links.view.line(at));
    let whole = if data.is_empty() { name.clone() } else { format!("{name}: {}", data.join(", ")) };
    let row = |text: String| LabelRow { text, more: true, line: None };
    let mut rows: Vec<LabelRow> = if width(&whole) <= ROW {
        vec![row(whole)]
    } else {
        let rest = wrap(&data.join(", "), ROW - 2).into_iter().map(|text| row(format!("  {text}")));
        let colon = if data.is_empty() { "" } else { ":" };
        std::iter::once(row(format!("{name}{colon}"))).chain(rest).collect()
    };
    if let Some(first) = rows.first_mut() {
        (first.more, first.line) = (false, line);
    }
    rows
}
