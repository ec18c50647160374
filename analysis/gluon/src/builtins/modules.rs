//! Triton's module paths, and which module takes names from which other.
//!
//! Deviation: a module that takes some names of another is said to take all of them, save those in
//! [`HIDDEN`] and those that are not in a list of [`ONLY`].

use python::library::Modules;

/// Triton's modules, as the table spells them.
pub(super) static TRITON: Modules =
    Modules { spellings: SPELLINGS, modules: MODULES, hidden: HIDDEN, only: ONLY, classes: CLASSES };

const SPELLINGS: &[(&str, &str)] = &[
    ("triton.experimental.gluon.language", "gl"),
    ("triton.experimental.gluon", "gluon"),
    ("triton.language.extra.libdevice", "gl.extra.libdevice"),
    // The library of a device that is not known is taken to have what the others have.
    ("triton.language.extra.*.libdevice", "gl.extra.libdevice"),
    ("tl.extra.libdevice", "gl.extra.libdevice"),
    ("tl.extra.*.libdevice", "gl.extra.libdevice"),
    ("triton.language.extra", "tl.extra"),
    ("triton.language", "tl"),
];

const MODULES: &[(&str, u8, &[&str])] = &[
    ("triton", 4, &[]),
    ("triton.experimental", 4, &[]),
    ("gluon", 4, &[]),
    ("tl", 4, &["gl"]),
    ("tl.core", 4, &["tl", "gl"]),
    ("tl.math", 4, &["gl"]),
    ("tl.standard", 4, &["tl", "gl"]),
    ("tl.extra", 4, &[]),
    ("tl.extra.tlx", 4, &[]),
    ("tl.extra.tlx.storage_kind", 4, &[]),
    ("tl.extra.tlx.reuse_group_type", 4, &[]),
    ("tl.extra.cuda.inline_ptx_lib", 4, &[]),
    ("tl.extra.cuda", 4, &[]),
    ("tl.extra.cuda.utils", 4, &["tl.extra.cuda"]),
    ("tl.extra.cuda.gdc", 4, &["tl.extra.cuda"]),
    ("gl", 4, &[]),
    ("gl._core", 4, &["gl"]),
    ("gl._layouts", 4, &["gl"]),
    ("gl._standard", 4, &["gl"]),
    ("gl._math", 4, &["gl"]),
    ("gl.extra", 5, &[]),
    ("gl.extra.libdevice", 4, &[]),
    ("gl.fpsan", 9, &[]),
    ("gl.intel", 9, &[]),
    ("gl.nvidia", 4, &[]),
    ("gl.nvidia.ampere", 5, &[]),
    ("gl.nvidia.ampere.async_copy", 5, &[]),
    ("gl.nvidia.ampere.mbarrier", 5, &[]),
    ("gl.nvidia.hopper", 4, &["gl.nvidia.ampere"]),
    ("gl.nvidia.hopper.async_copy", 5, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.hopper.mbarrier", 4, &["gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.hopper.tma", 4, &[]),
    ("gl.nvidia.hopper.cluster", 7, &[]),
    ("gl.nvidia.blackwell", 4, &["gl.nvidia.hopper", "gl.nvidia.ampere"]),
    ("gl.nvidia.blackwell.async_copy", 5, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.blackwell.mbarrier", 4, &["gl.nvidia.hopper.mbarrier", "gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.blackwell.tma", 4, &["gl.nvidia.hopper.tma"]),
    ("gl.nvidia.blackwell.cluster", 7, &["gl.nvidia.hopper.cluster"]),
    ("gl.nvidia.blackwell.clc", 8, &[]),
    ("gl.nvidia.rubin", 8, &["gl.nvidia.blackwell", "gl.nvidia.hopper", "gl.nvidia.ampere"]),
    ("gl.nvidia.rubin.async_copy", 8, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.rubin.mbarrier", 8, &["gl.nvidia.hopper.mbarrier", "gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.rubin.tma", 8, &["gl.nvidia.blackwell.tma", "gl.nvidia.hopper.tma"]),
    ("gl.nvidia.rubin.cluster", 8, &["gl.nvidia.hopper.cluster"]),
    ("gl.nvidia.rubin.clc", 8, &["gl.nvidia.blackwell.clc"]),
    ("gl.amd", 5, &[]),
    ("gl.amd.cdna3", 5, &[]),
    ("gl.amd.cdna4", 5, &["gl.amd.cdna3"]),
    ("gl.amd.cdna4.async_copy", 5, &[]),
    ("gl.amd.rdna3", 6, &[]),
    ("gl.amd.rdna4", 6, &[]),
    ("gl.amd.cdna5", 9, &["gl.amd.cdna3"]),
    ("gl.amd.cdna5.async_copy", 9, &["gl.amd.cdna4.async_copy"]),
    ("gl.amd.cdna5.mbarrier", 9, &[]),
    ("gl.amd.cdna5.cluster", 9, &[]),
    ("gl.amd.cdna5.tdm", 9, &[]),
    ("gl.amd.gfx1250", 6, &["gl.amd.cdna5", "gl.amd.cdna3"]),
    ("gl.amd.gfx1250.async_copy", 6, &["gl.amd.cdna5.async_copy", "gl.amd.cdna4.async_copy"]),
    ("gl.amd.gfx1250.mbarrier", 6, &["gl.amd.cdna5.mbarrier"]),
    ("gl.amd.gfx1250.cluster", 7, &["gl.amd.cdna5.cluster"]),
    ("gl.amd.gfx1250.tdm", 6, &["gl.amd.cdna5.tdm"]),
    ("gl.amd.hint", 9, &[]),
    ("gl.amd.slice", 8, &[]),
    ("gl.amd.warp_pipeline", 6, &["gl.amd"]),
];

/// What Gluon has and plain Triton has not: layouts, shared memory, and functions of both.
const GLUON: &[&str] = &[
    "AutoLayout",
    "BlockedLayout",
    "CachePolicy",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "allocate_shared_memory",
    "bank_conflicts",
    "barrier",
    "convert_layout",
    "distributed_type",
    "dot_fma",
    "fp4_to_fp",
    "full_like",
    "inline_asm",
    "num_ctas",
    "num_warps",
    "set_auto_layout",
    "shared_memory_descriptor",
    "shared_memory_descriptor_type",
    "thread_barrier",
    "to_linear_layout",
    "warp_specialize",
];

/// Gluon's layouts, of which the modules of its targets have those that [`CLASSES`] says.
const LAYOUTS: &[&str] = &[
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
];

const WARPGROUPS: &[&str] = &[
    "warpgroup_mma",
    "warpgroup_mma_wait",
    "warpgroup_mma_init",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_accumulator_type",
];

/// What matrix units of CDNA have, and those behind them have not.
const CDNA: &[&str] = &[
    "mfma",
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
];

/// Copies to shared memory as CDNA 4 has them.
const CDNA4_COPIES: &[&str] = &["buffer_load_to_shared", "global_load_to_shared", "load_shared_relaxed"];

const HIDDEN: &[(&str, &[&str])] = &[
    ("tl", GLUON),
    ("tl.core", GLUON),
    ("tl.standard", GLUON),
    ("gl", &["range", "trans"]),
    ("gl.nvidia.ampere", LAYOUTS),
    ("gl.nvidia.ampere.mbarrier", LAYOUTS),
    ("gl.nvidia.hopper", LAYOUTS),
    ("gl.nvidia.hopper.mbarrier", LAYOUTS),
    ("gl.nvidia.hopper.tma", LAYOUTS),
    ("gl.nvidia.blackwell", WARPGROUPS),
    ("gl.nvidia.blackwell", LAYOUTS),
    ("gl.nvidia.blackwell.tma", LAYOUTS),
    ("gl.nvidia.rubin", WARPGROUPS),
    ("gl.nvidia.rubin", LAYOUTS),
    ("gl.amd.cdna4", LAYOUTS),
    ("gl.amd.cdna5", CDNA),
    ("gl.amd.gfx1250", CDNA),
    ("gl.amd.cdna5.async_copy", CDNA4_COPIES),
    ("gl.amd.gfx1250.async_copy", CDNA4_COPIES),
    ("gl.amd.cdna5.tdm", LAYOUTS),
    ("gl.amd.gfx1250.tdm", LAYOUTS),
];

/// Modules that have a few names of those that they are said to take from.
const ONLY: &[(&str, &[&str])] = &[(
    "tl.math",
    &[
        "abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2", "rsqrt", "sin",
        "sqrt", "sqrt_rn", "umulhi",
    ],
)];

/// Layouts that kernels take from the module at hand, since that one imports them for itself.
const CLASSES: &[(&str, &[&str])] = &[
    ("gl.amd.cdna3", &["gl.amd.AMDMFMALayout"]),
    ("gl.amd.cdna4", &["gl.amd.AMDMFMALayout", "gl.DotOperandLayout"]),
    ("gl.amd.rdna3", &["gl.amd.AMDWMMALayout"]),
    ("gl.amd.rdna4", &["gl.amd.AMDWMMALayout"]),
    ("gl.amd.cdna5", &["gl.amd.AMDWMMALayout"]),
    ("gl.amd.gfx1250", &["gl.amd.AMDWMMALayout"]),
    ("gl.amd.cdna4.async_copy", &["gl.DistributedLayout"]),
    ("gl.amd.cdna5.async_copy", &["gl.DistributedLayout"]),
    ("gl.amd.gfx1250.async_copy", &["gl.DistributedLayout"]),
    ("gl.amd.cdna5.mbarrier", &["gl.SwizzledSharedLayout"]),
    ("gl.amd.gfx1250.mbarrier", &["gl.SwizzledSharedLayout"]),
    ("gl.amd.cdna5.tdm", TDM),
    ("gl.amd.gfx1250.tdm", TDM),
    ("gl.nvidia.ampere", &["gl.DotOperandLayout", "gl.NVMMADistributedLayout"]),
    ("gl.nvidia.ampere.mbarrier", &["gl.SwizzledSharedLayout"]),
    ("gl.nvidia.hopper.tma", &["gl.NVMMASharedLayout", "gl.nvidia.ampere.CachePolicy"]),
];

const TDM: &[&str] = &["gl.PaddedSharedLayout", "gl.SwizzledSharedLayout", "gl.amd.cdna5.PartitionedSharedLayout"];
