//! `argparse`: what a program is started with, by the defaults of its options.

use std::cell::RefCell;
use std::rc::Rc;

use super::open::number;
use super::thing::{OpenNumber, Options, Thing, method};
use crate::library::Args;
use crate::value::Value;

/// What a parser does.
const METHODS: &[&str] = &[
    "add_argument",
    "add_argument_group",
    "add_mutually_exclusive_group",
    "parse_args",
    "parse_known_args",
    "print_help",
    "set_defaults",
];

/// `argparse.ArgumentParser(…)`.
pub(super) fn parser<'a>() -> Value<'a> {
    Value::Host(Rc::new(Thing::Options(RefCell::default())))
}

/// `parser.name`, `options.name`.
pub(super) fn attribute<'a>(thing: &Rc<Thing<'a>>, options: &Options<'a>, name: &str) -> Value<'a> {
    let known = options.borrow().iter().find(|(option, _)| **option == *name).map(|(_, value)| value.clone());
    match known {
        Some(value) => value,
        None if METHODS.contains(&name) => {
            method(format!("argparse.ArgumentParser.{name}"), Value::Host(thing.clone()))
        }
        None => Value::Unknown(format!("`{name}` of a command line is not known").into()),
    }
}

/// `parser.name(…)`; the parser comes first.
pub(super) fn call<'a>(name: &str, args: &Args<'a>) -> Option<Value<'a>> {
    let this = args.pos.first()?;
    let Value::Host(thing) = this else { return None };
    let Thing::Options(options) = &**thing else { return None };
    match name {
        "add_argument" => {
            let (option, value) = option(args)?;
            let mut options = options.borrow_mut();
            options.retain(|(known, _)| *known != option);
            options.push((option, value));
            Some(Value::None)
        }
        "set_defaults" => {
            let mut options = options.borrow_mut();
            for (option, value) in &args.named {
                options.retain(|(known, _)| known != option);
                options.push((option.clone(), value.clone()));
            }
            Some(Value::None)
        }
        "parse_known_args" => Some(Value::Tuple([this.clone(), Value::List(Rc::default())].into())),
        // Groups put their options where the others are.
        "parse_args" | "add_argument_group" | "add_mutually_exclusive_group" => Some(this.clone()),
        _ => None,
    }
}

/// The name of an option, and what it is where nobody gives it.
fn option<'a>(args: &Args<'a>) -> Option<(Rc<str>, Value<'a>)> {
    let named = |name: &str| args.named.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
    let spellings: Vec<&Rc<str>> =
        args.pos.iter().skip(1).filter_map(|arg| if let Value::Str(text) = arg { Some(text) } else { None }).collect();
    let long = spellings.iter().find(|text| text.starts_with("--")).or_else(|| spellings.first())?;
    let name: Rc<str> = match named("dest") {
        Some(Value::Str(name)) => name.clone(),
        _ => long.trim_start_matches('-').replace('-', "_").into(),
    };
    let typed = || match named("type") {
        Some(Value::Builtin(row)) if row.path == "int" => number(OpenNumber::Int),
        Some(Value::Builtin(row)) if row.path == "float" => number(OpenNumber::Float),
        _ => Value::Unknown(format!("what `{name}` is on the command line is not known").into()),
    };
    let value = match (named("default"), named("action")) {
        (Some(default), _) => default.clone(),
        (None, Some(Value::Str(action))) if &**action == "store_true" => Value::Bool(false),
        (None, Some(Value::Str(action))) if &**action == "store_false" => Value::Bool(true),
        (None, _) if long.starts_with('-') && !matches!(named("required"), Some(Value::Bool(true))) => Value::None,
        (None, _) => typed(),
    };
    Some((name, value))
}
