//! Allocations of a function, and which task touches them where.
//!
//! A value is followed through views, loops and branches to its allocation. What an op does to a memdesc
//! is what the effect tables say. An operation that goes on after its op is over at the op that waits
//! for it, where that stands later in the text.
//!
//! Missed: memdescs chosen by `arith.select`, ops of regions with several blocks. Such an allocation
//! is *loose*: it gets no channel, and the op is said.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::channel::{Planned, Who};
use super::fill::fillers;
use crate::limits::plan::COPIES as MOST_COPIES;
use crate::{layout, subtile};
use dialects::{Arith, OpCode, OpCompletion, OpEffect, Scf, Tt, Ttg, Ttng};
use kernel::{CommitKind, Issuer, Mode};
use ttgir::{BlockId, Def, MemSpace, OpId, RegionId, Tree, Ty, ValueId};

/// Who of a task touches memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Engine {
    /// Its warps, which are told by a plain arrival.
    Warps,
    /// Its tensor core, whose operations complete in order and later than they are issued.
    TensorCore,
}

/// A place in nested blocks: from the function's block inwards, the op of each that leads there.
pub(super) type Path = Vec<(BlockId, OpId)>;

/// One task's access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access {
    /// The op that starts it.
    pub(super) op: OpId,
    /// In which tile, where it stands in a subtiled region; its path is that of the region with the op in its place.
    pub(super) tile: usize,
    /// Where that is.
    pub(super) path: Path,
    /// Where it is over for the task: the op itself or the one that waits for it.
    pub(super) over: Path,
    /// The task, as an index of the kernel's partitions.
    pub(super) task: usize,
    pub(super) engine: Engine,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Which allocation of those that are looked at together.
    pub(super) member: usize,
}

/// A `local_alloc` or `tmem_alloc`.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) op: OpId,
    /// The memdesc that it gives.
    pub(super) value: ValueId,
    /// Its attribute `buffer.id`.
    pub(super) id: Option<i64>,
    /// `buffer.copy`, 1 where it has none.
    pub(super) copies: u64,
    pub(super) tensor: bool,
    /// It is a tensor in registers, which gets a buffer only later.
    pub(super) registers: bool,
    /// Its attribute `buffer.offset`.
    pub(super) offset: Option<u64>,
    /// The columns of its physical buffer that it covers; all of it in shared memory.
    pub(super) extent: (u64, u64),
    /// In the order of the text.
    pub(super) accesses: Vec<Access>,
    /// Ops that make views of it, in the order of the text.
    pub(super) views: Vec<OpId>,
    /// An op that takes it and is not followed.
    pub(super) loose: Option<OpId>,
}

impl Allocation {
    pub(super) fn planned(&self) -> Planned {
        let Allocation { op, value, id, copies, tensor, registers, offset, .. } = *self;
        Planned { op, value, id, copies, tensor, registers, offset: offset.unwrap_or(0), placed: offset.is_some() }
    }
}

/// The allocations of a function, in the order of the text.
pub(super) fn allocations(tree: &Tree, function: OpId, who: Who<'_>, named: Who<'_>, mma: Engine) -> Vec<Allocation> {
    let mut walk =
        Walk { tree, who, named, tile: 0, mma, path: Vec::new(), found: Vec::new(), of: FxHashMap::default() };
    for &region in tree.regions(function) {
        walk.region(region);
    }
    walk.found
}

struct Walk<'t> {
    tree: &'t Tree,
    who: Who<'t>,
    /// The tasks that an op names itself.
    named: Who<'t>,
    /// The tile of the subtiled region around.
    tile: usize,
    /// Who an MMA is told by.
    mma: Engine,
    path: Path,
    found: Vec<Allocation>,
    /// The allocation that a value is, or is a view of.
    of: FxHashMap<ValueId, usize>,
}

impl Walk<'_> {
    fn region(&mut self, region: RegionId) {
        let tree = self.tree;
        for &block in tree.blocks(region) {
            for &op in tree.block_ops(block) {
                self.path.push((block, op));
                self.op(op);
                self.path.pop();
            }
        }
    }

    fn op(&mut self, op: OpId) {
        let tree = self.tree;
        match tree.code(op) {
            Some(OpCode::Scf(Scf::For | Scf::While)) => {
                let inits = tree.operands(op).get(if tree.is(op, Scf::For) { 3 } else { 0 }..).unwrap_or_default();
                let first = tree.regions(op).first().and_then(|region| tree.blocks(*region).first());
                let args = first.map_or(&[][..], |block| tree.block_args(*block));
                let args = args.get(usize::from(tree.is(op, Scf::For))..).unwrap_or_default();
                self.alike(args, inits);
                self.alike(tree.results(op), inits);
                self.inside(op);
            }
            Some(OpCode::Scf(Scf::If | Scf::IndexSwitch) | OpCode::Tt(Tt::Reduce | Tt::Scan)) => self.inside(op),
            Some(OpCode::Scf(Scf::Yield)) => {
                let parent = tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block)));
                if let Some(parent) = parent {
                    self.alike(tree.results(parent), tree.operands(op));
                }
            }
            Some(OpCode::Scf(Scf::Condition)) => self.condition(op),
            Some(OpCode::Ttng(Ttng::SubtiledRegion)) => self.tiles(op),
            _ => self.plain(op),
        }
    }

    fn inside(&mut self, op: OpId) {
        for &region in self.tree.regions(op) {
            self.region(region);
        }
    }

    /// A subtiled region as the sequence of ops that it stands for: its tiles, one after the other.
    fn tiles(&mut self, op: OpId) {
        let tree = self.tree;
        let block = tree.regions(op).first().and_then(|region| tree.blocks(*region).first()).copied();
        let (Some(tiles), Some(block)) = (subtile::tiles(tree, op), block) else { return self.loose(op) };
        let ops = tree.block_ops(block);
        if self.tile > 0 || ops.iter().any(|op| !tree.regions(*op).is_empty()) {
            return self.loose(op);
        }
        let Some((around, _)) = self.path.pop() else { return };
        for tile in 0..tiles {
            for (&arg, value) in tree.block_args(block).iter().zip(subtile::values(tree, op, tiles, tile)) {
                match self.of.get(&value).copied() {
                    Some(at) => self.of.insert(arg, at),
                    None => self.of.remove(&arg),
                };
            }
            self.tile = tile;
            for &op in ops.iter().filter(|op| !tree.is_terminator(**op)) {
                self.path.push((around, op));
                self.op(op);
                self.path.pop();
            }
        }
        self.tile = 0;
        self.path.push((around, op));
    }

    /// The values of a condition are the arguments of the body and the results of the loop.
    fn condition(&mut self, op: OpId) {
        let tree = self.tree;
        let values = tree.operands(op).get(1..).unwrap_or_default();
        let parent = tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block)));
        let Some(parent) = parent else { return };
        let body = tree.regions(parent).get(1).and_then(|region| tree.blocks(*region).first());
        self.alike(body.map_or(&[][..], |block| tree.block_args(*block)), values);
        self.alike(tree.results(parent), values);
    }

    fn alike(&mut self, names: &[ValueId], values: &[ValueId]) {
        for (name, value) in names.iter().zip(values) {
            if let Some(&at) = self.of.get(value) {
                self.of.insert(*name, at);
            }
        }
    }

    fn plain(&mut self, op: OpId) {
        let tree = self.tree;
        match tree.effect(op) {
            OpEffect::Allocate => self.allocate(op),
            OpEffect::View(_) => {
                if let (Some(&source), Some(&result)) = (tree.operands(op).first(), tree.results(op).first())
                    && let Some(&at) = self.of.get(&source)
                {
                    self.of.insert(result, at);
                    self.found[at].views.push(op);
                }
            }
            OpEffect::WaitGroup { .. } => self.alike(tree.results(op), tree.operands(op)),
            OpEffect::Nothing | OpEffect::StoreTokenWait => {}
            OpEffect::Memory { issuer, accesses, completion } => {
                let engine = if issuer == Issuer::TensorCore { Engine::TensorCore } else { Engine::Warps };
                let mut modes: BTreeMap<usize, (bool, bool)> = BTreeMap::new();
                for access in accesses {
                    for value in tree.group(op, access.group) {
                        if let Some(&at) = self.of.get(value) {
                            let mode = modes.entry(at).or_default();
                            mode.0 |= access.mode == Mode::Read;
                            mode.1 |= access.mode == Mode::Write;
                        }
                    }
                }
                let over = self.over(op, completion);
                for (at, (reads, writes)) in modes {
                    match &over {
                        Some(over) => self.access(at, op, over.clone(), engine, reads, writes),
                        None => self.found[at].loose = Some(op),
                    }
                }
            }
            OpEffect::Mma { .. } => self.mma(op),
            OpEffect::DescriptorLoad => {
                let into: Vec<usize> =
                    tree.operands(op).iter().filter_map(|value| self.of.get(value).copied()).collect();
                for at in into {
                    self.access(at, op, self.path.clone(), Engine::Warps, false, true);
                }
            }
            _ => self.loose(op),
        }
    }

    fn loose(&mut self, op: OpId) {
        let tree = self.tree;
        for value in tree.operands(op) {
            if let Some(&at) = self.of.get(value) {
                self.found[at].loose = Some(op);
            }
        }
    }

    fn allocate(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&value) = tree.results(op).first() else { return };
        let number = |name| tree.attr(op, name).and_then(|attr| tree.attr_int(attr));
        let Some(Ty::MemDesc { shape, elem, encoding, space, .. }) = tree.value_type(value).map(|ty| tree.ty(ty))
        else {
            return;
        };
        let tensor = space == MemSpace::Tensor;
        let offset = number("buffer.offset").and_then(|at| u64::try_from(at).ok());
        let extent = if tensor {
            let sizes: Vec<u64> = shape.iter().map(|size| u64::try_from(*size).unwrap_or(1).min(1 << 20)).collect();
            let encoding = encoding.map_or("", |attr| tree.attr_text(attr));
            let shape = layout::tensor(&sizes, u64::from(elem.bits.max(1)), encoding);
            let bits = shape.dims.iter().map(|dim| dim.size.saturating_mul(dim.stride)).max().unwrap_or(32);
            let first = offset.unwrap_or(0);
            (first, first.saturating_add(bits.div_ceil(32)))
        } else {
            (0, u64::MAX)
        };
        let copies = number("buffer.copy").and_then(|copies| u64::try_from(copies).ok()).unwrap_or(1).max(1);
        let (copies, loose) = if copies > MOST_COPIES { (1, Some(op)) } else { (copies, None) };
        let at = self.found.len();
        self.found.push(Allocation {
            op,
            value,
            id: number("buffer.id"),
            copies,
            tensor,
            registers: false,
            offset,
            extent,
            accesses: Vec::new(),
            views: Vec::new(),
            loose,
        });
        self.of.insert(value, at);
        if !tree.group(op, "src").is_empty() {
            let tasks = fillers(tree, op, self.who, self.named);
            self.access_by(tasks, at, op, self.path.clone(), Engine::Warps, (false, true));
        }
    }

    fn mma(&mut self, op: OpId) {
        let tree = self.tree;
        let mut modes: BTreeMap<usize, (bool, bool)> = BTreeMap::new();
        for value in ["a", "b", "a_scale", "b_scale"].iter().flat_map(|group| tree.group(op, group)) {
            if let Some(&at) = self.of.get(value) {
                modes.entry(at).or_default().0 = true;
            }
        }
        let adds = tree.group(op, "useD").first().is_none_or(|value| constant(tree, *value) != Some(0));
        if let Some(&at) = tree.group(op, "d").first().and_then(|value| self.of.get(value)) {
            let mode = modes.entry(at).or_default();
            mode.0 |= adds;
            mode.1 = true;
        }
        for (at, (reads, writes)) in modes {
            self.access(at, op, self.path.clone(), self.mma, reads, writes);
        }
    }

    fn access(&mut self, at: usize, op: OpId, over: Path, engine: Engine, reads: bool, writes: bool) {
        self.access_by((self.who)(op), at, op, over, engine, (reads, writes));
    }

    fn access_by(
        &mut self,
        tasks: Vec<usize>,
        at: usize,
        op: OpId,
        over: Path,
        engine: Engine,
        (reads, writes): (bool, bool),
    ) {
        for task in tasks {
            let path = self.path.clone();
            let access =
                Access { op, tile: self.tile, path, over: over.clone(), task, engine, reads, writes, member: 0 };
            self.found[at].accesses.push(access);
        }
    }

    /// Where what `op` starts is over; `None` where nothing that is followed waits for it.
    fn over(&self, op: OpId, completion: OpCompletion) -> Option<Path> {
        let tree = self.tree;
        let OpCompletion::Group { kind, when, .. } = completion else { return Some(self.path.clone()) };
        let flag = |name| tree.attr(op, name).is_some_and(|attr| tree.attr_text(attr).trim() != "false");
        if when.is_some_and(|when| !flag(when)) {
            return Some(self.path.clone());
        }
        let (around, _) = *self.path.last()?;
        let block = tree.parent_block(op)?;
        let later = tree.block_ops(block).iter().copied().skip_while(|other| *other != op).skip(1);
        let token = tree.results(op).first().copied();
        let waits = |other: &OpId| match kind {
            CommitKind::TmaStore => match tree.code(*other) {
                Some(OpCode::Ttng(Ttng::AsyncTmaStoreTokenWait)) => {
                    tree.group(*other, "token").first().is_some_and(|value| Some(*value) == token)
                }
                Some(OpCode::Ttng(Ttng::AsyncTmaStoreWait)) => true,
                _ => false,
            },
            CommitKind::Wgmma => tree.is(*other, Ttng::WarpGroupDotWait),
            CommitKind::AsyncCopy => tree.is(*other, Ttg::AsyncWait),
            CommitKind::Tdm | CommitKind::RelaxedRead | CommitKind::Stage => false,
        };
        let tasks = (self.who)(op);
        let end = later.filter(waits).find(|other| {
            let others = (self.who)(*other);
            tasks.iter().all(|task| others.contains(task))
        })?;
        let mut path = self.path.clone();
        path.pop();
        path.push((around, end));
        Some(path)
    }
}

/// The value of a constant.
pub(super) fn constant(tree: &Tree, value: ValueId) -> Option<i64> {
    let Def::Result(op, _) = tree.value_def(value) else { return None };
    (tree.is(op, Arith::Constant)).then(|| tree.attr(op, "value").and_then(|attr| tree.attr_int(attr)))?
}
