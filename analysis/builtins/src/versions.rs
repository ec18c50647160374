//! Releases of packages, as host code asks for them, and comparisons as functions.
//!
//! Deviation: a release is the tuple of its numbers, so that what is asked of it beside its order is not followed.

use ruff_python_ast::CmpOp;

use super::values::{arg, string};
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("operator.eq", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::Eq)),
        Row::new("operator.ne", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::NotEq)),
        Row::new("operator.lt", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::Lt)),
        Row::new("operator.le", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::LtE)),
        Row::new("operator.gt", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::Gt)),
        Row::new("operator.ge", "a, b", 0, |interp, bound| compare(interp, bound, CmpOp::GtE)),
        Row::new("packaging.version.parse", "version", 0, release),
        Row::new("packaging.version.Version", "version", 0, release),
        Row::new("importlib.metadata.version", "distribution_name", 0, |interp, bound| {
            let name = string(interp, &arg(bound, 0))?;
            if &*name == "triton" {
                return Ok(Value::Str(format!("{}.{}.0", interp.version.0, interp.version.1).into()));
            }
            interp.unknown(format!("the release of `{name}` is not known"))
        }),
    ],
    ..NOTHING
};

fn compare<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: CmpOp) -> Eval<'a> {
    interp.compare(op, &arg(bound, 0), &arg(bound, 1))
}

/// `3.9.0+git1234` as `(3, 9, 0)`.
fn release<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 0);
    if matches!(value, Value::Tuple(_)) {
        return Ok(value);
    }
    let text = string(interp, &value)?;
    let numbers = text.trim_start_matches('v').split('.').map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        (part.get(..end).and_then(|digits| digits.parse::<i128>().ok()), end == part.len())
    });
    let mut release = Vec::new();
    for (number, whole) in numbers {
        release.extend(number.map(Value::Int));
        if !whole {
            break;
        }
    }
    // `3.9` is `3.9.0`.
    while (1..3).contains(&release.len()) {
        release.push(Value::Int(0));
    }
    if release.is_empty() {
        return interp.raise(format!("`{text}` is no release"));
    }
    Ok(Value::Tuple(release.into()))
}
