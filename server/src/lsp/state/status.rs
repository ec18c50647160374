//! `fencepost/status`: how far the analysis of each kernel of a document is, for clients that show it.

use engine::Depth;
use tower_lsp::ls_types::Uri;
use transport::{DocumentState, KernelState, KernelStatus, StatusParams};

use super::SessionState;
use crate::lsp::kernel_status;
use crate::lsp::position::Mapper;

impl SessionState {
    /// Tells the client how far the analysis of a document is.
    pub(super) fn tell_status(&self, uri: &Uri) {
        if !self.shared.client.status {
            return;
        }
        let Some(document) = self.documents.get(uri) else { return };
        let mapper = Mapper::new(&document.rope, self.shared.client.encoding);
        let (state, kernels) = match (&document.analysis, &document.settled, &document.job) {
            (Some(known), ..) => {
                (DocumentState::Done, kernel_status::judged(&known.analysis.kernels, mapper, &document.last_good))
            }
            (None, Some(settled), _) => (DocumentState::Done, settled.kernels.clone()),
            (None, None, Some(job)) => {
                let found = job.findings.kernels.values();
                let running = found.map(|(depth, report)| match depth {
                    Depth::Full => kernel_status::of(report, mapper, kernel_status::state(report, &document.last_good)),
                    Depth::Quick => kernel_status::of(report, mapper, KernelState::Running),
                });
                (DocumentState::Running, running.collect())
            }
            (None, None, None) => (DocumentState::Queued, Vec::new()),
        };
        let earlier = document.last_good.names().filter(|name| !known(&kernels, name)).map(str::to_owned).collect();
        let earlier = if state == DocumentState::Done { Vec::new() } else { earlier };
        self.sender.status(StatusParams { uri: uri.clone(), version: document.version, state, kernels, earlier });
    }
}

fn known(kernels: &[KernelStatus], name: &str) -> bool {
    kernels.iter().any(|kernel| kernel.name == name)
}
