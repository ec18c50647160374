//! What a launch hands to a kernel, as far as another launch like it can be made of it.

use super::parts::shared;
use super::print;
use super::sizes::Quantities;
use super::thing::{OpenTensor, TakenCondition, Thing};
use std::rc::Rc;
use torch::{Memory, Torch};

use crate::interp::Interp;
use crate::specialization::{ArgumentFacts, Handed, LaunchFacts};
use crate::value::Value;

/// An argument of a launch; `None` where it is not known, or cannot be written down.
pub fn handed<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Option<Handed> {
    match value {
        Value::Int(number) => i64::try_from(*number).ok().map(Handed::Int),
        Value::Bool(truth) => Some(Handed::Int(i64::from(*truth))),
        Value::Float(number) => Some(Handed::Float(*number)),
        Value::Unknown(_) => None,
        Value::Host(thing) => match &**thing {
            Thing::Tensor(tensor) => Some(of_tensor(tensor)),
            Thing::Descriptor(descriptor) => descriptor.borrow().base.as_ref().map(of_tensor),
            _ => print::expression(interp, value).map(Handed::Python),
        },
        value => print::expression(interp, value).map(Handed::Python),
    }
}

/// What is known of the arguments of a launch, in the order of `params`, and of its grid.
pub(super) fn facts<'a>(
    arguments: &[(Rc<str>, Value<'a>)],
    params: &[&str],
    (sizes, grid): (&[Value<'a>; 3], [Option<u32>; 3]),
    taken: &[TakenCondition<'a>],
) -> LaunchFacts {
    let mut storages: Vec<Memory> = Vec::new();
    let mut quantities = Quantities::default();
    let given = |name: &str| arguments.iter().find(|(known, _)| **known == *name).map(|(_, value)| value);
    let mut all = Vec::with_capacity(params.len());
    for name in params {
        if let Some(value) = given(name) {
            with_elements((*name).to_owned(), value, (&mut storages, &mut quantities), &mut all);
        }
    }
    let programs = sizes.each_ref().map(|size| quantities.of(size));
    let grid = grid.map(|size| size.map(u64::from));
    let conditions = quantities.conditions(taken);
    LaunchFacts {
        arguments: all,
        grid,
        programs,
        shared: shared(arguments, &mut quantities),
        several: false,
        conditions,
    }
}

/// What is known of an argument, and of the elements of a tuple, which the kernel takes one by one: `args.0`, `args.1`.
fn with_elements<'a>(
    name: String,
    value: &Value<'a>,
    (storages, quantities): (&mut Vec<Memory>, &mut Quantities<'a>),
    all: &mut Vec<ArgumentFacts>,
) {
    let (quantity, condition) = (quantities.of(value), quantities.condition(value));
    let sizes = host_sizes(value).and_then(|sizes| sizes.iter().map(|size| quantities.of(size)).collect());
    let facts = ArgumentFacts { quantity, condition, sizes, ..argument(&name, value, storages) };
    if let Value::Tuple(items) = value {
        for (at, item) in items.iter().enumerate() {
            with_elements(format!("{name}.{at}"), item, (storages, quantities), all);
        }
    }
    all.push(facts);
}

/// Sizes of a tensor that host code makes, all of it.
fn host_sizes<'a>(value: &Value<'a>) -> Option<Rc<[Value<'a>]>> {
    let Value::Host(thing) = value else { return None };
    match &**thing {
        Thing::OpenTensor(OpenTensor { shape, whole: true, cut: None, memory, .. }) if memory.offset == Some(0) => {
            shape.clone()
        }
        _ => None,
    }
}

fn argument(name: &str, value: &Value<'_>, storages: &mut Vec<Memory>) -> ArgumentFacts {
    let mut facts = ArgumentFacts { name: name.to_owned(), divisibility: 1, ..ArgumentFacts::default() };
    let mut number = |memory: &Memory| match storages.iter().position(|known| known.shares(memory)) {
        Some(at) => at as u32,
        None => {
            storages.push(memory.clone());
            storages.len() as u32 - 1
        }
    };
    let mut closed = |tensor: &Torch, facts: &mut ArgumentFacts| {
        facts.memory = Some(number(&tensor.memory));
        facts.offset = tensor.memory.offset;
        facts.element = Some(tensor.element().to_owned());
        facts.shape = Some(tensor.shape.iter().map(|size| u64::try_from(*size).ok()).collect());
        facts.strides = Some(tensor.strides.clone());
        facts.contents = tensor.contents();
    };
    match value {
        Value::Int(int) => facts.value = i64::try_from(*int).ok(),
        Value::Bool(truth) => facts.value = Some(i64::from(*truth)),
        Value::Host(thing) => match &**thing {
            Thing::Tensor(tensor) => closed(tensor, &mut facts),
            Thing::Descriptor(descriptor) => {
                let descriptor = descriptor.borrow();
                if let Some(tensor) = &descriptor.base {
                    closed(tensor, &mut facts);
                } else if let Some(memory) = &descriptor.memory {
                    facts.memory = Some(number(memory));
                    facts.offset = memory.offset;
                }
            }
            Thing::OpenTensor(tensor) => {
                facts.memory = Some(number(&tensor.memory));
                facts.offset = tensor.memory.offset;
                facts.element =
                    tensor.dtype.as_ref().map(|dtype| Torch::new(Vec::new(), dtype.clone()).element().to_owned());
                facts.shape = tensor.shape.as_ref().map(|shape| shape.iter().map(size).collect());
            }
            _ => {}
        },
        _ => {}
    }
    if is_divisible(value) {
        facts.divisibility = 16;
    }
    facts
}

fn size(value: &Value<'_>) -> Option<u64> {
    if let Value::Int(size) = value { u64::try_from(*size).ok() } else { None }
}

/// Notes that something may write to what these values have in memory.
pub(super) fn written<'v, 'a: 'v>(values: impl IntoIterator<Item = &'v Value<'a>>) {
    for value in values {
        match value {
            Value::Host(thing) => match &**thing {
                Thing::Tensor(tensor) => tensor.memory.write(None),
                Thing::OpenTensor(tensor) => tensor.memory.write(None),
                Thing::Descriptor(descriptor) => {
                    let descriptor = descriptor.borrow();
                    descriptor.base.iter().for_each(|base| base.memory.write(None));
                    descriptor.memory.iter().for_each(|memory| memory.write(None));
                }
                _ => {}
            },
            Value::Tuple(items) => written(items.iter()),
            Value::List(items) => written(items.borrow().iter()),
            _ => {}
        }
    }
}

/// Whether Triton's specialisation says of an argument that 16 divides it: of integers, and of the addresses of
/// tensors, which begin at a multiple of it unless they are a part of another one.
pub fn is_divisible(value: &Value<'_>) -> bool {
    match value {
        Value::Int(int) => int % 16 == 0,
        Value::Host(thing) => match &**thing {
            Thing::Tensor(Torch { memory, .. }) | Thing::OpenTensor(OpenTensor { memory, .. }) => {
                memory.offset.is_some_and(|offset| offset % 16 == 0)
            }
            _ => false,
        },
        _ => false,
    }
}

fn of_tensor(tensor: &Torch) -> Handed {
    let sizes = |sizes: &[i64]| sizes.iter().map(|size| u64::try_from(*size).unwrap_or(0)).collect::<Vec<_>>();
    let dense = Torch::new(tensor.shape.clone(), tensor.dtype.clone());
    let strides = (tensor.strides != dense.strides).then(|| sizes(&tensor.strides));
    Handed::Tensor { dtype: tensor.dtype.to_string(), shape: sizes(&tensor.shape), strides }
}
