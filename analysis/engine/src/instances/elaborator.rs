//! From a file to its instances, with those remembered that an edit does not touch.
//!
//! What a kernel depends on is the text of the functions and classes that were run for it, and the rest of
//! each file without the bodies of other functions. Where that is the same as before, only places move.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;
use rustc_hash::FxHasher;

use super::budget::TextBudget;
use super::moves::{Move, shift};
use super::{ElaboratedInstance, PythonFile};
use base::{Cancel, Cancelled, TextRange};
use gluon::{Config, Entry, FileId, Instance, Memo, Note, Site, Spec, elaborate, entries, instances, stray};
use python::syntax::{Module, Sources};

/// Shadows that are remembered.
const REMEMBERED: usize = 256;

/// All kernels of a file, elaborated.
#[derive(Debug)]
pub struct Elaboration {
    /// The file.
    pub module: Arc<Module>,
    /// Its kernels, in order.
    pub kernels: Vec<KernelInstances>,
    /// What there is to say of the file's directives.
    pub notes: Vec<Note>,
}

impl Elaboration {
    /// Whether a file had a part in any kernel.
    pub fn looks_at(&self, path: &str) -> bool {
        let mut instances = self.kernels.iter().flat_map(|kernel| &kernel.instances);
        instances.any(|elaborated| elaborated.files.iter().any(|file| file == path))
    }
}

/// A kernel with its instances.
#[derive(Debug)]
pub struct KernelInstances {
    /// The kernel.
    pub entry: Entry,
    /// One an instance, in the order of the specialisations.
    pub instances: Vec<Arc<ElaboratedInstance>>,
    /// What there is to say of how the instances came about.
    pub notes: Vec<Note>,
    /// The launches that the host code makes of it.
    pub sites: Vec<Site>,
    /// Functions of the host code that name it and are not followed to a launch.
    pub unfollowed: Vec<String>,
    /// Launches that are known in part, for which no values were found that are not refused.
    pub left_out: usize,
}

/// Makes elaborations of one file, one text after the other.
#[derive(Debug, Default)]
pub struct Elaborator {
    config: Config,
    memo: Memo,
    kept: Vec<Kept>,
    elaborations: u64,
}

/// An elaborated instance that may be used again.
#[derive(Debug)]
struct Kept {
    spec: Spec,
    name: String,
    elaborated: Arc<ElaboratedInstance>,
}

impl Elaborator {
    /// One that remembers nothing yet.
    pub fn new(config: Config) -> Elaborator {
        Elaborator { config, ..Elaborator::default() }
    }

    /// Forgets what it knows: another file has come or gone.
    pub fn forget(&mut self) {
        self.memo = Memo::default();
        self.kept.clear();
    }

    /// How many instances were elaborated rather than remembered.
    pub fn elaborations(&self) -> u64 {
        self.elaborations
    }

    /// Elaborates all kernels of a file.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn elaborate(
        &mut self,
        file: &PythonFile,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<Elaboration, Cancelled> {
        let module = file.module().clone();
        if !file.mentions_kernels() {
            return Ok(Elaboration { module, kernels: Vec::new(), notes: Vec::new() });
        }
        let entries = entries(&module, sources);
        let all = instances(&module, sources, &entries, &self.config, &mut self.memo, cancel)?;
        let notes = stray(&module, &entries);
        let mut kernels = Vec::with_capacity(entries.len());
        let mut text = TextBudget::new();
        for (entry, found) in entries.into_iter().zip(all) {
            let mut instances = Vec::with_capacity(found.list.len());
            for instance in found.list {
                if !text.affords(instances.is_empty()) {
                    let left_out = ElaboratedInstance::left_out(module.clone(), instance, entry.name_range);
                    instances.push(Arc::new(left_out));
                    continue;
                }
                let elaborated = self.elaborated(&module, sources, &entry, instance, cancel)?;
                text.spend(&elaborated);
                instances.push(elaborated);
            }
            let (notes, sites, unfollowed) = (found.notes, found.sites, found.unfollowed);
            let left_out = found.left_out;
            kernels.push(KernelInstances { entry, instances, notes, sites, unfollowed, left_out });
        }
        let dropped = self.kept.len().saturating_sub(REMEMBERED);
        self.kept.drain(..dropped);
        Ok(Elaboration { module, kernels, notes })
    }

    fn elaborated(
        &mut self,
        module: &Arc<Module>,
        sources: &dyn Sources,
        entry: &Entry,
        instance: Instance,
        cancel: &Cancel<'_>,
    ) -> Result<Arc<ElaboratedInstance>, Cancelled> {
        for at in 0..self.kept.len() {
            let Some(kept) = self.kept.get(at).filter(|kept| kept.name == entry.name) else { continue };
            let Some(moved) = moved(kept, &instance.spec, module, sources) else { continue };
            let mut kept = self.kept.remove(at);
            if let Some(moves) = moved {
                kept.elaborated = Arc::new(kept.elaborated.moved(module, instance.clone(), entry.name_range, &moves));
            } else if kept.elaborated.instance != instance {
                kept.elaborated = Arc::new(kept.elaborated.moved(module, instance.clone(), entry.name_range, &[]));
            }
            kept.spec = instance.spec;
            let elaborated = kept.elaborated.clone();
            self.kept.push(kept);
            return Ok(elaborated);
        }
        let elaborated = elaborate(module, sources, &instance.spec, cancel)?;
        self.elaborations += 1;
        let spec = instance.spec.clone();
        let elaborated =
            Arc::new(ElaboratedInstance::new(module.clone(), sources, instance, entry.name_range, elaborated));
        self.kept.push(Kept { spec, name: entry.name.clone(), elaborated: elaborated.clone() });
        Ok(elaborated)
    }
}

/// Whether an elaborated instance still is that of `spec`: `Some(None)` where nothing has changed, `Some(moves)` where only
/// places have.
#[allow(clippy::option_option, reason = "no, yes as it is, yes with moves")]
fn moved(kept: &Kept, spec: &Spec, module: &Arc<Module>, sources: &dyn Sources) -> Option<Option<Vec<Move>>> {
    let elaborated = &kept.elaborated;
    for (path, before) in elaborated.files.iter().zip(&elaborated.modules).skip(1) {
        let now = sources.file(module.path(), path);
        let same = match (before, &now) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now) || before.source() == now.source(),
            (before, now) => before.is_none() && now.is_none(),
        };
        if !same {
            return None;
        }
    }
    let before = &elaborated.module;
    if Arc::ptr_eq(before, module) || before.source() == module.source() {
        // Other statements may be broken now, with the same text.
        return (kept.spec == *spec).then(|| (before.text() != module.text()).then(Vec::new));
    }
    let (old, new) = (before.body(), module.body());
    if old.len() != new.len() {
        return None;
    }
    let mut moves = Vec::with_capacity(old.len());
    for (old, new) in old.iter().zip(new) {
        let (was, is) = (range(old), range(new));
        let own = elaborated.touched.iter().filter(|(file, _)| *file == FileId(0));
        let ran = own.map(|(_, range)| *range).chain([elaborated.name]).any(|touched| was.contains(touched));
        let same = if ran {
            before.slice(was) == module.slice(is)
        } else {
            before.slice(was) == module.slice(is) || skeleton(before, old) == skeleton(module, new)
        };
        if !same {
            return None;
        }
        moves.push((was, i64::from(is.start) - i64::from(was.start)));
    }
    let def = shift(&moves, kept.spec.def);
    let host = kept.spec.host.as_ref().map(|host| match &host.file {
        None => shift(&moves, host.def),
        Some(_) => host.def,
    });
    let mut then = kept.spec.clone();
    then.def = def;
    if let (Some(host), Some(def)) = (&mut then.host, host) {
        host.def = def;
    }
    (then == *spec).then_some(Some(moves))
}

fn range(node: &impl Ranged) -> TextRange {
    let range = node.range();
    TextRange::new(range.start().to_u32(), range.end().to_u32())
}

/// What of a statement matters when no function in it is called: all but the bodies of functions.
fn skeleton(module: &Module, statement: &Stmt) -> u64 {
    let mut bodies = Vec::new();
    collect(statement, &mut bodies);
    let whole = range(statement);
    let mut hasher = FxHasher::default();
    let mut from = whole.start;
    for body in bodies {
        module.slice(TextRange::new(from, body.start)).trim().hash(&mut hasher);
        from = body.end;
    }
    module.slice(TextRange::new(from, whole.end)).trim().hash(&mut hasher);
    hasher.finish()
}

fn collect(statement: &Stmt, bodies: &mut Vec<TextRange>) {
    match statement {
        Stmt::FunctionDef(def) => {
            if let (Some(first), Some(last)) = (def.body.first(), def.body.last()) {
                bodies.push(range(first).cover(range(last)));
            }
        }
        Stmt::ClassDef(class) => class.body.iter().for_each(|inner| collect(inner, bodies)),
        _ => {}
    }
}
