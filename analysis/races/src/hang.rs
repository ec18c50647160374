//! Programs that wait for ever.

use base::{Cancel, Cancelled};
use rustc_hash::FxHashSet;

use crate::choose::settings;
use crate::decide::Decider;
use crate::limits::runs::PROGRAMS;
use crate::program::{Access, Action, Base, Loop, MemSyncScope, Source, Update};
use crate::report::{Global, Hang, Reason, Status};
use crate::run::{Allowance, Hang as Found, Outcome, Setting, Stuck, explore};
use terms::{Node, Term, Variable, apply};

impl Global {
    /// The same where a program waits for ever.
    pub(crate) fn or_hang(self, hang: Option<Hang>) -> Global {
        let status = if hang.is_some() { Status::Found } else { self.status };
        Global { status, hang, ..self }
    }
}

impl Decider<'_> {
    /// Whether some loop asks the same word of memory again and again.
    pub(crate) fn has_waits(&self) -> bool {
        (0u32..).zip(&self.program.loops).any(|(number, of)| {
            // What it carries from round to round is what it was told last.
            let carried = |node: &Node| match node {
                Node::Read(source, ..) => of.carried.iter().find(|one| one.source == *source).map(|one| one.next),
                _ => None,
            };
            let mut asked = vec![of.condition];
            self.program.terms.leaves(of.condition, &mut |node| asked.extend(carried(node)));
            asked.into_iter().any(|term| {
                self.program.terms.any_leaf(term, |node| {
                    let Node::Read(source, ..) = node else { return false };
                    let Some(Source::Access(access)) = self.program.sources.get(*source as usize) else { return false };
                    let access = &self.program.accesses[*access as usize];
                    let moves = |node: &Node| match node {
                        Node::Variable(Variable::Round(of), _) => *of >= number,
                        Node::Read(..) => true,
                        _ => false,
                    };
                    access.action.ordering().is_some()
                        && access.loops.last() == Some(&number)
                        && !self.program.terms.any_leaf(access.offset, moves)
                })
            })
        })
    }

    /// Whether what programs wait for hangs on nothing that was chosen.
    pub(crate) fn tells_waits(&self) -> bool {
        let chosen = |node: &Node| match node {
            Node::Variable(Variable::Argument(at), _) => self.launch.value(*at).is_none(),
            Node::Variable(Variable::DescriptorSize(at, dim), _) => !self.launch.sizes.contains_key(&(*at, *dim)),
            _ => false,
        };
        let orders = self.program.accesses.iter().filter(|access| access.action.ordering().is_some());
        let terms = orders.flat_map(|access| {
            let own = [access.offset, access.mask, access.path];
            own.into_iter().chain(access.value).chain(access.compare)
        });
        let mut terms = terms.chain(self.program.loops.iter().map(|of| of.condition));
        self.launch.grid.iter().all(Option::is_some) && !terms.any(|term| self.program.terms.any_leaf(term, chosen))
    }

    /// That a program of the launch waits for ever, where a run shows it: as an error, and as a reason.
    pub(crate) fn hangs_all_the_same(
        &self,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<(Option<Hang>, Vec<Reason>), Cancelled> {
        if !self.tells_waits() {
            return Ok((None, Vec::new()));
        }
        let all: FxHashSet<u32> = (0u32..).take(self.program.accesses.len()).collect();
        for setting in settings(&self.program, &self.launch, &[]).into_iter().take(1) {
            if setting.programs() <= PROGRAMS {
                let outcome = explore(&self.program, &setting, &all, allowance, cancel)?;
                let found = outcome.hangs.clone();
                let mut reasons: Vec<Reason> = found.iter().map(|found| self.hang(found.access)).collect();
                // A wait that asks for a word of which nothing is known need not end either.
                let unknown = outcome.stuck.iter().any(|stuck| matches!(stuck, Stuck::Loop(_)));
                let outcomes = [(setting, outcome)];
                if unknown {
                    self.left_open(&outcomes, &all, &mut reasons);
                }
                let hang = found.and_then(|found| self.taken_for_ever(&outcomes[0].0, &found, &outcomes));
                reasons.truncate(1);
                return Ok((hang, reasons));
            }
        }
        Ok((None, Vec::new()))
    }

    /// A program that waits for ever, as an error: all of the kernel is followed and every run ended, and the word was
    /// changed last by the access that asks for it, a lock that is taken and not given back, or it is known what stood there.
    pub(crate) fn taken_for_ever(
        &self,
        setting: &Setting,
        found: &Found,
        outcomes: &[(Setting, Outcome)],
    ) -> Option<Hang> {
        let unknown = |access: &Access| access.base == Base::Unknown && access.action.writes();
        let open = outcomes.iter().any(|(_, outcome)| !outcome.stuck.is_empty() || outcome.limited);
        if open || !self.program.gaps.is_empty() || self.program.accesses.iter().any(unknown) {
            return None;
        }
        let (by, taking) = found.changed?;
        let access = &self.program.accesses[found.access as usize];
        // Who asks the whole system may be answered by another device.
        if access.action.ordering().is_some_and(|ordering| ordering.scope == MemSyncScope::System) {
            return None;
        }
        let tensor = self.tensor(access.base)?;
        // Whatever stands there at first: who takes it first is the only one.
        if taking != found.access && !setting.contents.contains_key(&tensor) {
            return None;
        }
        let element = found.start.div_euclid(i64::from(access.bytes.max(1)));
        let side = |number: u32, program: u32, rounds: &[i64]| {
            let lanes = self.program.accesses[number as usize].lanes.len();
            self.side(setting, number, program, vec![0; lanes], (element, element), rounds)
        };
        Some(Hang {
            tensor: self.program.arguments.get(tensor as usize)?.name.clone(),
            index: element,
            wait: side(found.access, found.program, &found.rounds),
            taken: side(taking, by, &[]),
            grid: setting.grid,
        })
    }

    /// A word that programs of a run wait for, where they take it themselves and no access of the kernel ever gives it
    /// back: however many programs there are, and whatever sizes were chosen, whoever comes second waits for ever.
    pub(crate) fn never_given_back(&self, outcomes: &[(Setting, Outcome)]) -> Option<Reason> {
        let mut waiting: Vec<u32> =
            outcomes.iter().flat_map(|(_, outcome)| outcome.left_waiting.iter().copied()).collect();
        waiting.sort_unstable();
        let access = waiting.into_iter().find(|access| self.keeps(*access))?;
        let op = self.program.accesses[access as usize].op;
        let text =
            "a program waits here for ever: it asks for a word that another one has taken, and none gives it back";
        Some(Reason { range: self.tree.op_header_range(op), text: text.to_owned() })
    }

    /// A wait that ends in no run of several programs: what comes behind it was not run as launches run it.
    pub(crate) fn ends_in_no_run(&self, outcomes: &[(Setting, Outcome)]) -> Option<Reason> {
        let several = outcomes.iter().filter(|(setting, _)| setting.chosen.is_empty() && setting.programs() > 1);
        let mut waiting = several.map(|(_, outcome)| outcome.left_waiting.iter().min().copied()).peekable();
        waiting.peek()?;
        let access = waiting.collect::<Option<Vec<u32>>>()?.first().copied()?;
        let op = self.program.accesses[access as usize].op;
        let text =
            "a program waits here for ever in each launch that was run, for a word that no other one changes any more";
        Some(Reason { range: self.tree.op_header_range(op), text: text.to_owned() })
    }

    /// Whether a loop takes a word and goes on with each value that anything writes there.
    fn keeps(&self, number: u32) -> bool {
        let access = &self.program.accesses[number as usize];
        let Some(of) = access.loops.last().and_then(|of| self.program.loops.get(*of as usize)) else { return false };
        let tensor = self.tensor(access.base);
        if tensor.is_none() || !access.action.writes() {
            return false;
        }
        let mut writes = self.program.accesses.iter().filter(|access| access.action.writes());
        writes.all(|write| match self.tensor(write.base) {
            None => false,
            other if other != tensor => true,
            _ => {
                let whole = matches!(
                    write.action,
                    Action::Store | Action::Atomic(Update::Exchange | Update::CompareExchange, _)
                );
                let value = write.value.and_then(|value| self.program.terms.constant(value));
                whole
                    && value
                        .is_some_and(|value| self.goes_on(of, number, of.condition, value).is_some_and(|on| on != 0))
            }
        })
    }

    /// What an expression is where an access of a loop has read this.
    fn goes_on(&self, of: &Loop, access: u32, term: Term, read: i64) -> Option<i64> {
        let inner = |term| self.goes_on(of, access, term, read);
        let terms = &self.program.terms;
        match *terms.node(term) {
            Node::Const(value) => Some(value),
            Node::Read(source, ..) if self.program.accesses[access as usize].source == Some(source) => Some(read),
            Node::Read(source, ..) => {
                let next = of.carried.iter().find(|carried| carried.source == source)?.next;
                let own = self.program.accesses[access as usize].source;
                matches!(terms.node(next), Node::Read(next, ..) if Some(*next) == own).then_some(read)
            }
            Node::Trunc(a) if terms.bits(term) == 1 => Some(inner(a)? & 1),
            Node::Trunc(a) | Node::ExtS(a) => inner(a),
            Node::Binary(op, a, b) => apply(op, terms.bits(a), inner(a)?, inner(b)?),
            Node::Variable(..) | Node::ExtU(_) | Node::Select(..) => None,
        }
    }

    pub(crate) fn hang(&self, access: u32) -> Reason {
        let op = self.program.accesses[access as usize].op;
        let text = "a program waits here for ever: no other one changes this word any more".to_owned();
        Reason { range: self.tree.op_header_range(op), text }
    }
}
