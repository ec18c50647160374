//! Methods of operators, and predicates of comparisons in MLIR.

use ruff_python_ast::{CmpOp, Operator};

/// The method of the left side that computes `a op b`.
pub fn forward(op: Operator) -> &'static str {
    match op {
        Operator::Add => "__add__",
        Operator::Sub => "__sub__",
        Operator::Mult => "__mul__",
        Operator::MatMult => "__matmul__",
        Operator::Div => "__truediv__",
        Operator::Mod => "__mod__",
        Operator::Pow => "__pow__",
        Operator::LShift => "__lshift__",
        Operator::RShift => "__rshift__",
        Operator::BitOr => "__or__",
        Operator::BitXor => "__xor__",
        Operator::BitAnd => "__and__",
        Operator::FloorDiv => "__floordiv__",
    }
}

/// The method of the right side that computes it where the left side has none.
pub fn reflected(op: Operator) -> &'static str {
    match op {
        Operator::Add => "__radd__",
        Operator::Sub => "__rsub__",
        Operator::Mult => "__rmul__",
        Operator::MatMult => "__rmatmul__",
        Operator::Div => "__rtruediv__",
        Operator::Mod => "__rmod__",
        Operator::Pow => "__rpow__",
        Operator::LShift => "__rlshift__",
        Operator::RShift => "__rrshift__",
        Operator::BitOr => "__ror__",
        Operator::BitXor => "__rxor__",
        Operator::BitAnd => "__rand__",
        Operator::FloorDiv => "__rfloordiv__",
    }
}

/// The predicate of a comparison of floats.
pub fn ordered(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "oeq",
        CmpOp::NotEq => "une",
        CmpOp::Lt => "olt",
        CmpOp::LtE => "ole",
        CmpOp::Gt => "ogt",
        _ => "oge",
    }
}

/// The predicate of a comparison of integers.
pub fn predicate(op: CmpOp, unsigned: bool) -> &'static str {
    match (op, unsigned) {
        (CmpOp::Eq, _) => "eq",
        (CmpOp::NotEq, _) => "ne",
        (CmpOp::Lt, false) => "slt",
        (CmpOp::Lt, true) => "ult",
        (CmpOp::LtE, false) => "sle",
        (CmpOp::LtE, true) => "ule",
        (CmpOp::Gt, false) => "sgt",
        (CmpOp::Gt, true) => "ugt",
        (_, false) => "sge",
        (_, true) => "uge",
    }
}
