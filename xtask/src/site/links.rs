//! Links and anchors of a Markdown page, outside of code.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// `[text](target)`, or with `!` in front an image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Line, from 1.
    pub(crate) line: usize,
    /// The whole link in the page.
    pub(crate) range: Range<usize>,
    /// Whether it shows what it leads to.
    pub(crate) image: bool,
    /// What stands in the brackets.
    pub(crate) text: String,
    /// Where it leads, without the anchor.
    pub(crate) path: String,
    /// The anchor, without `#`.
    pub(crate) anchor: Option<String>,
}

impl Link {
    /// Whether it leads out of the repository.
    pub(crate) fn is_address(&self) -> bool {
        self.path.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphabetic()))
    }
}

/// All links of a page, in order.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (first, start, body) in paragraphs(text) {
        let code = code_spans(body);
        let mut at = 0;
        while let Some(middle) = body[at..].find("](").map(|offset| at + offset) {
            at = middle + 2;
            let Some(end) = body[at..].find(')').map(|offset| at + offset) else { break };
            let Some(open) = opening(&body[..middle]) else { continue };
            if code.iter().any(|span| span.contains(&open) || span.contains(&middle)) {
                continue;
            }
            let image = body[..open].ends_with('!');
            let target = &body[at..end];
            let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
            found.push(Link {
                line: first + body[..open].matches('\n').count(),
                range: start + open - usize::from(image)..start + end + 1,
                image,
                text: body[open + 1..middle].to_owned(),
                path: path.to_owned(),
                anchor: anchor.map(str::to_owned),
            });
            at = end;
        }
    }
    found
}

/// The bracket that the one at the end of the text closes.
fn opening(before: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in before.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(at),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The names by which headings of a page are linked.
pub(crate) fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, _, line) in prose(text) {
        let Some(heading) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) else {
            continue;
        };
        let name: String = heading
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
            .collect();
        let count = seen.entry(name.clone()).or_default();
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

/// The paragraphs of a page, since the words of a link may go on in the next line: number of the first line, offset, text.
fn paragraphs(text: &str) -> Vec<(usize, usize, &str)> {
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    let mut open = false;
    for (line, start, body) in prose(text) {
        match found.last_mut() {
            // Nothing but the end of a line lies between.
            Some((_, from, whole)) if open && !body.is_empty() && start <= *from + whole.len() + 2 => {
                *whole = &text[*from..start + body.len()];
            }
            _ => found.push((line, start, body)),
        }
        open = !body.is_empty();
    }
    found
}

/// The lines of a page that are no fenced code: number from 1, offset and text.
fn prose(text: &str) -> Vec<(usize, usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let mark = ["```", "~~~"].into_iter().find(|mark| body.trim_start().starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => found.push((at + 1, start, body)),
        }
    }
    found
}

/// Between backticks.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "# A `b` page\n\nsee [x](a.md#b-c) and ![y](d.svg)\n`[no](one)`\n```sh\n[no](two)\n```\n[[1]](e)\n";
        let found = links(text);
        let short: Vec<(usize, &str, &str, bool)> =
            found.iter().map(|link| (link.line, &*link.text, &*link.path, link.image)).collect();
        assert_eq!(short, [(3, "x", "a.md", false), (3, "y", "d.svg", true), (8, "[1]", "e", false)]);
        assert_eq!(found[0].anchor.as_deref(), Some("b-c"));
        assert_eq!(&text[found[1].range.clone()], "![y](d.svg)");
        assert!(links("[a](https://b.c/d)")[0].is_address() && !found[0].is_address());
    }

    #[test]
    fn the_words_of_a_link_may_go_on_in_the_next_line() {
        let text = "one [two\nthree](a.md), `four\n[no](b.md)`\n\n[five\n\nsix](c.md)\n";
        let found = links(text);
        assert_eq!(found.iter().map(|link| (link.line, &*link.text)).collect::<Vec<_>>(), [(1, "two\nthree")]);
        assert_eq!(&text[found[0].range.clone()], "[two\nthree](a.md)");
    }

    #[test]
    fn headings_have_names() {
        let text = "# What `it` says: x\n## A-b\n## A-b\n```\n# no\n```\n#no\n";
        assert_eq!(anchors(text), BTreeSet::from(["what-it-says-x", "a-b", "a-b-1"].map(str::to_owned)));
    }
}
