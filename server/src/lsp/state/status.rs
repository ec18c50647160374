//! `fencepost/status`: how far the analysis of each kernel of a document is, for clients that show it.

use engine::{Analysis, Depth};
use findings::{KernelReport, Severity, Verdict};
use tower_lsp::ls_types::Uri;
use transport::{DocumentState, KernelState, KernelStatus, Status};

use super::SessionState;
use crate::lsp::document::OpenDocument;
use crate::lsp::position::{Encoding, Mapper};

impl SessionState {
    /// Tells the client how far the analysis of a document is.
    pub(super) fn tell_status(&self, uri: &Uri) {
        if !self.shared.client.status {
            return;
        }
        let Some(document) = self.documents.get(uri) else { return };
        let encoding = self.shared.client.encoding;
        let (state, kernels) = match (&document.analysis, &document.settled, &document.job) {
            (Some(known), ..) => (DocumentState::Done, judged_kernels(document, &known.analysis, encoding)),
            (None, Some(settled), _) => (DocumentState::Done, settled.kernels.clone()),
            (None, None, Some(job)) => {
                let mapper = Mapper::new(&document.rope, encoding);
                let found = job.findings.kernels.values();
                let running = found.map(|(depth, report)| match depth {
                    Depth::Full => kernel(mapper, report, judged(document, report)),
                    Depth::Quick => kernel(mapper, report, KernelState::Running),
                });
                (DocumentState::Running, running.collect())
            }
            (None, None, None) => (DocumentState::Queued, Vec::new()),
        };
        let earlier = document.last_good.names().filter(|name| !known(&kernels, name)).map(str::to_owned).collect();
        let earlier = if state == DocumentState::Done { Vec::new() } else { earlier };
        self.sender.status(Status { uri: uri.clone(), version: document.version, state, kernels, earlier });
    }
}

fn known(kernels: &[KernelStatus], name: &str) -> bool {
    kernels.iter().any(|kernel| kernel.name == name)
}

/// What the analysis of a document says of its kernels.
pub(crate) fn judged_kernels(document: &OpenDocument, analysis: &Analysis, encoding: Encoding) -> Vec<KernelStatus> {
    let mapper = Mapper::new(&document.rope, encoding);
    analysis.kernels.iter().map(|report| kernel(mapper, report, judged(document, report))).collect()
}

fn kernel(mapper: Mapper<'_>, report: &KernelReport, state: KernelState) -> KernelStatus {
    let findings = report.findings.iter().filter(|finding| finding.severity < Severity::Hint).count();
    let hints = report.findings.len() - findings;
    KernelStatus { name: report.name.clone(), range: mapper.range(report.range), state, findings, hints }
}

fn judged(document: &OpenDocument, report: &KernelReport) -> KernelState {
    if report.broken && document.last_good.names().any(|name| name == report.name) {
        return KernelState::Stale;
    }
    match report.verdict {
        Verdict::Proved(_) => KernelState::Proved,
        Verdict::Clean(_) => KernelState::Clean,
        Verdict::Found => KernelState::Found,
        Verdict::Undecided(_) => KernelState::Undecided,
    }
}
