//! Barriers as bands of phases.

use super::{Band, BarrierCount, Phase, PhaseEnd, Tick, TickAct};
use base::{Names, message};
use findings::{Goal, Words};
use machine::{Barrier, BarrierAction, BarrierKind, BarrierPlace, BarrierRecord, Record, Rule, State};

/// Bands in the making.
pub(super) struct Bands<'a> {
    names: &'a dyn Names,
    places: Vec<BarrierPlace>,
    bands: Vec<Band>,
}

impl<'a> Bands<'a> {
    /// None yet; barriers are called by these names.
    pub(super) fn new(names: &'a dyn Names) -> Bands<'a> {
        Bands { names, places: Vec::new(), bands: Vec::new() }
    }

    /// The band of a barrier.
    pub(super) fn of(&mut self, words: &Words<'_>, place: BarrierPlace) -> usize {
        if let Some(at) = self.places.iter().position(|known| *known == place) {
            return at;
        }
        self.places.push(place);
        let mut name = words.barrier(place);
        if words.cluster.len() > 1 && place.kind() == BarrierKind::Barrier {
            name = message!("{name} of CTA {cta}", name, place.cta);
        }
        let name = name.render(self.names);
        self.bands.push(Band { name, concerned: false, phases: Vec::new(), ticks: Vec::new(), counts: Vec::new() });
        self.bands.len() - 1
    }

    /// What a step does; `state` is the one it left.
    pub(super) fn step(&mut self, words: &Words<'_>, step: u32, record: &Record, state: &State) {
        for barrier in &record.barriers {
            let at = self.of(words, barrier.place);
            act(&mut self.bands[at], step, barrier);
        }
        for barrier in &record.barriers {
            let at = self.of(words, barrier.place);
            if let Some((_, left)) = state.barriers().iter().find(|(known, _)| *known == barrier.place) {
                count(&mut self.bands[at], step, left);
            }
        }
    }

    /// Ends all phases at the last line, with what the goal says of their barriers; `last` are the
    /// last step and the last line.
    pub(super) fn finish(&mut self, words: &Words<'_>, last: (u32, u32), end: &State, goal: Option<&Goal>) {
        for (place, band) in self.places.iter().zip(&mut self.bands) {
            let Some(phase) = band.phases.last_mut().filter(|phase| phase.end == PhaseEnd::Idle) else { continue };
            phase.to = last.1;
            let barrier = end.barriers().iter().find(|(known, _)| known == place).map(|(_, barrier)| barrier);
            if let Some(barrier) = barrier.filter(|known| known.pending != known.initial || known.bytes != 0) {
                phase.end = PhaseEnd::Incomplete { arrivals: barrier.pending, bytes: barrier.bytes };
            }
        }
        match goal {
            Some(Goal::Broken(violation)) => {
                if let Some(place) = violation.barrier {
                    let at = self.of(words, place);
                    let band = &mut self.bands[at];
                    band.concerned = true;
                    band.ticks.push(Tick { step: last.0, act: TickAct::Broken });
                    if matches!(violation.rule, Rule::Overflow(_))
                        && let Some(phase) = band.phases.last_mut()
                    {
                        phase.end = PhaseEnd::Overrun;
                    }
                }
            }
            Some(Goal::Lapped { place, .. }) => {
                let at = self.of(words, *place);
                self.bands[at].concerned = true;
            }
            None => {}
        }
    }

    /// A wait that does not pass, at a line behind the last step.
    pub(super) fn wait(&mut self, line: u32, band: usize) {
        let Some(band) = self.bands.get_mut(band) else { return };
        band.concerned = true;
        band.ticks.push(Tick { step: line, act: TickAct::Stuck });
    }

    /// The bands, in the order of their barriers' first use.
    pub(super) fn take(self) -> Vec<Band> {
        self.bands
    }
}

/// Notes what a barrier counts now, where that is news.
fn count(band: &mut Band, step: u32, barrier: &Barrier) {
    let Barrier { live, flips, pending, initial, bytes, .. } = *barrier;
    let now = BarrierCount { step, live, flips, pending, arrivals: initial, bytes };
    if band.counts.last().is_none_or(|last| BarrierCount { step, ..*last } != now) {
        band.counts.push(now);
    }
}

fn act(band: &mut Band, step: u32, barrier: &BarrierRecord) {
    let begin = |band: &mut Band, number| {
        band.phases.push(Phase { number, from: step, to: step, end: PhaseEnd::Idle });
    };
    let end = |band: &mut Band, how| {
        if let Some(phase) = band.phases.last_mut() {
            (phase.to, phase.end) = (step, how);
        }
    };
    let act = match barrier.act {
        BarrierAction::Init => {
            begin(band, 0);
            TickAct::Init
        }
        BarrierAction::Arrive { flipped: true } => {
            end(band, PhaseEnd::Complete);
            begin(band, barrier.flips);
            TickAct::Flip
        }
        BarrierAction::Arrive { flipped: false } => TickAct::Arrive,
        BarrierAction::Read { .. } | BarrierAction::Wait { .. } => TickAct::Wait,
        BarrierAction::Invalidate => {
            end(band, PhaseEnd::Invalidated);
            TickAct::Invalidate
        }
    };
    band.ticks.push(Tick { step, act });
}
