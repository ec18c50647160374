//! Python that Triton's code generator does not take in a kernel, by its form alone.

use ruff_python_ast::{CmpOp, Expr, Stmt};

/// Functions and types of Python that a kernel does not have: Triton knows `len`, `list`, `range`, `float`, `int`,
/// `isinstance`, `getattr`, `hasattr`, `print`, `min` and `max`.
pub const ABSENT: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "callable",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "frozenset",
    "hash",
    "id",
    "iter",
    "map",
    "next",
    "object",
    "open",
    "pow",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// What a kernel does not have of an expression's kind, in words.
pub fn expression(expr: &Expr) -> Option<&'static str> {
    let starred = |items: &[Expr]| items.iter().any(Expr::is_starred_expr);
    Some(match expr {
        Expr::Lambda(_) => "`lambda`",
        Expr::Set(_) | Expr::SetComp(_) => "sets",
        Expr::Dict(_) | Expr::DictComp(_) => "dictionaries",
        Expr::Generator(_) => "generators",
        Expr::Yield(_) | Expr::YieldFrom(_) => "`yield`",
        Expr::Await(_) => "`await`",
        Expr::ListComp(comp) if comp.generators.len() > 1 => "comprehensions with several `for`",
        Expr::Tuple(tuple) if starred(&tuple.elts) => "`*` but in calls",
        Expr::List(list) if starred(&list.elts) => "`*` but in calls",
        Expr::Compare(compare) if compare.ops.iter().any(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => "`in`",
        _ => return None,
    })
}

/// The same of a statement.
pub fn statement(stmt: &Stmt) -> Option<&'static str> {
    Some(match stmt {
        Stmt::Import(_) | Stmt::ImportFrom(_) => "`import`",
        Stmt::Global(_) => "`global`",
        Stmt::Nonlocal(_) => "`nonlocal`",
        Stmt::TypeAlias(_) => "`type`",
        Stmt::Delete(_) => "`del`",
        Stmt::Match(_) => "`match`",
        Stmt::Try(_) => "`try`",
        Stmt::Break(_) | Stmt::Continue(_) => "`break` and no `continue`",
        _ => return None,
    })
}
