//! A specialisation: what a kernel is launched with, as far as it shapes the kernel.

use std::sync::Arc;

use base::Quantity;

use crate::target::{Target, Version};

/// What one parameter is given.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// A constexpr, as a Python expression in the scope of the kernel's file, in which `gl` and Triton's
    /// dtype names are known as well.
    Value(String),
    /// A type, in the notation of Triton's signatures: `*fp16`, `i32`, `i32:16` (divisible by 16),
    /// `tensordesc<fp16[128, 64],NVMMASharedLayout(…)>`, `tensordesc_im2col<…>`; without a layout the
    /// default one. `(…, …)` for a tuple.
    Type(String),
}

/// The language that a kernel is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Language {
    /// Gluon: `@gluon.jit`. Tensors have layouts, memory and barriers are the program's own.
    #[default]
    Gluon,
    /// Plain Triton: `@triton.jit`. Tensors have no layouts, and the module says nothing of warps and CTAs.
    Triton,
}

impl Language {
    /// `Gluon`, `Triton`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Gluon => "Gluon",
            Language::Triton => "Triton",
        }
    }
}

/// Where a value of a specialisation comes from, the surest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Source {
    Command,
    Directive,
    Cache,
    Launch,
    Default,
    Configuration,
    Chosen,
}

/// One argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Argument {
    /// The parameter.
    pub name: String,
    /// What it is given.
    pub given: Given,
    /// Who says so.
    pub source: Source,
}

/// A specialisation of one kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// Where the kernel's statement starts in the file's source, decorators included: names may repeat.
    pub def: u32,
    /// The language that the kernel is written in.
    pub language: Language,
    /// One for every parameter that has one; the others keep their defaults.
    pub arguments: Vec<Argument>,
    /// A kernel that is defined inside a host function: how to get there.
    pub host: Option<Host>,
    /// What it is compiled for, and who says so.
    pub target: (Target, Source),
    /// Which Triton.
    pub version: Version,
    /// Warps of the default partition, and who says so.
    pub num_warps: (u32, Source),
    /// CTAs of a cluster, and who says so.
    pub num_ctas: (u32, Source),
}

impl Spec {
    /// Moves it to another text of the file, in which what stood at an offset stands at its `place`.
    pub fn shift(&mut self, place: &dyn Fn(u32) -> u32) {
        self.def = place(self.def);
        if let Some(host) = self.host.as_mut().filter(|host| host.file.is_none()) {
            host.def = place(host.def);
        }
    }

    /// Whether `now` is this one, [shifted](Self::shift).
    pub fn is_shifted(&self, now: &Spec, place: &dyn Fn(u32) -> u32) -> bool {
        let Spec { def, language, arguments, host, target, version, num_warps, num_ctas } = self;
        let same_host = match (host, &now.host) {
            (None, None) => true,
            (Some(host), Some(now)) => {
                let Host { file, def, case, ways, assumed, arguments, launch } = host;
                let def = if file.is_none() { place(*def) } else { *def };
                (file, def, case, ways, assumed, arguments, launch)
                    == (&now.file, now.def, &now.case, &now.ways, &now.assumed, &now.arguments, &now.launch)
            }
            _ => false,
        };
        same_host
            && (place(*def), language, target, version, num_warps, num_ctas)
                == (now.def, &now.language, &now.target, &now.version, &now.num_warps, &now.num_ctas)
            && *arguments == now.arguments
    }
}

/// The host function around a nested kernel, and what it is called with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Host {
    /// The file it is in, where that is not the kernel's: its path as the sources spell it.
    pub file: Option<String>,
    /// Where its statement starts in the file's source.
    pub def: u32,
    /// Which of the calls that its tests and loops make of it, from 0: parametrised values and fixtures,
    /// in a fixed order; `None` where `arguments` says all that is known.
    pub case: Option<u32>,
    /// Which ways it takes at its first conditions that are not known; the likelier ones at the others.
    pub ways: Vec<bool>,
    /// Whether sizes that the host code does not know are assumed there.
    pub assumed: bool,
    /// Its arguments, as Python expressions; parameters that are left out are not known.
    pub arguments: Vec<(String, String)>,
    /// Which of its launches of the kernel is meant, from 0; its arguments are taken where
    /// [`Spec::arguments`] has none.
    pub launch: u32,
}

/// What one launch gives a kernel, beside what shapes the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchFacts {
    /// Programs along x, y and z, each where it is known.
    pub grid: [Option<u64>; 3],
    /// What is known of each parameter that it gives a value, in the order of the parameters; constexprs too.
    pub arguments: Vec<ArgumentFacts>,
    /// Programs along x, y and z, as far as the host code computes them from what is not known.
    pub programs: [Option<Quantity>; 3],
    /// Numbers without a formula that are strides of tensors which may lie densely, and what they are then.
    pub dense: Vec<(u32, Quantity)>,
    /// Pairs of tensors of which neither all is known, and that are of one storage or may be, where it is not known of both
    /// where they lie in it.
    pub shared: Vec<(String, String, Shared)>,
}

/// How two tensors of one storage lie in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shared {
    /// They have nothing in common.
    Apart,
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
    /// Of a tensor: elements between neighbours along each dimension, outermost first, where they are known.
    pub strides: Option<Vec<i64>>,
    /// Of a tensor of integers: its elements, where the host code makes them concretely and nothing has written them
    /// since.
    pub contents: Option<Contents>,
    /// Of an integer or a truth value: the value, where the launch gives it concretely.
    pub value: Option<i64>,
    /// Of an integer: how the host code computes it from what is not known.
    pub quantity: Option<Quantity>,
    /// What divides it, by Triton's rule: 16 for an integer, or a tensor's address in bytes, of which that is known;
    /// 1 otherwise.
    pub divisibility: u32,
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
    /// How many elements a tensor has at most whose elements are of interest.
    pub const MOST: u64 = crate::limits::contents::MOST;

    /// The first `count` elements; `None` where there are fewer, or more than [`Contents::MOST`].
    pub fn elements(&self, count: u64) -> Option<Arc<[i64]>> {
        let count = usize::try_from(count).ok().filter(|_| count <= Contents::MOST)?;
        match self {
            Contents::Fill(value) => Some(vec![*value; count].into()),
            Contents::Range { start, step } => {
                (0..count as i64).map(|at| start.checked_add(at.checked_mul(*step)?)).collect()
            }
            Contents::List(all) => Some(all.get(..count)?.into()),
        }
    }
}

/// What a launch hands to one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Handed {
    /// An integer or a truth value.
    Int(i64),
    /// A float.
    Float(f64),
    /// A tensor, or the one behind a descriptor.
    Tensor {
        /// Torch's name of the element type.
        dtype: String,
        /// Elements, outermost first.
        shape: Vec<u64>,
        /// In elements, where it is not dense.
        strides: Option<Vec<u64>>,
    },
    /// Anything else, as a Python expression in the scope of the kernel's file.
    Python(String),
}
