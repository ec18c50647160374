//! What is assumed of strides, against sizes that are no multiples of blocks.
//!
//! A block that no mask ends reaches into the next row unless rows are long enough. That they are is what a proof assumes;
//! where the host computes a stride from sizes that may be any, or a tensor may lie densely, its launches are not all so.

use std::collections::BTreeSet;

use base::{Cancel, Cancelled};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::choose::{neighbours, parts, ragged, reaches_over};
use crate::conjuncts::conjuncts;
use crate::decide::Decider;
use crate::limits::runs::OVERHANG;
use crate::prove::{Converter, Poly, Premise, Spread};
use crate::report::Reason;
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use crate::strides::{Pair, pair};
use crate::term::{BinOp, Node, Symbol, Term};

impl Decider<'_> {
    /// What is assumed that sizes which are no multiples of blocks do not fulfil.
    pub(crate) fn reaching_over(
        &self,
        spreads: &[Spread],
        premises: &BTreeSet<Premise>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        if let Some(spread) = spreads.iter().find(|spread| reaches_over(&self.program, &self.launch, spread)) {
            let said = crate::say::spread(&self.program, spread);
            let text = format!(
                "with sizes that are no multiples of its blocks, which nothing rules out, it is not so that {said}"
            );
            let op = self.program.accesses[spread.access as usize].op;
            return Ok(Some(Reason { range: self.tree.op_header_range(op), text }));
        }
        if let Some(spread) = spreads.iter().find(|spread| self.is_reckoned_with(spread)) {
            let said = crate::say::spread(&self.program, spread);
            let text = format!(
                "with sizes that are no multiples of its blocks, for which it masks other accesses, it is not so that {said}"
            );
            let op = self.program.accesses[spread.access as usize].op;
            return Ok(Some(Reason { range: self.tree.op_header_range(op), text }));
        }
        if spreads.is_empty() {
            return Ok(None);
        }
        for (mut setting, small) in ragged(&self.program, &self.launch, spreads) {
            self.few(premises, &mut setting);
            let met = self.meeting_in(setting, cancel)?;
            // Of two arguments for one tensor, which the host need not hand over so, small sizes tell nothing.
            if let Some((setting, meeting)) = met.filter(|(_, meeting)| !small || self.is_of_one_argument(meeting)) {
                return Ok(Some(self.met(&setting, &meeting)));
            }
        }
        Ok(None)
    }

    /// What is left of a race that sizes which are no multiples of blocks alone show, where no access is masked for such
    /// sizes: what the kernel is launched with is not known.
    pub(crate) fn of_tails(
        &self,
        outcomes: &[(Setting, Outcome)],
        of: Pair,
        asked: &FxHashSet<u32>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        if self.launch.host.is_empty() || self.masks_tails() {
            return Ok(None);
        }
        let mut reason = None;
        for (setting, outcome) in outcomes {
            let Some(meeting) = outcome.races.iter().find(|race| pair(race) == of) else { continue };
            let Some(whole) = self.launch.host.in_whole_blocks(setting) else { return Ok(None) };
            let outcome = explore(&self.program, &whole, asked, &mut Allowance::whole(), cancel)?;
            let finished = !outcome.limited && outcome.stuck.is_empty();
            if !finished || outcome.races.iter().any(|race| pair(race) == of) {
                return Ok(None);
            }
            reason.get_or_insert_with(|| self.met(setting, meeting));
        }
        Ok(reason)
    }

    /// Whether some access is masked, lane by lane, by a size, or lanes behind it begin anew.
    fn masks_tails(&self) -> bool {
        let terms = &self.program.terms;
        let of_lanes = |node: &Node| matches!(node, Node::Symbol(Symbol::Lane(_), _));
        let of_sizes = |node: &Node| matches!(node, Node::Symbol(Symbol::Argument(_) | Symbol::DescriptorSize(..), _));
        let wraps = |part: &Term| match *terms.node(*part) {
            Node::Binary(BinOp::RemS | BinOp::RemU, a, b) => terms.any_leaf(a, of_lanes) && terms.any_leaf(b, of_sizes),
            _ => false,
        };
        self.program.accesses.iter().any(|access| {
            let mut conditions = conjuncts(&self.program, &[access.mask]).into_iter();
            conditions.any(|condition| terms.any_leaf(condition, of_lanes) && terms.any_leaf(condition, of_sizes))
                || parts(&self.program, vec![access.offset]).iter().any(wraps)
        })
    }

    /// Whether another access is masked where what is assumed of a size, of which no launch says anything, does not hold: the
    /// kernel is made for such sizes.
    fn is_reckoned_with(&self, spread: &Spread) -> bool {
        let mut program = self.program.clone();
        let mut atoms = spread.stride.atoms();
        let (Some(atom), None) = (atoms.next(), atoms.next()) else { return false };
        let &Node::Symbol(Symbol::Argument(at), _) = program.terms.node(atom) else { return false };
        if spread.stride != Poly::atom(atom) || self.launch.value(at).is_some() || self.launch.host.of(at).is_some() {
            return false;
        }
        let mut convert = Converter::default();
        let mut poly = |term: Term| {
            let term = program.terms.instance(term, 1, &mut FxHashMap::default());
            convert.poly(&mut program.terms, term)
        };
        self.program.accesses.iter().any(|access| {
            let mut conditions = conjuncts(&self.program, &[access.mask, access.path]).into_iter();
            conditions.any(|condition| match *self.program.terms.node(condition) {
                Node::Binary(BinOp::Slt, index, size) => poly(size) == spread.stride && poly(index) == spread.span,
                _ => false,
            })
        })
    }

    /// Two programs of a launch that meet in it, one of them writing.
    fn meeting_in(&self, setting: Setting, cancel: &Cancel<'_>) -> Result<Option<(Setting, Meeting)>, Cancelled> {
        let all = (0u32..).take(self.program.accesses.len()).collect();
        let mut allowance = Allowance::whole();
        let runs = match setting.programs() <= OVERHANG {
            true => vec![setting],
            false => {
                allowance.ration();
                neighbours(&setting).into_iter().map(|chosen| Setting { chosen, ..setting.clone() }).collect()
            }
        };
        for setting in runs {
            let outcome = explore(&self.program, &setting, &all, &mut allowance, cancel)?;
            let mut races = outcome.races.into_iter().filter(|race| race.programs[0] != race.programs[1]);
            if let Some(race) = races.find(|race| !race.first.wrapped && !race.second.wrapped) {
                return Ok(Some((setting, race)));
            }
        }
        Ok(None)
    }

    /// Whether both accesses go through one argument.
    fn is_of_one_argument(&self, meeting: &Meeting) -> bool {
        let [one, other] = [&meeting.first, &meeting.second].map(|event| &self.program.accesses[event.access as usize]);
        one.base == other.base
    }

    /// That two programs meet where sizes are no multiples of blocks.
    fn met(&self, setting: &Setting, meeting: &Meeting) -> Reason {
        let (range, they) = self.two_that_meet(setting, meeting);
        Reason {
            range,
            text: format!("with sizes that are no multiples of its blocks, which nothing rules out, {they}"),
        }
    }
}
