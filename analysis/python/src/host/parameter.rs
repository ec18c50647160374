//! What the parameters of a function are that nobody calls: by their annotations, and by what its body does with
//! them.

use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Parameter, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::open::{number, open_tensor};
use super::sizes::free;
use super::thing::{OpenNumber, any};
use crate::value::Value;

/// Attributes and methods that only tensors have.
const OF_TENSORS: &[&str] = &[
    "shape",
    "stride",
    "dtype",
    "device",
    "size",
    "numel",
    "element_size",
    "is_contiguous",
    "contiguous",
    "ndim",
    "dim",
    "data_ptr",
    "new_empty",
    "transpose",
    "unsqueeze",
    "view",
    "is_cuda",
];

/// What an annotation says.
fn annotated<'a>(annotation: &Expr) -> Option<Value<'a>> {
    match annotation {
        Expr::Name(name) => named(name.id.as_str()),
        Expr::Attribute(attribute) => named(attribute.attr.as_str()),
        Expr::StringLiteral(text) => named(text.value.to_str().rsplit('.').next().unwrap_or("")),
        // `Optional[T]`.
        Expr::Subscript(subscript) => match &*subscript.value {
            Expr::Name(name) if name.id.as_str() == "Optional" => annotated(&subscript.slice),
            Expr::Attribute(attribute) if attribute.attr.as_str() == "Optional" => annotated(&subscript.slice),
            _ => None,
        },
        // `T | None`.
        Expr::BinOp(op) => annotated(&op.left).or_else(|| annotated(&op.right)),
        _ => None,
    }
}

fn named<'a>(name: &str) -> Option<Value<'a>> {
    Some(match name {
        "Tensor" | "FloatTensor" | "HalfTensor" | "Parameter" => open_tensor(None, None),
        "int" => free(&Rc::default()),
        "float" => number(OpenNumber::Float),
        "bool" => number(OpenNumber::Bool),
        _ => return None,
    })
}

/// Functions of Triton and torch whose arguments that stand by themselves are whole numbers.
const OF_SIZES: &[&str] = &["cdiv", "next_power_of_2", "empty", "zeros", "ones", "rand", "randn"];

/// Names of which attributes are asked, and those that are sizes.
#[derive(Default)]
struct Asked<'a> {
    tensors: FxHashMap<&'a str, bool>,
    sizes: FxHashSet<&'a str>,
}

impl<'a> Visitor<'a> for Asked<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && let Expr::Name(name) = &*attribute.value
        {
            let tensor = OF_TENSORS.contains(&attribute.attr.as_str());
            *self.tensors.entry(name.id.as_str()).or_default() |= tensor;
        }
        if let Expr::Call(call) = expr
            && let Expr::Attribute(function) = &*call.func
            && let Expr::Name(library) = &*function.value
            && matches!(library.id.as_str(), "triton" | "torch")
            && OF_SIZES.contains(&function.attr.as_str())
        {
            let given = call.arguments.args.iter();
            let sizes = given.flat_map(|given| match given {
                Expr::Tuple(sizes) => &sizes.elts[..],
                Expr::List(sizes) => &sizes.elts[..],
                one => std::slice::from_ref(one),
            });
            // One argument by itself may be a sequence of sizes.
            let single = call.arguments.args.len() == 1 && matches!(call.arguments.args[0], Expr::Name(_));
            let names =
                sizes.filter_map(|size| if let Expr::Name(name) = size { Some(name.id.as_str()) } else { None });
            if !single || library.id.as_str() == "triton" {
                self.sizes.extend(names);
            }
        }
        walk_expr(self, expr);
    }
}

/// What is known of parameters of a function with this body.
pub(super) struct Parameters<'a> {
    asked: Asked<'a>,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Parameters<'a> {
        let mut asked = Asked::default();
        asked.visit_body(body);
        Parameters { asked }
    }

    /// The value of one of them.
    pub(super) fn value(&self, parameter: &'a Parameter) -> Value<'a> {
        let name = parameter.name.as_str();
        if let Some(value) = parameter.annotation().and_then(annotated) {
            return value;
        }
        match name {
            "self" | "cls" | "ctx" => any(name),
            _ if self.asked.tensors.get(name) == Some(&true) => open_tensor(None, None),
            _ if self.asked.sizes.contains(name) => free(&Rc::default()),
            _ => Value::Unknown(format!("nobody says what `{name}` is").into()),
        }
    }

    /// Other values than its default that one of them may be given: a tensor that may be left out, a switch.
    pub(super) fn beside_default(parameter: &'a Parameter, default: &Value<'a>) -> Option<Value<'a>> {
        let said = parameter.annotation().and_then(annotated);
        match (default, said) {
            (Value::Bool(on), _) => Some(Value::Bool(!on)),
            (Value::None, Some(value)) => Some(value),
            _ => None,
        }
    }
}
