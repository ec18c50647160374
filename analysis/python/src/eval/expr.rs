//! Expressions.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{BoolOp, Comprehension, Expr, ExprBoolOp, ExprCompare, ExprIf, Number, UnaryOp};

use crate::emit::Op;
use crate::interp::{Eval, Interp, Stop};
use crate::syntax::bodies::what;
use crate::syntax::refused;
use crate::value::{DType, FnKind, Function, FunctionNode, Role, Tensor, Value};
use dialects::Arith;

impl<'a> Interp<'a> {
    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &'a Expr) -> Eval<'a> {
        match expr {
            Expr::Name(name) => self.name(name.id.as_str(), expr),
            Expr::NumberLiteral(number) => Ok(match &number.value {
                Number::Int(int) => match int.as_i64().map(i128::from).or_else(|| int.as_u64().map(i128::from)) {
                    Some(int) => Value::Int(int),
                    None => {
                        let text = int.to_string();
                        match text.parse() {
                            Ok(int) => Value::Int(int),
                            Err(_) => Value::Unknown("a number of more than 127 bits".into()),
                        }
                    }
                },
                Number::Float(float) => Value::Float(*float),
                Number::Complex { .. } => Value::Unknown("a complex number".into()),
            }),
            Expr::BooleanLiteral(bool) => Ok(Value::Bool(bool.value)),
            Expr::NoneLiteral(_) => Ok(Value::None),
            Expr::EllipsisLiteral(_) => Ok(Value::Ellipsis),
            Expr::StringLiteral(text) => Ok(Value::Str(text.value.to_str().into())),
            _ => self.nested(|interp| interp.compound(expr)),
        }
    }

    fn compound(&mut self, expr: &'a Expr) -> Eval<'a> {
        if self.in_kernel()
            && let Some(what) = refused::expression(expr)
        {
            return self.at(expr, |interp| interp.raise(format!("a kernel has no {what}")));
        }
        match expr {
            Expr::Attribute(attribute) => {
                let value = self.expr(&attribute.value)?;
                if let Some(found) = self.by_custom(&value, attribute) {
                    return Ok(found);
                }
                self.at(expr, |interp| interp.attribute(&value, attribute.attr.as_str()))
            }
            Expr::Call(call) => self.call_expr(call),
            Expr::BinOp(op) => {
                let (left, right) = (self.expr(&op.left)?, self.expr(&op.right)?);
                self.at(expr, |interp| interp.binary(op.op, &left, &right))
            }
            Expr::UnaryOp(op) => {
                let operand = self.expr(&op.operand)?;
                self.at(expr, |interp| interp.unary(op.op, &operand))
            }
            Expr::BoolOp(op) => self.and_or(op),
            Expr::Compare(compare) => self.comparison(compare),
            Expr::If(choice) => self.choice(choice),
            Expr::Tuple(tuple) => {
                let items = self.elements(&tuple.elts)?;
                Ok(Value::Tuple(items.into()))
            }
            Expr::List(list) => {
                let items = self.elements(&list.elts)?;
                Ok(self.list(items))
            }
            Expr::Set(set) => {
                let mut items = Vec::new();
                for item in self.elements(&set.elts)? {
                    if !items.iter().any(|known| super::host::equal(known, &item)) {
                        items.push(item);
                    }
                }
                Ok(Value::Set(Rc::new(RefCell::new(items))))
            }
            Expr::Dict(dict) => {
                let mut items: Vec<(Value<'a>, Value<'a>)> = Vec::new();
                let mut put = |key: Value<'a>, value| match items.iter_mut().find(|(k, _)| super::host::equal(k, &key))
                {
                    Some(slot) => slot.1 = value,
                    None => items.push((key, value)),
                };
                for item in &dict.items {
                    let value = self.expr(&item.value)?;
                    match &item.key {
                        Some(key) => put(self.expr(key)?, value),
                        None => match &value {
                            Value::Dict(more) => more.borrow().iter().for_each(|(k, v)| put(k.clone(), v.clone())),
                            _ => return self.unknown("what `**` unpacks is not known"),
                        },
                    }
                }
                Ok(Value::Dict(Rc::new(RefCell::new(items))))
            }
            Expr::Subscript(subscript) => {
                let (whole, at) = (self.expr(&subscript.value)?, self.expr(&subscript.slice)?);
                self.at(expr, |interp| interp.item(&whole, &at))
            }
            Expr::Slice(slice) => {
                let mut part = |part: &'a Option<Box<Expr>>| part.as_ref().map_or(Ok(Value::None), |e| self.expr(e));
                let parts = [part(&slice.lower)?, part(&slice.upper)?, part(&slice.step)?];
                Ok(Value::Slice(Rc::new(parts)))
            }
            Expr::Named(named) => {
                let value = self.expr(&named.value)?;
                let value = self.becomes(value);
                self.bind(&named.target, value.clone())?;
                Ok(value)
            }
            Expr::Lambda(lambda) => {
                let mut defaults = Vec::new();
                for parameter in lambda.parameters.iter().flat_map(|all| all.iter_non_variadic_params()) {
                    defaults.push(match &parameter.default {
                        Some(default) => Some(self.expr(default)?),
                        None => None,
                    });
                }
                let scope = self.scope.clone();
                let (def, kind, role) = (FunctionNode::Lambda(lambda), FnKind::Host, Role::Plain);
                Ok(Value::Function(Rc::new(Function { def, kind, scope, defaults, role })))
            }
            Expr::ListComp(comp) => {
                let mut items = Vec::new();
                self.comprehend(&comp.generators, &mut |interp| {
                    items.push(interp.expr(&comp.elt)?);
                    Ok(())
                })?;
                Ok(self.list(items))
            }
            // A generator is run at once.
            Expr::Generator(comp) => {
                let mut items = Vec::new();
                self.comprehend(&comp.generators, &mut |interp| {
                    items.push(interp.expr(&comp.elt)?);
                    Ok(())
                })?;
                Ok(self.list(items))
            }
            Expr::SetComp(comp) => {
                let mut items: Vec<Value<'a>> = Vec::new();
                self.comprehend(&comp.generators, &mut |interp| {
                    let item = interp.expr(&comp.elt)?;
                    if !items.iter().any(|known| super::host::equal(known, &item)) {
                        items.push(item);
                    }
                    Ok(())
                })?;
                Ok(Value::Set(Rc::new(RefCell::new(items))))
            }
            Expr::DictComp(comp) => {
                let mut items: Vec<(Value<'a>, Value<'a>)> = Vec::new();
                self.comprehend(&comp.generators, &mut |interp| {
                    let Some(key) = &comp.key else { return Ok(()) };
                    let (key, value) = (interp.expr(key)?, interp.expr(&comp.value)?);
                    match items.iter_mut().find(|(known, _)| super::host::equal(known, &key)) {
                        Some(slot) => slot.1 = value,
                        None => items.push((key, value)),
                    }
                    Ok(())
                })?;
                Ok(Value::Dict(Rc::new(RefCell::new(items))))
            }
            Expr::FString(text) => self.formatted(text),
            Expr::Starred(starred) => self.expr(&starred.value),
            _ => self.at(expr, |interp| interp.unknown("this kind of expression is not evaluated")),
        }
    }

    /// Evaluates with [`Interp::at`] on an expression.
    pub(super) fn at<T>(&mut self, expr: &'a Expr, inside: impl FnOnce(&mut Interp<'a>) -> T) -> T {
        let outer = (self.at, self.what);
        (self.at, self.what) = (Interp::range(expr), what(expr));
        let result = inside(self);
        (self.at, self.what) = outer;
        result
    }

    /// In the kernel, lists are tuples.
    fn list(&self, items: Vec<Value<'a>>) -> Value<'a> {
        if self.in_kernel() { Value::Tuple(items.into()) } else { Value::List(Rc::new(RefCell::new(items))) }
    }

    fn elements(&mut self, exprs: &'a [Expr]) -> Result<Vec<Value<'a>>, Stop> {
        let mut items = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match expr {
                Expr::Starred(starred) => {
                    let all = self.expr(&starred.value)?;
                    items.extend(self.items(&all)?);
                    self.steps += super::extent::copied(items.len());
                }
                _ => items.push(self.expr(expr)?),
            }
        }
        Ok(items)
    }

    fn name(&mut self, name: &str, expr: &'a Expr) -> Eval<'a> {
        if let Some(value) = self.found(name)? {
            return Ok(value);
        }
        if let Some(value) = self.ambient(name).filter(|_| !(self.in_kernel() && refused::ABSENT.contains(&name))) {
            return Ok(value);
        }
        self.at(expr, |interp| interp.raise(format!("the name `{name}` is not defined")))
    }

    fn comprehend(
        &mut self,
        generators: &'a [Comprehension],
        each: &mut dyn FnMut(&mut Interp<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.in_kernel() {
            // Triton binds the variable as any other.
            return self.generate(generators, each);
        }
        let inner = self.scopes.open(self.scope.file, Some(self.scope.clone()));
        let outer = std::mem::replace(&mut self.scope, inner);
        let result = self.generate(generators, each);
        let inner = std::mem::replace(&mut self.scope, outer);
        self.scopes.close(&inner);
        result
    }

    fn generate(
        &mut self,
        generators: &'a [Comprehension],
        each: &mut dyn FnMut(&mut Interp<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some((first, rest)) = generators.split_first() else { return each(self) };
        let over = self.expr(&first.iter)?;
        if self.in_kernel() && matches!(over, Value::Range(_) | Value::Str(_) | Value::Tensor(_)) {
            return self.at(&first.iter, |interp| interp.raise("a comprehension of a kernel runs through a tuple"));
        }
        'items: for item in self.items(&over)? {
            self.step()?;
            self.bind(&first.target, item)?;
            for condition in &first.ifs {
                let value = self.expr(condition)?;
                match self.truth(&value) {
                    Some(true) => {}
                    Some(false) => continue 'items,
                    None if self.follows_ways() => {}
                    None => return self.unknown("the condition of the comprehension is not known"),
                }
            }
            self.generate(rest, each)?;
        }
        Ok(())
    }

    fn and_or(&mut self, op: &'a ExprBoolOp) -> Eval<'a> {
        let and = op.op == BoolOp::And;
        let mut computed: Vec<Value<'a>> = Vec::new();
        let mut last = Value::None;
        for value in &op.values {
            let value = self.expr(value)?;
            match &value {
                Value::Tensor(_) => computed.push(value),
                _ => {
                    let Some(truth) = self.truth(&value) else {
                        if self.follows_host() && matches!(value, Value::Host(_)) {
                            return Ok(value);
                        }
                        return Ok(unknown_of(&value, "whether this holds is not known"));
                    };
                    if truth != and {
                        // Short circuit; Triton's own forgets what it computed before.
                        return Ok(value);
                    }
                    last = value;
                }
            }
        }
        let mut computed = computed.into_iter().rev();
        let Some(mut result) = computed.next() else { return Ok(last) };
        let outer = (self.at, self.what);
        (self.at, self.what) = (Interp::range(op), if and { "and" } else { "or" });
        for left in computed {
            let joined = self.logical(and, &left, &result);
            match joined {
                Ok(joined) => result = joined,
                Err(stop) => {
                    (self.at, self.what) = outer;
                    return Err(stop);
                }
            }
        }
        (self.at, self.what) = outer;
        Ok(result)
    }

    fn comparison(&mut self, compare: &'a ExprCompare) -> Eval<'a> {
        let mut left = self.expr(&compare.left)?;
        let mut result: Option<Value<'a>> = None;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.expr(right)?;
            let outer = (self.at, self.what);
            (self.at, self.what) = (Interp::range(compare), op.as_str());
            let known = crate::host::compares_rank(*op, &left, &right);
            let value = known.map_or_else(|| self.compare(*op, &left, &right), |holds| Ok(Value::Bool(holds)));
            let joined = value.and_then(|value| match result.take() {
                None => Ok(value),
                Some(earlier @ Value::Tensor(_)) if matches!(value, Value::Tensor(_)) => {
                    self.logical(true, &earlier, &value)
                }
                // A part that is known to hold says nothing.
                Some(earlier) => match self.truth(&value) {
                    Some(true) => Ok(earlier),
                    _ => Ok(value),
                },
            });
            (self.at, self.what) = outer;
            let joined = joined?;
            if !matches!(joined, Value::Tensor(_)) && self.truth(&joined) == Some(false) {
                return Ok(joined);
            }
            result = Some(joined);
            left = right;
        }
        Ok(result.unwrap_or(Value::None))
    }

    fn choice(&mut self, choice: &'a ExprIf) -> Eval<'a> {
        let condition = self.expr(&choice.test)?;
        if let Value::Tensor(condition) = &condition
            && self.in_kernel()
        {
            return self.computed_choice(choice, &condition.clone());
        }
        if self.in_kernel() {
            self.at(&choice.test, |interp| interp.is_condition(&condition))?;
        }
        match self.truth(&condition) {
            Some(true) => self.expr(&choice.body),
            Some(false) => self.expr(&choice.orelse),
            None if self.follows_ways() => match self.decide(&choice.test, true, Some(&condition))? {
                Some(false) => self.expr(&choice.orelse),
                _ => self.expr(&choice.body),
            },
            None => Ok(unknown_of(&condition, "the condition is not known")),
        }
    }

    /// Refuses what Triton takes for no condition.
    pub(super) fn is_condition(&self, value: &Value<'a>) -> Result<(), Stop> {
        match value {
            Value::Float(_)
            | Value::Str(_)
            | Value::Tuple(_)
            | Value::Function(_)
            | Value::Dict(_)
            | Value::DType(_) => {
                self.raise(format!("a condition is a bool, an int or `None`, and this is {}", value.class_name()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a value holds; `None` where that is not known before the kernel runs.
    pub fn truth(&self, value: &Value<'a>) -> Option<bool> {
        Some(match value {
            Value::None => false,
            Value::Bool(bool) => *bool,
            Value::Int(int) => *int != 0,
            Value::Float(float) => *float != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
            Value::List(items) | Value::Set(items) => !items.borrow().is_empty(),
            Value::Dict(items) => !items.borrow().is_empty(),
            Value::Range(range) => {
                let (Value::Int(start), Value::Int(stop), Value::Int(step)) = (&range.start, &range.stop, &range.step)
                else {
                    return None;
                };
                if *step > 0 { start < stop } else { stop < start }
            }
            Value::Host(thing) => return crate::host::truth(thing),
            Value::Tensor(_) | Value::Unknown(_) | Value::Lib(_) => return None,
            value => value.member_number().is_none_or(|number| self.truth(&number) != Some(false)),
        })
    }

    /// An operator with one operand.
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Value<'a>) -> Eval<'a> {
        if let Value::Unknown(_) = operand {
            return Ok(operand.clone());
        }
        match (op, operand) {
            (UnaryOp::Not, Value::Tensor(tensor)) => self.not(&tensor.clone()),
            (UnaryOp::Not, _) => {
                match self.truth(operand) {
                    Some(truth) => Ok(Value::Bool(!truth)),
                    None if self.follows_host() => Ok(crate::host::negated(operand)
                        .unwrap_or_else(|| crate::host::number(crate::host::OpenNumber::Bool))),
                    None => Ok(Value::Unknown("whether this holds is not known".into())),
                }
            }
            (UnaryOp::UAdd, Value::Tensor(_)) => self.raise("a tensor has no unary `+`"),
            (UnaryOp::UAdd, _) => Ok(operand.clone()),
            (UnaryOp::USub | UnaryOp::Invert, Value::Tensor(Tensor { dtype: DType::Ptr(_), .. })) => {
                self.raise(format!("a pointer has no unary `{}`", op.as_str()))
            }
            (UnaryOp::USub, Value::Int(int)) => Ok(Value::Int(int.wrapping_neg())),
            (UnaryOp::USub, Value::Bool(bool)) => Ok(Value::Int(-i128::from(*bool))),
            (UnaryOp::USub, Value::Float(float)) => Ok(Value::Float(-float)),
            (UnaryOp::Invert, Value::Int(int)) => Ok(Value::Int(!int)),
            (UnaryOp::Invert, Value::Bool(bool)) => Ok(Value::Int(!i128::from(*bool))),
            (UnaryOp::USub, Value::Tensor(tensor)) if tensor.dtype.is_int() => {
                let zero = Value::Int(0);
                self.arithmetic(ruff_python_ast::Operator::Sub, &zero, operand)
            }
            (UnaryOp::USub, Value::Tensor(tensor)) if tensor.dtype.is_float() => {
                let value = self.ssa(tensor);
                let extent = (tensor.shape.clone(), tensor.layout.clone());
                let op = Op::new(Arith::Negf).operand("operand", value);
                Ok(Value::Tensor(self.register_op(op, "result", tensor.dtype, &extent)))
            }
            (UnaryOp::Invert, Value::Tensor(tensor)) => {
                let ones = if tensor.dtype == DType::Int1 { Value::Bool(true) } else { Value::Int(-1) };
                self.arithmetic(ruff_python_ast::Operator::BitXor, operand, &ones)
            }
            (op, Value::Instance(_)) => {
                let name = match op {
                    UnaryOp::USub => "__neg__",
                    UnaryOp::Invert => "__invert__",
                    _ => "__pos__",
                };
                let method = self.attribute(operand, name)?;
                self.call(&method, Default::default(), self.at)
            }
            (_, Value::Host(_)) if crate::host::is_unknown(operand) => Ok(operand.clone()),
            _ => self.unknown(format!("`{}` of {} is not followed", op.as_str(), operand.class_name())),
        }
    }
}

/// Unknown for the reason that a value is, or for another.
pub(super) fn unknown_of<'a>(value: &Value<'a>, other: &str) -> Value<'a> {
    match value {
        Value::Unknown(reason) => Value::Unknown(reason.clone()),
        _ => Value::Unknown(other.into()),
    }
}
