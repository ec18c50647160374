//! What values are called in the program that a text was compiled from, as far as names tell.

use super::trace::Trace;
use ttgir::{Def, ValueId};

impl<'a> Trace<'a> {
    /// The name that a value shares with others which stand for the same: `%m_ij_0` of
    /// `%m_ij_0_33`. None of a number.
    pub(crate) fn stem(&self, value: ValueId) -> Option<&'a str> {
        let name = self.tree.value_name(value);
        let bare = name.strip_prefix('%').filter(|bare| !bare.starts_with(|c: char| c.is_ascii_digit()))?;
        if let Def::Result(op, _) = self.tree.value_def(value) {
            let said = self.tree.loc(op).into_iter().find_map(|loc| loc.name);
            let said = said.filter(|said| bare.strip_prefix(said.as_str()).is_some_and(is_number_or_nothing));
            if let Some(said) = said {
                return name.get(..=said.len());
            }
        }
        Some(self.unnumbered(name))
    }

    /// A name without the number that MLIR's printer added to tell it from an equal one.
    pub(crate) fn unnumbered(&self, name: &'a str) -> &'a str {
        let Some((base, number)) = name.rsplit_once('_') else { return name };
        let added = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        // The printer adds a number only where the name without it is taken.
        let taken = self.is_name(base) && base.len() > 1;
        if added && taken && !self.is_base(name) { base } else { name }
    }
}

fn is_number_or_nothing(rest: &str) -> bool {
    rest.is_empty() || rest.strip_prefix('_').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The name that most votes are for; of several, the first in the alphabet.
pub(super) fn elected<'n>(votes: &[(&'n str, u32)]) -> Option<&'n str> {
    let mut counted: Vec<(&str, u32)> = Vec::new();
    for (name, weight) in votes {
        match counted.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += weight,
            None => counted.push((name, *weight)),
        }
    }
    counted.sort_by_key(|(name, sum)| (std::cmp::Reverse(*sum), *name));
    counted.first().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lower::lower;
    use ttgir::Tree;

    #[test]
    fn a_number_of_the_printer_is_no_part_of_the_name() {
        let text = "module {\n  tt.func public @f() {\n    %a = arith.constant 0 : i32\n    \
                    %a_0 = arith.constant 1 : i32\n    %m_0 = arith.constant 2 : i32\n    \
                    %m_0_3 = arith.constant 3 : i32\n    %4 = arith.constant 4 : i32\n    tt.return\n  }\n}\n";
        let tree = Tree::parse(text);
        let lowered = lower(&tree).into_iter().next().expect("a kernel");
        let trace = Trace::new(&tree, &lowered);
        let stems = ["%a", "%a_0", "%m_0", "%m_0_3"].map(|name| trace.unnumbered(name));
        assert_eq!(stems, ["%a", "%a", "%m_0", "%m_0"]);
        assert_eq!(elected(&[("%a", 1), ("%b", 2), ("%a", 2)]), Some("%a"));
        assert_eq!(elected(&[]), None);
    }
}
