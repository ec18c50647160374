//! From broken rules to findings: the words of the sanitizer, and who met whom.

use asserts::{AssertMessage, DeadlockAt};
use base::TextRange;
use findings::{Finding, Kind, Note, Words};
use kernel::Mode;
use machine::{BlockedOn, Event, Machine, Rule, State, Violation};

use super::context::Context;

/// What was said, each thing once.
#[derive(Debug, Default)]
pub(super) struct FindingLog {
    found: Vec<(Finding, u64)>,
    inputs: Vec<(String, i64)>,
    /// Asserts, identical ones counted.
    pub(super) asserts: u64,
    /// Where the end of a thread lets a deadlock be noticed.
    pub(super) noticed: Option<DeadlockAt>,
}

impl FindingLog {
    pub(super) fn new(inputs: Vec<(String, i64)>) -> FindingLog {
        FindingLog { inputs, ..FindingLog::default() }
    }

    /// Takes what the machine has found since, and what it keeps for other schedules.
    pub(super) fn record(&mut self, context: &Context<'_>, state: &mut State) {
        for violation in state.take_violations() {
            if let Some(message) = AssertMessage::of(&context.machine, state, &violation) {
                let message = match (message, self.noticed) {
                    (AssertMessage::Deadlock(_), Some(at)) => AssertMessage::Deadlock(at),
                    (message, _) => message,
                };
                self.add(violation_finding(context, &violation, &message));
            } else if violation.rule == Rule::ArrivedTwice {
                self.add(double_arrival(context, &violation));
            }
        }
    }

    /// Another finding.
    pub(super) fn add(&mut self, told: Finding) {
        self.asserts += 1;
        // One deadlock has several words, by who comes to notice it.
        let same = |(known, _): &&mut (Finding, u64)| {
            known.kind == told.kind
                && known.sites == told.sites
                && (known.message == told.message || told.kind == Kind::Deadlock)
        };
        match self.found.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => self.found.push((Finding { inputs: self.inputs.clone(), ..told }, 1)),
        }
    }

    /// All findings, by place; one that was met often says how often.
    pub(super) fn findings(self) -> Vec<Finding> {
        let told = self.found.into_iter().map(|(mut finding, count)| {
            if count > 1 {
                finding.message = format!("{} ({count} times)", finding.message);
            }
            finding
        });
        let mut findings: Vec<Finding> = told.collect();
        findings.sort_by_key(|finding| (finding.severity, finding.range));
        findings
    }
}

/// A finding with one sentence and these places, the first of which is primary.
pub(super) fn finding(context: &Context<'_>, kind: Kind, message: String, places: Vec<(TextRange, String)>) -> Finding {
    let map = &context.made.lowered.map;
    let sites: Vec<Note> = places
        .into_iter()
        .enumerate()
        .map(|(at, (range, text))| {
            let site = map.sites.iter().find(|site| site.range.contains(range) || site.name == range);
            let source = site.and_then(|site| site.source.first().cloned());
            Note { range, text, source, primary: at == 0 }
        })
        .collect();
    Finding {
        kind,
        severity: kind.severity(),
        message,
        range: sites.first().map(|record| record.range).unwrap_or_default(),
        sites,
        context: Vec::new(),
        run: Vec::new(),
        witness: None,
        inputs: Vec::new(),
        phases: Vec::new(),
        kernel: map.kernel.clone(),
        instance: 0,
        fix: None,
    }
}

/// What the sanitizer does not look for, and ends the program all the same.
fn double_arrival(context: &Context<'_>, violation: &Violation) -> Finding {
    let words = Words::new(&context.made.lowered, &context.machine);
    let who = words.partition(violation.thread);
    let what = violation.barrier.map_or_else(String::new, |place| words.barrier(place));
    let message = format!("{who} arrives at `{what}` again before it has waited for the round before");
    finding(context, Kind::ArrivalOverflow, message.clone(), vec![(words.site_range(violation.site), message)])
}

fn violation_finding(context: &Context<'_>, violation: &Violation, message: &AssertMessage) -> Finding {
    let machine = &context.machine;
    let words = Words::new(&context.made.lowered, machine);
    let (clause, places) = match &violation.rule {
        Rule::Race { earlier, later } | Rule::ProxyFence { earlier, later } => race(machine, &words, earlier, later),
        Rule::Deadlock(_) => deadlock(&words, violation),
        _ => {
            let who = words.partition(violation.thread);
            let what = violation.barrier.map_or_else(String::new, |place| format!(" on `{}`", words.barrier(place)));
            let op = words.op(violation.site);
            (format!("{op} of {who}{what}"), vec![(words.site_range(violation.site), format!("{who} executes {op}"))])
        }
    };
    let text = message.text();
    let text = if text.ends_with('.') { format!("{text} {clause}") } else { format!("{text}: {clause}") };
    finding(context, message.kind(), text, places)
}

/// Two accesses that nothing orders, or no fence: the clause, and the later place before the earlier.
fn race(
    machine: &Machine<'_>,
    words: &Words<'_>,
    earlier: &Event,
    later: &Event,
) -> (String, Vec<(TextRange, String)>) {
    let (first, second) = (words.partition(earlier.thread), words.partition(later.thread));
    let late = machine.channels().base(usize::from(earlier.thread)) != earlier.channel;
    let before = match (earlier.mode, late) {
        (Mode::Read, true) => "may still be reading it",
        (Mode::Read, false) => "has read it",
        (Mode::Write, true) => "may still be writing it",
        (Mode::Write, false) => "has written it",
    };
    let clause = format!("{} of {second}; {} of {first} {before}", words.did(later, None), op(words, earlier));
    let places = vec![
        (words.event_range(later), format!("{second}: {}", words.did(later, None))),
        (words.event_range(earlier), format!("{first}: {}", words.did(earlier, None))),
    ];
    (clause, places)
}

fn op(words: &Words<'_>, event: &Event) -> String {
    let effect = words.kernel.effects.get(event.effect.index());
    effect.map_or_else(String::new, |effect| words.op(effect.site))
}

/// Threads that wait for ever.
fn deadlock(words: &Words<'_>, violation: &Violation) -> (String, Vec<(TextRange, String)>) {
    let Rule::Deadlock(blocked) = &violation.rule else { return (String::new(), Vec::new()) };
    let sentence = |deadlock: &machine::Blocked| {
        let who = words.partition(deadlock.thread);
        match &deadlock.on {
            BlockedOn::Barrier { barrier, phase, flips, pending, bytes, .. } => {
                let name = words.barrier(*barrier);
                let missing = match (*pending, *bytes) {
                    (0, bytes) => format!("{bytes} bytes are missing"),
                    (pending, 0) => format!("{pending} of its arrivals are missing"),
                    (pending, bytes) => format!("{pending} of its arrivals and {bytes} bytes are missing"),
                };
                format!("{who} waits for phase {phase} of `{name}`, which has flipped {flips} times; {missing}")
            }
            BlockedOn::Partitions => format!("{who} waits for the partitions"),
        }
    };
    let on_barriers = blocked.iter().filter(|deadlock| matches!(deadlock.on, BlockedOn::Barrier { .. }));
    let places: Vec<(TextRange, String)> =
        on_barriers.map(|deadlock| (words.site_range(deadlock.site), sentence(deadlock))).collect();
    let clause = places.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ");
    (clause, places)
}
