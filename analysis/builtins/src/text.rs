//! Values as text: `str`, `repr`, and what stands between the braces of an f-string.

use std::fmt::Write;
use std::rc::Rc;

use super::kinds::type_name;
use super::values::arg;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{ClassKind, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("str", "obj=''", 0, str),
        Row::new("repr", "obj", 0, repr_of),
        Row::new("ascii", "obj", 0, repr_of),
        Row::new("format", "value, spec=''", 0, format_of),
        Row::new("print", "*values, **kwargs", 0, nothing),
        Row::new("hex", "number", 0, hex),
        Row::new("bin", "number", 0, bin),
        Row::new("oct", "number", 0, oct),
        Row::new("chr", "number", 0, chr),
        Row::new("ord", "text", 0, ord),
    ],
    ..NOTHING
};

fn nothing<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::None)
}

fn str<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        None => Ok(Value::Str("".into())),
        Some(value) => Ok(Value::Str(display(interp, value)?.into())),
    }
}

fn repr_of<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Str(repr(interp, &arg(bound, 0))?.into()))
}

fn format_of<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let spec = match bound.at(1) {
        Some(spec) => super::values::string(interp, spec)?,
        None => "".into(),
    };
    Ok(Value::Str(format(interp, &arg(bound, 0), &spec)?.into()))
}

fn hex<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    radix(interp, bound, 'x')
}

fn bin<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    radix(interp, bound, 'b')
}

fn oct<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    radix(interp, bound, 'o')
}

fn radix<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, base: char) -> Eval<'a> {
    let number = interp.int(&arg(bound, 0))?;
    let digits = in_base(number.unsigned_abs(), base);
    let sign = if number < 0 { "-" } else { "" };
    Ok(Value::Str(format!("{sign}0{base}{digits}").into()))
}

fn in_base(number: u128, base: char) -> String {
    match base {
        'x' => format!("{number:x}"),
        'X' => format!("{number:X}"),
        'b' => format!("{number:b}"),
        'o' => format!("{number:o}"),
        _ => number.to_string(),
    }
}

fn chr<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let number = interp.int(&arg(bound, 0))?;
    match u32::try_from(number).ok().and_then(char::from_u32) {
        Some(c) => Ok(Value::Str(c.to_string().into())),
        None => interp.raise("`chr` is given no character's number"),
    }
}

fn ord<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let text = super::values::string(interp, &arg(bound, 0))?;
    match text.chars().next() {
        Some(c) => Ok(Value::Int(i128::from(u32::from(c)))),
        None => interp.raise("`ord` is given no character"),
    }
}

/// `str(value)`.
pub fn display<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<String, Stop> {
    match value {
        Value::Str(text) => Ok(text.to_string()),
        _ => repr(interp, value),
    }
}

/// `repr(value)`.
pub(super) fn repr<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<String, Stop> {
    let mut text = String::new();
    write(interp, &mut text, value, 0)?;
    Ok(text)
}

fn write<'a>(interp: &mut Interp<'a>, text: &mut String, value: &Value<'a>, depth: u32) -> Result<(), Stop> {
    if depth > 24 || text.len() > 1 << 16 {
        return interp.unknown("so large a value is not put into a text");
    }
    match value {
        Value::None => text.push_str("None"),
        Value::Ellipsis => text.push_str("Ellipsis"),
        Value::Bool(value) => text.push_str(if *value { "True" } else { "False" }),
        Value::Int(value) => put(text, format_args!("{value}")),
        Value::Float(value) => text.push_str(&float(*value)),
        Value::Str(value) => put(text, format_args!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))),
        Value::Tuple(items) => {
            let end = if items.len() == 1 { ",)" } else { ")" };
            sequence(interp, text, "(", items, end, depth)?;
        }
        Value::List(items) => {
            let items = items.borrow().clone();
            sequence(interp, text, "[", &items, "]", depth)?;
        }
        Value::Set(items) => {
            let items = items.borrow().clone();
            sequence(interp, text, "{", &items, "}", depth)?;
        }
        Value::Dict(entries) => {
            let entries = entries.borrow().clone();
            text.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write(interp, text, key, depth + 1)?;
                text.push_str(": ");
                write(interp, text, value, depth + 1)?;
            }
            text.push('}');
        }
        Value::DType(dtype) => text.push_str(&(*dtype).short_name()),
        Value::Type(name) | Value::Lib(name) => text.push_str(name),
        Value::Class(class) => text.push_str(&class.def.name),
        Value::LibClass(class) => text.push_str(class.path.rsplit('.').next().unwrap_or(class.path)),
        Value::Function(function) => text.push_str(function.def.name()),
        Value::Builtin(row) => text.push_str(row.what()),
        Value::Object(object) => {
            put(text, format_args!("{}(", type_name(value)));
            for (at, (name, field)) in object.fields.iter().enumerate() {
                put(text, format_args!("{}{name}=", if at == 0 { "" } else { ", " }));
                write(interp, text, field, depth + 1)?;
            }
            text.push(')');
        }
        Value::Instance(instance) if instance.class.kind != ClassKind::Plain => {
            put(text, format_args!("{}(", instance.class.def.name));
            let fields = instance.fields.borrow().clone();
            for (at, (name, field)) in fields.iter().enumerate() {
                put(text, format_args!("{}{name}=", if at == 0 { "" } else { ", " }));
                write(interp, text, field, depth + 1)?;
            }
            text.push(')');
        }
        Value::Unknown(why) => return Err(Stop::Unknown(interp.at, why.clone())),
        _ => return interp.unknown(format!("a {} as text is not known", type_name(value))),
    }
    Ok(())
}

/// Writing to a `String` cannot fail.
fn put(text: &mut String, args: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(args);
}

fn sequence<'a>(
    interp: &mut Interp<'a>,
    text: &mut String,
    open: &str,
    items: &[Value<'a>],
    close: &str,
    depth: u32,
) -> Result<(), Stop> {
    text.push_str(open);
    for (at, item) in items.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { ", " });
        write(interp, text, item, depth + 1)?;
    }
    text.push_str(close);
    Ok(())
}

/// A float as Python prints it.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value != 0.0 && !(1e-4..1e16).contains(&value.abs()) {
        let text = format!("{value:e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, power) = power.strip_prefix('-').map_or(("+", power), |power| ("-", power));
        return format!("{digits}e{sign}{power:0>2}");
    }
    format!("{value:?}")
}

/// `format(value, spec)`.
pub(super) fn format<'a>(interp: &mut Interp<'a>, value: &Value<'a>, spec: &str) -> Result<String, Stop> {
    if spec.is_empty() {
        return display(interp, value);
    }
    let mut spec = Spec::read(spec);
    let body = match (value, spec.kind) {
        (Value::Int(number), 'x' | 'X' | 'b' | 'o' | 'd' | '\0') => {
            let digits = grouped(&in_base(number.unsigned_abs(), spec.kind), spec.group);
            let prefix = if spec.alternate && spec.kind != 'd' { format!("0{}", spec.kind) } else { String::new() };
            let sign = sign(*number < 0, spec.sign);
            spec.right = true;
            format!("{sign}{prefix}{digits}")
        }
        (Value::Int(_) | Value::Float(_) | Value::Bool(_), kind) => {
            let number = super::values::number(interp, value)?;
            spec.right = true;
            let places = spec.places.unwrap_or(6);
            let text = match kind {
                'f' | 'F' => format!("{:.places$}", number.abs()),
                '%' => format!("{:.places$}%", number.abs() * 100.0),
                'e' | 'E' => {
                    let text = format!("{:.places$e}", number.abs());
                    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
                    let (sign, power) = power.strip_prefix('-').map_or(("+", power), |power| ("-", power));
                    format!("{digits}e{sign}{power:0>2}")
                }
                _ => float(number.abs()),
            };
            let (whole, rest) =
                text.split_once('.').map_or((text.as_str(), String::new()), |(a, b)| (a, format!(".{b}")));
            format!("{}{}{rest}", sign(number < 0.0, spec.sign), grouped(whole, spec.group))
        }
        _ => {
            let text = display(interp, value)?;
            match spec.places {
                Some(places) => text.chars().take(places).collect(),
                None => text,
            }
        }
    };
    Ok(spec.pad(body))
}

fn sign(negative: bool, wanted: char) -> &'static str {
    match (negative, wanted) {
        (true, _) => "-",
        (false, '+') => "+",
        (false, ' ') => " ",
        _ => "",
    }
}

fn grouped(digits: &str, group: Option<char>) -> String {
    let Some(group) = group else { return digits.to_owned() };
    let mut text = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(group);
        }
        text.push(c);
    }
    text
}

/// `[[fill]align][sign][#][0][width][grouping][.places][kind]`
struct Spec {
    fill: char,
    align: Option<char>,
    sign: char,
    alternate: bool,
    width: usize,
    group: Option<char>,
    places: Option<usize>,
    kind: char,
    right: bool,
}

impl Spec {
    fn read(text: &str) -> Spec {
        let chars: Vec<char> = text.chars().collect();
        let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '^' | '='));
        let mut spec = Spec {
            fill: ' ',
            align: None,
            sign: '-',
            alternate: false,
            width: 0,
            group: None,
            places: None,
            kind: '\0',
            right: false,
        };
        let mut at = 0;
        if is_align(chars.get(1)) {
            spec.fill = chars.first().copied().unwrap_or(' ');
            spec.align = chars.get(1).copied();
            at = 2;
        } else if is_align(chars.first()) {
            spec.align = chars.first().copied();
            at = 1;
        }
        if let Some(c @ ('+' | '-' | ' ')) = chars.get(at) {
            spec.sign = *c;
            at += 1;
        }
        if chars.get(at) == Some(&'#') {
            spec.alternate = true;
            at += 1;
        }
        if chars.get(at) == Some(&'0') && spec.align.is_none() {
            spec.fill = '0';
            spec.align = Some('=');
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = None;
            while let Some(digit) = chars.get(*at).and_then(|c| c.to_digit(10)) {
                value = Some((value.unwrap_or(0) * 10 + digit as usize).min(1 << 12));
                *at += 1;
            }
            value
        };
        spec.width = number(&mut at).unwrap_or(0);
        if let Some(c @ (',' | '_')) = chars.get(at) {
            spec.group = Some(*c);
            at += 1;
        }
        if chars.get(at) == Some(&'.') {
            at += 1;
            spec.places = number(&mut at);
        }
        spec.kind = chars.get(at).copied().unwrap_or('\0');
        spec
    }

    fn pad(&self, body: String) -> String {
        let missing = self.width.saturating_sub(body.chars().count());
        if missing == 0 {
            return body;
        }
        let fill = |count: usize| std::iter::repeat_n(self.fill, count).collect::<String>();
        match self.align.unwrap_or(if self.right { '>' } else { '<' }) {
            '<' => body + &fill(missing),
            '^' => format!("{}{body}{}", fill(missing / 2), fill(missing - missing / 2)),
            '=' => {
                let digits = body.trim_start_matches(['-', '+', ' ']);
                let sign = body.get(..body.len() - digits.len()).unwrap_or("");
                format!("{sign}{}{digits}", fill(missing))
            }
            _ => fill(missing) + &body,
        }
    }
}

/// Texts of several values, with something between them.
pub(super) fn join<'a>(interp: &Interp<'a>, between: &str, parts: &[Value<'a>]) -> Result<Rc<str>, Stop> {
    let mut texts = Vec::new();
    for part in parts {
        texts.push(super::values::string(interp, part)?);
    }
    Ok(texts.join(between).into())
}
