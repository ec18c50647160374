//! A hover as Markdown and as plain text.
//!
//! Names, docstrings and code are the user's: in Markdown they stand in code spans and fences that they cannot end, and
//! everything else of a sentence is escaped. Who does what with a barrier is an aligned text block: most editors show no
//! tables.

use std::fmt::Write;

use ide::Hover;

use crate::lsp::snapshot::Snapshot;

/// As Markdown.
pub(super) fn markdown(snapshot: &Snapshot, hover: &Hover, language: &str, verdict: Option<&str>) -> String {
    let mut parts = vec![span(&hover.title)];
    if !hover.code.is_empty() {
        parts.push(fence(language, &hover.code));
    }
    parts.extend(hover.words.iter().map(|sentence| escaped(sentence)));
    for block in [&hover.quote, &hover.picture] {
        if !block.is_empty() {
            parts.push(fence("text", block));
        }
    }
    if !hover.subject.is_empty() {
        parts.push(span(&hover.subject));
    }
    parts.extend(
        [rows(snapshot, hover), cadence(snapshot, hover)]
            .iter()
            .filter(|it| !it.is_empty())
            .map(|it| fence("text", it)),
    );
    parts.extend(verdict.map(escaped));
    parts.join("\n\n")
}

/// As plain text.
pub(super) fn plain(snapshot: &Snapshot, hover: &Hover, verdict: Option<&str>) -> String {
    let words = hover.words.iter().map(|sentence| sentence.replace('`', "")).collect::<Vec<_>>().join("\n");
    let verdict = verdict.unwrap_or_default().replace('`', "");
    let (rows, cadence) = (rows(snapshot, hover), cadence(snapshot, hover));
    let parts =
        [&hover.title, &hover.code, &words, &hover.quote, &hover.picture, &hover.subject, &rows, &cadence, &verdict];
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// A code span; a backtick in it would end it.
fn span(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('\n', " "))
}

/// A fenced block that its text cannot end.
fn fence(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}{language}\n{text}\n{ticks}")
}

/// A sentence: what stands between backticks is code, the rest is escaped.
fn escaped(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (at, part) in parts.iter().enumerate() {
        // A backtick that nothing closes begins no code.
        let code = at % 2 == 1 && at + 1 < parts.len();
        if code && !part.is_empty() {
            let _ = write!(out, "`{part}`");
            continue;
        }
        for c in part.chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                '\\' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' | '$' => {
                    out.push('\\');
                    out.push(c);
                }
                '\n' => out.push(' '),
                c => out.push(c),
            }
        }
    }
    out
}

/// `line 81  partition0  wait    [%slot]  phase %phase`, aligned.
fn rows(snapshot: &Snapshot, hover: &Hover) -> String {
    let cells: Vec<Vec<String>> = hover
        .rows
        .iter()
        .map(|row| {
            let line = line(snapshot, row.range.start);
            vec![line, row.partition.clone(), row.verb.clone(), row.slot.clone(), row.detail.clone(), row.edge.clone()]
        })
        .collect();
    let mut lines = aligned(&cells);
    if hover.more > 0 {
        lines.push(format!("… and {} more", hover.more));
    }
    for (name, text) in &hover.carried {
        lines.push(format!("where {name} is {text}"));
    }
    lines.join("\n")
}

/// Which slot, phase and flip each wait sees, the first times.
fn cadence(snapshot: &Snapshot, hover: &Hover) -> String {
    let mut cells: Vec<Vec<String>> = Vec::new();
    let list = |numbers: Vec<String>| numbers.join(" ");
    let (mut at_once, mut repeats) = (false, false);
    for row in &hover.cadence {
        let flips = row.flips.iter().map(|flip| if *flip == 0 { "-".to_owned() } else { flip.to_string() });
        at_once |= row.flips.contains(&0);
        repeats |= row.repeats;
        let mut entries = vec![
            ("phase", list(row.phases.iter().map(i64::to_string).collect())),
            ("sees flip", list(flips.collect())),
        ];
        if !row.slots.is_empty() {
            entries.insert(0, ("slot", list(row.slots.iter().map(i64::to_string).collect())));
        }
        for (at, (what, numbers)) in entries.into_iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            let place = first(line(snapshot, row.range.start));
            cells.push(vec![place, first(row.partition.clone()), what.to_owned(), numbers]);
        }
    }
    let mut lines = aligned(&cells);
    if !lines.is_empty() {
        lines.insert(0, "Waits, time after time:".to_owned());
    }
    if at_once {
        lines.push("-: it goes on at once, since nothing has to have happened yet".to_owned());
    }
    if repeats {
        lines.push("some of these waits see no new flip: their phase does not go on".to_owned());
    }
    lines.join("\n")
}

fn line(snapshot: &Snapshot, offset: u32) -> String {
    format!("line {}", snapshot.mapper().position(offset).line + 1)
}

/// Cells in columns; columns that are empty everywhere are left out.
fn aligned(cells: &[Vec<String>]) -> Vec<String> {
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| cells.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lines = cells.iter().map(|row| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            let width = *width;
            let _ = write!(line, "{cell:width$}  ");
        }
        line.trim_end().to_owned()
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_users_becomes_markup() {
        assert_eq!(escaped("a <b> *c* `d<e>` f_g"), "a &lt;b&gt; \\*c\\* `d<e>` f\\_g");
        assert_eq!(escaped("one ` alone [x](y)"), "one  alone \\[x\\]\\(y\\)");
        assert_eq!(span("%a` <script>"), "`%a' <script>`");
        assert_eq!(fence("text", "a\n```\nb"), "````text\na\n```\nb\n````");
    }
}
