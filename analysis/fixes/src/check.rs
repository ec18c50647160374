//! Applies a candidate, reads the new text, runs the machine on it and compares.

use super::Decide;
use base::{Cancelled, Limits, Message, TextRange};
use explore::canonical;
use findings::{Edit, Finding, Kind, Severity, describe, describe_violation};
use kernel::Lowered;
use lower::lower;
use machine::{Machine, Rule};
use ttgir::Tree;
use verify::{Found, Gap, Outcome};

/// What is wrong, and where: the identity of a finding between two texts.
pub type FindingKey = (Kind, u32);

/// The kernel before any edit.
pub struct Baseline<'a> {
    /// Its text.
    pub tree: &'a Tree,
    /// Where it stands.
    pub lowered: &'a Lowered,
    /// What is wrong with it.
    pub places: Vec<FindingKey>,
    /// What could not be decided.
    pub gaps: &'a [Gap],
    /// Whether some schedule deadlocks, be it as the consequence of a race.
    pub hangs: bool,
}

impl<'a> Baseline<'a> {
    /// A kernel and its outcome.
    pub fn new(tree: &'a Tree, lowered: &'a Lowered, outcome: &'a Outcome, places: Vec<FindingKey>) -> Baseline<'a> {
        Baseline { tree, lowered, places, gaps: &outcome.gaps, hangs: hangs(outcome) }
    }

    /// What a candidate leaves wrong, in places of the text before it; `None` if the finding it is
    /// for stays or anything is new: a finding, a gap, an op that is not modelled, a syntax error.
    pub fn after(
        &self,
        edits: &[Edit],
        found: &Found,
        place: FindingKey,
        decide: &mut Decide<'_>,
    ) -> Result<Option<Vec<FindingKey>>, Cancelled> {
        let Some(text) = apply(self.tree.text(), edits) else { return Ok(None) };
        let tree = Tree::parse(&text);
        if tree.errors().len() > self.tree.errors().len() {
            return Ok(None);
        }
        let start = moved(self.lowered.map.kernel_range.start, edits);
        let same = |lowered: &Lowered| lowered.map.kernel_range.start == start;
        let Some(lowered) = lower(&tree).into_iter().find(same) else { return Ok(None) };
        if lowered.unmodelled.len() > self.lowered.unmodelled.len() || lowered.kernel == self.lowered.kernel {
            return Ok(None);
        }
        let known: Vec<(FindingKey, u32)> = self.places.iter().map(|&at| (at, moved(at.1, edits))).collect();
        let was = |finding: &Finding<Message>| {
            known
                .iter()
                .find(|((kind, _), at)| *kind == finding.kind && *at == finding.range.start)
                .map(|(place, _)| *place)
        };
        let helps = |finding: &Finding<Message>| match was(finding) {
            Some(known) => known != place,
            // A hint says what holds under an assumption; clean kernels have hints too.
            None => finding.severity == Severity::Hint,
        };
        if first_run(&lowered, found).is_some_and(|finding| !helps(&finding)) {
            return Ok(None);
        }
        let outcome = decide(&lowered.kernel)?;
        if outcome.gaps.iter().any(|gap| !self.gaps.contains(gap)) || (hangs(&outcome) && !self.hangs) {
            return Ok(None);
        }
        let findings = describe(&lowered, &outcome).findings;
        Ok(findings.iter().all(helps).then(|| findings.iter().filter_map(was).collect()))
    }
}

/// Whether some schedule deadlocks. A wait at the wrong cadence does, and while another race stays that
/// counts as its consequence and is no finding.
fn hangs(outcome: &Outcome) -> bool {
    let deadlock = |found: &Found| matches!(found.violation.rule, Rule::Deadlock(_));
    outcome.found.iter().chain(&outcome.consequences).any(deadlock)
}

/// A race of the run that led to the finding, with the edited kernel: most candidates that do not
/// help are seen to be so at once, without deciding them.
fn first_run(lowered: &Lowered, found: &Found) -> Option<Finding<Message>> {
    if lowered.kernel.inputs.len() != found.valuation.values.len() {
        return None;
    }
    let machine = Machine::new(&lowered.kernel, &found.valuation, &Limits::default());
    let run = canonical(&machine);
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
fn moved(at: u32, edits: &[Edit]) -> u32 {
    let mut to = i64::from(at);
    for edit in edits.iter().filter(|edit| edit.range.end <= at) {
        to += edit.text.len() as i64 - i64::from(edit.range.len());
    }
    u32::try_from(to).unwrap_or(0)
}
