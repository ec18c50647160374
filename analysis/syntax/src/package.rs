//! Which dotted names are Triton's, whatever its package is called.
//!
//! Code bases ship copies of Triton under names of their own (`acme_triton.language`), or inside of a package
//! (`acme.third_party.triton.experimental.gluon`). A copy is known by the modules that are asked of it.
//!
//! Deviation: a package that no file of the workspace defines and whose modules are asked for as Triton's are
//! (`….experimental.gluon`) is Triton.

use ruff_python_ast::Stmt;

use crate::Sources;
use crate::bodies::main_block;

/// A dotted name that may be Triton's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Package<'p> {
    /// The package: `acme_triton` of `acme_triton.language.load`.
    pub root: &'p str,
    /// What stands behind it, without a dot in front; empty for the package itself.
    pub rest: &'p str,
    /// The name of the package's module by which it was known: `experimental.gluon`.
    pub module: &'p str,
}

impl Package<'_> {
    /// The name as Triton itself has it: `triton.language.load`.
    pub fn canonical(&self) -> String {
        if self.rest.is_empty() { "triton".to_owned() } else { format!("triton.{}", self.rest) }
    }

    /// Whether it is Triton's by the files of the workspace, where the file `from` means it by `name`: it has none there, or
    /// has those of Triton.
    pub fn is_copy(&self, sources: &dyn Sources, from: &str, name: &str) -> bool {
        let dot = if self.root.ends_with('.') { "" } else { "." };
        let has = |module: &str| sources.import(from, &format!("{}{dot}{module}", self.root)).is_some();
        let own = sources.import(from, self.root).is_some() || sources.import(from, name).is_some();
        // A package of the workspace that hands on Triton's modules has no files of theirs.
        !own || has("language.core") || (self.module == "experimental.gluon" && !has(self.module))
    }
}

/// What a package that only its name gives away is asked for: modules and functions at the top of Triton.
const TOP: &[&str] = &[
    "autotune",
    "backends",
    "cdiv",
    "compile",
    "compiler",
    "Config",
    "constexpr_function",
    "experimental",
    "heuristics",
    "jit",
    "JITFunction",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
    "__version__",
];

/// A dotted name as one of Triton's: by `experimental.gluon` in it, or by a package called `…triton` that is
/// asked for what Triton has. Leading dots of a relative import belong to the package.
///
/// Whether a package of that name is something else is for the caller to ask of the workspace.
pub fn package(path: &str) -> Option<Package<'_>> {
    if path == "triton" || path.starts_with("triton.") {
        return Some(Package { root: "triton", rest: path.get(7..).unwrap_or(""), module: "" });
    }
    // What torch has of this name (`torch.library.wrap_triton`) is no copy.
    if path.starts_with("torch.") {
        return None;
    }
    let mut start = path.bytes().take_while(|byte| *byte == b'.').count();
    loop {
        let end = path.get(start..)?.find('.').map_or(path.len(), |dot| start + dot);
        let (segment, root) = (path.get(start..end)?, path.get(..end)?);
        let rest = path.get(end + 1..).unwrap_or("");
        let of = |module| Some(Package { root, rest, module });
        if rest == "experimental.gluon" || rest.starts_with("experimental.gluon.") {
            return of("experimental.gluon");
        }
        if is_triton(segment) {
            let first = rest.split('.').next().unwrap_or("");
            if first.is_empty() || TOP.contains(&first) {
                return of(if first == "language" { "language" } else { "" });
            }
        }
        if end >= path.len() {
            return None;
        }
        start = end + 1;
    }
}

/// Whether a package calls itself Triton: `triton`, `acme_triton`.
fn is_triton(segment: &str) -> bool {
    segment.rsplit('_').next().is_some_and(|word| word.eq_ignore_ascii_case("triton"))
}

/// The only one of the parts of an `if` that imports Triton. What a file does when it is run as a program is no such part.
pub fn importing_triton(stmt: &Stmt) -> Option<&[Stmt]> {
    let Stmt::If(branch) = stmt else { return None };
    let imports = |stmt: &Stmt| match stmt {
        Stmt::Import(stmt) => stmt.names.iter().any(|alias| of_triton(alias.name.as_str())),
        Stmt::ImportFrom(stmt) => stmt.level == 0 && stmt.module.as_deref().is_some_and(of_triton),
        _ => false,
    };
    let mut parts = std::iter::once(&*branch.body).chain(branch.elif_else_clauses.iter().map(|clause| &*clause.body));
    let found = parts.find(|part| part.iter().any(imports))?;
    let only = parts.all(|part| !part.iter().any(imports)) && main_block(stmt).is_none();
    only.then_some(found)
}

/// Whether a module is Triton, its language or Gluon, which every Triton has.
fn of_triton(module: &str) -> bool {
    ["triton", "triton.language", "triton.experimental", "triton.experimental.gluon"].contains(&module)
}

/// Whether a function is the same for a kernel with this decorator as without: those of Triton and of tests.
pub fn is_transparent(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    let libraries = ["triton", "gl", "gluon", "ttgl", "tl", "torch", "pytest", "functools", "typing", "abc"];
    let names = [
        "autotune",
        "heuristics",
        "lru_cache",
        "cache",
        "wraps",
        "overload",
        "must_use_result",
        "builtin",
        "no_type_check",
    ];
    libraries.contains(&root) || path.rsplit('.').next().is_some_and(|last| names.contains(&last))
}

/// What a name that leads nowhere stands for where it is the customary one of a module of Triton.
pub fn customary(name: &str) -> Option<&'static str> {
    Some(match name {
        "triton" => "triton",
        "tl" => "triton.language",
        "gluon" => "triton.experimental.gluon",
        "gl" | "ttgl" => "triton.experimental.gluon.language",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(path: &str) -> Option<String> {
        package(path).map(|package| package.canonical())
    }

    #[test]
    fn one_part_of_an_if_imports_triton() {
        let imports = |text: &str| {
            let module = crate::Module::parse("k.py", text, None);
            importing_triton(&module.body()[0]).map(|part| part.len())
        };
        assert_eq!(imports("if HAVE:\n    import triton\n    x = 1\nelse:\n    triton = None\n"), Some(2));
        assert_eq!(imports("if OLD:\n    pass\nelse:\n    from triton import language as tl\n"), Some(1));
        for text in [
            "if OLD:\n    import triton\nelse:\n    import triton.language as tl\n",
            "if __name__ == '__main__':\n    import triton\n",
            "if HAVE:\n    import triton_like\n",
            "import triton\n",
        ] {
            assert_eq!(imports(text), None, "{text}");
        }
    }

    #[test]
    fn copies_are_known_by_what_is_asked_of_them() {
        let gluon = Some("triton.experimental.gluon.language".to_owned());
        assert_eq!(canonical("acme_triton.experimental.gluon.language"), gluon);
        assert_eq!(canonical("acme.vendored.experimental.gluon.language"), gluon);
        assert_eq!(canonical("..third_party.triton.experimental.gluon.language"), gluon);
        assert_eq!(canonical("acme_triton"), Some("triton".to_owned()));
        assert_eq!(canonical("acme.third_party.triton.language.core"), Some("triton.language.core".to_owned()));
        assert_eq!(canonical("triton.cdiv"), Some("triton.cdiv".to_owned()));
    }

    #[test]
    fn packages_of_other_people_are_not() {
        assert_eq!(canonical("triton_kernels.testing"), None);
        assert_eq!(canonical("torch.library.wrap_triton"), None);
        assert_eq!(canonical("tilelang.language"), None);
        assert_eq!(canonical("acme.ops.triton.gemm"), None);
        assert_eq!(canonical("acme.gluon.kernels"), None);
        assert_eq!(canonical("."), None);
        assert_eq!(canonical(""), None);
    }
}
