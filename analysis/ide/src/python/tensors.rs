//! Which expressions of a kernel are tensors, by the builtins that make them.

use gluon::catalog;
use python::syntax::{each_node, range};
use ruff_python_ast::{AnyNodeRef, Expr};

use super::callee::{Callee, of_builtin};
use super::cursor::OpenCall;
use super::functions::dotted;
use super::navigate::expression;
use super::scene::Scene;
use super::things::Thing;
use crate::limits::names::INFERENCE;

/// Builtins whose results are no tensors.
const OTHERS: &[&str] = &[
    "constexpr",
    "static_range",
    "range",
    "static_assert",
    "static_print",
    "device_assert",
    "device_print",
    "store",
    "make_tensor_descriptor",
    "make_block_ptr",
    "num_warps",
    "num_ctas",
    "warp_specialize",
    "multiple_of_layout",
];

/// What a call calls: what the file and the table know of by its names, else a method of a tensor.
pub(super) fn callee(scene: &Scene<'_>, call: &OpenCall, offset: u32) -> Option<Callee> {
    scene.callee(call, offset).or_else(|| {
        let (_, method) = call.name.rsplit_once('.')?;
        let expr = expression(scene.file.module(), call.callee)?;
        let classes = classes(scene, &expr.as_attribute_expr()?.value, offset);
        let mut found = classes.iter().map(|class| format!("{class}.{method}"));
        let builtin = found.find_map(|path| catalog::find(&path, scene.setting.version))?;
        Some(of_builtin(call.name.trim_start_matches('.'), builtin))
    })
}

/// The classes of Triton that the object may be of that an expression at an offset gives.
pub(super) fn classes(scene: &Scene<'_>, expr: &Expr, offset: u32) -> Vec<&'static str> {
    let Some((function, of)) = scene.definitions.around(offset).filter(|(_, of)| of.device()) else {
        return Vec::new();
    };
    if let Some(class) = thing(scene, function, expr).and_then(Thing::class) {
        return vec![class];
    }
    let free = |name: &str| {
        let mut parameters = of.def.parameters.iter_non_variadic_params();
        parameters.any(|it| it.name().as_str() == name && it.annotation().is_none())
    };
    match expr {
        // What a launch passes: a pointer or number, or a descriptor.
        Expr::Name(name) if free(name.id.as_str()) && name.id.as_str() != "self" => vec!["tensor", "tensor_descriptor"],
        _ if is_tensor(scene, function, expr, INFERENCE) => vec!["tensor"],
        _ => Vec::new(),
    }
}

/// What an expression stands for as memory or a descriptor.
fn thing(scene: &Scene<'_>, function: usize, expr: &Expr) -> Option<Thing> {
    let library = super::things::Library::new(scene.names, scene.setting.version);
    scene.things.thing(function, expr, &library)
}

fn is_tensor(scene: &Scene<'_>, function: usize, expr: &Expr, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is = |expr: &Expr| is_tensor(scene, function, expr, depth);
    match expr {
        Expr::Call(call) => {
            let builtin = dotted(&call.func).and_then(|name| scene.names.path(&name));
            let builtin = builtin.and_then(|path| catalog::find(&path, scene.setting.version));
            if let Some(builtin) = builtin {
                let plain =
                    builtin.kind == catalog::BuiltinKind::Function && (!builtin.effect || builtin.name == "load");
                return plain && !OTHERS.contains(&builtin.name) && !builtin.name.starts_with("allocate");
            }
            let Expr::Attribute(method) = &*call.func else { return false };
            match thing(scene, function, &method.value) {
                Some(_) => matches!(method.attr.as_str(), "load" | "gather"),
                None => is(&method.value),
            }
        }
        Expr::BinOp(op) => is(&op.left) || is(&op.right),
        Expr::UnaryOp(op) => is(&op.operand),
        Expr::Compare(of) => is(&of.left) || of.comparators.iter().any(is),
        Expr::Subscript(part) => is(&part.value),
        Expr::If(either) => is(&either.body) || is(&either.orelse),
        Expr::Attribute(of) => of.attr.as_str() == "T" && is(&of.value),
        Expr::Name(name) => {
            let Some(of) = scene.definitions.functions.get(function) else { return false };
            let mut given = Vec::new();
            each_node(of.def.body.iter(), |node| {
                if let AnyNodeRef::StmtAssign(assign) = node
                    && assign.targets.iter().filter_map(Expr::as_name_expr).any(|target| target.id == name.id)
                    && !range(assign).contains(range(name))
                {
                    given.push(&*assign.value);
                }
            });
            given.into_iter().any(is)
        }
        _ => false,
    }
}
