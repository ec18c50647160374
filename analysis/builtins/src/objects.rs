//! Functions about objects and their classes; `dataclasses`, `copy`, exceptions.

use std::cell::RefCell;
use std::rc::Rc;

use super::containers;
use super::kinds::{is_instance, type_name};
use super::text::display;
use super::values::{arg, call, items, list, string};
use python::host::{AutotuneConfig, Thing};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Fixed, NOTHING, Part, Row};
use python::target::Version;
use python::value::{ClassInstance, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("isinstance", "obj, classes", 0, isinstance),
        Row::new("issubclass", "class, classes", 0, issubclass),
        Row::new("getattr", "obj, name, default=None", 0, getattr),
        Row::new("hasattr", "obj, name", 0, hasattr),
        Row::new("setattr", "obj, name, value", 0, setattr),
        Row::new("callable", "obj", 0, callable),
        Row::new("type", "obj", 0, kind),
        Row::new("vars", "obj", 0, vars),
        Row::new("slice", "*args", 0, slice),
        Row::new("id", "obj", 0, not_known),
        Row::new("hash", "obj", 0, not_known),
        Row::new("BaseException", "*args", 0, exception),
        Row::new("Exception", "*args", 0, exception),
        Row::new("AssertionError", "*args", 0, exception),
        Row::new("AttributeError", "*args", 0, exception),
        Row::new("ImportError", "*args, **kwargs", 0, exception),
        Row::new("IndexError", "*args", 0, exception),
        Row::new("KeyError", "*args", 0, exception),
        Row::new("ModuleNotFoundError", "*args, **kwargs", 0, exception),
        Row::new("NameError", "*args", 0, exception),
        Row::new("NotImplementedError", "*args", 0, exception),
        Row::new("OSError", "*args", 0, exception),
        Row::new("RuntimeError", "*args", 0, exception),
        Row::new("StopIteration", "*args", 0, exception),
        Row::new("TypeError", "*args", 0, exception),
        Row::new("ValueError", "*args", 0, exception),
        Row::new("dataclasses.field", "*, default=None, default_factory=None, **kwargs", 0, field),
        Row::new("dataclasses.replace", "obj, **changes", 0, replace),
        Row::new("dataclasses.asdict", "obj", 0, vars),
        Row::new("dataclasses.astuple", "obj", 0, as_tuple),
        Row::new("gl.aggregate_replace", "instance, **changes", 9, replace),
        Row::new("copy.copy", "value", 0, copy),
        Row::new("copy.deepcopy", "value, memo=None", 0, deepcopy),
    ],
    constants: &[("object", Fixed::Type("object")), ("NoneType", Fixed::Type("NoneType"))],
    ..NOTHING
};

fn not_known<'a>(interp: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    interp.unknown("numbers of objects are not followed")
}

fn isinstance<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match is_instance(&arg(bound, 0), &arg(bound, 1)) {
        Some(is) => Ok(Value::Bool(is)),
        None => interp.unknown(format!("whether a {} is of this class is not known", type_name(&arg(bound, 0)))),
    }
}

fn issubclass<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let found = match (arg(bound, 0), arg(bound, 1)) {
        (Value::Class(class), Value::Class(of)) => super::kinds::extends(&class, &of, 0),
        (Value::LibClass(class), Value::LibClass(of)) => Some(class.is_a(of.path)),
        (Value::Class(_), Value::LibClass(_)) | (Value::LibClass(_), Value::Class(_)) => Some(false),
        _ => None,
    };
    match found {
        Some(is) => Ok(Value::Bool(is)),
        None => interp.unknown("whether one class extends the other is not known"),
    }
}

fn getattr<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (obj, name) = (arg(bound, 0), string(interp, &arg(bound, 1))?);
    match (interp.attribute(&obj, &name), bound.at(2)) {
        (Err(Stop::Raised(..)), Some(default)) => Ok(default.clone()),
        (found, _) => found,
    }
}

fn hasattr<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (obj, name) = (arg(bound, 0), string(interp, &arg(bound, 1))?);
    match interp.attribute(&obj, &name) {
        Ok(Value::Unknown(why)) => Err(Stop::Unknown(interp.at, why)),
        // Names that Triton only tried out are gone since 3.4.
        Ok(Value::Lib(path))
            if matches!(&obj, Value::Lib(of) if interp.library.canonical(of) == "tl")
                && path.contains("._experimental_")
                && interp.version >= Version(3, 4) =>
        {
            Ok(Value::Bool(false))
        }
        Ok(Value::Lib(_)) if matches!(obj, Value::Lib(_)) => interp.unknown("what a library has is not known"),
        Ok(_) => Ok(Value::Bool(true)),
        Err(Stop::Raised(..)) => Ok(Value::Bool(false)),
        Err(stop) => Err(stop),
    }
}

fn setattr<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let Value::Instance(instance) = arg(bound, 0) else {
        return interp.unknown("setting this attribute is not followed");
    };
    let name = string(interp, &arg(bound, 1))?;
    set(&instance, name, arg(bound, 2));
    Ok(Value::None)
}

fn set<'a>(instance: &ClassInstance<'a>, name: Rc<str>, value: Value<'a>) {
    let mut fields = instance.fields.borrow_mut();
    match fields.iter_mut().find(|field| field.0 == name) {
        Some(field) => field.1 = value,
        None => fields.push((name, value)),
    }
}

fn callable<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(match arg(bound, 0) {
        Value::Function(_) | Value::Builtin(_) | Value::Bound(_) | Value::Partial(_) => true,
        Value::Class(_) | Value::LibClass(_) => true,
        Value::Unknown(why) => return Err(Stop::Unknown(interp.at, why)),
        Value::Lib(_) => return interp.unknown("whether this can be called is not known"),
        obj @ Value::Instance(_) => match interp.attribute(&obj, "__call__") {
            Ok(_) => true,
            Err(Stop::Raised(..)) => false,
            Err(stop) => return Err(stop),
        },
        _ => false,
    }))
}

fn kind<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match arg(bound, 0) {
        Value::Instance(instance) => Ok(Value::Class(instance.class.clone())),
        Value::Object(object) => Ok(Value::LibClass(object.class)),
        Value::Unknown(why) => Err(Stop::Unknown(interp.at, why)),
        Value::Lib(_) => interp.unknown("the type of something of a library is not known"),
        value => {
            let name = type_name(&value);
            let known = interp.library.lookup(&name, interp.version);
            Ok(known.unwrap_or_else(|| Value::Type(name.into())))
        }
    }
}

fn fields<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Result<Vec<(Rc<str>, Value<'a>)>, Stop> {
    match value {
        Value::Instance(instance) => Ok(instance.fields.borrow().clone()),
        Value::Object(object) => {
            Ok(object.fields.iter().map(|(name, value)| ((*name).into(), value.clone())).collect())
        }
        _ => interp.unknown(format!("the fields of a {} are not known", type_name(value))),
    }
}

fn vars<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let fields = fields(interp, &arg(bound, 0))?;
    let entries: Vec<_> = fields.into_iter().map(|(name, value)| (Value::Str(name), value)).collect();
    Ok(Value::Dict(Rc::new(entries.into())))
}

fn as_tuple<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let fields = fields(interp, &arg(bound, 0))?;
    Ok(Value::Tuple(fields.into_iter().map(|field| field.1).collect()))
}

fn slice<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let part = |at: usize| bound.rest.get(at).cloned().unwrap_or(Value::None);
    Ok(Value::Slice(Rc::new(match bound.rest.len() {
        1 => [Value::None, part(0), Value::None],
        2 | 3 => [part(0), part(1), part(2)],
        _ => return interp.raise("a slice takes one to three bounds"),
    })))
}

/// An exception is its message.
fn exception<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.rest.first() {
        Some(message) => Ok(Value::Str(display(interp, &message.clone()).unwrap_or_default().into())),
        None => Ok(Value::Str("".into())),
    }
}

fn field<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match (bound.get("default"), bound.get("default_factory")) {
        (Some(default), _) => Ok(default.clone()),
        (None, Some(factory)) => {
            let factory = factory.clone();
            call(interp, &factory, Vec::new())
        }
        (None, None) => interp.unknown("a field without a default"),
    }
}

fn replace<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let Value::Instance(instance) = arg(bound, 0) else {
        return interp.unknown(format!("a changed copy of a {} is not followed", type_name(&arg(bound, 0))));
    };
    let copy = ClassInstance { class: instance.class.clone(), fields: RefCell::new(instance.fields.borrow().clone()) };
    for (name, value) in &bound.more {
        set(&copy, name.clone(), value.clone());
    }
    Ok(Value::Instance(Rc::new(copy)))
}

fn copy<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(match arg(bound, 0) {
        Value::Instance(instance) => {
            let fields = RefCell::new(instance.fields.borrow().clone());
            Value::Instance(Rc::new(ClassInstance { class: instance.class.clone(), fields }))
        }
        value => containers::shallow(&value),
    })
}

fn deepcopy<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    deep(interp, &arg(bound, 0), 0)
}

fn deep<'a>(interp: &mut Interp<'a>, value: &Value<'a>, depth: u32) -> Eval<'a> {
    if depth > 32 {
        return interp.unknown("so deep a value is not copied");
    }
    Ok(match value {
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            let mut copies = Vec::new();
            for item in items(interp, value)? {
                copies.push(deep(interp, &item, depth + 1)?);
            }
            match value {
                Value::Tuple(_) => Value::Tuple(copies.into()),
                Value::Set(_) => Value::Set(Rc::new(copies.into())),
                _ => list(copies),
            }
        }
        Value::Dict(entries) => {
            let entries = entries.borrow().clone();
            let mut copies = Vec::new();
            for (key, value) in entries {
                copies.push((key, deep(interp, &value, depth + 1)?));
            }
            Value::Dict(Rc::new(copies.into()))
        }
        Value::Instance(instance) => {
            let fields = instance.fields.borrow().clone();
            let mut copies = Vec::new();
            for (name, value) in fields {
                copies.push((name, deep(interp, &value, depth + 1)?));
            }
            Value::Instance(Rc::new(ClassInstance { class: instance.class.clone(), fields: RefCell::new(copies) }))
        }
        Value::Host(thing) => match &**thing {
            // What is put into the copy is not put into the other one.
            Thing::Config(config) => {
                let kwargs = Rc::new(RefCell::new(config.kwargs.borrow().clone()));
                Value::Host(Rc::new(Thing::Config(AutotuneConfig { kwargs, ..config.clone() })))
            }
            _ => value.clone(),
        },
        other => other.clone(),
    })
}
