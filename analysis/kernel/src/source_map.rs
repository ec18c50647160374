//! The only way from a kernel back to the text.

use super::{BufferId, EffectId, InputId, Kernel, LoopId, SiteId, Var};
use base::{Message, TextRange};
use std::collections::BTreeMap;

/// Places and names of a kernel's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// Name of the entry function, without `@`.
    pub kernel: String,
    /// Range of the function's name.
    pub kernel_range: TextRange,
    /// A site an op.
    pub sites: Vec<Site>,
    /// A name a buffer, as written (`%a_smem`).
    pub buffers: Vec<(String, TextRange)>,
    /// A name an input, as written (`%K`, `program_id(0)`).
    pub inputs: Vec<String>,
    /// A label a partition (`default`, `partition0`).
    pub partitions: Vec<(String, TextRange)>,
    /// Warps of each partition, whether anything counts them or not.
    pub warps: Vec<u32>,
    /// The text's name of a variable, where it has one.
    pub vars: Vec<Option<String>>,
    /// What the program calls the data of an access, by effect and number of the access, where several logical
    /// buffers share the memory; whoever knows the text fills it in.
    pub members: BTreeMap<(EffectId, u16), String>,
    /// How far automatic warp specialisation has taken the text.
    pub stage: Stage,
    /// Barriers that the text does not allocate itself.
    pub abstracts: Vec<Abstract>,
    /// Buffers that the text does not allocate itself: each is for a tensor that one task computes and
    /// others use, and bears its name.
    pub registers: Vec<BufferId>,
    /// Buffers whose places are not the text's: each meets another that is not needed while it is.
    pub placed: Vec<BufferId>,
    /// Buffers that stand for places of global memory which several partitions access, in the order in which they were
    /// asked for.
    pub global_places: Vec<BufferId>,
    /// The text is from before Triton places proxy fences, so all of shared memory is one proxy.
    pub unfenced: bool,
    /// Pairs of CTAs work together, which nothing in the text orders yet; here each CTA does its own half.
    pub pairs: bool,
}

/// How far automatic warp specialisation has taken a kernel; the later one where it mixes several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Stage {
    /// Partitions are regions and barriers are mbarriers, or there is only one partition.
    #[default]
    Final,
    /// Partitions are regions; tokens, arefs or semaphores stand for barriers.
    Tokens,
    /// Ops name their tasks (`async_task_id`, `ttg.partition`) in a region that all tasks share, and
    /// what orders the tasks is in the text: tokens, arefs, semaphores or mbarriers.
    Tagged,
    /// Ops name their tasks, and nothing orders the tasks yet: each buffer's accesses are taken to be
    /// ordered by a channel of its own, which code partitioning will insert.
    Planned,
}

impl Stage {
    /// `final`, `tokens`, `tagged`, `planned`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Final => "final",
            Stage::Tokens => "tokens",
            Stage::Tagged => "tagged",
            Stage::Planned => "planned",
        }
    }
}

/// A barrier buffer of the kernel that stands for something else in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstract {
    /// The buffer that stands for them.
    pub buffer: BufferId,
    /// What it stands for.
    pub of: AbstractOf,
    /// Which of its barriers.
    pub half: Half,
    /// The value that stands for it (the token, the aref, the semaphore; the allocation of a channel).
    pub range: TextRange,
}

/// What an abstract barrier stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum AbstractOf {
    Token,
    Aref,
    Semaphore,
    /// A channel that code partitioning will insert.
    Channel,
}

impl AbstractOf {
    /// `token`, `aref`, `semaphore`, `channel`.
    pub fn name(self) -> &'static str {
        match self {
            AbstractOf::Token => "token",
            AbstractOf::Aref => "aref",
            AbstractOf::Semaphore => "semaphore",
            AbstractOf::Channel => "channel",
        }
    }
}

/// Which barrier of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Half {
    /// Producers arrive, consumers wait.
    Full,
    /// Consumers arrive, producers wait; free to begin with.
    Empty,
    /// The only one (a semaphore).
    Whole,
}

/// An op of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Full op name.
    pub op: String,
    /// Range of the op's name, for squiggles.
    pub name: TextRange,
    /// Range of the whole op, nested regions left out.
    pub range: TextRange,
    /// Operand ranges by the role they play in the effect, in the order of the effect's
    /// accesses, then its barriers. Where an op is several effects, those of the one with most
    /// accesses: look for the role, not the place.
    pub operands: Vec<(String, TextRange)>,
    /// `file:line` of the source program, innermost first, where the op has a location.
    pub source: Vec<String>,
    /// The call of the source program that the op comes from, by number: copies of one call, in iterations of a loop
    /// that was unrolled, share it. `None` where nobody has said so.
    pub call: Option<u32>,
}

impl SourceMap {
    /// The site with this number, which has to be one of the map.
    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id.index()]
    }

    /// A buffer's name, `buffer 3` where the text has none.
    pub fn buffer(&self, id: BufferId) -> String {
        self.buffers.get(id.0 as usize).map_or_else(|| format!("buffer {}", id.0), |(name, _)| name.clone())
    }

    /// An input's name.
    pub fn input(&self, id: InputId) -> String {
        self.inputs.get(id.index()).cloned().unwrap_or_else(|| format!("input {}", id.0))
    }

    /// A partition's label.
    pub fn partition(&self, number: usize) -> String {
        self.partitions.get(number).map_or_else(|| format!("partition {number}"), |(name, _)| name.clone())
    }

    /// A variable's name, where the text has one.
    pub fn var(&self, var: Var) -> Option<&str> {
        self.vars.get(var.index()).and_then(|name| name.as_deref())
    }

    /// The site of a loop.
    pub fn loop_site<'a>(&'a self, kernel: &Kernel, id: LoopId) -> &'a Site {
        self.site(kernel.loops[id.index()].site)
    }
}

/// Something that the machine cannot follow, said where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodelled {
    /// The op or operand.
    pub range: TextRange,
    /// What and why, one sentence.
    pub reason: Message,
}

/// The result of lowering one entry function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// What it does.
    pub kernel: Kernel,
    /// Where it stands.
    pub map: SourceMap,
    /// What was left out, and therefore makes "clean" undecided.
    pub unmodelled: Vec<Unmodelled>,
}
