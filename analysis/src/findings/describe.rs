//! From an outcome to findings.

use super::deadlock::deadlock;
use super::lifecycle::lifecycle;
use super::race::{Told, fence, race, uninitialised};
use super::replay::{self, Replay};
use super::words::Words;
use super::{Finding, KernelReport, Kind, Note, RunStep, Severity, Verdict};
use crate::decide::{Found, Gap, Lapped, Outcome, Reach};
use crate::model::{Lost, Record, Rule, Valuation};
use crate::sync::{EffectKind, InputId, InputKind, Lowered};

/// Longest run that a finding tells.
const RUN_STEPS: usize = 32;

/// The report on a kernel.
pub fn describe(lowered: &Lowered, outcome: &Outcome) -> KernelReport {
    let mut findings: Vec<Finding> = Vec::new();
    for found in &outcome.found {
        findings.extend(tell(lowered, found));
    }
    for lapped in &outcome.lapped {
        findings.extend(lap(lowered, lapped));
    }
    let verdict = verdict(lowered, outcome, &findings);
    for assumed in &outcome.assumed {
        findings.extend(tell(lowered, assumed).map(|finding| Finding {
            severity: Severity::Hint,
            message: format!("{} (only when a loop runs fewer times than its ring has slots)", finding.message),
            ..finding
        }));
    }
    for unmodelled in &lowered.unmodelled {
        findings.push(Finding {
            kind: Kind::Unmodelled,
            severity: Kind::Unmodelled.severity(),
            message: unmodelled.reason.clone(),
            range: unmodelled.range,
            sites: vec![Note { source: None, range: unmodelled.range, text: unmodelled.reason.clone(), primary: true }],
            run: Vec::new(),
            inputs: Vec::new(),
            kernel: lowered.map.kernel.clone(),
            fix: None,
        });
    }
    findings.sort_by_key(|finding| (finding.severity, finding.range));
    findings.dedup_by(|a, b| a.kind == b.kind && a.range == b.range);
    KernelReport {
        name: lowered.map.kernel.clone(),
        range: lowered.map.kernel_range,
        verdict,
        findings,
        runs: outcome.runs,
        steps: outcome.steps,
    }
}

/// What is said of one violation; `None` if its run does not repeat.
pub fn tell(lowered: &Lowered, found: &Found) -> Option<Finding> {
    let machine = replay::machine(&lowered.kernel, &found.valuation);
    let words = Words { kernel: &lowered.kernel, map: &lowered.map, channels: machine.channels() };
    let replay = replay::replay(&machine, found)?;
    let told = match &found.violation.rule {
        Rule::Race { .. } => race(&words, &machine, &replay, &found.violation),
        Rule::ProxyFence { .. } => fence(&words, &replay, &found.violation),
        Rule::Uninitialised { .. } => uninitialised(&words, &replay, &found.violation),
        Rule::Deadlock(_) => deadlock(&words, &machine, &replay, &found.violation, found.alternative),
        Rule::NotLive { .. } | Rule::Reinit | Rule::Overflow | Rule::OutOfBounds { .. } => {
            lifecycle(&words, &found.violation)
        }
    }?;
    Some(assemble(lowered, &words, &replay, told, &found.valuation, found.violation.step))
}

fn lap(lowered: &Lowered, lapped: &Lapped) -> Option<Finding> {
    let machine = replay::machine(&lowered.kernel, &lapped.valuation);
    let words = Words { kernel: &lowered.kernel, map: &lowered.map, channels: machine.channels() };
    let (canonical, _) = replay::repeat(&machine, &lapped.canonical, lapped.wait);
    let (held, _) = replay::repeat(&machine, &lapped.schedule, u32::MAX);
    let (wait, flip) = (canonical.record(lapped.wait)?, canonical.record(lapped.flip)?);
    let barrier = wait.barriers.first()?;
    let name = words.barrier(barrier.place);
    let (waiter, flipper) = (words.partition(wait.thread), words.partition(flip.thread));
    let told = Told {
        kind: Kind::LappedWait,
        message: format!(
            "`{name}` can flip twice before {waiter} looks: nothing makes {flipper} wait for it, so this wait may miss \
             the phase it is for"
        ),
        notes: vec![
            Note {
                source: None,
                range: words.site_range(wait.site),
                text: format!("{waiter} waits for flip {} of `{name}`", barrier.flips),
                primary: true,
            },
            Note {
                source: None,
                range: words.site_range(flip.site),
                text: format!("{flipper} can bring flip {} first", barrier.flips + 1),
                primary: false,
            },
        ],
        threads: vec![wait.thread, flip.thread],
        from: lapped.wait.saturating_sub(8),
    };
    let last = held.records.len() as u32;
    Some(assemble(lowered, &words, &held, told, &lapped.valuation, last))
}

fn assemble(
    lowered: &Lowered,
    words: &Words<'_>,
    replay: &Replay,
    told: Told,
    valuation: &Valuation,
    last: u32,
) -> Finding {
    let range = told.notes.iter().find(|note| note.primary).map(|note| note.range).unwrap_or_default();
    let run = run(words, replay, &told, last);
    let mut sites = told.notes;
    for site in &mut sites {
        let op = lowered.map.sites.iter().find(|op| op.range.contains(site.range) || op.name == site.range);
        site.source = op.and_then(|op| op.source.first().cloned());
    }
    Finding {
        kind: told.kind,
        severity: told.kind.severity(),
        run,
        message: told.message,
        range,
        sites,
        inputs: inputs(lowered, valuation),
        kernel: lowered.map.kernel.clone(),
        fix: None,
    }
}

/// Steps that set things up and lead nowhere by themselves.
fn prepares(words: &Words<'_>, record: &Record) -> bool {
    record
        .effect
        .is_some_and(|id| matches!(words.kernel.effect(id).kind, EffectKind::Allocate(_) | EffectKind::Init { .. }))
}

/// The steps that lead there: those of the threads concerned, and others' on the barriers that
/// these touched, from the first access on.
fn run(words: &Words<'_>, replay: &Replay, told: &Told, last: u32) -> Vec<RunStep> {
    let until = (last as usize).min(replay.records.len());
    let from = (told.from.saturating_sub(1) as usize).min(until);
    let window = &replay.records[from..until];
    let mut places = Vec::new();
    for record in window.iter().filter(|record| told.threads.contains(&record.thread)) {
        places.extend(record.barriers.iter().map(|barrier| barrier.place));
    }
    places.sort_unstable();
    places.dedup();
    let lifecycle = matches!(told.kind, Kind::BarrierNotLive | Kind::BarrierReinit | Kind::ArrivalOverflow);
    let concerns = |record: &&Record| {
        let touched = || record.barriers.iter().any(|barrier| places.binary_search(&barrier.place).is_ok());
        (lifecycle || !prepares(words, record)) && (told.threads.contains(&record.thread) || touched())
    };
    let mut steps: Vec<RunStep> = window.iter().filter(concerns).map(|record| step(words, record)).collect();
    if steps.len() > RUN_STEPS {
        let cut = steps.len() - RUN_STEPS;
        steps.drain(1..=cut);
    }
    steps
}

fn step(words: &Words<'_>, record: &Record) -> RunStep {
    RunStep {
        partition: words.partition(record.thread),
        range: words.site_range(record.site),
        text: words.step(record),
    }
}

fn inputs(lowered: &Lowered, valuation: &Valuation) -> Vec<(String, i64)> {
    let shown = |kind: InputKind| !matches!(kind, InputKind::Pointer(_));
    let kernel = &lowered.kernel;
    // Inputs without a name stand for bounds that the text has as constants.
    let named = kernel.inputs.iter().take(lowered.map.inputs.len()).enumerate();
    let inputs = named.filter(|(_, input)| shown(input.kind));
    inputs
        .map(|(at, _)| {
            let id = InputId(at as u32);
            (lowered.map.input(id), valuation.get(id))
        })
        .collect()
}

fn verdict(lowered: &Lowered, outcome: &Outcome, findings: &[Finding]) -> Verdict {
    if !findings.is_empty() {
        return Verdict::Found;
    }
    let mut reasons: Vec<String> = outcome.gaps.iter().map(reason).collect();
    if !lowered.unmodelled.is_empty() && !outcome.gaps.contains(&Gap::Unmodelled) {
        reasons.push(reason(&Gap::Unmodelled));
    }
    if !outcome.found.is_empty() {
        reasons.push("a violation could not be replayed; please report this".to_owned());
    }
    if !reasons.is_empty() {
        return Verdict::Undecided(reasons);
    }
    match &outcome.reach {
        Reach::NoInputs => Verdict::Proved("its barriers and memory depend on no input; one run covers all".to_owned()),
        Reach::Closed(closures) => Verdict::Proved(
            closures
                .iter()
                .map(|closure| {
                    format!(
                        "{} repeats its state every {} iterations from iteration {} on",
                        lowered.map.loop_site(&lowered.kernel, crate::sync::LoopId(closure.loop_number as u32)).op,
                        closure.period,
                        closure.warm_up,
                    )
                })
                .collect::<Vec<_>>()
                .join("; "),
        ),
        Reach::Runs(_) => {
            let rest = if outcome.cut { "; others were left out" } else { "" };
            Verdict::Clean(format!("no finding in {} choices of inputs{rest}", outcome.valuations.len()))
        }
    }
}

fn reason(gap: &Gap) -> String {
    match gap {
        Gap::Lost(Lost::Undefined) => "an index or bound divides by zero or shifts by its width or more".to_owned(),
        Gap::Lost(Lost::Limit) => "the limit on steps was met".to_owned(),
        Gap::Lost(Lost::IllFormed) => "the kernel is ill-formed".to_owned(),
        Gap::Unmodelled => "it has an op that is not modelled".to_owned(),
        Gap::Schedules { states } => {
            format!("its schedules differ, and {states} states were visited without an end")
        }
        Gap::Cluster { ctas } => format!("it runs on clusters of {ctas} CTAs, which are not followed yet"),
    }
}
