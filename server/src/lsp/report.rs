//! The barrier report over LSP: as a JSON document, as text, and where to ask for it.
//!
//! A page is named `fencepost-report:/NAME.txt?[section=N&][kernel=NAME&]uri=DOCUMENT`, with the
//! document's own name last, so that nothing in it needs to be quoted again.

use base::{Cancel, Cancelled};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::ls_types::{CodeLens, Command, Position, Uri};

use super::content::SCHEME;
use super::document::Snapshot;
use super::facts::SHOW_REPORT;
use super::python;
use crate::barrier_report::sections::{Selection, sections, select};
use crate::barrier_report::{Content, ReportInput, report_views};
use render::SourceText;
use render::report::{ReportView, SectionEntry, json as document_of, section_list, text as text_of};
use render::style::Painter;

/// Width of text, unless the client says another.
const WIDTH: u32 = 100;

/// Which report.
#[derive(Clone, Debug, Deserialize)]
pub struct ReportParams {
    /// The document.
    pub uri: Uri,
    /// Only this kernel.
    pub kernel: Option<String>,
    /// Only this section of a dump, from 1. Of a dump with none named the sections are listed.
    pub section: Option<usize>,
    /// Columns of text.
    pub width: Option<u32>,
}

/// A report as text.
#[derive(Clone, Debug, Serialize)]
pub struct ReportText {
    /// The text.
    pub text: String,
    /// The version of the document that it is about.
    pub version: i32,
}

/// What a lens hands to its command.
#[derive(Clone, Debug, Serialize)]
pub struct Lens<'a> {
    uri: &'a Uri,
    kernel: &'a str,
    section: usize,
}

/// The JSON document, with positions in the client's encoding.
pub fn document(snapshot: &Snapshot, params: &ReportParams, cancel: &Cancel<'_>) -> Result<Value, Cancelled> {
    let mapper = snapshot.mapper();
    let positions = |offset: u32| {
        let Position { line, character } = mapper.position(offset);
        (line, character)
    };
    made(snapshot, params, cancel, |path, sheets, listed| {
        let reports = sheets.iter().map(|sheet| document_of::report(sheet, &positions)).collect();
        let sections = listed.iter().map(|listed| document_of::listed(path, listed)).collect();
        let mut document = document_of::document(snapshot.facts.encoding.kind().as_str(), reports, sections);
        document["version"] = json!(snapshot.version);
        document
    })
}

/// The text.
pub fn text(snapshot: &Snapshot, params: &ReportParams, cancel: &Cancel<'_>) -> Result<ReportText, Cancelled> {
    let width = params.width.unwrap_or(WIDTH).clamp(60, 1000) as usize;
    let text = made(snapshot, params, cancel, |path, sheets, listed| {
        if !listed.is_empty() {
            return text_of::print(&section_list(path, listed), width, Painter::plain());
        }
        if sheets.is_empty() {
            let what = params.kernel.as_ref().map_or_else(|| "kernel".to_owned(), |name| format!("kernel @{name}"));
            return format!("There is no {what} in {path}.\n");
        }
        sheets.iter().map(|sheet| text_of::draw(sheet, width, Painter::plain())).collect()
    })?;
    Ok(ReportText { text, version: snapshot.version })
}

/// Makes the reports that are asked for, or the list of sections where it is not clear which.
fn made<R>(
    snapshot: &Snapshot,
    params: &ReportParams,
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
    // Only a text that is analysed is remembered there; till then somebody else has it.
    let engine = if snapshot.checked.is_some() { &snapshot.desk.engine } else { &snapshot.desk.quick };
    let mut engine = engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut all = Vec::new();
    for section in &listed {
        cancel.check()?;
        all.extend(report_views(&file, section.index, kernel, &mut engine, None, cancel)?);
    }
    drop(engine);
    Ok(print(&path, &all, &[]))
}

/// The last part of a document's name, as people write it.
fn name(uri: &Uri) -> String {
    let path = decoded(uri.path().as_str());
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// What a page's name asks for; the document may be spelt in two ways, since clients differ in what
/// they quote.
pub fn of_page(name: &str) -> Option<Vec<ReportParams>> {
    let query = name.strip_prefix(SCHEME)?.strip_prefix(':')?.split_once('?')?.1;
    let mut asked: Vec<ReportParams> = Vec::new();
    for params in [decoded(query), query.to_owned()].iter().filter_map(|query| of_query(query)) {
        if asked.iter().all(|known| known.uri != params.uri) {
            asked.push(params);
        }
    }
    (!asked.is_empty()).then_some(asked)
}

/// `section=2&kernel=f&uri=file:///k.ttgir`.
fn of_query(query: &str) -> Option<ReportParams> {
    let (mut kernel, mut section, mut rest) = (None, None, query);
    loop {
        if let Some(uri) = rest.strip_prefix("uri=") {
            return Some(ReportParams { uri: uri.parse().ok()?, kernel, section, width: None });
        }
        let (pair, tail) = rest.split_once('&')?;
        match pair.split_once('=')? {
            ("kernel", name) => kernel = Some(decoded(name)),
            ("section", number) => section = number.parse().ok(),
            _ => {}
        }
        rest = tail;
    }
}

/// Text without its percent signs.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The kernels of a text, by the section of the report that each is in.
pub fn kernels(snapshot: &Snapshot) -> Vec<engine::ide::KernelPlace> {
    if let Some(document) = snapshot.source.ir() {
        return engine::ide::kernels(document);
    }
    let Some(elaboration) = python::elaboration(snapshot) else { return Vec::new() };
    let mut section = 0;
    let places = elaboration.kernels.iter().filter_map(|kernel| {
        let first = section;
        section += kernel.instances.len();
        let range = elaboration.module.place(kernel.entry.name_range).0;
        let place = engine::ide::KernelPlace { section: first, name: kernel.entry.name.clone(), range };
        (!kernel.instances.is_empty()).then_some(place)
    });
    places.collect()
}

/// A lens a kernel.
pub fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let lens = |kernel: engine::ide::KernelPlace| {
        let argument = Lens { uri: &snapshot.uri, kernel: &kernel.name, section: kernel.section + 1 };
        CodeLens {
            range: snapshot.mapper().range(kernel.range),
            command: Some(Command {
                title: "Show barrier report".to_owned(),
                command: SHOW_REPORT.to_owned(),
                arguments: Some(vec![json!(argument)]),
            }),
            data: None,
        }
    };
    kernels(snapshot).into_iter().map(lens).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str) -> Vec<(String, Option<String>, Option<usize>)> {
        let all = of_page(name).unwrap_or_default().into_iter();
        all.map(|it| (it.uri.as_str().to_owned(), it.kernel, it.section)).collect()
    }

    #[test]
    fn a_page_names_its_document_however_it_is_quoted() {
        let plain = asked("fencepost-report:/k.ttgir.txt?uri=file:///a/k.ttgir");
        assert_eq!(plain, [("file:///a/k.ttgir".to_owned(), None, None)]);
        let quoted = asked("fencepost-report:/k.ttgir.txt?section%3D2%26kernel%3Df%26uri%3Dfile%3A///a%2520b.ttgir");
        assert_eq!(quoted, [("file:///a%20b.ttgir".to_owned(), Some("f".to_owned()), Some(2))]);
        let unquoted = asked("fencepost-report:/x?kernel=a%26b&uri=file:///a%20b.ttgir");
        assert!(unquoted.contains(&("file:///a%20b.ttgir".to_owned(), Some("a&b".to_owned()), None)), "{unquoted:?}");
        assert!(of_page("file:///k.ttgir").is_none() && of_page("fencepost-report:/k").is_none());
    }

    #[test]
    fn percent_signs_that_say_nothing_stay() {
        assert_eq!(decoded("a%20b%zz%2"), "a b%zz%2");
        assert_eq!(decoded("%C3%A9"), "é");
    }
}
