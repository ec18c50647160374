//! The parameters of a kernel in TTGIR, and what a recipe gives for them.
//!
//! A descriptor is followed by parameters for its shape and strides, which come from the tensor. What nothing is given
//! for is chosen, and that is said.

use base::Cancel;
use std::fs;
use std::path::Path;

use serde::Serialize;
use ttgir::{OpId, Tree};

use crate::launch::{ArgumentValue, ArraySpec, Fill, LaunchSpec, fill};
use crate::limits::triton::ELEMENTS;
use crate::run::RunError;
use tensors::array::{Array, ElemType};

/// A number for a size that nobody gives.
const SIZE: i64 = 256;

/// A parameter as the program that launches it wants it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LaunchParameter {
    /// `value`, `array`, `descriptor`.
    is: &'static str,
    /// In the words of Triton's launcher.
    #[serde(rename = "type")]
    of: String,
    /// The name in the text, without `%`.
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shape: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strides: Vec<u64>,
}

/// A tensor on its way to the device, and back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeviceTensor {
    /// Name of the parameter.
    pub(crate) name: String,
    spec: ArraySpec,
}

/// What is given to a launch.
#[derive(Debug, Default)]
pub(crate) struct BoundParameters {
    /// All parameters, in order.
    pub(crate) parameters: Vec<LaunchParameter>,
    /// Those that are tensors.
    pub(crate) tensors: Vec<DeviceTensor>,
    /// What was chosen, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Gives each parameter of a function its value; tensors are written to files of `folder`.
///
/// # Errors
///
/// Where a tensor cannot be made or written, `cancel` says so, or a parameter is of a type that no recipe can give.
pub(crate) fn bind(
    tree: &Tree,
    function: OpId,
    launch: &LaunchSpec,
    seed: u64,
    (folder, cancel): (&Path, &Cancel<'_>),
) -> Result<BoundParameters, RunError> {
    let entry = tree.regions(function).first().and_then(|region| tree.blocks(*region).first());
    let arguments = entry.map(|block| tree.block_args(*block)).unwrap_or_default();
    let mut bound = BoundParameters::default();
    // The descriptor whose shape and strides come next, and how many of them have come.
    let mut rest: Option<(ArraySpec, usize)> = None;
    for (at, &argument) in arguments.iter().enumerate() {
        let name = tree.value_name(argument).trim_start_matches('%').to_owned();
        let of = tree.value_type(argument).map(|of| tree.type_canonical(of)).unwrap_or_default().trim().to_owned();
        let given = launch.argument(&name, at);
        if let (Some((spec, came)), None) = (&mut rest, given)
            && let Some(number) = follows(spec, *came, &of)
        {
            *came += 1;
            bound.parameters.push(value(name, of, number.into()));
            continue;
        }
        rest = None;
        if let Some(element) = inside(&of, "!tt.ptr<") {
            let spec = spec(given, &name, element, &[ELEMENTS], &mut bound.notes)?;
            let of = format!("*{}", triton_name(spec.dtype));
            bound.parameters.push(tensor(name.clone(), "array", of, &spec, seed, (folder, cancel))?);
            bound.tensors.push(DeviceTensor { name, spec });
        } else if let Some(block) = inside(&of, "!tt.tensordesc<") {
            let (shape, element) = block_of(block);
            let spec = spec(given, &name, element, &shape, &mut bound.notes)?;
            bound.parameters.push(tensor(
                name.clone(),
                "descriptor",
                "nvTmaDesc".to_owned(),
                &spec,
                seed,
                (folder, cancel),
            )?);
            rest = Some((spec.clone(), 0));
            bound.tensors.push(DeviceTensor { name, spec });
        } else {
            bound.parameters.push(scalar(given, name, of, &mut bound.notes)?);
        }
    }
    Ok(bound)
}

impl DeviceTensor {
    /// Reads it back after the launch.
    pub(crate) fn read(&self, folder: &Path) -> Option<(String, Array)> {
        let buffer = fs::read(folder.join(file(&self.name))).ok()?;
        Some((self.name.clone(), self.spec.read_back(&buffer)?))
    }
}

/// The next of a descriptor's sizes and strides, where a parameter is one.
fn follows(spec: &ArraySpec, came: usize, of: &str) -> Option<u64> {
    let rank = spec.shape.len();
    match of {
        "i32" if came < rank => spec.shape.get(came).copied(),
        "i64" if (rank..2 * rank).contains(&came) => spec.strides().get(came - rank).copied(),
        _ => None,
    }
}

/// `X` of `startX>`, without what follows a comma at the end (an address space, a layout).
fn inside<'t>(of: &'t str, start: &str) -> Option<&'t str> {
    let rest = of.strip_prefix(start)?.strip_suffix('>')?;
    Some(rest.split(',').next().unwrap_or(rest).trim())
}

/// Shape and element of `128x64xf16`.
fn block_of(block: &str) -> (Vec<u64>, &str) {
    let mut shape = Vec::new();
    let mut rest = block.trim_start_matches("tensor<");
    while let Some((size, after)) = rest.split_once('x') {
        let Ok(size) = size.parse() else { break };
        shape.push(size);
        rest = after;
    }
    (shape, rest)
}

fn spec(
    given: Option<&ArgumentValue>,
    name: &str,
    element: &str,
    shape: &[u64],
    notes: &mut Vec<String>,
) -> Result<ArraySpec, RunError> {
    if let Some(ArgumentValue::Array(spec)) = given {
        return Ok(spec.clone());
    }
    if given.is_some() {
        return Err(RunError(format!("`{name}` is a tensor: give it as one, `{name}=f16[128,64]` say")));
    }
    let element = element.trim_start_matches("tensor<");
    let dtype = ElemType::named(element)
        .ok_or_else(|| RunError(format!("`{name}` points to `{element}`, which no recipe can make")))?;
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    notes.push(format!("nothing is given for `{name}`: zeros, {}[{}]", dtype.name(), sizes.join(",")));
    Ok(ArraySpec { dtype, unsigned: false, shape: shape.to_vec(), strides: None, fill: Fill::Value(0.0) })
}

fn scalar(
    given: Option<&ArgumentValue>,
    name: String,
    of: String,
    notes: &mut Vec<String>,
) -> Result<LaunchParameter, RunError> {
    let float = matches!(of.as_str(), "f16" | "bf16" | "f32" | "f64");
    let number = match given {
        Some(ArgumentValue::Int(number)) if float => (*number as f64).into(),
        Some(ArgumentValue::Int(number)) => (*number).into(),
        Some(ArgumentValue::Bool(truth)) => i64::from(*truth).into(),
        Some(ArgumentValue::Float(number)) if float => (*number).into(),
        Some(_) => return Err(RunError(format!("`{name}` is of type `{of}`: give it a number"))),
        None => {
            notes.push(format!("nothing is given for `{name}`: {}", if float { 1 } else { SIZE }));
            if float {
                1.0.into()
            } else if of == "i1" {
                1.into()
            } else {
                SIZE.into()
            }
        }
    };
    let dtype = ElemType::named(&of).filter(|dtype| float || dtype.is_int());
    let dtype = dtype.ok_or_else(|| RunError(format!("`{name}` is of type `{of}`, which no recipe can give")))?;
    Ok(value(name, triton_name(dtype).to_owned(), number))
}

fn value(name: String, of: String, value: serde_json::Value) -> LaunchParameter {
    LaunchParameter {
        is: "value",
        of,
        name,
        value: Some(value),
        data: None,
        size: None,
        shape: vec![],
        strides: vec![],
    }
}

/// Makes a tensor and writes it to its file.
fn tensor(
    name: String,
    is: &'static str,
    of: String,
    spec: &ArraySpec,
    seed: u64,
    (folder, cancel): (&Path, &Cancel<'_>),
) -> Result<LaunchParameter, RunError> {
    let array = fill(spec, &name, seed, cancel)?;
    let bytes = spec.lay_out(array, &name)?;
    let path = folder.join(file(&name));
    fs::write(&path, &bytes).map_err(|why| RunError(format!("`{name}` cannot be written to a file: {why}")))?;
    let data = Some(path.to_string_lossy().into_owned());
    let (shape, strides) = (spec.shape.clone(), spec.strides());
    Ok(LaunchParameter { is, of, name, value: None, data, size: Some(bytes.len() as u64), shape, strides })
}

fn file(name: &str) -> String {
    let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{safe}.bin")
}

/// Triton's short name.
pub(crate) fn triton_name(dtype: ElemType) -> &'static str {
    match dtype {
        ElemType::I1 => "i1",
        ElemType::I8 => "i8",
        ElemType::I16 => "i16",
        ElemType::I32 => "i32",
        ElemType::I64 => "i64",
        ElemType::F16 => "fp16",
        ElemType::BF16 => "bf16",
        ElemType::F32 => "fp32",
        ElemType::F64 => "fp64",
        ElemType::F8E4M3FN => "fp8e4nv",
        ElemType::F8E5M2 => "fp8e5",
        ElemType::F8E4M3FNUZ => "fp8e4b8",
        ElemType::F8E5M2FNUZ => "fp8e5b16",
        ElemType::F8E4M3B11FNUZ => "fp8e4b15",
        ElemType::F4E2M1 | ElemType::F8E8M0 => "u8",
    }
}
