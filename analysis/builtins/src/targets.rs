//! What `triton.language.target_info`, and libraries around Triton, say of the device that a kernel is compiled for.

use super::values::arg;
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::target::Target;
use python::value::Value;

/// Whether there are devices of other makers: kernels are compiled for those of NVIDIA and AMD.
macro_rules! others {
    ($($path:literal)*) => {
        &[$(Row::new($path, "*args, **kwargs", 0, |_, _| Ok(Value::Bool(false))),)*]
    };
}

/// Questions for devices of other makers.
pub(super) const OTHERS: Part = Part {
    rows: others!(
        "transformers.utils.is_torch_npu_available" "transformers.utils.is_torch_xpu_available"
        "transformers.utils.is_torch_mlu_available" "transformers.utils.is_torch_musa_available"
        "transformers.utils.is_torch_hpu_available" "transformers.utils.is_torch_mps_available"
        "transformers.utils.import_utils.is_torch_npu_available" "transformers.utils.import_utils.is_torch_xpu_available"
        "transformers.utils.import_utils.is_torch_mlu_available" "transformers.utils.import_utils.is_torch_musa_available"
        "transformers.utils.import_utils.is_torch_hpu_available" "transformers.utils.import_utils.is_torch_mps_available"
        "torch.npu.is_available" "torch.xpu.is_available" "torch.mlu.is_available" "torch.musa.is_available"
        "torch.hpu.is_available" "torch.mps.is_available" "torch.backends.mps.is_available"
    ),
    ..NOTHING
};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tl.target_info.cuda_capability_geq", "major, minor=None", 0, capability),
        Row::new("tl.target_info.is_cuda", "", 0, |interp, _| {
            Ok(Value::Bool(matches!(interp.target, Target::Cuda(_))))
        }),
        Row::new("tl.target_info.is_hip", "", 0, |interp, _| {
            Ok(Value::Bool(!matches!(interp.target, Target::Cuda(_))))
        }),
        Row::new("tl.target_info.is_hip_cdna3", "", 0, |interp, _| Ok(Value::Bool(interp.target == Target::Gfx942))),
        Row::new("tl.target_info.is_hip_cdna4", "", 0, |interp, _| Ok(Value::Bool(interp.target == Target::Gfx950))),
        Row::new("tl.target_info.is_hip_gfx1250", "", 0, |interp, _| Ok(Value::Bool(interp.target == Target::Gfx1250))),
    ],
    ..NOTHING
};

/// Whether the device is one of NVIDIA's of at least this generation.
fn capability<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (major, minor) = match (arg(bound, 0), arg(bound, 1)) {
        (Value::Int(major), Value::Int(minor)) => (major, minor),
        (Value::Int(major), Value::None) => (major, 0),
        _ => return interp.unknown("the generation that is asked for is not known"),
    };
    Ok(Value::Bool(match interp.target {
        Target::Cuda(own) => i128::from(own) >= major * 10 + minor,
        _ => false,
    }))
}
