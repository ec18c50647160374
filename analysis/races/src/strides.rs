//! Whether a race hangs on a stride that was chosen: with a larger one its rows lie apart.
//!
//! What a launch does not give is chosen, and of a stride nobody knows how it compares with what it separates. A race is
//! shown only if it stays when any of its strides is made much larger by itself, and when all are, each by another
//! factor. Sizes that bound or divide something are no strides: the kernel has to be right with all of them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::launch::Known;
use crate::limits::choose::{LARGEST, STRIDES};
use crate::program::Program;
use crate::prove::Converter;
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use crate::term::{Node, Symbol, Term};
use base::{Cancel, Cancelled};

/// How many times the largest number of a launch a stride becomes: more than programs and rounds of loops make of the
/// other numbers, and, where that would be too large for what a kernel computes with, a little.
const FACTORS: [i64; 2] = [16, 3];

/// Two accesses, the lower number first.
pub(crate) type Pair = (u32, u32);

/// The accesses of a race.
pub(crate) fn pair(race: &Meeting) -> Pair {
    let (a, b) = (race.first.access, race.second.access);
    (a.min(b), a.max(b))
}

/// What is known of launches with some strides made larger: by the number of the launch, the factor and the strides, the
/// pairs that race all the same; `None` where the run could not be finished.
#[derive(Debug, Default)]
struct Widened(FxHashMap<(usize, i64, Vec<u32>), Option<FxHashSet<Pair>>>);

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
        asked: &FxHashSet<u32>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<String>, Cancelled> {
        let (strides, computed) = self.of(of);
        let all = strides.iter().chain(&computed).copied().collect();
        let (free, all) = (alone_and_together(strides), alone_and_together(all));
        let shows =
            |(_, (_, outcome)): &(usize, &(Setting, Outcome))| outcome.races.iter().any(|race| pair(race) == of);
        let mut found = None;
        for (number, (setting, _)) in outcomes.iter().enumerate().filter(shows) {
            // No launch that the host makes is like that: what it computes is no more than chosen there.
            let made_up = setting.numbers.is_empty() && !self.launch.host.is_empty();
            let tries = if made_up { &all } else { &free };
            found = None;
            let mut none_runs = !tries.is_empty();
            for (strides, factor) in tries.iter().flat_map(|strides| FACTORS.map(|factor| (strides, factor))) {
                let Some(wide) = with_larger(setting, strides, factor) else { continue };
                none_runs = false;
                let key = (number, factor, strides.clone());
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

    fn names(&self, arguments: &[u32]) -> String {
        let name = |at: &u32| Some(format!("`{}`", self.program.arguments.get(*at as usize)?.name));
        arguments.iter().filter_map(name).collect::<Vec<String>>().join(", ")
    }

    /// Arguments that no launch gives, by which the addresses of two accesses are multiplied or moved: those that bound
    /// neither and may be anything, and those that the host computes.
    fn of(&mut self, (a, b): Pair) -> (Vec<u32>, Vec<u32>) {
        let mut convert = Converter::default();
        let mut strides: Vec<u32> = Vec::new();
        let mut open: Vec<Term> = [a, b].map(|access| self.program.accesses[access as usize].offset).to_vec();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        while let Some(term) = open.pop().filter(|_| seen.len() < STRIDES) {
            let poly = convert.poly(&mut self.program.terms, term);
            for atom in poly.terms().flat_map(|(monomial, _)| monomial.iter()).filter(|atom| seen.insert(**atom)) {
                match self.program.terms.node(*atom) {
                    Node::Symbol(Symbol::Argument(at), _)
                        if self.launch.value(*at).is_none() && !strides.contains(at) =>
                    {
                        strides.push(*at);
                    }
                    Node::Select(_, one, other) => open.extend([*one, *other]),
                    _ => {}
                }
            }
        }
        strides.sort_unstable();
        let terms = &self.program.terms;
        let bounds = |at: u32| {
            let is = |node: &Node| matches!(node, Node::Symbol(Symbol::Argument(of), _) if *of == at);
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

/// The same launch with some arguments much larger than any, and far from each other.
fn with_larger(setting: &Setting, arguments: &[u32], factor: i64) -> Option<Setting> {
    let most = setting.values.values().copied().max()?.max(1);
    let mut wide = setting.clone();
    for (at, argument) in arguments.iter().enumerate() {
        let apart = most.checked_mul(factor * (at as i64 + 1)).filter(|apart| *apart <= LARGEST)?;
        *wide.values.get_mut(&Symbol::Argument(*argument))? = apart;
    }
    Some(wide)
}
