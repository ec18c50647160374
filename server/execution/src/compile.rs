//! The IR of a launch of a Python file, for the CPU backend: the user's own Triton compiles it, with no GPU; without a
//! Triton it is what the kernel is elaborated to here.

use std::path::Path;
use std::sync::Arc;

use base::Cancel;
use engine::instances::{ElaboratedInstance, Given as Has, KernelInstances, Param};
use runtime::launch::{ArgumentValue, ArraySpec, LaunchSpec};
use runtime::run::RunError;
use runtime::sidecar::{CompileRequest, KernelRequest, Sidecar, SidecarError};
use tensors::array::ElemType;

use super::compiled_ir::{CompiledIr, PythonKernels};
use super::elaborated;
use crate::compiled_comparison::SIDECAR_TIMEOUT;

/// Compiles the kernel that a recipe launches; without a Python it is elaborated. `path` is the file as it lies on the
/// disk, `text` what it says.
///
/// # Errors
///
/// Why it cannot be compiled, and what to do instead.
pub(crate) fn compile(
    python: Option<&Path>,
    (path, text): (&Path, &str),
    kernels: PythonKernels<'_>,
    launch: &LaunchSpec,
    cancel: &Cancel<'_>,
) -> Result<CompiledIr, RunError> {
    let instead = "write `# fencepost-run: grid=… NAME=VALUE …` into the file, or run it with --backend triton";
    if launch.entry.is_some() {
        return Err(RunError(format!(
            "the cpu backend makes the launch itself and does not run the file's code: {instead}"
        )));
    }
    let kernel = kernel(kernels.elaboration.map(|it| it.kernels.as_slice()).unwrap_or_default(), launch)?;
    let request = request(kernel, launch)?;
    let own = || elaborated::compiled(kernels, kernel, &request, (&path.to_string_lossy(), text), cancel);
    let Some(python) = python else { return own().map_err(|not| RunError(not.why)) };
    let advice = "with a Triton the cpu backend asks that for the kernel's IR (no GPU is needed): name a Python that \
                  has it with --python";
    let named = |error: SidecarError| match error {
        SidecarError::Start(_) | SidecarError::NoTriton(_) => {
            RunError(format!("{}: {error}; {advice}", python.display()))
        }
        error => RunError(format!("{}: {error}", python.display())),
    };
    let mut sidecar = match Sidecar::start(python, SIDECAR_TIMEOUT, cancel) {
        Ok(sidecar) => sidecar,
        Err(error @ (SidecarError::Start(_) | SidecarError::NoTriton(_))) => {
            return own().map_err(|not| match not.refused {
                true => RunError(not.why),
                false => RunError(format!("{}; {}", not.why, named(error))),
            });
        }
        Err(error) => return Err(named(error)),
    };
    let request = CompileRequest { file: path.display().to_string(), kernels: vec![request.clone()] };
    let compiled = sidecar.compile(&request, SIDECAR_TIMEOUT, cancel).map_err(named)?.into_iter().next();
    let compiled = compiled.ok_or_else(|| RunError("Triton gave no answer".to_owned()))?;
    match (compiled.ttgir, compiled.error) {
        (Some(ttgir), _) => {
            let of = kernels.elaboration.map_or("", |it| it.module.slice(kernel.entry.range));
            let asserts_are_off = of.contains("device_assert") && !ttgir.contains("tt.assert");
            Ok(CompiledIr { ir: ttgir.into(), asserts_are_off, shares_are_unknown: false })
        }
        (None, why) => Err(RunError(format!("Triton does not compile it: {}", why.unwrap_or_default()))),
    }
}

fn kernel<'e>(kernels: &'e [KernelInstances], launch: &LaunchSpec) -> Result<&'e KernelInstances, RunError> {
    let names = || kernels.iter().map(|kernel| kernel.entry.name.as_str()).collect::<Vec<_>>().join("`, `");
    match (&launch.kernel, kernels) {
        (_, []) => {
            let why = "the cpu backend runs TTGIR, and kernels in Gluon and Triton; this file has none";
            Err(RunError(format!("{why}: run the .ttgir of its kernel")))
        }
        (None, [only]) => Ok(only),
        (None, _) => Err(RunError(format!("which kernel? There are `{}`", names()))),
        (Some(name), _) => {
            let found = kernels.iter().find(|kernel| kernel.entry.name == *name);
            found.ok_or_else(|| RunError(format!("there is no kernel `{name}`; there are `{}`", names())))
        }
    }
}

/// What is asked of Triton: what the recipe gives, and for the rest what the kernel is analysed with.
fn request(kernel: &KernelInstances, launch: &LaunchSpec) -> Result<KernelRequest, RunError> {
    let name = &kernel.entry.name;
    if !kernel.entry.inside.is_empty() {
        return Err(RunError(format!(
            "`{name}` is defined inside a function; --backend triton runs the file's own code"
        )));
    }
    let elaborated = nearest(kernel, launch);
    let spec = elaborated.map(|elaborated| &elaborated.instance.spec);
    let mut request = KernelRequest {
        name: name.clone(),
        signature: Default::default(),
        constexprs: Default::default(),
        target: spec.map_or_else(|| "sm_90".to_owned(), |spec| spec.target.0.name()),
        num_warps: number(launch, "num_warps").unwrap_or_else(|| spec.map_or(4, |spec| spec.num_warps.0)),
        num_ctas: number(launch, "num_ctas").unwrap_or_else(|| spec.map_or(1, |spec| spec.num_ctas.0)),
    };
    let mut missing: Vec<&Param> = Vec::new();
    for param in &kernel.entry.params {
        let has = spec.and_then(|spec| spec.arguments.iter().find(|argument| argument.name == param.name));
        let given = launch.arguments.iter().find(|argument| argument.name == param.name).map(|it| &it.given);
        match kernel_param(param, given, has.map(|has| &has.given)) {
            Some(KernelParam::Typed(text)) => request.signature.insert(param.name.clone(), text),
            Some(KernelParam::Constexpr(text)) => request.constexprs.insert(param.name.clone(), text),
            None => {
                missing.extend(param.default.is_none().then_some(param));
                None
            }
        };
    }
    if !missing.is_empty() {
        return Err(RunError(lacks(name, &missing)));
    }
    Ok(request)
}

/// That nothing says what these parameters are given.
fn lacks(kernel: &str, missing: &[&Param]) -> String {
    let names: Vec<String> = missing.iter().map(|param| format!("`{}`", param.name)).collect();
    let options: Vec<String> = missing
        .iter()
        .map(|param| match param.constexpr {
            true => format!("--arg {}=64", param.name),
            false => format!("--arg '{}=f16[64,64]'", param.name),
        })
        .collect();
    format!("nothing says what `{kernel}` is given for {}: say it, as in {}", names.join(", "), options.join(" "))
}

fn number(launch: &LaunchSpec, name: &str) -> Option<u32> {
    launch.arguments.iter().find(|argument| argument.name == name).and_then(|argument| match argument.given {
        ArgumentValue::Int(number) => u32::try_from(number).ok(),
        _ => None,
    })
}

/// The instance that is given most of what the recipe gives.
fn nearest<'k>(kernel: &'k KernelInstances, launch: &LaunchSpec) -> Option<&'k Arc<ElaboratedInstance>> {
    let agrees = |elaborated: &Arc<ElaboratedInstance>| {
        let same = |argument: &&runtime::launch::LaunchArgument| {
            let has = elaborated.instance.spec.arguments.iter().find(|has| has.name == argument.name);
            has.is_some_and(|has| matches!(&has.given, Has::Value(text) if *text == text_of(&argument.given)))
        };
        launch.arguments.iter().filter(same).count()
    };
    kernel.instances.iter().rev().max_by_key(|elaborated| agrees(elaborated))
}

/// How a parameter is handed to Triton's compiler.
enum KernelParam {
    /// An argument at run time, with its Triton type.
    Typed(String),
    /// A `constexpr`, as a Python expression.
    Constexpr(String),
}

fn kernel_param(param: &Param, given: Option<&ArgumentValue>, has: Option<&Has>) -> Option<KernelParam> {
    Some(match (given, has) {
        // Host code that hands over a truth value is told of as one that hands over 0 or 1.
        (Some(ArgumentValue::Int(value @ 0..=1)), Some(Has::Value(text)))
            if param.constexpr && text == text_of_truth(*value == 1) =>
        {
            KernelParam::Constexpr(text.clone())
        }
        (Some(ArgumentValue::Int(0..=1)), Some(Has::Type(text))) if text == "i1" => KernelParam::Typed(text.clone()),
        (Some(given), _) if param.constexpr => KernelParam::Constexpr(text_of(given)),
        (Some(ArgumentValue::Python(text)), _) => KernelParam::Constexpr(text.clone()),
        (Some(ArgumentValue::Array(_)), Some(Has::Type(text))) if text.starts_with("tensordesc") => {
            KernelParam::Typed(text.clone())
        }
        (Some(ArgumentValue::Array(spec)), _) => KernelParam::Typed(format!("*{}", pointee(spec))),
        // What is 1 is a constant to Triton.
        (Some(ArgumentValue::Int(1)), _) if param.specialised => KernelParam::Constexpr("1".to_owned()),
        (Some(ArgumentValue::Bool(_)), _) => KernelParam::Typed("i1".to_owned()),
        (Some(ArgumentValue::Int(_) | ArgumentValue::Float(_)), Some(Has::Type(text)))
            if param.annotation.is_some() =>
        {
            KernelParam::Typed(text.clone())
        }
        (Some(ArgumentValue::Int(value)), _) => {
            let width = if i32::try_from(*value).is_ok() { "i32" } else { "i64" };
            KernelParam::Typed(format!("{width}{}", if value % 16 == 0 { ":16" } else { "" }))
        }
        (Some(ArgumentValue::Float(_)), _) => KernelParam::Typed("fp32".to_owned()),
        (None, Some(Has::Value(text))) => KernelParam::Constexpr(text.clone()),
        (None, Some(Has::Type(text))) => KernelParam::Typed(text.clone()),
        (None, None) => return None,
    })
}

/// A value as a Python expression.
fn text_of(given: &ArgumentValue) -> String {
    match given {
        ArgumentValue::Int(value) => value.to_string(),
        ArgumentValue::Bool(truth) => text_of_truth(*truth).to_owned(),
        ArgumentValue::Float(value) if value.is_finite() => format!("{value:?}"),
        ArgumentValue::Float(value) => format!("float('{value}')"),
        ArgumentValue::Python(text) => text.clone(),
        ArgumentValue::Array(spec) => spec.to_string(),
    }
}

fn text_of_truth(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

/// What Triton's signatures call the elements of a tensor.
fn pointee(spec: &ArraySpec) -> &'static str {
    if spec.unsigned { spec.type_name() } else { triton_name(spec.dtype) }
}

/// What Triton's signatures call a type of elements.
fn triton_name(dtype: ElemType) -> &'static str {
    match dtype {
        ElemType::I1 => "i1",
        ElemType::I8 | ElemType::F4E2M1 => "i8",
        ElemType::F8E8M0 => "u8",
        ElemType::I16 => "i16",
        ElemType::I32 => "i32",
        ElemType::I64 => "i64",
        ElemType::F8E4M3FN => "fp8e4nv",
        ElemType::F8E5M2 => "fp8e5",
        ElemType::F8E4M3FNUZ => "fp8e4b8",
        ElemType::F8E5M2FNUZ => "fp8e5b16",
        ElemType::F8E4M3B11FNUZ => "fp8e4b15",
        ElemType::F16 => "fp16",
        ElemType::BF16 => "bf16",
        ElemType::F32 => "fp32",
        ElemType::F64 => "fp64",
    }
}
