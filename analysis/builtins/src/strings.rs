//! Methods of `str`.

use std::rc::Rc;

use super::text;
use super::values::{arg, items, list, string};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("str.split", "self, sep=None, maxsplit=-1", 0, split),
        Row::new("str.rsplit", "self, sep=None, maxsplit=-1", 0, rsplit),
        Row::new("str.splitlines", "self, keepends=False", 0, splitlines),
        Row::new("str.partition", "self, sep", 0, partition),
        Row::new("str.join", "self, iterable", 0, join),
        Row::new("str.startswith", "self, prefix", 0, starts),
        Row::new("str.endswith", "self, suffix", 0, ends),
        Row::new("str.strip", "self, chars=None", 0, strip),
        Row::new("str.lstrip", "self, chars=None", 0, lstrip),
        Row::new("str.rstrip", "self, chars=None", 0, rstrip),
        Row::new("str.removeprefix", "self, prefix", 0, remove_prefix),
        Row::new("str.removesuffix", "self, suffix", 0, remove_suffix),
        Row::new("str.replace", "self, old, new, count=-1", 0, replace),
        Row::new("str.upper", "self", 0, upper),
        Row::new("str.lower", "self", 0, lower),
        Row::new("str.title", "self", 0, title),
        Row::new("str.capitalize", "self", 0, title),
        Row::new("str.find", "self, sub", 0, find),
        Row::new("str.index", "self, sub", 0, index),
        Row::new("str.count", "self, sub", 0, count),
        Row::new("str.isdigit", "self", 0, is_digit),
        Row::new("str.isalpha", "self", 0, is_alpha),
        Row::new("str.isidentifier", "self", 0, is_identifier),
        Row::new("str.zfill", "self, width", 0, zfill),
        Row::new("str.ljust", "self, width, fill=' '", 0, ljust),
        Row::new("str.rjust", "self, width, fill=' '", 0, rjust),
        Row::new("str.encode", "self, encoding=None", 0, itself),
        Row::new("str.format", "self, *args, **kwargs", 0, format),
    ],
    ..NOTHING
};

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn str<'a>(text: impl Into<Rc<str>>) -> Value<'a> {
    Value::Str(text.into())
}

fn this<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<str>, Stop> {
    string(interp, &arg(bound, 0))
}

fn other<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<str>, Stop> {
    string(interp, &arg(bound, 1))
}

fn split<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    cut(interp, bound, false)
}

fn rsplit<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    cut(interp, bound, true)
}

fn cut<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, from_end: bool) -> Eval<'a> {
    let text = this(interp, bound)?;
    let most = match bound.at(2) {
        Some(most) => usize::try_from(interp.int(&most.clone())?).unwrap_or(usize::MAX - 1),
        None => usize::MAX - 1,
    };
    let parts: Vec<Value<'a>> = match bound.at(1) {
        None | Some(Value::None) => text.split_whitespace().map(str).collect(),
        Some(by) => {
            let by = string(interp, by)?;
            if by.is_empty() {
                return interp.raise("a text cannot be split at an empty one");
            }
            if from_end {
                let mut parts: Vec<_> = text.rsplitn(most + 1, &*by).map(str).collect();
                parts.reverse();
                parts
            } else {
                text.splitn(most + 1, &*by).map(str).collect()
            }
        }
    };
    Ok(list(parts))
}

fn splitlines<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(list(this(interp, bound)?.lines().map(str).collect()))
}

fn partition<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (text, by) = (this(interp, bound)?, other(interp, bound)?);
    let (head, by, tail) = text.split_once(&*by).map_or((&*text, "", ""), |(head, tail)| (head, &*by, tail));
    Ok(Value::Tuple(Rc::from([str(head), str(by), str(tail)])))
}

fn join<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let parts = items(interp, &arg(bound, 1))?;
    Ok(Value::Str(text::join(interp, &this(interp, bound)?, &parts)?))
}

/// Whether one of the texts that an argument gives fits.
fn some<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, fits: fn(&str, &str) -> bool) -> Eval<'a> {
    let text = this(interp, bound)?;
    let wanted = match arg(bound, 1) {
        Value::Tuple(several) => several.to_vec(),
        one => vec![one],
    };
    for one in &wanted {
        if fits(&text, &string(interp, one)?) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn starts<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    some(interp, bound, |text, with| text.starts_with(with))
}

fn ends<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    some(interp, bound, |text, with| text.ends_with(with))
}

fn stripped<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, left: bool, right: bool) -> Eval<'a> {
    let text = this(interp, bound)?;
    let chars: Option<Vec<char>> = match bound.at(1) {
        None | Some(Value::None) => None,
        Some(chars) => Some(string(interp, chars)?.chars().collect()),
    };
    let goes = |c: char| chars.as_ref().map_or(c.is_whitespace(), |chars| chars.contains(&c));
    let mut rest: &str = &text;
    if left {
        rest = rest.trim_start_matches(goes);
    }
    if right {
        rest = rest.trim_end_matches(goes);
    }
    Ok(str(rest))
}

fn strip<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    stripped(interp, bound, true, true)
}

fn lstrip<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    stripped(interp, bound, true, false)
}

fn rstrip<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    stripped(interp, bound, false, true)
}

fn remove_prefix<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (text, prefix) = (this(interp, bound)?, other(interp, bound)?);
    Ok(str(text.strip_prefix(&*prefix).unwrap_or(&text)))
}

fn remove_suffix<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (text, suffix) = (this(interp, bound)?, other(interp, bound)?);
    Ok(str(text.strip_suffix(&*suffix).unwrap_or(&text)))
}

fn replace<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (text, old, new) = (this(interp, bound)?, other(interp, bound)?, string(interp, &arg(bound, 2))?);
    let most = match bound.at(3) {
        Some(most) => interp.int(&most.clone())?,
        None => -1,
    };
    Ok(str(match usize::try_from(most) {
        Ok(most) => text.replacen(&*old, &new, most),
        Err(_) => text.replace(&*old, &new),
    }))
}

fn upper<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(str(this(interp, bound)?.to_uppercase()))
}

fn lower<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(str(this(interp, bound)?.to_lowercase()))
}

fn title<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let text = this(interp, bound)?;
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    Ok(str(first + &chars.as_str().to_lowercase()))
}

fn place(text: &str, of: &str) -> Option<i128> {
    let at = text.find(of)?;
    Some(text.get(..at)?.chars().count() as i128)
}

fn find<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(place(&this(interp, bound)?, &other(interp, bound)?).unwrap_or(-1)))
}

fn index<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match place(&this(interp, bound)?, &other(interp, bound)?) {
        Some(at) => Ok(Value::Int(at)),
        None => interp.raise("the text is not found"),
    }
}

fn count<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(this(interp, bound)?.matches(&*other(interp, bound)?).count() as i128))
}

fn every<'a>(interp: &Interp<'a>, bound: &Bound<'a>, is: fn(char) -> bool) -> Eval<'a> {
    let text = this(interp, bound)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(is)))
}

fn is_digit<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    every(interp, bound, |c| c.is_ascii_digit())
}

fn is_alpha<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    every(interp, bound, char::is_alphabetic)
}

fn is_identifier<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let text = this(interp, bound)?;
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    Ok(Value::Bool(text.chars().all(inside) && text.chars().next().is_some_and(|c| !c.is_numeric())))
}

fn padded<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, fill: char, left: bool) -> Eval<'a> {
    let text = this(interp, bound)?;
    let width = usize::try_from(interp.int(&arg(bound, 1))?).unwrap_or(0).min(1 << 12);
    let missing: String = std::iter::repeat_n(fill, width.saturating_sub(text.chars().count())).collect();
    Ok(str(if left { missing + &text } else { text.to_string() + &missing }))
}

fn zfill<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    padded(interp, bound, '0', true)
}

fn fill<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<char, Stop> {
    let fill = match bound.at(2) {
        Some(fill) => string(interp, fill)?.chars().next(),
        None => None,
    };
    Ok(fill.unwrap_or(' '))
}

fn ljust<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let fill = fill(interp, bound)?;
    padded(interp, bound, fill, false)
}

fn rjust<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let fill = fill(interp, bound)?;
    padded(interp, bound, fill, true)
}

/// Fields are numbers, names or nothing; attributes and items of them are not followed.
fn format<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pattern = this(interp, bound)?;
    let (mut out, mut rest, mut next) = (String::new(), &*pattern, 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(rest.get(..at).unwrap_or(""));
        let brace = rest.get(at..=at).unwrap_or("");
        rest = rest.get(at + 1..).unwrap_or("");
        if let Some(after) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let Some((field, after)) = rest.split_once('}') else { return interp.raise("a brace is not closed") };
        rest = after;
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let value = match name.parse::<usize>() {
            _ if name.is_empty() => {
                next += 1;
                bound.rest.get(next - 1)
            }
            Ok(at) => bound.rest.get(at),
            Err(_) => bound.more.iter().find(|(key, _)| **key == *name).map(|(_, value)| value),
        };
        let Some(value) = value.cloned() else { return interp.unknown("a field of the text is not followed") };
        out.push_str(&text::format(interp, &value, spec)?);
    }
    out.push_str(rest);
    Ok(str(out))
}
