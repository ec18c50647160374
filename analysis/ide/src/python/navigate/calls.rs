//! Who calls whom in Python, and which partition signals which.

use std::sync::Arc;

use crate::python::names::{BindingKind, NameAccess, NameIndex, ScopeId};
use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, range};
use ttgir::queries::memory;
use ttgir::queries::spot::function;
use ttgir::{OpId, Tree, ValueId};

use super::definition::place;
use super::resolve::{Defined, FilePlace, Meaning, Resolver, defined_at};
use super::uses::{at_call, called, importers};
use crate::python::hover::{Found, found};
use crate::{Event, Executor, PartyKind, events, ties_of};
use engine::instances::{ElaboratedInstance, Elaboration};

/// Somebody who calls, is called, signals or is signalled.
#[derive(Clone, Debug)]
pub struct PythonParty {
    /// What it is; functions that are partitions are functions.
    pub kind: PartyKind,
    /// Its name.
    pub name: String,
    /// Its name's place.
    pub place: FilePlace,
    /// All of it, in the same file.
    pub range: TextRange,
}

/// What leads from one party to another.
#[derive(Clone, Debug)]
pub struct PythonTie {
    /// The other one.
    pub party: PythonParty,
    /// The barriers over which it goes; empty of a call.
    pub over: Vec<String>,
    /// Where it calls or arrives, in the file of the caller.
    pub ranges: Vec<TextRange>,
}

/// The function or barrier at an offset.
pub fn party_at(
    module: &Arc<Module>,
    of: Option<&Elaboration>,
    offset: u32,
    sources: &dyn Sources,
) -> Option<PythonParty> {
    let resolver = Resolver::new(sources);
    if let Some(function) = function_at(&resolver, module, offset) {
        return Some(function);
    }
    let Found { elaborated, range: word, values } = found(of?, offset)?;
    let tree = elaborated.tree()?;
    let root = values.first().and_then(|(_, value)| memory::roots(tree, *value).first().copied())?;
    let all = kernel(tree).map(|op| events(tree, op)).unwrap_or_default();
    all.iter().any(|event| event.barrier == root).then(|| {
        let made = elaborated.place(tree.value_range(root)).range;
        PythonParty {
            kind: PartyKind::Barrier,
            name: elaborated.say(tree.value_name(root)),
            place: FilePlace { module: module.clone(), range: word },
            range: if made.contains(word) { made } else { word },
        }
    })
}

/// The function that is named at an offset.
fn function_at(resolver: &Resolver<'_>, module: &Arc<Module>, offset: u32) -> Option<PythonParty> {
    let index = resolver.index(module);
    let mention = index.at(offset)?;
    let binding = index.binding(mention.binding)?;
    let defined = match &binding.kind {
        BindingKind::Function => FilePlace { module: module.clone(), range: binding.range },
        BindingKind::Import { module: from, name } => place(resolver.imported(module, from, name.as_deref())?),
        _ => return None,
    };
    of_function(defined)
}

fn of_function(defined: FilePlace) -> Option<PythonParty> {
    let tree = CurrentTree::of(&defined.module);
    let Defined::Function(def) = defined_at(&tree, defined.range)? else { return None };
    let whole = range(def);
    let name = def.name.to_string();
    Some(PythonParty { kind: PartyKind::Function, name, place: defined.clone(), range: whole })
}

/// Who calls or signals what is named at an offset of the file, or whom it calls or signals (`out`).
pub fn ties(
    module: &Arc<Module>,
    of: Option<&Elaboration>,
    offset: u32,
    out: bool,
    sources: &dyn Sources,
) -> Vec<PythonTie> {
    let resolver = Resolver::new(sources);
    let mut all = Vec::new();
    match function_at(&resolver, module, offset) {
        Some(function) => {
            let calls = if out { callees(&resolver, &function) } else { callers(&resolver, module, &function) };
            all.extend(of.into_iter().flat_map(|of| signals(&resolver, of, &function, out)));
            all.extend(calls);
        }
        None => all.extend(of.into_iter().flat_map(|of| of_barrier(&resolver, of, offset, out))),
    }
    all
}

/// The kernel's function in an elaborated module.
fn kernel(tree: &Tree) -> Option<OpId> {
    let module = *tree.top().first()?;
    let inside = tree.regions(module).iter().flat_map(|region| tree.blocks(*region));
    let mut ops = inside.flat_map(|block| tree.block_ops(*block)).copied();
    ops.find(|op| tree.op_name(*op) == "tt.func").or(Some(module).filter(|op| function(tree, *op).is_some()))
}

/// The Python function that executes what an executor does.
fn runs(resolver: &Resolver<'_>, elaborated: &ElaboratedInstance, by: Executor) -> Option<PythonParty> {
    let module = elaborated.module();
    let name = match by {
        Executor::Function => elaborated.kernel_name().to_owned(),
        Executor::Region(_, number) => elaborated.partitions().get(number)?.clone(),
    };
    match resolver.global(module, &name) {
        Some(Meaning::Place(place)) => of_function(place),
        _ => {
            // A function inside of another one, or a method.
            let index = resolver.index(module);
            let body = index.scopes().find(|(_, scope)| scope.name == name)?.1;
            let at =
                index.mentions().iter().find(|it| it.access == NameAccess::Bind && body.range.start == it.range.start);
            of_function(FilePlace { module: module.clone(), range: at?.range })
        }
    }
}

/// The ties of a function that is a partition of some kernel.
fn signals(resolver: &Resolver<'_>, of: &Elaboration, who: &PythonParty, out: bool) -> Vec<PythonTie> {
    let mut ties: Vec<PythonTie> = Vec::new();
    // One instance of each kernel: the others differ in sizes.
    for elaborated in of.kernels.iter().filter_map(|kernel| kernel.instances.first()) {
        let Some(tree) = elaborated.tree() else { continue };
        let all = kernel(tree).map(|op| events(tree, op)).unwrap_or_default();
        let mut by: Vec<Executor> = all.iter().map(|event| event.by).collect();
        by.sort();
        by.dedup();
        let own = by.into_iter().filter(|by| {
            let runs = runs(resolver, elaborated, *by);
            runs.is_some_and(|runs| runs.place == who.place)
        });
        let called = called(&CurrentTree::of(elaborated.module()));
        for executor in own {
            for (other, barriers, ops) in ties_of(&all, executor, out) {
                let Some(party) = runs(resolver, elaborated, other) else { continue };
                let over = barriers.into_iter().map(|root| elaborated.say(tree.value_name(root))).collect();
                push(&mut ties, party, over, places(elaborated, &called, tree, &ops));
            }
        }
    }
    ties
}

fn places(elaborated: &ElaboratedInstance, called: &super::uses::Called, tree: &Tree, ops: &[OpId]) -> Vec<TextRange> {
    let mut ranges: Vec<TextRange> = ops.iter().filter_map(|op| at_call(elaborated, called, tree, *op)).collect();
    ranges.sort();
    ranges.dedup();
    ranges
}

fn push(ties: &mut Vec<PythonTie>, party: PythonParty, over: Vec<String>, ranges: Vec<TextRange>) {
    let signal = !over.is_empty();
    let same = |tie: &&mut PythonTie| tie.party.place == party.place && tie.over.is_empty() != signal;
    match ties.iter_mut().find(same) {
        Some(tie) => {
            tie.over.extend(over);
            tie.over.sort();
            tie.over.dedup();
            tie.ranges.extend(ranges);
            tie.ranges.sort();
            tie.ranges.dedup();
        }
        None => ties.push(PythonTie { party, over, ranges }),
    }
}

/// Who arrives on the barrier at an offset, or waits for it.
fn of_barrier(resolver: &Resolver<'_>, of: &Elaboration, offset: u32, out: bool) -> Vec<PythonTie> {
    let Some(Found { elaborated, values, .. }) = found(of, offset) else { return Vec::new() };
    let Some(tree) = elaborated.tree() else { return Vec::new() };
    let roots: Vec<ValueId> = values.iter().flat_map(|(_, value)| memory::roots(tree, *value)).collect();
    let all = kernel(tree).map(|op| events(tree, op)).unwrap_or_default();
    let wanted = |event: &&Event| roots.contains(&event.barrier) && if out { event.waits() } else { event.arrives() };
    let called = called(&CurrentTree::of(elaborated.module()));
    let mut ties = Vec::new();
    for event in all.iter().filter(wanted) {
        let Some(party) = runs(resolver, elaborated, event.by) else { continue };
        let over = vec![elaborated.say(tree.value_name(event.barrier))];
        push(&mut ties, party, over, places(elaborated, &called, tree, &[event.op]));
    }
    ties
}

/// The functions that name a function.
fn callers(resolver: &Resolver<'_>, module: &Arc<Module>, function: &PythonParty) -> Vec<PythonTie> {
    let mut ties = Vec::new();
    let mut places = importers(resolver, &function.place, &function.place.module);
    let own = resolver.index(&function.place.module);
    if let Some(binding) = own.at(function.place.range.start).map(|mention| mention.binding) {
        let read = own.places(binding).filter(|place| place.access == NameAccess::Read);
        places.extend(read.map(|place| FilePlace { module: function.place.module.clone(), range: place.range }));
    }
    // The file at hand first.
    places.sort_by_key(|place| (place.module.path() != module.path(), place.module.path().to_owned(), place.range));
    for place in places {
        let index = resolver.index(&place.module);
        let scope = index.scope_at(place.range.start);
        if let Some(party) = holder(&index, &place.module, scope) {
            push(&mut ties, party, Vec::new(), vec![place.range]);
        }
    }
    ties
}

/// The function around a scope.
fn holder(index: &NameIndex, module: &Arc<Module>, scope: ScopeId) -> Option<PythonParty> {
    let function = index.scope(index.function_around(scope)?)?;
    let at = TextRange::new(function.range.start, function.range.start + function.name.len() as u32);
    of_function(FilePlace { module: module.clone(), range: at })
}

/// The functions that a function names.
fn callees(resolver: &Resolver<'_>, function: &PythonParty) -> Vec<PythonTie> {
    let module = &function.place.module;
    let index = resolver.index(module);
    let mut ties = Vec::new();
    let inside = index.mentions().iter().filter(|mention| {
        mention.access == NameAccess::Read
            && function.range.contains(mention.range)
            && index.scope_at(mention.range.start) != ScopeId::MODULE
    });
    for mention in inside {
        if let Some(party) = function_at(resolver, module, mention.range.start) {
            push(&mut ties, party, Vec::new(), vec![mention.range]);
        }
    }
    ties
}
