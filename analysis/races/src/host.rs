//! How the numbers of a launch hang together that it does not give: the host computes a grid, a stride or the length of a
//! block from sizes, and no launch has others.

use std::collections::{BTreeMap, BTreeSet};

use base::{Operation, Quantity};
use rustc_hash::FxHashMap;

use crate::limits::choose::{LARGEST, SCANNED, SMALL};
use crate::program::Program;
use crate::prove::{Count, Poly};
use crate::run::Setting;
use terms::{BinOp, Node, Variable};

/// Sizes of one tensor that are no two alike.
const UNLIKE: [i64; 6] = [2, 3, 4, 6, 8, 12];

/// The same, of which none is a multiple of 2.
const ODD: [i64; 6] = [3, 5, 7, 9, 11, 13];

/// The same, farther apart.
const FAR: [i64; 6] = [1, 4, 16, 2, 8, 32];

/// What sizes are multiplied with that are neither a few nor many blocks.
const SOME: i64 = 16;

/// What is known of how a launch's numbers are computed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// By argument.
    arguments: BTreeMap<u32, Quantity>,
    /// Programs along each axis.
    pub(crate) programs: [Option<Quantity>; 3],
    /// Between what a number lies, so that the constants which were chosen are what the host computes.
    bounds: BTreeMap<u32, (i64, i64)>,
    /// Those of which a constant is a power of two that is no less: the numbers themselves are any.
    under_powers: BTreeSet<u32>,
    /// Sizes by what they are of.
    groups: BTreeMap<u32, BTreeSet<u32>>,
    /// Axes along which there are as many programs as sizes say that may be any.
    sized: [bool; 3],
}

/// What a launch says of its numbers.
pub(crate) struct Given<'l> {
    pub(crate) values: &'l [(String, i64)],
    pub(crate) grid: [Option<i64>; 3],
    pub(crate) quantities: &'l [(String, Quantity)],
    pub(crate) programs: &'l [Option<Quantity>; 3],
    pub(crate) constants: &'l [(i64, Quantity)],
}

/// Values of numbers without a formula.
pub(crate) type Numbers = BTreeMap<u32, i64>;

impl Host {
    pub(crate) fn new(launch: &Given<'_>, program: &Program) -> Host {
        let mut host = Host::default();
        for (at, argument) in (0u32..).zip(&program.arguments).filter(|(_, argument)| argument.bits.is_some()) {
            let name = argument.name.trim_start_matches('%');
            let given = launch.values.iter().any(|(of, _)| of == name);
            if let Some((_, quantity)) = launch.quantities.iter().find(|(of, _)| of == name && !given) {
                host.arguments.insert(at, quantity.clone());
            }
        }
        for ((own, programs), known) in host.programs.iter_mut().zip(launch.programs).zip(launch.grid) {
            *own = programs.clone().filter(|_| known.is_none());
        }
        host.sized = host.programs.each_ref().map(|programs| {
            let mut free = programs.is_some();
            programs.iter().for_each(|quantity| quantity.unknowns(&mut |_, of| free &= of.is_some()));
            free
        });
        for (value, quantity) in launch.constants {
            let mut numbers = BTreeSet::new();
            quantity.unknowns(&mut |number, _| {
                numbers.insert(number);
            });
            if let (Some(number), 1, true) = (numbers.first(), numbers.len(), quantity.rises())
                && let Some((low, high)) = quantity.numbers_of(*value, SCANNED)
            {
                let known = host.bounds.entry(*number).or_insert((low, high));
                *known = (known.0.max(low), known.1.min(high));
                if matches!(quantity, Quantity::Made(Operation::PowerOfTwo, _)) {
                    host.under_powers.insert(*number);
                }
            }
        }
        // Two constants that were chosen apart need not fit together.
        host.bounds.retain(|_, (low, high)| low <= high);
        host.forget_what_stands_alone();
        let mut groups: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for quantity in host.arguments.values().chain(host.programs.iter().flatten()) {
            quantity.unknowns(&mut |number, of| {
                if let Some(of) = of {
                    groups.entry(of).or_default().insert(number);
                }
            });
        }
        host.groups = groups;
        host
    }

    /// A number that is met once, as it is, says nothing.
    fn forget_what_stands_alone(&mut self) {
        let mut met: BTreeMap<u32, u32> = self.bounds.keys().map(|number| (*number, 1)).collect();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            quantity.unknowns(&mut |number, _| *met.entry(number).or_default() += 1);
        }
        // Of a tensor of which one size tells something all do: no two of them need be alike.
        let mut telling = BTreeSet::new();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            let alone = matches!(quantity, Quantity::Unknown { .. });
            quantity.unknowns(&mut |number, of| {
                if !alone || met.get(&number).is_some_and(|count| *count > 1) {
                    telling.extend(of);
                }
            });
        }
        let tells = |quantity: &Quantity| match quantity {
            Quantity::Unknown { id, of } => {
                met.get(id).is_some_and(|count| *count > 1) || of.is_some_and(|of| telling.contains(&of))
            }
            _ => true,
        };
        self.arguments.retain(|_, quantity| tells(quantity));
        for programs in &mut self.programs {
            *programs = programs.take().filter(tells);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.programs.iter().all(Option::is_none)
    }

    /// How many programs there are along each axis, as far as arguments say it.
    pub(crate) fn counts(&self, program: &mut Program) -> Vec<(u8, Count)> {
        let mut all = Vec::new();
        for (axis, quantity) in (0u8..).zip(&self.programs) {
            let Some(quantity) = quantity else { continue };
            match self.in_arguments(quantity, program) {
                Some(count) => all.push((axis, Count::Exactly(count))),
                None => self.no_more(quantity, program, &mut |most| all.push((axis, Count::AtMost(most)))),
            }
        }
        all
    }

    /// How many programs there are along an axis where a factor of that number is 1 that is a size which the kernel is told
    /// nothing of, or has no use for: of a grid of `batch·heads` the heads.
    pub(crate) fn of_one_batch(&self, axis: u8, program: &mut Program) -> Option<Poly> {
        let Quantity::Made(Operation::Mul, parts) = self.programs.get(usize::from(axis))?.as_ref()? else {
            return None;
        };
        let untold = |quantity: &Quantity| {
            let &Quantity::Unknown { id, of: Some(_) } = quantity else { return false };
            let mut told = self.bounds.contains_key(&id);
            let others = self.programs.iter().enumerate().filter(|(other, _)| *other != usize::from(axis));
            let others = others.filter_map(|(_, programs)| programs.as_ref());
            let arguments = self.arguments.iter().filter(|(argument, _)| program.uses(**argument));
            for other in arguments.map(|(_, other)| other).chain(others) {
                other.unknowns(&mut |other, _| told |= other == id);
            }
            !told
        };
        let rest = if untold(&parts.0) { &parts.1 } else { Some(&parts.0).filter(|_| untold(&parts.1))? };
        self.in_arguments(rest, program)
    }

    /// What a quantity is not above.
    fn no_more(&self, quantity: &Quantity, program: &mut Program, each: &mut dyn FnMut(Poly)) {
        let Quantity::Made(Operation::Min, parts) = quantity else { return };
        for part in [&parts.0, &parts.1] {
            match self.in_arguments(part, program) {
                Some(most) => each(most),
                None => self.no_more(part, program, each),
            }
        }
    }

    /// A quantity as a sum of products of arguments.
    fn in_arguments(&self, quantity: &Quantity, program: &mut Program) -> Option<Poly> {
        if let Quantity::Known(value) = quantity {
            return Some(Poly::constant((*value).into()));
        }
        let mut own = self.arguments.iter().filter(|(_, other)| *other == quantity);
        if let Some((argument, _)) = own.next() {
            return Some(Poly::atom(program.terms.as_width(Variable::Argument(*argument), 0)));
        }
        if let Quantity::Unknown { id, .. } = quantity
            && let Some((low, high)) = self.bounds.get(id)
        {
            return (low == high).then(|| Poly::constant((*low).into()));
        }
        let Quantity::Made(op, parts) = quantity else { return None };
        let (a, b) = (self.in_arguments(&parts.0, program)?, self.in_arguments(&parts.1, program)?);
        match op {
            Operation::Add => Some(a.plus(&b, 1)),
            Operation::Sub => Some(a.minus(&b)),
            Operation::Mul => a.times(&b),
            _ => None,
        }
    }

    /// How an argument is computed.
    pub(crate) fn of(&self, argument: u32) -> Option<&Quantity> {
        self.arguments.get(&argument)
    }

    /// Arguments that are computed as earlier ones are, and which: each is that number.
    pub(crate) fn same(&self) -> FxHashMap<u32, u32> {
        let mut first: FxHashMap<&Quantity, u32> = FxHashMap::default();
        let mut same = FxHashMap::default();
        for (argument, quantity) in &self.arguments {
            let own = *first.entry(quantity).or_insert(*argument);
            if own != *argument {
                same.insert(*argument, own);
            }
        }
        same
    }

    /// The number without a formula that an argument is.
    pub(crate) fn number(&self, argument: u32) -> Option<u32> {
        match self.of(argument)? {
            Quantity::Unknown { id, .. } if !self.bounds.contains_key(id) => Some(*id),
            _ => None,
        }
    }

    /// Says of each access between what arguments lie.
    pub(crate) fn bound(&self, program: &mut Program) {
        for (argument, quantity) in &self.arguments {
            let Quantity::Unknown { id, .. } = quantity else { continue };
            let (Some((low, high)), Some(bits)) =
                (self.bounds.get(id), program.arguments.get(*argument as usize).and_then(|argument| argument.bits))
            else {
                continue;
            };
            let terms = &mut program.terms;
            let value = terms.variable(Variable::Argument(*argument), bits);
            let (low, high) = (terms.int(*low, bits), terms.int(*high, bits));
            let (above, below) = (terms.binary(BinOp::Sle, low, value), terms.binary(BinOp::Sle, value, high));
            let holds = terms.and(above, below);
            for access in &mut program.accesses {
                access.path = program.terms.and(access.path, holds);
            }
        }
    }

    /// Numbers of about a size: the first, the second or the third choice.
    pub(crate) fn numbers(&self, size: i64, choice: usize) -> Numbers {
        let mut numbers = Numbers::new();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            quantity.unknowns(&mut |number, _| {
                numbers.insert(number, size);
            });
        }
        for (number, value) in &mut numbers {
            if let Some((low, high)) = self.bounds.get(number) {
                *value = match choice {
                    0 => *high,
                    1 => low + (high - low) / 8 * 5,
                    _ => *low,
                };
            }
        }
        numbers
    }

    /// Choices of sizes for each tensor of which some are free, no two of them alike: rising and falling, each as small
    /// numbers and as multiples of a block.
    pub(crate) fn orders(&self, block: i64) -> Vec<[Numbers; 2]> {
        let mut all = Vec::new();
        for group in self.groups.values().filter(|group| group.len() <= UNLIKE.len()) {
            all.push([1, block].map(|scale| self.ordered(group, &UNLIKE, scale, false)));
            if group.len() > 1 {
                all.push([1, block].map(|scale| self.ordered(group, &UNLIKE, scale, true)));
            }
        }
        all
    }

    /// Sizes that may be any, and are no multiple of anything.
    pub(crate) fn ragged(&self, size: i64) -> Numbers {
        let mut numbers = Numbers::new();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            quantity.unknowns(&mut |number, of| {
                let bounds = self.bounds.get(&number);
                if of.is_some() || (bounds.is_some() && self.under_powers.contains(&number)) {
                    numbers.insert(number, bounds.map_or(size, |(low, high)| low + (high - low) / 8 * 5));
                }
            });
        }
        numbers
    }

    /// Sizes of which one is as small as it can be: one that nothing else is a size of the same tensor as, or that a formula
    /// has beside sizes of other tensors. What else sizes of several tensors have to do with each other is not known.
    pub(crate) fn one_small(&self, sizes: &Numbers) -> Vec<Numbers> {
        let mut mixed = BTreeSet::new();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            if self.tensors(quantity).len() > 1 {
                mixed.extend(self.free_in(quantity));
            }
        }
        let alone = |number: &u32| self.groups.values().any(|group| group.len() == 1 && group.contains(number));
        let small = sizes
            .keys()
            .filter(|number| !self.bounds.contains_key(number) && (alone(number) || mixed.contains(number)));
        small
            .take(SMALL)
            .map(|number| sizes.iter().map(|(of, value)| (*of, if of == number { 1 } else { *value })).collect())
            .collect()
    }

    /// The same where all numbers are sizes of one tensor, and such that no two of them are alike: how sizes of several
    /// tensors hang together the host need not say.
    ///
    /// Beside each, whether its numbers are small ones.
    pub(crate) fn all_ragged(&self, size: i64) -> Vec<(Numbers, bool)> {
        let same = self.ragged(size);
        // Of which one is even.
        let both = vec![(same.clone(), false), (self.ragged(size + 1), false)];
        // Sizes of several tensors are all alike here, as far as they may be: then those are which the host takes for one.
        let Some(group) = self.only_group() else {
            let known = self.numbers(1, 0).keys().all(|number| same.contains_key(number));
            return if known { both } else { Vec::new() };
        };
        // A size that strides alone are made of may be the length of a block, a constant that says so nowhere.
        let mut plain = BTreeSet::new();
        for quantity in self.arguments.values().chain(self.programs.iter().flatten()) {
            if !matches!(quantity, Quantity::Stride { .. }) {
                quantity.unknowns(&mut |number, _| {
                    plain.insert(number);
                });
            }
        }
        let mut all = both;
        let orders = [(SOME, &UNLIKE), (1, &UNLIKE), (1, &ODD)];
        for (scale, steps, falls) in
            orders.into_iter().flat_map(|(scale, steps)| [(scale, steps, false), (scale, steps, true)])
        {
            if (2..=UNLIKE.len()).contains(&group.len()) {
                let mut unlike = same.clone();
                let own = self.ordered(group, steps, scale, falls);
                unlike.extend(own.into_iter().filter(|(of, _)| plain.contains(of)));
                all.push((unlike, scale == 1));
            }
        }
        all
    }

    /// The sizes of the one tensor of which all numbers are that are not known.
    fn only_group(&self) -> Option<&BTreeSet<u32>> {
        let mut groups = self.groups.values();
        let (Some(group), None) = (groups.next(), groups.next()) else { return None };
        self.numbers(1, 0).keys().all(|number| group.contains(number)).then_some(group)
    }

    fn ordered(&self, group: &BTreeSet<u32>, steps: &[i64; 6], scale: i64, falls: bool) -> Numbers {
        let count = group.len();
        let nth = |at: usize| if falls { count - 1 - at } else { at };
        let value = |(at, number): (usize, &u32)| match self.bounds.get(number) {
            Some((low, high)) => (*number, low + (high - low) / 8 * 5),
            None => (*number, steps.get(nth(at)).copied().unwrap_or(2) * scale),
        };
        group.iter().enumerate().map(value).collect()
    }

    /// Sizes to run with, where all numbers that are not known are sizes of one tensor: how those of several hang together
    /// the host need not say.
    pub(crate) fn unlike(&self, block: i64) -> Vec<Numbers> {
        let Some(group) = self.only_group().filter(|group| group.len() <= UNLIKE.len()) else { return Vec::new() };
        let mut all = Vec::new();
        for scale in [1, SOME, block] {
            for steps in [&UNLIKE, &FAR] {
                all.push(self.ordered(group, steps, scale, false));
                if group.len() > 1 {
                    all.push(self.ordered(group, steps, scale, true));
                }
            }
        }
        all
    }

    /// The same launch with sizes that are multiples of the blocks which the host divides them into, and some others that
    /// are multiples of a block; `None` where they are already.
    pub(crate) fn in_whole_blocks(&self, setting: &Setting, others: &BTreeSet<u32>, block: i64) -> Option<Setting> {
        let mut numbers = setting.numbers.clone();
        for quantity in self.programs.iter().flatten() {
            quantity.whole_blocks(&mut |number, block| {
                if let Some(value) = numbers.get_mut(&number).filter(|_| !self.bounds.contains_key(&number)) {
                    *value = value.saturating_add(block - 1) / block * block;
                }
            });
        }
        for (number, value) in numbers.iter_mut().filter(|(number, _)| others.contains(number)) {
            if !self.bounds.contains_key(number) {
                *value = value.saturating_add(block - 1) / block * block;
            }
        }
        self.with_numbers(setting, numbers)
    }

    /// The same launch with other numbers; `None` where they are the same.
    fn with_numbers(&self, setting: &Setting, numbers: Numbers) -> Option<Setting> {
        let mut made = setting.clone();
        self.apply(&numbers, &mut made, setting.grid)?;
        (numbers != setting.numbers).then_some(Setting { numbers, ..made })
    }

    /// The same launch where one tensor has the sizes of another one, each at its place or none smaller than any, unless it
    /// has them already.
    pub(crate) fn with_sizes_of(&self, setting: &Setting, own: u32, other: u32) -> Vec<Setting> {
        let (Some(own), Some(other)) = (self.groups.get(&own), self.groups.get(&other)) else { return Vec::new() };
        let free = |number: &&u32| !self.bounds.contains_key(*number);
        let value = |number: &u32| setting.numbers.get(number).copied();
        // Both are asked for in the order of their dimensions.
        let placed =
            own.iter().zip(other).filter(|(own, _)| free(own)).filter_map(|(own, of)| Some((*own, value(of)?)));
        let most = other.iter().filter_map(value).max();
        let large = own.iter().filter(free).filter_map(|own| Some((*own, most?)));
        let with = |sizes: Numbers| {
            let mut numbers = setting.numbers.clone();
            numbers.extend(sizes);
            self.with_numbers(setting, numbers)
        };
        [placed.collect(), large.collect()].into_iter().filter_map(with).collect()
    }

    /// Numbers of which a quantity is made that may be any.
    pub(crate) fn free_in(&self, quantity: &Quantity) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        quantity.unknowns(&mut |number, _| {
            if !self.bounds.contains_key(&number) {
                all.insert(number);
            }
        });
        all
    }

    /// Tensors of whose sizes a quantity is made.
    pub(crate) fn tensors(&self, quantity: &Quantity) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        quantity.unknowns(&mut |_, of| all.extend(of));
        all
    }

    /// Tensors whose sizes say how many programs there are, or are some numbers.
    pub(crate) fn counting(&self, numbers: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut all: BTreeSet<u32> = self.programs.iter().flatten().flat_map(|of| self.tensors(of)).collect();
        let own = self.groups.iter().filter(|(_, group)| !group.is_disjoint(numbers));
        all.extend(own.map(|(of, _)| *of));
        all
    }

    /// Whether it is known of each argument that bounds something how it is computed, or what it is. Sizes of descriptors
    /// are not told by those of their tensor.
    pub(crate) fn tells_bounds(&self, program: &Program, known: &FxHashMap<u32, i64>) -> bool {
        let conditions = program.accesses.iter().flat_map(|access| [access.offset, access.mask, access.path]);
        let is_size = |node: &Node| matches!(node, Node::Variable(Variable::DescriptorSize(..), _));
        if conditions.clone().any(|term| program.terms.any_leaf(term, is_size)) {
            return false;
        }
        let conditions = program.accesses.iter().flat_map(|access| [access.mask, access.path]);
        let mut told = true;
        for term in conditions.chain(program.loops.iter().map(|of| of.condition)) {
            program.terms.leaves(term, &mut |node| {
                if let Node::Variable(Variable::Argument(at), _) = node {
                    told &= known.contains_key(at) || self.of(*at).is_some();
                }
            });
        }
        told
    }

    /// Whether it is known of each argument on which an address, a mask or a loop depends how it is computed, or what it is.
    pub(crate) fn tells_all(&self, program: &Program, known: &FxHashMap<u32, i64>) -> bool {
        let accesses = program.accesses.iter().flat_map(|access| [access.offset, access.mask, access.path]);
        let mut told = true;
        for term in accesses.chain(program.loops.iter().map(|of| of.condition)) {
            program.terms.leaves(term, &mut |node| match node {
                Node::Variable(Variable::Argument(at), _) => told &= known.contains_key(at) || self.of(*at).is_some(),
                Node::Variable(Variable::DescriptorSize(..), _) => told = false,
                _ => {}
            });
        }
        told
    }

    /// Whether there are as many programs along an axis as sizes say that may be any.
    pub(crate) fn is_sized(&self, axis: usize) -> bool {
        self.sized.get(axis) == Some(&true)
    }

    /// The largest size up to one with which each argument is a number of its type: a tensor of many dimensions has larger
    /// strides than its sizes show.
    pub(crate) fn fitting(&self, program: &Program, size: i64) -> i64 {
        let mut size = size;
        let fits = |size: i64| {
            let numbers = self.numbers(size, 0);
            self.arguments.iter().all(|(argument, quantity)| {
                let bits = program.arguments.get(*argument as usize).and_then(|argument| argument.bits).unwrap_or(64);
                let value = quantity.value(&|number| numbers.get(&number).copied());
                value.is_some_and(|value| bits >= 64 || bits <= 1 || value < 1i64 << (bits - 1))
            })
        };
        while size > 2 && !fits(size) {
            size /= 2;
        }
        size
    }

    /// Gives arguments and, where the host computes more than `most` of them, so many programs.
    pub(crate) fn apply(&self, numbers: &Numbers, setting: &mut Setting, most: [i64; 3]) -> Option<()> {
        let of = |number: u32| numbers.get(&number).copied();
        for (argument, quantity) in &self.arguments {
            let value = quantity.value(&of)?;
            if quantity.is_empty(&of) {
                return None;
            }
            setting.values.insert(Variable::Argument(*argument), value);
        }
        for ((count, quantity), most) in setting.grid.iter_mut().zip(&self.programs).zip(most) {
            if let Some(quantity) = quantity {
                *count = quantity.value(&of).filter(|count| *count > 0)?.min(most);
            }
        }
        Some(())
    }

    /// Makes the numbers of which a grid is computed large enough for so many programs, as far as they may be, and those
    /// that others divide larger than them.
    pub(crate) fn widen(&self, numbers: &mut Numbers, wanted: [i64; 3]) {
        for (quantity, wanted) in self.programs.iter().zip(wanted) {
            if let Some(quantity) = quantity {
                self.raise(quantity, wanted, numbers, &Numbers::new());
            }
        }
        // Of equal sizes each is in the others once: that is one row, and no two of them could meet.
        for quantity in self.arguments.values() {
            if matches!(quantity, Quantity::Made(Operation::FloorDiv, _)) {
                self.raise(quantity, 2, numbers, &Numbers::new());
            }
        }
    }

    fn is_free(&self, number: u32, fixed: &Numbers) -> bool {
        !fixed.contains_key(&number) && !self.bounds.contains_key(&number)
    }

    /// Whether a constant that was chosen says between what a number lies.
    pub(crate) fn is_bounded(&self, number: u32) -> bool {
        self.bounds.contains_key(&number)
    }

    /// Whether no constant that was chosen says what some arguments are, but for sizes that are given: constants are chosen
    /// one by one, and need not be what one launch has.
    pub(crate) fn leaves_free(&self, arguments: &[u32], given: &Numbers) -> bool {
        let mut free = true;
        for quantity in arguments.iter().filter_map(|argument| self.of(*argument)) {
            quantity
                .unknowns(&mut |number, _| free &= given.contains_key(&number) || !self.bounds.contains_key(&number));
        }
        free
    }

    /// Whether a quantity may be made larger.
    pub(crate) fn may_rise(&self, quantity: &Quantity, fixed: &Numbers) -> bool {
        let mut free = false;
        quantity.unknowns(&mut |number, _| free |= self.is_free(number, fixed));
        free
    }

    /// Makes a quantity no less than what is wanted; whether that can be. Numbers that are fixed stay.
    pub(crate) fn raise(&self, quantity: &Quantity, wanted: i64, numbers: &mut Numbers, fixed: &Numbers) -> bool {
        let mut own = Vec::new();
        quantity.unknowns(&mut |number, _| own.push(number));
        let Some(number) = own.into_iter().find(|number| self.is_free(*number, fixed)) else {
            return quantity.value(&|number| numbers.get(&number).copied()).is_some_and(|value| value >= wanted);
        };
        if matches!(quantity, Quantity::Unknown { .. }) {
            let value = numbers.entry(number).or_insert(wanted);
            *value = (*value).max(wanted);
            return true;
        }
        loop {
            match quantity.value(&|number| numbers.get(&number).copied()) {
                Some(value) if value >= wanted => return true,
                _ => {}
            }
            let value = numbers.entry(number).or_insert(1);
            *value = (*value).max(1).saturating_mul(2);
            if *value > LARGEST {
                return false;
            }
        }
    }
}
