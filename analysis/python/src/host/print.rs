//! Values as text that gives them again: expressions in the scope of a kernel's file, types of signatures.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;

use super::open::is_open;
use super::thing::{Launcher, OpenNumber, OpenTensor, Thing};
use super::torch::{dtype_name, int};
use crate::interp::Interp;
use crate::limits::print::DEPTH;
use crate::scope::Scope;
use crate::specialization::Given;
use crate::value::{ClassKind, DType, Function, Value};
use torch::Torch;

/// An expression for a value, in the scope of the elaboration's first file; `None` where there is none.
pub fn expression<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Option<String> {
    let mut text = String::new();
    write(interp, value, &mut text, 0)?;
    Some(text)
}

/// What tells a value from others that shape a kernel differently, where there is no expression for it: its class and
/// what its fields hold. Values that are not known, and contents of tensors, tell nothing.
pub fn identity<'a>(interp: &Interp<'a>, value: &Value<'a>) -> u64 {
    let mut hasher = FxHasher::default();
    identify(interp, value, &mut hasher, 0);
    hasher.finish()
}

fn identify<'a>(interp: &Interp<'a>, value: &Value<'a>, hasher: &mut FxHasher, depth: u32) {
    let known = |value: &Value<'a>| expression(interp, value);
    match value {
        _ if depth > DEPTH => {}
        Value::Instance(instance) => {
            let (class, file) = (&instance.class, interp.files.get(instance.class.scope.file.0 as usize));
            // Not where it stands: other statements may come and go.
            (class.def.name.as_str(), class.def.range.len().to_u32()).hash(hasher);
            file.map(|file| file.module.path()).hash(hasher);
            let fields = instance.fields.borrow().clone();
            for (name, value) in &fields {
                name.hash(hasher);
                identify(interp, value, hasher, depth + 1);
            }
        }
        Value::Tuple(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| identify(interp, item, hasher, depth + 1));
        }
        Value::List(items) => {
            let items = items.borrow().clone();
            items.len().hash(hasher);
            items.iter().for_each(|item| identify(interp, item, hasher, depth + 1));
        }
        value => match known(value) {
            Some(text) => text.hash(hasher),
            None => value.class_name().hash(hasher),
        },
    }
}

fn list<'a>(
    interp: &Interp<'a>,
    items: &[Value<'a>],
    brackets: (&str, &str),
    text: &mut String,
    depth: u32,
) -> Option<()> {
    text.push_str(brackets.0);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        write(interp, item, text, depth + 1)?;
    }
    if items.len() == 1 && brackets.0 == "(" {
        text.push(',');
    }
    text.push_str(brackets.1);
    Some(())
}

fn write<'a>(interp: &Interp<'a>, value: &Value<'a>, text: &mut String, depth: u32) -> Option<()> {
    if depth > DEPTH || text.len() > 4000 {
        return None;
    }
    match value {
        Value::None => text.push_str("None"),
        Value::Bool(true) => text.push_str("True"),
        Value::Bool(false) => text.push_str("False"),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::Float(number) if number.is_finite() => text.push_str(&format!("{number:?}")),
        Value::Float(number) => {
            let name = if number.is_nan() {
                "nan"
            } else if *number > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            text.push_str(&format!("float('{name}')"));
        }
        Value::Str(inner) => {
            text.push_str(&format!("'{}'", inner.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")));
        }
        Value::Tuple(items) => list(interp, items, ("(", ")"), text, depth)?,
        Value::List(items) => list(interp, &items.borrow(), ("[", "]"), text, depth)?,
        Value::Dict(entries) => {
            text.push('{');
            for (at, (key, value)) in entries.borrow().iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                write(interp, key, text, depth + 1)?;
                text.push_str(": ");
                write(interp, value, text, depth + 1)?;
            }
            text.push('}');
        }
        Value::DType(DType::Ptr(_) | DType::Void) => return None,
        Value::DType(dtype) => text.push_str(&format!("gl.{}", dtype.name())),
        Value::Builtin(row) if row.path.starts_with("gl.") => text.push_str(row.path),
        Value::LibClass(class) if class.path.starts_with("gl.") => text.push_str(class.path),
        Value::Object(object) if object.class.path.starts_with("gl.") => {
            text.push_str(object.class.path);
            fields(interp, object.fields.iter().map(|(name, value)| (*name, value)), text, depth)?;
        }
        Value::Instance(instance) => match instance.class.kind {
            ClassKind::Dataclass | ClassKind::NamedTuple => {
                if let Some(path) = named(interp, value) {
                    text.push_str(&path);
                    return Some(());
                }
                write(interp, &Value::Class(instance.class.clone()), text, depth + 1)?;
                let all = instance.fields.borrow();
                fields(interp, all.iter().map(|(name, value)| (&**name, value)), text, depth)?;
            }
            _ => text.push_str(&named(interp, value)?),
        },
        Value::Function(_) | Value::Class(_) | Value::Module(_) => text.push_str(&named(interp, value)?),
        Value::Host(thing) => match &**thing {
            Thing::Launcher(Launcher { function, .. }) => write(interp, function, text, depth + 1)?,
            _ => return None,
        },
        _ => return None,
    }
    Some(())
}

fn fields<'b, 'a: 'b>(
    interp: &Interp<'a>,
    all: impl Iterator<Item = (&'b str, &'b Value<'a>)>,
    text: &mut String,
    depth: u32,
) -> Option<()> {
    text.push('(');
    for (at, (name, value)) in all.enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push('=');
        write(interp, value, text, depth + 1)?;
    }
    text.push(')');
    Some(())
}

/// How the first file names a value: `Scheduler`, `t7.Scheduler`, `schedulers[1]`.
fn named<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Option<String> {
    let scope = interp.files.first()?.scope.clone();
    let own = in_scope(&scope, value);
    own.or_else(|| {
        let names = scope.names.borrow();
        names.iter().find_map(|(name, held)| {
            let Value::Module(inner) = held else { return None };
            Some(format!("{name}.{}", in_scope(inner, value)?))
        })
    })
}

fn in_scope<'a>(scope: &Rc<Scope<'a>>, value: &Value<'a>) -> Option<String> {
    let names = scope.names.borrow();
    let direct = names.iter().find(|(_, held)| same(held, value)).map(|(name, _)| name.to_string());
    direct.or_else(|| {
        names.iter().find_map(|(name, held)| match held {
            Value::List(items) => {
                let at = items.borrow().iter().position(|item| same(item, value))?;
                Some(format!("{name}[{at}]"))
            }
            Value::Tuple(items) => Some(format!("{name}[{}]", items.iter().position(|item| same(item, value))?)),
            Value::Dict(entries) => {
                let entries = entries.borrow();
                let (key, _) = entries.iter().find(|(_, held)| same(held, value))?;
                let Value::Str(key) = key else { return None };
                Some(format!("{name}['{key}']"))
            }
            // A member of an enumeration, or what a class holds.
            Value::Class(class) => {
                let members = class.scope.names.borrow();
                let (member, _) = members.iter().find(|(_, held)| same(held, value))?;
                Some(format!("{name}.{member}"))
            }
            _ => None,
        })
    })
}

/// Whether two values are one object.
fn same<'a>(left: &Value<'a>, right: &Value<'a>) -> bool {
    match (left, right) {
        (Value::Class(left), Value::Class(right)) => Rc::ptr_eq(left, right),
        (Value::Instance(left), Value::Instance(right)) => Rc::ptr_eq(left, right),
        (Value::Module(left), Value::Module(right)) => Rc::ptr_eq(left, right),
        (Value::Function(left), Value::Function(right)) => is_function(left, right),
        (Value::Host(thing), Value::Function(right)) => match &**thing {
            Thing::Launcher(launcher) => launcher.kernel().is_some_and(|left| is_function(&left, right)),
            _ => false,
        },
        _ => false,
    }
}

fn is_function<'a>(left: &Rc<Function<'a>>, right: &Rc<Function<'a>>) -> bool {
    Rc::ptr_eq(left, right) || left.def.range() == right.def.range() && Rc::ptr_eq(&left.scope, &right.scope)
}

/// What an argument gives to a parameter: its type, or its value where it is a constexpr.
pub fn given<'a>(interp: &Interp<'a>, value: &Value<'a>, constexpr: bool, specialised: bool) -> Option<Given> {
    if constexpr {
        return expression(interp, value).map(Given::Value);
    }
    match value {
        Value::None => Some(Given::Value("None".to_owned())),
        Value::Int(1) if specialised => Some(Given::Value("1".to_owned())),
        Value::DType(_)
        | Value::Function(_)
        | Value::Class(_)
        | Value::LibClass(_)
        | Value::Object(_)
        | Value::Str(_) => expression(interp, value).map(Given::Value),
        _ => ty(interp, value).map(Given::Type),
    }
}

/// A part of a tuple in the notation of signatures.
fn part<'a>(interp: &Interp<'a>, item: &Value<'a>) -> Option<String> {
    let ty = if matches!(item, Value::None | Value::Int(1)) { None } else { ty(interp, item) };
    ty.or_else(|| Some(format!("constexpr[{}]", expression(interp, item)?)))
}

/// A type in the notation of signatures.
fn ty<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Option<String> {
    Some(match value {
        Value::Bool(_) => "i1".to_owned(),
        Value::Int(number) if i32::try_from(*number).is_ok() => "i32".to_owned(),
        Value::Int(number) if i64::try_from(*number).is_ok() => "i64".to_owned(),
        Value::Int(_) => "u64".to_owned(),
        Value::Float(_) => "fp32".to_owned(),
        Value::Tuple(items) => {
            let parts: Option<Vec<String>> = items.iter().map(|item| part(interp, item)).collect();
            format!("({})", parts?.join(", "))
        }
        Value::List(items) => ty(interp, &Value::Tuple(items.borrow().clone().into()))?,
        Value::Instance(instance) if instance.class.kind == ClassKind::NamedTuple => {
            let part = |(name, value): &(Rc<str>, Value<'a>)| Some(format!("{name}={}", part(interp, value)?));
            let parts: Option<Vec<String>> = instance.fields.borrow().iter().map(part).collect();
            format!("({})", parts?.join(", "))
        }
        // Anything that says where its data is.
        Value::Instance(instance) if instance.class.find("data_ptr").is_some() => {
            let own =
                instance.fields.borrow().iter().find(|(name, _)| &**name == "dtype").map(|(_, dtype)| dtype.clone());
            let dtype = own.or_else(|| instance.class.find("dtype"))?;
            format!("*{}", Torch::new(Vec::new(), dtype_name(&dtype)?).element())
        }
        Value::Host(thing) => match &**thing {
            Thing::Tensor(tensor) => format!("*{}", tensor.element()),
            Thing::Descriptor(descriptor) => descriptor.borrow().ty(interp)?,
            Thing::OpenTensor(OpenTensor { dtype: Some(dtype), .. }) => {
                format!("*{}", Torch::new(Vec::new(), dtype.clone()).element())
            }
            Thing::OpenNumber(kind, _) => match kind {
                OpenNumber::Int => "i32".to_owned(),
                OpenNumber::Float => "fp32".to_owned(),
                OpenNumber::Bool => "i1".to_owned(),
            },
            _ => return None,
        },
        _ => return None,
    })
}

/// What is known of an argument that is not known whole.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Partly {
    /// Nothing, and why.
    Nothing(String),
    /// A tensor of an unknown type.
    Pointer,
    /// An integer that is a constexpr.
    Int,
    /// A float that is a constexpr.
    Float,
    /// A truth value that is a constexpr.
    Bool,
    /// Whether it holds.
    Truth(bool),
    /// A tensor descriptor.
    Descriptor {
        /// Whether it is one for im2col.
        im2col: bool,
        /// The element type, in signatures.
        element: Option<String>,
        /// Sizes of a block.
        block: Option<Vec<Option<i64>>>,
        /// The layout in signatures, where there is one that is known.
        layout: Option<String>,
    },
}

/// What is known of an argument that [`given`] has no words for; `None` of a value that is known, but stands for
/// itself alone.
pub fn partly<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Option<Partly> {
    if !is_open(value) {
        return None;
    }
    let nothing = |why: &str| Some(Partly::Nothing(why.to_owned()));
    match value {
        Value::Unknown(why) => nothing(why),
        Value::Host(thing) => match &**thing {
            Thing::OpenTensor(_) => Some(Partly::Pointer),
            Thing::OpenNumber(OpenNumber::Int, _) => Some(Partly::Int),
            Thing::OpenNumber(OpenNumber::Float, _) => Some(Partly::Float),
            Thing::OpenNumber(OpenNumber::Bool, _) => Some(Partly::Bool),
            Thing::Descriptor(descriptor) => {
                let descriptor = descriptor.borrow();
                let sizes = |items: &[Value<'a>]| items.iter().map(int).collect::<Vec<_>>();
                let block = match &descriptor.block_shape {
                    Value::Tuple(items) => Some(sizes(items)),
                    Value::List(items) => Some(sizes(&items.borrow())),
                    _ => None,
                };
                let element = descriptor.element().map(str::to_owned);
                let layout = descriptor.layout(interp).flatten();
                Some(Partly::Descriptor { im2col: descriptor.im2col, element, block, layout })
            }
            Thing::Truth(holds) => Some(Partly::Truth(*holds)),
            Thing::Any(name) => nothing(&format!("`{name}` is not followed")),
            _ => nothing("only a part of it is known"),
        },
        Value::Lib(path) => nothing(&format!("the value of `{path}` is not known")),
        _ => nothing("only a part of it is known"),
    }
}
