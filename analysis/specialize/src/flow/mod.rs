//! What flows where in a kernel and its helpers, by their text: which parameters a place depends on, what is
//! done with the value of each, and which constants it is compared with.
//!
//! A node is a variable of a function, or a field by its name. Calls are matched by the callee's last name,
//! methods and constructors too, also where these stand in other files. That is too much where two things
//! share a name, which costs a search some attempts and nothing else: what is chosen is tried before it is used.

mod build;
mod calls;
mod classes;
mod constant;
mod devices;
mod fingerprint;
mod graph;
mod literals;

pub(super) use calls::chooses_rows;
pub(super) use devices::target;
pub(super) use graph::{Facts, Flow, Traits};

use std::sync::Arc;

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Stmt, StmtImportFrom};

use crate::limits::flow::FILES;
use python::syntax::{Module, Sources};

/// The flow in a file and in those that it imports.
pub(super) fn of(module: &Arc<Module>, sources: &dyn Sources) -> Flow {
    let mut flow = connected(module, sources, false);
    flow.handed = classes::of(module, sources);
    flow
}

/// The functions alone of a file and of those that it imports: which they call, and what for.
pub(super) fn calls(module: &Arc<Module>, sources: &dyn Sources) -> Flow {
    connected(module, sources, true)
}

fn connected(module: &Arc<Module>, sources: &dyn Sources, calls_alone: bool) -> Flow {
    let (files, mut flow) = (files(module, sources), Flow::default());
    flow.calls_alone = calls_alone;
    flow.modules.clone_from(&files);
    for (at, file) in files.iter().enumerate() {
        build::declare(&mut flow, at as u32, file);
    }
    for (at, file) in files.iter().enumerate() {
        build::connect(&mut flow, at as u32, file);
    }
    flow
}

/// The file, and what it imports from the workspace, nearest first.
fn files(module: &Arc<Module>, sources: &dyn Sources) -> Vec<Arc<Module>> {
    let mut files = vec![module.clone()];
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        next += 1;
        let mut imports = Imports::default();
        file.body().iter().for_each(|stmt| imports.visit_stmt(stmt));
        for name in imports.found {
            if files.len() > FILES {
                return files;
            }
            if name.split('.').next() == Some("triton") {
                continue;
            }
            if let Some(other) = sources.import(file.path(), &name)
                && !files.iter().any(|known| known.path() == other.path())
            {
                files.push(other);
            }
        }
    }
    files
}

/// Names of modules that a file takes something from.
#[derive(Default)]
struct Imports {
    found: Vec<String>,
}

impl Imports {
    fn from(&mut self, import: &StmtImportFrom) {
        let base = import.module.as_ref().map_or("", |name| name.as_str());
        let name = format!("{}{base}", ".".repeat(import.level as usize));
        let dot = if name.ends_with('.') || name.is_empty() { "" } else { "." };
        self.found.extend(import.names.iter().map(|alias| format!("{name}{dot}{}", alias.name.as_str())));
        self.found.push(name);
    }
}

impl<'m> Visitor<'m> for Imports {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        match stmt {
            Stmt::Import(import) => self.found.extend(import.names.iter().map(|alias| alias.name.to_string())),
            Stmt::ImportFrom(import) => self.from(import),
            Stmt::Assign(assign) => self.found.extend(classes::imported(&assign.value)),
            _ => walk_stmt(self, stmt),
        }
    }
}
