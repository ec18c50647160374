//! All orders in which instances take turns at the words that they steer each other by.
//!
//! What happened before what is kept as vector clocks. A program that reads what another released, with a scope that
//! covers both, has seen what that one did before.

use crate::limits::runs::{ALONE, RATION, SPELLED, TURNS, WORK};
use std::rc::Rc;

use lanes::Column;
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{Meeting, matters, overlap};
use super::event::Event;
use super::instance::{Ask, Instance, Room, Segment, Stuck};
use super::memory::{Clock, Memory, Released, Word, Words};
use super::setting::Setting;
use super::watch::Watched;
use crate::program::{Action, MemSyncScope, Program, Update};
use base::{Cancel, Cancelled};
use terms::{BinOp, apply};

/// What runs showed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// One for each pair of accesses, with those of one instance among them.
    pub(crate) races: Vec<Meeting>,
    /// Why some runs could not be finished.
    pub(crate) stuck: Vec<Stuck>,
    /// Accesses that were executed with a lane that takes part, and by which programs: two of them at most.
    executed: FxHashMap<u32, Vec<u32>>,
    /// Whether words of memory that nothing is known of were taken to be 0 at first.
    pub(crate) zeros: FxHashSet<u32>,
    /// Whether some programs wait for each other.
    pub(crate) waits: bool,
    pub(crate) work: u64,
    /// Whether a run is missing because of the budget.
    pub(crate) limited: bool,
    /// Whether no program can notice another.
    pub(crate) alone: bool,
    /// A program that waits for what no other does any more.
    pub(crate) hangs: Option<Hang>,
    /// An access that meets another one before the beginning of its tensor, with numbers that were chosen.
    pub(crate) before_tensor: Option<u32>,
    /// Accesses by which a program of those that were run waits for what none of these does any more.
    pub(crate) left_waiting: FxHashSet<u32>,
}

/// A program that waits for what no other one does any more.
#[derive(Clone, Debug)]
pub(crate) struct Hang {
    /// The access by which it asks.
    pub(crate) access: u32,
    /// The program.
    pub(crate) program: u32,
    /// The first byte of the word that it asks for.
    pub(crate) start: i64,
    /// Rounds of the loops around it.
    pub(crate) rounds: Rc<[i64]>,
    /// The program that changed the word last, and its access.
    pub(crate) changed: Option<(u32, u32)>,
}

/// The first words that programs ask for: where the first visible access of each goes.
pub(crate) struct FirstWords<'p> {
    program: &'p Program,
    watched: Watched,
    room: Room,
}

impl<'p> FirstWords<'p> {
    /// For launches that hand over the same tensors as this one.
    pub(crate) fn new(program: &'p Program, setting: &Setting) -> FirstWords<'p> {
        let watched = Watched::new(program, setting, &(0..program.accesses.len() as u32).collect());
        FirstWords { program, watched, room: Room::default() }
    }

    /// Those of one program.
    pub(crate) fn of(&mut self, setting: &Setting, number: u32) -> Option<Vec<i64>> {
        let mut instance = Instance::new(self.program, &self.watched, (setting, number));
        let ask = instance.segment(&mut self.room, 200_000).ok()?.ask?;
        Some(ask.event.spans.iter().map(|(start, _)| start).collect())
    }
}

impl Outcome {
    /// Whether an access was executed.
    pub(crate) fn executes(&self, access: u32) -> bool {
        self.executed.contains_key(&access)
    }
}

#[derive(Clone)]
struct State {
    /// Where each program is.
    nodes: Vec<u32>,
    /// Segments that each program has done, and at which of its times.
    done: Vec<Rc<Vec<(u32, u32)>>>,
    clocks: Vec<Rc<Clock>>,
    /// A hash of what is above, by program: a turn changes that of one.
    hashes: Vec<u64>,
    memory: Memory,
}

/// A place in a program: what it does next, hanging on what it read so far.
struct NodeEntry<'p> {
    program: u32,
    /// The program behind the segment, where that ends before an access.
    instance: Option<Instance<'p>>,
    segment: Result<Rc<Segment>, Stuck>,
    /// What it accessed before it got stuck.
    begun: Vec<Event>,
    next: FxHashMap<Column, u32>,
    /// One bit for each node of another program whose meetings with this one were told.
    met: Vec<u64>,
}

impl NodeEntry<'_> {
    /// Marks another node as met; whether it was not before.
    fn meets(&mut self, other: u32) -> bool {
        let (word, bit) = (other as usize / 64, 1u64 << (other % 64));
        if word >= self.met.len() {
            self.met.resize(word + 1, 0);
        }
        let new = self.met[word] & bit == 0;
        self.met[word] |= bit;
        new
    }
}

struct Explorer<'p> {
    program: &'p Program,
    setting: &'p Setting,
    watched: &'p Watched,
    nodes: Vec<NodeEntry<'p>>,
    seen: FxHashSet<u64>,
    words: Words,
    room: Room,
    outcome: Outcome,
    told: FxHashSet<(u32, u32)>,
    budget: u64,
    /// Turns that may be taken.
    turns: usize,
    cancel: &'p Cancel<'p>,
}

/// What the runs of one kernel may cost: those with other numbers of programs, and with a few of them, count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Values that one launch may compute.
    pub(crate) values: u64,
    /// Turns that are left for all orders of all settings of a launch. Each setting may take half of them.
    pub(crate) turns: usize,
    /// Whether runs were not finished, so that no further one can make the kernel clean.
    pub(crate) rationed: bool,
    /// Values that all settings of a launch may still spell out lane by lane.
    spelled: u64,
}

impl Allowance {
    /// All that one kernel may cost.
    pub(crate) fn whole() -> Allowance {
        Allowance { values: WORK, turns: TURNS, rationed: false, spelled: SPELLED }
    }

    /// What a further launch of a kernel may cost.
    pub(crate) fn for_next_launch(&mut self) {
        self.turns = TURNS;
        self.spelled = SPELLED;
    }

    /// From now on runs are for what shows early: the kernel is undecided already.
    pub(crate) fn ration(&mut self) {
        if !self.rationed {
            self.values /= RATION;
            self.rationed = true;
        }
    }
}

/// Runs the programs of a launch in all orders, as far as the accesses of `asked` are concerned. What it takes is taken off
/// the allowance.
pub(crate) fn explore(
    program: &Program,
    setting: &Setting,
    asked: &FxHashSet<u32>,
    allowance: &mut Allowance,
    cancel: &Cancel<'_>,
) -> Result<Outcome, Cancelled> {
    let budget = allowance.values;
    let watched = Watched::new(program, setting, asked);
    // Programs that cannot notice each other are run once each.
    let budget = if watched.tensors.is_empty() { ALONE * budget } else { budget };
    let mut explorer = Explorer {
        program,
        setting,
        nodes: Vec::new(),
        seen: FxHashSet::default(),
        words: Words::default(),
        room: Room::default(),
        outcome: Outcome { alone: watched.tensors.is_empty(), ..Outcome::default() },
        told: FxHashSet::default(),
        watched: &watched,
        budget,
        turns: allowance.turns / 2,
        cancel,
    };
    explorer.room.memo.left = allowance.spelled;
    let taken = explorer.run()?;
    allowance.turns = allowance.turns.saturating_sub(taken);
    allowance.spelled = explorer.room.memo.left;
    Ok(explorer.outcome)
}

fn join(a: &mut Clock, b: &Clock) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = (*x).max(*y);
    }
}

impl<'p> Explorer<'p> {
    /// How many turns it took.
    fn run(&mut self) -> Result<usize, Cancelled> {
        let count = u32::try_from(self.setting.runs()).unwrap_or(u32::MAX);
        let mut state = State {
            nodes: Vec::new(),
            done: Vec::new(),
            clocks: Vec::new(),
            hashes: Vec::new(),
            memory: Memory::default(),
        };
        for number in 0..count {
            self.cancel.check()?;
            let instance = Instance::new(self.program, self.watched, (self.setting, self.setting.number(number)));
            let node = self.node(number, instance);
            state.nodes.push(node);
            state.done.push(Rc::default());
            let mut clock = vec![0; if self.watched.tensors.is_empty() { 0 } else { count as usize }];
            if let Some(own) = clock.get_mut(number as usize) {
                *own = 1;
            }
            state.clocks.push(Rc::new(clock));
            state.hashes.push(hash_of(&state, number as usize));
            if self.outcome.work > self.budget {
                self.outcome.limited = true;
                return Ok(0);
            }
        }
        if self.watched.tensors.is_empty() {
            self.all_at_once(&state)?;
            return Ok(0);
        }
        // Of each state on the way to the present one, the program whose turn it is next.
        let mut open = vec![(Rc::new(state), 0, false)];
        let mut turns = 1;
        while let Some((state, program, moved)) = open.last_mut() {
            if *program >= count {
                if let Some((state, _, false)) = open.pop() {
                    self.end(&state);
                }
                continue;
            }
            self.cancel.check()?;
            *program += 1;
            let (from, program) = (state.clone(), *program - 1);
            let Some(next) = self.turn(&from, program) else { continue };
            let print = fingerprint(&next);
            *moved |= print != fingerprint(&from);
            if !self.seen.insert(print) {
                continue;
            }
            turns += 1;
            if turns > self.turns || self.outcome.work > self.budget {
                self.outcome.limited = true;
                return Ok(turns);
            }
            open.push((Rc::new(next), 0, false));
        }
        Ok(turns)
    }

    /// Nothing moves any more: each program has ended, or waits for ever.
    fn end(&mut self, state: &State) {
        let segments = || state.nodes.iter().map(|node| &self.nodes[*node as usize].segment);
        if !segments().all(|segment| segment.is_ok()) {
            return;
        }
        let waits = (0u32..).zip(segments()).filter_map(|(program, segment)| {
            let ask = segment.as_ref().ok()?.ask.as_ref().filter(|ask| ask.spins)?;
            Some((program, ask.event.clone()))
        });
        let waits: Vec<(u32, Event)> = waits.collect();
        self.outcome.left_waiting.extend(waits.iter().map(|(_, event)| event.access));
        if self.outcome.hangs.is_none()
            && self.setting.chosen.is_empty()
            && let Some((program, event)) = waits.into_iter().next()
        {
            let (access, rounds) = (event.access, event.rounds.clone());
            let tensor = self.setting.tensor(self.program.accesses[access as usize].base).unwrap_or(u32::MAX);
            let start = event.spans.first().map_or(0, |span| span.0);
            let place = self.words.place(tensor, start);
            let changed = state.memory.changed(place);
            self.outcome.hangs = Some(Hang { access, program, start, rounds, changed });
        }
    }

    /// The place of a program that has come so far. What it has computed since its beginning counts each time.
    fn node(&mut self, program: u32, mut instance: Instance<'p>) -> u32 {
        let budget = self.budget.saturating_sub(self.outcome.work);
        let segment = instance.segment(&mut self.room, budget);
        self.outcome.work += instance.work() + 1;
        match &segment {
            Ok(segment) => {
                for event in segment.all().filter(|event| !event.spans.is_empty()) {
                    let programs = self.outcome.executed.entry(event.access).or_default();
                    if programs.len() < 2 && !programs.contains(&program) {
                        programs.push(program);
                    }
                }
                for (first, second) in &segment.own {
                    self.tell_own(program, first, second);
                }
            }
            Err(stuck) => {
                if !self.outcome.stuck.contains(stuck) {
                    self.outcome.stuck.push(stuck.clone());
                }
            }
        }
        // What comes before a place that hangs on unknown data is accessed all the same. With numbers that were chosen a
        // program may be behind the last tile.
        let data = self.setting.given && matches!(segment, Err(Stuck::Loop(_) | Stuck::Branch(_) | Stuck::Data(_)));
        let begun = if data { instance.so_far() } else { Vec::new() };
        let segment = segment.map(Rc::new);
        let instance = segment.as_ref().is_ok_and(|segment| segment.ask.is_some()).then_some(instance);
        self.nodes.push(NodeEntry { program, instance, segment, begun, next: FxHashMap::default(), met: Vec::new() });
        self.nodes.len() as u32 - 1
    }

    /// Where no program can notice another: every two of them meet, or none.
    fn all_at_once(&mut self, state: &State) -> Result<(), Cancelled> {
        // All executed accesses of a tensor, by their first byte.
        let mut all: Vec<(u32, i64, i64, u32, Event, u32)> = Vec::new();
        for (program, node) in state.nodes.iter().enumerate() {
            let node = &self.nodes[*node as usize];
            let events = node.segment.as_ref().map_or(&node.begun, |segment| &segment.events);
            for event in events {
                let access = &self.program.accesses[event.access as usize];
                let Some(tensor) = self.setting.tensor(access.base) else { continue };
                let (Some(first), Some(last)) = (event.spans.first(), event.spans.last()) else { continue };
                let end = last.0 + i64::from(access.bytes);
                all.push((tensor, first.0, end, program as u32, event.clone(), event.access));
            }
        }
        all.sort_by_key(|one| (one.0, one.1, one.3, one.5));
        for at in 0..all.len() {
            self.cancel.check()?;
            let (tensor, _, end, program, event, access) = &all[at];
            for (other_tensor, start, _, other_program, other, other_access) in &all[at + 1..] {
                if other_tensor != tensor || start >= end {
                    break;
                }
                self.outcome.work += 1;
                let key = (*access.min(other_access), *access.max(other_access));
                if program == other_program || self.told.contains(&key) {
                    continue;
                }
                if !matters(self.program, self.setting, *access, *other_access) {
                    continue;
                }
                self.outcome.work += (event.spans.len() + other.spans.len()) as u64;
                if self.outcome.work > self.budget {
                    self.outcome.limited = true;
                    return Ok(());
                }
                if let Some((lanes, start, bytes)) = overlap(self.program, event, other) {
                    self.tell(Meeting {
                        first: event.clone(),
                        second: other.clone(),
                        programs: [*program, *other_program],
                        lanes,
                        start,
                        bytes,
                    });
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, mut meeting: Meeting) {
        // With numbers that were chosen a program may go to places before its tensor: no launch is like that.
        if meeting.start < 0 && !self.setting.given {
            self.outcome.before_tensor.get_or_insert(meeting.first.access);
            return;
        }
        meeting.programs = meeting.programs.map(|program| self.setting.number(program));
        let (a, b) = (meeting.first.access, meeting.second.access);
        if self.told.insert((a.min(b), a.max(b))) {
            self.outcome.races.push(meeting);
        }
    }

    fn tell_own(&mut self, program: u32, first: &Event, second: &Event) {
        if let Some((lanes, start, bytes)) = overlap(self.program, first, second) {
            let programs = [program, program];
            self.tell(Meeting { first: first.clone(), second: second.clone(), programs, lanes, start, bytes });
        }
    }

    /// Tells what two segments of different programs have in common.
    fn meet(&mut self, a: u32, b: u32) {
        let mut found = Vec::new();
        let (x, y) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        if let (Ok(first), Ok(second)) = (&x.segment, &y.segment) {
            let programs = [x.program, y.program];
            for one in first.all() {
                for other in second.all() {
                    if matters(self.program, self.setting, one.access, other.access)
                        && let Some((lanes, start, bytes)) = overlap(self.program, one, other)
                    {
                        let (first, second) = (one.clone(), other.clone());
                        found.push(Meeting { first, second, programs, lanes, start, bytes });
                    }
                    self.outcome.work += 1 + (one.spans.len() + other.spans.len()) as u64 / 8;
                }
            }
        }
        for meeting in found {
            self.tell(meeting);
        }
    }

    /// A program does what it does next; `None` where it has ended or cannot go on.
    fn turn(&mut self, state: &State, program: u32) -> Option<State> {
        let at = program as usize;
        let node = state.nodes[at];
        let now = state.clocks[at][at];
        if state.done[at].last().is_some_and(|(last, _)| *last == node) && !self.is_asked_again(node) {
            return None;
        }
        let segment = self.nodes[node as usize].segment.clone().ok()?;
        let first = state.done[at].last().is_none_or(|(last, _)| *last != node);
        if first {
            for other in 0..state.nodes.len() {
                if other == at {
                    continue;
                }
                // Times do not fall along what was done.
                let seen = state.clocks[at][other];
                for (done, _) in state.done[other].iter().rev().take_while(|(_, time)| seen < *time) {
                    if self.nodes[node as usize].meets(*done) {
                        self.meet(*done, node);
                    }
                }
            }
        }
        let mut next = state.clone();
        // A state has a copy of each word of its own.
        self.outcome.work += next.memory.len() as u64;
        if first {
            Rc::make_mut(&mut next.done[at]).push((node, now));
        }
        if let Some(ask) = &segment.ask {
            let answer = self.answer(&mut next, at, ask);
            Rc::make_mut(&mut next.clocks[at])[at] = now + 1;
            let child = self.child(node, answer, ask);
            if child == node {
                // It will ask again, of a memory that another has to change first.
                Rc::make_mut(&mut next.clocks[at])[at] = now;
                self.outcome.waits = true;
            }
            next.nodes[at] = child;
        }
        next.hashes[at] = hash_of(&next, at);
        Some(next)
    }

    /// Whether a wait stands here.
    fn is_asked_again(&self, node: u32) -> bool {
        let segment = &self.nodes[node as usize].segment;
        matches!(segment, Ok(segment) if segment.ask.as_ref().is_some_and(|ask| ask.spins))
    }

    fn child(&mut self, node: u32, answer: Column, ask: &Ask) -> u32 {
        if let Some(known) = self.nodes[node as usize].next.get(&answer) {
            return *known;
        }
        let entry = &self.nodes[node as usize];
        let (program, instance) = (entry.program, entry.instance.clone());
        // Who asks is where it can be answered.
        let Some(mut instance) = instance else { return node };
        instance.answer(answer.clone(), &mut self.room);
        let made = self.node(program, instance);
        let again = match &self.nodes[made as usize].segment {
            Ok(segment) => {
                let same = segment.ask.as_ref().is_some_and(|next| {
                    next.event.access == ask.event.access
                        && next.event.spans == ask.event.spans
                        && next.operands == ask.operands
                });
                segment.again && same
            }
            Err(_) => false,
        };
        let to = if again { node } else { made };
        self.nodes[node as usize].next.insert(answer, to);
        to
    }

    /// Does the access to memory and clocks; gives what it reads.
    fn answer(&mut self, state: &mut State, program: usize, ask: &Ask) -> Column {
        let access = &self.program.accesses[ask.event.access as usize];
        let tensor = self.setting.tensor(access.base).unwrap_or(u32::MAX);
        let mut values = vec![None; ask.lanes];
        let before = state.clocks[program].clone();
        let mut seen = Clock::clone(&before);
        let bits = (access.bytes * 8).min(64) as u8;
        for (at, (start, lane)) in ask.event.spans.iter().enumerate() {
            let place = self.words.place(tensor, start);
            let word = match state.memory.get(&self.words, place) {
                Some(word) => word,
                None => Rc::new(Word { value: self.initial(tensor, start, access.bytes), released: None }),
            };
            let old = word.value;
            values[lane as usize] = old;
            let (operand, compare) = ask.operands[at];
            let (writes, new) = match access.action {
                Action::Load => (false, old),
                Action::Store => (true, operand),
                Action::Atomic(update, _) => updated(update, bits, old, operand, compare),
            };
            let ordering = access.action.ordering();
            if let Some(ordering) = ordering
                && ordering.acquire
                && ordering.scope != MemSyncScope::Cta
                && let Some(released) = &word.released
                && released.scope != MemSyncScope::Cta
            {
                join(&mut seen, &released.clock);
            }
            if writes {
                let release = ordering.filter(|ordering| ordering.release);
                let released = match (release, ordering, word.released.clone()) {
                    (Some(ordering), _, previous) => {
                        // What is released goes on from what the word already carried.
                        let mut clock = Clock::clone(&before);
                        join(&mut clock, &seen);
                        if let Some(previous) = &previous {
                            join(&mut clock, &previous.clock);
                        }
                        Some(Released { clock, scope: ordering.scope })
                    }
                    // A relaxed update carries on; a plain store ends what was carried.
                    (None, Some(_), previous) => previous,
                    (None, None, _) => None,
                };
                state.memory.set(&mut self.words, place, Word { value: new, released });
                if new.is_none() || new != old {
                    state.memory.change(place, (program as u32, ask.event.access));
                }
            }
        }
        state.clocks[program] = Rc::new(seen);
        if values.iter().all(|value| *value == values[0]) && values.len() == 1 {
            return Column::One(values[0]);
        }
        Column::of(values)
    }

    fn initial(&mut self, tensor: u32, start: i64, bytes: u32) -> Option<i64> {
        match self.setting.contents.get(&tensor) {
            Some(all) => all.get(usize::try_from(start / i64::from(bytes.max(1))).ok()?).copied(),
            None => {
                self.outcome.zeros.insert(tensor);
                Some(0)
            }
        }
    }
}

/// Whether an update writes, and what is there then.
fn updated(
    update: Update,
    bits: u8,
    old: Option<i64>,
    operand: Option<i64>,
    compare: Option<i64>,
) -> (bool, Option<i64>) {
    let both = |op| old.zip(operand).and_then(|(old, operand)| apply(op, bits, old, operand));
    match update {
        Update::Keep => (false, old),
        Update::Add => (true, both(BinOp::Add)),
        Update::And => (true, both(BinOp::And)),
        Update::Or => (true, both(BinOp::Or)),
        Update::Xor => (true, both(BinOp::Xor)),
        Update::MaxS => (true, both(BinOp::MaxS)),
        Update::MinS => (true, both(BinOp::MinS)),
        Update::MaxU => (true, both(BinOp::MaxU)),
        Update::MinU => (true, both(BinOp::MinU)),
        Update::Exchange => (true, operand),
        Update::CompareExchange => match (old, compare) {
            (Some(old), Some(compare)) if old != compare => (false, Some(old)),
            (Some(_), Some(_)) => (true, operand),
            _ => (true, None),
        },
        Update::Float => (true, None),
    }
}

fn fingerprint(state: &State) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    state.hashes.hash(&mut hasher);
    state.memory.hash().hash(&mut hasher);
    hasher.finish()
}

/// Of where a program is, what it has done and what it knows.
fn hash_of(state: &State, program: usize) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    state.nodes[program].hash(&mut hasher);
    state.done[program].hash(&mut hasher);
    state.clocks[program].hash(&mut hasher);
    hasher.finish()
}
