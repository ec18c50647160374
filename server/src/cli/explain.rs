//! `fencepost explain`: the page of a kind.

use std::io::{self, Write};

use findings::Kind;
use render::kinds::summary;

use super::process::Exit;

/// Prints the page of `kind`, or the list of kinds.
pub(crate) fn run(kind: Option<&str>) -> io::Result<Exit> {
    let mut out = io::stdout().lock();
    let Some(name) = kind else {
        let width = Kind::ALL.iter().map(|kind| kind.name().len()).max().unwrap_or(0);
        for kind in Kind::ALL {
            writeln!(out, "{:width$}  {:11}  {}", kind.name(), kind.severity().name(), summary(*kind))?;
        }
        return Ok(Exit::Clean);
    };
    match Kind::from_name(name) {
        Some(kind) => {
            writeln!(out, "{}", kind.page().trim_end())?;
            Ok(Exit::Clean)
        }
        None => {
            let hint = match nearest(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`fencepost explain` lists them".to_owned(),
            };
            writeln!(io::stderr(), "fencepost: there is no kind `{name}`; {hint}")?;
            Ok(Exit::Trouble)
        }
    }
}

/// The kind whose name is at most three edits away.
fn nearest(name: &str) -> Option<&'static str> {
    let near = Kind::ALL.iter().map(|kind| (distance(name, kind.name()), kind.name())).min()?;
    (near.0 <= 3).then_some(near.1)
}

fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_kind_is_guessed() {
        assert_eq!(nearest("deadlok"), Some("deadlock"));
        assert_eq!(nearest("phase-missmatch"), Some("phase-mismatch"));
        assert_eq!(nearest("banana"), None);
    }
}
