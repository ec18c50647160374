//! `fencepost/report`, `fencepost/reportText` and `fencepost/reportHtml`: the barrier report as a JSON document, as text
//! and as a page.

use base::{Cancel, Cancelled, Limits};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower_lsp::ls_types::{Position, Uri};

use crate::barrier_report::sections::{Selection, sections, select};
use crate::barrier_report::{Content, ReportInput, report_views};
use crate::lsp::snapshot::Snapshot;
use render::SourceText;
use render::report::blocks::DocBlock;
use render::report::html::{self, HtmlFragment};
use render::report::json::{ReportDocument, ReportJson};
use render::report::{ReportView, SectionEntry, section_list, text as text_of};
use render::style::Painter;

/// Width of text, unless the client says another.
const WIDTH: u32 = 100;

/// Which report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReportParams {
    /// The document.
    pub(crate) uri: Uri,
    /// Only this kernel.
    pub(crate) kernel: Option<String>,
    /// Only this section of a dump, from 1. Of a dump with none named the sections are listed.
    pub(crate) section: Option<usize>,
    /// Columns of text.
    pub(crate) width: Option<u32>,
}

/// A report as text.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportText {
    /// The text.
    pub(crate) text: String,
    /// The version of the document that it is about.
    pub(crate) version: i32,
}

/// A report as a part of a page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportHtml {
    /// The file.
    title: String,
    #[serde(flatten)]
    page: HtmlFragment,
    /// The version of the document that it is about.
    version: i32,
}

/// The JSON document, with positions in the client's encoding.
pub(crate) fn document(snapshot: &Snapshot, params: &ReportParams, cancel: &Cancel<'_>) -> Result<Value, Cancelled> {
    let mapper = snapshot.mapper();
    let positions = |offset: u32| {
        let Position { line, character } = mapper.position(offset);
        (line, character)
    };
    made(snapshot, params, None, cancel, |path, views, listed| {
        let reports = views.iter().map(|view| ReportJson::new(view, &positions)).collect();
        let sections = listed.iter().map(|listed| (path, listed));
        let encoding = snapshot.client.encoding.kind();
        ReportDocument::new(encoding.as_str(), Some(snapshot.version), reports, sections).value()
    })
}

/// The text.
pub(crate) fn text(snapshot: &Snapshot, params: &ReportParams, cancel: &Cancel<'_>) -> Result<ReportText, Cancelled> {
    let width = params.width.unwrap_or(WIDTH).clamp(60, 1000) as usize;
    let text = made(snapshot, params, None, cancel, |path, views, listed| {
        if !listed.is_empty() {
            return text_of::print(&section_list(path, listed), width, Painter::plain());
        }
        if views.is_empty() {
            return format!("{}\n", nothing(params, path));
        }
        views.iter().map(|view| text_of::draw(view, width, Painter::plain())).collect()
    })?;
    Ok(ReportText { text, version: snapshot.version })
}

/// The page, with the run of each kernel drawn.
pub(crate) fn page(snapshot: &Snapshot, params: &ReportParams, cancel: &Cancel<'_>) -> Result<ReportHtml, Cancelled> {
    let limits = snapshot.settings(cancel).limits();
    let page = made(snapshot, params, Some(&limits), cancel, |path, views, listed| {
        let said = match (listed.is_empty(), views.is_empty()) {
            (false, _) => section_list(path, listed),
            (true, true) => vec![DocBlock::Text(nothing(params, path))],
            (true, false) => Vec::new(),
        };
        html::reports(views, &said)
    })?;
    Ok(ReportHtml { title: name(&snapshot.uri), page, version: snapshot.version })
}

/// What is said where there is nothing to report.
fn nothing(params: &ReportParams, path: &str) -> String {
    let what = params.kernel.as_ref().map_or_else(|| "kernel".to_owned(), |name| format!("kernel @{name}"));
    format!("There is no {what} in {path}.")
}

/// Makes the reports that are asked for, or the list of sections where it is not clear which; with limits each with a
/// run to draw.
fn made<R>(
    snapshot: &Snapshot,
    params: &ReportParams,
    drawn: Option<&Limits>,
    cancel: &Cancel<'_>,
    print: impl FnOnce(&str, &[ReportView<'_>], &[SectionEntry]) -> R,
) -> Result<R, Cancelled> {
    let path = name(&snapshot.uri);
    let places = SourceText::new(snapshot.source.text());
    let elaboration = snapshot.elaboration(cancel)?;
    let content = match (snapshot.source.ir(), &elaboration) {
        (Some(document), _) => Content::Ir(document),
        (None, Some(elaboration)) => Content::Python(elaboration),
        (None, None) => return Ok(print(&path, &[], &[])),
    };
    let file = ReportInput { path: &path, content, places: &places };
    let kernel = params.kernel.as_deref();
    let mut listed = sections(content, &places, kernel);
    match (params.section, select(None, &listed)) {
        (None, Ok(Selection::Ambiguous)) => return Ok(print(&path, &[], &listed)),
        (None, Ok(Selection::Sections(these))) => {
            listed = these.into_iter().filter_map(|at| listed.get(at).cloned()).collect();
        }
        (Some(number), _) => listed.retain(|listed| number == listed.name.number),
        (None, Err(_)) => {}
    }
    let mut engine = snapshot.cache.engine();
    engine.set_limits(snapshot.settings(cancel).limits());
    let mut all = Vec::new();
    for section in &listed {
        cancel.check()?;
        all.extend(report_views(&file, section.index, kernel, &mut engine, drawn, cancel)?);
    }
    Ok(print(&path, &all, &[]))
}

/// The last part of a document's name, as people write it.
fn name(uri: &Uri) -> String {
    let path = percent_decode_str(uri.path().as_str()).decode_utf8_lossy();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}
