//! What Gluon and Python bring along: a table of functions by module path, name and version.
//!
//! A row says how a function is called and from which release on until which; what it does is a function
//! of this room. Names that several modules export have one row, [`modules`] knows who exports what.

mod amd;
mod args;
mod async_copy;
mod constants;
mod core;
mod layouts;
mod mbarrier;
mod memory;
mod mma;
mod modules;
mod operand;
mod partitions;
pub mod python;
mod removed;
mod table;
pub mod tensor;
#[cfg(test)]
mod tests;
mod tma;

pub use args::{Args, Bound};
pub use layouts::descriptor_type;
pub use modules::canonical;
pub use partitions::check_partitions;
pub use removed::missing;
pub use table::{Fixed, NOTHING, Part, builtin, gone, lookup, member};

use super::interp::{Eval, Interp, Stop};
use super::spec::Version;
use super::value::Object;

/// Runs a builtin with its arguments in the order of its parameters.
pub type Run = for<'a> fn(&mut Interp<'a>, &Bound<'a>) -> Eval<'a>;

/// Makes an object of a class from the arguments of its constructor.
pub type Make = for<'a> fn(&mut Interp<'a>, &'static Class, &Bound<'a>) -> Eval<'a>;

/// The text of a layout as an attribute of the IR.
pub type Text = for<'a> fn(&Interp<'a>, &Object<'a>) -> Result<String, Stop>;

/// A function of the table.
pub struct Row {
    /// Full name: `gl.nvidia.hopper.tma.async_load`, `math.log2`, `len`; a method by its class:
    /// `shared_memory_descriptor.index`, with `self` first among the parameters. A computed attribute has
    /// an `@` before its name: `shared_memory_descriptor.@shape`. Classes are named by
    /// [`Value::class_name`](super::value::Value::class_name), Gluon's own by their full name.
    pub path: &'static str,
    /// Parameters as in Python: `smem, pointer, mask=None, *, pred=True`. `*args` and `**kwargs` collect.
    pub params: &'static str,
    /// The first release that has it in this form.
    pub since: Version,
    /// The last one; `None` for those that still do.
    pub until: Option<Version>,
    /// Whether it touches shared or tensor memory, or synchronises: where it cannot be followed, the kernel
    /// is not known.
    pub effect: bool,
    /// What it does.
    pub run: Run,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row({})", self.path)
    }
}

/// The parts of the table, one a file.
const PARTS: &[&Part] = &[
    &super::eval::PART,
    &constants::PART,
    &layouts::PART,
    &mbarrier::PART,
    &memory::PART,
    &tma::PART,
    &async_copy::PART,
    &mma::PART,
    &core::PART,
];

/// All parts: Gluon's memory and synchronisation, Python's own, the math of registers, AMD.
fn parts() -> impl Iterator<Item = &'static Part> {
    PARTS.iter().chain(&python::PARTS).chain(&tensor::PARTS).chain(&amd::PARTS).copied()
}

impl Row {
    /// A function that every release from 3.`since` on has.
    pub const fn new(path: &'static str, params: &'static str, since: u8, run: Run) -> Row {
        Row { path, params, since: Version(3, since), until: None, effect: false, run }
    }

    /// The same for one that touches memory or synchronises.
    pub const fn effect(path: &'static str, params: &'static str, since: u8, run: Run) -> Row {
        Row { path, params, since: Version(3, since), until: None, effect: true, run }
    }

    /// A function that 3.`minor` had last.
    pub const fn until(mut self, minor: u8) -> Row {
        self.until = Some(Version(3, minor));
        self
    }

    /// Whether a release has it.
    pub fn has(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }

    /// Runs it on arguments as they were written.
    pub fn call<'a>(&'static self, interp: &mut Interp<'a>, args: Args<'a>) -> Eval<'a> {
        let result = Bound::bind(interp, self.what(), self.params, args).and_then(|bound| (self.run)(interp, &bound));
        if self.effect
            && let Err(Stop::Unknown(_, reason)) = &result
        {
            let reason = reason.to_string();
            interp.unmodelled(reason);
        }
        result
    }

    /// The name a reader of Python would use: the last two parts of the path.
    pub fn what(&self) -> &'static str {
        let start = self.path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
        &self.path[start..]
    }
}

/// A class that Gluon defines: layouts and the like.
pub struct Class {
    /// Full name: `gl.NVMMASharedLayout`.
    pub path: &'static str,
    /// Parameters of its constructor, which also are its fields.
    pub params: &'static str,
    /// Checks and completes what the constructor was given; the fields come in the order of `params`.
    pub make: Make,
    /// The text of an object, for layouts of shared and tensor memory.
    pub text: Option<Text>,
    /// The first release that has it.
    pub since: Version,
    /// The full name of the class that it extends, or that is its kind (`gl.SharedLayout`); may be empty.
    pub base: &'static str,
}

impl Class {
    /// Whether a release has it.
    pub fn has(&self, version: Version) -> bool {
        self.since <= version
    }
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Class({})", self.path)
    }
}

impl Class {
    /// A class that every release from 3.`since` on has, whose objects have the fields that its constructor
    /// was given, or what `defaults` says.
    pub const fn new(path: &'static str, params: &'static str, base: &'static str, since: u8, make: Make) -> Class {
        Class { path, params, make, text: None, since: Version(3, since), base }
    }

    /// With this text in the IR.
    pub const fn text(mut self, text: Text) -> Class {
        self.text = Some(text);
        self
    }

    /// Makes an object from arguments as they were written.
    pub fn call<'a>(&'static self, interp: &mut Interp<'a>, args: Args<'a>) -> Eval<'a> {
        let name = self.path.rsplit('.').next().unwrap_or(self.path);
        let bound = Bound::bind(interp, name, self.params, args)?;
        (self.make)(interp, self, &bound)
    }

    /// Whether an object of this class is an instance of another, by its full name.
    pub fn is_a(&self, other: &str) -> bool {
        self.path == other || self.base == other || table::class(self.base).is_some_and(|base| base.is_a(other))
    }
}
