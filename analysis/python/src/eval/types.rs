//! Types as Triton's code generator compares them: where ways meet, around a loop, and of registers and their layouts.
//!
//! What is not known of two types tells them apart nowhere.

use std::rc::Rc;

use crate::doubt::DoubtKind;
use crate::interp::{Interp, Stop};
use crate::specialization::Language;
use crate::value::{DType, MemDesc, Object, Tensor, Value};

use super::flat::BLOCK_POINTER;

const BLOCKED: &str = "gl.BlockedLayout";
const MMA: &str = "gl.NVMMADistributedLayout";
const SLICE: &str = "gl.SliceLayout";
const LINEAR: &str = "gl.DistributedLinearLayout";

/// How two values differ in their types, in words; none where they do not, or where it is not known.
pub(super) fn clash<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<(String, String)> {
    match (a, b) {
        (Value::Tensor(x), Value::Tensor(y)) => {
            if !same_dtype(x.dtype, y.dtype) || x.shape != y.shape {
                return Some((tensor_name(x), tensor_name(y)));
            }
            let one = Rc::ptr_eq(&x.layout, &y.layout) || x.shape.is_empty();
            let apart = !one && layouts_differ(&x.layout, &y.layout);
            apart.then(|| (tensor_name(x), "the same in another layout".to_owned()))
        }
        (Value::Tuple(x), Value::Tuple(y)) => {
            if Rc::ptr_eq(x, y) {
                return None;
            }
            if x.len() != y.len() {
                return Some((kind(a)?, kind(b)?));
            }
            x.iter().zip(y.iter()).find_map(|(x, y)| clash(x, y))
        }
        (Value::Instance(x), Value::Instance(y)) => {
            if Rc::ptr_eq(x, y) {
                return None;
            }
            if !std::ptr::eq(x.class.def, y.class.def) {
                return Some((kind(a)?, kind(b)?));
            }
            let (x, y) = (x.fields.try_borrow().ok()?, y.fields.try_borrow().ok()?);
            x.iter().zip(y.iter()).find_map(|((m, x), (n, y))| if m == n { clash(x, y) } else { None })
        }
        (Value::MemDesc(x), Value::MemDesc(y)) => {
            let apart = x.space != y.space || !same_dtype(x.dtype, y.dtype) || x.shape != y.shape;
            apart.then(|| (memory_name(x), memory_name(y)))
        }
        _ => {
            let (x, y) = (kind(a)?, kind(b)?);
            (std::mem::discriminant(a) != std::mem::discriminant(b)).then_some((x, y))
        }
    }
}

/// How two aggregates differ in their constexprs, which are parts of their types.
pub(super) fn constants_clash<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<(String, String)> {
    let (Value::Instance(x), Value::Instance(y)) = (a, b) else { return None };
    if Rc::ptr_eq(x, y) {
        return None;
    }
    let (x, y) = (x.fields.try_borrow().ok()?, y.fields.try_borrow().ok()?);
    x.iter().zip(y.iter()).find_map(|((name, a), (_, b))| match (a, b) {
        (Value::Int(m), Value::Int(n)) if m != n => Some((format!("with `{name}` {m}"), format!("one with {n}"))),
        _ => constants_clash(a, b),
    })
}

/// What a value is, where nothing else can be it.
fn kind(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::None => "`None`".to_owned(),
        Value::Tensor(tensor) => tensor_name(tensor),
        Value::Tuple(items) => format!("a tuple of {}", items.len()),
        Value::Instance(instance) => format!("a `{}`", instance.class.def.name),
        Value::MemDesc(memory) => memory_name(memory),
        Value::TensorDesc(_) => "a tensor descriptor".to_owned(),
        Value::Object(object) if object.class.path == BLOCK_POINTER => "a block pointer".to_owned(),
        _ => return None,
    })
}

fn tensor_name(tensor: &Tensor<'_>) -> String {
    match &*tensor.shape {
        [] => tensor.dtype.name().to_owned(),
        shape => format!("{shape:?} of {}", tensor.dtype.name()),
    }
}

fn memory_name(of: &MemDesc<'_>) -> String {
    format!("memory {:?} of {}", of.shape, of.dtype.name())
}

fn same_dtype(a: DType, b: DType) -> bool {
    match (a, b) {
        (DType::Ptr(Some(a)), DType::Ptr(Some(b))) => same_dtype(*a, *b),
        (DType::Ptr(_), DType::Ptr(_)) => true,
        _ => a == b,
    }
}

/// Whether two layouts of registers cannot be one.
fn layouts_differ<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return false };
    let compared = [BLOCKED, MMA, SLICE];
    if !compared.contains(&a.class.path) || !compared.contains(&b.class.path) {
        return false;
    }
    // A slice of a layout that is not compared may be written in another way.
    if !settled(a) || !settled(b) {
        return false;
    }
    if a.class.path != b.class.path {
        return true;
    }
    a.fields.iter().zip(&b.fields).any(|((_, a), (_, b))| match (a, b) {
        (Value::Object(_), Value::Object(_)) => layouts_differ(a, b),
        _ => apart(a, b),
    })
}

/// Whether a layout is one of those that are compared, all the way down.
fn settled(layout: &Object<'_>) -> bool {
    match (layout.class.path, field(layout, "parent")) {
        (SLICE, Some(Value::Object(parent))) => settled(parent),
        (BLOCKED | MMA, _) => true,
        _ => false,
    }
}

/// Whether two host values are known to differ.
fn apart(a: &Value<'_>, b: &Value<'_>) -> bool {
    let all = |a: &[Value<'_>], b: &[Value<'_>]| a.len() != b.len() || a.iter().zip(b).any(|(a, b)| apart(a, b));
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a != b,
        (Value::Bool(a), Value::Bool(b)) => a != b,
        (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
        (Value::List(a), Value::List(b)) => all(&a.borrow(), &b.borrow()),
        (Value::List(a), Value::Tuple(b)) => all(&a.borrow(), b),
        (Value::Tuple(a), Value::List(b)) => all(a, &b.borrow()),
        _ => false,
    }
}

fn field<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    object.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// The numbers of a list, where all are known.
fn numbers(value: &Value<'_>) -> Option<Vec<i64>> {
    let all = |items: &[Value<'_>]| {
        let number = |item: &Value<'_>| match item {
            Value::Int(int) => i64::try_from(*int).ok(),
            _ => None,
        };
        items.iter().map(number).collect()
    };
    match value {
        Value::List(items) => all(&items.borrow()),
        Value::Tuple(items) => all(items),
        _ => None,
    }
}

/// How many items a list has; none where it is not known.
fn length(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::List(items) => Some(items.borrow().len()),
        Value::Tuple(items) => Some(items.len()),
        _ => None,
    }
}

/// What a layout is made for.
#[derive(Default)]
struct MadeFor {
    rank: Option<usize>,
    warps: Option<i64>,
    lanes: Option<i64>,
    ctas: Option<i64>,
}

fn made_for(layout: &Object<'_>) -> MadeFor {
    let product = |name: &str| Some(numbers(field(layout, name)?)?.iter().product());
    let power = |name: &str| length(field(layout, name)?).and_then(|bits| 1_i64.checked_shl(u32::try_from(bits).ok()?));
    match layout.class.path {
        BLOCKED => MadeFor {
            rank: field(layout, "order").and_then(length),
            warps: product("warps_per_cta"),
            lanes: product("threads_per_warp"),
            ctas: power("cga_layout"),
        },
        MMA => MadeFor {
            rank: field(layout, "warps_per_cta").and_then(length),
            warps: product("warps_per_cta"),
            lanes: None,
            ctas: power("cga_layout"),
        },
        LINEAR => MadeFor {
            rank: field(layout, "shape").and_then(length),
            warps: power("warp_bases"),
            lanes: power("lane_bases"),
            ctas: power("block_bases"),
        },
        SLICE => match field(layout, "parent") {
            Some(Value::Object(parent)) => {
                let of = made_for(parent);
                MadeFor { rank: of.rank.and_then(|rank| rank.checked_sub(1)), ..of }
            }
            _ => MadeFor::default(),
        },
        _ => MadeFor::default(),
    }
}

impl<'a> Interp<'a> {
    /// Refuses registers whose layout is for other dimensions, or for other warps, threads or CTAs than execute them.
    pub(crate) fn check_registers(&self, value: &Value<'a>) -> Result<(), Stop> {
        if self.language != Language::Gluon || !self.in_kernel() {
            return Ok(());
        }
        match value {
            Value::Tensor(tensor) if !tensor.shape.is_empty() => match &*tensor.layout {
                Value::Object(layout) => self.check_layout(layout, &tensor.shape),
                _ => Ok(()),
            },
            Value::Tuple(items) => items.iter().try_for_each(|item| self.check_registers(item)),
            _ => Ok(()),
        }
    }

    fn check_layout(&self, layout: &Object<'a>, shape: &[i64]) -> Result<(), Stop> {
        let made = made_for(layout);
        let other = |of: Option<i64>, here: u32| of.filter(|of| *of != i64::from(here));
        if let Some(rank) = made.rank.filter(|rank| *rank != shape.len()) {
            return self.refuse(format!("the layout has {rank} dimensions, and the tensor is {shape:?}"));
        }
        if let (true, Some(warps)) = (self.stated.warps, other(made.warps, self.num_warps)) {
            return self.raise(format!("the layout is for {warps} warps, and {} execute this", self.num_warps));
        }
        if let (true, Some(lanes)) = (self.stated.target, other(made.lanes, self.target.lanes())) {
            let here = self.target.lanes();
            return self.raise(format!("the layout is for {lanes} threads in a warp, and this target has {here}"));
        }
        if let (true, Some(ctas)) = (self.stated.ctas, other(made.ctas, self.num_ctas)) {
            return self.raise(format!("the layout is for {ctas} CTAs, and a cluster has {}", self.num_ctas));
        }
        Ok(())
    }

    /// Notes a layout that is made for a cluster of another size.
    pub fn doubt_ctas(&mut self, layout: &Object<'a>) {
        let bits = |name: &str| field(layout, name).and_then(length).filter(|bits| *bits > 0);
        let ctas = bits("cga_layout").or_else(|| bits("block_bases")).and_then(|bits| 1_u32.checked_shl(bits as u32));
        let pair = matches!(field(layout, "two_ctas"), Some(Value::Bool(true))).then_some(2);
        let Some(ctas) = ctas.or(pair) else { return };
        if ctas != self.num_ctas && (ctas > self.num_ctas || pair.is_none()) {
            self.doubt(DoubtKind::Ctas(ctas));
        }
    }

    /// Refuses operands whose layouts differ.
    pub(crate) fn check_layouts(&self, a: &Value<'a>, b: &Value<'a>) -> Result<(), Stop> {
        if self.language == Language::Gluon && layouts_differ(a, b) {
            return self.refuse("the operands have different layouts; `convert_layout` makes one the other");
        }
        Ok(())
    }

    /// Refuses a dimension that is put into registers whose layout is no slice along it.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn check_slice(&self, tensor: &Tensor<'a>, axis: usize) -> Result<(), Stop> {
        let Value::Object(layout) = &*tensor.layout else { return Ok(()) };
        match (layout.class.path, field(layout, "dim")) {
            (BLOCKED | MMA, _) if !tensor.shape.is_empty() => {
                self.refuse(format!("dimension {axis} is put into registers whose layout is no `SliceLayout`"))
            }
            (SLICE, Some(Value::Int(dim))) if *dim != axis as i128 => self
                .refuse(format!("dimension {axis} is put into registers whose layout is a slice of dimension {dim}")),
            _ => Ok(()),
        }
    }
}
