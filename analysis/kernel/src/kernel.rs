//! The kernel: blocks, variables, inputs, loops.

use super::ids::{BlockId, EffectId, HostId, InputId, LoopId, SiteId, Var};
use super::{Buffer, Effect, Pure, Shape, ShapeId, ViewOp};
use base::Quantity;

/// What a variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VarKind {
    /// An integer, of at most 64 bits.
    Scalar,
    /// A window of memory with this shape; its buffer and start are the run-time value.
    View(ShapeId),
}

/// What is known of a variable before any run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VarInfo {
    /// What it holds.
    pub kind: VarKind,
}

/// Where a value that the kernel does not compute comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum InputKind {
    /// An integer argument, by position.
    Argument(u32),
    /// A size of the tensor behind a TMA descriptor, by the argument's position: 1 or more, since the driver makes no
    /// descriptor of an empty tensor (`cuTensorMapEncodeTiled`: `globalDim` must be non-zero).
    Size(u32),
    /// A pointer argument, by position: distinct, 16-byte aligned addresses.
    Pointer(u32),
    /// `tt.get_program_id`, by axis.
    ProgramId(u8),
    /// `tt.get_num_programs`, by axis.
    NumPrograms(u8),
    /// The number of the CTA in its cluster; the machine knows it.
    CtaRank,
    /// Tiles that cluster launch control still hands out before it declines.
    Tiles,
    /// Words read from global memory.
    Memory,
    /// Words of global memory that the kernel writes itself, so that one may differ from one read to the next.
    Rewritten,
    /// A value that the machine cannot compute (read from a tensor, a float, …); any is possible.
    Free,
}

/// A value that the kernel takes from outside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Input {
    /// Where it comes from.
    pub kind: InputKind,
    /// Its integer width; 1 for a condition.
    pub width: u8,
    /// Known divisor (`tt.divisibility`), 1 where none is known.
    pub divisor: u64,
}

/// One instruction of a block, other than the jump at its end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Instr {
    /// A scalar (or a memdesc by `Copy`/`Select`) is computed.
    Let(Var, Pure<Var>),
    /// A window of another window.
    View {
        /// The result; its kind carries the new shape.
        dst: Var,
        /// What it is a window of.
        src: Var,
        /// Where it starts.
        op: ViewOp<Var>,
    },
    /// The memdesc of a whole buffer.
    Base(Var, super::BufferId),
    /// An integer on its way through memory.
    Word(WordAccess),
    /// An effect on barriers or memory.
    Effect(EffectId),
    /// An op on values that the kernel does not hold. Only a kernel that is lowered for execution has any; who
    /// drives it carries them out.
    Host(HostId),
}

/// An integer that goes through memory: what one thread stores, another loads, and what a counter gives. The accesses
/// themselves are effects; this says what they carry, so that threads that are told a number by others agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordAccess {
    /// One integer was stored in a window.
    Write {
        /// Where.
        view: Var,
        /// What.
        value: Var,
    },
    /// One integer is loaded from a window.
    Read {
        /// What was last written there as a word, else `otherwise`.
        dst: Var,
        /// Where.
        view: Var,
        /// The value where no word is known to be there: an input.
        otherwise: Var,
    },
    /// An atomic addition to a counter in global memory, whose old value is used: it is larger each time.
    Claim {
        /// `otherwise` the first time, and `by` more than the time before after that.
        dst: Var,
        /// The first value: an input.
        otherwise: Var,
        /// What is added.
        by: Var,
    },
}

impl WordAccess {
    /// The variable that it sets, and the input that this is without knowledge of what memory holds.
    pub fn defines(&self) -> Option<(Var, Var)> {
        match *self {
            WordAccess::Write { .. } => None,
            WordAccess::Read { dst, otherwise, .. } | WordAccess::Claim { dst, otherwise, .. } => {
                Some((dst, otherwise))
            }
        }
    }

    /// The variables that it reads.
    pub fn operands(&self) -> [Var; 2] {
        match *self {
            WordAccess::Write { view, value } => [view, value],
            WordAccess::Read { view, otherwise, .. } => [view, otherwise],
            WordAccess::Claim { otherwise, by, .. } => [otherwise, by],
        }
    }

    /// All its variables, what it sets first.
    pub fn vars_mut(&mut self) -> smallvec::SmallVec<[&mut Var; 3]> {
        match self {
            WordAccess::Write { view, value } => smallvec::smallvec![view, value],
            WordAccess::Read { dst, view, otherwise } => smallvec::smallvec![dst, view, otherwise],
            WordAccess::Claim { dst, otherwise, by } => smallvec::smallvec![dst, otherwise, by],
        }
    }
}

/// A jump to a block, with values for its parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct JumpTarget {
    /// The block that it goes to.
    pub block: BlockId,
    /// One a parameter of the block.
    pub args: Vec<Var>,
}

/// Start of a `ttg.warp_specialize`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fork {
    /// The op of the text, for messages.
    pub site: SiteId,
    /// Where thread 0 goes on (the default region).
    pub default: JumpTarget,
    /// Where each partition starts: index into [`Kernel::partitions`] and its entry with captures.
    pub partitions: Vec<(u32, JumpTarget)>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Terminator {
    /// Always to one block.
    Jump(JumpTarget),
    /// On the low bit of a scalar.
    Branch(Var, JumpTarget, JumpTarget),
    /// Starts the partitions of a `ttg.warp_specialize`.
    Fork(Fork),
    /// Thread 0 waits for all partitions, then goes on.
    Join(SiteId, JumpTarget),
    /// A partition ends.
    Exit(SiteId),
    /// The kernel ends.
    Return(SiteId),
}

impl Terminator {
    /// Where it may go: the default before the partitions, the taken branch before the other.
    pub fn targets(&self) -> smallvec::SmallVec<[&JumpTarget; 2]> {
        match self {
            Terminator::Jump(target) | Terminator::Join(_, target) => smallvec::smallvec![target],
            Terminator::Branch(_, yes, no) => smallvec::smallvec![yes, no],
            Terminator::Fork(fork) => {
                std::iter::once(&fork.default).chain(fork.partitions.iter().map(|(_, target)| target)).collect()
            }
            Terminator::Exit(_) | Terminator::Return(_) => smallvec::smallvec![],
        }
    }
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    /// Assigned by the jump that enters.
    pub params: Vec<Var>,
    /// Its instructions, in the order in which they are executed.
    pub instrs: Vec<Instr>,
    /// How control leaves the block.
    pub terminator: Terminator,
}

/// A counted or open-ended loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoopInfo {
    /// The op of the text, for messages.
    pub site: SiteId,
    /// Block that is entered once an iteration, the test included.
    pub head: BlockId,
    /// For a counted loop: its induction variable (a parameter of `head`), lower bound, upper
    /// bound and step, all set before the loop.
    pub counted: Option<(Var, Var, Var, Var)>,
    /// The loop that holds this one in the same partition.
    pub parent: Option<LoopId>,
}

/// A warp-specialised partition (the default partition is number 0).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Partition {
    /// How many warps execute it; `None` where no effect counts them ([`EffectKind::counts_threads`]).
    ///
    /// [`EffectKind::counts_threads`]: crate::EffectKind::counts_threads
    pub warps: Option<u32>,
}

/// One entry function. Equal kernels behave equally; no spans, no names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// CTAs of the cluster (`ttg.num-ctas`).
    pub ctas: u32,
    /// Partitions of one CTA, the default one first.
    pub partitions: Vec<Partition>,
    /// Allocations of shared and tensor memory.
    pub buffers: Vec<Buffer>,
    /// Shapes of the windows that variables hold.
    pub shapes: Vec<Shape>,
    /// Values that the kernel does not compute.
    pub inputs: Vec<Input>,
    /// Variables, all of one CTA.
    pub vars: Vec<VarInfo>,
    /// The control-flow graph.
    pub blocks: Vec<Block>,
    /// What instructions do to barriers and memory.
    pub effects: Vec<Effect>,
    /// Loops of the graph.
    pub loops: Vec<LoopInfo>,
    /// The block at which the default partition starts.
    pub entry: BlockId,
    /// Launches of it that are known.
    pub launches: Vec<LaunchInputs>,
    /// Whether there are others, of which not all is known.
    pub launched_otherwise: bool,
    /// Of each launch that is known, in whole or in part: programs along x, y and z as the host computes them of the
    /// kernel's inputs, by whose numbers unknowns go; `None` along an axis of which that is not known.
    pub grids: Vec<[Option<Quantity>; 3]>,
}

/// What one launch of a kernel gives it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LaunchInputs {
    /// Each argument and each size of a described tensor that the kernel takes, with its number.
    pub values: Vec<(InputId, i64)>,
    /// Programs along x, y and z, each where it is known.
    pub grid: [Option<i64>; 3],
}

impl Kernel {
    /// Whether what it does hangs on words of global memory that it writes itself ([`InputKind::Rewritten`]).
    pub fn steered_by_own_words(&self) -> bool {
        let own = |input: InputId| self.inputs.get(input.index()).is_some_and(|info| info.kind == InputKind::Rewritten);
        let mut instrs = self.blocks.iter().flat_map(|block| &block.instrs);
        instrs.any(|instr| matches!(instr, Instr::Let(_, Pure::Load(input, _)) if own(*input)))
    }

    /// A kernel of one CTA with nothing in it, to be filled.
    pub fn empty() -> Kernel {
        Kernel {
            ctas: 1,
            partitions: Vec::new(),
            buffers: Vec::new(),
            shapes: Vec::new(),
            inputs: Vec::new(),
            vars: Vec::new(),
            blocks: Vec::new(),
            effects: Vec::new(),
            loops: Vec::new(),
            launches: Vec::new(),
            launched_otherwise: false,
            grids: Vec::new(),
            entry: BlockId(0),
        }
    }

    /// The block with this number, which has to be one of the kernel.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The effect with this number, which has to be one of the kernel.
    pub fn effect(&self, id: EffectId) -> &Effect {
        &self.effects[id.index()]
    }

    /// The shape of a memdesc variable; `None` for a scalar.
    pub fn shape(&self, var: Var) -> Option<&Shape> {
        match self.vars[var.index()].kind {
            VarKind::View(shape) => Some(&self.shapes[shape.0 as usize]),
            VarKind::Scalar => None,
        }
    }
}
