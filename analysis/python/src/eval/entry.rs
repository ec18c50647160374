//! The arguments of a kernel: types in Triton's notation, as the parameters of the IR's function.

use std::rc::Rc;

use super::registers::opaque;
use super::{Interp, Stop};
use crate::emit::{Attr, Region};
use crate::host::{self, HostLaunch};
use crate::interp::ExecMode;
use crate::library::Args;
use crate::specialization::{Given, Spec};
use crate::syntax::texts::split;
use crate::value::{DType, DescKind, Function, Tensor, TensorDesc, Value};

/// What the parameters of a kernel are.
pub(super) struct Signature<'a> {
    /// By name.
    pub(super) values: Vec<(Rc<str>, Value<'a>)>,
    /// The arguments of the kernel's function, with their attributes.
    pub(super) body: Region,
}

impl<'a> Interp<'a> {
    /// Gives every parameter a value.
    pub(super) fn signature(
        &mut self,
        function: &Rc<Function<'a>>,
        spec: &Spec,
        launch: Option<&HostLaunch<'a>>,
    ) -> Result<Signature<'a>, Stop> {
        let mut signature = Signature { values: Vec::new(), body: Region::default() };
        let Some(parameters) = function.def.parameters() else { return Ok(signature) };
        if parameters.vararg.is_some() || parameters.kwarg.is_some() {
            return self.unknown("a kernel with `*` or `**` parameters is not followed");
        }
        for (at, parameter) in parameters.iter_non_variadic_params().enumerate() {
            let name = parameter.parameter.name.as_str();
            let outer = std::mem::replace(&mut self.at, Interp::range(&parameter.parameter));
            let given = spec.arguments.iter().find(|argument| argument.name == name);
            let value = match given.map(|argument| &argument.given) {
                Some(Given::Value(text)) => {
                    let text = text.clone();
                    self.constexpr(function, &text)?
                }
                Some(Given::Type(text)) => {
                    let text = text.clone();
                    let constexpr = parameter.annotation().is_some_and(|annotation| self.is_constexpr(annotation));
                    self.state.open_constants |= constexpr;
                    self.typed(name, &text, &mut signature.body)?
                }
                None if let Some(value) = launched(launch, name) => {
                    let constexpr = parameter.annotation().is_some_and(|annotation| self.is_constexpr(annotation));
                    match host::given(self, &value, constexpr, true) {
                        Some(Given::Type(text)) => self.typed(name, &text, &mut signature.body)?,
                        None if host::is_open(&value) => {
                            let default = function.defaults.get(at).cloned().flatten();
                            match default {
                                Some(default) => default,
                                None => return self.unknown(format!("what `{name}` is given is not known")),
                            }
                        }
                        // The value itself, which need not be expressible.
                        _ => value,
                    }
                }
                None => match function.defaults.get(at).cloned().flatten() {
                    Some(default) => default,
                    None => return self.unknown(format!("what `{name}` is given is not known")),
                },
            };
            self.at = outer;
            self.name_values(name, &value);
            signature.values.push((name.into(), value));
        }
        Ok(signature)
    }

    /// A Python expression of a specialisation, in the scope of the kernel's file.
    fn constexpr(&mut self, function: &Rc<Function<'a>>, text: &str) -> Result<Value<'a>, Stop> {
        let inner = self.scopes.open(function.scope.file, Some(function.scope.clone()));
        let at = self.at;
        self.inside(inner, ExecMode::Host, None, |interp| {
            interp.at = at;
            let names = known_names(interp, text);
            for (name, value) in names {
                interp.scope.set(&name, value);
            }
            interp.text(text)
        })
    }

    /// A parameter of a type in Triton's notation.
    fn typed(&mut self, name: &str, text: &str, params: &mut Region) -> Result<Value<'a>, Stop> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            let (mut items, mut fields) = (Vec::new(), Vec::new());
            for (at, part) in split(inner).into_iter().enumerate() {
                let (field, part) = match part.split_once('=') {
                    Some((field, part)) if crate::syntax::texts::is_name(field) => (Some(field), part),
                    _ => (None, part),
                };
                let item = self.typed(&format!("{name}.{at}"), part, params)?;
                fields.extend(field.map(|field| (field, item.clone())));
                items.push(item);
            }
            if !fields.is_empty() && fields.len() == items.len() {
                return self.named_tuple_of(&fields);
            }
            return Ok(Value::Tuple(items.into()));
        }
        if text.starts_with("tensordesc") {
            return self.descriptor(name, text, params);
        }
        if let Some(inner) = text.strip_prefix("constexpr[").and_then(|rest| rest.strip_suffix(']')) {
            let (inner, scope) = (inner.to_owned(), self.scopes.open(self.file, None));
            return self.inside(scope, ExecMode::Host, None, |interp| {
                for (name, value) in known_names(interp, &inner) {
                    interp.scope.set(&name, value);
                }
                interp.text(&inner)
            });
        }
        if text == "constexpr" || text == "None" || text == "none" {
            return Ok(Value::None);
        }
        let (plain, divisor) = text.split_once(':').map_or((text, None), |(plain, divisor)| (plain, Some(divisor)));
        let plain = plain.strip_prefix("*k").map_or(plain, |_| plain);
        let dtype = match plain.strip_prefix('*') {
            Some(of) => {
                let of = of.strip_prefix('k').unwrap_or(of);
                DType::named(of).unwrap_or(DType::Int8).pointer()
            }
            None => match DType::named(plain) {
                Some(dtype) => dtype,
                None if plain == "u1" => DType::Int1,
                None => return self.unknown(format!("the type `{text}` of `{name}` is not known")),
            },
        };
        let divisor: Option<u32> = divisor.and_then(|divisor| divisor.trim_start_matches('D').parse().ok());
        Ok(Value::Tensor(self.parameter(dtype, divisor, params)))
    }

    fn parameter(&mut self, dtype: DType, divisor: Option<u32>, params: &mut Region) -> Tensor<'a> {
        let ssa = self.builder.fresh(dtype.ir());
        let divisible =
            divisor.filter(|divisor| *divisor > 1).map(|divisor| ("tt.divisibility", Attr::from(i64::from(divisor))));
        params.add_arg(ssa, divisible);
        Tensor { ssa: Some(ssa), ..opaque(dtype, &Rc::from([]), &Rc::new(Value::None)) }
    }

    /// `tensordesc<fp16[128, 64],LAYOUT>` and its shape and strides.
    fn descriptor(&mut self, name: &str, text: &str, params: &mut Region) -> Result<Value<'a>, Stop> {
        let im2col = text.starts_with("tensordesc_im2col");
        let bad = format!("the type `{text}` of `{name}` is not understood");
        let Some(inner) = text.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>')) else {
            return self.unknown(bad);
        };
        let Some((element, rest)) = inner.split_once('[') else { return self.unknown(bad) };
        let Some((block, rest)) = rest.split_once(']') else { return self.unknown(bad) };
        let Some(dtype) = DType::named(element.trim()) else { return self.unknown(bad) };
        let block_shape: Vec<i64> = block.split(',').filter_map(|size| size.trim().parse().ok()).collect();
        // `,input_rank=4,LAYOUT` for im2col.
        let (mut layout, mut rank) = (None, block_shape.len());
        for part in split(rest) {
            match part.strip_prefix("input_rank=") {
                Some(number) => rank = number.trim().parse().unwrap_or(rank),
                None => layout = Some(part),
            }
        }
        let layout = match layout {
            Some(text) => {
                let scope = self.scopes.open(self.file, None);
                let text = text.to_owned();
                self.inside(scope, ExecMode::Host, None, |interp| {
                    for (name, value) in known_names(interp, &text) {
                        interp.scope.set(&name, value);
                    }
                    interp.text(&text)
                })?
            }
            None => self.default_layout(dtype, &block_shape)?,
        };
        let kind = match (im2col, self.target) {
            (true, _) => DescKind::Im2col,
            (false, crate::target::Target::Cuda(_)) => DescKind::Tiled,
            (false, _) => DescKind::Tdm,
        };
        let ty = crate::library::types::descriptor_type(self, kind, dtype, &block_shape, &layout)?;
        let ssa = self.builder.fresh(ty);
        params.add_arg(ssa, None);
        let mut part = |interp: &mut Interp<'a>, dtype, what: &str| {
            let mut parts = Vec::new();
            for at in 0..rank {
                let part = interp.parameter(dtype, None, params);
                if let Some(part) = part.ssa {
                    interp.builder.name_after(part, ssa, format!(".{what}[{at}]"));
                }
                parts.push(Value::Tensor(part));
            }
            parts
        };
        let shape = part(self, DType::Int32, "shape");
        let strides = part(self, DType::Int64, "strides");
        Ok(Value::TensorDesc(Rc::new(TensorDesc { ssa, kind, dtype, block_shape, layout, shape, strides })))
    }

    fn default_layout(&mut self, dtype: DType, block: &[i64]) -> Result<Value<'a>, Stop> {
        let class = self.library("gl.NVMMASharedLayout");
        let Some(make) = self.find_attribute(&class, "get_default_for")? else { return Ok(Value::None) };
        let block = block.iter().map(|size| Value::Int((*size).into())).collect();
        let args = Args { pos: vec![Value::Tuple(block), Value::DType(dtype)], named: Vec::new() };
        self.by_python(|interp| interp.call(&make, args, interp.at))
    }
}

/// What a launch gives a parameter.
fn launched<'a>(launch: Option<&HostLaunch<'a>>, name: &str) -> Option<Value<'a>> {
    launch?.arguments.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.clone())
}

/// Names in a text that Triton's own `repr` leaves bare: layouts and dtypes; names of the file come first.
fn known_names<'a>(interp: &mut Interp<'a>, text: &str) -> Vec<(String, Value<'a>)> {
    let mut names = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        if interp.found(word).ok().flatten().is_some() {
            continue;
        }
        let found = match word {
            "gl" | "ttgl" => Some(Value::Lib("gl".into())),
            "tl" => Some(Value::Lib("tl".into())),
            _ if !interp.library.has_type_named(word) => None,
            _ => {
                ["gl", "gl.nvidia.blackwell", "gl.nvidia.hopper", "gl.amd", "gl.amd.cdna5"].iter().find_map(|module| {
                    interp
                        .library
                        .lookup(&format!("{module}.{word}"), interp.version)
                        .filter(|value| matches!(value, Value::LibClass(_) | Value::DType(_)))
                })
            }
        };
        let found = found.or_else(|| DType::named(word).map(Value::DType));
        names.extend(found.map(|value| (word.to_owned(), value)));
    }
    names
}
