//! Reading an operation without knowing its form: for dialects that are not in the table and for
//! what is left of an operation behind a mistake. Operands, labels and regions are kept.

use super::cursor::is_word;
use super::op::Draft;
use super::{Parsed, Parser};
use crate::ids::Slice;
use crate::store::Succ;

/// Beginnings of the names of skimmed ops whose form ends in `: ` and the result's type.
const ENDS_IN_RESULT: &[&str] = &[
    "llvm.mlir.",
    "llvm.add",
    "llvm.sub",
    "llvm.mul",
    "llvm.and",
    "llvm.or",
    "llvm.xor",
    "llvm.shl",
    "llvm.lshr",
    "llvm.ashr",
    "llvm.udiv",
    "llvm.sdiv",
    "llvm.urem",
    "llvm.srem",
    "llvm.fadd",
    "llvm.fsub",
    "llvm.fmul",
    "llvm.fdiv",
    "llvm.fneg",
    "llvm.freeze",
    "llvm.insertvalue",
    "llvm.insertelement",
    "nvvm.read.",
    "rocdl.work",
];

impl Parser<'_> {
    /// Reads to the end of the operation.
    pub(super) fn skim(&mut self, d: &mut Draft) {
        let mut depth = 0usize;
        let mut types_from = None;
        while !self.at_end() {
            let c = self.peek();
            if self.newline && (depth == 0 || d.broken) && (self.at_op_start() || self.at_block_start()) {
                break;
            }
            match c {
                b'}' if depth == 0 || d.broken => break,
                b'%' => {
                    if self.name_end(self.pos) == self.pos + 1 || self.operand(d).is_err() {
                        self.bump_any();
                    }
                }
                b'^' => {
                    if self.successor(d).is_err() {
                        d.broken = true;
                        self.bump_any();
                    }
                }
                b'{' => self.braces(d),
                b'(' | b'[' | b'<' => {
                    depth += 1;
                    self.bump(1);
                }
                b')' | b']' | b'>' => {
                    depth = depth.saturating_sub(1);
                    self.bump(1);
                }
                b'-' if self.byte(self.pos + 1) == b'>' => {
                    self.bump(2);
                    if depth == 0 {
                        types_from = Some(self.pos);
                    }
                }
                b':' => {
                    self.bump(1);
                    if depth == 0 {
                        types_from = Some(self.pos);
                    }
                }
                _ if depth == 0 && self.peek_word() == "loc" && self.byte(self.pos + 3) == b'(' => break,
                _ => self.bump_any(),
            }
        }
        if let Some(start) = types_from
            && !d.broken
            && d.names.len() == 1
        {
            self.skimmed_result(d, start);
        }
    }

    /// Takes the type that a skimmed op ends with as its result's, where that is the custom.
    fn skimmed_result(&mut self, d: &mut Draft, start: usize) {
        let end = self.last_end;
        let arrow = self.slice(0, start).trim_end().ends_with("->");
        let start = match self.slice(start, end).rfind(" to ") {
            Some(at) => start + at + " to ".len(),
            None if arrow => start,
            None => {
                let op = &self.store.ops[d.op.index()];
                let name = self.slice(op.name_start as usize, op.name_end as usize);
                if !ENDS_IN_RESULT.iter().any(|prefix| name.starts_with(prefix)) {
                    return;
                }
                start
            }
        };
        if self.type_is_whole(start, end) {
            let ty = self.make_type(self.slice(start, end));
            d.result_types.push((0, ty));
        }
    }

    /// Whether one type, and nothing else, spans the bytes.
    fn type_is_whole(&self, start: usize, end: usize) -> bool {
        let first = self.byte(start);
        let mut at = if first == b'!' { self.run(start + 1, is_word) } else { self.word_end(start) };
        if at == start {
            return false;
        }
        if self.byte(at) == b'<' && at < end {
            match self.balanced_end(at) {
                Some(close) => at = close,
                None => return false,
            }
        }
        at == end && end > start
    }

    /// An attribute dictionary or a region.
    fn braces(&mut self, d: &mut Draft) {
        if self.brace_is_region() {
            self.end_header(d);
            let isolated = d.spec.is_some_and(|spec| spec.isolated);
            match self.region(d.op, isolated, &[]) {
                Ok(region) => d.regions.push(region),
                Err(_) => self.bump_any(),
            }
        } else if self.dict(&mut d.attrs).is_err() {
            d.broken = true;
        }
    }

    /// Tells `{ a = 1 }` from `{ op … }` by what comes first.
    fn brace_is_region(&self) -> bool {
        let at = self.skip_trivia(self.pos + 1);
        let word = self.word_end(at);
        let end = match self.byte(at) {
            b'%' | b'^' => return true,
            b'"' => match self.string_end(at) {
                Some(end) => end,
                None => return false,
            },
            b'}' => return self.slice(self.pos, at).contains('\n'),
            _ if word > at => word,
            _ => return false,
        };
        !matches!(self.byte(self.skip_trivia(end)), b'=' | b',' | b'}' | b':')
    }

    /// `^bb` or `^bb(%a, %b : t, u)`.
    pub(super) fn successor(&mut self, d: &mut Draft) -> Parsed {
        let start = self.pos;
        let end = self.name_end(start);
        if self.peek() != b'^' || end == start + 1 {
            return Err(self.expected("a block's label"));
        }
        let label = self.intern(start, end);
        self.bump(end - start);
        let first = d.uses.len();
        if self.peek() == b'(' {
            self.bump(1);
            self.operands(d)?;
            if d.uses.len() > first {
                self.expect(b':')?;
                for at in first..d.uses.len() {
                    if at > first {
                        self.expect(b',')?;
                    }
                    let ty = self.ty()?;
                    d.uses[at].ty = ty;
                }
            }
            self.expect(b')')?;
        }
        let uses = Slice::since(first, d.uses.len());
        d.succs.push(Succ { label, start: start as u32, end: end as u32, uses });
        Ok(())
    }

    /// Takes one token of any kind.
    pub(super) fn bump_any(&mut self) {
        let at = self.pos;
        let end = match self.byte(at) {
            b'"' => self.string_end(at).unwrap_or(at + 1),
            b'#' | b'!' | b'@' | b'%' | b'^' => self.run(at + 1, is_word),
            b if is_word(b) => self.run(at, is_word),
            _ => {
                let mut end = at + 1;
                while end < self.src.len() && !self.text.is_char_boundary(end) {
                    end += 1;
                }
                end
            }
        };
        self.bump(end.max(at + 1) - at);
    }

    /// Skips to the end of the line.
    pub(super) fn skim_line(&mut self) {
        while !self.at_end() && !self.newline && !matches!(self.peek(), b'{' | b'}') {
            self.bump_any();
        }
    }

    /// Whether what is next looks like the start of an operation.
    pub(super) fn at_op_start(&self) -> bool {
        let at = self.pos;
        match self.byte(at) {
            b'%' => self.names_and_equals(at),
            b'"' => self.string_end(at).is_some_and(|end| self.byte(end) == b'('),
            b if b.is_ascii_alphabetic() => {
                let end = self.word_end(at);
                let word = self.slice(at, end);
                if matches!(word, "module" | "return") {
                    return true;
                }
                let Some((dialect, _)) = word.split_once('.') else { return false };
                let next = self.byte(self.skip_trivia(end));
                dialect.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && !matches!(next, b'=' | b',' | b'>')
            }
            b'#' | b'!' => {
                let end = self.run(at + 1, is_word);
                end > at + 1 && self.regions == 0 && self.byte(self.skip_trivia(end)) == b'='
            }
            _ => false,
        }
    }

    /// Whether a labelled block starts here.
    fn at_block_start(&self) -> bool {
        if !self.at_label() {
            return false;
        }
        let mut at = self.skip_trivia(self.name_end(self.pos));
        if self.byte(at) == b'(' {
            match self.balanced_end(at) {
                Some(end) => at = self.skip_trivia(end),
                None => return false,
            }
        }
        self.byte(at) == b':'
    }

    /// `%a:2, %b =` from `at`.
    fn names_and_equals(&self, mut at: usize) -> bool {
        loop {
            if self.byte(at) != b'%' {
                return false;
            }
            at = self.skip_trivia(self.name_end(at));
            if self.byte(at) == b':' {
                let digits = self.skip_trivia(at + 1);
                at = self.run(digits, |b| b.is_ascii_digit());
                if at == digits {
                    return false;
                }
                at = self.skip_trivia(at);
            }
            match self.byte(at) {
                b'=' => return self.byte(at + 1) != b'=',
                b',' => at = self.skip_trivia(at + 1),
                _ => return false,
            }
        }
    }
}
