//! The statements of a file as running its host code sees them: without the bodies of kernels.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::survey::{Func, Survey};
use base::TextRange;
use python::interp::Interp;
use python::syntax::{Asked, Module};

/// A statement of a file, outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub range: TextRange,
    /// Of what host code sees of it.
    pub hash: u64,
    /// Places between which nothing is moved while that is the same: where it and the functions in it start that Python
    /// runs, and where bodies of kernels end.
    pub anchors: Vec<u32>,
    /// Whether each function in it runs in kernels.
    pub device: bool,
}

/// All of them, in order.
pub(super) fn outline(module: &Module, survey: &Survey<'_>) -> Vec<Statement> {
    let mut functions: Vec<&Func<'_>> = survey.functions.iter().collect();
    functions.sort_by_key(|func| func.start());
    let statements = module.body().iter().map(|stmt| {
        let range = Interp::range(stmt);
        let from = functions.partition_point(|func| func.start() < range.start);
        let rest = functions.get(from..).unwrap_or_default();
        let inside = rest.get(..rest.partition_point(|func| func.start() < range.end)).unwrap_or_default();
        let own = std::iter::once(range.start).chain(inside.iter().map(|func| match func.def.body.last() {
            Some(last) if func.device() => Interp::range(last).end,
            _ => func.start(),
        }));
        Statement {
            range,
            hash: without_kernels(module, survey, range, inside),
            anchors: own.collect(),
            device: inside.iter().all(|func| func.device()),
        }
    });
    statements.collect()
}

/// Where the places of one text are in another, in which what these anchors stand for is the same.
pub(super) struct Places(Vec<(u32, u32)>);

impl Places {
    /// From anchors before and now, in the same order.
    pub(super) fn between(anchors: impl Iterator<Item = (u32, u32)>) -> Places {
        let mut moves: Vec<(u32, u32)> = anchors.collect();
        moves.sort_unstable();
        Places(moves)
    }

    /// Where a place is now.
    pub(super) fn place(&self, at: u32) -> u32 {
        let anchor = self.0.partition_point(|(was, _)| *was <= at).checked_sub(1).and_then(|last| self.0.get(last));
        anchor.map_or(at, |(was, is)| at - was + is)
    }

    /// Where a range is that starts there.
    pub(super) fn range(&self, range: TextRange) -> TextRange {
        let start = self.place(range.start);
        TextRange::new(start, start + range.len())
    }
}

/// A statement without the bodies of kernels' functions, of which counts which parameters they load through; of those in
/// functions that Python runs the names count that these may give a value, since they tell launches apart.
fn without_kernels(module: &Module, survey: &Survey<'_>, range: TextRange, functions: &[&Func<'_>]) -> u64 {
    let mut hasher = FxHasher::default();
    let mut next = range.start;
    for func in functions {
        (func.device(), func.inside.len()).hash(&mut hasher);
        let (Some(first), Some(last)) = (func.def.body.first(), func.def.body.last()) else { continue };
        let body = TextRange::new(Interp::range(first).start, Interp::range(last).end);
        if !func.device() || body.start < next {
            continue;
        }
        module.slice(TextRange::new(next, body.start)).hash(&mut hasher);
        // What a kernel loads through is a tensor to those who launch it.
        let asked = Asked::of(&func.def.body);
        let params = func.def.parameters.iter_non_variadic_params();
        params.for_each(|param| asked.is_pointer(param.name().as_str()).hash(&mut hasher));
        if !func.inside.is_empty() {
            let around = || func.inside.iter().filter_map(|at| survey.functions.get(*at));
            // What is bound by a statement of another kind than those that assign: all names may be.
            let others = ["import", "except", "match", "class"];
            let any = around().any(|outer| others.iter().any(|word| module.slice(outer.range()).contains(word)));
            let is_given = |name: &str| {
                any || around().any(|outer| outer.assigns(name)) || functions.iter().any(|func| *func.def.name == *name)
            };
            let mut names: Vec<&str> = func.mentions.iter().copied().filter(|name| is_given(name)).collect();
            names.sort_unstable();
            names.hash(&mut hasher);
        }
        next = body.end;
    }
    module.slice(TextRange::new(next, range.end)).hash(&mut hasher);
    hasher.finish()
}
