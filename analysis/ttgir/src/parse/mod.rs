//! The parser: recursive descent over bytes into the flat arrays of the tree.
//!
//! There is no token list. White space and comments are skipped after each token, types are
//! interned by their bytes, and attributes are checked and remembered by place only. Errors are
//! recorded and then the operation in hand is skimmed to its end, so that one bad line costs one
//! operation. Names are resolved afterwards, by `resolve`.
//!
//! Nesting is limited ([`MAX_REGIONS`], [`MAX_NESTING`]); what lies deeper is skipped with an
//! error, so the stack cannot overflow.

mod attr;
mod code;
mod cursor;
mod finish;
mod form;
mod function;
mod layout;
mod literal;
mod location;
mod op;
mod region;
mod skim;
mod top;
mod ty;
mod verify;

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::error::SyntaxError;
use super::ids::{OpId, Sym, TypeId};
use super::store::{Alias, Store};
use crate::limits::parse::{NESTING as MAX_NESTING, REGIONS as MAX_REGIONS};
use base::TextRange;
use dialects::{OpTable, table};

/// The error is recorded; the caller gives up what it was reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop;

/// What a parsing step gives.
pub(super) type Parsed<T = ()> = Result<T, Stop>;

/// The parser's state: where it is and what it has made.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    src: &'t [u8],
    /// Start of the next token.
    pos: usize,
    /// End of the last token.
    last_end: usize,
    /// Whether a line ended between the two.
    newline: bool,
    store: Store,
    errors: Vec<SyntaxError>,
    /// See [`Store::unclosed`].
    unclosed: RefCell<Vec<(u32, u32)>>,
    table: &'static OpTable,
    derived: FxHashMap<(TypeId, u8), TypeId>,
    /// The operation in hand, for the uses it makes.
    op: OpId,
    /// Where it, or the alias in hand, starts.
    op_start: usize,
    regions: u32,
    nesting: u32,
    /// Functions that are open: 0 or 1, as none stands in another.
    functions: u32,
    /// What is open, from the outside in; only filled where the layout counts.
    open: Vec<layout::Open>,
    /// Whether braces that do not fit are told by how the text is laid out.
    by_layout: bool,
    /// Whether braces do not fit.
    pub(super) unbalanced: bool,
}

impl<'t> Parser<'t> {
    /// A parser at the start of `text` that adds to `store`.
    pub(crate) fn new(text: &'t str, store: Store) -> Parser<'t> {
        Parser {
            text,
            src: text.as_bytes(),
            pos: 0,
            last_end: 0,
            newline: true,
            store,
            errors: Vec::new(),
            unclosed: RefCell::default(),
            table: table(),
            derived: FxHashMap::default(),
            op: OpId::NONE,
            op_start: 0,
            regions: 0,
            nesting: 0,
            functions: 0,
            open: Vec::new(),
            by_layout: false,
            unbalanced: false,
        }
    }

    /// What was read, and its mistakes.
    pub(crate) fn done(self) -> (Store, Vec<SyntaxError>) {
        let mut store = self.store;
        store.unclosed.extend(self.unclosed.into_inner());
        (store, self.errors)
    }

    /// Records a mistake.
    fn error(&mut self, error: SyntaxError) -> Stop {
        self.errors.push(error);
        Stop
    }

    /// Records that something else was expected here.
    fn expected(&mut self, what: &str) -> Stop {
        let range = self.here();
        self.error(SyntaxError::new(range, "syntax", format!("expected {what}")))
    }

    /// The next token, or the end of the last one where the line ends inside what is being read.
    fn here(&self) -> TextRange {
        if (self.newline && self.last_end > self.op_start) || self.pos >= self.src.len() {
            return TextRange::new(self.last_end.saturating_sub(1) as u32, self.last_end as u32);
        }
        let mut end = self.pos + 1;
        if cursor::is_word(self.src[self.pos]) || b"%#!@^".contains(&self.src[self.pos]) {
            while end < self.src.len() && cursor::is_word(self.src[end]) {
                end += 1;
            }
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        TextRange::new(self.pos as u32, end as u32)
    }

    /// Bytes of the source as text; empty where they are not.
    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    /// The alias that the source spells at `start..end`, if it is defined above.
    fn alias_at(&self, start: usize, end: usize) -> Option<&Alias> {
        let alias = self.store.alias(self.store.names.find(self.slice(start, end))?)?;
        ((alias.start as usize) < start).then_some(alias)
    }

    /// Remembers the use of an alias that nothing above defines; `resolve` reports it.
    fn unknown_alias(&mut self, start: usize, end: usize) {
        let sym = self.intern(start, end);
        self.store.alias_refs.push((sym, start as u32, end as u32));
    }

    fn intern(&mut self, start: usize, end: usize) -> Sym {
        let name = self.slice(start, end);
        self.store.names.intern(name)
    }

    /// Runs `f` one level deeper; too deep is an error.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let range = self.here();
            let message = format!("types and attributes nest deeper than {MAX_NESTING} levels");
            return Err(self.error(SyntaxError::new(range, "nesting", message)));
        }
        self.nesting += 1;
        let out = f(self);
        self.nesting -= 1;
        out
    }
}
