//! How much of each variable the rest of the kernel can notice.
//!
//! A counter that only ever reaches effects through `% 3` and `(… / 3) & 1` matters modulo 6, so
//! two states that agree modulo 6 behave alike. Demands flow backwards from effects, branches
//! and slots. Assumed: counters stay non-negative and do not wrap around their width; a trip count
//! near 2^31 is outside what is claimed.

use super::slice::targets;
use crate::limits::demand::{HORIZON as HORIZON_LIMIT, MODULUS as MODULUS_LIMIT};
use kernel::{BlockId, CmpOp, Effect, EffectKind, Instr, Kernel, Pure, Terminator, Var, VarKind};

/// What of a variable matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demand {
    /// Nothing.
    Nothing,
    /// Its value modulo this.
    Modulo(u64),
    /// Its value modulo `modulus`, and its value itself up to `horizon`, beyond which only matters
    /// that it is beyond.
    Near {
        /// 1 where no rest matters.
        modulus: u64,
        /// Comparisons with constants are with smaller ones.
        horizon: i64,
    },
    /// All of it.
    Whole,
}

impl Demand {
    /// What matters where both do.
    pub(crate) fn join(self, other: Demand) -> Demand {
        match (self, other) {
            (Demand::Nothing, demand) | (demand, Demand::Nothing) => demand,
            (Demand::Whole, _) | (_, Demand::Whole) => Demand::Whole,
            (a, b) => {
                let ((a, x), (b, y)) = (a.parts(), b.parts());
                near(a / gcd(a, b) * b, x.max(y))
            }
        }
    }

    /// Modulus and horizon of a demand that is neither nothing nor all.
    fn parts(self) -> (u64, Option<i64>) {
        match self {
            Demand::Modulo(modulus) => (modulus, None),
            Demand::Near { modulus, horizon } => (modulus, Some(horizon)),
            Demand::Nothing | Demand::Whole => (1, None),
        }
    }

    /// The demand on an operand of which the result is a multiple, or which is `factor` times the
    /// result and a rest.
    fn times(self, factor: u64) -> Demand {
        match self {
            Demand::Nothing | Demand::Whole => self,
            _ => {
                let (modulus, horizon) = self.parts();
                near(modulus.saturating_mul(factor), horizon.map(|horizon| horizon.saturating_mul(factor as i64)))
            }
        }
    }

    /// The demand on an operand that is this much larger than the result.
    fn shifted(self, by: i64) -> Demand {
        match self {
            Demand::Near { modulus, horizon } => near(modulus, Some(horizon.saturating_add(by.max(0)))),
            other => other,
        }
    }

    /// The demand on operands whose result keeps rests, but says nothing of sizes.
    fn rest_only(self) -> Demand {
        if matches!(self, Demand::Near { .. }) { Demand::Whole } else { self }
    }
}

fn near(modulus: u64, horizon: Option<i64>) -> Demand {
    match horizon {
        None => modulo(modulus),
        Some(horizon) if modulus <= MODULUS_LIMIT && horizon <= HORIZON_LIMIT => Demand::Near { modulus, horizon },
        Some(_) => Demand::Whole,
    }
}

fn modulo(modulus: u64) -> Demand {
    if modulus <= MODULUS_LIMIT { Demand::Modulo(modulus) } else { Demand::Whole }
}

/// Greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Demands by variable. The tests of the counted loops whose heads are in `tested`, and the
/// comparisons that `edges` name, are left out: the caller accounts for the position in these
/// loops itself. What `leaves` mark is taken as given: nothing is asked of its operands.
pub(crate) fn demands(kernel: &Kernel, tested: &[BlockId], edges: &[Var], leaves: &[bool]) -> Vec<Demand> {
    let mut demands = vec![Demand::Nothing; kernel.vars.len()];
    let mut constants = vec![None; kernel.vars.len()];
    for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
        if let Instr::Let(dst, Pure::Const(value)) = instr {
            constants[dst.index()] = Some(*value);
        }
    }
    loop {
        let mut changed = false;
        let mut want = |demands: &mut Vec<Demand>, var: Var, demand: Demand| {
            if let Some(known) = demands.get_mut(var.index()) {
                let joined = known.join(demand);
                changed |= joined != *known;
                *known = joined;
            }
        };
        for (number, block) in kernel.blocks.iter().enumerate().rev() {
            match &block.terminator {
                Terminator::Branch(condition, ..) if !tested.contains(&BlockId(number as u32)) => {
                    want(&mut demands, *condition, Demand::Modulo(2));
                }
                _ => {}
            }
            targets(&block.terminator, |target| {
                let Some(to) = kernel.blocks.get(target.block.index()) else { return };
                for (&param, &arg) in to.params.iter().zip(&target.args) {
                    let demand = demands.get(param.index()).copied().unwrap_or(Demand::Whole);
                    want(&mut demands, arg, demand);
                }
            });
            for instr in block.instrs.iter().rev() {
                match instr {
                    Instr::Let(dst, pure) => {
                        let demand = demands.get(dst.index()).copied().unwrap_or(Demand::Whole);
                        if demand == Demand::Nothing || leaves.get(dst.index()) == Some(&true) {
                            continue;
                        }
                        if edges.contains(dst) {
                            // Which of two it is follows from the position; what it is does not.
                            if let Pure::MaxS(_, a, b) | Pure::MinS(_, a, b) = *pure {
                                want(&mut demands, a, demand);
                                want(&mut demands, b, demand);
                            }
                        } else {
                            operands(pure, demand, &constants, |var, demand| want(&mut demands, var, demand));
                        }
                    }
                    Instr::View { src, op, .. } => {
                        want(&mut demands, *src, Demand::Whole);
                        op.operand().into_iter().for_each(|operand| want(&mut demands, operand, Demand::Whole));
                    }
                    // The proof knows no words: it takes what they are otherwise.
                    Instr::Word(word) => {
                        if let Some((dst, otherwise)) = word.defines() {
                            let demand = demands.get(dst.index()).copied().unwrap_or(Demand::Whole);
                            want(&mut demands, otherwise, demand);
                        }
                    }
                    Instr::Base(..) | Instr::Host(_) => {}
                    Instr::Effect(id) => {
                        if let Some(effect) = kernel.effects.get(id.index()) {
                            effect_operands(effect, |var, demand| want(&mut demands, var, demand));
                        }
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (demand, info) in demands.iter_mut().zip(&kernel.vars) {
        if matches!(info.kind, VarKind::View(_)) && *demand != Demand::Nothing {
            *demand = Demand::Whole;
        }
    }
    demands
}

fn operands(pure: &Pure<Var>, demand: Demand, constants: &[Option<i64>], mut want: impl FnMut(Var, Demand)) {
    let number = |var: Var| constants.get(var.index()).copied().flatten();
    let constant = |var: Var| number(var).filter(|&value| value > 0).map(|v| v as u64);
    match *pure {
        Pure::Const(_) | Pure::Input(_) => {}
        Pure::Copy(a) | Pure::ExtS(_, _, a) | Pure::ExtU(_, _, a) | Pure::Trunc(_, a) => want(a, demand),
        Pure::Add(_, a, b) => match (number(a), number(b)) {
            (_, Some(by)) => want(a, demand.shifted(-by)),
            (Some(by), _) => want(b, demand.shifted(-by)),
            _ => [a, b].into_iter().for_each(|var| want(var, demand.rest_only())),
        },
        Pure::Sub(_, a, b) => match number(b) {
            Some(by) => want(a, demand.shifted(by)),
            None => [a, b].into_iter().for_each(|var| want(var, demand.rest_only())),
        },
        Pure::Mul(_, a, b) => match (constant(a), constant(b)) {
            (_, Some(_)) => want(a, demand),
            (Some(_), _) => want(b, demand),
            _ => [a, b].into_iter().for_each(|var| want(var, demand.rest_only())),
        },
        Pure::RemS(_, a, b) | Pure::RemU(_, a, b) => {
            want(b, Demand::Whole);
            want(a, constant(b).map_or(Demand::Whole, modulo));
        }
        Pure::DivS(_, a, b) | Pure::DivU(_, a, b) | Pure::FloorDivS(_, a, b) => {
            want(b, Demand::Whole);
            want(a, constant(b).map_or(Demand::Whole, |divisor| demand.times(divisor)));
        }
        Pure::ShrS(_, a, b) | Pure::ShrU(_, a, b) => {
            want(b, Demand::Whole);
            let amount = constant(b).filter(|&amount| amount < 12);
            want(a, amount.map_or(Demand::Whole, |amount| demand.times(1 << amount)));
        }
        Pure::And(_, a, b) => {
            let mask =
                |var: Var| constant(var).filter(|mask| (mask + 1).is_power_of_two()).map(|mask| modulo(mask + 1));
            match (mask(a), mask(b)) {
                (_, Some(modulus)) => want(a, modulus),
                (Some(modulus), _) => want(b, modulus),
                _ => bitwise(a, b, demand, &mut want),
            }
        }
        Pure::Or(_, a, b) | Pure::Xor(_, a, b) => bitwise(a, b, demand, &mut want),
        Pure::Select(condition, a, b) => {
            want(condition, Demand::Modulo(2));
            want(a, demand);
            want(b, demand);
        }
        Pure::Cmp(CmpOp::Eq | CmpOp::Ne | CmpOp::Slt | CmpOp::Sle | CmpOp::Sgt | CmpOp::Sge, width, a, b)
            if width.0 > 1 =>
        {
            // Beyond the constant all comparisons end alike.
            match (number(a), number(b)) {
                (_, Some(with)) => want(a, near(1, Some(with.max(0).saturating_add(1)))),
                (Some(with), _) => want(b, near(1, Some(with.max(0).saturating_add(1)))),
                _ => [a, b].into_iter().for_each(|var| want(var, Demand::Whole)),
            }
        }
        Pure::MaxS(width, a, b) | Pure::MinS(width, a, b) if width.0 > 1 => {
            let chosen = |with: i64| demand.join(near(1, Some(with.max(0).saturating_add(1))));
            match (number(a), number(b)) {
                (_, Some(with)) => want(a, chosen(with)),
                (Some(with), _) => want(b, chosen(with)),
                _ => [a, b].into_iter().for_each(|var| want(var, Demand::Whole)),
            }
        }
        _ => pure.operands().into_iter().for_each(|var| want(var, Demand::Whole)),
    }
}

fn bitwise(a: Var, b: Var, demand: Demand, want: &mut impl FnMut(Var, Demand)) {
    let demand = match demand {
        Demand::Modulo(modulus) => modulo(modulus.next_power_of_two()),
        other => other.rest_only(),
    };
    want(a, demand);
    want(b, demand);
}

/// Calls `want` with each variable that an effect reads.
pub(super) fn effect_operands(effect: &Effect, mut want: impl FnMut(Var, Demand)) {
    if let Some(predicate) = effect.predicate {
        want(predicate, Demand::Modulo(2));
    }
    match &effect.kind {
        EffectKind::Operation { accesses, completion, .. } => {
            accesses.iter().for_each(|access| want(access.view, Demand::Whole));
            for arrival in completion.arrivals() {
                want(arrival.barrier, Demand::Whole);
                if let Some(predicate) = arrival.predicate {
                    want(predicate, Demand::Modulo(2));
                }
            }
        }
        EffectKind::Wait { barrier, phase } => {
            want(*barrier, Demand::Whole);
            want(*phase, Demand::Modulo(2));
        }
        EffectKind::Init { barrier, .. }
        | EffectKind::Invalidate { barrier }
        | EffectKind::Expect { barrier, .. }
        | EffectKind::Arrive { barrier, .. }
        | EffectKind::ReadPhase { barrier, .. }
        | EffectKind::TensorCoreCommit { barrier, .. }
        | EffectKind::AsyncCopyArrive { barrier, .. } => want(*barrier, Demand::Whole),
        EffectKind::NamedArrive { id, threads } => {
            want(*id, Demand::Whole);
            want(*threads, Demand::Whole);
        }
        EffectKind::NamedWait { id } => want(*id, Demand::Whole),
        EffectKind::Use { of } => want(*of, Demand::Whole),
        EffectKind::ClcLoad { source, .. } => want(source.view, Demand::Whole),
        EffectKind::Allocate(_)
        | EffectKind::Commit(_)
        | EffectKind::WaitGroup { .. }
        | EffectKind::ProxyFence
        | EffectKind::ClusterArrive { .. }
        | EffectKind::ClusterWait
        | EffectKind::Unmodelled => {}
    }
}

/// Variables that may still be read, at the start of each block's instructions.
#[derive(Debug)]
pub(crate) struct Liveness<'k> {
    kernel: &'k Kernel,
    at_entry: Vec<Vec<bool>>,
}

impl<'k> Liveness<'k> {
    /// Solves the backward data flow.
    pub(crate) fn new(kernel: &'k Kernel) -> Liveness<'k> {
        let mut liveness = Liveness { kernel, at_entry: vec![vec![false; kernel.vars.len()]; kernel.blocks.len()] };
        loop {
            let mut changed = false;
            for number in (0..kernel.blocks.len()).rev() {
                let live = liveness.at(BlockId(number as u32), 0);
                changed |= live != liveness.at_entry[number];
                liveness.at_entry[number] = live;
            }
            if !changed {
                return liveness;
            }
        }
    }

    /// Which variables may be read from an instruction on.
    pub(crate) fn at(&self, block: BlockId, instr: usize) -> Vec<bool> {
        let mut live = vec![false; self.kernel.vars.len()];
        let Some(info) = self.kernel.blocks.get(block.index()) else { return live };
        if let Terminator::Branch(condition, ..) = info.terminator {
            live[condition.index()] = true;
        }
        targets(&info.terminator, |target| {
            let Some(to) = self.kernel.blocks.get(target.block.index()) else { return };
            for (var, &is_live) in self.at_entry[target.block.index()].iter().enumerate() {
                if is_live && !to.params.contains(&Var(var as u32)) {
                    live[var] = true;
                }
            }
            for (&param, &arg) in to.params.iter().zip(&target.args) {
                live[arg.index()] |= self.at_entry[target.block.index()][param.index()];
            }
        });
        for instr in info.instrs.get(instr..).unwrap_or_default().iter().rev() {
            match instr {
                Instr::Let(dst, pure) => {
                    if std::mem::replace(&mut live[dst.index()], false) {
                        pure.operands().into_iter().for_each(|var| live[var.index()] = true);
                    }
                }
                Instr::View { dst, src, op } => {
                    if std::mem::replace(&mut live[dst.index()], false) {
                        live[src.index()] = true;
                        op.operand().into_iter().for_each(|operand| live[operand.index()] = true);
                    }
                }
                Instr::Base(dst, _) => live[dst.index()] = false,
                Instr::Word(word) => {
                    if let Some((dst, otherwise)) = word.defines()
                        && std::mem::replace(&mut live[dst.index()], false)
                    {
                        live[otherwise.index()] = true;
                    }
                }
                Instr::Host(_) => {}
                Instr::Effect(id) => {
                    if let Some(effect) = self.kernel.effects.get(id.index()) {
                        if let Some(dst) = effect.kind.defines() {
                            live[dst.index()] = false;
                        }
                        effect_operands(effect, |var, _| live[var.index()] = true);
                    }
                }
            }
        }
        live
    }
}
