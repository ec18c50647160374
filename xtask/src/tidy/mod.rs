//! What must not be in the tree, read from the text of the files.
//!
//! Each check is a function from the tree to problems. They read text, not syntax: a rule that
//! needs more than lines belongs to clippy. What they miss: code that a macro makes.

mod circles;
mod docs;
mod links;
mod manifests;
mod names;
mod pages;
mod paths;
mod sizes;
mod targets;
mod tokens;
mod tree;
mod words;

use std::path::Path;

pub use circles::Circle;
pub use tree::BrokenRule;

/// All problems of the tree at `root`, by path and line.
pub fn run(root: &Path) -> Vec<BrokenRule> {
    let files = tree::read(root);
    let mut problems = Vec::new();
    problems.extend(circles::check(&files));
    problems.extend(docs::check(&files));
    problems.extend(links::check(root, &files));
    problems.extend(manifests::check(&files));
    problems.extend(names::check(&files));
    problems.extend(pages::check(&files));
    problems.extend(paths::check(root, &files));
    problems.extend(sizes::check(&files));
    problems.extend(targets::check(&files));
    problems.extend(words::check(&files));
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    problems
}

/// Files that need each other, by crate: the largest circle first.
pub fn circles(root: &Path) -> Vec<Circle> {
    circles::circles(&tree::read(root))
}
