//! What was not run of a file whose statements are run as their names are asked for.

use ruff_python_ast::Stmt;
use rustc_hash::FxHashMap;

/// The statements of a file that were not run.
#[derive(Debug)]
pub struct Pending<'a> {
    pub(crate) body: &'a [Stmt],
    /// By statement, whether it was run, or is being run.
    pub(crate) done: Vec<bool>,
    /// By name, the statements that bind it or change what it stands for.
    pub(crate) by_name: FxHashMap<&'a str, Vec<u32>>,
    /// `from module import *`.
    pub(crate) stars: Vec<u32>,
    /// The statement that is being run, and all behind it, which it does not see.
    pub(crate) limit: u32,
}

impl Pending<'_> {
    /// Takes the next statement of a name that was not run, one of those that are seen first.
    pub(crate) fn next(&mut self, name: &str, seen: bool) -> Option<u32> {
        let places = self.by_name.get(name)?;
        let at = *places.iter().find(|at| !self.done[**at as usize] && (**at < self.limit || !seen))?;
        self.done[at as usize] = true;
        Some(at)
    }
}
