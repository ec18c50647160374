//! Checks a candidate: the edited text is read, the machine is run on its kernel, and what it finds is
//! compared with what was found before. How a text becomes a kernel is its language's; the comparison is one.

use std::cell::Cell;

use crate::limits::hangs::INPUTS;
use base::{Cancelled, Limits, Message, TextRange};
use explore::canonical;
use findings::{Edit, Finding, Kind, Severity, describe_places, describe_violation};
use kernel::{Kernel, Lowered};
use lower::lower;
use machine::{Machine, Rule, Valuation};
use ttgir::Tree;
use verify::{Found, Outcome};

/// Decides an edited kernel; the caller may remember outcomes.
pub type Decide<'a> = dyn FnMut(&Kernel) -> Result<Outcome, Cancelled> + 'a;

/// The identity of a finding between two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKey {
    /// What is wrong.
    pub kind: Kind,
    /// Where it is drawn.
    pub at: u32,
    /// Of an overwrite that meets several packed buffers, the use of the one that this is about.
    pub packed: Option<u32>,
}

impl FindingKey {
    /// The identity of a finding; `start` tells where a range of the kernel starts in the text.
    pub fn new<M>(finding: &Finding<M>, start: impl Fn(TextRange) -> u32) -> FindingKey {
        let site = finding.sites.iter().find(|site| !site.primary && finding.kind == Kind::PackedOverwrite);
        FindingKey { kind: finding.kind, at: start(finding.range), packed: site.map(|site| start(site.range)) }
    }

    /// The same after edits.
    pub fn after(self, edits: &[Edit]) -> FindingKey {
        FindingKey { at: moved(self.at, edits), packed: self.packed.map(|at| moved(at, edits)), ..self }
    }
}

/// A kernel before any edit: what the edited one is compared with.
pub struct Baseline<'a> {
    lowered: &'a Lowered,
    /// What is wrong with it, hints left out: what was a hint must not become an error.
    places: Vec<FindingKey>,
    /// How much could not be decided.
    gaps: usize,
    /// Whether some schedule deadlocks, be it as the consequence of a race.
    hangs: bool,
    /// What edited kernels have cost so far, in machine steps.
    spent: Cell<u64>,
}

/// A kernel of the edited text.
pub struct EditedKernel<'a> {
    /// It.
    pub lowered: &'a Lowered,
    /// What was edited, in the text before.
    pub edits: &'a [Edit],
    /// Where a range of the kernel starts in the edited text.
    pub start: &'a dyn Fn(TextRange) -> u32,
    /// The run that is tried before the kernel is decided: that of the finding that the edits are for.
    pub first: Option<&'a Found>,
}

impl<'a> Baseline<'a> {
    /// A kernel, its outcome and its findings; `start` tells where a range of the kernel starts in the text.
    pub fn new(
        lowered: &'a Lowered,
        outcome: &Outcome,
        findings: &[Finding<Message>],
        start: impl Fn(TextRange) -> u32,
    ) -> Baseline<'a> {
        let errors = findings.iter().filter(|finding| finding.severity != Severity::Hint);
        let mut places: Vec<FindingKey> = errors.map(|finding| FindingKey::new(finding, &start)).collect();
        places.sort_unstable();
        places.dedup();
        Baseline { lowered, places, gaps: outcome.gaps.len(), hangs: hangs(outcome), spent: Cell::new(0) }
    }

    /// What the edited kernels that it was compared with have cost, in machine steps.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// What an edited kernel leaves wrong, in places of the text before; `None` where `goal` stays or
    /// anything is new: a finding, a gap, an op that is not modelled, a wait that never ends. A kernel that is the
    /// same reaches no goal.
    ///
    /// # Errors
    ///
    /// Where `decide` was cancelled.
    pub fn after(
        &self,
        edited: &EditedKernel<'_>,
        goal: Option<FindingKey>,
        decide: &mut Decide<'_>,
    ) -> Result<Option<Vec<FindingKey>>, Cancelled> {
        let &EditedKernel { lowered, edits, start, first } = edited;
        if lowered.kernel == self.lowered.kernel {
            return Ok(goal.is_none().then(|| self.places.clone()));
        }
        if lowered.unmodelled.len() > self.lowered.unmodelled.len() {
            return Ok(None);
        }
        let known: Vec<(FindingKey, FindingKey)> = self.places.iter().map(|&at| (at, at.after(edits))).collect();
        let was = |finding: &Finding<Message>| {
            let at = FindingKey::new(finding, start);
            known.iter().find(|(_, moved)| *moved == at).map(|(place, _)| *place)
        };
        let helps = |finding: &Finding<Message>| match was(finding) {
            Some(known) => Some(known) != goal,
            // A hint says what holds under an assumption; clean kernels have hints too.
            None => finding.severity == Severity::Hint,
        };
        let first = first.and_then(|found| first_run(lowered, found, &self.spent));
        if first.is_some_and(|finding| !helps(&finding)) {
            return Ok(None);
        }
        let outcome = decide(&lowered.kernel)?;
        self.spent.update(|spent| spent + outcome.steps);
        if outcome.gaps.len() > self.gaps || (hangs(&outcome) && self.hangs_anew(lowered, &outcome)) {
            return Ok(None);
        }
        let findings = describe_places(lowered, &outcome).findings;
        // What is only a hint stands in no list of what was wrong; it has to be gone all the same.
        let stays = goal
            .is_some_and(|goal| findings.iter().any(|finding| FindingKey::new(finding, start) == goal.after(edits)));
        if stays {
            return Ok(None);
        }
        Ok(findings.iter().all(helps).then(|| findings.iter().filter_map(was).collect()))
    }

    /// Whether an edited kernel that hangs does so with inputs with which it did not before, in the order of steps that
    /// is tried first: that another race stays is no excuse for a fix that stops a kernel which went through.
    fn hangs_anew(&self, lowered: &Lowered, outcome: &Outcome) -> bool {
        if !self.hangs || self.lowered.kernel.inputs != lowered.kernel.inputs {
            return !self.hangs;
        }
        let hangs = |kernel: &Kernel, valuation: &Valuation| {
            let state = canonical(&Machine::new(kernel, valuation, &Limits::default())).state;
            self.spent.update(|spent| spent + state.cost());
            state.violations().iter().any(|violation| matches!(violation.rule, Rule::Deadlock(_)))
        };
        let mut all = outcome.valuations.iter().take(INPUTS);
        all.any(|valuation| hangs(&lowered.kernel, valuation) && !hangs(&self.lowered.kernel, valuation))
    }
}

/// What a candidate leaves wrong with a kernel of this tree; `None` as for [`Baseline::after`], and where
/// the edited text has a new syntax error or the kernel is gone.
pub(crate) fn after_edits(
    tree: &Tree,
    before: &Baseline<'_>,
    edits: &[Edit],
    found: &Found,
    goal: FindingKey,
    decide: &mut Decide<'_>,
) -> Result<Option<Vec<FindingKey>>, Cancelled> {
    let Some(text) = apply(tree.text(), edits) else { return Ok(None) };
    let edited = Tree::parse(&text);
    if edited.errors().len() > tree.errors().len() {
        return Ok(None);
    }
    let at = moved(before.lowered.map.kernel_range.start, edits);
    let same = |lowered: &Lowered| lowered.map.kernel_range.start == at;
    let Some(lowered) = lower(&edited).into_iter().find(same) else { return Ok(None) };
    let edited = EditedKernel { lowered: &lowered, edits, start: &|range| range.start, first: Some(found) };
    before.after(&edited, Some(goal), decide)
}

/// Whether some schedule deadlocks. A wait at the wrong cadence does, and while another race stays that
/// counts as its consequence and is no finding.
fn hangs(outcome: &Outcome) -> bool {
    let deadlock = |found: &Found| matches!(found.violation.rule, Rule::Deadlock(_));
    outcome.found.iter().chain(&outcome.consequences).any(deadlock)
}

/// A race of the run that led to the finding, with the edited kernel: most candidates that do not
/// help are seen to be so at once, without deciding them. What it costs is added to `spent`.
fn first_run(lowered: &Lowered, found: &Found, spent: &Cell<u64>) -> Option<Finding<Message>> {
    if lowered.kernel.inputs.len() != found.valuation.values.len() {
        return None;
    }
    let machine = Machine::new(&lowered.kernel, &found.valuation, &Limits::default());
    let run = canonical(&machine);
    spent.update(|spent| spent + run.state.cost());
    if run.state.unmodelled() || run.state.error().is_some() {
        return None;
    }
    let violation = run.state.violations().iter().find(|violation| match violation.rule {
        Rule::Race { .. } => true,
        Rule::Deadlock(_) => run.state.schedule_hazards().is_empty(),
        _ => false,
    })?;
    let found = Found {
        violation: violation.clone(),
        valuation: found.valuation.clone(),
        schedule: run.schedule,
        alternative: false,
        confluent: run.state.schedule_hazards().is_empty(),
    };
    describe_violation(lowered, &found)
}

/// The text with ascending, disjoint edits applied; `None` if they are neither.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for Edit { range: TextRange { start, end }, text: with } in edits {
        out.push_str(text.get(at..*start as usize)?);
        out.push_str(with);
        at = *end as usize;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Where an offset stands after the edits.
pub fn moved(at: u32, edits: &[Edit]) -> u32 {
    let mut to = i64::from(at);
    for edit in edits.iter().filter(|edit| edit.range.end <= at) {
        to += edit.text.len() as i64 - i64::from(edit.range.len());
    }
    u32::try_from(to).unwrap_or(0)
}
