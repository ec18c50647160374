//! Values of a recipe.

use std::fmt;
use std::path::Path;

use super::fill::default_fill;
use super::npy;
use super::spec::{ArgumentValue, ArraySpec, Fill};
use tensors::array::ElemType;

/// What is wrong with a value: where in it, and in words.
pub(super) struct ValueError {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) message: String,
}

/// Reads a value; files are looked for from `folder` on, and without one not at all.
pub(super) fn read(text: &str, folder: Option<&Path>) -> Result<ArgumentValue, ValueError> {
    if let Some(number) = number(text) {
        return Ok(number);
    }
    let whole = |message: String| ValueError { at: 0, length: text.len(), message };
    if unquoted(text) != text {
        return Ok(ArgumentValue::Python(text.to_owned()));
    }
    if let Some(("file", parts)) = call(text) {
        let (path, member) = file(&parts, folder).map_err(whole)?;
        if folder.is_none() {
            return Ok(ArgumentValue::Python(text.to_owned()));
        }
        let (dtype, unsigned, shape) = npy::peek(&path, member.as_deref()).map_err(whole)?;
        let fill = Fill::File(path, member);
        return Ok(ArgumentValue::Array(ArraySpec { dtype, unsigned, shape, strides: None, fill }));
    }
    if let Some(open) = text.find('[').filter(|open| text.get(..*open).is_some_and(is_word)) {
        return array(text, open, folder).map(ArgumentValue::Array);
    }
    let starts = |c: char| c.is_alphabetic() || matches!(c, '_' | '(' | '[' | '{');
    if text.starts_with(starts) {
        return Ok(ArgumentValue::Python(text.to_owned()));
    }
    Err(whole(format!(
        "`{text}` is no value: a number, a tensor `f16[64,64]:normal`, a string in quotes, or an expression of Python"
    )))
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A number or a truth value.
fn number(text: &str) -> Option<ArgumentValue> {
    match text {
        "True" | "true" => return Some(ArgumentValue::Bool(true)),
        "False" | "false" => return Some(ArgumentValue::Bool(false)),
        _ => {}
    }
    let digits = text.replace('_', "");
    let (sign, rest) = digits.strip_prefix('-').map_or((1, digits.as_str()), |rest| (-1, rest));
    if let Some(hex) = rest.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(|value| ArgumentValue::Int(sign * value));
    }
    if let Ok(value) = digits.parse::<i64>() {
        return Some(ArgumentValue::Int(value));
    }
    let shaped = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') || matches!(rest, "inf" | "nan" | "NaN");
    digits.parse::<f64>().ok().filter(|_| shaped).map(ArgumentValue::Float)
}

/// `f16[256,64]@(64,1):normal`, of which `[` is at `open`.
fn array(text: &str, open: usize, folder: Option<&Path>) -> Result<ArraySpec, ValueError> {
    let name = text.get(..open).unwrap_or("");
    let dtype = ElemType::named(name).ok_or_else(|| ValueError {
        at: 0,
        length: open,
        message: format!(
            "`{name}` is no type of elements; there are `f16`, `bf16`, `f32`, `f8E4M3FN`, `i32` and others"
        ),
    })?;
    let unsigned = ElemType::is_unsigned_name(name);
    let rest = text.get(open + 1..).unwrap_or("");
    let (inner, rest) = rest.split_once(']').unwrap_or((rest, ""));
    let wrong =
        |part: &str, at: usize, message: &str| ValueError { at, length: part.len(), message: message.to_owned() };
    let shape = sizes(inner).ok_or_else(|| wrong(inner, open + 1, "these are no sizes; write `f16[64, 64]`"))?;
    let mut strides = None;
    let mut rest = rest;
    if let Some(after) = rest.strip_prefix("@(") {
        let (inner, behind) = after.split_once(')').unwrap_or((after, ""));
        let at = text.len() - after.len();
        let read = sizes(inner).filter(|strides| strides.len() == shape.len());
        strides = Some(read.ok_or_else(|| wrong(inner, at, "there are as many strides as sizes, in elements"))?);
        rest = behind;
    }
    let at = text.len() - rest.len();
    let fill = match rest.strip_prefix(':') {
        Some(fill) => self::fill(fill, folder).map_err(|message| wrong(fill, at + 1, &message))?,
        None if rest.is_empty() => default_fill(dtype, unsigned),
        None => return Err(wrong(rest, at, "what is in a tensor stands behind a colon: `f16[64, 64]:normal`")),
    };
    Ok(ArraySpec { dtype, unsigned, shape, strides, fill })
}

/// Whether an expression of Python is read back as it is.
fn is_one_word(text: &str) -> bool {
    unquoted(text) != text
        || !has_gap(text)
            && number(text).is_none()
            && matches!(read(text, Some(Path::new(""))), Ok(ArgumentValue::Python(_)))
}

/// Whether a text has white space outside of brackets.
fn has_gap(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c.is_whitespace()
    })
}

fn sizes(text: &str) -> Option<Vec<u64>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.replace('_', "").parse().ok()).collect()
}

/// Text without the quotes around it.
pub(super) fn unquoted(text: &str) -> &str {
    let quoted = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    quoted('\'').or_else(|| quoted('"')).unwrap_or(text)
}

/// `NAME(A, B)`, or a name alone.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, Vec::new())) };
    let inner = rest.strip_suffix(')')?;
    Some((name, inner.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()))
}

fn fill(text: &str, folder: Option<&Path>) -> Result<Fill, String> {
    let unknown = || {
        format!(
            "`{text}` is no fill; there are `zeros`, `ones`, `value(1.5)`, `empty`, `arange`, `normal(0, 1)`, \
             `uniform(-1, 1)` and `file(x.npy)`"
        )
    };
    let (name, parts) = call(text).ok_or_else(unknown)?;
    let numbers: Option<Vec<f64>> = parts.iter().map(|part| part.parse().ok()).collect();
    match (name, numbers.as_deref()) {
        ("file", _) => file(&parts, folder).map(|(path, member)| Fill::File(path, member)),
        ("zeros", Some([])) => Ok(Fill::Value(0.0)),
        ("ones", Some([])) => Ok(Fill::Value(1.0)),
        ("empty", Some([])) => Ok(Fill::Empty),
        ("nan", Some([])) => Ok(Fill::Value(f64::NAN)),
        ("value", Some([value])) => Ok(Fill::Value(*value)),
        ("arange", Some([])) => Ok(Fill::Arange),
        ("normal" | "randn", Some([])) => Ok(Fill::Normal(0.0, 1.0)),
        ("normal", Some([mean, deviation])) => Ok(Fill::Normal(*mean, *deviation)),
        ("uniform" | "rand", Some([])) => Ok(Fill::Uniform(0.0, 1.0)),
        ("uniform" | "randint", Some([low, high])) if low < high => Ok(Fill::Uniform(*low, *high)),
        ("uniform" | "randint", Some([_, _])) => Err("the bounds are the lower one and the upper one".to_owned()),
        _ => Err(unknown()),
    }
}

fn file(parts: &[&str], folder: Option<&Path>) -> Result<(std::path::PathBuf, Option<String>), String> {
    let folder = folder.unwrap_or(Path::new(""));
    match parts {
        [path] => Ok((folder.join(unquoted(path)), None)),
        [path, member] => Ok((folder.join(unquoted(path)), Some(unquoted(member).to_owned()))),
        _ => Err("write `file(x.npy)` or `file(x.npz, member)`".to_owned()),
    }
}

impl fmt::Display for ArgumentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentValue::Int(value) => write!(f, "{value}"),
            ArgumentValue::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            ArgumentValue::Float(value) => write!(f, "{value:?}"),
            ArgumentValue::Array(spec) => spec.fmt(f),
            // In brackets it is one word whatever is in it, and no number and no tensor.
            ArgumentValue::Python(text) if is_one_word(text) => f.write_str(text),
            ArgumentValue::Python(text) => write!(f, "({text})"),
        }
    }
}

impl fmt::Display for ArraySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}[{}]", self.type_name(), list(&self.shape))?;
        if let Some(strides) = &self.strides {
            write!(f, "@({})", list(strides))?;
        }
        write!(f, ":{}", self.fill)
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Value(0.0) => f.write_str("zeros"),
            Fill::Value(1.0) => f.write_str("ones"),
            Fill::Value(value) => write!(f, "value({value:?})"),
            Fill::Empty => f.write_str("empty"),
            Fill::Arange => f.write_str("arange"),
            Fill::Normal(0.0, 1.0) => f.write_str("normal"),
            Fill::Normal(mean, deviation) => write!(f, "normal({mean},{deviation})"),
            Fill::Uniform(low, high) => write!(f, "uniform({low},{high})"),
            Fill::File(path, None) => write!(f, "file('{}')", path.display()),
            Fill::File(path, Some(member)) => write!(f, "file('{}',{member})", path.display()),
        }
    }
}
