//! Decides a kernel: chooses inputs, runs the machine, and says how far the answer reaches.
//!
//! For each valuation one canonical run. Where the machine judges it confluent it stands for all
//! schedules. Where not, the schedules it warned of are run first, then all of them up to
//! commuting steps, within limits; a met limit is a [`Gap`]. A clean answer is closed over all
//! inputs by [`proof`], where the states repeat.

mod cache;
mod crossed;
mod demand;
mod directed;
mod discarded;
mod further;
mod generic;
mod inputs;
mod limits;
mod linear;
mod never;
mod outcome;
mod proof;
mod race_index;
mod slice;
mod unbound;

pub use cache::{OutcomeCache, kernel_bytes};
pub use inputs::{InputGroup, InputPlan, showcase};
pub use limits::LIMITS;
pub use outcome::{Closure, Found, Gap, Lapped, Never, NeverExecuted, OpenReason, Outcome, Reach, SharedProof};
pub use slice::{Bounds, Formula, Leaves, Predecessors, Slices, Trips};
pub use unbound::unbound;

use base::{Cancel, Cancelled, Limits};
use discarded::is_discarded;
use explore::{ScheduledRun, canonical, run_delaying, run_preferring, search};
use kernel::{EffectId, Kernel, SiteId};
use limits::further::{STEPS as FURTHER_STEPS, TOTAL_STEPS as ALL_FURTHER_STEPS};
use limits::launches::{STEPS as LAUNCH_STEPS, TOTAL_STEPS as ALL_LAUNCHES_STEPS};
use machine::{Cluster, Machine, Rule, ScheduleHazard, State, Valuation, Violation};
use never::Expected;
use proof::ProofMemo;
use race_index::RaceIndex;

/// Decides a kernel.
pub fn decide(kernel: &Kernel, limits: &Limits, cancel: &Cancel<'_>) -> Result<Outcome, Cancelled> {
    decided(kernel, limits, cancel, Some(&ProofMemo::default()))
}

/// Decides a kernel as far as runs do: whether a clean answer holds for all inputs stays open.
pub fn survey(kernel: &Kernel, limits: &Limits, cancel: &Cancel<'_>) -> Result<Outcome, Cancelled> {
    decided(kernel, limits, cancel, None)
}

/// Which proof a kernel shares with kernels of other sizes: what [`SharedProof::of`] is in its outcome, if it is clean.
pub fn shared_proof(kernel: &Kernel, limits: &Limits) -> u128 {
    proof::shared(kernel, limits)
}

/// Decides a kernel; a clean answer is closed over all inputs with what `proofs` knows.
fn decided(
    kernel: &Kernel,
    limits: &Limits,
    cancel: &Cancel<'_>,
    proofs: Option<&ProofMemo>,
) -> Result<Outcome, Cancelled> {
    let plan = InputPlan::new(kernel, limits);
    let mut decision = Decision {
        kernel,
        limits,
        plan: &plan,
        idle: false,
        settled: false,
        executed: vec![false; kernel.effects.len()],
        repeated: vec![false; kernel.effects.len()],
        followed: vec![0; kernel.loops.len()],
        slices: Slices::new(kernel),
        outcome: Outcome {
            found: Vec::new(),
            lapped: Vec::new(),
            assumed: Vec::new(),
            discarded: Vec::new(),
            consequences: Vec::new(),
            outlives: None,
            gaps: Vec::new(),
            reach: Reach::Runs(Vec::new()),
            never: Vec::new(),
            runs: 0,
            steps: 0,
            proof: None,
            states: 0,
            valuations: Vec::new(),
            ample: 0,
            cut: plan.cut,
        },
    };
    if !Cluster::is_followed(kernel) {
        decision.outcome.gaps.push(Gap::Cluster { ctas: kernel.ctas });
        return Ok(decision.outcome);
    }
    if kernel.steered_by_own_words() {
        decision.outcome.gaps.push(Gap::Rewritten);
        return Ok(decision.outcome);
    }
    let spare = |decision: &Decision<'_>| decision.outcome.steps < steps_of(kernel, limits);
    let (ample, scant): (Vec<&Valuation>, Vec<&Valuation>) =
        plan.valuations.iter().partition(|valuation| plan.is_ample(kernel, valuation));
    for valuation in ample {
        cancel.check()?;
        if !spare(&decision) {
            decision.outcome.cut = true;
            // The smallest come first, and they fill no ring.
            if plan.is_ample(kernel, &plan.base) && !decision.outcome.valuations.contains(&plan.base) {
                decision.run(&plan.base, cancel)?;
            }
            break;
        }
        decision.run(valuation, cancel)?;
    }
    decision.outcome.ample = decision.outcome.valuations.len();
    decision.drop_consequences();
    for valuation in scant {
        cancel.check()?;
        if !spare(&decision) {
            decision.outcome.cut = true;
            break;
        }
        decision.run_scant(valuation);
    }
    let Some(proofs) = proofs else {
        decision.outcome.reach = Reach::Runs(vec![OpenReason::NotAsked]);
        return Ok(decision.close());
    };
    if decision.is_clean() {
        decision.outcome.reach = proof::close(kernel, &plan, limits, cancel, proofs, &mut decision)?;
        decision.run_launches(cancel)?;
        decision.run_further(cancel)?;
        decision.visit(cancel)?;
    }
    Ok(decision.close())
}

/// The steps that a kernel may take: one in a large cluster costs more, since every thread knows of all others.
fn steps_of(kernel: &Kernel, limits: &Limits) -> u64 {
    let threads = kernel.partitions.len().max(1) * Cluster::new(kernel).len();
    limits.total_steps / (1 + threads as u64 / THREADS)
}

/// Threads from which on a step costs twice as much.
const THREADS: u64 = 16;

struct Decision<'k> {
    kernel: &'k Kernel,
    limits: &'k Limits,
    plan: &'k InputPlan,
    /// Whether some loop of the valuation at hand does not run at all: what it would have written or waited for
    /// is then missing, which is no news.
    idle: bool,
    /// Whether something is found, and all schedules of the last inputs that were asked for them added nothing to it.
    settled: bool,
    /// By effect: whether some run executed it.
    executed: Vec<bool>,
    /// By effect: whether a thread executed it more than once in some run.
    repeated: Vec<bool>,
    /// By loop: how many of its iterations followed upon another one in some run.
    followed: Vec<u32>,
    slices: Slices<'k>,
    outcome: Outcome,
}

impl<'k> Decision<'k> {
    /// What was decided.
    fn close(mut self) -> Outcome {
        if !self.outcome.found.is_empty() || !self.outcome.gaps.is_empty() {
            self.outcome.outlives = None;
        }
        self.outcome
    }

    fn gap(&mut self, gap: Gap) {
        if !self.outcome.gaps.contains(&gap) {
            self.outcome.gaps.push(gap);
        }
    }

    /// Runs one valuation under every schedule that matters.
    fn run(&mut self, valuation: &Valuation, cancel: &Cancel<'_>) -> Result<(), Cancelled> {
        let Some(valuation) = &inputs::launchable(self.kernel, valuation) else { return Ok(()) };
        if self.outcome.valuations.contains(valuation) {
            return Ok(());
        }
        self.outcome.valuations.push(valuation.clone());
        let known = self.outcome.found.len();
        let mut machine = Machine::new(self.kernel, valuation, self.limits);
        let run = canonical(&machine);
        self.count(&run);
        self.idle = self.plan.groups.iter().any(|group| group.trips.eval(valuation) == Some(0));
        self.take(&run, valuation, false);
        self.remark(&run, valuation);
        if run.state.schedule_hazards().is_empty() || run.state.error().is_some() || run.state.unmodelled() {
            return Ok(());
        }
        if self.races() {
            // The canonical run already breaks a rule; other schedules would repeat it.
            return Ok(());
        }
        if self.settled && self.outcome.found.len() == known {
            return Ok(());
        }
        machine.adopt_numbering(&run.state);
        self.alternatives(&machine, &run, valuation, cancel)?;
        self.settled = known > 0 && self.outcome.found.len() == known;
        Ok(())
    }

    /// Keeps what a run that breaks no rule leaves under way, as the first one does that leaves something.
    fn remark(&mut self, run: &ScheduledRun<State>, valuation: &Valuation) {
        if let Some(remark) = run.state.remarks().first()
            && self.outcome.outlives.is_none()
            && run.state.violations().is_empty()
        {
            self.outcome.outlives = Some(Found {
                violation: remark.clone(),
                valuation: valuation.clone(),
                schedule: run.schedule.clone(),
                alternative: false,
                confluent: run.state.schedule_hazards().is_empty(),
            });
        }
    }

    /// A kernel that races is not confluent because of it, and what else its schedules lead to
    /// follows from the race.
    fn drop_consequences(&mut self) {
        if self.races() {
            self.outcome.lapped.clear();
            let follows = |found: &mut Found| !found.confluent && matches!(found.violation.rule, Rule::Deadlock(_));
            self.outcome.consequences.extend(self.outcome.found.extract_if(.., follows));
        }
        let races = RaceIndex::of(self.outcome.found.iter().map(|found| &found.violation));
        self.outcome.found.retain(|found| !races.subsumes(&found.violation));
    }

    fn races(&self) -> bool {
        self.outcome.found.iter().any(|found| matches!(found.violation.rule, Rule::Race { .. }))
    }

    /// Runs one valuation with fewer iterations than are expected.
    fn run_scant(&mut self, valuation: &Valuation) {
        let Some(valuation) = &inputs::launchable(self.kernel, valuation) else { return };
        self.outcome.valuations.push(valuation.clone());
        let machine = Machine::new(self.kernel, valuation, self.limits);
        let run = canonical(&machine);
        self.count(&run);
        if run.state.error().is_some() || run.state.unmodelled() {
            return;
        }
        let races = RaceIndex::of(run.state.violations());
        for violation in run.state.violations() {
            let known = self.outcome.found.iter().chain(&self.outcome.assumed);
            if races.subsumes(violation) || known.into_iter().any(|k| repeats(self.kernel, &k.violation, violation)) {
                continue;
            }
            // Few iterations are no excuse for a wait that never ends, if no race may be to blame and it is not known that
            // nobody launches the kernel so.
            let confluent = run.state.schedule_hazards().is_empty();
            let hangs = matches!(violation.rule, Rule::Deadlock(_))
                && (confluent || !self.races())
                && !self.plan.is_launched_amply(self.kernel);
            let list = if hangs { &mut self.outcome.found } else { &mut self.outcome.assumed };
            if list.len() >= self.limits.findings {
                continue;
            }
            list.push(Found {
                violation: violation.clone(),
                valuation: valuation.clone(),
                schedule: run.schedule.clone(),
                alternative: false,
                confluent,
            });
        }
    }

    fn alternatives(
        &mut self,
        machine: &Machine<'_>,
        run: &ScheduledRun<State>,
        valuation: &Valuation,
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        let mut lapped = Vec::new();
        for escape in run.state.schedule_hazards() {
            let ScheduleHazard::Lapped { wait, flip } = *escape else { continue };
            let Some(prefix) = run.schedule.get(..wait.saturating_sub(1) as usize) else { continue };
            let thread = usize::from(run.schedule[wait as usize - 1]);
            let held = run_delaying(machine, prefix, thread);
            self.count(&held);
            if !held.state.violations().iter().any(|violation| self.is_news(violation)) {
                lapped.push(Lapped {
                    wait,
                    flip,
                    canonical: run.schedule.clone(),
                    schedule: held.schedule,
                    valuation: valuation.clone(),
                });
            } else {
                self.take_alternative(held.schedule, valuation);
                return Ok(());
            }
            if lapped.len() >= 4 {
                break;
            }
        }
        for thread in 0..explore::System::threads(machine) {
            cancel.check()?;
            if self.outcome.steps >= steps_of(self.kernel, self.limits) {
                self.outcome.cut = true;
                return Ok(());
            }
            for other in [run_preferring(machine, thread), run_delaying(machine, &[], thread)] {
                self.count(&other);
                if other.state.violations().is_empty() && other.state.error().is_none() {
                    // Another schedule gets through: what the canonical one met is a matter of
                    // schedules.
                    for found in &mut self.outcome.found {
                        found.alternative |= !found.confluent;
                    }
                }
                if other.state.violations().iter().any(|violation| self.is_news(violation)) {
                    self.take_alternative(other.schedule, valuation);
                    if self.races() {
                        return Ok(());
                    }
                }
            }
        }
        if !self.outcome.found.is_empty() {
            return Ok(());
        }
        let mut first: Option<explore::Schedule> = None;
        // A state of a cluster is as many times as large, and a step as many times as dear.
        let ctas = machine.cluster().len();
        let limits = Limits {
            states: self.limits.states / ctas,
            total_steps: self.limits.total_steps / ctas as u64,
            ..self.limits.clone()
        };
        let explored = search(machine, &limits, cancel, |state, schedule| {
            if first.is_none() && !state.violations().is_empty() {
                first = Some(schedule.clone());
            }
        })?;
        self.outcome.steps += explored.steps;
        self.outcome.states += explored.states as u64;
        match first {
            Some(schedule) => self.take_alternative(schedule, valuation),
            None => {
                if self.outcome.lapped.is_empty() {
                    self.outcome.lapped = lapped;
                }
                if !explored.complete {
                    self.gap(Gap::Schedules { states: explored.states });
                }
            }
        }
        Ok(())
    }

    fn is_news(&self, violation: &Violation) -> bool {
        !self.outcome.found.iter().any(|known| repeats(self.kernel, &known.violation, violation))
    }

    fn count(&mut self, run: &ScheduledRun<State>) {
        self.outcome.runs += 1;
        self.outcome.steps += run.state.cost();
        for (at, executed) in self.executed.iter_mut().enumerate() {
            *executed |= run.state.has_executed(EffectId(at as u32));
        }
        for (at, repeated) in self.repeated.iter_mut().enumerate() {
            *repeated |= run.state.has_repeated(EffectId(at as u32));
        }
        never::follow(self.kernel, &self.slices, &run.state, &mut self.followed);
    }

    /// Where not all inputs are covered: runs the first program, the last and some between with the numbers of known
    /// launches.
    fn run_launches(&mut self, cancel: &Cancel<'_>) -> Result<(), Cancelled> {
        if !self.is_open() {
            return Ok(());
        }
        let launched = inputs::launched(self.kernel, &self.plan.base);
        self.run_beside(launched, (LAUNCH_STEPS, ALL_LAUNCHES_STEPS), cancel)
    }

    /// Where not all inputs are covered: runs those under which several things differ from the plan's base at once.
    fn run_further(&mut self, cancel: &Cancel<'_>) -> Result<(), Cancelled> {
        if !self.is_open() {
            return Ok(());
        }
        let mut further = further::further(self.kernel, self.plan);
        further.retain(|valuation| self.plan.is_ample(self.kernel, valuation));
        self.run_beside(further, (FURTHER_STEPS, ALL_FURTHER_STEPS), cancel)?;
        if !self.is_open() {
            return Ok(());
        }
        self.run_beside(crossed::crossed(self.kernel, self.plan), (FURTHER_STEPS, ALL_FURTHER_STEPS), cancel)
    }

    /// Whether nothing was found, and not all inputs are covered.
    fn is_open(&self) -> bool {
        matches!(self.outcome.reach, Reach::Runs(_)) && self.is_clean()
    }

    /// One run for each of these inputs, of so many steps at most, and so many in all: what a file may cost is for runs
    /// that choose their inputs.
    fn run_beside(
        &mut self,
        valuations: Vec<Valuation>,
        (run, all): (u64, u64),
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        let limits = Limits { run_steps: run.min(self.limits.run_steps), ..self.limits.clone() };
        let before = self.outcome.steps;
        let most = before.saturating_add(all);
        for valuation in valuations {
            cancel.check()?;
            if self.outcome.steps >= most {
                break;
            }
            let Some(valuation) = inputs::launchable(self.kernel, &valuation) else { continue };
            if self.outcome.valuations.contains(&valuation) {
                continue;
            }
            let machine = Machine::new(self.kernel, &valuation, &limits);
            let run = canonical(&machine);
            self.count(&run);
            if !run.state.unmodelled() {
                self.idle = self.plan.groups.iter().any(|group| group.trips.eval(&valuation) == Some(0));
                self.keep(&run, &valuation, false);
                self.remark(&run, &valuation);
            }
            if run.state.error().is_none() {
                self.outcome.valuations.push(valuation);
            }
        }
        self.outcome.steps = before;
        self.drop_consequences();
        if !self.is_clean() {
            self.outcome.reach = Reach::Runs(Vec::new());
        }
        Ok(())
    }

    /// Tries to come to what no run has executed, and says what stays unvisited: where not all inputs are covered,
    /// nothing is known of it.
    fn visit(&mut self, cancel: &Cancel<'_>) -> Result<(), Cancelled> {
        if !self.is_open() {
            return Ok(());
        }
        let expected = Expected::new(self.kernel);
        let short = |decision: &Self| expected.short(decision.plan.depth, &decision.followed);
        if expected.missing(&self.executed).is_empty()
            && expected.once(&self.repeated, &self.followed).is_empty()
            && short(self).is_empty()
        {
            return Ok(());
        }
        for lead in expected.leads(self.plan, &self.executed) {
            cancel.check()?;
            if self.outcome.steps >= steps_of(self.kernel, self.limits) || expected.missing(&self.executed).is_empty() {
                break;
            }
            let valuation = &lead.valuation;
            let news = |id: &EffectId| self.executed.get(id.index()) == Some(&false);
            if self.outcome.valuations.contains(valuation) || !lead.reaches.iter().any(news) {
                continue;
            }
            if self.plan.is_ample(self.kernel, valuation) && !lead.apart {
                self.run(valuation, cancel)?;
            } else {
                self.run_scant(valuation);
            }
        }
        let again = expected.again(self.plan, &short(self));
        let (ample, scant): (Vec<Valuation>, Vec<Valuation>) =
            again.into_iter().partition(|valuation| self.plan.is_ample(self.kernel, valuation));
        self.run_beside(ample, (FURTHER_STEPS, ALL_FURTHER_STEPS), cancel)?;
        if !expected.once(&self.repeated, &self.followed).is_empty() {
            scant.iter().for_each(|valuation| self.run_scant(valuation));
        }
        for walks in [false, true] {
            let once = expected.once(&self.repeated, &self.followed);
            let inputs = match walks {
                true => expected.turns_by_walks(self.plan, &once, &self.outcome.valuations),
                false => expected.turns(self.plan, &once),
            };
            for valuation in inputs {
                cancel.check()?;
                if self.outcome.steps >= steps_of(self.kernel, self.limits)
                    || !self.is_clean()
                    || expected.once(&self.repeated, &self.followed).is_empty()
                {
                    break;
                }
                if self.outcome.valuations.contains(&valuation) {
                    continue;
                }
                if self.plan.is_ample(self.kernel, &valuation) {
                    self.run(&valuation, cancel)?;
                } else {
                    self.run_scant(&valuation);
                }
            }
        }
        self.drop_consequences();
        if self.is_clean() {
            self.outcome.never = expected.reasons(&self.executed);
            if self.outcome.never.is_empty() {
                self.outcome.never = expected.once(&self.repeated, &self.followed);
            }
        } else {
            self.outcome.reach = Reach::Runs(Vec::new());
        }
        Ok(())
    }

    /// Whether nothing was found and nothing stayed open so far.
    fn is_clean(&self) -> bool {
        self.outcome.found.is_empty() && self.outcome.gaps.is_empty() && self.outcome.lapped.is_empty()
    }

    /// Keeps what another schedule than the canonical one found, as who repeats it numbers its barriers.
    fn take_alternative(&mut self, schedule: explore::Schedule, valuation: &Valuation) {
        let machine = Machine::new(self.kernel, valuation, self.limits);
        let state = explore::replay(&machine, &schedule, |_, _| ());
        self.take(&ScheduledRun { schedule, state }, valuation, true);
    }

    /// Keeps what a run found, one violation a kind and place.
    fn take(&mut self, run: &ScheduledRun<State>, valuation: &Valuation, alternative: bool) {
        if let Some(lost) = run.state.error() {
            self.gap(Gap::Machine(lost));
        }
        if run.state.unmodelled() {
            // What an unmodelled op does may order or fill what looks unordered or empty.
            self.gap(Gap::Unmodelled);
            return;
        }
        self.keep(run, valuation, alternative);
    }

    /// Keeps the violations of a run.
    fn keep(&mut self, run: &ScheduledRun<State>, valuation: &Valuation, alternative: bool) {
        let races = RaceIndex::of(run.state.violations());
        for violation in run.state.violations() {
            if races.subsumes(violation)
                || self.outcome.found.len() >= self.limits.findings
                || self.outcome.found.iter().any(|known| repeats(self.kernel, &known.violation, violation))
            {
                continue;
            }
            let empty = self.idle
                && matches!(
                    violation.rule,
                    Rule::Uninitialised { .. } | Rule::OverwrittenMember { .. } | Rule::InFlight { .. }
                );
            let list = if empty {
                &mut self.outcome.assumed
            } else if is_discarded(self.kernel, valuation, self.limits, run, violation) {
                &mut self.outcome.discarded
            } else {
                &mut self.outcome.found
            };
            if list.len() >= self.limits.findings
                || list.iter().any(|known| repeats(self.kernel, &known.violation, violation))
            {
                continue;
            }
            list.push(Found {
                violation: violation.clone(),
                valuation: valuation.clone(),
                schedule: run.schedule.clone(),
                alternative,
                confluent: run.state.schedule_hazards().is_empty(),
            });
        }
    }
}

/// Whether a violation would repeat a finding: same rule at the same op, unless it is about another of the
/// buffers packed there, or the same earlier access against the same thread.
fn repeats(kernel: &Kernel, known: &Violation, new: &Violation) -> bool {
    if std::mem::discriminant(&known.rule) != std::mem::discriminant(&new.rule) {
        return false;
    }
    match (&known.rule, &new.rule) {
        (Rule::Race { earlier: a, later: x }, Rule::Race { earlier: b, later: y })
        | (Rule::ProxyFence { earlier: a, later: x }, Rule::ProxyFence { earlier: b, later: y })
        | (Rule::OverwrittenMember { earlier: a, later: x }, Rule::OverwrittenMember { earlier: b, later: y }) => {
            known.site == new.site && !machine::siblings(kernel, known, new)
                || (a.effect == b.effect && x.thread == y.thread)
        }
        (Rule::Deadlock(a), Rule::Deadlock(b)) => {
            let sites =
                |blocked: &[machine::Blocked]| -> Vec<SiteId> { blocked.iter().map(|blocked| blocked.site).collect() };
            sites(a).first() == sites(b).first() || known.site == new.site
        }
        _ => known.site == new.site,
    }
}
