//! Where the name at a place of a Python file is used: by scope, through other files, and of barriers and buffers by
//! the ops of the elaborated kernel.

use std::sync::Arc;

use crate::python::names::{BindingKind, NameAccess, ScopeKind};
use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, each_node, range};
use ruff_python_ast::{AnyNodeRef, Expr};
use rustc_hash::FxHashMap;
use ttgir::queries::memory::{self, is_memory};
use ttgir::queries::spot::function;
use ttgir::{OpId, Tree, ValueId};

use super::infer::Looked;
use super::members;
use super::resolve::{FilePlace, Meaning, Resolver};
use crate::python::hover::{Found, found};
use crate::{Occurrence, OccurrenceAccess};
use engine::instances::{ElaboratedInstance, Elaboration};

/// Every place of the name at an offset, and every call that does something with the barrier or buffer there, in the
/// order of the text.
pub fn occurrences(
    module: &Arc<Module>,
    of: Option<&Elaboration>,
    offset: u32,
    sources: &dyn Sources,
) -> Vec<Occurrence> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    // A field may hold another buffer in each object: its uses are those of the name.
    let member = members::member_at(&looked, offset);
    let of = of.filter(|_| member.is_none());
    let mut found = of.map_or_else(Vec::new, |of| of_memory(&tree, of, offset));
    let memory = !found.is_empty();
    let named: Vec<(TextRange, NameAccess)> = match (&member, index.at(offset)) {
        (Some(member), _) => members::places(&looked, member),
        (None, Some(mention)) => index.places(mention.binding).map(|place| (place.range, place.access)).collect(),
        (None, None) => Vec::new(),
    };
    for (range, access) in named {
        let written = access == NameAccess::Bind;
        // Of a field its class says what it is; elsewhere it gets a value.
        let definition = written && member.as_ref().is_none_or(|member| *member == here(module, range));
        let access = match (memory, written) {
            (true, _) => OccurrenceAccess::Name,
            (false, true) => OccurrenceAccess::Write,
            (false, false) => OccurrenceAccess::Read,
        };
        found.push(Occurrence { range, definition, access });
    }
    found.sort();
    found.dedup_by_key(|found| found.range);
    found
}

fn here(module: &Arc<Module>, range: TextRange) -> FilePlace {
    FilePlace { module: module.clone(), range }
}

/// The places in other files that mean the function, class or variable at an offset, where that is one of the file's
/// top level, or the field or method there.
pub fn elsewhere(module: &Arc<Module>, offset: u32, sources: &dyn Sources) -> Vec<FilePlace> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    if let Some(member) = members::member_at(&looked, offset) {
        return members::elsewhere(&resolver, &member, module);
    }
    let Some(mention) = index.at(offset) else { return Vec::new() };
    let Some(binding) = index.binding(mention.binding) else { return Vec::new() };
    let defined = match &binding.kind {
        BindingKind::Import { module: from, name: Some(name) } => match resolver.imported(module, from, Some(name)) {
            Some(Meaning::Place(place)) => place,
            _ => return Vec::new(),
        },
        BindingKind::Function | BindingKind::Class | BindingKind::Variable
            if index.scope(binding.scope).is_some_and(|scope| scope.kind == ScopeKind::Module) =>
        {
            FilePlace { module: module.clone(), range: binding.range }
        }
        _ => return Vec::new(),
    };
    let mut found = importers(&resolver, &defined, module);
    if defined.module.path() != module.path() {
        let own = resolver.index(&defined.module);
        let places = own.at(defined.range.start).map(|mention| mention.binding);
        let places = places.into_iter().flat_map(|binding| own.places(binding));
        found.extend(places.map(|place| FilePlace { module: defined.module.clone(), range: place.range }));
    }
    found
}

/// The places in files that import a definition, save one file.
pub(super) fn importers(resolver: &Resolver<'_>, defined: &FilePlace, except: &Module) -> Vec<FilePlace> {
    let name = defined.range.of(defined.module.text());
    let mut found = Vec::new();
    for file in resolver.sources.mentions(name) {
        if file.path() == except.path() || file.path() == defined.module.path() {
            continue;
        }
        let index = resolver.index(&file);
        let means = |meaning: Option<Meaning>| matches!(meaning, Some(Meaning::Place(place)) if place == *defined);
        let mut known: FxHashMap<_, bool> = FxHashMap::default();
        for mention in index.mentions() {
            let same = *known.entry(mention.binding).or_insert_with(|| {
                let Some(binding) = index.binding(mention.binding) else { return false };
                match &binding.kind {
                    BindingKind::Import { module, name: Some(of) } if of == name => {
                        means(resolver.imported(&file, module, Some(of)))
                    }
                    BindingKind::Unbound if binding.name == name => means(resolver.global(&file, name)),
                    _ => false,
                }
            });
            if same {
                found.push(FilePlace { module: file.clone(), range: mention.range });
            }
        }
        // `module.name`, where the module is imported as a whole.
        each_node(CurrentTree::of(&file).statements(), |node| {
            let AnyNodeRef::ExprAttribute(attribute) = node else { return };
            let Expr::Name(object) = &*attribute.value else { return };
            if attribute.attr.as_str() != name {
                return;
            }
            let binding = index.at(range(object).start).and_then(|mention| index.binding(mention.binding));
            let Some(BindingKind::Import { module, name: of }) = binding.map(|binding| &binding.kind) else { return };
            if let Some(Meaning::Module(meant)) = resolver.imported(&file, module, of.as_deref())
                && means(resolver.member_of_module(&meant, name))
            {
                found.push(FilePlace { module: file.clone(), range: range(&attribute.attr) });
            }
        });
    }
    found
}

/// The calls that do something with the barrier or buffer at an offset: each at what is called.
fn of_memory(tree: &CurrentTree<'_>, of: &Elaboration, offset: u32) -> Vec<Occurrence> {
    let Some(Found { elaborated, values, .. }) = found(of, offset) else { return Vec::new() };
    let Some(ir) = elaborated.tree() else { return Vec::new() };
    let memory = values.iter().map(|(_, value)| *value).filter(|value| is_memory(ir, *value));
    let called = called(tree);
    let place = |op: OpId| at_call(elaborated, &called, ir, op);
    let roots: Vec<ValueId> = memory.flat_map(|value| memory::roots(ir, value)).collect();
    let mut all: Vec<Occurrence> = Vec::new();
    for used in uses(ir, &roots) {
        let access = crate::access(ir, &used);
        all.extend(place(used.op).map(|range| Occurrence { range, definition: false, access }));
    }
    all
}

/// The uses of memory in the function that it is in.
fn uses(tree: &Tree, roots: &[ValueId]) -> Vec<memory::Use> {
    let holder = roots.iter().find_map(|root| tree.op_at(tree.value_range(*root).start));
    holder.and_then(|op| function(tree, op)).map_or_else(Vec::new, |within| memory::uses(tree, within, roots))
}

/// What is called, by the range of the call.
pub(super) type Called = FxHashMap<TextRange, TextRange>;

/// What each call of a file calls.
pub(super) fn called(tree: &CurrentTree<'_>) -> Called {
    let mut found = Called::default();
    each_node(tree.statements(), |node| {
        let AnyNodeRef::ExprCall(call) = node else { return };
        let callee = match &*call.func {
            Expr::Attribute(attribute) if !dotted(&attribute.value) => range(&attribute.attr),
            other => range(other),
        };
        found.insert(range(call), callee);
    });
    found
}

/// Whether an expression is names and dots alone.
fn dotted(expr: &Expr) -> bool {
    let mut expr = expr;
    while let Expr::Attribute(attribute) = expr {
        expr = &attribute.value;
    }
    matches!(expr, Expr::Name(_))
}

/// Where an op comes from in the file: what the call names, where it is one; `None` in text that is no longer there.
pub(super) fn at_call(elaborated: &ElaboratedInstance, called: &Called, tree: &Tree, op: OpId) -> Option<TextRange> {
    let place = elaborated.place(tree.op_name_range(op));
    (!place.stale).then(|| called.get(&place.range).copied().unwrap_or(place.range))
}
