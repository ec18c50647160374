//! `pathlib`: a path is its text.

use super::values::{arg, list, string};
use python::eval::join_paths;
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("pathlib.Path", "*parts", 0, of_parts),
        Row::new("pathlib.PurePath", "*parts", 0, of_parts),
        Row::new("str.@parent", "self", 0, parent),
        Row::new("str.@parents", "self", 0, parents),
        Row::new("str.@name", "self", 0, name),
        Row::new("str.@stem", "self", 0, stem),
        Row::new("str.resolve", "self, strict=False", 0, itself),
        Row::new("str.absolute", "self", 0, itself),
        Row::new("str.as_posix", "self", 0, itself),
        Row::new("str.with_name", "self, name", 0, with_name),
        Row::new("str.joinpath", "self, *parts", 0, joined),
    ],
    ..NOTHING
};

fn folder(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn value<'a>(path: impl Into<std::rc::Rc<str>>) -> Value<'a> {
    Value::Str(path.into())
}

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn of_parts<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut path = String::new();
    for part in &bound.rest {
        path = join_paths(&path, &string(interp, part)?);
    }
    Ok(value(path))
}

fn joined<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut path = string(interp, &arg(bound, 0))?.to_string();
    for part in &bound.rest {
        path = join_paths(&path, &string(interp, part)?);
    }
    Ok(value(path))
}

fn parent<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(value(folder(&string(interp, &arg(bound, 0))?)))
}

fn parents<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let path = string(interp, &arg(bound, 0))?;
    let mut all = Vec::new();
    let mut path = &*path;
    while folder(path) != path {
        path = folder(path);
        all.push(value(path));
    }
    Ok(list(all))
}

fn name<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(value(last(&string(interp, &arg(bound, 0))?)))
}

fn stem<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let path = string(interp, &arg(bound, 0))?;
    let name = last(&path);
    Ok(value(name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })))
}

fn with_name<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (path, name) = (string(interp, &arg(bound, 0))?, string(interp, &arg(bound, 1))?);
    Ok(value(join_paths(folder(&path), &name)))
}
