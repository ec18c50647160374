//! Lists of cases that are known to fail, in files of `name: why` lines.
//!
//! The cases run all the same. A line is stale, and fails, once its case passes or no case has its name.

use std::collections::BTreeMap;
use std::fs;

use crate::sources::root;

/// A case that is data: an error is what is printed for it.
pub type Check = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// A named case of a suite.
pub struct Case {
    /// Its name, as the list of failing cases spells it.
    pub name: String,
    /// Runs it.
    pub check: Check,
}

impl Case {
    /// A case with a name.
    pub fn new(name: impl Into<String>, check: impl FnOnce() -> Result<(), String> + Send + 'static) -> Case {
        Case { name: name.into(), check: Box::new(check) }
    }
}

/// The cases of a suite with those turned round that the list in `tests/` knows to fail, and one more for the list.
pub fn with_failing(list: &'static str, cases: Vec<Case>) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(root().join(list)).map_err(|error| format!("tests/{list}: {error}"))?;
    turned(list, &text, cases)
}

fn turned(list: &'static str, text: &str, cases: Vec<Case>) -> Result<Vec<Case>, String> {
    let mut failing = read(text).map_err(|error| format!("tests/{list}: {error}"))?;
    let mut turned: Vec<Case> = cases
        .into_iter()
        .map(|Case { name, check }| match failing.remove(&name) {
            None => Case { name, check },
            Some(_) => Case::new(format!("{name} (open)"), move || match check() {
                Err(_) => Ok(()),
                Ok(()) => Err(format!("it passes now: take it off tests/{list}")),
            }),
        })
        .collect();
    let unknown: Vec<String> = failing.into_keys().collect();
    turned.push(Case::new(format!("every line of {list} names a case"), move || match unknown.as_slice() {
        [] => Ok(()),
        unknown => Err(format!("tests/{list} has lines for cases that do not exist: {}", unknown.join(", "))),
    }));
    Ok(turned)
}

/// Names with reasons; `#` starts a comment.
fn read(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut failing = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (name, why) = line.split_once(": ").ok_or_else(|| format!("`{line}` is not `name: why`"))?;
        if why.trim().is_empty() {
            return Err(format!("`{name}` has no reason"));
        }
        if failing.insert(name.trim().to_owned(), why.to_owned()).is_some() {
            return Err(format!("`{name}` stands twice"));
        }
    }
    Ok(failing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(text: &str) -> Vec<(String, bool)> {
        let cases = vec![Case::new("good", || Ok(())), Case::new("bad", || Err("no".to_owned()))];
        let turned = turned("open.txt", text, cases).unwrap_or_default();
        turned.into_iter().map(|case| (case.name, (case.check)().is_ok())).collect()
    }

    #[test]
    fn a_known_failure_passes_and_a_stale_line_fails() {
        let passed = |text: &str| -> Vec<bool> { outcomes(text).into_iter().map(|(_, passed)| passed).collect() };
        assert_eq!(passed("# nothing\n"), [true, false, true]);
        assert_eq!(passed("bad: a reason\n"), [true, true, true]);
        assert_eq!(passed("good: a reason\n"), [false, false, true]);
        assert_eq!(passed("gone: a reason\n"), [true, false, false]);
        assert_eq!(outcomes("bad: a reason\n")[1].0, "bad (open)");
    }

    #[test]
    fn a_line_needs_a_name_and_a_reason_once() {
        assert!(read("bad\n").is_err() && read("bad:  \n").is_err() && read("bad: a\nbad: b\n").is_err());
    }
}
