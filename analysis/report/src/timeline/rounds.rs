//! The rounds of a run: when each lane comes round its outermost loop, and at which steps of a round it waits.

use std::collections::BTreeMap;

use base::TextRange;

use super::Timeline;

/// What a lane does from one step to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its first step.
    pub from: u32,
    /// Its last step.
    pub to: u32,
    /// Steps of the lane in it, ascending, and whether each is a wait.
    pub own: Vec<(u32, bool)>,
}

impl Round {
    /// How many of its steps are waits.
    pub fn waits(&self) -> usize {
        self.own.iter().filter(|(_, wait)| *wait).count()
    }
}

/// The rounds of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRounds {
    /// The lane, by its index.
    pub lane: usize,
    /// What it does before the first round.
    pub before: Option<Round>,
    /// One a time that it comes round; none where it does not, and all it does is before.
    pub rounds: Vec<Round>,
}

/// Ops that set up and end: they repeat for each buffer, barrier and partition, and not for each round.
const UPKEEP: [&str; 6] = ["alloc", "init", "inval", "fork", "join", "end"];

impl Timeline {
    /// The rounds of each lane that takes a step.
    pub fn rounds(&self) -> Vec<LaneRounds> {
        let mut lanes: Vec<Vec<u32>> = vec![Vec::new(); self.lanes.len()];
        for (at, step) in self.steps.iter().enumerate() {
            if let (Some(lane), Ok(at)) = (lanes.get_mut(step.lane), u32::try_from(at)) {
                lane.push(at + 1);
            }
        }
        let of = |(lane, steps): (usize, Vec<u32>)| (!steps.is_empty()).then(|| self.of_lane(lane, &steps));
        lanes.into_iter().enumerate().filter_map(of).collect()
    }

    fn of_lane(&self, lane: usize, steps: &[u32]) -> LaneRounds {
        let starts = self.starts(steps);
        let round = |from: usize, to: usize| {
            let own: Vec<(u32, bool)> = steps.get(from..to)?.iter().map(|step| (*step, self.waits(*step))).collect();
            Some(Round { from: own.first()?.0, to: own.last()?.0, own })
        };
        let ends = starts.iter().skip(1).copied().chain([steps.len()]);
        let rounds = starts.iter().zip(ends).filter_map(|(from, to)| round(*from, to)).collect();
        LaneRounds { lane, before: round(0, starts.first().copied().unwrap_or(steps.len())), rounds }
    }

    /// Where rounds begin among the steps of a lane. An op that comes again and again, as rarely as any that does so over
    /// half of what the lane does, tells them apart; a round begins where the first op that is repeated comes next, which
    /// is that of an inner loop where that stands first.
    fn starts(&self, steps: &[u32]) -> Vec<usize> {
        let mut places: BTreeMap<TextRange, Vec<usize>> = BTreeMap::new();
        for (at, number) in steps.iter().enumerate() {
            let Some(step) = self.step(*number).filter(|step| !UPKEEP.contains(&step.verb)) else { continue };
            places.entry(step.range).or_default().push(at);
        }
        let reach = |places: &[usize]| places.last().unwrap_or(&0) - places.first().unwrap_or(&0);
        let whole = |places: &&Vec<usize>| places.len() > 1 && 2 * reach(places) >= steps.len() / 2;
        let rarest = places.values().filter(whole).min_by_key(|places| (places.len(), places.first().copied()));
        let repeated = places.values().filter(|places| places.len() > 1).min_by_key(|places| places.first().copied());
        let (Some(rarest), Some(head)) = (rarest, repeated) else { return Vec::new() };
        let next = |before: &usize| head.iter().find(|at| *at > before).copied();
        let later: Option<Vec<usize>> = rarest.iter().take(rarest.len() - 1).map(next).collect();
        match (head.first(), later) {
            (Some(first), Some(later)) => [*first].into_iter().chain(later).collect(),
            _ => rarest.clone(),
        }
    }

    fn waits(&self, number: u32) -> bool {
        self.step(number).is_some_and(|step| matches!(step.verb, "wait" | "drain" | "join"))
    }
}
