//! Calls.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};

use super::flat::leaves;
use super::{CALLS, Flow};
use crate::emit::{Op, Ssa, Type};
use crate::host;
use crate::interp::{Eval, ExecMode, Interp, Stop};
use crate::library::Args;
use crate::origin::{Frame, FrameId};
use crate::reason::chained;
use crate::value::{DType, FnKind, Function, FunctionNode, Partial, Value};
use base::TextRange;

/// The register tensors among arguments.
fn registers(args: &Args<'_>) -> Vec<Ssa> {
    let all = args.pos.iter().chain(args.named.iter().map(|(_, value)| value));
    all.filter_map(|value| match value {
        Value::Tensor(tensor) if !tensor.shape.is_empty() => tensor.ssa,
        _ => None,
    })
    .collect()
}

impl<'a> Interp<'a> {
    /// Whether a value is made of pointers.
    fn points(&self, value: Ssa) -> bool {
        matches!(self.ty(value), Type::Tensor { element, .. } if matches!(*element, Type::Pointer(_)))
    }

    pub(super) fn call_expr(&mut self, call: &'a ExprCall) -> Eval<'a> {
        let callee = self.part_of_call(&call.func)?;
        let launches = matches!(&callee, Value::Host(thing) if matches!(**thing, host::Thing::Launcher(_)));
        let asked = |interp: &Self, expr: &Expr, value| if launches { interp.asked(expr, value) } else { value };
        let mut args = Args { pos: Vec::with_capacity(call.arguments.args.len()), named: Vec::new() };
        for arg in &call.arguments.args {
            match arg {
                Expr::Starred(starred) => {
                    let all = self.expr(&starred.value)?;
                    args.pos.extend(self.items(&all)?);
                }
                _ => {
                    let value = self.part_of_call(arg)?;
                    args.pos.push(asked(self, arg, value));
                }
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.part_of_call(&keyword.value)?;
            match &keyword.arg {
                Some(name) => args.named.push((name.as_str().into(), asked(self, &keyword.value, value))),
                None => match &value {
                    Value::Dict(items) => {
                        for (key, value) in items.borrow().iter() {
                            match key {
                                Value::Str(key) => args.named.push((key.clone(), value.clone())),
                                _ => return self.unknown("what `**` unpacks has keys that are no names"),
                            }
                        }
                    }
                    // What is left out then is not known.
                    _ if self.follows_host() => args.named.push(("**".into(), value)),
                    _ => return self.unknown("what `**` unpacks is not known"),
                },
            }
        }
        if let (Value::Unknown(_), Expr::Attribute(method), true) = (&callee, &*call.func, self.assumes())
            && matches!(method.attr.as_str(), "get" | "pop")
            && let Some(Value::Str(name)) = args.pos.first()
        {
            // An entry of a dictionary that is not known.
            match args.pos.get(1) {
                Some(default) if !matches!(default, Value::None) => return Ok(default.clone()),
                _ => {
                    if let Some(value) = self.assumed(&name.clone()) {
                        return Ok(value);
                    }
                }
            }
        }
        let range = Interp::range(call);
        if let Value::Lib(path) = &callee
            && &**path == "super"
        {
            return self.parent(&args);
        }
        self.call(&callee, args, range)
    }

    /// What is called, or an argument. In the kernel one that is not followed is said, and the call is made
    /// without it: what the call does to memory and barriers may not hang on it, and if it does, the call says so.
    fn part_of_call(&mut self, expr: &'a Expr) -> Eval<'a> {
        match self.expr(expr) {
            Err(Stop::Unknown(range, reason)) if self.in_kernel() => {
                self.not_followed(self.file, range, reason.to_string());
                Ok(Value::Unknown(reason))
            }
            value => value,
        }
    }

    /// Calls a value; `at` is the call expression.
    pub fn call(&mut self, callee: &Value<'a>, args: Args<'a>, at: TextRange) -> Eval<'a> {
        self.step()?;
        let outer = (self.at, self.what);
        self.at = at;
        let result = self.nested(|interp| interp.apply(callee, args));
        (self.at, self.what) = outer;
        result
    }

    pub(super) fn apply(&mut self, callee: &Value<'a>, mut args: Args<'a>) -> Eval<'a> {
        match callee {
            Value::Builtin(row) => {
                self.what = row.what();
                if !self.in_kernel() {
                    // What Triton hands a builtin by itself, a builtin of the user's hands on.
                    args.named.retain(|(name, _)| !matches!(&**name, "_semantic" | "_generator" | "_builder"));
                }
                if row.path == "dataclasses.replace"
                    && let Some(copy) = host::replaced(&args)
                {
                    return Ok(copy);
                }
                if row.path == "len"
                    && let Some(Value::Host(thing)) = args.pos.first()
                    && let Some(length) = host::length(thing)
                {
                    return Ok(Value::Int(length));
                }
                if self.follows_host() {
                    args.named.retain(|(name, _)| &**name != "**");
                    if let Some(answer) = host::answer(row.path, &args) {
                        return Ok(answer);
                    }
                }
                let vague = self.follows_host() && args.pos.iter().any(host::is_vague);
                let operands = if self.in_kernel() && !row.effect { registers(&args) } else { Vec::new() };
                let (opaques, emitted) = (self.state.opaques, self.emitted);
                let result = row.call(self, args);
                let mut operands = operands;
                // Its own op goes through what they point to, whatever of its operands is not followed.
                if self.emitted - emitted > self.state.opaques - opaques {
                    operands.retain(|operand| !self.points(*operand));
                }
                if let (Ok(value), false) = (&result, operands.is_empty())
                    && (self.state.opaques != opaques || super::flat::content_free(value))
                {
                    // What it computes of them is not followed; they are used all the same.
                    let _ = self.emit(Op::undeclared("tt.opaque").operands("operands", &operands));
                }
                match result {
                    Err(Stop::Raised(range, why)) if vague => Err(Stop::Unknown(range, why)),
                    result => result,
                }
            }
            Value::LibClass(class) => class.call(self, args),
            Value::Function(function) => self.enter(&function.clone(), args),
            Value::Bound(bound) => {
                args.pos.insert(0, bound.0.clone());
                self.apply(&bound.1.clone(), args)
            }
            Value::Partial(partial) => self.apply_partial(&partial.clone(), args),
            Value::Class(class) => self.construct(&class.clone(), args),
            Value::Instance(_) => {
                let method = match self.find_attribute(callee, "__call__")? {
                    Some(method) => method,
                    // A module of torch.
                    None if self.follows_host() => self.attribute(callee, "forward")?,
                    None => self.attribute(callee, "__call__")?,
                };
                self.apply(&method, args)
            }
            Value::Host(thing) => host::call(self, thing, args),
            Value::Lib(path)
                if self.follows_host() || (!self.in_kernel() && (host::is_jit(path) || host::is_of_target(path))) =>
            {
                match host::call_library(self, path, args) {
                    Some(result) => result,
                    None => Ok(Value::Unknown(format!("`{path}` is not followed").into())),
                }
            }
            Value::Unknown(_) | Value::Lib(_) => self.call_unknown(callee, &args),
            Value::DType(_) => {
                // `gl.int32(x)`: a conversion.
                let method = self.attribute(callee, "__call__")?;
                self.apply(&method, args)
            }
            Value::Type(name) if &**name == "gl.dtype" => {
                let given = args.pos.first().or_else(|| args.named.first().map(|(_, value)| value));
                match given {
                    Some(Value::Str(name)) => match DType::named(name) {
                        Some(dtype) => Ok(Value::DType(dtype)),
                        None => self.raise(format!("there is no element type `{name}`")),
                    },
                    Some(dtype @ Value::DType(_)) => Ok(dtype.clone()),
                    _ => self.unknown("the name of this element type is not known"),
                }
            }
            _ => self.raise(format!("{} cannot be called", callee.class_name())),
        }
    }

    fn apply_partial(&mut self, partial: &Rc<Partial<'a>>, args: Args<'a>) -> Eval<'a> {
        let mut all = Args { pos: partial.args.clone(), named: Vec::new() };
        all.pos.extend(args.pos);
        for (name, value) in partial.named.iter() {
            if !args.named.iter().any(|(given, _)| given == name) {
                all.named.push((name.clone(), value.clone()));
            }
        }
        all.named.extend(args.named);
        self.apply(&partial.function, all)
    }

    /// A call of something that is not known. In the kernel it may synchronise, unless nothing that it is
    /// given could let it.
    fn call_unknown(&mut self, callee: &Value<'a>, args: &Args<'a>) -> Eval<'a> {
        let reason = match callee {
            Value::Unknown(reason) => chained("what is called here", reason),
            Value::Lib(path) => match self.library.gone(path, self.version) {
                Some((_, until)) => {
                    return match crate::library::missing(self, path) {
                        Some(instead) => self.apply(&instead, args.clone()),
                        None => self.gone(path, until),
                    };
                }
                None => {
                    if self.in_kernel() && self.library.lacks(path, self.version) {
                        let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
                        return self.raise(format!("`{module}` has no `{name}`"));
                    }
                    if let Some(row) = self.library.earlier(path, self.version).first() {
                        crate::library::earlier(self, row);
                        return self.apply(&Value::Builtin(row), args.clone());
                    }
                    not_followed(path)
                }
            },
            _ => "what is called here is not followed".to_owned(),
        };
        if self.in_kernel() {
            let given = args.pos.iter().chain(args.named.iter().map(|(_, value)| value));
            let language = matches!(callee, Value::Lib(path) if path.starts_with("gl.") || path.starts_with("tl."))
                && !matches!(callee, Value::Lib(path) if path.starts_with("gl.nvidia") || path.starts_with("gl.amd"));
            let harmless = language && !given.clone().any(shares);
            if harmless {
                self.not_followed(self.file, self.at, reason.clone());
            } else {
                self.unmodelled(reason.clone());
                // It may go through the pointers that it is handed.
                let all = args.pos.iter().chain(args.named.iter().map(|(_, value)| value));
                let value = |value: &Value<'a>| if let Value::Tensor(tensor) = value { tensor.ssa } else { None };
                let operands: Vec<Ssa> = all.filter_map(value).collect();
                if !operands.is_empty() {
                    let _ = self.emit(Op::undeclared("tt.opaque").operands("operands", &operands));
                }
            }
        }
        Ok(Value::Unknown(reason.into()))
    }

    /// A name that this release of Triton has no more, and nothing in its place.
    fn gone(&mut self, path: &str, until: crate::target::Version) -> Eval<'a> {
        let last = path.rsplit('.').next().unwrap_or(path);
        self.raise(format!("`{last}` is gone since Triton {}.{}", until.0, until.1 + 1))
    }

    /// Runs a function of a Python file.
    fn enter(&mut self, function: &Rc<Function<'a>>, args: Args<'a>) -> Eval<'a> {
        if self.depth >= CALLS {
            let reason = format!("calls nest deeper than {CALLS} levels").into();
            return Err(if self.in_kernel() { Stop::Limit(reason) } else { Stop::Deep(self.at, reason) });
        }
        let mode = match function.kind {
            FnKind::Jit if self.in_kernel() => ExecMode::Device,
            FnKind::Jit => {
                return self.unknown(format!("`{}` is a kernel's, and is called by Python", function.def.name()));
            }
            FnKind::Constexpr | FnKind::Host => ExecMode::Host,
        };
        if function.kind == FnKind::Host
            && self.in_kernel()
            && let FunctionNode::Def(def) = function.def
            && self.state.body(def).builds_ops()
        {
            let why = format!("`{}` builds ops by itself, which is not followed", def.name);
            return self.call_unknown(&Value::Unknown(why.into()), &args);
        }
        let range = function.def.range();
        self.state.touch(function.scope.file, range);
        let names = self.parameters(function, args)?;
        let memory =
            if mode == ExecMode::Device { self.memory_of(names.iter().map(|(_, value)| value)) } else { Vec::new() };
        let body = match function.def {
            FunctionNode::Def(def) if mode == ExecMode::Host => Some(self.state.body(def)),
            _ => None,
        };
        let scope = self.scopes.open_body(function.scope.file, Some(function.scope.clone()), body.clone());
        for (name, value) in names {
            let open = self.session.is_some() && crate::host::may_be_tensor(&value);
            let value = if open && scope.asks_of_tensor(&name) { crate::host::as_tensor(value) } else { value };
            let (value, cost) = super::extent::bounded(value);
            self.steps += cost;
            scope.put(name, value);
        }
        let frame = match mode {
            ExecMode::Device => Some(self.push_frame(function.def.name().to_owned(), false, memory)),
            ExecMode::Host => self.frame,
        };
        let result = self.inside(scope, mode, frame, |interp| match function.def {
            FunctionNode::Lambda(lambda) => interp.expr(&lambda.body),
            FunctionNode::Def(def) => {
                if body.is_some_and(|body| body.yields()) {
                    return interp.unknown("a generator is not run");
                }
                match interp.block(&def.body)? {
                    Flow::Return(value) => Ok(value),
                    _ => Ok(Value::None),
                }
            }
        });
        match result {
            // Half of the function was run: what it changed is not known, but Python changes little here.
            Err(Stop::Unknown(_, reason)) if mode == ExecMode::Host => Ok(Value::Unknown(reason)),
            Err(Stop::Deep(_, reason)) if self.in_kernel() => Ok(Value::Unknown(reason)),
            result => result,
        }
    }

    /// Runs something in another scope, as a call does, and comes back.
    pub(super) fn inside<T>(
        &mut self,
        scope: Rc<crate::scope::Scope<'a>>,
        mode: ExecMode,
        frame: Option<FrameId>,
        run: impl FnOnce(&mut Interp<'a>) -> T,
    ) -> T {
        let file = scope.file;
        let outer = (
            std::mem::replace(&mut self.scope, scope),
            std::mem::replace(&mut self.file, file),
            std::mem::replace(&mut self.mode, mode),
            std::mem::replace(&mut self.frame, frame),
            (self.at, self.what),
            std::mem::take(&mut self.state.closed),
            self.state.rest.take(),
            std::mem::take(&mut self.state.unrolled),
        );
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        let inner;
        (
            inner,
            self.file,
            self.mode,
            self.frame,
            (self.at, self.what),
            self.state.closed,
            self.state.rest,
            self.state.unrolled,
        ) = (
            std::mem::replace(&mut self.scope, outer.0),
            outer.1,
            outer.2,
            outer.3,
            outer.4,
            outer.5,
            outer.6,
            outer.7,
        );
        self.scopes.close(&inner);
        result
    }

    /// A frame for what is inlined or unrolled at the present expression.
    pub(super) fn push_frame(&mut self, what: String, iteration: bool, memory: Vec<u32>) -> FrameId {
        let id = FrameId(self.frames.len() as u32);
        self.frames.push(Frame { file: self.file, range: self.at, what, iteration, outer: self.frame, memory });
        id
    }

    /// The buffers and barriers in values that a function is handed.
    fn memory_of<'v>(&mut self, values: impl Iterator<Item = &'v Value<'a>>) -> Vec<u32>
    where
        'a: 'v,
    {
        let mut all = Vec::new();
        values.for_each(|value| leaves(value, &mut all));
        let memory = all.iter().filter_map(|leaf| match leaf {
            Value::MemDesc(memory) => Some(self.handed(memory.ssa)),
            _ => None,
        });
        memory.collect()
    }

    /// Binds arguments to the parameters of a function.
    fn parameters(&mut self, function: &Function<'a>, args: Args<'a>) -> Result<Vec<(Rc<str>, Value<'a>)>, Stop> {
        let name = function.def.name();
        let Some(parameters) = function.def.parameters() else {
            return if args.pos.is_empty() && args.named.is_empty() {
                Ok(Vec::new())
            } else {
                self.raise(format!("`{name}` takes no arguments"))
            };
        };
        let positional = parameters.posonlyargs.len() + parameters.args.len();
        let mut args = args;
        let unpacked = args.named.iter().find(|(key, _)| &**key == "**").map(|(_, value)| value.clone());
        args.named.retain(|(key, _)| &**key != "**");
        let all: Vec<_> = parameters.iter_non_variadic_params().collect();
        let mut values: Vec<Option<Value<'a>>> = vec![None; all.len()];
        let mut rest = Vec::new();
        let given = args.pos.len();
        for (at, value) in args.pos.into_iter().enumerate() {
            match values.get_mut(at) {
                Some(slot) if at < positional => *slot = Some(value),
                _ => rest.push(value),
            }
        }
        if !rest.is_empty() && parameters.vararg.is_none() {
            return self.raise(format!("`{name}` takes {positional} positional arguments, {given} are given"));
        }
        let mut more = Vec::new();
        for (key, value) in args.named {
            let place = all.iter().position(|parameter| parameter.parameter.name.as_str() == &*key);
            match place.and_then(|at| values.get_mut(at)) {
                Some(Some(_)) => return self.raise(format!("`{name}` is given `{key}` twice")),
                Some(slot) => *slot = Some(value),
                None if parameters.kwarg.is_some() => more.push((Value::Str(key), value)),
                None => return self.raise(format!("`{name}` has no parameter `{key}`")),
            }
        }
        let mut bound = Vec::with_capacity(all.len() + 2);
        for (at, (parameter, value)) in all.iter().zip(values).enumerate() {
            let own = parameter.parameter.name.as_str();
            let value = value.or_else(|| function.defaults.get(at).cloned().flatten());
            match value {
                Some(value) => bound.push((own.into(), value)),
                None if unpacked.is_some() => {
                    bound.push((own.into(), Value::Unknown("what `**` unpacks is not known".into())));
                }
                None => return self.raise(format!("`{name}` is not given `{own}`")),
            }
        }
        if let Some(vararg) = &parameters.vararg {
            bound.push((vararg.name.as_str().into(), Value::Tuple(rest.into())));
        }
        if let Some(kwarg) = &parameters.kwarg {
            if let (Some(unpacked), true) = (&unpacked, more.is_empty()) {
                bound.push((kwarg.name.as_str().into(), unpacked.clone()));
                return Ok(bound);
            }
            bound.push((kwarg.name.as_str().into(), Value::Dict(Rc::new(more.into()))));
        }
        Ok(bound)
    }
}

/// Whether a call that is given this could touch memory that threads share.
fn shares(value: &Value<'_>) -> bool {
    match value {
        Value::MemDesc(_) | Value::TensorDesc(_) | Value::Unknown(_) | Value::Function(_) | Value::Bound(_) => true,
        Value::Tuple(items) => items.iter().any(shares),
        Value::List(items) => items.borrow().iter().any(shares),
        Value::Instance(instance) => instance.fields.borrow().iter().any(|(_, value)| shares(value)),
        _ => false,
    }
}

/// That the call of a name is not followed; of a module that is none of Triton's or PyTorch's only its source says more.
fn not_followed(path: &str) -> String {
    let first = path.split('.').next().unwrap_or_default();
    let module = if first.is_empty() { path.rsplit_once('.').map_or("", |(module, _)| module) } else { first };
    match path.contains('.') && !["gl", "tl", "triton", "torch"].contains(&module) {
        true => format!("`{path}` is not followed: there is no source of `{module}` at hand"),
        false => format!("`{path}` is not followed"),
    }
}
