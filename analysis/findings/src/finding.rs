//! What a finding carries; the printers add no logic.
//!
//! Each type is generic over its texts. The analysis makes them of [`Message`]s; [`KernelReport::render`] and its like
//! turn these into `String`s, in the language and with the names of the file that the user has open. A reader of
//! findings sees no other kind.

use super::minimal::MinimalRun;
use super::steps::ListedStep;
use super::{Kind, MissingOrder, PhaseFormula, Severity};
use base::{Message, Names, TextRange};
use kernel::{EffectId, SourceMap};
use machine::Valuation;
use verify::SharedProof;

/// A numbered place of a finding. The primary site is the last to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<M = String> {
    /// Where.
    pub range: TextRange,
    /// What happens there, one line.
    pub text: M,
    /// `file:line` of the program that the text was compiled from, where the op records it.
    pub source: Option<String>,
    /// Whether the finding is drawn here.
    pub primary: bool,
}

/// One step of the run that leads to the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep<M = String> {
    /// `default`, `partition0`, …
    pub partition: M,
    /// The op.
    pub range: TextRange,
    /// What it did and what it left: phases, counts, bytes.
    pub text: M,
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
pub struct Fix<M = String> {
    /// What it does, for a menu.
    pub title: M,
    /// Its edits, ascending, disjoint.
    pub edits: Vec<Edit>,
}

/// A violation in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<M = String> {
    /// What is wrong.
    pub kind: Kind,
    /// How bad.
    pub severity: Severity,
    /// One sentence.
    pub message: M,
    /// Where it is drawn: the primary note's range.
    pub range: TextRange,
    /// All places, in the order in which they happen.
    pub sites: Vec<Note<M>>,
    /// Calls that lead to the places, the innermost first; only in Python.
    pub context: Vec<Note<M>>,
    /// The run, oldest first.
    pub run: Vec<RunStep<M>>,
    /// The same in ids; `None` where there is no run.
    pub witness: Option<Witness>,
    /// The inputs it was found with (`%K = 192`); empty where it does not depend on any.
    pub inputs: Vec<(M, i64)>,
    /// Phases that some waits would have to name, as the machine has run them: with these the finding
    /// is gone and none is new. Empty where no phase is at fault.
    pub phases: Vec<(EffectId, PhaseFormula)>,
    /// What should have kept two accesses apart, in places of the text that was analysed, which for Python is what the
    /// instance was elaborated to; `None` where that is not what is wrong.
    pub order: Option<MissingOrder>,
    /// Name of the kernel.
    pub kernel: String,
    /// Of which instance of the kernel its ids are; only in Python, and else 0.
    pub instance: usize,
    /// A re-checked change, where there is one.
    pub fix: Option<Fix<M>>,
}

impl<M: Clone> Finding<M> {
    /// A finding with one place, and nothing else to be said of it.
    pub fn at(kind: Kind, message: M, range: TextRange, kernel: impl Into<String>) -> Finding<M> {
        let site = Note { range, text: message.clone(), source: None, primary: true };
        Finding::with_sites(kind, message, vec![site], kernel)
    }
}

impl<M> KernelReport<M> {
    /// The findings that are drawn as runs: not what is open of the global memory of a kernel whose barriers are decided,
    /// of which a run in which nothing is wrong is drawn.
    pub fn drawn(&self) -> impl Iterator<Item = &Finding<M>> {
        let decided = matches!(self.verdict, Verdict::Proved(_) | Verdict::Clean(_));
        self.findings.iter().filter(move |finding| !decided || finding.kind != Kind::Unmodelled)
    }

    /// One that says this and nothing else, of a kernel without a name.
    pub fn without_findings(verdict: Verdict<M>) -> KernelReport<M> {
        KernelReport {
            name: String::new(),
            range: TextRange::default(),
            verdict,
            findings: Vec::new(),
            suppressed: Vec::new(),
            runs: 0,
            steps: 0,
            proof: None,
            pin: None,
            global: None,
            broken: false,
        }
    }

    /// Every range, to be moved.
    pub fn ranges_mut(&mut self, each: &mut dyn FnMut(&mut TextRange)) {
        each(&mut self.range);
        self.findings.iter_mut().for_each(|finding| finding.ranges_mut(each));
        for suppressed in &mut self.suppressed {
            suppressed.finding.ranges_mut(each);
            if let SuppressedBy::Comment(range) = &mut suppressed.by {
                each(range);
            }
        }
    }
}

impl<M> Finding<M> {
    /// A finding with these places, drawn at the primary one; without a run, inputs or a fix.
    pub fn with_sites(kind: Kind, message: M, sites: Vec<Note<M>>, kernel: impl Into<String>) -> Finding<M> {
        Finding {
            kind,
            severity: kind.severity(),
            message,
            range: sites.iter().find(|site| site.primary).map(|site| site.range).unwrap_or_default(),
            sites,
            context: Vec::new(),
            run: Vec::new(),
            witness: None,
            inputs: Vec::new(),
            phases: Vec::new(),
            order: None,
            kernel: kernel.into(),
            instance: 0,
            fix: None,
        }
    }

    /// Gives each site the place in the program that its op was compiled from.
    pub fn name_sources(&mut self, map: &SourceMap) {
        for site in &mut self.sites {
            let op = map.sites.iter().find(|op| op.range.contains(site.range) || op.name == site.range);
            site.source = op.and_then(|op| op.source.first().cloned());
        }
    }

    /// Every range, to be moved.
    pub fn ranges_mut(&mut self, each: &mut dyn FnMut(&mut TextRange)) {
        each(&mut self.range);
        self.sites.iter_mut().chain(&mut self.context).for_each(|note| each(&mut note.range));
        self.run.iter_mut().for_each(|step| each(&mut step.range));
        if let Some(order) = &mut self.order {
            order.ranges_mut(each);
        }
        if let Some(fix) = &mut self.fix {
            fix.edits.iter_mut().for_each(|edit| each(&mut edit.range));
        }
    }
}

/// Something wrong with a text that the machine has no part in: its compiler would refuse it, or what is
/// written for us in it is no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProblem {
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

impl TextProblem {
    /// The code of what does not parse.
    pub const SYNTAX: &'static str = "syntax";

    /// The code of a location of TTGIR that nothing defines.
    pub const LOCATION: &'static str = "unknown-location";

    /// The code of a name that the release of Triton no longer has: no value makes that right.
    pub const REMOVED: &'static str = "removed-name";

    /// The code of what may be a kernel and is not read as one: news of the file that somebody looks at alone.
    pub const UNREAD: &'static str = "unread";
}

/// What the analysis can say of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<M = String> {
    /// No finding for any inputs and any number of iterations; the text says how it was closed.
    Proved(M),
    /// No finding for the inputs that were run; the text says which.
    Clean(M),
    /// Findings.
    Found,
    /// Not decided, for these reasons; findings may exist beside it.
    Undecided(Vec<M>),
}

impl<M> Verdict<M> {
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

/// A line above a kernel in Python that gives it the values which decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// `# fencepost: layout=?, num_slots=2`: a directive, with `?` for each value that is to be filled in.
    pub line: String,
    /// The parameters that are to be filled in, in the order of the kernel.
    pub open: Vec<String>,
}

/// The verdict on one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReport<M = String> {
    /// Function name, without `@`.
    pub name: String,
    /// Range of the name.
    pub range: TextRange,
    /// The verdict.
    pub verdict: Verdict<M>,
    /// Its findings, by position.
    pub findings: Vec<Finding<M>>,
    /// Findings that are not shown; the verdict counts them.
    pub suppressed: Vec<Suppressed>,
    /// Machine runs that the verdict rests on.
    pub runs: u32,
    /// Machine steps of those runs.
    pub steps: u64,
    /// The part of them that kernels of other sizes have in common.
    pub proof: Option<SharedProof>,
    /// What would decide it, where it is undecided for want of values.
    pub pin: Option<Pin>,
    /// What is said of global memory; `None` where the kernel writes none, or nobody looked.
    pub global: Option<GlobalMemoryReport<M>>,
    /// Whether its text does not parse, or Triton would refuse it: it is not the kernel that would run.
    pub broken: bool,
}

/// A finding that is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// The finding.
    pub finding: Finding,
    /// Why somebody does not want to see it.
    pub reason: String,
    /// Who says so.
    pub by: SuppressedBy,
}

/// Who says that a finding is not to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedBy {
    /// A comment in the text.
    Comment(TextRange),
    /// A list of findings that are known.
    Baseline,
    /// The settings, in which its kind is off.
    Settings,
}

/// What there is to say of a kernel's global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalMemoryReport<M = String> {
    /// Whether two programs of a launch race there.
    pub verdict: Verdict<M>,
    /// What the verdict rests on beside the text, a clause each.
    pub assumed: Vec<M>,
    /// Whether it is about launches of one program each of a kernel that asks which one it is.
    pub alone: bool,
}

impl GlobalMemoryReport<Message> {
    fn render(self, names: &dyn Names) -> GlobalMemoryReport {
        GlobalMemoryReport {
            verdict: self.verdict.render(names),
            assumed: self.assumed.into_iter().map(|clause| clause.render(names)).collect(),
            alone: self.alone,
        }
    }
}

impl<M> GlobalMemoryReport<M> {
    /// The higher, the less is claimed of the kernel.
    pub fn rank(&self) -> u8 {
        match self.verdict {
            Verdict::Found => 3,
            Verdict::Undecided(_) => 2,
            Verdict::Clean(_) => 1,
            Verdict::Proved(_) => 0,
        }
    }
}

impl Note<Message> {
    /// A place that is not the primary one.
    pub(crate) fn new(range: TextRange, text: impl Into<Message>) -> Note<Message> {
        Note { range, text: text.into(), source: None, primary: false }
    }

    /// The place at which the finding is drawn.
    pub(crate) fn primary(range: TextRange, text: impl Into<Message>) -> Note<Message> {
        Note { primary: true, ..Note::new(range, text) }
    }

    fn render(self, names: &dyn Names) -> Note {
        Note { range: self.range, text: self.text.render(names), source: self.source, primary: self.primary }
    }
}

impl RunStep<Message> {
    fn render(self, names: &dyn Names) -> RunStep {
        let RunStep { partition, range, text, site } = self;
        RunStep { partition: partition.render(names), range, text: text.render(names), site }
    }
}

impl Fix<Message> {
    /// The fix with its title in these names.
    pub fn render(self, names: &dyn Names) -> Fix {
        Fix { title: self.title.render(names), edits: self.edits }
    }
}

impl Finding<Message> {
    /// The finding in these names.
    pub fn render(self, names: &dyn Names) -> Finding {
        let notes = |notes: Vec<Note<Message>>| notes.into_iter().map(|note| note.render(names)).collect();
        Finding {
            kind: self.kind,
            severity: self.severity,
            message: self.message.render(names),
            range: self.range,
            sites: notes(self.sites),
            context: notes(self.context),
            run: self.run.into_iter().map(|step| step.render(names)).collect(),
            witness: self.witness,
            inputs: self.inputs.into_iter().map(|(name, value)| (name.render(names), value)).collect(),
            phases: self.phases,
            order: self.order,
            kernel: self.kernel,
            instance: self.instance,
            fix: self.fix.map(|fix| fix.render(names)),
        }
    }
}

impl Verdict<Message> {
    fn render(self, names: &dyn Names) -> Verdict {
        match self {
            Verdict::Proved(how) => Verdict::Proved(how.render(names)),
            Verdict::Clean(how) => Verdict::Clean(how.render(names)),
            Verdict::Found => Verdict::Found,
            Verdict::Undecided(why) => Verdict::Undecided(why.iter().map(|why| why.render(names)).collect()),
        }
    }
}

impl KernelReport<Message> {
    /// The report in these names.
    pub fn render(self, names: &dyn Names) -> KernelReport {
        KernelReport {
            name: self.name,
            range: self.range,
            verdict: self.verdict.render(names),
            findings: self.findings.into_iter().map(|finding| finding.render(names)).collect(),
            suppressed: self.suppressed,
            runs: self.runs,
            steps: self.steps,
            proof: self.proof,
            pin: self.pin,
            global: self.global.map(|global| global.render(names)),
            broken: self.broken,
        }
    }
}

impl KernelReport {
    /// `; 2 suppressed`, `; 1 suppressed, 1 in the baseline`, behind a verdict; empty where nothing is.
    pub fn suppressed_words(&self) -> String {
        let known = self.suppressed.iter().filter(|it| it.by == SuppressedBy::Baseline).count();
        let told = [(self.suppressed.len() - known, "suppressed"), (known, "in the baseline")];
        let told = told.iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("{count} {how}"));
        let told: Vec<String> = told.collect();
        if told.is_empty() { String::new() } else { format!("; {}", told.join(", ")) }
    }

    /// Shows what is suppressed again.
    pub fn show_suppressed(&mut self) {
        self.findings.extend(self.suppressed.drain(..).map(|it| it.finding));
        self.findings.sort_by_key(|finding| (finding.severity, finding.range));
    }
}
