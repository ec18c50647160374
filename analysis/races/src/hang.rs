//! Programs that wait for ever.

use base::{Cancel, Cancelled};
use rustc_hash::FxHashSet;

use crate::choose::settings;
use crate::decide::Decider;
use crate::limits::runs::PROGRAMS;
use crate::program::Source;
use crate::report::Reason;
use crate::run::{Allowance, Stuck, explore};
use crate::term::{Node, Symbol};

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
                        Node::Symbol(Symbol::Round(of), _) => *of >= number,
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
            Node::Symbol(Symbol::Argument(at), _) => self.launch.value(*at).is_none(),
            Node::Symbol(Symbol::DescriptorSize(at, dim), _) => !self.launch.sizes.contains_key(&(*at, *dim)),
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

    /// That a program of the launch waits for ever, where a run shows it.
    pub(crate) fn hangs_all_the_same(
        &self,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        if !self.tells_waits() {
            return Ok(None);
        }
        let all: FxHashSet<u32> = (0u32..).take(self.program.accesses.len()).collect();
        for setting in settings(&self.program, &self.launch, &[]).into_iter().take(1) {
            if setting.programs() <= PROGRAMS {
                let outcome = explore(&self.program, &setting, &all, allowance, cancel)?;
                let mut reasons: Vec<Reason> = outcome.hangs.map(|access| self.hang(access)).into_iter().collect();
                // A wait that asks for a word of which nothing is known need not end either.
                let unknown = outcome.stuck.iter().any(|stuck| matches!(stuck, Stuck::Loop(_)));
                if unknown {
                    self.left_open(&[(setting, outcome)], &all, &mut reasons);
                }
                return Ok(reasons.into_iter().next());
            }
        }
        Ok(None)
    }

    pub(crate) fn hang(&self, access: u32) -> Reason {
        let op = self.program.accesses[access as usize].op;
        let text = "a program waits here for ever: no other one changes this word any more".to_owned();
        Reason { range: self.tree.op_header_range(op), text }
    }
}
