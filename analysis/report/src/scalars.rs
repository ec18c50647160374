//! Scalars of the kernel as expressions that people read.
//!
//! They are those of the kernel, so captures stand for what they capture, and what stands for a
//! token's phase is shown too. A value that a loop carries is a name, and [`Exprs::carried`] says
//! what the loop does with it.

use super::expr::{Expr, and, comparison, difference, power, product, quotient, remainder, sum, xor};
use super::trace::{Trace, ValueDef};
use crate::limits::expressions::{DEPTH, FUEL};
use kernel::{Pure, Var};
use std::cell::Cell;

/// Operators that an expression may have before names stand for its parts.
const SIZE: usize = 8;

/// Values that a loop carries which are told of one expression.
const CARRIED: usize = 8;

/// Makes expressions of a kernel's scalars.
#[derive(Clone, Copy)]
pub(super) struct Exprs<'a, 't> {
    trace: &'t Trace<'a>,
}

impl<'a, 't> Exprs<'a, 't> {
    pub(crate) fn new(trace: &'t Trace<'a>) -> Exprs<'a, 't> {
        Exprs { trace }
    }

    /// A scalar as an expression; a long one is cut to names.
    pub(crate) fn of(&self, var: Var) -> Expr {
        self.sized(var, SIZE)
    }

    /// The same with at most so many operators, where its parts have names.
    pub(crate) fn sized(&self, var: Var, size: usize) -> Expr {
        if let Some(known) = self.trace.exprs.borrow().get(&(var, size)) {
            return known.clone();
        }
        // As deep as it is still short; deeper down, quotients may turn into a remainder.
        let attempt = |depth: u32| self.build(var, depth, &Cell::new(FUEL));
        let short = |expr: &Expr| expr.size() <= size;
        let shorter = || (1..DEPTH).rev().step_by(2).map(attempt).find(short);
        let expr = Some(attempt(DEPTH)).filter(short).or_else(shorter).unwrap_or_else(|| attempt(1));
        self.trace.exprs.borrow_mut().insert((var, size), expr.clone());
        expr
    }

    fn build(&self, var: Var, depth: u32, fuel: &Cell<u32>) -> Expr {
        let Some(left) = fuel.get().checked_sub(1) else { return self.name(var) };
        fuel.set(left);
        match self.trace.made(var) {
            ValueDef::Let(pure) => self.pure(var, pure, depth, fuel),
            ValueDef::Param => match self.trace.args(var) {
                [only] => self.build(*only, depth, fuel),
                _ => self.name(var),
            },
            ValueDef::View(..) | ValueDef::Base(_) | ValueDef::Other => self.name(var),
        }
    }

    fn name(&self, var: Var) -> Expr {
        let name = self.trace.lowered.map.var(var).filter(|name| !name.is_empty());
        Expr::Name(var, name.map_or_else(|| "?".to_owned(), |name| self.trace.known(name).to_owned()))
    }

    fn pure(&self, var: Var, pure: Pure<Var>, depth: u32, fuel: &Cell<u32>) -> Expr {
        if let Pure::Const(value) = pure {
            return Expr::Number(value);
        }
        if let Pure::Input(input) = pure {
            return Expr::Name(var, self.trace.lowered.map.input(input));
        }
        // What has no name has to be spelled out.
        let named = self.trace.lowered.map.var(var).is_some_and(|name| !name.is_empty());
        if depth == 0 && named {
            return self.name(var);
        }
        let of = |var: Var| self.build(var, depth.saturating_sub(1), fuel);
        use Pure::*;
        match pure {
            Copy(a) | ExtS(_, _, a) | ExtU(_, _, a) => self.build(a, depth, fuel),
            Trunc(width, a) if width.0 == 1 => remainder(self.build(a, depth, fuel), Expr::Number(2)),
            Trunc(_, a) => self.build(a, depth, fuel),
            Add(_, a, b) => sum(of(a), of(b)),
            Sub(_, a, b) => difference(of(a), of(b)),
            Mul(_, a, b) => product(of(a), of(b)),
            DivS(_, a, b) | DivU(_, a, b) | FloorDivS(_, a, b) => quotient(of(a), of(b)),
            RemS(_, a, b) | RemU(_, a, b) => remainder(of(a), of(b)),
            And(_, a, b) => and(of(a), of(b)),
            Or(_, a, b) => Expr::binary("|", of(a), of(b)),
            Xor(_, a, b) => xor(of(a), of(b)),
            Shl(_, a, b) => match power(&of(b)) {
                Some(by) => product(of(a), Expr::Number(by)),
                None => Expr::binary("<<", of(a), of(b)),
            },
            ShrS(_, a, b) | ShrU(_, a, b) => match power(&of(b)) {
                Some(by) => quotient(of(a), Expr::Number(by)),
                None => Expr::binary(">>", of(a), of(b)),
            },
            MinS(_, a, b) | MinU(_, a, b) => Expr::binary("min", of(a), of(b)),
            MaxS(_, a, b) | MaxU(_, a, b) => Expr::binary("max", of(a), of(b)),
            Cmp(op, _, a, b) => Expr::binary(comparison(op), of(a), of(b)),
            Select(c, a, b) => Expr::Choice(Box::new([of(c), of(a), of(b)])),
            CeilDivS(..) | CeilDivU(..) | Load(..) | Const(_) | Input(_) => self.name(var),
        }
    }

    /// What loops and branches do with the values that expressions name: name, and `0, then %i + 1`.
    /// Values that they are computed from follow.
    pub(crate) fn carried(&self, exprs: &[Expr]) -> Vec<(String, String)> {
        let mut open = Vec::new();
        exprs.iter().for_each(|expr| expr.names(&mut open));
        let mut told = Vec::new();
        let mut at = 0;
        while let Some(&var) = open.get(at) {
            at += 1;
            let Some((text, parts)) = self.course(var) else { continue };
            let Expr::Name(_, name) = self.name(var) else { continue };
            told.push((name, text));
            if told.len() >= CARRIED {
                break;
            }
            parts.iter().for_each(|part| part.names(&mut open));
        }
        told
    }

    /// What gives a parameter of several sources its values, and the expressions in that text.
    fn course(&self, var: Var) -> Option<(String, Vec<Expr>)> {
        let kernel = &self.trace.lowered.kernel;
        if let Some((_, lower, upper, step)) =
            kernel.loops.iter().filter_map(|info| info.counted).find(|(counter, ..)| *counter == var)
        {
            let [lower, upper, step] = [lower, upper, step].map(|bound| self.sized(bound, 2));
            return Some((format!("{lower} to {upper} by {step}"), Vec::new()));
        }
        let args = self.trace.args(var);
        if args.len() < 2 {
            return None;
        }
        let (first, again) = self.trace.entering(var);
        let list = |vars: &[Var]| -> Vec<Expr> { vars.iter().map(|var| self.sized(*var, 4)).collect() };
        let (first, again) = (list(&first), list(&again));
        let or = |exprs: &[Expr]| exprs.iter().map(Expr::to_string).collect::<Vec<_>>().join(" or ");
        let text = match again.as_slice() {
            [] => or(&first),
            _ => format!("{}, then {}", or(&first), or(&again)),
        };
        Some((text, first.into_iter().chain(again).collect()))
    }
}
