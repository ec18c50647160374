//! What a finding carries; the printers add no logic.

use super::minimal::MinimalRun;
use super::steps::ListedStep;
use super::{Kind, PhaseFormula};
use base::TextRange;
use kernel::EffectId;
use machine::Valuation;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

impl Severity {
    /// `error`, `warning`, `information`, `hint`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

/// A numbered place of a finding. The primary site is the last to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub range: TextRange,
    /// What happens there, one line.
    pub text: String,
    /// `file:line` of the program that the text was compiled from, where the op records it.
    pub source: Option<String>,
    /// Whether the finding is drawn here.
    pub primary: bool,
}

/// One step of the run that leads to the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// `default`, `partition0`, …
    pub partition: String,
    /// The op.
    pub range: TextRange,
    /// What it did and what it left: phases, counts, bytes.
    pub text: String,
    /// Which of the finding's sites it is.
    pub site: Option<usize>,
}

/// A run in ids, from which more can be made than is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// With which inputs.
    pub valuation: Valuation,
    /// The minimal run.
    pub run: MinimalRun,
    /// The lines that are told, one a step of [`Finding::run`].
    pub steps: Vec<ListedStep>,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub range: TextRange,
    /// By what.
    pub text: String,
}

/// A change that the machine has re-checked: with it the finding is gone and no other is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, for a menu.
    pub title: String,
    /// Its edits, ascending, disjoint.
    pub edits: Vec<Edit>,
}

/// A violation in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// How bad.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// Where it is drawn: the primary note's range.
    pub range: TextRange,
    /// All places, in the order in which they happen.
    pub sites: Vec<Note>,
    /// Calls that lead to the places, the innermost first; only in Python.
    pub context: Vec<Note>,
    /// The run, oldest first.
    pub run: Vec<RunStep>,
    /// The same in ids; `None` where there is no run.
    pub witness: Option<Witness>,
    /// The inputs it was found with (`%K = 192`); empty where it does not depend on any.
    pub inputs: Vec<(String, i64)>,
    /// Phases that some waits would have to name, as the machine has run them: with these the finding
    /// is gone and none is new. Empty where no phase is at fault.
    pub phases: Vec<(EffectId, PhaseFormula)>,
    /// Name of the kernel.
    pub kernel: String,
    /// Of which instance of the kernel its ids are; only in Python, and else 0.
    pub instance: usize,
    /// A re-checked change, where there is one.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Every range, to be moved.
    pub fn ranges_mut(&mut self, each: &mut dyn FnMut(&mut TextRange)) {
        each(&mut self.range);
        self.sites.iter_mut().chain(&mut self.context).for_each(|note| each(&mut note.range));
        self.run.iter_mut().for_each(|step| each(&mut step.range));
        if let Some(fix) = &mut self.fix {
            fix.edits.iter_mut().for_each(|edit| each(&mut edit.range));
        }
    }
}

/// Something wrong with a text that the machine has no part in: its compiler would refuse it, or what is
/// written for us in it is no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A fixed short name.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// Where.
    pub range: TextRange,
    /// `file:line`, where that is in another file, and `range` the kernel that runs it.
    pub source: Option<String>,
    /// What to write instead.
    pub fix: Option<Fix>,
}

impl Problem {
    /// The code of what does not parse.
    pub const SYNTAX: &'static str = "syntax";
}

/// What the analysis can say of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No finding for any inputs and any number of iterations; the text says how it was closed.
    Proved(String),
    /// No finding for the inputs that were run; the text says which.
    Clean(String),
    /// Findings.
    Found,
    /// Not decided, for these reasons; findings may exist beside it.
    Undecided(Vec<String>),
}

impl Verdict {
    /// `proved`, `clean`, `found`, `undecided`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Proved(_) => "proved",
            Verdict::Clean(_) => "clean",
            Verdict::Found => "found",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

/// The verdict on one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReport {
    /// Function name, without `@`.
    pub name: String,
    /// Range of the name.
    pub range: TextRange,
    /// The verdict.
    pub verdict: Verdict,
    /// Its findings, by position.
    pub findings: Vec<Finding>,
    /// Machine runs that the verdict rests on.
    pub runs: u32,
    /// Machine steps of those runs.
    pub steps: u64,
}
