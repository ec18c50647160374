//! Lines and literals: edits that keep indentation, line ends and names.

use super::code::Code;
use base::TextRange;
use findings::Edit;
use ttgir::{AttrId, OpId, ValueId};

/// Lines that are going to stand before an op, written one by one.
pub(crate) struct Draft<'t> {
    code: Code<'t>,
    at: OpId,
    scope: Vec<ValueId>,
    lines: Vec<String>,
    taken: Vec<String>,
}

impl<'t> Draft<'t> {
    /// Nothing yet, before `at`.
    pub(crate) fn new(code: Code<'t>, at: OpId) -> Draft<'t> {
        Draft { code, at, scope: code.scope(at), lines: Vec::new(), taken: Vec::new() }
    }

    /// Whether a value can be used here.
    pub(crate) fn sees(&self, value: ValueId) -> bool {
        self.scope.contains(&value)
    }

    /// The values that can be used here, nearest first.
    pub(crate) fn scope(&self) -> &[ValueId] {
        &self.scope
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// A name that the text does not use.
    pub(crate) fn fresh(&mut self, stem: &str) -> String {
        let text = self.code.tree.text();
        let mut name = format!("%{stem}");
        let mut number = 0;
        while self.taken.contains(&name) || text.contains(&name) {
            name = format!("%{stem}_{number}");
            number += 1;
        }
        self.taken.push(name.clone());
        name
    }

    /// The name of a constant, one in scope or a new one.
    pub(crate) fn constant(&mut self, value: i64, width: u32) -> String {
        let code = self.code;
        let known = self.scope.iter().find(|known| {
            code.outside(**known).is_none()
                && code.width(**known) == Some(width)
                && code.constant(**known) == Some(value)
        });
        if let Some(known) = known {
            return code.name(*known);
        }
        let (stem, text) = match (width, value) {
            (1, 0) => ("false".to_owned(), "false".to_owned()),
            (1, _) => ("true".to_owned(), "true".to_owned()),
            _ => (format!("c{value}_i{width}"), format!("{value} : i{width}")),
        };
        let name = self.fresh(&stem);
        self.line(format!("{name} = arith.constant {text}"));
        name
    }

    /// The edit that writes the lines before the op.
    pub(crate) fn insert(self) -> Edit {
        before(self.code, self.at, &self.lines)
    }

    /// The edit that writes the lines after the op, for lines that need nothing it defines.
    pub(crate) fn insert_after(self) -> Edit {
        after(self.code, self.at, &self.lines)
    }
}

fn newline(text: &str) -> &'static str {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(at) if at > 0 && text.as_bytes()[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

fn line_start(text: &str, at: u32) -> usize {
    memchr::memrchr(b'\n', text.as_bytes().get(..at as usize).unwrap_or_default()).map_or(0, |at| at + 1)
}

/// End of the line without its line end.
fn line_end(text: &str, at: u32) -> usize {
    let rest = text.as_bytes().get(at as usize..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest).map_or(text.len(), |end| at as usize + end);
    if end > at as usize && text.as_bytes().get(end - 1) == Some(&b'\r') { end - 1 } else { end }
}

fn indent(text: &str, at: u32) -> &str {
    let line = text.get(line_start(text, at)..at as usize).unwrap_or("");
    &line[..line.len() - line.trim_start().len()]
}

/// Lines before an op.
pub(crate) fn before(code: Code<'_>, at: OpId, lines: &[String]) -> Edit {
    let (text, start) = (code.tree.text(), code.tree.op_range(at).start);
    let indent = indent(text, start);
    let newline = newline(text);
    let text = lines.iter().flat_map(|line| [line.as_str(), newline, indent]).collect();
    Edit { range: TextRange::empty(start), text }
}

/// Lines after an op.
pub(crate) fn after(code: Code<'_>, at: OpId, lines: &[String]) -> Edit {
    let (text, range) = (code.tree.text(), code.tree.op_range(at));
    let indent = indent(text, range.start);
    let newline = newline(text);
    let end = line_end(text, range.end);
    let rest = text.get(range.end as usize..end).unwrap_or("").trim();
    // A comment stays with its op; another op on the line does not.
    let end = if rest.is_empty() || rest.starts_with("//") { end as u32 } else { range.end };
    let text = lines.iter().flat_map(|line| [newline, indent, line.as_str()]).collect();
    Edit { range: TextRange::empty(end), text }
}

/// Takes an op away, with its line if it stands alone.
pub(crate) fn delete(code: Code<'_>, op: OpId) -> Edit {
    let (text, range) = (code.tree.text(), code.tree.op_range(op));
    let (start, end) = (line_start(text, range.start), line_end(text, range.end));
    let around = [text.get(start..range.start as usize), text.get(range.end as usize..end)];
    let alone = around.iter().all(|part| part.unwrap_or("x").trim().is_empty());
    if !alone {
        return Edit { range, text: String::new() };
    }
    let next =
        memchr::memchr(b'\n', text.as_bytes().get(end..).unwrap_or_default()).map_or(text.len(), |at| end + at + 1);
    Edit { range: TextRange::new(start as u32, next as u32), text: String::new() }
}

/// Takes an op away from its place and puts it after another.
pub(crate) fn put_after(code: Code<'_>, op: OpId, at: OpId) -> Vec<Edit> {
    let line = code.tree.op_range(op).of(code.tree.text()).to_owned();
    ordered(vec![delete(code, op), after(code, at, &[line])])
}

/// Takes an op away from its place and puts it before another.
pub(crate) fn put_before(code: Code<'_>, op: OpId, at: OpId) -> Vec<Edit> {
    let line = code.tree.op_range(op).of(code.tree.text()).to_owned();
    ordered(vec![delete(code, op), before(code, at, &[line])])
}

/// Edits in ascending order.
pub(crate) fn ordered(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.range);
    edits
}

/// An operand replaced.
pub(crate) fn operand(code: Code<'_>, op: OpId, number: usize, name: &str) -> Edit {
    Edit { range: code.tree.operand_range(op, number), text: name.to_owned() }
}

/// The digits of an integer attribute replaced; `None` where the text does not spell it.
pub(crate) fn number(code: Code<'_>, attr: AttrId, value: i64) -> Option<Edit> {
    let range = code.tree.attr_range(attr);
    let text = range.of(code.tree.text());
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let range = TextRange::new(range.start, range.start + digits as u32);
    (digits > 0).then(|| Edit { range, text: value.to_string() })
}
