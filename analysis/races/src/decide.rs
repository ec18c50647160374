//! The decision on one kernel: pairs of accesses are proved apart; what is left is run.
//!
//! What is proved stands in `decide/pairs.rs`, in which launches the rest is run in `decide/launches.rs`, which races of
//! the runs are reported in `decide/shown.rs`, and what is left open in `decide/open.rs`. Partitions of one program are
//! compared in `decide/beside.rs`.

mod beside;
mod launches;
mod open;
mod pairs;
mod shown;

use std::collections::BTreeSet;

use base::{Cancel, Cancelled, TextRange};
use rustc_hash::FxHashSet;
use ttgir::Tree;

use crate::choose::with_tile;
use crate::interval::Intervals;
use crate::launch::Known;
use crate::program::{Base, Program};
use crate::prove::{Premise, Spread};
use crate::report::{Assumption, Global, Race, Reason, Status};
use crate::run::{Allowance, Hang, Meeting, Outcome, Setting};

/// A kernel, and what is known of its launch.
#[derive(Clone)]
pub(crate) struct Decider<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) program: Program,
    pub(crate) launch: Known,
    pub(crate) name: String,
    pub(crate) range: TextRange,
}

/// What the proofs came to.
pub(crate) struct Proofs {
    /// Pairs that are not proved apart.
    pub(crate) open: Vec<(u32, u32)>,
    /// On what the others rest.
    pub(crate) spreads: Vec<Spread>,
    /// And on what else.
    pub(crate) premises: BTreeSet<Premise>,
    /// What would have to hold beside, for those that are open.
    wanted: Vec<Spread>,
    /// Whether there were too many.
    limited: bool,
    /// Whether some number does not fit into its integers in the launch.
    overflows: bool,
}

/// Launches that are run.
struct Launches {
    /// Those that may show that there is no race.
    tried: Vec<Setting>,
    /// Those that show races, and not that there is none.
    unlike: Vec<Setting>,
    /// What has to hold for what is proved, and for what is not.
    needed: Vec<Spread>,
    /// Whether they are such that all of that holds.
    fits: bool,
}

/// What the runs came to.
#[derive(Default)]
struct Runs {
    /// Launches with what they showed.
    outcomes: Vec<(Setting, Outcome)>,
    /// Further launches that showed no race.
    beside: Vec<Setting>,
    /// Launches in which programs meet unevenly.
    uneven: Vec<Setting>,
    /// Whether but a few of the programs of some launch were run.
    few: bool,
    /// The first launch in which a program waits for what no other one does any more.
    hangs: Option<(Setting, Hang)>,
}

impl Decider<'_> {
    /// What there is to say; `allowance` is what the runs of its kernel may still cost.
    pub(crate) fn decide(mut self, allowance: &mut Allowance, cancel: &Cancel<'_>) -> Result<Global, Cancelled> {
        allowance.for_next_launch();
        let writes = self.program.accesses.iter().any(|access| access.action.writes());
        let reasons = self.not_followed(writes);
        if !writes && reasons.is_empty() {
            return Ok(self.report(Status::NoWrites, Vec::new(), Vec::new(), Vec::new(), 0));
        }
        let axes = self.axes();
        let mut proofs = self.prove(&axes, cancel)?;
        proofs.spreads.sort();
        proofs.spreads.dedup();
        // What is assumed has to be possible, all of it at once.
        let possible = self.are_possible(&proofs.spreads);
        if !possible && !self.launch.host.is_empty() {
            // Nothing is proved then.
            (proofs.open, proofs.premises) = (self.pairs().0, BTreeSet::new());
            proofs.spreads.clear();
        }
        if possible && proofs.open.is_empty() && !proofs.limited && self.transfers().is_empty() {
            self.decide_by_proof(&proofs, &axes, reasons, allowance, cancel)
        } else {
            self.decide_by_runs((proofs, possible), &axes, reasons, allowance, cancel)
        }
    }

    /// What there is to say where all pairs are proved apart.
    fn decide_by_proof(
        &self,
        proofs: &Proofs,
        axes: &[u8],
        mut reasons: Vec<Reason>,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Global, Cancelled> {
        let (spreads, premises) = (&proofs.spreads, &proofs.premises);
        reasons.extend(self.parts());
        reasons.extend(self.reaching_over(spreads, premises, cancel)?);
        reasons.extend(self.of_other_rows(spreads));
        if reasons.is_empty() {
            reasons.extend(self.meet_against(spreads, premises, cancel)?);
        }
        if reasons.is_empty() {
            reasons.extend(self.lost_sums(premises).or_else(|| self.windows(spreads)));
        }
        let waits = self.has_waits();
        let mut hang = None;
        if waits && reasons.is_empty() {
            (hang, reasons) = self.hangs_all_the_same(allowance, cancel)?;
        }
        let status = if reasons.is_empty() { Status::Proved } else { Status::Undecided };
        let assumed = self.assumptions(axes, (spreads, premises), &FxHashSet::default(), waits);
        Ok(self.report(status, Vec::new(), assumed, reasons, 0).or_hang(hang))
    }

    /// What there is to say where the kernel has to be run; whether all that proofs assume is `possible` at once.
    fn decide_by_runs(
        &mut self,
        (mut proofs, possible): (Proofs, bool),
        axes: &[u8],
        mut reasons: Vec<Reason>,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Global, Cancelled> {
        let Launches { tried, unlike, needed, fits } = self.launches(&proofs);
        if tried.is_empty() {
            reasons.push(self.none_to_run(&proofs));
        }
        if !possible && self.is_whole() {
            proofs.spreads.clear();
        }
        let asked = match possible {
            true => self.asked(&proofs),
            false => (0u32..).take(self.program.accesses.len()).collect(),
        };
        let mut runs = self.run((tried, unlike), &asked, allowance, cancel)?;
        if fits && !proofs.open.is_empty() && runs.outcomes.iter().all(|(_, outcome)| outcome.races.is_empty()) {
            let (met, run) = self.meet_unevenly((&needed, &proofs.premises), &asked, allowance, cancel)?;
            reasons.extend(met);
            runs.uneven = run;
        }
        if runs.outcomes.iter().any(|(_, outcome)| outcome.limited && outcome.alone) {
            allowance.ration();
        }
        if proofs.limited && !self.is_whole() {
            proofs.spreads.extend(self.clear_unproved(&mut runs.outcomes, axes, cancel)?);
            proofs.spreads.sort();
            proofs.spreads.dedup();
        }
        // What is not followed may order programs.
        if !self.program.gaps.is_empty() || !self.laid_over().is_empty() {
            runs.outcomes.iter_mut().for_each(|(_, outcome)| outcome.races.clear());
        }
        let separated = self.clear_separated(&mut runs.outcomes);
        let handed_over = self.handed_over();
        let mut open = proofs.open.iter().flat_map(|(a, b)| [*a, *b]);
        let of_partitions = open.find(|access| handed_over.contains(access));
        if of_partitions.is_some() {
            let own = |race: &Meeting| [&race.first, &race.second].iter().all(|of| !handed_over.contains(&of.access));
            runs.outcomes.iter_mut().for_each(|(_, outcome)| outcome.races.retain(own));
        }
        let mut races = self.races(&runs.outcomes);
        if races.is_empty() {
            reasons.extend(separated);
        }
        reasons.extend(self.beyond_width(&runs.outcomes));
        if races.is_empty() {
            reasons.extend(self.before_tensor(&runs.outcomes));
        }
        if !fits {
            races.clear();
            reasons.push(self.no_sizes(&needed));
        }
        let races = self.reported(races, &runs.outcomes, &asked, &mut reasons, cancel)?;
        let assumed = self.assumed_by_runs(&proofs, &runs, axes);
        let launches = runs.outcomes.len() as u32;
        if !races.is_empty() {
            return Ok(self.report(Status::Found, races, assumed, reasons, launches));
        }
        let mut hang = None;
        if let Some((setting, found)) = runs.hangs.as_ref().filter(|_| self.tells_waits()) {
            hang = self.taken_for_ever(setting, found, &runs.outcomes);
            reasons.push(self.hang(found.access));
        }
        self.left_by_runs((&proofs, possible), &runs, (&needed, &asked), &mut reasons, cancel)?;
        if reasons.is_empty() {
            reasons.extend(of_partitions.map(|access| self.order_of_partitions(access)));
        }
        let status = if reasons.is_empty() { Status::Clean } else { Status::Undecided };
        Ok(self.report(status, Vec::new(), assumed, reasons, launches).or_hang(hang))
    }

    /// What is assumed of a kernel that was run.
    fn assumed_by_runs(&self, proofs: &Proofs, runs: &Runs, axes: &[u8]) -> Vec<Assumption> {
        let outcomes = || runs.outcomes.iter().map(|(_, outcome)| outcome);
        let zeros: FxHashSet<u32> = outcomes().flat_map(|outcome| outcome.zeros.iter().copied()).collect();
        let waits = outcomes().any(|outcome| outcome.waits);
        let mut assumed = self.assumptions(axes, (&proofs.spreads, &proofs.premises), &zeros, waits);
        if runs.few {
            assumed.push(Assumption::text("what races does so among three programs"));
        }
        if !proofs.open.is_empty()
            && !self.is_whole()
            && let Some(programs) = with_tile(&self.program, &self.launch)
        {
            assumed.push(Assumption::text(format!(
                "what races does so among the first {programs} programs along an axis, which have a tile each"
            )));
        }
        assumed
    }

    /// No more programs than was assumed.
    pub(crate) fn few(&self, premises: &BTreeSet<Premise>, setting: &mut Setting) {
        for premise in premises {
            let Premise::Few(axis, most) = premise else { continue };
            let most =
                Intervals::new(&self.program, setting, &[]).poly(most).and_then(|(_, most)| i64::try_from(most).ok());
            let count = &mut setting.grid[usize::from(*axis)];
            *count = most.map_or(*count, |most| (*count).min(most.max(1)));
        }
    }

    /// Whether a launch gives all that there is to know.
    fn is_whole(&self) -> bool {
        self.launch.is_whole(&self.program)
    }

    /// Integer arguments that are 0 in a launch which does not give all of them.
    pub(crate) fn zeros(&self) -> Vec<String> {
        let integers = || (0u32..).zip(&self.program.arguments).filter(|(_, argument)| argument.bits.is_some());
        if integers().all(|(at, _)| self.launch.value(at).is_some()) {
            return Vec::new();
        }
        let zeros = integers().filter(|(at, _)| self.launch.value(*at) == Some(0));
        zeros.map(|(_, argument)| argument.name.clone()).collect()
    }

    /// Axes on which two programs may differ.
    pub(crate) fn axes(&self) -> Vec<u8> {
        let grid = &self.launch.grid;
        let differs = |axis: &u8| match grid[usize::from(*axis)] {
            Some(count) => count > 1,
            None => self.program.axes.contains(axis),
        };
        (0..3).filter(differs).collect()
    }

    /// Argument `a` and argument `b` are one tensor.
    pub(crate) fn tensor(&self, base: Base) -> Option<u32> {
        match base {
            Base::Argument(argument) => Some(self.launch.same.get(&argument).copied().unwrap_or(argument)),
            Base::Unknown => None,
        }
    }

    fn report(
        &self,
        status: Status,
        races: Vec<Race>,
        assumed: Vec<Assumption>,
        reasons: Vec<Reason>,
        runs: u32,
    ) -> Global {
        Global {
            kernel: self.name.clone(),
            range: self.range,
            status,
            races,
            partition_races: Vec::new(),
            beside: Vec::new(),
            hang: None,
            assumed,
            reasons,
            runs,
            accesses: self.program.accesses.len() as u32,
            alone: !self.program.axes.is_empty() && self.axes().is_empty(),
        }
    }
}
