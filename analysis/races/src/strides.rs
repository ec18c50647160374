//! Whether a race hangs on a stride that was chosen: with a larger one its rows lie apart.
//!
//! What a launch does not give is chosen, and of a stride nobody knows how it compares with what it separates. A race is
//! shown only if it stays when any of its strides is made much larger by itself, and when all are, each by another
//! factor. Sizes that bound or divide something are no strides: the kernel has to be right with all of them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::launch::Known;
use crate::limits::choose::{FARTHER, LARGER, LARGEST, STRIDES};
use crate::program::Program;
use crate::prove::Converter;
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use base::{Cancel, Cancelled};
use terms::{BinOp, Node, Term, Variable};

/// Two accesses, the lower number first.
pub(crate) type Pair = (u32, u32);

/// The accesses of a race.
pub(crate) fn pair(race: &Meeting) -> Pair {
    let (a, b) = (race.first.access, race.second.access);
    (a.min(b), a.max(b))
}

/// What is known of launches with some strides made larger: by the number of the launch, whether its sizes are made multiples
/// of blocks, how large strides are and which, the pairs that race all the same; `None` where the run could not be finished.
#[derive(Debug, Default)]
struct Widened(FxHashMap<Wide, Option<FxHashSet<Pair>>>);

/// A launch whose strides are made larger: its number, whether its sizes are made multiples of blocks, how large the strides
/// are, and which.
type Wide = (usize, bool, i64, Vec<u32>);

/// Makes a launch one whose sizes are multiples of blocks, where that is another.
type Whole<'w> = dyn Fn(&Setting) -> Option<Setting> + 'w;

/// A kernel and what is known of its launch.
pub(crate) struct Strides<'p> {
    program: &'p mut Program,
    launch: &'p Known,
    widened: Widened,
}

impl<'p> Strides<'p> {
    /// Those of a kernel.
    pub(crate) fn new(program: &'p mut Program, launch: &'p Known) -> Strides<'p> {
        Strides { program, launch, widened: Widened::default() }
    }

    /// On what a race of two accesses hangs, in each of the launches that show it, as a sentence: on strides that are not
    /// known, or on sizes that no launch of the host has. `None` where one of them shows it whatever its strides are.
    pub(crate) fn hangs_on(
        &mut self,
        outcomes: &[(Setting, Outcome)],
        of: Pair,
        (asked, whole): (&FxHashSet<u32>, &Whole<'_>),
        cancel: &Cancel<'_>,
    ) -> Result<Option<String>, Cancelled> {
        let (strides, computed) = self.of(of);
        let all = strides.iter().chain(&computed).copied().collect();
        let (free, all) = (alone_and_together(strides), alone_and_together(all));
        let shows =
            |(_, (_, outcome)): &(usize, &(Setting, Outcome))| outcome.races.iter().any(|race| pair(race) == of);
        let mut found = None;
        for (number, (setting, outcome)) in outcomes.iter().enumerate().filter(shows) {
            // No launch that the host makes is like that: what it computes is no more than chosen there.
            let made_up = setting.numbers.is_empty() && !self.launch.host.is_empty();
            let tries = if made_up { &all } else { &free };
            found = None;
            let mut none_runs = !tries.is_empty();
            // A block that is not full may reach into the next row whatever the stride is.
            let full = whole(setting);
            let starts = [(Some(setting), false), (full.as_ref(), true)];
            let most = setting.values.values().copied().max().unwrap_or(1).max(1);
            let (far, reach) = ([FARTHER, LARGER].map(|factor| most.checked_mul(factor)), self.reach(outcome, of));
            let sizes = far.into_iter().flatten().map(|size| (size, true)).chain(reach.map(|size| (size, false)));
            let sizes = tries.iter().flat_map(|strides| sizes.clone().map(move |size| (strides, size)));
            for ((strides, (size, is_far)), (start, is_full)) in sizes.flat_map(|way| starts.map(|start| (way, start)))
            {
                let Some(wide) = start.and_then(|start| with_larger(start, strides, size)) else { continue };
                none_runs &= !is_far;
                let key = (number, is_full, size, strides.clone());
                if !self.widened.0.contains_key(&key) {
                    let outcome = explore(self.program, &wide, asked, &mut Allowance::whole(), cancel)?;
                    let whole = !outcome.limited && outcome.stuck.is_empty();
                    let races = whole.then(|| outcome.races.iter().map(pair).collect());
                    self.widened.0.insert(key.clone(), races);
                }
                let apart = self.widened.0.get(&key).and_then(Option::as_ref).is_some_and(|races| !races.contains(&of));
                if apart {
                    let names = self.names(strides);
                    found = Some(if made_up {
                        format!("programs race where {names} is not what the host computes, and not with a larger one")
                    } else {
                        format!("programs race if {names} is small, and not if it is large: what it is, is not known")
                    });
                    break;
                }
            }
            // What cannot be made larger is not shown to make no difference.
            if none_runs {
                let names = tries.last().map(|strides| self.names(strides));
                found =
                    names.map(|names| format!("whether programs race depends on {names}: what it is, is not known"));
            }
            if found.is_none() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// Twice as many elements as lie before the end of what two programs touch where two accesses meet.
    fn reach(&self, outcome: &Outcome, of: Pair) -> Option<i64> {
        let races = outcome.races.iter().filter(|race| pair(race) == of);
        let events = races.flat_map(|race| [&race.first, &race.second]);
        let ends = events.filter_map(|event| {
            let bytes = i64::from(self.program.accesses[event.access as usize].bytes.max(1));
            let (start, length) = event.spans.last()?;
            start.checked_add(i64::from(length))?.checked_mul(2).map(|end| end / bytes)
        });
        ends.max().filter(|reach| *reach > 0)
    }

    fn names(&self, arguments: &[u32]) -> String {
        let name = |at: &u32| Some(format!("`{}`", self.program.arguments.get(*at as usize)?.name));
        arguments.iter().filter_map(name).collect::<Vec<String>>().join(", ")
    }

    /// Arguments that no launch gives, by which the addresses of two accesses are multiplied or moved: those that bound
    /// neither and may be anything, and those that the host computes.
    fn of(&mut self, (a, b): Pair) -> (Vec<u32>, Vec<u32>) {
        let mut convert = Converter::default();
        let mut strides: Vec<u32> = Vec::new();
        // Of what is divided, which gives the row where something begins, strides are what something is multiplied by.
        let mut open: Vec<(Term, usize)> =
            [a, b].map(|access| (self.program.accesses[access as usize].offset, 1)).to_vec();
        let mut seen: FxHashSet<(Term, usize)> = FxHashSet::default();
        while let Some((term, least)) = open.pop().filter(|_| seen.len() < STRIDES) {
            let poly = convert.poly(&mut self.program.terms, term);
            let atoms = poly.terms().filter(|(monomial, _)| monomial.len() >= least);
            for atom in atoms.flat_map(|(monomial, _)| monomial.iter()).filter(|atom| seen.insert((**atom, least))) {
                match self.program.terms.node(*atom) {
                    Node::Variable(Variable::Argument(at), _)
                        if self.launch.value(*at).is_none() && !strides.contains(at) =>
                    {
                        strides.push(*at);
                    }
                    Node::Select(_, one, other) => open.extend([(*one, least), (*other, least)]),
                    Node::Trunc(part) | Node::ExtS(part) | Node::ExtU(part) => open.push((*part, least)),
                    Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, whole, _) => open.push((*whole, 2)),
                    _ => {}
                }
            }
        }
        strides.sort_unstable();
        let terms = &self.program.terms;
        let bounds = |at: u32| {
            let is = |node: &Node| matches!(node, Node::Variable(Variable::Argument(of), _) if *of == at);
            let accesses = [a, b].map(|access| &self.program.accesses[access as usize]);
            accesses.iter().any(|access| [access.mask, access.path].into_iter().any(|term| terms.any_leaf(term, is)))
        };
        // What the host computes is what it is.
        strides.retain(|at| !bounds(*at));
        strides.into_iter().partition(|at| self.launch.host.of(*at).is_none())
    }
}

/// Each of some arguments, and all of them where there are several.
fn alone_and_together(arguments: Vec<u32>) -> Vec<Vec<u32>> {
    let mut tries: Vec<Vec<u32>> = arguments.iter().map(|argument| vec![*argument]).collect();
    if arguments.len() > 1 {
        tries.push(arguments);
    }
    tries
}

/// The same launch with some arguments as large as this, and farther from each other.
fn with_larger(setting: &Setting, arguments: &[u32], size: i64) -> Option<Setting> {
    let mut wide = setting.clone();
    for (at, argument) in arguments.iter().enumerate() {
        let apart = size.checked_mul(at as i64 + 1).filter(|apart| *apart <= LARGEST)?;
        *wide.values.get_mut(&Variable::Argument(*argument))? = apart;
    }
    Some(wide)
}
