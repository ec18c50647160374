//! What runs could not follow, as reasons.

use base::TextRange;
use rustc_hash::FxHashSet;

use crate::decide::Decider;
use crate::program::Source;
use crate::report::Reason;
use crate::run::{Outcome, Setting, Stuck};
use terms::{Node, Term};

impl Decider<'_> {
    /// Why runs that were to show something of these accesses were not finished.
    pub(crate) fn left_open(&self, outcomes: &[(Setting, Outcome)], asked: &FxHashSet<u32>, reasons: &mut Vec<Reason>) {
        let mut say = |range: TextRange, text: String| {
            if !reasons.iter().any(|reason| reason.range == range) {
                reasons.push(Reason { range, text });
            }
        };
        for (_, outcome) in outcomes {
            for stuck in &outcome.stuck {
                match stuck {
                    Stuck::Data(access) => {
                        let (range, text) = self.depends(*access);
                        say(range, text);
                    }
                    Stuck::Loop(number) => {
                        let of = &self.program.loops[*number as usize];
                        let text =
                            format!("how often this loop runs depends on data{}", self.read_from(&[of.condition]));
                        say(of.range, text);
                    }
                    // A branch by itself stands in the way of no proof: where an access goes may.
                    Stuck::Branch(condition) => match self.astray(asked) {
                        Some(access) => {
                            let (range, text) = self.depends(access);
                            say(range, text);
                        }
                        None => {
                            let data = self.read_from(&[*condition]);
                            say(self.range, format!("which branch is taken depends on data{data}"));
                        }
                    },
                    Stuck::Limit => say(self.range, "a run took too long".to_owned()),
                }
            }
            if outcome.limited {
                say(self.range, "there are too many orders of its programs to try all".to_owned());
            }
        }
    }

    /// That where an access goes depends on data, and on which.
    fn depends(&self, access: u32) -> (TextRange, String) {
        let access = &self.program.accesses[access as usize];
        let data = self.read_from(&[access.offset, access.mask]);
        let reads = |node: &Node| matches!(node, Node::Read(..));
        let what = match self.program.terms.any_leaf(access.offset, reads) {
            true => "where this goes",
            false => "which of its elements this touches",
        };
        (self.tree.op_header_range(access.op), format!("{what} depends on data{data}"))
    }

    /// The first of some accesses of which it depends on data where it goes.
    fn astray(&self, asked: &FxHashSet<u32>) -> Option<u32> {
        let reads = |node: &Node| matches!(node, Node::Read(..));
        (0u32..).zip(&self.program.accesses).find_map(|(number, access)| {
            (asked.contains(&number) && self.program.terms.any_leaf(access.offset, reads)).then_some(number)
        })
    }

    /// ` that is read from `%idx``.
    fn read_from(&self, terms: &[Term]) -> String {
        let mut name = None;
        for term in terms {
            self.program.terms.leaves(*term, &mut |node| {
                if let Node::Read(source, ..) = node
                    && let Some(Source::Access(access)) = self.program.sources.get(*source as usize)
                    && let Some(tensor) = self.tensor(self.program.accesses[*access as usize].base)
                    && let Some(argument) = self.program.arguments.get(tensor as usize)
                {
                    name = Some(argument.name.clone());
                }
            });
        }
        name.map_or_else(String::new, |name| format!(" that is read from `{name}`"))
    }
}
