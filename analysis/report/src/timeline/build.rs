//! Lays a run out by repeating it.

use super::bands::Bands;
use super::fold::folds;
use super::spans::Spans;
use super::{Lane, Missing, Step, Timeline};
use base::{Limits, Message, Names};
use explore::{Readiness, Schedule, System, canonical};
use findings::{Finding, Goal, ListedStep, Words, inputs, machine};
use kernel::{EffectKind, Issuer, Lowered, Mode, SiteId, Terminator};
use machine::{BarrierPlace, BlockedOn, Event, Machine, Record, Rule, Valuation};
use verify::showcase;

/// The minimal run of a finding, in these names; `None` where it has none.
pub fn of_finding(lowered: &Lowered, finding: &Finding, names: &dyn Names) -> Option<Timeline> {
    let witness = finding.witness.as_ref()?;
    let machine = machine(&lowered.kernel, &witness.valuation);
    let (schedule, goal) = (&witness.run.schedule, Some(&witness.run.goal));
    Some(lay_out(lowered, &machine, &witness.valuation, schedule, goal, &witness.steps, names))
}

/// A run of a kernel that shows what it does: each partition runs until it blocks, with the smallest
/// inputs that fill its rings.
pub fn of_kernel(lowered: &Lowered, limits: &Limits, names: &dyn Names) -> Timeline {
    let valuation = showcase(&lowered.kernel, limits);
    let machine = Machine::new(&lowered.kernel, &valuation, limits);
    let run = canonical(&machine);
    lay_out(lowered, &machine, &valuation, &run.schedule, None, &[], names)
}

fn lay_out(
    lowered: &Lowered,
    machine: &Machine<'_>,
    valuation: &Valuation,
    schedule: &Schedule,
    goal: Option<&Goal>,
    stops: &[ListedStep],
    names: &dyn Names,
) -> Timeline {
    let words = Words::new(lowered, machine);
    let mut layout = Layout { words: &words, names, lowered, stops, steps: Vec::new(), records: Vec::new() };
    let (mut bands, mut spans) = (Bands::new(names), Spans::new(names));
    let mut state = machine.initial();
    for &entry in schedule {
        let thread = usize::from(entry);
        if machine.stopped(&state) || machine.status(&state, thread) != Readiness::Ready {
            break;
        }
        let Some(record) = machine.take(&mut state, thread) else { break };
        let number = state.step();
        layout.step(number, &record);
        bands.step(&words, number, &record, &state);
        spans.step(&words, machine, number, &record, &state);
        layout.records.push(record);
    }
    let last = layout.steps.len() as u32;
    let mut missing = Vec::new();
    for stop in stops.iter().filter(|stop| stop.step.is_none()) {
        let line = layout.stand(stop, goal);
        if let Some(place) = stands_at(goal, stop) {
            let band = bands.of(&words, place);
            bands.wait(line, band);
            if matches!(goal, Some(Goal::Broken(violation)) if matches!(violation.rule, Rule::Deadlock(_))) {
                missing.push(Missing::Flip { step: line, band });
            }
        }
    }
    bands.finish(&words, (last, layout.steps.len() as u32), &state, goal);
    mark(&layout, &mut spans, goal, &mut missing);
    let folds = folds(&layout.steps);
    let steps = layout.steps;
    let lanes = (0..machine.threads()).map(|thread| {
        let label = lowered.map.partition(machine.partition_of(thread));
        Lane { name: names.partition(&label).into_owned(), cta: machine.cta_of(thread) }
    });
    Timeline {
        kernel: lowered.map.kernel.clone(),
        inputs: inputs(&lowered.kernel, &lowered.map, valuation)
            .into_iter()
            .map(|(name, value)| (name.render(names), value))
            .collect(),
        lanes: lanes.collect(),
        steps,
        bands: bands.take(),
        slots: spans.slots,
        spans: spans.spans,
        groups: spans.groups,
        missing,
        folds,
    }
}

/// What a thread stands at when the run ends.
fn stands_at(goal: Option<&Goal>, stop: &ListedStep) -> Option<BarrierPlace> {
    match goal? {
        Goal::Lapped { place, .. } => Some(*place),
        Goal::Broken(violation) => match &violation.rule {
            Rule::Deadlock(blocked) => {
                blocked.iter().find(|blocked| blocked.thread == stop.thread).and_then(|blocked| {
                    let BlockedOn::Barrier { barrier, .. } = blocked.on else { return None };
                    Some(barrier)
                })
            }
            _ => violation.barrier,
        },
    }
}

/// Marks what the violation is about.
fn mark(layout: &Layout<'_>, spans: &mut Spans<'_>, goal: Option<&Goal>, missing: &mut Vec<Missing>) {
    let Some(goal) = goal else {
        spans.slots.iter_mut().for_each(|slot| slot.concerned = true);
        return;
    };
    let Goal::Broken(violation) = goal else { return };
    let last = layout.records.len() as u32;
    let mut events: Vec<(&Event, usize)> = Vec::new();
    match &violation.rule {
        Rule::Race { earlier, later } | Rule::ProxyFence { earlier, later } => {
            events = vec![(earlier, 0), (later, 1)];
            missing.push(Missing::Order { from: earlier.step, to: last });
        }
        Rule::OverwrittenMember { earlier, later } => events = vec![(earlier, 0), (later, 1)],
        Rule::Uninitialised { read } => events = vec![(read, 0)],
        _ => {}
    }
    for (event, site) in events {
        let record = (event.step as usize).checked_sub(1).and_then(|at| layout.records.get(at));
        let Some(&place) = record.and_then(|record| record.places.get(usize::from(event.access))) else { continue };
        let slot = spans.slot(layout.words, place);
        spans.slots[slot].concerned = true;
        let mut own = spans.spans.iter_mut().filter(|span| span.from == event.step && span.slot == slot);
        if let Some(span) = own.find(|span| span.mode == event.mode && span.site.is_none()) {
            span.site = Some(site);
        }
    }
}

/// A step in words.
struct Said {
    verb: &'static str,
    brief: Message,
    text: Message,
}

struct Layout<'a> {
    words: &'a Words<'a>,
    names: &'a dyn Names,
    lowered: &'a Lowered,
    stops: &'a [ListedStep],
    steps: Vec<Step>,
    records: Vec<Record>,
}

impl Layout<'_> {
    fn step(&mut self, number: u32, record: &Record) {
        let stop = self.stops.iter().find(|stop| stop.step == Some(number));
        let said = Said { verb: self.verb(record), brief: self.words.brief(record), text: self.words.step(record) };
        self.push(usize::from(record.thread), record.site, said, stop, false);
    }

    /// A line for a thread that stands where it is; its number.
    fn stand(&mut self, stop: &ListedStep, goal: Option<&Goal>) -> u32 {
        let text = goal.map_or_else(Message::default, |goal| self.words.standing(goal, stop.thread));
        let brief = stands_at(goal, stop).map_or_else(Message::default, |place| self.words.barrier(place));
        let said = Said { verb: "wait", brief, text };
        self.push(usize::from(stop.thread), stop.site, said, Some(stop), true);
        self.steps.len() as u32
    }

    fn push(&mut self, lane: usize, site: SiteId, said: Said, stop: Option<&ListedStep>, stuck: bool) {
        let info = self.lowered.map.sites.get(site.index());
        self.steps.push(Step {
            lane,
            range: self.words.site_range(site),
            source: info.and_then(|info| info.source.first().cloned()),
            verb: said.verb,
            brief: said.brief.render(self.names),
            text: said.text.render(self.names),
            told: stop.is_some(),
            site: stop.and_then(|stop| stop.note),
            stuck,
        });
    }

    fn verb(&self, record: &Record) -> &'static str {
        let Some(id) = record.effect else {
            // The op that starts partitions is also the one that waits for their end.
            let forks = |terminator: &Terminator| match terminator {
                Terminator::Fork(fork) => fork.site == record.site,
                _ => false,
            };
            let same = |earlier: &&Record| (earlier.thread, earlier.site) == (record.thread, record.site);
            let before = self.records.iter().filter(same).count();
            return match self.words.kernel.blocks.iter().any(|block| forks(&block.terminator)) {
                true if before % 2 == 0 => "fork",
                true => "join",
                false => "end",
            };
        };
        match &self.words.kernel.effect(id).kind {
            EffectKind::Allocate(_) => "alloc",
            EffectKind::Operation { issuer, accesses, .. } => {
                let any = |mode| accesses.iter().any(|access| access.mode == mode);
                match issuer {
                    Issuer::TensorCore if any(Mode::Write) => "mma",
                    Issuer::Tma => "copy",
                    Issuer::Clc => "request",
                    _ if any(Mode::Read) && any(Mode::Write) => "update",
                    _ if any(Mode::Write) => "write",
                    _ => "read",
                }
            }
            EffectKind::Init { .. } => "init",
            EffectKind::Invalidate { .. } => "inval",
            EffectKind::Expect { .. } => "expect",
            EffectKind::Arrive { .. }
            | EffectKind::AsyncCopyArrive { .. }
            | EffectKind::ClusterArrive { .. }
            | EffectKind::NamedArrive { .. } => "arrive",
            EffectKind::Wait { .. } | EffectKind::ClusterWait | EffectKind::NamedWait { .. } => "wait",
            EffectKind::TensorCoreCommit { .. } | EffectKind::Commit(_) => "commit",
            EffectKind::WaitGroup { .. } => "drain",
            EffectKind::ProxyFence => "fence",
            EffectKind::ClcLoad { .. } | EffectKind::ReadPhase { .. } => "read",
            EffectKind::Use { .. } => "use",
            EffectKind::Unmodelled => "?",
        }
    }
}
