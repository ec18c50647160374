//! Finding what a full name stands for.
//!
//! A library is the sum of its [`Part`]s, each a file's share. A name that a module takes from another is found by
//! way of [`Modules`]. Names that a release does not have are not found; [`Library::gone`] says what became of
//! those that an earlier one had.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::row::{LibClass, Params, Row};
use crate::syntax::Module;
use crate::target::Version;
use crate::value::{DType, Value};

/// One file's share of the table.
pub struct Part {
    /// Functions and methods.
    pub rows: &'static [Row],
    /// Classes.
    pub classes: &'static [LibClass],
    /// Names that stand for a fixed value.
    pub constants: &'static [(&'static str, Fixed)],
    /// Names that some release had and a later one does not.
    pub gone: &'static [Gone],
}

/// An empty one, to fill in with `..NOTHING`.
pub const NOTHING: Part = Part { rows: &[], classes: &[], constants: &[], gone: &[] };

/// A value that needs no running.
#[derive(Clone, Copy, Debug)]
pub enum Fixed {
    /// An element type.
    DType(DType),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A type that is only compared ([`Value::Type`]).
    Type(&'static str),
}

/// A name that is no longer there.
#[derive(Debug)]
pub struct Gone {
    /// Full name, as in [`Row::path`].
    pub path: &'static str,
    /// The last release that had it.
    pub until: Version,
    /// The name in the same module (or, with a dot in it, the full name) that replaces it; empty where
    /// nothing does.
    pub instead: &'static str,
}

/// Which modules there are, and which takes names from which other.
#[derive(Debug)]
pub struct Modules {
    /// How the modules' own paths begin, and how the table spells that, longest first; `*` stands for any one name.
    pub spellings: &'static [(&'static str, &'static str)],
    /// Modules, the minor release that brings them, and where they take names from that they do not define.
    pub modules: &'static [(&'static str, u8, &'static [&'static str])],
    /// What a module does not take although it takes the rest.
    pub hidden: &'static [(&'static str, &'static [&'static str])],
    /// Modules that take no names but these.
    pub only: &'static [(&'static str, &'static [&'static str])],
    /// Modules, and classes of others that they have as well since they use them, by their full names.
    pub classes: &'static [(&'static str, &'static [&'static str])],
}

/// A module of the library that is written in Python, of which nothing is in the table.
pub struct PythonModule {
    /// Its full name, as the table spells it.
    pub name: &'static str,
    /// The minor release that brings it.
    pub since: u8,
    /// Its text.
    pub text: &'static str,
    /// The text, parsed, once it was asked for.
    pub parsed: OnceLock<Arc<Module>>,
}

/// What one full name is.
#[derive(Clone, Copy)]
enum Item {
    Row(&'static Row),
    Class(&'static LibClass),
    Fixed(Fixed),
    Gone(&'static Gone),
}

/// What a name of a module or class stands for in one release.
#[derive(Clone, Copy, Debug)]
pub enum Member {
    /// A function or method.
    Function(&'static Row),
    /// A class.
    Class(&'static LibClass),
    /// A fixed value.
    Fixed(Fixed),
    /// A module.
    Module,
}

/// All that an elaboration finds by full name.
pub struct Library {
    /// By module or class, then by name.
    index: FxHashMap<&'static str, FxHashMap<&'static str, SmallVec<[Item; 2]>>>,
    modules: &'static [&'static Modules],
    /// By module, the minor release that brings it, and where it takes names from that it does not define.
    by_module: FxHashMap<&'static str, (u8, &'static [&'static str])>,
    /// By module, what it does not take although it takes the rest.
    hidden: FxHashMap<&'static str, SmallVec<[&'static [&'static str]; 1]>>,
    /// By module, classes of others that it has as well.
    classes: FxHashMap<&'static str, SmallVec<[&'static [&'static str]; 1]>>,
    /// Parameters by their notation.
    params: FxHashMap<&'static str, Arc<Params>>,
    /// Last parts of the names of functions that some release had in a form that a later one has not.
    changed: FxHashSet<&'static str>,
    /// Last parts of the names of classes and element types.
    types: FxHashSet<&'static str>,
    /// Computed attributes, by class and name.
    computed: FxHashMap<&'static str, FxHashMap<&'static str, SmallVec<[&'static Row; 1]>>>,
    python_modules: &'static [PythonModule],
}

/// One form of a function or class, as a reader of its documentation wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Full name, as in [`Row::path`].
    pub path: &'static str,
    /// Parameters as in Python.
    pub params: &'static str,
    /// The first release that has it in this form.
    pub since: Version,
    /// The last one; `None` for those that still do.
    pub until: Option<Version>,
    /// Whether it is a class.
    pub class: bool,
    /// Whether it touches shared or tensor memory, or synchronises.
    pub effect: bool,
}

impl Form {
    fn of_class(class: &LibClass) -> Form {
        let LibClass { path, params, since, .. } = *class;
        Form { path, params, since, until: None, class: true, effect: false }
    }

    /// Whether a release has it.
    pub fn has(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }
}

fn of_items(items: &[Item]) -> Vec<Form> {
    let forms = items.iter().filter_map(|item| match *item {
        Item::Row(&Row { path, params, since, until, effect, .. }) => {
            Some(Form { path, params, since, until, class: false, effect })
        }
        Item::Class(class) => Some(Form::of_class(class)),
        Item::Fixed(_) | Item::Gone(_) => None,
    });
    forms.collect()
}

/// The form of a release first, then the others, the latest first.
fn sorted(mut forms: Vec<Form>, version: Version) -> Vec<Form> {
    forms.sort_by_key(|form| (!form.has(version), std::cmp::Reverse(form.since), form.path));
    forms
}

/// What stands behind a spelling in a path; in the spelling `*` stands for one name.
fn behind<'p>(path: &'p str, spelling: &str) -> Option<&'p str> {
    let Some((before, after)) = spelling.split_once('*') else { return path.strip_prefix(spelling) };
    let rest = path.strip_prefix(before)?;
    rest.get(rest.find('.')?..)?.strip_prefix(after)
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// The first release of which the table says what it has: what a kernel asks for in earlier ones is taken from this
/// one.
const FIRST: Version = Version(3, 4);

impl Library {
    /// The sum of `parts`, whose names are found by way of `modules`, and of `python_modules`.
    pub fn new(
        parts: impl IntoIterator<Item = &'static Part>,
        modules: &'static [&'static Modules],
        python_modules: &'static [PythonModule],
    ) -> Library {
        let mut library = Library {
            index: FxHashMap::default(),
            modules,
            by_module: FxHashMap::default(),
            hidden: FxHashMap::default(),
            classes: FxHashMap::default(),
            params: FxHashMap::default(),
            changed: FxHashSet::default(),
            types: FxHashSet::default(),
            computed: FxHashMap::default(),
            python_modules,
        };
        for (module, since, from) in modules.iter().flat_map(|modules| modules.modules) {
            library.by_module.entry(module).or_insert((*since, from));
        }
        for (module, names) in modules.iter().flat_map(|modules| modules.hidden) {
            library.hidden.entry(module).or_default().push(names);
        }
        for (module, from) in modules.iter().flat_map(|modules| modules.classes) {
            library.classes.entry(module).or_default().push(from);
        }
        let mut add = |path: &'static str, item| {
            let (owner, name) = split(path);
            library.index.entry(owner).or_default().entry(name).or_default().push(item);
        };
        for part in parts {
            for row in part.rows {
                add(row.path, Item::Row(row));
                library.params.entry(row.params).or_insert_with(|| Arc::new(Params::of(row.params)));
                let (owner, name) = split(row.path);
                if row.until.is_some() {
                    library.changed.insert(name);
                }
                if let Some(name) = name.strip_prefix('@') {
                    library.computed.entry(owner).or_default().entry(name).or_default().push(row);
                }
            }
            for class in part.classes {
                add(class.path, Item::Class(class));
                library.types.insert(split(class.path).1);
                library.params.entry(class.params).or_insert_with(|| Arc::new(Params::of(class.params)));
            }
            part.constants.iter().for_each(|(path, fixed)| add(path, Item::Fixed(*fixed)));
            let types = part.constants.iter().filter(|(_, fixed)| matches!(fixed, Fixed::DType(_)));
            library.types.extend(types.map(|(path, _)| split(path).1));
            part.gone.iter().for_each(|gone| add(gone.path, Item::Gone(gone)));
        }
        library
    }

    /// The parameters of a function of the table.
    pub(super) fn params(&self, notation: &'static str) -> Arc<Params> {
        self.params.get(notation).cloned().unwrap_or_else(|| Arc::new(Params::of(notation)))
    }

    /// What is known of a name of exactly this module.
    fn items(&self, owner: &str, name: &str) -> &[Item] {
        self.index.get(owner).and_then(|names| names.get(name)).map_or(&[], |items| items)
    }

    /// Asks a module for a name, then those that it takes names from.
    fn search<T>(&self, owner: &str, name: &str, mut found: impl FnMut(&str, &[Item]) -> Option<T>) -> Option<T> {
        if let Some(found) = found(owner, self.items(owner, name)) {
            return Some(found);
        }
        if self.hides(owner, name) {
            return None;
        }
        self.by_module.get(owner)?.1.iter().find_map(|from| found(from, self.items(from, name)))
    }

    /// Classes of other modules that a module has.
    fn used(&self, module: &str) -> impl Iterator<Item = &'static str> {
        self.classes.get(module).into_iter().flatten().copied().flatten().copied()
    }

    /// Whether a module does not take a name although it takes the rest.
    fn hides(&self, module: &str, name: &str) -> bool {
        let mut only = self.modules.iter().flat_map(|modules| modules.only);
        let elsewhere = |(_, from): &(u8, &[&str])| from.iter().any(|from| !self.items(from, name).is_empty());
        only.any(|(of, names)| *of == module && !names.contains(&name) && self.by_module.get(of).is_some_and(elsewhere))
            || self.hidden.get(module).is_some_and(|lists| lists.iter().any(|names| names.contains(&name)))
    }

    /// Whether a full name is one that its module does not have in any release, although modules that it takes names
    /// from do: Triton raises where it is asked for.
    pub fn lacks(&self, path: &str, version: Version) -> bool {
        let canonical = self.canonical(path);
        let (owner, name) = split(&canonical);
        self.hides(owner, name) && self.lookup(path, version).is_none()
    }

    /// A full name as the table spells it.
    pub fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let first = path.as_bytes().first();
        let all = self.modules.iter().flat_map(|modules| modules.spellings);
        for (theirs, ours) in all.filter(|(theirs, _)| theirs.as_bytes().first() == first) {
            match behind(path, theirs) {
                Some("") => return Cow::Borrowed(ours),
                Some(rest) if rest.starts_with('.') => return Cow::Owned(format!("{ours}{rest}")),
                _ => {}
            }
        }
        Cow::Borrowed(path)
    }

    /// Whether a name as the table spells it is a module of this release.
    fn is_module(&self, path: &str, version: Version) -> bool {
        self.by_module.get(path).is_some_and(|(since, _)| Version(3, *since) <= version.max(FIRST))
    }

    /// The module of this full name, where it is one that is written in Python. Its path is its name in angle brackets,
    /// which no file has.
    pub fn python_module(&self, path: &str, version: Version) -> Option<&'static Arc<Module>> {
        let path = self.canonical(path);
        let version = version.max(FIRST);
        let is = |module: &&PythonModule| module.name == path && Version(3, module.since) <= version;
        let module = self.python_modules.iter().find(is)?;
        let parse = || Arc::new(Module::parse(format!("<{}>", module.name), module.text, None));
        Some(module.parsed.get_or_init(parse))
    }

    /// Whether some module has a class or an element type of this name.
    pub fn has_type_named(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    /// What a full name stands for in a release of Triton; `path` may begin with any of Triton's own spellings
    /// (`triton.experimental.gluon.language.float16`). Modules are [`Value::Lib`].
    pub fn lookup<'a>(&self, path: &str, version: Version) -> Option<Value<'a>> {
        let version = version.max(FIRST);
        let path = self.canonical(path);
        let (owner, name) = split(&path);
        let found = self.search(owner, name, |_, items| {
            items.iter().find_map(|item| match *item {
                Item::Row(row) => row.has(version).then_some(Value::Builtin(row)),
                Item::Class(class) => class.has(version).then_some(Value::LibClass(class)),
                Item::Fixed(fixed) => Some(value(fixed)),
                Item::Gone(_) => None,
            })
        });
        let used = || {
            let mut used = self.used(owner).filter(|path| split(path).1 == name);
            used.find_map(|path| self.class(path)).filter(|class| class.has(version)).map(Value::LibClass)
        };
        let found = found.or_else(used);
        found.or_else(|| self.is_module(&path, version).then(|| Value::Lib(path.as_ref().into())))
    }

    /// Whether a full name stands for something in a release of Triton.
    pub fn has(&self, path: &str, version: Version) -> bool {
        self.is_module(path, version.max(FIRST)) || self.lookup(path, version).is_some()
    }

    /// The forms that a function had in releases before this one and has no more, the latest first.
    pub fn earlier(&self, path: &str, version: Version) -> SmallVec<[&'static Row; 2]> {
        if !self.changed.contains(split(path).1) {
            return SmallVec::new();
        }
        let path = self.canonical(path);
        let (owner, name) = split(&path);
        let rows = self.search(owner, name, |_, items| {
            let rows = items.iter().filter_map(|item| match *item {
                Item::Row(row) if row.until.is_some_and(|until| until < version) => Some(row),
                _ => None,
            });
            let rows: SmallVec<[&'static Row; 2]> = rows.collect();
            (!rows.is_empty()).then_some(rows)
        });
        let mut rows = rows.unwrap_or_default();
        rows.sort_by_key(|row| std::cmp::Reverse(row.until));
        rows
    }

    /// The parameters of what a name stands for in a release, and those that earlier ones had; empty for what is
    /// no function and no class, `None` where there is no such name.
    pub fn parameters(&self, path: &str, version: Version) -> Option<Vec<&'static str>> {
        let (params, earlier) = match self.lookup(path, version)? {
            Value::Builtin(row) => (row.params, &[][..]),
            Value::LibClass(class) => (class.params, class.earlier),
            _ => return Some(Vec::new()),
        };
        let names = super::row::split(params).map(|part| part.split('=').next().unwrap_or(part).trim());
        Some(names.chain(earlier.iter().map(|(name, _)| *name)).collect())
    }

    /// The forms that a function or class of this name has and had, the one of this release first; empty for what is
    /// neither.
    pub fn forms(&self, path: &str, version: Version) -> Vec<Form> {
        let version = version.max(FIRST);
        let path = self.canonical(path);
        let (owner, name) = split(&path);
        let mut forms = self.search(owner, name, |_, items| Some(of_items(items)).filter(|forms| !forms.is_empty()));
        if forms.is_none()
            && let Some(Value::LibClass(class)) = self.lookup(&path, version)
        {
            forms = Some(vec![Form::of_class(class)]);
        }
        sorted(forms.unwrap_or_default(), version)
    }

    /// The forms of the methods of this name, of whatever class of Gluon's or Triton's.
    pub fn methods(&self, name: &str, version: Version) -> Vec<Form> {
        let owners = self.index.iter().filter(|(owner, _)| {
            !owner.is_empty() && !owner.contains('.') && !matches!(**owner, "gl" | "tl" | "triton" | "gluon" | "math")
        });
        let found = owners.filter_map(|(_, names)| names.get(name)).flat_map(|items| of_items(items));
        let methods = found.filter(|form| form.params.starts_with("self")).collect();
        sorted(methods, version.max(FIRST))
    }

    /// The full name of the function that a name stands for in a release of Triton.
    pub fn builtin(&self, path: &str, version: Version) -> Option<&'static str> {
        match self.lookup(path, version) {
            Some(Value::Builtin(row)) => Some(row.path),
            _ => None,
        }
    }

    /// A method of one of a library's or Python's own classes: `shared_memory_descriptor`, `index`; `str`, `join`.
    /// Classes have the methods of what they extend.
    pub fn member(&self, of: &str, name: &str, version: Version) -> Option<&'static Row> {
        let version = version.max(FIRST);
        let own = |of: &str| {
            self.items(of, name).iter().find_map(|item| match item {
                Item::Row(row) if row.has(version) => Some(*row),
                _ => None,
            })
        };
        own(of).or_else(|| self.class(of)?.bases.iter().find_map(|base| own(base)))
    }

    /// A computed attribute of a class, which has those of what it extends.
    pub fn computed(&self, of: &str, name: &str, version: Version) -> Option<&'static Row> {
        let version = version.max(FIRST);
        let own = |of: &str| self.computed.get(of)?.get(name)?.iter().copied().find(|row| row.has(version));
        own(of).or_else(|| self.class(of)?.bases.iter().find_map(|base| own(base)))
    }

    /// What a module or class has in a release, by name: what it defines, what it takes from others, and the modules
    /// in it. Names that begin with `_` are left out; those of computed attributes begin with `@`.
    pub fn members(&self, of: &str, version: Version) -> BTreeMap<&'static str, Member> {
        let version = version.max(FIRST);
        let of = self.canonical(of);
        let of = of.as_ref();
        let mut found = BTreeMap::new();
        let mut take = |owner: &str, inherited: bool| {
            for (name, items) in self.index.get(owner).into_iter().flatten() {
                if name.starts_with('_') || found.contains_key(name) || (inherited && self.hides(of, name)) {
                    continue;
                }
                let member = items.iter().find_map(|item| match *item {
                    Item::Row(row) => {
                        let offered = row.has(version) && row.refused.is_none_or(|refused| version < refused);
                        offered.then_some(Member::Function(row))
                    }
                    Item::Class(class) => class.has(version).then_some(Member::Class(class)),
                    Item::Fixed(fixed) => Some(Member::Fixed(fixed)),
                    Item::Gone(_) => None,
                });
                found.extend(member.map(|member| (*name, member)));
            }
        };
        take(of, false);
        let from = self.by_module.get(of).map_or(&[][..], |(_, from)| from);
        let bases = self.class(of).map_or(&[][..], |class| class.bases);
        from.iter().chain(bases).for_each(|from| take(from, true));
        for class in self.used(of).filter_map(|path| self.class(path)).filter(|class| class.has(version)) {
            found.entry(split(class.path).1).or_insert(Member::Class(class));
        }
        for (path, since, _) in self.modules.iter().flat_map(|modules| modules.modules) {
            let inner = path.strip_prefix(of).and_then(|rest| rest.strip_prefix('.'));
            if let Some(name) = inner.filter(|name| !name.contains('.') && !name.starts_with('_'))
                && Version(3, *since) <= version
            {
                found.insert(name, Member::Module);
            }
        }
        found
    }

    /// The class of a full name.
    pub fn class(&self, path: &str) -> Option<&'static LibClass> {
        let (owner, name) = split(path);
        let mut items = self.items(owner, name).iter();
        items.find_map(|item| if let Item::Class(class) = item { Some(*class) } else { None })
    }

    /// What became of a name that this release does not have: the full name of what replaces it, if anything
    /// does, and the last release that had it.
    pub fn gone(&self, path: &str, version: Version) -> Option<(Option<String>, Version)> {
        let path = self.canonical(path);
        let (owner, name) = split(&path);
        self.search(owner, name, |owner, items| {
            items.iter().find_map(|item| match item {
                Item::Gone(gone) if gone.until < version => Some(match gone.instead {
                    "" => (None, gone.until),
                    full if full.contains('.') => (Some(full.to_owned()), gone.until),
                    name => (Some(format!("{owner}.{name}")), gone.until),
                }),
                _ => None,
            })
        })
    }

    /// What is wrong with the table: names with two meanings in one of `releases`, parameters that cannot be read,
    /// bases that are no class or whose own bases are left out, modules that take names from none.
    pub fn faults(&self, releases: impl Iterator<Item = Version> + Clone) -> Vec<String> {
        let mut faults = Vec::new();
        let mut owners: Vec<_> =
            self.index.iter().flat_map(|(owner, names)| names.iter().map(move |n| (owner, n))).collect();
        owners.sort_by_key(|(owner, (name, _))| (**owner, **name));
        for (owner, (name, items)) in owners {
            for version in releases.clone() {
                let meanings = items.iter().filter(|item| match item {
                    Item::Row(row) => row.has(version),
                    Item::Class(class) => class.has(version),
                    Item::Fixed(_) => true,
                    Item::Gone(gone) => gone.until < version,
                });
                if meanings.count() > 1 {
                    faults.push(format!("{owner}.{name} has two meanings in 3.{}", version.1));
                }
            }
            faults.extend(items.iter().filter_map(|item| self.fault(item)));
        }
        for (module, _, from) in self.modules.iter().flat_map(|modules| modules.modules) {
            faults.extend(
                from.iter()
                    .filter(|of| !self.by_module.contains_key(**of))
                    .map(|of| format!("{module} takes from {of}")),
            );
        }
        faults
    }

    fn fault(&self, item: &Item) -> Option<String> {
        match item {
            Item::Row(row) => {
                let count = |brackets: [char; 2]| row.params.matches(brackets).count();
                let readable = !row.params.contains("_semantic") && count(['(', '[']) == count([')', ']']);
                (!readable).then(|| format!("the parameters of {}", row.path))
            }
            Item::Class(class) => {
                let kept = |base: &&'static str| {
                    self.class(base).is_some_and(|base| base.bases.iter().all(|further| class.is_a(further)))
                };
                (!class.bases.iter().all(kept)).then(|| format!("the bases of {}", class.path))
            }
            Item::Fixed(_) | Item::Gone(_) => None,
        }
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({} modules and classes)", self.index.len())
    }
}

fn value<'a>(fixed: Fixed) -> Value<'a> {
    match fixed {
        Fixed::DType(dtype) => Value::DType(dtype),
        Fixed::Bool(value) => Value::Bool(value),
        Fixed::Int(value) => Value::Int(value.into()),
        Fixed::Float(value) => Value::Float(value),
        Fixed::Type(name) => Value::Type(name.into()),
    }
}
