//! What a declaration says of an op beside its syntax and effect.

/// What an op does with a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierVerb {
    /// Gives it its count.
    Init,
    /// Ends its use.
    Invalidate,
    /// Waits for a phase.
    Wait,
    /// Arrives, by itself or when an operation is done.
    Arrive,
    /// Arrives and announces bytes.
    Expect,
}

impl BarrierVerb {
    /// The verb as an editor shows it.
    pub fn word(self) -> &'static str {
        match self {
            BarrierVerb::Init => "init",
            BarrierVerb::Invalidate => "invalidate",
            BarrierVerb::Wait => "wait",
            BarrierVerb::Arrive => "arrive",
            BarrierVerb::Expect => "expect",
        }
    }
}

/// The operand group of an op that is a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierOperand {
    /// The operand group's name.
    pub group: &'static str,
    /// What is done with it.
    pub verb: BarrierVerb,
    /// By whom or when, in words; empty where the verb says it all.
    pub when: &'static str,
}

/// The barrier `alloc` of an op of its own.
pub(crate) const fn barrier(verb: BarrierVerb) -> Option<BarrierOperand> {
    Some(BarrierOperand { group: "alloc", verb, when: "" })
}

/// A barrier that is arrived on.
pub(crate) const fn arrives(group: &'static str, when: &'static str) -> Option<BarrierOperand> {
    Some(BarrierOperand { group, verb: BarrierVerb::Arrive, when })
}

/// What Gluon calls an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PythonName {
    /// The function as people write it, `mbarrier.wait`, the method, or the statement.
    pub name: &'static str,
    /// The module under which the function stands, `gl.nvidia.ampere`; empty where no fix inserts it.
    pub module: &'static str,
    /// The name of the second argument where that is a number; empty if it is passed by place.
    pub number: &'static str,
}

impl PythonName {
    /// Module and name of a function that a fix may insert.
    pub fn path(self) -> Option<String> {
        (!self.module.is_empty()).then(|| format!("{}.{}", self.module, self.name))
    }

    /// Whether `path` is its [`path`](Self::path).
    pub fn is_path(self, path: &str) -> bool {
        let module = path.strip_suffix(self.name).and_then(|module| module.strip_suffix('.'));
        !self.module.is_empty() && module == Some(self.module)
    }

    /// A function of a module.
    pub(crate) const fn function(module: &'static str, name: &'static str) -> Option<PythonName> {
        Some(PythonName { name, module, number: "" })
    }

    /// A function of a module whose second argument is a number that is passed by name.
    pub(crate) const fn counting(module: &'static str, name: &'static str, number: &'static str) -> Option<PythonName> {
        Some(PythonName { name, module, number })
    }

    /// A method, a statement, or a function that no fix inserts.
    pub(crate) const fn called(name: &'static str) -> Option<PythonName> {
        Some(PythonName { name, module: "", number: "" })
    }
}

/// How an op moves data when the CPU executes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataMovement {
    /// Nothing happens to values.
    Nothing,
    /// Values in, values out.
    Evaluate,
    /// The results are the operands.
    Pass,
    /// A buffer, with a source.
    Alloc,
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Elements picked along an axis.
    LocalGather,
    /// Elements put along an axis.
    LocalScatter,
    /// Elements combined along an axis with what is there.
    LocalAtomic,
    /// Pointers to shared memory, asynchronous.
    CopyIn,
    /// Pointer and offsets to shared memory, asynchronous.
    BufferIn,
    /// Shared memory to pointers, asynchronous.
    CopyOut,
    /// A block of a tensor to shared memory.
    TmaLoad,
    /// Shared memory to a block of a tensor.
    TmaStore,
    /// The same, combined with what is there.
    TmaReduce,
    /// Rows of a tensor to shared memory.
    TmaGather,
    /// Shared memory to rows of a tensor.
    TmaScatter,
    /// AMD: a block to LDS; the descriptor has the coordinates.
    TdmLoad,
    /// AMD: LDS to a block.
    TdmStore,
    /// AMD: rows to LDS.
    TdmGather,
    /// AMD: LDS to rows.
    TdmScatter,
    /// Registers to another place of shared memory, asynchronous.
    SharedStore,
    /// Shared memory to shared memory of another CTA.
    RemoteCopy,
    /// A dot product of the warp group.
    Dot,
    /// A dot product of the tensor core.
    Mma,
    /// Shared memory to tensor memory.
    TmemCopy,
    /// A request to cluster launch control.
    ClcRequest,
    /// The answer of cluster launch control.
    ClcLoad,
    /// Whether the answer is a tile.
    ClcGranted,
    /// Which tile it is.
    ClcProgram,
    /// Which tile it is, or -1.
    ClcQuery,
    /// It moves data in a way that is not followed.
    Unknown,
}

/// What an op tells of the partition that executes it, most telling first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PartitionHint {
    /// It multiplies matrices.
    Mma,
    /// A load by the tensor memory accelerator.
    TmaLoad,
    /// A load by `cp.async`.
    AsyncCopy,
    /// A load by AMD's tensor data mover.
    TdmLoad,
    /// It gives out tiles.
    Schedule,
    /// It takes exponentials.
    Exp,
    /// It reduces along an axis.
    Reduce,
    /// A load from tensor memory.
    TensorLoad,
    /// A store to tensor memory.
    TensorStore,
    /// A store of a block or of rows, by a descriptor.
    BlockStore,
    /// A store to global memory by threads.
    Store,
    /// A store to shared memory.
    SharedStore,
    /// A load from shared memory.
    SharedLoad,
    /// A load from global memory by threads.
    Load,
    /// It belongs to matrix multiplications without being one.
    MmaHelper,
}

/// What an op does for synchronisation where a mutant has a slip, and where its numbers stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutationRole {
    /// Waits for a phase of a barrier; the group of operands that holds the phase.
    BarrierWait(&'static str),
    /// Waits until few enough commit groups are open; the attribute that says how many.
    GroupWait(&'static str),
    /// Waits for other threads or CTAs, with nothing to count.
    Rendezvous,
    /// Arrives on a barrier; the attribute with the count, if it has one.
    Arrive(Option<&'static str>),
    /// Commits what was issued, to a barrier or to a group.
    Commit,
    /// Announces bytes; the attribute that says how many.
    Expect(&'static str),
    /// Orders the proxies.
    Fence,
    /// Initialises a barrier; the attribute with the count.
    Init(&'static str),
    /// Chooses a slot; the group of operands that holds the index.
    Index(&'static str),
    /// Touches memory: a wait that is too late comes after one of these.
    Access,
}
