//! `fencepost/status`: how far the analysis of each kernel of a document is, for clients that show it.

use engine::Depth;
use findings::{KernelReport, Severity, Verdict};
use tower_lsp::ls_types::Uri;
use transport::{DocumentState, KernelState, KernelStatus, Status};

use super::SessionState;
use crate::lsp::position::Mapper;

impl SessionState {
    /// Tells the client how far the analysis of a document is.
    pub(super) fn tell_status(&self, uri: &Uri) {
        if !self.shared.client.status {
            return;
        }
        let Some(document) = self.documents.get(uri) else { return };
        let mapper = Mapper::new(&document.rope, self.shared.client.encoding);
        let judged = |report: &KernelReport| {
            let has_earlier = document.last_good.names().any(|name| name == report.name);
            if report.broken && has_earlier { KernelState::Stale } else { judged(report) }
        };
        let kernel = |report: &KernelReport, state: KernelState| {
            let findings = report.findings.iter().filter(|finding| finding.severity < Severity::Hint).count();
            let hints = report.findings.len() - findings;
            KernelStatus { name: report.name.clone(), range: mapper.range(report.range), state, findings, hints }
        };
        let (state, kernels) = match (&document.analysis, &document.job) {
            (Some(known), _) => {
                let all = &known.analysis.kernels;
                (DocumentState::Done, all.iter().map(|report| kernel(report, judged(report))).collect())
            }
            (None, Some(job)) => {
                let found = job.findings.kernels.values();
                let running = found.map(|(depth, report)| match depth {
                    Depth::Full => kernel(report, judged(report)),
                    Depth::Quick => kernel(report, KernelState::Running),
                });
                (DocumentState::Running, running.collect())
            }
            (None, None) => (DocumentState::Queued, Vec::new()),
        };
        let earlier = document.last_good.names().filter(|name| !known(&kernels, name)).map(str::to_owned).collect();
        let earlier = if state == DocumentState::Done { Vec::new() } else { earlier };
        self.sender.status(Status { uri: uri.clone(), version: document.version, state, kernels, earlier });
    }
}

fn known(kernels: &[KernelStatus], name: &str) -> bool {
    kernels.iter().any(|kernel| kernel.name == name)
}

fn judged(report: &KernelReport) -> KernelState {
    match report.verdict {
        Verdict::Proved(_) => KernelState::Proved,
        Verdict::Clean(_) => KernelState::Clean,
        Verdict::Found => KernelState::Found,
        Verdict::Undecided(_) => KernelState::Undecided,
    }
}
