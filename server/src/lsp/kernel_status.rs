//! What `fencepost/status` says of one kernel.

use findings::{KernelReport, Severity, Verdict};
use transport::{KernelState, KernelStatus};

use super::last_good::LastGood;
use super::position::Mapper;

/// What an analysis says of its kernels; `last_good` is what was found of them in earlier texts.
pub(crate) fn judged(kernels: &[KernelReport], mapper: Mapper<'_>, last_good: &LastGood) -> Vec<KernelStatus> {
    kernels.iter().map(|report| of(report, mapper, state(report, last_good))).collect()
}

/// One kernel in a state.
pub(crate) fn of(report: &KernelReport, mapper: Mapper<'_>, state: KernelState) -> KernelStatus {
    // As lenses count: what could not be followed is no finding.
    let findings = report.findings.iter().filter(|finding| finding.severity < Severity::Information).count();
    let hints = report.findings.len() - findings;
    KernelStatus { name: report.name.clone(), range: mapper.range(report.range), state, findings, hints }
}

/// The state of a kernel that was judged.
pub(crate) fn state(report: &KernelReport, last_good: &LastGood) -> KernelState {
    if report.broken && last_good.names().any(|name| name == report.name) {
        return KernelState::Stale;
    }
    match report.verdict {
        Verdict::Proved(_) => KernelState::Proved,
        Verdict::Clean(_) => KernelState::Clean,
        Verdict::Found => KernelState::Found,
        Verdict::Undecided(_) => KernelState::Undecided,
    }
}
