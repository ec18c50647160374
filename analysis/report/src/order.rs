//! Who ordered what: for each pair of accesses of a run of which one is a write, the wait that made
//! the earlier one visible to the later one's thread, and the arrival that brought it there.
//!
//! Looked at are, for each access, the last write of each piece of memory and the reads since; for a
//! write also the last use of the piece by every other op, for the coverage table. What a thread
//! knows is kept as a journal, one a channel: which wait raised it to what. A pair is ordered since the
//! first wait after which the journal covers the earlier event, so pairs cost a binary search each. Nothing here asks whether a pair should be ordered: that is the machine's business,
//! whose clocks these are.
//!
//! A pair may be ordered by several barriers. Told is the first arrival after the earlier access by its
//! own thread that the later thread itself has waited for; only where there is none, the wait that
//! brought the news by way of others.
//!
//! What is missed: accesses of a barrier's own storage, and ties through fences (the machine checks
//! those, nobody draws them).

use super::ordering_facts::{Links, OrderingFacts, PassedWait};
use super::pairs::{AccessSite, BarrierArray, OrderedBy, Pair, SyncLink};
use super::payload::Turn;
use super::runs::{Budget, RecordedRun, drive, plans};
use crate::limits::ways::ARRIVALS;
use base::{Cancel, Cancelled, Limits};
use kernel::{Access, CommitKind, Completion, EffectId, EffectKind, Issuer, Kernel, Mode, Terminator, VarKind};
use machine::{
    AtomChange, Atoms, BarrierAction, BarrierPlace, Channel, Channels, Clock, Event, Machine, Record, State, Window,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use verify::Outcome;

/// A wait for a barrier, a group or partitions, or a start of partitions.
#[derive(Clone, Copy, Debug)]
struct Sync {
    thread: u16,
    kind: SyncKind,
}

#[derive(Clone, Copy, Debug)]
enum SyncKind {
    /// A wait for a barrier by number, which had made `total` flips; `before`: seen of it before.
    Barrier { effect: EffectId, array: BarrierArray, number: usize, total: u32, before: u32 },
    /// For the thread's own groups.
    Group,
    /// Partitions started or ended.
    Join,
}

/// What an arrival publishes of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carries {
    Thread,
    TensorCore,
    Group(CommitKind),
    Itself,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    step: u32,
    thread: u16,
    effect: EffectId,
    flip: u32,
    carries: Carries,
}

/// What a thread knows of each channel, and since when.
#[derive(Default)]
struct Journal {
    now: Vec<u32>,
    log: Vec<Vec<(u32, u32)>>,
}

impl Journal {
    /// Notes what a clock has come to know; `each` is told of the channels.
    fn note(&mut self, clock: &Clock, step: u32, mut each: impl FnMut(Channel)) {
        let log = &mut self.log;
        clock.ahead(&mut self.now, |channel, value| {
            let at = channel.0 as usize;
            if log.len() <= at {
                log.resize(at + 1, Vec::new());
            }
            log[at].push((step, value));
            each(channel);
        });
    }

    fn knows(&self, channel: Channel) -> u32 {
        self.now.get(channel.0 as usize).copied().unwrap_or(0)
    }

    /// The step that first made known an event.
    fn since(&self, channel: Channel, number: u32) -> Option<u32> {
        let log = self.log.get(channel.0 as usize)?;
        log.get(log.partition_point(|(_, value)| *value < number)).map(|(step, _)| *step)
    }
}

/// One thread's journals.
#[derive(Default)]
struct Knowledge {
    seen: Journal,
    over: Journal,
    order: Vec<u32>,
    fenced: Vec<u32>,
    /// Its arrivals, oldest first.
    arrivals: Vec<(usize, Arrival)>,
    /// For each barrier by number the flips that it has waited for, with the wait.
    waits: Vec<Vec<(u32, EffectId)>>,
    /// What it has done since it last arrived, and since it last waited.
    turn: Turn,
}

impl Knowledge {
    /// The step that first let the thread see an access.
    fn since(&self, event: &Event) -> Option<u32> {
        let seen = self.seen.since(event.channel, event.number);
        let over = (event.mode == Mode::Read).then(|| self.over.since(event.channel, event.number)).flatten();
        match (seen, over) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// Uses of a piece of memory: the last of each op.
#[derive(Clone, Default)]
struct Cell {
    uses: SmallVec<[Event; 4]>,
    /// Step of the last write.
    written: u32,
}

/// Watches one run.
pub(super) struct Watch<'m, 'k> {
    machine: &'m Machine<'k>,
    kernel: &'k Kernel,
    channels: Channels,
    ordering_facts: &'m mut OrderingFacts,
    atoms: Atoms,
    cells: Vec<Cell>,
    knowledge: Vec<Knowledge>,
    syncs: FxHashMap<u32, Sync>,
    /// By number of the barrier.
    arrivals: Vec<Vec<Arrival>>,
    places: Vec<Option<BarrierPlace>>,
}

impl<'m, 'k> Watch<'m, 'k> {
    /// Starts to watch a run of a machine; what it sees is added to `ordering_facts`.
    pub(super) fn new(machine: &'m Machine<'k>, ordering_facts: &'m mut OrderingFacts) -> Watch<'m, 'k> {
        let threads = machine.partitions() * machine.cluster().len();
        Watch {
            machine,
            kernel: machine.kernel(),
            channels: machine.channels(),
            ordering_facts,
            atoms: Atoms::default(),
            cells: Vec::new(),
            knowledge: (0..threads).map(|_| Knowledge::default()).collect(),
            syncs: FxHashMap::default(),
            arrivals: Vec::new(),
            places: Vec::new(),
        }
    }

    /// A step was taken.
    pub(super) fn step(&mut self, state: &mut State, record: &Record) {
        let step = state.step();
        let thread = usize::from(record.thread);
        let Some(id) = record.effect else {
            self.partitions(state, record, step);
            return;
        };
        let kernel = self.kernel;
        let effect = kernel.effect(id);
        self.ordering_facts.ran(id);
        match &effect.kind {
            EffectKind::Operation { issuer, accesses, completion } => {
                self.accesses(state, record, (*issuer, completion), accesses);
                self.note_accesses(thread, id, *issuer, accesses.len());
                let carries = match completion {
                    Completion::Transaction(_) => Carries::Itself,
                    Completion::InTurn(_) => Carries::Group(CommitKind::Tdm),
                    _ => Carries::TensorCore,
                };
                self.arrive(state, record, id, carries);
            }
            EffectKind::ClcLoad { source, .. } => {
                let how = (Issuer::Base, &Completion::InOrder);
                self.accesses(state, record, how, std::slice::from_ref(source));
                self.note_accesses(thread, id, Issuer::Base, 1);
            }
            EffectKind::Init { .. } => self.ordering_facts.initialised(record),
            EffectKind::Expect { .. } | EffectKind::Arrive { .. } | EffectKind::NamedArrive { .. } => {
                self.arrive(state, record, id, Carries::Thread);
            }
            EffectKind::ClusterArrive { relaxed } => {
                self.arrive(state, record, id, if *relaxed { Carries::Nothing } else { Carries::Thread });
            }
            EffectKind::TensorCoreCommit { .. } => self.arrive(state, record, id, Carries::TensorCore),
            EffectKind::AsyncCopyArrive { .. } => {
                self.arrive(state, record, id, Carries::Group(CommitKind::AsyncCopy));
            }
            EffectKind::Wait { .. } | EffectKind::ClusterWait | EffectKind::NamedWait { .. } => {
                self.wait(state, record, id);
            }
            EffectKind::WaitGroup { .. } => {
                self.syncs.insert(step, Sync { thread: record.thread, kind: SyncKind::Group });
                self.learn(state, thread, step);
            }
            EffectKind::Allocate(_)
            | EffectKind::Invalidate { .. }
            | EffectKind::ReadPhase { .. }
            | EffectKind::Commit(_)
            | EffectKind::ProxyFence
            | EffectKind::Use { .. }
            | EffectKind::Unmodelled => {}
        }
    }

    /// The run is over; its barriers made so many flips.
    pub(super) fn finish(self, flips: &[(BarrierPlace, u32)]) {
        self.ordering_facts.finish(flips);
    }

    /// Brings the journals of a thread up to date; gives the channels that are news to it.
    fn learn(&mut self, state: &State, thread: usize, step: u32) -> SmallVec<[Channel; 8]> {
        let mut news = SmallVec::new();
        let own = self.channels.base(thread);
        let (Some(known), Some(at)) = (self.knowledge.get_mut(thread), state.threads().get(thread)) else {
            return news;
        };
        let mut note = |channel: Channel| {
            if channel != own {
                news.push(channel);
            }
        };
        known.seen.note(&at.seen, step, &mut note);
        known.over.note(&at.over, step, &mut note);
        at.order.ahead(&mut known.order, |channel, _| note(channel));
        at.fenced.ahead(&mut known.fenced, |channel, _| note(channel));
        news
    }

    /// Partitions start or end.
    fn partitions(&mut self, state: &State, record: &Record, step: u32) {
        let thread = usize::from(record.thread);
        self.syncs.insert(step, Sync { thread: record.thread, kind: SyncKind::Join });
        self.learn(state, thread, step);
        let forks = |terminator: &Terminator| matches!(terminator, Terminator::Fork(fork) if fork.site == record.site);
        if self.kernel.blocks.iter().any(|block| forks(&block.terminator)) {
            for partition in 1..self.machine.partitions() {
                self.learn(state, self.machine.sibling(thread, partition), step);
            }
        }
    }

    fn arrive(&mut self, state: &State, record: &Record, effect: EffectId, carries: Carries) {
        let mut left: SmallVec<[(usize, u32); 2]> = SmallVec::new();
        for barrier in record.barriers.iter().rev() {
            let BarrierAction::Arrive { flipped } = barrier.act else { continue };
            let Some(number) = state.barrier_number(barrier.place) else { continue };
            let total = match left.iter_mut().find(|(known, _)| *known == number) {
                Some((_, total)) => total,
                None => {
                    left.push((number, state.barriers().get(number).map_or(0, |(_, known)| known.total)));
                    let Some((_, total)) = left.last_mut() else { continue };
                    total
                }
            };
            let flip = if flipped { *total } else { *total + 1 };
            *total -= u32::from(flipped);
            if self.arrivals.len() <= number {
                self.arrivals.resize(number + 1, Vec::new());
                self.places.resize(number + 1, None);
            }
            self.places[number] = Some(barrier.place);
            let arrival = Arrival { step: state.step(), thread: record.thread, effect, flip, carries };
            self.arrivals[number].push(arrival);
            self.ordering_facts.used(barrier.place);
            if let Some(known) = self.knowledge.get_mut(usize::from(record.thread)) {
                known.arrivals.push((number, arrival));
                let array = BarrierArray::of(barrier.place);
                match &self.kernel.effect(effect).kind {
                    // What is announced is no access yet.
                    EffectKind::Expect { .. } => {}
                    EffectKind::Operation { accesses, .. } => {
                        let own = (0..accesses.len()).map(|access| (effect, access as u16));
                        self.ordering_facts.payload.released(array, own);
                    }
                    _ => {
                        let done = known.turn.released(carries == Carries::TensorCore);
                        self.ordering_facts.payload.released(array, done.iter().copied());
                    }
                }
            }
        }
    }

    fn wait(&mut self, state: &State, record: &Record, effect: EffectId) {
        let thread = usize::from(record.thread);
        let Some(barrier) = record.barriers.iter().find(|barrier| matches!(barrier.act, BarrierAction::Wait { .. }))
        else {
            return;
        };
        let Some(number) = state.barrier_number(barrier.place) else { return };
        let Some((_, known)) = state.barriers().get(number) else { return };
        let Some(knowledge) = self.knowledge.get(thread) else { return };
        let before = knowledge.seen.knows(self.channels.barrier(number));
        let array = BarrierArray::of(barrier.place);
        let (total, flips) = (known.total - (barrier.flips - barrier.seen()), barrier.seen());
        let kind = SyncKind::Barrier { effect, array, number, total, before };
        self.syncs.insert(state.step(), Sync { thread: record.thread, kind });
        let mut copies = false;
        if before < total {
            let to = self.machine.partition_of(thread) as u16;
            let arrivals = self.arrivals.get(number).map_or(&[][..], Vec::as_slice);
            for arrival in &arrivals[arrivals.partition_point(|arrival| arrival.flip <= before)..] {
                if arrival.flip <= total {
                    copies |= arrival.carries == Carries::Itself;
                    let from = self.machine.partition_of(usize::from(arrival.thread)) as u16;
                    let (arrival, wait) = (Some(arrival.effect), Some(effect));
                    self.ordering_facts.met(SyncLink { array: Some(array), from, to, arrival, wait });
                }
            }
        }
        let news = self.learn(state, thread, state.step());
        let flip = self.channels.barrier(number);
        let idle = !copies && news.iter().all(|channel| *channel == flip);
        let again = before >= total;
        self.ordering_facts.waited(&PassedWait {
            effect,
            place: barrier.place,
            flips,
            thread: record.thread,
            again,
            idle,
        });
        if let Some(known) = self.knowledge.get_mut(thread) {
            if known.waits.len() <= number {
                known.waits.resize(number + 1, Vec::new());
            }
            known.waits[number].push((total, effect));
            known.turn.waited(array);
        }
    }

    /// An op of a thread touched memory.
    fn note_accesses(&mut self, thread: usize, effect: EffectId, issuer: Issuer, accesses: usize) {
        let Some(known) = self.knowledge.get_mut(thread) else { return };
        let arrays = known.turn.touched(effect, issuer == Issuer::TensorCore, accesses);
        for array in arrays {
            self.ordering_facts.payload.acquired(*array, (0..accesses).map(|access| (effect, access as u16)));
        }
    }

    fn accesses(&mut self, state: &mut State, record: &Record, by: (Issuer, &Completion), accesses: &[Access]) {
        for (number, (access, place)) in accesses.iter().zip(&record.places).enumerate() {
            let Some(VarKind::View(shape)) = self.kernel.vars.get(access.view.index()).map(|info| info.kind) else {
                continue;
            };
            let window = Window { buffer: place.buffer, start: place.start, shape };
            for cta in access.ctas.of(place.cta) {
                let Some(position) = self.machine.cluster().position(cta) else { continue };
                let Some(event) = state.last_access(self.kernel, window, position) else { continue };
                let touch = Event { access: number as u16, mode: access.mode, ..event };
                self.touch(window, position, touch, by, state.unmodelled());
            }
        }
    }

    fn touch(&mut self, window: Window, cta: usize, touch: Event, by: (Issuer, &Completion), unmodelled: bool) {
        let ctas = self.machine.cluster().len();
        let cells = &mut self.cells;
        let resolved = self.atoms.resolve(self.kernel, window, |cut| match cut {
            AtomChange::Fresh => cells.resize(cells.len() + ctas, Cell::default()),
            AtomChange::Split { old, .. } => {
                let from = old as usize * ctas;
                cells.extend_from_within(from..from + ctas);
            }
        });
        // The same earlier access is met in each piece of memory that it shares.
        let mut met: SmallVec<[(Event, bool, bool); 8]> = SmallVec::new();
        let mut between: Option<Event> = None;
        for &atom in self.atoms.of(resolved) {
            let Some(cell) = self.cells.get_mut(atom as usize * ctas + cta) else { continue };
            let read = |used: &Event| used.mode == Mode::Read && used.step > cell.written && used.step < touch.step;
            let unread = !cell.uses.iter().any(read);
            for earlier in &cell.uses {
                if earlier.step == touch.step || (touch.mode, earlier.mode) == (Mode::Read, Mode::Read) {
                    continue;
                }
                let near = earlier.step >= cell.written;
                if earlier.mode == Mode::Write && near {
                    between = Some(*earlier);
                }
                if !near && touch.mode == Mode::Read {
                    continue;
                }
                match met.iter_mut().find(|(known, ..)| known == earlier) {
                    Some((_, known, all)) => (*known, *all) = (*known | near, *all & unread),
                    None => met.push((*earlier, near, unread)),
                }
            }
            let own = |known: &&mut Event| {
                (known.effect, known.access, known.thread) == (touch.effect, touch.access, touch.thread)
            };
            match cell.uses.iter_mut().find(own) {
                Some(known) => *known = touch,
                None => cell.uses.push(touch),
            }
            if touch.mode == Mode::Write {
                cell.written = touch.step;
            }
        }
        for (earlier, near, unread) in met {
            let (from, to) = (self.place(&earlier), self.place(&touch));
            // A pair that was always ordered, and is again, is counted as it was.
            if self.knows(&earlier, &touch) && self.ordering_facts.again(from, to, near) {
                continue;
            }
            let how = match self.judge(&earlier, &touch, by, near) {
                // The write in between is compared with the earlier one on its own.
                OrderedBy::Missing if !near => match between {
                    Some(between) => self.judge(&between, &touch, by, near),
                    None => continue,
                },
                how => how,
            };
            let how = match how {
                OrderedBy::Missing if unmodelled => OrderedBy::Unsure,
                OrderedBy::Missing if unread && earlier.mode == Mode::Write => OrderedBy::Unread,
                how => how,
            };
            if matches!(how, OrderedBy::Sync(_)) {
                let words = self.words(&earlier, touch.thread);
                self.ordering_facts.also(from, to, &words);
            }
            self.ordering_facts.pair(Pair { earlier: from, later: to, how }, near);
        }
    }

    /// Every barrier that a thread has waited for and that brought it an event, each once.
    fn words(&self, event: &Event, thread: u16) -> Links {
        let mut links = Links::new();
        let Some(hearer) = self.knowledge.get(usize::from(thread)) else { return links };
        let to = self.partition(thread);
        for (number, waits) in hearer.waits.iter().enumerate() {
            let (Some((last, _)), Some(arrivals)) = (waits.last(), self.arrivals.get(number)) else { continue };
            let Some(array) = self.places.get(number).copied().flatten().map(BarrierArray::of) else { continue };
            if links.iter().any(|link| link.array == Some(array)) {
                continue;
            }
            let flips = self.channels.barrier(number);
            let after = arrivals.partition_point(|arrival| arrival.step < event.step);
            let heard = arrivals.get(after..).unwrap_or_default().iter().take_while(|arrival| arrival.flip <= *last);
            let Some(arrival) = heard.take(ARRIVALS).find(|arrival| self.brings(arrival, event, flips)) else {
                continue;
            };
            let wait = waits.get(waits.partition_point(|(flip, _)| *flip < arrival.flip)).map(|(_, wait)| *wait);
            let from = self.partition(arrival.thread);
            links.push(SyncLink { array: Some(array), from, to, arrival: Some(arrival.effect), wait });
        }
        links
    }

    /// Whether a thread knows by now that an access is over, by a wait.
    fn knows(&self, earlier: &Event, later: &Event) -> bool {
        self.knowledge.get(usize::from(later.thread)).is_some_and(|known| {
            known.seen.knows(earlier.channel) >= earlier.number
                || (earlier.mode == Mode::Read && known.over.knows(earlier.channel) >= earlier.number)
        })
    }

    fn partition(&self, thread: u16) -> u16 {
        self.machine.partition_of(usize::from(thread)) as u16
    }

    fn place(&self, event: &Event) -> AccessSite {
        let Event { effect, access, mode, .. } = *event;
        AccessSite { effect, access, partition: self.partition(event.thread), mode }
    }

    /// What orders a pair.
    fn judge(&self, earlier: &Event, later: &Event, by: (Issuer, &Completion), near: bool) -> OrderedBy {
        let thread = usize::from(later.thread);
        let own = earlier.thread == later.thread && earlier.channel == self.channels.base(thread);
        if own || self.machine.in_own_order(thread, by.0, by.1, earlier) {
            return OrderedBy::Program;
        }
        let Some(step) = self.knowledge.get(thread).and_then(|known| known.since(earlier)) else {
            return OrderedBy::Missing;
        };
        self.link(earlier, later.thread, step, near).map_or(OrderedBy::Program, OrderedBy::Sync)
    }

    /// The link that brought an event to a thread, which knows of it since a step; `None` for the
    /// thread's own groups.
    fn link(&self, event: &Event, thread: u16, step: u32, near: bool) -> Option<SyncLink> {
        let sync = self.syncs.get(&step)?;
        let (to, partition) = (self.partition(thread), |thread| self.partition(thread));
        match sync.kind {
            SyncKind::Group => None,
            SyncKind::Join => {
                // A start is a step of the thread that tells, an end one of the thread that hears.
                let from = partition(if sync.thread == thread { event.thread } else { sync.thread });
                Some(SyncLink { array: None, from, to, arrival: None, wait: None })
            }
            SyncKind::Barrier { effect, array, number, total, before } => {
                let (array, wait) = (Some(array), Some(effect));
                if let Some(tie) = near.then(|| self.own_word(event, thread)).flatten() {
                    return Some(tie);
                }
                let all = self.arrivals.get(number)?;
                let first = all.partition_point(|arrival| arrival.flip <= before);
                let last = all.partition_point(|arrival| arrival.flip <= total);
                let arrivals = all.get(first..last)?;
                let flips = self.channels.barrier(number);
                let arrival = arrivals.iter().find(|arrival| self.brings(arrival, event, flips)).or(arrivals.last())?;
                Some(SyncLink { array, from: partition(arrival.thread), to, arrival: Some(arrival.effect), wait })
            }
        }
    }

    /// The first arrival after an event by its own thread that another thread has waited for itself:
    /// it says more than a chain of others that happened to bring the news sooner.
    fn own_word(&self, event: &Event, thread: u16) -> Option<SyncLink> {
        let (teller, hearer) =
            (self.knowledge.get(usize::from(event.thread))?, self.knowledge.get(usize::from(thread))?);
        let from = teller.arrivals.partition_point(|(_, arrival)| arrival.step < event.step);
        teller.arrivals.get(from..)?.iter().take(ARRIVALS).find_map(|(number, arrival)| {
            let waits = hearer.waits.get(*number)?;
            let (_, wait) = waits.get(waits.partition_point(|(flip, _)| *flip < arrival.flip))?;
            if !self.brings(arrival, event, self.channels.barrier(*number)) {
                return None;
            }
            let array = Some(BarrierArray::of(self.places.get(*number).copied().flatten()?));
            let (from, to) = (self.partition(event.thread), self.partition(thread));
            Some(SyncLink { array, from, to, arrival: Some(arrival.effect), wait: Some(*wait) })
        })
    }

    /// Whether an arrival publishes an event; `flips` is its barrier's channel.
    fn brings(&self, arrival: &Arrival, event: &Event, flips: Channel) -> bool {
        if event.channel == flips {
            return arrival.step == event.step;
        }
        let told = match arrival.carries {
            Carries::Nothing => false,
            // A copy that has come says of its issuer only what that one has read.
            Carries::Itself => event.mode == Mode::Read,
            _ => true,
        };
        if !told {
            return false;
        }
        let thread = usize::from(arrival.thread);
        let own = arrival.thread == event.thread
            && arrival.step >= event.step
            && (event.channel == self.channels.base(thread)
                || match arrival.carries {
                    Carries::TensorCore => event.channel == self.channels.tensor_core(thread),
                    Carries::Group(kind) => event.channel == self.channels.group(thread, kind),
                    _ => false,
                });
        let since = || self.knowledge.get(thread).and_then(|known| known.since(event));
        own || since().is_some_and(|step| step <= arrival.step)
    }
}

/// Makes the runs of a report and sums them up.
pub(super) fn ordering_facts(
    kernel: &Kernel,
    outcome: &Outcome,
    limits: &Limits,
    cancel: &Cancel<'_>,
) -> Result<(OrderingFacts, Vec<RecordedRun>), Cancelled> {
    let (mut ordering_facts, mut made) = (OrderingFacts::default(), Vec::new());
    let mut budget = Budget::new();
    for plan in plans(outcome) {
        cancel.check()?;
        if budget.spent() && plan.least == 0 {
            continue;
        }
        let machine = Machine::new(kernel, &plan.valuation, limits);
        let mut watch = Watch::new(&machine, &mut ordering_facts);
        let run = drive(&machine, &plan, &mut budget, |state, record| watch.step(state, record));
        watch.finish(&run.flips);
        *if run.complete { &mut ordering_facts.complete } else { &mut ordering_facts.cut } += 1;
        ordering_facts.unmodelled |= run.unmodelled;
        made.push(run);
    }
    Ok((ordering_facts, made))
}
