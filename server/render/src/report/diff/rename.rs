//! Names that two reports call one thing by.
//!
//! A value is called the same where its name differs by the number alone that makes it unique, and where it was
//! renamed: the old name stands nowhere in the second report, and the new one nowhere in the first.

use report::Report;
use rustc_hash::FxHashSet;

use super::pairing::value;

/// The names in two reports.
#[derive(Default)]
pub(super) struct Renames {
    old: FxHashSet<String>,
    new: FxHashSet<String>,
}

impl Renames {
    /// Of two reports.
    pub(super) fn new(was: &Report, is: &Report) -> Renames {
        Renames { old: names(was), new: names(is) }
    }

    /// Whether two texts are the same but for what values are called.
    pub(super) fn same(&self, was: &str, is: &str) -> bool {
        let (old, new) = (words(was), words(is));
        let mut renamed: Vec<(&str, &str)> = Vec::new();
        old.len() == new.len()
            && old.iter().zip(&new).all(|(&(a, is_name), &(b, other_name))| {
                let both = is_name && other_name && self.one(a, b);
                // One name is renamed to one name.
                let clash = renamed.iter().any(|(x, y)| (*x == a) != (*y == b));
                renamed.extend(both.then_some((a, b)));
                if is_name { both && !clash } else { a == b }
            })
    }

    /// Whether a value of the first report may be called so in the second one. Numbers are no names.
    pub(super) fn one(&self, was: &str, is: &str) -> bool {
        let gone = |old: &String| !self.new.contains(old);
        let came = |new: &String| !self.old.contains(new);
        match (value(was), value(is)) {
            (Some(old), Some(new)) => old == new || gone(&old) && came(&new),
            (old, new) => old.as_ref().is_none_or(gone) && new.as_ref().is_none_or(came),
        }
    }
}

fn names(report: &Report) -> FxHashSet<String> {
    let roles = report.partitions.iter().flat_map(|partition| words(&partition.role));
    let roles = roles.filter(|(_, name)| *name).map(|(word, _)| word);
    let buffers = report.buffers.iter().flat_map(|buffer| {
        let members = buffer.members.iter().map(|member| member.name.as_str());
        members.chain([buffer.name.as_str()])
    });
    let barriers = report.barriers.iter().map(|barrier| barrier.name.as_str());
    roles.chain(buffers).chain(barriers).filter_map(value).collect()
}

/// Names, and what is between them, each with whether it is a name.
fn words(text: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    for (at, part) in text.split('%').enumerate() {
        let end =
            part.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'))).unwrap_or(part.len());
        let (name, rest) = part.split_at(if at == 0 { 0 } else { end });
        if at > 0 {
            out.push((name, true));
        }
        out.push((rest, false));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renames(old: &[&str], new: &[&str]) -> Renames {
        let set = |names: &[&str]| names.iter().filter_map(|name| value(name)).collect();
        Renames { old: set(old), new: set(new) }
    }

    #[test]
    fn numbers_make_no_difference() {
        let names = renames(&["%q", "%k"], &["%q", "%k"]);
        assert!(names.same("p (TMA load (%q_70, %k_71))", "p (TMA load (%q_134, %k_2))"));
        assert!(!names.same("p (TMA load (%q_70))", "p (TMA load (%k_70))"));
        assert!(!names.same("p (TMA load (%q_70))", "p (TMA load (%q_70, %k_1))"));
    }

    #[test]
    fn what_was_renamed_is_the_same() {
        let names = renames(&["%q", "%k"], &["%x", "%y", "%k"]);
        assert!(names.same("load (%q)", "load (%x)"));
        assert!(!names.same("load (%q)", "load (%k)"), "that was there before");
        assert!(!names.same("load (%k)", "load (%x)"), "that is still there");
        assert!(!names.same("load (%q, %q)", "load (%x, %y)"), "one name becomes two");
        assert!(!names.same("load (%q)", "store (%x)"));
        assert!(names.same("load (%q, %3)", "load (%7, %x)"), "what had no name has one now");
        assert!(!names.same("load (%k)", "load (%7)"));
    }
}
