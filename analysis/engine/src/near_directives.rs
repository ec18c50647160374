//! Comments that mean to be directives, recipes or suppressions and miss the mark that makes them one: `# fencepost BLOCK=64`.
//!
//! What is written behind the name tells them from prose: a `NAME=VALUE`, or `ignore[`.

use base::TextRange;
use findings::{Edit, Fix, Severity, TextProblem};
use memchr::memmem;

/// What all marks begin with, but for its first letter, which some write large.
const NAME: &str = "encepost";

/// Those of a text with comments of this sign.
pub(crate) fn problems(text: &str, sign: &str) -> Vec<TextProblem> {
    let mut found = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), NAME.as_bytes()) {
        let Some(start) = at.checked_sub(1).filter(|start| text.is_char_boundary(*start)) else { continue };
        let before = text.get(..start).unwrap_or("");
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        // Behind code nobody looks for a directive, and the name may stand in a text.
        if text.get(line..start).map(str::trim) != Some(sign) {
            continue;
        }
        let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
        let Some(body) = text.get(start..end) else { continue };
        found.extend(missed(body).map(|(length, mark)| problem(start, length, mark)));
    }
    found
}

/// How long what stands in place of a mark is, and which mark is meant.
fn missed(body: &str) -> Option<(usize, &'static str)> {
    let rest = body.get(1 + NAME.len()..)?;
    if !body.starts_with(['f', 'F']) {
        return None;
    }
    let skipped = rest.trim_start_matches([' ', '-', '_']);
    let (mark, behind) = match skipped.strip_prefix("run").filter(|behind| behind.starts_with([' ', ':', '\t'])) {
        Some(behind) => ("fencepost-run:", behind),
        None => ("fencepost:", rest),
    };
    let colon = behind.trim_start();
    let said = colon.strip_prefix(':').unwrap_or(colon);
    let length = body.len() - said.len();
    let written = body.get(..length)?.trim_end();
    let words: Vec<&str> = said.split_whitespace().collect();
    let given = |word: &&str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_name) && !value.is_empty() && !value.starts_with('=')
    };
    let meant = match mark {
        "fencepost:" => words.first().is_some_and(|word| given(word) || word.starts_with("ignore[")),
        // `fencepost run` begins sentences, too.
        _ => (colon.starts_with(':') || !rest.starts_with(' ')) && words.iter().take(2).any(given),
    };
    (meant && written != mark).then_some((written.len(), mark))
}

fn problem(start: usize, length: usize, mark: &str) -> TextProblem {
    let range = TextRange::new(start as u32, (start + length) as u32);
    TextProblem {
        code: "directive",
        severity: Severity::Warning,
        message: format!("nothing reads this comment; did you mean `{mark}`?"),
        range,
        source: None,
        fix: Some(Fix { title: format!("Write `{mark}`"), edits: vec![Edit { range, text: mark.to_owned() }] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misses_its_mark_is_said() {
        let said = |text: &str| {
            let found = problems(text, "#").into_iter();
            found.map(|it| format!("{}|{}", it.range.of(text), it.message)).collect::<Vec<_>>().join(";")
        };
        let meant = |was: &str, mark: &str| format!("{was}|nothing reads this comment; did you mean `{mark}`?");
        for (line, was) in [
            ("# fencepost BLOCK=64", "fencepost"),
            ("#  Fencepost: BLOCK=64, n=3", "Fencepost:"),
            ("    # fencepost : BLOCK=64", "fencepost :"),
            ("# fencepost ignore[deadlock] it is known", "fencepost"),
        ] {
            assert_eq!(said(line), meant(was, "fencepost:"), "{line}");
        }
        for (line, was) in [
            ("# fencepost-run add grid=4", "fencepost-run"),
            ("# fencepost run: add n=4", "fencepost run:"),
            ("x = 1\n# fencepost_run: n=4\n", "fencepost_run:"),
        ] {
            assert_eq!(said(line), meant(was, "fencepost-run:"), "{line}");
        }
        for line in [
            "# fencepost: BLOCK=64",
            "# fencepost-run: add grid=4",
            "# fencepost: ignore[deadlock] it is known",
            "# fencepost checks that a == b here",
            "# Fencepost finds no race where n=4",
            "# fencepost run says n=3 of it",
            "x = 1  # fencepost BLOCK=64",
            "# fenceposts are made of wood",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }
}
