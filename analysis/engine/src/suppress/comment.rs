//! The text of a suppression comment: `# fencepost: ignore[deadlock, lapped-wait] the host never launches it so`.

use base::TextRange;
use findings::{Edit, Fix, Kind, PrintedCode, Severity, TextProblem};
use ttgir::nearest;

/// Stands in a comment for a reason that its author has yet to write.
pub(super) const OPEN: &str = "?";

/// What stands before the word.
pub(super) const MARK: &str = "fencepost:";

/// The word.
const WORD: &str = "ignore";

/// The code of a comment that is written wrong.
pub(super) const WRONG: &str = "suppression";

/// The code of a comment that suppresses nothing.
pub const UNUSED: &str = "unused-suppression";

/// A comment that asks for findings not to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// The comment, from its sign to its last word.
    pub range: TextRange,
    /// The kinds that it names, each where it names it.
    pub kinds: Vec<(Kind, TextRange)>,
    /// Why; empty where it does not say.
    pub reason: String,
    /// What is wrong with it.
    pub problems: Vec<TextProblem>,
}

impl Comment {
    /// Whether it suppresses anything.
    pub(super) fn holds(&self, kind: Kind) -> bool {
        !self.reason.is_empty() && self.kinds.iter().any(|(named, _)| *named == kind)
    }
}

/// Reads a comment; `start` is where its sign stands in the text, `mark` where the mark does. `None` where it is
/// no suppression.
pub(super) fn read(text: &str, start: usize, mark: usize, sign: &str) -> Option<Comment> {
    let end = text.get(mark..)?.find('\n').map_or(text.len(), |end| mark + end);
    // Another comment behind it, such as one for another tool, is not its reason.
    let end = text.get(mark..end)?.find(&format!("  {sign}")).map_or(end, |next| mark + next);
    let line = text.get(..end)?.trim_end();
    let range = TextRange::new(start as u32, line.len() as u32);
    let word = skip(line, mark + MARK.len());
    let after = word + WORD.len();
    let rest = line.get(word..)?.strip_prefix(WORD)?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '=') {
        return None;
    }
    let mut comment = Comment { range, kinds: Vec::new(), reason: String::new(), problems: Vec::new() };
    let list = skip(line, after);
    let inner = line.get(list..)?.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((inner, reason)) = inner else {
        comment.wrong(range, "this names no kind; write `ignore[KIND] reason`".to_owned(), None);
        return Some(comment);
    };
    let mut at = list + 1;
    for piece in inner.split(',') {
        let name = piece.trim();
        let from = at + (piece.len() - piece.trim_start().len());
        comment.name(name, TextRange::new(from as u32, (from + name.len()) as u32));
        at += piece.len() + 1;
    }
    let reason = reason.trim_start_matches([':', '-', '–', '—', ' ', '\t']).trim_end();
    if reason.is_empty() || reason == OPEN {
        let message = match reason {
            OPEN => "write in place of `?` why this is no bug; until then nothing is suppressed".to_owned(),
            _ => "this does not say why; write the reason behind the bracket, until then nothing is suppressed".into(),
        };
        comment.wrong(range, message, None);
    } else {
        reason.clone_into(&mut comment.reason);
    }
    Some(comment)
}

/// Where the next thing that is no white space stands.
fn skip(line: &str, at: usize) -> usize {
    let rest = line.get(at..).unwrap_or("");
    at + (rest.len() - rest.trim_start().len())
}

impl Comment {
    fn name(&mut self, name: &str, range: TextRange) {
        if let Some(kind) = Kind::from_name(name) {
            if self.kinds.iter().any(|(named, _)| *named == kind) {
                self.wrong(range, format!("`{name}` is named twice"), None);
            } else {
                self.kinds.push((kind, range));
            }
            return;
        }
        if name.is_empty() {
            self.wrong(self.range, "this names no kind; write `ignore[KIND] reason`".to_owned(), None);
            return;
        }
        if PrintedCode::from_name(name).is_some() {
            let message = format!("`{name}` is not a kind of finding, so it cannot be suppressed");
            self.wrong(range, message, None);
            return;
        }
        let near = nearest(name, Kind::ALL.iter().map(|kind| kind.name()));
        let message = match &near {
            Some(near) => format!("there is no kind `{name}`; did you mean `{near}`?"),
            None => format!("there is no kind `{name}`; `fencepost explain` lists them"),
        };
        let fix =
            near.map(|near| Fix { title: format!("Replace by `{near}`"), edits: vec![Edit { range, text: near }] });
        self.wrong(range, message, fix);
    }

    fn wrong(&mut self, range: TextRange, message: String, fix: Option<Fix>) {
        self.problems.push(problem(WRONG, range, message, fix));
    }
}

/// A warning about a comment.
pub(super) fn problem(code: &'static str, range: TextRange, message: String, fix: Option<Fix>) -> TextProblem {
    TextProblem { code, severity: Severity::Warning, message, range, source: None, fix }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(line: &str) -> Option<Comment> {
        read(line, line.find('#')?, line.find(MARK)?, "#")
    }

    fn said(line: &str) -> Vec<(&str, String)> {
        let problems = comment(line).expect("it is one").problems;
        problems.into_iter().map(|problem| (problem.range.of(line), problem.message)).collect()
    }

    #[test]
    fn kinds_and_a_reason() {
        let line = "  wait(bar)  # fencepost: ignore[deadlock, lapped-wait] the host: never  # noqa\r\n";
        let comment = comment(line).expect("it is one");
        assert_eq!(comment.range.of(line), "# fencepost: ignore[deadlock, lapped-wait] the host: never");
        let kinds: Vec<_> = comment.kinds.iter().map(|(kind, range)| (*kind, range.of(line))).collect();
        assert_eq!(kinds, [(Kind::Deadlock, "deadlock"), (Kind::LappedWait, "lapped-wait")]);
        assert_eq!((comment.reason.as_str(), comment.problems.len()), ("the host: never", 0));
        assert!(comment.holds(Kind::Deadlock) && !comment.holds(Kind::PhaseMismatch));
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        let one = |line: &'static str| said(line).remove(0);
        assert!(one("# fencepost: ignore[deadlock]").1.contains("does not say why"));
        assert!(one("# fencepost: ignore[deadlock] ?").1.contains("in place of `?`"));
        assert!(one("# fencepost: ignore it").1.contains("names no kind"));
        assert!(one("# fencepost: ignore[] reason").1.contains("names no kind"));
        assert!(one("# fencepost: ignore[deadlock reason").1.contains("names no kind"));
        let (at, message) = one("# fencepost: ignore[deadlok, lapped-wait] reason");
        assert_eq!((at, message.as_str()), ("deadlok", "there is no kind `deadlok`; did you mean `deadlock`?"));
        assert!(one("# fencepost: ignore[undecided] reason").1.contains("cannot be suppressed"));
        assert!(one("# fencepost: ignore[deadlock, deadlock] reason").1.contains("twice"));
    }

    #[test]
    fn other_lines_are_none() {
        for line in ["# fencepost: ignored=3", "# fencepost: ignore=3", "# fencepost: num_slots=2", "# fencepost:"] {
            assert_eq!(comment(line), None, "{line}");
        }
    }
}
