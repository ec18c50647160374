//! What expressions of a file come to, as far as constants and an instance's arguments say; and the constexprs of a
//! kernel.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{AnyNodeRef, Expr, ExprAttribute, ExprCall, ExprName, Number, Operator, Stmt, UnaryOp};

use super::super::name_values::{Spot, of_variable};
use super::super::names::{BindingId, BindingKind, NameIndex, ScopeId, ScopeKind};
use super::layout_call::layout_of_call;
use super::place::{Place, source};
use crate::Hover;
use crate::limits::hover::NUMBERS as DEPTH;
use engine::instances::{ElaboratedInstance, KernelInstances};
use gluon::{Given, ValueSource, canonical};
use python::syntax::{CurrentTree, Module, each_node, range};
use specialize::imported;
use ttgir::Ty;
use ttgir::layout::{Field, LayoutSpec};

/// What gives names their values.
pub(super) struct Scope<'p, 'a> {
    place: &'p Place<'a>,
    index: NameIndex,
    /// What single statements assign, by the name that they bind.
    assigned: Vec<(BindingId, &'a Expr)>,
    /// The instance whose arguments count.
    instance: Option<&'a ElaboratedInstance>,
}

impl<'p, 'a> Scope<'p, 'a> {
    pub(super) fn of(place: &'p Place<'a>) -> Scope<'p, 'a> {
        let module: &'a Module = place.module;
        let index = NameIndex::of(&CurrentTree::of(module));
        let mut found = Assignments { index: &index, found: Vec::new() };
        module.body().iter().for_each(|stmt| found.visit_stmt(stmt));
        let assigned = found.found;
        Scope { place, index, assigned, instance: instances(place).first().copied() }
    }

    /// The instances whose arguments count: those of the kernel around the place; of a helper, those of all kernels.
    pub(super) fn instances(&self) -> Vec<&'a ElaboratedInstance> {
        instances(self.place)
    }

    /// The same with the arguments of one instance.
    pub(super) fn with(self, instance: &'a ElaboratedInstance) -> Scope<'p, 'a> {
        Scope { instance: Some(instance), ..self }
    }

    /// The expression that the name at a place is given, where it is given one only.
    pub(super) fn assigned_at(&self, offset: u32) -> Option<&'a Expr> {
        self.assigned(self.index.at(offset)?.binding)
    }

    fn assigned(&self, binding: BindingId) -> Option<&'a Expr> {
        // A parameter has what a call gives it too.
        self.index.binding(binding).filter(|binding| binding.kind == BindingKind::Variable)?;
        let mut all = self.assigned.iter().filter(|(known, _)| *known == binding);
        let (_, first) = all.next()?;
        all.next().is_none().then_some(*first)
    }

    /// `: gl.constexpr`, where the statement that assigns an expression says so.
    pub(super) fn annotation(&self, assigned: &Expr) -> String {
        let mut found = String::new();
        each_node(self.place.module.body().iter(), |node| {
            if let AnyNodeRef::StmtAnnAssign(assign) = node
                && assign.value.as_deref().is_some_and(|value| range(value) == range(assigned))
            {
                let annotation = source(self.place.module, &*assign.annotation);
                if annotation.ends_with("constexpr") {
                    found = format!(": {annotation}");
                }
            }
        });
        found
    }

    /// `: gl.constexpr`, where the parameter at a place says so.
    pub(super) fn annotation_at(&self, offset: u32) -> String {
        let binding = self.index.at(offset).and_then(|mention| self.index.binding(mention.binding));
        let Some(binding) = binding.filter(|binding| binding.kind == BindingKind::Parameter) else {
            return String::new();
        };
        let mut found = String::new();
        each_node(self.place.module.body().iter(), |node| {
            if let AnyNodeRef::Parameter(parameter) = node
                && range(&parameter.name) == binding.range
                && let Some(annotation) = &parameter.annotation
            {
                let annotation = source(self.place.module, &**annotation);
                if annotation.ends_with("constexpr") {
                    found = format!(": {annotation}");
                }
            }
        });
        found
    }

    /// What an expression comes to.
    pub(super) fn field(&self, expr: &Expr) -> Option<Field> {
        self.at(expr, DEPTH)
    }

    fn at(&self, expr: &Expr, depth: u32) -> Option<Field> {
        let depth = depth.checked_sub(1)?;
        match expr {
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(number) => number.as_i64().map(Field::Int),
                _ => None,
            },
            Expr::BooleanLiteral(truth) => Some(Field::Int(truth.value.into())),
            Expr::List(list) => self.list(&list.elts, depth),
            Expr::Tuple(tuple) => self.list(&tuple.elts, depth),
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => match self.at(&unary.operand, depth)? {
                Field::Int(number) => number.checked_neg().map(Field::Int),
                _ => None,
            },
            Expr::BinOp(binary) => match (self.at(&binary.left, depth)?, self.at(&binary.right, depth)?) {
                (Field::Int(a), Field::Int(b)) => computed(binary.op, a, b).map(Field::Int),
                (Field::List(a), Field::List(b)) if binary.op == Operator::Add => {
                    Some(Field::List(a.into_iter().chain(b).collect()))
                }
                _ => None,
            },
            Expr::Subscript(item) => match (self.at(&item.value, depth)?, self.at(&item.slice, depth)?) {
                (Field::List(items), Field::Int(at)) => {
                    let at = if at < 0 { at.checked_add(items.len() as i64)? } else { at };
                    items.get(usize::try_from(at).ok()?).cloned()
                }
                _ => None,
            },
            Expr::Name(name) => self.name(name, depth),
            Expr::Attribute(field) if matches!(field.attr.as_str(), "shape" | "block_shape") => self.shape(field),
            Expr::Attribute(_) => self.full(expr).map(Field::Word),
            Expr::Call(call) => self.call(call, depth),
            _ => None,
        }
    }

    fn list(&self, items: &[Expr], depth: u32) -> Option<Field> {
        items.iter().map(|item| self.at(item, depth)).collect::<Option<Vec<_>>>().map(Field::List)
    }

    fn name(&self, name: &ExprName, depth: u32) -> Option<Field> {
        let word = name.id.as_str();
        // A name of an argument's own text stands nowhere in the file.
        let here = self.place.module.source().get(range(name).start as usize..range(name).end as usize) == Some(word);
        let mention = self.index.at(range(name).start).filter(|_| here);
        let Some(mention) = mention else {
            return imported(self.place.module, self.place.sources, word).map(Field::Word);
        };
        if let Some(given) = self.given(mention.binding) {
            let module = Module::parse("given.py", given, None);
            let Some(Stmt::Expr(only)) = module.body().first() else { return None };
            return self.at(&only.value, depth);
        }
        match self.assigned(mention.binding) {
            Some(expr) => self.at(expr, depth),
            None => match self.index.binding(mention.binding)?.kind {
                BindingKind::Import { .. } | BindingKind::Unbound => {
                    imported(self.place.module, self.place.sources, word).map(Field::Word)
                }
                BindingKind::Parameter => self.handed(mention.binding, depth),
                _ => None,
            },
        }
    }

    /// What the instance gives a parameter of its kernel.
    fn given(&self, binding: BindingId) -> Option<String> {
        let instance = self.instance?;
        let (kernel, name) = parameter(self.place, &self.index, binding)?;
        kernel.instances.iter().find(|known| std::ptr::eq(&***known, instance))?;
        let arguments = &instance.instance.spec.arguments;
        arguments.iter().find(|argument| argument.name == name).and_then(|argument| match &argument.given {
            Given::Value(text) => Some(text.clone()),
            Given::Type(_) => None,
        })
    }

    /// What the calls of a helper in the file give one of its parameters, where all give the same.
    fn handed(&self, binding: BindingId, depth: u32) -> Option<Field> {
        let arguments = arguments_of(self.place.module, &self.index, binding);
        let mut values = arguments.into_iter().map(|argument| self.at(argument, depth));
        let first = values.next()??;
        values.all(|value| value.as_ref() == Some(&first)).then_some(first)
    }

    /// What the parameter of a helper at a place is given in the instance.
    pub(super) fn parameter_at(&self, offset: u32) -> Option<Field> {
        self.handed(self.index.at(offset)?.binding, DEPTH)
    }

    /// The shape of the memory, or of the blocks of the descriptor, that a name stands for.
    fn shape(&self, field: &ExprAttribute) -> Option<Field> {
        let (of, blocks) = match (field.attr.as_str(), &*field.value) {
            ("shape", Expr::Attribute(ty)) if ty.attr.as_str() == "type" => (&*ty.value, false),
            ("shape", Expr::Attribute(ty)) if ty.attr.as_str() == "block_type" => (&*ty.value, true),
            ("shape", of) => (of, false),
            ("block_shape", of) => (of, true),
            _ => return None,
        };
        let (elaborated, tree) = (self.instance?, self.instance?.tree()?);
        let Spot::Variable(variable) = Spot::at(self.place.of?, range(of.as_name_expr()?).start) else { return None };
        let values = of_variable(elaborated, &variable);
        let mut shapes = values.iter().map(|(_, value)| match tree.ty(tree.value_type(*value)?) {
            Ty::MemDesc { shape, .. } if !blocks => Some(shape.clone()),
            Ty::TensorDesc { shape, .. } if blocks => Some(shape.clone()),
            _ => None,
        });
        let first = shapes.next()??;
        shapes.all(|shape| shape.as_ref() == Some(&first)).then_some(())?;
        Some(Field::List(first.into_iter().map(Field::Int).collect()))
    }

    fn call(&self, call: &ExprCall, depth: u32) -> Option<Field> {
        let path = self.full(&call.func)?;
        if path == "gl.num_warps" {
            return Some(Field::Int(self.instance?.instance.spec.num_warps.0.into()));
        }
        if path.ends_with(".constexpr") {
            return self.at(call.arguments.args.first()?, depth);
        }
        let spec: LayoutSpec = layout_of_call(&path, call, &|expr| self.at(expr, depth))?;
        Some(Field::Layout(Box::new(spec)))
    }

    /// The full name of an expression of names and dots.
    pub(super) fn full(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => imported(self.place.module, self.place.sources, name.id.as_str()),
            Expr::Attribute(attribute) => {
                let of = self.full(&attribute.value)?;
                Some(canonical(&format!("{of}.{}", attribute.attr)).into_owned())
            }
            _ => None,
        }
    }
}

fn computed(op: Operator, a: i64, b: i64) -> Option<i64> {
    match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mult => a.checked_mul(b),
        Operator::FloorDiv if b > 0 => a.checked_div_euclid(b),
        Operator::Mod if b > 0 => a.checked_rem_euclid(b),
        Operator::Pow => a.checked_pow(u32::try_from(b).ok()?),
        Operator::LShift => a.checked_mul(1i64.checked_shl(u32::try_from(b).ok().filter(|by| *by < 63)?)?),
        _ => None,
    }
}

fn kernel_around<'a>(place: &Place<'a>) -> Option<&'a KernelInstances> {
    place.of?.kernels.iter().find(|kernel| kernel.entry.range.touches(place.offset))
}

fn instances<'a>(place: &Place<'a>) -> Vec<&'a ElaboratedInstance> {
    let Some(of) = place.of else { return Vec::new() };
    let own = kernel_around(place);
    let kernels = of.kernels.iter().filter(|kernel| own.is_none_or(|own| std::ptr::eq(own, *kernel)));
    kernels.flat_map(|kernel| &kernel.instances).map(|known| &**known).collect()
}

/// The kernel that a binding is a parameter of, and its name.
fn parameter<'a, 'i>(
    place: &Place<'a>,
    index: &'i NameIndex,
    binding: BindingId,
) -> Option<(&'a KernelInstances, &'i str)> {
    let binding = index.binding(binding).filter(|binding| binding.kind == BindingKind::Parameter)?;
    let scope = index.scope(binding.scope).filter(|scope| scope.kind == ScopeKind::Function)?;
    let is = |kernel: &&KernelInstances| {
        scope.name == kernel.entry.word() && kernel.entry.range.contains(place.module.place(scope.range).0)
    };
    Some((place.of?.kernels.iter().find(is)?, binding.name.as_str()))
}

/// What the calls in a file give a parameter of one of its functions; partitions are called by `warp_specialize`.
fn arguments_of<'a>(module: &'a Module, index: &NameIndex, binding: BindingId) -> Vec<&'a Expr> {
    let Some(param) = index.binding(binding).filter(|binding| binding.kind == BindingKind::Parameter) else {
        return Vec::new();
    };
    let Some(scope) = index.scope(param.scope).filter(|scope| scope.parent == Some(ScopeId::MODULE)) else {
        return Vec::new();
    };
    let is_called = |expr: &Expr| expr.as_name_expr().is_some_and(|name| name.id.as_str() == scope.name);
    let mut position = None;
    each_node(module.body().iter(), |node| {
        if let AnyNodeRef::StmtFunctionDef(def) = node
            && range(def).end == scope.range.end
        {
            let mut params = def.parameters.iter_non_variadic_params();
            position = position.or(params.position(|other| other.name().as_str() == param.name));
        }
    });
    let Some(at) = position else { return Vec::new() };
    let mut found: Vec<&'a Expr> = Vec::new();
    each_node(module.body().iter(), |node| match node {
        AnyNodeRef::ExprCall(call) if is_called(&call.func) => {
            found.extend(call.arguments.find_argument_value(&param.name, at));
        }
        AnyNodeRef::ExprTuple(pair) => {
            if let [function, Expr::Tuple(given)] = &pair.elts[..]
                && is_called(function)
            {
                found.extend(given.elts.get(at));
            }
        }
        _ => {}
    });
    found
}

/// Assignments to names.
struct Assignments<'i, 'a> {
    index: &'i NameIndex,
    found: Vec<(BindingId, &'a Expr)>,
}

impl<'a> Assignments<'_, 'a> {
    fn add(&mut self, target: &Expr, values: &[&'a Expr]) {
        if let Expr::Name(name) = target
            && let Some(mention) = self.index.at(range(name).start)
        {
            self.found.extend(values.iter().map(|value| (mention.binding, *value)));
        }
    }
}

impl<'a> Visitor<'a> for Assignments<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.add(target, &[&assign.value])),
            Stmt::AnnAssign(assign) => {
                self.add(&assign.target, assign.value.as_deref().as_slice());
            }
            // What is changed in place, or by a loop, is not what it is given.
            Stmt::AugAssign(assign) => self.add(&assign.target, &[&assign.value, &assign.value]),
            Stmt::For(each) => {
                self.add(&each.target, &[&each.iter, &each.iter]);
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

/// The hover of a parameter of the kernel around the place: what the instances give it.
pub(super) fn of_parameter(place: &Place<'_>) -> Option<Hover> {
    let index = NameIndex::of(&CurrentTree::of(place.module));
    let (kernel, name) = parameter(place, &index, index.at(place.offset)?.binding)?;
    let param = kernel.entry.params.iter().find(|param| param.name == name)?;
    let mut said: Vec<String> = Vec::new();
    for known in &kernel.instances {
        let Some(argument) = known.instance.spec.arguments.iter().find(|argument| argument.name == name) else {
            continue;
        };
        let text = match &argument.given {
            Given::Value(text) | Given::Type(text) => text,
        };
        let source = match argument.source {
            ValueSource::Command => "the command line",
            ValueSource::Directive => "a directive",
            ValueSource::Cache => "what Triton compiled",
            ValueSource::Launch => "a launch",
            ValueSource::Default => "its default",
            ValueSource::Configuration => "the configuration",
            ValueSource::Chosen => "chosen, since nothing says it",
        };
        let row = format!("`{text}`, by {source}").replace("by chosen", "chosen");
        if !said.contains(&row) {
            said.push(row);
        }
    }
    let annotation = param.annotation.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    let default = param.default.as_ref().map_or_else(String::new, |text| format!(" = {text}"));
    let words = said.into_iter().take(8).map(|said| format!("Analysed with {said}.")).collect();
    Some(Hover { range: place.word, title: format!("{name}{annotation}{default}"), words, ..Hover::default() })
}
