//! Values as text: `str`, `repr` and formatted strings.

use std::fmt::{Display, Write};

use ruff_python_ast::{
    ConversionFlag, ExprFString, FStringPart, InterpolatedStringElement, InterpolatedStringFormatSpec,
};

use crate::interp::{Eval, Interp};
use crate::limits::values::TEXT as MOST_TEXT;
use crate::value::Value;

impl<'a> Interp<'a> {
    pub(super) fn formatted(&mut self, text: &'a ExprFString) -> Eval<'a> {
        let mut out = String::new();
        for part in text.value.iter() {
            match part {
                FStringPart::Literal(literal) => out.push_str(literal),
                FStringPart::FString(text) => {
                    for element in text.elements.iter() {
                        match element {
                            InterpolatedStringElement::Literal(literal) => out.push_str(&literal.value),
                            InterpolatedStringElement::Interpolation(part) => {
                                let value = self.expr(&part.expression)?;
                                match &value {
                                    Value::Unknown(_) => return Ok(value),
                                    Value::Tensor(_) => {
                                        return self.raise("a formatted string holds what the kernel computes");
                                    }
                                    _ => {}
                                }
                                if let Some(format) = &part.format_spec {
                                    let Some(text) = with_format(&value, format) else {
                                        return self.unknown("a format is not followed");
                                    };
                                    out.push_str(&text);
                                    continue;
                                }
                                out.push_str(&match part.conversion {
                                    ConversionFlag::Repr | ConversionFlag::Ascii => self.repr(&value),
                                    _ => self.str(&value),
                                });
                            }
                        }
                    }
                }
            }
        }
        Ok(Value::Str(out.into()))
    }

    /// `str(value)`.
    pub fn str(&self, value: &Value<'a>) -> String {
        match value {
            Value::Str(text) => text.to_string(),
            _ => self.repr(value),
        }
    }

    /// `repr(value)`, for what has one that is worth reading.
    pub fn repr(&self, value: &Value<'a>) -> String {
        let mut out = String::new();
        self.write(value, &mut out, 0);
        out
    }

    fn write(&self, value: &Value<'a>, out: &mut String, depth: u32) {
        if depth > 8 || out.len() > MOST_TEXT {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        let mut list = |open: &str, items: &[Value<'a>], close: &str| {
            out.push_str(open);
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.write(item, out, depth + 1);
            }
            if items.len() == 1 && open == "(" {
                out.push(',');
            }
            out.push_str(close);
        };
        match value {
            Value::None => out.push_str("None"),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Tuple(items) => list("(", items, ")"),
            Value::List(items) => list("[", &items.borrow(), "]"),
            Value::Set(items) => list("{", &items.borrow(), "}"),
            Value::Int(int) => {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "{int}");
            }
            Value::Float(float) => {
                let whole = float.fract() == 0.0 && float.abs() < 1e16;
                let _ = if whole { write!(out, "{float:.1}") } else { write!(out, "{float}") };
            }
            Value::Str(text) => {
                let _ = write!(out, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
            }
            Value::Dict(items) => {
                out.push('{');
                for (at, (key, value)) in items.borrow().iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.write(key, out, depth + 1);
                    out.push_str(": ");
                    self.write(value, out, depth + 1);
                }
                out.push('}');
            }
            Value::DType(dtype) => out.push_str(dtype.name()),
            Value::Function(function) => {
                let _ = write!(out, "<function {}>", function.def.name());
            }
            Value::Class(class) => {
                let _ = write!(out, "<class '{}'>", class.def.name.as_str());
            }
            Value::Builtin(row) => {
                let _ = write!(out, "<function {}>", row.path);
            }
            Value::LibClass(class) => {
                let _ = write!(out, "<class '{}'>", class.path);
            }
            Value::Lib(path) | Value::Type(path) => out.push_str(path),
            Value::Object(object) => {
                out.push_str(object.class.path.rsplit('.').next().unwrap_or_default());
                self.write_fields(&object.fields, out, depth);
            }
            Value::Instance(instance) => {
                out.push_str(instance.class.def.name.as_str());
                self.write_fields(&instance.fields.borrow(), out, depth);
            }
            other => {
                let _ = write!(out, "<{}>", other.class_name());
            }
        }
    }

    fn write_fields(&self, fields: &[(impl Display, Value<'a>)], out: &mut String, depth: u32) {
        out.push('(');
        for (at, (name, value)) in fields.iter().enumerate() {
            let _ = write!(out, "{}{name}=", if at > 0 { ", " } else { "" });
            self.write(value, out, depth + 1);
        }
        out.push(')');
    }
}

/// A whole number in a notation, with leading zeros or blanks: `f"{n:b}"`, `f"{n:04x}"`, `f"{n:>4}"`.
fn with_format(value: &Value<'_>, format: &InterpolatedStringFormatSpec) -> Option<String> {
    let mut written = format.elements.iter().map(|part| match part {
        InterpolatedStringElement::Literal(literal) => Some(&*literal.value),
        InterpolatedStringElement::Interpolation(_) => None,
    });
    let (Some(Some(format)), None, Value::Int(number)) = (written.next(), written.next(), value) else { return None };
    base::format::whole_number(*number, format)
}
