//! From a file to its instances, with those remembered that an edit does not touch.
//!
//! What a kernel depends on is the text of the functions and classes that were run for it, of its own file the
//! statements that were run or bind a name that was asked for, and the whole of other files. Where that is the same as
//! before, only places move.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::TextBudget;
use super::outline::{Comparison, Outline, Since};
use super::{ElaboratedInstance, PythonFile};
use crate::limits::memo::{EARLIER_INSTANCES as EARLIER, EARLIER_TEXT};
use base::workers::{self, SharedWorkers};
use base::{Cancel, Cancelled};
use gluon::elaborate;
use python::syntax::{Module, Sources};
use specialize::{Config, Entry, Instance, Instances, LaunchSite, Memo, SpecNote};

/// Instances that are elaborated at once, before it is looked at what they took of the file's budget.
const BATCH: usize = 16;

/// All kernels of a file, elaborated.
#[derive(Debug)]
pub struct Elaboration {
    /// The file.
    pub module: Arc<Module>,
    pub(super) outline: Arc<Outline>,
    /// Its kernels, in order.
    pub kernels: Vec<KernelInstances>,
    /// What there is to say of the file's directives.
    pub notes: Vec<SpecNote>,
}

impl Elaboration {
    /// Whether a file had a part in any kernel.
    pub fn looks_at(&self, path: &str) -> bool {
        let mut instances = self.kernels.iter().flat_map(|kernel| &kernel.instances);
        instances.any(|elaborated| elaborated.files().iter().any(|file| file == path))
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
    pub notes: Vec<SpecNote>,
    /// The launches that the host code makes of it.
    pub sites: Vec<LaunchSite>,
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
    kept: KeptInstances,
    workers: SharedWorkers,
}

/// Instances of earlier texts.
#[derive(Debug, Default)]
struct KeptInstances {
    /// By the name of the kernel, those that were used last behind the others.
    by_kernel: FxHashMap<String, Vec<Arc<ElaboratedInstance>>>,
    elaborations: u64,
}

/// Is told of one instance of each kernel that has changed, before the others are searched for and elaborated: the
/// kernel's number in the file, it, and the instance.
pub type FirstElaborated<'a> = dyn FnMut(usize, &Entry, &Arc<ElaboratedInstance>) -> Result<(), Cancelled> + Send + 'a;

/// A text of the file, and how earlier ones compare with it.
struct Now<'a> {
    module: &'a Arc<Module>,
    since: Since,
    /// Other files, as they are now, by the path that they were asked for with; `None` where there is none.
    files: FxHashMap<String, Option<Arc<Module>>>,
}

impl Now<'_> {
    fn elaborate(
        &self,
        sources: &dyn Sources,
        entry: &Entry,
        instance: &Instance,
        known: &[Arc<ElaboratedInstance>],
        cancel: &Cancel<'_>,
    ) -> Result<ElaboratedInstance, Cancelled> {
        let made = elaborate(self.module, sources, &instance.spec, cancel)?;
        let text = (self.module.clone(), self.since.outline().clone());
        Ok(ElaboratedInstance::new(text, sources, instance.clone(), entry.name_range, made, known))
    }
}

impl Elaborator {
    /// One that remembers nothing yet.
    pub fn new(config: Config) -> Elaborator {
        Elaborator { config, ..Elaborator::default() }
    }

    /// The same, which has `workers` do what does not hang together.
    pub fn with_workers(self, workers: SharedWorkers) -> Elaborator {
        Elaborator { workers, ..self }
    }

    /// Forgets what it knows: another file has come or gone.
    pub fn forget(&mut self) {
        self.memo = Memo::default();
        self.kept.by_kernel.clear();
    }

    /// How many instances were elaborated rather than remembered.
    pub fn elaborations(&self) -> u64 {
        self.kept.elaborations
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
        self.elaborate_telling(file, sources, cancel, &mut |_, _, _| Ok(()))
    }

    /// The same; `first` is told of instances as they come.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so, or `first`.
    pub fn elaborate_telling(
        &mut self,
        file: &PythonFile,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
        first: &mut FirstElaborated<'_>,
    ) -> Result<Elaboration, Cancelled> {
        let module = file.module().clone();
        let outline = Arc::new(Outline::of(&module));
        if !file.mentions_kernels() {
            return Ok(Elaboration { module, outline, kernels: Vec::new(), notes: Vec::new() });
        }
        let mut now = Now { module: &module, since: Since::new(outline.clone()), files: FxHashMap::default() };
        let Elaborator { config, memo, kept, workers } = self;
        let mut tell = |number: usize, entry: &Entry, instance: Instance| {
            if kept.know(&mut now, sources, entry, &instance) {
                return Ok(());
            }
            let elaborated = kept.elaborated(&mut now, sources, entry, instance, None, cancel)?;
            first(number, entry, &elaborated)
        };
        let found = specialize::kernels_telling(&module, sources, config, memo, &**workers, cancel, &mut tell)?;
        let mut text = TextBudget::new();
        let notes = found.stray;
        let mut all: Vec<(usize, Instance)> = Vec::new();
        let mut kernels: Vec<KernelInstances> = Vec::with_capacity(found.kernels.len());
        for (number, (entry, found)) in found.kernels.into_iter().enumerate() {
            let Instances { list, notes, sites, unfollowed, left_out } = found;
            all.extend(list.into_iter().map(|instance| (number, instance)));
            kernels.push(KernelInstances { entry, instances: Vec::new(), notes, sites, unfollowed, left_out });
        }
        let mut rest = all.into_iter();
        loop {
            let batch: Vec<(usize, Instance)> = rest.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            // Another instance of a kernel in which one of them was first is not.
            let mut begun = FxHashSet::default();
            let lacking = batch.iter().map(|(number, instance)| {
                let kernel = kernels.get(*number)?;
                let is_first = begun.insert(*number) && kernel.instances.is_empty();
                let lacks = text.affords(is_first) && !kept.know(&mut now, sources, &kernel.entry, instance);
                lacks.then_some((&kernel.entry, instance))
            });
            let lacking: Vec<_> = lacking.collect();
            let lacks: Vec<bool> = lacking.iter().map(Option::is_some).collect();
            let lacking: Vec<_> = lacking.into_iter().flatten().collect();
            let elaborate = |(entry, instance): (&Entry, &Instance)| {
                now.elaborate(sources, entry, instance, kept.of(entry), cancel)
            };
            let mut made = workers::map(&**workers, lacking, elaborate).into_iter();
            for ((number, instance), lacks) in batch.into_iter().zip(lacks) {
                let made = lacks.then(|| made.next()).flatten().transpose()?;
                let Some(kernel) = kernels.get_mut(number) else { continue };
                if !text.affords(kernel.instances.is_empty()) {
                    let name = kernel.entry.name_range;
                    let left_out = ElaboratedInstance::left_out(module.clone(), outline.clone(), instance, name);
                    kernel.instances.push(Arc::new(left_out));
                    continue;
                }
                let elaborated = kept.elaborated(&mut now, sources, &kernel.entry, instance, made, cancel)?;
                text.spend(&elaborated);
                kernel.instances.push(elaborated);
            }
        }
        kept.forget_earlier(&kernels);
        Ok(Elaboration { module, outline, kernels, notes })
    }
}

impl KeptInstances {
    /// Forgets what earlier texts had and is not likely to come back.
    fn forget_earlier(&mut self, kernels: &[KernelInstances]) {
        let mut used: FxHashMap<&str, usize> = FxHashMap::default();
        for kernel in kernels {
            *used.entry(&kernel.entry.name).or_default() += kernel.instances.len();
        }
        self.by_kernel.retain(|name, kept| {
            let Some(used) = used.get(name.as_str()) else { return false };
            let earlier = kept.iter().rev().skip(*used).take(EARLIER);
            let text = earlier.scan(0, |text, instance| {
                *text += instance.document().text().len();
                Some(*text)
            });
            let most = used + text.take_while(|text| *text <= EARLIER_TEXT).count();
            kept.drain(..kept.len().saturating_sub(most));
            true
        });
    }

    /// Those of a kernel.
    fn of(&self, entry: &Entry) -> &[Arc<ElaboratedInstance>] {
        self.by_kernel.get(&entry.name).map_or(&[], Vec::as_slice)
    }

    /// Whether an instance need not be elaborated.
    fn know(&self, now: &mut Now<'_>, sources: &dyn Sources, entry: &Entry, instance: &Instance) -> bool {
        let mut kept = self.by_kernel.get(&entry.name).into_iter().flatten();
        kept.any(|known| held(known, instance, now, sources).is_some())
    }

    /// An instance in the text of now: one that is remembered, or else `made`, or else one that is elaborated.
    fn elaborated(
        &mut self,
        now: &mut Now<'_>,
        sources: &dyn Sources,
        entry: &Entry,
        instance: Instance,
        made: Option<ElaboratedInstance>,
        cancel: &Cancel<'_>,
    ) -> Result<Arc<ElaboratedInstance>, Cancelled> {
        let kept = self.by_kernel.entry(entry.name.clone()).or_default();
        let known = kept.iter().enumerate().find_map(|(at, known)| Some((at, held(known, &instance, now, sources)?)));
        let elaborated = match known {
            Some((at, Held::AsItIs)) => kept.remove(at),
            Some((at, Held::Moved(by))) => {
                let known = kept.remove(at);
                Arc::new(known.moved(now.module, instance, entry.name_range, &by))
            }
            None => {
                self.elaborations += 1;
                Arc::new(match made {
                    Some(made) => made,
                    None => now.elaborate(sources, entry, &instance, self.of(entry), cancel)?,
                })
            }
        };
        self.by_kernel.entry(entry.name.clone()).or_default().push(elaborated.clone());
        Ok(elaborated)
    }
}

/// How an elaborated instance holds in another text.
enum Held {
    /// Nothing has changed.
    AsItIs,
    /// Only places have.
    Moved(Arc<Comparison>),
}

/// Whether an elaborated instance still is what would be elaborated for `instance`.
fn held(known: &ElaboratedInstance, instance: &Instance, now: &mut Now<'_>, sources: &dyn Sources) -> Option<Held> {
    let module = now.module;
    for (path, before) in known.files().iter().zip(&known.modules).skip(1) {
        if !now.files.contains_key(path) {
            now.files.insert(path.clone(), sources.file(module.path(), path));
        }
        let same = match (before, now.files.get(path).unwrap_or(&None)) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now) || before.source() == now.source(),
            (before, now) => before.is_none() && now.is_none(),
        };
        if !same {
            return None;
        }
    }
    if Arc::ptr_eq(&known.module, module) && known.instance == *instance {
        return Some(Held::AsItIs);
    }
    // What it was elaborated for may stand elsewhere by now.
    let between = now.since.since(known.outline())?;
    let same = known.holds_after(&between) && between.is_same_spec(known.original_spec(), &instance.spec);
    same.then_some(Held::Moved(between))
}
