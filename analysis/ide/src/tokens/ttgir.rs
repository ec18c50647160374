//! Semantic tokens of TTGIR. What a word is its line says, so that a part of a text is painted as the whole is; what a
//! value is the tree says.

use base::TextRange;
use dialects::{OpCompletion, OpDecl, OpEffect, table};
use rustc_hash::FxHashMap;
use ttgir::{Document, IrLevel, Section, Token, TokenKind, Tokens};

use super::values::{Named, named};
use super::{Modifiers, SemanticKind, SemanticToken};
use crate::limits::tokens::WHOLE as LIMIT;

/// The tokens in a range of a document, or of all of it, in the order of the text; `None` where all of it is too much.
/// Only sections that the range touches are read.
pub fn tokens(document: &Document, range: Option<TextRange>) -> Option<Vec<SemanticToken>> {
    if range.is_none() && document.text().len() > LIMIT {
        return None;
    }
    let asked = range.unwrap_or(TextRange::new(0, document.text().len() as u32));
    let mut found = Vec::new();
    for section in document.sections() {
        let own = section.range();
        if own.start > asked.end || asked.start > own.end {
            continue;
        }
        let within =
            TextRange::new(asked.start.max(own.start) - own.start, asked.end.min(own.end).saturating_sub(own.start));
        paint(section, within, &mut found);
    }
    headers(document, asked, &mut found);
    found.sort_by_key(|token| token.range.start);
    Some(found)
}

/// The lines between sections, which are comments.
fn headers(document: &Document, asked: TextRange, out: &mut Vec<SemanticToken>) {
    let mut gaps = Vec::new();
    let mut end = 0;
    for section in document.sections() {
        gaps.push(TextRange::new(end, section.range().start.max(end)));
        end = section.range().end;
    }
    gaps.push(TextRange::new(end, (document.text().len() as u32).max(end)));
    for gap in gaps.into_iter().filter(|gap| !gap.is_empty() && gap.start <= asked.end && asked.start <= gap.end) {
        for token in Tokens::new(gap.of(document.text())).filter(|token| token.kind == TokenKind::Comment) {
            let range = TextRange::new(token.range.start + gap.start, token.range.end + gap.start);
            push(document.text(), range, SemanticKind::Comment, Modifiers::NONE, out);
        }
    }
}

/// Adds a token without the blanks at its end.
fn push(text: &str, range: TextRange, kind: SemanticKind, modifiers: Modifiers, out: &mut Vec<SemanticToken>) {
    let length = range.of(text).trim_end().len() as u32;
    let range = TextRange::new(range.start, range.start + length);
    if !range.is_empty() {
        out.push(SemanticToken { range, kind, modifiers });
    }
}

/// The tokens of a part of a section.
fn paint(section: &Section, within: TextRange, out: &mut Vec<SemanticToken>) {
    let text = section.text();
    // Whole lines: what a word is its line says.
    let start = text.get(..within.start as usize).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
    let rest = text.get(within.end as usize..).unwrap_or("");
    let end = within.end as usize + rest.find('\n').unwrap_or(rest.len());
    let lines = TextRange::new(start as u32, end as u32);
    let prose = section.level() == IrLevel::Other && !text.contains("module");
    let named = if prose { Vec::new() } else { named(section.tree(), lines) };
    let mut painter = Painter { text, offset: section.offset(), named, at: 0, ops: FxHashMap::default(), out };
    let mut line_start = lines.start;
    for line in lines.of(text).split_inclusive('\n') {
        painter.line(line, line_start, prose);
        line_start += line.len() as u32;
    }
}

struct Painter<'t, 'o> {
    text: &'t str,
    /// Where the section starts.
    offset: u32,
    named: Vec<Named>,
    /// The first of `named` that was not passed yet.
    at: usize,
    /// What is known of the ops of the section, by name.
    ops: FxHashMap<&'t str, Option<Modifiers>>,
    out: &'o mut Vec<SemanticToken>,
}

/// Words that are keywords wherever they stand.
const KEYWORDS: &[&str] = &[
    "array",
    "attributes",
    "case",
    "default",
    "dense",
    "do",
    "else",
    "false",
    "iter_args",
    "loc",
    "mutable",
    "private",
    "public",
    "nested",
    "step",
    "then",
    "to",
    "true",
    "unit",
    "num_warps",
    "requestedRegisters",
    "tokens",
    "token",
    "mask",
    "other",
    "barrier",
    "rank",
    "barrier_ty",
];

impl<'t> Painter<'t, '_> {
    fn push(&mut self, range: TextRange, kind: SemanticKind, modifiers: Modifiers) {
        let length = range.of(self.text).trim_end().len() as u32;
        let range = TextRange::new(range.start + self.offset, range.start + self.offset + length);
        if !range.is_empty() {
            self.out.push(SemanticToken { range, kind, modifiers });
        }
    }

    fn line(&mut self, line: &'t str, start: u32, prose: bool) {
        let tokens: Vec<Token> = Tokens::new(line).collect();
        let solid =
            |from: usize| tokens.get(from..).and_then(|rest| rest.iter().find(|it| it.kind != TokenKind::Space));
        let mut before: Option<Token> = None;
        // Whether an op's name may stand here.
        let mut head = true;
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            if token.kind == TokenKind::Space {
                continue;
            }
            if prose && token.kind != TokenKind::Comment {
                continue;
            }
            let word = token.range.of(line);
            let mut range = TextRange::new(token.range.start + start, token.range.end + start);
            let first = before.is_none();
            let next = solid(at);
            let is_key = next.is_some_and(|next| next.range.of(line) == "=");
            let (kind, modifiers) = match token.kind {
                TokenKind::Comment => (SemanticKind::Comment, Modifiers::NONE),
                TokenKind::String if is_key && !first => (SemanticKind::Property, Modifiers::NONE),
                TokenKind::String if head && op(word.trim_matches('"')).is_some() => {
                    let modifiers = op(word.trim_matches('"')).unwrap_or_default();
                    (SemanticKind::Method, modifiers)
                }
                TokenKind::String => (SemanticKind::Str, Modifiers::NONE),
                TokenKind::Number => {
                    // `128x64xf16`: a shape with its element type is one word.
                    let joined = tokens.get(at).filter(|it| {
                        it.kind == TokenKind::Word
                            && it.range.start == token.range.end
                            && it.range.of(line).starts_with('x')
                    });
                    match joined {
                        Some(joined) => {
                            range = TextRange::new(range.start, joined.range.end + start);
                            at += 1;
                            (SemanticKind::Type, Modifiers::NONE)
                        }
                        None => (SemanticKind::Number, Modifiers::NONE),
                    }
                }
                TokenKind::Value => self.value(range),
                TokenKind::Label => (SemanticKind::Label, Modifiers::DECLARATION.when(first)),
                TokenKind::Symbol => {
                    let defines = before.is_some_and(|it| {
                        let word = it.range.of(line);
                        word.ends_with("func") || matches!(word, "public" | "private" | "nested" | "module")
                    });
                    (SemanticKind::Function, Modifiers::DECLARATION.when(defines))
                }
                TokenKind::Attr => (SemanticKind::Macro, Modifiers::DECLARATION.when(first && is_key)),
                TokenKind::Type => (SemanticKind::Type, Modifiers::DECLARATION.when(first && is_key)),
                TokenKind::Word => match self.word(word, head, is_key) {
                    Some(found) => found,
                    None => {
                        head = false;
                        before = Some(token);
                        continue;
                    }
                },
                TokenKind::Space | TokenKind::Punct | TokenKind::Unknown => {
                    // A name of an op follows `=`, and a `}` or a `{` before which nothing else stands.
                    head = match word {
                        "=" => head,
                        "," | ":" => {
                            head && before.is_some_and(|it| matches!(it.kind, TokenKind::Value | TokenKind::Punct))
                        }
                        "}" | "{" => first,
                        _ => false,
                    };
                    before = Some(token);
                    continue;
                }
            };
            self.push(range, kind, modifiers);
            head = head && matches!(token.kind, TokenKind::Value | TokenKind::Number);
            before = Some(token);
        }
    }

    /// What a bare word is.
    fn word(&mut self, word: &'t str, head: bool, is_key: bool) -> Option<(SemanticKind, Modifiers)> {
        if head {
            if let Some(modifiers) = *self.ops.entry(word).or_insert_with(|| op(word)) {
                return Some((SemanticKind::Method, modifiers));
            }
            if word == "module" || is_region(word) || KEYWORDS.contains(&word) {
                return Some((SemanticKind::Keyword, Modifiers::NONE));
            }
            if word.contains('.') && !is_key {
                return Some((SemanticKind::Method, Modifiers::NONE));
            }
        }
        if is_key {
            return Some((SemanticKind::Property, Modifiers::NONE));
        }
        if is_type(word) {
            return Some((SemanticKind::Type, Modifiers::NONE));
        }
        if word == "module" || is_region(word) || KEYWORDS.contains(&word) {
            return Some((SemanticKind::Keyword, Modifiers::NONE));
        }
        if word.contains('.') && op(word).is_some() {
            return Some((SemanticKind::Method, op(word).unwrap_or_default()));
        }
        // `x` of `4x!tt.ptr<…>` is punctuation.
        (word != "x").then_some((SemanticKind::EnumMember, Modifiers::NONE))
    }

    /// What a value's name stands for.
    fn value(&mut self, range: TextRange) -> (SemanticKind, Modifiers) {
        while self.named.get(self.at).is_some_and(|named| named.range.end <= range.start) {
            self.at += 1;
        }
        match self.named.get(self.at).filter(|named| named.range.start <= range.start) {
            Some(named) if named.argument => (SemanticKind::Parameter, named.modifiers),
            Some(named) => (SemanticKind::Variable, named.modifiers),
            None => (SemanticKind::Variable, Modifiers::NONE),
        }
    }
}

/// Whether a word opens a region of a warp specialisation: `default`, `partition0`.
fn is_region(word: &str) -> bool {
    word == "default" || word.strip_prefix("partition").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a word is a builtin type.
fn is_type(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(word, "index" | "tensor" | "vector" | "memref" | "tuple" | "none" | "complex" | "tf32")
        || word.strip_prefix(['i', 'f']).is_some_and(digits)
        || ["si", "ui", "bf"].iter().any(|prefix| word.strip_prefix(prefix).is_some_and(digits))
        || ["f8E", "f6E", "f4E"].iter().any(|prefix| word.starts_with(prefix))
}

/// What is known of an op by its name: its dialect, and whether it is asynchronous or touches barriers or memory.
fn op(name: &str) -> Option<Modifiers> {
    let decl: &OpDecl = table().find(name).map(|row| table().row(row).decl)?;
    let (dialect, _) = name.split_once('.').unwrap_or(("", name));
    let dialect = match dialect {
        "tt" => Modifiers::TT,
        "ttg" => Modifiers::TTG,
        "ttng" => Modifiers::TTNG,
        "nvws" => Modifiers::NVWS,
        "amdg" => Modifiers::AMDG,
        "arith" | "math" => Modifiers::ARITH,
        "scf" | "cf" | "ub" => Modifiers::CONTROL,
        _ => Modifiers::NONE,
    };
    let barrier = Modifiers::BARRIER.when(decl.barrier.is_some());
    Some(dialect.and(barrier).and(of_effect(&decl.effect)))
}

/// What the effect of an op says.
pub(crate) fn of_effect(effect: &OpEffect) -> Modifiers {
    let memory = Modifiers::MEMORY;
    match effect {
        OpEffect::Memory { completion: OpCompletion::InOrder, .. } | OpEffect::Allocate => memory,
        OpEffect::Memory { .. } | OpEffect::Mma { .. } | OpEffect::ClcRequest { .. } => memory.and(Modifiers::ASYNC),
        OpEffect::RemoteStore(_) | OpEffect::DescriptorLoad => memory.and(Modifiers::ASYNC),
        OpEffect::TensorCoreCommit | OpEffect::AsyncCopyArrive { .. } => Modifiers::ASYNC,
        _ => Modifiers::NONE,
    }
}
