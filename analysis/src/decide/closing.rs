//! Closing the loop: why the runs made cover all trip counts.
//!
//! One group of loops that share their trip count T: let S(i) be the normal form of the state when
//! the first thread enters iteration i, counters reduced to what can be noticed of them and every
//! thread's position taken relative to i. The canonical run up to that moment does not depend on
//! T > i, and what follows depends only on S(i) and on how many iterations are left. So where
//! S(w) = S(w + p), a run with T ≥ w + p iterations behaves like the one with T - p, and the runs
//! with T < w + p cover all.
//!
//! Two groups, the loops of one inside those of the other: the outer group is closed for every
//! inner trip count below a bound, and the inner group repeats within every outer iteration of
//! those runs, which covers larger inner trip counts.
//!
//! Predicates that compare a counter with its loop's bound (`i + 2 < steps`, the guard of a
//! prefetch) depend on the iterations left: they are constant until a margin before the end, so
//! the form leaves them out and the runs reach a margin further. Predicates that compare a counter
//! with a constant (`i > 0`) are constant after a horizon, so the form says how far each thread is
//! up to there. Predicates that compare a bound with a constant are constant from some trip count
//! on, which the runs go past too.
//!
//! Trip counts below the floor of a group ([`Plan::floor`]) are left out of the claim. Assumed: the
//! kernel notices inputs only through these trip counts (checked by [`demands`]),
//! counters do not wrap. Given up, and then said: more groups, sequential groups, runs that are
//! not confluent, bounds that depend on other loops' counters.

use super::Decision;
use super::demand::{Demand, Liveness, demands};
use super::inputs::{Group, Plan};
use super::outcome::{Closure, Open, Reach};
use super::slice::Slices;
use crate::base::{Cancel, Cancelled, Limits};
use crate::explore::{Status, System, canonical};
use crate::model::{Life, Machine, State, Valuation};
use crate::sync::{BlockId, InputId, InputKind, Instr, Kernel, Pure, Var};

/// Iterations that a run makes to find a repetition.
const LONG: u64 = 36;
/// Share of the step limit that closing may use: one part in this many.
const SHARE: u64 = 16;

pub(super) fn close(
    kernel: &Kernel,
    plan: &Plan,
    limits: &Limits,
    cancel: &Cancel<'_>,
    decision: &mut Decision<'_>,
) -> Result<Reach, Cancelled> {
    if !uses_inputs(kernel) {
        return Ok(Reach::NoInputs);
    }
    let closer = match Closer::new(kernel, plan, limits) {
        Ok(closer) => closer,
        Err(open) => return Ok(Reach::Runs(vec![open])),
    };
    let budget = decision.outcome.steps + limits.total_steps / SHARE;
    let closures = match plan.groups.as_slice() {
        [] => Err(Open::NoLoop),
        [group] => closer.close_one(group, &plan.base, decision, budget, cancel)?.map(|closure| vec![closure]),
        [a, b] if closer.inside(b, a) => closer.close_two(a, b, decision, budget, cancel)?,
        [a, b] if closer.inside(a, b) => closer.close_two(b, a, decision, budget, cancel)?,
        [.., last] => Err(Open::Groups(last.loops[0])),
    };
    Ok(closures.map_or_else(|open| Reach::Runs(vec![open]), Reach::Closed))
}

fn uses_inputs(kernel: &Kernel) -> bool {
    kernel.blocks.iter().flat_map(|block| &block.instrs).any(
        |instr| matches!(instr, Instr::Let(_, Pure::Input(input) | Pure::Load(input, _)) if !is_rank(kernel, *input)),
    )
}

/// Whether an input is the number of the CTA, which every run has at all its values.
fn is_rank(kernel: &Kernel, input: InputId) -> bool {
    kernel.inputs.get(input.index()).is_some_and(|info| info.kind == InputKind::CtaRank)
}

struct Closer<'k> {
    kernel: &'k Kernel,
    plan: &'k Plan,
    limits: &'k Limits,
    demands: Vec<Demand>,
    liveness: Liveness<'k>,
    /// By loop: which blocks are inside.
    bodies: Vec<Vec<bool>>,
    /// Comparisons that are constant in the middle of a loop.
    edges: Vec<Edge>,
}

/// The normal forms at the first arrivals at an iteration.
struct Observed {
    /// Outer iteration (0 for none), iteration, normal form.
    fronts: Vec<(i64, i64, Vec<i64>)>,
    clean: bool,
    /// Iteration whose form came again, and after how many.
    repetition: Option<(u64, u64)>,
}

impl<'k> Closer<'k> {
    fn new(kernel: &'k Kernel, plan: &'k Plan, limits: &'k Limits) -> Result<Closer<'k>, Open> {
        let slices = Slices::new(kernel);
        let grouped = |number: usize| plan.groups.iter().any(|group| group.loops.contains(&number));
        let tested: Vec<BlockId> =
            kernel.loops.iter().enumerate().filter(|(number, _)| grouped(*number)).map(|(_, info)| info.head).collect();
        let edges = edges(kernel, &slices, plan);
        let compared: Vec<Var> = edges.iter().map(|edge| edge.comparison).collect();
        let demands = demands(kernel, &tested, &compared);
        // Inputs may be noticed through trip counts only.
        for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
            if let Instr::Let(dst, Pure::Input(input) | Pure::Load(input, _)) = instr
                && demands.get(dst.index()) != Some(&Demand::Nothing)
                && !is_rank(kernel, *input)
            {
                return Err(Open::Noticed(*input));
            }
        }
        let bodies = kernel.loops.iter().map(|info| slices.body(info)).collect();
        Ok(Closer { kernel, plan, limits, demands, liveness: Liveness::new(kernel), bodies, edges })
    }

    /// Whether every loop of `inner` lies in a loop of `outer`.
    fn inside(&self, inner: &Group, outer: &Group) -> bool {
        inner.loops.iter().all(|&number| self.outer_loop(number, outer).is_some())
    }

    /// How many iterations before the end a group's predicates look ahead.
    fn margin(&self, group: &Group) -> u64 {
        let own = self.edges.iter().filter(|edge| group.loops.contains(&edge.loop_number));
        own.map(|edge| edge.margin).max().unwrap_or(0)
    }

    /// Iterations from the start that a loop's predicates can tell apart.
    fn horizon(&self, number: usize) -> i64 {
        let own = self.edges.iter().filter(|edge| edge.loop_number == number);
        own.map(|edge| edge.horizon as i64).max().unwrap_or(0)
    }

    fn outer_loop(&self, number: usize, outer: &Group) -> Option<usize> {
        let mut parent = self.kernel.loops[number].parent;
        while let Some(id) = parent {
            if outer.loops.contains(&id.index()) {
                return Some(id.index());
            }
            parent = self.kernel.loops[id.index()].parent;
        }
        None
    }

    fn close_one(
        &self,
        group: &Group,
        base: &Valuation,
        decision: &mut Decision<'_>,
        budget: u64,
        cancel: &Cancel<'_>,
    ) -> Result<Result<Closure, Open>, Cancelled> {
        let loop_number = group.loops[0];
        let table = self.plan.drive(self.kernel, base, group, LONG);
        let Some(long) = long_run(&table) else { return Ok(Err(Open::Unreached { loop_number, trips: LONG })) };
        let observed = self.observe(group, None, long, true, decision);
        let aperiodic = Open::Aperiodic { loop_number, trips: group.trips.eval(long).unwrap_or(LONG) };
        let Some((warm_up, period)) = observed.repetition else { return Ok(Err(aperiodic)) };
        let (floor, margin) = (self.plan.floor(self.kernel, group), self.margin(group));
        if warm_up + period + margin > group.trips.eval(long).unwrap_or(0) {
            return Ok(Err(aperiodic));
        }
        for trips in floor..warm_up.max(floor) + period + margin {
            cancel.check()?;
            let Some(Some(valuation)) = table.get(trips as usize) else {
                return Ok(Err(Open::Unreached { loop_number, trips }));
            };
            if decision.outcome.steps > budget {
                return Ok(Err(Open::Budget));
            }
            if !self.runs_clean(valuation, decision) {
                return Ok(Err(Open::Unclean { loop_number, trips }));
            }
        }
        Ok(Ok(Closure { loop_number, warm_up, period }))
    }

    fn close_two(
        &self,
        outer: &Group,
        inner: &Group,
        decision: &mut Decision<'_>,
        budget: u64,
        cancel: &Cancel<'_>,
    ) -> Result<Result<Vec<Closure>, Open>, Cancelled> {
        let loop_number = inner.loops[0];
        let table = self.plan.drive(self.kernel, &self.plan.base, inner, LONG);
        let Some(long) = long_run(&table) else { return Ok(Err(Open::Unreached { loop_number, trips: LONG })) };
        let observed = self.observe(inner, Some(outer), long, true, decision);
        let aperiodic = Open::Aperiodic { loop_number, trips: inner.trips.eval(long).unwrap_or(LONG) };
        let Some((warm_up, period)) = observed.repetition else { return Ok(Err(aperiodic)) };
        let mut closures = vec![Closure { loop_number, warm_up, period }];
        let (floor, margin) = (self.plan.floor(self.kernel, inner), self.margin(inner));
        if warm_up + period + margin > inner.trips.eval(long).unwrap_or(0) {
            return Ok(Err(aperiodic));
        }
        for count in floor..=warm_up.max(floor) + 2 * period + margin {
            let Some(Some(base)) = table.get(count as usize) else {
                return Ok(Err(Open::Unreached { loop_number, trips: count }));
            };
            let closure = match self.close_one(outer, base, decision, budget, cancel)? {
                Ok(closure) => closure,
                Err(open) => return Ok(Err(open)),
            };
            if count > warm_up.max(floor) + period + margin {
                // Within every outer iteration of a run that covers all outer ones.
                let most = closure.warm_up + closure.period + 1;
                let Some(Some(many)) = self.plan.drive(self.kernel, base, outer, most).pop() else {
                    return Ok(Err(Open::Unreached { loop_number: outer.loops[0], trips: most }));
                };
                let observed = self.observe(inner, Some(outer), &many, false, decision);
                let repeats = |at: i64| observed.repeats(at, warm_up as i64, period as i64);
                if !observed.clean {
                    return Ok(Err(Open::Unclean { loop_number, trips: count }));
                }
                if !(0..=(closure.warm_up + closure.period) as i64).all(repeats) {
                    return Ok(Err(aperiodic));
                }
            }
            match closures.get_mut(1) {
                Some(known) if known.warm_up + known.period >= closure.warm_up + closure.period => {}
                Some(known) => *known = closure,
                None => closures.push(closure),
            }
        }
        Ok(Ok(closures))
    }

    fn runs_clean(&self, valuation: &Valuation, decision: &mut Decision<'_>) -> bool {
        if decision.outcome.valuations.contains(valuation) {
            // It was run before: anything found, or not confluent without an exhaustive search,
            // would have kept us from closing.
            return true;
        }
        let machine = Machine::new(self.kernel, valuation, self.limits);
        let run = canonical(&machine);
        decision.outcome.runs += 1;
        decision.outcome.steps += u64::from(run.state.step);
        decision.outcome.valuations.push(valuation.clone());
        clean(&run.state)
    }

    /// Runs a valuation and notes the state at each first arrival at an iteration of `group`; to
    /// the end, or until a form comes again within the first outer iteration.
    fn observe(
        &self,
        group: &Group,
        outer: Option<&Group>,
        valuation: &Valuation,
        until_repeated: bool,
        decision: &mut Decision<'_>,
    ) -> Observed {
        let machine = Machine::new(self.kernel, valuation, self.limits);
        let mut state = machine.initial();
        let mut observed = Observed { fronts: Vec::new(), clean: false, repetition: None };
        let mut front = None;
        'run: loop {
            let mut moved = false;
            for thread in 0..machine.threads() {
                while !machine.stopped(&state) && machine.status(&state, thread) == Status::Ready {
                    machine.step(&mut state, thread);
                    moved = true;
                    let Some(at) = self.position(&state, thread, group, outer) else { continue };
                    if front.is_none_or(|front| at > front) {
                        front = Some(at);
                        let form = self.form(&machine, &state, group, at.1);
                        if until_repeated && at.0 == 0 && clean(&state) {
                            let earlier = observed.fronts.iter().find(|front| front.0 == 0 && front.2 == form);
                            if let Some(first) = earlier {
                                let period = (at.1 - first.1).max(1) as u64;
                                observed.repetition = Some((first.1.max(0) as u64, period));
                                break 'run;
                            }
                        }
                        observed.fronts.push((at.0, at.1, form));
                    }
                }
            }
            if machine.stopped(&state) || !moved {
                break;
            }
        }
        if !machine.stopped(&state) && observed.repetition.is_none() {
            machine.finish(&mut state);
        }
        observed.clean = clean(&state);
        decision.outcome.runs += 1;
        decision.outcome.steps += u64::from(state.step);
        observed
    }

    /// The outer iteration and the iteration of `group` that a thread is in.
    fn position(&self, state: &State, thread: usize, group: &Group, outer: Option<&Group>) -> Option<(i64, i64)> {
        let at = &state.threads[thread];
        if at.life != Life::Running {
            return None;
        }
        let number =
            group.loops.iter().copied().find(|&number| self.bodies[number].get(at.block.index()) == Some(&true))?;
        let outer = outer.and_then(|outer| self.outer_loop(number, outer));
        let cta = thread / self.kernel.partitions.len().max(1);
        Some((outer.map_or(0, |outer| self.iteration(state, cta, outer)), self.iteration(state, cta, number)))
    }

    fn iteration(&self, state: &State, cta: usize, number: usize) -> i64 {
        let Some((counter, lower, _, step)) = self.kernel.loops[number].counted else { return 0 };
        let value = |var: Var| state.var(cta, var);
        (value(counter) - value(lower)) / value(step).max(1)
    }

    /// The normal form of a state, positions in the loops of `group` relative to iteration `front`.
    fn form(&self, machine: &Machine<'_>, state: &State, group: &Group, front: i64) -> Vec<i64> {
        let mut form = Vec::new();
        for (at, thread) in state.threads.iter().enumerate() {
            let cta = machine.position_of(at);
            form.push(thread.life as i64);
            if thread.life != Life::Running {
                continue;
            }
            form.extend([i64::from(thread.block.0), i64::from(thread.instr)]);
            for (number, body) in self.bodies.iter().enumerate() {
                if body.get(thread.block.index()) == Some(&true) && self.kernel.loops[number].counted.is_some() {
                    let iteration = self.iteration(state, cta, number);
                    if group.loops.contains(&number) {
                        form.extend([iteration - front, iteration.min(self.horizon(number))]);
                    } else {
                        form.push(iteration);
                    }
                }
            }
            let live = self.liveness.at(thread.block, thread.instr as usize);
            for (var, _) in live.iter().enumerate().filter(|(_, live)| **live) {
                let value = state.var(cta, Var(var as u32));
                match self.demands.get(var).copied().unwrap_or(Demand::Whole) {
                    Demand::Nothing => {}
                    Demand::Modulo(modulus) => form.push(value.rem_euclid(modulus as i64)),
                    Demand::Whole => form.push(value),
                }
            }
        }
        machine.normal_form(state, &mut form);
        form
    }
}

impl Observed {
    /// Whether in an outer iteration the form at `warm_up` comes again after `period`; true where
    /// it has fewer iterations.
    fn repeats(&self, outer: i64, warm_up: i64, period: i64) -> bool {
        let form = |at: i64| self.fronts.iter().find(|front| front.0 == outer && front.1 == at).map(|front| &front.2);
        match (form(warm_up), form(warm_up + period)) {
            (Some(first), Some(second)) => first == second,
            _ => false,
        }
    }
}

/// A comparison that is constant in the middle of a loop.
struct Edge {
    comparison: Var,
    loop_number: usize,
    /// Iterations from the start up to which it may differ.
    horizon: u64,
    /// Iterations before the end from which on it may differ.
    margin: u64,
}

/// Comparisons of a counter or a bound with each other or a constant, up to constants added, in
/// loops whose bounds are inputs: `i + 2 < steps`, `i == steps - 1`, `i > 0`, `steps > 1`.
fn edges(kernel: &Kernel, slices: &Slices<'_>, plan: &Plan) -> Vec<Edge> {
    let mut edges = Vec::new();
    for number in plan.groups.iter().flat_map(|group| group.loops.iter().copied()) {
        let Some((counter, lower, upper, step)) = kernel.loops[number].counted else { continue };
        let Some(step) = slices.constant(step).filter(|&step| step > 0) else { continue };
        let first = slices.constant(lower);
        let (counter, upper) = (slices.root(counter), slices.root(upper));
        let iterations = |distance: i64| (distance.max(0) as u64).div_ceil(step as u64) + 1;
        for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
            let Instr::Let(comparison, Pure::Cmp(_, _, a, b)) = instr else { continue };
            let (a, b) = (slices.offset(*a), slices.offset(*b));
            let role = |(base, by): (Var, i64)| match slices.constant(base) {
                Some(value) => Some(Role::Constant(value + by)),
                None if base == counter => Some(Role::Counter(by)),
                None if base == upper || slices.equal(base, upper) => Some(Role::Bound(by)),
                None => None,
            };
            let (Some(a), Some(b)) = (role(a), role(b)) else { continue };
            let (horizon, margin) = match (a, b) {
                (Role::Counter(x), Role::Bound(y)) | (Role::Bound(y), Role::Counter(x)) => {
                    (0, iterations((x - y).abs()))
                }
                (Role::Counter(by), Role::Constant(value)) | (Role::Constant(value), Role::Counter(by)) => {
                    let Some(first) = first else { continue };
                    (iterations(value - by - first) + 1, 0)
                }
                (Role::Bound(by), Role::Constant(value)) | (Role::Constant(value), Role::Bound(by)) => {
                    let Some(first) = first else { continue };
                    (0, iterations(value - by - first) + 1)
                }
                _ => continue,
            };
            edges.push(Edge { comparison: *comparison, loop_number: number, horizon, margin });
        }
    }
    edges
}

/// What a side of a comparison is, up to a constant added.
#[derive(Clone, Copy)]
enum Role {
    Counter(i64),
    Bound(i64),
    Constant(i64),
}

/// The longest run of a table, if it is long enough to repeat.
fn long_run(table: &[Option<Valuation>]) -> Option<&Valuation> {
    table.iter().skip(LONG as usize / 2).rev().find_map(Option::as_ref)
}

fn clean(state: &State) -> bool {
    state.violations.is_empty() && state.escapes.is_empty() && state.lost.is_none() && !state.unmodelled
}
