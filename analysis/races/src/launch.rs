//! What is known of how a kernel is launched.

use std::sync::Arc;

use base::Quantity;
use base::condition::{Condition, Switch};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::{Given, Host};
use crate::program::Program;

/// What is known of a launch; nothing by default. Arguments go by their names in the text, without `%`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The kernel, where a module has several and the launch is of one.
    pub kernel: Option<String>,
    /// Programs along each axis of the grid.
    pub grid: [Option<i64>; 3],
    /// Values of integer arguments.
    pub values: Vec<(String, i64)>,
    /// Pointer arguments, each with the number of the memory that it points into: those of one number are one tensor.
    pub memory: Vec<(String, u32)>,
    /// Of pointer arguments of one memory: bytes from its start to where they point.
    pub shifts: Vec<(String, i64)>,
    /// Pairs of pointer arguments that are of one storage, or may be, of which it is not known where they lie in it.
    pub views: Vec<(String, String, Views)>,
    /// Elements of the tensor behind a descriptor along each dimension, and between neighbours along each.
    pub described: Vec<(String, Vec<(i64, i64)>)>,
    /// Elements of integer tensors.
    pub contents: Vec<(String, Arc<[i64]>)>,
    /// Sizes of dense tensors that the host makes.
    pub sizes: Vec<(String, Vec<Quantity>)>,
    /// How the host computes integer arguments from numbers that are not known.
    pub quantities: Vec<(String, Quantity)>,
    /// Likewise the programs along each axis.
    pub programs: [Option<Quantity>; 3],
    /// Constants that were chosen, with what the host computes in their place.
    pub constants: Vec<(i64, Quantity)>,
    /// Whether it is what several launches have in common, none of which is known by itself: numbers that they do not share
    /// are not any.
    pub several: bool,
    /// What was decided of its numbers before the kernel was compiled.
    pub switches: Vec<Switch>,
    /// What holds of the numbers without a formula: host code took ways on which that is so.
    pub conditions: Vec<Condition>,
}

impl Launch {
    /// What is known of both, which holds for each; `None` where one of them hands over a tensor twice and the other
    /// does not, of which nothing in common can be said.
    pub(crate) fn and(mut self, other: &Launch) -> Option<Launch> {
        if self.kernel != other.kernel {
            self.kernel = None;
        }
        for (own, other) in self.grid.iter_mut().zip(&other.grid) {
            if own != other {
                *own = None;
            }
        }
        self.values.retain(|value| other.values.contains(value));
        self.described.retain(|described| other.described.contains(described));
        self.contents.retain(|contents| other.contents.contains(contents));
        let more = other.views.iter().filter(|pair| !self.views.contains(pair)).cloned();
        self.views = self.views.iter().cloned().chain(more).collect();
        let formulas = |of: &Launch| (of.quantities.clone(), of.programs.clone(), of.constants.clone());
        self.switches.retain(|switch| other.switches.contains(switch));
        self.conditions.retain(|condition| other.conditions.contains(condition));
        if formulas(&self) != formulas(other) {
            self.conditions.clear();
            self.sizes.clear();
            self.quantities.clear();
            self.programs = Default::default();
            self.constants.clear();
        }
        if (&self.memory, &self.shifts) != (&other.memory, &other.shifts) {
            if self.hands_one_over_twice() || other.hands_one_over_twice() {
                return None;
            }
            self.memory.clear();
            self.shifts.clear();
        }
        Some(self)
    }

    /// The same where what a conversion gives back is the tensor that it was given, if that makes a difference.
    pub(crate) fn without_copies(&self) -> Option<Launch> {
        let mut made = self.clone();
        for (one, other, _) in self.views.iter().filter(|(.., how)| *how == Views::OneOrCopy) {
            let number = |of: &str| self.memory.iter().find(|(name, _)| name == of).map(|(_, memory)| *memory);
            let (own, others) = (number(one)?, number(other)?);
            made.memory.iter_mut().filter(|(_, memory)| *memory == others).for_each(|(_, memory)| *memory = own);
        }
        made.views.retain(|(.., how)| *how != Views::OneOrCopy);
        (made != *self).then_some(made)
    }

    /// Whether two of its pointers are known to be of one tensor.
    fn hands_one_over_twice(&self) -> bool {
        let twice = |(at, (_, memory)): (usize, &(String, u32))| {
            self.memory.iter().skip(at + 1).any(|(_, other)| other == memory)
        };
        self.memory.iter().enumerate().any(twice)
    }
}

/// How two arguments of one storage hang together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Views {
    /// They may have bytes in common.
    Parts,
    /// They are one tensor, or one is a copy.
    OneOrCopy,
    /// They may have bytes in common, or one is a copy.
    PartsOrCopy,
}

/// The same, by the numbers of a kernel's arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) grid: [Option<i64>; 3],
    pub(crate) values: FxHashMap<u32, i64>,
    /// Sizes of described tensors.
    pub(crate) sizes: FxHashMap<(u32, u8), i64>,
    /// Sizes of dense tensors that the host makes, by pointer argument.
    pub(crate) made: FxHashMap<u32, Vec<Quantity>>,
    /// Descriptors of tensors of which some elements lie in one place.
    pub(crate) folded: Vec<u32>,
    /// Pointer arguments that point into the tensor of an earlier one, and which.
    pub(crate) same: FxHashMap<u32, u32>,
    /// Of these: by how many bytes they point behind that one.
    pub(crate) shifts: FxHashMap<u32, i64>,
    /// Pointer arguments that may be of one storage, of which it is not known where they lie in it.
    pub(crate) views: Vec<(u32, u32, Views)>,
    /// Whether it is known of all pointers which are of one tensor.
    pub(crate) apart: bool,
    pub(crate) contents: FxHashMap<u32, Arc<[i64]>>,
    /// How the numbers hang together that it does not give.
    pub(crate) host: Host,
    /// Arguments that are said to be sizes or strides of tensors, or computed from such.
    pub(crate) of_tensors: FxHashSet<u32>,
    /// Along which axes it says how many programs there are, be it by a formula.
    pub(crate) given: [bool; 3],
    /// What was decided of its numbers before the kernel was compiled.
    pub(crate) switches: Vec<Switch>,
    /// What holds of the numbers without a formula.
    pub(crate) conditions: Vec<Condition>,
    /// The arguments that are such numbers.
    pub(crate) numbered: FxHashMap<u32, u32>,
    /// How the host computes arguments.
    pub(crate) quantities: FxHashMap<u32, Quantity>,
}

/// What numbers are sizes of, where a launch tells several of them: a number that the host is handed stands alone.
fn of_several_sizes(launch: &Launch) -> FxHashSet<u32> {
    let mut first: FxHashMap<u32, u32> = FxHashMap::default();
    let mut several = FxHashSet::default();
    for quantity in launch.quantities.iter().map(|(_, quantity)| quantity).chain(launch.programs.iter().flatten()) {
        quantity.unknowns(&mut |number, of| {
            if let Some(of) = of
                && *first.entry(of).or_insert(number) != number
            {
                several.insert(of);
            }
        });
    }
    several
}

impl Known {
    pub(crate) fn new(launch: &Launch, program: &Program) -> Known {
        let given = Given {
            values: &launch.values,
            grid: launch.grid,
            quantities: &launch.quantities,
            programs: &launch.programs,
            constants: &launch.constants,
        };
        let mut known = Known { grid: launch.grid, host: Host::new(&given, program), ..Known::default() };
        let says = |axis: usize| launch.grid[axis].is_some() || launch.programs[axis].is_some();
        known.given = [says(0), says(1), says(2)];
        known.switches = launch.switches.clone();
        known.conditions = launch.conditions.clone();
        let several = of_several_sizes(launch);
        let mut first: FxHashMap<u32, (u32, i64)> = FxHashMap::default();
        let mut told = 0;
        let pointers = program.arguments.iter().filter(|argument| argument.pointer || argument.rank > 0).count();
        for (at, argument) in program.arguments.iter().enumerate() {
            let (at, name) = (at as u32, argument.name.trim_start_matches('%'));
            if let Some((_, value)) = launch.values.iter().find(|(of, _)| of == name) {
                known.values.insert(at, *value);
            }
            let quantity = launch.quantities.iter().find(|(of, _)| of == name).map(|(_, quantity)| quantity);
            if let Some(Quantity::Unknown { id, .. }) = quantity {
                known.numbered.insert(*id, at);
            }
            if let Some(quantity) = quantity {
                known.quantities.insert(at, quantity.clone());
                let mut of_tensor = matches!(quantity, Quantity::Stride { .. });
                quantity.unknowns(&mut |_, of| of_tensor |= of.is_some_and(|of| several.contains(&of)));
                if of_tensor {
                    known.of_tensors.insert(at);
                }
            }
            if let Some((_, described)) = launch.described.iter().find(|(of, _)| of == name)
                && described.len() == argument.rank
            {
                let mut inner = 1i64;
                for (dim, (size, stride)) in described.iter().enumerate().rev() {
                    known.sizes.insert((at, dim as u8), *size);
                    if *size > 1 && *stride < inner && !known.folded.contains(&at) {
                        known.folded.push(at);
                    }
                    inner = inner.max(stride.saturating_mul(*size));
                }
            }
            if let Some((_, sizes)) = launch.sizes.iter().find(|(of, _)| of == name) {
                known.made.insert(at, sizes.clone());
            }
            if let Some((_, contents)) = launch.contents.iter().find(|(of, _)| of == name) {
                known.contents.insert(at, contents.clone());
            }
            if let Some((_, memory)) = launch.memory.iter().find(|(of, _)| of == name) {
                told += 1;
                let shift = launch.shifts.iter().find(|(of, _)| of == name).map_or(0, |(_, shift)| *shift);
                let (tensor, from) = *first.entry(*memory).or_insert((at, shift));
                if tensor != at {
                    known.same.insert(at, tensor);
                }
                if shift != from {
                    known.shifts.insert(at, shift.saturating_sub(from));
                }
            }
        }
        known.apart = told == pointers;
        let at = |name: &String| {
            let mut arguments = (0u32..).zip(&program.arguments);
            arguments.find(|(_, argument)| argument.name.trim_start_matches('%') == name).map(|(at, _)| at)
        };
        known.views = launch.views.iter().filter_map(|(one, other, how)| Some((at(one)?, at(other)?, *how))).collect();
        known
    }

    /// Axes beside these along which it may have more than one program.
    pub(crate) fn further_axes(&self, axes: &[u8]) -> Vec<u8> {
        // Of a grid of which it gives some sizes the others are sizes as well.
        let any = self.given.contains(&true);
        (0..3).filter(|axis| any && self.grid[usize::from(*axis)].is_none() && !axes.contains(axis)).collect()
    }

    /// Whether some number that addresses may be made of is known.
    pub(crate) fn tells_sizes(&self) -> bool {
        !self.values.is_empty() || self.grid.iter().any(Option::is_some)
    }

    /// Whether it is all that there is to know: nothing about it has to be chosen.
    pub(crate) fn is_whole(&self, program: &Program) -> bool {
        let known = |(at, argument): (usize, &crate::program::Argument)| {
            (0..argument.rank).all(|dim| self.sizes.contains_key(&(at as u32, dim as u8)))
                && (argument.bits.is_none() || self.value(at as u32).is_some())
        };
        self.grid.iter().all(Option::is_some) && program.arguments.iter().enumerate().all(known)
    }

    /// How the host computes an argument, be it a number that stands alone.
    pub(crate) fn quantity(&self, argument: u32) -> Option<&Quantity> {
        self.quantities.get(&argument)
    }

    /// The value of an argument.
    pub(crate) fn value(&self, argument: u32) -> Option<i64> {
        self.values.get(&argument).copied()
    }
}
