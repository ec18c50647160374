//! Files that a text names: in locations of TTGIR, and in the recipes of runs in both languages.

use crate::limits::links::MOST;
use base::TextRange;

/// What begins the recipe of a run in a comment.
const RECIPE: &str = "fencepost-run:";

/// A file that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLink {
    /// Where the file is named, without quotes.
    pub range: TextRange,
    /// Its path as it is written.
    pub path: String,
    /// Line and column, from 1, where they are named too.
    pub line: Option<(u32, u32)>,
}

/// The files that a text names, in order.
pub fn links(text: &str, python: bool) -> Vec<TextLink> {
    let mut found = recipes(text, if python { "#" } else { "//" });
    if !python {
        found.extend(locations(text));
    }
    found.sort_by_key(|link| link.range);
    found.truncate(MOST);
    found
}

/// `"k.py":12:3` of locations.
fn locations(text: &str) -> Vec<TextLink> {
    let bytes = text.as_bytes();
    let number = |at: usize| {
        let rest = text.get(at..).unwrap_or("");
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((rest.get(..end)?.parse::<u32>().ok()?, at + end))
    };
    let link = |quote: usize| {
        let (line, end) = number(quote + 2)?;
        let (column, _) = number(end + 1).filter(|_| bytes.get(end) == Some(&b':'))?;
        let start = memchr::memrchr2(b'"', b'\n', bytes.get(..quote)?)? + 1;
        let opened = bytes.get(start - 1) == Some(&b'"');
        let path = text.get(start..quote).filter(|path| opened && !path.is_empty())?;
        Some(TextLink {
            range: TextRange::new(start as u32, quote as u32),
            path: path.to_owned(),
            line: Some((line, column)),
        })
    };
    memchr::memmem::find_iter(bytes, b"\":").filter_map(link).take(MOST).collect()
}

/// `file(a.npy)` in the comments of a recipe.
fn recipes(text: &str, sign: &str) -> Vec<TextLink> {
    if memchr::memmem::find(text.as_bytes(), RECIPE.as_bytes()).is_none() {
        return Vec::new();
    }
    let (mut found, mut inside, mut at) = (Vec::new(), false, 0usize);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let comment = line.trim_start().strip_prefix(sign);
        inside =
            comment.is_some_and(|body| body.trim_start().starts_with(RECIPE) || (inside && body.starts_with("   ")));
        if !inside {
            continue;
        }
        for (open, _) in line.match_indices("file(") {
            let from = open + "file(".len();
            let rest = line.get(from..).unwrap_or("");
            let Some(end) = rest.find([',', ')']) else { continue };
            let inner = rest.get(..end).unwrap_or("");
            let path = inner.trim().trim_matches(['\'', '"']);
            let Some(skipped) = inner.find(path).filter(|_| !path.is_empty()) else { continue };
            let from = (start + from + skipped) as u32;
            let range = TextRange::new(from, from + path.len() as u32);
            found.push(TextLink { range, path: path.to_owned(), line: None });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_where_they_are_named() {
        let text = "// fencepost-run: a=f32[4]:file('x y.npz', m) b=f32[4]:file(b.npy)\n//    c=file(c.npy)\n// file(no.npy)\n\
                    #loc1 = loc(\"/a/k.py\":12:3)\n#loc2 = loc(callsite(\"b.py\":1:2 at #loc1)) // \"x\": 3\n";
        let said: Vec<String> =
            links(text, false).into_iter().map(|link| format!("{} {:?}", link.range.of(text), link.line)).collect();
        let expected = ["x y.npz None", "b.npy None", "c.npy None", "/a/k.py Some((12, 3))", "b.py Some((1, 2))"];
        assert_eq!(said, expected);
        assert_eq!(
            links("x = {\"a\":1:2}  # fencepost-run: a=file(q.npy)\n# fencepost-run: file(r.npy)\n", true).len(),
            1
        );
    }
}
