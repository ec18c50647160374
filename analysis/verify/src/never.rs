//! What no run came to.
//!
//! "Nothing found" says nothing of an op that was not executed. Where the runs left one out, inputs that lead there
//! are looked for ([`directed`](super::directed)), from those of the plan, from words of memory that rise, so that
//! what lies between two of them is not empty, and from the other side of conditions under inputs other than the
//! base's. What constants decide is not looked for.

use super::directed::{Lead, Search};
use super::inputs::{InputPlan, candidates, flips, set};
use super::linear::{Facts, Position};
use super::outcome::{Never, NeverExecuted};
use super::slice::{Bounds, Predecessors, Slices, Trips};
use crate::limits::never::{FROM, INPUTS as MOST};
use kernel::{EffectId, EffectKind, InputId, InputKind, Instr, Kernel, Pure, SiteId, Terminator, Var};
use machine::{State, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

/// By how much words of memory rise from byte to byte, where they do.
const SLOPES: [i64; 6] = [1, 4, 16, 64, 256, 1024];
/// The effects that have to be executed in some run.
#[derive(Debug)]
pub(super) struct Expected<'k> {
    kernel: &'k Kernel,
    slices: Slices<'k>,
    /// Effects with their blocks.
    effects: Vec<(EffectId, usize)>,
    /// Counted loops with their blocks and the trip counts that are functions of inputs.
    loops: Vec<Body>,
}

#[derive(Debug)]
struct Body {
    number: usize,
    /// Ascending.
    blocks: Vec<usize>,
    trips: Option<Trips>,
    inputs: Vec<InputId>,
    constants: Vec<i64>,
}

impl<'k> Expected<'k> {
    /// All that constants do not rule out.
    pub(super) fn new(kernel: &'k Kernel) -> Expected<'k> {
        let slices = Slices::new(kernel);
        let before = slices.predecessors();
        let loops: Vec<Body> =
            (0..kernel.loops.len()).filter_map(|number| body(kernel, &slices, &before, number)).collect();
        let facts = Facts::new(kernel, &slices);
        let mut effects = Vec::new();
        for (number, reached) in reached(kernel, &slices, &facts, &loops).into_iter().enumerate() {
            let Some(block) = kernel.blocks.get(number).filter(|_| reached) else { continue };
            for instr in &block.instrs {
                let Instr::Effect(id) = instr else { continue };
                let Some(effect) = kernel.effects.get(id.index()) else { continue };
                // That warps meet is no access that anything is to be known of.
                if matches!(effect.kind, EffectKind::WaitGroup { kind, .. } | EffectKind::Commit(kind) if kind.is_by_warps())
                {
                    continue;
                }
                let predicate = effect.predicate;
                if predicate.and_then(|predicate| constant(&slices, &facts, predicate, Position::Body)) != Some(0) {
                    effects.push((*id, number));
                }
            }
        }
        Expected { kernel, slices, effects, loops }
    }

    /// Those that were not executed. An operation that has a form for each truth of an operand (a product that adds to
    /// what is there, or overwrites it) was executed where the form that touches as much or more was.
    pub(super) fn missing(&self, executed: &[bool]) -> Vec<(EffectId, usize)> {
        let ran = |id: EffectId| executed.get(id.index()) == Some(&true);
        let operation = |id: EffectId| {
            let effect = self.kernel.effects.get(id.index())?;
            match &effect.kind {
                EffectKind::Operation { accesses, .. } => Some((effect.site, accesses.len())),
                _ => None,
            }
        };
        let missing: Vec<(EffectId, usize)> = self.effects.iter().copied().filter(|(id, _)| !ran(*id)).collect();
        if missing.is_empty() {
            return missing;
        }
        let mut forms: Vec<(SiteId, usize)> =
            self.effects.iter().filter(|(id, _)| ran(*id)).filter_map(|(id, _)| operation(*id)).collect();
        forms.sort_unstable();
        let form = |id: EffectId| {
            let covers =
                |(site, touched): (SiteId, usize)| forms.iter().any(|form| form.0 == site && form.1 >= touched);
            operation(id).is_some_and(covers)
        };
        missing.into_iter().filter(|(id, _)| !form(*id)).collect()
    }

    /// The outermost loop around a block that nothing was executed in.
    fn idle(&self, block: usize, executed: &[bool]) -> Option<&Body> {
        let inside = |body: &Body, block: usize| body.blocks.binary_search(&block).is_ok();
        let ran = |id: EffectId| executed.get(id.index()) == Some(&true);
        let idle = |body: &&Body| {
            inside(body, block) && !self.effects.iter().any(|&(id, block)| inside(body, block) && ran(id))
        };
        self.loops.iter().filter(idle).max_by_key(|body| body.blocks.len())
    }

    /// Why effects were not executed, one entry a loop and one for all that stands outside of idle loops.
    pub(super) fn reasons(&self, executed: &[bool]) -> Vec<NeverExecuted> {
        let mut reasons: Vec<NeverExecuted> = Vec::new();
        for (id, block) in self.missing(executed) {
            let Some(effect) = self.kernel.effects.get(id.index()) else { continue };
            let why = match self.idle(block, executed) {
                Some(body) => Never::Loop { loop_number: body.number, inputs: body.inputs.clone() },
                None => Never::Condition,
            };
            if !reasons.iter().any(|known| known.why == why) {
                reasons.push(NeverExecuted { site: effect.site, why });
            }
        }
        reasons
    }

    /// Loops of which no run saw what one iteration leaves to the next, with the first effect in each: no effect in them
    /// was repeated, or none of their iterations was followed by another one though nothing counts them. Those that run
    /// once at most, whatever the inputs, are none.
    pub(super) fn once(&self, repeated: &[bool], followed: &[u32]) -> Vec<NeverExecuted> {
        let mut all = Vec::new();
        let before = self.slices.predecessors();
        let mut effects: Vec<Vec<EffectId>> = vec![Vec::new(); self.kernel.blocks.len()];
        self.effects.iter().for_each(|&(id, block)| effects[block].push(id));
        let facts = Facts::new(self.kernel, &self.slices);
        for (loop_number, info) in self.kernel.loops.iter().enumerate() {
            if at_most(self.kernel, &self.slices, &facts, loop_number).is_some_and(|most| most < 2) {
                continue;
            }
            let body = self.loops.binary_search_by_key(&loop_number, |body| body.number).ok().map(|at| &self.loops[at]);
            let constant = body.filter(|body| body.inputs.is_empty()).and_then(|body| body.trips.as_ref());
            if constant.is_some_and(|trips| trips.eval(&Valuation::default()).is_some_and(|trips| trips < 2)) {
                continue;
            }
            let blocks = before.around(info.head.index());
            let mut inside = blocks.iter().flat_map(|block| &effects[*block]).peekable();
            let again = info.counted.is_some() || followed.get(loop_number).is_some_and(|times| *times > 0);
            if inside.peek().is_none() || (again && inside.any(|id| repeated.get(id.index()) == Some(&true))) {
                continue;
            }
            all.push(NeverExecuted { site: info.site, why: Never::Again { loop_number } });
        }
        all
    }

    /// Loops with effects that nothing counts and that no run went around as often as the deepest ring has slots.
    pub(super) fn short(&self, depth: u64, followed: &[u32]) -> Vec<usize> {
        let before = self.slices.predecessors();
        let short = |(number, info): &(usize, &kernel::LoopInfo)| {
            let times = followed.get(*number).copied().unwrap_or(0);
            info.counted.is_none() && u64::from(times) < depth && {
                let blocks = before.around(info.head.index());
                self.effects.iter().any(|(_, block)| blocks.contains(block))
            }
        };
        self.kernel.loops.iter().enumerate().filter(short).map(|(number, _)| number).collect()
    }

    /// Inputs with which loops are gone around more often, as far as walks tell.
    pub(super) fn again(&self, plan: &InputPlan, loops: &[usize]) -> Vec<Valuation> {
        if loops.is_empty() {
            return Vec::new();
        }
        let mut starts: Vec<Valuation> = vec![plan.base.clone()];
        starts.extend(plan.valuations.iter().rev().take(FROM).cloned());
        let mut all = Search::new(self.kernel, plan.depth, Vec::new()).again(loops, &starts);
        all.truncate(MOST);
        all
    }

    /// Inputs with which loops that ran once at most may run more often.
    pub(super) fn turns(&self, plan: &InputPlan, once: &[NeverExecuted]) -> Vec<Valuation> {
        let loops = gone_around(once);
        let bodies = self.loops.iter().filter(|body| loops.contains(&body.number));
        let mut all: Vec<Valuation> = bodies.filter_map(|body| self.turning(plan, body)).collect();
        if loops.iter().any(|number| self.loops.iter().all(|body| body.number != *number)) {
            for (at, info) in self.kernel.inputs.iter().enumerate() {
                if matches!(info.kind, InputKind::Argument(_) | InputKind::Size(_)) && info.width > 1 {
                    let divisor = info.divisor.max(1) as i64;
                    all.extend([4, 40, 1 << 20].map(|value| {
                        let mut valuation = plan.base.clone();
                        set(self.kernel, &mut valuation, InputId(at as u32), value * divisor);
                        valuation
                    }));
                }
            }
        }
        if self.reads_memory() && !loops.is_empty() {
            for base in plan.valuations.iter().take(FROM) {
                all.extend(SLOPES.iter().map(|&slope| Valuation { slope, ..base.clone() }));
            }
        }
        all.truncate(MOST);
        all
    }

    /// The same, as far as walks with the inputs that were `run` tell: what bounds a loop may be a word of memory that
    /// other words say the place of.
    pub(super) fn turns_by_walks(&self, plan: &InputPlan, once: &[NeverExecuted], run: &[Valuation]) -> Vec<Valuation> {
        let loops = gone_around(once);
        if loops.is_empty() {
            return Vec::new();
        }
        let starts: Vec<Valuation> = run.iter().rev().take(FROM).cloned().collect();
        let mut all = Search::new(self.kernel, plan.depth, Vec::new()).again(&loops, &starts);
        all.truncate(MOST);
        all
    }

    /// Inputs that lead to what was not executed, as far as walks tell.
    pub(super) fn leads(&self, plan: &InputPlan, executed: &[bool]) -> Vec<Lead> {
        let mut starts: Vec<Valuation> = vec![plan.base.clone()];
        starts.extend(plan.valuations.iter().take(FROM).cloned());
        starts.extend(self.guesses(plan, executed));
        let mut leads = Search::new(self.kernel, plan.depth, self.missing(executed)).leads(&starts);
        leads.truncate(MOST);
        leads
    }

    /// Inputs from which what was not executed may be near.
    fn guesses(&self, plan: &InputPlan, executed: &[bool]) -> Vec<Valuation> {
        let mut all: Vec<Valuation> = Vec::new();
        let missing = self.missing(executed);
        let mut idle: Vec<usize> =
            missing.iter().filter_map(|&(_, block)| self.idle(block, executed).map(|body| body.number)).collect();
        idle.dedup();
        for body in self.loops.iter().filter(|body| idle.contains(&body.number)) {
            all.extend(self.turning(plan, body));
        }
        // Bounds that are no functions of inputs alone.
        if self.reads_memory() {
            all.extend(SLOPES.iter().map(|&slope| Valuation { slope, ..plan.base.clone() }));
        }
        let slopes = || [0].into_iter().chain(if self.reads_memory() { &SLOPES[..] } else { &[] }.iter().copied());
        for condition in self.slices.conditions() {
            for base in plan.valuations.iter().take(FROM) {
                for slope in slopes() {
                    all.extend(flips(self.kernel, &self.slices, condition, &Valuation { slope, ..base.clone() }));
                }
            }
        }
        let mut unique: Vec<Valuation> = Vec::new();
        for valuation in all {
            if unique.len() < MOST && !unique.contains(&valuation) {
                unique.push(valuation);
            }
        }
        unique
    }

    fn reads_memory(&self) -> bool {
        self.kernel.inputs.iter().any(|input| input.kind == InputKind::Memory)
    }

    /// Inputs with which a loop runs about as often as its ring has slots.
    fn turning(&self, plan: &InputPlan, body: &Body) -> Option<Valuation> {
        let trips = body.trips.as_ref()?;
        let slopes = if self.reads_memory() { &SLOPES[..] } else { &[] };
        let mut best: Option<(u64, Valuation)> = None;
        let mut note = |valuation: Valuation| {
            let Some(count @ 1..=256) = trips.eval(&valuation) else { return };
            let off = count.abs_diff(plan.depth + 1);
            if best.as_ref().is_none_or(|(known, _)| off < *known) {
                best = Some((off, valuation));
            }
        };
        for base in plan.valuations.iter().take(FROM) {
            for slope in [0].iter().chain(slopes) {
                let base = Valuation { slope: *slope, ..base.clone() };
                note(base.clone());
                for &input in &body.inputs {
                    for value in candidates(self.kernel, input, &body.constants) {
                        let mut valuation = base.clone();
                        set(self.kernel, &mut valuation, input, value);
                        note(valuation);
                    }
                }
            }
        }
        best.map(|(_, valuation)| valuation)
    }
}

/// Loops of which no iteration was followed by another one.
fn gone_around(once: &[NeverExecuted]) -> Vec<usize> {
    let number = |never: &NeverExecuted| match never.why {
        Never::Again { loop_number } => Some(loop_number),
        _ => None,
    };
    once.iter().filter_map(number).collect()
}

/// The value of a condition that depends on no input, or not on what the inputs are.
fn constant(slices: &Slices<'_>, facts: &Facts<'_, '_>, var: Var, position: Position) -> Option<i64> {
    let leaves = slices.inputs(var).filter(|leaves| leaves.inputs.is_empty());
    let value = leaves.and_then(|_| slices.compile(&[var])?.eval(&Valuation::default(), 0)).map(|bit| bit & 1);
    value.or_else(|| facts.decided(var, position).map(i64::from))
}

/// How often a counted loop that counts up runs at most, whatever the inputs.
fn at_most(kernel: &Kernel, slices: &Slices<'_>, facts: &Facts<'_, '_>, number: usize) -> Option<u64> {
    let (_, lower, upper, step) = kernel.loops[number].counted?;
    let width = |var: Var| match slices.pure(var) {
        Some(Pure::Add(width, ..) | Pure::Sub(width, ..) | Pure::Mul(width, ..) | Pure::Shl(width, ..)) => Some(width),
        _ => None,
    };
    let width = width(upper).or_else(|| width(lower));
    let greatest = facts.difference(upper, lower, width?, Position::Body).1?;
    let step = slices.constant(step).and_then(|step| u64::try_from(step).ok()).filter(|step| *step > 0)?;
    Some(u64::try_from(greatest).unwrap_or(0).div_ceil(step))
}

fn body(kernel: &Kernel, slices: &Slices<'_>, before: &Predecessors<'_>, number: usize) -> Option<Body> {
    let info = &kernel.loops[number];
    let (_, lower, upper, step) = info.counted?;
    let bounds = Bounds { lower: slices.root(lower), upper: slices.root(upper), step: slices.root(step) };
    let (mut inputs, mut constants) = (Vec::new(), Vec::new());
    for leaves in [bounds.lower, bounds.upper, bounds.step].into_iter().filter_map(|bound| slices.inputs(bound)) {
        inputs.extend(leaves.inputs);
        constants.extend(leaves.constants);
    }
    inputs.sort_unstable();
    inputs.dedup();
    Some(Body { number, blocks: slices.body(info, before), trips: slices.trips(bounds), inputs, constants })
}

/// Notes how many iterations of each loop followed upon another one in this run, as far as that is news.
pub(super) fn follow(kernel: &Kernel, slices: &Slices<'_>, state: &State, followed: &mut [u32]) {
    let before = std::cell::OnceCell::new();
    for (info, followed) in kernel.loops.iter().zip(followed) {
        if state.most_followed(info.head, |_| true) > *followed {
            let blocks = before.get_or_init(|| slices.predecessors()).around(info.head.index());
            *followed = (*followed).max(state.most_followed(info.head, |to| blocks.contains(&to.index())));
        }
    }
}

/// Which blocks some input may lead to, as far as constants tell.
fn reached(kernel: &Kernel, slices: &Slices<'_>, facts: &Facts<'_, '_>, loops: &[Body]) -> Vec<bool> {
    let mut at_head: FxHashMap<usize, &Body> = FxHashMap::default();
    for body in loops {
        at_head.entry(kernel.loops[body.number].head.index()).or_insert(body);
    }
    let heads: FxHashSet<usize> = kernel.loops.iter().map(|info| info.head.index()).collect();
    let none = |block: usize| {
        let body = at_head.get(&block).copied();
        let constant = body
            .filter(|body| body.inputs.is_empty())
            .and_then(|body| body.trips.as_ref()?.eval(&Valuation::default()))
            .is_some_and(|trips| trips == 0);
        constant || body.is_some_and(|body| at_most(kernel, slices, facts, body.number) == Some(0))
    };
    let mut reached = vec![false; kernel.blocks.len()];
    let mut open = vec![kernel.entry.index()];
    while let Some(number) = open.pop() {
        let Some(block) = kernel.blocks.get(number) else { continue };
        if std::mem::replace(&mut reached[number], true) {
            continue;
        }
        match &block.terminator {
            Terminator::Branch(condition, yes, no) => {
                let head = heads.contains(&number);
                let position = if head { Position::Head } else { Position::Body };
                let known = if none(number) { Some(0) } else { constant(slices, facts, *condition, position) };
                if known != Some(0) {
                    open.push(yes.block.index());
                }
                if known != Some(1) {
                    open.push(no.block.index());
                }
            }
            other => open.extend(other.targets().iter().map(|target| target.block.index())),
        }
    }
    reached
}
