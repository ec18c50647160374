//! The top-level statements of a file by what they say, and how they moved from one text to the next.
//!
//! Two texts of a file are compared once for all instances that were elaborated from the first. A statement that
//! differs in comments and blank space alone says the same; its places move token by token. A statement that does not
//! parse is compared by its last good text, which stands behind the rest of the source. Statements that have come, gone or
//! changed matter to who ran them, or asks for a name that they bind.

use python::syntax::{Bindings, Demanded, range};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use rustc_hash::FxHasher;

use base::TextRange;
use gluon::Spec;
use python::syntax::Module;

/// What of a text is compared with the next one.
#[derive(Debug)]
pub(super) struct Outline {
    source: Arc<str>,
    /// Bytes of the text as it is; last good texts stand behind it.
    text: u32,
    /// In the order of the text.
    statements: Vec<Statement>,
}

/// A top-level statement.
#[derive(Debug)]
struct Statement {
    range: TextRange,
    /// All of it but the bodies of functions: what matters while no function in it is called.
    skeleton: u64,
}

impl Outline {
    /// The outline of a file.
    pub(super) fn of(module: &Module) -> Outline {
        let statement = |statement: &Stmt| Statement { range: range(statement), skeleton: skeleton(module, statement) };
        let mut statements: Vec<Statement> = module.body().iter().map(statement).collect();
        if !module.broken().is_empty() {
            statements.sort_by_key(|statement| module.place(statement.range).0.start);
        }
        Outline { source: module.shared_source().clone(), text: module.text().len() as u32, statements }
    }

    /// Bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.source.len()
    }

    fn slice(&self, statement: &Statement) -> &str {
        statement.range.of(&self.source)
    }
}

/// From one text of a file to another: which statements say the same, and where they stand now.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Statements of the first text in which the bodies of functions differ.
    bodies: Vec<TextRange>,
    /// Statements of the first text in whose place others stand, or none.
    gone: Vec<TextRange>,
    /// What these and those in their place bind.
    bound: Vec<String>,
    /// Where a piece of the first text starts, and what is added to its places; ascending.
    moves: Vec<(u32, i64)>,
    /// The first place of the first text that stands in a line of another number now; none where each stands in the
    /// line of the same number.
    other_line: Option<u32>,
}

impl Comparison {
    /// Compares two texts of a file; `None` where it cannot be told what statements bind that differ.
    pub(super) fn between(old: &Outline, new: &Outline) -> Option<Comparison> {
        let mut comparison =
            Comparison { bodies: Vec::new(), gone: Vec::new(), bound: Vec::new(), moves: Vec::new(), other_line: None };
        if Arc::ptr_eq(&old.source, &new.source) || old.source == new.source {
            return Some(comparison);
        }
        let mut lines = LinesBetween { old: &old.source, new: &new.source, at: (0, 0) };
        let (before, after) = (&old.statements[..], &new.statements[..]);
        // Where there are more or fewer, those between the ones that are alike at both ends are others.
        let alike = |(was, is): &(&Statement, &Statement)| old.slice(was) == new.slice(is);
        let (mut first, mut last) = (before.len(), 0);
        if before.len() != after.len() {
            first = before.iter().zip(after).take_while(alike).count();
            let rest = before[first..].iter().rev().zip(after[first..].iter().rev());
            last = rest.take_while(alike).count();
            for was in &before[first..before.len() - last] {
                comparison.replace(Some((old, was)), None)?;
            }
            for is in &after[first..after.len() - last] {
                comparison.replace(None, Some((new, is)))?;
            }
        }
        let ends = before[before.len() - last..].iter().zip(&after[after.len() - last..]);
        for (was, is) in before[..first].iter().zip(&after[..first.min(after.len())]).chain(ends) {
            let (before, after) = (old.slice(was), new.slice(is));
            let (from, to) = (was.range.start, is.range.start);
            let present = from < old.text && to < new.text;
            let mut add = |from: u32, to: u32| {
                if present && comparison.other_line.is_none() && !lines.are_as_many(from, to) {
                    comparison.other_line = Some(from);
                }
                comparison.moves.push((from, i64::from(to) - i64::from(from)));
            };
            add(from, to);
            if before == after {
                continue;
            }
            match moved_tokens(before, after) {
                Some(pieces) => pieces.iter().for_each(|(old, new)| add(from + old, to + new)),
                None if was.skeleton == is.skeleton => comparison.bodies.push(was.range),
                None => comparison.replace(Some((old, was)), Some((new, is)))?,
            }
        }
        comparison.moves.sort_unstable();
        let mut last = 0;
        comparison.moves.retain(|(_, by)| std::mem::replace(&mut last, *by) != *by);
        Some(comparison)
    }

    /// Notes that a statement of the first text is gone, or that another one of the other text has come.
    fn replace(&mut self, was: Option<(&Outline, &Statement)>, is: Option<(&Outline, &Statement)>) -> Option<()> {
        self.gone.extend(was.map(|(_, was)| was.range));
        for (of, statement) in was.into_iter().chain(is) {
            let parsed = parse_unchecked_source(of.slice(statement), PySourceType::Python);
            if !parsed.errors().is_empty() {
                return None;
            }
            self.bound.extend(Bindings::of(&parsed.syntax().body).names()?.map(str::to_owned));
        }
        Some(())
    }

    /// Whether all of the first text that `ran` says the same, and so does what it `demanded` of the statements of the
    /// file: all of them where that is not known.
    pub(super) fn keeps(&self, mut ran: impl Iterator<Item = TextRange>, demanded: Option<&Demanded>) -> bool {
        let same = self.keeps_statements() || demanded.is_some_and(|it| it.ignores(&self.gone, &self.bound));
        same && (self.bodies.is_empty() || ran.all(|ran| !self.bodies.iter().any(|body| body.contains(ran))))
    }

    /// Whether no statements differ in more than the bodies of functions.
    pub(super) fn keeps_statements(&self) -> bool {
        self.gone.is_empty() && self.bound.is_empty()
    }

    /// Whether nothing that it keeps has moved.
    pub(super) fn is_still(&self) -> bool {
        self.moves.is_empty()
    }

    /// Whether each place before `end` that it keeps stands in the line of the same number.
    pub(super) fn same_lines_before(&self, end: u32) -> bool {
        self.other_line.is_none_or(|at| end <= at)
    }

    /// Whether a specialisation of the first text is this one of the other, but for places.
    pub(super) fn is_same_spec(&self, before: &Spec, now: &Spec) -> bool {
        before.is_shifted(now, &|offset| self.offset(offset))
    }

    /// Where an offset of the first text is now.
    pub(super) fn offset(&self, offset: u32) -> u32 {
        let at = self.moves.partition_point(|(start, _)| *start <= offset);
        let by = at.checked_sub(1).and_then(|at| self.moves.get(at)).map_or(0, |(_, by)| *by);
        u32::try_from(i64::from(offset) + by).unwrap_or(0)
    }

    /// Where a range of the first text is now.
    pub(super) fn range(&self, range: TextRange) -> TextRange {
        let start = self.offset(range.start);
        // What stands behind the last token of a range is no part of it.
        let end = if range.is_empty() { start } else { self.offset(range.end - 1) + 1 };
        TextRange::new(start, end.max(start))
    }
}

/// How earlier texts of a file compare with one, each found out once.
#[derive(Debug)]
pub(super) struct Since {
    outline: Arc<Outline>,
    known: Vec<(Arc<Outline>, Option<Arc<Comparison>>)>,
}

impl Since {
    /// Of the text with this outline.
    pub(super) fn new(outline: Arc<Outline>) -> Since {
        Since { outline, known: Vec::new() }
    }

    /// The text that others are compared with.
    pub(super) fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// How an earlier text compares with it.
    pub(super) fn since(&mut self, before: &Arc<Outline>) -> Option<Arc<Comparison>> {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| Arc::ptr_eq(known, before)) {
            return known.clone();
        }
        let comparison = Comparison::between(before, &self.outline).map(Arc::new);
        self.known.push((before.clone(), comparison.clone()));
        comparison
    }
}

/// Counts lines in two texts at once.
struct LinesBetween<'t> {
    old: &'t str,
    new: &'t str,
    at: (u32, u32),
}

impl LinesBetween<'_> {
    /// Whether as many lines end before the one offset as before the other, given that it was so at the last ones.
    fn are_as_many(&mut self, old: u32, new: u32) -> bool {
        let count = |text: &str, from: u32, to: u32| {
            let part = text.as_bytes().get(from as usize..to as usize).unwrap_or_default();
            memchr::memchr_iter(b'\n', part).count()
        };
        let same = count(self.old, self.at.0, old) == count(self.new, self.at.1, new);
        self.at = (old, new);
        same
    }
}

/// Where the tokens of a statement start in two texts of it that differ in comments and blank space alone; `None`
/// where they differ in more.
fn moved_tokens(old: &str, new: &str) -> Option<Vec<(u32, u32)>> {
    if differ_in_code(old, new) {
        return None;
    }
    let (before, after) = (tokens(old)?, tokens(new)?);
    let same = |((old_kind, old_range), (new_kind, new_range)): (&Token, &Token)| {
        old_kind == new_kind
            // An indentation counts by where it stands among the tokens.
            && (matches!(old_kind, TokenKind::Indent | TokenKind::Dedent | TokenKind::Newline)
                || old_range.of(old) == new_range.of(new))
    };
    let equal = before.len() == after.len() && before.iter().zip(&after).all(same);
    equal.then(|| before.iter().zip(&after).map(|((_, old), (_, new))| (old.start, new.start)).collect())
}

/// Whether what differs is code for certain, which is seen without parsing: more than white space, in lines without
/// the sign of a comment.
fn differ_in_code(old: &str, new: &str) -> bool {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let behind = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let is_code = |text: &[u8]| {
        let from = text[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        !text[from..text.len() - behind].contains(&b'#')
    };
    let solid = |text: &[u8]| -> Vec<u8> {
        text[start..text.len() - behind].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    is_code(a) && is_code(b) && solid(a) != solid(b)
}

type Token = (TokenKind, TextRange);

/// The tokens of a statement, without what only people read; `None` where it does not parse by itself.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    if !parsed.errors().is_empty() {
        return None;
    }
    let told = parsed.tokens().iter().filter(|token| !token.kind().is_trivia());
    Some(told.map(|token| (token.kind(), range(token))).collect())
}

/// What of a statement matters when no function in it is called: all but the bodies of functions.
fn skeleton(module: &Module, statement: &Stmt) -> u64 {
    let mut bodies = Vec::new();
    collect(statement, &mut bodies);
    let whole = range(statement);
    let mut hasher = FxHasher::default();
    let mut from = whole.start;
    for body in bodies {
        module.slice(TextRange::new(from, body.start)).trim().hash(&mut hasher);
        from = body.end;
    }
    module.slice(TextRange::new(from, whole.end)).trim().hash(&mut hasher);
    hasher.finish()
}

fn collect(statement: &Stmt, bodies: &mut Vec<TextRange>) {
    match statement {
        Stmt::FunctionDef(def) => {
            if let (Some(first), Some(last)) = (def.body.first(), def.body.last()) {
                bodies.push(range(first).cover(range(last)));
            }
        }
        Stmt::ClassDef(class) => class.body.iter().for_each(|inner| collect(inner, bodies)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use python::syntax::Pending;

    fn comparison(old: &str, new: &str) -> Option<Comparison> {
        let outline = |text: &str| Outline::of(&Module::parse("k.py", text, None));
        Comparison::between(&outline(old), &outline(new))
    }

    const TEXT: &str = "x = 1\n\ndef f(a):\n    b = a\n    return (b,\n        a)\n\ndef g():\n    return 2\n";

    fn at(text: &str, word: &str) -> TextRange {
        let start = text.find(word).expect("it is there") as u32;
        TextRange::new(start, start + word.len() as u32)
    }

    #[test]
    fn a_comment_moves_what_stands_behind_it_and_changes_nothing() {
        let new = TEXT.replace("b = a\n", "b = a  # why\n").replace("(b,\n", "(b,\n        # more\n");
        let found = comparison(TEXT, &new).expect("they say the same");
        for word in ["x = 1", "b = a", "return (b", "a)", "def g", "2"] {
            assert_eq!(found.range(at(TEXT, word)).of(&new), word);
        }
        let whole = at(TEXT, "(b,\n        a)");
        assert_eq!(found.range(whole).of(&new), "(b,\n        # more\n        a)");
        assert!(
            found.keeps([at(TEXT, "def f")].into_iter(), None)
                && !found.is_still()
                && !found.same_lines_before(u32::MAX)
        );
        let one = comparison(TEXT, &TEXT.replace("b = a\n", "b = a  #\n")).expect("they say the same");
        assert!(one.same_lines_before(u32::MAX) && !one.is_still());
    }

    #[test]
    fn what_does_not_parse_is_compared_by_its_last_good_text() {
        let good = Module::parse("k.py", TEXT, None);
        let torn = Module::parse("k.py", TEXT.replace("b = a\n", "b = (a\n"), Some(&good));
        let (before, after) = (Outline::of(&good), Outline::of(&torn));
        let found = Comparison::between(&before, &after).expect("nothing is new");
        assert!(found.keeps([at(TEXT, "def f"), at(TEXT, "def g")].into_iter(), None));
        assert_eq!(torn.slice(found.range(at(TEXT, "return 2"))), "return 2");
        assert_eq!(torn.slice(found.range(at(TEXT, "b = a"))), "b = a");
        let back = Comparison::between(&after, &before).expect("nothing is new");
        for word in ["b = a", "return (b"] {
            assert_eq!(back.range(found.range(at(TEXT, word))), at(TEXT, word));
        }
    }

    /// What is demanded of a file by who asks for these names.
    fn demanded(text: &str, names: &[&str]) -> Option<Demanded> {
        let module = Module::parse("k.py", text, None);
        let mut pending = Pending::of(&module);
        for name in names {
            while pending.next(name, true).is_some() {}
        }
        pending.demanded()
    }

    #[test]
    fn statements_matter_to_who_asks_for_what_they_bind() {
        let (asks_f, asks_x) = (demanded(TEXT, &["f", "range"]), demanded(TEXT, &["f", "x"]));
        let changed = comparison(TEXT, &TEXT.replace("x = 1", "x = 2")).expect("one differs");
        let ran = || [at(TEXT, "def f")].into_iter();
        assert!(changed.keeps(ran(), asks_f.as_ref()));
        assert!(!changed.keeps(ran(), asks_x.as_ref()) && !changed.keeps(ran(), None));
        // One that has come, in front of the others, and one that takes a name that was nobody's.
        let more = TEXT.replace("def f", "y = 3\n\ndef f");
        let more = comparison(TEXT, &more).map(|found| (found.keeps(ran(), asks_x.as_ref()), found));
        let (kept, found) = more.expect("one is new");
        let new = TEXT.replace("def f", "y = 3\n\ndef f");
        assert!(kept && found.range(at(TEXT, "def g")).of(&new) == "def g" && !found.same_lines_before(u32::MAX));
        let taken = comparison(TEXT, &format!("{TEXT}range = 1\n")).expect("one is new");
        assert!(!taken.keeps(ran(), asks_f.as_ref()));
        // The head of a function, a call that changes what a name stands for, and names that nobody can tell.
        let head = comparison(TEXT, &TEXT.replace("def g()", "def g(b)")).expect("one differs");
        assert!(head.keeps(ran(), asks_x.as_ref()) && !head.keeps(ran(), demanded(TEXT, &["g"]).as_ref()));
        let called = comparison(TEXT, &format!("{TEXT}x.append(1)\n")).expect("one is new");
        assert!(!called.keeps(ran(), asks_x.as_ref()));
        assert!(comparison(TEXT, &format!("{TEXT}from m import *\n")).is_none());
    }

    #[test]
    fn what_is_called_has_to_be_the_same() {
        let new = TEXT.replace("b = a\n", "b = a + 1\n");
        let found = comparison(TEXT, &new).expect("the rest is the same");
        assert!(!found.keeps([at(TEXT, "def f")].into_iter(), None));
        assert!(found.keeps([at(TEXT, "def g")].into_iter(), None));
        assert_eq!(found.range(at(TEXT, "def g")).of(&new), "def g");
        let deeper = comparison(TEXT, &TEXT.replace("    return 2", "        return 2")).expect("it says the same");
        assert!(deeper.keeps([at(TEXT, "def g")].into_iter(), None) && deeper.same_lines_before(u32::MAX));
        // White space that makes another program.
        let nested = "def f(a):\n    if a:\n        a = 1\n    b = 2\n";
        let other = comparison(nested, &nested.replace("    b", "        b")).expect("a body differs");
        assert!(!other.keeps([at(nested, "def f")].into_iter(), None));
    }
}
