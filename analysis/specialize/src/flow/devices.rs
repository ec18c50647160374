//! Which generation of devices an operation is for.

use crate::Target;

const HOPPER: u32 = 1;
const BLACKWELL: u32 = 1 << 1;
const CDNA3: u32 = 1 << 2;
const CDNA4: u32 = 1 << 3;
const CDNA5: u32 = 1 << 4;

/// The generations that a name speaks for, as bits.
pub(super) fn of_name(name: &str) -> u32 {
    match name {
        "warpgroup_mma" | "warpgroup_mma_wait" | "warpgroup_mma_init" | "async_dot_wait" => HOPPER,
        "clc"
        | "clc_create_context"
        | "tmem"
        | "tmem_copy"
        | "async_dot_scaled"
        | "allocate_tensor_memory"
        | "TensorMemoryLayout"
        | "TensorMemoryScalesLayout"
        | "tensor_memory_descriptor" => BLACKWELL,
        _ if name.starts_with("tcgen05") => BLACKWELL,
        "cdna3" => CDNA3,
        "cdna4" => CDNA4,
        "cdna5" | "gfx1250" | "tdm" | "AMDWMMALayout" => CDNA5,
        _ => 0,
    }
}

/// The target for what a kernel and its helpers ask for, the newest of them; `None` where they ask for nothing in
/// particular. Operations of CDNA 3 also run on CDNA 4, so there the path of the file decides.
pub(crate) fn target(asked: u32, path: &str) -> Option<Target> {
    let of_path = [("gfx1250", Target::Gfx1250), ("gfx950", Target::Gfx950), ("gfx942", Target::Gfx942)];
    let of_path = of_path.into_iter().find(|(word, _)| path.contains(word)).map(|(_, target)| target);
    if asked & CDNA5 != 0 {
        Some(Target::Gfx1250)
    } else if asked & CDNA4 != 0 {
        Some(Target::Gfx950)
    } else if asked & CDNA3 != 0 {
        Some(of_path.filter(|target| *target == Target::Gfx950).unwrap_or(Target::Gfx942))
    } else if asked & BLACKWELL != 0 {
        Some(Target::Cuda(100))
    } else if asked & HOPPER != 0 {
        Some(Target::Cuda(90))
    } else {
        of_path
    }
}
