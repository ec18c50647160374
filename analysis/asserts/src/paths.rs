//! Files and places as another machine names them, in the text that is open here.

use super::same_file;
use base::{LineIndex, TextRange};
use ttgir::SourceLoc;

/// The text that findings are to be drawn in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetText<'a> {
    /// Its path.
    pub path: &'a str,
    /// It.
    pub text: &'a str,
    /// Whether it is Python.
    pub python: bool,
}

/// How paths of another machine become paths of this one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathMap(Vec<(String, String)>);

impl PathMap {
    /// A map; the first prefix that fits counts.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> PathMap {
        let clean = |path: String| path.trim_end_matches(['/', '\\']).to_owned();
        PathMap(pairs.into_iter().map(|(from, to)| (clean(from), clean(to))).collect())
    }

    /// The path here.
    pub fn apply(&self, path: &str) -> String {
        for (from, to) in &self.0 {
            let Some(rest) = path.strip_prefix(from.as_str()) else { continue };
            if rest.is_empty() || rest.starts_with(['/', '\\']) {
                return format!("{to}{rest}");
            }
        }
        path.to_owned()
    }

    /// Whether a path of another machine is this file.
    pub fn is(&self, path: &str, here: &str) -> bool {
        same_file(&self.apply(path), here)
    }
}

/// The range of a Python text that a location means: the call that begins there, else the word, else the line.
pub fn python_range(text: &str, line: u32, col: u32) -> TextRange {
    let lines = LineIndex::new(text);
    let start = lines.line_start(line.saturating_sub(1));
    let end = lines.line_start(line).max(start);
    let whole = TextRange::new(start, end).of(text);
    let trimmed = whole.trim();
    let indent = (whole.len() - whole.trim_start().len()) as u32;
    let line_range = TextRange::new(start + indent, start + indent + trimmed.len() as u32);
    let at = start + col.saturating_sub(1);
    if col == 0 || at >= end || !text.is_char_boundary(at as usize) {
        return line_range;
    }
    let rest = &text[at as usize..];
    let len = expression(rest);
    if len == 0 { line_range } else { TextRange::new(at, at + len as u32) }
}

/// Length of the name, the attributes and the calls that a text begins with.
fn expression(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' | b'[' if at > 0 => match closed(bytes, at) {
                Some(end) => at = end,
                None => return at,
            },
            b'.' | b'_' => at += 1,
            byte if byte.is_ascii_alphanumeric() || byte >= 0x80 => at += 1,
            _ => break,
        }
    }
    at
}

/// The end of the bracket that opens at `start`; strings and comments do not count.
fn closed(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' | b'\'' => {
                at += 1;
                while let Some(&inside) = bytes.get(at) {
                    match inside {
                        b'\\' => at += 1,
                        b'\n' => break,
                        inside if inside == byte => break,
                        _ => {}
                    }
                    at += 1;
                }
            }
            b'#' => {
                while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Of a chain of locations the innermost that is in a file of this text, with its number in the chain.
pub(crate) fn in_file<'a>(chain: &'a [SourceLoc], map: &PathMap, path: &str) -> Option<(usize, &'a SourceLoc)> {
    chain.iter().enumerate().find(|(_, loc)| map.is(&loc.file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_becomes_the_call() {
        let text = "def k():\n    mbarrier.wait(full.index(s), \")\")  # why\n    x = y + 1\n";
        let range = |line, col| python_range(text, line, col).of(text).to_owned();
        assert_eq!(range(2, 5), "mbarrier.wait(full.index(s), \")\")");
        assert_eq!(range(2, 19), "full.index(s)");
        assert_eq!(range(3, 9), "y");
        assert_eq!(range(2, 0), "mbarrier.wait(full.index(s), \")\")  # why");
        assert_eq!(range(9, 3), "");
    }

    #[test]
    fn paths_are_mapped_by_whole_components() {
        let map = PathMap::new([("/srv/app/".to_owned(), "/home/me".to_owned())]);
        assert_eq!(map.apply("/srv/app/k.py"), "/home/me/k.py");
        assert_eq!(map.apply("/srv/apple/k.py"), "/srv/apple/k.py");
        assert!(map.is("/srv/app/k.py", "/home/me/k.py") && map.is("gluon/k.py", "/src/gluon/k.py"));
        assert!(!map.is("/a/other.py", "/a/k.py"));
    }
}
