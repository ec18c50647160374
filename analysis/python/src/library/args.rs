//! Arguments of a call, and their binding to parameters.

use std::rc::Rc;

use crate::interp::{Interp, Stop};
use crate::value::Value;

/// Arguments as they were written, `*` and `**` already taken apart.
#[derive(Clone, Debug, Default)]
pub struct Args<'a> {
    /// By position.
    pub pos: Vec<Value<'a>>,
    /// By name.
    pub named: Vec<(Rc<str>, Value<'a>)>,
}

/// Arguments by parameter.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    params: Vec<&'static str>,
    values: Vec<Option<Value<'a>>>,
    /// What `*args` collected.
    pub rest: Vec<Value<'a>>,
    /// What `**kwargs` collected.
    pub more: Vec<(Rc<str>, Value<'a>)>,
}

impl<'a> Bound<'a> {
    /// Binds as Python does; `params` is the notation of [`super::Row::params`].
    pub fn bind(interp: &Interp<'a>, name: &str, params: &'static str, args: Args<'a>) -> Result<Bound<'a>, Stop> {
        let mut bound = Bound { params: Vec::new(), values: Vec::new(), rest: Vec::new(), more: Vec::new() };
        let (mut keyword_only, mut star, mut double, mut positional, mut optional) =
            (false, false, false, 0, Vec::new());
        for part in split(params) {
            match part {
                "*" => keyword_only = true,
                _ if part.starts_with("**") => double = true,
                _ if part.starts_with('*') => (star, keyword_only) = (true, true),
                _ => {
                    let (param, default) = part.split_once('=').map_or((part, None), |(a, b)| (a, Some(b)));
                    bound.params.push(param.trim());
                    bound.values.push(None);
                    optional.push(default.is_some());
                    positional += usize::from(!keyword_only);
                }
            }
        }
        for (at, value) in args.pos.into_iter().enumerate() {
            if at < positional {
                bound.values[at] = Some(value);
            } else if star {
                bound.rest.push(value);
            } else {
                return interp.raise(format!("`{name}` takes {positional} positional arguments, more are given"));
            }
        }
        for (key, value) in args.named {
            match bound.params.iter().position(|param| **param == *key) {
                Some(at) if bound.values[at].is_some() => {
                    return interp.raise(format!("`{name}` is given `{key}` twice"));
                }
                Some(at) => bound.values[at] = Some(value),
                None if double => bound.more.push((key, value)),
                None => return interp.raise(format!("`{name}` has no parameter `{key}`")),
            }
        }
        if let Some(at) = (0..bound.params.len()).find(|&at| bound.values[at].is_none() && !optional[at]) {
            return interp.raise(format!("`{name}` is not given `{}`", bound.params[at]));
        }
        Ok(bound)
    }

    /// The argument of a parameter; `None` where its default holds.
    pub fn get(&self, param: &str) -> Option<&Value<'a>> {
        let at = self.params.iter().position(|known| *known == param)?;
        self.values[at].as_ref()
    }

    /// The argument by the parameter's place.
    pub fn at(&self, at: usize) -> Option<&Value<'a>> {
        self.values.get(at)?.as_ref()
    }

    /// Parameters with their arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<&Value<'a>>)> {
        self.params.iter().copied().zip(self.values.iter().map(Option::as_ref))
    }
}

/// Parts between commas that are in no bracket.
fn split(params: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    let parts = params.split(move |c: char| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}
