//! Tensors in memory: shape, strides and element type.

use std::rc::Rc;

use base::strides::{contiguous, preserved, viewed};

use super::shapes;
use super::thing::{Memory, Thing, Torch, any, content, tensor};
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::limits::contents::MOST;
use crate::specialization::Contents;
use crate::syntax::torch_names::{keeps_memory, keeps_shape};
use crate::value::{DType, Value};

/// Torch's name, ours, and in signatures where it has no type of its own.
const DTYPES: &[(&str, &str)] = &[
    ("float16", "fp16"),
    ("bfloat16", "bf16"),
    ("float32", "fp32"),
    ("float64", "fp64"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("uint16", "u16"),
    ("uint32", "u32"),
    ("uint64", "u64"),
    ("bool", "i1"),
    ("float8_e4m3fn", "fp8e4nv"),
    ("float8_e5m2", "fp8e5"),
    ("float8_e4m3fnuz", "fp8e4b8"),
    ("float8_e5m2fnuz", "fp8e5b16"),
    ("float8_e8m0fnu", "u8"),
    ("float4_e2m1fn_x2", "u8"),
];

/// Torch's other names of the same types.
const OTHER: &[(&str, &str)] = &[
    ("half", "float16"),
    ("float", "float32"),
    ("double", "float64"),
    ("short", "int16"),
    ("int", "int32"),
    ("long", "int64"),
];

impl Torch {
    /// A contiguous tensor.
    pub fn new(shape: Vec<i64>, dtype: Rc<str>) -> Torch {
        let strides = contiguous(&shape);
        Torch { memory: Memory::fresh(), dtype, shape, strides }
    }

    /// Its element type in signatures.
    pub fn element(&self) -> &'static str {
        DTYPES.iter().find(|row| row.0 == &*self.dtype).map_or("fp32", |row| row.1)
    }

    pub(super) fn bytes(&self) -> i64 {
        DType::named(self.element()).map_or(4, |dtype| i64::from(dtype.bits().max(8) / 8))
    }

    pub(super) fn count(&self) -> i64 {
        self.shape.iter().fold(1, |all: i64, size| all.saturating_mul(*size))
    }

    pub(super) fn with(&self, shape: Vec<i64>) -> Torch {
        Torch::new(shape, self.dtype.clone())
    }

    /// A copy of another type.
    fn of_type(&self, dtype: Rc<str>) -> Torch {
        let kept = is_integer(&self.dtype) && is_integer(&dtype);
        let strides = preserved(&self.shape, &self.strides);
        Torch { dtype, memory: Memory::holding(self.contents().filter(|_| kept)), shape: self.shape.clone(), strides }
    }

    /// Itself where it is of that type, else a copy.
    fn cast(&self, dtype: Rc<str>) -> Torch {
        if dtype == self.dtype { self.clone() } else { self.of_type(dtype) }
    }

    /// The same with these elements, where they are integers.
    pub(super) fn holding(self, contents: Option<Contents>) -> Torch {
        Torch { memory: Memory::holding(contents.filter(|_| is_integer(&self.dtype))), ..self }
    }

    /// The elements of a tensor of integers that is one piece of memory, where they are known and few.
    pub fn contents(&self) -> Option<Contents> {
        let few = u64::try_from(self.count()).ok().filter(|count| *count <= MOST)?;
        let whole = self.memory.offset == Some(0) && self.is_contiguous() && is_integer(&self.dtype);
        let contents = self.memory.contents().filter(|_| whole)?;
        contents.elements(few).map(|_| contents)
    }

    /// A copy.
    pub(super) fn copied(&self) -> Torch {
        Torch { memory: Memory::fresh(), strides: preserved(&self.shape, &self.strides), ..self.clone() }
    }

    /// The same where it lies densely, else a copy that does.
    fn dense(&self) -> Torch {
        if self.is_contiguous() { self.clone() } else { self.with(self.shape.clone()) }
    }

    /// In the memory of a tensor of which it is a view.
    fn within(self, of: &Torch) -> Torch {
        Torch { memory: of.memory.clone(), ..self }
    }

    /// The same, or a tensor of truths.
    pub fn compared(&self, comparison: bool) -> Torch {
        if comparison { self.of_type("bool".into()) } else { self.copied() }
    }

    /// What a loop over it sees, unless that is a lot.
    pub fn rows(&self) -> Option<Vec<Torch>> {
        let (first, rest) = self.shape.split_first()?;
        let row = Torch {
            memory: self.memory.further(None),
            dtype: self.dtype.clone(),
            shape: rest.to_vec(),
            strides: self.strides.get(1..).unwrap_or(&[]).to_vec(),
        };
        (0..=256).contains(first).then(|| vec![row; *first as usize])
    }

    pub(super) fn permuted(&self, order: &[i64]) -> Option<Torch> {
        let at: Vec<usize> = order.iter().map(|at| self.dim(*at)).collect::<Option<_>>()?;
        let pick = |from: &[i64]| at.iter().map(|at| from.get(*at).copied()).collect::<Option<Vec<i64>>>();
        Some(Torch {
            memory: self.memory.clone(),
            dtype: self.dtype.clone(),
            shape: pick(&self.shape)?,
            strides: pick(&self.strides)?,
        })
    }

    pub(super) fn dim(&self, at: i64) -> Option<usize> {
        let rank = self.shape.len() as i64;
        let at = if at < 0 { at + rank } else { at };
        (0..rank).contains(&at).then_some(at as usize)
    }

    fn is_contiguous(&self) -> bool {
        // How far apart the elements of a dimension with one of them are does not matter.
        let mut all = self.strides.iter().zip(contiguous(&self.shape)).zip(&self.shape);
        self.count() == 0 || all.all(|((stride, dense), size)| *size == 1 || *stride == dense)
    }

    pub(super) fn reshaped(&self, mut shape: Vec<i64>) -> Option<Torch> {
        if let Some(at) = shape.iter().position(|size| *size == -1) {
            let rest = shape.iter().filter(|size| **size != -1).fold(1i64, |all, size| all.saturating_mul(*size));
            shape[at] = self.count().checked_div(rest)?;
        }
        shape.iter().all(|size| *size >= 0).then_some(())?;
        if let Some(strides) = viewed((&self.shape, &self.strides), &shape) {
            return Some(Torch { shape, strides, ..self.clone() });
        }
        let dense = self.dense();
        Some(dense.with(shape).within(&dense))
    }
}

/// The name of a torch type.
pub(super) fn dtype_name(value: &Value<'_>) -> Option<Rc<str>> {
    let known = |name: &str| DTYPES.iter().any(|row| row.0 == name);
    match value {
        Value::Lib(path) => {
            let name = path.strip_prefix("torch.")?;
            let name = OTHER.iter().find(|row| row.0 == name).map_or(name, |row| row.1);
            known(name).then(|| name.into())
        }
        Value::DType(dtype) => {
            let short = dtype.name_in_signatures();
            DTYPES.iter().find(|row| row.1 == short).map(|row| row.0.into())
        }
        _ => None,
    }
}

pub(super) fn dtype_value<'a>(interp: &Interp<'a>, name: &str) -> Value<'a> {
    let path = format!("torch.{name}");
    interp.library.lookup(&path, interp.version).unwrap_or_else(|| Value::Lib(path.into()))
}

pub(super) fn ints(value: &Value<'_>) -> Option<Vec<i64>> {
    let all = |items: &[Value<'_>]| items.iter().map(int).collect::<Option<Vec<i64>>>();
    match value {
        Value::Tuple(items) => all(items),
        Value::List(items) => all(&items.borrow()),
        _ => None,
    }
}

pub(super) fn int(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Int(number) => i64::try_from(*number).ok(),
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Float(number) if number.fract() == 0.0 => Some(*number as i64),
        _ => None,
    }
}

fn tuple<'a>(sizes: &[i64]) -> Value<'a> {
    Value::Tuple(sizes.iter().map(|size| Value::Int((*size).into())).collect())
}

/// A shape as one sequence or as several numbers.
pub(super) fn shape(args: &[Value<'_>]) -> Option<Vec<i64>> {
    match args {
        [one] => ints(one).or_else(|| Some(vec![int(one)?])),
        all => all.iter().map(int).collect(),
    }
}

pub(super) fn named<'b, 'a>(args: &'b Args<'a>, name: &str) -> Option<&'b Value<'a>> {
    args.named.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
}

/// `dtype=`, or a type among the others.
fn dtype(args: &Args<'_>) -> Option<Rc<str>> {
    named(args, "dtype").and_then(dtype_name).or_else(|| args.pos.iter().find_map(dtype_name))
}

/// `tensor.name` where it is no method.
pub(super) fn attribute<'a>(interp: &Interp<'a>, of: &Torch, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "shape" => tuple(&of.shape),
        "dtype" => dtype_value(interp, &of.dtype),
        "ndim" => Value::Int(of.shape.len() as i128),
        "T" | "mT" => {
            let rank = of.shape.len() as i64;
            let mut order: Vec<i64> = (0..rank).collect();
            if name == "T" {
                order.reverse();
            } else if rank >= 2 {
                order.swap(rank as usize - 1, rank as usize - 2);
            }
            tensor(of.permuted(&order)?)
        }
        "device" => any("device"),
        "is_cuda" => Value::Bool(true),
        "itemsize" => Value::Int(of.bytes().into()),
        "nbytes" => Value::Int(of.bytes().saturating_mul(of.count()).into()),
        "requires_grad" => Value::Bool(false),
        "grad" => tensor(of.copied()),
        "data" => tensor(of.clone()),
        "real" | "imag" => match part_of_complex(&of.dtype) {
            Some(part) => {
                let strides = of.strides.iter().map(|stride| 2 * stride).collect();
                let memory = of.memory.further(None);
                tensor(Torch { memory, dtype: part.into(), shape: of.shape.clone(), strides })
            }
            None if name == "real" => tensor(of.clone()),
            None => return None,
        },
        _ => return None,
    })
}

/// The type of the parts of complex numbers of a type; `None` of other numbers.
pub(super) fn part_of_complex(dtype: &str) -> Option<&'static str> {
    Some(match dtype {
        "complex32" => "float16",
        "complex64" | "cfloat" => "float32",
        "complex128" | "cdouble" => "float64",
        _ => return None,
    })
}

/// `tensor.name(…)`.
pub(super) fn method<'a>(interp: &mut Interp<'a>, of: &Torch, name: &str, args: &Args<'a>) -> Eval<'a> {
    if let Some(made) = shapes::shaped(name, of, args) {
        return Ok(made);
    }
    let first = args.pos.first();
    let numbers = || shape(&args.pos);
    if let Some(comparison) = shapes::elementwise(name).filter(|_| first.is_some()) {
        return match first.and_then(self::of) {
            Some(other) => broadcast(interp, of, &other, comparison),
            None => Ok(tensor(of.compared(comparison))),
        };
    }
    let new = match name {
        "stride" | "size" => {
            let all = if name == "stride" { &of.strides } else { &of.shape };
            let at = first.or_else(|| named(args, "dim"));
            return match at {
                None => Ok(tuple(all)),
                Some(at) => match int(at).and_then(|at| of.dim(at)).and_then(|at| all.get(at)) {
                    Some(size) => Ok(Value::Int((*size).into())),
                    None => interp.raise(format!("the tensor has {} dimensions", all.len())),
                },
            };
        }
        "numel" | "nelement" => return Ok(Value::Int(of.count().into())),
        "dim" | "ndimension" => return Ok(Value::Int(of.shape.len() as i128)),
        "element_size" => return Ok(Value::Int(of.bytes().into())),
        "data_ptr" => return Ok(Value::Int(1 << 20)),
        "is_contiguous" => return Ok(Value::Bool(of.is_contiguous())),
        "is_floating_point" => return Ok(Value::Bool(of.dtype.contains("float"))),
        "item" | "tolist" | "all" | "any" if args.pos.is_empty() => return Ok(content(name)),
        "view" | "reshape" => match first.and_then(dtype_name) {
            Some(dtype) => {
                let cast = of.of_type(dtype);
                let (mut shape, mut strides) = (of.shape.clone(), of.strides.clone());
                let (before, now) = (of.bytes(), cast.bytes().max(1));
                if let Some(last) = shape.last_mut() {
                    *last = *last * before / now;
                }
                // Elements along the last dimension stay beside each other.
                let outer = strides.len().saturating_sub(1);
                strides.iter_mut().take(outer).for_each(|stride| *stride = *stride * before / now);
                let mut cast = cast.with(shape).within(of);
                cast.strides = strides;
                Some(cast)
            }
            None => numbers().and_then(|shape| of.reshaped(shape)),
        },
        "flatten" if args.pos.is_empty() => of.reshaped(vec![-1]),
        "permute" => numbers().and_then(|order| of.permuted(&order)),
        "transpose" | "swapaxes" => {
            let at = |at: usize| args.pos.get(at).and_then(int).and_then(|at| of.dim(at));
            at(0).zip(at(1)).and_then(|(a, b)| {
                let mut order: Vec<i64> = (0..of.shape.len() as i64).collect();
                order.swap(a, b);
                of.permuted(&order)
            })
        }
        "t" => of.permuted(&(0..of.shape.len() as i64).rev().collect::<Vec<_>>()),
        "unsqueeze" => first.and_then(int).map(|at| {
            let rank = of.shape.len() as i64 + 1;
            let at = (if at < 0 { at + rank } else { at }).clamp(0, rank - 1) as usize;
            let (mut shape, mut strides) = (of.shape.clone(), of.strides.clone());
            shape.insert(at, 1);
            strides.insert(at, strides.get(at).copied().unwrap_or(1));
            Torch { memory: of.memory.clone(), dtype: of.dtype.clone(), shape, strides }
        }),
        "squeeze" => {
            let at = first.and_then(int).and_then(|at| of.dim(at));
            let keep = |(i, size): &(usize, &i64)| **size != 1 || at.is_some_and(|at| at != *i);
            let kept: Vec<usize> = of.shape.iter().enumerate().filter(keep).map(|(at, _)| at).collect();
            let pick = |all: &[i64]| kept.iter().filter_map(|at| all.get(*at).copied()).collect();
            Some(Torch { shape: pick(&of.shape), strides: pick(&of.strides), ..of.clone() })
        }
        "expand" | "broadcast_to" => numbers().map(|shape| {
            let missing = shape.len().saturating_sub(of.shape.len());
            let own = |at: usize| at.checked_sub(missing).and_then(|at| of.shape.get(at)).copied().unwrap_or(1);
            let sizes = shape.iter().enumerate().map(|(at, size)| if *size == -1 { own(at) } else { *size });
            let sizes: Vec<i64> = sizes.collect();
            // Along a dimension that is repeated every element is the same.
            let stride = |(at, size): (usize, &i64)| match at.checked_sub(missing).and_then(|at| of.strides.get(at)) {
                Some(stride) if own(at) == *size => *stride,
                _ => 0,
            };
            let strides = sizes.iter().enumerate().map(stride).collect();
            Torch { shape: sizes, strides, ..of.clone() }
        }),
        "repeat" => numbers().map(|times| {
            let missing = times.len().saturating_sub(of.shape.len());
            let own = |at: usize| at.checked_sub(missing).and_then(|at| of.shape.get(at)).copied().unwrap_or(1);
            of.with(times.iter().enumerate().map(|(at, times)| own(at).saturating_mul(*times)).collect())
        }),
        "contiguous" => Some(of.dense()),
        "new_empty" | "new_zeros" | "new_ones" => {
            let sizes: Vec<Value<'_>> = args.pos.iter().filter(|arg| dtype_name(arg).is_none()).cloned().collect();
            let contents = match name {
                "new_zeros" => Some(Contents::Fill(0)),
                "new_ones" => Some(Contents::Fill(1)),
                _ => None,
            };
            let made = |shape| Torch::new(shape, dtype(args).unwrap_or_else(|| of.dtype.clone()));
            shape(&sizes).map(|shape| made(shape).holding(contents))
        }
        "to" | "type" | "type_as" => Some(match dtype(args) {
            Some(dtype) => of.cast(dtype),
            None => of.clone(),
        }),
        "sum" | "mean" | "amax" | "amin" | "max" | "min" | "argmax" | "argmin" | "prod" | "std" | "var" | "norm"
        | "logsumexp" | "count_nonzero" | "all" | "any" | "nansum" => {
            // `norm(p, dim, keepdim)`; a truth is no dimension (`std(unbiased)`).
            let at = usize::from(name == "norm");
            let dims = match named(args, "dim").or_else(|| args.pos.get(at)) {
                Some(Value::Bool(_)) => None,
                Some(value) => ints(value).or_else(|| Some(vec![int(value)?])),
                None => Some((0..of.shape.len() as i64).collect()),
            };
            let dims = dims.and_then(|dims| dims.iter().map(|at| of.dim(*at)).collect::<Option<Vec<usize>>>());
            let positional = args.pos.get(at + 1).filter(|_| !matches!(name, "std" | "var"));
            let keep = matches!(named(args, "keepdim").or(positional), Some(Value::Bool(true)));
            dims.map(|dims| {
                let sizes = of.shape.iter().enumerate().filter(|(at, _)| keep || !dims.contains(at));
                let made = of.with(sizes.map(|(at, size)| if dims.contains(&at) { 1 } else { *size }).collect());
                match name {
                    "all" | "any" => made.of_type("bool".into()),
                    "argmax" | "argmin" | "count_nonzero" => made.of_type("int64".into()),
                    _ => made,
                }
            })
        }
        "to_packed_tensor" => {
            let dim = first.or_else(|| named(args, "dim")).and_then(int).and_then(|at| of.dim(at));
            dim.map(|dim| {
                let mut shape = of.shape.clone();
                shape[dim] = (shape[dim] + 1) / 2;
                Torch::new(shape, "uint8".into())
            })
        }
        "repeat_interleave" => {
            let dim = args.pos.get(1).or_else(|| named(args, "dim")).and_then(int).and_then(|at| of.dim(at));
            let flat = args.pos.len() < 2 && named(args, "dim").is_none();
            first.and_then(int).and_then(|times| {
                let mut shape = if flat { vec![of.count()] } else { of.shape.clone() };
                let size = shape.get_mut(if flat { 0 } else { dim? })?;
                *size = size.saturating_mul(times);
                Some(of.with(shape))
            })
        }
        _ if DTYPES.iter().any(|row| row.0 == name) || OTHER.iter().any(|row| row.0 == name) => {
            dtype_name(&Value::Lib(format!("torch.{name}").into())).map(|dtype| of.cast(dtype))
        }
        "bfloat16" => Some(of.cast("bfloat16".into())),
        "clone" => Some(of.copied().holding(of.contents())),
        _ if keeps_memory(name) => Some(of.clone()),
        _ => keeps_shape(name).then(|| of.copied()),
    };
    match new {
        Some(new) => Ok(tensor(new)),
        None => Ok(content(name)),
    }
}

/// `MXFP4Tensor(size=…)` and `MXScaleTensor(size=…)` of Triton's tools.
pub(super) fn quantized<'a>(class: &str, args: &Args<'a>) -> Value<'a> {
    let data = named(args, "data").or_else(|| args.pos.first());
    let shape = named(args, "size").and_then(ints).or_else(|| Some(of(data?)?.shape));
    let dtype = if class == "MXScaleTensor" { "uint8" } else { "float4_e2m1fn_x2" };
    shape.map_or_else(|| content(class), |shape| tensor(Torch::new(shape, dtype.into())))
}

/// Whether elements of a type are integers.
fn is_integer(dtype: &str) -> bool {
    dtype.starts_with("int") || dtype.starts_with("uint")
}

/// The integers of nested lists, in order; whether there is nothing else.
fn flat(data: &Value<'_>, into: &mut Vec<i64>) -> bool {
    match data {
        Value::Int(number) => i64::try_from(*number).is_ok_and(|number| {
            into.push(number);
            into.len() as u64 <= MOST
        }),
        Value::List(items) => items.borrow().iter().all(|item| flat(item, into)),
        Value::Tuple(items) => items.iter().all(|item| flat(item, into)),
        _ => false,
    }
}

/// `torch.name(…)`.
pub(super) fn function<'a>(interp: &mut Interp<'a>, path: &str, args: &Args<'a>) -> Eval<'a> {
    let name = path.strip_prefix("torch.").unwrap_or(path);
    let default = || dtype(args).unwrap_or_else(|| "float32".into());
    let tensors: Vec<Torch> = args.pos.iter().chain(args.named.iter().map(|(_, value)| value)).filter_map(of).collect();
    let new = match name {
        "empty" | "zeros" | "ones" | "rand" | "randn" => {
            let sizes: Vec<Value<'_>> = match named(args, "size") {
                Some(size) => vec![size.clone()],
                None => args.pos.iter().filter(|arg| dtype_name(arg).is_none()).cloned().collect(),
            };
            let contents = match name {
                "zeros" => Some(Contents::Fill(0)),
                "ones" => Some(Contents::Fill(1)),
                _ => None,
            };
            shape(&sizes).map(|shape| Torch::new(shape, default()).holding(contents))
        }
        "full" => args.pos.first().or_else(|| named(args, "size")).and_then(ints).map(|shape| {
            let filled = match args.pos.get(1).or_else(|| named(args, "fill_value")) {
                Some(Value::Int(_)) => "int64",
                Some(Value::Bool(_)) => "bool",
                _ => "float32",
            };
            let contents = args.pos.get(1).or_else(|| named(args, "fill_value")).and_then(int).map(Contents::Fill);
            Torch::new(shape, dtype(args).unwrap_or_else(|| filled.into())).holding(contents)
        }),
        "randint" => {
            let size = named(args, "size").or_else(|| args.pos.iter().find(|arg| ints(arg).is_some()));
            size.and_then(ints).map(|shape| Torch::new(shape, dtype(args).unwrap_or_else(|| "int64".into())))
        }
        "randperm" => {
            let size = args.pos.first().and_then(int);
            size.map(|size| Torch::new(vec![size], dtype(args).unwrap_or_else(|| "int64".into())))
        }
        "arange" => {
            let bounds: Option<Vec<i64>> = args.pos.iter().filter(|arg| dtype_name(arg).is_none()).map(int).collect();
            bounds.and_then(|bounds| {
                let (start, stop, step) = match bounds[..] {
                    [stop] => (0, stop, 1),
                    [start, stop] => (start, stop, 1),
                    [start, stop, step] if step != 0 => (start, stop, step),
                    _ => return None,
                };
                let count = (stop - start + step - step.signum()).checked_div(step)?.max(0);
                let made = Torch::new(vec![count], dtype(args).unwrap_or_else(|| "int64".into()));
                Some(made.holding(Some(Contents::Range { start, step })))
            })
        }
        "linspace" => {
            let count = args.pos.get(2).or_else(|| named(args, "steps")).and_then(int);
            count.map(|count| Torch::new(vec![count], default()))
        }
        "eye" => shape(&args.pos).map(|mut shape| {
            if let [size] = shape[..] {
                shape.push(size);
            }
            Torch::new(shape, default())
        }),
        "empty_strided" => {
            let shape = args.pos.first().and_then(ints);
            let strides = args.pos.get(1).and_then(ints);
            shape.zip(strides).map(|(shape, strides)| Torch {
                memory: Memory::fresh(),
                dtype: default(),
                shape,
                strides,
            })
        }
        "tensor" | "as_tensor" | "scalar_tensor" if args.pos.first().is_some_and(super::is_unknown) => None,
        "tensor" | "as_tensor" | "scalar_tensor" => {
            let data = args.pos.first();
            let mut shape = Vec::new();
            let mut inner = data.cloned();
            let mut filled = "float32";
            while let Some(value) = inner.take() {
                let items: Vec<Value<'a>> = match &value {
                    Value::List(items) => items.borrow().clone(),
                    Value::Tuple(items) => items.to_vec(),
                    Value::Int(_) => {
                        filled = "int64";
                        break;
                    }
                    _ => break,
                };
                shape.push(items.len() as i64);
                inner = items.first().cloned();
            }
            let made = tensors.first().cloned().unwrap_or_else(|| {
                let mut elements = Vec::new();
                let whole = data.is_some_and(|data| flat(data, &mut elements));
                Torch::new(shape, filled.into()).holding(whole.then(|| Contents::List(elements.into())))
            });
            Some(match dtype(args) {
                Some(dtype) if dtype != made.dtype => made.of_type(dtype),
                _ => made,
            })
        }
        "matmul" | "mm" | "bmm" => match &tensors[..] {
            [a, b, ..] => product(a, b),
            _ => None,
        },
        "cat" | "concat" | "stack" => {
            let list: Option<Vec<Torch>> = args.pos.first().and_then(|list| match list {
                Value::List(items) => items.borrow().iter().map(of).collect(),
                Value::Tuple(items) => items.iter().map(of).collect(),
                _ => None,
            });
            let dim = args.pos.get(1).or_else(|| named(args, "dim")).and_then(int).unwrap_or(0);
            list.and_then(|list| {
                let first = list.first()?;
                let mut shape = first.shape.clone();
                if name == "stack" {
                    let at = if dim < 0 { dim + shape.len() as i64 + 1 } else { dim };
                    shape.insert((at.max(0) as usize).min(shape.len()), list.len() as i64);
                } else {
                    let at = first.dim(dim)?;
                    shape[at] = list.iter().filter_map(|one| one.shape.get(at)).sum();
                }
                Some(first.with(shape))
            })
        }
        "einsum" => return Ok(shapes::einsum(args)),
        "normal" if named(args, "size").is_some() => {
            named(args, "size").and_then(ints).map(|shape| Torch::new(shape, default()))
        }
        "where" => tensors.get(1).or(tensors.first()).map(Torch::copied),
        "allclose" | "equal" | "is_tensor" => None,
        _ if name.ends_with("_like") => tensors.first().map(|like| {
            let kept =
                if named(args, "memory_format").is_some() { like.with(like.shape.clone()) } else { like.copied() };
            let made = dtype(args).map_or(kept.clone(), |dtype| kept.of_type(dtype));
            made.holding(match name {
                "zeros_like" => Some(Contents::Fill(0)),
                "ones_like" => Some(Contents::Fill(1)),
                _ => None,
            })
        }),
        _ => {
            if let Some(value) = super::device::torch(interp, name, args) {
                return Ok(value);
            }
            if let Some((first, rest)) = receiver(name, args) {
                return method(interp, &first, rest.0, &rest.1);
            }
            tensors.first().filter(|_| keeps_shape(name)).map(Torch::copied)
        }
    };
    Ok(new.map_or_else(|| content(name), tensor))
}

/// A function that is a method of its first argument as well: that argument, and how the method is called.
fn receiver<'n, 'a>(name: &'n str, args: &Args<'a>) -> Option<(Torch, (&'n str, Args<'a>))> {
    let name = match name {
        "nn.Parameter" | "nn.parameter.Parameter" => "Parameter",
        _ => name.strip_prefix("nn.functional.").or_else(|| name.strip_prefix("linalg.")).unwrap_or(name),
    };
    let mut args = args.clone();
    let first = if args.pos.is_empty() {
        let at = args.named.iter().position(|(key, _)| matches!(&**key, "input" | "self" | "query" | "data"))?;
        args.named.remove(at).1
    } else {
        args.pos.remove(0)
    };
    (!name.contains('.')).then_some((of(&first)?, (name, args)))
}

pub(super) fn of(value: &Value<'_>) -> Option<Torch> {
    let Value::Host(thing) = value else { return None };
    if let Thing::Tensor(tensor) = &**thing { Some(tensor.clone()) } else { None }
}

/// `a @ b`.
pub(super) fn product(a: &Torch, b: &Torch) -> Option<Torch> {
    let mut shape = a.shape.clone();
    *shape.last_mut()? = *b.shape.last()?;
    Some(a.with(shape))
}

/// What arithmetic makes of two tensors.
pub(super) fn broadcast<'a>(interp: &Interp<'a>, a: &Torch, b: &Torch, comparison: bool) -> Eval<'a> {
    let rank = a.shape.len().max(b.shape.len());
    let size = |of: &Torch, at: usize| {
        (at + of.shape.len()).checked_sub(rank).and_then(|at| of.shape.get(at)).copied().unwrap_or(1)
    };
    let mut shape = Vec::with_capacity(rank);
    for at in 0..rank {
        match (size(a, at), size(b, at)) {
            (x, y) if x == y || y == 1 => shape.push(x),
            (1, y) => shape.push(y),
            (x, y) => return interp.raise(format!("tensors of {x} and {y} elements do not fit")),
        }
    }
    let of = if a.shape.is_empty() { b } else { a };
    Ok(tensor(of.with(shape).compared(comparison)))
}

/// `tensor[index]`.
pub(super) fn index<'a>(interp: &Interp<'a>, of: &Torch, index: &Value<'a>) -> Eval<'a> {
    let parts = match index {
        Value::Tuple(parts) => parts.to_vec(),
        one => vec![one.clone()],
    };
    let given = parts.iter().filter(|part| !matches!(part, Value::None | Value::Ellipsis)).count();
    let (mut shape, mut strides, mut dim) = (Vec::new(), Vec::new(), 0);
    // Elements to the first one, and whether the elements are those of the tensor itself.
    let (mut skipped, mut view) = (Some(0i64), true);
    let (size, stride) = (|at: usize| of.shape.get(at).copied(), |at: usize| of.strides.get(at).copied());
    for part in &parts {
        match part {
            Value::None => {
                shape.push(1);
                strides.push(1);
            }
            Value::Ellipsis => {
                for _ in given..of.shape.len() {
                    shape.extend(size(dim));
                    strides.extend(stride(dim));
                    dim += 1;
                }
            }
            Value::Int(at) => {
                let at = i64::try_from(*at).ok().zip(size(dim)).map(|(at, size)| if at < 0 { at + size } else { at });
                skipped = skip(skipped, at, stride(dim));
                dim += 1;
            }
            Value::Slice(bounds) => {
                let (Some(length), Some(step)) = (size(dim).map(|size| size.max(0)), stride(dim)) else {
                    return interp.raise("the tensor has fewer dimensions");
                };
                let bound = |value: &Value<'_>, or: i64| match value {
                    Value::None => Some(or),
                    value => int(value).map(|at| if at < 0 { at + length } else { at }.clamp(0, length)),
                };
                let by = if matches!(bounds[2], Value::None) { Some(1) } else { int(&bounds[2]).filter(|by| *by > 0) };
                let (Some(start), Some(stop), Some(by)) = (bound(&bounds[0], 0), bound(&bounds[1], length), by) else {
                    return Ok(content("a slice"));
                };
                skipped = skip(skipped, Some(start), Some(step));
                shape.push(((stop - start).max(0) + by - 1) / by);
                strides.push(step.saturating_mul(by));
                dim += 1;
            }
            Value::Host(thing)
                if let Thing::Tensor(by) = &**thing
                    && &*by.dtype != "bool" =>
            {
                view = false;
                shape.extend_from_slice(&by.shape);
                strides.extend_from_slice(&contiguous(&by.shape));
                dim += 1;
            }
            // By a list, or by truths.
            _ => return Ok(content("a choice of elements")),
        }
    }
    shape.extend_from_slice(of.shape.get(dim..).unwrap_or(&[]));
    strides.extend_from_slice(of.strides.get(dim..).unwrap_or(&[]));
    let bytes = skipped.and_then(|skipped| skipped.checked_mul(of.bytes()));
    let memory = if view { of.memory.further(bytes) } else { Memory::fresh() };
    Ok(tensor(Torch { memory, dtype: of.dtype.clone(), shape, strides }))
}

/// So many elements, and a number of strides further on.
fn skip(before: Option<i64>, count: Option<i64>, stride: Option<i64>) -> Option<i64> {
    before?.checked_add(count?.checked_mul(stride?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_strides() {
        let tensor = Torch::new(vec![4, 8, 16], "float16".into());
        assert_eq!(tensor.strides, [128, 16, 1]);
        let turned = tensor.permuted(&[0, 2, -2]).unwrap();
        assert_eq!((&turned.shape[..], &turned.strides[..]), (&[4, 16, 8][..], &[128, 1, 16][..]));
        assert!(!turned.is_contiguous());
        assert_eq!(tensor.reshaped(vec![-1, 32]).unwrap().shape, [16, 32]);
        assert_eq!(product(&tensor, &turned).unwrap().shape, [4, 8, 8]);
        assert_eq!((tensor.element(), tensor.bytes()), ("fp16", 2));
    }
}
