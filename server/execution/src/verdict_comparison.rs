//! Compares what the analysis says of a kernel with what a run of it says.

use asserts::agrees;
use findings::{Finding, KernelReport, Severity, Verdict};

use runtime::run::{ASKS, RunEnd, SPINS};

use super::plan::{LaunchRun, RunResults, RunStatus};
use render::SourceText;

/// Both verdicts on one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerdictComparison {
    /// The kernel's name.
    pub kernel: String,
    /// What the analysis says: `proved`, `clean`, `found`, `undecided`.
    pub analysis: &'static str,
    /// What the run says, as [`RunStatus::name`].
    pub run: &'static str,
    /// Whether they agree, or one of them says nothing.
    pub agrees: bool,
    /// The comparison in one sentence.
    pub summary: String,
}

/// Compares the analysis of a text with runs of its kernels.
pub fn compare_verdicts(
    analysis: &[KernelReport],
    results: &RunResults,
    places: &SourceText<'_>,
) -> Vec<VerdictComparison> {
    // Of a program that waits for a word of global memory, not at a barrier.
    let spins = results.runs.iter().any(|ran| match &ran.report.end {
        RunEnd::Hung(threads) => threads.iter().any(|thread| thread.contains(SPINS)),
        _ => false,
    });
    let one = |run: &KernelReport| {
        let own = analysis.iter().find(|kernel| kernel.name == run.name)?;
        // How the launches of other kernels ended says nothing of this one.
        let of_it = |ran: &&LaunchRun| ran.report.kernels.iter().any(|kernel| kernel.name == run.name);
        let ending = results.runs.iter().filter(of_it).map(|ran| RunStatus::new(&ran.report)).min();
        Some(compare(own, run, (ending.unwrap_or(results.status()), spins), places))
    };
    results.kernels.iter().filter_map(one).collect()
}

fn compare(
    own: &KernelReport,
    run: &KernelReport,
    (ending, spins): (RunStatus, bool),
    places: &SourceText<'_>,
) -> VerdictComparison {
    let blames = |kernel: &KernelReport| -> Vec<Finding> {
        kernel.findings.iter().filter(|finding| finding.severity <= Severity::Warning).cloned().collect()
    };
    let (found, asserted) = (blames(own), blames(run));
    let ending = if asserted.is_empty() { ending } else { RunStatus::Asserted };
    let verdict = own.verdict.name();
    let list = |findings: &[&Finding]| -> String {
        let one = |finding: &&Finding| format!("{} at line {}", finding.kind.name(), places.line(finding.range.start));
        findings.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let alone: Vec<&Finding> = asserted.iter().filter(|it| !found.iter().any(|own| agrees(own, it))).collect();
    let waits = spins && !alone.is_empty() && alone.iter().all(|finding| finding.message.contains(ASKS));
    let (same, says) = match (ending, found.is_empty(), asserted.is_empty()) {
        (RunStatus::Asserted, true, false) if waits => {
            (true, format!("the analysis calls it {verdict}; words of memory that programs wait for are not in that"))
        }
        (RunStatus::Asserted, _, false) if alone.is_empty() => (true, "the analysis says the same of it".to_owned()),
        (RunStatus::Asserted, false, false) => (
            false,
            format!(
                "the analysis finds {} and does not find {}",
                list(&found.iter().collect::<Vec<_>>()),
                list(&alone)
            ),
        ),
        (RunStatus::Asserted, true, false) => match &own.verdict {
            Verdict::Undecided(why) => (true, format!("the analysis does not decide it: {}", why.join("; "))),
            _ => (false, format!("the analysis calls it {verdict} and does not find {}", list(&alone))),
        },
        (RunStatus::Passed, false, _) => (
            false,
            format!("the analysis finds {}, which this run did not meet", list(&found.iter().collect::<Vec<_>>())),
        ),
        (RunStatus::Passed, true, _) => (true, format!("the analysis calls it {verdict}")),
        (RunStatus::Hung, false, _) => {
            (true, format!("the analysis finds {}", list(&found.iter().collect::<Vec<_>>())))
        }
        (RunStatus::Hung, true, _) if spins => {
            (true, format!("the analysis calls it {verdict}; words of memory that programs wait for are not in that"))
        }
        (RunStatus::Hung, true, _) => {
            (matches!(own.verdict, Verdict::Undecided(_)), format!("the analysis calls it {verdict}"))
        }
        _ => (true, format!("the analysis calls it {verdict}")),
    };
    VerdictComparison { kernel: run.name.clone(), analysis: verdict, run: ending.name(), agrees: same, summary: says }
}
