//! Circles of imports: files of one crate that need each other.
//!
//! A file needs another if it names something in it by a path from `crate`, `super`, `self` or one of its
//! modules; names that are passed on (`use` in the module on the way) count as what they stand for, and
//! passing on alone is no need. A circle is a strongly connected component of more than one file. What it
//! misses: paths that a macro builds and names behind a `*` that the named module does not define itself.

use super::tokens::tokens;
use super::tree::{BrokenRule, File};
use std::collections::{BTreeMap, BTreeSet};

/// Files that need each other, by path, each with those of the circle that it needs itself.
pub type Circle = BTreeMap<String, Vec<String>>;

/// Circles that the workspace may have.
const MOST_CIRCLES: usize = 5;

/// Files that a circle may have.
const MOST_FILES: usize = 6;

/// Circles that are too many or too large, each said at its first file.
pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let circles = circles(files);
    let mut problems = Vec::new();
    for (at, circle) in circles.iter().enumerate() {
        let Some(file) = circle.keys().next().and_then(|path| files.iter().find(|file| file.path == *path)) else {
            continue;
        };
        let names = circle.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        if circle.len() > MOST_FILES {
            let count = circle.len();
            let message =
                format!("{count} files need each other (at most {MOST_FILES}), see `cargo xtask circles`: {names}");
            problems.push(file.problem(0, message));
        } else if at >= MOST_CIRCLES {
            let message = format!("a circle of files beyond the {MOST_CIRCLES} that may be: {names}");
            problems.push(file.problem(0, message));
        }
    }
    problems
}

/// All circles of all crates, the largest first.
pub(super) fn circles(files: &[File]) -> Vec<Circle> {
    let is_root = |file: &&File| {
        let rest = file.path.rsplit_once("src/").map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest == "lib.rs" || rest == "main.rs" || rest.starts_with("bin/"))
    };
    let mut found: Vec<Circle> =
        files.iter().filter(is_root).flat_map(|root| Crate::read(files, root).circles()).collect();
    found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    found
}

/// A path of names, from the root of the crate.
type Names<'a> = Vec<&'a str>;

/// A name that a `use` declaration brings in.
struct Alias<'a> {
    name: &'a str,
    /// From the root of the crate; none for what is of another crate.
    target: Option<Names<'a>>,
    /// For others too: passing on alone is no need.
    public: bool,
}

struct Module<'a> {
    names: Names<'a>,
    file: &'a str,
    tokens: Vec<&'a str>,
    /// What `use` brings in.
    aliases: Vec<Alias<'a>>,
    /// The modules of which everything is brought in.
    globs: Vec<Names<'a>>,
}

struct Crate<'a> {
    modules: Vec<Module<'a>>,
    by_names: BTreeMap<Names<'a>, usize>,
}

impl<'a> Crate<'a> {
    /// The modules that the root declares, and those that they declare.
    fn read(files: &'a [File], root: &'a File) -> Crate<'a> {
        let mut all = Crate { modules: Vec::new(), by_names: BTreeMap::new() };
        let folder = root.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let mut open: Vec<(Names<'a>, &'a File, String)> = vec![(Vec::new(), root, folder)];
        while let Some((names, file, folder)) = open.pop() {
            let tokens = tokens(&file.text);
            for window in tokens.windows(3) {
                let ["mod", name, ";"] = *window else { continue };
                let (flat, nested) = (format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs"));
                if let Some(child) = files.iter().find(|file| file.path == flat || file.path == nested) {
                    let below = names.iter().copied().chain([name]).collect();
                    open.push((below, child, format!("{folder}/{name}")));
                }
            }
            all.by_names.insert(names.clone(), all.modules.len());
            all.modules.push(Module { names, file: &file.path, tokens, aliases: Vec::new(), globs: Vec::new() });
        }
        for at in 0..all.modules.len() {
            for path in use_paths(&all.modules[at].tokens) {
                let full = all.absolute(at, &path.names);
                match path.alias {
                    "*" => all.modules[at].globs.extend(full),
                    name => all.modules[at].aliases.push(Alias { name, target: full, public: path.public }),
                }
            }
        }
        all
    }

    /// The path from the root that a written path means, if it stays in the crate.
    fn absolute(&self, at: usize, written: &[&'a str]) -> Option<Names<'a>> {
        let here = &self.modules[at].names;
        let (first, rest) = written.split_first()?;
        let mut base = match *first {
            "crate" => Vec::new(),
            "self" => here.clone(),
            "super" => here.get(..here.len().checked_sub(1)?)?.to_vec(),
            child => {
                let names: Names<'a> = here.iter().copied().chain([child]).collect();
                self.by_names.get(&names)?;
                names
            }
        };
        for name in rest {
            match *name {
                "super" => drop(base.pop()),
                "self" => {}
                name => base.push(name),
            }
        }
        Some(base)
    }

    /// The module that defines what a path from the root names; none if another crate does.
    fn resolve(&self, path: &[&'a str], depth: usize) -> Option<usize> {
        let mut at = *self.by_names.get(&Vec::new())?;
        for (index, name) in path.iter().enumerate() {
            let module = &self.modules[at];
            if let Some(child) = self.by_names.get(&path[..=index]) {
                at = *child;
            } else if depth == 0 || module.defines(name) {
                break;
            } else if let Some(alias) = module.aliases.iter().find(|alias| alias.name == *name) {
                let full: Names<'a> = alias.target.as_ref()?.iter().chain(&path[index + 1..]).copied().collect();
                return self.resolve(&full, depth - 1);
            } else {
                let mut globs = module.globs.iter().filter_map(|glob| self.resolve(glob, depth - 1));
                return Some(globs.find(|&glob| self.modules[glob].defines(name)).unwrap_or(at));
            }
        }
        Some(at)
    }

    /// The modules that a module needs.
    fn needs(&self, at: usize) -> BTreeSet<usize> {
        const DEPTH: usize = 8;
        let module = &self.modules[at];
        let said = |alias: &&Alias<'a>| module.speaks(alias.name);
        let own = module.aliases.iter().filter(|alias| !alias.public || said(alias));
        let own = own.filter_map(|alias| alias.target.clone());
        let written = expression_paths(&module.tokens).into_iter().filter_map(|path| self.absolute(at, &path));
        let mut needs: BTreeSet<usize> = written.chain(own).filter_map(|full| self.resolve(&full, DEPTH)).collect();
        for glob in module.globs.iter().filter_map(|glob| self.resolve(glob, DEPTH)) {
            let other = &self.modules[glob];
            if other.definitions().any(|name| module.speaks(name)) {
                needs.insert(glob);
            }
            // A `*` brings in what the other module passes on, too.
            let passed = other.aliases.iter().filter(said).filter_map(|alias| alias.target.as_ref());
            needs.extend(passed.filter_map(|full| self.resolve(full, DEPTH)));
        }
        needs.remove(&at);
        needs
    }

    fn circles(&self) -> Vec<Circle> {
        let needs: Vec<BTreeSet<usize>> = (0..self.modules.len()).map(|at| self.needs(at)).collect();
        let reach: Vec<BTreeSet<usize>> = (0..needs.len()).map(|at| reachable(&needs, at)).collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut found = Vec::new();
        for at in 0..needs.len() {
            let circle: Vec<usize> = reach[at]
                .iter()
                .copied()
                .filter(|&other| reach[other].contains(&at) && !seen.contains(&other))
                .collect();
            if circle.len() > 1 {
                seen.extend(&circle);
                let path = |at: usize| self.modules[at].file.to_owned();
                let inside = |at: usize| needs[at].iter().filter(|next| circle.contains(next)).map(|&next| path(next));
                found.push(circle.iter().map(|&at| (path(at), inside(at).collect())).collect());
            }
        }
        found
    }
}

/// What can be reached from a node in one step or more.
fn reachable(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = edges[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(&edges[next]);
        }
    }
    seen
}

impl<'a> Module<'a> {
    /// Names behind a word that starts an item, at any depth.
    fn definitions(&self) -> impl Iterator<Item = &'a str> {
        const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules"];
        self.tokens
            .windows(3)
            .filter(|window| ITEMS.contains(&window[0]))
            .map(|window| if window[1] == "!" { window[2] } else { window[1] })
    }

    fn defines(&self, name: &str) -> bool {
        self.definitions().any(|defined| defined == name)
    }

    /// Whether the file says a name outside its `use` declarations.
    fn speaks(&self, name: &str) -> bool {
        let mut in_use = false;
        self.tokens.iter().enumerate().any(|(at, token)| {
            in_use = (in_use && *token != ";") || *token == "use";
            let declares = at > 0 && self.tokens[at - 1] == "mod";
            !in_use && !declares && *token == name
        })
    }
}

struct UsePath<'a> {
    names: Names<'a>,
    alias: &'a str,
    public: bool,
}

/// The paths of all `use` declarations, one for each name.
fn use_paths<'a>(tokens: &[&'a str]) -> Vec<UsePath<'a>> {
    let mut found = Vec::new();
    for declaration in tokens.split(|token| *token == ";") {
        let Some(start) = declaration.iter().rposition(|token| *token == "use") else { continue };
        let public = matches!(declaration[..start].last(), Some(&("pub" | ")")));
        let mut prefixes: Vec<Names<'a>> = vec![Vec::new()];
        let mut current: Names<'a> = Vec::new();
        let mut alias = None;
        let mut close = |current: &mut Names<'a>, alias: &mut Option<&'a str>| {
            if let Some(last) = current.last().copied() {
                let own = if last == "self" { current.iter().rev().nth(1).copied() } else { Some(last) };
                let name = alias.take().or(own).unwrap_or(last);
                let names = current.iter().copied().filter(|name| *name != "*").collect();
                found.push(UsePath { names, alias: name, public });
            }
        };
        let mut words = declaration[start + 1..].iter().copied();
        while let Some(token) = words.next() {
            match token {
                "::" => {}
                "as" => alias = words.next(),
                "{" => prefixes.push(current.clone()),
                "," | "}" => {
                    if current.len() > prefixes.last().map_or(0, Vec::len) {
                        close(&mut current, &mut alias);
                    }
                    if token == "}" {
                        prefixes.pop();
                        current = prefixes.last().cloned().unwrap_or_default();
                    } else {
                        current = prefixes.last().cloned().unwrap_or_default();
                    }
                }
                name => current.push(name),
            }
        }
        if !current.is_empty() {
            close(&mut current, &mut alias);
        }
    }
    found
}

/// Paths of two names or more outside `use` declarations.
fn expression_paths<'a>(tokens: &[&'a str]) -> Vec<Names<'a>> {
    let mut found: Vec<Names<'a>> = Vec::new();
    let mut in_use = false;
    let mut at = 0;
    while at < tokens.len() {
        in_use = (in_use && tokens[at] != ";") || tokens[at] == "use";
        let mut end = at;
        while tokens.get(end + 1) == Some(&"::") && tokens.get(end + 2).is_some_and(|next| is_name(next)) {
            end += 2;
        }
        if end > at && is_name(tokens[at]) && !in_use {
            found.push(tokens[at..=end].iter().copied().filter(|token| *token != "::").collect());
        }
        at = end + 1;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(texts: &[(&str, &str)]) -> Vec<Circle> {
        let file = |(path, text): &(&str, &str)| File { path: format!("a/src/{path}"), text: (*text).to_owned() };
        circles(&texts.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn files_that_need_each_other_are_a_circle() {
        let root = ("lib.rs", "mod b;\nmod c;\npub use b::B;");
        let b = ("b.rs", "use crate::c::C;\npub struct B(C);");
        let c = ("c.rs", "pub struct C;\nimpl C { fn b(&self) -> super::B { todo() } }");
        let found = circles_of(&[root, b, c]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["a/src/b.rs"], ["a/src/c.rs"]);
        assert_eq!(found[0]["a/src/c.rs"], ["a/src/b.rs"]);
        assert!(circles_of(&[root, b, ("c.rs", "pub struct C;")]).is_empty());
    }

    #[test]
    fn passing_on_is_no_need_and_naming_is() {
        let child = ("b/d.rs", "use super::Shared;\npub fn d(_: Shared) {}");
        let facade = ("b/mod.rs", "mod d;\npub use d::d;\npub struct Shared;");
        let root = ("lib.rs", "mod b;");
        assert!(circles_of(&[root, facade, child]).is_empty());
        let caller = ("b/mod.rs", "mod d;\npub struct Shared;\nfn all() { d::d(Shared) }");
        assert_eq!(circles_of(&[root, caller, child]).len(), 1);
    }

    #[test]
    fn too_many_circles_and_too_large_ones_are_problems() {
        let file = |path: String, text: String| File { path, text };
        let ring = |krate: usize, size: usize| {
            let declared: String = (0..size).map(|at| format!("mod m{at};\n")).collect();
            let module = move |at: usize| {
                let text = format!("use crate::m{}::T{};\npub struct T{at};", (at + 1) % size, (at + 1) % size);
                file(format!("c{krate}/src/m{at}.rs"), text)
            };
            let root = file(format!("c{krate}/src/lib.rs"), declared);
            std::iter::once(root).chain((0..size).map(module)).collect::<Vec<_>>()
        };
        let rings = |count: usize, size: usize| (0..count).flat_map(|krate| ring(krate, size)).collect::<Vec<_>>();
        assert!(check(&rings(MOST_CIRCLES, MOST_FILES)).is_empty());
        assert_eq!(check(&rings(MOST_CIRCLES + 1, 2)).len(), 1);
        assert_eq!(check(&rings(1, MOST_FILES + 1)).len(), 1);
    }

    #[test]
    fn a_use_tree_is_read() {
        let tokens = tokens("pub use crate::a::{self, b::{C as D, e}, f::*};");
        let found: Vec<(String, &str)> =
            use_paths(&tokens).iter().map(|path| (path.names.join("::"), path.alias)).collect();
        let wanted = [("crate::a::self", "a"), ("crate::a::b::C", "D"), ("crate::a::b::e", "e"), ("crate::a::f", "*")];
        assert_eq!(found, wanted.map(|(path, alias)| (path.to_owned(), alias)));
    }
}
