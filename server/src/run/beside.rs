//! What the analysis says of a kernel beside what a run of it says.

use asserts::agrees;
use findings::{Finding, KernelReport, Severity, Verdict};

use super::{Ending, Results};
use render::SourceText;

/// Both verdicts on one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beside {
    /// The kernel.
    pub kernel: String,
    /// What the analysis says: `proved`, `clean`, `found`, `undecided`.
    pub analysis: &'static str,
    /// What the run says, as [`Ending::name`].
    pub run: &'static str,
    /// Whether they agree, or one of them says nothing.
    pub agrees: bool,
    /// In one sentence.
    pub says: String,
}

/// Puts the analysis of a text beside runs of its kernels.
pub fn beside(analysis: &[KernelReport], results: &Results, places: &SourceText<'_>) -> Vec<Beside> {
    let one = |run: &KernelReport| {
        let own = analysis.iter().find(|kernel| kernel.name == run.name)?;
        Some(of(own, run, results.ending(), places))
    };
    results.kernels.iter().filter_map(one).collect()
}

fn of(own: &KernelReport, run: &KernelReport, ending: Ending, places: &SourceText<'_>) -> Beside {
    let blames = |kernel: &KernelReport| -> Vec<Finding> {
        kernel.findings.iter().filter(|finding| finding.severity <= Severity::Warning).cloned().collect()
    };
    let (found, asserted) = (blames(own), blames(run));
    let ending = if asserted.is_empty() { ending } else { Ending::Asserted };
    let verdict = own.verdict.name();
    let list = |findings: &[&Finding]| -> String {
        let one = |finding: &&Finding| format!("{} at line {}", finding.kind.name(), places.line(finding.range.start));
        findings.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let alone: Vec<&Finding> = asserted.iter().filter(|it| !found.iter().any(|own| agrees(own, it))).collect();
    let (same, says) = match (ending, found.is_empty(), asserted.is_empty()) {
        (Ending::Asserted, _, false) if alone.is_empty() => (true, "the analysis says the same of it".to_owned()),
        (Ending::Asserted, false, false) => (
            false,
            format!(
                "the analysis finds {} and does not find {}",
                list(&found.iter().collect::<Vec<_>>()),
                list(&alone)
            ),
        ),
        (Ending::Asserted, true, false) => match &own.verdict {
            Verdict::Undecided(why) => (true, format!("the analysis does not decide it: {}", why.join("; "))),
            _ => (false, format!("the analysis calls it {verdict} and does not find {}", list(&alone))),
        },
        (Ending::Passed, false, _) => (
            false,
            format!("the analysis finds {}, which this run did not meet", list(&found.iter().collect::<Vec<_>>())),
        ),
        (Ending::Passed, true, _) => (true, format!("the analysis calls it {verdict}")),
        (Ending::Hung, false, _) => (true, format!("the analysis finds {}", list(&found.iter().collect::<Vec<_>>()))),
        (Ending::Hung, true, _) => {
            (matches!(own.verdict, Verdict::Undecided(_)), format!("the analysis calls it {verdict}"))
        }
        _ => (true, format!("the analysis calls it {verdict}")),
    };
    Beside { kernel: run.name.clone(), analysis: verdict, run: ending.name(), agrees: same, says }
}
