//! The builtins as lists, for those who offer and explain them: names, signatures, documentation.

use dialects::{OpDecl, table};
use python::library::{Fixed, LibClass, Row};
use python::target::Version;
use python::value::Value;
use rustc_hash::FxHashSet;
use std::sync::OnceLock;

use super::library;
use builtins::docs;

/// Where TLX's names stand, which facebookexperimental's release of Triton has.
pub const TLX: &str = "tl.extra.tlx.";

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinKind {
    /// A module.
    Module,
    /// A function or a method.
    Function,
    /// A class, such as a layout.
    Class,
    /// An attribute of an object.
    Attribute,
    /// An element type.
    ElementType,
    /// Another fixed value.
    Constant,
}

/// One builtin in one release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name in its module or class.
    pub name: &'static str,
    /// Its full name, as the table has it; of a module or constant the name by which it was asked for.
    pub path: String,
    /// What it is.
    pub kind: BuiltinKind,
    /// Its parameters in order, `self` left out.
    pub params: Vec<BuiltinParameter>,
    /// Whether it touches shared or tensor memory, or synchronises.
    pub effect: bool,
    /// The first release that has it in this form, and the last one.
    pub since: (Version, Option<Version>),
}

/// A parameter of a builtin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinParameter {
    /// Its name; empty for the bare `*`.
    pub name: &'static str,
    /// Its default as Python writes it.
    pub default: Option<&'static str>,
    /// Whether only a keyword gives it.
    pub keyword_only: bool,
    /// `*` or `**` where it collects, and where it is the bare `*`.
    pub stars: &'static str,
}

impl BuiltinParameter {
    /// Whether an argument can name it.
    pub fn is_named(&self) -> bool {
        self.stars.is_empty()
    }
}

impl Builtin {
    /// What it does: a sentence or two; empty where nothing is known of it.
    pub fn doc(&self) -> &'static str {
        documentation(&self.path)
    }

    /// The declaration of the op that a call of it stands for, where there is one such op.
    pub fn op(&self) -> Option<&'static OpDecl> {
        op_of(&self.path)
    }
}

/// What a module, or a class of objects by the name that the table has for it (`shared_memory_descriptor`), offers in
/// a release, by name.
pub fn members(of: &str, version: Version) -> Vec<Builtin> {
    let of = library().canonical(of).into_owned();
    let plain = of == "tl" || of.starts_with("tl.");
    let all = library().members(&of, version).into_iter();
    let own = all.filter(|(_, member)| !plain || is_of_triton(member));
    own.map(|(name, member)| {
        let path = if of.is_empty() { name.to_owned() } else { format!("{of}.{name}") };
        made(name, path, member, plain)
    })
    .collect()
}

/// The builtin of a full name in a release; `None` for what is no function, class, module or constant of it.
pub fn find(path: &str, version: Version) -> Option<Builtin> {
    use python::library::Member;
    let path = library().canonical(path).into_owned();
    let name = path.rsplit('.').next().unwrap_or(&path);
    let plain = path.starts_with("tl.");
    match library().lookup(&path, version) {
        Some(Value::Builtin(row)) => Some(made(last(row.path), path, Member::Function(row), plain)),
        Some(Value::LibClass(class)) => Some(made(last(class.path), path, Member::Class(class), plain)),
        Some(Value::Lib(_)) if !path.contains('.') => {
            let name = ["gl", "gluon", "tl", "triton"].into_iter().find(|name| *name == path)?;
            Some(made(name, path, Member::Module, plain))
        }
        Some(_) => {
            let (of, _) = path.rsplit_once('.').unwrap_or(("", &path));
            members(of, version).into_iter().find(|member| member.name == name)
        }
        None => {
            let (class, member) = path.rsplit_once('.')?;
            let row = library().member(class, member, version)?;
            Some(made(last(row.path), row.path.to_owned(), Member::Function(row), false))
        }
    }
}

/// The name in the present release for one that an earlier release had, where something replaces it, and the last
/// release that had it.
pub fn gone(path: &str, version: Version) -> Option<(Option<String>, Version)> {
    library().gone(path, version)
}

/// What a builtin does, by its full name.
pub fn documentation(path: &str) -> &'static str {
    let path = library().canonical(path);
    let own = docs::of(&path);
    if own.is_empty() { op_of(&path).map_or("", |op| op.doc.trim()) } else { own }
}

fn last(path: &'static str) -> &'static str {
    let name = path.rsplit('.').next().unwrap_or(path);
    name.trim_start_matches('@')
}

/// Whether plain Triton has it: a register builtin that both languages share, or one of its own.
fn is_of_triton(member: &python::library::Member) -> bool {
    use python::library::Member;
    match member {
        Member::Function(row) => {
            shared().contains(row.path) && !docs::GLUON_ONLY.contains(&row.path) || row.path.starts_with("tl.")
        }
        Member::Class(class) => class.path.starts_with("tl.") || class.path == "gl.constexpr",
        Member::Fixed(fixed) => !matches!(fixed, Fixed::Type(_)),
        Member::Module => true,
    }
}

/// Functions of registers, which plain Triton has too.
fn shared() -> &'static FxHashSet<&'static str> {
    static SHARED: OnceLock<FxHashSet<&'static str>> = OnceLock::new();
    SHARED.get_or_init(|| {
        let rows = builtins::parts().flat_map(|part| part.rows).map(|row| row.path);
        let own = ["gl.static_range", "gl.static_assert"];
        rows.chain(own).collect()
    })
}

fn made(name: &'static str, path: String, member: python::library::Member, plain: bool) -> Builtin {
    use python::library::Member;
    let newest = (Version(3, 0), None);
    match member {
        Member::Function(row) => function(name, path, row, plain),
        Member::Class(class) => of_class(name, path, class),
        Member::Fixed(Fixed::DType(_)) => {
            Builtin { name, path, kind: BuiltinKind::ElementType, params: Vec::new(), effect: false, since: newest }
        }
        Member::Fixed(_) => {
            Builtin { name, path, kind: BuiltinKind::Constant, params: Vec::new(), effect: false, since: newest }
        }
        Member::Module => {
            Builtin { name, path, kind: BuiltinKind::Module, params: Vec::new(), effect: false, since: newest }
        }
    }
}

fn function(name: &'static str, path: String, row: &'static Row, plain: bool) -> Builtin {
    let mut params = parameters(row.params);
    if params.first().is_some_and(|first| first.name == "self") {
        params.remove(0);
    }
    if plain && !path.starts_with(TLX) {
        // Tensors of plain Triton have no layouts that a kernel could name.
        params.retain(|param| param.name != "layout");
    }
    let attribute = name.starts_with('@') || row.path.rsplit('.').next().is_some_and(|last| last.starts_with('@'));
    let kind = if attribute { BuiltinKind::Attribute } else { BuiltinKind::Function };
    let name = name.trim_start_matches('@');
    let path = if path.contains('@') { row.path.to_owned() } else { path };
    Builtin { name, path, kind, params, effect: row.effect, since: (row.since, row.until) }
}

fn of_class(name: &'static str, path: String, class: &'static LibClass) -> Builtin {
    let params = parameters(class.params);
    Builtin { name, path, kind: BuiltinKind::Class, params, effect: false, since: (class.since, None) }
}

/// Parameters as the table writes them.
fn parameters(text: &'static str) -> Vec<BuiltinParameter> {
    let mut keyword_only = false;
    let mut out = Vec::new();
    for part in python::library::parts(text) {
        let stars = if part.starts_with("**") {
            "**"
        } else if part.starts_with('*') {
            "*"
        } else {
            ""
        };
        let (name, default) = part.split_once('=').map_or((part, None), |(name, default)| (name, Some(default)));
        let name = name.trim_start_matches('*').trim();
        out.push(BuiltinParameter { name, default: default.map(str::trim), keyword_only, stars });
        keyword_only |= stars == "*";
    }
    out
}

/// The op that a function stands for, by the name that the op's declaration gives for Python.
fn op_of(path: &str) -> Option<&'static OpDecl> {
    let name = path.rsplit('.').next()?;
    let start = path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    let what = path.get(start..)?;
    // Of methods the class tells ops apart that have one name in Python.
    let dialect = match path.split('.').next()? {
        "shared_memory_descriptor" => Some("ttg."),
        "tensor_memory_descriptor" => Some("ttng."),
        _ => None,
    };
    let rows = table().rows().iter().map(|row| row.decl);
    let named = |decl: &&'static OpDecl| {
        decl.python.is_some_and(|python| match (dialect, python.module.is_empty()) {
            (Some(dialect), _) => python.name == name && decl.name.starts_with(dialect),
            // A module's functions are those of the modules that take them over.
            (None, false) => python.name == what || python.is_path(path),
            (None, true) => python.name == what || (python.name == name && path.starts_with("gl.nvidia.")),
        })
    };
    let amd = path.starts_with("gl.amd");
    rows.filter(named).find(|decl| decl.name.starts_with("amdg.") == amd)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Version = Version(3, 9);

    fn names(of: &str, version: Version) -> Vec<&'static str> {
        members(of, version).into_iter().map(|member| member.name).collect()
    }

    #[test]
    fn a_module_offers_what_it_takes_from_others() {
        let hopper = names("triton.experimental.gluon.language.nvidia.hopper.mbarrier", NOW);
        for name in ["wait", "init", "expect", "arrive", "MBarrierLayout"] {
            assert!(hopper.contains(&name), "{name}: {hopper:?}");
        }
        assert!(!names("gl.nvidia.ampere.mbarrier", NOW).contains(&"expect"));
        assert!(names("gl.nvidia.blackwell", NOW).contains(&"tma"));
        assert!(!names("gl.nvidia.blackwell", NOW).contains(&"warpgroup_mma"));
    }

    #[test]
    fn a_release_offers_its_own() {
        assert!(names("gl", Version(3, 5)).contains(&"thread_barrier"));
        assert!(!names("gl", NOW).contains(&"thread_barrier"));
        let expect = |version| find("gl.nvidia.hopper.mbarrier.expect", version).map(|it| it.params[1].name);
        assert_eq!(expect(Version(3, 5)), Some("bytes"));
        assert_eq!(expect(NOW), Some("bytes_per_cta"));
    }

    #[test]
    fn plain_triton_has_no_layouts_and_no_shared_memory() {
        let plain = names("triton.language", NOW);
        assert!(plain.contains(&"load") && plain.contains(&"program_id") && plain.contains(&"float16"), "{plain:?}");
        for name in ["allocate_shared_memory", "convert_layout", "BlockedLayout", "warp_specialize"] {
            assert!(!plain.contains(&name), "{name}");
        }
        let arange = find("tl.arange", NOW).unwrap();
        assert_eq!(arange.params.iter().map(|param| param.name).collect::<Vec<_>>(), ["start", "end"]);
        assert_eq!(find("gl.arange", NOW).unwrap().params.len(), 3);
    }

    #[test]
    fn methods_attributes_and_keywords_are_told_apart() {
        let of = members("shared_memory_descriptor", NOW);
        let index = of.iter().find(|member| member.name == "index").unwrap();
        assert_eq!((index.kind, index.params[0].name), (BuiltinKind::Function, "index"));
        assert_eq!(of.iter().find(|member| member.name == "shape").map(|it| it.kind), Some(BuiltinKind::Attribute));
        let arrive = find("gl.nvidia.hopper.mbarrier.arrive", NOW).unwrap();
        let named: Vec<_> = arrive.params.iter().map(|it| (it.name, it.default, it.keyword_only, it.stars)).collect();
        assert_eq!(named[0], ("mbarrier", None, false, ""));
        assert_eq!(named[1], ("", None, false, "*"));
        assert_eq!(named[2], ("count", Some("1"), true, ""));
    }

    #[test]
    fn what_synchronises_or_touches_memory_is_documented() {
        let mut bare = Vec::new();
        for module in [
            "gl",
            "tl",
            "gl.nvidia.ampere.mbarrier",
            "gl.nvidia.hopper",
            "gl.nvidia.hopper.mbarrier",
            "gl.nvidia.hopper.tma",
            "gl.nvidia.blackwell",
            "gl.nvidia.blackwell.tma",
            "gl.nvidia.blackwell.clc",
            "gl.nvidia.ampere.async_copy",
            "gl.nvidia.hopper.cluster",
            "shared_memory_descriptor",
            "tensor_memory_descriptor",
            "gl.amd.cdna4.async_copy",
            "gl.amd.cdna5.tdm",
            "gl.amd.cdna5.mbarrier",
        ] {
            let of = members(module, NOW);
            bare.extend(of.into_iter().filter(|it| it.effect && it.doc().is_empty()).map(|it| it.path));
        }
        assert_eq!(bare, [] as [String; 0], "say what these do in `docs.rs`");
        assert_eq!(documentation("gl.nvidia.hopper.mbarrier.wait"), documentation("gl.nvidia.ampere.mbarrier.wait"));
    }
}
