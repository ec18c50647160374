//! Formulas of `triton.heuristics`: by which conditions on the numbers of a launch an instance is the one that is launched.

use std::sync::Arc;

use base::condition::{Condition, Order, Switch};
use base::{Operation, Quantity};
use gluon::{Given, Spec};
use python::syntax::bodies::spelled;
use python::syntax::{Module, range};
use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprDict, Number, Stmt};

/// The switches of an instance that heuristics compute, as far as their formulas are plain: arithmetic and comparisons of
/// numbers of the launch.
pub(super) fn switches(module: &Module, spec: &Spec) -> Vec<Computed> {
    let functions = module.body().iter().filter_map(Stmt::as_function_def_stmt);
    let Some(def) = functions.into_iter().find(|def| range(*def).start == spec.def) else { return Vec::new() };
    let calls = def.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    let tables = calls.filter(|call| spelled(&call.func).ends_with("heuristics")).filter_map(|call| {
        let values = call.arguments.args.first().or_else(|| Some(&call.arguments.find_keyword("values")?.value));
        table(module, values?)
    });
    let items = tables.flat_map(|table| &table.items);
    let items: Vec<(&str, &Expr)> = items
        .filter_map(|item| Some((item.key.as_ref()?.as_string_literal_expr()?.value.to_str(), &item.value)))
        .collect();
    // Of one that several tables compute the last decorator counts, whatever the others say.
    let once = |name: &str| items.iter().filter(|(other, _)| *other == name).count() == 1;
    items.iter().filter(|(name, _)| once(name)).filter_map(|(name, value)| switch(module, spec, name, value)).collect()
}

/// A switch that a heuristic computes.
pub(super) struct Computed {
    /// The parameter.
    pub(super) name: String,
    /// Whether nothing of its formula is left out: it is no choice beside the numbers of a launch.
    pub(super) whole: bool,
    /// How it hangs on these.
    pub(super) switch: Switch,
}

/// A dict that is written there, or by a name of the file.
fn table<'m>(module: &'m Module, expr: &'m Expr) -> Option<&'m ExprDict> {
    match expr {
        Expr::Dict(table) => Some(table),
        Expr::Name(name) => match bound(module, name.id.as_str())? {
            Stmt::Assign(assign) if matches!(&assign.targets[..], [Expr::Name(_)]) => assign.value.as_dict_expr(),
            _ => None,
        },
        _ => None,
    }
}

/// The only statement of the file that says what a name stands for.
fn bound<'m>(module: &'m Module, name: &str) -> Option<&'m Stmt> {
    module.body().get(module.bindings().only(name)?)
}

fn switch(module: &Module, spec: &Spec, name: &str, value: &Expr) -> Option<Computed> {
    let Given::Value(given) = &spec.arguments.iter().find(|of| of.name == name)?.given else { return None };
    let holds = match given.as_str() {
        "True" => true,
        "False" => false,
        _ => return None,
    };
    let (args, body) = match value {
        Expr::Lambda(lambda) => (lambda.parameters.as_ref()?.iter().next()?.name().as_str(), &*lambda.body),
        Expr::Name(of) => returned(module, of.id.as_str())?,
        _ => return None,
    };
    let mut formula = Formula { args, spec, names: Vec::new(), whole: true };
    let condition = formula.condition(body, holds)?;
    let Formula { names, whole, .. } = formula;
    Some(Computed { name: name.to_owned(), whole, switch: Switch { condition, names, holds } })
}

/// The parameter of a function of the file, and what it gives, where it does nothing else.
fn returned<'m>(module: &'m Module, name: &str) -> Option<(&'m str, &'m Expr)> {
    let def = bound(module, name)?.as_function_def_stmt().filter(|def| def.decorator_list.is_empty())?;
    let [Stmt::Return(given)] = &*def.body else { return None };
    Some((def.parameters.iter().next()?.name().as_str(), given.value.as_deref()?))
}

/// A formula that is being read.
struct Formula<'s> {
    /// What the launch's numbers are called.
    args: &'s str,
    spec: &'s Spec,
    names: Vec<String>,
    whole: bool,
}

impl Formula<'_> {
    /// A condition; of one that holds in all its parts, or in none, those that are plain.
    fn condition(&mut self, expr: &Expr, holds: bool) -> Option<Condition> {
        match expr {
            Expr::BoolOp(of) => {
                let parts = of.values.iter().map(|part| self.condition(part, holds));
                let parts: Vec<Option<Condition>> = parts.collect();
                let enough = (of.op == BoolOp::And) == holds;
                self.whole &= parts.iter().all(Option::is_some);
                let known: Vec<Condition> = match enough {
                    true => parts.into_iter().flatten().collect(),
                    false => parts.into_iter().collect::<Option<_>>()?,
                };
                let made = if of.op == BoolOp::And { Condition::All } else { Condition::Any };
                (!known.is_empty()).then(|| made(known))
            }
            Expr::Compare(of) => {
                let ([op], [right]) = (&*of.ops, &*of.comparators) else { return None };
                let (left, right) = (self.quantity(&of.left)?, self.quantity(right)?);
                Some(match op {
                    CmpOp::Eq => Condition::Compare(Order::Equal, left, right),
                    CmpOp::NotEq => Condition::Compare(Order::Unequal, left, right),
                    CmpOp::Lt => Condition::Compare(Order::Less, left, right),
                    CmpOp::LtE => Condition::Compare(Order::AtMost, left, right),
                    CmpOp::Gt => Condition::Compare(Order::Less, right, left),
                    CmpOp::GtE => Condition::Compare(Order::AtMost, right, left),
                    _ => return None,
                })
            }
            _ => None,
        }
    }

    fn quantity(&mut self, expr: &Expr) -> Option<Quantity> {
        match expr {
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(number) => number.as_i64().map(Quantity::Known),
                _ => None,
            },
            Expr::Subscript(of) => {
                of.value.as_name_expr().filter(|name| name.id.as_str() == self.args)?;
                let name = of.slice.as_string_literal_expr()?.value.to_str();
                match &self.spec.arguments.iter().find(|given| given.name == name)?.given {
                    Given::Value(text) => text.parse().ok().map(Quantity::Known),
                    Given::Type(_) => {
                        let at = self.names.iter().position(|known| known == name).unwrap_or(self.names.len());
                        if at == self.names.len() {
                            self.names.push(name.to_owned());
                        }
                        Some(Quantity::Unknown { id: at as u32, of: None })
                    }
                }
            }
            Expr::BinOp(of) => {
                let op = python::host::operation(of.op)?;
                self.made(op, &of.left, &of.right)
            }
            Expr::Call(call) => {
                let [one, other] = &*call.arguments.args else { return None };
                let name = spelled(&call.func);
                let op = match name.rsplit('.').next()? {
                    "cdiv" => Operation::CeilDiv,
                    "min" => Operation::Min,
                    "max" => Operation::Max,
                    _ => return None,
                };
                self.made(op, one, other)
            }
            _ => None,
        }
    }

    fn made(&mut self, op: Operation, one: &Expr, other: &Expr) -> Option<Quantity> {
        let (one, other) = (self.quantity(one)?, self.quantity(other)?);
        let made = Quantity::Made(op, Arc::new((one, other)));
        // Constants alone are a number.
        Some(made.value(&|_| None).map_or(made, Quantity::Known))
    }
}
