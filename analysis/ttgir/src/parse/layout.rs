//! Braces that do not fit, told by how the text is laid out.
//!
//! A brace that is missing makes all that follows part of something else: the next function stands in the one before,
//! and a brace too many ends the module. Where a text has such a mistake it is read once more with an eye on its
//! layout: a function does not stand in a function, a module not in one of the same column, and a `}` that begins its
//! line closes what began in its column.

use super::cursor::is_word;
use super::{Parser, SyntaxError};
use crate::ids::OpId;

/// Functions, of which none stands in another.
const FUNCTIONS: &[&str] = &["tt.func", "func.func", "llvm.func"];

/// A region that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// Columns of the line with its brace, and of that on which its operation begins.
    columns: [usize; 2],
    function: bool,
    module: bool,
}

/// What a `}` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brace {
    /// It closes the innermost region.
    Fits,
    /// It closes one further out.
    Outer,
    /// It closes nothing.
    Stray,
}

impl Parser<'_> {
    /// Reads the text again, from its beginning, with an eye on its layout.
    pub(crate) fn with_layout(mut self) -> Self {
        self.by_layout = true;
        self
    }

    /// Says that the blocks of an operation begin at a brace.
    pub(super) fn push_open(&mut self, op: OpId, brace: usize) {
        if self.by_layout {
            let op = &self.store.ops[op.index()];
            let word = self.slice(op.name_start as usize, op.name_end as usize);
            let open = Open {
                columns: [self.column(brace), self.column(op.start as usize)],
                function: FUNCTIONS.contains(&word),
                module: matches!(word, "module" | "builtin.module"),
            };
            self.open.push(open);
        }
    }

    /// Says that they end.
    pub(super) fn pop_open(&mut self) {
        if self.by_layout {
            self.open.pop();
        }
    }

    /// Whether what is next belongs to an operation further out: the innermost region is not closed.
    pub(super) fn leaves(&self) -> bool {
        if !self.by_layout || !self.newline || self.open.is_empty() {
            return false;
        }
        if self.peek() == b'}' {
            return self.brace() == Brace::Outer;
        }
        let word = self.peek_word();
        let begins = !is_word(self.byte(self.pos + word.len()));
        if begins && FUNCTIONS.contains(&word) {
            return self.open.iter().any(|open| open.function);
        }
        let column = self.column(self.pos);
        begins
            && matches!(word, "module" | "builtin.module")
            && self.open.iter().any(|open| open.function || (open.module && open.columns[1] >= column))
    }

    /// What the `}` does that is next.
    pub(super) fn brace(&self) -> Brace {
        let Some(innermost) = self.open.last().filter(|_| self.by_layout && self.newline) else { return Brace::Fits };
        let column = self.column(self.pos);
        let begins_here = |open: &Open| open.columns.contains(&column);
        let outer = self.open.iter().rev().skip(1).any(begins_here);
        match () {
            () if begins_here(innermost) => Brace::Fits,
            () if outer => Brace::Outer,
            () if innermost.columns.iter().all(|open| *open < column) && self.closes_nothing_soon(column) => {
                Brace::Stray
            }
            () => Brace::Fits,
        }
    }

    /// Whether a later line closes the innermost region in its own column, so that this brace does not.
    fn closes_nothing_soon(&self, column: usize) -> bool {
        let Some(open) = self.open.last() else { return false };
        let rest = self.slice(self.pos + 1, self.src.len());
        for line in rest.lines().skip(1) {
            let text = line.trim_start();
            let at = line.len() - text.len();
            if text.is_empty() || at >= column {
                continue;
            }
            if open.columns.contains(&at) {
                return text.starts_with('}');
            }
            if open.columns.iter().all(|open| at < *open) {
                return false;
            }
        }
        false
    }

    /// The number of blanks before the first token of the line of `at`.
    fn column(&self, at: usize) -> usize {
        let start = memchr::memrchr(b'\n', self.src.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
        self.run(start, |byte| matches!(byte, b' ' | b'\t')) - start
    }

    /// Takes a `}` that closes nothing.
    pub(super) fn stray_brace(&mut self) {
        self.unbalanced = true;
        let range = self.here();
        self.errors.push(SyntaxError::new(range, "syntax", "this `}` closes nothing"));
        self.bump(1);
    }
}
