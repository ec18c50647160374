//! The search for values that are not refused.
//!
//! Where a kernel with chosen values is refused, is not followed or has a loop that never runs, the parameters on
//! which that place depends are given their next values, one at a time, and what comes farther is kept. Nothing
//! that somebody gave is changed; what a launch gives that is known in part, for a refusal alone. The budget counts attempts and steps, never time, so that the outcome depends on
//! the text alone.

use super::domain::Open;
use super::instance::Base;
use super::spec_builder::{FileFlow, SpecBuilder};
use super::trouble::{Trouble, troubles};
use super::{Entry, Given, Spec, ValueSource};
use crate::limits::search::{ATTEMPTS, BLAMED, LEAST_STEPS, STEPS, STEPS_OF_FILE, STEPS_OF_ONE, TRIED, TRIED_AGAIN};
use base::workers;
use base::{Cancel, Cancelled};
use python::doubt::DoubtKind;
use python::elaborated::Attempt;
use rustc_hash::FxHashMap;

/// The steps for each kernel of a file that has so many. It does not depend on what the others took: a kernel that is
/// remembered takes none.
pub(super) fn steps_of_each(kernels: usize) -> u64 {
    (STEPS_OF_FILE / (kernels as u64).max(1)).clamp(LEAST_STEPS, STEPS)
}

/// How much farther from the first a value of a parameter is than a value of the next parameter.
const NEXT_PARAMETER: usize = 3;

/// How much farther a parameter is that has a default.
const DEFAULT: usize = 6;

/// A search for the values of one kernel.
pub(super) struct Search<'s> {
    file: &'s FileFlow<'s>,
    entry: &'s Entry,
    builder: SpecBuilder<'s>,
    cancel: &'s Cancel<'s>,
    attempts: u32,
    steps: u64,
    /// What became of values that were tried.
    known: FxHashMap<Spec, Attempt>,
    /// What ended the elaboration of some launch whatever was tried.
    hopeless: Vec<Trouble>,
}

/// How far values come; more is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Score {
    /// Whether the end was reached and nothing refused.
    accepted: bool,
    /// Whether a card has the memory for it.
    fits: bool,
    /// Of accepted values: places that were not followed, negated.
    followed: i64,
    reached: usize,
    /// Places that show that other values are meant, negated.
    meant: i64,
}

impl Score {
    fn of(attempt: &Attempt) -> Score {
        let accepted = attempt.ended && attempt.problems.iter().all(|problem| problem.hint);
        let followed = if accepted { -(attempt.unmodelled.len() as i64) } else { i64::MIN };
        let fits = attempt.doubts.iter().all(|doubt| doubt.kind != DoubtKind::TooLarge);
        Score { accepted, fits, followed, reached: attempt.reached, meant: -(attempt.doubts.len() as i64) }
    }
}

impl<'s> Search<'s> {
    pub(super) fn new(
        file: &'s FileFlow<'s>,
        entry: &'s Entry,
        builder: SpecBuilder<'s>,
        cancel: &'s Cancel<'s>,
    ) -> Search<'s> {
        Search {
            file,
            entry,
            builder,
            cancel,
            attempts: 0,
            steps: 0,
            known: FxHashMap::default(),
            hopeless: Vec::new(),
        }
    }

    /// Gives back all that was spent. What was tried is still known, and counts again where it is tried again.
    pub(super) fn begin_anew(&mut self) {
        (self.attempts, self.steps) = (0, 0);
        self.hopeless.clear();
    }

    /// What becomes of some values; `None` once the budget is spent.
    pub(super) fn attempt(&mut self, base: &Base) -> Result<Option<Attempt>, Cancelled> {
        if self.is_spent() {
            return Ok(None);
        }
        self.elaborate(base).map(Some)
    }

    /// Whether the budget is spent.
    fn is_spent(&self) -> bool {
        self.attempts >= ATTEMPTS || self.steps >= self.file.steps
    }

    /// Whether that of combinations is spent too.
    fn is_all_spent(&self) -> bool {
        self.steps >= self.file.steps + self.file.steps / 2
    }

    /// What becomes of a combination of values, past the budget of the search; `None` once that is spent too.
    pub(super) fn combination(&mut self, base: &Base) -> Result<Option<Attempt>, Cancelled> {
        if self.is_all_spent() {
            return Ok(None);
        }
        self.elaborate(base).map(Some)
    }

    fn elaborate(&mut self, base: &Base) -> Result<Attempt, Cancelled> {
        self.cancel.check()?;
        let spec = self.builder.spec(base);
        let attempt = match self.known.get(&spec) {
            Some(known) => known.clone(),
            None => {
                let made = self.made(&spec)?;
                self.known.insert(spec, made.clone());
                made
            }
        };
        // What is known counts as if it were tried again, so that the budget is that of the text.
        self.attempts += 1;
        self.steps += attempt.steps;
        Ok(attempt)
    }

    fn made(&self, spec: &Spec) -> Result<Attempt, Cancelled> {
        let (module, sources, library) = (self.file.module, self.file.sources, gluon::library());
        python::eval::attempt(module, sources, library, spec, (STEPS_OF_ONE, None), self.cancel)
    }

    /// Tries as many of these values at once as there are workers: they are likely to be asked for next, in this order.
    /// The budget counts what is asked for alone.
    pub(super) fn try_ahead<'b>(&mut self, bases: impl Iterator<Item = &'b Base>) -> Result<(), Cancelled> {
        let at_once = self.file.workers.at_once();
        if at_once < 2 || self.is_all_spent() {
            return Ok(());
        }
        let mut unknown: Vec<Spec> = bases.take(at_once).map(|base| self.builder.spec(base)).collect();
        if unknown.first().is_none_or(|next| self.known.contains_key(next)) {
            return Ok(());
        }
        unknown.retain(|spec| !self.known.contains_key(spec));
        let made = workers::map(self.file.workers, unknown, |spec| {
            let made = self.made(&spec);
            (spec, made)
        });
        for (spec, made) in made {
            self.known.insert(spec, made?);
        }
        Ok(())
    }

    /// The best values that were found, beginning with those of `base`, where those of `open` may change.
    pub(super) fn settle(&mut self, base: Base, open: &[&Open]) -> Result<(Base, Option<Attempt>), Cancelled> {
        let Some(mut attempt) = self.attempt(&base)? else { return Ok((base, None)) };
        let mut base = base;
        if let Some(ctas) = ctas_meant(self.entry, &base, &attempt) {
            base.num_ctas = Some((ctas, ValueSource::Chosen));
            let Some(now) = self.attempt(&base)? else { return Ok((base, None)) };
            attempt = now;
        }
        let first = base.clone();
        // Places for which no value was found, and those that were stepped aside to.
        let mut given_up: Vec<Trouble> = Vec::new();
        let mut seen: Vec<Trouble> = Vec::new();
        loop {
            let all = troubles(&attempt);
            let Some(trouble) = all.iter().find(|trouble| !given_up.contains(trouble)).cloned() else { break };
            seen.push(trouble.clone());
            match self.mend(&base, &attempt, &trouble, open, &seen)? {
                Some((better, now)) => (base, attempt) = (better, now),
                None if trouble.fatal => {
                    if !self.is_spent() {
                        self.hopeless.push(trouble);
                    }
                    break;
                }
                None => given_up.push(trouble),
            }
        }
        self.restore(&first, base, attempt, open)
    }

    /// Gives back the likeliest values to parameters that were changed on the way, where nothing is worse with them.
    fn restore(
        &mut self,
        first: &Base,
        mut base: Base,
        mut attempt: Attempt,
        open: &[&Open],
    ) -> Result<(Base, Option<Attempt>), Cancelled> {
        if !accepted(&attempt) {
            return Ok((base, Some(attempt)));
        }
        for of in open {
            let argument = |of_base: &Base| of_base.arguments.iter().position(|argument| argument.name == of.name);
            let (Some(now), then) = (argument(&base), argument(first)) else { continue };
            let as_good = |at: usize| base.arguments.get(at).is_some_and(|now| of.choices.contains(&now.given));
            let before = then.and_then(|at| first.arguments.get(at));
            let of_launch = before.is_some_and(|before| before.source == ValueSource::Launch);
            if (as_good(now) && !of_launch) || base.arguments.get(now) == before {
                continue;
            }
            let mut other = base.clone();
            other.arguments.remove(now);
            other.arguments.extend(before.cloned());
            let Some(then) = self.attempt(&other)? else { break };
            let no_worse = match of_launch {
                true => accepted(&then),
                false => Score::of(&then) >= Score::of(&attempt),
            };
            if no_worse {
                (base, attempt) = (other, then);
            }
        }
        Ok((base, Some(attempt)))
    }

    /// Values that come farther than those of `base`.
    fn mend(
        &mut self,
        base: &Base,
        before: &Attempt,
        trouble: &Trouble,
        open: &[&Open],
        seen: &[Trouble],
    ) -> Result<Option<(Base, Attempt)>, Cancelled> {
        let score = Score::of(before);
        let mut aside: Option<(Base, Attempt)> = None;
        let others = self.others(base, trouble, open);
        for (number, other) in others.iter().enumerate() {
            if !self.is_spent() {
                self.try_ahead(others.iter().skip(number))?;
            }
            let Some(now) = self.attempt(other)? else { break };
            let gone = !troubles(&now).contains(trouble);
            if gone && Score::of(&now) > score {
                return Ok(Some((other.clone(), now)));
            }
            // It is another refusal as far on: perhaps the next of several at one place.
            let farther =
                || troubles(&now).first().is_some_and(|first| !seen.contains(first) && first.follows(trouble));
            if trouble.fatal && gone && aside.is_none() && now.reached >= before.reached && farther() {
                aside = Some((other.clone(), now));
            }
        }
        Ok(aside)
    }

    /// The values to try next, the likeliest first: each differs from `base` in one parameter.
    fn others(&self, base: &Base, trouble: &Trouble, open: &[&Open]) -> Vec<Base> {
        let blamed = self.file.flow().blame(self.entry.def, &trouble.path, trouble.range);
        let blamed = blamed.iter().filter_map(|name| open.iter().find(|open| open.name == *name));
        let mut ranked: Vec<(usize, Base)> = Vec::new();
        for (nth, of) in blamed.take(BLAMED).enumerate() {
            let given = base.arguments.iter().find(|argument| argument.name == of.name);
            // What a launch gives stands, whatever loops do with it, unless it is refused.
            if !trouble.fatal && given.is_some_and(|argument| argument.source == ValueSource::Launch) {
                continue;
            }
            let now = given.map(|argument| &argument.given).or(of.default.as_ref());
            let later = if of.default.is_some() { DEFAULT } else { 0 };
            let mut values = trouble.suggests(now, &of.domain);
            values.extend(of.domain.iter().filter(|given| !values.contains(given)).cloned().collect::<Vec<_>>());
            // What one number lacks all numbers lack; of classes and functions each is tried.
            if VALUES.iter().any(|of| trouble.message.starts_with(&format!("{of} has no attribute "))) {
                let mut kinds: Vec<&'static str> = now.and_then(kind).into_iter().collect();
                values.retain(|given| {
                    let Some(kind) = kind(given) else { return true };
                    let new = !kinds.contains(&kind);
                    kinds.push(kind);
                    new
                });
            }
            for (at, given) in values.into_iter().filter(|given| Some(given) != now).enumerate() {
                let mut other = base.clone();
                other.give(&of.name, given, ValueSource::Chosen);
                ranked.push((nth * NEXT_PARAMETER + at + later, other));
            }
        }
        if trouble.message.contains("warp") && base.num_warps.is_none_or(|(_, source)| source >= ValueSource::Default) {
            let own = self.entry.params.iter().any(|param| param.name == "num_warps");
            for (at, warps) in [8, 1, 2, 16, 4].into_iter().enumerate().filter(|_| !own) {
                let mut other = base.clone();
                other.num_warps = Some((warps, ValueSource::Chosen));
                ranked.push((2 * at, other));
            }
        }
        if speaks_of_ctas(&trouble.message) && base.num_ctas.is_none_or(|(_, source)| source >= ValueSource::Default) {
            let own = self.entry.params.iter().any(|param| param.name == "num_ctas");
            for (at, ctas) in [2, 4, 1].into_iter().enumerate().filter(|_| !own) {
                let mut other = base.clone();
                other.num_ctas = Some((ctas, ValueSource::Chosen));
                ranked.push((2 * at, other));
            }
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        // What nothing mended for one launch is rarely mended for the next.
        let most = if self.hopeless.contains(trouble) { TRIED_AGAIN } else { TRIED };
        ranked.into_iter().take(most).map(|(_, base)| base).collect()
    }
}

/// Whether a message depends on how many CTAs a cluster has.
pub fn speaks_of_ctas(message: &str) -> bool {
    message.contains("CTA") || message.contains("num_ctas")
}

/// How messages call values that a parameter may have.
const VALUES: [&str; 7] = ["int", "bool", "float", "str", "NoneType", "dtype", "tensor"];

/// What kind of value this is, of kinds whose values all have the same attributes.
fn kind(given: &Given) -> Option<&'static str> {
    Some(match given {
        Given::Type(ty) if ty.starts_with("tensordesc") => "descriptor",
        Given::Type(_) => "scalar",
        Given::Value(text) if text.parse::<f64>().is_ok() => "number",
        Given::Value(text) if text == "True" || text == "False" => "truth value",
        Given::Value(text) if text == "None" => "none",
        Given::Value(_) => return None,
    })
}

/// How many CTAs the cluster has for which a kernel is written, where nobody says how many there are: layouts say it, and
/// a barrier of the cluster says that there are several.
pub(super) fn ctas_meant(entry: &Entry, base: &Base, attempt: &Attempt) -> Option<u32> {
    if base.num_ctas.is_some() || base.is_launched() || entry.params.iter().any(|param| param.name == "num_ctas") {
        return None;
    }
    let meant = attempt.doubts.iter().filter_map(|doubt| match doubt.kind {
        DoubtKind::Ctas(ctas) => Some(ctas),
        _ => None,
    });
    meant.max()
}

/// Whether nothing was refused.
pub(super) fn accepted(attempt: &Attempt) -> bool {
    Score::of(attempt).accepted
}
