//! What a kernel is analysed with: what is known of each parameter, the surest source first.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::limits::search::STEPS_OF_ONE;

use super::asked::Recorder;
use super::directive::{self, Directive, directives};
use super::discover::Found;
use super::entries::{Param, entries_of};
use super::fill::Filler;
use super::given::{plain, plain_given};
use super::instance::{Base, FileKernels, Instance, Instances, SpecNote, SpecNoteKind, excludes};
use super::launch_site::LaunchSite;
use super::memo::{self, Filled, Memo};
use super::search::{self, ctas_meant, steps_of_each};
use super::spec_builder::{FileFlow, SpecBuilder};
use super::survey::{Func, Survey};
use super::unread::{self, unread};
use super::{Config, Entry, Given, ParamUse, Spec, Target, ValueSource};
use super::{ways, words};
use base::workers::{self, OneByOne, Workers};
use base::{Cancel, Cancelled, TextRange};
use python::elaborated::Attempt;
use python::specialization::{Language, LaunchFacts};
use python::syntax::{Module, Sources};
use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

/// The kernels of a file, each with its instances.
///
/// # Errors
///
/// When `cancel` says so.
pub fn kernels(
    module: &Arc<Module>,
    sources: &dyn Sources,
    config: &Config,
    memo: &mut Memo,
    cancel: &Cancel<'_>,
) -> Result<FileKernels, Cancelled> {
    kernels_telling(module, sources, config, memo, &OneByOne, cancel, &mut |_, _, _| Ok(()))
}

/// Is told of one instance of each kernel before all are searched for: the kernel's number in the file, it, and the
/// instance, which may lack what tells it from others.
pub type FirstInstance<'a> = dyn FnMut(usize, &Entry, Instance) -> Result<(), Cancelled> + Send + 'a;

/// The same, by `workers`; `first` is told of one instance a kernel as soon as there is one, but not where nothing but
/// comments and blank space differs from the last text.
///
/// # Errors
///
/// When `cancel` says so, or `first`.
pub fn kernels_telling(
    module: &Arc<Module>,
    sources: &dyn Sources,
    config: &Config,
    memo: &mut Memo,
    workers: &dyn Workers,
    cancel: &Cancel<'_>,
    first: &mut FirstInstance<'_>,
) -> Result<FileKernels, Cancelled> {
    if let Some(known) = memo.whole(module, sources, config) {
        return Ok(known);
    }
    let recorder = Recorder::new(sources, module.path());
    let found = found_anew(module, &recorder, config, memo, workers, cancel, first)?;
    // A file that was no longer waited for counts as missing: nothing made without it is kept.
    cancel.check()?;
    memo.keep_whole(module, recorder, config, &found);
    Ok(found)
}

fn found_anew(
    module: &Arc<Module>,
    sources: &dyn Sources,
    config: &Config,
    memo: &mut Memo,
    workers: &dyn Workers,
    cancel: &Cancel<'_>,
    first: &mut FirstInstance<'_>,
) -> Result<FileKernels, Cancelled> {
    let survey = Survey::of(module, sources);
    let (mut entries, unlaunchable) = entries_of(module, &survey);
    let unlaunchable = unread::directed(module, &mut entries, unlaunchable);
    let file = FileFlow::new(module, sources, &survey, workers, steps_of_each(entries.len()));
    let mut told = vec![false; entries.len()];
    // Host code may take long: what it launches first is told of before the rest of it is run.
    let mut early = |number: usize, base: &Base| {
        let (Some(entry), Some(told)) = (entries.get(number), told.get_mut(number)) else { return };
        let found = Found { launches: vec![base.clone()], ..Found::default() };
        let mut known = KnownLaunches::new(&file, entry, config, found, &Memo::default(), cancel);
        // Whoever gives up says so again to who asks next.
        if let Ok(Some(instance)) = known.first() {
            *told = first(number, entry, instance).is_ok();
        }
    };
    let found = memo::launches(module, sources, &survey, &entries, (config, memo, workers), cancel, &mut early)?;
    let mut launches = Vec::with_capacity(entries.len());
    for (number, (entry, found)) in entries.iter().zip(found).enumerate() {
        cancel.check()?;
        let mut known = KnownLaunches::new(&file, entry, config, found, memo, cancel);
        if told.get(number) != Some(&true)
            && let Some(instance) = known.first()?
        {
            first(number, entry, instance)?;
        }
        launches.push(known);
    }
    let mut all = Vec::with_capacity(entries.len());
    for made in workers::map(workers, launches, KnownLaunches::instances) {
        let (instances, searched) = made?;
        searched.into_iter().for_each(|(key, filled)| memo.keep(key, &filled));
        all.push(instances);
    }
    let mut stray = stray(module, &entries);
    stray.extend(unread(module, &survey, &entries, unlaunchable));
    Ok(FileKernels { kernels: entries.into_iter().zip(all).collect(), stray })
}

/// Lines of directives that stand above none of `entries`.
fn stray(module: &Module, entries: &[Entry]) -> Vec<SpecNote> {
    let used: Vec<TextRange> =
        entries.iter().flat_map(|entry| directives(module, entry.range)).map(|line| line.range).collect();
    let all = directive::all(module.text());
    let stray = all.into_iter().filter(|range| !used.contains(range)).map(|range| SpecNote {
        range,
        message: "this line stands above no kernel, so nothing is analysed with it".to_owned(),
        kind: SpecNoteKind::Directive,
    });
    stray.collect()
}

/// What is known of the launches of a kernel, before values are found for what is not.
struct KnownLaunches<'f> {
    file: &'f FileFlow<'f>,
    cancel: &'f Cancel<'f>,
    entry: &'f Entry,
    builder: SpecBuilder<'f>,
    bases: Vec<Base>,
    notes: Vec<SpecNote>,
    sites: Vec<LaunchSite>,
    /// What launches beside those have in common, by what they give the kernel.
    more: Vec<LaunchSite>,
    unfollowed: Vec<String>,
    open: OpenValues<'f>,
}

/// What refuses configurations that the autotuner leaves out.
const ASSERTION: &str = "static_assert";

/// Where the values come from that no launch gives.
enum OpenValues<'f> {
    /// There are none; what is tried all the same is kept under the key if there is one.
    None(Option<u64>),
    /// They were found before.
    Remembered(Filled),
    /// They are searched for, and kept under the key if there is one.
    Sought(Box<Filler<'f>>, Option<u64>),
}

impl<'f> KnownLaunches<'f> {
    fn new(
        file: &'f FileFlow<'f>,
        entry: &'f Entry,
        config: &'f Config,
        found: Found,
        memo: &Memo,
        cancel: &'f Cancel<'f>,
    ) -> KnownLaunches<'f> {
        let (module, survey) = (file.module, file.survey);
        let said = |message| SpecNote { range: entry.name_range, message, kind: SpecNoteKind::Assumed };
        let mut notes: Vec<SpecNote> = found.notes.into_iter().map(said).collect();
        let mut bases = if found.launches.is_empty() { vec![Base::default()] } else { found.launches };
        compiled(module, entry, config, &mut bases);
        for (name, given) in &entry.signature {
            let open = bases.iter_mut().filter(|base| !base.has(name) && !base.holds(name));
            open.for_each(|base| base.give(name, given.clone(), ValueSource::Cache));
        }
        let lines = directives(module, entry.range);
        for line in &lines {
            let errors = line.errors.iter().cloned().chain(unknown_names(survey, entry, line));
            notes.extend(errors.map(|(range, message)| SpecNote { range, message, kind: SpecNoteKind::Directive }));
        }
        if !lines.is_empty() {
            let with = lines.iter().flat_map(|line| bases.iter().map(move |base| directed(survey, entry, base, line)));
            bases = distinct(with.collect());
        }
        for (name, value) in &config.set {
            let Ok(given) = directive::given(value) else { continue };
            let number = value.parse().ok().map(|number: u32| (number, ValueSource::Command));
            match name.as_str() {
                "num_warps" => bases.iter_mut().for_each(|base| base.num_warps = number.or(base.num_warps)),
                "num_ctas" => bases.iter_mut().for_each(|base| base.num_ctas = number.or(base.num_ctas)),
                _ => {}
            }
            if entry.params.iter().any(|param| param.name == *name) {
                bases.iter_mut().for_each(|base| base.give(name, given.clone(), ValueSource::Command));
            }
        }
        let bases = distinct(bases);
        let builder = SpecBuilder::new(file, entry, config, &bases);
        let lacks = |base: &Base| entry.params.iter().any(|param| base.lacks(param));
        let is_open = bases.iter().any(lacks);
        let is_tried = is_open || bases.iter().any(|base| base.tuned || is_unclustered(entry, base));
        let key = if is_tried { key(file, entry, config, &bases, builder.chosen) } else { None };
        let open = match key.and_then(|key| memo.filled(key)) {
            Some(known) => OpenValues::Remembered(known),
            None if is_open => OpenValues::Sought(Box::new(Filler::new(file, entry, config, builder, cancel)), key),
            None => OpenValues::None(key),
        };
        let Found { sites, more, unfollowed, .. } = found;
        KnownLaunches { file, cancel, entry, builder, bases, notes, sites, more, unfollowed, open }
    }

    /// One instance, which costs little to find; `None` where there is none that is not refused.
    fn first(&mut self) -> Result<Option<Instance>, Cancelled> {
        let base = match &mut self.open {
            OpenValues::None(_) => match self.bases.first().cloned() {
                Some(base) => Some(self.clustered(base)?),
                None => None,
            },
            OpenValues::Remembered((bases, ..)) => bases.first().cloned(),
            OpenValues::Sought(filler, _) => match self.bases.first() {
                Some(base) => filler.first(base.clone())?,
                None => None,
            },
        };
        let spec = base.map(|base| self.builder.spec(&base));
        Ok(spec.and_then(|spec| words::instances(self.entry, vec![spec]).pop()))
    }

    /// With as many CTAs as its layouts are for, where nobody says how many there are.
    fn clustered(&self, mut base: Base) -> Result<Base, Cancelled> {
        if !is_unclustered(self.entry, &base) {
            return Ok(base);
        }
        let attempt = self.attempt(&base, None)?;
        let meant = ctas_meant(self.entry, &base, &attempt).map(|ctas| (ctas, ValueSource::Chosen));
        base.num_ctas = meant.or(base.num_ctas);
        Ok(base)
    }

    /// Runs the kernel's body, up to `end` if there is one.
    fn attempt(&self, base: &Base, end: Option<u32>) -> Result<Attempt, Cancelled> {
        attempt(self.file, &self.builder.spec(base), end, self.cancel)
    }

    /// Without configurations for which a static assertion fails: Triton's autotuner leaves those out.
    fn tunable(&self, bases: Vec<Base>) -> Result<Vec<Base>, Cancelled> {
        let asserts = |func: &Func<'_>| func.mentions.contains(ASSERTION);
        if bases.iter().filter(|base| base.tuned).count() < 2 || !self.file.survey.functions.iter().any(asserts) {
            return Ok(bases);
        }
        let end = self.end_of_assertions();
        let fits = |base: &Base| {
            let mut problems = if base.tuned { self.attempt(base, end)?.problems } else { Vec::new() }.into_iter();
            Ok(!problems.any(|problem| problem.message.starts_with("the static assertion fails")))
        };
        let fit = workers::map(self.file.workers, bases.iter().collect(), fits);
        let fit = fit.into_iter().collect::<Result<Vec<bool>, Cancelled>>()?;
        let kept: Vec<Base> = bases.iter().zip(fit).filter(|(_, fits)| *fits).map(|(base, _)| base.clone()).collect();
        Ok(if kept.is_empty() { bases } else { kept })
    }

    /// Where the last statement of the kernel ends that asserts something, where nothing that it calls does.
    fn end_of_assertions(&self) -> Option<u32> {
        let is_handed = |param: &Param| matches!(param.used, ParamUse::Callable | ParamUse::Object);
        if self.entry.params.iter().any(is_handed) || self.file.calls().calls_mention(self.entry.def, ASSERTION) {
            return None;
        }
        let kernel = self.file.survey.functions.iter().find(|func| func.start() == self.entry.def)?;
        let text = |range: ruff_text_size::TextRange| self.file.module.source().get(range.to_std_range());
        let asserts = |stmt: &&Stmt| text(stmt.range()).is_some_and(|text| text.contains(ASSERTION));
        Some(kernel.def.body.iter().rfind(asserts).map_or(0, |last| last.end().into()))
    }

    /// All instances; and what was searched for them, with the key that it is kept under.
    fn instances(mut self) -> Result<(Instances, Option<(u64, Filled)>), Cancelled> {
        if matches!(self.open, OpenValues::None(_)) {
            let bases = std::mem::take(&mut self.bases);
            let bases = bases.into_iter().map(|base| self.clustered(base)).collect::<Result<Vec<Base>, Cancelled>>()?;
            self.bases = self.tunable(bases)?;
        }
        let (entry, mut notes, mut searched) = (self.entry, self.notes, None);
        let (mut bases, said, mut left_out) = match self.open {
            OpenValues::None(key) => {
                let filled = (self.bases, Vec::new(), 0);
                searched = key.map(|key| (key, filled.clone()));
                filled
            }
            OpenValues::Remembered(known) => known,
            OpenValues::Sought(mut filler, key) => {
                let filled = filler.fill(self.bases)?;
                searched = key.map(|key| (key, filled.clone()));
                filled
            }
        };
        notes.extend(said.into_iter().map(|message| SpecNote {
            range: entry.name_range,
            message,
            kind: SpecNoteKind::Assumed,
        }));
        for base in &mut bases {
            self.sites.iter().for_each(|site| site.one_type_each(&mut base.arguments));
        }
        let mut bases = distinct(bases);
        let (file, builder, cancel) = (self.file, self.builder, self.cancel);
        let launches = |base: &Base, spec: &Spec| {
            let own = self.sites.iter().chain(&self.more).filter(|site| site.held == base.held);
            own.filter(|site| site.launches(&spec.arguments)).map(|site| site.facts.clone()).collect()
        };
        let accepts =
            |base: &Base| attempt(file, &builder.spec(base), None, cancel).map(|made| search::accepted(&made));
        ways::with_each(&mut bases, &|base| builder.spec(base), &launches, &accepts)?;
        let specs: Vec<Spec> = bases.iter().map(|base| self.builder.spec(base)).collect();
        let held: Vec<(Spec, Vec<(String, u64)>)> =
            specs.iter().cloned().zip(bases.into_iter().map(|base| base.held)).collect();
        let (specs, note) = words::fewer(specs);
        notes.extend(note.map(|message| SpecNote { range: entry.name_range, message, kind: SpecNoteKind::Assumed }));
        let (mut list, sites, unfollowed) = (words::instances(entry, specs), self.sites, self.unfollowed);
        for instance in &mut list {
            let held =
                |site: &&LaunchSite| held.iter().any(|(spec, held)| *spec == instance.spec && *held == site.held);
            let own = sites.iter().filter(held).filter(|site| site.launches(&instance.spec.arguments));
            let mut launches: Vec<LaunchFacts> = own.map(|site| site.facts.clone()).collect();
            launches.dedup();
            // Of those that are not told apart it may be any.
            let more = self.more.iter().filter(held).filter(|site| site.launches(&instance.spec.arguments));
            launches.extend(more.map(|site| site.facts.clone()));
            if let Some(generated) = &entry.generated {
                launches.iter_mut().for_each(|launch| super::generated::complete(launch, generated));
                if launches.is_empty() {
                    launches.push(generated.clone());
                }
            }
            instance.launches = launches.into();
        }
        left_out += without_excluded(&mut list);
        Ok((Instances { list, notes, sites, unfollowed, left_out }, searched))
    }
}

/// Runs the body of a kernel, up to `end` if there is one.
fn attempt(file: &FileFlow<'_>, spec: &Spec, end: Option<u32>, cancel: &Cancel<'_>) -> Result<Attempt, Cancelled> {
    python::eval::attempt(file.module, file.sources, gluon::library(), spec, (STEPS_OF_ONE, end), cancel)
}

/// Takes each launch from the instances whose arguments it excludes, but for those that would have none: its grid is known
/// there. How many launches no instance has then: values that were chosen exclude them.
fn without_excluded(list: &mut [Instance]) -> usize {
    let mut gone: Vec<LaunchFacts> = Vec::new();
    for instance in list.iter_mut() {
        let fits = |launch: &&LaunchFacts| !excludes(launch, &instance.spec.arguments);
        let kept: Vec<LaunchFacts> = instance.launches.iter().filter(fits).cloned().collect();
        if kept.is_empty() || kept.len() == instance.launches.len() {
            continue;
        }
        for launch in instance.launches.iter().filter(|launch| !fits(launch)) {
            if !gone.contains(launch) {
                gone.push(launch.clone());
            }
        }
        instance.launches = kept.into();
    }
    gone.retain(|launch| !list.iter().any(|instance| instance.launches.contains(launch)));
    gone.len()
}

/// Whether nobody says how many CTAs a kernel has.
fn is_unclustered(entry: &Entry, base: &Base) -> bool {
    base.num_ctas.is_none() && !base.is_launched() && entry.language == Language::Gluon
}

/// What the values that are found for a kernel depend on; `None` where that cannot be told by its text: places of
/// functions around it.
fn key(file: &FileFlow<'_>, entry: &Entry, config: &Config, bases: &[Base], target: Option<Target>) -> Option<u64> {
    let called = |param: &Param| {
        matches!(param.used, ParamUse::Callable | ParamUse::Object | ParamUse::Layout | ParamUse::Memory)
    };
    if bases.iter().any(|base| base.host.is_some()) {
        return None;
    }
    let mut defs = vec![entry.def];
    if entry.params.iter().any(called) {
        // A class or a function of the file may be chosen.
        defs.extend(file.survey.functions.iter().filter(|func| func.device() || func.method).map(Func::start));
    }
    let mut hasher = FxHasher::default();
    (&entry.name, bases, &config.values, config.target, config.version_of(file.module.source()), target, file.steps)
        .hash(&mut hasher);
    file.calls().fingerprint(&defs).hash(&mut hasher);
    Some(hasher.finish())
}

/// Overlays what was compiled before: types and settings of a kernel whose `def` is in this line.
fn compiled(module: &Module, entry: &Entry, config: &Config, bases: &mut Vec<Base>) {
    let before = module.source().get(..entry.name_range.start as usize).unwrap_or("");
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1;
    let first = line
        - module
            .slice(entry.range)
            .get(..(entry.name_range.start - entry.def) as usize)
            .map_or(0, |text| text.bytes().filter(|byte| *byte == b'\n').count() as u32);
    let here = config
        .recipes
        .iter()
        .filter(|recipe| (first..=line).contains(&recipe.line) && same_file(&recipe.file, module.path()));
    for recipe in here {
        let agrees = |base: &Base| {
            recipe.types.iter().all(|(name, ty)| {
                let argument = base.arguments.iter().find(|argument| argument.name == *name);
                argument.is_none_or(|argument| matches!(&argument.given, Given::Type(own) if plain(own) == *ty))
            })
        };
        let at = bases.iter().position(agrees).unwrap_or_else(|| {
            bases.push(bases.first().cloned().unwrap_or_default());
            bases.len() - 1
        });
        let base = &mut bases[at];
        for (name, ty) in &recipe.types {
            let known =
                base.arguments.iter().any(|argument| argument.name == *name && plain_given(&argument.given) == *ty);
            if !known {
                base.give(name, Given::Type(ty.clone()), ValueSource::Cache);
            }
        }
        base.target = recipe.target.map(|target| (target, ValueSource::Cache)).or(base.target);
        base.num_warps = recipe.num_warps.map(|warps| (warps, ValueSource::Cache)).or(base.num_warps);
        base.num_ctas = recipe.num_ctas.map(|ctas| (ctas, ValueSource::Cache)).or(base.num_ctas);
    }
}

/// Whether two spellings can be of one file: one ends in the other.
fn same_file(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']) || short.starts_with('/'))
    };
    ends(a, b) || ends(b, a)
}

/// Names of a directive that no parameter has.
fn unknown_names(survey: &Survey<'_>, entry: &Entry, line: &Directive) -> Vec<(TextRange, String)> {
    let around = host_params(survey, entry);
    let unknown = line
        .values
        .iter()
        .filter(|(name, ..)| !entry.params.iter().any(|param| param.name == *name) && !around.contains(&name.as_str()));
    let said = unknown.map(|(name, _, range)| {
        let known = entry.params.iter().map(|param| param.name.as_str());
        let near = ttgir::nearest(name, known.chain(["num_warps", "num_ctas", "target", "triton"]));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        (*range, format!("`{}` has no parameter `{name}`{hint}", entry.name))
    });
    said.collect()
}

/// Parameters of the function around a nested kernel.
fn host_params<'m>(survey: &Survey<'m>, entry: &Entry) -> Vec<&'m str> {
    let kernel = survey.functions.iter().find(|func| func.start() == entry.def);
    let outermost = kernel.and_then(|func| survey.functions.get(*func.inside.first()?));
    let params = outermost.into_iter().flat_map(|func| func.def.parameters.iter_non_variadic_params());
    params.map(|param| param.name().as_str()).collect()
}

/// A way to launch it as a directive wants it.
fn directed(survey: &Survey<'_>, entry: &Entry, base: &Base, line: &Directive) -> Base {
    let mut base = base.clone();
    let around = host_params(survey, entry);
    for (name, given, _) in &line.values {
        let param = entry.params.iter().find(|param| param.name == *name);
        if param.is_some() {
            base.give(name, directive::fitting(param, given.clone()), ValueSource::Directive);
        }
        if let (Given::Value(value), Some(host)) = (given, &mut base.host)
            && around.contains(&name.as_str())
        {
            host.arguments.retain(|(known, _)| known != name);
            host.arguments.push((name.clone(), value.clone()));
        }
    }
    base.target = line.target.map(|target| (target, ValueSource::Directive)).or(base.target);
    base.version = line.version.or(base.version);
    base.num_warps = line.num_warps.map(|warps| (warps, ValueSource::Directive)).or(base.num_warps);
    base.num_ctas = line.num_ctas.map(|ctas| (ctas, ValueSource::Directive)).or(base.num_ctas);
    base
}

fn distinct(bases: Vec<Base>) -> Vec<Base> {
    let mut out: Vec<Base> = Vec::with_capacity(bases.len());
    for base in bases {
        if !out.contains(&base) {
            out.push(base);
        }
    }
    out
}
