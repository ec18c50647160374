//! What the body of a function of host code does with its names: which are asked for what only tensors have, and which stand
//! where sizes do.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};

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

/// Those of them that nothing which merely describes tensors has: configurations and modules have a `dtype` as well.
const OF_TENSORS_ALONE: &[&str] =
    &["shape", "stride", "numel", "element_size", "is_contiguous", "contiguous", "data_ptr", "new_empty", "unsqueeze"];

/// Functions of Triton and torch whose arguments that stand by themselves are whole numbers.
const OF_SIZES: &[&str] = &["cdiv", "next_power_of_2", "empty", "zeros", "ones", "rand", "randn"];

/// Names of which attributes are asked, and those that are sizes.
#[derive(Debug, Default)]
pub struct Asked<'a> {
    tensors: BTreeMap<&'a str, bool>,
    surely: BTreeSet<&'a str>,
    sizes: BTreeSet<&'a str>,
}

impl<'a> Asked<'a> {
    /// Of the body of a function.
    pub fn of(body: &'a [Stmt]) -> Asked<'a> {
        let mut asked = Asked::default();
        asked.visit_body(body);
        asked
    }

    /// Whether what only tensors have is asked of a name.
    pub fn is_tensor(&self, name: &str) -> bool {
        self.tensors.get(name) == Some(&true)
    }

    /// Whether what tensors have and what describes them has not is asked of a name.
    pub fn is_surely_tensor(&self, name: &str) -> bool {
        self.surely.contains(name)
    }

    /// Whether a name stands where a size does.
    pub fn is_size(&self, name: &str) -> bool {
        self.sizes.contains(name)
    }
}

impl<'a> Visitor<'a> for Asked<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && let Expr::Name(name) = &*attribute.value
        {
            let tensor = OF_TENSORS.contains(&attribute.attr.as_str());
            *self.tensors.entry(name.id.as_str()).or_default() |= tensor;
            if OF_TENSORS_ALONE.contains(&attribute.attr.as_str()) {
                self.surely.insert(name.id.as_str());
            }
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
