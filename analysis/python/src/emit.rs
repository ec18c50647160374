//! Emitting ops: the builder of the IR, with origins in the source.

pub use ttgir::build::{Attr, Ssa, Type};

use dialects::Arith;

use crate::interp::{Interp, Stop};
use crate::origin::OriginId;

/// An op that is emitted.
pub type Op = ttgir::build::Op<OriginId>;

/// What is inside a region of an op.
pub type Region = ttgir::build::Region<OriginId>;

/// The builder of the IR.
pub type Builder = ttgir::build::Builder<OriginId>;

/// The module that a kernel becomes.
pub type IrModule = ttgir::build::Module<OriginId>;

/// A comparison of integers, by the name of its predicate: `slt`.
pub(crate) fn compare(predicate: &str, left: Ssa, right: Ssa) -> Op {
    Op::new(Arith::Cmpi).attr("predicate", predicate).operand("lhs", left).operand("rhs", right)
}

impl Interp<'_> {
    /// Emits an op at the present expression and gives its results.
    ///
    /// # Errors
    ///
    /// Where the op is not what its declaration says: it is not followed here.
    pub fn emit(&mut self, op: Op) -> Result<Vec<Ssa>, Stop> {
        let here = self.here();
        match self.builder.push(Some(here), op) {
            Ok(results) => Ok(results),
            Err(error) => self.unknown(error.to_string()),
        }
    }

    /// Emits an op with one result.
    ///
    /// # Errors
    ///
    /// As [`Interp::emit`].
    pub fn emit_value(&mut self, op: Op) -> Result<Ssa, Stop> {
        match self.emit(op)?.first() {
            Some(result) => Ok(*result),
            None => self.unknown("an op has no result"),
        }
    }

    /// Emits an op with one result, by its group and type; a free value where the op is not what its declaration says.
    pub fn computed(&mut self, op: Op, result: &'static str, ty: &Type) -> Ssa {
        self.emit_value(op.result(result, ty.clone())).unwrap_or_else(|_| self.opaque(ty))
    }

    /// A value of which only the type is known.
    pub fn opaque(&mut self, ty: &Type) -> Ssa {
        let made = self.emit_value(Op::undeclared("tt.opaque").result("results", ty.clone()));
        made.unwrap_or_else(|_| self.builder.fresh(ty.clone()))
    }

    /// The type of a value.
    pub fn ty(&self, value: Ssa) -> Type {
        self.builder.ty(value).clone()
    }

    /// The types of values.
    pub fn types(&self, values: &[Ssa]) -> Vec<Type> {
        values.iter().map(|value| self.ty(*value)).collect()
    }
}
