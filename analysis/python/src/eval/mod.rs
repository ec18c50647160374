//! Executing a kernel the way Triton's code generator does.
//!
//! Statements are run in two modes. By Python: the statements of a file, class bodies, plain functions and
//! `constexpr_function`s; everything is a host value. In the kernel: `@gluon.jit` functions, inlined where
//! they are called; numbers that are assigned become scalars, a condition may be computed, and loops over
//! `range` are loops of the kernel, with what they change carried as values.
//!
//! Deviations: a kernel's early `return` in a branch puts the rest of the function into the other branch.
//! Module code whose condition is not known runs both ways, and what both define is not known.
//!
//! Missed: generators, `async`, `match`, `del`, operators of metaclasses, exceptions that a program throws
//! to itself other than through `raise`.

mod arith;
mod assign;
mod attribute;
mod branch;
mod call;
mod class;
mod compare;
mod entry;
mod expr;
pub mod extent;
mod files;
pub mod flat;
mod host;
mod lazy;
mod loops;
mod named_tuple;
mod operators;
mod refine;
pub mod registers;
mod rows;
mod run;
mod stmt;
mod text;
mod types;

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::{BoolOp, Expr, UnaryOp};
use ttgir::build::{Printed, ValueNames};

use crate::elaborated::{Attempt, Elaborated};
use crate::emit::{Builder, UNMODELLED};
use crate::host::Thing;
use crate::host::thing::{asked, may_be_asked};
use crate::interp::{Eval, ExecMode, Interp, Problem, Rest, Stop, Trees, Trial};
use crate::library::Library;
use crate::limits::run::{CALLS, CHOICES, NESTING, OPS};
use crate::origin::{FileId, FrameId, Origins};
use crate::scope::Scope;
use crate::specialization::Spec;
pub use crate::syntax::texts::join_paths;
use crate::syntax::{Module, Sources};
use crate::value::Value;
pub use arith::promote;
use base::{Cancel, Cancelled, TextRange};
pub use rows::PART;

/// What a statement leads to.
#[derive(Clone, Debug)]
enum Flow<'a> {
    Next,
    Return(Value<'a>),
    Break,
    Continue,
}

/// What tells one of several conditions of a text from others.
fn condition(text: &str, number: usize) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    (text, number).hash(&mut hasher);
    hasher.finish()
}

/// Elaborates one specialisation of a kernel of `module`.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn elaborate(
    module: &Arc<Module>,
    sources: &dyn Sources,
    library: &'static Library,
    spec: &Spec,
    cancel: &Cancel,
) -> Result<Elaborated, Cancelled> {
    let trees = Trees::default();
    let mut interp = Interp::new(&trees, sources, library, cancel, spec.target.0, spec.version);
    interp.launched(spec);
    let mut out = Elaborated::default();
    let ended = interp.kernel(module.clone(), spec, &mut out);
    match ended {
        Err(Stop::Cancelled) => return Err(Cancelled),
        Err(stop) => {
            if let Stop::Limit(_) = stop {
                // Half a kernel would cost as much, and tell nothing of the whole.
                interp.builder = Builder::default();
            }
            interp.ends(stop);
        }
        Ok(()) => {}
    }
    let Interp { builder, origins, frames, handed, files, problems, unmodelled, partitions, state, .. } = interp;
    out.files = files.iter().map(|file| file.module.path().to_owned()).collect();
    out.demanded = files.first().and_then(|file| file.pending.as_ref()?.demanded());
    out.problems = problems;
    out.unmodelled = unmodelled;
    out.partitions = partitions;
    out.touched = state.into_touched();
    let refused = out.problems.iter().any(|problem| !problem.hint) || !out.unmodelled.is_empty();
    if !out.kernel.is_empty() || !refused {
        out.module = builder.finish();
        out.has_unmodelled_op = out.module.contains(UNMODELLED);
        let printed = out.module.print(ValueNames::Source);
        let memory = handed.iter().map(|value| printed.spelt(*value).unwrap_or_default().to_owned()).collect();
        let Printed { text, origins: ops, names, .. } = printed;
        out.ir = text;
        out.origins = Origins { origins, frames, ops, memory };
        out.names = names;
    }
    Ok(out)
}

/// Runs an elaboration for at most `steps` steps, to see how far it comes: of the kernel's body those statements that start
/// before `end`, if there is one.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn attempt(
    module: &Arc<Module>,
    sources: &dyn Sources,
    library: &'static Library,
    spec: &Spec,
    (steps, end): (u64, Option<u32>),
    cancel: &Cancel,
) -> Result<Attempt, Cancelled> {
    let trees = Trees::default();
    let mut interp = Interp::new(&trees, sources, library, cancel, spec.target.0, spec.version);
    interp.launched(spec);
    interp.most_steps = steps;
    interp.state.trial = Some(Trial { reached: rustc_hash::FxHashSet::default(), doubts: Vec::new(), end });
    let ended = match interp.kernel(module.clone(), spec, &mut Elaborated::default()) {
        Err(Stop::Cancelled) => return Err(Cancelled),
        Err(stop) => {
            interp.ends(stop);
            false
        }
        Ok(()) => true,
    };
    let Interp { files, problems, unmodelled, state, steps, .. } = interp;
    let (reached, doubts) = state.trial.map_or((0, Vec::new()), |trial| (trial.reached.len(), trial.doubts));
    let files = files.iter().map(|file| file.module.path().to_owned()).collect();
    Ok(Attempt { problems, unmodelled, doubts, reached, steps, ended, files })
}

impl<'a> Interp<'a> {
    /// Says why the elaboration ended early.
    fn ends(&mut self, stop: Stop) {
        let (file, frame) = self.state.raised.unwrap_or((self.file, None));
        match stop {
            Stop::Raised(range, message) => {
                // Where another file raises it, the call in the kernel's own is the place to look at.
                let (file, range) = self.own_call(frame).filter(|_| file != FileId(0)).unwrap_or((file, range));
                let problem =
                    Problem { file, range, code: "refused", message: message.to_string(), hint: false, fix: None };
                if !self.problems.contains(&problem) {
                    self.problems.push(problem);
                }
            }
            Stop::Unknown(range, reason) | Stop::Deep(range, reason) => {
                self.not_followed(file, range, reason.to_string())
            }
            Stop::Limit(reason) => self.not_followed(self.file, self.at, reason.to_string()),
            Stop::Cancelled => {}
        }
    }

    /// The innermost call in the kernel's own file around a frame.
    fn own_call(&self, frame: Option<FrameId>) -> Option<(FileId, TextRange)> {
        let frame = self.frames.get(frame?.0 as usize)?;
        if frame.file == FileId(0) && !frame.iteration {
            return Some((frame.file, frame.range));
        }
        self.own_call(frame.outer)
    }

    /// Counts a step.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.most_steps {
            return Err(Stop::Limit(format!("more than {} steps of Python are not run", self.most_steps).into()));
        }
        if self.emitted > OPS {
            let reason = format!("unrolled, the kernel has more than {OPS} operations, which are not analysed");
            return Err(Stop::Limit(reason.into()));
        }
        if self.steps.is_multiple_of(256) && self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        Ok(())
    }

    /// Runs `inside` one level deeper.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Interp<'a>) -> Result<T, Stop>) -> Result<T, Stop> {
        if self.state.nest >= NESTING {
            return self.unknown(format!("nested deeper than {NESTING} levels"));
        }
        self.state.nest += 1;
        let result = inside(self);
        self.state.nest -= 1;
        result
    }

    /// Runs `inside` by Python.
    pub fn by_python<T>(&mut self, inside: impl FnOnce(&mut Interp<'a>) -> T) -> T {
        let mode = std::mem::replace(&mut self.mode, ExecMode::Host);
        let result = inside(self);
        self.mode = mode;
        result
    }

    /// Whether host code is run for its launches.
    fn follows_host(&self) -> bool {
        self.session.is_some() && !self.in_kernel()
    }

    /// Whether host code is run one way after the other where a condition is not known.
    fn follows_ways(&self) -> bool {
        !self.in_kernel() && self.session.as_ref().is_some_and(|session| session.ways.is_some())
    }

    /// Which way is taken at a condition that is not known; `None` where ways are not told apart. Of one that is made of
    /// others each part is decided: behind `if a and b:` an `elif a:` is not taken with both.
    fn decide(&mut self, test: &'a Expr, likely: bool, value: Option<&Value<'a>>) -> Result<Option<bool>, Stop> {
        match test {
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => {
                let of = value.and_then(crate::host::negated);
                Ok(self.decide(&not.operand, !likely, of.as_ref())?.map(|holds| !holds))
            }
            Expr::BoolOp(all) => {
                let and = all.op == BoolOp::And;
                for part in &all.values {
                    let value = match self.expr(part) {
                        Ok(value) => Some(value),
                        // What is not known may not be what it is asked for.
                        Err(Stop::Unknown(..) | Stop::Raised(..)) => {
                            self.state.raised = None;
                            None
                        }
                        Err(stop) => return Err(stop),
                    };
                    let holds = match value.as_ref().and_then(|value| self.truth(value)) {
                        Some(holds) => holds,
                        None => match self.decide(part, likely, value.as_ref())? {
                            Some(holds) => {
                                self.refine(part, holds);
                                holds
                            }
                            None => return Ok(None),
                        },
                    };
                    if holds != and {
                        return Ok(Some(holds));
                    }
                }
                Ok(Some(and))
            }
            // `META["CAUSAL"]` is what the launch gives that.
            Expr::Subscript(_)
                if let Ok(Value::Host(thing)) = self.expr(test)
                    && let Thing::Asked(_, condition) = &*thing =>
            {
                Ok(self.session.as_mut().and_then(|session| Some(session.ways.as_mut()?.decide(*condition, likely))))
            }
            _ => {
                let file = self.files.get(self.file.0 as usize);
                let text = file.map_or("", |file| file.module.slice(Interp::range(test)));
                Ok(self.decide_on(text, 0, (likely, value)))
            }
        }
    }

    /// Which way is taken at one of several conditions of a text.
    fn decide_on(&mut self, text: &str, number: usize, (likely, value): (bool, Option<&Value<'a>>)) -> Option<bool> {
        let session = self.session.as_mut()?;
        let ways = session.ways.as_mut()?;
        let text = condition(text, number);
        let Some(value) = value else { return Some(ways.decide(text, likely)) };
        if let Some(known) = session.follows(value) {
            return Some(known);
        }
        let holds = session.ways.as_mut()?.decide(text, likely);
        session.take(text, value, holds);
        Some(holds)
    }

    /// Notes that host code goes on with one way alone at a condition: the other one launches nothing.
    fn take(&mut self, condition: &Value<'a>, holds: bool) {
        let chosen = self.session.as_mut().filter(|session| session.ways.is_some());
        // No text is looked at for others that are written the same.
        chosen.into_iter().for_each(|session| session.take(0, condition, holds));
    }

    /// An argument of a launch, with the condition that it would be: whether it holds is known where the grid, or host code
    /// before it, takes one way at that.
    fn asked(&self, expr: &Expr, value: Value<'a>) -> Value<'a> {
        if !matches!(expr, Expr::Name(_) | Expr::Attribute(_)) || !self.follows_ways() || !may_be_asked(&value) {
            return value;
        }
        let file = self.files.get(self.file.0 as usize);
        let text = file.map_or("", |file| file.module.slice(Interp::range(expr)));
        asked(value, condition(text, 0))
    }

    /// One of the values that something with an index that is not known can be; `None` where ways are not told
    /// apart, or there are too many.
    fn one_of(&mut self, values: &[Value<'a>]) -> Option<Value<'a>> {
        if !self.follows_ways() || values.len() > CHOICES {
            return None;
        }
        let (last, first) = values.split_last()?;
        let text = self.files.get(self.file.0 as usize).map(|file| file.module.slice(self.at))?;
        for (number, value) in first.iter().enumerate() {
            if self.decide_on(text, number + 1, (true, None))? {
                return Some(value.clone());
            }
        }
        Some(last.clone())
    }

    /// The value of an expression in a scope, by Python.
    pub fn evaluate(&mut self, scope: &Rc<Scope<'a>>, expr: &'a Expr) -> Eval<'a> {
        self.inside(scope.clone(), ExecMode::Host, None, |interp| interp.expr(expr))
    }

    /// The value of a Python expression that is in no file.
    pub fn evaluate_text(&mut self, scope: &Rc<Scope<'a>>, text: &str) -> Eval<'a> {
        self.inside(scope.clone(), ExecMode::Host, None, |interp| interp.text(text))
    }

    /// Whether what runs is emitted only to see what a loop changes, and thrown away.
    pub fn is_dry_run(&self) -> bool {
        self.state.dry > 0
    }

    fn in_kernel(&self) -> bool {
        self.mode == ExecMode::Device
    }
}
