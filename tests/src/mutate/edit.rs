//! Edits of one op in a text, a line an op where the text is so printed.

use base::TextRange;
use ttgir::{BlockId, OpId, Tree, ValueId};

/// A text to be changed at some places.
pub struct Change<'t> {
    tree: &'t Tree,
    edits: Vec<(TextRange, String)>,
}

impl<'t> Change<'t> {
    /// No change yet.
    pub fn new(tree: &'t Tree) -> Change<'t> {
        Change { tree, edits: Vec::new() }
    }

    /// The text with all changes made; `None` where two of them overlap.
    pub fn apply(mut self) -> Option<String> {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let text = self.tree.text();
        let mut out = String::with_capacity(text.len() + 256);
        let mut at = 0;
        for (range, new) in &self.edits {
            out.push_str(text.get(at..range.start as usize)?);
            out.push_str(new);
            at = range.end as usize;
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }

    /// Replaces a range.
    pub fn replace(mut self, range: TextRange, new: impl Into<String>) -> Self {
        self.edits.push((range, new.into()));
        self
    }

    /// Takes an op out. What used its results uses its first operands instead: the ops with
    /// results that are taken out hand their operands on.
    pub fn remove(mut self, op: OpId) -> Option<Self> {
        for (number, &result) in self.tree.results(op).iter().enumerate() {
            let uses = self.tree.uses(result);
            if uses.is_empty() {
                continue;
            }
            let operand = *self.tree.operands(op).get(number)?;
            let name = spelling(self.tree, operand);
            self.edits.extend(uses.into_iter().map(|range| (range, name.clone())));
        }
        let line = self.line(op);
        Some(self.replace(line, ""))
    }

    /// Writes an op's lines a second time.
    pub fn repeat(self, op: OpId) -> Self {
        let line = self.line(op);
        let again = line.of(self.tree.text()).to_string();
        self.replace(TextRange::new(line.end, line.end), again)
    }

    /// Moves an op behind another one of its block.
    pub fn shift(self, op: OpId, behind: OpId) -> Self {
        let (line, other) = (self.line(op), self.line(behind));
        let moved = line.of(self.tree.text()).to_string();
        self.replace(line, "").replace(TextRange::new(other.end, other.end), moved)
    }

    /// Writes lines before an op, indented as it is.
    pub fn before(self, op: OpId, lines: &[String]) -> Self {
        let line = self.line(op);
        let text = line.of(self.tree.text());
        let indent = &text[..text.len() - text.trim_start().len()];
        let new: String = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
        self.replace(TextRange::new(line.start, line.start), new)
    }

    fn line(&self, op: OpId) -> TextRange {
        Change::lines(self.tree, op)
    }

    /// The lines of an op; only its own text where it shares them with another.
    pub(super) fn lines(tree: &Tree, op: OpId) -> TextRange {
        let (text, range) = (tree.text(), tree.op_range(op));
        let (start, end) = (range.start as usize, range.end as usize);
        let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let last = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        if text[first..start].trim().is_empty() && text[end..last].trim().is_empty() {
            TextRange::new(first as u32, last as u32)
        } else {
            range
        }
    }
}

/// A value as its uses write it.
pub fn spelling(tree: &Tree, value: ValueId) -> String {
    match tree.value_number(value) {
        Some(number) => format!("{}#{number}", tree.value_name(value)),
        None => tree.value_name(value).to_string(),
    }
}

/// The line of an op, from 1.
pub fn line_of(tree: &Tree, op: OpId) -> u32 {
    let before = &tree.text()[..tree.op_range(op).start as usize];
    before.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1
}

/// All ops, in the order of the text.
pub fn ops(tree: &Tree) -> Vec<OpId> {
    fn block(tree: &Tree, block: BlockId, out: &mut Vec<OpId>) {
        tree.block_ops(block).iter().for_each(|&inner| op(tree, inner, out));
    }
    fn op(tree: &Tree, op: OpId, out: &mut Vec<OpId>) {
        out.push(op);
        for &region in tree.regions(op) {
            tree.blocks(region).iter().for_each(|&inner| block(tree, inner, out));
        }
    }
    let mut out = Vec::new();
    tree.top().iter().for_each(|&top| op(tree, top, &mut out));
    out
}
