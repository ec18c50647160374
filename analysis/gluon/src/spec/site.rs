//! Launches as the host code makes them, whole: with the grid, and with the shapes of tensors.

use super::given::{plain, plain_given};
use super::{Argument, Entry, Given, Handed, Source};
use base::TextRange;
use python::host::{self, Launch};
use python::interp::Interp;
use python::origin::FileId;
use python::specialization::{ArgumentFacts, LaunchFacts};

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Where its call stands, in the kernel's own file.
    pub range: Option<TextRange>,
    /// Where the function starts that makes it, in that file.
    pub def: u32,
    /// Programs along x, y and z, where that is known.
    pub grid: Option<[u32; 3]>,
    /// What it hands over, by parameter.
    pub arguments: Vec<(String, Handed)>,
    /// Parameters of which it is not known what they are given.
    pub unknown: Vec<String>,
    /// What is known of it beside what shapes the kernel.
    pub facts: LaunchFacts,
    /// What shapes the kernel, as far as it is known: what tells which instances it launches.
    pub(super) given: Vec<Argument>,
    /// The same of what is taken from the launch itself, see [`Base::held`](super::instance::Base::held).
    pub(super) held: Vec<(String, u64)>,
}

/// What a launch says, made by the function at `def` of `file`.
pub(super) fn of<'a>(interp: &Interp<'a>, entry: &Entry, launch: &Launch<'a>, file: FileId, def: u32) -> Site {
    let own = launch.file == FileId(0) && file == FileId(0);
    let facts = launch.facts.clone();
    let (arguments, unknown, given, held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let range = own.then_some(launch.at);
    let mut site = Site { range, def, grid: launch.grid, arguments, unknown, facts, given, held };
    for param in &entry.params {
        let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
        match host::handed(interp, value) {
            Some(handed) => site.arguments.push((param.name.clone(), handed)),
            None => site.unknown.push(param.name.clone()),
        }
    }
    site
}

impl Site {
    /// Whether it launches an instance with these arguments: nothing that it gives is another, and what it gives twice
    /// is of one type.
    pub(super) fn launches(&self, arguments: &[Argument]) -> bool {
        let pointed = |name: &str| match &arguments.iter().find(|of| of.name == name)?.given {
            Given::Type(ty) if ty.starts_with('*') => Some(plain(ty)),
            _ => None,
        };
        let twice = |(at, one): (usize, &ArgumentFacts)| {
            let others = self.facts.arguments.get(at + 1..).unwrap_or_default();
            let same = others.iter().filter(|other| one.memory.is_some() && other.memory == one.memory);
            same.filter(|other| other.offset == one.offset && other.element == one.element).any(|other| {
                let (one, other) = (pointed(&one.name), pointed(&other.name));
                one.is_some() && other.is_some() && one != other
            })
        };
        if self.facts.arguments.iter().enumerate().any(twice) {
            return false;
        }
        let differs = |of: &Argument| {
            let own = self.given.iter().find(|given| given.name == of.name);
            of.source >= Source::Launch && own.is_some_and(|own| !same(&own.given, &of.given))
        };
        !arguments.iter().any(differs)
    }

    /// The same after its function has moved.
    pub(super) fn moved(&mut self, now: u32) {
        let by = i64::from(now) - i64::from(self.def);
        let shift = |at: u32| u32::try_from(i64::from(at) + by).unwrap_or(at);
        if let Some(range) = &mut self.range {
            *range = TextRange::new(shift(range.start), shift(range.end));
        }
        self.def = now;
    }
}

/// Whether two arguments give a kernel the same, what divides them left aside.
fn same(a: &Given, b: &Given) -> bool {
    a == b || plain_given(a) == plain_given(b)
}
