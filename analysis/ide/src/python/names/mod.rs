//! Which names of a file mean the same, by Python's scoping rules and without running anything.
//!
//! Deviations: names in annotations that are strings are not seen, type parameters belong to the scope of what they
//! parametrise, and a name that several statements bind is one binding, whichever of them runs.

mod build;
#[cfg(test)]
mod tests;

use base::TextRange;
use ruff_python_ast::{Expr, ExprCall};
use rustc_hash::FxHashMap;

/// A scope of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(u32);

impl ScopeId {
    /// The file.
    pub const MODULE: ScopeId = ScopeId(0);
}

/// A name in the scope that binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BindingId(u32);

/// What opens a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The file.
    Module,
    /// A class body, whose names the functions in it do not see.
    Class,
    /// A function.
    Function,
    /// A `lambda`.
    Lambda,
    /// A comprehension or generator.
    Comprehension,
}

/// A scope.
#[derive(Clone, Debug)]
pub struct NameScope {
    /// What opens it.
    pub kind: ScopeKind,
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// The name of the function or class; empty of others.
    pub name: String,
    /// All of the statement or expression, without decorators.
    pub range: TextRange,
    names: FxHashMap<String, BindingId>,
}

/// What binds a name first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// An assignment, a loop, a `with`, a pattern and the like.
    Variable,
    /// A parameter.
    Parameter,
    /// A `def`.
    Function,
    /// A `class`.
    Class,
    /// An import: the module with its leading dots, and the name in it, unless the module itself is meant.
    Import {
        /// The module as it is written, with leading dots.
        module: String,
        /// What of it.
        name: Option<String>,
    },
    /// Nothing in the file: one of Python's own names, or one that a `*` brings.
    Unbound,
}

/// A name in the scope that binds it.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// What binds it first.
    pub kind: BindingKind,
    /// The scope that it belongs to; of an unbound name, the file.
    pub scope: ScopeId,
    /// Where it is bound first; of an unbound name, where it is first used.
    pub range: TextRange,
    /// The scopes of the functions or classes of this name.
    pub bodies: Vec<ScopeId>,
}

/// What a place does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameAccess {
    /// Gives it a value, or takes it away.
    Bind,
    /// Uses it.
    Read,
    /// Names it as the keyword of a call.
    Keyword,
    /// Says in which scope it is bound: `global`, `nonlocal`.
    Declare,
}

/// A place of a name.
#[derive(Clone, Copy, Debug)]
pub struct Mention {
    /// The name.
    pub range: TextRange,
    /// What it means.
    pub binding: BindingId,
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// What is done with it.
    pub access: NameAccess,
}

/// All names of a file.
#[derive(Debug)]
pub struct NameIndex {
    scopes: Vec<NameScope>,
    bindings: Vec<Binding>,
    /// In the order of the text.
    mentions: Vec<Mention>,
    /// What variables stand for that are given nothing but names: `fn = kernel`, `launch = kernel[grid]`.
    aliases: FxHashMap<BindingId, Vec<BindingId>>,
    /// Modules of which the file takes all names, as they are written.
    stars: Vec<String>,
}

impl NameIndex {
    /// The place of a name at an offset.
    pub fn at(&self, offset: u32) -> Option<&Mention> {
        let after = self.mentions.partition_point(|mention| mention.range.start <= offset);
        let near = self.mentions.get(after.saturating_sub(2)..after)?;
        near.iter().rev().find(|mention| mention.range.touches(offset))
    }

    /// All places, in the order of the text.
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    /// The places of a name, in the order of the text.
    pub fn places(&self, binding: BindingId) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(move |mention| mention.binding == binding)
    }

    /// A name.
    pub fn binding(&self, binding: BindingId) -> Option<&Binding> {
        self.bindings.get(binding.0 as usize)
    }

    /// A scope.
    pub fn scope(&self, scope: ScopeId) -> Option<&NameScope> {
        self.scopes.get(scope.0 as usize)
    }

    /// All scopes, outer before inner, the file first.
    pub fn scopes(&self) -> impl Iterator<Item = (ScopeId, &NameScope)> {
        self.scopes.iter().enumerate().map(|(at, scope)| (ScopeId(at as u32), scope))
    }

    /// A name of exactly this scope.
    pub fn own(&self, scope: ScopeId, name: &str) -> Option<BindingId> {
        self.scope(scope)?.names.get(name).copied()
    }

    /// A name of the file's top level.
    pub fn global(&self, name: &str) -> Option<BindingId> {
        self.own(ScopeId::MODULE, name)
    }

    /// What a name means in a scope.
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<BindingId> {
        self.visible(scope).find_map(|scope| self.own(scope, name))
    }

    /// The functions and classes that a name stands for, itself or what variables are given; `None` where it may be
    /// something else.
    pub fn functions(&self, binding: BindingId) -> Option<Vec<BindingId>> {
        let mut found = Vec::new();
        let (mut todo, mut seen) = (vec![binding], vec![binding]);
        while let Some(next) = todo.pop() {
            match self.binding(next)?.kind {
                BindingKind::Function | BindingKind::Class => found.push(next),
                BindingKind::Variable => {
                    let new = self.aliases.get(&next)?.iter().filter(|it| !seen.contains(it));
                    let new: Vec<BindingId> = new.copied().collect();
                    seen.extend(&new);
                    todo.extend(new);
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// The variables that are given nothing but names, one of them this one, directly or through others; itself too.
    pub fn aliases(&self, binding: BindingId) -> Vec<BindingId> {
        let mut found = vec![binding];
        let mut at = 0;
        while let Some(&next) = found.get(at) {
            let mut more: Vec<BindingId> = Vec::new();
            for (number, _) in self.bindings.iter().enumerate() {
                let id = BindingId(number as u32);
                if self.aliases.get(&id).is_some_and(|of| of.contains(&next)) && !found.contains(&id) {
                    more.push(id);
                }
            }
            found.extend(more);
            at += 1;
        }
        found
    }

    /// The parameter of a function, of a class's `__init__`, or the field of a class without one, by its name.
    pub fn parameter(&self, function: BindingId, name: &str) -> Option<BindingId> {
        self.binding(function)?.bodies.iter().find_map(|&body| {
            if self.scope(body)?.kind != ScopeKind::Class {
                let found = self.own(body, name)?;
                return (self.binding(found)?.kind == BindingKind::Parameter).then_some(found);
            }
            let init = self.own(body, "__init__").and_then(|init| self.binding(init)?.bodies.first().copied());
            let found = self.own(init.unwrap_or(body), name)?;
            let wanted = if init.is_some() { BindingKind::Parameter } else { BindingKind::Variable };
            (self.binding(found)?.kind == wanted).then_some(found)
        })
    }

    /// Modules of which the file takes all names, as they are written.
    pub fn stars(&self) -> &[String] {
        &self.stars
    }

    /// The innermost scope around an offset.
    pub fn scope_at(&self, offset: u32) -> ScopeId {
        let inside = self.scopes().filter(|(_, scope)| scope.range.touches(offset));
        inside.min_by_key(|(_, scope)| scope.range.len()).map_or(ScopeId::MODULE, |(id, _)| id)
    }

    /// The innermost function around a scope, itself included; `None` at the top level.
    pub fn function_around(&self, scope: ScopeId) -> Option<ScopeId> {
        self.around(scope).find(|scope| self.scope(*scope).is_some_and(|scope| scope.kind == ScopeKind::Function))
    }

    /// A scope and those around it, the innermost first.
    pub fn around(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(scope), |scope| self.scope(*scope)?.parent)
    }

    /// The scopes in which a name is looked up that stands in `scope`.
    fn visible(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        let class = |id: ScopeId| self.scope(id).is_some_and(|scope| scope.kind == ScopeKind::Class);
        self.around(scope).filter(move |id| *id == scope || !class(*id))
    }

    /// Another name that is in the way if `binding` is called `name`: one that would be taken for it, or that it would
    /// be taken for.
    pub fn conflict(&self, binding: BindingId, name: &str) -> Option<&Binding> {
        let own = self.binding(binding)?.scope;
        let shadowed = self.places(binding).filter(|place| place.access != NameAccess::Keyword).find_map(|place| {
            let between = self.visible(place.scope).take_while(|scope| *scope != own);
            between.chain([own]).find_map(|scope| self.own(scope, name))
        });
        if let Some(other) = shadowed.or_else(|| self.own(own, name)) {
            return self.binding(other);
        }
        let captured = self.mentions.iter().find(|place| {
            let Some(meant) = self.binding(place.binding).filter(|meant| meant.name == name) else { return false };
            let outside = meant.kind == BindingKind::Unbound || meant.scope != own;
            let mut until = self
                .visible(place.scope)
                .take_while(|scope| meant.kind == BindingKind::Unbound || *scope != meant.scope);
            outside && place.access != NameAccess::Keyword && until.any(|scope| scope == own)
        });
        captured.and_then(|place| self.binding(place.binding))
    }
}

/// What a call calls, behind `[grid]`, `.warmup` and `.run`; of `partial(function, …)` the function.
pub fn called(call: &ExprCall) -> &Expr {
    function_named(applied(call).unwrap_or(&call.func))
}

/// What an expression is a launch of, a method of launches of, or the partial application of.
pub fn function_named(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(launch) => function_named(&launch.value),
        Expr::Attribute(of) if matches!(of.attr.as_str(), "warmup" | "run" | "fn") => function_named(&of.value),
        Expr::Call(call) => applied(call).map_or(expr, function_named),
        _ => expr,
    }
}

/// The function of `partial(function, …)`.
fn applied(call: &ExprCall) -> Option<&Expr> {
    let partial = match &*call.func {
        Expr::Name(name) => name.id.as_str() == "partial",
        Expr::Attribute(of) => of.attr.as_str() == "partial",
        _ => false,
    };
    call.arguments.args.first().filter(|_| partial)
}

/// Whether Python reserves a word.
pub fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    WORDS.contains(&word)
}

/// Whether a word can be the name of something.
pub fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next().is_some_and(|first| first == '_' || first.is_alphabetic());
    first && chars.all(|other| other == '_' || other.is_alphanumeric()) && !is_keyword(word)
}
