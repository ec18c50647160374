//! One program instance, from one access that others notice to the next.
//!
//! What an instance does is a function of what its visible accesses read. It is run from its beginning each time, with
//! what they read so far.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::column::Column;
use super::evaluate::{Environment, Evaluation, Memo};
use super::event::Event;
use super::setting::Setting;
use super::spans::Spans;
use super::watch::Watched;
use crate::limits::runs::ROUNDS;
use crate::program::{Completion, Program, Step};
use crate::term::Symbol;

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

/// Why an instance cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// Where this access goes, or whether it happens, depends on data that is not known.
    Data(u32),
    /// Whether this loop goes on, or which branch is taken, depends on such data.
    Branch(Option<u32>),
    /// A limit was met.
    Limit,
}

enum Flow {
    On,
    Asked(Ask),
}

/// What runs of instances of one program leave for the next.
#[derive(Debug, Default)]
pub(crate) struct Room {
    memo: Memo,
    /// By access, its lanes in the order of their bytes, as they were at last where that was another one.
    orders: FxHashMap<u32, Vec<u32>>,
}

/// The run of one instance.
pub(crate) struct Instance<'p> {
    program: &'p Program,
    watched: &'p Watched,
    setting: &'p Setting,
    environment: Environment<'p>,
    room: &'p mut Room,
    answers: &'p [Column],
    used: usize,
    events: Vec<Event>,
    pending: Vec<Event>,
    own: Vec<(Event, Event)>,
    loops: Vec<u32>,
    /// Whether anything happened since the last answer but the same question.
    work: u64,
    budget: u64,
    last: Option<(u32, usize)>,
    /// Whether something that loops carry was cut off at its width.
    wrapped: bool,
}

impl<'p> Instance<'p> {
    pub(crate) fn new(
        program: &'p Program,
        watched: &'p Watched,
        (setting, number): (&'p Setting, u32),
        answers: &'p [Column],
        budget: u64,
        room: &'p mut Room,
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
            room,
            answers,
            used: 0,
            events: Vec::new(),
            pending: Vec::new(),
            own: Vec::new(),
            loops: Vec::new(),
            work: 0,
            budget,
            last: None,
            wrapped: false,
        }
    }

    /// The segment behind the last answer, and the work that it took.
    pub(crate) fn segment(mut self) -> (Result<Segment, Stuck>, u64) {
        let steps = &self.watched.steps;
        let flow = self.steps(steps);
        let work = self.work;
        let made = flow.map(|flow| {
            let ask = match flow {
                Flow::On => None,
                Flow::Asked(ask) => Some(ask),
            };
            let again = match (&ask, self.last) {
                (Some(ask), Some((access, events))) => {
                    ask.spins && ask.event.access == access && events == 0 && self.events.is_empty()
                }
                _ => false,
            };
            Segment { events: self.events, ask, again, own: self.own }
        });
        (made, work)
    }

    fn steps(&mut self, steps: &'p [Step]) -> Result<Flow, Stuck> {
        for step in steps {
            let flow = match step {
                Step::Access(access) => self.access(*access)?,
                Step::If(condition, then, otherwise) => {
                    let holds = self.scalar(*condition).ok_or(Stuck::Branch(None))?;
                    self.steps(if holds != 0 { then } else { otherwise })?
                }
                Step::Loop(number, before, body) => self.round_trip(*number, before, body)?,
                Step::Partitions(all) => {
                    let mut flow = Flow::On;
                    for steps in all {
                        flow = self.steps(steps)?;
                        if matches!(flow, Flow::Asked(_)) {
                            break;
                        }
                    }
                    flow
                }
                Step::StoreWait(pending) => {
                    let stores = self.pending.len().saturating_sub(*pending as usize);
                    for mut event in self.pending.drain(..stores) {
                        event.pending = false;
                        self.events.push(event);
                    }
                    Flow::On
                }
            };
            if let Flow::Asked(_) = flow {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn scalar(&mut self, term: crate::term::Term) -> Option<i64> {
        let mut evaluation = Evaluation::new(&self.program.terms, &self.environment, &mut self.room.memo, &[]);
        let value = evaluation.column(term).at(0);
        self.work += evaluation.work + 1;
        value
    }

    fn round_trip(&mut self, number: u32, before: &'p [Step], body: &'p [Step]) -> Result<Flow, Stuck> {
        let of = &self.program.loops[number as usize];
        let carried = |this: &mut Self, first: bool| {
            let mut values = Vec::new();
            for one in of.carried.iter().filter(|one| this.watched.used.contains(&one.source)) {
                let mut evaluation =
                    Evaluation::new(&this.program.terms, &this.environment, &mut this.room.memo, &one.lanes);
                let column = evaluation.column(if first { one.first } else { one.next });
                this.work += evaluation.work + 1;
                this.wrapped |= evaluation.wrapped;
                values.push((one.source, column, one.lanes.clone()));
            }
            for (source, column, lanes) in values {
                this.give(source, column, lanes);
            }
        };
        self.environment.rounds[number as usize] = 0;
        carried(self, true);
        self.loops.push(number);
        loop {
            if self.work > self.budget || self.environment.rounds[number as usize] > ROUNDS {
                return Err(Stuck::Limit);
            }
            let flow = self.steps(before)?;
            if matches!(flow, Flow::Asked(_)) {
                return Ok(flow);
            }
            let goes_on = self.scalar(of.condition).ok_or(Stuck::Branch(Some(number)))?;
            if goes_on == 0 {
                break;
            }
            let flow = self.steps(body)?;
            if matches!(flow, Flow::Asked(_)) {
                return Ok(flow);
            }
            carried(self, false);
            self.environment.rounds[number as usize] += 1;
        }
        self.loops.pop();
        let ran = self.environment.rounds[number as usize];
        self.give(of.rounds, Column::One(Some(ran)), [].into());
        Ok(Flow::On)
    }

    fn access(&mut self, number: u32) -> Result<Flow, Stuck> {
        if self.work > self.budget {
            return Err(Stuck::Limit);
        }
        let access = &self.program.accesses[number as usize];
        let memo = &mut self.room.memo;
        let mut evaluation = Evaluation::new(&self.program.terms, &self.environment, memo, &access.lanes);
        let count = evaluation.count();
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
            if let Some(answer) = self.answers.get(self.used) {
                self.used += 1;
                self.last = Some((number, 0));
                self.events.clear();
                self.events.extend(self.pending.iter().cloned());
                self.own.clear();
                if let Some(source) = access.source {
                    self.give(source, answer.clone(), access.lanes.clone());
                }
                return Ok(Flow::On);
            }
            let spins = self.loops.last().is_some_and(|of| self.is_wait(*of));
            return Ok(Flow::Asked(Ask { event, operands, lanes: count, spins }));
        }
        let spans = self.in_order(number, active, (&mask, &offset), &lanes);
        let pending = access.completion == Completion::StoreWait;
        let event = Event { access: number, spans: spans.clone(), rounds, pending, wrapped };
        for open in &self.pending {
            if super::conflict::own(self.program, self.setting, open, &event) && self.own.len() < 8 {
                self.own.push((open.clone(), event.clone()));
            }
        }
        if !event.spans.is_empty() {
            self.events.push(event.clone());
        }
        if pending {
            self.pending.push(event);
        }
        if let Some(source) = access.source
            && self.watched.used.contains(&source)
        {
            let column = self.contents(number, &spans, count);
            self.give(source, column, access.lanes.clone());
        }
        Ok(Flow::On)
    }

    /// A source gives this from now on.
    fn give(&mut self, source: u32, values: Column, shape: Box<[i64]>) {
        let given = self.room.memo.given(values, shape);
        self.environment.reads.insert(source, given);
    }

    /// The spans of an access in ascending order.
    fn in_order(&mut self, number: u32, spans: Spans, (mask, offset): (&Column, &Column), shape: &Rc<[i64]>) -> Spans {
        if spans.ascend() {
            return spans;
        }
        if let (Some(part), Column::Line(line)) = (mask.part(shape), offset) {
            let ordered = line.spans(&part, true);
            if ordered.ascend() {
                return ordered;
            }
        }
        // From round to round and from program to program it is as a rule the same order.
        if let Some(order) = self.room.orders.get(&number) {
            let (mask, offset) = (mask.spelled(), offset.spelled());
            let lanes = order.iter().filter(|lane| mask.at(**lane as usize) != Some(0));
            let ordered: Spans = lanes.filter_map(|lane| Some((offset.at(*lane as usize)?, *lane))).collect();
            if ordered.len() == spans.len() && ordered.ascend() {
                return ordered;
            }
        }
        let mut all: Vec<(i64, u32)> = spans.iter().collect();
        all.sort_unstable();
        self.room.orders.insert(number, all.iter().map(|(_, lane)| *lane).collect());
        all.into_iter().collect()
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
        let rounds = |node: &crate::term::Node| matches!(node, crate::term::Node::Symbol(Symbol::Round(other), _) if *other == number);
        let mine = self.program.accesses.iter().filter(|access| access.loops.last() == Some(&number));
        let mut terms = vec![of.condition];
        for access in mine {
            terms.extend([access.offset, access.mask, access.path]);
            terms.extend(access.value);
        }
        of.carried.iter().all(|one| !self.watched.used.contains(&one.source))
            && terms.into_iter().all(|term| !self.program.terms.any_leaf(term, rounds))
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
        (_, Column::Line(line)) => {
            if let Some(part) = mask.part(shape) {
                return Some(line.spans(&part, false));
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
