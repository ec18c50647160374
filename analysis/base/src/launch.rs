//! What is known of the launch of a kernel.

use std::sync::Arc;

use crate::Quantity;
use crate::condition::Condition;

/// What one launch gives a kernel, beside what shapes the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchFacts {
    /// Programs along x, y and z, each where it is known.
    pub grid: [Option<u64>; 3],
    /// What is known of each parameter that it gives a value, in the order of the parameters; constexprs too.
    pub arguments: Vec<ArgumentFacts>,
    /// Programs along x, y and z, as far as the host code computes them from what is not known.
    pub programs: [Option<Quantity>; 3],
    /// Pairs of tensors of which neither all is known, and that are of one storage or may be, where it is not known of both
    /// where they lie in it.
    pub shared: Vec<(String, String, Shared)>,
    /// Whether it is what several launches have in common, none of which is known by itself.
    pub several: bool,
    /// What holds of its numbers, as far as arguments and programs are made of them: host code took ways on which that is so.
    pub conditions: Vec<Condition>,
}

impl LaunchFacts {
    /// Whether another launch is the same but for what holds of its numbers.
    pub fn is_like(&self, other: &LaunchFacts) -> bool {
        let LaunchFacts { arguments, grid, programs, shared, several, conditions: _ } = self;
        (grid, several) == (&other.grid, &other.several)
            && (programs, shared) == (&other.programs, &other.shared)
            && *arguments == other.arguments
    }
}

/// How two tensors of one storage lie in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shared {
    /// They have nothing in common.
    Apart,
    /// They are one tensor.
    One,
    /// They may have.
    Parts,
    /// They are one tensor unless a conversion has made a copy.
    OneOrCopy,
    /// They may have something in common unless a conversion has made a copy.
    PartsOrCopy,
}

/// What is known of one argument of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentFacts {
    /// The parameter.
    pub name: String,
    /// Of a tensor, or a descriptor of one: which memory. Two arguments of a launch with the same number are of one
    /// storage; with different numbers they are apart. `None` of what is no tensor, and where it is not known.
    pub memory: Option<u32>,
    /// Of a tensor: bytes from the start of its storage to its first element, where that is known.
    pub offset: Option<i64>,
    /// Of a tensor: its element type in the notation of signatures (`fp16`), where that is known.
    pub element: Option<String>,
    /// Of a tensor: elements along each dimension, outermost first, each where it is known; `None` where their number
    /// is not.
    pub shape: Option<Vec<Option<u64>>>,
    /// Of a tensor that lies densely, from its first element on: its sizes, where the host code makes it with such.
    pub sizes: Option<Vec<Quantity>>,
    /// Of a tensor: elements between neighbours along each dimension, outermost first, where they are known.
    pub strides: Option<Vec<i64>>,
    /// Of a tensor of integers: its elements, where the host code makes them concretely and nothing has written them
    /// since.
    pub contents: Option<Contents>,
    /// Of an integer or a truth value: the value, where the launch gives it concretely.
    pub value: Option<i64>,
    /// Of an integer: how the host code computes it from what is not known.
    pub quantity: Option<Quantity>,
    /// Of a truth value: when it holds.
    pub condition: Option<Condition>,
    /// What divides it, by Triton's rule: 16 for an integer, or a tensor's address in bytes, of which that is known;
    /// 1 otherwise.
    pub divisibility: u32,
}

impl ArgumentFacts {
    /// Whether nothing is known that tells what it is.
    pub fn is_open(&self) -> bool {
        self.memory.is_none() && self.value.is_none() && self.quantity.is_none()
    }
}

/// The elements of a tensor of integers, in the order in which they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// All the same.
    Fill(i64),
    /// Each by `step` more than the one before.
    Range {
        /// The first one.
        start: i64,
        /// What is between neighbours.
        step: i64,
    },
    /// One by one.
    List(Arc<[i64]>),
}

impl Contents {
    /// The first `count` elements; `None` where there are fewer.
    pub fn elements(&self, count: u64) -> Option<Arc<[i64]>> {
        let count = usize::try_from(count).ok()?;
        match self {
            Contents::Fill(value) => Some(vec![*value; count].into()),
            Contents::Range { start, step } => {
                (0..count as i64).map(|at| start.checked_add(at.checked_mul(*step)?)).collect()
            }
            Contents::List(all) => Some(all.get(..count)?.into()),
        }
    }
}
