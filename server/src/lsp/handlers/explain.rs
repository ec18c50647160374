//! `fencepost/explain`: the page of a kind of finding, or of another code, in Markdown.

use findings::PrintedCode;
use serde::Deserialize;

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExplainParams {
    /// Name of the kind, or another code of a diagnostic.
    pub(crate) kind: String,
}

/// The page, with its Python as what editors know it by; `None` where there is no such kind.
pub(crate) fn explain(params: &ExplainParams) -> Option<String> {
    let page = PrintedCode::from_name(&params.kind)?.page;
    Some(page.replace("\n```gluon", "\n```python").replace("\n```triton", "\n```python"))
}
