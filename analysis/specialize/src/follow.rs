//! Runs some functions of host code to their launches, in an evaluation of their own, so that others run at the same time.
//!
//! What comes out does not depend on which others do: each looks at what was known before any of them was run and at
//! what it finds itself. [`super::discover`] puts it together in the order of the functions.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::entries::Param;
use super::given::same_plain;
use super::instance::Base;
use super::launch_site::{self, LaunchSite};
use super::outline::Places;
use super::runs::Runs;
use super::survey::Survey;
use super::{Argument, Config, Entry, Given, Host, Target, ValueSource, chosen, words};
use crate::limits::discover::{CASES, IDLE, ONCE, RUNS, STEPS};
use base::{Cancel, Cancelled, TextRange};
use python::host::{self, Case, Cases, Code, HostLaunch};
use python::interp::{Interp, Stop, Trees};
use python::origin::FileId;
use python::reason::chained;
use python::specialization::Language;
use python::syntax::{Demanded, Module, Sources};
use python::value::{Function, Value};
use rustc_hash::FxHasher;

/// A launch with what tells it from others, and its notes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub base: Base,
    pub site: LaunchSite,
    /// Values that the kernel takes from the functions around it.
    pub closure: Vec<(String, String)>,
    /// The file and the place of its call.
    pub place: (String, TextRange),
    /// Whether there is a parameter of which nothing is known and for which nothing can be chosen.
    pub stuck: bool,
    /// Whether all that it tells is that less need hold for another one that is like it.
    pub relaxes: bool,
    /// Of what the kernel is given.
    hash: u64,
}

impl Seen {
    /// Whether another launch gives the kernel the same.
    pub(super) fn gives_the_same(&self, other: &Seen) -> bool {
        self.hash == other.hash && self.closure == other.closure && alike(&self.base, &other.base)
    }

    /// Whether another launch adds nothing to this one but what host code took to hold on its way there.
    fn is_like(&self, other: &Seen) -> bool {
        self.gives_the_same(other)
            && self.stuck == other.stuck
            && self.place == other.place
            && self.site.is_like(&other.site)
    }

    /// Whether another launch adds nothing to this one.
    pub(super) fn says_as_much_as(&self, other: &Seen) -> bool {
        let held = &other.site.facts.conditions;
        self.is_like(other) && self.site.facts.conditions.iter().all(|of| held.contains(of))
    }

    /// The same in a text of the file of this path in which places stand elsewhere.
    pub(super) fn moved(&mut self, path: &str, places: &Places) {
        if self.place.0 == path {
            self.place.1 = places.range(self.place.1);
        }
        if self.site.range.is_some() {
            self.site.moved(|at| places.place(at));
        }
        if let Some(host) = self.base.host.as_mut().filter(|host| host.file.is_none() && host.def != host::MODULE) {
            host.def = places.place(host.def);
        }
    }

    /// Whether all that the kernel is given is known.
    pub(super) fn is_known(&self) -> bool {
        self.base.partly.is_empty() && self.base.arguments.iter().all(|argument| argument.source == ValueSource::Launch)
    }
}

/// Is told of the first launch of an entry, by its number, that is known in full, while others are looked for.
pub(super) type FirstLaunch<'a> = dyn FnMut(usize, &Base) + Send + 'a;

/// Who is told of first launches, whichever thread finds them.
pub(super) struct FirstLaunches<'a, 'f> {
    tell: Mutex<&'a mut FirstLaunch<'f>>,
    /// Of each entry, whether that was told.
    told: Vec<AtomicBool>,
}

impl<'a, 'f> FirstLaunches<'a, 'f> {
    /// For so many entries.
    pub(super) fn new(entries: usize, tell: &'a mut FirstLaunch<'f>) -> FirstLaunches<'a, 'f> {
        FirstLaunches { tell: Mutex::new(tell), told: (0..entries).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Tells of a launch, unless one was told of the entry, or another is being told: that one may be told by whoever waits
    /// here.
    pub(super) fn tell(&self, entry: usize, base: &Base) {
        let Ok(mut tell) = self.tell.try_lock() else { return };
        if self.told.get(entry).is_some_and(|told| !told.swap(true, Ordering::Relaxed)) {
            tell(entry, base);
        }
    }
}

/// How many parts the functions of a file are run in.
const PARTS: usize = 8;

/// Divides the places of functions into parts, in their order, of which each is run in an evaluation of its own: whatever
/// many threads there are. The statements of a file that are in none, and its main programs, see each other's variables and
/// are one.
pub(super) fn parts(defs: &[u32], programs: &[u32]) -> Vec<Vec<u32>> {
    let size = defs.len().div_ceil(PARTS).max(1);
    let is_program = |def: &u32| programs.contains(def);
    let groups = defs.chunk_by(|one, other| is_program(one) == is_program(other));
    let parts = groups.flat_map(|group| {
        let whole = group.first().is_some_and(is_program);
        group.chunks(if whole { group.len() } else { size })
    });
    parts.map(<[u32]>::to_vec).collect()
}

/// Functions of one file that are run for one target.
pub(super) struct Follower<'t> {
    /// The file of the kernels.
    pub module: &'t Arc<Module>,
    /// The file of the functions, where that is another one.
    pub other: Option<&'t Arc<Module>>,
    pub survey: &'t Survey<'t>,
    pub entries: &'t [Entry],
    pub config: &'t Config,
    pub target: Target,
    pub cancel: &'t Cancel<'t>,
    /// The launches of each entry that are known.
    pub known: &'t [Vec<Seen>],
    /// Entries of which no further launches are looked for.
    pub settled: &'t [bool],
    /// Is told of launches that are known in full, the first of their entries.
    pub first: &'t (dyn Fn(usize, &Base) + Sync + 't),
    /// The steps that each part of the functions has taken by now.
    pub used: &'t [AtomicU64],
    /// Steps of one function, and of those before it in its part what they left.
    pub share: u64,
}

/// What came of some functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    pub roots: Vec<FollowedRoot>,
    /// Steps of all of it, without those of [`Followed::loading`].
    pub steps: u64,
    /// Steps of the statements of files that were run for their names.
    pub loading: u64,
    /// What it depends on of the file's statements; `None` where that cannot be said, or what else was run decided how far
    /// it came.
    pub demanded: Option<Demanded>,
    /// Whether it made launches that were known before any part was run.
    pub met_known: bool,
}

/// What came of a function, or of a file's own statements.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowedRoot {
    /// Where it starts.
    pub def: u32,
    /// Its name; `None` for statements in no function, and where it is skipped.
    pub name: Option<String>,
    /// Steps of the functions before it.
    pub before: u64,
    /// How many calls of it there are, and how many were looked at.
    pub calls: (usize, usize),
    /// Whether there are ways through it that were not followed.
    pub cut: bool,
    /// Whether a limit ended it.
    pub ended: bool,
    pub runs: Vec<Run>,
}

/// A run of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Steps of the functions, and the runs, before it.
    pub before: u64,
    /// Entries that it launched.
    pub launched: Vec<usize>,
    /// Launches that were not known.
    pub seen: Vec<(usize, Arc<Seen>)>,
    /// What is to be said of entries' launches.
    pub notes: Vec<(usize, String)>,
    /// Why it came to no launch, if it did not.
    pub why: Option<String>,
}

/// What a launch gives a parameter, with what Triton's specialisation says of it. Gluon's kernels are analysed with
/// what holds without.
fn aligned(entry: &Entry, param: &Param, given: Given, value: &Value<'_>) -> Given {
    match given {
        Given::Type(ty)
            if entry.language == Language::Triton
                && param.specialised
                && (ty.starts_with('*') || matches!(&*ty, "i32" | "i64" | "u64"))
                && host::is_divisible(value) =>
        {
            Given::Type(format!("{ty}:16"))
        }
        Given::Value(text) if entry.language == Language::Triton => Given::Value(words::of_triton(&text)),
        given => given,
    }
}

/// Whether two launches give a kernel the same, what divides it aside; which calls led there does not matter.
pub(super) fn alike(a: &Base, b: &Base) -> bool {
    let same =
        |(a, b): (&Argument, &Argument)| a.source == b.source && a.name == b.name && same_plain(&a.given, &b.given);
    let arguments = a.arguments.len() == b.arguments.len() && a.arguments.iter().zip(&b.arguments).all(same);
    arguments
        && (&a.partly, &a.held, a.target, a.num_warps, a.num_ctas)
            == (&b.partly, &b.held, b.target, b.num_warps, b.num_ctas)
}

impl Follower<'_> {
    /// Runs the functions at these places, which are that part of all.
    ///
    /// # Errors
    ///
    /// When it is cancelled.
    pub(super) fn follow(&self, sources: &dyn Sources, part: usize, defs: &[u32]) -> Result<Followed, Cancelled> {
        let trees = Trees::default();
        let library = gluon::library();
        let mut interp = Interp::new(&trees, sources, library, self.cancel, self.target, self.config.version);
        interp.session = Some(host::Session::default());
        interp.most_steps = ONCE;
        let mut work = Work {
            follower: self,
            part,
            found: Vec::new(),
            spent: false,
            met_known: false,
            last_new: 0,
            left: 0,
            until: 0,
        };
        work.found.resize_with(self.entries.len(), Vec::new);
        let mut roots = Vec::new();
        // However else it ends, what was found until then counts.
        if let Err(Stop::Cancelled) = work.roots(&mut interp, defs, &mut roots) {
            return Err(Cancelled);
        }
        let steps = interp.own_steps();
        let file = interp.files.first().filter(|_| self.other.is_none() && !work.spent);
        let demanded = file.and_then(|file| file.pending.as_ref()?.demanded());
        Ok(Followed { roots, steps, loading: interp.steps - steps, demanded, met_known: work.met_known })
    }

    fn seen<'a>(
        &self,
        interp: &Interp<'a>,
        at: usize,
        launch: &HostLaunch<'a>,
        (host, mut site): (Host, LaunchSite),
        notes: &mut Vec<(usize, String)>,
    ) -> Seen {
        let entry = &self.entries[at];
        let (mut expressible, mut stuck) = (entry.inside.is_empty(), false);
        let (mut arguments, mut partly, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for param in &entry.params {
            let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
            if let Some(given) = host::given(interp, value, param.constexpr, param.specialised) {
                let is_chosen = host.assumed || launch.chosen || launch.unsure.iter().any(|name| **name == *param.name);
                let source = if is_chosen { ValueSource::Chosen } else { ValueSource::Launch };
                let given = aligned(entry, param, given, value);
                arguments.push(Argument { name: param.name.clone(), given, source });
                continue;
            }
            match host::partly(interp, value) {
                Some(part) => {
                    if let host::Partly::Nothing(why) = &part {
                        let note = chained(&format!("what a launch gives `{}`", param.name), why);
                        notes.push((at, note));
                    }
                    stuck |= matches!(part, host::Partly::Nothing(_))
                        && param.default.is_none()
                        && chosen::choices(self.survey, param).is_empty();
                    partly.push((param.name.clone(), part));
                }
                None => {
                    expressible = false;
                    held.push((param.name.clone(), host::identity(interp, value)));
                }
            }
        }
        let closure = if entry.inside.is_empty() { Vec::new() } else { self.closure(interp, entry, &launch.function) };
        let source = |value: Option<u32>| value.map(|value| (value, ValueSource::Launch));
        let path = interp.files.get(launch.file.0 as usize).map_or("", |file| file.module.path()).to_owned();
        let base = Base {
            arguments,
            formulas: super::formulas::of(&site.facts, &partly, &entry.params),
            partly,
            held,
            host: (!expressible).then_some(host),
            target: Some((interp.target, ValueSource::Launch)),
            version: None,
            num_warps: source(launch.num_warps),
            num_ctas: source(launch.num_ctas),
            tuned: launch.tuned,
        };
        site.given.clone_from(&base.arguments);
        site.held.clone_from(&base.held);
        let mut hasher = FxHasher::default();
        (&base.arguments, &base.partly, &base.held, at).hash(&mut hasher);
        Seen { base, site, closure, place: (path, launch.at), stuck, relaxes: false, hash: hasher.finish() }
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

/// One evaluation, with what it has found.
struct Work<'w, 't> {
    follower: &'w Follower<'t>,
    /// Which part of all functions it runs.
    part: usize,
    /// New launches of each entry.
    found: Vec<Vec<Arc<Seen>>>,
    /// Whether it was not run to its end, for the steps of other parts.
    spent: bool,
    /// See [`Followed::met_known`].
    met_known: bool,
    /// The steps that were taken when a kernel was launched with what it had not been launched with.
    last_new: u64,
    /// Steps that the functions until here could have taken.
    left: u64,
    /// Steps after which the function at hand is followed no further.
    until: u64,
}

impl Work<'_, '_> {
    fn roots(&mut self, interp: &mut Interp<'_>, defs: &[u32], roots: &mut Vec<FollowedRoot>) -> Result<(), Stop> {
        let first = interp.add_file(self.follower.module.clone());
        let file = self.follower.other.map_or(first, |other| interp.add_file(other.clone()));
        // What the file launches by itself is launched while it is run.
        if defs.contains(&host::MODULE) {
            interp.run_file(file)?;
        }
        interp.open_file(first);
        interp.open_file(file);
        for &def in defs {
            interp.cancel.check().map_err(|_| Stop::Cancelled)?;
            let before = interp.own_steps();
            if self.is_spent(before) {
                self.spent = true;
                return Ok(());
            }
            let mut root = FollowedRoot { def, before, ..FollowedRoot::default() };
            (self.last_new, self.until) = (before, before + self.left + self.follower.share);
            let ran = match host::code_at(interp, file, def) {
                Ok(Some(code)) => self.calls(interp, file, &code, &mut root),
                // What the file launches by itself.
                Ok(None) if def == host::MODULE => {
                    let launches = interp.session.as_mut().map(|session| std::mem::take(&mut session.launches));
                    let mut run = Run { before, ..Run::default() };
                    self.record(interp, launches.unwrap_or_default(), &self.host(interp, file, def), file, &mut run);
                    root.runs.push(run);
                    Ok(())
                }
                Ok(None) => continue,
                Err(stop) => Err(stop),
            };
            self.used(interp);
            self.left = self.until.saturating_sub(interp.own_steps());
            root.ended = ran.is_err();
            roots.push(root);
            ran?;
        }
        Ok(())
    }

    /// Says how many steps it has taken.
    fn used(&self, interp: &Interp<'_>) {
        if let Some(used) = self.follower.used.get(self.part) {
            used.store(interp.own_steps(), Ordering::Relaxed);
        }
    }

    /// Whether the functions before and so many steps here are more than may be run: then what comes is not kept.
    fn is_spent(&self, own: u64) -> bool {
        let before = self.follower.used.iter().take(self.part);
        before.map(|used| used.load(Ordering::Relaxed)).fold(own, u64::saturating_add) > STEPS
    }

    /// Whether the function at hand has had its share, or has been run for long without anything new.
    fn is_enough(&self, interp: &Interp<'_>) -> bool {
        let own = interp.own_steps();
        own > self.until || own.saturating_sub(self.last_new) > IDLE
    }

    /// Runs the calls of a function, each one way after the other.
    fn calls<'a>(
        &mut self,
        interp: &mut Interp<'a>,
        file: FileId,
        code: &Code<'a>,
        root: &mut FollowedRoot,
    ) -> Result<(), Stop> {
        let cases = Cases::of(interp, code)?;
        if cases.skipped {
            return Ok(());
        }
        root.name = Some(code.name().to_owned());
        let count = cases.count();
        let some = cases.some(CASES);
        root.calls = (count, some.len());
        let first = some.first().copied().unwrap_or_default();
        for (before, &at) in some.iter().enumerate() {
            if self.is_enough(interp) {
                root.calls.1 = before;
                break;
            }
            let mut case = cases.case(at);
            // What a run finds of its arguments on one way, such as that two sizes are equal, is not so on another one.
            let is_open = case.iter().any(|(_, value)| host::is_open(value));
            let mut is_used = at != first;
            // The call with all defaults comes first, and is followed furthest.
            let share = if at == first { RUNS } else { RUNS / some.len() };
            let mut runs = Runs::of(share.max(2));
            while let Some(ways) = runs.take_next() {
                let before = interp.own_steps();
                if self.is_spent(before) {
                    self.spent = true;
                    root.cut = true;
                    break;
                }
                if self.is_enough(interp) {
                    root.cut = true;
                    break;
                }
                if is_open && std::mem::replace(&mut is_used, true) {
                    case = Cases::of(interp, code)?.case(at);
                }
                let mut run = Run { before, ..Run::default() };
                let ran = host::run(interp, code, case.clone(), &ways, false)?;
                self.used(interp);
                let failed = ran.launches.is_empty() && ran.why.is_some();
                if ran.launches.is_empty() {
                    run.why = Some(ran.why.as_deref().unwrap_or("it ends without a launch").to_owned());
                }
                let host = Host {
                    case: Some(at as u32),
                    ways: ways.clone(),
                    arguments: shown(interp, &case),
                    ..self.host(interp, file, root.def)
                };
                self.record(interp, ran.launches, &host, file, &mut run);
                if run.seen.iter().any(|(_, seen)| seen.stuck) {
                    let ran = host::run(interp, code, case.clone(), &ways, true)?;
                    self.used(interp);
                    if ran.assumed {
                        self.record(interp, ran.launches, &Host { assumed: true, ..host }, file, &mut run);
                    }
                }
                let is_new = run.seen.iter().any(|(_, seen)| !seen.relaxes);
                let none_wanted = run.launched.iter().all(|&entry| self.follower.settled[entry]);
                runs.ran(&ways, &ran.ways, failed, is_new || none_wanted);
                root.runs.push(run);
            }
            root.cut |= runs.is_cut();
        }
        Ok(())
    }

    /// How to get to launches of the code at a place.
    fn host(&self, interp: &Interp<'_>, file: FileId, def: u32) -> Host {
        let path = interp.files.get(file.0 as usize).map(|file| file.module.path().to_owned());
        Host {
            file: path.filter(|_| file != FileId(0)),
            def,
            case: Some(0),
            ways: Vec::new(),
            assumed: false,
            arguments: Vec::new(),
            launch: 0,
        }
    }

    /// Keeps the launches of a run that are of kernels of the file.
    fn record<'a>(
        &mut self,
        interp: &Interp<'a>,
        launches: Vec<HostLaunch<'a>>,
        host: &Host,
        file: FileId,
        run: &mut Run,
    ) {
        let Follower { entries, settled, known, first, .. } = self.follower;
        let mut numbers: Vec<(u32, u32)> = Vec::new();
        for launch in launches {
            if launch.function.scope.file != FileId(0) {
                continue;
            }
            let kernel = launch.function.def.range().start;
            let Some(at) = entries.iter().position(|entry| entry.def == kernel) else { continue };
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
            run.launched.push(at);
            if settled[at] {
                continue;
            }
            let site = launch_site::of(interp, &entries[at], &launch, file, host.def);
            let host = Host { launch: number, ..host.clone() };
            let mut seen = self.follower.seen(interp, at, &launch, (host, site), &mut run.notes);
            let before = known[at].len();
            let all = known[at].iter().chain(self.found[at].iter().map(|found| &**found));
            let mut is_told = false;
            for (number, other) in all.enumerate().filter(|(_, other)| other.is_like(&seen)).collect::<Vec<_>>() {
                self.met_known |= number < before;
                is_told |= other.says_as_much_as(&seen);
                seen.relaxes = true;
                let held = &other.site.facts.conditions;
                seen.site.facts.conditions.retain(|of| held.contains(of));
            }
            if is_told {
                continue;
            }
            if known[at].is_empty() && self.found[at].is_empty() && seen.is_known() && !seen.stuck {
                first(at, &seen.base);
            }
            if !known[at].iter().chain(self.found[at].iter().map(|found| &**found)).any(|one| one.gives_the_same(&seen))
            {
                self.last_new = interp.own_steps();
            }
            let seen = Arc::new(seen);
            self.found[at].push(seen.clone());
            run.seen.push((at, seen));
        }
    }
}

/// The arguments of a call that can be written down.
fn shown<'a>(interp: &Interp<'a>, case: &Case<'a>) -> Vec<(String, String)> {
    let plain = case.iter().filter(|(name, _)| &**name != "device");
    plain.filter_map(|(name, value)| Some((name.to_string(), host::expression(interp, value)?))).collect()
}

#[cfg(test)]
mod tests;
