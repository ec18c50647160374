//! What expressions of a file come to, as far as constants and an instance's arguments say; and the constexprs of a
//! kernel.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Number, Operator, Stmt, UnaryOp};

use super::layout_call::layout_of_call;
use super::place::Place;
use crate::Hover;
use crate::layout::{Field, LayoutSpec};
use crate::limits::hover::NUMBERS as DEPTH;
use engine::instances::KernelInstances;
use gluon::{Given, Source, canonical, imported};
use python::syntax::Module;
use python::syntax::range;

/// What gives names their values.
pub(super) struct Scope<'p, 'a> {
    place: &'p Place<'a>,
    /// Statements that assign a name at the top level or in the function around the place.
    assigned: Vec<(&'a str, &'a Expr)>,
}

impl<'p, 'a> Scope<'p, 'a> {
    pub(super) fn of(place: &'p Place<'a>) -> Scope<'p, 'a> {
        let module: &'a Module = place.module;
        let mut found = Assignments { offset: place.offset, found: Vec::new() };
        module.body().iter().for_each(|stmt| found.visit_stmt(stmt));
        Scope { place, assigned: found.found }
    }

    /// The expression that a name is given, where it is given one only.
    pub(super) fn assigned(&self, name: &str) -> Option<&'a Expr> {
        let mut all = self.assigned.iter().filter(|(known, _)| *known == name);
        let (_, first) = all.next()?;
        all.next().is_none().then_some(*first)
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
            Expr::Name(name) => self.name(name.id.as_str(), depth),
            Expr::Attribute(_) => self.full(expr).map(Field::Word),
            Expr::Call(call) => self.call(call, depth),
            _ => None,
        }
    }

    fn list(&self, items: &[Expr], depth: u32) -> Option<Field> {
        items.iter().map(|item| self.at(item, depth)).collect::<Option<Vec<_>>>().map(Field::List)
    }

    fn name(&self, name: &str, depth: u32) -> Option<Field> {
        if let Some(given) = self.given(name) {
            let module = Module::parse("given.py", given, None);
            let Some(Stmt::Expr(only)) = module.body().first() else { return None };
            return self.at(&only.value, depth);
        }
        match self.assigned(name) {
            Some(expr) => self.at(expr, depth),
            None => imported(self.place.module, self.place.sources, name).map(Field::Word),
        }
    }

    /// What the first instance of the kernel around the place gives a parameter.
    fn given(&self, name: &str) -> Option<String> {
        let kernel = kernel_around(self.place)?;
        let spec = &kernel.instances.first()?.instance.spec;
        spec.arguments.iter().find(|argument| argument.name == name).and_then(|argument| match &argument.given {
            Given::Value(text) => Some(text.clone()),
            Given::Type(_) => None,
        })
    }

    fn call(&self, call: &ExprCall, depth: u32) -> Option<Field> {
        let path = self.full(&call.func)?;
        if path == "gl.num_warps" {
            let kernel = kernel_around(self.place)?;
            return Some(Field::Int(kernel.instances.first()?.instance.spec.num_warps.0.into()));
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

/// Assignments to names at the top level and in the functions around an offset.
struct Assignments<'a> {
    offset: u32,
    found: Vec<(&'a str, &'a Expr)>,
}

impl<'a> Visitor<'a> for Assignments<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) if !range(stmt).touches(self.offset) => {}
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    if let Expr::Name(name) = target {
                        self.found.push((name.id.as_str(), &assign.value));
                    }
                }
            }
            Stmt::AnnAssign(assign) => {
                if let (Expr::Name(name), Some(value)) = (&*assign.target, &assign.value) {
                    self.found.push((name.id.as_str(), value));
                }
            }
            // What is changed in place is not what it is given.
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.found.extend([(name.id.as_str(), &*assign.value), (name.id.as_str(), &*assign.value)]);
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

/// The hover of a parameter of the kernel around the place: what the instances give it.
pub(super) fn of_parameter(place: &Place<'_>) -> Option<Hover> {
    let kernel = kernel_around(place)?;
    let name = place.dotted.as_deref().filter(|dotted| !dotted.contains('.'))?;
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
            Source::Command => "the command line",
            Source::Directive => "a directive",
            Source::Cache => "what Triton compiled",
            Source::Launch => "a launch",
            Source::Default => "its default",
            Source::Configuration => "the configuration",
            Source::Chosen => "chosen, since nothing says it",
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
