//! Launches, found by running the host code around a kernel.
//!
//! Functions that mention a kernel, and those that call them, are run up to its launches, with what their
//! tests give them; arguments that nobody gives are not known, and what follows from them is left to the
//! other sources. Each function is run for the first target that its marks allow.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use typed_arena::Arena;

use super::instance::Base;
use super::site::{self, Site};
use super::survey::{Func, Kind, Survey};
use super::{Argument, Config, Entry, Host, Source, Target};
use base::{Cancel, Cancelled};
use python::host::{self, Case, Cases, Launch};
use python::interp::{Interp, Stop};
use python::origin::FileId;
use python::syntax::{Module, Sources};
use python::value::{Function, Value};

/// How many calls of one function are run.
const CASES: usize = 32;

/// How many other files are looked at.
const FILES: usize = 8;

/// How many notes a kernel gets of its launches.
const NOTES: usize = 4;

/// Steps of all host code of one file.
const STEPS: u64 = 400_000;

/// What was found of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub launches: Vec<Base>,
    /// The same launches, whole.
    pub sites: Vec<Site>,
    /// What is to be said: calls that were left out.
    pub notes: Vec<String>,
}

/// A launch with what tells it from others, and its notes.
struct Seen {
    base: Base,
    site: Site,
    /// Values that the kernel takes from the functions around it.
    closure: Vec<(String, String)>,
}

/// What is found of each entry, in their order.
pub(super) fn discover(
    module: &Arc<Module>,
    sources: &dyn Sources,
    survey: &Survey<'_>,
    entries: &[Entry],
    config: &Config,
    cancel: &Cancel<'_>,
) -> Result<Vec<Found>, Cancelled> {
    let mut found: Vec<Vec<Seen>> = entries.iter().map(|_| Vec::new()).collect();
    let mut notes: Vec<Vec<String>> = entries.iter().map(|_| Vec::new()).collect();
    let own = roots(survey, entries.iter().map(|entry| entry.name.as_str()));
    let mut job = Job {
        module,
        sources,
        entries,
        config,
        cancel,
        survey,
        found: &mut found,
        notes: &mut notes,
        left: Vec::new(),
    };
    if !own.is_empty() {
        job.run(None, survey, &own)?;
    }
    // Other files are asked for those kernels that this one does not launch.
    let mut others: Vec<(Arc<Module>, Vec<&str>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if !job.found[at].is_empty() || !entry.inside.is_empty() {
            continue;
        }
        for other in sources.mentions(&entry.name).into_iter().take(FILES) {
            if other.path() == module.path() {
                continue;
            }
            match others.iter_mut().find(|(known, _)| known.path() == other.path()) {
                Some((_, names)) => names.push(&entry.name),
                None => others.push((other, vec![&entry.name])),
            }
        }
    }
    for (other, names) in others.iter().take(FILES) {
        let survey = Survey::of(other);
        let roots = roots(&survey, names.iter().copied());
        if !roots.is_empty() {
            job.run(Some(other), &survey, &roots)?;
        }
    }
    let left: Vec<String> = job.left.into_iter().map(|(_, why)| why).collect();
    let found = found.into_iter().zip(notes).zip(entries).map(|((seen, mut notes), entry)| {
        if seen.is_empty() {
            let most = if entry.launched { left.len() } else { 1 };
            notes.extend(left.iter().take(most).cloned());
        }
        let mut launches: Vec<Seen> = Vec::new();
        let mut sites: Vec<Site> = Vec::new();
        for one in seen {
            if sites.len() < site::MOST && !sites.contains(&one.site) {
                sites.push(one.site.clone());
            }
            let is = |other: &Seen| alike(&one.base, &other.base) && one.closure == other.closure;
            if !launches.iter().any(is) {
                launches.push(one);
            }
        }
        Found { launches: launches.into_iter().map(|seen| seen.base).collect(), sites, notes }
    });
    Ok(found.collect())
}

/// Whether two launches give a kernel the same; which calls led there does not matter.
fn alike(a: &Base, b: &Base) -> bool {
    (&a.arguments, a.target, a.num_warps, a.num_ctas) == (&b.arguments, b.target, b.num_warps, b.num_ctas)
}

/// The host functions by which launches of these names are reached, outermost ones only, by where they start.
fn roots<'n>(survey: &Survey<'_>, names: impl Iterator<Item = &'n str>) -> Vec<u32> {
    let names: FxHashSet<&str> = names.collect();
    let own: Vec<usize> = (0..survey.functions.len()).filter(|&at| is_host(&survey.functions[at])).collect();
    let mentions = |at: usize, name: &str| {
        let inside = survey.functions.iter().filter(|func| func.inside.first() == Some(&at) && func.kind == Kind::Host);
        survey.functions[at].mentions.contains(name) || inside.into_iter().any(|func| func.mentions.contains(name))
    };
    let mut reached: Vec<usize> = Vec::new();
    for &at in &own {
        let nested = survey
            .functions
            .iter()
            .any(|func| func.inside.first() == Some(&at) && func.device() && names.contains(func.def.name.as_str()));
        // The order in which names are asked does not matter.
        #[allow(clippy::iter_over_hash_type)]
        let direct = names.iter().any(|name| mentions(at, name));
        if nested || direct {
            reached.push(at);
        }
    }
    let mut called: FxHashSet<usize> = FxHashSet::default();
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        let name = survey.functions[at].def.name.as_str();
        for &caller in &own {
            if caller != at && mentions(caller, name) {
                called.insert(at);
                if !reached.contains(&caller) {
                    reached.push(caller);
                }
            }
        }
    }
    // Tests first: they say what the others are called with.
    let tests = |at: &usize| survey.functions[*at].def.name.starts_with("test");
    let mut roots: Vec<usize> = reached.iter().copied().filter(|at| tests(at) || !called.contains(at)).collect();
    roots.sort_by_key(|at| (!tests(at), *at));
    if roots.is_empty() {
        roots = reached;
        roots.sort_unstable();
    }
    roots.into_iter().map(|at| survey.functions[at].start()).collect()
}

/// A plain function of the file.
fn is_host(func: &Func<'_>) -> bool {
    func.kind == Kind::Host && !func.method && func.inside.is_empty()
}

struct Job<'j> {
    module: &'j Arc<Module>,
    sources: &'j dyn Sources,
    entries: &'j [Entry],
    config: &'j Config,
    cancel: &'j Cancel<'j>,
    survey: &'j Survey<'j>,
    found: &'j mut Vec<Vec<Seen>>,
    notes: &'j mut Vec<Vec<String>>,
    /// Functions whose calls came to no launch, and why the first of them did not.
    left: Vec<(u32, String)>,
}

impl Job<'_> {
    /// Runs functions of this file or of another one.
    fn run(&mut self, other: Option<&Arc<Module>>, survey: &Survey<'_>, roots: &[u32]) -> Result<(), Cancelled> {
        let mut open = roots.to_vec();
        for target in self.targets(survey) {
            if open.is_empty() {
                break;
            }
            let arena = Arena::new();
            let mut interp =
                Interp::new(&arena, self.sources, crate::builtins::library(), self.cancel, target, self.config.version);
            interp.session = Some(host::Session::default());
            // However else it ends, what was found until then counts.
            if let Err(Stop::Cancelled) = self.with(&mut interp, other, &mut open) {
                return Err(Cancelled);
            }
        }
        Ok(())
    }

    /// The targets to try, the likeliest first.
    fn targets(&self, survey: &Survey<'_>) -> Vec<Target> {
        if let Some(target) = self.config.target {
            return vec![target];
        }
        let amd = [Target::Gfx1250, Target::Gfx950, Target::Gfx942];
        let mentions = |words: &[&str]| {
            survey.functions.iter().any(|func| words.iter().any(|word| func.mentions.contains(word)))
                || words.iter().any(|word| survey.outside.contains(word))
        };
        let chosen = self.entries.iter().map(|entry| super::chosen::target(self.survey, entry));
        let mut targets: Vec<Target> = chosen.collect();
        targets.sort_by_key(|target| amd.iter().position(|one| one == target).map_or(0, |at| at + 1));
        targets.dedup();
        if targets.iter().any(|target| matches!(target, Target::Cuda(_))) {
            // The older one first where both would do, since Hopper's kernels run on both.
            targets.retain(|target| !matches!(target, Target::Cuda(_)));
            targets.splice(0..0, [Target::Cuda(90), Target::Cuda(100)]);
        }
        if mentions(&["is_hip", "is_hip_gfx1250", "is_hip_cdna4", "is_hip_cdna3"]) {
            targets.extend(amd.into_iter().filter(|one| !targets.contains(one)).collect::<Vec<_>>());
        }
        targets
    }

    fn with<'a>(
        &mut self,
        interp: &mut Interp<'a>,
        other: Option<&Arc<Module>>,
        open: &mut Vec<u32>,
    ) -> Result<(), Stop> {
        let first = interp.add_file(self.module.clone());
        interp.run_file(first)?;
        let file = match other {
            None => first,
            Some(other) => {
                let file = interp.add_file(other.clone());
                interp.run_file(file)?;
                file
            }
        };
        let before = std::mem::take(open);
        for def in before {
            interp.cancel.check().map_err(|_| Stop::Cancelled)?;
            if interp.steps > STEPS {
                return Err(Stop::Limit("host code runs for too long".into()));
            }
            let Some(function) = host::function_at(interp, file, def) else { continue };
            let any = self.function(interp, file, &function, def)?;
            if !any {
                open.push(def);
            }
        }
        Ok(())
    }

    /// Runs the calls of a function; whether there was a launch.
    fn function<'a>(
        &mut self,
        interp: &mut Interp<'a>,
        file: FileId,
        function: &std::rc::Rc<Function<'a>>,
        def: u32,
    ) -> Result<bool, Stop> {
        let cases = Cases::of(interp, function)?;
        if cases.skipped {
            return Ok(false);
        }
        let count = cases.count();
        let some = cases.some(CASES);
        let mut any = Vec::new();
        for &at in &some {
            let case = cases.case(at);
            let (launches, why) = host::run(interp, function, case.clone())?;
            if launches.is_empty() && !self.left.iter().any(|(known, _)| *known == def) {
                let why = why.unwrap_or_else(|| "it ends without a launch".into());
                self.left.push((def, format!("`{}` is not followed to a launch: {why}", function.def.name())));
            }
            let mut numbers: Vec<(u32, u32)> = Vec::new();
            for launch in launches {
                if launch.function.scope.file != FileId(0) {
                    continue;
                }
                let kernel = launch.function.def.range().start;
                let Some(entry) = self.entries.iter().position(|entry| entry.def == kernel) else { continue };
                let number = match numbers.iter_mut().find(|(known, _)| *known == kernel) {
                    Some((_, number)) => {
                        *number += 1;
                        *number
                    }
                    None => {
                        numbers.push((kernel, 0));
                        0
                    }
                };
                let host = Host {
                    file: (file != FileId(0)).then(|| interp.files[file.0 as usize].module.path().to_owned()),
                    def,
                    case: Some(at as u32),
                    arguments: shown(interp, &case),
                    launch: number,
                };
                let site = site::of(interp, &self.entries[entry], &launch, file, def);
                let seen = self.seen(interp, entry, &launch, host, site);
                self.found[entry].push(seen);
                any.push(entry);
            }
        }
        any.sort_unstable();
        any.dedup();
        for &entry in any.iter().filter(|_| some.len() < count) {
            let name = function.def.name();
            self.notes[entry]
                .push(format!("of {count} calls that `{name}` is tested with, {} are looked at", some.len()));
        }
        Ok(!any.is_empty())
    }

    fn seen<'a>(&mut self, interp: &Interp<'a>, at: usize, launch: &Launch<'a>, host: Host, site: Site) -> Seen {
        let entry = &self.entries[at];
        let mut expressible = entry.inside.is_empty();
        let mut arguments = Vec::new();
        for param in &entry.params {
            let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
            if let Value::Unknown(why) = value {
                let note = format!("what a launch gives `{}` is not known: {why}", param.name);
                if !self.notes[at].contains(&note) && self.notes[at].len() < NOTES {
                    self.notes[at].push(note);
                }
                continue;
            }
            match host::given(interp, value, param.constexpr, param.specialised) {
                Some(given) => arguments.push(Argument { name: param.name.clone(), given, source: Source::Launch }),
                None => expressible = false,
            }
        }
        let closure = if entry.inside.is_empty() { Vec::new() } else { self.closure(interp, entry, &launch.function) };
        let source = |value: Option<u32>| value.map(|value| (value, Source::Launch));
        let base = Base {
            arguments,
            host: (!expressible).then_some(host),
            target: Some((interp.target, Source::Launch)),
            version: None,
            num_warps: source(launch.num_warps),
            num_ctas: source(launch.num_ctas),
        };
        Seen { base, site, closure }
    }

    /// What a nested kernel takes from the functions around it.
    fn closure<'a>(&self, interp: &Interp<'a>, entry: &Entry, function: &Function<'a>) -> Vec<(String, String)> {
        let at = self.survey.functions.iter().position(|func| func.start() == entry.def);
        let Some(outer) = at.and_then(|at| self.survey.functions[at].inside.first().copied()) else {
            return Vec::new();
        };
        // Other functions beside it may be called by it.
        let beside = self.survey.functions.iter().filter(|func| func.inside.first() == Some(&outer));
        let mut names: Vec<&str> = beside.flat_map(|func| func.mentions.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let mut closure = Vec::new();
        let mut scope = Some(function.scope.clone());
        while let Some(of) = scope {
            if of.parent.is_none() {
                break;
            }
            for name in &names {
                if let Some(value) = of.own(name)
                    && !matches!(value, Value::Function(_) | Value::Host(_) | Value::Unknown(_))
                    && let Some(text) = host::expression(interp, &value)
                {
                    closure.push(((*name).to_owned(), text));
                }
            }
            scope = of.parent.clone();
        }
        closure
    }
}

/// The arguments of a call that can be written down.
fn shown<'a>(interp: &Interp<'a>, case: &Case<'a>) -> Vec<(String, String)> {
    let plain = case.iter().filter(|(name, _)| &**name != "device");
    plain.filter_map(|(name, value)| Some((name.to_string(), host::expression(interp, value)?))).collect()
}
