//! A class that a library brings along: layouts and the like.

use super::args::{Args, Bound};
use crate::interp::{Eval, Interp, Stop};
use crate::target::Version;
use crate::value::Object;

/// Makes an object of a class from the arguments of its constructor.
pub type Make = for<'a> fn(&mut Interp<'a>, &'static Class, &Bound<'a>) -> Eval<'a>;

/// The text of a layout as an attribute of the IR.
pub type Text = for<'a> fn(&Interp<'a>, &Object<'a>) -> Result<String, Stop>;

/// A class of a library: layouts and the like.
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
    /// The full names of all classes that it extends, the nearest first.
    pub bases: &'static [&'static str],
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
    pub const fn new(
        path: &'static str,
        params: &'static str,
        bases: &'static [&'static str],
        since: u8,
        make: Make,
    ) -> Class {
        Class { path, params, make, text: None, since: Version(3, since), bases }
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
        self.path == other || self.bases.contains(&other)
    }
}
