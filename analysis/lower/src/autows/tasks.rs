//! Who executes an op: the regions of `ttg.warp_specialize` and `nvws.warp_group`, and the tasks that
//! ops of one shared region name (`async_task_id`, `ttg.partition`).
//!
//! An op that names no task belongs to all tasks of the region that it is in; one outside of such a
//! region belongs to nobody in particular, and is done before the tasks start or after they end.
//! Where a task number is missing the others keep their labels, and take the next place.

use dialects::{Nvws, OpCode, Scf, Ttg};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use ttgir::{OpId, RegionId, Tree};

/// Places of partitions in [`Kernel::partitions`](kernel::Kernel::partitions).
pub(super) type Places = SmallVec<[usize; 2]>;

/// Which partitions of the kernel execute the ops of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Regions of partitions.
    regions: FxHashMap<RegionId, usize>,
    /// Numbers of the tasks that ops name, ascending; the place in the list is the partition's.
    pub(crate) numbers: Vec<i64>,
    /// Ops that open a region which tasks share: top level ops of a function whose ops name tasks, or
    /// loops that are to be warp specialised.
    shared: FxHashSet<OpId>,
    /// The attribute that names tasks.
    pub(crate) names: &'static str,
    /// Ops of the whole function name tasks, not only those of loops that are to be warp specialised.
    all_over: bool,
}

/// Names tasks in the facebookexperimental fork, all over a function.
const TASK: &str = "async_task_id";
/// Names partitions of a loop; in the facebookexperimental fork, also of what follows it.
const PARTITION: &str = "ttg.partition";
/// Which loop an op belongs to.
const TAG: &str = "ttg.warp_specialize.tag";

impl Tasks {
    /// Reads who executes what in a function.
    pub fn new(tree: &Tree, function: OpId) -> Tasks {
        let mut tasks = Tasks { names: TASK, ..Tasks::default() };
        let mut ops = Vec::new();
        below(tree, function, &mut ops);
        for &op in &ops {
            tasks.partitions_of(tree, op);
        }
        if !tasks.regions.is_empty() {
            return tasks;
        }
        let tagged = |op: &OpId, name| tree.attr(*op, name).is_some();
        let top: Vec<OpId> = tree
            .regions(function)
            .iter()
            .flat_map(|region| tree.blocks(*region))
            .flat_map(|block| tree.block_ops(*block))
            .copied()
            .collect();
        let shared: Vec<OpId>;
        if ops.iter().any(|op| tagged(op, TASK)) {
            tasks.all_over = true;
            shared = top.into_iter().filter(|op| any(tree, *op, &|op| tagged(&op, TASK))).collect();
        } else {
            tasks.names = PARTITION;
            let split = |op: &OpId| tagged(op, TAG) && any(tree, *op, &|op| tagged(&op, PARTITION));
            let loops: Vec<OpId> = ops.iter().copied().filter(split).collect();
            let mut below_loops = Vec::new();
            loops.iter().for_each(|op| below(tree, *op, &mut below_loops));
            let inside: FxHashSet<OpId> = below_loops.into_iter().chain(loops.iter().copied()).collect();
            // Meta's scheduling names partitions all over the function.
            let outside = |op: &OpId| tagged(op, PARTITION) && !inside.contains(op);
            tasks.all_over = !loops.is_empty() && ops.iter().any(outside);
            shared = if tasks.all_over {
                top.into_iter().filter(|op| any(tree, *op, &|op| tagged(&op, PARTITION))).collect()
            } else {
                loops
            };
        }
        let mut inside = Vec::new();
        for &op in &shared {
            inside.push(op);
            below(tree, op, &mut inside);
        }
        let mut numbers: Vec<i64> = inside.iter().flat_map(|op| numbers(tree, *op, tasks.names)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() > 1 {
            tasks.numbers = numbers;
            tasks.shared = shared.into_iter().collect();
        }
        tasks
    }

    /// Notes the regions of an op that has some for partitions.
    fn partitions_of(&mut self, tree: &Tree, op: OpId) {
        let regions = tree.regions(op);
        let first = match tree.code(op) {
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) => 0,
            Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => 1,
            Some(OpCode::Nvws(Nvws::WarpGroup)) => {
                // The region with the warps of the module is the default's.
                let warps = tree.attr(op, "numWarps").and_then(|attr| tree.attr_ints(attr).first().copied());
                usize::from(warps != Some(module_warps(tree, op)))
            }
            _ => return,
        };
        for (at, &region) in regions.iter().enumerate() {
            // The generic form keeps the partitions below an op in the second region.
            let holder = first == 0 && at == 1 && {
                let op = tree.blocks(region).first().and_then(|block| tree.block_ops(*block).first());
                op.is_some_and(|op| tree.is(*op, Ttg::WarpSpecializePartitions))
            };
            if !holder {
                self.regions.insert(region, first + at);
            }
        }
    }

    /// The partitions that execute an op: empty where it is nobody's in particular.
    pub fn partitions(&self, tree: &Tree, op: OpId) -> Places {
        let mut at = op;
        let mut own: Option<Places> = None;
        loop {
            if own.is_none() {
                own = self.named(tree, at);
            }
            if self.shared.contains(&at) {
                return own.unwrap_or_else(|| (0..self.numbers.len()).collect());
            }
            let Some(block) = tree.parent_block(at) else { return Places::new() };
            let region = tree.parent_region(block);
            if let Some(&partition) = self.regions.get(&region) {
                return smallvec![partition];
            }
            let Some(around) = tree.parent_op(region) else { return Places::new() };
            at = around;
        }
    }

    /// The partitions that an op names.
    pub(super) fn named(&self, tree: &Tree, op: OpId) -> Option<Places> {
        let named = numbers(tree, op, self.names);
        if named.is_empty() {
            return None;
        }
        Some(named.iter().filter_map(|number| self.numbers.binary_search(number).ok()).collect())
    }

    /// Whether the ops of the whole function name tasks.
    pub(crate) fn spans_function(&self) -> bool {
        self.share() && self.all_over
    }

    /// Whether tasks share a region.
    pub fn share(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Whether a loop is around such a region.
    pub(super) fn start_in_a_loop(&self, tree: &Tree) -> bool {
        let around = |op: OpId| tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block)));
        self.shared.iter().any(|op| {
            let mut at = around(*op);
            while let Some(op) = at {
                if matches!(tree.code(op), Some(OpCode::Scf(Scf::For | Scf::While))) {
                    return true;
                }
                at = around(op);
            }
            false
        })
    }

    /// Whether an op opens such a region.
    pub(crate) fn opens(&self, op: OpId) -> bool {
        self.shared.contains(&op)
    }
}

/// The numbers in an attribute: `array<i32: 0, 1>`, `dense<[0, 1]> : vector<2xi32>` or `0 : i32`.
fn numbers(tree: &Tree, op: OpId, name: &str) -> SmallVec<[i64; 4]> {
    let Some(attr) = tree.attr(op, name) else { return SmallVec::new() };
    if let Some(number) = tree.attr_int(attr) {
        return smallvec![number];
    }
    let numbers = tree.attr_ints(attr);
    if !numbers.is_empty() {
        return numbers.into();
    }
    let text = tree.attr_text(attr);
    let inside = text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("", |(inside, _)| inside);
    inside.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Every op in the regions of an op, in the order of the text.
pub(super) fn below(tree: &Tree, op: OpId, found: &mut Vec<OpId>) {
    for &region in tree.regions(op) {
        for &op in tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block)) {
            found.push(op);
            below(tree, op, found);
        }
    }
}

/// Whether an op, or one in its regions, is one of these.
pub(super) fn any(tree: &Tree, op: OpId, what: &dyn Fn(OpId) -> bool) -> bool {
    what(op)
        || tree.regions(op).iter().any(|region| {
            tree.blocks(*region).iter().flat_map(|block| tree.block_ops(*block)).any(|op| any(tree, *op, what))
        })
}

/// `ttg.num-warps` of the module around an op.
fn module_warps(tree: &Tree, op: OpId) -> i64 {
    let mut at = op;
    while let Some(around) = tree.parent_block(at).and_then(|block| tree.parent_op(tree.parent_region(block))) {
        at = around;
    }
    tree.attr(at, "ttg.num-warps").and_then(|attr| tree.attr_int(attr)).unwrap_or(4)
}
