//! Which of many ways to launch a kernel are analysed: few, in which each value of each parameter is once if that can be.

use super::given::plain_given;
use super::instance::{Base, Instances};
use super::{Argument, Host, Source, Spec, Target};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Something that a way to launch a kernel says, and what: a parameter or a setting and its value.
type Fact = (String, String);

/// Gives the ways to launch a kernel in such an order that each says as much as can be that no earlier one said.
pub(super) struct MostNews {
    /// Of each way, the numbers of its facts.
    facts: Vec<Vec<usize>>,
    /// By the number of the fact.
    said: Vec<bool>,
    given: Vec<bool>,
}

impl MostNews {
    fn new(facts: impl Iterator<Item = Vec<Fact>>) -> MostNews {
        let mut numbers: FxHashMap<Fact, usize> = FxHashMap::default();
        let mut number = |fact| {
            let next = numbers.len();
            *numbers.entry(fact).or_insert(next)
        };
        let facts: Vec<Vec<usize>> = facts.map(|facts| facts.into_iter().map(&mut number).collect()).collect();
        MostNews { said: vec![false; numbers.len()], given: vec![false; facts.len()], facts }
    }

    /// Of launches, by what is known of them.
    pub(super) fn of(bases: &[Base]) -> MostNews {
        MostNews::new(bases.iter().map(facts_of_base))
    }

    /// The numbers of those that come next, as long as nothing is said; the first among equals first.
    pub(super) fn upcoming(&self, count: usize) -> Vec<usize> {
        let news = |at: &usize| self.facts[*at].iter().filter(|fact| !self.said[**fact]).count();
        let mut open: Vec<usize> = (0..self.facts.len()).filter(|at| !self.given[*at]).collect();
        open.sort_by_cached_key(|at| (Reverse(news(at)), *at));
        open.truncate(count);
        open
    }

    /// This one is given.
    pub(super) fn give(&mut self, number: usize) {
        self.given[number] = true;
    }

    /// What this one says is said: others that say the same come later.
    pub(super) fn say(&mut self, number: usize) {
        self.facts[number].iter().for_each(|fact| self.said[*fact] = true);
    }
}

fn facts_of_base(base: &Base) -> Vec<Fact> {
    let mut facts = facts(&base.arguments, base.host.as_ref());
    facts.extend(base.partly.iter().map(|(name, partly)| (name.clone(), format!("{partly:?}"))));
    facts.extend(base.target.map(|(target, _)| target_fact(target)));
    let settings = [("num_warps", base.num_warps), ("num_ctas", base.num_ctas)];
    facts.extend(settings.into_iter().filter_map(|(name, value)| Some(setting(name, value?))));
    facts
}

fn facts_of_spec(spec: &Spec) -> Vec<Fact> {
    let mut facts = facts(&spec.arguments, spec.host.as_ref());
    facts.push(target_fact(spec.target.0));
    facts.extend([setting("num_warps", spec.num_warps), setting("num_ctas", spec.num_ctas)]);
    facts
}

fn facts(arguments: &[Argument], host: Option<&Host>) -> Vec<Fact> {
    let own = arguments.iter().map(|argument| (argument.name.clone(), plain_given(&argument.given)));
    own.chain(host.into_iter().flat_map(|host| host.arguments.clone())).collect()
}

fn target_fact(target: Target) -> Fact {
    ("target".to_owned(), target.name())
}

fn setting(name: &str, (value, _): (u32, Source)) -> Fact {
    (name.to_owned(), value.to_string())
}

/// At most [`Instances::MOST`] of them, and what is to be said of it; `others` launches were left alone before.
pub(super) fn fewer(specs: Vec<Spec>, others: usize) -> (Vec<Spec>, Option<String>) {
    let all = specs.len() + others;
    let mut taken = vec![specs.len() <= Instances::MOST; specs.len()];
    if specs.len() > Instances::MOST {
        let mut most_news = MostNews::new(specs.iter().map(facts_of_spec));
        for _ in 0..Instances::MOST {
            for best in most_news.upcoming(1) {
                most_news.give(best);
                most_news.say(best);
                taken[best] = true;
            }
        }
    }
    let kept: Vec<Spec> = specs.into_iter().zip(taken).filter_map(|(spec, taken)| taken.then_some(spec)).collect();
    let note = (kept.len() < all).then(|| format!("it is launched in {all} ways; {} of them are analysed", kept.len()));
    (kept, note)
}
