//! From an outcome to findings.

use super::cause::causes;
use super::deadlock::deadlock;
use super::description::Description;
use super::inputs::inputs;
use super::lifecycle::lifecycle;
use super::minimal::{Goal, minimal};
use super::other_runs::OtherRuns;
use super::packed::foreign;
use super::race::{fence, outlives, pending_result, race, unfinished};
use super::replay::{self, ReplayedRun};
use super::steps::ListedStep;
use super::uninitialised::uninitialised;
use super::words::Words;
use super::{Finding, KernelReport, Kind, Note, RunStep, Severity, Verdict, Witness};
use crate::limits::minimal::{REPEAT, SHORTEN, SHORTEN_ALL};
use base::{Message, message};
use explore::Schedule;
use kernel::{Lowered, Stage};
use machine::{Blocked, BlockedOn, Machine, MachineError, Rule, Valuation, Violation};
use verify::{Found, Gap, Lapped, Never, NeverExecuted, Outcome, Reach};

/// Steps that are left for shorter runs, and for repeating those that were found.
struct Effort {
    shorten: usize,
    /// `None` where runs are not for showing.
    one: Option<usize>,
    repeat: usize,
    /// Findings that are left out since their runs are long.
    left_out: usize,
}

/// What is done about the run that a finding shows.
enum Shown<'l> {
    /// Nothing: who asks does not show it.
    Nothing,
    /// It is shortened, and this many steps are left for that.
    Shortened(&'l mut usize),
}

impl Effort {
    /// Makes a finding whose run has so many steps with its share of what is left; not where repeating it is too much.
    fn spend<T>(&mut self, steps: usize, make: impl FnOnce(Shown<'_>) -> Option<T>) -> Option<T> {
        let Some(repeat) = self.repeat.checked_sub(steps.saturating_mul(TIMES)) else {
            self.left_out += 1;
            return None;
        };
        self.repeat = repeat;
        let Some(one) = self.one else { return make(Shown::Nothing) };
        let share = self.shorten.min(one);
        let mut left = share;
        let made = make(Shown::Shortened(&mut left));
        self.shorten -= share - left;
        made
    }
}

/// How often the run of a finding is repeated for what is said of it.
const TIMES: usize = 3;

/// The report on a kernel.
pub fn describe(lowered: &Lowered, outcome: &Outcome) -> KernelReport<Message> {
    describe_within(lowered, outcome, SHORTEN_ALL, Some(SHORTEN))
}

/// The same for a start: the runs are as they were found, not shortened.
pub fn describe_quickly(lowered: &Lowered, outcome: &Outcome) -> KernelReport<Message> {
    describe_within(lowered, outcome, 0, Some(0))
}

/// The same for who asks what is found and where: no finding has a run.
pub fn describe_places(lowered: &Lowered, outcome: &Outcome) -> KernelReport<Message> {
    describe_within(lowered, outcome, 0, None)
}

fn describe_within(lowered: &Lowered, outcome: &Outcome, shorten: usize, one: Option<usize>) -> KernelReport<Message> {
    let mut findings: Vec<Finding<Message>> = Vec::new();
    let causes = causes(&lowered.kernel, &outcome.found);
    let mut left = Effort { shorten, one, repeat: REPEAT, left_out: 0 };
    let others = OtherRuns::new(&lowered.kernel, outcome);
    let tell = |left: &mut Effort, found: &Found| {
        left.spend(found.schedule.len(), |shown| describe_with_inputs(lowered, found, &others, shown))
    };
    let told = outcome.found.iter().map(|found| tell(&mut left, found));
    let told: Vec<Option<Finding<Message>>> = told.collect();
    for (number, told_of) in told.iter().enumerate() {
        // One that follows from another is told with it, as long as there is that one to tell it with.
        if causes[number].is_some_and(|cause| told[cause].is_some()) {
            continue;
        }
        let Some(mut finding) = told_of.clone() else { continue };
        let follows = told.iter().zip(&causes).filter(|(_, cause)| **cause == Some(number));
        follows.filter_map(|(other, _)| other.as_ref()).for_each(|other| take_in(&mut finding, other));
        findings.push(finding);
    }
    for lapped in &outcome.lapped {
        findings.extend(left.spend(lapped.schedule.len(), |shown| lap(lowered, lapped, shown)));
    }
    if left.left_out > 0
        && let Some(last) = findings.last_mut()
    {
        let count = left.left_out;
        last.message =
            message!("{} ({count} more of this kernel are not told, since its runs are long)", last.message, count);
    }
    // What breaks in a plan is what the pass that places the barriers still has to order.
    let planned = lowered.map.stage == Stage::Planned;
    for finding in findings.iter_mut().filter(|_| planned) {
        finding.severity = Severity::Hint;
        finding.message =
            message!("{} (in the plan, whose barriers code partitioning has yet to place)", finding.message);
    }
    let verdict = verdict(lowered, outcome, &findings);
    // A run ends with the first rule that it breaks: what else longer runs would show is not known then.
    let when = if findings.is_empty() { "only when" } else { "seen where" };
    for assumed in &outcome.assumed {
        let finding = tell(&mut left, assumed);
        // With fewer iterations it is what it is with many.
        let known = |new: &Finding<Message>| findings.iter().any(|it| (it.kind, it.range) == (new.kind, new.range));
        let finding = finding.filter(|finding| !known(finding));
        findings.extend(finding.map(|finding| Finding {
            severity: Severity::Hint,
            message: message!("{} ({when} a loop runs fewer times than its ring has slots)", finding.message, when),
            ..finding
        }));
    }
    for discarded in &outcome.discarded {
        let finding = tell(&mut left, discarded);
        findings.extend(finding.map(|finding| Finding {
            severity: Severity::Hint,
            message: message!(
                "{} (what is read goes back to the accumulator, and a product overwrites all of it before anybody else \
                 reads it)",
                finding.message
            ),
            ..finding
        }));
    }
    if let Some(outlives) = outcome.outlives.as_ref().filter(|_| findings.is_empty() && !planned) {
        let finding = tell(&mut left, outlives);
        findings.extend(finding.map(|finding| Finding { severity: Severity::Hint, ..finding }));
    }
    for unmodelled in &lowered.unmodelled {
        findings.push(Finding::at(Kind::Unmodelled, unmodelled.reason.clone(), unmodelled.range, &*lowered.map.kernel));
    }
    findings.extend(outcome.never.iter().map(|never| unvisited(lowered, outcome, never)));
    findings.sort_by_key(|finding| (finding.severity, finding.range));
    // An op may overwrite several buffers that are packed into one.
    findings.dedup_by(|a, b| {
        a.kind == b.kind && a.range == b.range && (a.kind != Kind::PackedOverwrite || a.message == b.message)
    });
    KernelReport {
        name: lowered.map.kernel.clone(),
        range: lowered.map.kernel_range,
        verdict,
        findings,
        suppressed: Vec::new(),
        runs: outcome.runs,
        steps: outcome.steps,
        proof: outcome.proof,
        pin: None,
        global: None,
        broken: false,
    }
}

/// Tells of a finding that has the same cause at the places of the first.
fn take_in(finding: &mut Finding<Message>, other: &Finding<Message>) {
    for site in &other.sites {
        if finding.sites.iter().all(|known| known.range != site.range) {
            finding.sites.push(Note {
                primary: false,
                text: message!("for the same reason, {}", site.text),
                ..site.clone()
            });
        }
    }
}

/// What is said of one violation, for who asks what it is and where: its run is as it was found, not shortened. `None`
/// if it does not repeat.
pub fn describe_violation(lowered: &Lowered, found: &Found) -> Option<Finding<Message>> {
    describe_with_inputs(lowered, found, &OtherRuns::none(&lowered.kernel), Shown::Shortened(&mut 0))
}

/// The same; `others` is what the kernel does with other inputs.
fn describe_with_inputs(
    lowered: &Lowered,
    found: &Found,
    others: &OtherRuns<'_>,
    shown: Shown<'_>,
) -> Option<Finding<Message>> {
    let machine = replay::machine(&lowered.kernel, &found.valuation);
    let words = Words::new(lowered, &machine);
    let replay = replay::replay(&machine, found)?;
    let told = match &found.violation.rule {
        Rule::Race { .. } => race(&words, &machine, &replay, &found.violation, &found.valuation),
        Rule::Outlives { access } => outlives(&words, &machine, &replay, &found.violation, access),
        Rule::PendingResult { dot } => pending_result(&words, &found.violation, *dot),
        Rule::Unfinished { access } => unfinished(&words, &found.violation, access),
        Rule::ProxyFence { .. } => fence(&words, &replay, &found.violation),
        Rule::OverwrittenMember { earlier, later } => foreign(&words, &replay, earlier, later),
        Rule::Uninitialised { .. } => uninitialised(&words, &machine, &replay, found, others),
        Rule::Deadlock(_) => deadlock(&words, &machine, &replay, &found.violation, found.alternative),
        Rule::NotLive { .. }
        | Rule::Reinit
        | Rule::Overflow(_)
        | Rule::OutOfBounds { .. }
        | Rule::BarrierStorage
        | Rule::WaitedOn { .. }
        | Rule::InFlight { .. }
        | Rule::NotArrived
        | Rule::ArrivedTwice => lifecycle(&words, &replay, &found.violation),
    }?;
    let goal = Goal::Broken(found.violation.clone());
    assemble(lowered, &words, &machine, &found.schedule, &goal, told, &found.valuation, shown)
}

fn lap(lowered: &Lowered, lapped: &Lapped, shown: Shown<'_>) -> Option<Finding<Message>> {
    let machine = replay::machine(&lowered.kernel, &lapped.valuation);
    let words = Words::new(lowered, &machine);
    let (canonical, _) = replay::repeat(&machine, &lapped.canonical, lapped.wait);
    let (wait, flip) = (canonical.record(lapped.wait)?, canonical.record(lapped.flip)?);
    let barrier = wait.barriers.first()?;
    let name = words.barrier(barrier.place);
    let (waiter, flipper) = (words.partition(wait.thread), words.partition(flip.thread));
    let told = Description {
        kind: Kind::LappedWait,
        severity: Kind::LappedWait.severity(),
        message: message!(
            "`{name}` can flip twice before {waiter} looks: nothing makes {flipper} wait for it, so this wait may miss \
             the phase it is for",
            name,
            waiter,
            flipper
        ),
        notes: vec![
            Note::primary(
                words.site_range(wait.site),
                message!("{waiter} waits for flip {} of `{name}`", waiter, barrier.flips, name),
            ),
            Note::new(
                words.site_range(flip.site),
                message!("{flipper} can bring flip {} first", flipper, barrier.flips + 1),
            ),
        ],
        order: None,
    };
    let goal = Goal::Lapped { thread: wait.thread, site: wait.site, place: barrier.place, flips: barrier.flips + 1 };
    assemble(lowered, &words, &machine, &lapped.schedule, &goal, told, &lapped.valuation, shown)
}

#[allow(clippy::too_many_arguments)]
fn assemble(
    lowered: &Lowered,
    words: &Words<'_>,
    machine: &Machine<'_>,
    schedule: &Schedule,
    goal: &Goal,
    told: Description,
    valuation: &Valuation,
    shown: Shown<'_>,
) -> Option<Finding<Message>> {
    let told_in_steps = match shown {
        Shown::Nothing => None,
        Shown::Shortened(left) => {
            let shown = minimal(machine, schedule, goal, left)?;
            let (replay, _) = replay::repeat(machine, &shown.schedule, u32::MAX);
            let waits = waits(words, goal, &told);
            let stops = super::steps::listed_steps(words.kernel, words.channels, &shown, &replay.records, &waits);
            let run: Vec<_> = stops.iter().filter_map(|stop| step(words, &replay, &shown.goal, stop)).collect();
            Some((run, Witness { valuation: valuation.clone(), run: shown, steps: stops }))
        }
    };
    let (run, witness) = told_in_steps.map_or((Vec::new(), None), |(run, witness)| (run, Some(witness)));
    let mut finding = Finding {
        run,
        witness,
        inputs: inputs(&lowered.kernel, &lowered.map, valuation),
        order: told.order,
        severity: told.severity,
        ..Finding::with_sites(told.kind, told.message, told.notes, &*lowered.map.kernel)
    };
    finding.name_sources(&lowered.map);
    Some(finding)
}

/// For each wait that never ends the note that is about it; of an uninitialised read its own.
fn waits(words: &Words<'_>, goal: &Goal, told: &Description) -> Vec<Option<usize>> {
    let Goal::Broken(Violation { rule, .. }) = goal else { return Vec::new() };
    let Rule::Deadlock(blocked) = rule else { return vec![told.notes.iter().position(|note| note.primary)] };
    let mut used = vec![false; told.notes.len()];
    let mut note = |range| {
        let mut notes = told.notes.iter().enumerate();
        let (at, _) = notes.find(|(at, note)| note.range == range && !used[*at])?;
        used[at] = true;
        Some(at)
    };
    let barrier = |stuck: &Blocked| matches!(stuck.on, BlockedOn::Barrier { .. });
    blocked.iter().map(|stuck| note(words.site_range(stuck.site)).filter(|_| barrier(stuck))).collect()
}

fn step(words: &Words<'_>, replay: &ReplayedRun, goal: &Goal, stop: &ListedStep) -> Option<RunStep<Message>> {
    let text = match stop.step {
        Some(step) => words.step(replay.record(step)?),
        None => words.standing(goal, stop.thread),
    };
    let partition = words.partition(stop.thread);
    Some(RunStep { partition, range: words.site_range(stop.site), text, site: stop.note })
}

/// What is said at an op that no run came to.
fn unvisited(lowered: &Lowered, outcome: &Outcome, never: &NeverExecuted) -> Finding<Message> {
    let range = |site: kernel::SiteId| lowered.map.sites.get(site.index()).map(|site| site.name).unwrap_or_default();
    let (text, around) = match &never.why {
        Never::Loop { loop_number, inputs } => {
            let info = lowered.kernel.loops.get(*loop_number);
            let names = inputs.iter().filter(|input| input.index() < lowered.map.inputs.len());
            let names: Vec<Message> =
                names.map(|input| message!("`{}`", Message::value(lowered.map.input(*input)))).collect();
            let text = if names.is_empty() {
                "the loop around it did not run, and what its bounds depend on is not followed".into()
            } else {
                message!("the loop around it, which depends on {}, did not run", Message::join(names, ", "))
            };
            (text, info.map(|info| range(info.site)))
        }
        Never::Condition => ("a condition that it depends on never held".into(), None),
        Never::Again { .. } => (Message::default(), None),
    };
    let message = match never.why {
        Never::Again { .. } => message!(
            "no iteration of this loop was followed by another one in {} choices of inputs, so nothing is known of what \
             one leaves to the next",
            outcome.valuations.len()
        ),
        _ => message!(
            "this never ran in {} choices of inputs, so nothing is known of it: {}",
            outcome.valuations.len(),
            text
        ),
    };
    let mut notes = vec![Note::primary(range(never.site), message.clone())];
    notes.extend(around.map(|range| Note::new(range, "the loop that did not run")));
    Finding::with_sites(Kind::Unmodelled, message, notes, &*lowered.map.kernel)
}

fn verdict(lowered: &Lowered, outcome: &Outcome, findings: &[Finding<Message>]) -> Verdict<Message> {
    let planned = lowered.map.stage == Stage::Planned;
    if !findings.is_empty() && !planned {
        return Verdict::Found;
    }
    let mut reasons: Vec<Message> = outcome.gaps.iter().map(reason).collect();
    if planned {
        reasons.insert(0, "its barriers are not placed yet; what orders its tasks is what its plan implies".into());
    }
    if !lowered.unmodelled.is_empty() && !outcome.gaps.iter().any(|gap| matches!(gap, Gap::Unmodelled | Gap::Rewritten))
    {
        reasons.push(reason(&Gap::Unmodelled));
    }
    if !outcome.found.is_empty() && findings.is_empty() {
        reasons.push("a violation could not be replayed; please report this".into());
    }
    reasons.extend(outcome.never.iter().map(|never| never_ran(lowered, never)));
    if !reasons.is_empty() {
        return Verdict::Undecided(reasons);
    }
    match &outcome.reach {
        Reach::NoInputs => Verdict::Proved("its barriers and memory depend on no input; one run covers all".into()),
        Reach::Closed(closures) if closures.is_empty() => {
            Verdict::Proved("every path that inputs can take was followed to its end".into())
        }
        Reach::Closed(closures) => {
            let repeats = closures.iter().map(|closure| {
                let site = lowered.map.loop_site(&lowered.kernel, kernel::LoopId(closure.loop_number as u32));
                message!(
                    "its {op} loop is in the same state again every {period} iterations, from iteration {first} on",
                    Message::op(site.op.clone()),
                    closure.period,
                    closure.warm_up,
                )
            });
            Verdict::Proved(Message::join(repeats, "; "))
        }
        Reach::Runs(_) => {
            let rest = if outcome.cut { "; not finished: others were left out" } else { "" };
            Verdict::Clean(message!("no finding in {} choices of inputs{rest}", outcome.valuations.len(), rest))
        }
    }
}

/// The same in short, for a verdict.
fn never_ran(lowered: &Lowered, never: &NeverExecuted) -> Message {
    let op = |site: kernel::SiteId| {
        lowered.map.sites.get(site.index()).map(|site| Message::op(site.op.clone())).unwrap_or_default()
    };
    match &never.why {
        Never::Loop { loop_number, .. } => {
            let around = lowered.map.loop_site(&lowered.kernel, kernel::LoopId(*loop_number as u32));
            message!("{} never ran, since the {} around it did not", op(never.site), Message::op(around.op.clone()))
        }
        Never::Condition => message!("{} never ran, since a condition never held", op(never.site)),
        Never::Again { .. } => message!("no iteration of its {} loop was followed by another one", op(never.site)),
    }
}

pub(super) fn reason(gap: &Gap) -> Message {
    match gap {
        Gap::Machine(MachineError::Undefined) => {
            "an index or bound divides by zero or shifts by its width or more".into()
        }
        Gap::Machine(MachineError::Limit) => "the limit on steps was met".into(),
        Gap::Machine(MachineError::IllFormed) => "the kernel is ill-formed".into(),
        Gap::Unmodelled => "it has an op that is not modelled".into(),
        Gap::Rewritten => {
            "words of memory that steer it are written by itself, and what it then reads is not followed".into()
        }
        Gap::Schedules { states } => {
            message!("its schedules differ, and {states} states were visited without an end", states)
        }
        Gap::Cluster { ctas } => message!("it runs on clusters of {ctas} CTAs, which are not followed yet", ctas),
    }
}
