//! Edits as engineers make them, and where in a file they can be made.

use crate::mirror::Mirror;

/// What is typed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// A comment behind a statement.
    Comment,
    /// White space behind a statement.
    Space,
    /// A number that registers are computed with.
    Arithmetic,
    /// An argument of an operation on a barrier.
    Barrier,
    /// A new line, key by key.
    Line,
}

pub(crate) const KINDS: [Kind; 5] = [Kind::Comment, Kind::Space, Kind::Arithmetic, Kind::Barrier, Kind::Line];

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Comment => "comment",
            Kind::Space => "space",
            Kind::Arithmetic => "arithmetic",
            Kind::Barrier => "barrier",
            Kind::Line => "line",
        }
    }
}

/// Keys at a place, one after the other; then all of it is taken away again.
pub(crate) struct Edit {
    pub(crate) at: usize,
    pub(crate) keys: Vec<String>,
}

/// Edits of a kind at places all over a file.
pub(crate) fn edits(mirror: &Mirror, python: bool, kind: Kind, places: usize) -> Vec<Edit> {
    let lines = 0..mirror.lines();
    let all: Vec<Edit> = lines.filter_map(|number| edit(mirror, number, python, kind)).collect();
    let count = all.len();
    if count <= places {
        return all;
    }
    // In the middle of as many parts.
    let chosen: Vec<usize> = (0..places).map(|part| (2 * part + 1) * count / (2 * places)).collect();
    all.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, edit)| edit).collect()
}

fn edit(mirror: &Mirror, number: usize, python: bool, kind: Kind) -> Option<Edit> {
    let (start, line) = mirror.line(number);
    let body = line.trim_start();
    let indent = line.len() - body.len();
    let marker = if python { "#" } else { "//" };
    let whole = if python {
        body.ends_with(')') && !body.contains("\"\"\"")
    } else {
        body.contains(" : ") && (body.starts_with('%') || body.starts_with("ttng.") || body.starts_with("ttg."))
    };
    if indent < 2 || body.starts_with(marker) || !whole {
        return None;
    }
    let end = start + line.len();
    let one = |at: usize, text: &str| Some(Edit { at, keys: vec![text.to_owned()] });
    let code = body.split(marker).next().unwrap_or("");
    let on_barrier = ["barrier", "mbarrier", ".arrive", ".wait("].iter().any(|word| code.contains(word));
    match kind {
        Kind::Comment => one(end, &format!(" {marker} x")),
        Kind::Space => one(end, " "),
        Kind::Arithmetic if on_barrier => None,
        Kind::Arithmetic => {
            let computes = if python { code.contains(" + ") || code.contains(" * ") } else { code.contains("arith.") };
            let digit = digits(code).filter(|_| computes)?;
            one(start + indent + digit, "1")
        }
        Kind::Barrier if !on_barrier => None,
        Kind::Barrier if python => {
            let inner = code.trim_end().strip_suffix(')')?;
            let wait = code.contains("wait(");
            let plain = inner.contains(',') && !inner.ends_with(['(', '=', ',']);
            plain.then(|| one(start + indent + inner.len(), if wait { " ^ 1" } else { " + 1" }))?
        }
        Kind::Barrier => one(start + indent + digits(code.split(" : ").next()?)?, "1"),
        Kind::Line => {
            let typed = if python { "spare = num_spare + 12" } else { "%spare = arith.constant 12 : i32" };
            let first = format!("\n{}", &line[..indent]);
            let keys = std::iter::once(first).chain(typed.chars().map(String::from)).collect();
            Some(Edit { at: end, keys })
        }
    }
}

/// Where a number begins that stands by itself.
fn digits(code: &str) -> Option<usize> {
    let alone = |at: usize, _: &str| {
        let before = code[..at].chars().next_back();
        before.is_some_and(|c| matches!(c, ' ' | '(' | ',' | '-' | '['))
    };
    code.match_indices(|c: char| c.is_ascii_digit()).find(|(at, text)| alone(*at, text)).map(|(at, _)| at)
}
