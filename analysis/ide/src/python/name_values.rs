//! Which values of an elaborated instance a name of its Python stands for.
//!
//! A name is taken for what Python binds it to: a parameter for what its calls hand it, a variable for the value that is
//! named after it, or else for what is done with it or assigned to it. What a call around the name does to other
//! memory says nothing of it.

use base::TextRange;
use engine::instances::{ElaboratedInstance, Elaboration};
use gluon::{FileId, Frame, Origin, Version};
use python::syntax::{CurrentTree, NoSources, each_node, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprCall};
use rustc_hash::FxHashMap;
use specialize::Imports;
use ttgir::queries::memory::is_memory;
use ttgir::queries::spot::walk;
use ttgir::{Def, OpId, Tree, Ty, ValueId};

use super::functions::{Definitions, dotted};
use super::names::{Binding, BindingId, BindingKind, NameAccess, NameIndex, ScopeId};
use super::things::{Library, Thing, Things};

/// Assignments of one name to another that are followed.
const ALIASES: usize = 4;

/// What stands at an offset of a file.
#[derive(Debug)]
pub(super) enum Spot {
    /// A variable or parameter.
    Variable(Variable),
    /// A field of something: the whole expression, and what is done with it.
    Field(Vec<Use>),
    /// What a call calls: a builtin or a method; the call.
    Callee(TextRange),
    /// A name that no value stands behind: a function, a module, a keyword.
    Other,
    /// No name.
    Nothing,
}

/// A name in the function that binds it.
#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    /// The function.
    function: TextRange,
    /// The function's name.
    of: String,
    /// Of a parameter that is memory, its number among those, and how many there are.
    handed: Option<(usize, usize)>,
    uses: Vec<Use>,
    /// What it is assigned, where that is done once.
    assigned: Option<Assigned>,
}

/// What is done with an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// A method of it is called.
    Receiver(TextRange),
    /// It is handed to a call as it is.
    Argument(TextRange),
}

#[derive(Debug)]
enum Assigned {
    Name(Box<Variable>),
    Call(TextRange),
}

impl Spot {
    /// What stands at an offset.
    pub(super) fn at(of: &Elaboration, offset: u32) -> Spot {
        let tree = CurrentTree::of(&of.module);
        let index = NameIndex::of(&tree);
        if let Some(mention) = index.at(offset) {
            return match index.binding(mention.binding) {
                Some(_) if mention.access == NameAccess::Keyword => Spot::Other,
                Some(binding) => variable(&tree, &index, binding, ALIASES).map_or(Spot::Other, Spot::Variable),
                None => Spot::Other,
            };
        }
        if super::word(of.module.text(), offset).is_none() {
            return Spot::Nothing;
        }
        let path = path_at(&tree, offset);
        let field = path.iter().rev().find_map(|node| match node {
            AnyNodeRef::ExprAttribute(attribute) if range(&attribute.attr).touches(offset) => Some(*attribute),
            _ => None,
        });
        match field {
            Some(field) => match callee_or(&tree, offset) {
                Spot::Other => {
                    let thing = with_things(&tree, |_, things| things.field(field.attr.as_str()));
                    let memory = thing.is_some_and(is_memory_thing);
                    // The same field of the same object, wherever that stands.
                    let (path, root) = (dotted(&field.value), root_binding(&index, &field.value));
                    let same = |expr: &Expr| match expr {
                        Expr::Attribute(other) if range(other) == range(field) => true,
                        Expr::Attribute(other) => {
                            other.attr.as_str() == field.attr.as_str()
                                && path.is_some()
                                && dotted(&other.value) == path
                                && root_binding(&index, &other.value) == root
                        }
                        _ => false,
                    };
                    Spot::Field(uses(&tree, &same, memory))
                }
                callee => callee,
            },
            None => Spot::Other,
        }
    }
}

/// What the first of some names with dots means.
fn root_binding(index: &NameIndex, expr: &Expr) -> Option<BindingId> {
    match expr {
        Expr::Name(name) => index.at(range(name).start).map(|mention| mention.binding),
        Expr::Attribute(attribute) => root_binding(index, &attribute.value),
        _ => None,
    }
}

/// The call whose function's name touches an offset.
fn callee_or(tree: &CurrentTree<'_>, offset: u32) -> Spot {
    let path = path_at(tree, offset);
    let call = path.iter().rev().find_map(|node| match node {
        AnyNodeRef::ExprCall(call) => Some(*call),
        _ => None,
    });
    let Some(call) = call else { return Spot::Other };
    match &*call.func {
        Expr::Attribute(callee) if range(&callee.attr).touches(offset) => Spot::Callee(range(call)),
        _ => Spot::Other,
    }
}

/// A binding as a variable or parameter of a function.
fn variable(tree: &CurrentTree<'_>, index: &NameIndex, binding: &Binding, depth: usize) -> Option<Variable> {
    let scope = index.scope(binding.scope)?;
    if binding.scope == ScopeId::MODULE || !matches!(binding.kind, BindingKind::Variable | BindingKind::Parameter) {
        return None;
    }
    let same = |expr: &Expr| {
        let mention = expr.as_name_expr().and_then(|name| index.at(range(name).start));
        mention.and_then(|mention| index.binding(mention.binding)).is_some_and(|known| known.range == binding.range)
    };
    let parameter = binding.kind == BindingKind::Parameter;
    let assigned = if parameter { None } else { assigned(tree, index, &same, depth) };
    let (memory, handed) = with_things(tree, |definitions, things| {
        let function = definitions.around(scope.range.end.saturating_sub(1));
        // Decorators belong to the definition, and not to the scope.
        let function = function.filter(|(_, of)| range(of.def).end == scope.range.end);
        let Some((number, of)) = function else { return (false, None) };
        let memory = |name: &str| things.variable(number, name).is_some_and(is_memory_thing);
        let params = of.def.parameters.iter_non_variadic_params().map(|param| param.name().as_str());
        let all: Vec<&str> = params.filter(|name| memory(name)).collect();
        let at = all.iter().position(|known| *known == binding.name);
        (memory(&binding.name), at.filter(|_| parameter).map(|at| (at, all.len())))
    });
    Some(Variable {
        name: binding.name.clone(),
        function: scope.range,
        of: scope.name.clone(),
        handed,
        uses: uses(tree, &same, memory),
        assigned,
    })
}

/// What a name is assigned, where that is done once.
fn assigned(tree: &CurrentTree<'_>, index: &NameIndex, same: &dyn Fn(&Expr) -> bool, depth: usize) -> Option<Assigned> {
    let depth = depth.checked_sub(1)?;
    let mut found: Vec<&Expr> = Vec::new();
    let statements: Vec<_> = tree.statements().collect();
    each_node(statements.iter().copied(), |node| match node {
        AnyNodeRef::StmtAssign(assign) if assign.targets.iter().any(same) => found.push(&assign.value),
        AnyNodeRef::StmtAnnAssign(assign) if same(&assign.target) => found.extend(assign.value.as_deref()),
        _ => {}
    });
    let [only] = found[..] else { return None };
    match only {
        Expr::Call(call) => Some(Assigned::Call(range(call))),
        Expr::Name(name) => {
            let binding = index.at(range(name).start).and_then(|mention| index.binding(mention.binding))?;
            variable(tree, index, binding, depth).map(|variable| Assigned::Name(Box::new(variable)))
        }
        _ => None,
    }
}

/// Asks what the text says of its functions and their variables.
fn with_things<R>(tree: &CurrentTree<'_>, ask: impl FnOnce(&Definitions<'_>, &Things<'_>) -> R) -> R {
    let names = Imports::of(tree.module(), &NoSources);
    let definitions = Definitions::of(tree, &names);
    let library = Library::new(&names, Version::default());
    let things = Things::of(&definitions, &library);
    ask(&definitions, &things)
}

fn is_memory_thing(thing: Thing) -> bool {
    matches!(thing, Thing::Barrier | Thing::Memory | Thing::TensorMemory)
}

/// What is done with the expressions that `same` knows; only memory is looked for among the arguments of calls.
fn uses(tree: &CurrentTree<'_>, same: &dyn Fn(&Expr) -> bool, memory: bool) -> Vec<Use> {
    let mut found = Vec::new();
    each_node(tree.statements(), |node| {
        let AnyNodeRef::ExprCall(call) = node else { return };
        if let Expr::Attribute(method) = &*call.func
            && same(&method.value)
        {
            found.push(Use::Receiver(range(call)));
        }
        if memory && arguments(call).any(same) {
            found.push(Use::Argument(range(call)));
        }
    });
    found
}

fn arguments(call: &ExprCall) -> impl Iterator<Item = &Expr> {
    call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value))
}

/// The values of an instance that a variable stands for, each with an op that has to do with it; several where its
/// function is called with several. Memory alone, where it is some.
pub(super) fn of_variable(elaborated: &ElaboratedInstance, variable: &Variable) -> Vec<(OpId, ValueId)> {
    let Some(tree) = elaborated.tree() else { return Vec::new() };
    let found = handed_values(elaborated, tree, variable);
    if !found.is_empty() {
        return found;
    }
    let named = named_values(elaborated, tree, variable);
    if named.first().is_some_and(|(_, value)| is_memory(tree, *value)) {
        return named;
    }
    let used = of_uses(elaborated, &variable.uses);
    if !used.is_empty() {
        return used;
    }
    match &variable.assigned {
        Some(Assigned::Call(call)) => {
            let made = ops_at(elaborated, tree, *call).into_iter().rev();
            let made = made.filter_map(|op| tree.results(op).first().map(|value| (op, *value)));
            let made = made.into_iter().find(|(_, value)| is_memory(tree, *value));
            made.map_or(named, |made| vec![made])
        }
        Some(Assigned::Name(other)) if named.is_empty() => of_variable(elaborated, other),
        _ => named,
    }
}

/// The memory of an instance that is used as these say; the first that is known.
pub(super) fn of_uses(elaborated: &ElaboratedInstance, uses: &[Use]) -> Vec<(OpId, ValueId)> {
    let Some(tree) = elaborated.tree() else { return Vec::new() };
    let found = uses.iter().find_map(|used| match used {
        Use::Receiver(call) => {
            let ops = ops_at(elaborated, tree, *call);
            ops.into_iter().find_map(|op| {
                let value = *tree.operands(op).first()?;
                is_memory(tree, value).then_some((op, value))
            })
        }
        Use::Argument(call) => {
            let ops = ops_at(elaborated, tree, *call);
            let mut memory: Vec<(OpId, ValueId)> = Vec::new();
            for op in ops {
                for value in tree.operands(op).iter().filter(|value| is_memory(tree, **value)) {
                    if !memory.iter().any(|(_, known)| known == value) {
                        memory.push((op, *value));
                    }
                }
            }
            let [only] = memory[..] else { return None };
            Some(only)
        }
    });
    found.into_iter().collect()
}

/// The ops that an expression of the file itself emits.
fn ops_at(elaborated: &ElaboratedInstance, tree: &Tree, place: TextRange) -> Vec<OpId> {
    let origins = elaborated.origins();
    let here = |origin: &Origin| origin.file == FileId(0) && origin.range == place;
    let ops = origins.ops.iter().filter(|(_, id)| origins.origins.get(id.0 as usize).is_some_and(here));
    ops.filter_map(|(at, _)| tree.op_at(*at)).collect()
}

/// The memory that the calls of a parameter's function hand it.
fn handed_values(elaborated: &ElaboratedInstance, tree: &Tree, variable: &Variable) -> Vec<(OpId, ValueId)> {
    let Some((number, count)) = variable.handed else { return Vec::new() };
    let origins = elaborated.origins();
    let mut names: Vec<&str> = Vec::new();
    let mut seen: Vec<*const Frame> = Vec::new();
    for origin in &origins.origins {
        let mut inner = (origin.file, origin.range);
        for frame in origins.frames(origin) {
            let into = !frame.iteration && frame.what == variable.of;
            if into
                && inner.0 == FileId(0)
                && variable.function.contains(inner.1)
                && !seen.contains(&std::ptr::from_ref(frame))
            {
                seen.push(frame);
                if let Some(memory) = frame.memory.get(number).filter(|_| frame.memory.len() == count)
                    && let Some(name) = origins.memory.get(*memory as usize).filter(|name| !name.is_empty())
                    && !names.contains(&name.as_str())
                {
                    names.push(name);
                }
            }
            inner = (frame.file, frame.range);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let values = by_name(tree);
    let mut found: Vec<(OpId, ValueId)> = names.iter().filter_map(|name| values.get(name).copied()).collect();
    found.dedup_by_key(|(_, value)| *value);
    found
}

/// The memory of a module by its name, without `%`, with an op that defines it or holds what does.
fn by_name(tree: &Tree) -> FxHashMap<&str, (OpId, ValueId)> {
    let mut found = FxHashMap::default();
    walk(tree, tree.top(), &mut |op| {
        let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        let given = blocks.flat_map(|block| tree.block_args(*block)).chain(tree.results(op));
        for value in given.copied().filter(|value| is_memory(tree, *value)) {
            found.entry(tree.value_name(value).trim_start_matches('%')).or_insert((op, value));
        }
    });
    found
}

/// The value that is named after a variable in its function, or in what its function calls with it: memory first.
fn named_values(elaborated: &ElaboratedInstance, tree: &Tree, variable: &Variable) -> Vec<(OpId, ValueId)> {
    let origins = elaborated.origins();
    let own = |file: FileId, range: TextRange| file == FileId(0) && variable.function.contains(range);
    let mut other = None;
    for (at, id) in &origins.ops {
        let Some(origin) = origins.origins.get(id.0 as usize) else { continue };
        let direct = own(origin.file, origin.range);
        let called = || origins.frames(origin).find(|frame| !frame.iteration && own(frame.file, frame.range));
        let call = if direct { None } else { called() };
        if !direct && call.is_none() {
            continue;
        }
        let Some(op) = tree.op_at(*at) else { continue };
        for &value in tree.results(op).iter().chain(tree.operands(op)) {
            if elaborated.say(tree.value_name(value)) != variable.name {
                continue;
            }
            // What a call makes itself is no name of the caller.
            if call.is_some_and(|call| made_in(elaborated, tree, value, call)) {
                continue;
            }
            if is_memory(tree, value) {
                return vec![(op, value)];
            }
            if direct || matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::TensorDesc { .. })) {
                other = other.or(Some((op, value)));
            }
        }
    }
    other.into_iter().collect()
}

/// Whether a value is made within a call.
fn made_in(elaborated: &ElaboratedInstance, tree: &Tree, value: ValueId, call: &Frame) -> bool {
    let Def::Result(op, _) = tree.value_def(value) else { return false };
    let origin = elaborated.origins().at(tree.op_range(op).start);
    origin.is_some_and(|origin| elaborated.origins().frames(origin).any(|frame| std::ptr::eq(frame, call)))
}
