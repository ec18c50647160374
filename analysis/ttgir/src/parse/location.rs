//! `loc(…)`.

use super::cursor::is_word;
use super::{Parsed, Parser};
use crate::ids::AttrId;

impl Parser<'_> {
    /// ` loc(…)` behind an operation or an argument, if there is one.
    pub(super) fn trailing_location(&mut self) -> Parsed<Option<AttrId>> {
        if self.peek() != b'l' || !self.eat_word("loc") {
            return Ok(None);
        }
        self.location().map(Some)
    }

    /// `(…)` of a location; gives what is inside.
    pub(super) fn location(&mut self) -> Parsed<AttrId> {
        self.expect(b'(')?;
        let start = self.pos;
        self.nested(Self::location_body)?;
        let inside = self.attr_since(start);
        self.expect(b')')?;
        Ok(inside)
    }

    fn location_body(&mut self) -> Parsed {
        match self.peek() {
            b'#' => {
                let start = self.pos;
                let end = self.run(start + 1, is_word);
                let sym = self.intern(start, end);
                if self.store.alias(sym).is_none() {
                    self.store.loc_refs.push((sym, start as u32, end as u32));
                }
                self.bump(end - start);
                if self.peek() == b'<' { self.loose_brackets() } else { Ok(()) }
            }
            b'"' => {
                self.string()?;
                if self.eat(b':') {
                    self.position()?;
                    if self.eat_word("to") {
                        if self.peek() == b':' {
                            self.bump(1);
                            return self.integer();
                        }
                        return self.position();
                    }
                    return Ok(());
                }
                if self.eat(b'(') {
                    self.nested(Self::location_body)?;
                    self.expect(b')')?;
                }
                Ok(())
            }
            _ => match self.peek_word() {
                "unknown" => {
                    self.bump("unknown".len());
                    Ok(())
                }
                "callsite" => {
                    self.bump("callsite".len());
                    self.expect(b'(')?;
                    self.nested(Self::location_body)?;
                    self.expect_word("at")?;
                    self.nested(Self::location_body)?;
                    self.expect(b')')
                }
                "fused" => {
                    self.bump("fused".len());
                    if self.peek() == b'<' {
                        self.bump(1);
                        self.attr()?;
                        self.expect(b'>')?;
                    }
                    self.expect(b'[')?;
                    loop {
                        self.nested(Self::location_body)?;
                        if !self.eat(b',') {
                            return self.expect(b']');
                        }
                    }
                }
                "loc" => {
                    self.bump("loc".len());
                    self.location().map(|_| ())
                }
                _ => Err(self.expected("a location")),
            },
        }
    }

    /// A place in a file: `line:column`.
    fn position(&mut self) -> Parsed {
        self.integer()?;
        self.expect(b':')?;
        self.integer()
    }

    pub(super) fn integer(&mut self) -> Parsed {
        let end = self.run(self.pos, |b| b.is_ascii_digit());
        if end == self.pos {
            return Err(self.expected("a number"));
        }
        self.bump(end - self.pos);
        Ok(())
    }
}
