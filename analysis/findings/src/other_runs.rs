//! What the kernel does with its other inputs, for findings that ask who writes what they read: each input is run once.

use super::replay::ReplayedRun;
use crate::limits::words::{OTHER_STEPS, OTHERS};
use base::Limits;
use base::bits::Bits;
use explore::canonical_by;
use kernel::{BufferId, EffectId, Kernel};
use machine::{Event, Machine, Record, Rule, State, Unwritten, Valuation};
use std::cell::OnceCell;
use verify::{Found, Outcome};

/// An access of a thread.
type Read = (EffectId, u16, u16);

/// The runs of other inputs, made when the first finding asks.
pub(crate) struct OtherRuns<'k> {
    kernel: &'k Kernel,
    valuations: &'k [Valuation],
    /// The reads of which runs keep what they met unwritten.
    reads: Vec<Read>,
    runs: OnceCell<Vec<OtherRun<'k>>>,
}

/// A run, and what chosen reads met unwritten in it.
pub(crate) struct OtherRun<'k> {
    /// What the kernel was run with.
    pub(crate) valuation: &'k Valuation,
    /// Its steps.
    pub(crate) replay: ReplayedRun,
    unwritten: Vec<(Read, BufferId, Bits)>,
}

impl<'k> OtherRuns<'k> {
    /// Those of all inputs that an outcome rests on.
    pub(crate) fn new(kernel: &'k Kernel, outcome: &'k Outcome) -> OtherRuns<'k> {
        let all = outcome.found.iter().chain(&outcome.assumed).chain(&outcome.discarded);
        OtherRuns::of(kernel, &outcome.valuations, all)
    }

    /// None, for who has one violation alone.
    pub(crate) fn none(kernel: &'k Kernel) -> OtherRuns<'k> {
        OtherRuns::of(kernel, &[], std::iter::empty())
    }

    fn of<'f>(
        kernel: &'k Kernel,
        valuations: &'k [Valuation],
        found: impl Iterator<Item = &'f Found>,
    ) -> OtherRuns<'k> {
        let read = |found: &Found| match &found.violation.rule {
            Rule::Uninitialised { read } => Some(key(read)),
            _ => None,
        };
        // One more than are asked for: a finding leaves its own out.
        let valuations = valuations.get(..=OTHERS).unwrap_or(valuations);
        OtherRuns { kernel, valuations, reads: found.filter_map(read).collect(), runs: OnceCell::new() }
    }

    /// The runs of other inputs than `own`.
    pub(crate) fn but(&self, own: &Valuation) -> impl Iterator<Item = &OtherRun<'k>> {
        let runs = self.runs.get_or_init(|| self.within(OTHER_STEPS));
        runs.iter().filter(move |run| run.valuation != own).take(OTHERS)
    }

    /// The runs, as long as all together take no more than so many steps; one that takes more alone is none to learn
    /// from.
    fn within(&self, mut steps: u64) -> Vec<OtherRun<'k>> {
        let mut runs = Vec::new();
        for valuation in self.valuations {
            let limits = Limits { run_steps: steps, ..Limits::default() };
            let run = self.run(valuation, &limits);
            steps = steps.saturating_sub(run.replay.schedule.len() as u64);
            if steps == 0 {
                break;
            }
            runs.push(run);
        }
        runs
    }

    fn run(&self, valuation: &'k Valuation, limits: &Limits) -> OtherRun<'k> {
        let machine = Machine::new(self.kernel, valuation, limits);
        let mut unwritten = Vec::new();
        let mut records: Vec<Record> = Vec::new();
        let run = canonical_by(&machine, |state, thread| {
            self.note(&machine, state, thread, &mut unwritten);
            records.extend(machine.take(state, thread));
        });
        let replay = ReplayedRun { schedule: run.schedule, records, at_violation: run.state.clone(), end: run.state };
        OtherRun { valuation, replay, unwritten }
    }

    /// Notes what the reads of the effect before which a thread stands would meet unwritten.
    fn note(&self, machine: &Machine<'_>, state: &State, thread: usize, unwritten: &mut Vec<(Read, BufferId, Bits)>) {
        let Some(effect) = machine.next_effect_id(state, thread) else { return };
        if !self.reads.iter().any(|read| read.0 == effect && usize::from(read.2) == thread) {
            return;
        }
        for Unwritten { access, buffer, bits } in machine.unwritten(state, thread) {
            unwritten.push(((effect, access, thread as u16), buffer, bits));
        }
    }
}

impl OtherRun<'_> {
    /// What a read met unwritten in a buffer.
    pub(crate) fn unwritten(&self, read: &Event, buffer: BufferId) -> impl Iterator<Item = &(u64, u64)> {
        let met = self.unwritten.iter().filter(move |(at, of, _)| *at == key(read) && *of == buffer);
        met.flat_map(|(_, _, bits)| bits)
    }
}

fn key(read: &Event) -> Read {
    (read.effect, read.access, read.thread)
}
