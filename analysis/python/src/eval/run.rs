//! A kernel from its file: finding it, its arguments, its body, its module.

use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::Stmt;
use ruff_python_ast::relocate::relocate_expr;
use ruff_python_parser::parse_expression;

use super::entry::Signature;
use super::{Flow, Interp, Stop};
use crate::elaborated::Elaborated;
use crate::emit::{Attr, Op};
use crate::host::{self, HostLaunch, Session};
use crate::interp::ExecMode;
use crate::origin::FileId;
use crate::specialization::{Host, Language, Spec};
use crate::syntax::Module;
use crate::value::{Function, FunctionNode, Value};
use base::TextRange;
use dialects::Tt;

impl<'a> Interp<'a> {
    /// Elaborates the kernel of a specialisation.
    pub(super) fn kernel(&mut self, module: Arc<Module>, spec: &Spec, out: &mut Elaborated) -> Result<(), Stop> {
        let file = self.add_file(module);
        self.state.wanted = Some((file, spec.def));
        // What tests call it with is found by running them.
        let by_launch = spec.host.as_ref().filter(|host| host.case.is_some());
        self.session = by_launch.map(|_| Session::default());
        // What the file does by itself counts where that launches the kernel, or a function of it defines it.
        let whole = |host: &Host| host.case.is_none() || host.file.is_none() && host.def == host::MODULE;
        if spec.host.as_ref().is_some_and(whole) {
            self.run_file(file)?;
        } else {
            self.open_file(file);
            if spec.host.is_none() {
                self.run_around(file, spec.def)?;
            }
        }
        let mut launch = None;
        match (&spec.host, by_launch) {
            (Some(host), Some(_)) => {
                let reached = host::reach(self, host, spec.def)?;
                self.state.found.push(reached.function.clone());
                self.session = None;
                launch = Some(reached);
            }
            (Some(host), None) => self.host_function(file, host)?,
            (None, _) => {}
        }
        if self.state.found.is_empty()
            && spec.host.is_none()
            && let Some(def) = self.function_around(file, spec.def)
        {
            // Nobody is seen to call it: what it is called with is open.
            let (file_of, case, ways, arguments) = (None, None, Vec::new(), Vec::new());
            let host = Host { file: file_of, def, case, ways, assumed: false, arguments, launch: 0 };
            self.host_function(file, &host)?;
        }
        let Some(function) = self.state.found.last().cloned() else {
            (self.file, self.at) = (file, TextRange::new(spec.def, spec.def));
            return self.unknown("no statement that is run defines this kernel");
        };
        out.kernel = function.def.name().to_owned();
        if let FunctionNode::Def(def) = function.def {
            out.name = Interp::range(&def.name);
        }
        self.entry(&function, spec, launch.as_ref())
    }

    /// The function of a file in which a statement stands.
    fn function_around(&self, file: FileId, place: u32) -> Option<u32> {
        let file = self.files.get(file.0 as usize)?;
        let around = |stmt: &&Stmt| Interp::range(*stmt).contains(TextRange::new(place, place));
        let mut body = file.module.body();
        loop {
            match body.iter().find(around)? {
                Stmt::ClassDef(class) => body = &class.body,
                Stmt::FunctionDef(def) => {
                    let start = Interp::range(def).start;
                    return (start < place).then_some(start);
                }
                _ => return None,
            }
        }
    }

    /// Runs the function that defines the kernel.
    fn host_function(&mut self, file: FileId, host: &Host) -> Result<(), Stop> {
        let Some(scope) = self.files.get(file.0 as usize).map(|file| file.scope.clone()) else { return Ok(()) };
        let around = scope.snapshot().iter().find_map(|(_, value)| defined_at(value, host.def));
        let Some(function) = around else { return self.unknown("the function around this kernel is not found") };
        self.body_around(file, &function, host)
    }

    /// Runs the body of a function around the kernel, and that of the one in it which is around it too.
    fn body_around(&mut self, file: FileId, function: &Rc<Function<'a>>, host: &Host) -> Result<(), Stop> {
        let Some(scope) = self.files.get(file.0 as usize).map(|file| file.scope.clone()) else { return Ok(()) };
        let FunctionNode::Def(def) = function.def else { return Ok(()) };
        let inner = self.scopes.open(file, Some(function.scope.clone()));
        for (parameter, default) in def.parameters.iter_non_variadic_params().zip(&function.defaults) {
            let name = parameter.parameter.name.as_str();
            let given = host.arguments.iter().find(|(known, _)| known == name);
            let value = match (given, default) {
                (Some((_, text)), _) => {
                    let text = text.clone();
                    self.inside(scope.clone(), ExecMode::Host, None, |interp| interp.text(&text))?
                }
                (None, Some(default)) => default.clone(),
                (None, None) => Value::Unknown(format!("what the tests give `{name}` is not known").into()),
            };
            inner.set(name, value);
        }
        let body = &def.body;

        let within = inner.clone();
        self.inside(inner, ExecMode::Host, None, |interp| {
            for stmt in body {
                match interp.block(std::slice::from_ref(stmt)) {
                    Ok(Flow::Next) => {}
                    // A way out before the kernel is defined is for those who cannot launch it.
                    Ok(_) if interp.state.found.is_empty() => {}
                    Ok(_) => break,
                    // What comes behind the kernel's definition is not needed.
                    Err(Stop::Raised(..) | Stop::Unknown(..) | Stop::Deep(..)) => interp.state.raised = None,
                    Err(stop) => return Err(stop),
                }
            }
            Ok(())
        })?;
        let place = self.state.wanted.map_or(0, |(_, place)| place);
        let around = |value: &Value<'a>| match value {
            Value::Function(inner) if inner.def.range().contains(TextRange::new(place, place)) => Some(inner.clone()),
            _ => None,
        };
        let next = within.snapshot().iter().find_map(|(_, value)| around(value));
        match next.filter(|next| self.state.found.is_empty() && next.def.range().start < place) {
            Some(next) => self.body_around(file, &next, &Host { arguments: Vec::new(), ..host.clone() }),
            None => Ok(()),
        }
    }

    /// Evaluates a Python expression that is not in any file, in the present scope. All of it stands at the
    /// present place, which is one of the file.
    pub(super) fn text(&mut self, text: &str) -> Result<Value<'a>, Stop> {
        let Ok(parsed) = parse_expression(text) else { return self.unknown(format!("`{text}` is no expression")) };
        let mut expr = parsed.into_expr();
        relocate_expr(&mut expr, ruff_text_size::TextRange::new(self.at.start.into(), self.at.end.into()));
        let expr = self.trees.expressions.alloc(expr);
        self.expr(expr)
    }

    fn entry(&mut self, function: &Rc<Function<'a>>, spec: &Spec, launch: Option<&HostLaunch<'a>>) -> Result<(), Stop> {
        let FunctionNode::Def(def) = function.def else { return self.unknown("a lambda is no kernel") };
        self.state.touch(function.scope.file, function.def.range());
        (self.file, self.at) = (function.scope.file, Interp::range(&def.name));
        self.mode = ExecMode::Device;
        let signature = self.signature(function, spec, launch)?;
        let scope = self.scopes.open(function.scope.file, Some(function.scope.clone()));
        let Signature { values, body: params } = signature;
        for (name, value) in values {
            scope.set(&name, value);
        }
        let end = self.state.trial.as_ref().and_then(|trial| trial.end);
        let wanted = |stmt: &Stmt| end.is_none_or(|end| Interp::range(stmt).start < end);
        let body = def.body.split_at(def.body.partition_point(wanted)).0;
        let ran = self.region(|interp| {
            let ran = interp.inside(scope, ExecMode::Device, None, |interp| interp.block(body));
            interp.emit(Op::new(Tt::Return))?;
            // What was elaborated before it ended says more than nothing.
            Ok(ran)
        });
        let (ran, code) = ran?;
        let ended = ran.map(|_| ());
        let function =
            Op::new(Tt::Func).attr("sym_name", Attr::Symbol(def.name.to_string())).region(code.with_args_of(params));
        let ((), whole) = self.region(|interp| interp.emit(function).map(drop))?;
        let mut module = Op::new(dialects::Builtin::Module);
        // Triton says of its modules what they are compiled for when it gives tensors their layouts.
        if self.language == Language::Gluon || self.explicit_memory {
            module = module
                .attr("ttg.num-ctas", i64::from(if self.explicit_memory { 1 } else { self.num_ctas }))
                .attr("ttg.num-warps", i64::from(self.num_warps))
                .attr("ttg.target", Attr::Text(self.target.ir()))
                .attr("ttg.threads-per-warp", i64::from(self.target.lanes()));
        }
        if self.explicit_memory && self.num_ctas > 1 {
            module = module.attr("ttg.cluster-dim-x", i64::from(self.num_ctas));
        }
        if self.two_ctas {
            // A late pass finds this out of the MMAs.
            module = module.attr("ttng.two-ctas", true);
        }
        // The module itself comes from nowhere in the source.
        if let Err(error) = self.builder.push(None, module.region(whole)) {
            return self.unknown(error.to_string());
        }
        ended
    }
}

/// The function that stands at a place of the file.
fn defined_at<'a>(value: &Value<'a>, def: u32) -> Option<Rc<Function<'a>>> {
    match value {
        Value::Function(function) if function.def.range().start == def => Some(function.clone()),
        Value::Class(class) => class.scope.snapshot().iter().find_map(|(_, value)| defined_at(value, def)),
        _ => None,
    }
}
