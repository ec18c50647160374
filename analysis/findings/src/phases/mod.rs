//! Phases that do not follow the flips of their barrier: which counter drives the one and which the
//! other, where they part, and what phase would be right.
//!
//! Nothing is said that the machine has not run: the phase of a suspected wait is replaced, in the
//! kernel, by the parity of a count of loop iterations, one plausible count after the other, and the
//! kernel run anew with all inputs that are chosen for it. Where the finding is gone and none is new, that wait's
//! phase was the cause, and the first iteration in which it names another phase than the count is where they
//! part. That no input breaks a rule then is not asked here; a fix is decided whole before it is offered.
//!
//! What is missed: loops that are not counted, counts that no product of at most all loops around
//! the wait gives, kernels in which several waits are wrong for different reasons.

mod counts;
mod describe;
mod drive;
mod formula;

pub use formula::PhaseFormula;

use super::describe::describe_places;
use super::minimal::Goal;
use super::paths::{Loops, block_of};
use super::replay::{self, repeat, walk};
use super::words::Words;
use super::{KernelReport, Kind, Severity, Witness};
use crate::limits::phases::{ALL_DECIDED, ALL_STEPS, DECIDED, STEPS};
use base::{Cancelled, Message};
use explore::canonical;
use kernel::{EffectId, EffectKind, Kernel, Lowered, Var};
use machine::{BarrierPlace, BlockedOn, Machine, PendingWait, Rule, State, Valuation};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use verify::Outcome;

/// What may yet be tried for one report.
struct Left {
    decided: usize,
    steps: u64,
}

impl Left {
    fn is_spent(&self) -> bool {
        self.decided == 0 || self.steps == 0
    }

    fn spend(&mut self, steps: u64) {
        self.steps = self.steps.saturating_sub(steps);
    }
}

/// A wait whose phase may be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Suspect {
    wait: EffectId,
    thread: u16,
    place: BarrierPlace,
    named: Var,
}

/// Says of each finding of a report that a phase has caused which counter drives what. `decide`
/// says what runs find in changed kernels.
pub fn explain_phases(
    lowered: &Lowered,
    report: &mut KernelReport<Message>,
    decide: &mut dyn FnMut(&Kernel) -> Result<Arc<Outcome>, Cancelled>,
) -> Result<(), Cancelled> {
    let concerns = |kind: Kind| {
        use Kind::*;
        matches!(kind, PhaseMismatch | Deadlock | LappedWait | MissingForwardBarrier | MissingBackwardBarrier)
    };
    if report.steps > STEPS || !lowered.unmodelled.is_empty() {
        return Ok(());
    }
    let places: Vec<(Kind, base::TextRange)> = report.findings.iter().map(|f| (f.kind, f.range)).collect();
    let mut left = Left { decided: ALL_DECIDED, steps: ALL_STEPS };
    let mut visits: Vec<(Valuation, Rc<OnceCell<Vec<Visit>>>)> = Vec::new();
    for finding in &mut report.findings {
        if left.is_spent() || finding.severity == Severity::Hint || !concerns(finding.kind) {
            continue;
        }
        let Some(witness) = finding.witness.clone() else { continue };
        let machine = replay::machine(&lowered.kernel, &witness.valuation);
        let words = Words::new(lowered, &machine);
        // Where no wait is known to name a wrong phase, one that names the other may only wait longer.
        let others = !matches!(finding.kind, Kind::MissingForwardBarrier | Kind::MissingBackwardBarrier);
        let known = visits.iter().position(|(valuation, _)| *valuation == witness.valuation);
        let known = known.unwrap_or_else(|| {
            visits.push((witness.valuation.clone(), Rc::default()));
            visits.len() - 1
        });
        let counted = lowered.kernel.loops.iter().filter_map(|info| info.counted);
        let search = Search {
            lowered,
            words: &words,
            machine: &machine,
            witness: &witness,
            places: &places,
            others,
            loops: Loops::new(&lowered.kernel),
            counters: counted.flat_map(|(counter, lower, upper, step)| [counter, lower, upper, step]).collect(),
            visited: visits[known].1.clone(),
        };
        if others && search.tell_undercounted(finding, &mut left, decide)? {
            search.tell_early_flip(finding);
            continue;
        }
        // What waits see is found out in two runs.
        let is_seen = search.visited.get().is_some();
        let corrected = search.first((finding.kind, finding.range), &mut left, decide)?;
        if !is_seen && search.visited.get().is_some() {
            left.spend(2 * report.steps);
        }
        let is_told = corrected.is_some();
        if let Some(corrected) = corrected {
            search.tell(finding, &corrected);
        }
        if !search.tell_restart(finding) && !is_told {
            search.tell_early_flip(finding);
        }
    }
    Ok(())
}

/// Phases that the machine found to be right.
struct CorrectedPhases {
    /// The waits that name them.
    change: Vec<(Suspect, PhaseFormula)>,
    /// Who then flips the barrier.
    flips: drive::Flips,
}

type Places = [(Kind, base::TextRange)];

struct Search<'a> {
    lowered: &'a Lowered,
    words: &'a Words<'a>,
    machine: &'a Machine<'a>,
    witness: &'a Witness,
    places: &'a Places,
    /// Whether a phase that starts otherwise is looked for, too.
    others: bool,
    loops: Loops<'a>,
    /// Counters and bounds of all counted loops.
    counters: Vec<Var>,
    /// What waits see, in the canonical run with the inputs of the finding.
    visited: Rc<OnceCell<Vec<Visit>>>,
}

/// A wait that a thread stands before, in the canonical run.
struct Visit {
    wait: EffectId,
    thread: u16,
    standing: PendingWait,
    /// Values of [`Search::counters`].
    counters: Vec<i64>,
}

/// Where a wait names another phase than the right one.
struct Divergence {
    standing: PendingWait,
    place: Message,
}

impl Search<'_> {
    /// The waits that the finding is about.
    fn suspects(&self) -> Vec<Suspect> {
        let kernel = self.words.kernel;
        let mut out: Vec<Suspect> = Vec::new();
        let mut add = |wait: Option<EffectId>, thread: u16, place: BarrierPlace| {
            let Some(wait) = wait else { return };
            let EffectKind::Wait { phase: named, .. } = kernel.effect(wait).kind else { return };
            if out.iter().all(|known| known.wait != wait) {
                out.push(Suspect { wait, thread, place, named });
            }
        };
        let at = |site| {
            let wait = |id: &usize| {
                let effect = &kernel.effects[*id];
                effect.site == site && matches!(effect.kind, EffectKind::Wait { .. })
            };
            (0..kernel.effects.len()).find(wait).map(|id| EffectId(id as u32))
        };
        match &self.witness.run.goal {
            Goal::Lapped { thread, site, place, .. } => add(at(*site), *thread, *place),
            Goal::Broken(violation) => match &violation.rule {
                Rule::Deadlock(blocked) => {
                    let (replay, _) = repeat(self.machine, &self.witness.run.schedule, u32::MAX);
                    for stuck in blocked {
                        let BlockedOn::Barrier { barrier, .. } = stuck.on else { continue };
                        // The other phase would not heal that: it is over before its own flip comes.
                        if replay.unseen_flips(stuck.thread, barrier).is_none() {
                            add(at(stuck.site), stuck.thread, barrier);
                        }
                    }
                }
                Rule::Race { earlier, later } => {
                    let (replay, _) = repeat(self.machine, &self.witness.run.schedule, u32::MAX);
                    for event in [later, earlier] {
                        if let Some((place, _, step)) = replay.guard(kernel, event) {
                            add(replay.record(step).and_then(|record| record.effect), event.thread, place);
                        }
                    }
                }
                _ => {}
            },
        }
        out
    }

    /// The first phases with which the finding is gone and none is new.
    fn first(
        &self,
        place: (Kind, base::TextRange),
        left: &mut Left,
        decide: &mut dyn FnMut(&Kernel) -> Result<Arc<Outcome>, Cancelled>,
    ) -> Result<Option<CorrectedPhases>, Cancelled> {
        let mut tries = DECIDED;
        let mut tried: Vec<Vec<(Suspect, PhaseFormula)>> = Vec::new();
        // A wait that nothing repeats has no cadence.
        for suspect in self.suspects().into_iter().filter(|suspect| !self.around(suspect).is_empty()) {
            for change in self.changes(&suspect) {
                if tries == 0 || left.is_spent() {
                    return Ok(None);
                }
                if tried.contains(&change) {
                    continue;
                }
                tried.push(change.clone());
                let mut kernel = self.words.kernel.clone();
                if change.is_empty()
                    || change.iter().any(|(suspect, form)| form.put(&mut kernel, suspect.wait).is_none())
                {
                    continue;
                }
                let (gets_through, steps) = self.run(&kernel);
                left.spend(steps);
                if !gets_through {
                    continue;
                }
                tries -= 1;
                left.decided -= 1;
                let outcome = decide(&kernel)?;
                left.spend(outcome.steps);
                if !outcome.gaps.is_empty() {
                    continue;
                }
                let lowered = Lowered { kernel, map: self.lowered.map.clone(), unmodelled: Vec::new() };
                if !self.heals(&lowered, &outcome, place) {
                    continue;
                }
                let longest = outcome.valuations.iter().max_by_key(|valuation| {
                    let machine = replay::machine(&lowered.kernel, valuation);
                    canonical(&machine).state.step()
                });
                // Where nothing flips the barrier, what heals is that the wait no longer waits.
                let flips = longest.and_then(|longest| {
                    let machine = replay::machine(&lowered.kernel, longest);
                    drive::flips(self.words, &machine, suspect.place)
                });
                if let Some(flips) = flips {
                    return Ok(Some(CorrectedPhases { change, flips }));
                }
            }
        }
        Ok(None)
    }

    /// Whether a finding is gone from the changed kernel, and none is new.
    fn heals(&self, lowered: &Lowered, outcome: &Outcome, place: (Kind, base::TextRange)) -> bool {
        describe_places(lowered, outcome).findings.iter().all(|finding| {
            let known = (finding.kind, finding.range);
            finding.severity == Severity::Hint || (known != place && self.places.contains(&known))
        })
    }

    /// Whether the changed kernel gets through with the inputs of the finding, and in how many steps.
    fn run(&self, kernel: &Kernel) -> (bool, u64) {
        let machine = replay::machine(kernel, &self.witness.valuation);
        let state = canonical(&machine).state;
        let broken = |rule: &Rule| matches!(rule, Rule::Race { .. } | Rule::Deadlock(_) | Rule::Overflow(_));
        let ends = state.error().is_none() && !state.violations().iter().any(|violation| broken(&violation.rule));
        (ends, state.cost())
    }

    /// What could be changed about a wait, the likeliest first: alone, with the waits of its thread
    /// that name the same value, with all waits on rings like its own.
    fn changes(&self, suspect: &Suspect) -> Vec<Vec<(Suspect, PhaseFormula)>> {
        let copies = self.copies(suspect);
        let alone: Vec<Vec<(Suspect, PhaseFormula)>> =
            self.forms(suspect).into_iter().filter_map(|form| self.for_copies(&copies, &form)).collect();
        let slices = verify::Slices::new(self.words.kernel);
        let waits = self.waits();
        let same = |other: &&Suspect| slices.root(other.named) == slices.root(suspect.named);
        let sharing: Vec<&Suspect> = waits.iter().filter(same).collect();
        let ring = |other: &&Suspect| self.depth(other.place) == self.depth(suspect.place);
        let alike: Vec<&Suspect> = waits.iter().filter(ring).collect();
        let mut out = alone;
        for others in [sharing, alike] {
            if others.len() > 1 {
                for all in self.forms(suspect).into_iter().filter_map(|form| self.for_all(&others, &form)) {
                    // Those that are right as they are need no change.
                    let wrong = all.iter().filter(|(suspect, form)| self.divergence(suspect, form).is_some());
                    out.push(wrong.cloned().collect());
                    out.push(all);
                }
            }
        }
        out
    }

    /// A wait and those that are copies of the same call in its thread and start with the same phase: one expression
    /// names the phases of all, so it is right or wrong for all.
    fn copies(&self, suspect: &Suspect) -> Vec<Suspect> {
        let call = |suspect: &Suspect| self.words.map.site(self.words.kernel.effect(suspect.wait).site).call;
        let mut copies = vec![*suspect];
        if let (own @ Some(_), start @ Some(_)) = (call(suspect), self.starts(suspect)) {
            copies.extend(self.waits().into_iter().filter(|other| {
                other.wait != suspect.wait
                    && other.thread == suspect.thread
                    && call(other) == own
                    && self.starts(other) == start
            }));
        }
        copies
    }

    /// A form for all copies of a call, each counting its own loops.
    fn for_copies(&self, copies: &[Suspect], form: &PhaseFormula) -> Option<Vec<(Suspect, PhaseFormula)>> {
        let first = self.around(copies.first()?);
        let own = |copy: &Suspect| match self.around(copy) == first {
            true => Some(form.clone()),
            false => self.counting(copy, form, None),
        };
        copies.iter().map(|copy| Some((*copy, own(copy)?))).collect()
    }

    /// A form for several waits, each counting its own loops and starting as it does.
    fn for_all(&self, waits: &[&Suspect], form: &PhaseFormula) -> Option<Vec<(Suspect, PhaseFormula)>> {
        if form.loops().is_empty() {
            return None;
        }
        let each = waits.iter().map(|wait| Some((**wait, self.counting(wait, form, Some(self.starts(wait)?))?)));
        each.collect()
    }

    /// A form with the loops around another wait, as many of them, and with another first phase if one is given.
    fn counting(&self, wait: &Suspect, form: &PhaseFormula, first: Option<i64>) -> Option<PhaseFormula> {
        let around = self.around(wait);
        let own = around.get(around.len().checked_sub(form.loops().len())?..)?;
        Some(match (form, own) {
            (PhaseFormula::Count { every, plus, .. }, _) => {
                PhaseFormula::Count { loops: own.to_vec(), every: *every, plus: first.unwrap_or(*plus) }
            }
            (PhaseFormula::Laps { every, plus, .. }, &[outer, inner]) => {
                PhaseFormula::Laps { outer, inner, every: *every, plus: first.unwrap_or(*plus) }
            }
            (PhaseFormula::Constant(_) | PhaseFormula::Other, _) => form.clone(),
            _ => return None,
        })
    }

    /// The phases that a wait could name.
    fn forms(&self, suspect: &Suspect) -> Vec<PhaseFormula> {
        let around = self.around(suspect);
        let start = self.starts(suspect).unwrap_or(0);
        let depth = self.depth(suspect.place);
        let starts = if self.others { vec![start, 1 - start] } else { vec![start] };
        let mut out = if self.others { vec![PhaseFormula::Other] } else { Vec::new() };
        for plus in starts.iter().copied() {
            for every in if depth > 1 { vec![depth, 1] } else { vec![1] } {
                // Through all loops up to one, and then through fewer and fewer of the outer ones.
                for last in (0..around.len()).rev() {
                    for first in (0..=last).rev() {
                        out.push(PhaseFormula::Count { loops: around[first..=last].to_vec(), every, plus });
                    }
                }
            }
        }
        if let (true, [.., outer, inner]) = (depth > 1, around) {
            let laps = |plus| PhaseFormula::Laps { outer: *outer, inner: *inner, every: depth, plus };
            out.extend(starts.iter().copied().map(laps));
        }
        if self.others {
            out.extend(starts.into_iter().map(PhaseFormula::Constant));
        }
        out
    }

    fn around(&self, suspect: &Suspect) -> &[usize] {
        self.loops.around_effect(suspect.wait)
    }

    fn depth(&self, place: BarrierPlace) -> i64 {
        let buffer = self.words.kernel.buffers.get(place.buffer.0 as usize);
        buffer.map_or(1, |buffer| (buffer.bits / buffer.slot_bits.max(1)) as i64)
    }

    /// The phase that a wait names first.
    fn starts(&self, suspect: &Suspect) -> Option<i64> {
        let mut first = None;
        self.visits(suspect, |standing, _| {
            first.get_or_insert(standing.phase);
        });
        first
    }

    /// All waits of the kernel that loops repeat and that the run gets to.
    fn waits(&self) -> Vec<Suspect> {
        let mut out: Vec<Suspect> = Vec::new();
        for visit in self.visited.get_or_init(|| self.visit_all()) {
            if let EffectKind::Wait { phase: named, .. } = self.words.kernel.effect(visit.wait).kind
                && out.iter().all(|known| known.wait != visit.wait)
            {
                out.push(Suspect { wait: visit.wait, thread: visit.thread, place: visit.standing.barrier, named });
            }
        }
        out.retain(|suspect| !self.around(suspect).is_empty());
        out
    }

    /// Shows each visit of a wait in the machine's canonical run and where the run ends: with what the
    /// wait sees and with the variables of loops.
    fn visits(&self, suspect: &Suspect, mut each: impl FnMut(PendingWait, &[i64])) {
        let mut vars = vec![0; self.words.kernel.vars.len()];
        let all = self.visited.get_or_init(|| self.visit_all());
        for visit in all.iter().filter(|visit| visit.wait == suspect.wait && visit.thread == suspect.thread) {
            for (var, value) in self.counters.iter().zip(&visit.counters) {
                vars[var.index()] = *value;
            }
            each(visit.standing, &vars);
        }
    }

    /// All visits of waits, of all threads.
    fn visit_all(&self) -> Vec<Visit> {
        let run = canonical(self.machine);
        let mut visits = Vec::new();
        let mut see = |state: &State, thread: usize| {
            let machine = self.machine;
            if let (Some(wait), Some(standing)) =
                (machine.next_effect_id(state, thread), machine.pending_wait(state, thread))
            {
                let vars = machine.vars(state, thread);
                let counters = self.counters.iter().map(|var| vars.get(var.index()).copied().unwrap_or(0)).collect();
                visits.push(Visit { wait, thread: thread as u16, standing, counters });
            }
        };
        let end = walk(self.machine, &run.schedule, &mut see, |(), _| {});
        (0..end.threads().len()).for_each(|thread| see(&end, thread));
        visits
    }

    /// The first visit at which a wait names another phase than it should.
    fn divergence(&self, suspect: &Suspect, form: &PhaseFormula) -> Option<Divergence> {
        let loops = &self.loops;
        let block = block_of(self.words.kernel, suspect.wait)?;
        let mut divergence = None;
        self.visits(suspect, |standing, vars| {
            let right = form.value(loops, vars, standing.phase);
            if divergence.is_none() && right.is_some_and(|right| right != standing.phase) {
                divergence = Some(Divergence { standing, place: loops.place(block, vars) });
            }
        });
        divergence
    }
}
