//! Constants as arguments.

use ruff_python_ast::{Expr, Number};

use python::value::DType;

/// How a constant is given to a parameter; `None` where the expression is none.
pub(super) fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::NoneLiteral(_) => Some("None".to_owned()),
        Expr::BooleanLiteral(literal) => Some(if literal.value { "True" } else { "False" }.to_owned()),
        Expr::StringLiteral(literal) => {
            let text = literal.value.to_str();
            (!text.contains(['\'', '\\', '\n'])).then(|| format!("'{text}'"))
        }
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => int.as_i64().map(|int| int.to_string()),
            Number::Float(float) => Some(format!("{float:?}")),
            Number::Complex { .. } => None,
        },
        Expr::UnaryOp(unary) if unary.op.is_u_sub() => Some(format!("-{}", constant(&unary.operand)?)),
        Expr::Attribute(attribute) => {
            DType::named(attribute.attr.as_str()).map(|dtype| dtype.name_in_signatures().to_owned())
        }
        _ => None,
    }
}
