//! Accumulators that are read before anything has written them, to no effect.
//!
//! Where the first product overwrites its accumulator (`useD` false), a correction that comes before it in the
//! loop loads what nobody wrote, scales it and stores it back. What it loaded ends there. So a read of tensor
//! memory that nobody wrote is discarded if its thread writes to the allocation again, and a product then
//! clears the allocation, and nobody else reads there in between.
//!
//! Missed: what else the thread does with the values, which the machine does not know. That is why it is said.

use explore::{Readiness, ScheduledRun, System};
use kernel::{EffectKind, Kernel, Mode, Space};
use machine::{Machine, Record, Rule, State, Valuation, Violation};

/// Whether a run shows of an uninitialised read that its value is overwritten before anybody else sees it.
pub(super) fn is_discarded(
    kernel: &Kernel,
    valuation: &Valuation,
    limits: &base::Limits,
    run: &ScheduledRun<State>,
    violation: &Violation,
) -> bool {
    let Rule::Uninitialised { read } = &violation.rule else { return false };
    let machine = Machine::new(kernel, valuation, limits);
    let mut state = machine.initial();
    // The CTA and the allocation that were read.
    let mut place = None;
    let mut back = false;
    for &entry in &run.schedule {
        let thread = usize::from(entry);
        if machine.stopped(&state) || machine.status(&state, thread) != Readiness::Ready {
            return false;
        }
        let Some(record) = machine.take(&mut state, thread) else { return false };
        if state.step() == read.step {
            let Some(at) = record.places.get(usize::from(read.access)) else { return false };
            let buffer = kernel.buffers.get(at.buffer.0 as usize);
            if buffer.is_none_or(|buffer| buffer.space != Space::Tensor) {
                return false;
            }
            place = Some((at.cta, at.buffer));
        }
        let Some(place) = place else { continue };
        for (mode, clears) in touches(kernel, &record, place) {
            let own = record.thread == read.thread;
            match mode {
                Mode::Write if clears => return back,
                Mode::Write => back |= own,
                Mode::Read if !own => return false,
                // Read again by who scales it: that has to go back too.
                Mode::Read => back = false,
            }
        }
    }
    false
}

/// What a step does to an allocation: reads before writes, and whether a write clears all of it.
fn touches(kernel: &Kernel, record: &Record, place: (u16, kernel::BufferId)) -> Vec<(Mode, bool)> {
    let effect = record.effect.and_then(|id| kernel.effects.get(id.index()));
    let Some(EffectKind::Operation { accesses, .. }) = effect.map(|effect| &effect.kind) else { return Vec::new() };
    let own = accesses.iter().zip(&record.places).filter(|(_, at)| (at.cta, at.buffer) == place);
    let mut touches: Vec<(Mode, bool)> = own.map(|(access, _)| (access.mode, access.clears)).collect();
    touches.sort_by_key(|it| it.0 == Mode::Write);
    touches
}
