//! What a call in Python calls: a builtin, a method of memory, a helper of this file or of another, a class.

use gluon::catalog::{self, Builtin};
use python::syntax::{Module, range};
use ruff_python_ast::{Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use std::sync::Arc;

use super::cursor::OpenCall;
use super::navigate::function_at;
use super::scene::Scene;

/// A parameter as it is shown and named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Its name; empty for the bare `*`.
    pub name: String,
    /// As it stands in the signature.
    pub text: String,
    /// Whether only a keyword gives it.
    pub keyword_only: bool,
    /// Whether it collects, or is the bare `*`.
    pub collects: bool,
}

/// What is called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// What it is called.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Shown>,
    /// What it does.
    pub doc: String,
    /// The builtin, where it is one.
    pub builtin: Option<Builtin>,
}

impl Scene<'_> {
    /// What a call calls in the function around an offset.
    pub(super) fn callee(&self, call: &OpenCall, offset: u32) -> Option<Callee> {
        let name = call.name.as_str();
        self.method(name, offset)
            .or_else(|| self.of_file(name))
            .or_else(|| self.builtin(name))
            .or_else(|| self.of_other(name))
            .or_else(|| self.of_object(call))
    }

    /// A method of an object whose class is at hand, or a function behind another name.
    fn of_object(&self, call: &OpenCall) -> Option<Callee> {
        let name = call.name.trim_start_matches('.');
        function_at(self.file.module(), call.callee, self.setting.sources, |def, text, bound| {
            let mut callee = of_function(name, def, text);
            // The object is given by the dot.
            callee.params.drain(..usize::from(bound).min(callee.params.len()));
            callee
        })
    }

    /// The thing that the names with dots before a member stand for.
    pub(super) fn class_of(&self, receiver: &str, offset: u32) -> Option<&'static str> {
        let thing = match receiver.rsplit_once('.') {
            Some((_, field)) => self.things.field(field),
            None => {
                let (function, _) = self.definitions.around(offset)?;
                self.things.variable(function, receiver)
            }
        };
        thing?.class()
    }

    fn method(&self, name: &str, offset: u32) -> Option<Callee> {
        let (receiver, method) = name.rsplit_once('.')?;
        let class = self.class_of(receiver, offset)?;
        let builtin = catalog::find(&format!("{class}.{method}"), self.setting.version)?;
        Some(of_builtin(name, builtin))
    }

    fn builtin(&self, name: &str) -> Option<Callee> {
        let path = self.names.path(name)?;
        let builtin = catalog::find(&path, self.setting.version)?;
        let callable = matches!(builtin.kind, catalog::BuiltinKind::Function | catalog::BuiltinKind::Class);
        callable.then(|| of_builtin(name, builtin))
    }

    fn of_file(&self, name: &str) -> Option<Callee> {
        let text = self.file.text();
        if let Some((_, function)) = self.definitions.device(name) {
            return Some(of_function(name, function.def, text));
        }
        let class = self.definitions.classes.iter().find(|class| class.name.as_str() == name);
        class.and_then(|class| of_class(name, class, text))
    }

    /// A function or class of another file of the workspace.
    fn of_other(&self, name: &str) -> Option<Callee> {
        let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
        let written = self.names.full(first)?;
        let full = rest.map_or(written.clone(), |rest| format!("{written}.{rest}"));
        let (module, member) = match full.rsplit_once('.') {
            Some((module, member)) if module.is_empty() || module.ends_with('.') => (format!("{module}."), member),
            Some((module, member)) => (module.to_owned(), member),
            None => return None,
        };
        let from = self.file.module().path();
        let other: Arc<Module> = self.setting.sources.import(from, &module)?;
        other.body().iter().find_map(|stmt| match stmt {
            Stmt::FunctionDef(def) if def.name.as_str() == member && is_device(def) => {
                Some(of_function(name, def, other.source()))
            }
            Stmt::ClassDef(class) if class.name.as_str() == member => of_class(name, class, other.source()),
            _ => None,
        })
    }
}

/// Whether decorators make a function one of kernels, by their last names alone.
fn is_device(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        let expr = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        let path = super::functions::dotted(expr).unwrap_or_default();
        matches!(path.rsplit('.').next(), Some("jit" | "constexpr_function"))
    })
}

pub(super) fn of_builtin(name: &str, builtin: Builtin) -> Callee {
    let shown = |param: &catalog::BuiltinParameter| {
        let text = match param.default {
            Some(default) => format!("{}{}={default}", param.stars, param.name),
            None => format!("{}{}", param.stars, param.name),
        };
        Shown { name: param.name.to_owned(), text, keyword_only: param.keyword_only, collects: !param.is_named() }
    };
    let params = builtin.params.iter().map(shown).collect();
    Callee { name: name.to_owned(), params, doc: builtin.doc().to_owned(), builtin: Some(builtin) }
}

fn of_function(name: &str, def: &StmtFunctionDef, text: &str) -> Callee {
    let params = of_parameters(&def.parameters, text);
    Callee { name: name.to_owned(), params, doc: docstring(&def.body), builtin: None }
}

/// The parameters of a class: those of `__init__`, or its annotated fields.
fn of_class(name: &str, class: &StmtClassDef, text: &str) -> Option<Callee> {
    let init = class.body.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    let init = init.filter(|def| def.name.as_str() == "__init__").last();
    let params = match init {
        Some(def) => of_parameters(&def.parameters, text).into_iter().skip(1).collect(),
        None => {
            let fields = class.body.iter().filter_map(|stmt| stmt.as_ann_assign_stmt());
            let fields: Vec<Shown> = fields
                .filter_map(|field| {
                    let name = field.target.as_name_expr()?.id.to_string();
                    let text = range(field).of(text).to_owned();
                    Some(Shown { name, text, keyword_only: false, collects: false })
                })
                .collect();
            if fields.is_empty() {
                return None;
            }
            fields
        }
    };
    Some(Callee { name: name.to_owned(), params, doc: docstring(&class.body), builtin: None })
}

fn of_parameters(parameters: &Parameters, text: &str) -> Vec<Shown> {
    let slice = |node: &dyn Fn() -> base::TextRange| node().of(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = Vec::new();
    let positional = parameters.posonlyargs.iter().chain(&parameters.args);
    for param in positional {
        let name = param.name().to_string();
        out.push(Shown { name, text: slice(&|| range(param)), keyword_only: false, collects: false });
    }
    if let Some(rest) = &parameters.vararg {
        let text = format!("*{}", slice(&|| range(&**rest)).trim_start_matches('*'));
        out.push(Shown { name: rest.name.to_string(), text, keyword_only: false, collects: true });
    } else if !parameters.kwonlyargs.is_empty() {
        out.push(Shown { name: String::new(), text: "*".to_owned(), keyword_only: false, collects: true });
    }
    for param in &parameters.kwonlyargs {
        let name = param.name().to_string();
        out.push(Shown { name, text: slice(&|| range(param)), keyword_only: true, collects: false });
    }
    if let Some(more) = &parameters.kwarg {
        let text = format!("**{}", slice(&|| range(&**more)).trim_start_matches('*'));
        out.push(Shown { name: more.name.to_string(), text, keyword_only: true, collects: true });
    }
    out
}

/// The first paragraph of the string that a body begins with.
fn docstring(body: &[Stmt]) -> String {
    let first = body.first().and_then(|stmt| stmt.as_expr_stmt());
    let text = first.and_then(|expr| expr.value.as_string_literal_expr());
    let text = text.map_or("", |text| text.value.to_str());
    let paragraph = text.trim().split("\n\n").next().unwrap_or("");
    paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
