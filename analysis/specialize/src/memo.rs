//! What running the host code found, kept while neither that code nor a file that it asked for changes.
//!
//! Bodies of kernels are no part of it, and neither is where kernels stand: an edit there runs no host code, even while it
//! does not parse. What a few earlier texts launch is kept too, for edits that are taken back.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::asked::{Asked, Recorder};
use super::directive::MARK;
use super::discover::{self, Found};
use super::follow::FirstLaunch;
use super::instance::{Base, FileKernels};
use super::kept_parts::KeptParts;
use super::outline::{Places, Statement, outline};
use super::survey::Survey;
use super::{Config, Entry, Target};
use crate::limits::memo::{FILLED, LAUNCHES};
use base::workers::Workers;
use base::{Cancel, Cancelled};
use python::host;
use python::syntax::{Module, Shifts, Sources};
use ruff_python_ast::Stmt;

/// What was found out of a file and need not be again while the host code stays the same. The caller keeps
/// one a file from edit to edit.
#[derive(Debug, Default)]
pub struct Memo {
    /// What running host code found, the last one last.
    last: Vec<Last>,
    /// What was found of the last text.
    whole: Option<Whole>,
    /// What was found for kernels to which nobody gives all values, by what that depends on.
    filled: Vec<(u64, Filled)>,
    /// What parts of the host code of the last text came to.
    kept: Option<KeptParts>,
    /// How often host code was run.
    pub runs: u32,
    /// How many parts of it were: functions that one evaluation runs.
    pub parts: u32,
}

/// The kernels of a text.
#[derive(Debug)]
struct Whole {
    module: Arc<Module>,
    config: Config,
    asked: Vec<Asked>,
    found: FileKernels,
}

#[derive(Debug)]
struct Last {
    key: u64,
    asked: Vec<Asked>,
    /// Of each entry, by their names.
    found: Vec<Found>,
    /// Like the key, where it matters in which order statements stand: the whole of the file was run.
    in_order: u64,
    whole: bool,
    /// Places between which nothing was moved: where statements and functions start that Python runs, and where bodies of
    /// kernels end.
    anchors: Vec<u32>,
}

/// Ways to launch a kernel with all values, what is to be said of them, and how many launches were left out.
pub(super) type Filled = (Vec<Base>, Vec<String>, usize);

impl Memo {
    /// What was found before.
    pub(super) fn filled(&self, key: u64) -> Option<Filled> {
        self.filled.iter().find(|(known, _)| *known == key).map(|(_, filled)| filled.clone())
    }

    /// The kernels of a text that differs from the last one in comments and blank space alone.
    pub(super) fn whole(
        &mut self,
        module: &Arc<Module>,
        sources: &dyn Sources,
        config: &Config,
    ) -> Option<FileKernels> {
        let whole = self.whole.as_mut()?;
        let version = |module: &Module| config.version_of(module.source());
        let same = whole.module.path() == module.path()
            && whole.config == *config
            // What was compiled before is found by its line.
            && config.recipes.is_empty()
            && version(&whole.module) == version(module);
        let shifts = Shifts::between(&whole.module, module, MARK).filter(|_| same)?;
        if !whole.asked.iter().all(|asked| asked.holds(sources, module.path())) {
            return None;
        }
        whole.found.shift(&shifts);
        whole.module = module.clone();
        Some(whole.found.clone())
    }

    /// Keeps the kernels of a text, with what other files were asked for.
    pub(super) fn keep_whole(
        &mut self,
        module: &Arc<Module>,
        recorder: Recorder<'_>,
        config: &Config,
        found: &FileKernels,
    ) {
        let (asked, found) = (recorder.asked(), found.clone());
        self.whole = Some(Whole { module: module.clone(), config: config.clone(), asked, found });
    }

    /// Keeps what was found; the oldest go.
    pub(super) fn keep(&mut self, key: u64, filled: &Filled) {
        if self.filled.len() >= FILLED {
            self.filled.remove(0);
        }
        self.filled.push((key, filled.clone()));
    }
}

/// The launches of each entry; `first` is told of the first one of each that is followed whole, where host code is run.
pub(super) fn launches(
    module: &Arc<Module>,
    sources: &dyn Sources,
    survey: &Survey<'_>,
    entries: &[Entry],
    (config, memo, workers): (&Config, &mut Memo, &dyn Workers),
    cancel: &Cancel<'_>,
    first: &mut FirstLaunch<'_>,
) -> Result<Vec<Found>, Cancelled> {
    let outline = outline(module, survey);
    let (key, in_order, anchors) = key(module, &outline, survey, entries, config);
    // Those of one name are told apart by what is around them, which keeps its order.
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|at| &entries[*at].name);
    let put_back = |found: &[Found]| {
        let mut all: Vec<Found> = vec![Found::default(); entries.len()];
        order.iter().zip(found).for_each(|(at, found)| all[*at] = found.clone());
        all
    };
    let others = |asked: &Asked| matches!(asked, Asked::Mentions(_, others) if !others.is_empty());
    let holds = |last: &Last| {
        last.key == key
            && last.anchors.len() == anchors.len()
            && (last.in_order == in_order || !(last.whole || last.asked.iter().any(others)))
            && last.asked.iter().all(|asked| asked.holds(sources, module.path()))
    };
    if let Some(at) = memo.last.iter().rposition(holds) {
        let mut last = memo.last.remove(at);
        moved(&mut last.found, &last.anchors, &anchors);
        let found = put_back(&last.found);
        memo.last.push(Last { anchors, ..last });
        return Ok(found);
    }
    let recorder = Recorder::new(sources, module.path());
    let mut kept = KeptParts::carried(memo.kept.take(), module, outline);
    let tools = (config, workers, &mut kept);
    let found = discover::discover(module, &recorder, survey, entries, tools, cancel, first);
    memo.parts += kept.ran;
    memo.kept = Some(kept.close(found.is_ok()));
    let (found, whole) = found?;
    memo.runs += 1;
    let sorted = order.iter().filter_map(|at| found.get(*at).cloned()).collect();
    if memo.last.len() >= LAUNCHES {
        memo.last.remove(0);
    }
    memo.last.push(Last { key, asked: recorder.asked(), found: sorted, in_order, whole, anchors });
    Ok(found)
}

/// Brings places of the file up to date.
fn moved(found: &mut [Found], before: &[u32], now: &[u32]) {
    let places = Places::between(before.iter().copied().zip(now.iter().copied()));
    let place = |at: u32| places.place(at);
    for site in found.iter_mut().flat_map(|found| found.sites.iter_mut().chain(&mut found.more)) {
        if site.range.is_some() {
            site.moved(place);
        }
    }
    let hosts = found.iter_mut().flat_map(|found| &mut found.launches).filter_map(|base| base.host.as_mut());
    for host in hosts.filter(|host| host.file.is_none() && host.def != host::MODULE) {
        host.def = place(host.def);
    }
}

/// All that running the host code depends on within the file.
///
/// Statements are run as their names are asked for, so it does not matter where a kernel stands, or a class of kernels'
/// functions, while nothing else binds its name and nothing runs the whole file: what does not parse is moved behind the
/// rest. With it come the same for where that matters, and the places between which all of that stays where it is.
fn key(
    module: &Module,
    outline: &[Statement],
    survey: &Survey<'_>,
    entries: &[Entry],
    config: &Config,
) -> (u64, u64, Vec<u32>) {
    let (mut hasher, mut in_order) = (FxHasher::default(), FxHasher::default());
    let (mut anchors, mut movable_anchors) = (Vec::new(), Vec::new());
    let mut anywhere = 0u64;
    for (stmt, outlined) in module.body().iter().zip(outline) {
        let Statement { hash, anchors: own, device, .. } = outlined;
        hash.hash(&mut in_order);
        let movable =
            matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) && *device && module.bindings().alone(stmt);
        if movable {
            anywhere = anywhere.wrapping_add(*hash);
            movable_anchors.push((*hash, own.clone()));
        } else {
            hash.hash(&mut hasher);
            anchors.extend(own);
        }
    }
    // Of two that are one text it does not matter which is which.
    movable_anchors.sort();
    anchors.extend(movable_anchors.into_iter().flat_map(|(_, own)| own));
    anywhere.hash(&mut hasher);
    let mut named: Vec<(&str, Target)> =
        entries.iter().map(|entry| (entry.name.as_str(), super::chosen::target(survey, entry))).collect();
    named.sort_by_key(|(name, _)| *name);
    named.hash(&mut hasher);
    (config.target, config.version).hash(&mut hasher);
    (hasher.finish(), in_order.finish(), anchors)
}
