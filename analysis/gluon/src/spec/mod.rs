//! A specialisation: what a kernel is launched with, as far as it shapes the kernel, and where it comes from.
//!
//! [`entries`] finds the kernels of a file, [`instances`] what each is analysed with. Values come, the
//! surest first, from `# fencepost:` lines above the kernel, the recipe of a compiled kernel, launches that
//! the host code around it makes, defaults, the configuration, and small chosen values.

mod cache;
mod chosen;
mod config;
mod directive;
mod discover;
mod entries;
mod instances;
mod memo;
mod site;
mod survey;
#[cfg(test)]
mod tests;
mod usage;
mod words;

pub use cache::recipe;
pub use config::Config;
pub use directive::{Directive, directives, given};
pub use entries::{Entry, Param, entries};
pub use instances::{Instance, Instances, Note, Recipe, instances, stray};
pub use memo::Memo;
pub use site::{Handed, Site};
pub use usage::Use;

/// What a kernel is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// NVIDIA, by compute capability: 80, 90, 100.
    Cuda(u32),
    /// AMD, CDNA 3 (`gfx942`).
    Gfx942,
    /// AMD, CDNA 4 (`gfx950`).
    Gfx950,
    /// AMD, CDNA 5 (`gfx1250`).
    Gfx1250,
}

impl Target {
    /// `sm_90`, `90`, `cuda:90`, `gfx950`.
    pub fn named(name: &str) -> Option<Target> {
        match name {
            "gfx942" => Some(Target::Gfx942),
            "gfx950" => Some(Target::Gfx950),
            "gfx1250" => Some(Target::Gfx1250),
            _ => {
                let digits = name.strip_prefix("sm_").or_else(|| name.strip_prefix("cuda:")).unwrap_or(name);
                digits.trim_end_matches('a').parse().ok().map(Target::Cuda)
            }
        }
    }

    /// `sm_90`, `gfx950`.
    pub fn name(self) -> String {
        match self {
            Target::Cuda(capability) => format!("sm_{capability}"),
            Target::Gfx942 => "gfx942".to_owned(),
            Target::Gfx950 => "gfx950".to_owned(),
            Target::Gfx1250 => "gfx1250".to_owned(),
        }
    }

    /// `ttg.target`: `cuda:90`, `hip:gfx950`.
    pub fn ir(self) -> String {
        match self {
            Target::Cuda(capability) => format!("cuda:{capability}"),
            _ => format!("hip:{}", self.name()),
        }
    }

    /// Threads of a warp.
    pub fn lanes(self) -> u32 {
        if matches!(self, Target::Gfx942 | Target::Gfx950) { 64 } else { 32 }
    }
}

/// A release of Triton: 3.9.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Version(pub u8, pub u8);

impl Default for Version {
    fn default() -> Version {
        Version(3, 9)
    }
}

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
    /// Its arguments, as Python expressions; parameters that are left out are not known.
    pub arguments: Vec<(String, String)>,
    /// Which of its launches of the kernel is meant, from 0; its arguments are taken where
    /// [`Spec::arguments`] has none.
    pub launch: u32,
}
