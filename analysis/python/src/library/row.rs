//! A function that a library brings along: how it is called, which releases have it, and what it does.

use super::args::{Args, Bound};
use crate::interp::{Eval, Interp, Stop};
use crate::target::Version;

/// Runs a builtin with its arguments in the order of its parameters.
pub type Run = for<'a> fn(&mut Interp<'a>, &Bound<'a>) -> Eval<'a>;

/// A function of the table.
pub struct Row {
    /// Full name: `gl.nvidia.hopper.tma.async_load`, `math.log2`, `len`; a method by its class:
    /// `shared_memory_descriptor.index`, with `self` first among the parameters. A computed attribute has
    /// an `@` before its name: `shared_memory_descriptor.@shape`. Classes are named by
    /// [`Value::class_name`](crate::value::Value::class_name), Gluon's own by their full name.
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
