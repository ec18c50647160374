//! What a launch hands to a kernel, as far as another launch like it can be made of it.

use super::print;
use super::thing::{Thing, Torch};
use crate::interp::Interp;
use crate::specialization::Handed;
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

fn of_tensor(tensor: &Torch) -> Handed {
    let sizes = |sizes: &[i64]| sizes.iter().map(|size| u64::try_from(*size).unwrap_or(0)).collect::<Vec<_>>();
    let dense = Torch::new(tensor.shape.clone(), tensor.dtype.clone());
    let strides = (tensor.strides != dense.strides).then(|| sizes(&tensor.strides));
    Handed::Tensor { dtype: tensor.dtype.to_string(), shape: sizes(&tensor.shape), strides }
}
