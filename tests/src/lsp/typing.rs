//! A line that is typed key by key: what was found elsewhere in the file stays where it is, whatever the line says by
//! then.

use serde_json::{Value, json};

use super::client::{Server, range};

/// A place in the text: a finding's kind, the text that it is drawn at, and its line.
pub(crate) type Drawn = (String, String, usize);

/// What is typed into TTGIR, behind the indentation of its place.
pub(crate) const IN_TTGIR: &str = "%typed = arith.addi %c, {x";

/// The same of Python.
pub(crate) const IN_PYTHON: &str = "typed = (1 + 22) // 3";

/// A document that a line is typed into.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The language as the protocol names it.
    pub language: &'static str,
    /// The document's name.
    pub uri: String,
    /// Its text.
    pub text: String,
    /// The line in front of which it is typed, counted from 0.
    pub at: usize,
    /// What is typed.
    pub line: String,
}

/// The findings among diagnostics: what the analysis has found, not what it says of the text.
pub(crate) fn findings(diagnostics: &[Value], text: &str) -> Vec<Drawn> {
    let said = ["undecided", "syntax", "assumed", "unmodelled"];
    let kinds = include_str!("../../../README.md");
    let mut found: Vec<Drawn> = diagnostics
        .iter()
        .filter_map(|diagnostic| {
            let code = diagnostic["code"].as_str()?.to_owned();
            let is_kind = kinds.contains(&format!("| [{code}](")) && !said.contains(&code.as_str());
            let start = &diagnostic["range"]["start"];
            let line = usize::try_from(start["line"].as_u64()?).ok()?;
            let column = usize::try_from(start["character"].as_u64()?).ok()?;
            let drawn = text.lines().nth(line)?.get(column..)?.to_owned();
            is_kind.then_some((code, drawn, line))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The capabilities of a client that is told when a document is judged.
pub(crate) fn told_of_status() -> Value {
    json!({ "experimental": { "fencepostStatus": true } })
}

/// The diagnostics of a document's first version, once all of it is judged: before that a quick look is shown.
fn settled(server: &mut Server, uri: &str) -> Vec<Value> {
    let is = |params: &Value| params["uri"] == json!(uri) && params["version"] == json!(1);
    loop {
        let status = server.event("fencepost/status")["params"].clone();
        if is(&status) && status["state"] == json!("done") {
            break;
        }
    }
    let published = server.pending("textDocument/publishDiagnostics");
    let last = published.iter().map(|message| &message["params"]).rfind(|params| is(params));
    last.and_then(|params| params["diagnostics"].as_array().cloned()).unwrap_or_default()
}

/// Types a line, key by key, into a broken document that is opened for it; how many findings there are.
///
/// # Errors
///
/// The first key after which a finding is not where it was; that there is none.
pub(crate) fn type_line(server: &mut Server, typed: &Typed) -> Result<usize, String> {
    let Typed { language, uri, text, at, line } = typed;
    let at = *at;
    server.open_as(language, uri, text);
    let shown = settled(server, uri);
    let first = findings(&shown, text);
    let count = first.len();
    if count == 0 {
        return Err(format!("nothing is found before anything is typed: {shown:?}"));
    }
    let mut version = 2;
    server.change(uri, version, Some(range((at, 0), (at, 0))), "\n");
    let mut now: Vec<String> = text.lines().map(str::to_owned).collect();
    now.insert(at, String::new());
    let expected: Vec<Drawn> =
        first.into_iter().map(|(code, drawn, line)| (code, drawn, if line < at { line } else { line + 1 })).collect();
    let mut wrong = None;
    for (column, key) in line.chars().enumerate() {
        version += 1;
        server.change(uri, version, Some(range((at, column), (at, column))), &key.to_string());
        now[at].push(key);
        let shown = findings(&server.diagnostics(uri, version), &now.join("\n"));
        if let Some(wanted) = expected.iter().find(|wanted| !shown.contains(wanted)) {
            wrong = Some(format!("after {:?} in line {} {wanted:?} is not among {shown:?}", now[at], at + 1));
            break;
        }
    }
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    wrong.map_or(Ok(count), Err)
}

/// The line nearest to the middle of a text that an op or statement of a body starts in, and its indentation.
pub(crate) fn middle(text: &str, starts: impl Fn(&str) -> bool) -> Option<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let all = (0..lines.len()).filter(|at| starts(lines[*at]));
    let at = all.min_by_key(|at| at.abs_diff(lines.len() / 2))?;
    let indent = lines[at].len() - lines[at].trim_start().len();
    Some((at, " ".repeat(indent)))
}
