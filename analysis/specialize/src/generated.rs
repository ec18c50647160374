//! Kernels that PyTorch's compiler generates: no code of theirs launches them, but a launcher that their decorator names.
//! It starts as many programs as it takes to cover the sizes that a kernel is given, or sets itself, by its blocks.

use std::sync::Arc;

use base::{Operation, Quantity};
use python::interp::Interp;
use python::specialization::{ArgumentFacts, Given, LaunchFacts};
use python::syntax::Module;
use python::syntax::bodies::generated;
use ruff_python_ast::{Expr, ExprNumberLiteral, Number, Stmt, StmtFunctionDef};

use super::survey::{Func, Survey};

/// Decorators of kernels with a program for each block along x, y and z.
const LAUNCHERS: [&str; 3] = ["pointwise", "reduction", "persistent_reduction"];

/// Grids that a decorator may name which are of that kind.
const GRIDS: [&str; 3] = ["Grid1D", "Grid2D", "Grid3D"];

/// The sizes, and the blocks that cover them, of such a grid along x, y and z.
const BLOCKS: [(&str, &str); 3] = [("xnumel", "XBLOCK"), ("ynumel", "YBLOCK"), ("znumel", "ZBLOCK")];

/// The same of a scan that programs share: each element of the outer size has programs of its own.
const SCANNED: [(&str, &str); 3] = [("r0_numel", "R0_BLOCK"), ("xnumel", "XBLOCK"), ("znumel", "ZBLOCK")];

/// The first number of a quantity of such a grid: beyond those of any host code.
const FIRST: u32 = u32::MAX - 16;

/// What is known of all launches of a kernel that says by its decorator how it is launched; `None` of one that does not.
pub(super) fn launch(module: &Module, survey: &Survey<'_>, func: &Func<'_>, params: &[&str]) -> Option<LaunchFacts> {
    let mut decorators = func.def.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    let call = decorators.find(|call| {
        let path = survey.path(&call.func).unwrap_or_default();
        let mut parts = path.rsplit('.');
        let known = |name: &str| LAUNCHERS.contains(&name) || name == "split_scan";
        parts.next().is_some_and(known) && parts.next() == Some("triton_heuristics")
    })?;
    let scans = survey.path(&call.func).is_some_and(|path| path.ends_with(".split_scan"));
    let text = module.slice(Interp::range(call));
    if let Some((_, grid)) = text.split_once("grid_type")
        && let grid = grid.split(['\'', '"']).nth(2)
        && !grid.is_some_and(|grid| if scans { grid == "SplitScanGrid" } else { GRIDS.contains(&grid) })
    {
        return None;
    }
    // Several programs may share the elements of one reduction.
    if params.iter().any(|param| param.starts_with("RSPLIT")) {
        return None;
    }
    let mut facts = LaunchFacts { grid: [None, Some(1), Some(1)], ..LaunchFacts::default() };
    for (axis, (size, block)) in (FIRST..).zip(if scans { SCANNED } else { BLOCKS }) {
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
        let (size, block) = (number(size, axis, Some(axis)), number(block, axis + 3, None));
        let at = (axis - FIRST) as usize;
        let programs = match (size, block) {
            (Some(Quantity::Known(1)), _) => Quantity::Known(1),
            (Some(size), None) if scans && at == 1 => size,
            (Some(size), Some(block)) => Quantity::Made(Operation::CeilDiv, Arc::new((size, block))),
            _ if at == 0 => return None,
            _ => continue,
        };
        let known = programs.value(&|_| None).and_then(|count| u64::try_from(count).ok());
        if let (Some(count), Some(formula)) = (facts.grid.get_mut(at), facts.programs.get_mut(at)) {
            (*count, *formula) = (known, Some(programs).filter(|_| known.is_none()));
        }
    }
    Some(facts)
}

/// What such a kernel's decorator says that its parameters are given: types, and numbers of those that are constants.
pub(super) fn signature(func: &Func<'_>, params: &[&str]) -> Vec<(String, Given)> {
    let Some(Expr::Dict(meta)) = generated(func.def, "triton_meta") else { return Vec::new() };
    let entries = |word: &str| {
        let is = |key: &Expr| key.as_string_literal_expr().is_some_and(|key| key.value.to_str() == word);
        let value = meta.items.iter().find(|item| item.key.as_ref().is_some_and(is)).map(|item| &item.value);
        value.and_then(|value| value.as_dict_expr()).map_or(&[][..], |dict| &dict.items)
    };
    // Earlier releases number the parameters.
    let name = |key: &Expr| match key {
        Expr::StringLiteral(name) => params.iter().find(|param| **param == name.value.to_str()),
        Expr::NumberLiteral(number) => params.get(whole(number)?.try_into().ok().unwrap_or(usize::MAX)),
        _ => None,
    };
    let types = entries("signature").iter().filter_map(|item| {
        let (name, ty) = (name(item.key.as_ref()?)?, item.value.as_string_literal_expr()?.value.to_str());
        let plain = ty.trim_start_matches('*');
        let known = ["i", "u", "fp", "bf"].iter().any(|kind| plain.starts_with(kind)) && plain.is_ascii();
        known.then(|| ((*name).to_owned(), Given::Type(ty.to_owned())))
    });
    let numbers = entries("constants").iter().filter_map(|item| {
        let constant = |param: &&str| annotated(func.def, param).is_some();
        let (name, number) =
            (name(item.key.as_ref()?).filter(|name| constant(name))?, item.value.as_number_literal_expr()?);
        Some(((*name).to_owned(), Given::Value(whole(number)?.to_string())))
    });
    types.chain(numbers).collect()
}

/// The annotation of a parameter.
fn annotated<'a>(def: &'a StmtFunctionDef, name: &str) -> Option<&'a Expr> {
    def.parameters.iter_non_variadic_params().find(|param| param.name().as_str() == name)?.annotation()
}

/// Gives a launch that says nothing of its grid the one that the kernel's launcher makes, by what the launch gives the kernel.
pub(super) fn complete(launch: &mut LaunchFacts, generated: &LaunchFacts) {
    if launch.grid.iter().any(Option::is_some) || launch.programs.iter().any(Option::is_some) {
        return;
    }
    let mut known: Vec<(u32, Quantity)> = Vec::new();
    for of in &generated.arguments {
        let Some(Quantity::Unknown { id, .. }) = of.quantity else { continue };
        match launch.arguments.iter().find(|own| own.name == of.name) {
            Some(own) => known.extend(own.value.map(Quantity::Known).or(own.quantity.clone()).map(|of| (id, of))),
            None => launch.arguments.push(of.clone()),
        }
    }
    let put = |quantity: &Quantity| match quantity {
        Quantity::Unknown { id, .. } => known.iter().find(|(of, _)| of == id).map_or(quantity, |(_, of)| of).clone(),
        _ => quantity.clone(),
    };
    launch.grid = generated.grid;
    let all = launch.grid.iter_mut().zip(&mut launch.programs).zip(&generated.programs);
    for ((grid, programs), formula) in all {
        let Some(formula) = formula else { continue };
        let made = match formula {
            Quantity::Made(operation, of) => Quantity::Made(*operation, Arc::new((put(&of.0), put(&of.1)))),
            other => put(other),
        };
        *grid = made.value(&|_| None).and_then(|count| u64::try_from(count).ok());
        *programs = Some(made).filter(|_| grid.is_none());
    }
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
        Expr::NumberLiteral(literal) => whole(literal),
        _ => None,
    }
}

fn whole(literal: &ExprNumberLiteral) -> Option<i64> {
    match &literal.value {
        Number::Int(number) => number.as_i64(),
        _ => None,
    }
}
