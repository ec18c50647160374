//! Where an operation comes from: location aliases and chains, followed.

use super::ids::OpId;
use super::tree::Tree;
use crate::limits::locations::STEPS as MAX_STEPS;

/// One place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLoc {
    /// The file as the compiler names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub col: u32,
    /// The name that a name location around it gives, often a Python variable.
    pub name: Option<String>,
}

impl Tree {
    /// The places an operation comes from, the innermost call first.
    pub fn loc(&self, op: OpId) -> Vec<SourceLoc> {
        let loc = self.store.ops[op.index()].loc;
        let mut out = Vec::new();
        let mut steps = 0;
        self.follow(self.attr_source(loc), None, &mut out, &mut steps, 0);
        out
    }

    /// The places that the text of a location means: `"k.py":3:5`, `#loc4`, `callsite(…)`.
    pub fn locs_of(&self, text: &str) -> Vec<SourceLoc> {
        let mut out = Vec::new();
        self.follow(text, None, &mut out, &mut 0, 0);
        out
    }

    fn follow(&self, text: &str, name: Option<&str>, out: &mut Vec<SourceLoc>, steps: &mut usize, depth: usize) {
        *steps += 1;
        if *steps > MAX_STEPS || depth > 64 {
            return;
        }
        let text = text.trim();
        if text.starts_with('#') {
            let Some(alias) = self.alias(text) else { return };
            return self.follow(self.attr_source(alias), name, out, steps, depth + 1);
        }
        if let Some(inner) = call(text, "loc") {
            return self.follow(inner, name, out, steps, depth + 1);
        }
        if let Some(inner) = call(text, "callsite") {
            let Some((callee, caller)) = split_at_word(inner) else { return };
            self.follow(callee, name, out, steps, depth + 1);
            return self.follow(caller, None, out, steps, depth + 1);
        }
        if text.starts_with("fused") {
            let list = text.find('[').and_then(|at| text.get(at + 1..text.rfind(']')?)).unwrap_or("");
            for part in super::shape::parts(list) {
                self.follow(part, name, out, steps, depth + 1);
            }
            return;
        }
        let Some(rest) = text.strip_prefix('"') else { return };
        let Some(end) = closing_quote(rest) else { return };
        let (quoted, after) = (&rest[..end], rest[end + 1..].trim_start());
        if let Some(inner) = after.strip_prefix('(') {
            let inner = inner.strip_suffix(')').unwrap_or(inner);
            return self.follow(inner, name.or(Some(quoted)), out, steps, depth + 1);
        }
        let mut numbers = after.split(':').map(str::trim).filter(|n| !n.is_empty()).map(leading_number);
        if let (Some(line), Some(col)) = (numbers.next(), numbers.next()) {
            out.push(SourceLoc { file: quoted.to_owned(), line, col, name: name.map(str::to_owned) });
        }
    }
}

/// The inside of `word(…)`.
fn call<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word)?.trim_start().strip_prefix('(')?.strip_suffix(')')
}

/// Splits `a at b` at the `at` outside brackets and strings.
fn split_at_word(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut quoted = false;
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        match bytes[at] {
            b'"' if at == 0 || bytes[at - 1] != b'\\' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'<' => depth += 1,
            b')' | b']' | b'>' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && text[at..].starts_with(" at ") => return Some((&text[..at], &text[at + 4..])),
            _ => {}
        }
    }
    None
}

/// Where the string that `rest` starts inside of ends.
fn closing_quote(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    (0..bytes.len()).find(|&at| bytes[at] == b'"' && (at == 0 || bytes[at - 1] != b'\\'))
}

fn leading_number(text: &str) -> u32 {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}
