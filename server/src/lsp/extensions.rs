//! Names of the methods beyond the protocol.

use transport::CONTENT_METHOD;

/// The run of a finding.
pub(crate) const FINDING_RUN: &str = "fencepost/run";
/// The page of a kind.
pub(crate) const EXPLAIN: &str = "fencepost/explain";
/// The barrier report as JSON.
pub(crate) const REPORT: &str = "fencepost/report";
/// The run of a kernel.
pub(crate) const TIMELINE: &str = "fencepost/timeline";
/// The barrier report as text.
pub(crate) const REPORT_TEXT: &str = "fencepost/reportText";
/// The barrier report as a part of a page.
pub(crate) const REPORT_HTML: &str = "fencepost/reportHtml";

/// The lines of Python and the ops that belong together.
pub(crate) const LINKED_RANGES: &str = "fencepost/linkedRanges";

/// The ops as which a kernel in Python is analysed.
pub(crate) const ELABORATED_IR: &str = "fencepost/ir";

/// Methods beyond the protocol.
pub(crate) const EXTENSIONS: [&str; 9] =
    [FINDING_RUN, TIMELINE, EXPLAIN, REPORT, REPORT_TEXT, REPORT_HTML, LINKED_RANGES, ELABORATED_IR, CONTENT_METHOD];
