//! Trip counts as numbers of their own, and counters in units of their steps.

use super::gcd;
use super::groups::{Groups, jumps, operands};
use crate::Slices;
use kernel::{CmpOp, InputId, InputKind, Instr, Kernel, Pure, Terminator, Var, VarKind};
use rustc_hash::FxHashMap;

/// A quotient of an input, of which first a constant is added.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Quotient {
    add: i64,
    divisor: i64,
    /// How it is rounded.
    op: std::mem::Discriminant<Pure<Var>>,
    /// Whether it is rounded up, so that it is 1 or more where the input is.
    is_up: bool,
}

/// Where all that is used of an argument is one quotient, the quotient takes its place.
pub(super) fn quotients(kernel: &mut Kernel) {
    let slices = Slices::new(kernel);
    let sums: Vec<Option<(InputId, i64)>> = (0..kernel.vars.len()).map(|at| sum(&slices, Var(at as u32), 4)).collect();
    let of = |var: Var| sums.get(var.index()).copied().flatten();
    // By input: its quotient; `None` where something else is used of it.
    let mut used: FxHashMap<InputId, Option<Quotient>> = FxHashMap::default();
    let refuse = |used: &mut FxHashMap<InputId, Option<Quotient>>, var: Var| {
        if let Some((input, _)) = of(var) {
            used.insert(input, None);
        }
    };
    for block in &kernel.blocks {
        for instr in &block.instrs {
            match instr {
                Instr::Let(dst, pure) => {
                    if let Some((input, quotient)) = quotient(&slices, pure, &of) {
                        let known = used.entry(input).or_insert(Some(quotient));
                        known.take_if(|known| *known != quotient);
                    } else if of(*dst).is_none() {
                        pure.operands().into_iter().for_each(|var| refuse(&mut used, var));
                    }
                }
                Instr::View { op, .. } => op.operand().into_iter().for_each(|var| refuse(&mut used, var)),
                Instr::Word(word) => word.operands().into_iter().for_each(|var| refuse(&mut used, var)),
                Instr::Base(..) | Instr::Effect(_) => {}
                Instr::Host(_) => return,
            }
        }
        if let Terminator::Branch(condition, ..) = block.terminator {
            refuse(&mut used, condition);
        }
        jumps(kernel, &block.terminator, |param, arg| {
            if of(param) != of(arg) {
                refuse(&mut used, arg);
            }
        });
    }
    kernel.effects.iter().for_each(|effect| operands(effect, &mut |var| refuse(&mut used, var)));
    for (_, lower, upper, step) in kernel.loops.iter().filter_map(|info| info.counted) {
        [lower, upper, step].into_iter().for_each(|var| refuse(&mut used, var));
    }
    used.retain(|input, quotient| {
        kernel.inputs.get(input.index()).zip(*quotient).is_some_and(|(info, quotient)| match info.kind {
            InputKind::Argument(_) => true,
            InputKind::Size(_) => quotient.is_up,
            _ => false,
        })
    });
    if used.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    for (number, block) in kernel.blocks.iter().enumerate() {
        for (at, instr) in block.instrs.iter().enumerate() {
            let Instr::Let(dst, pure) = instr else { continue };
            let input = quotient(&slices, pure, &of).map(|(input, _)| input).or(of(*dst).map(|(input, _)| input));
            if let Some(input) = input.filter(|input| used.contains_key(input)) {
                changes.push((number, at, Instr::Let(*dst, Pure::Input(input))));
            }
        }
    }
    for (block, at, instr) in changes {
        kernel.blocks[block].instrs[at] = instr;
    }
    for (at, info) in kernel.inputs.iter_mut().enumerate() {
        if used.contains_key(&InputId(at as u32)) {
            info.divisor = 1;
        }
    }
}

/// A variable as an input and a constant.
fn sum(slices: &Slices<'_>, var: Var, depth: u32) -> Option<(InputId, i64)> {
    match slices.pure(var)? {
        Pure::Input(input) => Some((input, 0)),
        Pure::Copy(of) if depth > 0 => sum(slices, of, depth - 1),
        Pure::Add(_, a, b) if depth > 0 => {
            let (of, add) = slices.constant(b).map(|add| (a, add)).or(slices.constant(a).map(|add| (b, add)))?;
            let (input, before) = sum(slices, of, depth - 1)?;
            Some((input, before.checked_add(add)?))
        }
        Pure::Sub(_, a, b) if depth > 0 => {
            let (input, before) = sum(slices, a, depth - 1)?;
            Some((input, before.checked_sub(slices.constant(b)?)?))
        }
        _ => None,
    }
}

/// An operation as the quotient of an input.
fn quotient(
    slices: &Slices<'_>,
    pure: &Pure<Var>,
    of: &impl Fn(Var) -> Option<(InputId, i64)>,
) -> Option<(InputId, Quotient)> {
    let (Pure::DivS(_, a, b)
    | Pure::DivU(_, a, b)
    | Pure::FloorDivS(_, a, b)
    | Pure::CeilDivS(_, a, b)
    | Pure::CeilDivU(_, a, b)) = *pure
    else {
        return None;
    };
    let (input, add) = of(a)?;
    let divisor = slices.constant(b).filter(|divisor| *divisor > 0)?;
    let is_up = match pure {
        Pure::CeilDivS(..) | Pure::CeilDivU(..) => add >= 0,
        _ => add >= divisor - 1,
    };
    Some((input, Quotient { add, divisor, op: std::mem::discriminant(pure), is_up }))
}

/// How a value of a group behaves when all its constants are divided by one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Nothing is known yet.
    Unknown,
    /// A multiple of that number: it is divided.
    Multiple,
    /// An input and a multiple: it is divided and rounded up. A multiple is below it just if its quotient is.
    Bound,
}

/// Divides the constants of each group of values that are only added to each other and compared by what divides all
/// of them. A bound that is an input stands for its quotient then, rounded up.
pub(super) fn divide(kernel: &mut Kernel) {
    let Some(groups) = ScalarGroups::new(kernel) else { return };
    let units: Vec<u64> = (0..groups.of.len())
        .map(|at| {
            let group = groups.of.of(at);
            if groups.refused[group] { 1 } else { groups.units[group].max(1) }
        })
        .collect();
    let vars = kernel.vars.len();
    for instr in kernel.blocks.iter_mut().flat_map(|block| &mut block.instrs) {
        if let Instr::Let(dst, Pure::Const(value)) = instr {
            *value /= units[dst.index()] as i64;
        }
    }
    for (at, info) in kernel.inputs.iter_mut().enumerate() {
        if units[vars + at] > 1 {
            info.divisor = 1;
        }
    }
}

struct ScalarGroups {
    /// Variables; input `i` has the number of variables plus `i`.
    of: Groups,
    /// By group: whether something else is done with its values than to add and to compare them.
    refused: Vec<bool>,
    /// By group: what divides all its constants.
    units: Vec<u64>,
}

impl ScalarGroups {
    fn new(kernel: &Kernel) -> Option<ScalarGroups> {
        let vars = kernel.vars.len();
        let mut of = Groups::new(vars + kernel.inputs.len());
        let mut refused = vec![false; of.len()];
        let is_scalar =
            |var: Var| kernel.vars.get(var.index()).is_some_and(|info| matches!(info.kind, VarKind::Scalar));
        for block in &kernel.blocks {
            for instr in &block.instrs {
                match instr {
                    Instr::Let(dst, pure) if is_scalar(*dst) => member(kernel, *dst, pure, &mut of, &mut refused),
                    Instr::View { op, .. } => op.operand().into_iter().for_each(|var| refused[var.index()] = true),
                    Instr::Word(word) => {
                        let defined = word.defines().map(|(dst, _)| dst);
                        word.operands().into_iter().chain(defined).for_each(|var| refused[var.index()] = true);
                    }
                    Instr::Let(..) | Instr::Base(..) | Instr::Effect(_) => {}
                    Instr::Host(_) => return None,
                }
            }
            if let Terminator::Branch(condition, ..) = block.terminator {
                refused[condition.index()] = true;
            }
            jumps(kernel, &block.terminator, |param, arg| {
                if is_scalar(param) {
                    of.join(param.index(), arg.index());
                }
            });
        }
        for effect in &kernel.effects {
            operands(effect, &mut |var| refused[var.index()] = true);
            effect.kind.defines().into_iter().for_each(|var| refused[var.index()] = true);
        }
        for (counter, lower, upper, step) in kernel.loops.iter().filter_map(|info| info.counted) {
            [lower, upper, step].into_iter().for_each(|var| of.join(counter.index(), var.index()));
        }
        let mut groups = ScalarGroups { units: vec![0; of.len()], refused: vec![false; of.len()], of };
        for (at, refused) in refused.iter().enumerate() {
            let group = groups.of.of(at);
            groups.refused[group] |= *refused;
        }
        for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
            if let Instr::Let(dst, Pure::Const(value)) = instr {
                let group = groups.of.of(dst.index());
                groups.units[group] = gcd(groups.units[group], value.unsigned_abs());
            }
        }
        groups.compare(kernel, &kinds(kernel, &mut |var| refused[var.index()] = true));
        for (at, refused) in refused.iter().enumerate() {
            let group = groups.of.of(at);
            groups.refused[group] |= *refused;
        }
        Some(groups)
    }

    /// Refuses groups in which a comparison would end otherwise.
    fn compare(&mut self, kernel: &Kernel, kinds: &[Kind]) {
        for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
            let Instr::Let(_, Pure::Cmp(op, _, a, b)) = instr else { continue };
            let is_bound = |var: &Var| kinds.get(var.index()) == Some(&Kind::Bound);
            let keeps = match (is_bound(a), is_bound(b), op) {
                (_, _, CmpOp::Ult | CmpOp::Ule | CmpOp::Ugt | CmpOp::Uge) => false,
                (false, false, _) | (false, true, CmpOp::Slt | CmpOp::Sge) | (true, false, CmpOp::Sgt | CmpOp::Sle) => {
                    true
                }
                _ => false,
            };
            let group = self.of.of(a.index());
            self.refused[group] |= !keeps;
        }
    }
}

/// Joins what an operation counts in one unit, and refuses what it does not.
fn member(kernel: &Kernel, dst: Var, pure: &Pure<Var>, of: &mut Groups, refused: &mut [bool]) {
    let mut join = |with: &[Var]| with.iter().for_each(|var| of.join(dst.index(), var.index()));
    match *pure {
        Pure::Const(_) => {}
        Pure::Input(input) => {
            let kind = kernel.inputs.get(input.index()).map(|info| info.kind);
            refused[dst.index()] |= !matches!(kind, Some(InputKind::Argument(_) | InputKind::Size(_)));
            of.join(dst.index(), kernel.vars.len() + input.index());
        }
        Pure::Copy(a) | Pure::ExtS(_, _, a) => join(&[a]),
        Pure::Add(_, a, b) | Pure::Sub(_, a, b) | Pure::MinS(_, a, b) | Pure::MaxS(_, a, b) => join(&[a, b]),
        Pure::Select(condition, a, b) => {
            join(&[a, b]);
            refused[condition.index()] = true;
        }
        Pure::Cmp(_, _, a, b) => {
            of.join(a.index(), b.index());
            refused[dst.index()] = true;
        }
        _ => pure.operands().into_iter().chain([dst]).for_each(|var| refused[var.index()] = true),
    }
}

/// What each variable is; calls `refuse` with those that are neither a multiple nor a bound.
fn kinds(kernel: &Kernel, refuse: &mut dyn FnMut(Var)) -> Vec<Kind> {
    let mut kinds = vec![Kind::Unknown; kernel.vars.len()];
    let mut changed = true;
    let raise = |kinds: &mut Vec<Kind>, var: Var, kind: Kind| {
        kinds.get_mut(var.index()).is_some_and(|known| *known < kind && std::mem::replace(known, kind) != kind)
    };
    while std::mem::take(&mut changed) {
        for block in &kernel.blocks {
            for instr in &block.instrs {
                let Instr::Let(dst, pure) = instr else { continue };
                let of = |var: Var| kinds.get(var.index()).copied().unwrap_or(Kind::Unknown);
                let kind = match *pure {
                    Pure::Const(_) => Kind::Multiple,
                    Pure::Input(_) => Kind::Bound,
                    Pure::Copy(a) | Pure::ExtS(_, _, a) => of(a),
                    Pure::Add(_, a, b) | Pure::MinS(_, a, b) | Pure::MaxS(_, a, b) | Pure::Select(_, a, b) => {
                        of(a).max(of(b))
                    }
                    Pure::Sub(_, a, _) => of(a),
                    _ => continue,
                };
                changed |= raise(&mut kinds, *dst, kind);
            }
            let mut passed = Vec::new();
            jumps(kernel, &block.terminator, |param, arg| passed.push((param, arg)));
            for (param, arg) in passed {
                let kind = kinds.get(arg.index()).copied().unwrap_or(Kind::Unknown);
                changed |= raise(&mut kinds, param, kind);
            }
        }
    }
    let is_bound = |var: Var| kinds.get(var.index()) == Some(&Kind::Bound);
    for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
        match *instr {
            Instr::Let(dst, Pure::Add(_, a, b)) if is_bound(a) && is_bound(b) => refuse(dst),
            Instr::Let(dst, Pure::Sub(_, _, b)) if is_bound(b) => refuse(dst),
            _ => {}
        }
    }
    kinds
}
