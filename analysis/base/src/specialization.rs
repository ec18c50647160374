//! A specialisation: what a kernel is launched with, as far as it shapes the kernel.

pub use crate::launch::{ArgumentFacts, Contents, LaunchFacts, Shared};
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
pub enum ValueSource {
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
    pub source: ValueSource,
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
    pub target: (Target, ValueSource),
    /// Which Triton.
    pub version: Version,
    /// Warps of the default partition, and who says so.
    pub num_warps: (u32, ValueSource),
    /// CTAs of a cluster, and who says so.
    pub num_ctas: (u32, ValueSource),
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
