//! What a run has shown of two programs, as a race that is told.

use std::collections::BTreeSet;

use base::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decide::Decider;
use crate::program::Source;
use crate::report::{Race, Side};
use crate::run::{Event, Meeting, Setting};
use crate::strides::pair;
use terms::{Node, Term, Variable};

impl Decider<'_> {
    /// Two accesses that meet, as a race.
    pub(crate) fn race(&self, setting: &Setting, meeting: &Meeting) -> Race {
        let side = |event: &Event, program: u32, lane: u32| {
            let access = &self.program.accesses[event.access as usize];
            let mut rest = i64::from(lane);
            let mut place = vec![0; access.lanes.len()];
            for (at, size) in access.lanes.iter().enumerate().rev() {
                place[at] = rest % (*size).max(1);
                rest /= (*size).max(1);
            }
            let element = |start: i64| start.div_euclid(i64::from(access.bytes.max(1)));
            let first = event.spans.first().map_or(0, |span| element(span.0));
            let extent = (first, event.spans.last().map_or(first, |span| element(span.0)));
            let side = self.side(setting, event.access, program, place, extent, &event.rounds);
            Side { pending: event.pending, ..side }
        };
        let access = &self.program.accesses[meeting.first.access as usize];
        let argument = self.tensor(access.base).and_then(|at| self.program.arguments.get(at as usize));
        let mut inputs = Vec::new();
        for (at, argument) in self.program.arguments.iter().enumerate() {
            let at = at as u32;
            let known = self.launch.value(at).is_some();
            if let Some(value) = setting.values.get(&Variable::Argument(at)).filter(|_| !known && self.matters(at)) {
                inputs.push((argument.name.clone(), *value));
            }
        }
        Race {
            tensor: argument.map_or_else(String::new, |argument| argument.name.clone()),
            index: meeting.start.div_euclid(i64::from(access.bytes.max(1))),
            start: meeting.start,
            bytes: meeting.bytes,
            first: side(&meeting.first, meeting.programs[0], meeting.lanes[0]),
            second: side(&meeting.second, meeting.programs[1], meeting.lanes[1]),
            grid: setting.grid,
            inputs,
            same: false,
        }
    }

    /// An access that a program executes.
    pub(crate) fn side(
        &self,
        setting: &Setting,
        access: u32,
        program: u32,
        lane: Vec<i64>,
        extent: (i64, i64),
        rounds: &[i64],
    ) -> Side {
        let access = &self.program.accesses[access as usize];
        // Those that the kernel asks for, and those along which the launch has several.
        let mut axes = self.axes();
        axes.extend(&self.program.axes);
        let whole = setting.place(program);
        let shown = axes.iter().copied().max().unwrap_or(0);
        Side {
            range: self.tree.op_header_range(access.op),
            op: self.tree.op_name(access.op).to_owned(),
            writes: access.action.writes(),
            atomic: access.action.ordering().map(|ordering| ordering.scope),
            program: whole[..=usize::from(shown).min(2)].to_vec(),
            lane,
            extent,
            rounds: rounds.to_vec(),
            pending: false,
            source: self.tree.loc(access.op).iter().map(|loc| format!("{}:{}", loc.file, loc.line)).next(),
        }
    }

    /// Whether an address, a mask or a condition depends on an argument.
    fn matters(&self, argument: u32) -> bool {
        let is = |node: &Node| matches!(node, Node::Variable(Variable::Argument(at), _) if *at == argument);
        let terms = &self.program.terms;
        self.program
            .accesses
            .iter()
            .any(|access| [access.offset, access.mask, access.path].into_iter().any(|term| terms.any_leaf(term, is)))
    }

    /// Accesses by which programs may be seen to meet though it is not known what memory holds: of tensors that are written, at
    /// places and under conditions that no data decides. All of them where programs wait for each other, which orders them.
    pub(crate) fn placed(&self) -> FxHashSet<u32> {
        if self.has_waits() {
            return (0u32..).take(self.program.accesses.len()).collect();
        }
        let mut memo = FxHashMap::default();
        let mut known = |number: &u32| {
            let access = &self.program.accesses[*number as usize];
            let terms = [access.offset, access.mask, access.path];
            !terms.into_iter().any(|term| self.hangs_on_data(term, &mut memo))
        };
        let all: BTreeSet<u32> = self.pairs().0.into_iter().flat_map(|(a, b)| [a, b]).collect();
        all.into_iter().filter(&mut known).collect()
    }

    /// Whether a number is made of what memory holds, of which nothing is known.
    fn hangs_on_data(&self, term: Term, memo: &mut FxHashMap<u32, bool>) -> bool {
        let mut sources = Vec::new();
        self.program.terms.leaves(term, &mut |node| {
            if let Node::Read(source, ..) = node {
                sources.push(*source);
            }
        });
        sources.into_iter().any(|source| {
            if let Some(known) = memo.get(&source) {
                return *known;
            }
            // What a loop carries may be made of itself.
            memo.insert(source, false);
            let loops = &self.program.loops;
            let parts: Vec<Term> = match self.program.sources.get(source as usize) {
                Some(Source::Carried) => {
                    let carried = loops.iter().flat_map(|of| &of.carried).filter(|one| one.source == source);
                    carried.flat_map(|one| [one.first, one.next]).collect()
                }
                Some(Source::Rounds) => loops.iter().filter(|of| of.rounds == source).map(|of| of.condition).collect(),
                Some(Source::Access(_) | Source::Op | Source::Granted(_)) | None => {
                    memo.insert(source, true);
                    return true;
                }
            };
            let hangs = parts.into_iter().any(|part| self.hangs_on_data(part, memo));
            memo.insert(source, hangs);
            hangs
        })
    }

    /// Two programs that meet, in words, and the place of the one that writes.
    pub(crate) fn two_that_meet(&self, setting: &Setting, meeting: &Meeting) -> (TextRange, String) {
        let race = self.race(setting, meeting);
        let inputs: Vec<String> = race.inputs.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
        let with = if inputs.is_empty() { String::new() } else { format!(" ({})", inputs.join(", ")) };
        let at = |program: &[i64]| match program {
            [one] => one.to_string(),
            all => format!("({})", all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let (one, other) = (at(&race.first.program), at(&race.second.program));
        let (first, second) = pair(meeting);
        let writes = |at: &u32| self.program.accesses[*at as usize].action.writes();
        let access = [first, second].into_iter().find(writes).unwrap_or(first);
        let range = self.tree.op_header_range(self.program.accesses[access as usize].op);
        (range, format!("programs {one} and {other} meet{with}"))
    }
}
