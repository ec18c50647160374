//! What a kernel is analysed with: its instances, and what they are made of.

use std::sync::Arc;

use super::entries::{Entry, Param};
use super::launch_site::LaunchSite;
use super::{Argument, Given, Host, Spec, Target, ValueSource, Version};
use base::{Quantity, TextRange};
use python::host::Partly;
use python::specialization::LaunchFacts;

/// A kernel with all that shapes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What to elaborate.
    pub spec: Spec,
    /// What tells it from the other instances of its kernel: `num_buffers=2`; empty for the only one.
    pub label: String,
    /// All that was assumed and who says so, for a hint at the `def`.
    pub hint: String,
    /// The line that pins it: `# fencepost: num_buffers=2, …`.
    pub directive: String,
    /// The launches that were found of it; none where its arguments come from elsewhere.
    pub launches: Arc<[LaunchFacts]>,
}

impl Instance {
    /// Whether one of the launches may be with these arguments in place of the instance's; none may where host code
    /// compared on its way to each what these have otherwise.
    pub fn may_be_launched_with(&self, arguments: &[Argument]) -> bool {
        self.launches.is_empty() || !self.launches.iter().all(|launch| excludes(launch, arguments))
    }
}

/// Whether host code took to hold on its way to a launch what does not hold of these arguments.
pub(super) fn excludes(launch: &LaunchFacts, arguments: &[Argument]) -> bool {
    let given = |name: &str| match &arguments.iter().find(|of| of.name == name)?.given {
        Given::Value(text) => text.parse::<i64>().ok(),
        Given::Type(_) => None,
    };
    let value = |quantity: &Quantity| {
        let told = launch.arguments.iter().filter(|of| of.quantity.as_ref() == Some(quantity));
        quantity.value(&|_| None).or_else(|| told.filter_map(|of| given(&of.name)).next())
    };
    launch.conditions.iter().any(|condition| condition.holds(&value) == Some(false))
}

/// What is found of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileKernels {
    /// Its kernels in the order of the text, each with its instances.
    pub kernels: Vec<(Entry, Instances)>,
    /// What is to be said of directives that stand above no kernel, and of functions that are not read as kernels.
    pub stray: Vec<SpecNote>,
}

/// The instances of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instances {
    /// In a fixed order; at most [`Instances::MOST`].
    pub list: Vec<Instance>,
    /// What is to be said of how they came about.
    pub notes: Vec<SpecNote>,
    /// The launches that the host code makes of it.
    pub sites: Vec<LaunchSite>,
    /// Functions of the host code that name the kernel and are not followed to a launch.
    pub unfollowed: Vec<String>,
    /// Launches that are known in part, for which no values were found that are not refused.
    pub left_out: usize,
}

impl Instances {
    /// How many instances a kernel has at most.
    pub const MOST: usize = crate::limits::instances::MOST;
}

/// Something to be said of a kernel's specialisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecNote {
    /// Where: in the file's text if it is of a directive, else in the file's source.
    pub range: TextRange,
    /// One sentence.
    pub message: String,
    /// What it is about.
    pub kind: SpecNoteKind,
}

/// Kinds of [`SpecNote`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecNoteKind {
    /// A directive is wrong.
    Directive,
    /// How values came about.
    Assumed,
    /// Something may be a kernel and is not read as one.
    Unread,
}

/// A kernel that Triton compiled, as it lies in its cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The Python file, as Triton spells it.
    pub file: String,
    /// The line of its `def`, from 1.
    pub line: u32,
    /// Types of the parameters that are no constexprs.
    pub types: Vec<(String, String)>,
    /// What it was compiled for.
    pub target: Option<Target>,
    /// Warps of the default partition.
    pub num_warps: Option<u32>,
    /// CTAs of a cluster.
    pub num_ctas: Option<u32>,
}

/// What is known of one way to launch a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Base {
    pub arguments: Vec<Argument>,
    /// Parameters of which a launch is known to give only a part.
    pub partly: Vec<(String, Partly)>,
    /// Constants of which it gives no number but a formula.
    pub formulas: Vec<Formula>,
    /// Parameters whose values stand for themselves alone, so that they are taken from the launch itself, each with what
    /// tells its value from others.
    pub held: Vec<(String, u64)>,
    pub host: Option<Host>,
    pub target: Option<(Target, ValueSource)>,
    pub version: Option<Version>,
    pub num_warps: Option<(u32, ValueSource)>,
    pub num_ctas: Option<(u32, ValueSource)>,
    /// Whether it is one of several configurations that are tried.
    pub tuned: bool,
}

impl Base {
    pub(super) fn give(&mut self, name: &str, given: Given, source: ValueSource) {
        match self.arguments.iter_mut().find(|argument| argument.name == name) {
            Some(argument) if argument.given == given => argument.source = argument.source.min(source),
            Some(argument) => (argument.given, argument.source) = (given, source),
            None => self.arguments.push(Argument { name: name.to_owned(), given, source }),
        }
    }

    /// Whether a parameter is given nothing, or only a part.
    pub(super) fn lacks(&self, param: &Param) -> bool {
        let known = self.has(&param.name) || self.holds(&param.name);
        !known && (param.default.is_none() || self.partly(&param.name).is_some())
    }

    /// Whether a parameter is taken from the launch itself.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.held.iter().any(|(held, _)| held == name)
    }

    /// Whether it is a launch that was found, even where that gives a part only.
    pub(super) fn is_launched(&self) -> bool {
        let from_launch = |argument: &Argument| matches!(argument.source, ValueSource::Launch | ValueSource::Cache);
        self.host.is_some()
            || !self.partly.is_empty()
            || !self.held.is_empty()
            || self.arguments.iter().any(from_launch)
    }

    /// What a launch says of a parameter that it gives only a part.
    pub(super) fn partly(&self, name: &str) -> Option<&Partly> {
        self.partly.iter().find(|(known, _)| known == name).map(|(_, partly)| partly)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}

/// A constant of which a launch gives a formula and no number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Formula {
    pub(super) name: String,
    /// Made of those constants that follow from no others, which are numbered.
    pub(super) quantity: Quantity,
    /// What the host can compute for one of these, ascending, where that is not what is chosen as a rule.
    pub(super) may_be: Vec<i64>,
}
