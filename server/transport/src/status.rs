//! `fencepost/status`: how far the analysis of a document is, as a notification.

use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::{Range, Uri};

/// How far the analysis of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DocumentState {
    /// It waits until fewer analyses run.
    Queued,
    /// It goes on.
    Running,
    /// It is over: what is said of the kernels is of this very text.
    Done,
}

/// How far the analysis of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KernelState {
    /// A first answer is there, and more is to come.
    Running,
    /// No finding for any inputs.
    Proved,
    /// No finding for the inputs that were run.
    Clean,
    /// Findings.
    Found,
    /// Not decided.
    Undecided,
    /// Its text does not parse or would be refused, and what is shown of it is of an earlier text.
    Stale,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelStatus {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub range: Range,
    /// How far its analysis is.
    pub state: KernelState,
    /// Its findings so far, without hints.
    pub findings: usize,
    /// Its hints so far.
    pub hints: usize,
}

/// The parameters of `fencepost/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusParams {
    /// The document.
    pub uri: Uri,
    /// The version of its text.
    pub version: i32,
    /// How far all of it is.
    pub state: DocumentState,
    /// The kernels of which something is known in this text.
    pub kernels: Vec<KernelStatus>,
    /// Those that this text has not come to, whose findings are of an earlier one.
    pub earlier: Vec<String>,
}

/// The notification.
pub(crate) enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = StatusParams;
    const METHOD: &'static str = "fencepost/status";
}
