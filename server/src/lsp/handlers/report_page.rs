//! The names of report documents, which clients ask for by `workspace/textDocumentContent`.
//!
//! A page is named `fencepost-report:/NAME.txt?[section=N&][kernel=NAME&]uri=DOCUMENT`, with the
//! document's own name last, so that nothing in it needs to be quoted again.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::report::ReportParams;
use transport::SCHEME;

/// What a page's name asks for; the document may be spelt in two ways, since clients differ in what
/// they quote.
pub(crate) fn parse(name: &str) -> Option<Vec<ReportParams>> {
    let query = name.strip_prefix(SCHEME)?.strip_prefix(':')?.split_once('?')?.1;
    let mut asked: Vec<ReportParams> = Vec::new();
    for params in [decoded(query), query.into()].iter().filter_map(|query| parse_query(query)) {
        if asked.iter().all(|known| known.uri != params.uri) {
            asked.push(params);
        }
    }
    (!asked.is_empty()).then_some(asked)
}

/// `section=2&kernel=f&uri=file:///k.ttgir`.
fn parse_query(query: &str) -> Option<ReportParams> {
    let (mut kernel, mut section, mut rest) = (None, None, query);
    loop {
        if let Some(uri) = rest.strip_prefix("uri=") {
            return Some(ReportParams { uri: uri.parse().ok()?, kernel, section, width: None });
        }
        let (pair, tail) = rest.split_once('&')?;
        match pair.split_once('=')? {
            ("kernel", name) => kernel = Some(decoded(name).into_owned()),
            ("section", number) => section = number.parse().ok(),
            _ => {}
        }
        rest = tail;
    }
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str) -> Vec<(String, Option<String>, Option<usize>)> {
        let all = parse(name).unwrap_or_default().into_iter();
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
        assert!(parse("file:///k.ttgir").is_none() && parse("fencepost-report:/k").is_none());
    }

    #[test]
    fn percent_signs_that_say_nothing_stay() {
        assert_eq!(decoded("a%20b%zz%2"), "a b%zz%2");
        assert_eq!(decoded("%C3%A9"), "é");
    }
}
