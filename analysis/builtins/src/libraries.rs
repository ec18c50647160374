//! `functools`, `itertools`, `operator`, `os.path`, and what `triton` has for the host.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::values::{arg, call, items, list, string};
use crate::limits::values::ROWS;
use crate::operand;
use crate::tensor::{add, mul, operate, sub};
use python::host::limits_of;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Fixed, NOTHING, Part, Row};
use python::value::{Partial, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("functools.partial", "function, *args, **kwargs", 0, partial),
        Row::new("functools.reduce", "function, iterable, initial=None", 0, reduce),
        Row::new("functools.wraps", "wrapped, *args, **kwargs", 0, wraps),
        Row::new("functools.cache", "function", 0, itself),
        Row::new("functools.cached_property", "function", 0, itself),
        Row::new("functools.lru_cache", "function=None, **kwargs", 0, lru_cache),
        Row::new("functools.identity", "function", 0, itself),
        Row::new("itertools.product", "*iterables, repeat=1", 0, product),
        Row::new("itertools.chain", "*iterables", 0, chain),
        Row::new("itertools.chain.from_iterable", "iterables", 0, chain_from),
        Row::new("itertools.combinations", "iterable, r", 0, combinations),
        Row::new("itertools.permutations", "iterable, r=None", 0, permutations),
        Row::new("itertools.accumulate", "iterable, function=None, *, initial=None", 0, accumulate),
        Row::new("itertools.zip_longest", "*iterables, fillvalue=None", 0, zip_longest),
        Row::new("itertools.repeat", "value, times", 0, repeat),
        Row::new("operator.add", "a, b", 0, add),
        Row::new("operator.sub", "a, b", 0, sub),
        Row::new("operator.mul", "a, b", 0, mul),
        Row::new("operator.floordiv", "a, b", 0, floor_div),
        Row::new("operator.mod", "a, b", 0, modulo),
        Row::new("operator.xor", "a, b", 0, xor),
        Row::new("operator.or_", "a, b", 0, or),
        Row::new("operator.and_", "a, b", 0, and),
        Row::new("os.path.join", "*parts", 0, path_join),
        Row::new("os.path.dirname", "path", 0, path_dirname),
        Row::new("os.path.basename", "path", 0, path_basename),
        Row::new("os.path.abspath", "path", 0, itself),
        Row::new("os.path.realpath", "path", 0, itself),
        Row::new("os.path.normpath", "path", 0, itself),
        Row::new("os.environ.get", "name, default=None", 0, environ),
        // No file was imported before.
        Row::new("sys.modules.get", "name, default=None", 0, environ),
        Row::new("os.getenv", "name, default=None", 0, environ),
        // Marks of a profile: they touch nothing of the kernel's.
        Row::new("triton.profiler.language.enter_scope", "name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.exit_scope", "name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.scope", "name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.record", "is_start, scope_name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.enable_semantic", "semantic_name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.disable_semantic", "semantic_name", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.allocate_event", "name", 0, itself),
        Row::new("triton.profiler.language.record_event", "event, is_start", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.start_event", "event", 0, |_, _| Ok(Value::None)),
        Row::new("triton.profiler.language.end_event", "event", 0, |_, _| Ok(Value::None)),
        Row::new("torch.finfo", "type", 0, |_, bound| Ok(limits_of(bound.at(0)))),
        Row::new("torch.iinfo", "type", 0, |_, bound| Ok(limits_of(bound.at(0)))),
        Row::new("tl.standard._log2", "i", 0, log2),
        Row::new("triton.cdiv", "x, y", 0, cdiv),
        Row::new("triton.next_power_of_2", "n", 0, next_power_of_2),
        // The kernel is what it was.
        Row::new("torch.library.wrap_triton", "triton_kernel", 0, itself),
        Row::new("torch._library.capture_triton", "triton_kernel", 0, itself),
        Row::new("torch._library.triton.wrap_triton", "triton_kernel", 0, itself),
        Row::new("torch._library.triton.capture_triton", "triton_kernel", 0, itself),
        Row::new("importlib.util.find_spec", "name, package=None", 0, find_spec),
        // What is imported is there by its name.
        Row::new("importlib.machinery.SourceFileLoader.exec_module", "module", 0, |_, _| Ok(Value::None)),
        Row::new(
            "collections.namedtuple",
            "typename, field_names, *, rename=False, defaults=None, module=None",
            0,
            named_tuple,
        ),
        Row::new("typing.cast", "type, value", 0, second),
        Row::new("typing.TypeVar", "name, *args, **kwargs", 0, type_variable),
        Row::new("textwrap.dedent", "text", 0, itself),
    ],
    constants: &[
        ("typing.Any", Fixed::Type("typing.Any")),
        ("typing.Callable", Fixed::Type("typing.Callable")),
        ("typing.Optional", Fixed::Type("typing.Optional")),
        ("typing.Union", Fixed::Type("typing.Union")),
        ("typing.List", Fixed::Type("typing.List")),
        ("typing.Tuple", Fixed::Type("typing.Tuple")),
        ("typing.Dict", Fixed::Type("typing.Dict")),
        ("typing.Sequence", Fixed::Type("typing.Sequence")),
        ("typing.NamedTuple", Fixed::Type("typing.NamedTuple")),
        ("typing.TYPE_CHECKING", Fixed::Bool(false)),
        ("enum.Enum", Fixed::Type("enum.Enum")),
        ("enum.IntEnum", Fixed::Type("enum.IntEnum")),
        ("enum.Flag", Fixed::Type("enum.Flag")),
        ("__debug__", Fixed::Bool(true)),
    ],
    ..NOTHING
};

/// The exponent of the largest power of two that is not above a number; 0 below 1.
fn log2<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = operand::int(interp, &arg(bound, 0), "i")?;
    Ok(Value::Int(of.checked_ilog2().unwrap_or(0).into()))
}

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn second<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 1))
}

/// Whoever has kernels has Triton and torch, and of Triton the modules that this release has.
fn find_spec<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let name = string(interp, &arg(bound, 0))?;
    let of_triton = name.starts_with("triton.") && interp.library.lookup(&name, interp.version).is_some();
    if !of_triton && !matches!(&*name, "triton" | "torch") {
        return interp.unknown(format!("whether there is a package `{name}` is not known"));
    }
    let class = interp.named_tuple("ModuleSpec", &["name", "loader"])?;
    call(interp, &class, vec![Value::Str(name), Value::Lib("importlib.machinery.SourceFileLoader".into())])
}

fn named_tuple<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if !matches!(bound.get("defaults"), None | Some(Value::None)) {
        return interp.unknown("a named tuple with defaults is not followed");
    }
    let name = string(interp, &arg(bound, 0))?;
    let fields: Vec<Rc<str>> = match arg(bound, 1) {
        Value::Str(text) => text.replace(',', " ").split_whitespace().map(Rc::from).collect(),
        list => {
            let items = crate::values::items(interp, &list)?;
            items.iter().map(|item| string(interp, item)).collect::<Result<_, _>>()?
        }
    };
    let fields: Vec<&str> = fields.iter().map(|field| &**field).collect();
    interp.named_tuple(&name, &fields)
}

fn type_variable<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Type(string(interp, &arg(bound, 0))?))
}

fn partial<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (function, args, named) = (arg(bound, 0), bound.rest.clone(), bound.more.clone());
    Ok(Value::Partial(Rc::new(Partial { function, args, named })))
}

fn reduce<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let function = arg(bound, 0);
    let mut values = items(interp, &arg(bound, 1))?.into_iter();
    let start = bound.at(2).cloned().or_else(|| values.next());
    let Some(mut result) = start else { return interp.raise("there is nothing to reduce") };
    for value in values {
        result = call(interp, &function, vec![result, value])?;
    }
    Ok(result)
}

/// A decorator that changes nothing.
fn identity<'a>(interp: &Interp<'a>) -> Eval<'a> {
    match interp.library.lookup("functools.identity", interp.version) {
        Some(row) => Ok(row),
        None => interp.unknown("this decorator is not followed"),
    }
}

fn wraps<'a>(interp: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    identity(interp)
}

fn lru_cache<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        Some(function @ (Value::Function(_) | Value::Builtin(_) | Value::Partial(_))) => Ok(function.clone()),
        _ => identity(interp),
    }
}

fn product<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let repeat = match bound.get("repeat") {
        Some(repeat) => usize::try_from(interp.int(&repeat.clone())?).unwrap_or(0).min(16),
        None => 1,
    };
    let mut columns = Vec::new();
    for column in &bound.rest {
        columns.push(items(interp, column)?);
    }
    let mut rows: Vec<Vec<Value<'a>>> = vec![Vec::new()];
    for column in std::iter::repeat_n(&columns, repeat).flatten() {
        if rows.len().saturating_mul(column.len()) > ROWS {
            return interp.unknown("so many combinations are not made");
        }
        let longer = |row: &Vec<Value<'a>>| {
            let row = row.clone();
            column.iter().map(move |value| row.iter().cloned().chain([value.clone()]).collect())
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Ok(tuples(rows))
}

fn tuples<'a>(rows: Vec<Vec<Value<'a>>>) -> Value<'a> {
    list(rows.into_iter().map(|row| Value::Tuple(row.into())).collect())
}

fn chain<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    chained(interp, &bound.rest)
}

fn chain_from<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let parts = items(interp, &arg(bound, 0))?;
    chained(interp, &parts)
}

fn chained<'a>(interp: &mut Interp<'a>, parts: &[Value<'a>]) -> Eval<'a> {
    let mut all = Vec::new();
    for part in parts {
        all.extend(items(interp, part)?);
    }
    Ok(list(all))
}

fn size<'a>(interp: &mut Interp<'a>, value: Option<&Value<'a>>, all: usize) -> Result<usize, Stop> {
    match value {
        None | Some(Value::None) => Ok(all),
        Some(value) => Ok(usize::try_from(interp.int(value)?).unwrap_or(0)),
    }
}

fn combinations<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    choose(interp, bound, |row, at| row.last().is_none_or(|last| *last < at))
}

fn permutations<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    choose(interp, bound, |row, at| !row.contains(&at))
}

/// Rows of places, each longer by those that `goes` lets follow.
fn choose<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, goes: fn(&[usize], usize) -> bool) -> Eval<'a> {
    let values = items(interp, &arg(bound, 0))?;
    let length = size(interp, bound.at(1), values.len())?;
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..length.min(values.len() + 1) {
        if rows.len().saturating_mul(values.len()) > ROWS {
            return interp.unknown("so many combinations are not made");
        }
        let mut longer = Vec::new();
        for row in &rows {
            let next = (0..values.len()).filter(|at| goes(row, *at));
            longer.extend(next.map(|at| row.iter().copied().chain([at]).collect()));
        }
        rows = longer;
    }
    Ok(tuples(rows.into_iter().map(|row| row.into_iter().filter_map(|at| values.get(at).cloned()).collect()).collect()))
}

fn accumulate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let function = arg(bound, 1);
    let start = bound.get("initial").filter(|initial| !matches!(initial, Value::None)).cloned();
    let mut sums: Vec<Value<'a>> = start.into_iter().collect();
    for value in items(interp, &arg(bound, 0))? {
        let next = match (sums.last().cloned(), &function) {
            (None, _) => value,
            (Some(sum), Value::None) => interp.binary(Operator::Add, &sum, &value)?,
            (Some(sum), function) => call(interp, function, vec![sum, value])?,
        };
        sums.push(next);
    }
    Ok(list(sums))
}

fn zip_longest<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let fill = bound.get("fillvalue").cloned().unwrap_or(Value::None);
    let mut columns = Vec::new();
    for column in &bound.rest {
        columns.push(items(interp, column)?);
    }
    let length = columns.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| columns.iter().map(|column| column.get(at).unwrap_or(&fill).clone()).collect();
    Ok(tuples((0..length).map(row).collect()))
}

fn repeat<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let times = size(interp, bound.at(1), 0)?.min(ROWS);
    Ok(list(vec![arg(bound, 0); times]))
}

fn floor_div<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::FloorDiv)
}

fn modulo<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::Mod)
}

fn xor<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::BitXor)
}

fn or<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::BitOr)
}

fn and<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::BitAnd)
}

fn path_join<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut path = String::new();
    for part in &bound.rest {
        let part = string(interp, part)?;
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(&part);
    }
    Ok(Value::Str(path.into()))
}

fn path_dirname<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let path = string(interp, &arg(bound, 0))?;
    Ok(Value::Str(path.rsplit_once('/').map_or("", |(folder, _)| folder).into()))
}

fn path_basename<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let path = string(interp, &arg(bound, 0))?;
    Ok(Value::Str(path.rsplit_once('/').map_or(&*path, |(_, name)| name).into()))
}

/// The environment is taken to be empty.
fn environ<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 1))
}

fn cdiv<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    crate::tensor::ceil_div(interp, &arg(bound, 0), &arg(bound, 1))
}

fn next_power_of_2<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let n = interp.int(&arg(bound, 0))?;
    let power = u128::try_from(n).ok().and_then(|n| n.max(1).checked_next_power_of_two());
    match power {
        Some(power) if n > 0 => Ok(Value::Int(power as i128)),
        _ => Ok(Value::Int(0)),
    }
}
