//! Fixes of Gluon kernels: candidates for the IR that a kernel stands for, said in its Python.
//!
//! The candidates are those of [`super`]. Each edit of the IR becomes one of the Python call that its op
//! comes from: a line that is inserted becomes a statement, an operand or a number becomes an argument. What
//! a value of the IR is called in Python may not hold at the new place; whoever asks elaborates and decides
//! the edited Python before it is offered, so a wrong name costs a candidate and nothing else.
//!
//! Missed: what has no call in the kernel's own file, and edits of several statements on one line.

mod context;
mod python;
mod spell;
mod translate;

pub use context::PythonContext;

use super::code::Code;
use super::context::{Candidate, FixContext, fix};
use base::{Message, message};
use findings::Finding;
use kernel::{CommitKind, Lowered};
use python::Python;
use ttgir::Tree;
use verify::Found;

/// Candidates for a finding of a kernel's IR, as edits of the Python; the likeliest first.
pub fn candidates(
    tree: &Tree,
    lowered: &Lowered,
    found: &Found,
    told: &Finding<Message>,
    way: &PythonContext<'_>,
) -> Vec<Candidate> {
    let code = Code { tree };
    let Some(case) = FixContext::new(code, lowered, found, told) else { return Vec::new() };
    let python = Python::new(way.module);
    let mut out: Vec<Candidate> = Vec::new();
    let mut keep = |fix: Option<Candidate>| {
        if let Some(fix) = fix.filter(|fix| !fix.edits.is_empty())
            && !out.iter().any(|other| other.edits == fix.edits)
        {
            out.push(fix);
        }
    };
    keep(wgmma_wait(&case, way, &python));
    let mut all = super::candidates(&case);
    let at = all.len().min(super::FIRST);
    all.splice(at..at, super::phase::counted(&case)).for_each(drop);
    for fix in all.into_iter().take(2 * super::TRIES) {
        keep(translate::translated(&case, way, &python, &fix));
    }
    out.truncate(super::TRIES);
    out
}

/// `acc = warpgroup_mma_wait(0, deps=[acc])` before what comes too soon: the registers have a name in Python.
fn wgmma_wait(case: &FixContext<'_>, way: &PythonContext<'_>, python: &Python<'_>) -> Option<Candidate> {
    let (earlier, later) = case.pair()?;
    if case.words.channels.family(earlier.channel) != Some(CommitKind::Wgmma) {
        return None;
    }
    let tree = case.code.tree;
    let place = |op| (way.origin)(tree.op_range(op).start);
    let call = python.call(place(case.op(earlier.effect)?)?)?;
    let acc = call.target?;
    let at = if earlier.thread == later.thread {
        case.op(later.effect)?
    } else {
        case.step_op(case.arrival_after(earlier.thread, earlier.step)?)?
    };
    let wait = spell::spelled(way, "gl.nvidia.hopper.warpgroup_mma_wait")?;
    let at = python.statement(place(at)?)?;
    let edit = python.before(at, &[format!("{acc} = {wait}(0, deps=[{acc}])")])?;
    Some(fix(message!("insert `{wait}`", wait), [edit]))
}
