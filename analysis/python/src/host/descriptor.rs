//! Tensor descriptors that host code makes.

use std::cell::RefCell;
use std::rc::Rc;

use super::print;
use super::thing::{HostDescriptor, Thing, any, tensor};
use super::torch::ints;
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::value::Value;
use torch::{Memory, Torch};

impl<'a> HostDescriptor<'a> {
    /// What it is in a signature; `None` where its shape, type or layout is not known.
    pub fn ty(&self, interp: &Interp<'a>) -> Option<String> {
        let block = ints(&self.block_shape)?;
        let block: Vec<String> = block.iter().map(i64::to_string).collect();
        let name = if self.im2col { "tensordesc_im2col" } else { "tensordesc" };
        let element = self.element()?;
        let mut head = format!("{name}<{element}[{}]", block.join(", "));
        if self.im2col {
            let of_base = self.base.as_ref().map(|base| base.shape.len());
            let rank = ints(&self.shape).map(|shape| shape.len()).or(of_base)?;
            head.push_str(&format!(",input_rank={rank}"));
        }
        match &self.layout {
            // Those of plain Triton have none.
            Value::None => Some(format!("{head}>")),
            layout => {
                let layout = print::expression(interp, layout)?;
                Some(format!("{head},{}>", crate::syntax::texts::without_modules(&layout)))
            }
        }
    }

    /// The element type in signatures, where that is known.
    pub(super) fn element(&self) -> Option<&'static str> {
        let dtype = self.base.as_ref().map(|base| base.dtype.clone()).or_else(|| self.element.clone())?;
        Some(Torch::new(Vec::new(), dtype).element())
    }

    /// The layout as signatures write it; the inner `None` where it is the default one, the outer one where it
    /// is not known.
    #[allow(clippy::option_option, reason = "not known, the default one, this one")]
    pub(super) fn layout(&self, interp: &Interp<'a>) -> Option<Option<String>> {
        match &self.layout {
            Value::None => Some(None),
            layout => Some(Some(crate::syntax::texts::without_modules(&print::expression(interp, layout)?).to_owned())),
        }
    }

    pub(super) fn get(&self, interp: &Interp<'a>, name: &str) -> Option<Value<'a>> {
        Some(match name {
            "base" => self.base.clone().map_or_else(|| any("base"), tensor),
            "shape" => self.shape.clone(),
            "strides" => self.strides.clone(),
            "block_shape" => self.block_shape.clone(),
            "layout" => self.layout.clone(),
            "padding" => self.padding.clone(),
            "mode" => Value::Str(if self.im2col { "im2col" } else { "tiled" }.into()),
            "dtype" => match self.base.as_ref().map(|base| &base.dtype).or(self.element.as_ref()) {
                Some(dtype) => super::torch::dtype_value(interp, dtype),
                None => Value::Unknown("the type of a descriptor's tensor is not known".into()),
            },
            _ => return None,
        })
    }

    pub(super) fn set(&mut self, name: &str, value: Value<'a>) {
        match name {
            "shape" => self.shape = value,
            "strides" => self.strides = value,
            "block_shape" => self.block_shape = value,
            "layout" => self.layout = value,
            "padding" => self.padding = value,
            "base" => (self.base, self.element) = (of(&value), element(&value)),
            _ => {}
        }
    }
}

/// `dataclasses.replace(descriptor, …)`.
pub(super) fn replaced<'a>(descriptor: &HostDescriptor<'a>, named: &[(Rc<str>, Value<'a>)]) -> Value<'a> {
    let mut copy = descriptor.clone();
    for (name, value) in named {
        copy.set(name, value.clone());
    }
    Value::Host(Rc::new(Thing::Descriptor(RefCell::new(copy))))
}

fn of(value: &Value<'_>) -> Option<Torch> {
    let Value::Host(thing) = value else { return None };
    if let Thing::Tensor(tensor) = &**thing { Some(tensor.clone()) } else { None }
}

/// The element type of a tensor of which not all is known.
fn element(value: &Value<'_>) -> Option<Rc<str>> {
    let Value::Host(thing) = value else { return None };
    if let Thing::OpenTensor(tensor) = &**thing { tensor.dtype.clone() } else { None }
}

/// Where a tensor lies of which not all is known.
fn memory(value: &Value<'_>) -> Option<Memory> {
    let Value::Host(thing) = value else { return None };
    if let Thing::OpenTensor(tensor) = &**thing { Some(tensor.memory.clone()) } else { None }
}

/// `TensorDescriptor(…)` and `TensorDescriptor.from_tensor(…)`, of whichever library; `None` where the path
/// is neither.
pub(super) fn make<'a>(interp: &mut Interp<'a>, path: &str, args: &Args<'a>) -> Option<Eval<'a>> {
    let (class, from) = match path.strip_suffix(".from_tensor") {
        Some(class) => (class, true),
        None => (path, false),
    };
    let im2col = match class.rsplit('.').next() {
        Some("TensorDescriptor") => false,
        Some("TensorDescriptorIm2Col") => true,
        _ => return None,
    };
    let order: &[&str] = match from {
        true => &["tensor", "block_shape", "layout", "padding"],
        false => &["base", "shape", "strides", "block_shape", "layout", "padding"],
    };
    let get = |name: &str| {
        let named = args.named.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
        named.or_else(|| args.pos.get(order.iter().position(|known| *known == name)?)).cloned()
    };
    let base = get(if from { "tensor" } else { "base" });
    let element = base.as_ref().and_then(element);
    // With its own sizes.
    let memory = base.as_ref().filter(|_| from).and_then(memory);
    let base = base.as_ref().and_then(of);
    let sizes = |of: Option<&Vec<i64>>| {
        of.map_or_else(
            || any("shape"),
            |sizes| Value::Tuple(sizes.iter().map(|size| Value::Int((*size).into())).collect()),
        )
    };
    let (shape, strides) = match from {
        true => (sizes(base.as_ref().map(|base| &base.shape)), sizes(base.as_ref().map(|base| &base.strides))),
        false => (get("shape").unwrap_or(Value::None), get("strides").unwrap_or(Value::None)),
    };
    let unpacked = args.named.iter().any(|(key, _)| &**key == "**");
    let block_shape = match get("block_shape") {
        Some(block_shape) => block_shape,
        None if unpacked => Value::Unknown("what `**` unpacks is not known".into()),
        None => return Some(interp.raise("a tensor descriptor needs a block shape")),
    };
    let descriptor = HostDescriptor {
        im2col,
        base,
        element,
        memory,
        shape,
        strides,
        block_shape,
        layout: get("layout").unwrap_or(Value::None),
        padding: get("padding").unwrap_or(Value::Str("zero".into())),
    };
    Some(Ok(Value::Host(Rc::new(Thing::Descriptor(RefCell::new(descriptor))))))
}
