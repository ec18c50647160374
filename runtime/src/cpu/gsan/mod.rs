//! Races in global memory, by vector clocks in shadow memory (Triton's GSan, by its design document).
//!
//! Two accesses race where neither comes before the other, at least one writes, and not both are atomics whose scopes
//! reach each other. What comes before what: program order, the barriers of a program (the machine's clocks), the end
//! of an asynchronous operation before whoever waited for it, and a release before the acquire that takes it.
//!
//! - Who accesses is a thread of a CTA, or an asynchronous operation, which knows what its thread knew when it was issued
//!   and is over when that is seen.
//! - A byte has the number of its last write and that of the set of accesses since ([`record`], [`shadow`]).
//! - Deviations from Triton 3.9's: clocks a thread, not an SM; cells a byte, not four; asynchronous operations; numbers of
//!   32 bits a thread that never wrap; all reads unless slots are limited; an mbarrier orders global memory within its
//!   program.
//! - Missed: races between lanes of one op; an atomic that 64 further ones that do not race with it have followed; a
//!   release at an address that an atomic of another address overlaps.
//! - Never invented: an access of a masked lane, or of a byte that was not touched.

mod clock;
mod race;
mod record;
mod release;
mod shadow;

use std::rc::Rc;

use findings::Finding;
use kernel::CommitKind;
use machine::{Channel, Channels, Clock, State};
use tensors::OpSite;
use tensors::memory::{AccessMode, GlobalAccess, GlobalMemory};
use ttgir::OpId;

use super::context::Context;
use crate::run::{GsanCost, GsanOptions};
use clock::Knowledge;
use race::{RaceLog, Witness};
use record::{AccessSets, Record, Records, Scope};
use release::{Releases, Semantics};
use shadow::{Cell, Shadow};

pub(super) use clock::{Actor, ProgramClocks};

/// The sanitizer: what global memory was used for so far in a launch.
#[derive(Debug)]
pub(super) struct Gsan {
    shadow: Shadow,
    records: Records,
    sets: AccessSets,
    releases: Releases,
    races: RaceLog,
    batch: Vec<GlobalAccess>,
    /// Whether programs have several CTAs.
    cluster: bool,
    /// Memory that nobody had written before the launch.
    empty: Vec<(u64, u64)>,
}

impl Gsan {
    /// For a launch with this memory that nobody has written: where it starts, and how many bytes it has.
    pub(super) fn new(options: GsanOptions, seed: u64, cluster: bool, empty: Vec<(u64, u64)>) -> Gsan {
        Gsan {
            shadow: Shadow::default(),
            records: Records::default(),
            sets: AccessSets::new(options.read_slots, seed),
            releases: Releases::new(options.clock_ring),
            races: RaceLog::default(),
            batch: Vec::new(),
            cluster,
            empty,
        }
    }

    /// Bytes that it holds.
    pub(super) fn held(&self) -> u64 {
        self.shadow.held() + self.records.held() + self.sets.held()
    }

    /// What it cost.
    pub(super) fn cost(&self) -> GsanCost {
        let clocks = self.records.held() + self.sets.held();
        GsanCost { covered: self.shadow.covered(), shadow: self.shadow.held(), clocks }
    }

    /// Judges what an asynchronous operation has just touched.
    pub(super) fn transferred(&mut self, global: &GlobalMemory, op: OpId, actor: &Actor) {
        global.accesses(&mut self.batch);
        self.judge(actor, op, Some(Scope::Gpu), false);
    }

    /// Judges what an op has just touched that threads have carried out together: one thread, or one of each CTA.
    pub(super) fn executed(
        &mut self,
        context: &Context<'_>,
        global: &GlobalMemory,
        (clocks, state): (&mut ProgramClocks, &mut State),
        threads: &[usize],
        op: OpId,
    ) {
        global.accesses(&mut self.batch);
        let (Some(&first), false) = (threads.first(), self.batch.is_empty()) else { return };
        let Some(mut actor) = thread_actor(context, clocks, state, first) else { return };
        let site = OpSite { tree: context.tree, op, cta: context.machine.cta_of(first) };
        let semantics = semantics(&site);
        let shared = |at| site.operand(at).is_ok_and(|ty| ty.tile.shared);
        let everywhere = self.cluster && (threads.len() > 1 || (0..context.tree.operands(op).len()).any(shared));
        self.judge(&actor, op, Some(semantics.map_or(Scope::Gpu, |semantics| semantics.scope)), everywhere);
        let Some(semantics) = semantics else { return };
        if let Some(taken) = self.acquire(&actor, op, semantics) {
            for &thread in threads {
                let step = state.threads().get(thread).map_or(0, |known| known.ticks + 1);
                clocks.acquire(thread, step, &taken);
            }
            actor.known.join(&taken);
        }
        // The release is an event of its thread: what comes after is not released with it.
        let (channel, number) = actor.ends;
        actor.seen.see(channel, number);
        if self.release(&actor, op, semantics) {
            for &thread in threads {
                context.machine.mark(state, thread);
            }
        }
    }

    /// The findings of a launch.
    pub(super) fn findings(&self, context: &Context<'_>, global: &GlobalMemory, grid: [i64; 3]) -> Vec<Finding> {
        self.races.findings(context, global, grid)
    }

    /// Judges what an actor has touched with an op, and remembers it.
    fn judge(&mut self, actor: &Actor, op: OpId, scope: Option<Scope>, everywhere: bool) {
        let batch = std::mem::take(&mut self.batch);
        for access in &batch {
            let atomic = !matches!(access.mode, AccessMode::Read | AccessMode::Write);
            let record = Record {
                op,
                program: actor.program,
                channel: actor.ends.0,
                number: actor.ends.1,
                step: actor.step,
                thread: actor.thread,
                cta: actor.cta,
                mode: access.mode,
                scope: scope.filter(|_| atomic),
                everywhere,
                asynchronous: actor.follows.is_none_or(|channel| channel != actor.ends.0),
            };
            self.access(actor, &record, access);
        }
        self.batch = batch;
    }

    fn access(&mut self, actor: &Actor, record: &Record, access: &GlobalAccess) {
        let Gsan { shadow, records, sets, races, empty, .. } = self;
        let Some(id) = records.add(*record) else {
            races.fault(record.op, "Vector clock overflowed");
            return;
        };
        let reads = !matches!(record.mode, AccessMode::Write | AccessMode::AtomicWrite);
        shadow.update(access.address, access.bytes, |address, bytes, cell| {
            let unwritten = |(start, size): &(u64, u64)| (*start..start + size).contains(&address);
            if reads && cell.write == 0 && empty.iter().any(unwritten) {
                races.unwritten(*record, address, bytes, access.width);
            }
            let mut meet = |other: record::Id, records: &Records| {
                let Some(earlier) = records.get(other) else { return };
                if other == id || earlier.is_before(actor) || earlier.is_exempt(record) {
                    return;
                }
                let element = access.element + ((address - access.address) / u64::from(access.width.max(1))) as u32;
                let issue = earlier.step;
                let published = earlier.asynchronous && actor.comes_after(earlier.program, issue.0, issue.1);
                let (earlier, later) = (*earlier, *record);
                races.add(Witness { earlier, later, published, address, bytes, element, width: access.width });
            };
            // Of atomics that reach each other nothing has to be asked.
            let wide = record.scope.is_some_and(|scope| scope != Scope::Cta) && sets.is_wide(cell.since);
            meet(cell.write, records);
            if !wide && (record.writes() || sets.has_writes(cell.since)) {
                let met: Vec<record::Id> = sets.each(cell.since).collect();
                for other in met {
                    if record.writes() || records.get(other).is_some_and(Record::writes) {
                        meet(other, records);
                    }
                }
            }
            if !record.writes() {
                return Cell { since: sets.add(records, cell.since, id), ..cell };
            }
            if !reads {
                return Cell { write: id, since: 0 };
            }
            // An atomic that the update does not come after may race with what follows.
            let stays = |other: record::Id| {
                records
                    .get(other)
                    .is_some_and(|known| other != id && known.is_exempt(record) && !known.is_before(actor))
            };
            let mut since = cell.since;
            if !wide {
                let kept: Vec<record::Id> = sets.each(cell.since).filter(|other| stays(*other)).collect();
                since = kept.iter().rev().fold(0, |set, id| sets.add(records, set, *id));
            }
            if stays(cell.write) {
                since = sets.add(records, since, cell.write);
            }
            Cell { write: id, since }
        });
        if record.mode == AccessMode::Write {
            self.releases.end(access.address, access.bytes);
        }
    }

    /// An atomic op takes what was released at the addresses that it has read.
    fn acquire(&mut self, actor: &Actor, op: OpId, semantics: Semantics) -> Option<Knowledge> {
        if !semantics.acquires || self.releases.is_empty() {
            return None;
        }
        let (mut taken, mut last) = (Knowledge::default(), 0);
        for access in &self.batch {
            if matches!(access.mode, AccessMode::AtomicRead | AccessMode::AtomicUpdate)
                && let Err(fault) = self.releases.acquire(access.address, actor, semantics.scope, &mut last, &mut taken)
            {
                self.races.fault(op, fault.text());
            }
        }
        Some(taken)
    }

    /// An atomic op releases at the addresses that it has written; whether it has.
    fn release(&mut self, actor: &Actor, op: OpId, semantics: Semantics) -> bool {
        let writes = |access: &&GlobalAccess| matches!(access.mode, AccessMode::AtomicWrite | AccessMode::AtomicUpdate);
        let batch = std::mem::take(&mut self.batch);
        let mut published = None;
        for access in batch.iter().filter(writes) {
            let updates = access.mode == AccessMode::AtomicUpdate;
            if semantics.releases {
                let what = published.get_or_insert_with(|| self.releases.publish(actor));
                let done = self.releases.release(access.address, actor, semantics.scope, updates, what);
                if let Err(fault) = done {
                    self.races.fault(op, fault.text());
                }
            } else if !updates {
                self.releases.end(access.address, access.bytes);
            }
        }
        self.batch = batch;
        published.is_some()
    }
}

impl release::ReleaseFault {
    fn text(self) -> &'static str {
        match self {
            release::ReleaseFault::MixedScopes => {
                "GSan detected atomic release accumulation with mixed scopes, which is not supported."
            }
            release::ReleaseFault::Overwritten => "GSan clock buffer token overwritten",
        }
    }
}

/// Semantics and scope of an op, as its text says.
fn semantics(site: &OpSite<'_>) -> Option<Semantics> {
    let name = site.name();
    if !name.contains("atomic") {
        return None;
    }
    let word = |attr: &str| {
        site.word(attr).or_else(|| site.text(attr)).map(|text| text.split(':').next().unwrap_or(text).trim())
    };
    let sem = word("sem").unwrap_or("acq_rel");
    let scope = match word("scope") {
        Some("cta" | "2") => Scope::Cta,
        Some("sys" | "3") => Scope::Sys,
        _ => Scope::Gpu,
    };
    let acquires = matches!(sem, "acquire" | "acq_rel" | "2" | "4");
    let releases = matches!(sem, "release" | "acq_rel" | "3" | "4");
    Some(Semantics { acquires, releases, scope })
}

/// A thread of a program, for what it does next.
fn thread_actor(context: &Context<'_>, clocks: &mut ProgramClocks, state: &State, thread: usize) -> Option<Actor> {
    let channels = context.machine.channels();
    let known = state.threads().get(thread)?;
    let base = channels.base(thread);
    Some(Actor {
        program: clocks.program,
        thread: thread as u16,
        cta: context.machine.position_of(thread) as u16,
        step: (base, known.ticks + 1),
        ends: (base, known.ticks + 1),
        follows: Some(base),
        seen: known.seen.clone(),
        known: clocks.known(thread, &known.seen, channels),
    })
}

/// The channel of the ends of a thread's TMA stores: their group says when the source was read, which is earlier. It is
/// that of AMD's data mover, which no kernel has beside TMA.
fn stored(channels: Channels, thread: usize) -> Channel {
    channels.group(thread, CommitKind::Tdm)
}

/// An asynchronous operation that a thread issues now, and that an event ends. `ordered`: after the earlier ones of its
/// channel.
pub(super) fn issued(
    context: &Context<'_>,
    clocks: &mut ProgramClocks,
    state: &State,
    thread: usize,
    (channel, number): (Channel, u32),
    ordered: bool,
) -> Option<Rc<Actor>> {
    let actor = thread_actor(context, clocks, state, thread)?;
    let channels = context.machine.channels();
    let tma = channels.family(channel) == Some(CommitKind::TmaStore);
    let channel = if tma { stored(channels, thread) } else { channel };
    let step = (actor.step.0, actor.step.1.saturating_sub(1));
    Some(Rc::new(Actor { step, ends: (channel, number), follows: ordered.then_some(channel), ..actor }))
}

/// A wait has ended in a thread. One for TMA stores that is `read_only` says that their sources were read, others that
/// they have written.
pub(super) fn waited(context: &Context<'_>, clocks: &mut ProgramClocks, state: &State, thread: usize, op: OpId) {
    let tree = context.tree;
    let wait = matches!(tree.op_name(op), "ttng.async_tma_store_wait" | "ttng.async_tma_store_token_wait");
    if !wait || tree.attr(op, "read_only").is_some_and(|attr| tree.attr_bool(attr)) {
        return;
    }
    let (channels, Some(known)) = (context.machine.channels(), state.threads().get(thread)) else { return };
    let mut written = Clock::default();
    written.see(stored(channels, thread), known.seen.get(channels.group(thread, CommitKind::TmaStore)));
    clocks.acquire(thread, known.ticks + 1, &Knowledge::about(clocks.program, written));
}
