//! Counters for loops whose conditions are no comparison of one with its bound: that count down, that compare a multiple
//! of their counter, that ask whether they are not done, that ask two things.
//!
//! A condition is taken apart into comparisons `x < y` that all have to hold. What of `y - x` changes from one iteration
//! to the next is to be a multiple of one parameter that grows, or shrinks, by the same each time. The loop then gets
//! a counter of its own that grows: `left > 0` with `left -= step` is `-left < 0`.
//!
//! Deviation: that is exact as long as no number wraps around its width, which proofs assume anyway.

use super::conditions::Head;
use kernel::{CmpOp, Instr, Pure, Terminator, Var, VarInfo, VarKind, Width};

/// `x < y + slack`, as signed numbers of a width.
#[derive(Clone, Copy)]
struct Less {
    width: Width,
    x: Var,
    y: Var,
    slack: i64,
    /// Whether it asks for `x != y`, and which of them is the smaller one is for the counter to say.
    either: bool,
}

/// A multiple of the counter, by its sign and a factor that is set before the loop, and what is set before the loop.
#[derive(Clone, Copy, Default)]
struct Split {
    multiple: Option<(bool, Option<Var>)>,
    rest: Option<Var>,
}

/// The parameter that changes by the same in each iteration.
#[derive(Clone, Copy)]
struct Counter {
    param: Var,
    first: Var,
    step: Var,
    grows: bool,
}

/// A comparison in the form in which it is counted: a multiple of the counter below a bound.
struct Counted {
    negative: bool,
    factor: Option<Var>,
    bound: Var,
}

impl Head<'_> {
    /// Gives the loop a counter, if its condition is one that can be counted with.
    pub(super) fn count(&mut self) -> Option<()> {
        let Terminator::Branch(condition, ..) = &self.kernel.block(self.entries.head).terminator else { return None };
        let mut made = Vec::new();
        let mut all = Vec::new();
        self.comparisons((*condition, true), &mut made, &mut all)?;
        // What was asked anew stands before what is computed from it.
        self.kernel.blocks[self.entries.head.index()].instrs.splice(0..0, made);
        let (mut counter, mut joint): (Option<Counter>, Option<Counted>) = (None, None);
        let width = all.first()?.width;
        for less in all {
            let next = self.counted(less, &mut counter).filter(|_| less.width == width)?;
            joint = Some(match joint {
                None => next,
                Some(before) => {
                    if (before.negative, before.factor) != (next.negative, next.factor) {
                        return None;
                    }
                    let least = Pure::MinS(width, before.bound, next.bound);
                    Counted { bound: self.compute(self.entries.before, least), ..before }
                }
            });
        }
        let (counter, Counted { negative, factor, bound }) = (counter?, joint?);
        let param = if negative || factor.is_some() || !counter.grows {
            self.multiple(counter, (negative, factor), width)
        } else {
            self.steady_step(counter, width);
            counter.param
        };
        let head = self.entries.head;
        let pure = Pure::Cmp(CmpOp::Slt, width, param, bound);
        let asked = self.compute(head, pure);
        if let Terminator::Branch(condition, ..) = &mut self.kernel.blocks[head.index()].terminator {
            *condition = asked;
        }
        Some(())
    }

    /// The comparisons that all hold where a variable of the head is true, or is not.
    fn comparisons(&mut self, (var, holds): (Var, bool), made: &mut Vec<Instr>, all: &mut Vec<Less>) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let (_, pure) = self.resolved(var, made)?;
        let less = |width, x, y, slack| Less { width, x, y, slack, either: false };
        match pure {
            Pure::Cmp(op @ (CmpOp::Eq | CmpOp::Ne), width, a, b) => {
                let holds = holds == (op == CmpOp::Eq);
                if let Some((truth, is)) = self.truth(a, b, made) {
                    return self.comparisons((truth, is == holds), made, all);
                }
                if holds {
                    return None;
                }
                all.push(Less { either: true, ..less(width, a, b, 0) });
            }
            Pure::Cmp(op, width, a, b) => all.push(match (op, holds) {
                (CmpOp::Slt, true) | (CmpOp::Sge, false) => less(width, a, b, 0),
                (CmpOp::Sle, true) | (CmpOp::Sgt, false) => less(width, a, b, 1),
                (CmpOp::Sgt, true) | (CmpOp::Sle, false) => less(width, b, a, 0),
                (CmpOp::Sge, true) | (CmpOp::Slt, false) => less(width, b, a, 1),
                _ => return None,
            }),
            Pure::Xor(Width(1), a, b) => {
                let flips = self.constant(b)? & 1 != 0;
                self.comparisons((a, holds != flips), made, all)?;
            }
            Pure::And(Width(1), a, b) if holds => {
                self.comparisons((a, true), made, all)?;
                self.comparisons((b, true), made, all)?;
            }
            Pure::Or(Width(1), a, b) if !holds => {
                self.comparisons((a, false), made, all)?;
                self.comparisons((b, false), made, all)?;
            }
            Pure::Select(asked, yes, no) => match (self.constant(yes), self.constant(no)) {
                (Some(yes), Some(no)) if (yes ^ no) & 1 != 0 => {
                    self.comparisons((asked, holds == (yes & 1 != 0)), made, all)?;
                }
                // `asked && yes`.
                (None, Some(no)) if no & 1 == 0 && holds => {
                    self.comparisons((asked, true), made, all)?;
                    self.comparisons((yes, true), made, all)?;
                }
                // Not `asked || no`.
                (Some(yes), None) if yes & 1 != 0 && !holds => {
                    self.comparisons((asked, false), made, all)?;
                    self.comparisons((no, false), made, all)?;
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }

    /// A variable and the operation that computes it; of one that is handed to the head, asked at the head.
    fn resolved(&mut self, var: Var, made: &mut Vec<Instr>) -> Option<(Var, Pure<Var>)> {
        let var = self.source(var);
        if let Some(pure) = self.pure(var) {
            return Some((var, pure));
        }
        let at = self.kernel.block(self.entries.head).params.iter().position(|param| *param == var)?;
        let (first, next) = (*self.entries.first.get(at)?, *self.entries.next.get(at)?);
        let asked = self.question((first, next), var, made)?;
        Some((asked, self.pure(asked)?))
    }

    /// `a == b` as the question whether a condition is this.
    fn truth(&mut self, a: Var, b: Var, made: &mut Vec<Instr>) -> Option<(Var, bool)> {
        let wanted = self.constant(b)?;
        let (a, pure) = self.resolved(a, made)?;
        match pure {
            Pure::Select(asked, yes, no) => match (self.constant(yes)? == wanted, self.constant(no)? == wanted) {
                (true, false) => Some((asked, true)),
                (false, true) => Some((asked, false)),
                _ => None,
            },
            Pure::ExtU(Width(1), _, asked) if (0..=1).contains(&wanted) => Some((asked, wanted != 0)),
            Pure::ExtS(Width(1), _, asked) if (-1..=0).contains(&wanted) => Some((asked, wanted != 0)),
            Pure::Cmp(..) => Some((a, wanted & 1 != 0)),
            _ => None,
        }
    }

    /// A comparison as one of a multiple of the counter with a bound.
    fn counted(&mut self, less: Less, counter: &mut Option<Counter>) -> Option<Counted> {
        let width = less.width;
        let (mut x, mut y) = (self.split(less.x, width, counter)?, self.split(less.y, width, counter)?);
        let known = (*counter)?;
        if less.either {
            let alone = |split: &Split| split.multiple.is_none_or(|(_, factor)| factor.is_none());
            if self.constant(known.step) != Some(1) || !alone(&x) || !alone(&y) {
                return None;
            }
            // The side that grows is the smaller one.
            let grows = |(negative, _): (bool, Option<Var>)| negative != known.grows;
            let right = x.multiple.map_or_else(|| y.multiple.is_some_and(|of| !grows(of)), grows);
            if !right {
                std::mem::swap(&mut x, &mut y);
            }
        }
        let (negative, factor) = match (x.multiple, y.multiple) {
            (Some(of), None) => of,
            (None, Some((negative, factor))) => (!negative, factor),
            _ => return None,
        };
        if negative == known.grows {
            return None;
        }
        let before = self.entries.before;
        let slack = |head: &mut Self| (less.slack != 0).then(|| head.compute(before, Pure::Const(less.slack)));
        let mut bound = y.rest;
        for (more, less) in [(slack(self), false), (x.rest, true)] {
            bound = match (bound, more) {
                (None, Some(more)) if less => {
                    let zero = self.compute(before, Pure::Const(0));
                    Some(self.compute(before, Pure::Sub(width, zero, more)))
                }
                (Some(bound), Some(more)) if less => Some(self.compute(before, Pure::Sub(width, bound, more))),
                (Some(bound), Some(more)) => Some(self.compute(before, Pure::Add(width, bound, more))),
                (bound, more) => bound.or(more),
            };
        }
        let bound = bound.unwrap_or_else(|| self.compute(before, Pure::Const(0)));
        Some(Counted { negative, factor, bound })
    }

    /// A variable of the head as a multiple of the counter and what is set before the loop.
    fn split(&mut self, var: Var, width: Width, counter: &mut Option<Counter>) -> Option<Split> {
        self.left = self.left.checked_sub(1)?;
        let var = self.source(var);
        if let Some(rest) = self.before(var) {
            return Some(Split { rest: Some(rest), multiple: None });
        }
        let before = self.entries.before;
        match self.pure(var) {
            None => {
                let known = match counter {
                    Some(known) => *known,
                    None => *counter.insert(self.counter(var, width)?),
                };
                (known.param == var).then_some(Split { multiple: Some((false, None)), rest: None })
            }
            Some(Pure::Add(of, a, b)) if of == width => {
                let (a, b) = (self.split(a, width, counter)?, self.split(b, width, counter)?);
                let rest = match (a.rest, b.rest) {
                    (Some(a), Some(b)) => Some(self.compute(before, Pure::Add(width, a, b))),
                    (a, b) => a.or(b),
                };
                let one = a.multiple.is_none() || b.multiple.is_none();
                one.then(|| Split { multiple: a.multiple.or(b.multiple), rest })
            }
            Some(Pure::Sub(of, a, b)) if of == width => {
                let (a, b) = (self.split(a, width, counter)?, self.split(b, width, counter)?);
                let rest = match (a.rest, b.rest) {
                    (Some(a), Some(b)) => Some(self.compute(before, Pure::Sub(width, a, b))),
                    (None, Some(b)) => {
                        let zero = self.compute(before, Pure::Const(0));
                        Some(self.compute(before, Pure::Sub(width, zero, b)))
                    }
                    (a, None) => a,
                };
                let one = a.multiple.is_none() || b.multiple.is_none();
                let minus = b.multiple.map(|(negative, factor)| (!negative, factor));
                one.then(|| Split { multiple: a.multiple.or(minus), rest })
            }
            Some(Pure::Mul(of, a, b)) if of == width => {
                let (of, by) = match (self.before(a), self.before(b)) {
                    (None, Some(by)) => (a, by),
                    (Some(by), None) => (b, by),
                    _ => return None,
                };
                // A multiple grows as its counter does only where the factor is known to be positive.
                self.is_positive(by).then_some(())?;
                let Split { multiple, rest } = self.split(of, width, counter)?;
                let mut times = |var: Option<Var>| match var {
                    Some(var) => self.compute(before, Pure::Mul(width, var, by)),
                    None => by,
                };
                let multiple = multiple.map(|(negative, factor)| (negative, Some(times(factor))));
                Some(Split { multiple, rest: rest.map(|rest| times(Some(rest))) })
            }
            _ => None,
        }
    }

    /// Whether a value is 1 or more: a constant, or how many programs there are.
    fn is_positive(&self, var: Var) -> bool {
        match self.pure(self.source(var)) {
            Some(Pure::Const(value)) => value > 0,
            Some(Pure::Input(input)) => {
                let kind = self.kernel.inputs.get(input.index()).map(|input| input.kind);
                matches!(kind, Some(kernel::InputKind::NumPrograms(_) | kernel::InputKind::Size(_)))
            }
            _ => false,
        }
    }

    /// A parameter of the head that changes by the same in each iteration.
    fn counter(&mut self, param: Var, width: Width) -> Option<Counter> {
        let at = self.kernel.block(self.entries.head).params.iter().position(|own| *own == param)?;
        let (first, next) = (*self.entries.first.get(at)?, self.source(*self.entries.next.get(at)?));
        let (step, grows) = match self.pure(next)? {
            Pure::Add(of, a, b) if of == width && self.source(a) == param => (b, true),
            Pure::Add(of, a, b) if of == width && self.source(b) == param => (a, true),
            Pure::Sub(of, a, b) if of == width && self.source(a) == param => (b, false),
            _ => return None,
        };
        let step = self.before(step)?;
        // `i + (-1)` shrinks.
        match self.constant(step) {
            Some(by) if by < 0 => {
                let step = self.compute(self.entries.before, Pure::Const(by.checked_neg()?));
                Some(Counter { param, first, step, grows: !grows })
            }
            _ => Some(Counter { param, first, step, grows }),
        }
    }

    /// Adds a parameter to the head that is a multiple of the counter and grows.
    fn multiple(&mut self, counter: Counter, (negative, factor): (bool, Option<Var>), width: Width) -> Var {
        let (head, before, last) = (self.entries.head, self.entries.before, self.entries.last);
        let mut times = |var: Var| match factor {
            Some(factor) => self.compute(before, Pure::Mul(width, var, factor)),
            None => var,
        };
        let (mut first, step) = (times(counter.first), times(counter.step));
        if negative {
            let zero = self.compute(before, Pure::Const(0));
            first = self.compute(before, Pure::Sub(width, zero, first));
        }
        self.kernel.vars.push(VarInfo { kind: VarKind::Scalar });
        self.defs.push(Some((head, None)));
        let param = Var(self.kernel.vars.len() as u32 - 1);
        let next = self.compute(last, Pure::Add(width, param, step));
        self.kernel.blocks[head.index()].params.push(param);
        for (from, arg) in [(before, first), (last, next)] {
            for target in super::live::targets_mut(&mut self.kernel.blocks[from.index()].terminator) {
                if target.block == head {
                    target.args.push(arg);
                }
            }
        }
        self.entries.first.push(first);
        self.entries.next.push(next);
        param
    }

    /// What a counter grows by, where it is written that it is set before the loop.
    fn steady_step(&mut self, counter: Counter, width: Width) {
        let at = self.kernel.block(self.entries.head).params.iter().position(|own| *own == counter.param);
        if let Some(next) = at.and_then(|at| self.entries.next.get(at)) {
            self.replace(self.source(*next), Pure::Add(width, counter.param, counter.step));
        }
    }

    fn constant(&self, var: Var) -> Option<i64> {
        match self.pure(self.source(var)) {
            Some(Pure::Const(value)) => Some(value),
            _ => None,
        }
    }
}
