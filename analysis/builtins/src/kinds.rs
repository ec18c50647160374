//! What kind of thing a value is, equality and order.

use std::cmp::Ordering;
use std::rc::Rc;

use python::value::{Class, DescSpace, Value};

/// What Python calls the type of a value.
pub fn type_name(value: &Value<'_>) -> String {
    match value {
        Value::None => "NoneType".to_owned(),
        Value::Ellipsis => "ellipsis".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Slice(_) => "slice".to_owned(),
        Value::Range(_) => "range".to_owned(),
        Value::Function(_) | Value::Bound(_) | Value::Builtin(_) | Value::Partial(_) => "function".to_owned(),
        Value::Class(_) | Value::LibClass(_) | Value::Type(_) => "type".to_owned(),
        Value::Instance(instance) => instance.class.def.name.to_string(),
        Value::Object(object) => last(object.class.path).to_owned(),
        Value::Module(_) => "module".to_owned(),
        Value::Lib(name) => name.to_string(),
        Value::Unknown(_) => "unknown value".to_owned(),
        _ => value.class_name().to_owned(),
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// `isinstance`; `None` where it is not known.
pub fn is_instance<'a>(value: &Value<'a>, class: &Value<'a>) -> Option<bool> {
    if let Value::Unknown(_) = value {
        return None;
    }
    match class {
        Value::Tuple(classes) => any(value, classes),
        Value::None => Some(matches!(value, Value::None)),
        Value::Builtin(row) => {
            if matches!(value, Value::Lib(_)) {
                return None;
            }
            named(value, row.path)
        }
        Value::Type(name) | Value::Lib(name) => {
            if matches!(value, Value::Lib(_)) {
                return None;
            }
            named(value, last(name))
        }
        Value::Class(class) => match value {
            Value::Instance(instance) => extends(&instance.class, class, 0),
            Value::Lib(_) => None,
            _ => Some(false),
        },
        Value::LibClass(class) => match value {
            Value::Object(object) => Some(object.class.is_a(class.path)),
            Value::Tensor(_) => Some(last(class.path) == "tensor"),
            Value::Lib(_) => None,
            _ => Some(false),
        },
        _ => None,
    }
}

fn any<'a>(value: &Value<'a>, classes: &[Value<'a>]) -> Option<bool> {
    let mut open = false;
    for class in classes {
        match is_instance(value, class) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => open = true,
        }
    }
    if open { None } else { Some(false) }
}

/// Whether a value is of a class of Python or Triton that is known by name.
fn named(value: &Value<'_>, name: &str) -> Option<bool> {
    let number = matches!(value, Value::Bool(_) | Value::Int(_));
    Some(match name {
        "int" | "Integral" => number,
        "bool" => matches!(value, Value::Bool(_)),
        "float" => matches!(value, Value::Float(_)),
        "Number" | "Real" => number || matches!(value, Value::Float(_)),
        "str" => matches!(value, Value::Str(_)),
        "tuple" => matches!(value, Value::Tuple(_)),
        "list" | "List" | "MutableSequence" => matches!(value, Value::List(_)),
        "Sequence" => matches!(value, Value::List(_) | Value::Tuple(_) | Value::Str(_) | Value::Range(_)),
        "Iterable" | "Collection" => {
            matches!(
                value,
                Value::List(_) | Value::Tuple(_) | Value::Str(_) | Value::Range(_) | Value::Dict(_) | Value::Set(_)
            )
        }
        "dict" | "Dict" | "Mapping" => matches!(value, Value::Dict(_)),
        "set" | "Set" => matches!(value, Value::Set(_)),
        "object" => true,
        "NoneType" => matches!(value, Value::None),
        "slice" => matches!(value, Value::Slice(_)),
        "range" => matches!(value, Value::Range(_)),
        "type" => matches!(value, Value::Class(_) | Value::LibClass(_) | Value::Type(_)),
        "Callable" => matches!(
            value,
            Value::Function(_) | Value::Builtin(_) | Value::Bound(_) | Value::Partial(_) | Value::Class(_)
        ),
        "dtype" => matches!(value, Value::DType(_)),
        "tensor" => matches!(value, Value::Tensor(_)),
        "constexpr" => !matches!(value, Value::Tensor(_) | Value::MemDesc(_) | Value::TensorDesc(_)),
        "base_value" => matches!(value, Value::Tensor(_) | Value::MemDesc(_) | Value::TensorDesc(_)),
        "shared_memory_descriptor" => matches!(value, Value::MemDesc(memory) if memory.space == DescSpace::Shared),
        "tensor_memory_descriptor" => matches!(value, Value::MemDesc(memory) if memory.space == DescSpace::Tensor),
        "tensor_descriptor" | "tensor_descriptor_base" => matches!(value, Value::TensorDesc(_)),
        "JITFunction" | "GluonJITFunction" => matches!(
            value,
            Value::Function(function) if function.kind == python::value::FnKind::Jit
        ),
        "Exception" | "ValueError" | "TypeError" | "RuntimeError" => false,
        _ => match value {
            Value::Object(object) => {
                last(object.class.path) == name || object.class.bases.iter().any(|base| last(base) == name)
            }
            _ => return None,
        },
    })
}

/// Whether a class is `of` or extends it; `None` where a base is not known.
pub fn extends<'a>(class: &Rc<Class<'a>>, of: &Rc<Class<'a>>, depth: u32) -> Option<bool> {
    if Rc::ptr_eq(class, of) {
        return Some(true);
    }
    if depth > 16 {
        return None;
    }
    let mut open = false;
    for base in &class.bases {
        match base {
            Value::Class(base) => match extends(base, of, depth + 1) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => open = true,
            },
            Value::Unknown(_) => open = true,
            _ => {}
        }
    }
    if open { None } else { Some(false) }
}

/// `==`; `None` where it is not known.
pub(super) fn same<'a>(a: &Value<'a>, b: &Value<'a>, depth: u32) -> Option<bool> {
    if depth > 32 {
        return None;
    }
    match (a, b) {
        (Value::Unknown(_), _) | (_, Value::Unknown(_)) => None,
        (Value::Tensor(_), _) | (_, Value::Tensor(_)) => match (a, b) {
            (Value::None, _) | (_, Value::None) => Some(false),
            _ => None,
        },
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => Some(true),
        (Value::Str(a), Value::Str(b)) => Some(a == b),
        (Value::DType(a), Value::DType(b)) => Some(a == b),
        (Value::Tuple(a), Value::Tuple(b)) => all(a, b, depth),
        (Value::List(a), Value::List(b)) => {
            Rc::ptr_eq(a, b).then_some(true).or_else(|| all(&a.borrow(), &b.borrow(), depth))
        }
        (Value::Set(a), Value::Set(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            let within = |a: &[Value<'a>], b: &[Value<'a>]| {
                a.iter().all(|a| b.iter().any(|b| same(a, b, depth + 1) == Some(true)))
            };
            Some(a.len() == b.len() && within(&a, &b))
        }
        (Value::Dict(a), Value::Dict(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            let mut equal = Some(a.len() == b.len());
            for (key, value) in a.iter() {
                let other = b.iter().find(|entry| same(&entry.0, key, depth + 1) == Some(true));
                let this = other.map_or(Some(false), |other| same(value, &other.1, depth + 1));
                equal = both(equal, this);
            }
            equal
        }
        (Value::Range(a), Value::Range(b)) => all(
            &[a.start.clone(), a.stop.clone(), a.step.clone()],
            &[b.start.clone(), b.stop.clone(), b.step.clone()],
            depth,
        ),
        (Value::Function(a), Value::Function(b)) => Some(Rc::ptr_eq(a, b)),
        (Value::Class(a), Value::Class(b)) => Some(Rc::ptr_eq(a, b)),
        (Value::Module(a), Value::Module(b)) => Some(Rc::ptr_eq(a, b)),
        (Value::Builtin(a), Value::Builtin(b)) => Some(a.path == b.path),
        (Value::LibClass(a), Value::LibClass(b)) => Some(a.path == b.path),
        (Value::Type(a), Value::Type(b)) => Some(a == b),
        (Value::Lib(a), Value::Lib(b)) => library(a, b),
        (Value::MemDesc(a), Value::MemDesc(b)) => Some(Rc::ptr_eq(a, b)),
        (Value::TensorDesc(a), Value::TensorDesc(b)) => Some(Rc::ptr_eq(a, b)),
        (Value::Instance(a), Value::Instance(b)) => {
            if Rc::ptr_eq(a, b) {
                return Some(true);
            }
            if !Rc::ptr_eq(&a.class, &b.class) || a.class.kind == python::value::ClassKind::Enum {
                return Some(false);
            }
            let (a, b) = (a.fields.borrow(), b.fields.borrow());
            both(Some(a.len() == b.len()), every(a.iter().zip(b.iter()).map(|(a, b)| same(&a.1, &b.1, depth + 1))))
        }
        (Value::Object(a), Value::Object(b)) => {
            if a.class.path != b.class.path || a.fields.len() != b.fields.len() {
                return Some(false);
            }
            every(a.fields.iter().zip(&b.fields).map(|(a, b)| same(&a.1, &b.1, depth + 1)))
        }
        _ => match (numeric(a), numeric(b)) {
            (Some(a), Some(b)) => Some(a == b),
            _ if matches!(a, Value::Lib(_)) != matches!(b, Value::Lib(_)) => {
                // Something of a library is not `None`, and nothing else is known of it.
                matches!((a, b), (Value::None, _) | (_, Value::None)).then_some(false)
            }
            _ => Some(false),
        },
    }
}

/// Names of libraries: constants such as `torch.float16` differ by name, results of calls are not named.
fn library(a: &str, b: &str) -> Option<bool> {
    let constant = |name: &str| !name.contains('(');
    if !constant(a) || !constant(b) {
        return None;
    }
    Some(a == b)
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Whether all are; known as soon as one is not.
fn every(mut parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut open = false;
    let known = parts.any(|part| {
        open |= part.is_none();
        part == Some(false)
    });
    if known { Some(false) } else { (!open).then_some(true) }
}

fn all<'a>(a: &[Value<'a>], b: &[Value<'a>], depth: u32) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    every(a.iter().zip(b).map(|(a, b)| same(a, b, depth + 1)))
}

/// A number that compares with others.
#[derive(PartialEq)]
enum Number {
    Int(i128),
    Float(f64),
}

fn numeric(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Bool(value) => Some(Number::Int(i128::from(*value))),
        Value::Int(value) => Some(Number::Int(*value)),
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e30 => Some(Number::Int(*value as i128)),
        Value::Float(value) => Some(Number::Float(*value)),
        _ => None,
    }
}

/// The order of numbers, texts and sequences of these; `None` where there is none.
pub(super) fn order<'a>(a: &Value<'a>, b: &Value<'a>, depth: u32) -> Option<Ordering> {
    if depth > 32 {
        return None;
    }
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Tuple(a), Value::Tuple(b)) => sequence(a, b, depth),
        (Value::List(a), Value::List(b)) => sequence(&a.borrow(), &b.borrow(), depth),
        _ => match (numeric(a)?, numeric(b)?) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Int(a), Number::Float(b)) => (a as f64).partial_cmp(&b),
            (Number::Float(a), Number::Int(b)) => a.partial_cmp(&(b as f64)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        },
    }
}

fn sequence<'a>(a: &[Value<'a>], b: &[Value<'a>], depth: u32) -> Option<Ordering> {
    for (a, b) in a.iter().zip(b) {
        match order(a, b, depth + 1)? {
            Ordering::Equal => {}
            other => return Some(other),
        }
    }
    Some(a.len().cmp(&b.len()))
}
