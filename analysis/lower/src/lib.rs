//! TTGIR to kernels.
//!
//! Every `tt.func` that is not private and has a body becomes one kernel. Calls of private
//! functions are inlined. What is followed: scalars of at most 64 bits ([`scalar`]), memdescs
//! ([`view`], [`layout`]), structured and CFG control flow ([`flow`], [`region`]),
//! `ttg.warp_specialize` ([`specialize`]), and the effects that [`dialects`] declares.
//!
//! Dropped without a word: tensors, floats and what computes them, global memory. A scalar that
//! depends on them is a free input. Never dropped: an op with a memdesc operand or of a dialect
//! that synchronises, and no row; it becomes [`EffectKind::Unmodelled`](kernel::EffectKind::Unmodelled).
//!
//! Missed so far: TLX storage aliases (said at each op).

mod amd;
mod apply;
mod assume;
mod autows;
mod binding;
mod build;
mod bulk;
mod cfg;
mod clc;
mod cluster;
mod cta;
mod entry;
mod executable;
mod exit;
mod fences;
mod flow;
mod global_places;
mod halves;
mod host;
mod layout;
mod lifetimes;
mod limits;
mod lowerer;
mod mma;
mod options;
mod region;
mod remote;
mod rendezvous;
mod result;
mod scalar;
mod scratch;
pub mod simplify;
mod specialize;
mod storage;
mod subtile;
mod tlx;
mod token;
mod value;
mod view;
mod warp_order;
mod warps;
mod words;

use dialects::{Builtin, Tt};
use rustc_hash::FxHashMap;

pub use autows::Tasks;
use base::TextRange;
use entry::{name, name_range};
use executable::Hosts;
pub use executable::{Executable, HostOp};
pub use global_places::{GlobalPlace, lower_with_places};
use kernel::Lowered;
pub use limits::LIMITS;
use lowerer::Lowerer;
pub use options::{ChannelGrouping, LoweringOptions};
use ttgir::{OpId, Tree};

/// A lowerer for every entry function of a section, and what is made of it.
fn each_entry<T>(tree: &Tree, mut each: impl FnMut(OpId, Lowerer<'_>) -> T) -> Vec<T> {
    let tops = tree.top().iter().filter(|&&top| tree.is(top, Builtin::Module));
    let mut modules: Vec<(Option<OpId>, Vec<OpId>)> = tops.map(|&top| (Some(top), body(tree, top))).collect();
    // A file may hold functions without a module around them.
    modules.push((None, tree.top().to_vec()));
    let mut made = Vec::new();
    for (module, ops) in modules {
        let functions = functions(tree, &ops);
        let table: FxHashMap<&str, OpId> = functions.iter().map(|&op| (name(tree, op), op)).collect();
        for &function in functions.iter().filter(|&&op| !private(tree, op)) {
            let mut lowerer = Lowerer::new(tree, &table);
            lowerer.machine(module);
            made.push(each(function, lowerer));
        }
    }
    made
}

/// Lowers every entry function of a section.
pub fn lower(tree: &Tree) -> Vec<Lowered> {
    lower_with(tree, LoweringOptions::default())
}

/// The same, with something to assume.
pub fn lower_with(tree: &Tree, options: LoweringOptions) -> Vec<Lowered> {
    each_entry(tree, |function, mut lowerer| {
        lowerer.options = options;
        lowerer.entry(function, name(tree, function));
        lowerer.finish()
    })
}

fn body(tree: &Tree, op: OpId) -> Vec<OpId> {
    let regions = tree.regions(op).iter();
    regions.flat_map(|region| tree.blocks(*region)).flat_map(|block| tree.block_ops(*block)).copied().collect()
}

/// Lowers every entry function of a section for execution.
pub fn executables(tree: &Tree) -> Vec<Executable> {
    each_entry(tree, |function, mut lowerer| {
        lowerer.hosts = Some(Hosts::default());
        lowerer.entry(function, name(tree, function));
        let hosts = lowerer.hosts.take().unwrap_or_default();
        let lowered = lowerer.unsimplified();
        Executable { function, lowered, hosts: hosts.table, arguments: hosts.arguments }
    })
}

/// The kernels that [`lower`] would give, in its order: their names, and where these stand.
pub fn kernel_names(tree: &Tree) -> Vec<(String, TextRange)> {
    let modules = tree.top().iter().filter(|&&top| tree.is(top, Builtin::Module));
    let inside = modules.flat_map(|&top| functions(tree, &body(tree, top)));
    let kernels = inside.chain(functions(tree, tree.top())).filter(|&op| !private(tree, op));
    kernels.map(|op| (name(tree, op).to_owned(), name_range(tree, op))).collect()
}

/// Functions with a body.
fn functions(tree: &Tree, ops: &[OpId]) -> Vec<OpId> {
    ops.iter().copied().filter(|op| tree.is(*op, Tt::Func) && !body(tree, *op).is_empty()).collect()
}

fn private(tree: &Tree, function: OpId) -> bool {
    let visibility = tree.attr(function, "sym_visibility");
    visibility.is_some_and(|attr| tree.attr_text(attr).contains("private") || tree.attr_str(attr) == Some("private"))
}
