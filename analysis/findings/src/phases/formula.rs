//! Phases as functions of loop counters: tried in the place of what a wait names, and spelled out.

use super::super::paths::Loops;
use super::super::words::Words;
use base::{Message, message};
use kernel::{EffectId, EffectKind, Instr, Kernel, Pure, Var, VarInfo, VarKind, Width};
use verify::Slices;

/// Integers are wide enough here for every counter.
const WIDE: Width = Width(64);

/// What a wait could name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PhaseFormula {
    /// The same phase always.
    Constant(i64),
    /// The other phase than it names now.
    Other,
    /// The parity of a count of iterations.
    Count {
        /// The loops whose iterations are counted through, the outermost first.
        loops: Vec<usize>,
        /// Iterations from one flip to the next: the depth of the ring.
        every: i64,
        /// The phase that the first iteration names.
        plus: i64,
    },
    /// The parity of the laps of an inner loop around a ring that starts at slot 0 in each iteration
    /// of an outer one.
    Laps {
        /// The outer loop.
        outer: usize,
        /// The inner loop.
        inner: usize,
        /// The depth of the ring.
        every: i64,
        /// The phase that the first iteration names.
        plus: i64,
    },
}

/// The counter, lower bound, upper bound and step of a counted loop.
fn counted(kernel: &Kernel, number: usize) -> Option<(Var, Var, Var, Var)> {
    kernel.loops.get(number)?.counted
}

impl PhaseFormula {
    /// The phase in an iteration; `named` is what the wait names.
    pub fn value(&self, loops: &Loops<'_>, vars: &[i64], named: i64) -> Option<i64> {
        let (count, plus) = match self {
            PhaseFormula::Constant(phase) => (*phase, 0),
            PhaseFormula::Other => (named, 1),
            PhaseFormula::Count { loops: through, every, plus } => {
                let mut count = 0i64;
                for &number in through {
                    count =
                        count.checked_mul(loops.trips(number, vars)?)?.checked_add(loops.iteration(number, vars)?)?;
                }
                (count.checked_div(*every)?, *plus)
            }
            PhaseFormula::Laps { outer, inner, every, plus } => {
                let (tile, own) = (loops.iteration(*outer, vars)?, loops.iteration(*inner, vars)?);
                let rest = loops.trips(*inner, vars)?.checked_sub(own.checked_rem(*every)?)?;
                let laps = rest.checked_add(every - 1)?.checked_div(*every)?;
                (tile.checked_mul(laps)?.checked_add(own / every)?, *plus)
            }
        };
        Some((count + plus) & 1)
    }

    /// The loops that it counts.
    pub fn loops(&self) -> Vec<usize> {
        match self {
            PhaseFormula::Constant(_) | PhaseFormula::Other => Vec::new(),
            PhaseFormula::Count { loops, .. } => loops.clone(),
            PhaseFormula::Laps { outer, inner, .. } => vec![*outer, *inner],
        }
    }

    /// The phase as an expression of the text's names; `None` where a part has none.
    pub fn text(&self, words: &Words<'_>, named: Var) -> Option<Message> {
        let (through, every, plus) = match self {
            PhaseFormula::Constant(phase) => return Some(message!("{phase}", phase)),
            PhaseFormula::Other => return Some(message!("{} ^ 1", name(words, named)?)),
            PhaseFormula::Count { loops, every, plus } => (loops, *every, *plus),
            // A count that goes on needs another slot too.
            PhaseFormula::Laps { .. } => return None,
        };
        let slices = Slices::new(words.kernel);
        let is = |var: Var, value: i64| slices.constant(var) == Some(value);
        let mut count: Option<Message> = None;
        for &number in through {
            let (counter, lower, upper, step) = counted(words.kernel, number)?;
            let away = |var: Var| -> Option<Message> {
                let from = name(words, var)?;
                if is(lower, 0) { Some(from) } else { Some(message!("({from} - {})", from, name(words, lower)?)) }
            };
            let own =
                if is(step, 1) { away(counter)? } else { message!("({} / {})", away(counter)?, name(words, step)?) };
            count = Some(match count {
                None => own,
                Some(outer) => {
                    let trips = match (slices.constant(lower), slices.constant(upper), slices.constant(step)) {
                        (Some(lower), Some(upper), Some(step)) if step > 0 => {
                            message!("{trips}", ((upper - lower).max(0) as u64).div_ceil(step as u64))
                        }
                        _ if is(step, 1) => away(upper)?,
                        _ => message!("ceil({} / {})", away(upper)?, name(words, step)?),
                    };
                    message!("({outer} * {trips} + {own})", outer, trips, own)
                }
            });
        }
        let mut text = count?;
        if every > 1 {
            text = message!("({text} / {every})", text, every);
        }
        text = message!("{text} & 1", text);
        Some(if plus == 1 { message!("({text}) ^ 1", text) } else { text })
    }

    /// For a count that no phase alone can follow what has to change.
    pub fn goes_on(&self, words: &Words<'_>) -> Option<Message> {
        let PhaseFormula::Laps { outer, .. } = self else { return None };
        let counter = name(words, counted(words.kernel, *outer)?.0)?;
        Some(message!("; slot and phase have to go on counting from one iteration of `{counter}` to the next", counter))
    }

    /// Makes a wait name this phase; `None` where it cannot.
    pub fn put(&self, kernel: &mut Kernel, wait: EffectId) -> Option<()> {
        let (block, at) = kernel.blocks.iter().enumerate().find_map(|(number, block)| {
            let here = |instr: &Instr| matches!(instr, Instr::Effect(id) if *id == wait);
            block.instrs.iter().position(here).map(|at| (number, at))
        })?;
        let EffectKind::Wait { phase: named, .. } = kernel.effects.get(wait.index())?.kind else { return None };
        let mut lines = Lines { kernel, instrs: Vec::new() };
        let phase = match self {
            PhaseFormula::Constant(phase) => lines.add(Pure::Const(*phase)),
            PhaseFormula::Other => {
                let one = lines.add(Pure::Const(1));
                lines.add(Pure::Xor(WIDE, named, one))
            }
            PhaseFormula::Count { loops, every, plus } => {
                let mut count: Option<Var> = None;
                for &number in loops {
                    let own = lines.iteration(number)?;
                    count = Some(match count {
                        None => own,
                        Some(outer) => {
                            let trips = lines.trips(number)?;
                            let before = lines.add(Pure::Mul(WIDE, outer, trips));
                            lines.add(Pure::Add(WIDE, before, own))
                        }
                    });
                }
                let every = lines.add(Pure::Const(*every));
                let rounds = lines.add(Pure::DivS(WIDE, count?, every));
                let plus = lines.add(Pure::Const(*plus));
                lines.add(Pure::Add(WIDE, rounds, plus))
            }
            PhaseFormula::Laps { outer, inner, every, plus } => {
                let (tile, own, trips) = (lines.iteration(*outer)?, lines.iteration(*inner)?, lines.trips(*inner)?);
                let every = lines.add(Pure::Const(*every));
                let slot = lines.add(Pure::RemS(WIDE, own, every));
                let rest = lines.add(Pure::Sub(WIDE, trips, slot));
                let laps = lines.add(Pure::CeilDivS(WIDE, rest, every));
                let before = lines.add(Pure::Mul(WIDE, tile, laps));
                let now = lines.add(Pure::DivS(WIDE, own, every));
                let all = lines.add(Pure::Add(WIDE, before, now));
                let plus = lines.add(Pure::Const(*plus));
                lines.add(Pure::Add(WIDE, all, plus))
            }
        };
        let instrs = lines.instrs;
        kernel.blocks.get_mut(block)?.instrs.splice(at..at, instrs).for_each(drop);
        if let EffectKind::Wait { phase: named, .. } = &mut kernel.effects.get_mut(wait.index())?.kind {
            *named = phase;
        }
        Some(())
    }
}

/// Instructions that are going to stand before a wait.
struct Lines<'k> {
    kernel: &'k mut Kernel,
    instrs: Vec<Instr>,
}

impl Lines<'_> {
    fn add(&mut self, pure: Pure<Var>) -> Var {
        let var = Var(self.kernel.vars.len() as u32);
        self.kernel.vars.push(VarInfo { kind: VarKind::Scalar });
        self.instrs.push(Instr::Let(var, pure));
        var
    }

    fn iteration(&mut self, number: usize) -> Option<Var> {
        let (counter, lower, _, step) = counted(self.kernel, number)?;
        let from = self.add(Pure::Sub(WIDE, counter, lower));
        Some(self.add(Pure::DivS(WIDE, from, step)))
    }

    fn trips(&mut self, number: usize) -> Option<Var> {
        let (_, lower, upper, step) = counted(self.kernel, number)?;
        let span = self.add(Pure::Sub(WIDE, upper, lower));
        Some(self.add(Pure::CeilDivS(WIDE, span, step)))
    }
}

/// A variable as the text names it, or its value where it is a constant.
pub(super) fn name(words: &Words<'_>, var: Var) -> Option<Message> {
    let slices = Slices::new(words.kernel);
    if let Some(value) = slices.constant(var) {
        return Some(message!("{value}", value));
    }
    words.map.var(var).or_else(|| words.map.var(slices.root(var))).map(Message::value)
}
