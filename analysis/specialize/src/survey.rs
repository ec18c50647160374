//! The functions of a file and the names that each mentions: one walk over the tree.

use base::TextRange;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, ExprCall, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};

use gluon::canonical;
use python::specialization::Language;
use python::syntax::package;
use python::syntax::{Module, Sources};

use super::imports::Imports;

/// What a function is, by its decorators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `@gluon.jit`.
    Gluon,
    /// `@triton.jit`: a kernel of plain Triton, or a function that kernels of both languages call.
    Triton,
    /// `@gluon.constexpr_function`.
    Constexpr,
    Host,
}

/// A function.
#[derive(Debug)]
pub(super) struct Func<'m> {
    pub def: &'m StmtFunctionDef,
    pub kind: Kind,
    /// The functions around it, outermost first, by their place in [`Survey::functions`].
    pub inside: Vec<usize>,
    /// Whether a class is around it, closer than any function.
    pub method: bool,
    /// Whether that class only gives it a name: no object is its first argument.
    pub is_static: bool,
    /// The name of that class.
    pub owner: Option<&'m str>,
    /// Names and attributes that its own statements mention, those of functions inside of it left out.
    pub mentions: FxHashSet<&'m str>,
    /// Names of these that stand alone and are read: those of attributes are not among them.
    read: FxHashSet<&'m str>,
    /// Its parameters and the names that it assigns: they are its own.
    locals: FxHashSet<&'m str>,
    /// Whether it gives a value back.
    pub returns: bool,
    /// The kind of kernel that it makes of a function that it is handed.
    makes: Option<Kind>,
    /// Of a function of the host that is written as one of kernels: the decorator of which it is not known what it makes.
    pub strange: Option<String>,
}

impl Func<'_> {
    /// The language of a function that runs in a kernel.
    pub(super) fn language(&self) -> Option<Language> {
        match self.kind {
            Kind::Gluon => Some(Language::Gluon),
            Kind::Triton => Some(Language::Triton),
            Kind::Constexpr | Kind::Host => None,
        }
    }

    /// Whether it reads a name of the functions or the file around it.
    pub(super) fn refers_to(&self, name: &str) -> bool {
        self.read.contains(name) && !self.locals.contains(name)
    }

    /// Whether it runs in a kernel.
    pub(super) fn device(&self) -> bool {
        matches!(self.kind, Kind::Gluon | Kind::Triton)
    }

    /// Whether it may be called by another function of kernels.
    pub(super) fn may_call(&self, other: &Func<'_>) -> bool {
        let name = other.def.name.as_str();
        if other.method { self.mentions.contains(name) } else { self.refers_to(name) }
    }

    /// Whether the name is one of its parameters, or of those that its expressions and assignments give a value.
    pub(super) fn assigns(&self, name: &str) -> bool {
        self.locals.contains(name)
    }

    /// Where it stands, without its decorators.
    pub(super) fn range(&self) -> TextRange {
        TextRange::new(self.start(), self.def.range.end().to_u32())
    }

    /// Where its statement starts.
    pub(super) fn start(&self) -> u32 {
        self.def.range.start().to_u32()
    }
}

/// All functions of a file.
#[derive(Debug)]
pub(super) struct Survey<'m> {
    pub functions: Vec<Func<'m>>,
    imports: Imports<'m>,
    /// Classes of the file with the names that their bodies define.
    pub classes: Vec<(&'m str, Vec<&'m str>)>,
    /// Those of the classes whose objects are kernels.
    kernels: Vec<(&'m str, Kind)>,
    /// Names that are launched: `name[…]` that is called, `name.warmup(…)`.
    pub launched: FxHashSet<&'m str>,
    /// Names that statements outside of all functions mention.
    pub outside: FxHashSet<&'m str>,
    /// Blocks under `if __name__ == "__main__"`: where their statements start, and the names that they mention.
    pub mains: Vec<(u32, FxHashSet<&'m str>)>,
    /// Names that statements outside of all functions assign, with the names that the values mention, and classes with
    /// those that their bodies do.
    pub tables: Vec<(&'m str, FxHashSet<&'m str>)>,
    /// Functions that are made kernels by a call: `gluon.jit(name)`, `triton.jit(name)`.
    jitted: Vec<(&'m str, Kind)>,
    /// What such kernels are called: `kernel = triton.jit(name)`.
    aliases: Vec<(&'m str, &'m str)>,
    open: Vec<usize>,
    class: Vec<Option<&'m str>>,
    /// Whether what is walked over is such a block.
    in_main: bool,
}

impl<'m> Survey<'m> {
    /// Walks over a file; `sources` are asked for files that hand on what it imports.
    pub(super) fn of(module: &'m Module, sources: &'m dyn Sources) -> Survey<'m> {
        let mut survey = Survey::without_others(module, sources);
        survey.decorate(sources);
        survey
    }

    /// The same, where decorators of other files are nothing that makes kernels.
    fn without_others(module: &'m Module, sources: &'m dyn Sources) -> Survey<'m> {
        let mut survey = Survey {
            functions: Vec::new(),
            imports: Imports::of(module, sources),
            classes: Vec::new(),
            kernels: Vec::new(),
            launched: FxHashSet::default(),
            outside: FxHashSet::default(),
            mains: Vec::new(),
            tables: Vec::new(),
            jitted: Vec::new(),
            aliases: Vec::new(),
            open: Vec::new(),
            class: Vec::new(),
            in_main: false,
        };
        for stmt in module.body() {
            survey.in_main = python::syntax::bodies::main_block(stmt).is_some();
            if survey.in_main {
                survey.mains.push((stmt.range().start().to_u32(), FxHashSet::default()));
            }
            let holds = matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::ClassDef(_));
            let before = holds.then(|| std::mem::take(&mut survey.outside));
            survey.visit_stmt(stmt);
            if let Some(before) = before {
                let held = std::mem::replace(&mut survey.outside, before);
                survey.outside.extend(held.iter().copied());
                let class = if let Stmt::ClassDef(class) = stmt { Some(class.name.as_str()) } else { None };
                survey.tables.extend(class.or_else(|| defined(stmt)).map(|name| (name, held)));
            }
        }
        for at in 0..survey.functions.len() {
            let func = &mut survey.functions[at];
            let made = survey.jitted.iter().find(|(name, _)| *name == func.def.name.as_str());
            if let (Kind::Host, Some((_, kind))) = (func.kind, made) {
                func.kind = *kind;
            }
        }
        let launched = survey.aliases.iter().filter(|(alias, _)| survey.launched.contains(alias));
        let launched: Vec<&str> = launched.map(|(_, name)| *name).collect();
        survey.launched.extend(launched);
        survey
    }

    /// The full name of an expression made of names and dots, as the table of builtins spells those of Triton
    /// (`gl.load`, `gluon.jit`, `triton.jit`), whatever Triton is called here; calls count as what they call.
    pub(super) fn path(&self, expr: &Expr) -> Option<String> {
        let written = self.written(expr)?;
        Some(canonical(&written).into_owned())
    }

    fn written(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                Some(self.imports.full(name).unwrap_or_else(|| name.to_owned()))
            }
            Expr::Attribute(attribute) => {
                let full = format!("{}.{}", self.written(&attribute.value)?, attribute.attr);
                Some(match package::package(&full) {
                    Some(package) if package.root != "triton" && !package.module.is_empty() => package.canonical(),
                    _ => full,
                })
            }
            Expr::Call(call) => self.written(&call.func),
            _ => None,
        }
    }

    /// Whether a name of the file is imported from somewhere with one of these words in its path.
    pub(super) fn imported(&self, name: &str, words: &[&str]) -> bool {
        self.imports.full(name).is_some_and(|path| path.split('.').any(|part| words.contains(&part)))
    }

    fn kind(&self, decorators: &[Decorator]) -> Kind {
        let mut kind = Kind::Host;
        for decorator in decorators {
            let path = self.path(&decorator.expression).unwrap_or_default();
            let mut parts = path.rsplit('.');
            match parts.next() {
                // Without the files that hand it on, `gluon` in its path says the same.
                Some("jit") if parts.any(|part| part.contains("gluon")) => return Kind::Gluon,
                Some("jit") => kind = Kind::Triton,
                Some("constexpr_function") => kind = Kind::Constexpr,
                _ => {}
            }
        }
        kind
    }

    /// Makes kernels of what is decorated by functions of the program's own that make kernels of what they are handed.
    fn decorate(&mut self, sources: &dyn Sources) {
        let hosts = |survey: &Survey<'m>, at: usize| survey.functions[at].kind == Kind::Host;
        let written = (0..self.functions.len()).any(|at| hosts(self, at) && takes_constants(self.functions[at].def));
        let mut known: FxHashMap<String, Option<Kind>> = FxHashMap::default();
        for at in (0..self.functions.len()).filter(|at| hosts(self, *at)).collect::<Vec<_>>() {
            let def = self.functions[at].def;
            for decorator in &def.decorator_list {
                let Some(dotted) = dotted(&decorator.expression) else { continue };
                let made = match known.get(&dotted) {
                    Some(made) => *made,
                    None => {
                        let made = self.makes(&dotted, sources, written);
                        known.insert(dotted.clone(), made);
                        made
                    }
                };
                match made {
                    Some(kind) => self.functions[at].kind = kind,
                    // Triton's own that make no kernels.
                    None if ["builtin", "extern", "constexpr"].iter().any(|own| dotted.ends_with(own)) => {}
                    None if takes_constants(def) => self.functions[at].strange = Some(dotted),
                    None => {}
                }
            }
        }
    }

    /// What a decorator of the program's own makes of a function; `everywhere` also one that another file defines.
    fn makes(&self, decorator: &str, sources: &dyn Sources, everywhere: bool) -> Option<Kind> {
        let own = |survey: &Survey<'_>, name: &str| {
            let mut free = survey.functions.iter().filter(|func| !func.method && func.inside.is_empty());
            free.find(|func| func.def.name.as_str() == name).map(|func| func.makes)
        };
        if let Some(made) = own(self, decorator) {
            return made;
        }
        let (file, name) = everywhere.then(|| self.imports.defined(decorator)).flatten()?;
        own(&Survey::without_others(&file, sources), &name).flatten()
    }

    fn is_static(&self, decorators: &[Decorator]) -> bool {
        decorators.iter().any(|decorator| self.path(&decorator.expression).as_deref() == Some("staticmethod"))
    }

    /// The function that a call makes a kernel of, and of which language.
    fn made(&self, call: &'m ExprCall) -> Option<(&'m str, Kind)> {
        let path = self.path(&call.func)?;
        let kind = match path.as_str() {
            "triton.jit" => Kind::Triton,
            path if path.ends_with(".jit") && path.contains("gluon") => Kind::Gluon,
            path => self.kernel_class(path)?,
        };
        Some((call.arguments.args.first().and_then(last_name)?, kind))
    }

    /// The language of the kernels that are objects of a class.
    fn kernel_class(&self, path: &str) -> Option<Kind> {
        match path.rsplit('.').next().unwrap_or(path) {
            "JITFunction" => Some(Kind::Triton),
            "GluonJITFunction" => Some(Kind::Gluon),
            _ => self.kernels.iter().find(|(name, _)| *name == path).map(|(_, kind)| *kind),
        }
    }

    /// Whether what makes it run in a kernel is Triton's, or a name of the program's own: other libraries have a `jit` too.
    pub(super) fn is_tritons(&self, func: &Func<'_>) -> bool {
        let mut paths = func.def.decorator_list.iter().filter_map(|decorator| self.path(&decorator.expression));
        let other = |path: &String| path.contains('.') && !path.contains("triton") && !path.contains("gluon");
        !paths.any(|path| path.ends_with("jit") && other(&path))
    }

    /// Whether a name is a parameter of a function around.
    fn is_handed(&self, name: &str) -> bool {
        let mut params = self.open.iter().flat_map(|&at| self.functions[at].def.parameters.iter());
        params.any(|param| param.name().as_str() == name)
    }

    fn mention(&mut self, name: &'m str) {
        match (self.open.last(), self.mains.last_mut()) {
            (Some(&at), _) => self.functions[at].mentions.insert(name),
            (None, Some((_, mentions))) if self.in_main => mentions.insert(name),
            (None, _) => self.outside.insert(name),
        };
    }
}

impl<'m> Visitor<'m> for Survey<'m> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                for param in def.parameters.iter_non_variadic_params() {
                    if let Some(default) = param.default() {
                        self.visit_expr(default);
                    }
                }
                let kind = self.kind(&def.decorator_list);
                let owner = self.class.last().copied().flatten();
                let method = owner.is_some();
                let is_static = method && (self.is_static(&def.decorator_list) || !takes_object(def));
                let inside = self.open.clone();
                self.open.push(self.functions.len());
                self.class.push(None);
                let mentions = FxHashSet::default();
                let read = FxHashSet::default();
                let locals = def.parameters.iter().map(|param| param.name().as_str()).collect();
                let returns = false;
                self.functions.push(Func {
                    def,
                    kind,
                    inside,
                    method,
                    is_static,
                    owner,
                    mentions,
                    read,
                    locals,
                    returns,
                    makes: None,
                    strange: None,
                });
                // Its tests' values are the function's own business.
                for decorator in &def.decorator_list {
                    self.visit_decorator(decorator);
                }
                for stmt in &def.body {
                    self.visit_stmt(stmt);
                }
                self.open.pop();
                self.class.pop();
            }
            Stmt::ClassDef(def) => {
                self.class.push(Some(def.name.as_str()));
                let kind = def.bases().iter().find_map(|base| self.kernel_class(&self.path(base)?));
                self.kernels.extend(kind.map(|kind| (def.name.as_str(), kind)));
                if self.open.is_empty() {
                    self.classes.push((def.name.as_str(), def.body.iter().filter_map(defined).collect()));
                }
                walk_stmt(self, stmt);
                self.class.pop();
            }
            Stmt::Return(ret) => {
                if let (Some(&at), Some(value)) = (self.open.last(), &ret.value) {
                    self.functions[at].returns |= !value.is_none_literal_expr();
                }
                walk_stmt(self, stmt);
            }
            Stmt::Assign(assign) => {
                if let Expr::Call(call) = &*assign.value
                    && let Some((name, _)) = self.made(call)
                {
                    self.aliases.extend(assign.targets.iter().filter_map(last_name).map(|alias| (alias, name)));
                }
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'m Expr) {
        match expr {
            Expr::Name(name) => {
                if let Some(&at) = self.open.last() {
                    let func = &mut self.functions[at];
                    let names = if name.ctx.is_load() { &mut func.read } else { &mut func.locals };
                    names.insert(name.id.as_str());
                }
                self.mention(name.id.as_str());
            }
            Expr::Attribute(attribute) => {
                self.mention(attribute.attr.as_str());
                walk_expr(self, expr);
            }
            Expr::Call(call) => {
                match &*call.func {
                    Expr::Subscript(subscript) => {
                        self.launched.extend(launched_name(&subscript.value));
                    }
                    Expr::Attribute(attribute) if matches!(attribute.attr.as_str(), "warmup" | "run") => {
                        self.launched.extend(last_name(&attribute.value));
                    }
                    Expr::Attribute(_) | Expr::Name(_) => {
                        let made = self.made(call);
                        match made.filter(|(name, _)| self.is_handed(name)).zip(self.open.first()) {
                            Some(((_, kind), &at)) => self.functions[at].makes = Some(kind),
                            None => self.jitted.extend(made),
                        }
                    }
                    _ => {}
                }
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// Whether the first parameter of a method is called as an object or a class is.
fn takes_object(def: &StmtFunctionDef) -> bool {
    let first = def.parameters.iter_non_variadic_params().next();
    first.is_some_and(|first| matches!(first.name().as_str(), "self" | "cls"))
}

/// The kernel that a subscript launches: also `kernel` of `wrap_triton(kernel)`.
fn launched_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Call(call) => match last_name(&call.func)? {
            "wrap_triton" | "capture_triton" | "jit" => call.arguments.args.first().and_then(last_name),
            _ => None,
        },
        _ => last_name(expr),
    }
}

/// `kernel` of `kernel` and of `module.kernel`.
fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// `tools.kernel` of `tools.kernel` and of `tools.kernel(…)`.
fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        Expr::Call(call) => dotted(&call.func),
        _ => None,
    }
}

/// Whether a parameter is annotated as a constexpr: no other functions than those of kernels have such.
fn takes_constants(def: &StmtFunctionDef) -> bool {
    let mut annotations = def.parameters.iter_non_variadic_params().filter_map(|param| param.annotation());
    annotations.any(|annotation| last_name(annotation) == Some("constexpr"))
}

/// The name that a statement of a class gives it.
fn defined(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::FunctionDef(def) => Some(def.name.as_str()),
        Stmt::AnnAssign(field) => last_name(&field.target),
        Stmt::Assign(assign) => assign.targets.first().and_then(last_name),
        _ => None,
    }
}
