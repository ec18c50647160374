//! The verdict on a kernel, as far as it is known of this very text.

use base::TextRange;
use findings::{KernelReport, Severity, Verdict};

use crate::lsp::snapshot::Snapshot;

/// What the analysis of this very text says of the kernel that is named at a place; `None` where there is no such
/// analysis yet, or it does not know the kernel.
pub(crate) fn verdict_of(snapshot: &Snapshot, kernel: TextRange) -> Option<&KernelReport> {
    let known = snapshot.analysis.as_ref()?;
    known.analysis.kernels.iter().find(|report| report.range == kernel)
}

/// A verdict in a few words: `proved`, `2 findings`.
pub(crate) fn label(report: &KernelReport) -> String {
    let (hints, findings): (Vec<_>, Vec<_>) =
        report.findings.iter().partition(|finding| finding.severity >= Severity::Information);
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let mut parts = Vec::new();
    if !findings.is_empty() {
        parts.push(counted(findings.len(), "finding"));
    }
    match &report.verdict {
        Verdict::Proved(_) => parts.push("proved".to_owned()),
        Verdict::Clean(_) => parts.push("clean".to_owned()),
        Verdict::Undecided(_) => parts.push("undecided".to_owned()),
        Verdict::Found => {}
    }
    if !hints.is_empty() {
        parts.push(counted(hints.len(), "hint"));
    }
    let said = if parts.is_empty() { report.verdict.name().to_owned() } else { parts.join(", ") };
    format!("{said}{}", report.suppressed_words())
}

/// The verdict in a sentence.
pub(crate) fn sentence(snapshot: &Snapshot, kernel: TextRange) -> String {
    let name = kernel.of(snapshot.source.text()).trim_start_matches('@').to_owned();
    let Some(report) = verdict_of(snapshot, kernel) else {
        return match &snapshot.analysis {
            None => format!("Verdict on `{name}`: not analysed yet."),
            Some(_) => format!("Verdict on `{name}`: the analysis of this text did not come to it."),
        };
    };
    let why = match &report.verdict {
        Verdict::Proved(why) | Verdict::Clean(why) => format!(": {why}"),
        Verdict::Undecided(why) if !why.is_empty() => format!(": {}", why.join("; ")),
        Verdict::Found | Verdict::Undecided(_) => String::new(),
    };
    format!("Verdict on `{name}`: {}{why}", label(report))
}
