//! What one program instance does to global memory: its accesses in their order, under its control flow.

use base::TextRange;
use rustc_hash::FxHashMap;
use ttgir::OpId;

use terms::{BinOp, Node, Term, Terms, Variable};

/// What a pointer points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Base {
    /// The tensor that an argument of the kernel points to.
    Argument(u32),
    /// It is read from memory, made of an integer, or one of several.
    Unknown,
}

/// How far an atomic access is atomic and ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MemSyncScope {
    /// Among the threads of one CTA.
    Cta,
    /// Among the threads of one GPU.
    Gpu,
    /// Among all threads of the system.
    System,
}

/// What an atomic access does to the order of others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ordering {
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    pub(crate) scope: MemSyncScope,
}

/// What an atomic access makes of what was there and its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Update {
    Add,
    And,
    Or,
    Xor,
    MaxS,
    MinS,
    MaxU,
    MinU,
    Exchange,
    /// The operand where there was what the access compares with.
    CompareExchange,
    /// Nothing: an atomic load.
    Keep,
    /// Arithmetic of floats.
    Float,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    Load,
    Store,
    Atomic(Update, Ordering),
}

impl Action {
    pub(crate) fn writes(self) -> bool {
        !matches!(self, Action::Load | Action::Atomic(Update::Keep, _))
    }

    pub(crate) fn ordering(self) -> Option<Ordering> {
        match self {
            Action::Atomic(_, ordering) => Some(ordering),
            _ => None,
        }
    }
}

/// Until when an access may still be under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Completion {
    /// It is done when the next op begins.
    Done,
    /// Until a wait for stores of the tensor memory accelerator, or of AMD's data mover.
    StoreWait,
    /// Until what it copies is used, which an mbarrier or a wait allows.
    Copied,
    /// The same of a load that waits for stores count: those of AMD's data mover, whose transfers end in turn.
    Counted,
}

/// An op that is not followed, between accesses.
#[derive(Clone, Debug)]
pub(crate) struct Unfollowed {
    pub(crate) range: TextRange,
    /// How many accesses stand before it.
    pub(crate) before: u32,
    /// The loops around it, outermost first.
    pub(crate) loops: Box<[u32]>,
}

/// One access in the text.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The op.
    pub(crate) op: OpId,
    pub(crate) action: Action,
    pub(crate) completion: Completion,
    pub(crate) base: Base,
    /// From the base to the element of the lane at hand, in bytes, of 64 bits.
    pub(crate) offset: Term,
    /// Bytes of an element.
    pub(crate) bytes: u32,
    /// The lanes: how many along each dimension.
    pub(crate) lanes: Box<[i64]>,
    /// Which lanes take part.
    pub(crate) mask: Term,
    /// Under what the op is executed: conditions of branches and loops.
    pub(crate) path: Term,
    /// What is written, where it is an integer.
    pub(crate) value: Option<Term>,
    /// What an exchange compares with.
    pub(crate) compare: Option<Term>,
    /// The source of what it reads.
    pub(crate) source: Option<u32>,
    /// The loops around it, outermost first.
    pub(crate) loops: Box<[u32]>,
}

/// Where a value that no formula gives comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// An access reads it.
    Access(u32),
    /// A loop carries it.
    Carried,
    /// How often a loop ran.
    Rounds,
    /// An op that is not followed computes it.
    Op,
    /// Cluster launch control gives it: the number along an axis of a program that will not be launched.
    Granted(u8),
}

/// What a loop carries without a formula: the source, what it starts with, what it becomes.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) source: u32,
    pub(crate) lanes: Box<[i64]>,
    pub(crate) first: Term,
    pub(crate) next: Term,
}

/// A loop of the text.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Whether another round begins; asked after `before`.
    pub(crate) condition: Term,
    pub(crate) carried: Vec<Carried>,
    /// How often it runs, where its bounds say so.
    pub(crate) trips: Option<Term>,
    /// The source of how often it ran.
    pub(crate) rounds: u32,
    pub(crate) range: TextRange,
}

/// A part of a program instance.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Access(u32),
    If(Term, Vec<Step>, Vec<Step>),
    /// A loop, what it does before it asks, and its body.
    Loop(u32, Vec<Step>, Vec<Step>),
    /// Partitions that run beside each other.
    Partitions(Vec<Vec<Step>>),
    /// All stores of the tensor memory accelerator but so many of the last are done.
    StoreWait(u32),
}

/// A kernel as it is seen from global memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) terms: Terms,
    pub(crate) accesses: Vec<Access>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) sources: Vec<Source>,
    pub(crate) steps: Vec<Step>,
    /// What is not followed, and where.
    pub(crate) gaps: Vec<(TextRange, String)>,
    /// What is not followed and may wait for other programs, though it is handed no pointer.
    pub(crate) unfollowed: Vec<Unfollowed>,
    /// Axes of the grid that the kernel asks for.
    pub(crate) axes: Vec<u8>,
    pub(crate) arguments: Vec<Argument>,
}

impl Program {
    /// Counts the addresses of some pointer arguments from the beginning of the tensor that they point into: these lie
    /// so many bytes behind it.
    pub(crate) fn shift(&mut self, shifts: &FxHashMap<u32, i64>) {
        for access in &mut self.accesses {
            let Base::Argument(argument) = access.base else { continue };
            if let Some(shift) = shifts.get(&argument) {
                let shift = self.terms.int(*shift, self.terms.bits(access.offset));
                access.offset = self.terms.binary(BinOp::Add, access.offset, shift);
            }
        }
    }

    /// Takes arguments for others that are the same number: by argument, which.
    pub(crate) fn share_arguments(&mut self, same: &FxHashMap<u32, u32>) {
        if same.is_empty() {
            return;
        }
        let mut memo = FxHashMap::default();
        let terms = &mut self.terms;
        let mut put = |term: &mut Term| {
            *term = terms.replace(*term, &mut memo, &mut |terms, node, bits| match node {
                Node::Variable(Variable::Argument(own), copy) => {
                    let first = same.get(own)?;
                    Some(terms.intern(Node::Variable(Variable::Argument(*first), *copy), bits))
                }
                _ => None,
            });
        };
        for access in &mut self.accesses {
            [&mut access.offset, &mut access.mask, &mut access.path].into_iter().for_each(&mut put);
            access.value.iter_mut().chain(&mut access.compare).for_each(&mut put);
        }
        for of in &mut self.loops {
            put(&mut of.condition);
            of.trips.iter_mut().for_each(&mut put);
            of.carried.iter_mut().flat_map(|carried| [&mut carried.first, &mut carried.next]).for_each(&mut put);
        }
        let mut open: Vec<&mut Step> = self.steps.iter_mut().collect();
        while let Some(step) = open.pop() {
            match step {
                Step::If(condition, then, otherwise) => {
                    put(condition);
                    open.extend(then.iter_mut().chain(otherwise));
                }
                Step::Loop(_, before, body) => open.extend(before.iter_mut().chain(body)),
                Step::Partitions(parts) => open.extend(parts.iter_mut().flatten()),
                Step::Access(_) | Step::StoreWait(_) => {}
            }
        }
    }

    /// Whether anything that is accessed, or whether it is, depends on an argument.
    pub(crate) fn uses(&self, argument: u32) -> bool {
        let is = |node: &Node| matches!(node, Node::Variable(Variable::Argument(of), _) if *of == argument);
        let carried = |of: &Loop| of.carried.iter().flat_map(|of| [of.first, of.next]).collect::<Vec<_>>();
        let conditions = self.loops.iter().flat_map(|of| carried(of).into_iter().chain([of.condition]));
        let parts = self.accesses.iter().flat_map(|access| [access.offset, access.mask, access.path]);
        parts.chain(conditions).any(|term| self.terms.any_leaf(term, is))
    }

    /// Gives descriptors of one tensor, of which no launch says the sizes, the same ones.
    pub(crate) fn share_sizes(&mut self, same: &FxHashMap<u32, u32>) {
        let rank = |at: u32| self.arguments.get(at as usize).map_or(0, |argument| argument.rank);
        let descriptors: FxHashMap<u32, u32> = same
            .iter()
            .filter(|(own, first)| rank(**own) > 0 && rank(**own) == rank(**first))
            .map(|(own, first)| (*own, *first))
            .collect();
        if descriptors.is_empty() {
            return;
        }
        let mut memo = FxHashMap::default();
        for access in &mut self.accesses {
            for term in [&mut access.offset, &mut access.mask, &mut access.path] {
                *term = self.terms.replace(*term, &mut memo, &mut |terms, node, bits| match node {
                    Node::Variable(Variable::DescriptorSize(own, dim), copy) => descriptors
                        .get(own)
                        .map(|first| terms.intern(Node::Variable(Variable::DescriptorSize(*first, *dim), *copy), bits)),
                    _ => None,
                });
            }
        }
    }
}

/// An argument of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// As the text has it: `%x_ptr`.
    pub(crate) name: String,
    /// Bits of an integer; `None` for what is none.
    pub(crate) bits: Option<u8>,
    /// What it is a multiple of.
    pub(crate) divisor: i64,
    /// Dimensions of the described tensor, for a descriptor.
    pub(crate) rank: usize,
    pub(crate) pointer: bool,
}
