//! Edits as somebody makes them who types, cuts, pastes and takes back, now and then carelessly.

use base::TextRange;
use base::rng::SplitMix64;

/// Takes `range` out of a text and puts `with` in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes.
    pub range: TextRange,
    /// What comes.
    pub with: String,
}

impl Edit {
    /// The text with the edit made. A range that the text does not have is brought to the nearest one that it has.
    pub fn apply(&self, text: &str) -> String {
        let range = self.fit(text);
        [&text[..range.start as usize], &self.with, &text[range.end as usize..]].concat()
    }

    /// The range as the text has it.
    pub fn fit(&self, text: &str) -> TextRange {
        let start = boundary(text, self.range.start as usize);
        let end = boundary(text, self.range.end as usize).max(start);
        TextRange::new(start as u32, end as u32)
    }

    /// The edit that takes this one back.
    fn inverse(&self, text: &str) -> Edit {
        let range = self.fit(text);
        let end = range.start + self.with.len() as u32;
        Edit { range: TextRange::new(range.start, end), with: range.of(text).to_owned() }
    }
}

/// The boundary of a character at a place or before it.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// What opens, closes, quotes or separates something in either language, and what takes more than one byte or unit.
pub const SIGNS: [&str; 26] = [
    "(", ")", "[", "]", "{", "}", "<", ">", "\"", "'", "\"\"\"", "\\", "%", "#", "@", "!", "^", ":", ",", "=", "->",
    "//", "\n", "\r\n", "é", "𝒳",
];

/// What is typed beside these: letters, what names are made of, and beginnings.
const TYPED: &[&str] = &[
    "a",
    "x",
    "0",
    "7",
    "_",
    ".",
    " ",
    " ",
    "\n",
    "\t",
    "# ",
    "→",
    "loc(",
    "module {",
    "%x = ",
    "tt.func @f() {",
    "    }",
    "def f(",
    "    return ",
    "if x:",
    "// -----",
    "pass\n",
    "{\n",
    "}\n",
];

/// Somebody who edits.
#[derive(Clone, Debug)]
pub struct Typist {
    rng: SplitMix64,
    undo: Vec<Edit>,
    clipboard: String,
    /// Where the last edit was: most are near it.
    cursor: usize,
}

impl Typist {
    /// One of many.
    pub fn new(seed: u64, stream: u64) -> Typist {
        Typist { rng: SplitMix64::stream(seed, stream), undo: Vec::new(), clipboard: String::new(), cursor: 0 }
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.rng.below(count)
    }

    /// A place in a text.
    pub fn place(&mut self, text: &str) -> usize {
        let at = self.rng.below(text.len() + 1);
        boundary(text, at)
    }

    /// The next edit of a text that began as `original`.
    pub fn edit(&mut self, text: &str, original: &str) -> Edit {
        let edit = self.choose(text, original);
        self.cursor = edit.range.start as usize + edit.with.len();
        edit
    }

    fn choose(&mut self, text: &str, original: &str) -> Edit {
        // Who has wrecked a file starts again.
        if self.rng.one_in(60) || text.len() > 2 * original.len() + 4096 {
            self.undo.clear();
            return Edit { range: TextRange::new(0, text.len() as u32), with: original.to_owned() };
        }
        if self.rng.one_in(4)
            && let Some(edit) = self.undo.pop()
        {
            return edit;
        }
        let at = if self.rng.one_in(3) { self.place(text) } else { boundary(text, self.cursor) };
        let (start, end) = line(text, at);
        let edit = |start: usize, end: usize, with: &str| Edit {
            range: TextRange::new(start as u32, end as u32),
            with: with.to_owned(),
        };
        let made = match self.rng.below(16) {
            0..=2 => edit(at, at, TYPED[self.rng.below(TYPED.len())]),
            3..=5 => edit(at, at, SIGNS[self.rng.below(SIGNS.len())]),
            6 | 7 => edit(at, text[at..].chars().next().map_or(at, |next| at + next.len_utf8()), ""),
            8 => {
                self.clipboard = text[start..end].to_owned();
                edit(start, end, "")
            }
            9 => edit(start, start, &self.clipboard.clone()),
            10 => edit(at, at, &self.clipboard.clone()),
            11 => edit(end, end, &text[start..end]),
            12 => {
                let from = self.place(text);
                let last = boundary(text, from + self.rng.below(400));
                self.clipboard = text[from..last].to_owned();
                edit(from, last, "")
            }
            13 => {
                let from = self.place(text);
                self.clipboard = word(text, from).to_owned();
                let old = word_range(text, at);
                edit(old.0, old.1, &self.clipboard.clone())
            }
            14 => edit(start, start, if self.rng.one_in(2) { "// " } else { "# " }),
            _ => {
                let content = text[start..end].trim_end().len();
                edit(start + content, start + content, if self.rng.one_in(2) { " {" } else { " (" })
            }
        };
        self.undo.push(made.inverse(text));
        if self.undo.len() > 12 {
            self.undo.remove(0);
        }
        made
    }
}

/// The line of a place, with its end.
fn line(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    (start, end)
}

fn word(text: &str, at: usize) -> &str {
    let (start, end) = word_range(text, at);
    &text[start..end]
}

/// The word of a place.
fn word_range(text: &str, at: usize) -> (usize, usize) {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '%' | '#' | '.');
    let start = text[..at]
        .rfind(|c| !is_word(c))
        .map_or(0, |last| last + text[last..].chars().next().map_or(0, char::len_utf8));
    let end = text[at..].find(|c| !is_word(c)).map_or(text.len(), |end| at + end);
    (start, end)
}

/// The fewest edits of the shortest text that still fail: edits from the front are made first, then edits and lines of
/// the text are left out one after the other.
pub fn shrink(text: &str, edits: &[Edit], fails: &dyn Fn(&str, &[Edit]) -> bool) -> (String, Vec<Edit>) {
    let (mut text, mut edits) = (text.to_owned(), edits.to_vec());
    while edits.len() > 1 {
        let made = edits[0].apply(&text);
        if !fails(&made, &edits[1..]) {
            break;
        }
        text = made;
        edits.remove(0);
    }
    let mut at = 0;
    while at < edits.len() {
        let mut fewer = edits.clone();
        fewer.remove(at);
        if !fewer.is_empty() && fails(&text, &fewer) { edits = fewer } else { at += 1 }
    }
    let mut size = text.lines().count().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        while from < text.split_inclusive('\n').count() {
            match without_lines(&text, &edits, from, size).filter(|(text, edits)| fails(text, edits)) {
                Some(less) => (text, edits) = less,
                None => from += size,
            }
        }
        if size == 1 {
            return (text, edits);
        }
        size = size.div_ceil(2);
    }
}

/// The text without some of its lines, and the edits moved; `None` where the first edit is in them.
fn without_lines(text: &str, edits: &[Edit], from: usize, count: usize) -> Option<(String, Vec<Edit>)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let upto = (from + count).min(lines.len());
    let (start, gone) = (length(&lines[..from]), length(&lines[from..upto]));
    let moved = |edit: &Edit| {
        let (first, last) = (edit.range.start as usize, edit.range.end as usize);
        let range = match () {
            () if last <= start => edit.range,
            () if first >= start + gone => TextRange::new((first - gone) as u32, (last - gone) as u32),
            () if first <= start && last >= start + gone => TextRange::new(first as u32, (last - gone) as u32),
            () => return None,
        };
        Some(Edit { range, with: edit.with.clone() })
    };
    let edits = edits.iter().map(moved).collect::<Option<Vec<Edit>>>()?;
    Some(([&lines[..from], &lines[upto..]].concat().concat(), edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_can_be_taken_back() {
        let mut typist = Typist::new(1, 0);
        let original = "first é line\nsecond 𝒳 line\n\nlast";
        let mut text = original.to_owned();
        for _ in 0..2000 {
            let edit = typist.edit(&text, original);
            let made = edit.apply(&text);
            assert_eq!(edit.inverse(&text).apply(&made), text);
            text = made;
        }
    }

    #[test]
    fn a_failing_case_is_cut_down_to_what_fails() {
        let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
        let edit = |at: usize, with: &str| Edit { range: TextRange::new(at as u32, at as u32), with: with.to_owned() };
        let edits = [edit(3, "a"), edit(100, "!"), edit(30, "b")];
        let fails = |text: &str, edits: &[Edit]| {
            let made = edits.iter().fold(text.to_owned(), |text, edit| edit.apply(&text));
            made.contains('!') && made.contains("line 39")
        };
        let (text, edits) = shrink(&text, &edits, &fails);
        assert!(text.lines().count() <= 3 && edits.len() == 1, "{text:?} {edits:?}");
    }
}
