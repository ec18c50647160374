//! Two texts of a file that differ in comments and blank space alone.

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use super::Module;
use base::TextRange;

/// Where what stands in one text of a file stands in another one that says the same.
#[derive(Clone, Debug, Default)]
pub struct Shifts {
    /// From which place on, by how much.
    moves: Vec<(u32, i64)>,
}

impl Shifts {
    /// From `before` to `now`; `None` unless they differ only in comments behind lines, statements and between them, and
    /// in blank space there. Within a line of a statement all has to be the same, since it may be quoted. Where a text has
    /// `word`, comments between statements count too. Texts of which a part does not parse are never alike.
    pub fn between(before: &Module, now: &Module, word: &str) -> Option<Shifts> {
        if !before.broken().is_empty() || !now.broken().is_empty() {
            return None;
        }
        let has = |module: &Module| memchr::memmem::find(module.source().as_bytes(), word.as_bytes()).is_some();
        let strict = has(before) || has(now);
        let (mut old, mut new) = (tokens(before), tokens(now));
        let mut shifts = Shifts::default();
        // Where the token before ended, and whether a statement goes on there.
        let (mut old_end, mut new_end, mut within) = (0, 0, false);
        loop {
            let ((kind, was), (other, is)) = match (old.next(), new.next()) {
                (Some(old), Some(new)) => (old, new),
                (None, None) => break,
                _ => return None,
            };
            let gap = TextRange::new(old_end, was.start.max(old_end)).of(before.source());
            let other_gap = TextRange::new(new_end, is.start.max(new_end)).of(now.source());
            let blank = matches!(kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent);
            let behind = within && kind == TokenKind::Newline;
            let same_gap = behind
                || !(within || strict)
                || gap == other_gap
                || (within && gap.contains('\n') && without_comments(gap).eq(without_comments(other_gap)));
            if kind != other || !same_gap || !(blank || before.slice(was) == now.slice(is)) {
                return None;
            }
            let by = i64::from(is.start) - i64::from(was.start);
            if shifts.moves.last().map_or(0, |(_, by)| *by) != by {
                shifts.moves.push((was.start, by));
            }
            (old_end, new_end, within) = (was.end, is.end, !blank);
        }
        let rest = |module: &Module, end: u32| module.source().get(end as usize..).unwrap_or("").to_owned();
        (!strict || rest(before, old_end) == rest(now, new_end)).then_some(shifts)
    }

    /// A place of the first text in the other one.
    pub fn place(&self, at: u32) -> u32 {
        let moved = self.moves.partition_point(|(from, _)| *from <= at);
        let by = moved.checked_sub(1).and_then(|last| self.moves.get(last)).map_or(0, |(_, by)| *by);
        u32::try_from(i64::from(at) + by).unwrap_or(at)
    }

    /// A range of the first text in the other one; it ends with a token.
    pub fn range(&self, range: TextRange) -> TextRange {
        let start = self.place(range.start);
        let last = range.end.saturating_sub(1).max(range.start);
        TextRange::new(start, (self.place(last) + (range.end - last)).max(start))
    }
}

/// The lines of what stands between two tokens of a statement, without the comments at their ends.
fn without_comments(gap: &str) -> impl Iterator<Item = &str> {
    gap.split('\n').map(|line| line.split('#').next().unwrap_or("").trim_end())
}

/// The tokens that the tree is made of.
fn tokens(module: &Module) -> impl Iterator<Item = (TokenKind, TextRange)> {
    let told = module.parsed().tokens().iter().filter(|token| !token.kind().is_trivia());
    told.map(|token| {
        let range = token.range();
        (token.kind(), TextRange::new(range.start().to_u32(), range.end().to_u32()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import a\n\ndef f(x,  # first\n      y):\n    return x + y\n\n\nclass C:\n    n = \"\"\"# no\n comment\"\"\"\n";

    fn between(before: &str, now: &str) -> Option<Shifts> {
        let parse = |text: &str| Module::parse("f.py", text, None);
        Shifts::between(&parse(before), &parse(now), "fencepost:")
    }

    #[test]
    fn comments_move_what_stands_behind_them() {
        for (old, new) in [
            ("x + y\n", "x + y  # why\n"),
            ("import a\n", "# top\n\nimport a \n"),
            ("\n\n\nclass", "\nclass"),
            ("# first", "# the first of them"),
            ("  # first", ""),
        ] {
            let now = TEXT.replace(old, new);
            let shifts = between(TEXT, &now).unwrap();
            for word in ["import a", "def f", "return x", "class C", "n = "] {
                let at = |text: &str| text.find(word).unwrap_or_default() as u32;
                assert_eq!(shifts.place(at(TEXT)), at(&now), "{word} after {new:?}");
                let end = word.len() as u32;
                let range = shifts.range(TextRange::new(at(TEXT), at(TEXT) + end));
                assert_eq!(range, TextRange::new(at(&now), at(&now) + end));
            }
        }
    }

    #[test]
    fn what_changes_a_statement_is_not_alike() {
        for (old, new) in [
            ("x + y", "x +  y"),
            ("x + y", "x + z"),
            ("x,  # first\n", "x,\n\n"),
            ("# no", "# yes"),
            ("    return", "  return"),
            ("x + y\n", "x + y\n    y\n"),
            ("y):", "y:"),
            ("import a\n", "# fencepost: x=1\nimport a\n"),
        ] {
            let alike = between(TEXT, &TEXT.replace(old, new));
            // Another width of an indentation is no other statement.
            assert_eq!(alike.is_some(), old == "    return", "{old:?} to {new:?}");
        }
    }

    #[test]
    fn where_there_are_directives_only_comments_behind_statements_are_free() {
        let text = "# fencepost: n=1\n# more\ndef f(n):\n    pass\n";
        assert!(between(text, &text.replace("pass", "pass  # why")).is_some());
        assert!(between(text, &text.replace("# more\n", "")).is_none());
        assert!(between(text, &text.replace("n=1", "n=2")).is_none());
        assert!(between(text, &format!("{text}# fencepost: n=3\n")).is_none());
    }
}
