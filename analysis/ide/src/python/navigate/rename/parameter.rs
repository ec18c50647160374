//! Where a parameter is named besides its own name: keywords of calls, keys of dicts, strings in decorators and grids.
//!
//! What surely means the parameter is renamed along, what surely means another is left alone, and where neither is
//! sure the rename is refused.

use base::TextRange;
use python::syntax::{each_node, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprCall, Keyword, StmtFunctionDef};
use rustc_hash::FxHashSet;

use super::text::{line, spells};
use crate::Refused;
use crate::python::names::{Binding, BindingId, BindingKind, NameAccess, ScopeId, ScopeKind, called, function_named};
use crate::python::navigate::infer::Looked;
use crate::python::navigate::resolve::{Defined, FilePlace, Meaning, defined_at};

/// A parameter of a function or method, or a field that a class is called with.
pub(super) struct Parameter<'a, 'r, 's> {
    pub(super) looked: &'a Looked<'r, 's>,
    pub(super) binding: &'a Binding,
    /// The name of the function; of `__init__`, the class.
    pub(super) function: BindingId,
    def: &'a StmtFunctionDef,
    /// Names of the function and of variables that stand for it.
    own: Vec<BindingId>,
    /// Whether it is a method.
    method: bool,
    /// Where the function is handed on to what cannot be followed.
    escapes: Option<TextRange>,
    /// Whether a grid or a decorator's argument cannot be followed, which strings may belong to.
    opaque: bool,
}

/// Whose parameters the keywords of a call name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The function's.
    Own,
    /// Another's.
    Other,
    /// The function's, or another's.
    Either,
    /// Nobody knows.
    Unknown,
}

/// What a place of the text leads to.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// The function's launches and decorators.
    own: bool,
    /// Those of another function.
    other: bool,
    /// Something else.
    loose: bool,
}

impl<'a, 'r, 's> Parameter<'a, 'r, 's> {
    /// `None` of a parameter that no keyword can name.
    pub(super) fn of(looked: &'a Looked<'r, 's>, binding: &'a Binding) -> Option<Parameter<'a, 'r, 's>> {
        let scope = looked.index.scope(binding.scope).filter(|scope| scope.kind == ScopeKind::Function)?;
        let name = TextRange::new(scope.range.start, scope.range.start + scope.name.len() as u32);
        let Some(Defined::Function(def)) = defined_at(looked.tree, name) else { return None };
        let parent = looked.index.scope(scope.parent?)?;
        let method = parent.kind == ScopeKind::Class;
        let function = match method && scope.name == "__init__" {
            true => looked.index.own(parent.parent?, &parent.name)?,
            false => looked.index.at(name.start)?.binding,
        };
        let own = looked.index.aliases(function);
        let mut found = Parameter { looked, binding, function, def, own, method, escapes: None, opaque: false };
        found.escapes = found.escape();
        found.opaque = found.is_opaque();
        Some(found)
    }

    fn name(&self) -> &'a str {
        &self.binding.name
    }

    fn refused<T>(&self, at: TextRange, why: &str) -> Result<T, Refused> {
        Err(format!("line {} {why} `{}`", line(self.looked.module, at), self.name()))
    }

    /// The places that are renamed along.
    ///
    /// # Errors
    ///
    /// Where it is not sure whether a place means the parameter.
    pub(super) fn along(&self) -> Result<Vec<TextRange>, Refused> {
        let bodies = self.looked.index.binding(self.function).map_or(0, |function| function.bodies.len());
        let keyword = self.looked.index.mentions().iter().find(|mention| {
            let meant = self.looked.index.binding(mention.binding);
            mention.access == NameAccess::Keyword && meant.is_some_and(|meant| meant.name == *self.name())
        });
        if let (true, Some(keyword)) = (bodies > 1, keyword) {
            return self.refused(keyword.range, "may call another function of this name, which has its own");
        }
        let (mut calls, mut strings): (Vec<&ExprCall>, Vec<(TextRange, TextRange)>) = Default::default();
        let mut pieces = None;
        each_node(self.looked.tree.statements(), |node| match node {
            AnyNodeRef::ExprCall(call) => calls.push(call),
            AnyNodeRef::ExprStringLiteral(text) if text.value.to_str() == self.name() => {
                let whole = range(text);
                let lead = whole.of(self.looked.module.text()).find(self.name()).map_or(0, |at| at as u32);
                let inner = TextRange::new(whole.start + lead, whole.start + lead + self.name().len() as u32);
                strings.push((whole, inner));
            }
            AnyNodeRef::ExprStringLiteral(text) => {
                let listed = text.value.to_str().split(',').any(|part| part.trim() == self.name());
                pieces = pieces.or(listed.then(|| range(text)).filter(|at| self.decorates(*at) == Some(true)));
            }
            _ => {}
        });
        if let Some(at) = pieces {
            return self.refused(at, "names several parameters in one string, one of them");
        }
        let mut found = Vec::new();
        let mut configured = false;
        for (whole, inner) in strings {
            if self.is_value(whole) {
                continue;
            }
            if self.key(whole)? {
                found.push(inner);
                configured |= self.decorates(whole) == Some(true) && self.is_key(whole);
            }
        }
        for call in &calls {
            for keyword in &call.arguments.keywords {
                if let Some(at) = keyword.arg.as_ref().filter(|arg| arg.as_str() == self.name()).map(range)
                    && self.keyword(call, at)?
                {
                    found.push(at);
                    configured |= self.decorates(at) == Some(true);
                }
            }
        }
        if !configured {
            calls.iter().try_for_each(|call| self.splats(call))?;
        }
        self.imported_configurations()?;
        Ok(found)
    }

    /// Whether a keyword of a call is to be renamed along; not where the names lead to it anyway.
    fn keyword(&self, call: &ExprCall, at: TextRange) -> Result<bool, Refused> {
        let index = self.looked.index;
        if index.at(at.start).is_some_and(|it| it.range == at && it.access == NameAccess::Keyword) {
            return Ok(false);
        }
        let plain = called(call);
        let is_dict = matches!(plain, Expr::Name(name) if name.id.as_str() == "dict");
        let updates = matches!(plain, Expr::Attribute(of) if of.attr.as_str() == "update" && of.value.is_name_expr());
        if is_dict || updates {
            return self.key(at);
        }
        let hands_on = self.escapes.is_some() && self.mentioned_in(call);
        match self.whose(plain) {
            Whose::Own => Ok(true),
            Whose::Other if !hands_on => Ok(false),
            Whose::Either => self.refused(at, "calls one of several functions with"),
            Whose::Other => self.refused(at, "hands the function on with"),
            Whose::Unknown => {
                let function = index.binding(self.function).map_or("", |it| it.name.as_str());
                let method = self.def.name.as_str();
                let named = match plain {
                    Expr::Attribute(of) => of.attr.as_str() == function || of.attr.as_str() == method,
                    _ => false,
                };
                match named || self.escapes.is_some() {
                    true => self.refused(at, "may name the parameter of another object:"),
                    false => Ok(false),
                }
            }
        }
    }

    /// Whether a string, or the keyword of a `dict(…)`, is to be renamed along.
    fn key(&self, at: TextRange) -> Result<bool, Refused> {
        let mut reach = Reach::default();
        self.context(at, &mut Vec::new(), &mut reach);
        match reach {
            Reach { own: true, other: false, loose: false } => Ok(true),
            Reach { own: true, .. } => self.refused(at, "is for other uses too, and names"),
            Reach { other: true, loose: false, .. } => Ok(false),
            _ if self.escapes.is_some() || self.opaque => self.refused(at, "may be about this parameter:"),
            _ => Ok(false),
        }
    }

    /// What a place leads to.
    fn context(&self, at: TextRange, seen: &mut Vec<BindingId>, reach: &mut Reach) {
        if let Some(own) = self.decorates(at) {
            reach.own |= own;
            reach.other |= !own;
            return;
        }
        let tree = self.looked.tree;
        for node in path_at(tree, at.start).iter().rev().filter(|node| range(*node).contains(at)) {
            let whose = match node {
                AnyNodeRef::ExprSubscript(part) if range(&*part.slice).contains(at) => {
                    if let Some(of) =
                        part.value.as_name_expr().filter(|_| part.ctx == ruff_python_ast::ExprContext::Store)
                    {
                        return self.follow(range(of), seen, reach);
                    }
                    Some(self.whose(function_named(&part.value))).filter(|whose| *whose != Whose::Unknown)
                }
                AnyNodeRef::ExprCall(call) => {
                    if let Expr::Attribute(of) = &*call.func
                        && let ("update", Some(of)) = (of.attr.as_str(), of.value.as_name_expr())
                        && range(&call.arguments).contains(at)
                    {
                        return self.follow(range(of), seen, reach);
                    }
                    let splat = |it: &&Keyword| it.arg.is_none() && range(*it).contains(at);
                    call.arguments.keywords.iter().find(splat).map(|_| self.whose(called(call)))
                }
                AnyNodeRef::StmtAssign(assign) if range(&*assign.value).contains(at) => {
                    match assign.targets.as_slice() {
                        [Expr::Name(target)] => return self.follow(range(target), seen, reach),
                        _ => None,
                    }
                }
                AnyNodeRef::StmtAnnAssign(assign) => match &*assign.target {
                    Expr::Name(target) if range(target) != at => return self.follow(range(target), seen, reach),
                    _ => None,
                },
                AnyNodeRef::StmtFunctionDef(def) => {
                    let mut through = Reach::default();
                    self.follow(range(&def.name), seen, &mut through);
                    match through.own {
                        true => {
                            reach.own = true;
                            reach.other |= through.other;
                            reach.loose |= through.loose;
                        }
                        false => reach.loose = true,
                    }
                    return;
                }
                _ => None,
            };
            if let Some(whose) = whose {
                reach.own |= matches!(whose, Whose::Own | Whose::Either);
                reach.other |= matches!(whose, Whose::Other | Whose::Either);
                reach.loose |= whose == Whose::Unknown;
                return;
            }
        }
        reach.loose = true;
    }

    /// What the name at a place leads to, by all its uses.
    fn follow(&self, name: TextRange, seen: &mut Vec<BindingId>, reach: &mut Reach) {
        let index = self.looked.index;
        let Some(binding) = index.at(name.start).map(|mention| mention.binding) else {
            reach.loose = true;
            return;
        };
        if seen.contains(&binding) {
            return;
        }
        seen.push(binding);
        for place in index.places(binding).filter(|place| place.access == NameAccess::Read) {
            let stored = path_at(self.looked.tree, place.range.start).iter().rev().any(|node| match node {
                AnyNodeRef::ExprSubscript(part) => {
                    range(&*part.value) == place.range && part.ctx == ruff_python_ast::ExprContext::Store
                }
                AnyNodeRef::ExprAttribute(of) => range(&*of.value) == place.range && of.attr.as_str() == "update",
                _ => false,
            });
            if !stored {
                self.context(place.range, seen, reach);
            }
        }
    }

    /// Whether a place is in the decorators of the function; `None` where it is in none.
    fn decorates(&self, at: TextRange) -> Option<bool> {
        path_at(self.looked.tree, at.start).iter().find_map(|node| match node {
            AnyNodeRef::StmtFunctionDef(def) => {
                let inside = def.decorator_list.iter().any(|it| range(it).contains(at));
                inside.then(|| std::ptr::eq(*def, self.def))
            }
            _ => None,
        })
    }

    /// Whether a string is a value of a dict, which names nothing.
    fn is_value(&self, at: TextRange) -> bool {
        path_at(self.looked.tree, at.start).iter().any(|node| match node {
            AnyNodeRef::ExprDict(dict) => dict.items.iter().any(|item| range(&item.value) == at),
            AnyNodeRef::ExprCall(call) => {
                let dict = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "dict");
                dict && call.arguments.keywords.iter().any(|it| it.arg.is_some() && range(&it.value) == at)
            }
            _ => false,
        })
    }

    fn is_key(&self, at: TextRange) -> bool {
        path_at(self.looked.tree, at.start).iter().any(|node| match node {
            AnyNodeRef::ExprDict(dict) => dict.items.iter().any(|item| item.key.as_ref().map(range) == Some(at)),
            _ => false,
        })
    }

    /// Whose parameters the keywords of a call of an expression name.
    pub(super) fn whose(&self, callee: &Expr) -> Whose {
        let index = self.looked.index;
        let named = match callee {
            Expr::Name(name) => index.at(range(name).start).filter(|it| it.range == range(name)),
            Expr::Attribute(_) => return self.whose_member(callee),
            _ => None,
        };
        let Some((id, binding)) = named.and_then(|it| Some((it.binding, index.binding(it.binding)?))) else {
            return Whose::Unknown;
        };
        match (&binding.kind, index.functions(id)) {
            (BindingKind::Import { .. } | BindingKind::Unbound, _) => Whose::Other,
            (_, Some(all)) if all.iter().all(|it| *it == self.function) => Whose::Own,
            (_, Some(all)) if all.iter().any(|it| *it == self.function || self.inherits(*it)) => Whose::Either,
            (_, Some(_)) => Whose::Other,
            (BindingKind::Variable, None) if self.own.contains(&id) => Whose::Either,
            _ => Whose::Unknown,
        }
    }

    fn whose_member(&self, callee: &Expr) -> Whose {
        match self.looked.meaning(callee) {
            Some(Meaning::Place(place)) => {
                let name = range(&self.def.name);
                let own = FilePlace { module: self.looked.module.clone(), range: name };
                if place == own { Whose::Own } else { Whose::Other }
            }
            Some(Meaning::Module(_)) => Whose::Other,
            None if self.looked.imported(callee) => Whose::Other,
            None => Whose::Unknown,
        }
    }

    /// Whether a class is made from the one whose `__init__` this is.
    fn inherits(&self, class: BindingId) -> bool {
        let index = self.looked.index;
        let Some(binding) = index.binding(class).filter(|it| it.kind == BindingKind::Class) else { return false };
        let Some(Defined::Class(def)) = defined_at(self.looked.tree, binding.range) else { return false };
        let mut bases = def.arguments.iter().flat_map(|arguments| &arguments.args);
        bases.any(|base| index.at(range(base).start).is_some_and(|it| self.own.contains(&it.binding)))
    }

    fn mentioned_in(&self, call: &ExprCall) -> bool {
        let within = range(&call.arguments);
        let mut all = self.own.iter().flat_map(|own| self.looked.index.places(*own));
        all.any(|place| place.access == NameAccess::Read && within.contains(place.range))
    }

    /// Where the function is handed on to what is not followed.
    fn escape(&self) -> Option<TextRange> {
        let mut known: FxHashSet<TextRange> = FxHashSet::default();
        let mut parts: Vec<TextRange> = Vec::new();
        let class = self.looked.index.binding(self.function).is_some_and(|it| it.kind == BindingKind::Class);
        let mut methods = None;
        each_node(self.looked.tree.statements(), |node| match node {
            AnyNodeRef::ExprCall(call) => {
                known.insert(range(called(call)));
                let last = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(of) => of.attr.as_str(),
                    _ => "",
                };
                // What partitions are given is given by its place.
                parts.extend((last == "warp_specialize").then(|| range(&call.arguments)));
            }
            AnyNodeRef::StmtAssign(assign) if assign.targets.iter().all(Expr::is_name_expr) => {
                values(&assign.value, &mut known);
            }
            AnyNodeRef::StmtAnnAssign(assign) => parts.push(range(&*assign.annotation)),
            AnyNodeRef::StmtClassDef(def) => parts.extend(def.arguments.as_deref().map(range)),
            AnyNodeRef::StmtFunctionDef(def) => parts.extend(def.returns.as_deref().map(range)),
            AnyNodeRef::Parameter(parameter) => parts.extend(parameter.annotation.as_deref().map(range)),
            AnyNodeRef::ExprAttribute(of) if class => {
                known.insert(range(&*of.value));
            }
            AnyNodeRef::ExprAttribute(of) if self.method && of.attr.as_str() == self.def.name.as_str() => {
                methods = methods.or((!known.contains(&range(of))).then(|| range(of)));
            }
            _ => {}
        });
        let mut all = self.own.iter().flat_map(|own| self.looked.index.places(*own));
        let handed = all.find(|place| {
            let inside = || parts.iter().any(|part| part.contains(place.range));
            place.access == NameAccess::Read && !known.contains(&place.range) && !inside()
        });
        handed.map(|place| place.range).or(methods)
    }

    /// Whether a grid of a launch or an argument of a decorator comes from where its strings are not seen.
    fn is_opaque(&self) -> bool {
        let mut found = false;
        let index = self.looked.index;
        each_node(self.looked.tree.statements(), |node| match node {
            AnyNodeRef::ExprSubscript(launch) => {
                let own = launch.value.as_name_expr().and_then(|name| index.at(range(name).start));
                if own.is_some_and(|mention| self.own.contains(&mention.binding)) {
                    found |= !self.is_plain_grid(&launch.slice, 4);
                }
            }
            AnyNodeRef::ExprAttribute(of) if self.decorates(range(of)) == Some(true) => {
                let root = of.value.as_name_expr().and_then(|name| index.at(range(name).start));
                let kind = root.and_then(|root| index.binding(root.binding)).map(|binding| &binding.kind);
                found |= matches!(kind, Some(BindingKind::Class | BindingKind::Variable));
            }
            _ => {}
        });
        found
    }

    /// Whether a grid is a tuple, or a function whose text is followed.
    fn is_plain_grid(&self, grid: &Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match grid {
            Expr::Tuple(_) | Expr::List(_) | Expr::Lambda(_) | Expr::NumberLiteral(_) => true,
            Expr::If(either) => self.is_plain_grid(&either.body, depth) && self.is_plain_grid(&either.orelse, depth),
            Expr::Name(name) => {
                let index = self.looked.index;
                let Some(id) = index.at(range(name).start).map(|it| it.binding) else { return false };
                match index.binding(id).map(|binding| &binding.kind) {
                    Some(BindingKind::Function) => true,
                    Some(BindingKind::Variable) => {
                        self.given(id).is_some_and(|all| all.into_iter().all(|it| self.is_plain_grid(it, depth)))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// All that a variable is given; `None` where not all of it is an assignment's.
    fn given(&self, variable: BindingId) -> Option<Vec<&Expr>> {
        let binds = self.looked.index.places(variable).filter(|it| it.access == NameAccess::Bind);
        binds
            .map(|bind| {
                path_at(self.looked.tree, bind.range.start).iter().rev().find_map(|node| match node {
                    AnyNodeRef::StmtAssign(assign) => {
                        assign.targets.iter().any(|it| range(it) == bind.range).then_some(&*assign.value)
                    }
                    _ => None,
                })
            })
            .collect()
    }

    /// `**more` at a call of the function: it may hold the parameter, unless that is given anyway.
    fn splats(&self, call: &ExprCall) -> Result<(), Refused> {
        let mut splats = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_none()).peekable();
        if splats.peek().is_none() || !matches!(self.whose(called(call)), Whose::Own | Whose::Either) {
            return Ok(());
        }
        let mut all = self.def.parameters.iter_non_variadic_params();
        let place = all.position(|it| it.name().as_str() == self.name()).unwrap_or(usize::MAX);
        let bound = usize::from(self.method);
        let by_place = call.arguments.args.iter().take_while(|it| !it.is_starred_expr()).count() + bound > place;
        let by_name =
            call.arguments.keywords.iter().any(|it| it.arg.as_ref().is_some_and(|it| it.as_str() == self.name()));
        if by_place || by_name {
            return Ok(());
        }
        match splats.find(|splat| !self.is_followed(&splat.value, 4)) {
            Some(splat) => self.refused(range(splat), "passes what may hold"),
            None => Ok(()),
        }
    }

    /// Whether all keys of a dict stand in the text.
    fn is_followed(&self, dict: &Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match dict {
            Expr::Dict(dict) => dict.items.iter().all(|item| match &item.key {
                Some(key) => key.is_string_literal_expr(),
                None => self.is_followed(&item.value, depth),
            }),
            Expr::Call(call) if matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "dict") => {
                let more = call.arguments.keywords.iter().filter(|it| it.arg.is_none());
                let more = more.map(|it| &it.value).chain(&call.arguments.args);
                more.into_iter().all(|more| self.is_followed(more, depth))
            }
            Expr::If(either) => self.is_followed(&either.body, depth) && self.is_followed(&either.orelse, depth),
            Expr::Name(name) => {
                let index = self.looked.index;
                let Some(binding) = index.at(range(name).start).map(|it| it.binding) else { return false };
                let given = self.given(binding).filter(|all| !all.is_empty());
                given.is_some_and(|all| all.into_iter().all(|value| self.is_followed(value, depth)))
            }
            _ => false,
        }
    }

    /// Configurations that another file makes may name the parameter.
    fn imported_configurations(&self) -> Result<(), Refused> {
        let mut names: Vec<TextRange> = Vec::new();
        for decorator in &self.def.decorator_list {
            let Expr::Call(call) = &decorator.expression else { continue };
            for argument in call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|it| &it.value)) {
                let within = range(argument);
                let index = self.looked.index;
                names.extend(index.mentions().iter().map(|it| it.range).filter(|it| within.contains(*it)));
            }
        }
        for at in names {
            let Some(mention) = self.looked.index.at(at.start) else { continue };
            let Some(binding) = self.looked.index.binding(mention.binding) else { continue };
            let BindingKind::Import { module, .. } = &binding.kind else { continue };
            let known = ["triton", "torch", "math", "os", "itertools", "functools", "pytest", "numpy", "sys"];
            if known.contains(&module.split('.').next().unwrap_or("")) {
                continue;
            }
            let file = match self.looked.name(at) {
                Some(Meaning::Place(place)) => Some(place.module),
                Some(Meaning::Module(module)) => Some(module),
                None => None,
            };
            if file.is_none_or(|file| spells(&file, self.name())) {
                return self.refused(at, "takes from another file what may name");
            }
        }
        Ok(())
    }

    /// The scope that the function is in.
    pub(super) fn around(&self) -> Option<(ScopeId, ScopeKind)> {
        let around = self.looked.index.scope(self.looked.index.scope(self.binding.scope)?.parent?)?;
        let id = self.looked.index.scope(self.binding.scope)?.parent?;
        Some((id, around.kind))
    }

    /// The method, where it is one that is called by its name.
    pub(super) fn method(&self) -> Option<&'a str> {
        let name = self.def.name.as_str();
        (self.method && name != "__init__").then_some(name)
    }
}

/// The keywords that name a parameter of a `lambda`, which a variable may be called by.
pub(super) fn of_lambda(looked: &Looked<'_, '_>, binding: &Binding) -> Result<Vec<TextRange>, Refused> {
    let Some(scope) = looked.index.scope(binding.scope).filter(|it| it.kind == ScopeKind::Lambda) else {
        return Ok(Vec::new());
    };
    let mut variables = Vec::new();
    let mut calls = Vec::new();
    each_node(looked.tree.statements(), |node| match node {
        AnyNodeRef::StmtAssign(assign) if range(&*assign.value) == scope.range => {
            let named = assign.targets.iter().filter_map(|target| looked.index.at(range(target).start));
            variables.extend(named.map(|mention| mention.binding));
        }
        AnyNodeRef::ExprCall(call) => calls.push(call),
        _ => {}
    });
    let all: Vec<BindingId> = variables.iter().flat_map(|variable| looked.index.aliases(*variable)).collect();
    let mut found = Vec::new();
    for call in calls {
        let meant = looked.index.at(range(called(call)).start).filter(|it| it.range == range(called(call)));
        let Some(meant) = meant.filter(|it| all.contains(&it.binding)) else { continue };
        let mut named = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
        let Some(at) = named.find(|arg| arg.as_str() == binding.name).map(range) else { continue };
        let binds = looked.index.places(meant.binding).filter(|place| place.access == NameAccess::Bind).count();
        if binds > 1 {
            return Err(format!("line {} may call something else with `{}`", line(looked.module, at), binding.name));
        }
        found.push(at);
    }
    Ok(found)
}

/// Names that a variable stands for.
fn values(expr: &Expr, known: &mut FxHashSet<TextRange>) {
    match function_named(expr) {
        Expr::If(either) => {
            values(&either.body, known);
            values(&either.orelse, known);
        }
        other => {
            known.insert(range(other));
        }
    }
}
