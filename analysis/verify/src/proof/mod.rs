//! Proofs: all inputs at once.
//!
//! A kernel is run with its inputs left open: a scalar is a number, or a sum of *symbols* (inputs,
//! functions of inputs, trip counts), or known up to multiples of a modulus. Where a branch, a
//! predicate, a phase or an index depends on a symbol, the run forks into one path for each
//! possible *fact* (an interval or a rest of the symbol), and the fact is kept: a thread that comes
//! to the same question later finds the answer. A path at a fork is compared with all earlier ones
//! by its normal form ([`normal_form`]); where it was seen before, the path ends. When no path is left,
//! every input is covered.
//!
//! **Why that is sound.** Take any inputs. Their run follows a path: at each fork one of the facts
//! is true of them, and facts are only ever used where they hold for every run with these inputs.
//! Where the path ends at a form that was seen before, the run goes on as from there, with all
//! counters shifted, and is covered by the paths that leave it. So there is a schedule of that run
//! (the one in which the paths were driven) on which no rule breaks, which the machine judges
//! confluent at each step, and which ends: it stands for all schedules.
//!
//! - *Same symbol, same number*: symbols are named by what they are computed from. An input that
//!   may differ from one execution to the next (read from memory, or free) is a symbol of its own
//!   in each iteration of the loops around ([`SymbolOrigin::At`]).
//! - *Nested and sequential loops*: the trip count of an inner loop is decided anew in each
//!   iteration of the outer one (and for each of several loops in turn), so that states come again.
//!   That covers more runs than there are: a proof may fail for it, never hold for it. What is told
//!   apart by constants, and all rests, are decided once for all iterations.
//! - *Decisions are shared*: partitions that run loops with one driver take the front's decisions
//!   one after the other. A decision is forgotten when every thread has left its iteration; to
//!   forget is always sound.
//! - *Normal form*: what of a variable can be noticed is computed by
//!   [`demands`](super::demand::demands). Comparisons of a counter with its own bound follow from
//!   the position relative to the front, those with constants from the iteration up to a horizon.
//!
//! **Assumed**: integers do not wrap around their width; steps of loops are positive; loops that
//! arguments drive run at least as often as their ring has slots ([`InputPlan::floor`]); loops end.
//! What breaks only where a loop does not run at all was said before ([`Outcome::assumed`]) and
//! ends its path. **Checked**: everything else; whatever is not followed gives up with the reason.
//!
//! [`SymbolOrigin::At`]: value::Origin::At
//! [`Outcome::assumed`]: super::Outcome::assumed

mod compare;
mod context;
mod eval;
mod facts;
mod memo;
mod nesting;
mod normal_form;
mod path;
mod scalar;
mod sums;
mod value;
mod walk;

use super::Decision;
use super::inputs::InputPlan;
use super::outcome::{Closure, Found, OpenReason, Reach, SharedProof};
use crate::limits::proof::{CELLS, FAR, LEADS, STATES};
use base::{Cancel, Cancelled, Digest, Limits};
use context::ProofContext;
use explore::{Readiness, System};
use facts::{Fact, Facts, NO_HIGH, NO_LOW};
use kernel::{EffectKind, InputId, InputKind, Instr, Issuer, Kernel, Pure, Terminator};
use machine::{Machine, Rule, ThreadStatus, TxCount, Valuation};
pub(super) use memo::ProofMemo;
use memo::Question;
use normal_form::{KeptVars, NormalFormWriter};
use path::{LoopPosition, Path};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::rc::Rc;
use value::{Driver, Symbol, SymbolOrigin, Symbols, Value};
use walk::{Walk, WalkStop};

/// Share of the step limit that a proof may use: one part in this many.
const SHARE: u64 = 2;
/// Numbers of a normal form that cost as much to write and to compare as one step.
const FORM: u64 = 1024;
/// How far a clean answer reaches.
pub(super) fn close(
    kernel: &Kernel,
    plan: &InputPlan,
    limits: &Limits,
    cancel: &Cancel<'_>,
    proofs: &ProofMemo,
    decision: &mut Decision<'_>,
) -> Result<Reach, Cancelled> {
    if !uses_inputs(kernel) {
        return Ok(Reach::NoInputs);
    }
    let (open, leads) = match known(kernel, plan, limits, cancel, proofs, decision)? {
        Ok(closures) => return Ok(Reach::Closed(closures)),
        Err(open) => open,
    };
    if matches!(open, OpenReason::Broken(_) | OpenReason::Order) {
        for valuation in led(kernel, plan, &leads) {
            if decision.outcome.found.is_empty() && !decision.outcome.valuations.contains(&valuation) {
                decision.run(&valuation, cancel)?;
            }
        }
        decision.drop_consequences();
    }
    let found = !decision.outcome.found.is_empty();
    Ok(Reach::Runs(if found { Vec::new() } else { vec![open] }))
}

/// Trip counts on a path that a proof failed on, by loop.
type Leads = Vec<(usize, Vec<u64>)>;

/// Inputs with these trip counts, smallest first.
fn led(kernel: &Kernel, plan: &InputPlan, leads: &Leads) -> Vec<Valuation> {
    let mut all = vec![plan.base.clone()];
    for group in &plan.groups {
        let counts: Vec<u64> = leads
            .iter()
            .filter(|(number, _)| group.loops.contains(number))
            .flat_map(|(_, counts)| counts.iter().copied())
            .collect();
        let Some(&most) = counts.iter().max() else { continue };
        let mut next = Vec::new();
        for base in all.iter().take(LEADS) {
            let table = plan.drive(kernel, base, group, most);
            next.extend(counts.iter().filter_map(|&trips| table.get(trips as usize)?.clone()));
        }
        if !next.is_empty() {
            all = next;
        }
    }
    all.retain(|valuation| plan.is_ample(kernel, valuation));
    all.sort_by_key(|valuation| valuation.values.iter().map(|value| i128::from(value.unsigned_abs())).sum::<i128>());
    all.dedup();
    all.truncate(LEADS);
    all
}

fn uses_inputs(kernel: &Kernel) -> bool {
    let rank = |input: InputId| kernel.inputs.get(input.index()).is_some_and(|info| info.kind == InputKind::CtaRank);
    kernel.inputs.iter().any(|input| input.kind == InputKind::Tiles)
        || kernel
            .blocks
            .iter()
            .flat_map(|block| &block.instrs)
            .any(|instr| matches!(instr, Instr::Let(_, Pure::Input(input) | Pure::Load(input, _)) if !rank(*input)))
}

/// Proves a kernel as kernels of any sizes are proved, or where that says nothing of it by itself.
fn known(
    kernel: &Kernel,
    plan: &InputPlan,
    limits: &Limits,
    cancel: &Cancel<'_>,
    proofs: &ProofMemo,
    decision: &mut Decision<'_>,
) -> Result<ProofResult, Cancelled> {
    if kernel.blocks.len().saturating_mul(kernel.vars.len()) > CELLS {
        return Ok(Err((OpenReason::Budget, Leads::new())));
    }
    let floors = floors(kernel, plan);
    // What few iterations excuse is a matter of this kernel.
    if decision.outcome.assumed.is_empty() {
        let (question, is_exact) = Question::new(kernel, &floors, limits);
        let of = question.digest();
        let proof = proofs.prove(question, cancel)?;
        decision.outcome.steps += proof.steps;
        decision.outcome.proof = Some(SharedProof { of, steps: proof.steps });
        let is_final = is_exact && !proof.overflows;
        if proof.result.is_ok() || is_final || !matches!(proof.result, Err((OpenReason::Broken(_), _))) {
            return Ok(proof.result.clone());
        }
    }
    let proof = prove(kernel, TxCount::Bytes, &floors, &decision.outcome.assumed, limits, cancel)?;
    decision.outcome.steps += proof.steps;
    Ok(proof.result)
}

/// By loop: how many iterations are taken for granted.
fn floors(kernel: &Kernel, plan: &InputPlan) -> Vec<i64> {
    let group = |number: usize| plan.groups.iter().find(|group| group.loops.contains(&number));
    (0..kernel.loops.len()).map(|number| group(number).map_or(0, |group| plan.floor(kernel, group) as i64)).collect()
}

/// What [`SharedProof::of`] is of a kernel.
pub(super) fn shared(kernel: &Kernel, limits: &Limits) -> u128 {
    Question::new(kernel, &floors(kernel, &InputPlan::new(kernel, limits)), limits).0.digest()
}

/// Loops that come back to a state, or why not and where the proof failed.
type ProofResult = Result<Vec<Closure>, (OpenReason, Leads)>;

/// What came of a proof.
#[derive(Debug)]
pub(super) struct Proof {
    /// Whether it holds.
    pub result: ProofResult,
    /// Steps of the machine.
    pub steps: u64,
    /// Whether it failed because the machine refused a transaction count.
    pub overflows: bool,
}

/// Proves a kernel for all inputs, or says why not.
pub(super) fn prove(
    kernel: &Kernel,
    tx: TxCount,
    floors: &[i64],
    assumed: &[Found],
    limits: &Limits,
    cancel: &Cancel<'_>,
) -> Result<Proof, Cancelled> {
    let mut symbols = Symbols::default();
    let mut context = ProofContext::new(kernel, floors, &mut symbols);
    let valuation = Valuation::default();
    let mut machine = Machine::new(kernel, &valuation, limits);
    machine.leave_scalars();
    machine.count_transactions(tx);
    let mut left = super::steps_of(kernel, limits) / SHARE;
    let mut steps = 0;
    loop {
        let mut prover = Prover {
            context: &context,
            machine: &machine,
            symbols,
            kept: KeptVars::default(),
            seen: FxHashMap::default(),
            closures: Vec::new(),
            leads: Vec::new(),
            left,
            steps,
            overflows: false,
            assumed,
        };
        let outcome = prover.run(cancel)?;
        let Prover { overflows, .. } = prover;
        steps = prover.steps;
        let result = match outcome {
            Ok(()) => Ok(prover.closures),
            // Trip counts that differ from one outer iteration to the next may be the reason.
            Err(_) if !context.rests_first && context.has_rests() => {
                (symbols, left) = (prover.symbols, prover.left);
                context.rests_first = true;
                continue;
            }
            Err(open) => Err((open, prover.leads)),
        };
        return Ok(Proof { result, steps, overflows });
    }
}

struct Prover<'a, 'k> {
    context: &'a ProofContext<'k>,
    machine: &'a Machine<'k>,
    symbols: Symbols,
    kept: KeptVars,
    /// Forms that were seen, with how far each loop was.
    seen: FxHashMap<u128, Vec<i64>>,
    closures: Vec<Closure>,
    /// Where the proof failed, if it did.
    leads: Leads,
    /// Steps that are left.
    left: u64,
    /// Steps of the machine so far.
    steps: u64,
    /// Whether the machine refused a transaction count.
    overflows: bool,
    /// What was said of loops that do not run at all.
    assumed: &'a [Found],
}

/// A number that differs for forms that differ.
fn digest(form: &[i64]) -> u128 {
    let mut digest = Digest::default();
    form.hash(&mut digest);
    digest.bits()
}

/// How a stretch of a path ends.
enum End {
    /// Everything is over.
    Over,
    /// One of these facts about a symbol holds.
    Fork(Symbol, Vec<Fact>),
}

impl Prover<'_, '_> {
    fn run(&mut self, cancel: &Cancel<'_>) -> Result<Result<(), OpenReason>, Cancelled> {
        let mut open = vec![self.start()];
        let mut room = Vec::new();
        while let Some(mut path) = open.pop() {
            cancel.check()?;
            let (symbol, facts) = match self.stretch(&mut path) {
                Ok(End::Over) => continue,
                Ok(End::Fork(symbol, facts)) => (symbol, facts),
                Err(reason) => {
                    self.leads = self.counts(&path);
                    return Ok(Err(reason));
                }
            };
            if let Some(open) = self.far(&path) {
                return Ok(Err(open));
            }
            path::forget(self.context, &self.symbols, self.machine, &mut path);
            let mut writer = NormalFormWriter {
                context: self.context,
                machine: self.machine,
                symbols: &mut self.symbols,
                kept: &mut self.kept,
            };
            let (normal_form, work) = writer.normal_form(&path, std::mem::take(&mut room));
            let iterations: Vec<i64> = path.places.iter().flatten().map(|place| place.iteration).collect();
            if let Err(open) = self.spend(1 + work / FORM) {
                return Ok(Err(open));
            }
            room = normal_form;
            let normal_form = digest(&room);
            if let Some(before) = self.seen.get(&normal_form) {
                let before = before.clone();
                self.close(symbol, &before, &iterations);
                continue;
            }
            self.seen.insert(normal_form, iterations);
            if self.seen.len() > STATES {
                return Ok(Err(OpenReason::Budget));
            }
            let mut ways: Vec<Facts> =
                facts.iter().rev().filter_map(|fact| self.learn(&path.facts, symbol, fact)).collect();
            // The last way on takes the path itself.
            let last = ways.pop();
            open.extend(ways.into_iter().map(|facts| Path { facts, ..path.clone() }));
            open.extend(last.map(|facts| Path { facts, ..path }));
        }
        Ok(Ok(()))
    }

    /// The loop that does not come back to a state.
    fn far(&self, path: &Path) -> Option<OpenReason> {
        let loops = self.context.loops.len().max(1);
        let places = path.places.iter().flatten().enumerate();
        let far = places.filter(|(_, place)| place.iteration > FAR).map(|(at, _)| at % loops);
        let summary = |number: usize| self.context.loops.get(number);
        let open = |number: &usize| {
            summary(*number).is_some_and(|summary| summary.driver.decides() || summary.counted.is_none())
        };
        let loop_number = far.filter(open).min()?;
        Some(OpenReason::Aperiodic { loop_number, trips: FAR as u64 })
    }

    /// With one more fact; none where no inputs are like that.
    fn learn(&self, facts: &Facts, symbol: Symbol, fact: &Fact) -> Option<Facts> {
        let mut facts = facts.clone();
        if !facts.add(symbol, fact) {
            return None;
        }
        let holds = facts.0.keys().all(|&other| match self.symbols.origin(other) {
            Some(SymbolOrigin::At(base, _)) if other == symbol || *base == symbol => {
                facts.get(other).and(&facts.get(*base)).is_some()
            }
            _ => true,
        });
        holds.then_some(facts)
    }

    fn start(&mut self) -> Path {
        let ctas = self.machine.cluster().len();
        let mut facts = Facts::default();
        for (at, input) in self.context.kernel.inputs.iter().enumerate() {
            let low = match input.kind {
                InputKind::ProgramId(_) => 0,
                InputKind::NumPrograms(_) | InputKind::Size(_) => 1,
                InputKind::Tiles => 0,
                _ => continue,
            };
            facts.add(self.symbols.of(SymbolOrigin::Input(InputId(at as u32))), &Fact::between(low, NO_HIGH));
        }
        for summary in &self.context.loops {
            let Some(counted) = &summary.counted else { continue };
            match summary.driver {
                Driver::Bound { symbol, factor, add } if summary.floor > 0 && !self.symbols.varies(symbol) => {
                    let last = counted.lower.add.saturating_add((summary.floor - 1).saturating_mul(counted.step.add));
                    let last = last.saturating_sub(add).div_euclid(factor);
                    facts.add(symbol, &Fact::between(last.saturating_add(1), NO_HIGH));
                }
                Driver::Trips(symbol) if !self.symbols.varies(symbol) => {
                    facts.add(symbol, &Fact::between(summary.floor.max(0), NO_HIGH));
                }
                _ => {}
            }
        }
        Path {
            state: self.machine.initial(),
            values: std::iter::repeat_n(Rc::new(vec![Value::Unknown; self.context.kernel.vars.len()]), ctas).collect(),
            places: vec![vec![LoopPosition::default(); self.context.loops.len()]; ctas],
            facts,
            requests: 0,
            moving: (0..self.machine.threads())
                .filter(|&thread| self.machine.initial().threads()[thread].life == ThreadStatus::Running)
                .collect(),
        }
    }

    /// Goes on until the next fork or the end.
    fn stretch(&mut self, path: &mut Path) -> Result<End, OpenReason> {
        loop {
            let Some(thread) = self.next(path) else {
                self.machine.finish(&mut path.state);
                return self.judge(path).map(|_| End::Over);
            };
            if let Some(at) = path.moving.iter().position(|&moving| moving == thread) {
                self.spend(1)?;
                let mut walk = Walk { context: self.context, machine: self.machine, symbols: &mut self.symbols };
                match walk.advance(path, thread) {
                    Ok(true) => {
                        path.moving.remove(at);
                    }
                    Ok(false) => {}
                    Err(WalkStop::Fork(symbol, facts)) => return Ok(End::Fork(symbol, facts.into_vec())),
                    Err(WalkStop::Open(reason)) => return Err(reason),
                }
                continue;
            }
            if let Some(fork) = self.request(path, thread) {
                return Ok(fork);
            }
            self.step(path, thread)?;
            if !self.judge(path)? {
                return Ok(End::Over);
            }
        }
    }

    /// The thread that is least far of those that can go on: the fewer iterations lie between threads, the fewer
    /// states there are.
    fn next(&self, path: &Path) -> Option<usize> {
        let threads = path.state.threads();
        // The iterations of the loops around; in a place with others, what only moves goes first.
        let far = |thread: usize| {
            let cta = self.machine.position_of(thread);
            let around = threads.get(thread).and_then(|at| self.context.around.get(at.block.index()));
            around.into_iter().flatten().map(move |&number| path.place(cta, number).at)
        };
        let mut nearest: Option<(usize, bool)> = None;
        for thread in 0..self.machine.threads() {
            let moves = path.moving.contains(&thread);
            let is_nearer =
                nearest.is_none_or(|(known, moving)| far(thread).cmp(far(known)).then(moving.cmp(&moves)).is_lt());
            // Who is not the nearest so far need not be asked whether it can go on.
            if is_nearer && (moves || self.machine.status(&path.state, thread) == Readiness::Ready) {
                nearest = Some((thread, moves));
            }
        }
        nearest.map(|(thread, _)| thread)
    }

    /// Decides whether a request to cluster launch control is answered with a tile.
    fn request(&mut self, path: &mut Path, thread: usize) -> Option<End> {
        let at = &path.state.threads()[thread];
        let Some(Instr::Effect(id)) = self.context.kernel.blocks.get(at.block.index())?.instrs.get(at.instr as usize)
        else {
            return None;
        };
        let EffectKind::Operation { issuer: Issuer::Clc, .. } = self.context.kernel.effects.get(id.index())?.kind
        else {
            return None;
        };
        let tiles = self.context.tiles?;
        let fact = path.facts.get(tiles);
        if fact.low <= path.requests && fact.high > path.requests {
            let more = Fact::between(path.requests + 1, NO_HIGH);
            return Some(End::Fork(tiles, vec![more, Fact::between(NO_LOW, path.requests)]));
        }
        // The machine grants what is asked for before its own number of tiles, which is 0 here.
        path.state.set_requests(if fact.low > path.requests { -1 } else { 0 });
        path.requests += 1;
        None
    }

    fn spend(&mut self, steps: u64) -> Result<(), OpenReason> {
        self.left = self.left.checked_sub(steps).ok_or(OpenReason::Budget)?;
        Ok(())
    }

    fn step(&mut self, path: &mut Path, thread: usize) -> Result<(), OpenReason> {
        self.spend(1)?;
        self.steps += 1;
        let at = &path.state.threads()[thread];
        let (from, block) = (at.block, self.context.kernel.blocks.get(at.block.index()));
        let instr = block.and_then(|block| block.instrs.get(at.instr as usize));
        let terminator = block.filter(|block| at.instr as usize >= block.instrs.len()).map(|block| &block.terminator);
        self.machine.step(&mut path.state, thread);
        let cta = self.machine.position_of(thread);
        if let Some(Instr::Effect(id)) = instr
            && let Some(dst) = self.context.kernel.effects.get(id.index()).and_then(|effect| effect.kind.defines())
        {
            let value = Value::constant(path.state.var(cta, dst));
            path.set(cta, dst, value);
        }
        let mut walk = Walk { context: self.context, machine: self.machine, symbols: &mut self.symbols };
        match terminator {
            Some(Terminator::Fork(fork)) => {
                for (number, target) in &fork.partitions {
                    walk.enter(path, cta, Some(from), target);
                    path.moving.push(self.machine.sibling(thread, *number as usize));
                }
                walk.enter(path, cta, Some(from), &fork.default);
            }
            Some(Terminator::Join(_, target)) => walk.enter(path, cta, Some(from), target),
            _ => {}
        }
        if !path.state.is_stopped() && path.state.threads()[thread].life == ThreadStatus::Running {
            path.moving.push(thread);
        }
        Ok(())
    }

    /// Whether the path may go on. What reads that nothing was written, because a loop does not run
    /// at all, was said before and ends the path.
    fn judge(&mut self, path: &Path) -> Result<bool, OpenReason> {
        let state = &path.state;
        if state.error().is_some() || state.unmodelled() {
            return Err(OpenReason::Budget);
        }
        if state.violations().is_empty() && !state.schedule_hazards().is_empty() {
            return Err(OpenReason::Order);
        }
        if state.violations().is_empty() {
            return Ok(true);
        }
        let said = |violation: &machine::Violation| {
            matches!(violation.rule, Rule::Uninitialised { .. } | Rule::OverwrittenMember { .. })
                && self.assumed.iter().any(|known| super::repeats(self.context.kernel, &known.violation, violation))
        };
        self.overflows |= state.violations().iter().any(|violation| matches!(violation.rule, Rule::Overflow(_)));
        match state.violations().iter().find(|violation| !said(violation)).or(state.violations().first()) {
            Some(violation) if !self.idles(path) || !said(violation) => Err(OpenReason::Broken(violation.site)),
            _ => Ok(false),
        }
    }

    /// How often loops run on a path: exactly, or at least and once or twice more.
    fn counts(&self, path: &Path) -> Leads {
        let mut leads = Vec::new();
        for (number, summary) in self.context.loops.iter().enumerate() {
            let Some(counted) = &summary.counted else { continue };
            let mut counts = Vec::new();
            for (symbol, fact) in &path.facts.0 {
                let base = match self.symbols.origin(*symbol) {
                    Some(SymbolOrigin::At(base, _)) => *base,
                    _ => *symbol,
                };
                if base != summary.driver.symbol() || fact.low <= NO_LOW {
                    continue;
                }
                let further = if fact.exact().is_some() { 0 } else { 2 * fact.modulus };
                for value in (fact.low..=fact.low.saturating_add(further)).step_by(fact.modulus.max(1) as usize) {
                    let trips = match summary.driver {
                        Driver::Bound { factor, add, .. } => {
                            let length = value.saturating_mul(factor).saturating_add(add - counted.lower.add);
                            length.max(0).saturating_add(counted.step.add - 1) / counted.step.add.max(1)
                        }
                        _ => value,
                    };
                    counts.extend(u64::try_from(trips).ok().filter(|trips| *trips <= FAR as u64));
                }
            }
            counts.sort_unstable();
            counts.dedup();
            // The largest: earlier iterations and earlier loops did not break anything.
            leads.push((number, counts.split_off(counts.len().saturating_sub(4))));
        }
        leads
    }

    /// Whether it was decided that some loop does not run at all.
    fn idles(&self, path: &Path) -> bool {
        self.context.loops.iter().any(|summary| {
            let Some(counted) = &summary.counted else { return false };
            let first = match summary.driver {
                Driver::Bound { factor, add, .. } => (counted.lower.add - add).div_euclid(factor),
                Driver::Trips(_) => 0,
                Driver::Free(_) => return false,
            };
            path.facts.0.iter().any(|(symbol, fact)| {
                let base = match self.symbols.origin(*symbol) {
                    Some(SymbolOrigin::At(base, _)) => *base,
                    _ => *symbol,
                };
                base == summary.driver.symbol() && fact.high <= first
            })
        })
    }

    /// Notes that a loop came back to a form.
    fn close(&mut self, symbol: Symbol, before: &[i64], now: &[i64]) {
        let driver = match self.symbols.origin(symbol) {
            Some(SymbolOrigin::At(base, _)) => *base,
            _ => symbol,
        };
        let loops = self.context.loops.len().max(1);
        for (at, (before, now)) in before.iter().zip(now).enumerate() {
            let number = at % loops;
            let known =
                self.closures.iter().any(|known| self.context.loops[known.loop_number].driver.symbol() == driver);
            if known || now <= before || self.context.loops[number].driver.symbol() != driver {
                continue;
            }
            let (warm_up, period) = (*before as u64, (now - before) as u64);
            self.closures.push(Closure { loop_number: number, warm_up, period });
        }
    }
}
