//! What was not run of a file whose statements are run as their names are asked for.

use ruff_python_ast::Stmt;
use rustc_hash::FxHashSet;

use crate::bindings::Bindings;
use crate::{Module, range};
use base::TextRange;

/// What something that was run depends on of the statements of a file, beside the functions that it called: others may
/// come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demanded {
    /// The names that it asked the file for, bound or not, in order.
    names: Vec<Box<str>>,
    /// The statements that were run.
    ran: Vec<TextRange>,
}

impl Demanded {
    /// Where the statements stand that were run, in order.
    pub fn ran(&self) -> &[TextRange] {
        &self.ran
    }

    /// The same in a text in which its statements start elsewhere.
    pub fn moved(&mut self, place: &dyn Fn(TextRange) -> TextRange) {
        self.ran.iter_mut().for_each(|range| *range = place(*range));
    }

    /// Whether it asked for a name.
    pub fn asked_for(&self, name: &str) -> bool {
        self.names.binary_search_by(|asked| (**asked).cmp(name)).is_ok()
    }

    /// Whether nothing is another thing to it if these statements go and others come, of which all bind these names.
    pub fn ignores(&self, gone: &[TextRange], names: &[String]) -> bool {
        !gone.iter().any(|gone| self.ran.contains(gone)) && !names.iter().any(|name| self.asked_for(name))
    }
}

/// The statements of a file that were not run.
#[derive(Debug)]
pub struct Pending<'a> {
    /// All of them.
    pub body: &'a [Stmt],
    /// By statement, whether it was run, or is being run.
    pub done: Vec<bool>,
    /// What they bind.
    bindings: &'a Bindings,
    /// By the number of a name, whether it was asked for.
    asked: Vec<bool>,
    /// Names that were asked for and that no statement binds.
    unbound: FxHashSet<Box<str>>,
    /// Whether all statements up to some place were run, whatever they bind.
    pub finished: bool,
    /// `from module import *`.
    pub stars: &'a [u32],
    /// The statement that is being run, and all behind it, which it does not see.
    pub limit: u32,
}

impl<'a> Pending<'a> {
    /// All statements of a file.
    pub fn of(module: &'a Module) -> Pending<'a> {
        let (body, bindings) = (module.body(), module.bindings());
        let (done, asked) = (vec![false; body.len()], vec![false; bindings.by_name.len()]);
        let (unbound, stars) = (FxHashSet::default(), &*bindings.stars);
        Pending { body, done, bindings, asked, unbound, finished: false, stars, limit: u32::MAX }
    }

    /// What was asked for so far; `None` where that is all that the file does.
    pub fn demanded(&self) -> Option<Demanded> {
        if self.finished {
            return None;
        }
        let asked = |number: usize| self.asked.get(number) == Some(&true);
        let bound = self.bindings.by_name.iter().filter(|(_, (number, _))| asked(*number)).map(|(name, _)| name);
        let mut names: Vec<Box<str>> = bound.chain(&self.unbound).cloned().collect();
        names.sort_unstable();
        let ran = self.body.iter().zip(&self.done).filter(|(_, done)| **done).map(|(stmt, _)| range(stmt)).collect();
        Some(Demanded { names, ran })
    }

    /// Takes the next statement of a name that was not run, one of those that are seen first.
    pub fn next(&mut self, name: &str, seen: bool) -> Option<u32> {
        let Some((number, places)) = self.bindings.by_name.get(name) else {
            if !self.unbound.contains(name) {
                self.unbound.insert(name.into());
            }
            return None;
        };
        if let Some(asked) = self.asked.get_mut(*number) {
            *asked = true;
        }
        let at = *places.iter().find(|at| !self.done[**at as usize] && (**at < self.limit || !seen))?;
        self.done[at as usize] = true;
        Some(at)
    }
}
