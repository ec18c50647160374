//! Values of which host code knows a part: tensors of an unknown shape or type, numbers of a kind.
//!
//! A function that nobody calls is followed with them, so that what it says of its launches by itself is known:
//! types that it makes tensors of, which arguments are numbers, what does not depend on its own arguments.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::Operation;
use ruff_python_ast::Operator;

use super::sizes::{computed, count_of_dims, dense, note_comparison, operation, parts_of_ratio, product, ratio};
use super::thing::{Cut, Dims, NumberOrigin, OpenNumber, OpenTensor, Thing, any, content, tensor};
use super::torch::{dtype_name, dtype_value, int};
use crate::interp::Interp;
use crate::library::Args;
use crate::limits::open::{DEPTH, PARTS};
use crate::syntax::torch_names::{keeps_memory, keeps_shape};
use crate::value::Value;
use torch::{Memory, Torch};

/// A number of a kind.
pub fn number<'a>(kind: OpenNumber) -> Value<'a> {
    Value::Host(Rc::new(Thing::OpenNumber(kind, NumberOrigin::Loose)))
}

/// A tensor of which nothing, or its type, is known.
pub(super) fn open_tensor<'a>(dtype: Option<Rc<str>>, shape: Option<Rc<[Value<'a>]>>) -> Value<'a> {
    laid_out(Memory::fresh(), dtype, shape, None)
}

/// What is used as a tensor, where nothing else is known of it.
pub fn as_tensor(value: Value<'_>) -> Value<'_> {
    if may_be_tensor(&value) { open_tensor(None, None) } else { value }
}

/// Whether nothing is known of a value that tells it from a tensor.
pub fn may_be_tensor(value: &Value<'_>) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::Host(thing) => matches!(**thing, Thing::Any(_)),
        _ => false,
    }
}

fn laid_out<'a>(
    memory: Memory,
    dtype: Option<Rc<str>>,
    shape: Option<Rc<[Value<'a>]>>,
    strides: Option<Rc<[Value<'a>]>>,
) -> Value<'a> {
    let dims = Dims::free();
    let steps = Dims::strides_of(shape.as_deref(), &dims);
    made(OpenTensor { memory, dtype, shape, strides, dims, steps, whole: true, cut: None })
}

fn made(tensor: OpenTensor<'_>) -> Value<'_> {
    Value::Host(Rc::new(Thing::OpenTensor(tensor)))
}

/// A tensor of its own that lies densely.
fn dense_tensor<'a>(dtype: Option<Rc<str>>, shape: Option<Rc<[Value<'a>]>>) -> Value<'a> {
    let strides = shape.as_ref().map(|shape| dense(shape));
    laid_out(Memory::fresh(), dtype, shape, strides)
}

/// A tensor of its own of the sizes of another one.
fn sized_as<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>) -> Value<'a> {
    let (memory, shape, dims) = (Memory::fresh(), of.shape.clone(), of.dims.clone());
    let (strides, steps) = (None, Dims::strides_of(of.shape.as_deref(), &dims));
    made(OpenTensor { memory, dtype, shape, strides, dims, steps, whole: true, cut: None })
}

/// What a conversion makes of a tensor: the tensor itself where it is of that type already.
fn converted<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>) -> Value<'a> {
    match (&of.dtype, &dtype) {
        (Some(own), Some(asked)) if own == asked => made(of.clone()),
        (Some(_), Some(_)) => sized_as(of, dtype),
        _ => perhaps(of, dtype),
    }
}

/// A tensor of the sizes of another one that may be that one.
fn perhaps<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>) -> Value<'a> {
    let memory = of.memory.or_copy();
    let memory = if of.whole { memory } else { memory.further(None) };
    match of.whole {
        // Its type alone may change, not how it lies.
        true => made(OpenTensor { memory, dtype, ..of.clone() }),
        false => {
            let steps = Dims::strides_of(of.shape.as_deref(), &of.dims);
            made(OpenTensor { memory, dtype, steps, strides: None, ..of.clone() })
        }
    }
}

/// A matrix with its dimensions exchanged.
fn turned<'a>(of: &OpenTensor<'a>) -> Value<'a> {
    permuted(of, &[1, 0])
}

/// How many dimensions a tensor has, as far as it is known.
fn rank_of(of: &OpenTensor<'_>) -> Option<i64> {
    of.shape.as_ref().map(|shape| shape.len() as i64).or(of.dims.rank.get())
}

/// A tensor with its dimensions in another order; which one a dimension was is given for each.
fn permuted<'a>(of: &OpenTensor<'a>, order: &[i64]) -> Value<'a> {
    let rank = order.len();
    let order: Vec<usize> = order.iter().map(|dim| dim.rem_euclid(rank.max(1) as i64) as usize).collect();
    let is_whole = (0..rank).all(|dim| order.contains(&dim));
    if !is_whole || rank_of(of).is_some_and(|known| known != rank as i64) {
        return reordered(of, of.dtype.clone());
    }
    let pick = |all: &[Value<'a>]| order.iter().filter_map(|at| all.get(*at).cloned()).collect::<Vec<_>>();
    let exchanged = |of: &Rc<Dims<'a>>| {
        let sizes = pick(&of.unpacked(rank));
        let asked = RefCell::new((0..).zip(sizes).collect());
        let (group, strides_of) = (of.group.clone(), None);
        let (rank, least) = (Cell::new(Some(rank as i64)), Cell::new(rank as i64));
        Rc::new(Dims { group, strides_of, asked, rank, least, rest: RefCell::default() })
    };
    made(OpenTensor {
        shape: of.shape.as_ref().map(|shape| pick(shape).into()),
        strides: of.strides.as_ref().map(|strides| pick(strides).into()),
        dims: exchanged(&of.dims),
        steps: exchanged(&of.steps),
        whole: false,
        ..of.clone()
    })
}

/// The order in which a call puts the dimensions of a tensor; `None` where it is not known.
fn order(of: &OpenTensor<'_>, name: &str, args: &Args<'_>) -> Option<Vec<i64>> {
    let numbers = |all: &[Value<'_>]| all.iter().map(int).collect::<Option<Vec<i64>>>();
    if !args.named.is_empty() {
        return None;
    }
    let given = match &args.pos[..] {
        [Value::Tuple(items)] => numbers(items),
        [Value::List(items)] => numbers(&items.borrow()),
        given => numbers(given),
    }?;
    if name == "permute" {
        return Some(given);
    }
    let (rank, &[one, other]) = (rank_of(of)?, &given[..]) else { return None };
    let mut order: Vec<i64> = (0..rank).collect();
    let [one, other] = [one, other].map(|dim| usize::try_from(if dim < 0 { dim + rank } else { dim }).ok());
    let (one, other) = (one?, other?);
    if one.max(other) >= order.len() {
        return None;
    }
    order.swap(one, other);
    Some(order)
}

/// The same tensor with its dimensions in another order, of which it is not known how it lies.
fn reordered<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>) -> Value<'a> {
    let (dims, steps) = (Dims::free(), Rc::default());
    made(OpenTensor { dtype, shape: None, strides: None, dims, steps, whole: false, ..of.clone() })
}

/// The strides under which one element stands for all along a dimension.
fn expanded<'a>(of: &OpenTensor<'a>, sizes: &[Value<'a>]) -> Option<Rc<[Value<'a>]>> {
    let (strides, shape) = (of.strides.as_ref()?, of.shape.as_ref()?);
    if shape.len() != sizes.len() {
        return None;
    }
    let stretched = |(own, size): (&Value<'a>, &Value<'a>)| int(own) == Some(1) && int(size) != Some(1);
    let all = shape.iter().zip(sizes).zip(strides.iter());
    Some(all.map(|(sizes, stride)| if stretched(sizes) { Value::Int(0) } else { stride.clone() }).collect())
}

/// The strides of a tensor of an unknown number of dimensions.
fn strides_unknown<'a>(of: &OpenTensor<'a>) -> Value<'a> {
    Value::Host(Rc::new(Thing::OpenSizes(of.steps.clone())))
}

/// A tensor in the memory of another one; where in it, is not known.
fn view_of<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>, shape: Option<Rc<[Value<'a>]>>) -> Value<'a> {
    let (memory, dims) = (of.memory.further(None), Dims::free());
    let steps = Dims::strides_of(shape.as_deref(), &dims);
    made(OpenTensor { memory, dtype, shape, strides: None, dims, steps, whole: false, cut: of.cut.clone() })
}

/// The same tensor under another shape.
fn same_as<'a>(of: &OpenTensor<'a>, dtype: Option<Rc<str>>, shape: Option<Rc<[Value<'a>]>>) -> Value<'a> {
    let (memory, dims) = (of.memory.clone(), Dims::free());
    let steps = Dims::strides_of(shape.as_deref(), &dims);
    made(OpenTensor { memory, dtype, shape, strides: None, dims, steps, whole: of.whole, cut: of.cut.clone() })
}

/// Whether a value itself is not known, or is a key with a part that is not.
pub fn is_unknown(value: &Value<'_>) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::Host(thing) => {
            let is = |thing: &Thing<'_>| {
                matches!(thing, Thing::OpenTensor(_) | Thing::OpenSizes(_) | Thing::OpenNumber(..) | Thing::Any(_))
                    || matches!(thing, Thing::Asked(..) | Thing::Truth(_))
            };
            is(thing)
        }
        Value::Tuple(items) => {
            items.len() <= PARTS && items.iter().any(|item| matches!(item, Value::Unknown(_)) || is_number(item))
        }
        _ => false,
    }
}

/// Whether a value is not known, or only in part. What is deeper in it than arguments of launches are counts as
/// known.
pub fn is_open(value: &Value<'_>) -> bool {
    is_open_within(value, DEPTH)
}

fn is_open_within(value: &Value<'_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_open = |value: &Value<'_>| is_open_within(value, depth);
    match value {
        Value::Unknown(_) => true,
        Value::Host(thing) => match &**thing {
            Thing::OpenTensor(_) | Thing::OpenSizes(_) | Thing::OpenNumber(..) | Thing::Any(_) => true,
            Thing::Asked(..) | Thing::Truth(_) => true,
            Thing::Descriptor(descriptor) => {
                let descriptor = descriptor.borrow();
                descriptor.base.is_none() || is_open(&descriptor.block_shape) || is_open(&descriptor.layout)
            }
            _ => false,
        },
        Value::Tuple(items) => items.iter().take(PARTS).any(is_open),
        Value::List(items) | Value::Set(items) => items.borrow().iter().take(PARTS).any(is_open),
        Value::Dict(entries) => entries.borrow().iter().take(PARTS).any(|(key, value)| is_open(key) || is_open(value)),
        Value::Instance(instance) => match instance.fields.try_borrow() {
            Ok(fields) => fields.iter().take(PARTS).any(|(_, value)| is_open(value)),
            Err(_) => false,
        },
        Value::Object(object) => object.fields.iter().any(|(_, value)| is_open(value)),
        Value::Lib(path) => !path.starts_with("torch."),
        _ => false,
    }
}

/// Whether a value is a number that is not known.
pub fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Host(thing) if matches!(**thing, Thing::OpenNumber(..)))
}

/// The kind of a number, known or not.
pub(super) fn kind(value: &Value<'_>) -> Option<OpenNumber> {
    match value {
        Value::Int(_) => Some(OpenNumber::Int),
        Value::Float(_) => Some(OpenNumber::Float),
        Value::Bool(_) => Some(OpenNumber::Bool),
        Value::Host(thing) => match **thing {
            Thing::OpenNumber(kind, _) => Some(kind),
            _ => None,
        },
        _ => None,
    }
}

/// A tensor as one of which less may be known.
fn of<'a>(value: &Value<'a>) -> Option<OpenTensor<'a>> {
    let Value::Host(thing) = value else { return None };
    match &**thing {
        Thing::OpenTensor(tensor) => Some(tensor.clone()),
        Thing::Tensor(tensor) => Some(opened(tensor)),
        _ => None,
    }
}

fn opened<'a>(tensor: &Torch) -> OpenTensor<'a> {
    let shape = tensor.shape.iter().map(|size| Value::Int((*size).into())).collect();
    let strides = tensor.strides.iter().map(|stride| Value::Int((*stride).into())).collect();
    OpenTensor {
        memory: tensor.memory.clone(),
        dtype: Some(tensor.dtype.clone()),
        shape: Some(shape),
        strides: Some(strides),
        dims: Dims::free(),
        steps: Rc::default(),
        whole: true,
        cut: None,
    }
}

/// `left op right`, or a comparison, where a side is open; `None` where neither is.
pub(super) fn binary<'a>(op: Option<Operator>, left: &Value<'a>, right: &Value<'a>) -> Option<Value<'a>> {
    if !is_unknown(left) && !is_unknown(right) {
        return None;
    }
    let tensors = (of(left), of(right));
    let (first, second) = match tensors {
        (Some(first), second) => (first, second),
        (None, Some(second)) => (second, None),
        (None, None) => {
            let Some(op) = op else {
                note_comparison(left, right);
                return Some(number(OpenNumber::Bool));
            };
            let (one, other) = (kind(left)?, kind(right)?);
            if (one, other) == (OpenNumber::Int, OpenNumber::Int)
                && let Some(op) = operation(op)
            {
                return Some(computed(op, left, right));
            }
            if (op, one, other) == (Operator::Div, OpenNumber::Int, OpenNumber::Int) {
                return Some(ratio(left, right));
            }
            let (left, right) = (one, other);
            return Some(number(match op {
                Operator::Div => OpenNumber::Float,
                _ if left == OpenNumber::Float || right == OpenNumber::Float => OpenNumber::Float,
                _ => OpenNumber::Int,
            }));
        }
    };
    let dtype = match op {
        None => Some("bool".into()),
        Some(_) => match second {
            Some(second) if second.dtype != first.dtype => None,
            _ => first.dtype,
        },
    };
    Some(open_tensor(dtype, None))
}

/// Whether a class, or one of several, is that of descriptors; `None` where it is not known what a class is.
fn is_of_descriptors(class: &Value<'_>) -> Option<bool> {
    let named = |path: &str| Some(path.rsplit('.').next().is_some_and(|name| name.starts_with("TensorDescriptor")));
    match class {
        Value::Tuple(classes) => {
            let each: Vec<Option<bool>> = classes.iter().map(is_of_descriptors).collect();
            if each.contains(&Some(true)) {
                Some(true)
            } else {
                each.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
            }
        }
        Value::Lib(path) | Value::Type(path) => named(path),
        Value::LibClass(class) => named(class.path),
        Value::Builtin(_) | Value::Class(_) => Some(false),
        _ => None,
    }
}

/// What a function of Python, its libraries or Triton answers where an argument is open; `None` where that says
/// nothing.
pub fn answer<'a>(path: &str, args: &Args<'a>) -> Option<Value<'a>> {
    if path == "isinstance"
        && let [Value::Host(thing), class] = args.pos.as_slice()
        && let Thing::Descriptor(_) = &**thing
        && let Some(is) = is_of_descriptors(class)
    {
        return Some(Value::Bool(is));
    }
    if !args.pos.iter().any(is_unknown) {
        return None;
    }
    let all = |wanted: &[OpenNumber]| args.pos.iter().all(|arg| kind(arg).is_some_and(|kind| wanted.contains(&kind)));
    match path {
        "triton.cdiv" if all(&[OpenNumber::Int]) && args.pos.len() == 2 => {
            Some(computed(Operation::CeilDiv, args.pos.first()?, args.pos.get(1)?))
        }
        "triton.next_power_of_2" if all(&[OpenNumber::Int]) => {
            Some(computed(Operation::PowerOfTwo, args.pos.first()?, &Value::Int(0)))
        }
        "int" | "math.floor" | "math.ceil" if all(&[OpenNumber::Int]) => args.pos.first().cloned(),
        "int" | "math.floor" if let Some((whole, by)) = args.pos.first().and_then(parts_of_ratio) => {
            Some(computed(Operation::FloorDiv, &whole, &by))
        }
        "math.ceil" if let Some((whole, by)) = args.pos.first().and_then(parts_of_ratio) => {
            Some(computed(Operation::CeilDiv, &whole, &by))
        }
        "min" | "max" if all(&[OpenNumber::Int]) && args.pos.len() > 1 => {
            let op = if path == "min" { Operation::Min } else { Operation::Max };
            let mut rest = args.pos.iter();
            let first = rest.next()?.clone();
            Some(rest.fold(first, |all, one| computed(op, &all, one)))
        }
        "triton.cdiv" | "triton.next_power_of_2" | "int" | "math.ceil" | "math.floor" | "math.gcd" => {
            Some(number(OpenNumber::Int))
        }
        "len" => {
            let first = args.pos.first().and_then(of);
            Some(first.map_or_else(|| number(OpenNumber::Int), |tensor| size_of(&tensor, 0)))
        }
        "float" | "math.sqrt" | "math.log2" | "math.log" | "math.exp" | "math.pow" => Some(number(OpenNumber::Float)),
        "isinstance" if args.pos.first().and_then(of).is_some() => match args.pos.get(1) {
            Some(Value::Lib(class)) if &**class == "torch.Tensor" => Some(Value::Bool(true)),
            _ => Some(number(OpenNumber::Bool)),
        },
        "bool" | "isinstance" | "hasattr" => Some(number(OpenNumber::Bool)),
        "min" | "max" | "abs" | "sum" | "round" if all(&[OpenNumber::Int]) => Some(number(OpenNumber::Int)),
        "min" | "max" | "abs" | "sum" if all(&[OpenNumber::Int, OpenNumber::Float]) => Some(number(OpenNumber::Float)),
        "min" | "max" | "abs" | "sum" | "round" => {
            Some(Value::Unknown(format!("`{path}` of what is not known").into()))
        }
        _ => None,
    }
}

/// What a loop over something that is not known sees.
pub fn element<'a>(over: &Value<'a>) -> Value<'a> {
    match over {
        Value::Range(_) => number(OpenNumber::Int),
        Value::Host(thing) if matches!(**thing, Thing::OpenSizes(_)) => number(OpenNumber::Int),
        Value::Host(thing) => match &**thing {
            Thing::OpenTensor(tensor) => open_tensor(tensor.dtype.clone(), None),
            _ => Value::Unknown("what is run through here is not known".into()),
        },
        _ => Value::Unknown("what is run through here is not known".into()),
    }
}

/// `sizes[index]`.
pub(super) fn size_at<'a>(dims: &Dims<'a>, index: &Value<'a>) -> Value<'a> {
    match (index, int(index)) {
        (Value::Slice(_), _) => Value::Host(Rc::new(Thing::OpenSizes(Rc::default()))),
        (_, Some(at)) => dims.at(at),
        _ => number(OpenNumber::Int),
    }
}

/// The sizes that are unpacked into so many names; `None` of what is none.
pub fn unpacked<'a>(value: &Value<'a>, count: usize) -> Option<Vec<Value<'a>>> {
    let Value::Host(thing) = value else { return None };
    if let Thing::OpenSizes(dims) = &**thing { Some(dims.unpacked(count)) } else { None }
}

/// How many elements a tensor of these sizes has.
pub(super) fn count_of_sizes<'a>(sizes: Option<&Value<'a>>) -> Value<'a> {
    match sizes {
        Some(Value::Host(thing)) => match &**thing {
            Thing::OpenSizes(dims) => count_of_dims(dims),
            _ => number(OpenNumber::Int),
        },
        _ => number(OpenNumber::Int),
    }
}

fn count_of<'a>(tensor: &OpenTensor<'a>) -> Value<'a> {
    match &tensor.shape {
        Some(shape) => product(shape),
        None => count_of_dims(&tensor.dims),
    }
}

/// The size along a dimension, which may be counted from the end.
fn size_of<'a>(tensor: &OpenTensor<'a>, dim: i64) -> Value<'a> {
    match &tensor.shape {
        Some(shape) => along(shape, dim).unwrap_or_else(|| number(OpenNumber::Int)),
        None => tensor.dims.at(dim),
    }
}

fn along<'a>(all: &[Value<'a>], dim: i64) -> Option<Value<'a>> {
    let dim = if dim < 0 { dim + all.len() as i64 } else { dim };
    usize::try_from(dim).ok().and_then(|dim| all.get(dim)).cloned()
}

fn shape_of<'a>(tensor: &OpenTensor<'a>) -> Value<'a> {
    match &tensor.shape {
        Some(shape) => Value::Tuple(shape.clone()),
        None => Value::Host(Rc::new(Thing::OpenSizes(tensor.dims.clone()))),
    }
}

/// `tensor.name` where it is no method.
pub(super) fn attribute<'a>(interp: &Interp<'a>, of: &OpenTensor<'a>, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "shape" => shape_of(of),
        "dtype" => match &of.dtype {
            Some(dtype) => dtype_value(interp, dtype),
            None => Value::Unknown("the type of a tensor is not known".into()),
        },
        "ndim" => of.shape.as_ref().map_or_else(|| of.dims.count(), |shape| Value::Int(shape.len() as i128)),
        "T" => turned(of),
        "mT" => reordered(of, of.dtype.clone()),
        "data" => made(of.clone()),
        "real" | "imag" => {
            let part = of.dtype.as_ref().and_then(|dtype| torch::dtypes::part_of_complex(dtype));
            view_of(of, part.map(Rc::from), of.shape.clone())
        }
        "grad" => sized_as(of, of.dtype.clone()),
        "device" => any("device"),
        "is_cuda" => Value::Bool(true),
        "requires_grad" => Value::Bool(false),
        "itemsize" | "nbytes" => number(OpenNumber::Int),
        _ => return None,
    })
}

/// `tensor[index]`: a view, which begins where the tensor does if it leaves out nothing before.
pub(super) fn item<'a>(of: &OpenTensor<'a>, index: &Value<'a>) -> Value<'a> {
    let begins = |part: &Value<'a>| match part {
        Value::Slice(bounds) => matches!(bounds[0], Value::None | Value::Int(0)),
        Value::Int(0) | Value::None | Value::Ellipsis => true,
        _ => false,
    };
    let first = match index {
        Value::Tuple(parts) => parts.iter().all(begins),
        one => begins(one),
    };
    let memory = if first { of.memory.clone() } else { of.memory.further(None) };
    let dims = Dims::free();
    let steps = Dims::strides_of(None, &dims);
    let cut = Cut::by_index(of, index);
    made(OpenTensor { memory, shape: None, strides: None, dims, steps, whole: false, cut, ..of.clone() })
}

/// The type that a call asks for.
enum Asked {
    Nothing,
    /// One that is not known.
    Open,
    Type(Rc<str>),
}

fn asked(args: &Args<'_>) -> Asked {
    let named = args.named.iter().find(|(key, _)| &**key == "dtype").map(|(_, value)| value);
    match named {
        Some(value) => match dtype_name(value) {
            Some(name) => Asked::Type(name),
            None if matches!(value, Value::None) => Asked::Nothing,
            None => Asked::Open,
        },
        None => args.pos.iter().find_map(dtype_name).map_or(Asked::Nothing, Asked::Type),
    }
}

/// Whether a call asks for a type that is not known.
pub(super) fn asks_for_open_type(args: &Args<'_>) -> bool {
    matches!(asked(args), Asked::Open)
}

/// Sizes as one sequence or as several numbers.
fn sizes<'a>(args: &Args<'a>) -> Option<Rc<[Value<'a>]>> {
    let named = args.named.iter().find(|(key, _)| matches!(&**key, "size" | "shape")).map(|(_, value)| value);
    let given: Vec<Value<'a>> = match named {
        Some(value) => vec![value.clone()],
        None => args.pos.iter().filter(|arg| dtype_name(arg).is_none()).cloned().collect(),
    };
    let list = match &given[..] {
        [Value::Tuple(items)] => items.to_vec(),
        [Value::List(items)] => items.borrow().clone(),
        _ => given,
    };
    let size = |value: Value<'a>| match (&value, kind(&value)) {
        (Value::Int(-1), _) => Some(number(OpenNumber::Int)),
        (_, Some(OpenNumber::Int)) => Some(value),
        (Value::Unknown(_), _) => Some(number(OpenNumber::Int)),
        _ => None,
    };
    list.into_iter().map(size).collect()
}

/// `tensor.name(…)`.
pub(super) fn method<'a>(of: &OpenTensor<'a>, name: &str, args: &Args<'a>) -> Value<'a> {
    let own = || of.dtype.clone();
    let typed = |or: Option<Rc<str>>| match asked(args) {
        Asked::Nothing => or,
        Asked::Open => None,
        Asked::Type(dtype) => Some(dtype),
    };
    let first = args.pos.first();
    match name {
        "stride" | "size" if first.is_none() && args.named.is_empty() => match name {
            "size" => shape_of(of),
            _ => match (&of.strides, &of.shape) {
                (Some(strides), _) => Value::Tuple(strides.clone()),
                (None, Some(shape)) => Value::Tuple(of.steps.unpacked(shape.len()).into()),
                (None, None) => strides_unknown(of),
            },
        },
        "size" => first.and_then(int).map_or_else(|| number(OpenNumber::Int), |dim| size_of(of, dim)),
        "numel" | "nelement" => count_of(of),
        "stride" => {
            let dim = first.or_else(|| args.named.first().map(|(_, value)| value)).and_then(int);
            let stride = dim.and_then(|dim| match &of.strides {
                Some(strides) => along(strides, dim),
                None => Some(of.steps.at(dim)),
            });
            stride.unwrap_or_else(|| number(OpenNumber::Int))
        }
        "data_ptr" | "element_size" => number(OpenNumber::Int),
        "dim" | "ndimension" => {
            of.shape.as_ref().map_or_else(|| of.dims.count(), |shape| Value::Int(shape.len() as i128))
        }
        // What nobody describes lies densely.
        "is_contiguous" => Value::Bool(true),
        "is_floating_point" => match &of.dtype {
            Some(dtype) => Value::Bool(dtype.contains("float")),
            None => number(OpenNumber::Bool),
        },
        "item" | "tolist" | "all" | "any" | "chunk" | "split" | "unbind" => content(name),
        "view" | "reshape" => match asked(args) {
            Asked::Type(dtype) => same_as(of, Some(dtype), None),
            _ if first.is_some_and(|first| matches!(first, Value::Unknown(_)) && args.pos.len() == 1) => {
                same_as(of, None, None)
            }
            // Of one that does not lie densely it may make a copy.
            _ => {
                let copies = name == "reshape" && !of.whole;
                let memory = if copies { of.memory.or_copy().further(None) } else { of.memory.clone() };
                laid_out(memory, own(), sizes(args), None)
            }
        },
        "new_empty" | "new_zeros" | "new_ones" => dense_tensor(typed(own()), sizes(args)),
        "expand" if of.strides.is_some() => {
            let sizes = sizes(args);
            let strides = sizes.as_ref().and_then(|sizes| expanded(of, sizes));
            let shape = sizes.filter(|_| strides.is_some());
            let (dims, steps) = (Dims::free(), Rc::default());
            made(OpenTensor { shape, strides, dims, steps, whole: false, ..of.clone() })
        }
        "to" | "type" => match first {
            Some(Value::Unknown(_)) => perhaps(of, typed(None)),
            _ => match asked(args) {
                Asked::Nothing => made(of.clone()),
                Asked::Open => perhaps(of, None),
                Asked::Type(dtype) => converted(of, Some(dtype)),
            },
        },
        "contiguous" if !of.whole => perhaps(of, own()),
        "contiguous" | "requires_grad_" | "detach" => made(of.clone()),
        "type_as" => converted(of, first.and_then(self::of).and_then(|other| other.dtype)),
        "t" => turned(of),
        "argmax" | "argmin" | "argsort" => open_tensor(Some("int64".into()), None),
        "transpose" | "permute" | "swapaxes" | "swapdims" => {
            order(of, name, args).map_or_else(|| reordered(of, own()), |order| permuted(of, &order))
        }
        "expand" | "expand_as" | "movedim" | "moveaxis" | "expand_dims" => reordered(of, own()),
        // Of one that does not lie densely these may make a copy.
        "flatten" | "reshape_as" | "ravel" if !of.whole => perhaps(of, own()),
        "unsqueeze" | "squeeze" | "flatten" | "unflatten" | "view_as" | "reshape_as" | "ravel" => {
            same_as(of, own(), None)
        }
        "select" => {
            let Value::Host(thing) = view_of(of, own(), None) else { return content(name) };
            let Thing::OpenTensor(view) = &*thing else { return content(name) };
            made(OpenTensor { cut: Cut::by_selection(of, args), ..view.clone() })
        }
        "narrow" | "as_strided" | "diagonal" => view_of(of, own(), None),
        "repeat" | "sum" | "mean" | "amax" | "amin" | "max" | "min" | "prod" | "index_select" | "gather"
        | "repeat_interleave" => open_tensor(own(), None),
        _ => match dtype_name(&Value::Lib(format!("torch.{name}").into())) {
            Some(dtype) => converted(of, Some(dtype)),
            None if keeps_memory(name) => made(of.clone()),
            None if keeps_shape(name) => sized_as(of, own()),
            None => content(name),
        },
    }
}

/// `torch.name(…)` of which the tensor is not known whole; `None` where it makes none.
pub(super) fn function<'a>(name: &str, args: &Args<'a>) -> Option<Value<'a>> {
    let typed = |or: Option<Rc<str>>| match asked(args) {
        Asked::Nothing => or,
        Asked::Open => None,
        Asked::Type(dtype) => Some(dtype),
    };
    let first = args.pos.iter().chain(args.named.iter().map(|(_, value)| value)).find_map(of);
    Some(match name {
        "empty" | "zeros" | "ones" | "rand" | "randn" => dense_tensor(typed(Some("float32".into())), sizes(args)),
        "as_tensor" | "asarray" | "from_numpy" if first.is_some() => {
            let first = first?;
            converted(&first, typed(first.dtype.clone()))
        }
        "full" | "empty_strided" | "tensor" | "as_tensor" | "asarray" => open_tensor(typed(None), None),
        "randint" | "arange" | "randperm" => open_tensor(typed(Some("int64".into())), None),
        "cat" | "concat" | "stack" => {
            let first = match args.pos.first()? {
                Value::List(items) => items.borrow().first().and_then(of),
                Value::Tuple(items) => items.first().and_then(of),
                _ => None,
            };
            open_tensor(first.and_then(|first| first.dtype), None)
        }
        "where" => open_tensor(args.pos.get(1).and_then(of).and_then(|tensor| tensor.dtype), None),
        "nn.Parameter" | "nn.parameter.Parameter" => made(first?),
        "matmul" | "mm" | "bmm" | "sum" | "mean" | "amax" => open_tensor(first?.dtype, None),
        "transpose" | "permute" | "reshape" | "squeeze" | "unsqueeze" | "flatten" | "ravel" | "narrow" | "select"
        | "as_strided" | "movedim" | "moveaxis" | "swapaxes" | "swapdims" | "t" | "detach" | "diagonal" => {
            // A method of its first argument.
            let rest = Args { pos: args.pos.get(1..).unwrap_or_default().to_vec(), named: args.named.clone() };
            method(&first?, name, &rest)
        }
        _ if name.ends_with("_like") => {
            let like = |first: OpenTensor<'a>| sized_as(&first, typed(first.dtype.clone()));
            first.map_or_else(|| open_tensor(typed(None), None), like)
        }
        _ if keeps_shape(name) => {
            let first = first?;
            sized_as(&first, first.dtype.clone())
        }
        _ => return None,
    })
}

/// The whole tensor where all of an open one is known.
pub(super) fn closed<'a>(value: Value<'a>) -> Value<'a> {
    let Value::Host(thing) = &value else { return value };
    let Thing::OpenTensor(OpenTensor { memory, dtype: Some(dtype), shape: Some(shape), .. }) = &**thing else {
        return value;
    };
    let sizes: Option<Vec<i64>> = shape.iter().map(int).collect();
    let whole = |sizes| tensor(Torch { memory: memory.clone(), ..Torch::new(sizes, dtype.clone()) });
    sizes.map(whole).unwrap_or(value)
}
