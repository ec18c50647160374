//! Functions and methods of torch that take a tensor apart, choose from it or put it into another shape.
//!
//! Each is known by its name alone, as a method and as a function of `torch` or `torch.nn.functional` alike: the
//! shapes that it gives depend on the tensor's and on whole numbers.

use std::rc::Rc;

use super::thing::{content, tensor};
use super::torch::{dtype_name, int, ints, named, of, shape};
use crate::library::Args;
use crate::value::Value;
use torch::{Memory, Torch, product};

/// What a function gives.
enum Shaped {
    One(Torch),
    /// Several, as a tuple.
    Parts(Vec<Torch>),
}

/// What a function of this name, which ends in the last part of its path, gives for a tensor and the arguments behind
/// it; `None` where it is none of these, or where it depends on what is not known.
pub(super) fn shaped<'a>(name: &str, of: &Torch, args: &Args<'a>) -> Option<Value<'a>> {
    Some(match made(name.rsplit('.').next().unwrap_or(name), of, args)? {
        Shaped::One(one) => tensor(one),
        Shaped::Parts(parts) => Value::Tuple(parts.into_iter().map(tensor).collect()),
    })
}

/// `answer.values`, `answer.indices` of functions that give both.
pub(crate) fn answer_part<'a>(items: &[Value<'a>], name: &str) -> Option<Value<'a>> {
    let [values, indices] = items else { return None };
    of(values).and(of(indices))?;
    match name {
        "values" => Some(values.clone()),
        "indices" => Some(indices.clone()),
        _ => None,
    }
}

fn made(name: &str, tensor: &Torch, args: &Args<'_>) -> Option<Shaped> {
    let one = |made: Torch| Some(Shaped::One(made));
    let argument = |at: usize, name: &str| args.pos.get(at).or_else(|| named(args, name));
    let number = |at: usize, name: &str| argument(at, name).and_then(int);
    let dim_at = |at: usize, or: i64| match argument(at, "dim") {
        Some(value) => int(value).and_then(|at| tensor.dim(at)),
        None => tensor.dim(or),
    };
    let other = |at: usize, name: &str| argument(at, name).and_then(of);
    match name {
        "chunk" | "tensor_split" => {
            let (count, dim) =
                (number(0, if name == "chunk" { "chunks" } else { "indices_or_sections" })?, dim_at(1, 0)?);
            parts(tensor, dim, &shares(tensor.size(dim)?, count, name == "chunk")?)
        }
        "split" => {
            let (sizes, dim) =
                (argument(0, "split_size_or_sections").or_else(|| named(args, "split_size"))?, dim_at(1, 0)?);
            let sizes = match int(sizes) {
                Some(size) => steps(tensor.size(dim)?, size)?,
                None => ints(sizes)?,
            };
            parts(tensor, dim, &sizes)
        }
        "split_with_sizes" => parts(tensor, dim_at(1, 0)?, &argument(0, "split_sizes").and_then(ints)?),
        "unbind" => {
            let dim = dim_at(0, 0)?;
            let size = tensor.size(dim).filter(|size| (0..=256).contains(size))?;
            (0..size).map(|at| tensor.part(dim, at, 1)?.without(dim)).collect::<Option<_>>().map(Shaped::Parts)
        }
        "narrow" => one(tensor.part(dim_at(0, 0)?, number(1, "start")?, number(2, "length")?)?),
        "select" => {
            let (dim, at) = (dim_at(0, 0)?, number(1, "index")?);
            let at = if at < 0 { at + tensor.size(dim)? } else { at };
            one(tensor.part(dim, at, 1)?.without(dim)?)
        }
        "index_select" => one(tensor.resized(dim_at(0, 0)?, other(1, "index")?.shape.iter().product())?),
        "gather" | "take_along_dim" => {
            let index = if name == "gather" { other(1, "index") } else { other(0, "indices") };
            one(tensor.with(index?.shape))
        }
        "pad" => {
            let pads = argument(0, "pad").and_then(ints)?;
            let mut padded = tensor.shape.clone();
            // The last dimension comes first.
            for (pad, size) in pads.chunks(2).zip(padded.iter_mut().rev()) {
                *size = size.checked_add(*pad.first()?)?.checked_add(*pad.get(1)?)?;
            }
            padded.iter().all(|size| *size >= 0).then(|| Shaped::One(tensor.with(padded)))
        }
        "view_as" | "reshape_as" => one(tensor.reshaped(other(0, "other")?.shape)?),
        "flatten" if !args.pos.is_empty() || !args.named.is_empty() => {
            let first = tensor.dim(number(0, "start_dim").unwrap_or(0))?;
            let last = tensor.dim(number(1, "end_dim").unwrap_or(-1)).filter(|last| first <= *last)?;
            let mut flat = tensor.shape.clone();
            let count = flat.drain(first..=last).fold(1i64, |all, size| all.saturating_mul(size));
            flat.insert(first, count);
            one(tensor.reshaped(flat)?)
        }
        "unflatten" => {
            let (dim, sizes) = (dim_at(0, 0)?, argument(1, "sizes").and_then(ints)?);
            let mut parts = tensor.shape.clone();
            let whole = parts.remove(dim);
            let known = sizes.iter().filter(|size| **size != -1).fold(1i64, |all, size| all.saturating_mul(*size));
            let sizes = sizes.iter().map(|size| if *size == -1 { whole.checked_div(known) } else { Some(*size) });
            parts.splice(dim..dim, sizes.collect::<Option<Vec<_>>>()?);
            one(tensor.reshaped(parts)?)
        }
        "movedim" | "moveaxis" => {
            let list = |at, name| argument(at, name).and_then(|value| ints(value).or_else(|| Some(vec![int(value)?])));
            let all = |list: Vec<i64>| list.into_iter().map(|at| tensor.dim(at)).collect::<Option<Vec<usize>>>();
            let (from, to) = (all(list(0, "source")?)?, all(list(1, "destination")?)?);
            let mut rest = (0..tensor.shape.len()).filter(|at| !from.contains(at));
            let order = (0..tensor.shape.len()).map(|at| match to.iter().position(|to| *to == at) {
                Some(nth) => from.get(nth).copied(),
                None => rest.next(),
            });
            one(tensor.permuted(&order.map(|at| Some(at? as i64)).collect::<Option<Vec<_>>>()?)?)
        }
        "tile" => {
            let mut times = shape(&args.pos)?;
            while times.len() < tensor.shape.len() {
                times.insert(0, 1);
            }
            let missing = times.len() - tensor.shape.len();
            let own = |at: usize| at.checked_sub(missing).and_then(|at| tensor.shape.get(at)).copied().unwrap_or(1);
            one(tensor.with(times.iter().enumerate().map(|(at, times)| own(at).saturating_mul(*times)).collect()))
        }
        "topk" | "sort" | "cummax" | "cummin" | "kthvalue" | "mode" | "median" | "max" | "min" | "argsort" | "diff" => {
            chosen(name, tensor, args, &number)
        }
        "masked_fill" | "masked_scatter" | "scatter" | "scatter_add" | "scatter_reduce" | "index_add"
        | "index_copy" | "index_fill" | "index_put" | "nan_to_num" | "normalize" | "layer_norm" | "rms_norm"
        | "logsigmoid" | "leaky_relu" | "elu" | "softplus" | "hardswish" | "bernoulli" | "sinh" | "cosh" | "tan"
        | "atan" | "mish" | "logit" | "erfinv" | "logcumsumexp" | "fmod" | "remainder" | "floor_divide" => {
            one(tensor.copied())
        }
        "isnan" | "isinf" | "isfinite" | "logical_not" => one(tensor.copied().compared(true)),
        "linear" => {
            let weight = other(0, "weight")?;
            one(tensor.resized(tensor.dim(-1)?, *weight.shape.first()?)?)
        }
        "scaled_dot_product_attention" => {
            let value = other(1, "value")?;
            one(tensor.resized(tensor.dim(-1)?, *value.shape.last()?)?)
        }
        "addmm" | "baddbmm" => one(product(&other(0, "mat1")?, &other(1, "mat2")?)?),
        "outer" | "ger" => one(tensor.with(vec![*tensor.shape.first()?, *other(0, "vec2")?.shape.first()?])),
        "mv" => one(tensor.with(vec![*tensor.shape.first()?])),
        "embedding" => {
            let weight = other(0, "weight")?;
            let mut rows = tensor.shape.clone();
            rows.extend(weight.shape.last());
            one(weight.with(rows))
        }
        "one_hot" => {
            let mut rows = tensor.shape.clone();
            rows.push(number(0, "num_classes").filter(|count| *count > 0)?);
            one(tensor.with(rows))
        }
        "new_full" => {
            let sizes = argument(0, "size").and_then(ints)?;
            let element = named(args, "dtype").and_then(dtype_name);
            one(Torch::new(sizes, element.unwrap_or_else(|| tensor.dtype.clone())))
        }
        "as_strided" => {
            let (sizes, strides) = (argument(0, "size").and_then(ints)?, argument(1, "stride").and_then(ints)?);
            let memory = tensor.memory.further(argument(2, "storage_offset").is_none().then_some(0));
            one(Torch { memory, dtype: tensor.dtype.clone(), shape: sizes, strides })
        }
        "Parameter" => one(tensor.clone()),
        _ => None,
    }
}

/// Functions that look for elements along a dimension: as a rule they give them and where they stand.
fn chosen(name: &str, tensor: &Torch, args: &Args<'_>, number: &dyn Fn(usize, &str) -> Option<i64>) -> Option<Shaped> {
    let indices = |of: Torch| Torch { memory: Memory::fresh(), dtype: Rc::from("int64"), ..of };
    let both = |values: Torch| Some(Shaped::Parts(vec![values.copied(), indices(values)]));
    match name {
        "topk" => {
            let dim = tensor.dim(number(1, "dim").unwrap_or(-1))?;
            both(tensor.resized(dim, number(0, "k")?)?)
        }
        "sort" => both(tensor.copied()),
        "cummax" | "cummin" => both(tensor.copied()),
        "argsort" => Some(Shaped::One(indices(tensor.copied()))),
        "diff" if args.pos.is_empty() && named(args, "n").is_none() => {
            let dim = tensor.dim(number(1, "dim").unwrap_or(-1))?;
            Some(Shaped::One(tensor.resized(dim, (tensor.size(dim)? - 1).max(0))?))
        }
        "kthvalue" | "mode" | "median" | "max" | "min" => {
            let at = usize::from(name == "kthvalue");
            let dim = match number(at, "dim") {
                Some(dim) => dim,
                None if matches!(name, "kthvalue" | "mode") => -1,
                None => return None,
            };
            let dim = tensor.dim(dim)?;
            let keep = matches!(args.pos.get(at + 1).or_else(|| named(args, "keepdim")), Some(Value::Bool(true)));
            both(if keep { tensor.resized(dim, 1)? } else { tensor.with(tensor.clone().without(dim)?.shape) })
        }
        _ => None,
    }
}

/// How many of `size` are in each of `count` parts: all but the last as many where they are `even`, else the first ones
/// one more.
fn shares(size: i64, count: i64, even: bool) -> Option<Vec<i64>> {
    if !(1..=256).contains(&count) {
        return None;
    }
    if even {
        return steps(size, ((size + count - 1) / count).max(1));
    }
    Some((0..count).map(|at| size / count + i64::from(at < size % count)).collect())
}

/// `size` in parts of `step`, of which the last may be smaller.
fn steps(size: i64, step: i64) -> Option<Vec<i64>> {
    let count = (step > 0).then(|| (size + step - 1) / step).filter(|count| *count <= 256)?;
    Some((0..count.max(1)).map(|at| step.min(size - at * step)).collect())
}

/// Consecutive parts of a tensor along a dimension.
fn parts(tensor: &Torch, dim: usize, sizes: &[i64]) -> Option<Shaped> {
    let mut start = 0;
    let mut all = Vec::with_capacity(sizes.len());
    for size in sizes {
        all.push(tensor.part(dim, start, *size)?);
        start += size;
    }
    Some(Shaped::Parts(all))
}

/// What a function of two tensors, or of a tensor and a number, gives element by element; whether those are truths.
pub(super) fn elementwise(name: &str) -> Option<bool> {
    match name.rsplit('.').next().unwrap_or(name) {
        "add"
        | "sub"
        | "subtract"
        | "mul"
        | "multiply"
        | "div"
        | "divide"
        | "true_divide"
        | "pow"
        | "maximum"
        | "minimum"
        | "fmax"
        | "fmin"
        | "bitwise_and"
        | "bitwise_or"
        | "bitwise_xor"
        | "atan2"
        | "hypot"
        | "lerp"
        | "bitwise_left_shift"
        | "bitwise_right_shift" => Some(false),
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "less" | "greater" | "not_equal" | "logical_and" | "logical_or"
        | "logical_xor" | "isclose" => Some(true),
        _ => None,
    }
}

/// `einsum(equation, tensors…)`.
pub(super) fn einsum<'a>(args: &Args<'a>) -> Value<'a> {
    let made = || {
        let Value::Str(equation) = args.pos.first()? else { return None };
        let operands: Vec<Torch> = args.pos.iter().skip(1).map(of).collect::<Option<_>>()?;
        let (inputs, output) = equation.split_once("->")?;
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
        let mut sizes: Vec<(char, i64)> = Vec::new();
        for (input, operand) in inputs.split(',').zip(&operands) {
            let input = letters(input);
            (input.len() == operand.shape.len()).then_some(())?;
            sizes.extend(input.into_iter().zip(operand.shape.iter().copied()));
        }
        let size = |letter: char| sizes.iter().find(|(known, _)| *known == letter).map(|(_, size)| *size);
        let sizes = letters(output).into_iter().map(size).collect::<Option<Vec<i64>>>()?;
        Some(operands.first()?.with(sizes))
    };
    made().map_or_else(|| content("einsum"), tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(name: &str, of: &Torch, numbers: &[i128]) -> Vec<Vec<i64>> {
        let args = Args { pos: numbers.iter().map(|number| Value::Int(*number)).collect(), named: Vec::new() };
        match made(name, of, &args) {
            Some(Shaped::One(one)) => vec![one.shape],
            Some(Shaped::Parts(parts)) => parts.into_iter().map(|part| part.shape).collect(),
            None => Vec::new(),
        }
    }

    #[test]
    fn parts_are_those_of_torch() {
        let tensor = Torch::new(vec![5, 6], "float16".into());
        assert_eq!(shapes("chunk", &tensor, &[2]), [vec![3, 6], vec![2, 6]]);
        assert_eq!(shapes("chunk", &tensor, &[4]), [vec![2, 6], vec![2, 6], vec![1, 6]], "fewer than asked for");
        assert_eq!(shapes("tensor_split", &tensor, &[2, 1]), [vec![5, 3], vec![5, 3]]);
        assert_eq!(shapes("split", &tensor, &[4, -1]), [vec![5, 4], vec![5, 2]]);
        assert_eq!(shapes("unbind", &tensor, &[1]), vec![vec![5]; 6]);
        assert_eq!(shapes("narrow", &tensor, &[1, 2, 3]), [vec![5, 3]]);
        assert_eq!(shapes("narrow", &tensor, &[1, 4, 3]), Vec::<Vec<i64>>::new(), "torch refuses it");
        assert_eq!(shapes("topk", &tensor, &[2]), [vec![5, 2], vec![5, 2]]);
        assert_eq!(shapes("max", &tensor, &[0]), [vec![6], vec![6]]);
        assert_eq!(shapes("movedim", &tensor, &[0, 1]), [vec![6, 5]]);
        assert_eq!(shapes("flatten", &tensor, &[0, 1]), [vec![30]]);
        let part = tensor.part(1, 2, 3).unwrap();
        assert_eq!((part.strides, part.memory.offset), (vec![6, 1], Some(4)));
    }
}
