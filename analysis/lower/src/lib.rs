//! TTGIR to kernels.
//!
//! Every `tt.func` that is not private and has a body becomes one kernel. Calls of private
//! functions are inlined. What is followed: scalars of at most 64 bits ([`scalar`]), memdescs
//! ([`view`], [`layout`]), structured and CFG control flow ([`flow`], [`region`]),
//! `ttg.warp_specialize` ([`specialize`]), and the effects that [`dialects`] declares.
//!
//! Dropped without a word: tensors, floats and what computes them, global memory. A scalar that
//! depends on them is a free input. Never dropped: an op with a memdesc operand or of a dialect
//! that synchronises, and no row; it becomes [`EffectKind::Unmodelled`].
//!
//! Missed so far: TLX storage aliases (said at each op).

mod amd;
mod apply;
mod autows;
mod build;
mod cfg;
mod clc;
mod cta;
mod fences;
mod flow;
mod host;
mod layout;
mod mma;
mod region;
mod remote;
mod rendezvous;
mod result;
mod scalar;
mod scratch;
pub mod simplify;
mod specialize;
mod subtile;
mod tlx;
mod token;
mod value;
mod view;

use dialects::{Builtin, Tt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::Build;
use crate::simplify::simplify;
pub use autows::Tasks;
use base::{Message, TextRange};
pub use host::{Executable, HostOp, executables};
use kernel::{
    Block, EffectKind, Input, InputId, InputKind, Instr, Kernel, Lowered, Partition, Pure, Site, SiteId, Unmodelled,
};
use ttgir::{OpId, Tree, Ty, ValueId};
use value::Val;

/// What lowering is asked to assume.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// Of kernels whose channels are not in the text yet.
    pub channels: Channels,
}

/// Which buffers the channels that a plan implies order as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Channels {
    /// Each buffer of tensor memory by itself, whatever it shares columns with.
    #[default]
    Own,
    /// Those with one `buffer.id` that overlap, too.
    Groups,
}

/// How deep regions and calls may nest before the rest is unmodelled.
const DEPTH: u32 = 100;

/// How many calls are inlined before the rest is unmodelled: functions that call each other twice
/// double at every level.
const CALLS: u32 = 2_000;

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
    lower_with(tree, Options::default())
}

/// The same, with something to assume.
pub fn lower_with(tree: &Tree, options: Options) -> Vec<Lowered> {
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

fn name(tree: &Tree, function: OpId) -> &str {
    tree.attr(function, "sym_name").and_then(|attr| tree.attr_str(attr)).unwrap_or("")
}

fn name_range(tree: &Tree, function: OpId) -> TextRange {
    tree.attr(function, "sym_name").map_or(tree.op_name_range(function), |attr| tree.attr_range(attr))
}

fn private(tree: &Tree, function: OpId) -> bool {
    let visibility = tree.attr(function, "sym_visibility");
    visibility.is_some_and(|attr| tree.attr_text(attr).contains("private") || tree.attr_str(attr) == Some("private"))
}

/// How many variables some block gives a value; all of them, unless the text is wrong.
fn defined(kernel: &Kernel) -> usize {
    let sets = |instr: &&Instr| match instr {
        Instr::Effect(id) => kernel.effects.get(id.index()).is_some_and(|effect| effect.kind.defines().is_some()),
        _ => true,
    };
    let computed = |block: &Block| block.instrs.iter().filter(sets).count();
    kernel.blocks.iter().map(|block| block.params.len() + computed(block)).sum()
}

/// The lowering of one entry function.
struct Lowerer<'t> {
    tree: &'t Tree,
    functions: &'t FxHashMap<&'t str, OpId>,
    build: Build,
    values: FxHashMap<ValueId, Val>,
    /// The input of each scalar that nothing computes.
    free: FxHashMap<ValueId, InputId>,
    sites: FxHashMap<OpId, SiteId>,
    /// Ops whose operands are noted in their sites; an inlined function is lowered more than once.
    noted: FxHashSet<OpId>,
    /// What the module says of clusters.
    ctas: cta::Ctas,
    /// The partition that is being lowered.
    partition: usize,
    /// What its thread knows of arefs and semaphores.
    hidden: autows::Hidden,
    /// Who executes what.
    tasks: autows::Tasks,
    /// The task that is being lowered, where tasks share a region.
    task: Option<usize>,
    /// Allocations that were made before the tasks started.
    stored: FxHashSet<OpId>,
    /// Storage that several allocations share, by `buffer.id` and whether it is tensor memory.
    packed: FxHashMap<(i64, bool), kernel::BufferId>,
    /// Ops on each token, by the op that makes it; filled when asked for.
    token_users: FxHashMap<OpId, Vec<OpId>>,
    /// Barriers of the tokens, by the op that makes them.
    tokens: FxHashMap<OpId, autows::Token>,
    /// What is assumed of the text.
    options: Options,
    /// The channels of a kernel whose tasks nothing orders yet.
    plan: Option<autows::Plan>,
    /// The op after which all CTAs meet because Triton makes them.
    rendezvous: Option<OpId>,
    unmodelled: Vec<Unmodelled>,
    said: FxHashSet<OpId>,
    /// Where the terminators of the regions around lead, innermost last.
    exits: Vec<region::Exit>,
    /// Functions that are being inlined.
    calls: Vec<OpId>,
    /// Calls that were inlined.
    inlined: u32,
    /// Values that some op takes, of the functions that are being lowered; filled when asked for.
    users: FxHashMap<ValueId, Vec<OpId>>,
    /// Barriers of the TMA loads that an aref or a semaphore lowers.
    loads: FxHashMap<OpId, kernel::Var>,
    /// Where allocations that share storage lie.
    shares: FxHashMap<OpId, tlx::Share>,
    /// Threads of a warp.
    lanes: u32,
    /// What is collected where the kernel is lowered for execution.
    hosts: Option<host::Hosts>,
    depth: u32,
}

impl<'t> Lowerer<'t> {
    fn new(tree: &'t Tree, functions: &'t FxHashMap<&'t str, OpId>) -> Lowerer<'t> {
        Lowerer {
            tree,
            functions,
            build: Build::new(),
            values: FxHashMap::default(),
            free: FxHashMap::default(),
            sites: FxHashMap::default(),
            noted: FxHashSet::default(),
            ctas: cta::Ctas::default(),
            partition: 0,
            hidden: autows::Hidden::default(),
            tasks: autows::Tasks::default(),
            task: None,
            stored: FxHashSet::default(),
            packed: FxHashMap::default(),
            token_users: FxHashMap::default(),
            tokens: FxHashMap::default(),
            options: Options::default(),
            plan: None,
            rendezvous: None,
            unmodelled: Vec::new(),
            said: FxHashSet::default(),
            exits: Vec::new(),
            calls: Vec::new(),
            inlined: 0,
            users: FxHashMap::default(),
            loads: FxHashMap::default(),
            shares: FxHashMap::default(),
            lanes: 32,
            hosts: None,
            depth: 0,
        }
    }

    /// Reads the module's attributes.
    fn machine(&mut self, module: Option<OpId>) {
        let int = |name| module.and_then(|op| self.int_attr(op, name));
        let warps = int("ttg.num-warps").and_then(|warps| u32::try_from(warps).ok()).unwrap_or(4);
        let lanes = int("ttg.threads-per-warp").and_then(|lanes| u32::try_from(lanes).ok());
        self.lanes = lanes.unwrap_or(32);
        self.build.kernel.partitions.push(Partition { warps });
        self.build.map.partitions.push(("default".to_owned(), TextRange::default()));
        if let Some(module) = module
            && let Some(reason) = self.read_ctas(module)
        {
            self.unmodelled.push(Unmodelled { range: self.tree.op_name_range(module), reason: reason.into() });
        }
    }

    fn entry(&mut self, function: OpId, name: &str) {
        let tree = self.tree;
        self.build.map.kernel = name.to_owned();
        self.build.map.kernel_range = name_range(tree, function);
        if let Some(partition) = self.build.map.partitions.first_mut() {
            partition.1 = self.build.map.kernel_range;
        }
        let Some(&region) = tree.regions(function).first() else { return };
        let args: Vec<ValueId> =
            tree.blocks(region).first().map(|block| tree.block_args(*block).to_vec()).unwrap_or_default();
        for (at, arg) in args.iter().enumerate() {
            self.argument(function, at, *arg);
            let var = match self.values.get(arg) {
                Some(Val::Scalar(var)) => Some(*var),
                _ => None,
            };
            self.hosts.iter_mut().for_each(|hosts| hosts.arguments.push(var));
        }
        self.rendezvous = self.meeting(region);
        self.calls.push(function);
        self.exits.push(region::Exit::Kernel);
        self.read_tasks(function);
        if self.tasks.spans_function() {
            self.shared_function(function, region);
        } else {
            self.region(region, None);
        }
        // A body without a terminator ends all the same.
        let site = self.site(function);
        self.build.end(kernel::Terminator::Return(site));
    }

    fn argument(&mut self, function: OpId, at: usize, arg: ValueId) {
        let tree = self.tree;
        let divisor = tree.arg_attr(function, at, "tt.divisibility").and_then(|attr| tree.attr_int(attr));
        let divisor =
            divisor.and_then(|divisor| u64::try_from(divisor).ok()).filter(|divisor| *divisor > 0).unwrap_or(1);
        let number = at as u32;
        let (kind, width) = match tree.value_type(arg).map(|ty| tree.ty(ty)) {
            Some(Ty::Int(width @ 1..=64)) => (InputKind::Argument(number), width as u8),
            Some(Ty::Index) => (InputKind::Argument(number), 64),
            Some(Ty::Ptr) => (InputKind::Pointer(number), 64),
            Some(Ty::MemDesc { .. }) => return self.bind(arg, Val::Opaque),
            _ => return self.handle_argument(arg),
        };
        let name = tree.value_name(arg);
        let input = self.build.input(Input { kind, width, divisor }, name);
        let var = self.build.compute(Pure::Input(input), name);
        self.bind(arg, Val::Scalar(var));
    }

    /// A parameter that is neither an integer nor a pointer.
    fn handle_argument(&mut self, arg: ValueId) {
        if self.executes() {
            let var = self.build.scalar_param(self.tree.value_name(arg));
            self.bind(arg, Val::Scalar(var));
        }
    }

    /// What was built, as it was built.
    fn unsimplified(self) -> Lowered {
        // Of a plan that has some fences, the others are still to come.
        let unfenced = self.plan.is_some() || self.calls.first().is_some_and(|function| self.unfenced(*function));
        let Build { mut kernel, map, .. } = self.build;
        if unfenced {
            fences::ignore(&mut kernel);
        }
        let mut unmodelled = self.unmodelled;
        unmodelled.sort_by_key(|item| (item.range.start, item.range.end));
        Lowered { kernel, map, unmodelled }
    }

    fn finish(self) -> Lowered {
        let Lowered { kernel, map, mut unmodelled } = self.unsimplified();
        let (kernel, map) = simplify(kernel, map);
        if defined(&kernel) < kernel.vars.len() {
            let reason = "a value is used where it is not computed, so it counts as 0".into();
            unmodelled.push(Unmodelled { range: map.kernel_range, reason });
        }
        unmodelled.sort_by_key(|item| (item.range.start, item.range.end));
        Lowered { kernel, map, unmodelled }
    }

    // What all the parts use.

    fn int_attr(&self, op: OpId, name: &str) -> Option<i64> {
        self.tree.attr(op, name).and_then(|attr| self.tree.attr_int(attr))
    }

    /// A unit attribute that is there, or a boolean one that is true.
    fn flag(&self, op: OpId, name: &str) -> bool {
        self.tree.attr(op, name).is_some_and(|attr| self.tree.attr_text(attr).trim() != "false")
    }

    /// The site of an op, made at first use.
    fn site(&mut self, op: OpId) -> SiteId {
        if let Some(&site) = self.sites.get(&op) {
            return site;
        }
        let tree = self.tree;
        let source = tree.loc(op).iter().map(|loc| format!("{}:{}", loc.file, loc.line)).collect();
        let site = self.build.site(Site {
            op: tree.op_name(op).to_owned(),
            name: tree.op_name_range(op),
            range: tree.op_header_range(op),
            operands: Vec::new(),
            source,
        });
        self.sites.insert(op, site);
        site
    }

    /// Says that `op` is not followed, once an op, and marks the place where it runs.
    fn unmodelled(&mut self, op: OpId, reason: impl Into<Message>) {
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Unmodelled);
        self.say(op, reason);
    }

    /// Says it without marking a place.
    fn say(&mut self, op: OpId, reason: impl Into<Message>) {
        if self.said.insert(op) {
            self.unmodelled.push(Unmodelled { range: self.tree.op_name_range(op), reason: reason.into() });
        }
    }
}

#[cfg(test)]
mod tests;
