//! Launches, found by running the host code around a kernel.
//!
//! Functions that mention a kernel, and those that call them, are run up to its launches, with what their
//! tests give them; arguments that nobody gives are not known, and what follows from them is left to the
//! other sources. Each function is run for the first target that its marks allow. Where the file itself does not
//! say all that its kernels are launched with, other files that mention them, or the functions that launch them,
//! are followed: those with tests first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::asked::Recorder;
use super::entries::Param;
use super::follow::{self, FirstLaunch, FirstLaunches, Followed, FollowedRoot, Follower, Seen, alike};
use super::given::plain;
use super::instance::Base;
use super::kept_parts::{self, KeptParts};
use super::launch_site::{self, LaunchSite};
use super::roots::{Root, Roots};
use super::survey::Survey;
use super::{Config, Entry, Given, Target};
use crate::limits::discover::{APART, FILES, LAUNCHES, LEVELS, MODULES, SHARE, STEPS, TOTAL};
use base::workers::{self, Workers};
use base::{Cancel, Cancelled, TextRange};
use python::host;
use python::specialization::Language;
use python::syntax::{Module, NoSources, Sources};

/// How many notes a kernel gets of its launches.
const NOTES: usize = 4;

/// What was found of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub launches: Vec<Base>,
    /// The same launches, whole.
    pub sites: Vec<LaunchSite>,
    /// Others, as far as they are too many to be kept apart what those have in common that give a kernel the same.
    pub more: Vec<LaunchSite>,
    /// What is to be said: calls that were left out.
    pub notes: Vec<String>,
    /// Functions that name the kernel and whose calls came to no launch, though others did.
    pub unfollowed: Vec<String>,
}

/// What is found of each entry, in their order; and whether the whole file is run for it.
pub(super) fn discover(
    module: &Arc<Module>,
    sources: &dyn Sources,
    survey: &Survey<'_>,
    entries: &[Entry],
    (config, workers, kept): (&Config, &dyn Workers, &mut KeptParts),
    cancel: &Cancel<'_>,
    first: &mut FirstLaunch<'_>,
) -> Result<(Vec<Found>, bool), Cancelled> {
    let mut found: Vec<Vec<Seen>> = entries.iter().map(|_| Vec::new()).collect();
    let mut notes: Vec<Vec<String>> = entries.iter().map(|_| Vec::new()).collect();
    let first = FirstLaunches::new(entries.len(), first);
    let tell = |entry: usize, base: &Base| first.tell(entry, base);
    let mut job = Job {
        module,
        sources,
        entries,
        config,
        workers,
        cancel,
        survey,
        found: &mut found,
        notes: &mut notes,
        more: entries.iter().map(|_| (false, Vec::new())).collect(),
        left: Vec::new(),
        settled: vec![false; entries.len()],
        spent: 0,
        first: &tell,
        kept,
        known: 0,
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
        let mut sites: Vec<LaunchSite> = Vec::new();
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
            launch_site::add(&mut sites, &one.site);
            match known {
                Some(known) => unaligned(&mut known.base, &one.base),
                None => launches.push(one),
            }
        }
        Found { launches: launches.into_iter().map(|seen| seen.base).collect(), sites, more, notes, unfollowed }
    });
    Ok((found.collect(), own.outer.iter().any(|root| root.def == host::MODULE)))
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

struct Job<'j> {
    module: &'j Arc<Module>,
    sources: &'j dyn Sources,
    entries: &'j [Entry],
    config: &'j Config,
    workers: &'j dyn Workers,
    cancel: &'j Cancel<'j>,
    survey: &'j Survey<'j>,
    found: &'j mut Vec<Vec<Seen>>,
    notes: &'j mut Vec<Vec<String>>,
    /// Of each entry, whether there are launches beyond those that are recorded, and what those of them have in common
    /// that are of an instance.
    more: Vec<(bool, Vec<LaunchSite>)>,
    /// Functions whose calls came to no launch.
    left: Vec<Left>,
    /// Entries of which no further launches are kept, while functions are run for the others.
    settled: Vec<bool>,
    /// Steps that were run by now.
    spent: u64,
    first: &'j (dyn Fn(usize, &Base) + Sync + 'j),
    kept: &'j mut KeptParts,
    /// Of the launches that are known: the same number for the same ones, at the same places.
    known: u64,
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
        let before: Vec<usize> = self.notes.iter().map(Vec::len).collect();
        self.settled = launched.to_vec();
        let ran = self.run(None, survey, roots);
        self.settled.fill(false);
        for (at, notes) in before.into_iter().enumerate().filter(|(at, _)| launched[*at]) {
            self.notes[at].truncate(notes);
        }
        ran
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
        let programs: Vec<u32> = roots.iter().filter(|root| root.name.is_none()).map(|root| root.def).collect();
        let all_parts = follow::parts(&open, &programs);
        for target in self.targets(survey) {
            if open.is_empty() || self.spent > TOTAL {
                break;
            }
            // Those that launched something for another target leave their part; the others stay in theirs.
            let still = std::mem::take(&mut open);
            let share = (STEPS / still.len() as u64).max(SHARE);
            let parts = all_parts.iter().map(|part| part.iter().copied().filter(|def| still.contains(def)).collect());
            let parts: Vec<Vec<u32>> = parts.filter(|part: &Vec<u32>| !part.is_empty()).collect();
            let used: Vec<AtomicU64> = parts.iter().map(|_| AtomicU64::new(0)).collect();
            let key = kept_parts::key((self.key(target), share));
            let mut known: Vec<Option<usize>> = vec![None; parts.len()];
            if other.is_none() {
                for ((part, used), known) in parts.iter().zip(&used).zip(&mut known) {
                    *known = self.kept.find(key, part, (self.known, self.found), self.sources);
                    let steps = known.and_then(|at| Some(self.kept.get(at)?.followed.steps));
                    used.store(steps.unwrap_or(0), Ordering::Relaxed);
                }
            }
            let follower = Follower {
                module: self.module,
                other,
                survey: self.survey,
                entries: self.entries,
                config: self.config,
                target,
                cancel: self.cancel,
                known: self.found,
                settled: &self.settled,
                first: self.first,
                used: &used,
                share,
            };
            let anew = parts.iter().enumerate().filter(|(at, _)| known.get(*at).is_some_and(Option::is_none));
            let anew: Vec<(usize, Vec<u32>)> = anew.map(|(at, defs)| (at, defs.clone())).collect();
            let (sources, own) = (self.sources, self.module.path());
            let followed = workers::map(self.workers, anew, |(part, defs)| {
                let recorder = Recorder::new(sources, own);
                let followed = follower.follow(&recorder, part, &defs)?;
                Ok((followed, recorder.asked()))
            });
            let mut anew = followed.into_iter().collect::<Result<Vec<_>, Cancelled>>()?.into_iter();
            let (mut all, mut numbers) = (Vec::new(), Vec::new());
            for (defs, known) in parts.into_iter().zip(known) {
                if let Some(kept) = known.and_then(|at| self.kept.get(at)) {
                    numbers.push(kept.number);
                    all.push(kept.followed.clone());
                } else if let Some((mut followed, asked)) = anew.next() {
                    // A main program's statements are not among those that are run as their names are asked for.
                    if other.is_some() || defs.iter().any(|def| programs.contains(def)) {
                        followed.demanded = None;
                    }
                    numbers.push(self.kept.keep((key, self.known), defs, &followed, asked));
                    all.push(followed);
                }
            }
            if other.is_none() && all.iter().fold(0u64, |all, part| all.saturating_add(part.steps)) <= STEPS {
                self.known = kept_parts::key((self.known, numbers));
            } else {
                self.kept.forget(key);
                self.known = self.kept.unlike();
            }
            self.keep_all(all, other.is_none(), &mut open);
        }
        Ok(())
    }

    /// Of all that running functions of the file for a target depends on beside texts and the launches that are known.
    fn key(&self, target: Target) -> u64 {
        let entries: Vec<u64> = self.entries.iter().map(|entry| self.seen_of(entry)).collect();
        kept_parts::key((target, self.config.target, self.config.version, &self.settled, entries))
    }

    /// Of what running host code sees of a kernel.
    fn seen_of(&self, entry: &Entry) -> u64 {
        let param = |param: &Param| {
            let chosen = !super::chosen::choices(self.survey, param).is_empty();
            let texts = (param.name.clone(), param.annotation.clone(), param.default.clone());
            (texts, param.constexpr, param.specialised, chosen)
        };
        let params: Vec<_> = entry.params.iter().map(param).collect();
        kept_parts::key((&entry.name, &entry.inside, entry.launched, entry.language == Language::Triton, params))
    }

    /// Keeps what came of all parts of the functions, in their order, as far as their steps are within the limit; adds the
    /// functions that launched nothing to those that are open.
    fn keep_all(&mut self, parts: Vec<Followed>, own: bool, open: &mut Vec<u32>) {
        let (mut before, mut loading) = (0u64, 0);
        'all: for part in parts {
            for root in part.roots {
                if before.saturating_add(root.before) > STEPS {
                    break 'all;
                }
                let (def, ended) = (root.def, root.ended);
                if !self.keep(root, before, own) && !ended {
                    open.push(def);
                }
            }
            before = before.saturating_add(part.steps);
            if before > STEPS {
                break;
            }
            loading = part.loading.max(loading);
        }
        self.spent = self.spent.saturating_add(before.min(STEPS)).saturating_add(loading);
    }

    /// Keeps what came of a function behind so many steps of others; whether there was a launch.
    fn keep(&mut self, root: FollowedRoot, before: u64, own: bool) -> bool {
        let FollowedRoot { def, name, calls: (calls, looked_at), mut cut, runs, .. } = root;
        let (mut any, mut why) = (Vec::new(), None);
        for run in runs {
            if before.saturating_add(run.before) > STEPS {
                cut = true;
                break;
            }
            for (entry, note) in run.notes {
                if !self.notes[entry].contains(&note) && self.notes[entry].len() < NOTES {
                    self.notes[entry].push(note);
                }
            }
            for (entry, seen) in run.seen {
                self.keep_launch(entry, Arc::unwrap_or_clone(seen));
            }
            any.extend(run.launched);
            why = why.or(run.why);
        }
        any.sort_unstable();
        any.dedup();
        let Some(name) = name else { return !any.is_empty() };
        self.left.retain(|left| (left.def, left.own) != (def, own));
        if any.is_empty() {
            let why = why.unwrap_or_else(|| "it ends without a launch".into());
            let why = format!("`{name}` is not followed to a launch: {why}");
            self.left.push(Left { def, own, why, name: name.clone() });
        }
        for &entry in &any {
            if looked_at < calls {
                self.notes[entry]
                    .push(format!("of {calls} calls that `{name}` is tested with, {looked_at} are looked at"));
            }
            if cut {
                self.notes[entry].push(format!("not all ways through `{name}` are followed to a launch"));
            }
        }
        !any.is_empty()
    }

    fn keep_launch(&mut self, entry: usize, seen: Seen) {
        if self.found[entry].iter().any(|known| known.says_as_much_as(&seen)) {
            return;
        }
        if self.found[entry].len() >= LAUNCHES {
            self.beyond(entry, seen);
        } else {
            self.found[entry].push(seen);
        }
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

    /// Notes a launch beyond those that are recorded.
    fn beyond(&mut self, entry: usize, one: Seen) {
        let found = &self.found[entry];
        let (cut, more) = &mut self.more[entry];
        *cut = true;
        let same = |site: &&mut LaunchSite| (&site.given, &site.held) == (&one.site.given, &one.site.held);
        if more.iter().any(|known| known.is_like(&one.site)) {
            return;
        }
        // It may launch another kernel, which is not looked at.
        if more.iter_mut().filter(same).count() < APART {
            more.extend(found.iter().any(|seen| alike(&seen.base, &one.base)).then_some(one.site));
        } else if let Some(last) = more.iter_mut().rfind(same) {
            launch_site::keep_common(&mut last.facts, &one.site.facts);
        }
    }
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
