//! Functions and classes that a library brings along: how each is called, which releases have it, and what it does.

use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::Stmt;

use crate::interp::{Eval, Interp, Stop};
use crate::specialization::Language;
use crate::target::Version;
use crate::value::{Object, Value};

/// Runs a builtin with its arguments in the order of its parameters.
pub(super) type Run = for<'a> fn(&mut Interp<'a>, &Bound<'a>) -> Eval<'a>;

/// A function of the table.
pub struct Row {
    /// Full name: `gl.nvidia.hopper.tma.async_load`, `math.log2`, `len`; a method by its class:
    /// `shared_memory_descriptor.index`, with `self` first among the parameters. A computed attribute has
    /// an `@` before its name: `shared_memory_descriptor.@shape`. Classes are named by
    /// [`Value::class_name`](crate::value::Value::class_name), Gluon's own by their full name.
    pub path: &'static str,
    /// Parameters as in Python: `smem, pointer, mask=None, *, pred=True`. `*args` and `**kwargs` collect.
    pub params: &'static str,
    /// The first release that has it in this form.
    pub since: Version,
    /// The last one; `None` for those that still do.
    pub until: Option<Version>,
    /// The first release that refuses it: a call says what to call instead, and is analysed as what it was.
    pub refused: Option<Version>,
    /// Whether it touches shared or tensor memory, or synchronises: where it cannot be followed, the kernel
    /// is not known.
    pub effect: bool,
    /// What it does.
    pub run: Run,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row({})", self.path)
    }
}

impl Row {
    /// A function that every release from 3.`since` on has.
    pub const fn new(path: &'static str, params: &'static str, since: u8, run: Run) -> Row {
        Row { path, params, since: Version(3, since), until: None, refused: None, effect: false, run }
    }

    /// The same for one that touches memory or synchronises.
    pub const fn effect(path: &'static str, params: &'static str, since: u8, run: Run) -> Row {
        Row { path, params, since: Version(3, since), until: None, refused: None, effect: true, run }
    }

    /// A function that 3.`minor` had last.
    pub const fn until(mut self, minor: u8) -> Row {
        self.until = Some(Version(3, minor));
        self
    }

    /// A function that 3.`minor` refuses.
    pub const fn refused(mut self, minor: u8) -> Row {
        self.refused = Some(Version(3, minor));
        self
    }

    /// Whether a release has it.
    pub fn has(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }

    /// The name a reader of Python would use: the last two parts of the path.
    pub fn what(&self) -> &'static str {
        let start = self.path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
        &self.path[start..]
    }
}

/// Makes an object of a class from the arguments of its constructor.
pub(super) type Make = for<'a> fn(&mut Interp<'a>, &'static LibClass, &Bound<'a>) -> Eval<'a>;

/// The text of a layout as an attribute of the IR.
pub(super) type Text = for<'a> fn(&Interp<'a>, &Object<'a>) -> Result<String, Stop>;

/// Runs the statements of a `with` statement on an object of a class.
pub(super) type Block = for<'a> fn(&mut Interp<'a>, &Object<'a>, &'a [Stmt]) -> Result<(), Stop>;

/// What an argument that only earlier releases take means.
#[derive(Clone, Copy, Debug)]
pub enum Earlier {
    /// Nothing, where it has this value; else the object is not followed.
    One,
    /// Nothing, whatever it is.
    Ignored,
}

/// A class of a library: layouts and the like.
pub struct LibClass {
    /// Full name: `gl.NVMMASharedLayout`.
    pub path: &'static str,
    /// Parameters of its constructor, which also are its fields.
    pub params: &'static str,
    /// Checks and completes what the constructor was given; the fields come in the order of `params`.
    pub make: Make,
    /// The text of an object, for layouts of shared and tensor memory.
    pub text: Option<Text>,
    /// Runs what stands in a `with` statement on an object, where that is other than one statement after the other.
    pub block: Option<Block>,
    /// Parameters that its constructor had in earlier releases, and what is still understood of each.
    pub earlier: &'static [(&'static str, Earlier)],
    /// The first release that has it.
    pub since: Version,
    /// The full names of all classes that it extends, the nearest first.
    pub bases: &'static [&'static str],
}

impl LibClass {
    /// Whether a release has it.
    pub fn has(&self, version: Version) -> bool {
        self.since <= version
    }
}

impl std::fmt::Debug for LibClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Class({})", self.path)
    }
}

impl LibClass {
    /// A class that every release from 3.`since` on has, whose objects have the fields that its constructor
    /// was given, or what `defaults` says.
    pub const fn new(
        path: &'static str,
        params: &'static str,
        bases: &'static [&'static str],
        since: u8,
        make: Make,
    ) -> LibClass {
        LibClass { path, params, make, text: None, block: None, earlier: &[], since: Version(3, since), bases }
    }

    /// With this text in the IR.
    pub const fn text(mut self, text: Text) -> LibClass {
        self.text = Some(text);
        self
    }

    /// With this in a `with` statement.
    pub const fn block(mut self, block: Block) -> LibClass {
        self.block = Some(block);
        self
    }

    /// With parameters of earlier releases.
    pub const fn earlier(mut self, earlier: &'static [(&'static str, Earlier)]) -> LibClass {
        self.earlier = earlier;
        self
    }

    /// Makes an object from arguments as they were written.
    pub fn call<'a>(&'static self, interp: &mut Interp<'a>, mut args: Args<'a>) -> Eval<'a> {
        let name = self.path.rsplit('.').next().unwrap_or(self.path);
        if !self.earlier.is_empty() {
            let mut strange = None;
            args.named.retain(|(key, value)| {
                let Some((known, means)) = self.earlier.iter().find(|(known, _)| **known == **key) else { return true };
                if matches!(means, Earlier::One) && !is_one(value) {
                    strange = Some(*known);
                }
                false
            });
            if let Some(param) = strange {
                return interp.unknown(format!("`{param}` of `{name}` is of an earlier release, and is not followed"));
            }
        }
        let bound = Bound::bind(interp, name, self.params, args)?;
        let made = (self.make)(interp, self, &bound)?;
        if let Value::Object(object) = &made {
            interp.doubt_ctas(object);
        }
        Ok(made)
    }

    /// Whether an object of this class is an instance of another, by its full name.
    pub fn is_a(&self, other: &str) -> bool {
        self.path == other || self.bases.contains(&other)
    }
}

/// `None`, and a cluster of one CTA however it is written: `[1, 1]`, `[]`; an order of dimensions counts for none
/// there.
fn is_one(value: &Value<'_>) -> bool {
    match value {
        Value::None | Value::Int(1) => true,
        Value::List(items) => items.borrow().iter().all(is_one),
        Value::Tuple(items) => items.iter().all(is_one),
        _ => false,
    }
}

/// Arguments as they were written, `*` and `**` already taken apart.
#[derive(Clone, Debug, Default)]
pub struct Args<'a> {
    /// By position.
    pub pos: Vec<Value<'a>>,
    /// By name.
    pub named: Vec<(Rc<str>, Value<'a>)>,
}

/// The parameters of a function, from the notation of [`Row::params`].
#[derive(Debug, Default)]
pub(super) struct Params {
    names: Vec<&'static str>,
    /// By parameter: whether it has a default.
    optional: Vec<bool>,
    /// How many are given by position.
    positional: usize,
    /// Whether `*args` collects.
    star: bool,
    /// Whether `**kwargs` collects.
    double: bool,
}

impl Params {
    /// Reads the notation.
    pub(super) fn of(params: &'static str) -> Params {
        let (mut read, mut keyword_only) = (Params::default(), false);
        for part in split(params) {
            match part {
                "*" => keyword_only = true,
                _ if part.starts_with("**") => read.double = true,
                _ if part.starts_with('*') => (read.star, keyword_only) = (true, true),
                _ => {
                    let (param, default) = part.split_once('=').map_or((part, None), |(a, b)| (a, Some(b)));
                    read.names.push(param.trim());
                    read.optional.push(default.is_some());
                    read.positional += usize::from(!keyword_only);
                }
            }
        }
        read
    }
}

/// Arguments by parameter.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    params: Arc<Params>,
    values: Vec<Option<Value<'a>>>,
    /// What `*args` collected.
    pub rest: Vec<Value<'a>>,
    /// What `**kwargs` collected.
    pub more: Vec<(Rc<str>, Value<'a>)>,
}

/// A function as a kernel of a language calls it: what both languages have is `gl`'s in the table.
#[derive(Clone, Copy)]
struct Called<'n> {
    language: Language,
    name: &'n str,
}

impl std::fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.language, self.name.strip_prefix("gl.")) {
            (Language::Triton, Some(rest)) => write!(f, "tl.{rest}"),
            _ => f.write_str(self.name),
        }
    }
}

impl<'a> Bound<'a> {
    /// Binds as Python does; `params` is the notation of [`Row::params`].
    pub fn bind(interp: &Interp<'a>, name: &str, params: &'static str, args: Args<'a>) -> Result<Bound<'a>, Stop> {
        let name = Called { language: interp.language, name };
        let params = interp.library.params(params);
        let values = vec![None; params.names.len()];
        let mut bound = Bound { params: params.clone(), values, rest: Vec::new(), more: Vec::new() };
        let positional = params.positional;
        for (at, value) in args.pos.into_iter().enumerate() {
            if at < positional {
                bound.values[at] = Some(value);
            } else if params.star {
                bound.rest.push(value);
            } else {
                return interp.raise(format!("`{name}` takes {positional} positional arguments, more are given"));
            }
        }
        for (key, value) in args.named {
            match params.names.iter().position(|param| **param == *key) {
                Some(at) if bound.values[at].is_some() => {
                    return interp.raise(format!("`{name}` is given `{key}` twice"));
                }
                Some(at) => bound.values[at] = Some(value),
                None if params.double => bound.more.push((key, value)),
                None => return interp.raise(format!("`{name}` has no parameter `{key}`")),
            }
        }
        let mut given = bound.values.iter().zip(&params.optional).zip(&params.names);
        if let Some((_, missing)) = given.find(|((value, optional), _)| value.is_none() && !**optional) {
            return interp.raise(format!("`{name}` is not given `{missing}`"));
        }
        Ok(bound)
    }

    /// The argument of a parameter; `None` where its default holds.
    pub fn get(&self, param: &str) -> Option<&Value<'a>> {
        let at = self.params.names.iter().position(|known| *known == param)?;
        self.values[at].as_ref()
    }

    /// The argument by the parameter's place.
    pub fn at(&self, at: usize) -> Option<&Value<'a>> {
        self.values.get(at)?.as_ref()
    }

    /// Parameters with their arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<&Value<'a>>)> {
        self.params.names.iter().copied().zip(self.values.iter().map(Option::as_ref))
    }
}

/// Parts between commas that are in no bracket.
pub fn split(params: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    let parts = params.split(move |c: char| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}
