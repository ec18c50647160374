//! What the body of a function is asked at each of its calls, found out once.

use std::cell::OnceCell;

use ruff_python_ast::StmtFunctionDef;

use crate::bodies::generates;
use crate::{Asked, names};

/// The body of a function, with what was found out of it by now.
#[derive(Debug)]
pub struct Body<'a> {
    def: &'a StmtFunctionDef,
    asked: OnceCell<Asked<'a>>,
    yields: OnceCell<bool>,
    builds_ops: OnceCell<bool>,
}

impl<'a> Body<'a> {
    /// Of a function, of which nothing is found out yet.
    pub fn of(def: &'a StmtFunctionDef) -> Body<'a> {
        Body { def, asked: OnceCell::new(), yields: OnceCell::new(), builds_ops: OnceCell::new() }
    }

    /// What it does with its names.
    pub fn asked(&self) -> &Asked<'a> {
        self.asked.get_or_init(|| Asked::of(&self.def.body))
    }

    /// Whether it has a `yield`, or an `await`: a call of it runs nothing yet.
    pub fn yields(&self) -> bool {
        *self.yields.get_or_init(|| generates(&self.def.body))
    }

    /// Whether it builds ops by itself, see [`names::builds_ops`].
    pub fn builds_ops(&self) -> bool {
        *self.builds_ops.get_or_init(|| names::builds_ops(self.def))
    }
}
