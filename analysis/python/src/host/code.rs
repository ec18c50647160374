//! Host code that may launch kernels.

use std::rc::Rc;

use ruff_python_ast::Stmt;

use crate::origin::FileId;
use crate::value::{Class, Function};

/// Host code that is run for its launches.
#[derive(Clone, Debug)]
pub enum Code<'a> {
    /// A function, or a method with its class.
    Function(Rc<Function<'a>>, Option<Rc<Class<'a>>>),
    /// What stands under `if __name__ == "__main__"`.
    Main(FileId, &'a [Stmt]),
}

impl Code<'_> {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Code::Function(function, _) => function.def.name(),
            Code::Main(..) => "__main__",
        }
    }
}
