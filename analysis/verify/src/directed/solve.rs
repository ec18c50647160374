//! Inputs under which a condition comes out as wanted.
//!
//! A condition is followed backwards from its outcome to the arguments, program numbers and words of memory that it is
//! computed from, one operand at a time with the others as they are; what that proposes is computed before it is
//! believed.

use crate::Formula;
use crate::inputs::{set, set_alone};
use crate::limits::directed::{DEPTH as MOST_DEPTH, VISITS as MOST_VISITS, WAYS as MOST_WAYS};
use kernel::{CmpOp, InputId, InputKind, Kernel, Pure, Width};
use machine::{MemoryWord, Valuation};

/// Largest program number.
const MOST_PROGRAMS: i64 = (1 << 16) - 1;

/// What takes a value from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leaf {
    Input(InputId),
    Word(InputId, i64),
}

/// Values for inputs.
type Change = Vec<(Leaf, i64)>;

/// A condition that shall come out one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<'g> {
    pub(super) kernel: &'g Kernel,
    pub(super) formula: &'g Formula,
    pub(super) wanted: bool,
    /// By how much one side of a comparison shall exceed the other, best first.
    pub(super) margins: &'g [i64],
    /// Whether inputs that the analysis knows nothing of may differ.
    pub(super) apart: bool,
}

impl Goal<'_> {
    /// Changes of a valuation that lead there, those that change least first.
    pub(super) fn solve(&self, from: &Valuation) -> Vec<Valuation> {
        let mut solved: Vec<Valuation> = Vec::new();
        let mut note = |valuation: Valuation| {
            if self.holds(&valuation) && !solved.contains(&valuation) {
                solved.push(valuation);
            }
        };
        for valuation in self.proposed(from) {
            if !self.holds(&valuation) {
                // What one change breaks another one may mend.
                self.proposed(&valuation).into_iter().for_each(&mut note);
            }
            note(valuation);
        }
        self.swept(from).into_iter().for_each(note);
        solved
    }

    fn holds(&self, valuation: &Valuation) -> bool {
        self.formula.eval(valuation, 0).is_some_and(|bit| (bit & 1 == 1) == self.wanted)
    }

    fn proposed(&self, from: &Valuation) -> Vec<Valuation> {
        let Some(values) = self.formula.values(from) else { return Vec::new() };
        let visits = std::cell::Cell::new(0);
        let ways = Ways { goal: self, values: &values, visits: &visits };
        let Some(root) = self.formula.place(0) else { return Vec::new() };
        let mut changes = ways.truth(root, self.wanted, 0);
        changes.sort_by_key(|change| change.iter().map(|(leaf, _)| self.rank(*leaf)).max().unwrap_or(0));
        changes.iter().filter_map(|change| self.changed(from, change)).collect()
    }

    /// What is changed rather than other things: arguments and memory differ from launch to launch.
    fn rank(&self, leaf: Leaf) -> u8 {
        match leaf {
            Leaf::Word(..) => 0,
            Leaf::Input(input) => match self.kernel.inputs.get(input.index()).map(|info| info.kind) {
                Some(InputKind::Argument(_) | InputKind::Size(_)) => 0,
                Some(InputKind::Free | InputKind::Tiles) => 1,
                Some(InputKind::ProgramId(_)) => 2,
                _ => 3,
            },
        }
    }

    fn changed(&self, from: &Valuation, change: &Change) -> Option<Valuation> {
        let mut valuation = from.clone();
        for &(leaf, value) in change {
            match leaf {
                Leaf::Word(memory, address) => {
                    let width = self.kernel.inputs.get(memory.index())?.width;
                    valuation.set_word(MemoryWord { memory, address, value: possible_word(width, value)? });
                }
                Leaf::Input(input) => {
                    let value = self.possible(input, value)?;
                    if self.apart {
                        set_alone(self.kernel, &mut valuation, input, value);
                    } else {
                        set(self.kernel, &mut valuation, input, value);
                    }
                }
            }
        }
        Some(valuation)
    }

    /// The value that comes next to one which an input may take.
    fn possible(&self, input: InputId, value: i64) -> Option<i64> {
        let info = self.kernel.inputs.get(input.index())?;
        let range = match info.kind {
            InputKind::Pointer(_) | InputKind::CtaRank | InputKind::Memory | InputKind::Rewritten => return None,
            InputKind::Argument(_) => 0..=i64::from(i32::MAX),
            InputKind::Size(_) => 1..=i64::from(i32::MAX),
            InputKind::ProgramId(_) => 0..=MOST_PROGRAMS,
            InputKind::NumPrograms(_) => 1..=MOST_PROGRAMS,
            InputKind::Tiles => 0..=40,
            InputKind::Free => -1..=i64::from(i32::MAX),
        };
        let divisor = i64::try_from(info.divisor.max(1)).ok()?;
        let rest = value.rem_euclid(divisor);
        let value = if rest == 0 { value } else { value.checked_add(divisor - rest)? };
        let value = if info.width == 1 { value & 1 } else { value };
        (range.contains(&value) && Width(info.width).wrap(value) == value).then_some(value)
    }

    /// One input after the other at small values and those near constants of the condition.
    fn swept(&self, from: &Valuation) -> Vec<Valuation> {
        if self.formula.operations().len() > 512 {
            return Vec::new();
        }
        let mut leaves: Vec<Leaf> = Vec::new();
        let mut values: Vec<i64> = (0..=8).chain((4..=16).map(|bits| 1 << bits)).collect();
        let now = self.formula.values(from).unwrap_or_default();
        for operation in self.formula.operations() {
            let leaf = match operation {
                Pure::Input(input) => Leaf::Input(*input),
                Pure::Load(memory, address) => match now.get(*address as usize) {
                    Some(&address) => Leaf::Word(*memory, address),
                    None => continue,
                },
                Pure::Const(value) => {
                    let near = [value.saturating_sub(1), *value, value.saturating_add(1)];
                    values.extend(near.into_iter().filter(|value| *value > 8));
                    continue;
                }
                _ => continue,
            };
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        values.sort_unstable();
        values.dedup();
        values.truncate(64);
        leaves.sort_by_key(|leaf| self.rank(*leaf));
        leaves.truncate(16);
        let mut swept = Vec::new();
        for leaf in leaves {
            let fits = values.iter().filter_map(|&value| self.changed(from, &vec![(leaf, value)]));
            swept.extend(fits.filter(|valuation| self.holds(valuation)).take(2));
        }
        swept
    }
}

fn possible_word(width: u8, value: i64) -> Option<i64> {
    let value = if width == 1 { value & 1 } else { value };
    (value >= -1 && Width(width).wrap(value) == value).then_some(value)
}

/// The way back from operations to inputs.
struct Ways<'g> {
    goal: &'g Goal<'g>,
    values: &'g [i64],
    visits: &'g std::cell::Cell<u32>,
}

impl Ways<'_> {
    fn now(&self, place: u32) -> i64 {
        self.values.get(place as usize).copied().unwrap_or(0)
    }

    /// Changes that give a condition a truth.
    fn truth(&self, place: u32, wanted: bool, depth: u32) -> Vec<Change> {
        self.value(place, i64::from(wanted), depth)
    }

    /// Changes that give an operation a value, or one near to it.
    fn value(&self, place: u32, target: i64, depth: u32) -> Vec<Change> {
        if self.now(place) == target {
            return vec![Vec::new()];
        }
        self.visits.set(self.visits.get() + 1);
        if depth > MOST_DEPTH || self.visits.get() > MOST_VISITS {
            return Vec::new();
        }
        let Some(operation) = self.goal.formula.operations().get(place as usize) else { return Vec::new() };
        let mut ways = self.back(operation, target, depth + 1);
        ways.truncate(MOST_WAYS);
        ways
    }

    fn back(&self, operation: &Pure<u32>, target: i64, depth: u32) -> Vec<Change> {
        let to = |place: u32, target: Option<i64>| -> Vec<Change> {
            target.map_or_else(Vec::new, |target| self.value(place, target, depth))
        };
        let either = |a: Vec<Change>, b: Vec<Change>| -> Vec<Change> { a.into_iter().chain(b).collect() };
        let now = |place: u32| self.now(place);
        match *operation {
            Pure::Const(_) => Vec::new(),
            Pure::Input(input) => vec![vec![(Leaf::Input(input), target)]],
            Pure::Load(memory, address) => vec![vec![(Leaf::Word(memory, now(address)), target)]],
            Pure::Copy(a) | Pure::ExtS(_, _, a) | Pure::Trunc(_, a) => to(a, Some(target)),
            Pure::ExtU(from, _, a) => to(a, Some(from.wrap(target))),
            Pure::Add(_, a, b) => either(to(a, target.checked_sub(now(b))), to(b, target.checked_sub(now(a)))),
            Pure::Sub(_, a, b) => either(to(a, target.checked_add(now(b))), to(b, now(a).checked_sub(target))),
            Pure::Mul(_, a, b) => self.product(a, b, target, depth),
            Pure::DivS(_, a, b) | Pure::DivU(_, a, b) | Pure::FloorDivS(_, a, b) => {
                let less = (target != 0).then(|| now(a).checked_div(target)).flatten();
                either(to(a, target.checked_mul(now(b))), to(b, less))
            }
            Pure::CeilDivS(_, a, b) | Pure::CeilDivU(_, a, b) => {
                let less = (target > 0).then(|| (now(a).max(0) as u64).div_ceil(target as u64) as i64);
                either(to(a, target.checked_mul(now(b))), to(b, less))
            }
            Pure::RemS(_, a, b) | Pure::RemU(_, a, b) => {
                if target < 0 || now(b) <= target {
                    // The divisor has to be larger first.
                    let enough = (target >= 0).then(|| target.saturating_add(1));
                    return self.both(&to(b, enough), &to(a, enough.map(|_| target)));
                }
                let rest = now(a).checked_rem(now(b));
                to(a, rest.and_then(|rest| now(a).checked_sub(rest)?.checked_add(target)))
            }
            Pure::MinS(_, a, b) | Pure::MinU(_, a, b) => self.extreme(a, b, target, depth, target > now(a).min(now(b))),
            Pure::MaxS(_, a, b) | Pure::MaxU(_, a, b) => self.extreme(a, b, target, depth, target < now(a).max(now(b))),
            Pure::And(width, a, b) if width.0 == 1 => self.junction(a, b, target == 1, target, depth),
            Pure::Or(width, a, b) if width.0 == 1 => self.junction(a, b, target == 0, target, depth),
            Pure::And(_, a, b) => {
                either(to(a, Some(now(a) & !now(b) | target)), to(b, Some(now(b) & !now(a) | target)))
            }
            Pure::Or(_, a, b) => either(to(a, Some(target & !now(b))), to(b, Some(target & !now(a)))),
            Pure::Xor(_, a, b) => either(to(a, Some(target ^ now(b))), to(b, Some(target ^ now(a)))),
            Pure::Shl(_, a, b) => to(a, u32::try_from(now(b)).ok().and_then(|bits| target.checked_shr(bits))),
            Pure::ShrS(_, a, b) | Pure::ShrU(_, a, b) => to(
                a,
                u32::try_from(now(b)).ok().filter(|bits| *bits < 62).and_then(|bits| target.checked_mul(1 << bits)),
            ),
            Pure::Cmp(op, _, a, b) => self.comparison(op, a, b, target & 1 == 1, depth),
            Pure::Select(condition, a, b) => {
                let holds = now(condition) & 1 == 1;
                let (chosen, other) = if holds { (a, b) } else { (b, a) };
                let turned = self.truth(condition, !holds, depth);
                either(to(chosen, Some(target)), self.both(&turned, &to(other, Some(target))))
            }
        }
    }

    /// Changes that do both.
    fn both(&self, a: &[Change], b: &[Change]) -> Vec<Change> {
        let mut all = Vec::new();
        for x in a.iter().take(4) {
            for y in b.iter().take(4) {
                let clash =
                    |(leaf, value): &(Leaf, i64)| x.iter().any(|(known, other)| known == leaf && other != value);
                if !y.iter().any(clash) {
                    all.push(x.iter().chain(y).copied().collect());
                }
            }
        }
        all
    }

    /// A product: one factor for the other, or both where one is 0.
    fn product(&self, a: u32, b: u32, target: i64, depth: u32) -> Vec<Change> {
        let mut ways = Vec::new();
        for (factor, other) in [(a, b), (b, a)] {
            match self.now(other) {
                0 if target == 0 => {}
                0 => {
                    let one = self.value(other, 1, depth);
                    ways.extend(self.both(&one, &self.value(factor, target, depth)));
                }
                by => {
                    let (quotient, rest) = (target.wrapping_div(by), target.wrapping_rem(by));
                    let up = i64::from(rest != 0 && (rest < 0) == (by < 0));
                    ways.extend(self.value(factor, quotient.saturating_add(up), depth));
                }
            }
        }
        ways
    }

    /// The lesser or greater of two: one of them, or both where both bound it.
    fn extreme(&self, a: u32, b: u32, target: i64, depth: u32, bound: bool) -> Vec<Change> {
        if !bound {
            return self.value(a, target, depth).into_iter().chain(self.value(b, target, depth)).collect();
        }
        // The one that is beyond the target already stays.
        let beyond = |place: u32, other: u32| (self.now(place) >= target) != (self.now(other) >= target);
        if beyond(a, b) {
            let (low, high) = if self.now(a) < self.now(b) { (a, b) } else { (b, a) };
            let lesser = target > self.now(a).min(self.now(b));
            return self.value(if lesser { low } else { high }, target, depth);
        }
        self.both(&self.value(a, target, depth), &self.value(b, target, depth))
    }

    /// `and` and `or`: both have to be so, or one of them.
    fn junction(&self, a: u32, b: u32, all: bool, target: i64, depth: u32) -> Vec<Change> {
        let (x, y) = (self.value(a, target, depth), self.value(b, target, depth));
        if all { self.both(&x, &y) } else { x.into_iter().chain(y).collect() }
    }

    fn comparison(&self, op: CmpOp, a: u32, b: u32, wanted: bool, depth: u32) -> Vec<Change> {
        let equal = |ways: &mut Vec<Change>| {
            ways.extend(self.value(a, self.now(b), depth));
            ways.extend(self.value(b, self.now(a), depth));
        };
        let mut ways = Vec::new();
        let (low, high, or_equal) = match (op, wanted) {
            (CmpOp::Eq, true) | (CmpOp::Ne, false) => {
                equal(&mut ways);
                return ways;
            }
            (CmpOp::Eq, false) | (CmpOp::Ne, true) => {
                for (place, other) in [(a, b), (b, a)] {
                    for by in [1, 2, -1] {
                        ways.extend(self.value(place, self.now(other).saturating_add(by), depth));
                    }
                }
                return ways;
            }
            (CmpOp::Slt | CmpOp::Ult, true) | (CmpOp::Sge | CmpOp::Uge, false) => (a, b, false),
            (CmpOp::Sle | CmpOp::Ule, true) | (CmpOp::Sgt | CmpOp::Ugt, false) => (a, b, true),
            (CmpOp::Sgt | CmpOp::Ugt, true) | (CmpOp::Sle | CmpOp::Ule, false) => (b, a, false),
            (CmpOp::Sge | CmpOp::Uge, true) | (CmpOp::Slt | CmpOp::Ult, false) => (b, a, true),
        };
        for &margin in self.goal.margins {
            ways.extend(self.value(high, self.now(low).saturating_add(margin), depth));
            ways.extend(self.value(low, self.now(high).saturating_sub(margin), depth));
            // Where one is bound to what the other is, both move apart.
            if self.now(low) != 0 {
                let none = self.value(low, 0, depth);
                ways.extend(self.both(&none, &self.value(high, margin, depth)));
            }
        }
        if or_equal {
            equal(&mut ways);
        }
        ways
    }
}
