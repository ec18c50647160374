//! Semantic tokens of Python: what we know and others do not. Plain Python is left to them.

use base::TextRange;
use dialects::OpDecl;
use gluon::catalog::{self, Builtin, BuiltinKind};
use python::syntax::{CurrentTree, range};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprAttribute, Stmt, StmtFunctionDef};
use rustc_hash::FxHashMap;
use specialize::Imports;

use super::FileContext;
use super::functions::{Definitions, Role, dotted};
use super::things::{Library, Thing, Things};
use crate::tokens::{Modifiers, SemanticKind, SemanticToken, of_effect};
use engine::instances::PythonFile;

/// The tokens in a range of a file, or in all of it; `None` for a file without kernels.
pub fn tokens(file: &PythonFile, setting: &FileContext<'_>, within: Option<TextRange>) -> Option<Vec<SemanticToken>> {
    if !file.mentions_kernels() {
        return None;
    }
    let present = CurrentTree::of(file.module());
    let names = Imports::of(file.module(), setting.sources);
    let definitions = Definitions::of(&present, &names);
    let library = Library::new(&names, setting.version);
    let things = Things::of(&definitions, &library);
    let mut painter = Painter {
        within: within.unwrap_or(TextRange::new(0, file.text().len() as u32)),
        setting,
        names: &names,
        definitions: &definitions,
        library: &library,
        things: &things,
        numbers: definitions.functions.iter().enumerate().map(|(at, it)| (start(it.def), at)).collect(),
        inside: Vec::new(),
        found: Vec::new(),
    };
    for stmt in present.in_order() {
        painter.visit_stmt(stmt);
    }
    let mut found = painter.found;
    found.sort_by_key(|token| token.range.start);
    found.dedup_by_key(|token| token.range.start);
    Some(found)
}

fn start(def: &StmtFunctionDef) -> u32 {
    range(&def.name).start
}

struct Painter<'m, 'p> {
    within: TextRange,
    setting: &'p FileContext<'p>,
    names: &'p Imports<'m>,
    definitions: &'p Definitions<'m>,
    library: &'p Library<'p, 'm>,
    things: &'p Things<'m>,
    /// The numbers of functions by where their names start.
    numbers: FxHashMap<u32, usize>,
    /// The functions around, outermost first.
    inside: Vec<usize>,
    found: Vec<SemanticToken>,
}

impl Painter<'_, '_> {
    fn push(&mut self, range: TextRange, kind: SemanticKind, modifiers: Modifiers) {
        if range.start <= self.within.end && self.within.start <= range.end && !range.is_empty() {
            self.found.push(SemanticToken { range, kind, modifiers });
        }
    }

    /// What a variable stands for, in the functions around from the inside out.
    fn variable(&self, name: &str) -> Option<Thing> {
        self.inside.iter().rev().find_map(|function| self.things.variable(*function, name))
    }

    fn is_parameter(&self, name: &str) -> bool {
        let function = self.inside.last().and_then(|at| self.definitions.functions.get(*at));
        function.is_some_and(|function| function.def.parameters.includes(name))
    }

    fn name(&mut self, name: &str, range: TextRange, declares: bool) {
        if let Some(thing) = self.variable(name) {
            let kind = if self.is_parameter(name) { SemanticKind::Parameter } else { SemanticKind::Variable };
            self.push(range, kind, of_thing(thing).and(Modifiers::DECLARATION.when(declares)));
            return;
        }
        if let Some((_, function)) = self.definitions.device(name).filter(|_| !self.is_parameter(name)) {
            self.push(range, SemanticKind::Function, Modifiers::KERNEL.when(function.role == Role::Kernel));
            return;
        }
        let imported = self.names.full(name).is_some();
        if let Some(builtin) = self.library.find(name).filter(|_| imported) {
            self.push(range, kind_of(&builtin), of_builtin(&builtin));
        }
    }

    fn attribute(&mut self, attribute: &ExprAttribute) {
        let range = range(&attribute.attr);
        let name = attribute.attr.as_str();
        if let Some(path) = dotted(&attribute.value) {
            let full = format!("{path}.{name}");
            if let Some(builtin) = self.library.find(&full) {
                self.push(range, kind_of(&builtin), of_builtin(&builtin));
                return;
            }
            // What an earlier release had and this one does not.
            let gone = self.names.path(&full).and_then(|full| catalog::gone(&full, self.setting.version));
            if gone.is_some() {
                self.push(range, SemanticKind::Function, Modifiers::LIBRARY.and(Modifiers::DEPRECATED));
                return;
            }
        }
        if let Some(thing) = self.things.field(name) {
            self.push(range, SemanticKind::Property, of_thing(thing));
        }
    }
}

fn of_thing(thing: Thing) -> Modifiers {
    match thing {
        Thing::Barrier => Modifiers::BARRIER,
        Thing::Memory | Thing::TensorMemory => Modifiers::MEMORY,
        Thing::Descriptor => Modifiers::DESCRIPTOR,
        Thing::Constexpr => Modifiers::CONSTEXPR.and(Modifiers::READONLY),
    }
}

fn kind_of(builtin: &Builtin) -> SemanticKind {
    match builtin.kind {
        BuiltinKind::Module => SemanticKind::Namespace,
        BuiltinKind::Function => SemanticKind::Function,
        BuiltinKind::Class => SemanticKind::Class,
        BuiltinKind::ElementType => SemanticKind::Type,
        BuiltinKind::Attribute | BuiltinKind::Constant => SemanticKind::Property,
    }
}

fn of_builtin(builtin: &Builtin) -> Modifiers {
    let of_op = |op: &'static OpDecl| Modifiers::BARRIER.when(op.barrier.is_some()).and(of_effect(&op.effect));
    let op = if builtin.kind == BuiltinKind::Function { builtin.op().map(of_op) } else { None };
    Modifiers::LIBRARY.and(op.unwrap_or_default())
}

impl<'a> Visitor<'a> for Painter<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                for decorator in &def.decorator_list {
                    self.visit_decorator(decorator);
                }
                let number = self.numbers.get(&start(def)).copied();
                let role = number.and_then(|at| self.definitions.functions.get(at)).map_or(Role::Host, |it| it.role);
                if role != Role::Host {
                    let modifiers = Modifiers::DECLARATION.and(Modifiers::KERNEL.when(role == Role::Kernel));
                    self.push(range(&def.name), SemanticKind::Function, modifiers);
                }
                self.inside.extend(number);
                for param in def.parameters.iter_non_variadic_params() {
                    let name = param.name();
                    if let Some(thing) = number.and_then(|at| self.things.variable(at, name.as_str())) {
                        let modifiers = of_thing(thing).and(Modifiers::DECLARATION);
                        self.push(range(name), SemanticKind::Parameter, modifiers);
                    }
                    if let Some(annotation) = param.annotation() {
                        self.visit_expr(annotation);
                    }
                    if let Some(default) = param.default() {
                        self.visit_expr(default);
                    }
                }
                def.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                if number.is_some() {
                    self.inside.pop();
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let declares = name.ctx.is_store();
                self.name(name.id.as_str(), range(name), declares);
            }
            Expr::Attribute(attribute) => {
                walk_expr(self, expr);
                self.attribute(attribute);
            }
            _ => walk_expr(self, expr),
        }
    }
}
