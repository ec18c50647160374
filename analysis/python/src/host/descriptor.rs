//! Tensor descriptors that host code makes.

use std::cell::RefCell;
use std::rc::Rc;

use super::print;
use super::thing::{Descriptor, Thing, Torch, any, tensor};
use super::torch::ints;
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::value::Value;

impl<'a> Descriptor<'a> {
    /// What it is in a signature; `None` where its shape, type or layout is not known.
    pub fn ty(&self, interp: &Interp<'a>) -> Option<String> {
        let block = ints(&self.block_shape)?;
        let block: Vec<String> = block.iter().map(i64::to_string).collect();
        let name = if self.im2col { "tensordesc_im2col" } else { "tensordesc" };
        let base = self.base.as_ref()?;
        let mut head = format!("{name}<{}[{}]", base.element(), block.join(", "));
        if self.im2col {
            let rank = ints(&self.shape).map_or(base.shape.len(), |shape| shape.len());
            head.push_str(&format!(",input_rank={rank}"));
        }
        match &self.layout {
            // Those of plain Triton have none.
            Value::None => Some(format!("{head}>")),
            layout => {
                let layout = print::expression(interp, layout)?;
                Some(format!("{head},{}>", trimmed(&layout)))
            }
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
            "dtype" => self.base.as_ref().and_then(|base| super::torch::attribute(interp, base, "dtype"))?,
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
            "base" => self.base = of(&value),
            _ => {}
        }
    }
}

/// `dataclasses.replace(descriptor, …)`.
pub(super) fn replaced<'a>(descriptor: &Descriptor<'a>, named: &[(Rc<str>, Value<'a>)]) -> Value<'a> {
    let mut copy = descriptor.clone();
    for (name, value) in named {
        copy.set(name, value.clone());
    }
    Value::Host(Rc::new(Thing::Descriptor(RefCell::new(copy))))
}

/// The class without the modules in front of it, as its `repr` is.
fn trimmed(layout: &str) -> &str {
    let end = layout.find('(').unwrap_or(layout.len());
    let start = layout.get(..end).and_then(|path| path.rfind('.')).map_or(0, |dot| dot + 1);
    layout.get(start..).unwrap_or(layout)
}

fn of(value: &Value<'_>) -> Option<Torch> {
    let Value::Host(thing) = value else { return None };
    if let Thing::Tensor(tensor) = &**thing { Some(tensor.clone()) } else { None }
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
    let Some(block_shape) = get("block_shape") else {
        return Some(interp.raise("a tensor descriptor needs a block shape"));
    };
    let descriptor = Descriptor {
        im2col,
        base,
        shape,
        strides,
        block_shape,
        layout: get("layout").unwrap_or(Value::None),
        padding: get("padding").unwrap_or(Value::Str("zero".into())),
    };
    Some(Ok(Value::Host(Rc::new(Thing::Descriptor(RefCell::new(descriptor))))))
}
