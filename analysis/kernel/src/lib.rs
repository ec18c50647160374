//! The sync IR: what a kernel does to shared memory, tensor memory and barriers, and nothing else.
//!
//! One entry function becomes one [`Kernel`]: a control-flow graph of blocks over scalar variables
//! whose only other contents are [`Effect`]s. It holds no spans, so two texts that differ in
//! comments, names or arithmetic that no barrier depends on give equal kernels (`Hash`, `Eq`).
//! The way back to the text is the [`SourceMap`], keyed by [`SiteId`].
//!
//! Who executes what: thread 0 of a CTA starts at [`Kernel::entry`]; [`Terminator::Fork`] starts
//! one thread a partition and lets thread 0 go on in the default region; [`Terminator::Join`]
//! makes thread 0 wait for them. Every variable belongs to exactly one thread's code, so a CTA
//! has one environment with a slot a variable. All CTAs of a cluster run the same kernel; what one
//! of them does to others is said by [`CtaSet`]s.

mod cta;
mod effect;
mod expr;
mod ids;
mod kernel;
mod memory;
mod source_map;
pub mod text;

pub use cta::{CtaSet, Recipients};
pub use effect::{Access, Arrival, CommitKind, Completion, Effect, EffectKind, Issuer, Mode, Proxy};
pub use expr::{CmpOp, Pure, Width};
pub use ids::{BlockId, EffectId, HostId, InputId, LoopId, SiteId, Var};
pub use kernel::{
    Block, Fork, Input, InputKind, Instr, JumpTarget, Kernel, LaunchInputs, LoopInfo, Partition, Terminator, VarInfo,
    VarKind, WordAccess,
};
pub use memory::{Buffer, BufferId, Dim, Shape, ShapeId, Space, ViewOp};
pub use source_map::{Abstract, AbstractOf, Half, Lowered, Site, SourceMap, Stage, Unmodelled};
