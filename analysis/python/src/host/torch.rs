//! Tensors in memory: shape, strides and element type.

use std::rc::Rc;

use super::shapes;
use super::thing::{Thing, any, content, tensor};
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::specialization::Contents;
use crate::syntax::torch_names::{keeps_memory, keeps_shape};
use crate::value::Value;
use base::strides::contiguous;
use torch::{MOST_CONTENTS, Memory, Torch, dtypes, product};

/// The name of a torch type.
pub(super) fn dtype_name(value: &Value<'_>) -> Option<Rc<str>> {
    match value {
        Value::Lib(path) => dtypes::known(path.strip_prefix("torch.")?).map(Rc::from),
        Value::DType(dtype) => dtypes::of_element(dtype.name_in_signatures()).map(Rc::from),
        _ => None,
    }
}

/// `triton.reinterpret(tensor, dtype)`: the same memory, of which a kernel is told that it holds another type.
pub(super) fn reinterpreted<'a>(args: &Args<'a>) -> Option<Value<'a>> {
    let given = args.pos.first().or_else(|| named(args, "base").or_else(|| named(args, "tensor")))?;
    let dtype = args.pos.get(1).or_else(|| named(args, "dtype")).and_then(dtype_name)?;
    let Value::Host(thing) = given else { return None };
    let Thing::Tensor(of) = &**thing else { return None };
    Some(tensor(of.reinterpreted(dtype)))
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
        "real" | "imag" => match dtypes::part_of_complex(&of.dtype) {
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
                let mut cast = of.reinterpreted(dtype);
                let (before, now) = (of.bytes(), cast.bytes().max(1));
                if let Some(last) = cast.shape.last_mut() {
                    *last = *last * before / now;
                }
                // Elements along the last dimension stay beside each other.
                let outer = cast.strides.len().saturating_sub(1);
                cast.strides.iter_mut().take(outer).for_each(|stride| *stride = *stride * before / now);
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
        _ if dtypes::known(name).is_some() => {
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

/// The integers of nested lists, in order; whether there is nothing else.
fn flat(data: &Value<'_>, into: &mut Vec<i64>) -> bool {
    match data {
        Value::Int(number) => i64::try_from(*number).is_ok_and(|number| {
            into.push(number);
            into.len() as u64 <= MOST_CONTENTS
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
