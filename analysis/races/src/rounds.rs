//! Loops that share out tiles among programs: launches in which a program takes more than one.
//!
//! Sizes that are tried have a few tiles, and a grid that the host gives may have a program for each of them and more. Then each
//! program has one tile at most, and no run shows what comes of the second one.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::choose::{Choice, block, bounded, neighbours, round_up, setting};
use crate::decide::Decider;
use crate::launch::Known;
use crate::limits::choose::{LONGER, STRIDED_LANES, UNLIKE};
use crate::point::goes_on;
use crate::program::Program;
use crate::prove::Spread;
use crate::report::Reason;
use crate::run::Setting;
use crate::term::{Node, Symbol};

/// Loops around some accesses of which a program's number, or how many there are, says how often they go around, and of
/// these those that sizes drive.
fn shared(program: &Program, launch: &Known, asked: &FxHashSet<u32>) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    for access in (0u32..).zip(&program.accesses).filter(|(number, _)| asked.contains(number)).map(|(_, access)| access)
    {
        all.extend(&access.loops);
    }
    all.sort_unstable();
    all.dedup();
    let is_grid = |node: &Node| matches!(node, Node::Symbol(Symbol::Program(_) | Symbol::Programs(_), _));
    let is_size = |node: &Node| match node {
        Node::Symbol(Symbol::Argument(at), _) => launch.value(*at).is_none(),
        Node::Symbol(Symbol::DescriptorSize(at, dim), _) => !launch.sizes.contains_key(&(*at, *dim)),
        _ => false,
    };
    let drives = |number: &u32| {
        program.loops.get(*number as usize).is_some_and(|of| {
            program.terms.any_leaf(of.condition, is_grid) && program.terms.any_leaf(of.condition, is_size)
        })
    };
    all.retain(drives);
    all
}

/// Whether the first program goes around a loop twice.
fn goes_twice(program: &Program, setting: &Setting, number: u32) -> Option<bool> {
    goes_on(program, setting, number, 1)
}

/// Launches in which the first program goes around such a loop twice, as small as they come, with sizes that are multiples of
/// blocks and such that are not: what they show is shown, and not that there is none.
pub(crate) fn longer(program: &Program, launch: &Known, spreads: &[Spread], asked: &FxHashSet<u32>) -> Vec<Setting> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let block = block(&with_bounds);
    let mut all = Vec::new();
    for number in shared(program, launch, asked) {
        for rest in [0, 1] {
            let mut sizes = (0..LONGER).map(|times| block << times).map(|size| size + rest * (size / 4 + 1));
            let made = sizes.find_map(|size| {
                let small = size <= STRIDED_LANES / block;
                let choice = Choice { size: round_up(size, 1), choice: 1, wide: true, ..Choice::default() };
                let made = setting(&with_bounds, launch, &bounded, &choice).filter(|_| small)?;
                (goes_twice(&with_bounds, &made, number) == Some(true)).then_some(made)
            });
            let Some(made) = made else { continue };
            match made.programs() <= UNLIKE {
                true => all.push(made),
                false => all.extend(neighbours(&made).into_iter().map(|chosen| Setting { chosen, ..made.clone() })),
            }
        }
    }
    all
}

impl Decider<'_> {
    /// A loop that no program goes around twice in the launches that were run.
    pub(crate) fn once_at_most(&self, settings: &[&Setting], asked: &FxHashSet<u32>) -> Option<Reason> {
        let never = |number: &u32| {
            let mut known = settings.iter().map(|setting| goes_twice(&self.program, setting, *number));
            known.all(|twice| twice == Some(false))
        };
        let number = shared(&self.program, &self.launch, asked).into_iter().find(never)?;
        let range = self.program.loops.get(number as usize)?.range;
        Some(Reason { range, text: "in the launches that were run no program goes around this loop twice".to_owned() })
    }
}
