//! What is assumed of strides, against sizes that are no multiples of blocks.
//!
//! A block that no mask ends reaches into the next row unless rows are long enough. That they are is what a proof assumes;
//! where the host computes a stride from sizes that may be any, or a tensor may lie densely, its launches are not all so.

use std::collections::BTreeSet;

use base::{Cancel, Cancelled, Quantity};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::choose::{neighbours, ragged, reaches_over};
use crate::conjuncts::conjuncts;
use crate::decide::Decider;
use crate::expressions::parts;
use crate::limits::runs::OVERHANG;
use crate::program::{Access, Base, Program};
use crate::prove::{Converter, Poly, Premise, Spread};
use crate::report::Reason;
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use crate::strides::{Pair, pair};
use terms::{BinOp, Node, Term, Terms, Variable};

/// Sizes of which a last block is not full.
const TAILS: &str = "that are no multiples of its blocks";

/// Numbers that have no common divisor.
const PRIMES: [i64; 24] = [
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223,
    227,
];

/// Sizes of tensors that may always be alike.
const DIFFERING: &str = "in which tensors differ";

impl Decider<'_> {
    /// What is assumed that sizes which are no multiples of blocks do not fulfil.
    pub(crate) fn reaching_over(
        &self,
        spreads: &[Spread],
        premises: &BTreeSet<Premise>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        let over = |spread| reaches_over(&self.program, &self.launch, spread).map(|always| (spread, always));
        if let Some((spread, always)) = spreads.iter().find_map(over) {
            let said = crate::say::spread(&self.program, spread);
            let sizes = if always { "" } else { "that are no multiples of its blocks, " };
            let text = format!("with sizes {sizes}which nothing rules out, it is not so that {said}");
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
                return Ok(Some(self.met(&setting, &meeting, TAILS)));
            }
        }
        Ok(None)
    }

    /// That the rows of a tensor which the host makes are no part of its sizes, and nothing but that they are long enough keeps
    /// programs apart: with the rows of another tensor some launches have too short ones, and in the others it ends too soon.
    pub(crate) fn of_other_rows(&self, spreads: &[Spread]) -> Option<Reason> {
        let is_other = |spread: &&Spread| {
            let access = &self.program.accesses[spread.access as usize];
            let Base::Argument(base) = access.base else { return false };
            let Some(sizes) = self.launch.made.get(&base).filter(|sizes| sizes.len() > 1) else { return false };
            let mut terms = spread.stride.terms();
            let (Some((rows, 1)), None) = (terms.next(), terms.next()) else { return false };
            let of = |atom: &Term| match *self.program.terms.node(*atom) {
                Node::Variable(Variable::Argument(at), _) => self.launch.quantity(at),
                _ => None,
            };
            let Some(rows) = rows.iter().map(of).collect::<Option<Vec<&Quantity>>>() else { return false };
            let mut known = Vec::new();
            let count = product(sizes.iter(), &mut known);
            count.zip(product(rows.into_iter(), &mut known)).is_some_and(|(count, rows)| count % rows != 0)
        };
        let spread = spreads.iter().find(is_other)?;
        let said = crate::say::spread(&self.program, spread);
        let text = format!("the tensor has rows of another length, and nothing but that length says that {said}");
        Some(Reason { range: self.tree.op_header_range(self.program.accesses[spread.access as usize].op), text })
    }

    /// What is left of a race that some sizes alone show: those that are no multiples of blocks, where no access is masked for
    /// such sizes, and those of several tensors that differ, where one tensor says how many tiles there are and another
    /// one where they lie. What the kernel is launched with is not known.
    pub(crate) fn of_tails(
        &self,
        outcomes: &[(Setting, Outcome)],
        of: Pair,
        asked: &FxHashSet<u32>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        if self.launch.host.is_empty() {
            return Ok(None);
        }
        let lengths = self.lengths();
        let unrelated = self.unrelated(of, &lengths);
        let mut reason = None;
        for (setting, outcome) in outcomes {
            let Some(meeting) = outcome.races.iter().find(|race| pair(race) == of) else { continue };
            let mut others: Vec<(Setting, &str)> = Vec::new();
            if !self.masks_tails() {
                let no_lengths = BTreeSet::new();
                let whole = [&no_lengths, &lengths].map(|lengths| {
                    let block = crate::choose::block(&self.program);
                    self.launch.host.in_whole_blocks(setting, lengths, block)
                });
                others.extend(whole.into_iter().flatten().map(|whole| (whole, TAILS)));
            }
            let so_far: Vec<Setting> =
                std::iter::once(setting).chain(others.iter().map(|(of, _)| of)).cloned().collect();
            for one in so_far {
                let alike =
                    unrelated.iter().flat_map(|(own, other)| self.launch.host.with_sizes_of(&one, *own, *other));
                others.extend(alike.map(|alike| (alike, DIFFERING)));
            }
            let mut gone = None;
            for (other, sizes) in others {
                let outcome = explore(&self.program, &other, asked, &mut Allowance::whole(), cancel)?;
                let finished = !outcome.limited && outcome.stuck.is_empty();
                if finished && !outcome.races.iter().any(|race| pair(race) == of) {
                    gone = Some(sizes);
                    break;
                }
            }
            let Some(sizes) = gone else { return Ok(None) };
            reason.get_or_insert_with(|| self.met(setting, meeting, sizes));
        }
        Ok(reason)
    }

    /// Numbers of the host that bound what is accessed, or how often loops run.
    pub(crate) fn lengths(&self) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        let conditions = self.program.accesses.iter().flat_map(|access| [access.mask, access.path]);
        let loops = self.program.loops.iter().flat_map(|of| of.trips.into_iter().chain([of.condition]));
        for term in conditions.chain(loops) {
            self.program.terms.leaves(term, &mut |node| {
                if let Node::Variable(Variable::Argument(at), _) = node {
                    all.extend(self.launch.host.number(*at));
                }
            });
        }
        all
    }

    /// Tensors by whose sizes two accesses are placed, each with one that says how many tiles there are and is no other of
    /// theirs: how the sizes of the two hang together is not known.
    fn unrelated(&self, (a, b): Pair, lengths: &BTreeSet<u32>) -> Vec<(u32, u32)> {
        let host = &self.launch.host;
        let mut placed = BTreeSet::new();
        for access in [a, b] {
            self.program.terms.leaves(self.program.accesses[access as usize].offset, &mut |node| {
                if let Node::Variable(Variable::Argument(at), _) = node {
                    placed.extend(host.of(*at).into_iter().flat_map(|quantity| host.tensors(quantity)));
                }
            });
        }
        let counted = host.counting(lengths);
        let own = placed.iter().filter(|own| !counted.contains(own));
        own.flat_map(|own| counted.iter().map(|other| (*own, *other))).collect()
    }

    /// Whether some access is masked, lane by lane, by a size, or lanes behind it begin anew.
    pub(crate) fn masks_tails(&self) -> bool {
        let terms = &self.program.terms;
        self.program.accesses.iter().any(|access| {
            let mut conditions = conjuncts(&self.program, &[access.mask]).into_iter();
            conditions.any(|condition| terms.any_leaf(condition, of_lanes) && terms.any_leaf(condition, of_sizes))
                || parts(&self.program, vec![access.offset]).iter().any(|part| wrapped(terms, *part).is_some())
        })
    }

    /// Whether another access is masked where what is assumed of a size does not hold: the kernel is made for such sizes. Of
    /// the size no launch says anything, or it is the stride of a tensor that may lie densely, so that rows may be no farther
    /// apart than that mask says that they are long, and what is made of rows no farther than it says that there are rows.
    /// Of a stride that no launch says anything of, the other access has to go along it as well: the tensor may be padded.
    fn is_reckoned_with(&self, spread: &Spread) -> bool {
        let mut program = self.program.clone();
        let mut atoms = spread.stride.atoms();
        let (Some(atom), None) = (atoms.next(), atoms.next()) else { return false };
        let &Node::Variable(Variable::Argument(at), _) = program.terms.node(atom) else { return false };
        let of = self.launch.host.of(at);
        let mut is_any = true;
        of.iter().for_each(|of| of.unknowns(&mut |_, size| is_any &= size.is_none()));
        let lies_somehow = matches!(of, Some(Quantity::Stride { .. }));
        if spread.stride != Poly::atom(atom) || self.launch.value(at).is_some() || !(is_any || lies_somehow) {
            return false;
        }
        // A switch may have kept such sizes out.
        let told = lies_somehow && self.launch.switches.is_empty();
        let masks = masks(&mut program);
        let terms = &program.terms;
        let is_open = |size: &Poly| {
            let mut atoms = size.atoms();
            let (Some(atom), None) = (atoms.next(), atoms.next()) else { return false };
            let argument = matches!(terms.node(atom), Node::Variable(Variable::Argument(at), _) if self.launch.value(*at).is_none());
            argument && *size == Poly::atom(atom)
        };
        // Lanes alone say nothing of which of a tile's dimensions they go along.
        let of_programs = |atom| matches!(terms.node(atom), Node::Variable(Variable::Program(_), _));
        let turned = spread.span.atoms().any(of_programs);
        let mut rows = vec![spread.span.clone()];
        rows.extend(self.rows(&spread.span, at));
        let spans: Vec<_> = rows.iter().map(|rows| places(terms, rows, turned)).collect();
        let is_row = |index: &Poly| spans.contains(&places(terms, index, turned));
        let is_masked =
            masks.get(spread.access as usize).is_some_and(|own| own.iter().any(|(index, _)| rows.contains(index)));
        let uses_stride = |access: &Access| {
            terms.any_leaf(access.offset, |node| matches!(node, Node::Variable(Variable::Argument(of), _) if *of == at))
        };
        self.program.accesses.iter().zip(&masks).any(|(access, masks)| {
            masks.iter().any(|(index, size)| match *size == spread.stride {
                true => is_any && *index == spread.span,
                false => !is_masked && is_open(size) && is_row(index) && (told || uses_stride(access)),
            })
        })
    }

    /// Of what is added to a multiple of an argument: what other strides of the same tensor are multiplied with, if
    /// lanes are in it.
    fn rows(&self, span: &Poly, outer: u32) -> Vec<Poly> {
        let terms = &self.program.terms;
        let is_inner = |atom: &Term| match terms.node(*atom) {
            Node::Variable(Variable::Argument(at), _) => {
                *at != outer && matches!(self.launch.host.of(*at), Some(Quantity::Stride { .. }))
            }
            _ => false,
        };
        let strides: BTreeSet<Term> = span.atoms().filter(is_inner).collect();
        let of = |stride: Term| {
            let products = span.terms().filter(|(monomial, _)| monomial.contains(&stride));
            let without = products.map(|(monomial, by)| {
                let mut rest = monomial.clone();
                rest.retain(|atom| *atom != stride);
                (rest, by)
            });
            Poly::sum(without.collect())
        };
        // Which row a program's number alone says has no others behind it in a block.
        let is_lane = |node: &Node| matches!(node, Node::Variable(Variable::Lane(_), _));
        let all = strides.into_iter().map(of);
        all.filter(|rows| rows.atoms().any(|atom| terms.any_leaf(atom, is_lane))).collect()
    }

    /// Two programs of a launch that meet in it, one of them writing.
    fn meeting_in(&self, setting: Setting, cancel: &Cancel<'_>) -> Result<Option<(Setting, Meeting)>, Cancelled> {
        let all = self.placed();
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

    /// That two programs meet with such sizes.
    fn met(&self, setting: &Setting, meeting: &Meeting, sizes: &str) -> Reason {
        let (range, they) = self.two_that_meet(setting, meeting);
        Reason { range, text: format!("with sizes {sizes}, which nothing rules out, {they}") }
    }
}

/// The product of quantities, each of whose factors is a number that has no divisor with another one in common.
fn product<'q>(of: impl Iterator<Item = &'q Quantity>, known: &mut Vec<&'q Quantity>) -> Option<i64> {
    let mut factors = Vec::new();
    of.for_each(|quantity| quantity.factors(&mut factors));
    factors.into_iter().try_fold(1i64, |all, factor| {
        let number = match factor {
            Quantity::Known(value) => (*value).max(1),
            // It may be of a tensor that lies in any way, this one for instance.
            Quantity::Stride { .. } => return None,
            factor => {
                let at = known.iter().position(|other| *other == factor).unwrap_or_else(|| {
                    known.push(factor);
                    known.len() - 1
                });
                *PRIMES.get(at)?
            }
        };
        all.checked_mul(number)
    })
}

fn of_lanes(node: &Node) -> bool {
    matches!(node, Node::Variable(Variable::Lane(_), _))
}

fn of_sizes(node: &Node) -> bool {
    matches!(node, Node::Variable(Variable::Argument(_) | Variable::DescriptorSize(..), _))
}

/// The index of lanes that begins anew behind a size, and the size: `(tile * BLOCK + lane) % size`.
fn wrapped(terms: &Terms, part: Term) -> Option<[Term; 2]> {
    match *terms.node(part) {
        Node::Binary(BinOp::RemS | BinOp::RemU, index, size) => {
            (terms.any_leaf(index, of_lanes) && terms.any_leaf(size, of_sizes)).then_some([index, size])
        }
        _ => None,
    }
}

/// Of each access, what its mask and its path hold below what, and what begins anew behind what.
fn masks(program: &mut Program) -> Vec<Vec<(Poly, Poly)>> {
    let mut convert = Converter::default();
    let mut all = Vec::with_capacity(program.accesses.len());
    for at in 0..program.accesses.len() {
        let access = &program.accesses[at];
        let below = |condition: Term| match *program.terms.node(condition) {
            Node::Binary(BinOp::Slt, index, size) => Some([index, size]),
            _ => None,
        };
        let wrapped = |part: Term| wrapped(&program.terms, part);
        let bounded = conjuncts(program, &[access.mask, access.path]).into_iter().filter_map(below);
        let bounded: Vec<[Term; 2]> =
            bounded.chain(parts(program, vec![access.offset]).into_iter().filter_map(wrapped)).collect();
        let own = bounded.into_iter().map(|bounded| {
            let [index, size] = bounded.map(|term| {
                let term = program.terms.instance(term, 1, &mut FxHashMap::default());
                convert.poly(&mut program.terms, term)
            });
            (index, size)
        });
        all.push(own.collect());
    }
    all
}

/// What a place is made of, in the iteration of whichever loop, and where it is `turned` in whichever lane.
fn places(terms: &Terms, of: &Poly, turned: bool) -> Vec<(Vec<Option<Term>>, i128)> {
    let is_own = |atom: Term| match terms.node(atom) {
        Node::Variable(Variable::Round(_), _) => true,
        Node::Variable(Variable::Lane(_), _) => turned,
        _ => false,
    };
    let plain = |atom: &Term| Some(*atom).filter(|atom| !is_own(*atom));
    let mut all: Vec<_> =
        of.terms().map(|(monomial, by)| (monomial.iter().map(plain).collect::<Vec<_>>(), by)).collect();
    all.sort();
    all
}
