//! Marks: expectations in the comments of a source.
//!
//! ```text
//!     ttg.local_load %buf
//!     //             ^^^^ missing-forward-barrier: (2) reads `%buf`
//!     //             ---- (1) a further site of the same finding
//! ```
//!
//! In Python a mark starts with `#`. A mark stands under the line it is about. `^^^^ kind: text` is a primary site and must match a
//! finding by range and kind, each finding by exactly one mark; `---- (n) text` is the `n`th site
//! of a finding. Further sites are compared where a source marks any. The text is for the reader. A kind may have
//! its finding's severity behind it, `^^^^ lapped-wait (error): text`, which is compared then.
//! A range over several lines is marked on its first. Columns count characters, a tab as one.

use std::fmt::Write;
use std::ops::Range;

/// One place of a line: line and columns from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line of the source, its mark lines counted in.
    pub line: usize,
    /// First column.
    pub start: usize,
    /// One past the last column.
    pub end: usize,
}

/// A primary site, expected or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primary {
    /// Kind of the finding, or code of a syntax error; of an expected one maybe with its severity.
    pub kind: String,
    /// How bad the found one is.
    pub severity: &'static str,
    /// Where.
    pub place: Place,
    /// What the mark says behind the kind.
    pub text: String,
}

/// A further site, expected or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Further {
    /// Its number among the finding's sites, from 1.
    pub number: usize,
    /// Where.
    pub place: Place,
    /// What the mark says behind the number.
    pub text: String,
}

/// All marks of a source, or all that was found in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Primary sites.
    pub primary: Vec<Primary>,
    /// Further sites.
    pub further: Vec<Further>,
}

impl Primary {
    /// Whether an expected site is this one.
    fn means(&self, found: &Primary) -> bool {
        let same = self.kind == found.kind
            || self.kind.strip_prefix(&found.kind).is_some_and(|rest| rest == format!(" ({})", found.severity));
        same && self.place == found.place
    }
}

enum Mark<'a> {
    Primary { kind: &'a str, text: &'a str },
    Further { number: usize, text: &'a str },
}

/// Reads a line as a mark: its columns and what it says.
fn mark(line: &str) -> Option<(Range<usize>, Mark<'_>)> {
    let text = line.trim_start();
    let after = text.strip_prefix("//").or_else(|| text.strip_prefix('#'))?;
    let sign = after.trim_start();
    let start = line[..line.len() - sign.len()].chars().count();
    let of = sign.chars().next().filter(|c| matches!(c, '^' | '-'))?;
    let rest = sign.trim_start_matches(of);
    let columns = start..start + (sign.len() - rest.len());
    let rest = rest.strip_prefix(' ')?.trim();
    if of == '^' {
        let (kind, text) = rest.split_once(':').unwrap_or((rest, ""));
        return Some((columns, Mark::Primary { kind: kind.trim(), text: text.trim() }));
    }
    let (number, text) = rest.strip_prefix('(')?.split_once(')')?;
    Some((columns, Mark::Further { number: number.parse().ok()?, text: text.trim() }))
}

/// Whether a line of a source is a mark.
pub fn is_mark(line: &str) -> bool {
    mark(line).is_some()
}

impl Marks {
    /// The marks of a source; a mark before the first line is ignored.
    pub fn read(source: &str) -> Marks {
        let mut marks = Marks::default();
        let mut above = 0;
        for (at, line) in source.lines().enumerate() {
            match mark(line) {
                None => above = at,
                Some((columns, mark)) => {
                    let place = Place { line: above, start: columns.start, end: columns.end };
                    match mark {
                        Mark::Primary { kind, text } => {
                            marks.primary.push(Primary { kind: kind.into(), severity: "", place, text: text.into() });
                        }
                        Mark::Further { number, text } => {
                            marks.further.push(Further { number, place, text: text.into() });
                        }
                    }
                }
            }
        }
        marks
    }

    /// What `self`, the expectation, and `found` disagree about, a line each.
    pub fn disagreements(&self, found: &Marks) -> Vec<String> {
        let mut lines = Vec::new();
        let mut left: Vec<&Primary> = found.primary.iter().collect();
        for mark in &self.primary {
            match left.iter().position(|site| mark.means(site)) {
                Some(at) => drop(left.remove(at)),
                None => lines.push(format!("not found: {} at {}", mark.kind, show(&mark.place))),
            }
        }
        for site in left {
            let doubled = self.primary.iter().any(|mark| mark.means(site));
            let what = if doubled { "found twice" } else { "not marked" };
            lines.push(format!("{what}: {} at {}", site.kind, show(&site.place)));
        }
        if !self.further.is_empty() {
            let key = |site: &Further| (site.place.clone(), site.number);
            for mark in self.further.iter().filter(|mark| !found.further.iter().any(|site| key(site) == key(mark))) {
                lines.push(format!("not found: site ({}) at {}", mark.number, show(&mark.place)));
            }
            for site in found.further.iter().filter(|site| !self.further.iter().any(|mark| key(site) == key(mark))) {
                lines.push(format!("not marked: site ({}) at {}", site.number, show(&site.place)));
            }
        }
        lines
    }

    /// The source with these marks instead of those it has, in comments that start with `comment`.
    pub fn draw(&self, source: &str, comment: &str) -> String {
        let mut drawn = String::new();
        for (at, line) in source.lines().enumerate().filter(|(_, line)| !is_mark(line)) {
            drawn.push_str(line);
            drawn.push('\n');
            let mut below: Vec<(&Place, String)> = Vec::new();
            for site in self.further.iter().filter(|site| site.place.line == at) {
                let text = format!("{} ({}) {}", sign('-', &site.place), site.number, site.text);
                below.push((&site.place, text.trim_end().to_string()));
            }
            for site in self.primary.iter().filter(|site| site.place.line == at) {
                let text = format!("{} {}: {}", sign('^', &site.place), site.kind, site.text);
                below.push((&site.place, text.trim_end().trim_end_matches(':').to_string()));
            }
            below.sort_by(|a, b| (a.0.start, &a.1).cmp(&(b.0.start, &b.1)));
            below.dedup();
            let indent = line.chars().take_while(|c| c.is_whitespace()).count();
            for (place, text) in below {
                let at = if place.start > indent + comment.len() { indent } else { 0 };
                let gap = place.start.saturating_sub(at + comment.len());
                let _ = writeln!(drawn, "{:at$}{comment}{:gap$}{text}", "", "");
            }
        }
        drawn
    }
}

fn sign(of: char, place: &Place) -> String {
    of.to_string().repeat(place.end.saturating_sub(place.start).max(1))
}

fn show(place: &Place) -> String {
    format!("line {}, columns {}-{}", place.line + 1, place.start + 1, place.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
    %0 = ttg.local_alloc
    ttg.local_load %buf
    //             ^^^^ missing-forward-barrier: (2) reads `%buf`
//  -------------- (1) the op itself
// -----// IR Dump
// -----
    ttg.barrier local // ^ not a mark
";

    #[test]
    fn marks_name_the_line_above_and_columns() {
        let marks = Marks::read(SOURCE);
        let [primary] = marks.primary.as_slice() else { panic!("{marks:?}") };
        assert_eq!(primary.kind, "missing-forward-barrier");
        assert_eq!(primary.place, Place { line: 1, start: 19, end: 23 });
        assert_eq!(primary.text, "(2) reads `%buf`");
        let [further] = marks.further.as_slice() else { panic!("{marks:?}") };
        assert_eq!((further.number, &further.place), (1, &Place { line: 1, start: 4, end: 18 }));
    }

    #[test]
    fn drawing_what_was_read_changes_nothing_but_order() {
        let marks = Marks::read(SOURCE);
        let drawn = marks.draw(SOURCE, "//");
        assert_eq!(Marks::read(&drawn), marks);
        assert_eq!(marks.draw(&drawn, "//"), drawn);
    }

    #[test]
    fn in_python_a_mark_is_a_comment_of_python() {
        let source =
            "def f():\n    a = b // c\n    wait(bar)\n    # ^^^^^^^ deadlock: (1) never passes\n# ---- plain\n";
        let marks = Marks::read(source);
        let [primary] = marks.primary.as_slice() else { panic!("{marks:?}") };
        assert_eq!(primary.place, Place { line: 2, start: 6, end: 13 });
        assert_eq!(marks.draw(source, "#"), source);
    }

    fn one(kind: &str, line: usize) -> Primary {
        Primary { kind: kind.into(), severity: "error", place: Place { line, start: 4, end: 6 }, text: String::new() }
    }

    #[test]
    fn a_severity_is_compared_where_a_mark_has_one() {
        let found = Marks { primary: vec![one("lapped-wait", 1)], further: Vec::new() };
        let marked = |kind: &str| Marks { primary: vec![one(kind, 1)], further: Vec::new() };
        assert_eq!(marked("lapped-wait (error)").disagreements(&found), [""; 0]);
        assert_eq!(marked("lapped-wait (hint)").disagreements(&found).len(), 2);
    }

    #[test]
    fn every_disagreement_is_said() {
        let expected = Marks { primary: vec![one("deadlock", 1), one("deadlock", 2)], further: Vec::new() };
        let found =
            Marks { primary: vec![one("deadlock", 1), one("deadlock", 1), one("lapped-wait", 2)], ..expected.clone() };
        assert_eq!(
            expected.disagreements(&found),
            [
                "not found: deadlock at line 3, columns 5-6",
                "found twice: deadlock at line 2, columns 5-6",
                "not marked: lapped-wait at line 3, columns 5-6",
            ]
        );
        assert_eq!(expected.disagreements(&expected), [""; 0]);
    }

    #[test]
    fn further_sites_count_where_one_is_marked() {
        let site = Further { number: 1, place: Place { line: 0, start: 4, end: 6 }, text: String::new() };
        let found = Marks { primary: vec![one("deadlock", 1)], further: vec![site] };
        let without = Marks { further: Vec::new(), ..found.clone() };
        assert_eq!(without.disagreements(&found), [""; 0]);
        assert_eq!(found.disagreements(&without), ["not found: site (1) at line 1, columns 5-6"]);
    }
}
