//! Types. A spelling that was read before is found by its bytes; a new one is read in full.

use super::cursor::is_word;
use super::{Parsed, Parser, SyntaxError};
use crate::ids::{AttrId, TypeId};
use crate::limits::types::{ALIASES as MAX_EXPANSIONS, QUICK as MAX_QUICK};
use crate::shape;
use crate::suggest::nearest;
use base::TextRange;

/// Builtin types without parameters, besides integers.
const SCALARS: &[&str] = &[
    "index",
    "none",
    "f16",
    "bf16",
    "tf32",
    "f32",
    "f64",
    "f80",
    "f128",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f8E8M0FNU",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
];

/// Types of the dialects that are known in full.
const DIALECT_TYPES: &[&str] = &[
    "tt.ptr",
    "tt.tensordesc",
    "ttg.memdesc",
    "ttg.async.token",
    "ttng.tensordesc_im2col",
    "nvws.aref",
    "nvws.token",
    "tlx.storage_alias_spec",
    "tlx.reuse_group",
    "proton_gpu.segment",
];

impl Parser<'_> {
    /// A type of any dialect.
    pub(super) fn ty(&mut self) -> Parsed<TypeId> {
        let start = self.pos;
        if let Some(end) = self.quick_type_end(start)
            && let Some(id) = self.store.types.find_sound(self.slice(start, end))
            && self.aliases_are_above(start, end)
        {
            self.bump(end - start);
            return Ok(id);
        }
        let mistakes = (self.store.alias_refs.len(), self.errors.len());
        self.nested(Self::read_type)?;
        let id = self.intern_type(start, self.last_end);
        let sound = (self.store.alias_refs.len(), self.errors.len()) == mistakes;
        self.store.types.set_sound(id, sound);
        Ok(id)
    }

    /// Whether nothing between is an alias that is defined below: after an edit types are known that were read there.
    fn aliases_are_above(&self, start: usize, end: usize) -> bool {
        if self.store.aliases.last().is_none_or(|last| (last.start as usize) < start) {
            return true;
        }
        let mut at = start;
        while at < end {
            let sigil = matches!(self.src[at], b'#' | b'!');
            let from = at;
            at += 1;
            if !sigil {
                continue;
            }
            while at < end && is_word(self.src[at]) {
                at += 1;
            }
            // `#ttg.shared_memory` is written out.
            if !self.slice(from, at).contains('.') && self.alias_at(from, at).is_none() {
                return false;
            }
        }
        true
    }

    /// A type in the trailer of an op, where the dialect's name may be left out: `<32xf16, …>`.
    pub(super) fn trailer_type(&mut self) -> Parsed<TypeId> {
        if self.peek() != b'<' {
            return self.ty();
        }
        let start = self.pos;
        let Some(end) = self.balanced_end(start) else { return Err(self.expected("a type")) };
        let body = self.slice(start, end);
        let full = format!("!{}{body}", shape::stripped_dialect(body));
        self.bump(end - start);
        Ok(self.make_type(&full))
    }

    /// Whether a type can start here.
    pub(super) fn at_type(&self) -> bool {
        let c = self.peek();
        c == b'!' || c == b'(' || c.is_ascii_alphabetic()
    }

    /// Interns the source text of a type.
    fn intern_type(&mut self, start: usize, end: usize) -> TypeId {
        let text = self.slice(start, end);
        self.make_type(text)
    }

    /// Interns a type that the source does not spell.
    pub(super) fn make_type(&mut self, text: &str) -> TypeId {
        if let Some(id) = self.store.types.find(text) {
            return id;
        }
        let canonical = shape::normal(self.canonical(text, &mut { MAX_EXPANSIONS }));
        let id = self.store.types.intern(text, &canonical);
        let canon = self.store.types.canon(id);
        if self.store.types.encoding(canon).is_none()
            && let Some(layout) = shape::layout(&canonical)
        {
            let attr = self.store.make(layout);
            self.store.types.set_encoding(canon, attr);
        }
        id
    }

    /// Where a type from `start` ends if it is well formed, found by counting brackets.
    fn quick_type_end(&self, start: usize) -> Option<usize> {
        let end = match self.byte(start) {
            b'!' => self.run(start + 1, is_word),
            b if b.is_ascii_alphabetic() => self.word_end(start),
            _ => return None,
        };
        if self.byte(end) == b'<' { self.balanced_end(end) } else { Some(end) }
    }

    /// The end of the bracket at `start`. Where it has none, how far it was looked for is noted: an edit there
    /// may close it.
    pub(super) fn balanced_end(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let end = self.bracket_end(&mut at);
        if end.is_none() {
            let line = self.run(at.min(self.src.len()), |b| b != b'\n');
            self.unclosed.borrow_mut().push((start as u32, line as u32));
        }
        end
    }

    /// The end of the bracket at `at`, which goes as far as it is looked for.
    fn bracket_end(&self, at: &mut usize) -> Option<usize> {
        let mut depth = 0usize;
        let limit = self.src.len().min(*at + MAX_QUICK);
        while *at < limit {
            match self.src[*at] {
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                b'-' if self.byte(*at + 1) == b'>' => *at += 1,
                b'>' | b')' | b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(*at + 1);
                    }
                }
                b'"' => *at = self.string_end(*at)? - 1,
                _ => {}
            }
            *at += 1;
        }
        None
    }

    fn read_type(&mut self) -> Parsed {
        match self.peek() {
            b'!' => self.dialect_type(),
            b'(' => self.function_type().map(|_| ()),
            b if b.is_ascii_alphabetic() => self.builtin_type(),
            _ => Err(self.expected("a type")),
        }
    }

    /// `(a, b) -> c` or `(a, b) -> (c, d)`; gives both lists.
    pub(super) fn function_type(&mut self) -> Parsed<(Vec<TypeId>, Vec<TypeId>)> {
        let inputs = self.paren_types()?;
        if !self.eat_arrow() {
            return Err(self.expected("`->`"));
        }
        let results = if self.peek() == b'(' { self.paren_types()? } else { vec![self.ty()?] };
        Ok((inputs, results))
    }

    /// Types in parentheses: `(a, b)`.
    pub(super) fn paren_types(&mut self) -> Parsed<Vec<TypeId>> {
        self.expect(b'(')?;
        let mut types = Vec::new();
        if self.eat(b')') {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if !self.eat(b',') {
                self.expect(b')')?;
                return Ok(types);
            }
        }
    }

    fn builtin_type(&mut self) -> Parsed {
        let word = self.peek_word();
        match word {
            "tensor" => {
                self.bump(word.len());
                self.expect(b'<')?;
                self.dims();
                self.ty()?;
                if self.eat(b',') {
                    self.attr()?;
                }
                self.expect(b'>')
            }
            "vector" => {
                self.bump(word.len());
                self.expect(b'<')?;
                self.dims();
                self.ty()?;
                self.expect(b'>')
            }
            "tuple" | "complex" | "memref" => {
                self.bump(word.len());
                self.loose_brackets()
            }
            _ if SCALARS.contains(&word) || is_integer(word) => {
                self.bump(word.len());
                Ok(())
            }
            _ => {
                let range = TextRange::new(self.pos as u32, (self.pos + word.len()) as u32);
                let guess = nearest(word, SCALARS.iter().copied().chain(["tensor", "vector"]));
                let message = format!("`{word}` is not a type");
                Err(self.error(SyntaxError::new(range, "unknown-type", message).suggest(guess)))
            }
        }
    }

    fn dialect_type(&mut self) -> Parsed {
        let start = self.pos;
        let end = self.run(start + 1, is_word);
        let name = self.slice(start + 1, end);
        let range = TextRange::new(start as u32, end as u32);
        let Some((dialect, _)) = name.split_once('.') else {
            self.bump(end - start);
            if self.alias_at(start, end).is_none() {
                self.unknown_alias(start, end);
            }
            return Ok(());
        };
        if self.alias_at(start, end).is_some() {
            self.bump(end - start);
            return Ok(());
        }
        if self.table.knows_dialect(dialect) && !DIALECT_TYPES.contains(&name) {
            let guess = nearest(name, DIALECT_TYPES.iter().copied());
            let message = format!("there is no type `!{name}`");
            return Err(self.error(SyntaxError::new(range, "unknown-type", message).suggest(guess)));
        }
        self.bump(end - start);
        match name {
            "ttg.memdesc" => self.memdesc(),
            "tt.ptr" => {
                self.expect(b'<')?;
                self.ty()?;
                if self.eat(b',') {
                    let end = self.number_end(self.pos);
                    if end == self.pos {
                        return Err(self.expected("an address space"));
                    }
                    self.bump(end - self.pos);
                }
                self.expect(b'>')
            }
            "tt.tensordesc" => {
                self.expect(b'<')?;
                if self.byte(self.pos).is_ascii_digit() {
                    self.dims();
                }
                self.ty()?;
                if self.eat(b',') {
                    self.attr()?;
                }
                self.expect(b'>')
            }
            "ttg.async.token" | "nvws.token" => Ok(()),
            _ if self.byte(end) == b'<' => self.loose_brackets(),
            _ => Ok(()),
        }
    }

    /// `<SHAPExELEM, encoding, space[, mutable][, ALLOCSHAPE]>`.
    fn memdesc(&mut self) -> Parsed {
        self.expect(b'<')?;
        if !self.peek().is_ascii_digit() {
            return Err(self.expected("a shape"));
        }
        self.dims();
        self.ty()?;
        self.expect(b',')?;
        self.attr()?;
        self.expect(b',')?;
        self.attr()?;
        let mut more = self.eat(b',');
        if more && self.eat_word("mutable") {
            more = self.eat(b',');
        }
        if more {
            let end = self.run(self.pos, |b| b.is_ascii_digit() || b == b'x');
            if end == self.pos {
                return Err(self.expected("`mutable` or the shape of the allocation"));
            }
            self.bump(end - self.pos);
        }
        self.expect(b'>')
    }

    /// Skips the dimensions of a shape: `128x?x[4]x`.
    fn dims(&mut self) {
        loop {
            let at = self.pos;
            let end = match self.byte(at) {
                b if b.is_ascii_digit() => self.run(at, |b| b.is_ascii_digit()),
                b'?' | b'*' => at + 1,
                b'[' => self.run(at + 1, |b| b.is_ascii_digit()) + 1,
                _ => return,
            };
            let end = self.skip_trivia(end);
            if self.byte(end) != b'x' {
                return;
            }
            self.bump(end + 1 - at);
        }
    }

    /// Brackets whose inside is not looked at.
    pub(super) fn loose_brackets(&mut self) -> Parsed {
        match self.balanced_end(self.pos) {
            Some(end) => {
                self.bump(end - self.pos);
                Ok(())
            }
            None => Err(self.expected("a closed pair of brackets")),
        }
    }

    /// `text` with the aliases that are defined above expanded and white space gone.
    fn canonical(&self, text: &str, budget: &mut u32) -> String {
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len() + 64);
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    at += 1;
                    continue;
                }
                b'#' | b'!' => {
                    at += 1;
                    while at < bytes.len() && is_word(bytes[at]) {
                        at += 1;
                    }
                    let alias = self.store.names.find(&text[start..at]).and_then(|sym| self.store.alias(sym));
                    if let Some(alias) = alias
                        && (alias.start as usize) < self.op_start
                        && *budget > 0
                    {
                        *budget -= 1;
                        let expanded = self.attr_source(alias.value);
                        out.push_str(&self.canonical(expanded, budget));
                        continue;
                    }
                }
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += 1 + usize::from(bytes[at] == b'\\');
                    }
                    at = (at + 1).min(bytes.len());
                }
                _ => {
                    at += 1;
                    while at < bytes.len() && !b" \t\r\n#!\"".contains(&bytes[at]) {
                        at += 1;
                    }
                }
            }
            while !text.is_char_boundary(at) {
                at += 1;
            }
            out.push_str(&text[start..at]);
        }
        out
    }

    /// An attribute's text as far as the source spells it.
    pub(super) fn attr_source(&self, attr: AttrId) -> &str {
        self.slice(attr.start as usize, attr.end as usize)
    }
}

/// `i32`, `si8`, `ui4`.
fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix("si").or_else(|| word.strip_prefix("ui")).or_else(|| word.strip_prefix('i'));
    digits.is_some_and(|d| !d.is_empty() && d.len() <= 8 && d.bytes().all(|b| b.is_ascii_digit()))
}
