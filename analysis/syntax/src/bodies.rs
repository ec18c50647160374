//! What a body of Python does, by its text alone.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Number, Stmt, StmtFunctionDef};

use crate::names::returns;

/// An expression that names something, as it is spelled.
pub fn spelled(expr: &Expr) -> String {
    match expr {
        Expr::Name(name) => name.id.to_string(),
        Expr::Attribute(attribute) => format!("{}.{}", spelled(&attribute.value), attribute.attr.as_str()),
        Expr::Call(call) => spelled(&call.func),
        _ => "an expression".to_owned(),
    }
}

/// What a decorator of a kernel that PyTorch's compiler generates says of it: the value of `triton_meta=…` or `inductor_meta=…`.
pub fn generated<'a>(def: &'a StmtFunctionDef, word: &str) -> Option<&'a Expr> {
    let mut calls = def.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    calls.find_map(|call| call.arguments.find_keyword(word)).map(|word| &word.value)
}

/// Parameters of such a kernel that its `run` is given, in their order: the constants are its launcher's.
pub fn run_parameters(def: &StmtFunctionDef) -> Option<Vec<&str>> {
    generated(def, "triton_meta")?;
    let constant = |annotation: &Expr| spelled(annotation).ends_with("constexpr");
    let given = def.parameters.iter_non_variadic_params().filter(|param| !param.annotation().is_some_and(constant));
    Some(given.map(|param| param.name().as_str()).collect())
}

/// Whether a block ends in an exception, or leaves the test or the program.
pub fn gives_up(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Raise(_)) => true,
        Some(Stmt::Expr(stmt)) => match &*stmt.value {
            Expr::Call(call) => {
                let name = spelled(&call.func);
                matches!(&*name, "pytest.skip" | "pytest.xfail" | "pytest.fail" | "sys.exit" | "exit" | "quit")
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the body of a function does nothing but end in an exception.
pub fn only_raises(body: &[Stmt]) -> bool {
    let is_text = |stmt: &Stmt| matches!(stmt, Stmt::Expr(of) if of.value.is_string_literal_expr());
    matches!(body.iter().find(|stmt| !is_text(stmt)), Some(Stmt::Raise(_)))
}

/// Whether a statement can hold a `return`.
pub fn may_return(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Try(_) => {
            returns(std::slice::from_ref(stmt))
        }
        _ => false,
    }
}

/// Whether a function has a `yield`.
pub fn generates(body: &[Stmt]) -> bool {
    struct Yields(bool);
    impl<'a> Visitor<'a> for Yields {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) && !self.0 {
                walk_stmt(self, stmt);
            }
        }
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_));
            if !self.0 && !matches!(expr, Expr::Lambda(_)) {
                walk_expr(self, expr);
            }
        }
    }
    let mut yields = Yields(false);
    yields.visit_body(body);
    yields.0
}

/// Whether a comparison with a number that is written there says of its left side that it is not above one.
pub fn is_at_most_one(op: CmpOp, right: &Expr, holds: bool) -> bool {
    let Expr::NumberLiteral(literal) = right else { return false };
    let Number::Int(number) = &literal.value else { return false };
    match (op, holds) {
        (CmpOp::Gt, false) | (CmpOp::LtE, true) => number.as_u8() == Some(1),
        (CmpOp::GtE, false) | (CmpOp::Lt, true) => number.as_u8() == Some(2),
        _ => false,
    }
}

/// Of what `len(x.shape)`, `x.dim()` or `x.ndim` is the number of dimensions.
pub fn ranked(counted: &Expr) -> Option<&Expr> {
    match counted {
        Expr::Call(call) => match (&*call.func, &*call.arguments.args) {
            (Expr::Name(name), [sizes]) if name.id.as_str() == "len" => Some(sizes),
            (Expr::Attribute(method), []) if matches!(method.attr.as_str(), "dim" | "ndimension") => {
                Some(&method.value)
            }
            _ => None,
        },
        Expr::Attribute(attribute) if attribute.attr.as_str() == "ndim" => Some(&attribute.value),
        _ => None,
    }
}

/// Whether a number between two others compares so with one that is given; `None` where some do and some do not.
pub fn compares(op: CmpOp, (least, most): (i64, i64), with: i64) -> Option<bool> {
    let sure = |always: bool, never: bool| if always || never { Some(always) } else { None };
    match op {
        CmpOp::Lt => sure(most < with, least >= with),
        CmpOp::LtE => sure(most <= with, least > with),
        CmpOp::Gt => sure(least > with, most <= with),
        CmpOp::GtE => sure(least >= with, most < with),
        CmpOp::Eq => sure(least == with && most == with, with < least || most < with),
        CmpOp::NotEq => sure(with < least || most < with, least == with && most == with),
        _ => None,
    }
}

/// The block under `if __name__ == "__main__"`.
pub fn main_block(stmt: &Stmt) -> Option<&[Stmt]> {
    let Stmt::If(branch) = stmt else { return None };
    let Expr::Compare(test) = &*branch.test else { return None };
    let is_name = |expr: &Expr| matches!(expr, Expr::Name(name) if name.id.as_str() == "__name__");
    let is_main = |expr: &Expr| matches!(expr, Expr::StringLiteral(text) if text.value.to_str() == "__main__");
    let sides = (&*test.left, test.comparators.first()?);
    let asks = is_name(sides.0) && is_main(sides.1) || is_main(sides.0) && is_name(sides.1);
    (asks && matches!(*test.ops, [CmpOp::Eq])).then_some(&branch.body)
}

/// What an origin calls an expression.
pub fn what(expr: &Expr) -> &'static str {
    match expr {
        Expr::BinOp(op) => op.op.as_str(),
        Expr::UnaryOp(op) => op.op.as_str(),
        Expr::Attribute(_) => "attribute",
        Expr::Subscript(_) => "[]",
        _ => "",
    }
}
