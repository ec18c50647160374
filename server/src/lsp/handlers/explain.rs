//! `fencepost/explain`: the page of a kind of finding, in Markdown.

use findings::Kind;
use serde::Deserialize;

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExplainParams {
    /// Name of the kind.
    pub(crate) kind: String,
}

/// The page; `None` where there is no such kind.
pub(crate) fn explain(params: &ExplainParams) -> Option<&'static str> {
    Kind::from_name(&params.kind).map(Kind::page)
}
