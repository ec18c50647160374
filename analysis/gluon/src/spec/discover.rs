//! Launches, found by running the host code around a kernel.
//!
//! Functions that mention a kernel, and those that call them, are run up to its launches, with what their
//! tests give them; arguments that nobody gives are not known, and what follows from them is left to the
//! other sources. Each function is run for the first target that its marks allow. Where the file itself does not
//! say all that its kernels are launched with, other files that mention them, or the functions that launch them,
//! are followed: those with tests first.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::given::{plain, same_plain};
use super::instance::Base;
use super::roots::{Root, Roots};
use super::runs::Runs;
use super::site::{self, Site};
use super::survey::Survey;
use super::words;
use super::{Argument, Config, Entry, Given, Host, Source, Target};
use crate::limits::discover::{APART, CASES, FILES, LAUNCHES, LEVELS, MODULES, ONCE, RUNS, STEPS, TOTAL};
use base::{Cancel, Cancelled, TextRange};
use python::host::{self, Case, Cases, Code, Launch};
use python::interp::{Interp, Stop, Trees};
use python::origin::FileId;
use python::reason::chained;
use python::specialization::Language;
use python::syntax::{Module, NoSources, Sources};
use python::value::{Function, Value};
use rustc_hash::FxHasher;

/// How many notes a kernel gets of its launches.
const NOTES: usize = 4;

/// What was found of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub launches: Vec<Base>,
    /// The same launches, whole.
    pub sites: Vec<Site>,
    /// Others, as far as they are too many to be kept apart what those have in common that give a kernel the same.
    pub more: Vec<Site>,
    /// What is to be said: calls that were left out.
    pub notes: Vec<String>,
    /// Functions that name the kernel and whose calls came to no launch, though others did.
    pub unfollowed: Vec<String>,
}

/// A launch with what tells it from others, and its notes.
struct Seen {
    base: Base,
    site: Site,
    /// Values that the kernel takes from the functions around it.
    closure: Vec<(String, String)>,
    /// The file and the place of its call.
    place: (String, TextRange),
    /// Whether there is a parameter of which nothing is known and for which nothing can be chosen.
    stuck: bool,
    /// Of what the kernel is given.
    hash: u64,
}

impl Seen {
    /// Whether another launch adds nothing to this one.
    fn says_as_much_as(&self, other: &Seen) -> bool {
        self.hash == other.hash
            && self.stuck == other.stuck
            && self.place == other.place
            && self.site == other.site
            && self.closure == other.closure
            && alike(&self.base, &other.base)
    }

    /// Whether all that the kernel is given is known.
    fn is_known(&self) -> bool {
        self.base.partly.is_empty() && self.base.arguments.iter().all(|argument| argument.source == Source::Launch)
    }
}

/// Is told of the first launch of an entry, by its number, that is known in full, while others are looked for.
pub(super) type FirstLaunch<'a> = dyn FnMut(usize, &Base) + 'a;

/// What is found of each entry, in their order; and whether the whole file is run for it.
pub(super) fn discover(
    module: &Arc<Module>,
    sources: &dyn Sources,
    survey: &Survey<'_>,
    entries: &[Entry],
    config: &Config,
    cancel: &Cancel<'_>,
    first: &mut FirstLaunch<'_>,
) -> Result<(Vec<Found>, bool), Cancelled> {
    let mut found: Vec<Vec<Seen>> = entries.iter().map(|_| Vec::new()).collect();
    let mut notes: Vec<Vec<String>> = entries.iter().map(|_| Vec::new()).collect();
    let mut job = Job {
        module,
        sources,
        entries,
        config,
        cancel,
        survey,
        found: &mut found,
        notes: &mut notes,
        more: entries.iter().map(|_| (false, Vec::new())).collect(),
        left: Vec::new(),
        spent: 0,
        first,
    };
    let own = Roots::of(survey, entries.iter().map(Entry::word));
    job.run(None, survey, &own.outer)?;
    job.elsewhere(&own)?;
    let left_outside = job.left.clone();
    // What is run for a kernel that nobody launches says nothing of those that have their launches.
    let launched: Vec<bool> = job.found.iter().map(|seen| !seen.is_empty()).collect();
    if launched.contains(&false) {
        job.inner(survey, &own.inner, &launched)?;
    }
    let spent = job.spent > TOTAL;
    let (left_at_all, more) = (job.left, job.more);
    let of = found.into_iter().zip(notes).zip(more).zip(launched).zip(entries);
    let found = of.map(|((((seen, mut notes), (cut, more)), launched), entry)| {
        let left = if launched { &left_outside } else { &left_at_all };
        if spent {
            notes.push(format!("host code is run for {TOTAL} steps; launches that come later are not followed"));
        }
        if cut {
            notes.push(format!("it is launched in more than {LAUNCHES} ways; those that come later are not followed"));
        }
        let mut unfollowed = Vec::new();
        if seen.is_empty() {
            let most = if entry.launched { left.len() } else { 1 };
            notes.extend(left.iter().take(most).map(|left| left.why.clone()));
        } else {
            let mentions = |def: u32| {
                let func = survey.functions.iter().find(|func| func.start() == def);
                func.is_some_and(|func| func.mentions.contains(entry.word()))
            };
            let own = left.iter().filter(|left| left.own && mentions(left.def));
            notes.extend(own.clone().take(NOTES).map(|left| left.why.clone()));
            unfollowed.extend(own.map(|left| left.name.clone()));
        }
        let mut launches: Vec<Seen> = Vec::new();
        let mut sites: Vec<Site> = Vec::new();
        // A call that is followed with all that it is given says more than the same call on its own.
        let known: Vec<(String, TextRange)> =
            seen.iter().filter(|one| one.is_known()).map(|one| one.place.clone()).collect();
        let free: Vec<(String, TextRange)> =
            seen.iter().filter(|one| !one.stuck).map(|one| one.place.clone()).collect();
        let (first, last): (Vec<Seen>, Vec<Seen>) =
            seen.into_iter().filter(|one| !one.stuck || !free.contains(&one.place)).partition(Seen::is_known);
        for one in first.into_iter().chain(last.into_iter().filter(|one| !known.contains(&one.place))) {
            let is = |other: &&mut Seen| alike(&one.base, &other.base) && one.closure == other.closure;
            let known = launches.iter_mut().find(is);
            if !sites.contains(&one.site) {
                sites.push(one.site.clone());
            }
            match known {
                Some(known) => unaligned(&mut known.base, &one.base),
                None => launches.push(one),
            }
        }
        Found { launches: launches.into_iter().map(|seen| seen.base).collect(), sites, more, notes, unfollowed }
    });
    Ok((found.collect(), own.outer.iter().any(|root| root.def == host::MODULE)))
}

/// What a launch gives a parameter, with what Triton's specialisation says of it. Gluon's kernels are analysed with
/// what holds without.
fn aligned(entry: &Entry, param: &super::Param, given: Given, value: &Value<'_>) -> Given {
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

/// Keeps of what divides the arguments of one launch what divides those of another one that is like it: one kernel
/// without it stands for both.
fn unaligned(known: &mut Base, other: &Base) {
    for (argument, other) in known.arguments.iter_mut().zip(&other.arguments) {
        if argument.given != other.given
            && let Given::Type(ty) = &argument.given
        {
            argument.given = Given::Type(plain(ty));
        }
    }
}

/// Whether two launches give a kernel the same, what divides it aside; which calls led there does not matter.
fn alike(a: &Base, b: &Base) -> bool {
    let same =
        |(a, b): (&Argument, &Argument)| a.source == b.source && a.name == b.name && same_plain(&a.given, &b.given);
    let arguments = a.arguments.len() == b.arguments.len() && a.arguments.iter().zip(&b.arguments).all(same);
    arguments
        && (&a.partly, &a.held, a.target, a.num_warps, a.num_ctas)
            == (&b.partly, &b.held, b.target, b.num_warps, b.num_ctas)
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
    /// Of each entry, whether there are launches beyond those that are recorded, and what those of them have in common
    /// that are of an instance.
    more: Vec<(bool, Vec<Site>)>,
    /// Functions whose calls came to no launch.
    left: Vec<Left>,
    /// Steps that were run by now.
    spent: u64,
    first: &'j mut FirstLaunch<'j>,
}

/// A function whose calls came to no launch.
#[derive(Clone)]
struct Left {
    /// Where it starts.
    def: u32,
    /// Whether it is in the kernel's own file.
    own: bool,
    /// What it is called.
    name: String,
    /// Why the first call did not, as a sentence.
    why: String,
}

/// A name that other files are searched for, and a word that they have where they mean it.
struct Wanted {
    name: String,
    word: String,
}

impl Job<'_> {
    /// Whether what a kernel of the file itself is launched with is to be looked for.
    fn is_open(&self, at: usize) -> bool {
        self.entries[at].inside.is_empty() && !self.found[at].iter().any(Seen::is_known)
    }

    /// Runs functions that others call, for the kernels that are not `launched` yet.
    fn inner(&mut self, survey: &Survey<'_>, roots: &[Root], launched: &[bool]) -> Result<(), Cancelled> {
        let counts = self.found.iter().zip(self.notes.iter()).map(|(seen, notes)| (seen.len(), notes.len()));
        let before: Vec<_> = counts.zip(&self.more).map(|(counts, more)| (counts, more.clone())).collect();
        self.run(None, survey, roots)?;
        for (at, ((seen, notes), more)) in before.into_iter().enumerate().filter(|(at, _)| launched[*at]) {
            self.found[at].truncate(seen);
            self.notes[at].truncate(notes);
            self.more[at] = more;
        }
        Ok(())
    }

    /// Looks into other files for launches of the kernels of which the file itself does not say all.
    fn elsewhere(&mut self, own: &Roots) -> Result<(), Cancelled> {
        let open: Vec<usize> = (0..self.entries.len()).filter(|at| self.is_open(*at)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let mut wanted: Vec<Wanted> = open
            .iter()
            .map(|at| self.entries[*at].imported().to_owned())
            .map(|name| Wanted { word: name.clone(), name })
            .collect();
        wanted.extend(callers(self.module, own));
        let word = word(self.module);
        // A table of the file that holds one of them is imported in its place.
        let holds = |held: &rustc_hash::FxHashSet<&str>| open.iter().any(|at| held.contains(self.entries[*at].word()));
        let tables = self.survey.tables.iter().filter(|(_, held)| holds(held));
        wanted.extend(tables.map(|(name, _)| Wanted { name: (*name).to_owned(), word: word.clone() }));
        let mut seen: Vec<String> = vec![self.module.path().to_owned()];
        // Files with functions that nobody calls there, for when nobody calls them at all.
        let mut later: Vec<(Arc<Module>, Roots)> = Vec::new();
        for _ in 0..LEVELS {
            let mut next = Vec::new();
            for (other, names) in self.mentioning(&wanted, &mut seen) {
                self.cancel.check()?;
                // What another file imports decides nothing here, and may have to be waited for.
                let survey = Survey::of(&other, &NoSources);
                let roots = Roots::of(&survey, names.iter().map(String::as_str));
                let (tests, wrappers): (Vec<Root>, Vec<Root>) = roots.outer.iter().cloned().partition(|root| root.test);
                next.extend(callers(&other, &roots));
                self.run(Some(&other), &survey, &tests)?;
                later.push((other, Roots { outer: wrappers, inner: roots.inner }));
            }
            if next.is_empty() || !open.iter().any(|at| self.is_open(*at)) {
                break;
            }
            wanted = next;
        }
        for (other, roots) in later {
            if !open.iter().any(|at| self.found[*at].is_empty()) {
                break;
            }
            let survey = Survey::of(&other, &NoSources);
            self.run(Some(&other), &survey, &roots.outer)?;
            if open.iter().all(|at| self.found[*at].is_empty()) {
                self.run(Some(&other), &survey, &roots.inner)?;
            }
        }
        Ok(())
    }

    /// Files that were not looked at and mention a name, each with the names that it mentions.
    fn mentioning(&self, wanted: &[Wanted], seen: &mut Vec<String>) -> Vec<(Arc<Module>, Vec<String>)> {
        let mut others: Vec<(Arc<Module>, Vec<String>)> = Vec::new();
        for one in wanted {
            let all = self.sources.mentions(&one.name).into_iter().filter(|other| other.text().contains(&*one.word));
            // A kernel of that name of its own is what it launches.
            let own = |other: &Module| one.word == one.name && defines(other, &one.name);
            let fresh = all.filter(|other| !seen.iter().any(|path| path == other.path()) && !own(other));
            for other in fresh.take(FILES) {
                match others.iter_mut().find(|(known, _)| known.path() == other.path()) {
                    Some((_, names)) => names.push(one.name.clone()),
                    None => others.push((other, vec![one.name.clone()])),
                }
            }
        }
        // Those that mention most are likeliest to be about these kernels.
        others.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        others.truncate(MODULES.saturating_sub(seen.len()));
        seen.extend(others.iter().map(|(other, _)| other.path().to_owned()));
        others
    }

    /// Runs functions of this file or of another one.
    fn run(&mut self, other: Option<&Arc<Module>>, survey: &Survey<'_>, roots: &[Root]) -> Result<(), Cancelled> {
        let mut open: Vec<u32> = roots.iter().map(|root| root.def).collect();
        for target in self.targets(survey) {
            if open.is_empty() || self.spent > TOTAL {
                break;
            }
            let trees = Trees::default();
            let mut interp =
                Interp::new(&trees, self.sources, crate::builtins::library(), self.cancel, target, self.config.version);
            interp.session = Some(host::Session::default());
            interp.most_steps = ONCE;
            // However else it ends, what was found until then counts.
            if let Err(Stop::Cancelled) = self.with(&mut interp, other, &mut open) {
                return Err(Cancelled);
            }
            self.spent = self.spent.saturating_add(interp.steps);
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
        let file = other.map_or(first, |other| interp.add_file(other.clone()));
        // What the file launches by itself is launched while it is run.
        if open.contains(&host::MODULE) {
            interp.run_file(file)?;
        }
        interp.open_file(first);
        interp.open_file(file);
        let limit = interp.steps.saturating_add(STEPS);
        let before = std::mem::take(open);
        for def in before {
            interp.cancel.check().map_err(|_| Stop::Cancelled)?;
            if interp.steps > limit {
                return Err(Stop::Limit("host code runs for too long".into()));
            }
            let any = match host::code_at(interp, file, def)? {
                Some(code) => self.code(interp, file, &code, def, limit)?,
                // What the file launches by itself.
                None if def == host::MODULE => {
                    let launches = interp.session.as_mut().map(|session| std::mem::take(&mut session.launches));
                    let host = self.host(interp, file, def);
                    !self.record(interp, launches.unwrap_or_default(), &host, file).is_empty()
                }
                None => continue,
            };
            if !any {
                open.push(def);
            }
        }
        Ok(())
    }

    /// Runs the calls of a function, each one way after the other; whether there was a launch.
    fn code<'a>(
        &mut self,
        interp: &mut Interp<'a>,
        file: FileId,
        code: &Code<'a>,
        def: u32,
        limit: u64,
    ) -> Result<bool, Stop> {
        let cases = Cases::of(interp, code)?;
        if cases.skipped {
            return Ok(false);
        }
        let count = cases.count();
        let some = cases.some(CASES);
        let (mut any, mut cut, mut left) = (Vec::new(), false, None);
        for &at in &some {
            let case = cases.case(at);
            // The call with all defaults comes first, and is followed furthest.
            let share = if Some(&at) == some.first() { RUNS } else { RUNS / some.len() };
            let mut runs = Runs::of(share.max(2));
            while let Some(ways) = runs.take_next() {
                if interp.steps > limit {
                    break;
                }
                let ran = host::run(interp, code, case.clone(), &ways, false)?;
                let failed = ran.launches.is_empty() && ran.why.is_some();
                if ran.launches.is_empty() && left.is_none() {
                    left = Some(ran.why.clone().unwrap_or_else(|| "it ends without a launch".into()));
                }
                let host = Host {
                    case: Some(at as u32),
                    ways: ways.clone(),
                    arguments: shown(interp, &case),
                    ..self.host(interp, file, def)
                };
                let before: Vec<usize> = self.found.iter().map(Vec::len).collect();
                let recorded = self.record(interp, ran.launches, &host, file);
                if recorded.iter().any(|&entry| self.found[entry].iter().skip(before[entry]).any(|seen| seen.stuck)) {
                    let ran = host::run(interp, code, case.clone(), &ways, true)?;
                    if ran.assumed {
                        let host = Host { assumed: true, ..host };
                        self.record(interp, ran.launches, &host, file);
                    }
                }
                let is_new = recorded.iter().any(|&entry| before[entry] < self.found[entry].len());
                runs.ran(&ways, &ran.ways, failed, is_new || recorded.is_empty());
                any.extend(recorded);
            }
            cut |= runs.is_cut();
        }
        any.sort_unstable();
        any.dedup();
        let own = file == FileId(0);
        self.left.retain(|left| (left.def, left.own) != (def, own));
        if any.is_empty() {
            let why = left.unwrap_or_else(|| "it ends without a launch".into());
            let name = code.name().to_owned();
            self.left.push(Left { def, own, why: format!("`{name}` is not followed to a launch: {why}"), name });
        }
        for &entry in &any {
            let name = code.name();
            if some.len() < count {
                self.notes[entry]
                    .push(format!("of {count} calls that `{name}` is tested with, {} are looked at", some.len()));
            }
            if cut {
                self.notes[entry].push(format!("not all ways through `{name}` are followed to a launch"));
            }
        }
        Ok(!any.is_empty())
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

    /// Keeps the launches of a run that are of kernels of the file; which kernels those are.
    fn record<'a>(&mut self, interp: &Interp<'a>, launches: Vec<Launch<'a>>, host: &Host, file: FileId) -> Vec<usize> {
        let mut any = Vec::new();
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
            let site = site::of(interp, &self.entries[entry], &launch, file, host.def);
            any.push(entry);
            let seen = self.seen(interp, entry, &launch, Host { launch: number, ..host.clone() }, site);
            if self.found[entry].iter().any(|known| known.says_as_much_as(&seen)) {
                continue;
            }
            if self.found[entry].len() >= LAUNCHES {
                self.beyond(entry, seen);
                continue;
            }
            if self.found[entry].is_empty() && seen.is_known() && !seen.stuck {
                (self.first)(entry, &seen.base);
            }
            self.found[entry].push(seen);
        }
        any
    }

    /// Notes a launch beyond those that are recorded.
    fn beyond(&mut self, entry: usize, one: Seen) {
        let found = &self.found[entry];
        let (cut, more) = &mut self.more[entry];
        *cut = true;
        let same = |site: &&mut Site| (&site.given, &site.held) == (&one.site.given, &one.site.held);
        if more.contains(&one.site) {
            return;
        }
        // It may launch another kernel, which is not looked at.
        if more.iter_mut().filter(same).count() < APART {
            more.extend(found.iter().any(|seen| alike(&seen.base, &one.base)).then_some(one.site));
        } else if let Some(last) = more.iter_mut().rfind(same) {
            site::keep_common(&mut last.facts, &one.site.facts);
        }
    }

    fn seen<'a>(&mut self, interp: &Interp<'a>, at: usize, launch: &Launch<'a>, host: Host, mut site: Site) -> Seen {
        let entry = &self.entries[at];
        let (mut expressible, mut stuck) = (entry.inside.is_empty(), false);
        let (mut arguments, mut partly, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for param in &entry.params {
            let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
            if let Some(given) = host::given(interp, value, param.constexpr, param.specialised) {
                let source = if host.assumed || launch.chosen { Source::Chosen } else { Source::Launch };
                let given = aligned(entry, param, given, value);
                arguments.push(Argument { name: param.name.clone(), given, source });
                continue;
            }
            match host::partly(interp, value) {
                Some(part) => {
                    if let host::Partly::Nothing(why) = &part {
                        let note = chained(&format!("what a launch gives `{}`", param.name), why);
                        if !self.notes[at].contains(&note) && self.notes[at].len() < NOTES {
                            self.notes[at].push(note);
                        }
                    }
                    stuck |= matches!(part, host::Partly::Nothing(_))
                        && param.default.is_none()
                        && super::chosen::choices(self.survey, param).is_empty();
                    partly.push((param.name.clone(), part));
                }
                None => {
                    expressible = false;
                    held.push((param.name.clone(), host::identity(interp, value)));
                }
            }
        }
        let closure = if entry.inside.is_empty() { Vec::new() } else { self.closure(interp, entry, &launch.function) };
        let source = |value: Option<u32>| value.map(|value| (value, Source::Launch));
        let path = interp.files.get(launch.file.0 as usize).map_or("", |file| file.module.path()).to_owned();
        let base = Base {
            arguments,
            formulas: super::formulas::of(&site.facts, &partly, &entry.params),
            partly,
            held,
            host: (!expressible).then_some(host),
            target: Some((interp.target, Source::Launch)),
            version: None,
            num_warps: source(launch.num_warps),
            num_ctas: source(launch.num_ctas),
            tuned: launch.tuned,
        };
        site.given.clone_from(&base.arguments);
        site.held.clone_from(&base.held);
        let mut hasher = FxHasher::default();
        (&base.arguments, &base.partly, &base.held, at).hash(&mut hasher);
        Seen { base, site, closure, place: (path, launch.at), stuck, hash: hasher.finish() }
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

/// Names by which other files reach launches of this one.
fn callers(module: &Module, roots: &Roots) -> Vec<Wanted> {
    let word = word(module);
    let names = roots.names().into_iter().filter(|name| name.len() > 3 && !name.starts_with("__"));
    names.map(|name| Wanted { name, word: word.clone() }).collect()
}

/// Whether a name means a function of the file's own there.
fn defines(module: &Module, name: &str) -> bool {
    module.body().iter().any(|stmt| matches!(stmt, ruff_python_ast::Stmt::FunctionDef(def) if *def.name == *name))
}

/// The word by which other files mean this one: a package by its folder.
fn word(module: &Module) -> String {
    let path = module.path().replace('\\', "/");
    let mut parts = path.rsplit('/');
    let stem = parts.next().unwrap_or("").trim_end_matches(".py").to_owned();
    if stem == "__init__" { parts.next().unwrap_or("").to_owned() } else { stem }
}
