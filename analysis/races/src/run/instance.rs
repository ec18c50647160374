//! One program instance, from one access that others notice to the next.
//!
//! What an instance does is a function of what its visible accesses read. It stops before each of them, and goes on
//! from there with what was read: once for each answer.

use std::rc::Rc;

use lanes::Column;
use rustc_hash::FxHashMap;

use super::evaluate::{Environment, Evaluation, Memo};
use super::event::Event;
use super::setting::Setting;
use super::watch::Watched;
use crate::limits::runs::{OWN, ROUNDS};
use crate::program::{Completion, Program, Step};
use base::spans::Spans;
use terms::{Term, Variable};

/// What the memory is asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) event: Event,
    /// Of each active lane: the operand and what it is compared with.
    pub(crate) operands: Vec<(Option<i64>, Option<i64>)>,
    /// Lanes of the access.
    pub(crate) lanes: usize,
    /// The innermost loop around it that has nothing of its own from round to round: a wait.
    pub(crate) spins: bool,
}

/// What an instance does up to a visible access, or to its end.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) events: Vec<Event>,
    pub(crate) ask: Option<Ask>,
    /// A wait that is asked again: it comes back to where it was.
    pub(crate) again: bool,
    /// Two accesses of this instance itself that meet while one is under way.
    pub(crate) own: Vec<(Event, Event)>,
}

impl Segment {
    /// Its events, what it asks for last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().chain(self.ask.as_ref().map(|ask| &ask.event))
    }
}

/// Why an instance cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// Where this access goes, or whether it happens, depends on data that is not known.
    Data(u32),
    /// Whether this loop goes on depends on such data.
    Loop(u32),
    /// Which branch is taken, by this condition, depends on such data.
    Branch(Term),
    /// A limit was met.
    Limit,
}

/// What an instance is in the middle of, inside what stands before it.
#[derive(Clone, Copy, Debug)]
enum Frame<'p> {
    /// These steps, from this one on.
    Steps(&'p [Step], usize),
    /// This loop: its number, its steps before the condition and behind it.
    Loop(u32, &'p [Step], &'p [Step], Stage),
    /// What warps of different partitions do, from this one on.
    Partitions(&'p [Vec<Step>], usize),
}

/// What comes next in a loop.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Round,
    Condition,
    Carry,
}

/// What runs of instances of one program leave for the next.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) memo: Memo,
    /// By access, its lanes in the order of their bytes, as they were at last where that was another one.
    orders: FxHashMap<u32, Vec<u32>>,
}

impl Room {
    /// The spans of an access in ascending order.
    fn in_order(&mut self, number: u32, spans: Spans, (mask, offset): (&Column, &Column), shape: &Rc<[i64]>) -> Spans {
        if spans.ascend() {
            return spans;
        }
        if let (Some(part), Column::Separable(of)) = (mask.part(shape), offset) {
            let ordered = of.spans(&part, true);
            if ordered.ascend() {
                return ordered;
            }
        }
        // From round to round and from program to program it is as a rule the same order.
        if let Some(order) = self.orders.get(&number) {
            let (mask, offset) = (mask.spelled(), offset.spelled());
            let lanes = order.iter().filter(|lane| mask.at(**lane as usize) != Some(0));
            let ordered: Spans = lanes.filter_map(|lane| Some((offset.at(*lane as usize)?, *lane))).collect();
            if ordered.len() == spans.len() && ordered.ascend() {
                return ordered;
            }
        }
        let mut all: Vec<(i64, u32)> = spans.iter().collect();
        all.sort_unstable();
        self.orders.insert(number, all.iter().map(|(_, lane)| *lane).collect());
        all.into_iter().collect()
    }
}

/// What an instance uses while it runs.
struct Running<'r> {
    room: &'r mut Room,
    /// Values that may be computed since its beginning.
    budget: u64,
}

/// An instance as far as it has come.
#[derive(Clone, Debug)]
pub(crate) struct Instance<'p> {
    program: &'p Program,
    watched: &'p Watched,
    setting: &'p Setting,
    environment: Environment<'p>,
    frames: Vec<Frame<'p>>,
    events: Vec<Event>,
    pending: Vec<(u64, Event)>,
    /// Transfers that a wait for stores counts, as many as were issued; with each that is pending, which one it is.
    issued: u64,
    own: Vec<(Event, Event)>,
    loops: Vec<u32>,
    /// Values that were computed since its beginning.
    work: u64,
    /// The access that it stands before.
    asked: Option<u32>,
    /// The access that was answered last.
    answered: Option<u32>,
    /// Whether something that loops carry was cut off at its width.
    wrapped: bool,
}

impl<'p> Instance<'p> {
    /// One at its beginning.
    pub(crate) fn new(
        program: &'p Program,
        watched: &'p Watched,
        (setting, number): (&'p Setting, u32),
    ) -> Instance<'p> {
        let environment = Environment {
            setting,
            place: setting.place(number),
            rounds: vec![0; program.loops.len()],
            reads: FxHashMap::default(),
        };
        Instance {
            program,
            watched,
            setting,
            environment,
            frames: vec![Frame::Steps(&watched.steps, 0)],
            events: Vec::new(),
            pending: Vec::new(),
            issued: 0,
            own: Vec::new(),
            loops: Vec::new(),
            work: 0,
            asked: None,
            answered: None,
            wrapped: false,
        }
    }

    /// Values that were computed since its beginning.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// What it has accessed since it was last asked, where it goes on or not.
    pub(crate) fn so_far(&self) -> Vec<Event> {
        let pending = self.pending.iter().map(|(_, event)| event);
        self.events.iter().chain(pending).cloned().collect()
    }

    /// Takes what the access that it stands before reads.
    pub(crate) fn answer(&mut self, answer: Column, room: &mut Room) {
        let Some(number) = self.asked.take() else { return };
        self.answered = Some(number);
        self.events = self.pending.iter().map(|(_, event)| event.clone()).collect();
        let access = &self.program.accesses[number as usize];
        if let Some(source) = access.source {
            self.give(source, answer, access.lanes.clone(), room);
        }
    }

    /// What it does up to the next access that others notice; more than `budget` values since its beginning are not
    /// computed.
    pub(crate) fn segment(&mut self, room: &mut Room, budget: u64) -> Result<Segment, Stuck> {
        let ask = self.run(&mut Running { room, budget })?;
        let again = match (&ask, self.answered) {
            (Some(ask), Some(answered)) => ask.spins && ask.event.access == answered && self.events.is_empty(),
            _ => false,
        };
        Ok(Segment { events: std::mem::take(&mut self.events), ask, again, own: std::mem::take(&mut self.own) })
    }

    fn run(&mut self, running: &mut Running<'_>) -> Result<Option<Ask>, Stuck> {
        while let Some(frame) = self.frames.last_mut() {
            match frame {
                Frame::Steps(steps, next) => {
                    let Some(step) = steps.get(*next) else {
                        self.frames.pop();
                        continue;
                    };
                    *next += 1;
                    if let Some(ask) = self.step(step, running)? {
                        return Ok(Some(ask));
                    }
                }
                Frame::Partitions(all, next) => {
                    let Some(steps) = all.get(*next) else {
                        self.frames.pop();
                        continue;
                    };
                    *next += 1;
                    self.frames.push(Frame::Steps(steps, 0));
                }
                Frame::Loop(number, before, body, stage) => {
                    let number = *number;
                    match stage {
                        Stage::Round => {
                            let rounds = self.environment.rounds[number as usize];
                            if self.work > running.budget || rounds > ROUNDS {
                                return Err(Stuck::Limit);
                            }
                            *stage = Stage::Condition;
                            let steps = Frame::Steps(before, 0);
                            self.frames.push(steps);
                        }
                        Stage::Condition => {
                            *stage = Stage::Carry;
                            let steps = Frame::Steps(body, 0);
                            let condition = self.program.loops[number as usize].condition;
                            let goes_on = self.scalar(condition, running.room).ok_or(Stuck::Loop(number))?;
                            if goes_on != 0 {
                                self.frames.push(steps);
                            } else {
                                self.frames.pop();
                                self.loops.pop();
                                let ran = Column::One(Some(self.environment.rounds[number as usize]));
                                self.give(self.program.loops[number as usize].rounds, ran, [].into(), running.room);
                            }
                        }
                        Stage::Carry => {
                            *stage = Stage::Round;
                            self.carry(number, false, running)?;
                            self.environment.rounds[number as usize] += 1;
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self, step: &'p Step, running: &mut Running<'_>) -> Result<Option<Ask>, Stuck> {
        match step {
            Step::Access(access) => return self.access(*access, running),
            Step::If(condition, then, otherwise) => {
                let holds = self.scalar(*condition, running.room).ok_or(Stuck::Branch(*condition))?;
                self.frames.push(Frame::Steps(if holds != 0 { then } else { otherwise }, 0));
            }
            Step::Loop(number, before, body) => {
                self.environment.rounds[*number as usize] = 0;
                self.carry(*number, true, running)?;
                self.loops.push(*number);
                self.frames.push(Frame::Loop(*number, before, body, Stage::Round));
            }
            Step::Partitions(all) => self.frames.push(Frame::Partitions(all, 0)),
            Step::StoreWait(pending) => {
                let done = self.issued.saturating_sub(u64::from(*pending));
                let stores = self.pending.iter().take_while(|(issued, _)| *issued <= done).count();
                for (_, mut event) in self.pending.drain(..stores) {
                    event.pending = false;
                    self.events.push(event);
                }
            }
        }
        Ok(None)
    }

    fn scalar(&mut self, term: Term, room: &mut Room) -> Option<i64> {
        let mut evaluation = Evaluation::new(&self.program.terms, &self.environment, &mut room.memo, &[]);
        let value = evaluation.column(term).at(0);
        self.work += evaluation.work + 1;
        value
    }

    /// Gives what a loop carries into its first round, or from one round into the next.
    fn carry(&mut self, number: u32, first: bool, running: &mut Running<'_>) -> Result<(), Stuck> {
        let of = &self.program.loops[number as usize];
        let mut values = Vec::new();
        for one in of.carried.iter().filter(|one| self.watched.used.contains(&one.source)) {
            let memo = &mut running.room.memo;
            let mut evaluation = Evaluation::new(&self.program.terms, &self.environment, memo, &one.lanes);
            let column = evaluation.column(if first { one.first } else { one.next });
            self.work += evaluation.work + 1;
            if evaluation.exhausted {
                return Err(Stuck::Limit);
            }
            self.wrapped |= evaluation.wrapped;
            values.push((one.source, column, one.lanes.clone()));
        }
        for (source, column, lanes) in values {
            self.give(source, column, lanes, running.room);
        }
        Ok(())
    }

    fn access(&mut self, number: u32, running: &mut Running<'_>) -> Result<Option<Ask>, Stuck> {
        if self.work > running.budget {
            return Err(Stuck::Limit);
        }
        let access = &self.program.accesses[number as usize];
        let memo = &mut running.room.memo;
        let mut evaluation = Evaluation::new(&self.program.terms, &self.environment, memo, &access.lanes);
        let count = evaluation.count();
        // Its lanes are spelled out, however they come to be.
        if self.work.saturating_add(count as u64) > running.budget {
            return Err(Stuck::Limit);
        }
        let (mask, offset) = (evaluation.column(access.mask), evaluation.column(access.offset));
        let wrapped = self.wrapped || evaluation.wrapped;
        let visible = self.watched.is_visible(self.program, self.setting, number);
        let (value, compare) = match visible {
            true => (
                access.value.map(|value| evaluation.column(value)),
                access.compare.map(|compare| evaluation.column(compare)),
            ),
            false => (None, None),
        };
        let work = evaluation.work;
        if evaluation.exhausted {
            self.work += work;
            return Err(Stuck::Limit);
        }
        let lanes = evaluation.lanes();
        let active = active(&mask, &offset, &lanes, count).ok_or(Stuck::Data(number))?;
        self.work += work + count as u64 + 1;
        let rounds: Rc<[i64]> = self.loops.iter().map(|of| self.environment.rounds[*of as usize]).collect();
        if visible {
            let operand = |column: &Option<Column>, lane| column.as_ref().and_then(|column| column.at(lane));
            let operands =
                active.iter().map(|(_, lane)| (operand(&value, lane as usize), operand(&compare, lane as usize)));
            let operands = operands.collect();
            let event = Event { access: number, spans: active, rounds, pending: false, wrapped };
            self.asked = Some(number);
            let spins = self.loops.last().is_some_and(|of| self.is_wait(*of));
            return Ok(Some(Ask { event, operands, lanes: count, spins }));
        }
        let spans = running.room.in_order(number, active, (&mask, &offset), &lanes);
        let pending = access.completion == Completion::StoreWait;
        if pending || access.completion == Completion::Counted {
            self.issued += 1;
        }
        let event = Event { access: number, spans: spans.clone(), rounds, pending, wrapped };
        let under_way = self.pending.iter().map(|(_, open)| open);
        let most = OWN.saturating_sub(self.own.len());
        let met = super::conflict::own(self.program, self.setting, under_way, &event, most);
        self.own.extend(met.into_iter().map(|open| (open, event.clone())));
        if !event.spans.is_empty() {
            self.events.push(event.clone());
        }
        if pending {
            self.pending.push((self.issued, event));
        }
        if let Some(source) = access.source
            && self.watched.used.contains(&source)
        {
            let column = self.contents(number, &spans, count);
            self.give(source, column, access.lanes.clone(), running.room);
        }
        Ok(None)
    }

    /// A source gives this from now on.
    fn give(&mut self, source: u32, values: Column, shape: Box<[i64]>, room: &mut Room) {
        let given = room.memo.given(values, shape);
        self.environment.reads.insert(source, given);
    }

    /// What a tensor that nobody writes holds.
    fn contents(&self, number: u32, spans: &Spans, count: usize) -> Column {
        let access = &self.program.accesses[number as usize];
        let all = self.setting.tensor(access.base).and_then(|tensor| self.setting.contents.get(&tensor));
        let Some(all) = all else { return Column::One(None) };
        // A lane that is masked off gets what stands beside the mask, which is not followed.
        let mut values = vec![None; count];
        for (start, lane) in spans.iter() {
            let index = usize::try_from(start / i64::from(access.bytes.max(1))).ok();
            values[lane as usize] = index.and_then(|index| all.get(index)).copied();
        }
        Column::of(values)
    }

    /// Whether a loop does nothing from round to round but ask again.
    fn is_wait(&self, number: u32) -> bool {
        let of = &self.program.loops[number as usize];
        let rounds =
            |node: &terms::Node| matches!(node, terms::Node::Variable(Variable::Round(other), _) if *other == number);
        // What the loop carries is what it was told last, and says nothing but whether it goes on.
        let used = |source: &u32| self.watched.used.contains(source);
        let carried = |node: &terms::Node| match node {
            terms::Node::Read(source, ..) => of.carried.iter().any(|one| one.source == *source && used(source)),
            _ => false,
        };
        let terms = &self.program.terms;
        let tells = |one: &crate::program::Carried| {
            !used(&one.source) || !terms.any_leaf(one.next, |node| rounds(node) || carried(node))
        };
        let mine = self.program.accesses.iter().filter(|access| access.loops.last() == Some(&number));
        let mut all = vec![of.condition];
        let mut own = Vec::new();
        for access in mine {
            all.push(access.path);
            own.extend([access.offset, access.mask]);
            own.extend(access.value.into_iter().chain(access.compare));
        }
        of.carried.iter().all(tells)
            && all.into_iter().all(|term| !terms.any_leaf(term, rounds))
            && own.into_iter().all(|term| !terms.any_leaf(term, |node| rounds(node) || carried(node)))
    }
}

/// The bytes of the lanes that take part, in the order of lanes; `None` where those of one are not known, or whether it
/// does.
fn active(mask: &Column, offset: &Column, shape: &Rc<[i64]>, count: usize) -> Option<Spans> {
    let lanes = 0..count as u32;
    match (mask, offset) {
        (Column::One(Some(0)), _) => return Some(Spans::default()),
        (Column::One(Some(_)), Column::One(Some(start))) => {
            return Some(lanes.map(|lane| (*start, lane)).collect());
        }
        (_, Column::Separable(of)) => {
            if let Some(part) = mask.part(shape) {
                return Some(of.spans(&part, false));
            }
        }
        _ => {}
    }
    match (&*mask.spelled(), &*offset.spelled()) {
        (Column::One(Some(_)), Column::Known(starts)) => Some(starts.iter().copied().zip(lanes).collect()),
        (Column::Known(mask), Column::Known(starts)) => {
            let all = starts.iter().copied().zip(lanes).zip(mask.iter());
            Some(all.filter(|(_, takes_part)| **takes_part != 0).map(|(span, _)| span).collect())
        }
        _ => {
            let (mask, offset) = (mask.spelled(), offset.spelled());
            let part = lanes.filter(|lane| mask.at(*lane as usize) != Some(0));
            part.map(|lane| mask.at(lane as usize).and(Some((offset.at(lane as usize)?, lane)))).collect()
        }
    }
}
