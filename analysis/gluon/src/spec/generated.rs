//! Kernels that PyTorch's compiler generates: no code of theirs launches them, but a launcher that their decorator names.
//! It starts as many programs as it takes to cover the sizes that a kernel is given, or sets itself, by its blocks.

use std::sync::Arc;

use base::{Operation, Quantity};
use python::interp::Interp;
use python::specialization::{ArgumentFacts, LaunchFacts};
use python::syntax::Module;
use ruff_python_ast::{Expr, Number, Stmt, StmtFunctionDef};

use super::survey::{Func, Survey};

/// Decorators of kernels with a program for each block along x, y and z.
const LAUNCHERS: [&str; 3] = ["pointwise", "reduction", "persistent_reduction"];

/// Grids that a decorator may name which are of that kind.
const GRIDS: [&str; 3] = ["Grid1D", "Grid2D", "Grid3D"];

/// What is known of all launches of a kernel that says by its decorator how it is launched; `None` of one that does not.
pub(super) fn launch(module: &Module, survey: &Survey<'_>, func: &Func<'_>, params: &[&str]) -> Option<LaunchFacts> {
    let mut decorators = func.def.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    let call = decorators.find(|call| {
        let path = survey.path(&call.func).unwrap_or_default();
        let mut parts = path.rsplit('.');
        parts.next().is_some_and(|name| LAUNCHERS.contains(&name)) && parts.next() == Some("triton_heuristics")
    })?;
    let text = module.slice(Interp::range(call));
    if let Some((_, grid)) = text.split_once("grid_type")
        && !grid.split(['\'', '"']).nth(2).is_some_and(|grid| GRIDS.contains(&grid))
    {
        return None;
    }
    // Several programs may share the elements of one reduction.
    if params.iter().any(|param| param.starts_with("RSPLIT")) {
        return None;
    }
    let mut facts = LaunchFacts { grid: [None, Some(1), Some(1)], ..LaunchFacts::default() };
    for (axis, (letter, block)) in (0u32..).zip([('x', 'X'), ('y', 'Y'), ('z', 'Z')]) {
        let (size, block) = (format!("{letter}numel"), format!("{block}BLOCK"));
        let mut number = |name: &str, id: u32, of: Option<u32>| {
            if let Some(set) = set_in(func.def, name) {
                return Some(Quantity::Known(set));
            }
            params.iter().find(|param| **param == name)?;
            let quantity = Quantity::Unknown { id, of };
            let (name, divisibility, given) = (name.to_owned(), 1, Some(quantity.clone()));
            facts.arguments.push(ArgumentFacts { name, divisibility, quantity: given, ..ArgumentFacts::default() });
            Some(quantity)
        };
        let programs = match (number(&size, axis, Some(axis)), number(&block, axis + 3, None)) {
            (Some(Quantity::Known(1)), _) => Quantity::Known(1),
            (Some(size), Some(block)) => Quantity::Made(Operation::CeilDiv, Arc::new((size, block))),
            _ if axis == 0 => return None,
            _ => continue,
        };
        let known = programs.value(&|_| None).and_then(|count| u64::try_from(count).ok());
        if let (Some(count), Some(formula)) = (facts.grid.get_mut(axis as usize), facts.programs.get_mut(axis as usize))
        {
            (*count, *formula) = (known, Some(programs).filter(|_| known.is_none()));
        }
    }
    Some(facts)
}

/// The number that a kernel itself gives one of its variables, over what it was given.
fn set_in(def: &StmtFunctionDef, name: &str) -> Option<i64> {
    let is = |target: &Expr| matches!(target, Expr::Name(own) if own.id.as_str() == name);
    let value = def.body.iter().find_map(|stmt| match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(is).then_some(&*assign.value),
        Stmt::AnnAssign(assign) if is(&assign.target) => assign.value.as_deref(),
        _ => None,
    })?;
    match value {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(number) => number.as_i64(),
            _ => None,
        },
        _ => None,
    }
}
