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
    "clone",
    "new_zeros",
];

/// Those of them that nothing which merely describes tensors has: configurations and modules have a `dtype` as well.
const OF_TENSORS_ALONE: &[&str] =
    &["shape", "stride", "numel", "element_size", "is_contiguous", "contiguous", "data_ptr", "new_empty", "unsqueeze"];

/// Functions of Triton's language whose first argument says where in a tensor.
const OF_PLACES: &[&str] = &["load", "store", "make_block_ptr", "make_tensor_descriptor", "atomic_add"];

/// Functions of Triton and torch whose arguments that stand by themselves are whole numbers.
const OF_SIZES: &[&str] = &["cdiv", "next_power_of_2", "empty", "zeros", "ones", "rand", "randn"];

/// Names of which attributes are asked, and those that are sizes.
#[derive(Debug, Default)]
pub struct Asked<'a> {
    tensors: BTreeMap<&'a str, bool>,
    surely: BTreeSet<&'a str>,
    sizes: BTreeSet<&'a str>,
    pointers: BTreeSet<&'a str>,
    handed: Vec<CallArgument<'a>>,
}

/// A name that a call hands to a function or a kernel of the same file, or of one that is imported.
#[derive(Debug)]
pub struct CallArgument<'a> {
    /// The name.
    pub name: &'a str,
    /// The function.
    pub to: &'a str,
    /// Which of its parameters it is, by place or by name.
    pub place: Result<usize, &'a str>,
    /// Whether the call launches a kernel.
    pub launches: bool,
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

    /// Where a name is handed on as it is.
    pub fn handed<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s CallArgument<'a>> {
        self.handed.iter().filter(move |handed| handed.name == name)
    }

    /// Whether what tensors have and what describes them has not is asked of a name.
    pub fn is_surely_tensor(&self, name: &str) -> bool {
        self.surely.contains(name)
    }

    /// Whether a kernel loads or stores where a name points.
    pub fn is_pointer(&self, name: &str) -> bool {
        self.pointers.contains(name)
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
        // A kernel's name stands before its grid.
        let called = |func: &'a Expr| match func {
            Expr::Name(to) => Some(to.id.as_str()),
            Expr::Subscript(launch) => launch.value.as_name_expr().map(|kernel| kernel.id.as_str()),
            _ => None,
        };
        if let Expr::Call(call) = expr
            && let Some(to) = called(&call.func)
        {
            let launches = call.func.is_subscript_expr();
            let placed = call.arguments.args.iter().enumerate().map(|(at, given)| (Ok(at), given));
            let named =
                call.arguments.keywords.iter().filter_map(|word| Some((Err(word.arg.as_ref()?.as_str()), &word.value)));
            for (place, given) in placed.take_while(|(_, given)| !given.is_starred_expr()).chain(named) {
                if let Expr::Name(name) = given {
                    self.handed.push(CallArgument { name: name.id.as_str(), to, place, launches });
                }
            }
        }
        if let Expr::Call(call) = expr
            && let Expr::Attribute(function) = &*call.func
            && let Expr::Name(library) = &*function.value
            && matches!(library.id.as_str(), "tl" | "gl")
            && OF_PLACES.contains(&function.attr.as_str())
            && let Some(mut place) = call.arguments.args.first()
        {
            while let Expr::BinOp(sum) = place {
                place = &sum.left;
            }
            if let Expr::Name(tensor) = place {
                self.pointers.insert(tensor.id.as_str());
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

/// Whether reading an expression changes nothing: a name, and what is below it.
pub fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_) | Expr::NumberLiteral(_) => true,
        Expr::Attribute(attribute) => is_place(&attribute.value),
        Expr::Subscript(subscript) => is_place(&subscript.value) && is_place(&subscript.slice),
        Expr::UnaryOp(op) => is_place(&op.operand),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_place),
        Expr::Call(call) => {
            matches!(&*call.func, Expr::Attribute(method) if matches!(method.attr.as_str(), "size" | "numel" | "stride"))
                && is_place(&call.func)
                && call.arguments.args.iter().all(is_place)
        }
        _ => false,
    }
}
