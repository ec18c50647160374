//! The top level: aliases, operations, and what does not belong there.

use super::cursor::is_word;
use super::{Parser, SyntaxError};
use crate::ids::{AttrId, BlockId, Sym};
use crate::store::Alias;
use base::TextRange;

impl Parser<'_> {
    /// The whole text.
    pub(crate) fn file(&mut self) {
        // A byte order mark says how a file is written, and nothing of what it holds.
        if self.src.starts_with("\u{feff}".as_bytes()) {
            self.bump('\u{feff}'.len_utf8());
        }
        self.trivia();
        self.noise();
        while !self.at_end() {
            match self.peek() {
                b'#' | b'!' => self.alias(),
                b'{' if self.byte(self.pos + 1) == b'-' && self.byte(self.pos + 2) == b'#' => self.metadata(),
                b'}' => self.stray_brace(),
                _ if (self.newline || self.pos == 0) && self.printed() => {}
                _ => {
                    if let Some(op) = self.operation(BlockId::NONE) {
                        self.store.top.push(op);
                    }
                }
            }
        }
    }

    /// Skips what a program printed before the IR: leading lines that nothing of the IR starts.
    /// A text without any line of IR is one mistake, not one a word.
    fn noise(&mut self) {
        let start = self.pos;
        let mut at = start;
        while at < self.src.len() {
            let line_end = memchr::memchr(b'\n', &self.src[at..]).map_or(self.src.len(), |n| at + n);
            let line = self.slice(at, line_end);
            if is_ir(line) {
                self.pos = at.max(start);
                return self.trivia();
            }
            if is_nearly_ir(line) {
                return;
            }
            at = line_end + 1;
        }
        if !self.at_end() {
            let range = self.here();
            self.errors.push(SyntaxError::new(range, "syntax", "nothing here is MLIR: no line starts an operation"));
            self.bump(self.src.len() - start);
        }
    }

    /// Skips what a compiler or Python says between two modules of a dump: a diagnostic or a traceback, with the lines
    /// that it quotes.
    fn printed(&mut self) -> bool {
        let line_end = |at: usize| memchr::memchr(b'\n', &self.src[at..]).map_or(self.src.len(), |n| at + n);
        let mut end = line_end(self.pos);
        if !is_said(self.slice(self.pos, end)) {
            return false;
        }
        while end < self.src.len() {
            let next = line_end(end + 1);
            let line = self.slice(end + 1, next);
            // What is quoted is indented, and modules are not.
            let outside = line.starts_with(|c: char| !c.is_whitespace() && c != '^') && !is_said(line);
            if outside && (is_ir(line) || line.starts_with(['}', '/'])) {
                break;
            }
            end = next;
        }
        self.bump(end - self.pos);
        true
    }

    /// `#a = …` or `!a = …`.
    fn alias(&mut self) {
        let start = self.pos;
        let end = self.run(start + 1, is_word);
        self.op_start = start;
        let is_type = self.byte(start) == b'!';
        let name = self.intern(start, end);
        self.bump((end - start).max(1));
        if self.expect(b'=').is_err() {
            return self.skim_top();
        }
        let value_at = self.pos;
        let read = if is_type { self.ty().map(|_| ()) } else { self.attr().map(|_| ()) };
        let value = self.attr_since(value_at);
        if read.is_err() {
            self.skim_top();
        }
        self.define(name, start, value);
    }

    fn define(&mut self, name: Sym, start: usize, value: AttrId) {
        if let Some(first) = self.store.alias(name) {
            let text = self.store.names.get(name).to_owned();
            let range = TextRange::new(start as u32, (start + text.len()) as u32);
            let before = TextRange::new(first.start, first.start + text.len() as u32);
            let error = SyntaxError::new(range, "redefinition", format!("`{text}` is defined twice"));
            self.errors.push(error.relate(before, "first defined here"));
            return;
        }
        self.store.define(Alias { name, start: start as u32, value });
    }

    /// Skips to the next line that starts something.
    fn skim_top(&mut self) {
        while !self.at_end() && !(self.newline && (self.at_op_start() || matches!(self.peek(), b'#' | b'!'))) {
            self.bump_any();
        }
    }

    /// `{-# … #-}`.
    fn metadata(&mut self) {
        let rest = &self.src[self.pos..];
        let len = memchr::memmem::find(rest, b"#-}").map_or(rest.len(), |at| at + 3);
        self.bump(len);
    }
}

/// Whether a line is more likely broken IR than a program's output.
fn is_nearly_ir(line: &str) -> bool {
    ["= #", "= loc(", " @", "<{", " : ", "%"].iter().any(|part| line.contains(part))
        && line.contains(['{', '%', '=', '('])
}

/// Whether a line is a diagnostic (`FILE:LINE:COLUMN: error: …`), a warning of Python's or the head of its traceback.
fn is_said(line: &str) -> bool {
    let marks = [": remark: ", ": warning: ", ": error: ", ": note: ", "Warning: "];
    let placed = |mark: &str| {
        let (place, _) = line.split_once(mark)?;
        Some(
            place
                .trim_end_matches(|c: char| c.is_ascii_alphabetic())
                .trim_end_matches([':', ' '])
                .ends_with(|c: char| c.is_ascii_digit()),
        )
    };
    line.starts_with("Traceback (most recent call last)") || marks.iter().any(|mark| placed(mark) == Some(true))
}

/// Whether a line can only be the start of IR.
fn is_ir(line: &str) -> bool {
    let line = line.trim_start();
    let word = &line[..line.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(line.len())];
    match line.chars().next() {
        Some('#' | '!') => line.contains('='),
        Some('"') => line.contains("\"("),
        Some('%') => line.contains('='),
        Some('^' | '{') => true,
        _ => {
            matches!(word, "module" | "func")
                || word.split_once('.').is_some_and(|(dialect, op)| {
                    !op.is_empty() && matches!(dialect, "tt" | "ttg" | "ttng" | "func" | "llvm" | "builtin" | "gpu")
                })
        }
    }
}
