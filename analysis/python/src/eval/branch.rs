//! Branches on what the kernel computes.

use std::rc::Rc;

use ruff_python_ast::{ElifElseClause, Expr, ExprIf, Stmt};

use super::flat::{BLOCK_POINTER, alike, anywhere, computed, content_free, leaves, rebuild, same, with_ssa};
use super::registers::opaque;
use super::types::{clash, constants_clash};
use super::{Flow, Rest};
use crate::doubt::DoubtKind;
use crate::emit::{Op, Region, Ssa, Type};
use crate::interp::{Eval, Interp, Stop};
use crate::syntax::names::{assigned, returns};
use crate::value::{ClassKind, DType, Tensor, Value};
use base::TextRange;
use dialects::Scf;

/// What becomes of a leaf behind a branch.
enum Slot<'a> {
    Keep(Value<'a>),
    /// The result with this number.
    Result(usize),
}

/// What two values become where their ways meet.
struct Meeting<'a> {
    like: Value<'a>,
    slots: Vec<Slot<'a>>,
}

/// One way, run.
struct Way<'a> {
    code: Region,
    yields: Vec<Value<'a>>,
}

impl<'a> Interp<'a> {
    /// Emits into a region of its own.
    pub fn region<T>(&mut self, inside: impl FnOnce(&mut Interp<'a>) -> Result<T, Stop>) -> Result<(T, Region), Stop> {
        self.builder.open();
        let result = inside(self);
        let code = self.builder.close();
        result.map(|result| (result, code))
    }

    /// `if` on a computed condition.
    pub(super) fn computed_if(
        &mut self,
        test: &'a Expr,
        condition: &Tensor<'a>,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> Result<Flow<'a>, Stop> {
        let outer = (self.at, self.what);
        (self.at, self.what) = (TextRange::new(self.at.start, Interp::range(test).end), "if");
        let flow = if !condition.shape.is_empty() {
            self.raise("a condition is one value, and this is a tensor")
        } else if returns(body) || clauses.iter().any(|clause| returns(&clause.body)) {
            self.branch_and_return(condition, body, clauses)
        } else {
            self.branch(condition, body, clauses)
        };
        (self.at, self.what) = outer;
        flow
    }

    fn branch(
        &mut self,
        condition: &Tensor<'a>,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> Result<Flow<'a>, Stop> {
        let condition = self.scalar(&Value::Tensor(condition.clone()), DType::Int1)?;
        let before = self.scope.snapshot();
        self.state.closed += 1;
        let yes = self.region(|interp| interp.block(body));
        let then = self.scope.replace(before.clone());
        let no = yes.and_then(|yes| Ok((yes, self.region(|interp| interp.otherwise(clauses))?)));
        self.state.closed -= 1;
        let ((_, yes), (_, no)) = no?;
        let otherwise = self.scope.replace(before.clone());

        let (mut ways, mut met) = ((Vec::new(), Vec::new()), Vec::new());
        for (name, a) in then.iter() {
            let Some(b) = otherwise.get(name) else { continue };
            let old = before.get(name);
            if let (Value::Tensor(a), Value::Tensor(b)) = (a, b)
                && a.dtype.is_float() != b.dtype.is_float()
            {
                // Triton wants one type: an integer that grew by what a table holds grew by an integer.
                let other = clauses.iter().rev().find_map(|clause| assigned(&clause.body, name));
                let own = assigned(body, name);
                let (floats, integers) = if a.dtype.is_float() { (own, other) } else { (other, own) };
                if let Some(value) = floats.or(integers) {
                    let outer = std::mem::replace(&mut self.at, Interp::range(value));
                    self.doubt(DoubtKind::TwoTypes);
                    self.at = outer;
                }
            }
            self.keeps_type(name, old, a, b)?;
            let kept = |old: &Value<'a>| unchanged(old, a) && unchanged(old, b) || stays(old, a, b);
            // A constexpr of a way is none behind it.
            if old.map_or_else(|| constant(a) || constant(b), kept) {
                continue;
            }
            let meeting = self.meet(a, b, &mut ways);
            met.push((name.clone(), meeting));
        }
        let (yes, no) = (Way { code: yes, yields: ways.0 }, Way { code: no, yields: ways.1 });
        let results = self.if_op(condition, yes, no)?;
        for (name, meeting) in met {
            let value = self.met(&meeting, &results);
            self.name_values(&name, &value);
            self.scope.set(&name, value);
        }
        Ok(Flow::Next)
    }

    /// Refuses a variable that is of another type behind one way than before the branch, or than behind the other way.
    fn keeps_type(&self, name: &str, old: Option<&Value<'a>>, a: &Value<'a>, b: &Value<'a>) -> Result<(), Stop> {
        if old.is_none() && (constant(a) || constant(b)) {
            return Ok(());
        }
        match old {
            Some(old) if constant(old) => {
                if !unchanged(old, a) && computed(a) || !unchanged(old, b) && computed(b) {
                    return self.raise(format!("`{name}` is a constexpr, and a branch assigns to it"));
                }
                Ok(())
            }
            Some(old) if !matches!(old, Value::None) => {
                match [a, b].into_iter().find_map(|now| clash(old, now).or_else(|| constants_clash(old, now))) {
                    Some((was, now)) => {
                        self.refuse(format!("`{name}` is {was} before the branch, and one way makes it {now}"))
                    }
                    None => Ok(()),
                }
            }
            _ if old.is_some() && [a, b].into_iter().any(|now| matches!(now, Value::None)) => Ok(()),
            _ => match clash(a, b) {
                Some((one, other)) => self.refuse(format!("one way makes `{name}` {one}, the other {other}")),
                None => Ok(()),
            },
        }
    }

    /// What comes behind the branch belongs to the ways that do not return.
    fn branch_and_return(
        &mut self,
        condition: &Tensor<'a>,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> Result<Flow<'a>, Stop> {
        if self.state.closed > 0 {
            return self.raise("a kernel cannot `return` out of a loop");
        }
        if self.state.unrolled > 0 {
            self.unmodelled("a computed `return` out of an unrolled loop is not followed");
            return Ok(Flow::Return(Value::Unknown("whether the function has returned is not known".into())));
        }
        let condition = self.scalar(&Value::Tensor(condition.clone()), DType::Int1)?;
        let before = self.scope.snapshot();
        let rest = self.state.rest.clone();
        let way = |interp: &mut Interp<'a>, first: &mut dyn FnMut(&mut Interp<'a>) -> Result<Flow<'a>, Stop>| {
            interp.scope.replace(before.clone());
            interp.state.rest.clone_from(&rest);
            interp.region(|interp| match first(interp)? {
                Flow::Return(value) => Ok(value),
                _ => interp.run_on(rest.clone()),
            })
        };
        let (yes, then) = way(self, &mut |interp| interp.block(body))?;
        let (no, otherwise) = way(self, &mut |interp| interp.otherwise(clauses))?;
        self.state.rest = rest;
        let mut ways = (Vec::new(), Vec::new());
        if let Some((one, other)) = self.number_clash(&yes, &no) {
            self.refuse(format!("one way returns {one}, the other {other}"))?;
        }
        let meeting = self.meet(&yes, &no, &mut ways);
        let (yes, no) = (Way { code: then, yields: ways.0 }, Way { code: otherwise, yields: ways.1 });
        let results = self.if_op(condition, yes, no)?;
        Ok(Flow::Return(self.met(&meeting, &results)))
    }

    /// Runs what is left of a function.
    fn run_on(&mut self, mut rest: Option<Rc<Rest<'a>>>) -> Eval<'a> {
        while let Some(part) = rest {
            let Rest::Block(stmts, outer) = &*part;
            self.state.rest.clone_from(outer);
            if let Flow::Return(value) = self.block(stmts)? {
                return Ok(value);
            }
            rest = outer.clone();
        }
        Ok(Value::None)
    }

    /// `a if condition else b` on a computed condition.
    pub(super) fn computed_choice(&mut self, choice: &'a ExprIf, condition: &Tensor<'a>) -> Eval<'a> {
        let outer = (self.at, self.what);
        (self.at, self.what) = (Interp::range(choice), "if");
        let result = self.choose(choice, condition);
        (self.at, self.what) = outer;
        result
    }

    fn choose(&mut self, choice: &'a ExprIf, condition: &Tensor<'a>) -> Eval<'a> {
        let condition = self.scalar(&Value::Tensor(condition.clone()), DType::Int1)?;
        let (a, yes) = self.region(|interp| interp.expr(&choice.body))?;
        let (b, no) = self.region(|interp| interp.expr(&choice.orelse))?;
        if [&a, &b].into_iter().any(|value| !chosen(value)) {
            return self.raise("a choice on a computed condition is one of numbers and tensors");
        }
        if let Some((one, other)) = self.number_clash(&a, &b) {
            self.refuse(format!("one way gives {one}, the other {other}"))?;
        }
        let mut ways = (Vec::new(), Vec::new());
        let meeting = self.meet(&a, &b, &mut ways);
        let (yes, no) = (Way { code: yes, yields: ways.0 }, Way { code: no, yields: ways.1 });
        let results = self.if_op(condition, yes, no)?;
        Ok(self.met(&meeting, &results))
    }

    /// How numbers and tensors differ in their types, where numbers of Python are scalars.
    fn number_clash(&self, a: &Value<'a>, b: &Value<'a>) -> Option<(String, String)> {
        if let (Value::Tuple(a), Value::Tuple(b)) = (a, b)
            && a.len() == b.len()
        {
            return a.iter().zip(b.iter()).find_map(|(a, b)| self.number_clash(a, b));
        }
        let scalar = |value: &Value<'a>| match value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                self.number_type(value).ok().map(|dtype| Value::Tensor(super::registers::known(0, dtype)))
            }
            Value::Tensor(_) => Some(value.clone()),
            _ => None,
        };
        clash(&scalar(a)?, &scalar(b)?)
    }

    fn meet(&mut self, a: &Value<'a>, b: &Value<'a>, ways: &mut (Vec<Value<'a>>, Vec<Value<'a>>)) -> Meeting<'a> {
        if !alike(a, b) {
            let reason = [a, b].into_iter().find_map(|value| match value {
                Value::Unknown(reason) => Some(reason.clone()),
                _ => None,
            });
            let reason = reason.unwrap_or_else(|| "it is not of one kind behind the branch".into());
            return Meeting { like: Value::None, slots: vec![Slot::Keep(Value::Unknown(reason))] };
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        leaves(a, &mut left);
        leaves(b, &mut right);
        let mut slots = Vec::with_capacity(left.len());
        for (a, b) in left.into_iter().zip(right) {
            slots.push(self.meet_leaf(a, b, ways));
        }
        Meeting { like: a.clone(), slots }
    }

    fn meet_leaf(&mut self, a: Value<'a>, b: Value<'a>, ways: &mut (Vec<Value<'a>>, Vec<Value<'a>>)) -> Slot<'a> {
        if same(&a, &b) || (content_free(&a) && content_free(&b)) {
            return Slot::Keep(anywhere(a));
        }
        let number = |value: &Value<'a>| match value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
            Value::Tensor(tensor) => tensor.shape.is_empty(),
            _ => false,
        };
        let (a, b) = match (&a, &b) {
            (Value::Unknown(_), _) => return Slot::Keep(a),
            (_, Value::Unknown(_)) => return Slot::Keep(b),
            (Value::MemDesc(_), Value::MemDesc(_)) | (Value::TensorDesc(_), Value::TensorDesc(_)) => (a, b),
            (Value::Tensor(x), Value::Tensor(y)) if !x.shape.is_empty() && x.shape == y.shape => (a, b),
            _ if number(&a) && number(&b) => {
                let plain = !matches!(a, Value::Tensor(_));
                let Ok(dtype) = self.number_type(if plain { &b } else { &a }) else {
                    return Slot::Keep(Value::Unknown("a number that does not fit".into()));
                };
                // Casts of what the regions compute would have to stand in them.
                match (self.as_leaf(&a, dtype), self.as_leaf(&b, dtype)) {
                    (Some(a), Some(b)) if same(&a, &b) => return Slot::Keep(anywhere(a)),
                    (Some(a), Some(b)) => (a, b),
                    _ if dtype.is_float() => {
                        return Slot::Keep(Value::Tensor(opaque(dtype, &Rc::from([]), &Rc::new(Value::None))));
                    }
                    _ => return Slot::Keep(Value::Unknown("its type differs behind the branch".into())),
                }
            }
            _ => return Slot::Keep(Value::Unknown("it differs behind the branch".into())),
        };
        ways.0.push(a);
        ways.1.push(b);
        Slot::Result(ways.0.len() - 1)
    }

    /// A number as a scalar of this type, where that needs no op.
    fn as_leaf(&mut self, value: &Value<'a>, dtype: DType) -> Option<Value<'a>> {
        match value {
            Value::Tensor(tensor) if tensor.dtype == dtype => Some(value.clone()),
            Value::Tensor(Tensor { constant: None, .. }) => None,
            _ => self.scalar_tensor(value, dtype).ok().map(Value::Tensor),
        }
    }

    fn met(&mut self, meeting: &Meeting<'a>, results: &[(Value<'a>, Ssa)]) -> Value<'a> {
        let mut slots = meeting.slots.iter();
        let mut next = || match slots.next() {
            Some(Slot::Keep(value)) => value.clone(),
            Some(Slot::Result(at)) => match results.get(*at) {
                Some((like, ssa)) => with_ssa(like, *ssa),
                None => Value::None,
            },
            None => Value::None,
        };
        rebuild(&meeting.like, &mut next)
    }

    /// `scf.if`; gives a result for each pair of values that the ways yield.
    fn if_op(&mut self, condition: Ssa, yes: Way<'a>, no: Way<'a>) -> Result<Vec<(Value<'a>, Ssa)>, Stop> {
        let like = yes.yields.clone();
        if yes.code.is_empty() && no.code.is_empty() && like.is_empty() {
            return Ok(Vec::new());
        }
        let (yes, types) = self.yielding(yes, None)?;
        let (no, _) = self.yielding(no, Some(&types))?;
        let mut op = Op::new(Scf::If).operand("condition", condition).region(yes);
        if !types.is_empty() || !no.is_empty() {
            op = op.region(no);
        }
        let results = self.emit(op.results("results", types))?;
        Ok(like.into_iter().zip(results).collect())
    }

    fn yielding(&mut self, way: Way<'a>, types: Option<&[Type]>) -> Result<(Region, Vec<Type>), Stop> {
        let (types, region) = self.region(|interp| {
            interp.builder.append(way.code);
            let mut values: Vec<Ssa> = way.yields.iter().filter_map(|value| interp.leaf_ssa(value)).collect();
            for (value, ty) in values.iter_mut().zip(types.into_iter().flatten()) {
                *value = interp.of_type(*value, ty);
            }
            let types = types.map_or_else(|| interp.types(&values), <[Type]>::to_vec);
            interp.emit_yield(&values)?;
            Ok(types)
        })?;
        Ok((region, types))
    }

    /// `scf.yield`, where there is something to yield.
    pub(super) fn emit_yield(&mut self, values: &[Ssa]) -> Result<(), Stop> {
        match values {
            [] => Ok(()),
            values => self.emit(Op::new(Scf::Yield).operands("results", values)).map(drop),
        }
    }
}

/// Whether a value is a number of Python, which a variable of a kernel is where it is annotated as a constexpr.
fn constant(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_))
}

/// Whether a value can be one of a choice on a computed condition.
fn chosen(value: &Value<'_>) -> bool {
    match value {
        Value::Instance(instance) => instance.class.kind != ClassKind::Aggregate,
        _ => !matches!(value, Value::None | Value::Tuple(_) | Value::MemDesc(_) | Value::TensorDesc(_)),
    }
}

/// Whether a variable has behind a branch what it had before: a constexpr, or `None` that one way makes something.
fn stays<'a>(old: &Value<'a>, a: &Value<'a>, b: &Value<'a>) -> bool {
    match old {
        _ if constant(old) => true,
        Value::None => matches!(a, Value::None) || matches!(b, Value::None),
        _ => false,
    }
}

/// Whether a name has the value that it had.
pub(super) fn unchanged<'a>(before: &Value<'a>, now: &Value<'a>) -> bool {
    match (before, now) {
        (Value::Tuple(a), Value::Tuple(b)) => {
            Rc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| unchanged(a, b)))
        }
        (Value::Object(a), Value::Object(b)) if a.class.path == BLOCK_POINTER && alike(before, now) => {
            a.fields.iter().zip(&b.fields).all(|((_, a), (_, b))| unchanged(a, b))
        }
        (Value::Instance(a), Value::Instance(b)) => {
            Rc::ptr_eq(a, b)
                || (alike(before, now) && {
                    let (a, b) = (a.fields.borrow(), b.fields.borrow());
                    a.iter().zip(b.iter()).all(|((_, a), (_, b))| unchanged(a, b))
                })
        }
        (a, b) if computed(a) || computed(b) => same(a, b) || (content_free(a) && content_free(b)),
        (a, b) => same(a, b),
    }
}
