//! Which class an expression is an object of, as far as the text says: annotations, constructors, `self`.

use std::sync::Arc;

use crate::python::names::{Binding, BindingKind, NameAccess, NameIndex, ScopeId, ScopeKind, called};
use base::TextRange;
use python::syntax::{CurrentTree, Module, each_node, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprAttribute, ExprName, Stmt, StmtClassDef, StmtFunctionDef};

use super::resolve::{Defined, FilePlace, Meaning, Resolver, defined_at, own_member};
use crate::limits::names::INFERENCE as DEPTH;

/// A file whose expressions are asked about.
pub(super) struct Looked<'r, 's> {
    pub(super) resolver: &'r Resolver<'s>,
    pub(super) module: &'r Arc<Module>,
    pub(super) tree: &'r CurrentTree<'r>,
    pub(super) index: &'r NameIndex,
}

impl<'r, 's> Looked<'r, 's> {
    /// What an expression names: a module, a function, a class, a variable of some file.
    pub(super) fn meaning(&self, expr: &Expr) -> Option<Meaning> {
        self.meaning_within(expr, DEPTH)
    }

    fn meaning_within(&self, expr: &Expr, depth: u32) -> Option<Meaning> {
        let depth = depth.checked_sub(1)?;
        match expr {
            Expr::Name(name) => self.named(self.mentioned(name)?),
            Expr::Attribute(attribute) => self.attribute_within(attribute, depth),
            _ => None,
        }
    }

    /// What `object.name` means.
    pub(super) fn attribute(&self, attribute: &ExprAttribute) -> Option<Meaning> {
        self.attribute_within(attribute, DEPTH)
    }

    fn attribute_within(&self, attribute: &ExprAttribute, depth: u32) -> Option<Meaning> {
        let name = attribute.attr.as_str();
        match self.meaning_within(&attribute.value, depth) {
            Some(Meaning::Module(module)) => self.resolver.member_of_module(&module, name),
            Some(Meaning::Place(place)) if is_class(&place) => self.member(&place, name, depth),
            _ => self.member(&self.class_within(&attribute.value, depth)?, name, depth),
        }
    }

    /// The class that a name stands for an object of.
    pub(super) fn class_of_binding(&self, binding: &Binding) -> Option<FilePlace> {
        self.of_binding(binding, DEPTH)
    }

    fn of_binding(&self, binding: &Binding, depth: u32) -> Option<FilePlace> {
        let key = (self.module.path().to_owned(), binding.range);
        if let Some(known) = self.resolver.classes.borrow().get(&key) {
            return known.clone();
        }
        // What leads back to itself says nothing more.
        self.resolver.classes.borrow_mut().insert(key.clone(), None);
        let found = match binding.kind {
            BindingKind::Parameter => self.parameter(binding.range, binding.scope, depth),
            BindingKind::Variable => self.variable(binding.range, depth),
            _ => None,
        };
        self.resolver.classes.borrow_mut().insert(key, found.clone());
        found
    }

    /// The name at a place; of text that the tree does not hold, what is called so there.
    fn mentioned(&self, name: &ExprName) -> Option<&'r Binding> {
        let at = range(name);
        let mention = self.index.at(at.start).filter(|mention| mention.range.start == at.start);
        let known = mention.map(|mention| mention.binding);
        let known = known.or_else(|| self.index.lookup(self.index.scope_at(at.start), name.id.as_str()));
        self.index.binding(known?)
    }

    /// A class and those that it is made from, the class first.
    pub(super) fn lineage(&self, class: &FilePlace, visit: &mut dyn FnMut(&Module, &StmtClassDef)) {
        self.lineage_within(class, visit, DEPTH);
    }

    fn lineage_within(&self, class: &FilePlace, visit: &mut dyn FnMut(&Module, &StmtClassDef), depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let at = class.range;
        self.at(&class.module, |looked| {
            let Some(Defined::Class(def)) = defined_at(looked.tree, at) else { return };
            visit(looked.module, def);
            for base in def.arguments.iter().flat_map(|arguments| &arguments.args) {
                if let Some(Meaning::Place(base)) = looked.meaning_within(base, depth) {
                    looked.lineage_within(&base, visit, depth);
                }
            }
        });
    }

    /// Whether an expression is a name with dots of what is imported.
    pub(super) fn imported(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Attribute(of) => self.imported(&of.value),
            Expr::Name(name) => {
                let binding = self.index.at(range(name).start).and_then(|it| self.index.binding(it.binding));
                binding.is_some_and(|it| matches!(it.kind, BindingKind::Import { .. }))
            }
            _ => false,
        }
    }

    /// What the name at a place of the file means.
    pub(super) fn name(&self, at: TextRange) -> Option<Meaning> {
        let mention = self.index.at(at.start).filter(|mention| mention.range.start == at.start)?;
        self.named(self.index.binding(mention.binding)?)
    }

    fn named(&self, binding: &Binding) -> Option<Meaning> {
        match &binding.kind {
            BindingKind::Import { module, name } => self.resolver.imported(self.module, module, name.as_deref()),
            BindingKind::Unbound => self.resolver.global(self.module, &binding.name),
            _ => Some(Meaning::Place(FilePlace { module: self.module.clone(), range: binding.range })),
        }
    }

    /// The class that an expression is an object of, at its name.
    pub(super) fn class(&self, expr: &Expr) -> Option<FilePlace> {
        self.class_within(expr, DEPTH)
    }

    fn class_within(&self, expr: &Expr, depth: u32) -> Option<FilePlace> {
        let depth = depth.checked_sub(1)?;
        match expr {
            Expr::Name(name) => self.of_binding(self.mentioned(name)?, depth),
            Expr::Call(call) => match self.meaning_within(&call.func, depth)? {
                Meaning::Place(place) => self.made(place, depth),
                Meaning::Module(_) => None,
            },
            Expr::Attribute(_) => match self.meaning_within(expr, depth)? {
                Meaning::Place(field) => self.at(&field.module, |looked| looked.variable(field.range, depth))?,
                Meaning::Module(_) => None,
            },
            Expr::If(either) => {
                self.class_within(&either.body, depth).or_else(|| self.class_within(&either.orelse, depth))
            }
            _ => None,
        }
    }

    /// What a call of a function or class gives.
    fn made(&self, place: FilePlace, depth: u32) -> Option<FilePlace> {
        if is_class(&place) {
            return Some(place);
        }
        let at = place.range;
        self.at(&place.module, |looked| {
            let Some(Defined::Function(def)) = defined_at(looked.tree, at) else { return None };
            let annotated = def.returns.as_deref().and_then(|returns| looked.annotated(returns, depth));
            annotated.or_else(|| returned(def).into_iter().find_map(|value| looked.class_within(value, depth)))
        })?
    }

    /// The class that an annotation names.
    fn annotated(&self, annotation: &Expr, depth: u32) -> Option<FilePlace> {
        match self.meaning_within(annotation, depth)? {
            Meaning::Place(place) if is_class(&place) => Some(place),
            _ => None,
        }
    }

    /// The class of a parameter: by its annotation, or as the object of a method.
    fn parameter(&self, at: TextRange, scope: ScopeId, depth: u32) -> Option<FilePlace> {
        let around = self.index.scope(scope)?;
        let class = around.parent.and_then(|id| Some((id, self.index.scope(id)?)));
        let class = class.filter(|(_, scope)| scope.kind == ScopeKind::Class);
        let mut found = None;
        each_node(self.tree.statements(), |node| {
            let AnyNodeRef::Parameter(parameter) = node else { return };
            if range(&parameter.name) == at {
                found = Some(parameter);
            }
        });
        if let Some(annotation) = found.and_then(|parameter| parameter.annotation.as_deref()) {
            return self.annotated(annotation, depth);
        }
        let Some((id, class)) = class else { return self.passed(at, scope, depth) };
        let first = self.first_parameter(scope)? == at;
        let name = self.index.own(class.parent?, &class.name).and_then(|binding| self.index.binding(binding))?;
        let own = first && name.bodies.contains(&id);
        own.then(|| FilePlace { module: self.module.clone(), range: name.range })
    }

    /// The class of what the file's calls of a function pass as one of its parameters, partitions included.
    fn passed(&self, at: TextRange, scope: ScopeId, depth: u32) -> Option<FilePlace> {
        let function = self.index.scope(scope)?;
        let function = self.index.at(function.range.start).filter(|it| it.range.start == function.range.start)?.binding;
        let all = self.index.places(function).filter(|place| place.access == NameAccess::Read);
        all.map(|place| place.range).find_map(|name| {
            let path = path_at(self.tree, name.start);
            let mut def = None;
            each_node(self.tree.statements(), |node| match node {
                AnyNodeRef::StmtFunctionDef(of) if of.parameters.iter().any(|it| range(it.name()) == at) => {
                    def = Some(of);
                }
                _ => {}
            });
            let mut parameters = def?.parameters.iter_non_variadic_params().enumerate();
            let (number, own) = parameters.find(|(_, it)| range(it.name()) == at)?;
            let own = own.name().as_str();
            let given = path.iter().rev().find_map(|node| match node {
                AnyNodeRef::ExprCall(call) if range(called(call)) == name => {
                    let named = call.arguments.keywords.iter().find(|it| it.arg.as_ref().is_some_and(|it| it == own));
                    named.map(|it| &it.value).or_else(|| call.arguments.args.get(number))
                }
                AnyNodeRef::ExprCall(call) => match call.arguments.args.first()? {
                    // `warp_specialize((a, b), default, [worker, …])`.
                    Expr::Tuple(shared) if !range(shared).contains(name) => shared.elts.get(number),
                    _ => None,
                },
                AnyNodeRef::ExprTuple(pair) => match &pair.elts[..] {
                    [first, Expr::Tuple(arguments)] if range(first) == name => arguments.elts.get(number),
                    _ => None,
                },
                _ => None,
            });
            self.class_within(given?, depth)
        })
    }

    /// Where the first parameter of a function stands.
    fn first_parameter(&self, scope: ScopeId) -> Option<TextRange> {
        let mut all = self.index.mentions().iter().filter(|mention| mention.scope == scope);
        all.find_map(|mention| {
            let binding = self.index.binding(mention.binding)?;
            (binding.kind == BindingKind::Parameter && binding.scope == scope).then_some(binding.range)
        })
    }

    /// The class of a variable or field, by its annotation or by what it is given.
    fn variable(&self, at: TextRange, depth: u32) -> Option<FilePlace> {
        let Some(given) = self.given(at) else { return self.unpacked(at, depth) };
        match given {
            Given::Annotation(annotation) => self.annotated(annotation, depth),
            Given::Value(value) => self.class_within(value, depth),
        }
    }

    /// The class of a variable that a tuple is unpacked to: `a, b = pair`, `a, b = function()`.
    fn unpacked(&self, at: TextRange, depth: u32) -> Option<FilePlace> {
        let mut found = None;
        each_node(self.tree.statements(), |node| {
            let AnyNodeRef::StmtAssign(assign) = node else { return };
            for target in assign.targets.iter().filter_map(Expr::as_tuple_expr) {
                let number = target.elts.iter().position(|it| range(it) == at);
                found = number.map(|number| (number, &*assign.value)).or(found);
            }
        });
        let (number, value) = found?;
        match value {
            Expr::Tuple(values) => self.class_within(values.elts.get(number)?, depth),
            Expr::Call(call) => {
                let Meaning::Place(place) = self.meaning_within(&call.func, depth)? else { return None };
                self.at(&place.module, |looked| {
                    let Some(Defined::Function(def)) = defined_at(looked.tree, place.range) else { return None };
                    let all = returned(def).into_iter().filter_map(Expr::as_tuple_expr);
                    all.filter_map(|tuple| tuple.elts.get(number)).find_map(|it| looked.class_within(it, depth))
                })?
            }
            _ => None,
        }
    }

    /// What a variable or field gets where its name stands at a place.
    pub(super) fn given(&self, at: TextRange) -> Option<Given<'r>> {
        let is = |target: &Expr| match target {
            Expr::Name(name) => range(name) == at,
            Expr::Attribute(attribute) => range(&attribute.attr) == at,
            _ => false,
        };
        let mut found = None;
        each_node(self.tree.statements(), |node| match node {
            AnyNodeRef::StmtAssign(assign) if assign.targets.iter().any(is) => {
                found = Some(Given::Value(&assign.value));
            }
            AnyNodeRef::StmtAnnAssign(assign) if is(&assign.target) => {
                let class = self.annotated(&assign.annotation, 4).is_some();
                found = match &assign.value {
                    Some(value) if !class => Some(Given::Value(value)),
                    _ => Some(Given::Annotation(&assign.annotation)),
                };
            }
            AnyNodeRef::ExprNamed(named) if is(&named.target) => found = Some(Given::Value(&named.value)),
            AnyNodeRef::WithItem(item) if item.optional_vars.as_deref().is_some_and(is) => {
                found = Some(Given::Value(&item.context_expr));
            }
            _ => {}
        });
        found
    }

    /// A field or method of a class, its bases included.
    fn member(&self, class: &FilePlace, name: &str, depth: u32) -> Option<Meaning> {
        let depth = depth.checked_sub(1)?;
        let at = class.range;
        self.at(&class.module, |looked| {
            let Some(Defined::Class(def)) = defined_at(looked.tree, at) else { return None };
            if let Some(range) = own_member(def, name) {
                return Some(Meaning::Place(FilePlace { module: looked.module.clone(), range }));
            }
            def.arguments.iter().flat_map(|arguments| &arguments.args).find_map(|base| {
                match looked.meaning_within(base, depth)? {
                    Meaning::Place(base) => looked.member(&base, name, depth),
                    Meaning::Module(_) => None,
                }
            })
        })?
    }

    /// The same questions in another file.
    pub(super) fn at<R>(&self, module: &Arc<Module>, ask: impl FnOnce(&Looked<'_, 's>) -> R) -> Option<R> {
        let tree = CurrentTree::of(module);
        let index = self.resolver.index(module);
        Some(ask(&Looked { resolver: self.resolver, module, tree: &tree, index: &index }))
    }
}

/// What says of what class a variable is.
pub(super) enum Given<'t> {
    /// `x: Ring`.
    Annotation(&'t Expr),
    /// `x = Ring(…)`.
    Value(&'t Expr),
}

/// Whether a class is defined at a place.
pub(super) fn is_class(place: &FilePlace) -> bool {
    let tree = CurrentTree::of(&place.module);
    matches!(defined_at(&tree, place.range), Some(Defined::Class(_)))
}

/// What the `return`s of a function give, those of inner functions left out.
fn returned(def: &StmtFunctionDef) -> Vec<&Expr> {
    let mut todo: Vec<&Stmt> = def.body.iter().rev().collect();
    let mut found = Vec::new();
    while let Some(statement) = todo.pop() {
        match statement {
            Stmt::Return(of) => found.extend(of.value.as_deref()),
            Stmt::If(of) => {
                todo.extend(of.elif_else_clauses.iter().rev().flat_map(|clause| clause.body.iter().rev()));
                todo.extend(of.body.iter().rev());
            }
            Stmt::For(of) => todo.extend(of.body.iter().rev()),
            Stmt::While(of) => todo.extend(of.body.iter().rev()),
            Stmt::With(of) => todo.extend(of.body.iter().rev()),
            _ => {}
        }
    }
    found
}
