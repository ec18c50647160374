//! Parts of the host code that were followed, kept while the statements that they ran stay the same.
//!
//! A part is some functions that are run by one evaluation ([`super::follow`]). What it comes to depends on the statements
//! of the file that it ran, on the names that it asked the file for, on other files, on the kernels' signatures, and on
//! those of the launches known before that are like its own. Where an edit touches none of these, it is not run again: its
//! places are moved.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};

use super::asked::Asked;
use super::follow::{Followed, Seen};
use super::outline::{Places, Statement};
use python::host;
use python::syntax::{Demanded, Module, Sources};

/// What the parts of a text came to.
#[derive(Debug)]
pub(super) struct KeptParts {
    module: Arc<Module>,
    outline: Vec<Statement>,
    /// Those of the text before, at the places of this one.
    before: Vec<KeptPart>,
    /// Those of this text.
    now: Vec<KeptPart>,
    /// How many parts were run for it.
    pub ran: u32,
    /// The number of the next outcome that is like none before it.
    next: u64,
}

/// A part, and what it came to.
#[derive(Debug)]
pub(super) struct KeptPart {
    /// Of what it depends on beside texts and launches that were known.
    pub key: u64,
    /// Of these.
    known: u64,
    /// Where its functions start.
    pub defs: Vec<u32>,
    /// What it asked its file for; `None` once that is another thing to it.
    demanded: Option<Demanded>,
    asked: Vec<Asked>,
    pub followed: Followed,
    /// Parts of one key and functions that found the same launches have the same number.
    pub number: u64,
}

impl KeptParts {
    /// What was kept of another text, if any, for this one.
    pub(super) fn carried(before: Option<KeptParts>, module: &Arc<Module>, outline: Vec<Statement>) -> KeptParts {
        let (mut kept, mut next) = (Vec::new(), 1);
        if let Some(mut before) = before.filter(|before| before.module.path() == module.path()) {
            next = before.next;
            kept = std::mem::take(&mut before.now);
            let change = Change::between(&before, module, &outline);
            kept.iter_mut().for_each(|part| part.carry(&change));
        }
        KeptParts { module: module.clone(), outline, before: kept, now: Vec::new(), ran: 0, next }
    }

    /// Once parts were run, all of them or until it was given up: then the others are what they were.
    pub(super) fn close(mut self, is_whole: bool) -> KeptParts {
        let others = std::mem::take(&mut self.before).into_iter();
        self.now.extend(others.filter(|part| !is_whole && part.demanded.is_some()));
        self
    }

    /// A number that no outcome has.
    pub(super) fn unlike(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// What the functions at these places came to before, if it is what they would come to again with the launches that are
    /// known of each kernel: by the number of these, or since it has nothing to do with them.
    pub(super) fn find(
        &mut self,
        key: u64,
        defs: &[u32],
        (number, known): (u64, &[Vec<Seen>]),
        sources: &dyn Sources,
    ) -> Option<usize> {
        let own = self.module.path();
        let is_known = |(at, seen): &(usize, Arc<Seen>)| {
            known.get(*at).is_some_and(|known| known.iter().any(|known| known.says_as_much_as(seen)))
        };
        let is = |part: &KeptPart| part.key == key && part.defs == defs && part.demanded.is_some();
        let at = self.before.iter().position(is)?;
        let part = self.before.get(at)?;
        let runs = || part.followed.roots.iter().flat_map(|root| &root.runs);
        let apart = || !part.followed.met_known && !runs().flat_map(|run| &run.seen).any(is_known);
        if !(part.known == number || apart()) || !part.asked.iter().all(|asked| asked.holds(sources, own)) {
            return None;
        }
        let mut part = self.before.remove(at);
        part.known = number;
        self.now.push(part);
        Some(self.now.len() - 1)
    }

    /// What was kept, by the number that [`KeptParts::find`] gave.
    pub(super) fn get(&self, at: usize) -> Option<&KeptPart> {
        self.now.get(at)
    }

    /// Keeps what came of a part; the number of its outcome.
    pub(super) fn keep(
        &mut self,
        (key, launches): (u64, u64),
        defs: Vec<u32>,
        followed: &Followed,
        asked: Vec<Asked>,
    ) -> u64 {
        self.ran += 1;
        let is = |part: &&KeptPart| part.key == key && part.defs == defs && same_launches(&part.followed, followed);
        let known = self.before.iter().find(is).map(|part| part.number);
        let number = known.unwrap_or_else(|| self.unlike());
        if let Some(demanded) = followed.demanded.clone() {
            let followed = followed.clone();
            let (known, demanded) = (launches, Some(demanded));
            self.now.push(KeptPart { key, known, defs, demanded, asked, followed, number });
        }
        number
    }

    /// Forgets the parts of this key: others than the texts decided how far they were run.
    pub(super) fn forget(&mut self, key: u64) {
        self.now.retain(|part| part.key != key);
    }
}

impl KeptPart {
    fn carry(&mut self, change: &Change) {
        let ran_what_goes = |demanded: &Demanded| demanded.ran().iter().any(|range| change.gone.contains(&range.start));
        let asked_for = |demanded: &Demanded| match &change.names {
            Some(names) => names.iter().any(|name| demanded.asked_for(name)),
            None => true,
        };
        self.demanded = self.demanded.take().filter(|demanded| !ran_what_goes(demanded) && !asked_for(demanded));
        let places = &change.places;
        let place = |at: u32| places.place(at);
        if let Some(demanded) = &mut self.demanded {
            demanded.moved(&|range| places.range(range));
        }
        self.defs.iter_mut().filter(|def| **def != host::MODULE).for_each(|def| *def = place(*def));
        let path = &change.path;
        for root in &mut self.followed.roots {
            root.def = if root.def == host::MODULE { root.def } else { place(root.def) };
            for (_, seen) in root.runs.iter_mut().flat_map(|run| &mut run.seen) {
                Arc::make_mut(seen).moved(path, places);
            }
        }
    }
}

/// Whether both found the same launches, in the same order.
fn same_launches(one: &Followed, other: &Followed) -> bool {
    let all = |of: &Followed| -> Vec<(usize, Arc<Seen>)> {
        let runs = of.roots.iter().flat_map(|root| &root.runs);
        runs.flat_map(|run| run.seen.iter().cloned()).collect()
    };
    all(one) == all(other)
}

/// What another text changed.
struct Change {
    path: String,
    /// Where statements started that are no longer there.
    gone: FxHashSet<u32>,
    /// The names that those bind, and the ones that came; `None` where that may be any.
    names: Option<FxHashSet<String>>,
    places: Places,
}

impl Change {
    fn between(before: &KeptParts, module: &Module, outline: &[Statement]) -> Change {
        let pairs = pairs(&before.outline, outline);
        let anchors = pairs.iter().filter_map(|&(was, is)| Some((before.outline.get(was)?, outline.get(is)?)));
        let anchors = anchors.flat_map(|(was, is)| was.anchors.iter().copied().zip(is.anchors.iter().copied()));
        let places = Places::between(anchors.chain(end_of_edit(before.module.text(), module.text())));
        let stay: FxHashSet<usize> = pairs.iter().map(|(was, _)| *was).collect();
        let known: FxHashSet<usize> = pairs.iter().map(|(_, is)| *is).collect();
        let gone: Vec<usize> = (0..before.outline.len()).filter(|at| !stay.contains(at)).collect();
        let came: Vec<usize> = (0..outline.len()).filter(|at| !known.contains(at)).collect();
        let bound = |module: &Module, statements: &[usize]| -> Option<Vec<String>> {
            let all = statements.iter().map(|at| module.bindings().bound_by(*at));
            let all: Option<Vec<Vec<&str>>> = all.collect();
            Some(all?.into_iter().flatten().map(str::to_owned).collect())
        };
        let names = bound(&before.module, &gone).zip(bound(module, &came));
        let names = names.map(|(gone, came)| gone.into_iter().chain(came).collect());
        let gone = gone.into_iter().filter_map(|at| Some(before.outline.get(at)?.range.start)).collect();
        Change { path: module.path().to_owned(), gone, names, places }
    }
}

/// Where the end starts that both texts have in common: there is an anchor in the statement that was edited, too.
fn end_of_edit(before: &str, now: &str) -> Option<(u32, u32)> {
    let most = before.len().min(now.len());
    let first = before.bytes().zip(now.bytes()).take_while(|(was, is)| was == is).count();
    let last = before.bytes().rev().zip(now.bytes().rev()).take(most - first);
    let last = last.take_while(|(was, is)| was == is).count();
    Some((u32::try_from(before.len() - last).ok()?, u32::try_from(now.len() - last).ok()?))
}

/// Statements that are the same in both texts, by their numbers, ascending in both: what both begin and end with, and of
/// the rest each that is found behind the one before it.
fn pairs(before: &[Statement], now: &[Statement]) -> Vec<(usize, usize)> {
    let same = |(was, is): (&Statement, &Statement)| was.hash == is.hash;
    let first = before.iter().zip(now).take_while(|pair| same(*pair)).count();
    let (rest, others) = (&before[first..], &now[first..]);
    let last = rest.iter().rev().zip(others.iter().rev()).take_while(|pair| same(*pair)).count();
    let mut all: Vec<(usize, usize)> = (0..first).map(|at| (at, at)).collect();
    let (until, end) = (before.len() - last, now.len() - last);
    let mut next = first;
    for (was, statement) in before.iter().enumerate().take(until).skip(first) {
        let found = now.iter().take(end).skip(next).position(|other| other.hash == statement.hash);
        if let Some(found) = found {
            all.push((was, next + found));
            next += found + 1;
        }
    }
    all.extend((0..last).map(|at| (until + at, end + at)));
    all
}

/// What a pass over functions depends on beside texts.
pub(super) fn key(parts: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}
