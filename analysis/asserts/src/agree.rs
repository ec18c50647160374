//! Whether a static finding and what a run says are one and the same, and how to say that they are not.

use super::{AssertClass, AssertMessage};
use base::TextRange;
use findings::{Finding, KernelReport, Kind, Severity, Verdict};

/// The messages in which a finding of a kind may end on a device. Which one depends on who comes first: a race is
/// met by the reader or by the writer, and a wait with the wrong phase lets a race happen or never ends.
pub fn classes(kind: Kind) -> &'static [AssertClass] {
    use AssertClass::{
        Deadlock, Fence, Global, Internal, Lifecycle, Other, OutstandingReads, OutstandingWrites, Pending, Scatter,
        Underflow, Unwritten,
    };
    match kind {
        Kind::MissingBackwardBarrier
        | Kind::MissingForwardBarrier
        | Kind::PackedOverwrite
        | Kind::ReuseSlotHazard
        | Kind::PendingAccess => &[OutstandingReads, OutstandingWrites, Pending],
        Kind::PhaseMismatch | Kind::LappedWait => &[OutstandingReads, OutstandingWrites, Pending, Deadlock, Underflow],
        Kind::Deadlock => &[Deadlock],
        Kind::ExpectMismatch => &[Deadlock, OutstandingReads, OutstandingWrites, Underflow],
        Kind::MissingProxyFence => &[Fence],
        Kind::ArrivalOverflow => &[Underflow, Deadlock],
        Kind::BarrierNotLive | Kind::BarrierReinit | Kind::BarrierStorageReuse => &[Lifecycle],
        Kind::WaitedInvalidation => &[Lifecycle, OutstandingReads],
        Kind::OutOfBounds => &[Internal, Lifecycle, OutstandingReads, OutstandingWrites],
        Kind::GlobalRace => &[Global],
        Kind::DeviceAssert => &[Other, Scatter, Global],
        Kind::UninitialisedRead => &[Unwritten],
        Kind::Unmodelled => &[],
    }
}

/// Whether a static finding is what a message says.
pub fn predicts(finding: &Finding, message: &AssertMessage) -> bool {
    finding.severity <= Severity::Warning && classes(finding.kind).contains(&message.class())
}

/// Whether two findings are of the same thing: they may end in one message, and share a place.
pub fn agrees(a: &Finding, b: &Finding) -> bool {
    let alike = a.kind == b.kind || classes(a.kind).iter().any(|class| classes(b.kind).contains(class));
    alike && (meet(a.range, b.range) || shared(a, b))
}

fn meet(a: TextRange, b: TextRange) -> bool {
    a.touches(b.start) || b.touches(a.start)
}

fn shared(a: &Finding, b: &Finding) -> bool {
    a.sites.iter().any(|site| {
        b.sites
            .iter()
            .any(|other| meet(site.range, other.range) || (site.source.is_some() && site.source == other.source))
    })
}

/// Where the analysis of the text and a run disagree, one sentence each. `ended`: the run came to its end or
/// asserted, so that what it does not say it did not see.
pub fn disagreements(analysis: &[KernelReport], run: &[KernelReport], ended: bool) -> Vec<String> {
    let mut out = Vec::new();
    let bad = |report: &KernelReport| -> Vec<Finding> {
        report.findings.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect()
    };
    let found: Vec<Finding> = run.iter().flat_map(bad).collect();
    for report in analysis {
        let own = found.iter().filter(|finding| finding.kernel == report.name || finding.kernel.is_empty());
        let of_runs = |finding: &&Finding| matches!(finding.kind, Kind::GlobalRace | Kind::DeviceAssert);
        let first = own.clone().find(|finding| !of_runs(finding));
        match (&report.verdict, first) {
            (Verdict::Proved(_) | Verdict::Clean(_), Some(finding)) => out.push(format!(
                "the analysis of the text says that `{}` is {}, and the run says {}: one of them is wrong",
                report.name,
                report.verdict.name(),
                finding.kind.name()
            )),
            (Verdict::Found, None) if ended => {
                let Some(finding) = bad(report).into_iter().next() else { continue };
                out.push(format!(
                    "the analysis of the text finds {} in `{}`, and this run did not: it saw one schedule and one set \
                     of inputs",
                    finding.kind.name(),
                    report.name
                ));
            }
            (Verdict::Found, Some(_)) if !own.clone().any(|run| bad(report).iter().any(|a| agrees(a, run))) => {
                out.push(format!(
                    "the analysis of the text and the run both find something in `{}`, and not the same",
                    report.name
                ));
            }
            _ => {}
        }
    }
    out
}
