//! Attributes: read for their mistakes and their extent; what they hold is read on demand.

use smallvec::SmallVec;

use super::cursor::{is_name, is_word};
use super::literal::Literal;
use super::{Parsed, Parser, SyntaxError};
use crate::ids::AttrId;
use crate::store::Named;
use base::TextRange;

/// Named attributes of one operation while it is being read.
pub(super) type Attrs = SmallVec<[Named; 8]>;

impl Parser<'_> {
    /// An attribute with the type that may follow it.
    pub(super) fn attr(&mut self) -> Parsed<AttrId> {
        let start = self.pos;
        self.nested(|p| p.attr_value(true))?;
        Ok(self.attr_since(start))
    }

    /// An attribute written in place by an op's form: no type follows, and a bare word may stand.
    pub(super) fn inline_attr(&mut self) -> Parsed<AttrId> {
        let start = self.pos;
        match self.peek() {
            b'<' => self.loose_brackets()?,
            b if b.is_ascii_alphabetic() || b == b'_' => {
                let len = self.peek_word().len();
                self.bump(len);
            }
            _ => self.nested(|p| p.attr_value(false))?,
        }
        Ok(self.attr_since(start))
    }

    /// The attribute from `start` to the last token.
    pub(super) fn attr_since(&self, start: usize) -> AttrId {
        AttrId { start: start as u32, end: self.last_end as u32 }
    }

    /// Adds an attribute to an operation's.
    pub(super) fn name_attr(&mut self, attrs: &mut Attrs, name: &str, attr: AttrId) {
        let name = self.store.names.intern(name);
        attrs.push(Named { name, attr });
    }

    /// `{a = 1, b, "c.d" = [2]}` into `attrs`.
    pub(super) fn dict(&mut self, attrs: &mut Attrs) -> Parsed {
        let first = attrs.len();
        self.expect(b'{')?;
        if self.eat(b'}') {
            return Ok(());
        }
        loop {
            let start = self.pos;
            let name = if self.peek() == b'"' {
                let name = self.string()?;
                self.store.names.intern(name)
            } else {
                let len = self.peek_word().len();
                if len == 0 {
                    return Err(self.expected("an attribute name"));
                }
                self.bump(len);
                self.intern(start, start + len)
            };
            let key = self.attr_since(start);
            let few = attrs.len() - first < 256;
            if few && attrs[first..].iter().any(|named| named.name == name) {
                let message = format!("the attribute `{}` is given twice", self.store.names.get(name));
                let range = TextRange::new(key.start, key.end);
                self.errors.push(SyntaxError::new(range, "duplicate-attribute", message));
            }
            let attr = if self.eat(b'=') { self.attr()? } else { key };
            attrs.push(Named { name, attr });
            if !self.eat(b',') {
                return self.expect(b'}');
            }
        }
    }

    fn attr_value(&mut self, typed: bool) -> Parsed {
        let start = self.pos;
        match self.peek() {
            b'#' => return self.hash_attr(),
            b'[' => {
                self.bump(1);
                if self.eat(b']') {
                    return Ok(());
                }
                loop {
                    self.nested(|p| p.attr_value(true))?;
                    // A padding interval, `512:+16`.
                    if self.peek() == b':' && self.byte(self.pos + 1) == b'+' {
                        self.bump(2);
                        continue;
                    }
                    if !self.eat(b',') {
                        return self.expect(b']');
                    }
                }
            }
            b'{' => return self.dict(&mut Attrs::new()),
            b'"' => {
                self.string()?;
            }
            b'@' => return self.symbol(),
            b'!' | b'(' => return self.ty().map(|_| ()),
            b'-' | b'0'..=b'9' => {
                let end = self.number_end(self.pos);
                if end == self.pos {
                    return Err(self.expected("an attribute"));
                }
                self.bump(end - self.pos);
                // `512:+16` is not a type.
                if self.byte(self.pos) == b':' && self.byte(self.pos + 1) == b'+' {
                    return Ok(());
                }
                if typed && self.eat(b':') {
                    let ty = self.ty()?;
                    self.check_number(start, end, ty);
                }
                return Ok(());
            }
            b if b.is_ascii_alphabetic() || b == b'_' => return self.word_attr(),
            _ => return Err(self.expected("an attribute")),
        }
        if typed && self.eat(b':') {
            self.ty()?;
        }
        Ok(())
    }

    fn word_attr(&mut self) -> Parsed {
        let word = self.peek_word();
        let next = self.byte(self.pos + word.len());
        match word {
            "true" | "false" | "unit" => {
                self.bump(word.len());
                Ok(())
            }
            "dense" if next == b'<' => {
                let start = self.pos;
                self.bump(word.len());
                let literal = self.dense()?;
                let at = TextRange::new(start as u32, self.last_end as u32);
                self.expect(b':')?;
                let ty = self.ty()?;
                self.check_literal(&literal, ty, at)
            }
            "dense_resource" | "sparse" if next == b'<' => {
                self.bump(word.len());
                self.loose_brackets()?;
                self.expect(b':')?;
                self.ty().map(|_| ())
            }
            "array" if next == b'<' => {
                self.bump(word.len() + 1);
                let ty = self.ty()?;
                let mut literal = Literal::default();
                if self.eat(b':') {
                    loop {
                        self.element(&mut literal)?;
                        if !self.eat(b',') {
                            break;
                        }
                    }
                }
                self.check_literal(&literal, ty, TextRange::default())?;
                self.expect(b'>')
            }
            "loc" if next == b'(' => {
                self.bump(word.len());
                self.location().map(|_| ())
            }
            "affine_map" | "affine_set" | "strided" | "opaque" | "distinct" => {
                self.bump(word.len());
                while matches!(self.peek(), b'<' | b'[') {
                    self.loose_brackets()?;
                }
                if self.eat(b':') {
                    self.ty()?;
                }
                Ok(())
            }
            _ => self.ty().map(|_| ()),
        }
    }

    /// A number or a truth value of a list.
    fn element(&mut self, literal: &mut Literal) -> Parsed {
        let (start, end) = (self.pos, self.number_end(self.pos));
        if end > start {
            let number = self.slice(start, end);
            let range = TextRange::new(start as u32, end as u32);
            if number.contains('.') {
                literal.float.get_or_insert(range);
            } else if !number.contains("0x") {
                literal.integer.get_or_insert(range);
            }
            self.bump(end - start);
            return Ok(());
        }
        match self.peek_word() {
            word @ ("true" | "false") => {
                self.bump(word.len());
                Ok(())
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// `<1>`, `<[[1, 2], [3, 4]]>`, `<"0xFF">`, `<>`.
    fn dense(&mut self) -> Parsed<Literal> {
        let mut literal = Literal::default();
        self.expect(b'<')?;
        if self.peek() == b'>' {
            literal.opaque = true;
        } else {
            self.nested(|p| p.dense_value(&mut literal, 0))?;
        }
        self.expect(b'>')?;
        Ok(literal)
    }

    fn dense_value(&mut self, literal: &mut Literal, depth: usize) -> Parsed {
        match self.peek() {
            b'[' => {
                self.bump(1);
                let mut len = 0;
                let known = depth < literal.shape.len();
                if !known {
                    literal.shape.push(0);
                }
                while self.peek() != b']' {
                    self.nested(|p| p.dense_value(literal, depth + 1))?;
                    len += 1;
                    if !self.eat(b',') {
                        break;
                    }
                }
                if known {
                    literal.ragged |= literal.shape[depth] != len;
                } else {
                    literal.shape[depth] = len;
                }
                self.expect(b']')
            }
            b'"' => {
                literal.opaque = true;
                literal.shape.push(-1);
                self.string().map(|_| ())
            }
            b'(' => {
                literal.opaque = true;
                literal.shape.push(-1);
                self.loose_brackets()
            }
            _ => self.element(literal),
        }
    }

    /// A symbol with its nested parts: `@a::@b`.
    pub(super) fn symbol(&mut self) -> Parsed {
        loop {
            let end = if self.byte(self.pos + 1) == b'"' {
                self.string_end(self.pos + 1).unwrap_or(self.pos)
            } else {
                self.run(self.pos + 1, is_name)
            };
            if self.peek() != b'@' || end <= self.pos + 1 {
                return Err(self.expected("a symbol"));
            }
            self.bump(end - self.pos);
            if !(self.peek() == b':' && self.byte(self.pos + 1) == b':') {
                return Ok(());
            }
            self.bump(2);
        }
    }

    /// `#alias`, `#dialect.name`, `#dialect.name<…>`.
    fn hash_attr(&mut self) -> Parsed {
        let start = self.pos;
        let end = self.run(start + 1, is_word);
        let name = self.slice(start, end);
        if self.alias_at(start, end).is_some() {
            self.bump(end - start);
            return Ok(());
        }
        self.bump(end - start);
        if self.byte(end) == b'<' {
            return self.attr_body();
        }
        if !name.contains('.') {
            self.unknown_alias(start, end);
        }
        Ok(())
    }

    /// The parameters of a dialect's attribute: values and `key = value`, with commas between.
    fn attr_body(&mut self) -> Parsed {
        self.expect(b'<')?;
        while self.peek() != b'>' {
            let closed = self.attr_item()?;
            let more = self.eat(b',') || (closed && self.peek() == b'{');
            if !more {
                break;
            }
        }
        self.expect(b'>')
    }

    /// One parameter; says whether it ended in a bracket, after which some leave out the comma.
    fn attr_item(&mut self) -> Parsed<bool> {
        let word = self.peek_word();
        if !word.is_empty() {
            let after = self.skip_trivia(self.pos + word.len());
            if self.byte(after) == b'=' {
                self.bump(word.len());
                self.bump(1);
                self.attr_item()?;
                return Ok(false);
            }
            let next = self.byte(self.pos + word.len());
            if next != b'<' && next != b'(' {
                self.bump(word.len());
                // `a | b` of a bit enum.
                if self.eat(b'|') {
                    return self.attr_item();
                }
                return Ok(false);
            }
        }
        let bracket = matches!(self.peek(), b'[' | b'{');
        self.nested(|p| p.attr_value(true))?;
        Ok(bracket)
    }
}
