//! `fencepost/explain`: the page of a kind of finding, or of another code, in Markdown.

use findings::Code;
use serde::Deserialize;

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExplainParams {
    /// Name of the kind, or another code of a diagnostic.
    pub(crate) kind: String,
}

/// The page; `None` where there is no such kind.
pub(crate) fn explain(params: &ExplainParams) -> Option<&'static str> {
    Code::from_name(&params.kind).map(|code| code.page)
}
