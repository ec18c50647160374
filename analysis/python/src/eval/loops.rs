//! Loops of the kernel.

use ruff_python_ast::{Expr, StmtFor, StmtWhile};

use super::arith::promote;
use super::flat::{alike, content_free, leaves, rebuild, same, with_ssa};
use super::registers::opaque;
use super::types::clash;
use super::{Flow, Interp, Stop};
use crate::doubt::DoubtKind;
use crate::emit::{Op, Ssa, Type};
use crate::interp::Eval;
use crate::library::Args;
use crate::limits::run::ROUNDS;
use crate::reason::chained;
use crate::scope::NameTable;
use crate::syntax::names::changed_in;
use crate::value::{DType, Range, Tensor, Value};
use base::TextRange;
use dialects::Scf;
use std::rc::Rc;

/// A variable that a loop changes, and which leaves of it go round.
struct Carried<'a> {
    name: Rc<str>,
    like: Value<'a>,
    round: Vec<bool>,
}

/// Whether a value is one number.
fn single(value: &Value<'_>) -> bool {
    match value {
        Value::Tensor(tensor) => tensor.shape.is_empty(),
        _ => plain(value),
    }
}

/// Whether a value is a number of Python.
fn plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_))
}

/// The SSA values of one of the three places in which a loop's variables stand.
type Ssas = Vec<Ssa>;

impl<'a> Interp<'a> {
    pub(super) fn kernel_for(&mut self, stmt: &'a StmtFor) -> Result<Flow<'a>, Stop> {
        let outer = (self.at, self.what);
        (self.at, self.what) = (TextRange::new(self.at.start, Interp::range(&*stmt.iter).end), "for");
        let ran = self.run_for(stmt);
        (self.at, self.what) = outer;
        ran
    }

    /// What a loop of a kernel runs through. Of Python's own `range` Triton evaluates the keywords there, and counts by
    /// the other arguments alone.
    fn loop_over(&mut self, iter: &'a Expr) -> Eval<'a> {
        let Expr::Call(call) = iter else { return self.expr(iter) };
        let called = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        if called == "static_range" {
            self.check_static_bounds(call)?;
        }
        if call.arguments.keywords.is_empty() || call.arguments.args.iter().any(Expr::is_starred_expr) {
            return self.expr(iter);
        }
        let callee = self.expr(&call.func)?;
        if !matches!(callee, Value::Builtin(row) if row.path == "range") {
            return self.expr(iter);
        }
        let mut args = Args::default();
        for argument in &call.arguments.args {
            args.pos.push(self.expr(argument)?);
        }
        for keyword in &call.arguments.keywords {
            self.expr(&keyword.value)?;
        }
        self.apply(&callee, args)
    }

    fn run_for(&mut self, stmt: &'a StmtFor) -> Result<Flow<'a>, Stop> {
        let over = match self.loop_over(&stmt.iter)? {
            Value::Range(range) => range,
            Value::Unknown(reason) => {
                self.unmodelled(chained("what the loop runs through", &reason));
                for name in changed_in(&stmt.body) {
                    self.scope.set(name, Value::Unknown(reason.clone()));
                }
                return Ok(Flow::Next);
            }
            _ => return self.raise("a kernel runs through `range` and `static_range` only"),
        };
        let Expr::Name(target) = &*stmt.target else {
            return self.raise("a loop of a kernel has one variable");
        };
        let target = target.id.as_str();
        if !stmt.orelse.is_empty() && over.unrolled {
            return self.unknown("the `else` of an unrolled loop is not followed");
        }
        if !stmt.orelse.is_empty() {
            return self.raise("a loop of a kernel has no `else`");
        }
        if self.truth(&Value::Range(over.clone())) == Some(false) {
            self.doubt(DoubtKind::IdleLoop);
        }
        if !over.unrolled {
            return self.computed_for(stmt, target, &over);
        }
        for number in self.numbers(&over)? {
            self.step()?;
            let what = format!("{target} = {number}");
            self.scope.set(target, Value::Int(number));
            let frame = self.push_frame(what, true, Vec::new());
            let outer = self.frame.replace(frame);
            self.state.unrolled += 1;
            let flow = self.block(&stmt.body);
            self.state.unrolled -= 1;
            self.frame = outer;
            if let Flow::Return(value) = flow? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    fn computed_for(&mut self, stmt: &'a StmtFor, target: &str, over: &Range<'a>) -> Result<Flow<'a>, Stop> {
        let mut bounds = [&over.start, &over.stop, &over.step].map(Value::clone);
        let negative = matches!(bounds[2], Value::Int(step) if step < 0);
        if let (true, Value::Int(step)) = (negative, &bounds[2]) {
            bounds[2] = Value::Int(-step);
            bounds.swap(0, 1);
        }
        let mut dtype = DType::Int1;
        for (at, bound) in bounds.iter().enumerate() {
            let own = match bound {
                Value::Unknown(reason) => {
                    self.unmodelled(chained("a bound of the loop", reason));
                    for name in changed_in(&stmt.body) {
                        self.scope.set(name, Value::Unknown(reason.clone()));
                    }
                    return Ok(Flow::Next);
                }
                Value::Tensor(tensor) if !tensor.shape.is_empty() => {
                    return self.raise("a bound of a loop is one value, and this is a tensor");
                }
                bound => self.number_type(bound)?,
            };
            if !own.is_int() {
                return self.raise(format!("a bound of a loop is an integer, and this is {}", own.name()));
            }
            dtype = if at == 0 { own } else { promote(dtype, own) };
        }
        let ty = dtype.ir();
        let mut ssas = Vec::with_capacity(3);
        for bound in &bounds {
            ssas.push(self.scalar(bound, dtype)?);
        }
        let (low, high, step) = (ssas[0], ssas[1], ssas[2]);
        let before = self.scope.snapshot();
        let counter = |ssa| Tensor { ssa: Some(ssa), ..opaque(dtype, &Rc::from([]), &Rc::new(Value::None)) };
        let start = |interp: &mut Interp<'a>, iv: Ssa| -> Result<(), Stop> {
            interp.builder.name(iv, target);
            let mut value = Value::Tensor(counter(iv));
            if negative {
                use ruff_python_ast::Operator::{Add, Sub};
                let from_end = interp.binary(Sub, &Value::Tensor(counter(high)), &value)?;
                value = interp.binary(Add, &from_end, &Value::Tensor(counter(low)))?;
            }
            interp.scope.set(target, value);
            Ok(())
        };
        let mut carried = self.changes(&before, &stmt.body, target, &mut |interp| {
            let iv = interp.builder.fresh(ty.clone());
            start(interp, iv)
        })?;
        if self.state.dry > 0 {
            self.after_dry(before, &carried);
            return Ok(Flow::Next);
        }
        for _ in 0..ROUNDS {
            let (inits, types) = self.entering(&before, &carried)?;
            let args: Ssas = types.iter().map(|ty| self.builder.fresh(ty.clone())).collect();
            let iv = self.builder.fresh(ty.clone());
            self.scope.replace(before.clone());
            self.stand(&carried, &args);
            let entered = self.scope.snapshot();
            self.state.closed += 1;
            let body = self.region(|interp| {
                start(interp, iv)?;
                let flow = interp.block(&stmt.body)?;
                if matches!(flow, Flow::Return(_)) {
                    return interp.raise("a kernel cannot `return` out of a loop");
                }
                Ok(())
            });
            self.state.closed -= 1;
            let ((), body) = body?;
            let after = self.scope.replace(before.clone());
            if self.missed(&entered, &after, target, &mut carried) {
                continue;
            }
            self.check_accumulators(&before, &after)?;
            let ((), body) = self.region(|interp| {
                interp.builder.append(body);
                let yields = interp.yielded(&after, &carried, &types)?;
                interp.emit_yield(&yields)
            })?;
            let op = Op::new(Scf::For)
                .operand("lowerBound", low)
                .operand("upperBound", high)
                .operand("step", step)
                .operands("initArgs", &inits)
                .region(body.with_args(&[&[iv], &*args].concat()))
                .results("results", types);
            let results = self.emit(op)?;
            self.stand(&carried, &results);
            self.scope.set(target, Value::Unknown("a loop's variable has no value behind the loop".into()));
            return Ok(Flow::Next);
        }
        self.unmodelled("what the loop changes is not followed");
        Ok(Flow::Next)
    }

    pub(super) fn kernel_while(&mut self, stmt: &'a StmtWhile) -> Result<Flow<'a>, Stop> {
        let outer = (self.at, self.what);
        (self.at, self.what) = (TextRange::new(self.at.start, Interp::range(&*stmt.test).end), "while");
        let ran = self.run_while(stmt);
        (self.at, self.what) = outer;
        ran
    }

    fn run_while(&mut self, stmt: &'a StmtWhile) -> Result<Flow<'a>, Stop> {
        if !stmt.orelse.is_empty() {
            return self.raise("a loop of a kernel has no `else`");
        }
        let before = self.scope.snapshot();
        let mut carried = self.changes(&before, &stmt.body, "", &mut |_| Ok(()))?;
        if self.state.dry > 0 {
            self.after_dry(before, &carried);
            return Ok(Flow::Next);
        }
        for _ in 0..ROUNDS {
            let (inits, types) = self.entering(&before, &carried)?;
            let fresh = |interp: &mut Interp<'a>, ty: &Type| interp.builder.fresh(ty.clone());
            let (args, inner): (Ssas, Ssas) = types.iter().map(|ty| (fresh(self, ty), fresh(self, ty))).unzip();
            self.scope.replace(before.clone());
            self.stand(&carried, &args);
            let ((), head) = self.region(|interp| {
                let test = interp.expr(&stmt.test)?;
                let holds = match &test {
                    Value::Tensor(_) => interp.scalar(&test, DType::Int1)?,
                    Value::Unknown(reason) => {
                        interp.unmodelled(chained("the condition of the loop", reason));
                        let free = interp.free(DType::Int1);
                        interp.ssa(&free)
                    }
                    _ => return interp.raise("the condition of a `while` is computed, and this is a constexpr"),
                };
                interp.emit(Op::new(Scf::Condition).operand("condition", holds).operands("args", &args)).map(drop)
            })?;
            self.scope.replace(before.clone());
            self.stand(&carried, &inner);
            let entered = self.scope.snapshot();
            self.state.closed += 1;
            let body = self.region(|interp| match interp.block(&stmt.body)? {
                Flow::Return(_) => interp.raise("a kernel cannot `return` out of a loop"),
                _ => Ok(()),
            });
            self.state.closed -= 1;
            let ((), body) = body?;
            let after = self.scope.replace(before.clone());
            if self.missed(&entered, &after, "", &mut carried) {
                continue;
            }
            self.check_accumulators(&before, &after)?;
            let ((), body) = self.region(|interp| {
                interp.builder.append(body);
                let yields = interp.yielded(&after, &carried, &types)?;
                interp.emit(Op::new(Scf::Yield).operands("results", &yields)).map(drop)
            })?;
            let op = Op::new(Scf::While)
                .operands("inits", &inits)
                .region(head.with_args(&args))
                .region(body.with_args(&inner))
                .results("results", types);
            let results = self.emit(op)?;
            self.stand(&carried, &results);
            return Ok(Flow::Next);
        }
        self.unmodelled("what the loop changes is not followed");
        Ok(Flow::Next)
    }

    /// Refuses variables that are accumulators of asynchronous products before a loop and plain tensors behind its body, or
    /// the other way round: they have two types.
    fn check_accumulators(&self, before: &NameTable<'a>, after: &NameTable<'a>) -> Result<(), Stop> {
        let kind = |value: &Value<'a>| match value {
            Value::Tensor(Tensor { ssa: Some(ssa), .. }) => self.accumulators.get(ssa).copied(),
            Value::Tensor(tensor) => (!tensor.shape.is_empty()).then_some(false),
            _ => None,
        };
        for (name, old) in before.iter() {
            let (Some(old), Some(new)) = (kind(old), after.get(name).and_then(kind)) else { continue };
            if old != new {
                let word =
                    |accumulator: bool| if accumulator { "an accumulator of `warpgroup_mma`" } else { "a tensor" };
                return self.raise(format!(
                    "`{name}` is {} before the loop and {} behind an iteration",
                    word(old),
                    word(new)
                ));
            }
        }
        Ok(())
    }

    /// Refuses what `static_range` is given of a shape of memory or of a descriptor: these are numbers of Python, and no
    /// constexprs as long as nothing is computed of them.
    fn check_static_bounds(&mut self, call: &'a ruff_python_ast::ExprCall) -> Result<(), Stop> {
        for argument in &call.arguments.args {
            let Expr::Subscript(part) = argument else { continue };
            let Expr::Attribute(shape) = &*part.value else { continue };
            let (Expr::Name(of), "shape" | "block_shape") = (&*shape.value, shape.attr.as_str()) else { continue };
            if matches!(self.expr(&shape.value)?, Value::MemDesc(_) | Value::TensorDesc(_)) {
                let (of, attr) = (&of.id, &shape.attr);
                let why = format!("`static_range` wants constexprs, and an element of `{of}.{attr}` is none by itself");
                return self.raise(why);
            }
        }
        Ok(())
    }

    /// Runs a body once for nothing, to see which variables it changes.
    fn changes(
        &mut self,
        before: &NameTable<'a>,
        body: &'a [ruff_python_ast::Stmt],
        target: &str,
        start: &mut dyn FnMut(&mut Interp<'a>) -> Result<(), Stop>,
    ) -> Result<Vec<Carried<'a>>, Stop> {
        let stored = changed_in(body);
        if !stored.iter().any(|name| *name != target && before.get(name).is_some()) {
            return Ok(Vec::new());
        }
        self.state.dry += 1;
        self.state.closed += 1;
        let ran = self.region(|interp| {
            start(interp)?;
            interp.block(body)
        });
        self.state.closed -= 1;
        self.state.dry -= 1;
        let after = self.scope.replace(before.clone());
        ran?;
        self.keeps_types(before, &after, target)?;
        let mut carried = Vec::new();
        self.missed(before, &after, target, &mut carried);
        Ok(carried)
    }

    /// Refuses a variable that a loop makes another type. One constexpr may become another: each round begins with the
    /// first.
    fn keeps_types(&self, before: &NameTable<'a>, after: &NameTable<'a>, target: &str) -> Result<(), Stop> {
        for (name, old) in before.iter().filter(|(name, _)| ***name != *target) {
            let Some(new) = after.get(name) else { continue };
            if plain(old) && super::flat::computed(new) {
                return self.raise(format!("`{name}` is a constexpr, and the loop assigns to it"));
            }
            if let Some((was, now)) = clash(old, new) {
                let message = format!("`{name}` is {was} before the loop, and the loop makes it {now}");
                let integer =
                    |value: &Value<'a>| matches!(value, Value::Tensor(of) if of.dtype.is_int() && of.shape.is_empty());
                if integer(old) && integer(new) {
                    return self.raise(message);
                }
                self.refuse(message)?;
            }
        }
        Ok(())
    }

    /// Adds the leaves that differ and do not go round yet; says whether there are any.
    fn missed(
        &mut self,
        before: &NameTable<'a>,
        after: &NameTable<'a>,
        target: &str,
        carried: &mut Vec<Carried<'a>>,
    ) -> bool {
        let mut found = false;
        for (name, old) in before.iter() {
            if **name == *target {
                continue;
            }
            let Some(new) = after.get(name) else { continue };
            if super::branch::unchanged(old, new) {
                continue;
            }
            let place = carried.iter().position(|variable| variable.name == *name);
            if !alike(old, new) {
                // It changes its kind: nothing of it goes round.
                if place.is_none() {
                    carried.push(Carried { name: name.clone(), like: Value::None, round: Vec::new() });
                    found = true;
                }
                continue;
            }
            let (mut left, mut right) = (Vec::new(), Vec::new());
            leaves(old, &mut left);
            leaves(new, &mut right);
            let differs = left.iter().zip(&right).map(|(a, b)| {
                let changes = super::flat::computed(a) || plain(a) && super::flat::computed(b);
                !(!changes || same(a, b) || content_free(a) && content_free(b))
            });
            match place.and_then(|at| carried.get_mut(at)) {
                Some(variable) => {
                    for (round, differs) in variable.round.iter_mut().zip(differs) {
                        found |= differs && !*round;
                        *round |= differs;
                    }
                }
                None => {
                    let round: Vec<bool> = differs.collect();
                    found |= round.contains(&true);
                    carried.push(Carried { name: name.clone(), like: old.clone(), round });
                }
            }
        }
        found
    }

    /// The values with which the variables enter a loop, and their types.
    fn entering(&mut self, before: &NameTable<'a>, carried: &[Carried<'a>]) -> Result<(Ssas, Vec<Type>), Stop> {
        let (mut inits, mut types) = (Vec::new(), Vec::new());
        for variable in carried {
            let Some(value) = before.get(&variable.name) else { continue };
            let mut all = Vec::new();
            leaves(value, &mut all);
            for (leaf, round) in all.iter().zip(&variable.round) {
                if *round {
                    let ssa = match self.leaf_ssa(leaf) {
                        Some(ssa) => ssa,
                        None => {
                            let dtype = self.number_type(leaf)?;
                            self.scalar(leaf, dtype)?
                        }
                    };
                    inits.push(ssa);
                    types.push(self.ty(ssa));
                }
            }
        }
        Ok((inits, types))
    }

    /// Gives the variables these values.
    fn stand(&mut self, carried: &[Carried<'a>], ssas: &[Ssa]) {
        let mut ssas = ssas.iter();
        for variable in carried {
            if variable.round.is_empty() {
                let reason = format!("`{}` changes its kind in a loop", variable.name);
                self.scope.set(&variable.name, Value::Unknown(reason.into()));
                continue;
            }
            let mut all = Vec::new();
            leaves(&variable.like, &mut all);
            let mut next = all.into_iter().zip(&variable.round).map(|(leaf, round)| match (round, leaf) {
                (false, leaf) => leaf,
                (true, Value::Bool(_) | Value::Int(_) | Value::Float(_)) => {
                    let _ = ssas.next();
                    Value::Unknown("a constexpr that the loop changes".into())
                }
                (true, leaf) => match ssas.next() {
                    Some(ssa) => with_ssa(&leaf, *ssa),
                    None => leaf,
                },
            });
            let value = rebuild(&variable.like, &mut || next.next().unwrap_or(Value::None));
            self.name_values(&variable.name, &value);
            self.scope.set(&variable.name, value);
        }
    }

    /// What goes round again.
    fn yielded(&mut self, after: &NameTable<'a>, carried: &[Carried<'a>], types: &[Type]) -> Result<Ssas, Stop> {
        let mut yields = Vec::new();
        for variable in carried.iter().filter(|variable| !variable.round.is_empty()) {
            let (mut old, mut new) = (Vec::new(), Vec::new());
            leaves(&variable.like, &mut old);
            if let Some(value) = after.get(&variable.name)
                && alike(&variable.like, value)
            {
                leaves(value, &mut new);
            }
            for (at, (old, round)) in old.iter().zip(&variable.round).enumerate() {
                if !round {
                    continue;
                }
                let ty = types.get(yields.len()).cloned().unwrap_or(Type::Token);
                let ssa = match (old, new.get(at)) {
                    // Of another type than ours the kernel may have one.
                    (Value::Tensor(like), Some(Value::Tensor(now))) if like.dtype != now.dtype => None,
                    (Value::Tensor(like), Some(value)) if like.shape.is_empty() && single(value) => {
                        Some(self.scalar(value, like.dtype)?)
                    }
                    (_, Some(value)) => self.leaf_ssa(value),
                    _ => None,
                };
                let ssa = match ssa {
                    Some(ssa) => self.of_type(ssa, &ty),
                    None => self.opaque(&ty),
                };
                yields.push(ssa);
            }
        }
        Ok(yields)
    }

    /// A loop inside of one that is only looked at: what it changes is something else.
    fn after_dry(&mut self, before: NameTable<'a>, carried: &[Carried<'a>]) {
        self.scope.replace(before);
        let mut fresh = Vec::new();
        for variable in carried {
            let mut all = Vec::new();
            leaves(&variable.like, &mut all);
            for (leaf, round) in all.iter().zip(&variable.round) {
                if *round {
                    let ty = match (super::flat::own(leaf), leaf) {
                        (Some(ssa), _) => self.ty(ssa),
                        (None, Value::Tensor(tensor)) => tensor.ir(),
                        _ => Type::I32,
                    };
                    fresh.push(self.builder.fresh(ty));
                }
            }
        }
        self.stand(carried, &fresh);
    }
}
