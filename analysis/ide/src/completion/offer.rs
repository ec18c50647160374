//! What is offered for what may come next.

use base::TextRange;
use dialects::{GroupRef, OpEffect, OpSyntax, TypeRule, attribute_values, table};
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::queries::spot::{Spot, walk};
use ttgir::{Document, OpId, TokenKind, Tokens, Tree, Ty, TypeId, ValueId};

use super::form::{Next, Progress, follow, syntax};
use super::item::{CodeCompletion, CompletionKind, Completions, DocKey, matching};
use super::line::{Inert, Piece, Typed, head, typed};
use super::scope::visible;
use crate::directive;

/// Characters of a type that fit in a line of a list.
const DETAIL: usize = 120;

/// Types that are always there.
const TYPES: &[&str] = &["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "index", "tensor"];

/// Types of the dialects.
const DIALECT_TYPES: &[&str] = &["!ttg.async.token", "!ttg.memdesc", "!tt.ptr", "!tt.tensordesc", "!nvws.token"];

/// Layouts of the dialects, with their fields.
const KINDS: &[(&str, &[&str])] = &[
    ("#ttg.blocked", &["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"]),
    ("#ttg.slice", &["dim", "parent"]),
    ("#ttg.dot_op", &["opIdx", "parent", "kWidth"]),
    ("#ttg.linear", &["register", "lane", "warp", "block"]),
    ("#ttg.nvidia_mma", &["versionMajor", "versionMinor", "warpsPerCTA", "instrShape"]),
    ("#ttg.amd_mfma", &["version", "warpsPerCTA", "instrShape", "isTransposed"]),
    ("#ttg.swizzled_shared", &["vec", "perPhase", "maxPhase", "order"]),
    ("#ttg.nvmma_shared", &["swizzlingByteWidth", "transposed", "elementBitWidth"]),
    ("#ttng.tensor_memory_encoding", &["blockM", "blockN", "colStride"]),
];

/// The fields of the layout whose braces are open behind some tokens, where one may begin there.
fn fields(pieces: &[Piece<'_>]) -> Option<Vec<CodeCompletion>> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece.text {
            "<" | "{" | "[" | "(" => open.push((piece.text, at)),
            ">" | "}" | "]" | ")" => {
                open.pop();
            }
            // Brackets may be one token.
            "<{" => open.extend([("<", at), ("{", at)]),
            "}>" => open.truncate(open.len().saturating_sub(2)),
            _ => {}
        }
    }
    let begins = pieces.last().is_some_and(|last| matches!(last.text, "{" | "<{" | ","));
    let [.., (_, angle), ("{", brace)] = open.as_slice() else { return None };
    let kind = pieces.get(angle.checked_sub(1)?)?.text;
    let (_, fields) = KINDS.iter().find(|(name, _)| *name == kind && begins)?;
    let given = pieces.get(*brace..)?;
    let free = fields.iter().filter(|field| !given.iter().any(|piece| piece.text == **field));
    Some(
        free.map(|field| {
            let mut item = CodeCompletion::new(*field, CompletionKind::Property, kind);
            item.insert = Some(format!("{field} = "));
            item
        })
        .collect(),
    )
}

/// What may stand at an offset of a document.
pub fn completions(document: &Document, offset: u32) -> Option<Completions> {
    let spot = Spot::at(document, offset)?;
    let text = spot.tree().text();
    let typed = typed(text, spot.offset)?;
    match typed.inert {
        Some(Inert::Comment) => return directive::kinds(document.text(), offset),
        Some(Inert::Str) => return None,
        None => {}
    }
    let offer = Offer { tree: spot.tree(), typed: &typed, at: spot.offset };
    let items = offer.items()?;
    let (items, incomplete) = matching(items, typed.prefix);
    let insert = spot.lift(TextRange::new(typed.word.start, spot.offset));
    Some(Completions { insert, replace: spot.lift(typed.word), items, incomplete })
}

struct Offer<'t, 'd> {
    tree: &'t Tree,
    typed: &'d Typed<'t>,
    at: u32,
}

impl Offer<'_, '_> {
    fn items(&self) -> Option<Vec<CodeCompletion>> {
        let typed = self.typed;
        let sigil = typed.prefix.bytes().next();
        let top = typed.pieces.is_empty();
        if sigil == Some(b'^') {
            return Some(self.labels());
        }
        if let (Some(b'#' | b'!'), true) = (sigil, top) {
            // The name of a new alias.
            return None;
        }
        let alias = typed.pieces.first().filter(|piece| matches!(piece.kind, TokenKind::Attr | TokenKind::Type));
        if let Some(alias) = alias {
            if let Some(fields) = fields(&typed.pieces).filter(|_| !matches!(sigil, Some(b'#' | b'!'))) {
                return Some(fields);
            }
            let kinds = |items: Vec<CodeCompletion>| {
                let items: Vec<CodeCompletion> = items.into_iter().filter(|item| item.label != alias.text).collect();
                let known = |name: &str| items.iter().any(|item| item.label == name);
                let more = KINDS.iter().filter(|(name, _)| !known(name));
                let more = more.map(|(name, _)| CodeCompletion::new(*name, CompletionKind::Attribute, "a layout"));
                let more: Vec<CodeCompletion> = more.collect();
                [items, more].concat()
            };
            return Some(match sigil {
                Some(b'#') => kinds(self.attributes()),
                Some(b'!') => self.types(None),
                _ => [self.attributes(), self.types(None)].concat(),
            });
        }
        let head = head(&typed.pieces)?;
        let Some(name) = head.op else {
            return match sigil {
                // The name of a new value.
                Some(b'%') => None,
                Some(b'#' | b'!' | b'@') => None,
                _ => Some(self.ops(head.results)),
            };
        };
        let name = name.text.trim_matches('"');
        let op = syntax(name);
        let progress = op.map(|op| follow(op, head.rest)).unwrap_or_default();
        match sigil {
            Some(b'%') => return Some(self.values(op, &progress, head.rest)),
            Some(b'#') => return Some(self.attributes()),
            Some(b'!') => return Some(self.types(op.map(|op| (op, &progress, head.rest)))),
            Some(b'@') => return Some(self.functions()),
            _ => {}
        }
        let Some(op) = op else { return Some(Vec::new()) };
        let mut items = Vec::new();
        for next in &progress.next {
            match *next {
                Next::Operand(_) | Next::AnyOperand => {
                    if !items.iter().any(|item: &CodeCompletion| item.kind == CompletionKind::Value) {
                        items.extend(self.values(Some(op), &progress, head.rest));
                    }
                }
                Next::Word(word) => items.push(CodeCompletion::new(word, CompletionKind::Keyword, "")),
                Next::Attr(name) => items.extend(self.words(op, name)),
                Next::Key => items.extend(self.keys(op)),
                Next::Value(key) => {
                    let key = head.rest.get(key).map_or("", |piece| piece.text.trim_matches('"'));
                    items.extend(self.words(op, key));
                }
                Next::Type(_) | Next::AnyType => {
                    if !items.iter().any(|item: &CodeCompletion| item.kind == CompletionKind::Type) {
                        items.extend(self.types(Some((op, &progress, head.rest))));
                    }
                }
            }
        }
        Some(items)
    }

    /// Ops: those of the dialects that the section uses first.
    fn ops(&self, results: bool) -> Vec<CodeCompletion> {
        let mut used: FxHashSet<&str> = FxHashSet::default();
        walk(self.tree, self.tree.top(), &mut |op| {
            used.insert(self.tree.op_name(op));
        });
        let dialects: FxHashSet<&str> = used.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect();
        let rank = |op: &OpSyntax| {
            let dialect = op.name.split('.').next().unwrap_or("");
            (!used.contains(op.name), !dialects.contains(dialect) && !matches!(dialect, "ttg" | "ttng"))
        };
        let mut ops: Vec<&OpSyntax> = table().rows().iter().filter(|op| !results || !op.results.is_empty()).collect();
        ops.sort_by_key(|op| (rank(op), op.name));
        let item = |op: &OpSyntax| {
            let name = op.name.strip_prefix("builtin.").unwrap_or(op.name);
            let detail = op.decl.doc.trim().split(". ").next().unwrap_or("").trim_end_matches('.').to_owned();
            CodeCompletion::new(name, CompletionKind::Op, detail).documented(DocKey::Op(op.name.to_owned()))
        };
        let mut items: Vec<CodeCompletion> = ops.into_iter().map(item).collect();
        if !results {
            let regions = ["default", "partition0"];
            items.extend(
                regions.map(|word| CodeCompletion::new(word, CompletionKind::Keyword, "a region of warp_specialize")),
            );
        }
        items
    }

    /// SSA values: those first whose type fits.
    fn values(&self, op: Option<&'static OpSyntax>, progress: &Progress, rest: &[Piece<'_>]) -> Vec<CodeCompletion> {
        let tree = self.tree;
        let seen = visible(tree, self.typed.start.min(self.at));
        let groups: Vec<u8> = progress
            .next
            .iter()
            .filter_map(|next| if let Next::Operand(group) = next { Some(*group) } else { None })
            .collect();
        let by_name: FxHashMap<String, ValueId> = seen.iter().rev().map(|value| (self.spelt(*value), *value)).collect();
        let typed: Vec<(u8, Option<TypeId>)> = progress
            .operands
            .iter()
            .map(|(group, at)| {
                let name = rest.get(*at).map_or("", |piece| piece.text);
                (*group, by_name.get(name).and_then(|value| tree.value_type(*value)))
            })
            .collect();
        let fits: Vec<Fit> =
            op.map_or_else(Vec::new, |op| groups.iter().map(|group| self.fit(op, *group, &typed)).collect());
        let mut known: FxHashMap<TypeId, bool> = FxHashMap::default();
        let mut good = Vec::new();
        let mut other = Vec::new();
        let mut names: FxHashSet<String> = FxHashSet::default();
        for value in seen {
            let name = self.spelt(value);
            if !names.insert(name.clone()) {
                continue;
            }
            let ty = tree.value_type(value);
            let fitting =
                ty.is_some_and(|ty| *known.entry(ty).or_insert_with(|| fits.iter().any(|fit| fit.takes(tree, ty))));
            let detail = ty.map_or("", |ty| tree.type_text(ty));
            let item = CodeCompletion::new(name, CompletionKind::Value, shortened(detail));
            if fitting { good.push(item) } else { other.push(item) }
        }
        good.extend(other);
        if good.is_empty() {
            good = self.names_above();
        }
        good
    }

    /// Names that are defined above in the text, where the tree sees none.
    fn names_above(&self) -> Vec<CodeCompletion> {
        let text = self.tree.text().get(..self.at as usize).unwrap_or("");
        let start = text.rfind("func").map_or(0, |at| at);
        let mut items: Vec<CodeCompletion> = Vec::new();
        for line in text.get(start..).unwrap_or("").lines().rev() {
            let line = line.trim_start();
            let Some((names, _)) = line.split_once(" = ").filter(|_| line.starts_with('%')) else { continue };
            for name in names.split(',').map(|name| name.trim().split(':').next().unwrap_or("")) {
                if name.starts_with('%') && !items.iter().any(|item| item.label == name) {
                    items.push(CodeCompletion::new(name, CompletionKind::Value, ""));
                }
            }
        }
        items
    }

    fn spelt(&self, value: ValueId) -> String {
        let name = self.tree.value_name(value);
        match self.tree.value_number(value) {
            Some(number) => format!("{name}#{number}"),
            None => name.to_owned(),
        }
    }

    /// What fits a group: its rule, what other ops of the section put there, what the effect touches.
    fn fit(&self, op: &'static OpSyntax, group: u8, typed: &[(u8, Option<TypeId>)]) -> Fit {
        let tree = self.tree;
        let Some(of) = op.operands.get(group as usize) else { return Fit::Nothing };
        let typed_as = |other: u8| typed.iter().find(|(group, _)| *group == other).and_then(|(_, ty)| *ty);
        match of.rule {
            TypeRule::Fixed(ty) => return Fit::Exactly(ty.to_owned()),
            TypeRule::Same(GroupRef::Operand(other)) => {
                if let Some(ty) = typed_as(other) {
                    return Fit::Exactly(tree.type_canonical(ty).to_owned());
                }
            }
            _ => {}
        }
        // Two groups whose types follow from one that comes later: the first that is typed says it.
        let twin = op.operands.iter().enumerate().find_map(|(at, other)| {
            let same = at as u8 != group && other.rule == of.rule && of.rule != TypeRule::Spelt;
            same.then(|| typed_as(at as u8)).flatten()
        });
        if let Some(ty) = twin {
            return Fit::Exactly(tree.type_canonical(ty).to_owned());
        }
        if op.decl.barrier.is_some_and(|barrier| barrier.group == of.name) {
            return Fit::Barrier;
        }
        let mut seen = Vec::new();
        walk(tree, tree.top(), &mut |other: OpId| {
            if seen.len() < 64 && tree.code(other) == Some(op.code) {
                let types = tree.group(other, of.name).iter().filter_map(|value| tree.value_type(*value));
                seen.extend(types.map(|ty| Shape::of(&tree.ty(ty))));
            }
        });
        if !seen.is_empty() {
            seen.dedup();
            return Fit::Shapes(seen);
        }
        let accesses = match &op.decl.effect {
            OpEffect::Memory { accesses, .. } => accesses.iter().any(|access| access.group == of.name),
            OpEffect::View(_) => group == 0,
            _ => false,
        };
        if accesses { Fit::Memory } else { Fit::Nothing }
    }

    /// Functions of the section.
    fn functions(&self) -> Vec<CodeCompletion> {
        let mut items = Vec::new();
        walk(self.tree, self.tree.top(), &mut |op| {
            if !self.tree.op_name(op).ends_with(".func") {
                return;
            }
            let name = self.tree.attr(op, "sym_name").and_then(|attr| self.tree.attr_str(attr));
            if let Some(name) = name {
                let header = self.tree.op_header_range(op).of(self.tree.text());
                let detail = header.find('(').and_then(|at| header.get(at..)).unwrap_or("");
                let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$.".contains(&b));
                let label = if plain { format!("@{name}") } else { format!("@\"{name}\"") };
                items.push(CodeCompletion::new(
                    label,
                    CompletionKind::Function,
                    shortened(detail.trim_end_matches('{')),
                ));
            }
        });
        items
    }

    /// `#` aliases, and attributes of dialects that the section spells.
    fn attributes(&self) -> Vec<CodeCompletion> {
        let mut items = self.aliases('#', CompletionKind::Attribute);
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for token in Tokens::new(self.top()).filter(|token| token.kind == TokenKind::Attr) {
            let word = token.range.of(self.top());
            // Not the half of one that is being typed.
            let whole = word.split_once('.').is_some_and(|(_, name)| !name.is_empty());
            if whole && seen.insert(word) {
                items.push(CodeCompletion::new(word, CompletionKind::Attribute, ""));
            }
        }
        for word in ["#ttg.shared_memory", "#ttng.tensor_memory"] {
            if seen.insert(word) {
                items.push(CodeCompletion::new(word, CompletionKind::Attribute, "where a buffer lives"));
            }
        }
        items
    }

    /// The part of the section in which aliases stand.
    fn top(&self) -> &str {
        let end = self.tree.top().first().map_or(self.tree.text().len(), |op| self.tree.op_range(*op).start as usize);
        self.tree.text().get(..end.min(1 << 16)).unwrap_or("")
    }

    fn aliases(&self, sigil: char, kind: CompletionKind) -> Vec<CodeCompletion> {
        let text = self.tree.text();
        let named = self.tree.aliases().filter(|(name, start)| {
            name.starts_with(sigil) && *start < self.typed.start.max(1) && !name.starts_with("#loc")
        });
        let item = |(name, start): (&str, u32)| {
            let line = text.get(start as usize..).and_then(|text| text.lines().next()).unwrap_or("");
            let value = line.split_once('=').map_or("", |(_, value)| value.trim());
            CodeCompletion::new(name, kind, shortened(value))
        };
        named.map(item).collect()
    }

    /// Types: that of the operand at hand, aliases, those of the section, keywords.
    fn types(&self, at: Option<(&'static OpSyntax, &Progress, &[Piece<'_>])>) -> Vec<CodeCompletion> {
        let tree = self.tree;
        let mut items: Vec<CodeCompletion> = Vec::new();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut push = |items: &mut Vec<CodeCompletion>, label: &str, detail: &str| {
            if seen.insert(label.to_owned()) {
                items.push(CodeCompletion::new(label, CompletionKind::Type, detail));
            }
        };
        if let Some((_, progress, rest)) = at {
            let values: FxHashMap<String, ValueId> = visible(tree, self.typed.start.min(self.at))
                .into_iter()
                .rev()
                .map(|value| (self.spelt(value), value))
                .collect();
            let wanted = progress.next.iter().find_map(|next| match next {
                Next::Type(GroupRef::Operand(group)) => Some(Some(*group)),
                Next::Type(GroupRef::Result(_)) | Next::AnyType => Some(None),
                _ => None,
            });
            for (group, at) in &progress.operands {
                let name = rest.get(*at).map_or("", |piece| piece.text);
                let ty = values.get(name).and_then(|value| tree.value_type(*value));
                if let Some(ty) = ty
                    && wanted.flatten().is_none_or(|wanted| wanted == *group)
                {
                    push(&mut items, tree.type_text(ty), &format!("the type of {name}"));
                }
            }
        }
        for alias in self.aliases('!', CompletionKind::Type) {
            push(&mut items, &alias.label, &alias.detail);
        }
        let mut used = Vec::new();
        let mut add = |ty: Option<TypeId>| {
            let fresh = ty.filter(|ty| used.len() < 64 && !used.contains(ty));
            used.extend(fresh);
        };
        walk(tree, tree.top(), &mut |op| tree.results(op).iter().for_each(|value| add(tree.value_type(*value))));
        for ty in used {
            push(&mut items, tree.type_text(ty), "");
        }
        for ty in TYPES.iter().chain(DIALECT_TYPES) {
            push(&mut items, ty, "");
        }
        items.push(CodeCompletion::new("mutable", CompletionKind::Keyword, "a buffer that may be written"));
        items
    }

    /// What an attribute may be: the words that the dialect fixes, and what the section has.
    fn words(&self, op: &OpSyntax, name: &str) -> Vec<CodeCompletion> {
        let tree = self.tree;
        let mut words: Vec<String> = attribute_values(op.name, name).iter().map(|word| (*word).to_owned()).collect();
        let rule = op.attrs.iter().find(|rule| rule.name == name);
        if rule.is_some_and(|rule| rule.ty == "bool") {
            words.extend(["true", "false"].map(str::to_owned));
        }
        if words.is_empty() {
            walk(tree, tree.top(), &mut |other| {
                let same = rule.is_none() || tree.code(other) == Some(op.code);
                if let Some(attr) = tree.attr(other, name).filter(|_| same && words.len() < 16) {
                    let text = tree.attr_source(attr);
                    if text.len() <= DETAIL && !text.is_empty() && !words.iter().any(|word| word == text) {
                        words.push(text.to_owned());
                    }
                }
            });
        }
        words.into_iter().map(|word| CodeCompletion::new(word, CompletionKind::Word, name)).collect()
    }

    /// Attributes of the dictionary that are not written yet.
    fn keys(&self, op: &OpSyntax) -> Vec<CodeCompletion> {
        let tree = self.tree;
        let written: FxHashSet<&str> = self.typed.pieces.iter().map(|piece| piece.text.trim_matches('"')).collect();
        let mut items: Vec<CodeCompletion> = Vec::new();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let in_form = |name: &str| {
            op.decl
                .syntax
                .split_whitespace()
                .any(|word| word.trim_start_matches(['$', '!', '?', '{']) == name && word.contains('$'))
        };
        let mut push = |name: &str, detail: &str| {
            if !written.contains(name) && !in_form(name) && seen.insert(name.to_owned()) {
                let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$.".contains(&b));
                let label = if plain { name.to_owned() } else { format!("\"{name}\"") };
                let mut item = CodeCompletion::new(&label, CompletionKind::Property, detail);
                item.insert = (detail != "unit").then(|| format!("{label} = "));
                items.push(item);
            }
        };
        for rule in &op.attrs {
            push(rule.name, &format!("{}{}", rule.ty, if rule.required { ", required" } else { "" }));
        }
        let mut own = Vec::new();
        let mut other = Vec::new();
        walk(tree, tree.top(), &mut |of| {
            let list = if tree.code(of) == Some(op.code) { &mut own } else { &mut other };
            for (name, attr) in tree.attrs(of) {
                if list.len() < 64 && !list.iter().any(|(known, _)| *known == name) {
                    list.push((name, tree.attr_source(attr)));
                }
            }
        });
        let what = |text: &str| match text.trim() {
            "" | "unit" => "unit".to_owned(),
            text => shortened(text),
        };
        own.iter().for_each(|(name, text)| push(name, &what(text)));
        // Of other ops only what any op may carry: attributes that are named after a dialect.
        let discardable = other.iter().filter(|(name, _)| name.contains('.'));
        discardable.for_each(|(name, text)| push(name, &what(text)));
        items
    }

    /// Labels of the function's blocks.
    fn labels(&self) -> Vec<CodeCompletion> {
        let text = self.tree.text();
        let (before, after) = text.split_at_checked(self.at as usize).unwrap_or((text, ""));
        let start = before.rfind("func").unwrap_or(0);
        let end = self.at as usize + after.find("func").unwrap_or(after.len());
        let lines = text.get(start..end).unwrap_or("").lines().map(str::trim_start);
        let mut items: Vec<CodeCompletion> = Vec::new();
        for line in lines.filter(|line| line.starts_with('^')) {
            let name = line.split(['(', ':', ' ']).next().unwrap_or("");
            if name.len() > 1 && !items.iter().any(|item| item.label == name) {
                let args = line.get(name.len()..).unwrap_or("").trim_end_matches(':');
                items.push(CodeCompletion::new(name, CompletionKind::Label, shortened(args)));
            }
        }
        items
    }
}

/// What a value's type has to be to fit.
enum Fit {
    Nothing,
    /// This type, as it is written with aliases expanded.
    Exactly(String),
    /// A barrier.
    Barrier,
    /// Any buffer.
    Memory,
    /// One of these kinds.
    Shapes(Vec<Shape>),
}

/// A kind of type.
#[derive(Clone, PartialEq, Eq)]
enum Shape {
    Memory(ttgir::MemSpace, bool),
    Tensor(String),
    Other(std::mem::Discriminant<Ty>, u32),
}

impl Shape {
    fn of(ty: &Ty) -> Shape {
        match ty {
            Ty::MemDesc { space, elem, .. } => Shape::Memory(*space, elem.name == "i64"),
            Ty::Tensor { elem, .. } => Shape::Tensor(elem.name.clone()),
            Ty::Int(bits) | Ty::Float(bits) => Shape::Other(std::mem::discriminant(ty), *bits),
            _ => Shape::Other(std::mem::discriminant(ty), 0),
        }
    }
}

impl Fit {
    fn takes(&self, tree: &Tree, ty: TypeId) -> bool {
        match self {
            Fit::Nothing => false,
            Fit::Exactly(text) => tree.type_canonical(ty) == text,
            Fit::Barrier => matches!(tree.ty(ty), Ty::MemDesc { elem, .. } if elem.name == "i64"),
            Fit::Memory => matches!(tree.ty(ty), Ty::MemDesc { .. }),
            Fit::Shapes(shapes) => shapes.contains(&Shape::of(&tree.ty(ty))),
        }
    }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    match line.char_indices().nth(DETAIL) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or("")),
        None => line.to_owned(),
    }
}
