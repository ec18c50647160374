//! Names that the configured release of Triton does not have any more.

use crate::interp::{Interp, Problem};
use crate::target::Version;
use crate::value::Value;
use base::TextRange;

/// Says that the function that is being called is gone, and what to call. The elaboration goes on with that
/// one, so that the rest of the kernel is looked at as well.
pub fn replaced(interp: &mut Interp<'_>, old: &str, new: &str) {
    let Version(major, minor) = interp.version;
    say(
        interp,
        old,
        new,
        format!("`{old}` was removed in Triton {major}.{minor}: call `{new}` instead{}", elder(minor)),
    );
}

/// Says that a function is gone, and what does its work now, which is called in another way. It is analysed as what
/// it was.
pub fn gone(interp: &mut Interp<'_>, old: &str, instead: &str, until: u8) {
    let message = format!("`{old}` is gone since Triton 3.{}: {instead} does its work{}", until + 1, elder(until + 1));
    say(interp, old, "", message);
}

/// A full name that the table does not have: if an earlier release had it, that is said at the present
/// expression, and what replaces it is taken in its place.
pub fn missing<'a>(interp: &mut Interp<'a>, path: &str) -> Option<Value<'a>> {
    let (instead, Version(major, minor)) = interp.library.gone(path, interp.version)?;
    let name = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let old = name(path);
    let instead = instead?;
    let new = name(&instead);
    match major {
        // No release that is known has it.
        2 => say(interp, &old, "", format!("`{path}` is gone since Triton 3.0: `{new}` of `libdevice` does its work")),
        _ => {
            let text = format!("`{old}` is gone since Triton {major}.{}: use `{new}`{}", minor + 1, elder(minor + 1));
            say(interp, &old, &new, text);
        }
    }
    match instead.rsplit_once('.') {
        Some((of, member)) if !of.starts_with("gl.") && of != "gl" => {
            interp.library.member(of, member, interp.version).map(Value::Builtin)
        }
        _ => interp.library.lookup(&instead, interp.version),
    }
}

/// Says that a call has the form that a function had up to some release.
pub(crate) fn earlier(interp: &mut Interp<'_>, row: &super::Row) {
    let Version(major, minor) = interp.version;
    let name = row.path.rsplit('.').next().unwrap_or(row.path);
    if let Some(Version(_, until)) = row.until {
        let message = format!(
            "this is `{name}` as Triton had it up to {major}.{until}, and is analysed as that: {major}.{minor} refuses it{}",
            elder(until + 1)
        );
        say(interp, name, "", message);
    }
}

/// Says that a kernel does what Triton let kernels do up to 3.`until`.
pub fn as_before(interp: &mut Interp<'_>, range: TextRange, what: &str, until: u8) {
    let Version(major, minor) = interp.version;
    if (major, minor) <= (3, until) {
        return;
    }
    let message = format!(
        "this {what} as Triton did up to 3.{until}, and is analysed as that: {major}.{minor} refuses it{}",
        elder(until + 1)
    );
    let problem = Problem { file: interp.file, range, code: "removed-name", message, hint: true, fix: None };
    if !interp.problems.contains(&problem) {
        interp.problems.push(problem);
    }
}

/// How to say that a kernel is for the release before 3.`minor`, which still had it.
fn elder(minor: u8) -> String {
    format!("; with `triton = \"3.{}\"` in fencepost.toml it is right", minor.saturating_sub(1))
}

fn say(interp: &mut Interp<'_>, old: &str, new: &str, message: String) {
    let range = place(interp, old);
    let fix = (!new.is_empty() && range.of_name).then(|| (new.to_owned(), format!("call `{new}`")));
    // It is analysed as what it means.
    let problem = Problem { file: interp.file, range: range.range, code: "removed-name", message, hint: true, fix };
    if !interp.problems.contains(&problem) {
        interp.problems.push(problem);
    }
}

struct Place {
    range: TextRange,
    /// Whether it is the name itself.
    of_name: bool,
}

/// Where the name stands in the present expression: the first whole word that is it.
fn place(interp: &Interp<'_>, name: &str) -> Place {
    let at = interp.at;
    let text = interp.files.get(interp.file.0 as usize).map_or("", |file| file.module.slice(at));
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(name).find(|(start, _)| {
        let before = text.get(..*start).and_then(|text| text.chars().next_back());
        let after = text.get(start + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    });
    match found {
        Some((start, _)) => {
            let start = at.start + start as u32;
            Place { range: TextRange::new(start, start + name.len() as u32), of_name: true }
        }
        None => Place { range: at, of_name: false },
    }
}
