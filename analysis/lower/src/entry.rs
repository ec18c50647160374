//! An entry function from its module's attributes to the finished kernel.

use super::build::Build;
use super::exit::Exit;
use super::fences;
use super::lifetimes;
use super::lowerer::Lowerer;
use super::simplify::simplify;
use super::value::Val;
use base::TextRange;
use dialects::{OpCode, Scf};
use kernel::{Block, Input, InputKind, Instr, Kernel, Lowered, Partition, Pure, Unmodelled};
use ttgir::queries::spot::around;
use ttgir::{OpId, Tree, Ty, ValueId};

impl Lowerer<'_> {
    /// Reads the module's attributes.
    pub(crate) fn machine(&mut self, module: Option<OpId>) {
        let int = |name| module.and_then(|op| self.int_attr(op, name));
        let warps = int("ttg.num-warps").and_then(|warps| u32::try_from(warps).ok()).unwrap_or(4);
        let lanes = int("ttg.threads-per-warp").and_then(|lanes| u32::try_from(lanes).ok());
        self.lanes = lanes.unwrap_or(32);
        self.build.kernel.partitions.push(Partition { warps: Some(warps) });
        self.build.map.partitions.push(("default".to_owned(), TextRange::default()));
        if let Some(module) = module
            && let Some(reason) = self.read_ctas(module)
        {
            self.unmodelled.push(Unmodelled { range: self.tree.op_name_range(module), reason: reason.into() });
        }
    }

    pub(crate) fn entry(&mut self, function: OpId, name: &str) {
        let tree = self.tree;
        self.build.map.kernel = name.to_owned();
        self.build.map.kernel_range = name_range(tree, function);
        if let Some(partition) = self.build.map.partitions.first_mut() {
            partition.1 = self.build.map.kernel_range;
        }
        let Some(&region) = tree.regions(function).first() else { return };
        let args: Vec<ValueId> =
            tree.blocks(region).first().map(|block| tree.block_args(*block).to_vec()).unwrap_or_default();
        for ((at, arg), is_size) in args.iter().enumerate().zip(self.sizes(&args)) {
            self.argument(function, at, *arg, is_size);
            let var = match self.values.get(arg) {
                Some(Val::Scalar(var)) => Some(*var),
                _ => None,
            };
            self.hosts.iter_mut().for_each(|hosts| hosts.arguments.push(var));
        }
        self.rendezvous = self.meeting(region);
        self.calls.push(function);
        self.find_results();
        self.read_warps(function);
        self.exits.push(Exit::Kernel);
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

    fn argument(&mut self, function: OpId, at: usize, arg: ValueId, is_size: bool) {
        let tree = self.tree;
        let divisor = tree.arg_attr(function, at, "tt.divisibility").and_then(|attr| tree.attr_int(attr));
        let divisor =
            divisor.and_then(|divisor| u64::try_from(divisor).ok()).filter(|divisor| *divisor > 0).unwrap_or(1);
        let number = at as u32;
        let (kind, width) = match tree.value_type(arg).map(|ty| tree.ty(ty)) {
            Some(Ty::Int(width)) if is_size => (InputKind::Size(number), width as u8),
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

    /// Which parameters are sizes of tensors behind TMA descriptors: Triton hands a kernel, behind each descriptor that
    /// the host makes, as many sizes of 32 bits as the tensor has dimensions, and then as many strides of 64
    /// (`expand_signature` of its driver for NVIDIA).
    fn sizes(&self, args: &[ValueId]) -> Vec<bool> {
        let mut sizes = vec![false; args.len()];
        let ty = |at: usize| args.get(at).and_then(|arg| self.tree.value_type(*arg)).map(|ty| self.tree.ty(ty));
        let all = |from: usize, count: usize, width: u32| {
            (from..from + count).all(|at| matches!(ty(at), Some(Ty::Int(own)) if own == width))
        };
        for at in (0..args.len()).filter(|_| self.ctas.tensor_maps) {
            // A block of im2col has fewer dimensions than its tensor.
            if let Some(Ty::TensorDesc { shape, .. }) = ty(at)
                && let Some(rank) =
                    (shape.len().max(1)..=5).find(|rank| all(at + 1, *rank, 32) && all(at + 1 + rank, *rank, 64))
            {
                sizes.iter_mut().skip(at + 1).take(rank).for_each(|is_size| *is_size = true);
            }
        }
        sizes
    }

    /// A parameter that is neither an integer nor a pointer.
    fn handle_argument(&mut self, arg: ValueId) {
        if self.executes() {
            let var = self.build.scalar_param(self.tree.value_name(arg));
            self.bind(arg, Val::Scalar(var));
        }
    }

    /// What was built, as it was built.
    pub(crate) fn unsimplified(self) -> Lowered {
        // Of a plan that has some fences, the others are still to come.
        let unfenced = self.plan.is_some() || self.calls.first().is_some_and(|function| self.unfenced(*function));
        let Build { mut kernel, mut map, .. } = self.build;
        map.unfenced = unfenced;
        map.pairs = self.plan.is_some() && self.ctas.pairs;
        if unfenced {
            fences::ignore(&mut kernel);
        }
        let mut unmodelled = self.unmodelled;
        unmodelled.sort_by_key(|item| (item.range.start, item.range.end));
        Lowered { kernel, map, unmodelled }
    }

    /// A word that one op reads once, in one CTA, comes before whatever the kernel stores there, or is any word at all.
    fn read_once(&mut self) {
        let tree = self.tree;
        let &[op] = self.rewritten.as_slice() else { return };
        let repeats = |outer: ttgir::OpId| matches!(tree.code(outer), Some(OpCode::Scf(Scf::For | Scf::While)));
        let branches = |region: ttgir::RegionId| tree.blocks(region).len() > 1;
        let again = around(tree, op)
            .any(|(outer, region)| repeats(outer) || tree.regions(outer).get(region).copied().is_some_and(branches));
        if again || self.build.kernel.ctas > 1 {
            return;
        }
        for input in self.build.kernel.inputs.iter_mut().filter(|input| input.kind == InputKind::Rewritten) {
            input.kind = InputKind::Memory;
        }
        self.rewritten.clear();
    }

    pub(crate) fn finish(mut self) -> Lowered {
        let kept = std::mem::take(&mut self.build.kept);
        self.build.map.placed = lifetimes::place(&mut self.build.kernel, &kept);
        self.read_once();
        let mut rewritten: Vec<_> = self.rewritten.iter().map(|op| self.tree.op_name_range(*op)).collect();
        rewritten.sort_by_key(|range| (range.start, range.end));
        rewritten.dedup();
        let Lowered { kernel, map, mut unmodelled } = self.unsimplified();
        let (kernel, map) = simplify(kernel, map);
        if defined(&kernel) < kernel.vars.len() {
            let reason = "a value is used where it is not computed, so it counts as 0".into();
            unmodelled.push(Unmodelled { range: map.kernel_range, reason });
        }
        if kernel.steered_by_own_words() {
            let reason =
                "the kernel writes through this pointer too, and which store a read comes after is not followed";
            unmodelled.extend(rewritten.into_iter().map(|range| Unmodelled { range, reason: reason.into() }));
        }
        unmodelled.sort_by_key(|item| (item.range.start, item.range.end));
        Lowered { kernel, map, unmodelled }
    }
}

pub(crate) fn name(tree: &Tree, function: OpId) -> &str {
    tree.attr(function, "sym_name").and_then(|attr| tree.attr_str(attr)).unwrap_or("")
}

pub(crate) fn name_range(tree: &Tree, function: OpId) -> TextRange {
    tree.attr(function, "sym_name").map_or(tree.op_name_range(function), |attr| tree.attr_range(attr))
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
