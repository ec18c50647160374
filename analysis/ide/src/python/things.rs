//! Which variables are barriers, memory, descriptors: by what makes them, by what is done with them, and by the calls
//! that hand them on.
//!
//! Nothing is run for it. A name is taken for what the builtins that make or take it say; a name that they say nothing
//! of is nothing.

use std::cell::RefCell;

use gluon::Version;
use gluon::catalog::{self, Builtin};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use rustc_hash::FxHashMap;
use specialize::Imports;

use super::functions::{Definitions, dotted};
use crate::limits::names::ROUNDS;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    /// One mbarrier or several.
    Barrier,
    /// Shared memory.
    Memory,
    /// Tensor memory.
    TensorMemory,
    /// A tensor descriptor.
    Descriptor,
    /// A constant of the compilation.
    Constexpr,
}

impl Thing {
    /// The name that the table of builtins has for its class.
    pub(super) fn class(self) -> Option<&'static str> {
        match self {
            Thing::Barrier | Thing::Memory => Some("shared_memory_descriptor"),
            Thing::TensorMemory => Some("tensor_memory_descriptor"),
            Thing::Descriptor => Some("tensor_descriptor"),
            Thing::Constexpr => None,
        }
    }
}

/// Methods that give a part of what they are called on.
pub(super) const VIEWS: &[&str] = &["index", "slice", "permute", "reshape", "reinterpret", "_reinterpret", "subslice"];

/// The builtins that a file calls, by the names that it has for them.
pub(super) struct Library<'n, 'm> {
    names: &'n Imports<'m>,
    version: Version,
    known: RefCell<FxHashMap<String, Option<Builtin>>>,
}

impl<'n, 'm> Library<'n, 'm> {
    /// Those of a release.
    pub(super) fn new(names: &'n Imports<'m>, version: Version) -> Library<'n, 'm> {
        Library { names, version, known: RefCell::default() }
    }

    /// What a name with dots stands for.
    pub(super) fn find(&self, dotted: &str) -> Option<Builtin> {
        if let Some(known) = self.known.borrow().get(dotted) {
            return known.clone();
        }
        let path = self.names.path(dotted);
        let found = path.and_then(|path| catalog::find(&path, self.version));
        self.known.borrow_mut().insert(dotted.to_owned(), found.clone());
        found
    }
}

/// What the variables of all functions stand for.
#[derive(Debug, Default)]
pub(super) struct Things<'m> {
    /// By the number of the function and the variable's name.
    variables: FxHashMap<(usize, &'m str), Thing>,
    /// Attributes of objects, by name.
    fields: FxHashMap<&'m str, Thing>,
}

impl<'m> Things<'m> {
    /// Those of the functions of a text.
    pub(super) fn of(definitions: &Definitions<'m>, library: &Library<'_, '_>) -> Things<'m> {
        let mut things = Things::default();
        for class in &definitions.classes {
            for field in class.body.iter().filter_map(|stmt| stmt.as_ann_assign_stmt()) {
                if let (Expr::Name(name), Some(thing)) = (&*field.target, annotated(&field.annotation)) {
                    learn(things.fields.entry(name.id.as_str()), thing);
                }
            }
        }
        let mut facts = Vec::new();
        for (at, function) in definitions.functions.iter().enumerate() {
            for param in function.def.parameters.iter_non_variadic_params() {
                let Some(annotation) = param.annotation().filter(|_| function.device()) else { continue };
                let thing = if is_constexpr(annotation) { Some(Thing::Constexpr) } else { annotated(annotation) };
                if let Some(thing) = thing {
                    things.set(at, param.name().as_str(), thing);
                }
            }
            let mut collector = Facts { function: at, facts: &mut facts };
            function.def.body.iter().for_each(|stmt| collector.visit_stmt(stmt));
        }
        for _ in 0..ROUNDS {
            let before = (things.variables.len(), things.fields.len());
            for (function, fact) in &facts {
                match fact {
                    Fact::Assign(target, value) => things.assign(*function, target, value, library),
                    Fact::Constexpr(name) => things.set(*function, name, Thing::Constexpr),
                    Fact::Call(call) => things.call(*function, call, definitions, library),
                }
            }
            if before == (things.variables.len(), things.fields.len()) {
                break;
            }
        }
        things
    }

    /// What a variable of a function stands for.
    pub(super) fn variable(&self, function: usize, name: &str) -> Option<Thing> {
        self.variables.get(&(function, name)).copied()
    }

    /// What a field of some object stands for.
    pub(super) fn field(&self, name: &str) -> Option<Thing> {
        self.fields.get(name).copied()
    }

    /// The variables of a function that stand for a thing, by name.
    pub(super) fn all(&self, function: usize, thing: Thing) -> Vec<&'m str> {
        let own = self.variables.iter().filter(|((of, _), is)| *of == function && **is == thing);
        let mut names: Vec<&str> = own.map(|((_, name), _)| *name).collect();
        names.sort_unstable();
        names
    }

    fn set(&mut self, function: usize, name: &'m str, thing: Thing) {
        learn(self.variables.entry((function, name)), thing);
    }

    /// What an expression stands for.
    pub(super) fn thing(&self, function: usize, expr: &Expr, library: &Library<'_, '_>) -> Option<Thing> {
        match expr {
            Expr::Name(name) => self.variable(function, name.id.as_str()),
            Expr::Attribute(attribute) => self.field(attribute.attr.as_str()),
            Expr::Subscript(subscript) => self.thing(function, &subscript.value, library),
            Expr::If(it) => {
                self.thing(function, &it.body, library).or_else(|| self.thing(function, &it.orelse, library))
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && VIEWS.contains(&method.attr.as_str())
                {
                    return self.thing(function, &method.value, library);
                }
                made(call, library)
            }
            _ => None,
        }
    }

    /// Notes what an expression stands for, at the name that is behind it.
    fn mark(&mut self, function: usize, expr: &'m Expr, thing: Thing) {
        match expr {
            Expr::Name(name) => self.set(function, name.id.as_str(), thing),
            Expr::Attribute(attribute) => learn(self.fields.entry(attribute.attr.as_str()), thing),
            Expr::Subscript(subscript) => self.mark(function, &subscript.value, thing),
            Expr::List(list) => list.elts.iter().for_each(|expr| self.mark(function, expr, thing)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|expr| self.mark(function, expr, thing)),
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && VIEWS.contains(&method.attr.as_str())
                {
                    self.mark(function, &method.value, thing);
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, function: usize, target: &'m Expr, value: &'m Expr, library: &Library<'_, '_>) {
        if let (Expr::Tuple(targets), Expr::Tuple(values)) = (target, value) {
            for (target, value) in targets.elts.iter().zip(&values.elts) {
                self.assign(function, target, value, library);
            }
            return;
        }
        match self.thing(function, value, library) {
            Some(thing) => self.mark(function, target, thing),
            // What is done with the one is done with the other.
            None => {
                if let Some(thing) = self.thing(function, target, library) {
                    self.mark(function, value, thing);
                }
            }
        }
    }

    fn call(&mut self, function: usize, call: &'m ExprCall, definitions: &Definitions<'m>, library: &Library<'_, '_>) {
        let Some(name) = dotted(&call.func) else { return };
        if let Some((callee, _)) = definitions.device(&name) {
            let args: Vec<&'m Expr> = call.arguments.args.iter().collect();
            self.hand(function, callee, &args, definitions, library);
            for keyword in &call.arguments.keywords {
                if let Some(param) = &keyword.arg {
                    self.pair(function, &keyword.value, callee, param.as_str(), library);
                }
            }
            return;
        }
        let Some(builtin) = library.find(&name) else { return };
        if builtin.name == "warp_specialize" {
            self.specialise(function, call, definitions, library);
            return;
        }
        let positional = builtin.params.iter().filter(|param| param.is_named() && !param.keyword_only);
        let by_place = call.arguments.args.iter().zip(positional).map(|(arg, param)| (param.name, arg));
        let by_name =
            call.arguments.keywords.iter().filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str(), &keyword.value)));
        let pairs: Vec<(&str, &'m Expr)> = by_place.chain(by_name).collect();
        for (param, arg) in pairs {
            if let Some(thing) = taken(&builtin, param) {
                self.mark(function, arg, thing);
            }
        }
    }

    /// `warp_specialize([(partition, (a, b)), …], …)`, and `warp_specialize((a, b), partition, [partition, …], …)`.
    fn specialise(
        &mut self,
        function: usize,
        call: &'m ExprCall,
        definitions: &Definitions<'m>,
        library: &Library<'_, '_>,
    ) {
        let args = &call.arguments.args;
        if let Some(Expr::List(list)) = args.first() {
            for part in &list.elts {
                if let Expr::Tuple(pair) = part
                    && let [Expr::Name(name), Expr::Tuple(args)] = &pair.elts[..]
                    && let Some((callee, _)) = definitions.device(name.id.as_str())
                {
                    let args: Vec<&'m Expr> = args.elts.iter().collect();
                    self.hand(function, callee, &args, definitions, library);
                }
            }
        } else if let Some(Expr::Tuple(shared)) = args.first() {
            let shared: Vec<&'m Expr> = shared.elts.iter().collect();
            for part in args.iter().skip(1) {
                let names: Vec<&Expr> = match part {
                    Expr::List(list) => list.elts.iter().collect(),
                    other => vec![other],
                };
                for name in names.iter().filter_map(|expr| expr.as_name_expr()) {
                    if let Some((callee, _)) = definitions.device(name.id.as_str()) {
                        self.hand(function, callee, &shared, definitions, library);
                    }
                }
            }
        }
    }

    /// Arguments by their place.
    fn hand(
        &mut self,
        function: usize,
        callee: usize,
        args: &[&'m Expr],
        definitions: &Definitions<'m>,
        library: &Library<'_, '_>,
    ) {
        let Some(of) = definitions.functions.get(callee) else { return };
        for (arg, param) in args.iter().zip(of.def.parameters.iter_non_variadic_params()) {
            self.pair(function, arg, callee, param.name().as_str(), library);
        }
    }

    /// What an argument and its parameter know of each other.
    fn pair(&mut self, function: usize, arg: &'m Expr, callee: usize, param: &'m str, library: &Library<'_, '_>) {
        let known = |thing: Option<Thing>| thing.filter(|thing| *thing != Thing::Constexpr);
        if let Some(thing) = known(self.thing(function, arg, library)) {
            self.set(callee, param, thing);
        } else if let Some(thing) = known(self.variable(callee, param)) {
            self.mark(function, arg, thing);
        }
    }
}

/// Notes what a name is; what was taken for memory may turn out to hold barriers.
fn learn<K: std::hash::Hash + Eq>(entry: std::collections::hash_map::Entry<'_, K, Thing>, thing: Thing) {
    let known = entry.or_insert(thing);
    if *known == Thing::Memory && thing == Thing::Barrier {
        *known = thing;
    }
}

/// What a call of a builtin makes.
fn made(call: &ExprCall, library: &Library<'_, '_>) -> Option<Thing> {
    let builtin = library.find(&dotted(&call.func)?)?;
    match builtin.name {
        "allocate_mbarrier" => Some(Thing::Barrier),
        "allocate_shared_memory" => {
            let args = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
            let mut layouts = args.filter_map(|arg| match arg {
                Expr::Call(call) => dotted(&call.func),
                other => dotted(other),
            });
            let barrier = layouts.any(|layout| layout.split('.').any(|part| part == "MBarrierLayout"));
            Some(if barrier { Thing::Barrier } else { Thing::Memory })
        }
        "allocate_tensor_memory" => Some(Thing::TensorMemory),
        "make_tensor_descriptor" | "update_tensor_descriptor" => Some(Thing::Descriptor),
        _ => None,
    }
}

/// What a builtin takes at a parameter.
pub(super) fn taken(builtin: &Builtin, param: &str) -> Option<Thing> {
    let transfer = [".tma.", ".tdm.", ".async_copy."].iter().any(|module| builtin.path.contains(module));
    match param {
        "mbarrier" | "mbarriers" | "barrier" | "barriers" if builtin.effect => Some(Thing::Barrier),
        "tensor_desc" | "desc" | "tensor_descriptor" => Some(Thing::Descriptor),
        "result" | "smem" | "dest" | "src" if builtin.effect && transfer => Some(Thing::Memory),
        "a" | "b" if builtin.name.starts_with("tcgen05_mma") && builtin.effect => Some(Thing::Memory),
        "acc" if builtin.name.starts_with("tcgen05_mma") => Some(Thing::TensorMemory),
        "b" if builtin.name == "warpgroup_mma" => Some(Thing::Memory),
        _ => None,
    }
}

fn is_constexpr(annotation: &Expr) -> bool {
    dotted(annotation).is_some_and(|path| path.rsplit('.').next() == Some("constexpr"))
}

/// What the annotation of a parameter or field says.
fn annotated(annotation: &Expr) -> Option<Thing> {
    match dotted(annotation)?.rsplit('.').next()? {
        "shared_memory_descriptor" => Some(Thing::Memory),
        "tensor_memory_descriptor" => Some(Thing::TensorMemory),
        "tensor_descriptor" => Some(Thing::Descriptor),
        _ => None,
    }
}

/// What says something of names.
enum Fact<'m> {
    Assign(&'m Expr, &'m Expr),
    Constexpr(&'m str),
    Call(&'m ExprCall),
}

struct Facts<'m, 'f> {
    function: usize,
    facts: &'f mut Vec<(usize, Fact<'m>)>,
}

impl<'m> Visitor<'m> for Facts<'m, '_> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        match stmt {
            // Functions inside have facts of their own.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.facts.push((self.function, Fact::Assign(target, &assign.value)));
                }
            }
            Stmt::AnnAssign(assign) => {
                if is_constexpr(&assign.annotation)
                    && let Expr::Name(name) = &*assign.target
                {
                    self.facts.push((self.function, Fact::Constexpr(name.id.as_str())));
                } else if let Some(value) = &assign.value {
                    self.facts.push((self.function, Fact::Assign(&assign.target, value)));
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'m Expr) {
        if let Expr::Call(call) = expr {
            self.facts.push((self.function, Fact::Call(call)));
        }
        walk_expr(self, expr);
    }
}
