//! What an operation does, read off the tree once.

use std::rc::Rc;

use analysis::syntax::ttgir::{OpId, Tree};

use super::{Trap, Value, World};

/// What an operation does to its operands.
type Act = dyn Fn(&[Value], &mut World) -> Result<Vec<Value>, Trap>;

/// An operation, ready to be executed.
#[derive(Clone)]
pub struct Plan(Rc<Act>);

impl Plan {
    /// Executes it.
    pub fn run(&self, operands: &[Value], world: &mut World) -> Result<Vec<Value>, Trap> {
        (self.0)(operands, world)
    }

    /// Of a function.
    pub fn new(act: impl Fn(&[Value], &mut World) -> Result<Vec<Value>, Trap> + 'static) -> Plan {
        Plan(Rc::new(act))
    }
}

/// Reads an operation.
pub fn plan(tree: &Tree, op: OpId, _cta: u16) -> Result<Plan, Trap> {
    Err(Trap::not_followed(format!("`{}` is not followed", tree.op_name(op))))
}
