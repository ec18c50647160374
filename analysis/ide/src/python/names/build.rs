//! From a tree to its names: first what each scope binds, then what each place means.

use base::TextRange;
use python::syntax::{CurrentTree, range};
use ruff_python_ast::visitor::{
    Visitor, walk_except_handler, walk_expr, walk_parameters, walk_pattern, walk_stmt, walk_type_param,
};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprCall, ExprContext, Identifier, Parameters, Pattern, Stmt, StmtClassDef,
    StmtFunctionDef, TypeParam,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Binding, BindingId, BindingKind, Mention, NameAccess, NameIndex, NameScope, ScopeId, ScopeKind, called,
    function_named,
};

impl NameIndex {
    /// The names of a file.
    pub fn of(tree: &CurrentTree<'_>) -> NameIndex {
        let end = tree.module().text().len() as u32;
        let mut builder = Builder::default();
        builder.open(ScopeKind::Module, "", TextRange::new(0, end));
        tree.statements().for_each(|statement| builder.visit_stmt(statement));
        builder.finish()
    }
}

/// A name that a scope binds.
struct Bound {
    kind: BindingKind,
    range: TextRange,
    bodies: Vec<ScopeId>,
}

/// A scope in the making.
struct Draft<'a> {
    scope: NameScope,
    bound: Vec<(&'a str, Bound)>,
    known: FxHashMap<&'a str, usize>,
    globals: FxHashSet<&'a str>,
    nonlocals: FxHashSet<&'a str>,
}

/// A place whose meaning is not known yet.
struct Place<'a> {
    name: &'a str,
    range: TextRange,
    scope: ScopeId,
    access: NameAccess,
}

/// A keyword of a call: where the function is named, and the keyword.
struct Keyword<'a> {
    function: TextRange,
    name: &'a Identifier,
    scope: ScopeId,
}

#[derive(Default)]
struct Builder<'a> {
    drafts: Vec<Draft<'a>>,
    places: Vec<Place<'a>>,
    keywords: Vec<Keyword<'a>>,
    /// Where a variable gets a value, with the names that the value may be; `None` where it may be something else.
    given: FxHashMap<TextRange, Option<Vec<TextRange>>>,
    stars: Vec<String>,
    current: u32,
    /// The scope of a function whose annotations are being looked at, with its type parameters.
    generic: Option<(ScopeId, FxHashSet<&'a str>)>,
}

impl<'a> Builder<'a> {
    fn open(&mut self, kind: ScopeKind, name: &str, range: TextRange) -> ScopeId {
        let id = ScopeId(self.drafts.len() as u32);
        let parent = (!self.drafts.is_empty()).then_some(ScopeId(self.current));
        let scope = NameScope { kind, parent, name: name.to_owned(), range, names: FxHashMap::default() };
        let (known, globals, nonlocals) = Default::default();
        self.drafts.push(Draft { scope, bound: Vec::new(), known, globals, nonlocals });
        self.current = id.0;
        id
    }

    fn close(&mut self) {
        let parent = self.drafts.get(self.current as usize).and_then(|draft| draft.scope.parent);
        self.current = parent.map_or(0, |parent| parent.0);
    }

    fn mention(&mut self, name: &'a str, range: TextRange, scope: ScopeId, access: NameAccess) {
        if !name.is_empty() {
            self.places.push(Place { name, range, scope, access });
        }
    }

    /// A place that gives a name of the current scope a value.
    fn bind(&mut self, name: &'a str, range: TextRange, kind: BindingKind, body: Option<ScopeId>) {
        self.bind_in(ScopeId(self.current), name, range, kind, body);
    }

    fn bind_in(&mut self, scope: ScopeId, name: &'a str, range: TextRange, kind: BindingKind, body: Option<ScopeId>) {
        self.mention(name, range, scope, NameAccess::Bind);
        let Some(draft) = self.drafts.get_mut(scope.0 as usize).filter(|_| !name.is_empty()) else { return };
        let at = *draft.known.entry(name).or_insert_with(|| {
            draft.bound.push((name, Bound { kind, range, bodies: Vec::new() }));
            draft.bound.len() - 1
        });
        if let (Some((_, bound)), Some(body)) = (draft.bound.get_mut(at), body) {
            bound.bodies.push(body);
        }
    }

    fn function(&mut self, def: &'a StmtFunctionDef) {
        def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        let whole = TextRange::new(range(&def.name).start.min(range(def).end), range(def).end);
        let (name, at) = (def.name.as_str(), range(&def.name));
        let outer = ScopeId(self.current);
        let body = self.open(ScopeKind::Function, name, whole);
        if let Some(params) = &def.type_params {
            self.visit_type_params(params);
        }
        self.current = outer.0;
        // Defaults and annotations are looked up around the function, save its type parameters.
        let generic =
            def.type_params.as_ref().map(|params| (body, params.iter().map(|it| it.name().as_str()).collect()));
        let around = std::mem::replace(&mut self.generic, generic);
        self.outside(&def.parameters);
        if let Some(returns) = &def.returns {
            self.visit_annotation(returns);
        }
        self.generic = around;
        self.bind_in(outer, name, at, BindingKind::Function, Some(body));
        self.current = body.0;
        self.parameters(&def.parameters);
        self.visit_body(&def.body);
        self.close();
    }

    fn class(&mut self, def: &'a StmtClassDef) {
        def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        if let Some(arguments) = &def.arguments {
            self.visit_arguments(arguments);
        }
        let whole = TextRange::new(range(&def.name).start.min(range(def).end), range(def).end);
        let (name, at) = (def.name.as_str(), range(&def.name));
        let outer = ScopeId(self.current);
        let body = self.open(ScopeKind::Class, name, whole);
        self.bind_in(outer, name, at, BindingKind::Class, Some(body));
        if let Some(params) = &def.type_params {
            self.visit_type_params(params);
        }
        self.visit_body(&def.body);
        self.close();
    }

    /// What of a function's parameters is looked up around it: defaults and annotations.
    fn outside(&mut self, parameters: &'a Parameters) {
        walk_parameters(self, parameters);
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters.iter() {
            let name = &parameter.as_parameter().name;
            self.bind(name.as_str(), range(name), BindingKind::Parameter, None);
        }
    }

    fn comprehension(&mut self, whole: TextRange, parts: &[&'a Expr], generators: &'a [Comprehension]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.open(ScopeKind::Comprehension, "", whole);
        for (at, generator) in generators.iter().enumerate() {
            if at > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            generator.ifs.iter().for_each(|condition| self.visit_expr(condition));
        }
        parts.iter().for_each(|part| self.visit_expr(part));
        self.close();
    }

    /// Remembers the keywords of a call or launch of something that has a name.
    fn call(&mut self, call: &'a ExprCall) {
        let Expr::Name(function) = called(call) else { return };
        let (function, scope) = (range(function), ScopeId(self.current));
        let named = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
        self.keywords.extend(named.map(|name| Keyword { function, name, scope }));
    }

    /// Remembers what a variable gets.
    fn given(&mut self, target: &'a Expr, value: &'a Expr) {
        if let Expr::Name(name) = target {
            let mut names = Vec::new();
            let known = values(value, &mut names);
            self.given.insert(range(name), known.then_some(names));
        }
    }

    /// The scope to which `:=` gives a name: the one around comprehensions.
    fn around_comprehensions(&self) -> ScopeId {
        let mut at = ScopeId(self.current);
        while let Some(draft) = self.drafts.get(at.0 as usize)
            && draft.scope.kind == ScopeKind::Comprehension
            && let Some(parent) = draft.scope.parent
        {
            at = parent;
        }
        at
    }

    fn declare(&mut self, names: &'a [Identifier], global: bool) {
        let scope = ScopeId(self.current);
        for name in names {
            self.mention(name.as_str(), range(name), scope, NameAccess::Declare);
            let Some(draft) = self.drafts.get_mut(scope.0 as usize) else { continue };
            let set = if global { &mut draft.globals } else { &mut draft.nonlocals };
            set.insert(name.as_str());
        }
    }

    fn finish(self) -> NameIndex {
        let Builder { drafts, places, keywords, given, stars, .. } = self;
        let mut bindings: Vec<Binding> = Vec::new();
        let mut scopes: Vec<NameScope> = Vec::with_capacity(drafts.len());
        let (mut globals, mut nonlocals) = (Vec::new(), Vec::new());
        let mut late: Vec<(&str, Bound)> = Vec::new();
        for (at, draft) in drafts.into_iter().enumerate() {
            let mut scope = draft.scope;
            for (name, bound) in draft.bound {
                if draft.globals.contains(name) {
                    late.push((name, bound));
                } else if !draft.nonlocals.contains(name) {
                    scope.names.insert(name.to_owned(), BindingId(bindings.len() as u32));
                    let Bound { kind, range, bodies } = bound;
                    bindings.push(Binding { name: name.to_owned(), kind, scope: ScopeId(at as u32), range, bodies });
                }
            }
            scopes.push(scope);
            globals.push(draft.globals);
            nonlocals.push(draft.nonlocals);
        }
        // What functions bind in the file by `global`.
        for (name, bound) in late {
            if let Some(file) = scopes.first_mut()
                && !file.names.contains_key(name)
            {
                file.names.insert(name.to_owned(), BindingId(bindings.len() as u32));
                let Bound { kind, range, bodies } = bound;
                bindings.push(Binding { name: name.to_owned(), kind, scope: ScopeId(0), range, bodies });
            }
        }
        let mut index = NameIndex {
            scopes,
            bindings,
            mentions: Vec::with_capacity(places.len()),
            aliases: FxHashMap::default(),
            stars,
        };
        let mut unbound: FxHashMap<&str, BindingId> = FxHashMap::default();
        for place in places {
            let at = place.scope.0 as usize;
            let says = |of: &[FxHashSet<&str>]| of.get(at).is_some_and(|names| names.contains(place.name));
            let meant = if says(&globals) {
                index.global(place.name)
            } else if says(&nonlocals) {
                let outer = index.scope(place.scope).and_then(|scope| scope.parent);
                outer.and_then(|outer| index.lookup(outer, place.name))
            } else {
                index.lookup(place.scope, place.name)
            };
            let binding = meant.unwrap_or_else(|| {
                *unbound.entry(place.name).or_insert_with(|| {
                    let (name, range) = (place.name.to_owned(), place.range);
                    let (kind, scope, bodies) = (BindingKind::Unbound, ScopeId(0), Vec::new());
                    index.bindings.push(Binding { name, kind, scope, range, bodies });
                    BindingId(index.bindings.len() as u32 - 1)
                })
            });
            let Place { range, scope, access, .. } = place;
            index.mentions.push(Mention { range, binding, scope, access });
        }
        index.mentions.sort_by_key(|mention| mention.range);
        index.aliases = aliases(&index, &given);
        // The places are searched by halves for it: what is found comes behind them at the end.
        let named = keywords.iter().filter_map(|keyword| {
            let (range, scope) = (range(keyword.name), keyword.scope);
            Some(Mention { range, binding: parameter(&index, keyword)?, scope, access: NameAccess::Keyword })
        });
        let named: Vec<Mention> = named.collect();
        index.mentions.extend(named);
        index.mentions.sort_by_key(|mention| mention.range);
        index.mentions.dedup_by_key(|mention| mention.range);
        index
    }
}

/// The names that an expression may be, behind launches and `partial`; whether it can be nothing else.
fn values(expr: &Expr, names: &mut Vec<TextRange>) -> bool {
    match function_named(expr) {
        Expr::Name(name) => {
            names.push(range(name));
            true
        }
        Expr::If(either) => {
            let first = values(&either.body, names);
            values(&either.orelse, names) && first
        }
        _ => false,
    }
}

/// What each variable stands for that is given nothing but names.
fn aliases(
    index: &NameIndex,
    given: &FxHashMap<TextRange, Option<Vec<TextRange>>>,
) -> FxHashMap<BindingId, Vec<BindingId>> {
    let mut found: FxHashMap<BindingId, Option<Vec<BindingId>>> = FxHashMap::default();
    for mention in index.mentions.iter().filter(|mention| mention.access == NameAccess::Bind) {
        if index.binding(mention.binding).is_none_or(|binding| binding.kind != BindingKind::Variable) {
            continue;
        }
        let names = given.get(&mention.range).and_then(|names| names.as_ref());
        let names = names.map(|names| names.iter().filter_map(|at| Some(index.at(at.start)?.binding)));
        match (found.entry(mention.binding).or_insert_with(|| Some(Vec::new())), names) {
            (Some(all), Some(names)) => all.extend(names),
            (known, _) => *known = None,
        }
    }
    found.into_iter().filter_map(|(variable, names)| Some((variable, names?))).collect()
}

/// The parameter or field that a keyword names, where the function or class stands in the file and is no other.
fn parameter(index: &NameIndex, keyword: &Keyword<'_>) -> Option<BindingId> {
    let function = index.at(keyword.function.start).filter(|mention| mention.range == keyword.function)?;
    let functions = index.functions(function.binding)?;
    let of = |function: &BindingId| index.parameter(*function, keyword.name.as_str());
    let first = functions.first().and_then(of)?;
    functions.iter().all(|function| of(function) == Some(first)).then_some(first)
}

impl<'a> Visitor<'a> for Builder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.given(target, &assign.value));
                walk_stmt(self, stmt);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.given(&assign.target, value);
                }
                walk_stmt(self, stmt);
            }
            Stmt::Global(names) => self.declare(&names.names, true),
            Stmt::Nonlocal(names) => self.declare(&names.names, false),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let (full, at) = (alias.name.as_str(), range(&alias.name));
                    let (name, at, module) = match &alias.asname {
                        Some(own) => (own.as_str(), range(own), full),
                        None => {
                            let first = full.split('.').next().unwrap_or(full);
                            (first, TextRange::new(at.start, at.start + first.len() as u32), first)
                        }
                    };
                    self.bind(name, at, BindingKind::Import { module: module.to_owned(), name: None }, None);
                }
            }
            Stmt::ImportFrom(import) => {
                let dots = ".".repeat(import.level as usize);
                let module = dots + import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    if alias.name.as_str() == "*" {
                        self.stars.push(module.clone());
                        continue;
                    }
                    let own = alias.asname.as_ref().unwrap_or(&alias.name);
                    let kind = BindingKind::Import { module: module.clone(), name: Some(alias.name.to_string()) };
                    self.bind(own.as_str(), range(own), kind, None);
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let whole = range(expr);
        match expr {
            Expr::Name(name) => match name.ctx {
                ExprContext::Store | ExprContext::Del => {
                    self.bind(name.id.as_str(), whole, BindingKind::Variable, None)
                }
                _ => {
                    let own = self.generic.as_ref().filter(|(_, names)| names.contains(name.id.as_str()));
                    let scope = own.map_or(ScopeId(self.current), |(scope, _)| *scope);
                    self.mention(name.id.as_str(), whole, scope, NameAccess::Read);
                }
            },
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    let scope = self.around_comprehensions();
                    self.bind_in(scope, name.id.as_str(), range(name), BindingKind::Variable, None);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.outside(parameters);
                }
                self.open(ScopeKind::Lambda, "", whole);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.close();
            }
            Expr::ListComp(of) => self.comprehension(whole, &[&of.elt], &of.generators),
            Expr::SetComp(of) => self.comprehension(whole, &[&of.elt], &of.generators),
            Expr::Generator(of) => self.comprehension(whole, &[&of.elt], &of.generators),
            Expr::DictComp(of) => {
                let parts: Vec<&'a Expr> = of.key.iter().map(|key| &**key).chain([&*of.value]).collect();
                self.comprehension(whole, &parts, &of.generators);
            }
            Expr::Call(call) => {
                self.call(call);
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(of) = handler;
        if let Some(name) = &of.name {
            self.bind(name.as_str(), range(name), BindingKind::Variable, None);
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(of) => of.name.as_ref(),
            Pattern::MatchStar(of) => of.name.as_ref(),
            Pattern::MatchMapping(of) => of.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str(), range(name), BindingKind::Variable, None);
        }
        walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, param: &'a TypeParam) {
        let name = param.name();
        self.bind(name.as_str(), range(name), BindingKind::Variable, None);
        walk_type_param(self, param);
    }
}
