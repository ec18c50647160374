//! The decision on one kernel: pairs of accesses are proved apart; what is left is run.

use std::collections::BTreeSet;

use base::{Cancel, Cancelled, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::Tree;

use crate::choose::{
    companions, few_of_each, is_contradicted, is_never_met, neighbours, real_settings, settings, unlike, with_tile,
};
use crate::interval::Intervals;
use crate::launch::Known;
use crate::limits::proofs::{BY_TABLES, PAIRS, PAIRS_OF_MANY};
use crate::limits::runs::PROGRAMS;
use crate::persistent::{grouped, longer, persistent};
use crate::program::{Base, Completion, MemSyncScope, Program};
use crate::prove::{Converter, Counter, Premise, Prover, Ranges, Spread, Table, tables, tickets};
use crate::remainder::congruent;
use crate::report::{Assumption, Global, Query, Race, Reason, Status};
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use crate::smt::Question;
use crate::strides::{Pair, Strides, pair};
use crate::term::{Node, Symbol};

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

impl Decider<'_> {
    /// What there is to say; `allowance` is what the runs of its kernel may still cost.
    pub(crate) fn decide(mut self, allowance: &mut Allowance, cancel: &Cancel<'_>) -> Result<Global, Cancelled> {
        allowance.for_next_launch();
        let writes = self.program.accesses.iter().any(|access| access.action.writes());
        let mut reasons: Vec<Reason> =
            self.program.gaps.iter().map(|(range, text)| Reason { range: *range, text: text.clone() }).collect();
        for access in &self.program.accesses {
            if access.base == Base::Unknown && (writes || access.action.writes()) {
                let range = self.tree.op_header_range(access.op);
                reasons.push(Reason { range, text: "which tensor this pointer points into is not known".to_owned() });
            }
        }
        for argument in &self.launch.folded {
            let used = |access: &&crate::program::Access| access.base == Base::Argument(*argument);
            if let Some(access) = self.program.accesses.iter().find(used) {
                let range = self.tree.op_header_range(access.op);
                let text = "some elements of the described tensor lie in one place, which is not followed".to_owned();
                reasons.push(Reason { range, text });
            }
        }
        let laid_over = self.laid_over();
        reasons.extend(laid_over.iter().map(|(range, text)| Reason { range: *range, text: text.clone() }));
        if !writes && reasons.is_empty() {
            return Ok(self.report(Status::NoWrites, Vec::new(), Vec::new(), Vec::new(), 0));
        }
        let axes = self.axes();
        let mut proofs = self.prove(&axes, cancel)?;
        let mut spreads = proofs.spreads.clone();
        spreads.sort();
        spreads.dedup();
        let transfers = self.transfers();
        // What is assumed has to be possible, all of it at once.
        let possible = spreads.is_empty()
            || !is_never_met(&self.program, &self.launch, &spreads)
                && !settings(&self.program, &self.launch, &spreads).is_empty();
        if !possible && !self.launch.host.is_empty() {
            // Nothing is proved then.
            (proofs.open, proofs.premises) = (self.pairs().0, BTreeSet::new());
            spreads.clear();
        }
        if possible && proofs.open.is_empty() && !proofs.limited && transfers.is_empty() {
            reasons.extend(self.parts());
            reasons.extend(self.reaching_over(&spreads, &proofs.premises, cancel)?);
            if reasons.is_empty() {
                reasons.extend(self.meet_against(&spreads, &proofs.premises, cancel)?);
            }
            if reasons.is_empty() {
                reasons.extend(self.lost_sums(&proofs.premises).or_else(|| self.windows(&spreads)));
            }
            let waits = self.has_waits();
            let mut hang = None;
            if waits && reasons.is_empty() {
                (hang, reasons) = self.hangs_all_the_same(allowance, cancel)?;
            }
            let status = if reasons.is_empty() { Status::Proved } else { Status::Undecided };
            let assumed = self.assumptions(&axes, (&spreads, &proofs.premises), &FxHashSet::default(), waits);
            return Ok(self.report(status, Vec::new(), assumed, reasons, 0).or_hang(hang));
        }
        let mut needed = spreads.clone();
        for wanted in &proofs.wanted {
            if !needed.contains(wanted) {
                needed.push(wanted.clone());
            }
        }
        // What the host computes is what it is, be it enough for a proof or not.
        let real = [&needed, &spreads, &Vec::new()]
            .into_iter()
            .map(|spreads| real_settings(&self.program, &self.launch, spreads))
            .find(|made| !made.is_empty());
        let mut tried = real.unwrap_or_else(|| settings(&self.program, &self.launch, &needed));
        // Numbers under which strides overlap show races that no caller asks for.
        let fits = !tried.is_empty() || self.is_whole();
        if tried.is_empty() {
            tried = settings(&self.program, &self.launch, &spreads);
        }
        if tried.is_empty() {
            tried = settings(&self.program, &self.launch, &[]);
        }
        // These show races, and not that there is none.
        let mut unlike = match fits && !proofs.open.is_empty() && !self.launch.host.is_empty() {
            true => unlike(&self.program, &self.launch, &needed),
            false => Vec::new(),
        };
        if fits && !proofs.open.is_empty() {
            unlike.extend(persistent(&self.program, &self.launch, &needed));
            unlike.extend(grouped(&self.program, &self.launch, &needed));
            unlike.extend(longer(&self.program, &self.launch, &needed, &self.asked(&proofs)));
        }
        tried.iter_mut().for_each(|setting| self.few(&proofs.premises, setting));
        tried.retain(|setting| setting.programs() <= PROGRAMS && self.launch.switches_so(&self.program, setting));
        unlike.retain(|setting| self.launch.switches_so(&self.program, setting));
        if let Some(first) = tried.first()
            && let Some(further) = companions(&self.program, &self.launch, first)
        {
            tried.push(further);
        }
        if fits && !proofs.open.is_empty() {
            tried.extend(congruent(&self.program, &self.launch, &needed));
            let mut few = few_of_each(&self.program, &self.launch, &spreads).into_iter();
            tried.extend(few.next());
            unlike.extend(few);
        }
        if tried.is_empty() {
            let text = match proofs.overflows {
                true => "a number of it does not fit into its integers in a launch that is too large to be run",
                false => "no launch that is small enough to be run satisfies what the kernel needs",
            };
            let text = text.to_owned();
            reasons.push(Reason { range: self.range, text });
        }
        if !possible && self.is_whole() {
            spreads.clear();
        }
        let asked = match possible {
            true => self.asked(&proofs),
            false => (0u32..).take(self.program.accesses.len()).collect(),
        };
        let mut outcomes: Vec<(Setting, Outcome)> = Vec::new();
        let mut few = false;
        let mut hangs = None;
        let mut queue: Vec<Setting> = tried.into_iter().rev().collect();
        while let Some(setting) = queue.pop() {
            let outcome = explore(&self.program, &setting, &asked, allowance, cancel)?;
            hangs = hangs.or_else(|| Some((setting.clone(), outcome.hangs.clone()?)));
            let empty = outcome.limited && outcome.races.is_empty() && !(allowance.rationed && outcome.alone);
            if empty && setting.chosen.is_empty() && setting.programs() > 3 {
                // A few of the programs, while the others are late.
                queue.extend(neighbours(&setting).into_iter().map(|chosen| Setting { chosen, ..setting.clone() }));
                // Where each could be compared with each, a few show races and not that there is none.
                if !outcome.alone {
                    few = true;
                    continue;
                }
            }
            outcomes.push((setting, outcome));
        }
        let mut beside = Vec::new();
        for setting in unlike {
            let mut outcome = explore(&self.program, &setting, &asked, allowance, cancel)?;
            if !outcome.races.is_empty() {
                outcome.stuck.clear();
                outcome.limited = false;
                outcomes.push((setting, outcome));
            } else if !outcome.limited && outcome.stuck.is_empty() {
                beside.push(setting);
            }
        }
        let mut uneven = Vec::new();
        if fits && !proofs.open.is_empty() && outcomes.iter().all(|(_, outcome)| outcome.races.is_empty()) {
            let (met, run) = self.meet_unevenly((&needed, &proofs.premises), &asked, allowance, cancel)?;
            reasons.extend(met);
            uneven = run;
        }
        if outcomes.iter().any(|(_, outcome)| outcome.limited && outcome.alone) {
            allowance.ration();
        }
        if proofs.limited && !self.is_whole() {
            spreads.extend(self.clear_unproved(&mut outcomes, &axes, cancel)?);
            spreads.sort();
            spreads.dedup();
        }
        // What is not followed may order programs.
        if !self.program.gaps.is_empty() || !laid_over.is_empty() {
            outcomes.iter_mut().for_each(|(_, outcome)| outcome.races.clear());
        }
        let separated = self.clear_separated(&mut outcomes);
        let mut races = self.races(&outcomes);
        if races.is_empty() {
            reasons.extend(separated);
        }
        if !self.is_whole()
            && let Some(race) = outcomes.iter().flat_map(|(_, outcome)| &outcome.races).find(|race| wraps(race))
        {
            let op = self.program.accesses[race.second.access as usize].op;
            let text = "its address does not fit into its integers with the sizes that were tried".to_owned();
            reasons.push(Reason { range: self.tree.op_header_range(op), text });
        }
        if races.is_empty()
            && let Some(access) = outcomes.iter().find_map(|(_, outcome)| outcome.before_tensor)
        {
            let text = "with the sizes that were tried it goes to places before its tensor".to_owned();
            let op = self.program.accesses[access as usize].op;
            reasons.push(Reason { range: self.tree.op_header_range(op), text });
        }
        if !fits {
            races.clear();
            let conditions: Vec<String> = crate::say::largest(&self.program, &needed)
                .into_iter()
                .take(2)
                .map(|one| crate::say::spread(&self.program, one))
                .collect();
            let more = if needed.len() > 2 { ", and more" } else { "" };
            let text = format!("no sizes are known with which its rows stay apart: {}{more}", conditions.join(", "));
            reasons.push(Reason { range: self.range, text });
        }
        let (sure, conditional): (Vec<_>, Vec<_>) = races.into_iter().partition(|(_, _, sure)| *sure);
        let mut shown: Vec<(Race, Pair)> = Vec::with_capacity(sure.len());
        let mut narrow = Vec::new();
        let tails = (!self.masks_tails()).then(|| (self.lengths(), crate::choose::block(&self.program)));
        let host = &self.launch.host;
        let whole = |setting: &Setting| {
            tails.as_ref().and_then(|(lengths, block)| host.in_whole_blocks(setting, lengths, *block))
        };
        let mut strides = Strides::new(&mut self.program, &self.launch);
        for (race, pair, _) in sure {
            match strides.hangs_on(&outcomes, pair, (&asked, &whole), cancel)? {
                Some(why) => narrow.push((race, why)),
                None => shown.push((race, pair)),
            }
        }
        let mut races: Vec<Race> = Vec::with_capacity(shown.len());
        let mut tails: Vec<Reason> = Vec::new();
        for (mut race, pair) in shown {
            race.same = self.writes_the_same(&outcomes, pair, cancel)?;
            let tail = if race.same { None } else { self.of_tails(&outcomes, pair, &asked, cancel)? };
            match tail {
                Some(reason) => tails.push(reason),
                None => races.push(race),
            }
        }
        if races.is_empty() {
            reasons.extend(tails);
            for (race, text) in narrow {
                if !reasons.iter().any(|reason| reason.text == text) {
                    reasons.push(Reason { range: race.second.range, text });
                }
            }
            for (race, ..) in conditional {
                let text = "programs of one place along another axis of the grid would share this address; the grid is not known".to_owned();
                reasons.push(Reason { range: race.second.range, text });
            }
        }
        let zeros: FxHashSet<u32> = outcomes.iter().flat_map(|(_, outcome)| outcome.zeros.iter().copied()).collect();
        let waits = outcomes.iter().any(|(_, outcome)| outcome.waits);
        let mut assumed = self.assumptions(&axes, (&spreads, &proofs.premises), &zeros, waits);
        if few {
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
        let runs = outcomes.len() as u32;
        if !races.is_empty() {
            return Ok(self.report(Status::Found, races, assumed, reasons, runs));
        }
        let mut hang = None;
        if let Some((setting, found)) = hangs.filter(|_| self.tells_waits()) {
            hang = self.taken_for_ever(&setting, &found, &outcomes);
            reasons.push(self.hang(found.access));
        }
        if reasons.is_empty() {
            let forever = self.never_given_back(&outcomes).or_else(|| self.ends_in_no_run(&outcomes));
            reasons.extend(forever.or_else(|| self.windows(&needed)));
        }
        self.left_open(&outcomes, &asked, &mut reasons);
        let executed = |access: u32| outcomes.iter().any(|(_, outcome)| outcome.executes(access));
        let open = !self.is_whole();
        for (a, b) in &proofs.open {
            for access in [a, b] {
                if open && !executed(*access) && reasons.is_empty() {
                    let op = self.program.accesses[*access as usize].op;
                    let text = "no run executed this access".to_owned();
                    reasons.push(Reason { range: self.tree.op_header_range(op), text });
                }
            }
        }
        if proofs.limited {
            let text = "the kernel has too many accesses to compare".to_owned();
            reasons.push(Reason { range: self.range, text });
        }
        reasons.extend(self.parts());
        if reasons.is_empty() && open {
            let run: Vec<&Setting> = outcomes.iter().map(|(setting, _)| setting).chain(&uneven).collect();
            reasons.extend(self.never_varied(&run, &asked));
            let run: Vec<&Setting> = run.into_iter().chain(&beside).collect();
            reasons.extend(self.once_at_most(&run, &asked));
        }
        if reasons.is_empty() && open && possible {
            reasons.extend(self.reaching_over(&spreads, &proofs.premises, cancel)?);
        }
        let status = if reasons.is_empty() { Status::Clean } else { Status::Undecided };
        Ok(self.report(status, Vec::new(), assumed, reasons, runs).or_hang(hang))
    }

    /// Pairs of ops that are proved apart and that a run shows to race all the same: none, if proofs and runs are
    /// right.
    pub(crate) fn contradictions(mut self, cancel: &Cancel<'_>) -> Result<Vec<(TextRange, TextRange)>, Cancelled> {
        let axes = self.axes();
        let proofs = self.prove(&axes, cancel)?;
        let mut wrong = Vec::new();
        let all = (0..self.program.accesses.len() as u32).collect();
        let mut allowance = Allowance::whole();
        for setting in settings(&self.program, &self.launch, &proofs.spreads) {
            if setting.programs() > PROGRAMS {
                continue;
            }
            let outcome = explore(&self.program, &setting, &all, &mut allowance, cancel)?;
            for race in outcome.races.iter().filter(|race| race.programs[0] != race.programs[1]) {
                let (a, b) = (race.first.access, race.second.access);
                if !proofs.limited && !proofs.open.contains(&(a.min(b), a.max(b))) {
                    let place = |access: u32| self.tree.op_header_range(self.program.accesses[access as usize].op);
                    wrong.push((place(a), place(b)));
                }
            }
        }
        Ok(wrong)
    }

    /// Accesses that runs have to show: those of pairs that are not proved apart, and what may meet copies of its own
    /// program that are under way.
    fn asked(&self, proofs: &Proofs) -> FxHashSet<u32> {
        let accesses = || (0u32..).zip(&self.program.accesses);
        if proofs.limited {
            return accesses().map(|(number, _)| number).collect();
        }
        let mut asked: FxHashSet<u32> = proofs.open.iter().flat_map(|(a, b)| [*a, *b]).collect();
        asked.extend(self.transfers());
        asked
    }

    /// Stores that are under way until they are waited for, and what else their own program does to their tensor.
    fn transfers(&self) -> FxHashSet<u32> {
        let accesses = || (0u32..).zip(&self.program.accesses);
        let mut all = FxHashSet::default();
        for (number, open) in accesses().filter(|(_, access)| access.completion == Completion::StoreWait) {
            let same = accesses().filter(|(_, other)| {
                !matches!(other.completion, Completion::StoreWait | Completion::Counted)
                    && self.tensor(other.base) == self.tensor(open.base)
            });
            let before = all.len();
            all.extend(same.map(|(other, _)| other));
            if all.len() > before {
                all.insert(number);
            }
        }
        if !all.is_empty() {
            let counted = accesses().filter(|(_, access)| access.completion == Completion::Counted);
            all.extend(counted.map(|(number, _)| number));
        }
        all
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

    /// Whether the launch gives one tensor for two arguments.
    fn is_aliased(&self) -> bool {
        let arguments = 0..self.program.arguments.len() as u32;
        let tensors: FxHashSet<Option<u32>> = arguments.map(|at| self.tensor(Base::Argument(at))).collect();
        tensors.len() < self.program.arguments.len()
    }

    /// Argument `a` and argument `b` are one tensor.
    pub(crate) fn tensor(&self, base: Base) -> Option<u32> {
        match base {
            Base::Argument(argument) => Some(self.launch.same.get(&argument).copied().unwrap_or(argument)),
            Base::Unknown => None,
        }
    }

    /// Accesses through a descriptor of a tensor that the launch hands over in another way too: how the rows of the one
    /// lie in the other is not followed.
    fn laid_over(&self) -> Vec<(TextRange, String)> {
        let arguments = || (0u32..).zip(&self.program.arguments);
        let mut all = Vec::new();
        for (at, own) in arguments().filter(|(_, argument)| argument.rank > 0) {
            let tensor = self.tensor(Base::Argument(at));
            let same = |(number, other): &(u32, &crate::program::Argument)| {
                *number != at && self.tensor(Base::Argument(*number)) == tensor && other.rank != own.rank
            };
            let Some((_, other)) = arguments().find(same) else { continue };
            let through = self.program.accesses.iter().find(|access| access.base == Base::Argument(at));
            if let Some(access) = through {
                let (own, other) = (&own.name, &other.name);
                let text =
                    format!("`{own}` and `{other}` are one tensor, and how one lies in the other is not followed");
                all.push((self.tree.op_header_range(access.op), text));
            }
        }
        all
    }

    /// What the launch gives.
    fn known(&self) -> FxHashMap<Symbol, i64> {
        let values = self.launch.values.iter();
        let mut known: FxHashMap<Symbol, i64> =
            values.map(|(argument, value)| (Symbol::Argument(*argument), *value)).collect();
        let sizes = self.launch.sizes.iter();
        known.extend(sizes.map(|((argument, dim), size)| (Symbol::DescriptorSize(*argument, *dim), *size)));
        for axis in 0..3u8 {
            if let Some(count) = self.launch.grid[usize::from(axis)] {
                known.insert(Symbol::Programs(axis), count);
            }
        }
        known
    }

    /// What is drawn from counters.
    fn tickets(&self) -> FxHashMap<u32, Counter> {
        if self.is_aliased() {
            return FxHashMap::default();
        }
        let mut drawn = tickets(&self.program);
        // Of programs that differ along another axis, several have one number along this one.
        let axes = self.axes();
        drawn.retain(|_, counter| counter.axis().is_none_or(|axis| axes.iter().all(|other| *other == axis)));
        drawn
    }

    /// Arguments whose tensors nothing writes.
    fn constant(&self) -> FxHashSet<u32> {
        let writes = self.program.accesses.iter().filter(|access| access.action.writes());
        let written: FxHashSet<Option<u32>> = writes.map(|access| self.tensor(access.base)).collect();
        let arguments = 0..self.program.arguments.len() as u32;
        arguments.filter(|argument| !written.contains(&self.tensor(Base::Argument(*argument)))).collect()
    }

    /// How tables of indices are read.
    fn tables(&mut self) -> FxHashMap<u32, Table> {
        let constant = self.constant();
        tables(&mut self.program, |argument| constant.contains(&argument))
    }

    /// Pairs of accesses that may race where they meet, and whether there are too many.
    pub(crate) fn pairs(&self) -> (Vec<(u32, u32)>, bool) {
        let mut pairs = Vec::new();
        let count = self.program.accesses.len();
        for a in 0..count {
            for b in a..count {
                if self.may_race(a, b) {
                    pairs.push((a as u32, b as u32));
                }
            }
        }
        let limited = pairs.len() > PAIRS;
        if limited {
            pairs.truncate(PAIRS_OF_MANY);
        }
        (pairs, limited)
    }

    /// A question a set of two accesses, with our answer.
    pub(crate) fn queries(mut self, cancel: &Cancel<'_>) -> Result<Vec<Query>, Cancelled> {
        let (axes, known, drawn) = (self.axes(), self.known(), self.tickets());
        let (none, constant) = (FxHashMap::default(), self.constant());
        let mut queries = Vec::new();
        for (a, b) in self.pairs().0 {
            cancel.check()?;
            let place = |access: u32| self.tree.op_header_range(self.program.accesses[access as usize].op);
            let ops = (place(a), place(b));
            let tickets = drawn.clone();
            let ranges = Ranges::new(&self.program, &known);
            let counts = self.launch.host.counts(&mut self.program);
            let convert = Converter::of_launch(&self.program, ranges, counts);
            let mut prover = Prover {
                program: &mut self.program,
                convert,
                tickets,
                // What is assumed of tables is no part of the question.
                tables: &none,
                constant: &constant,
                known: &known,
                launch: &self.launch,
                sized: self.launch.given,
                axes: axes.clone(),
                length: None,
                asked: FxHashSet::default(),
                rows: 0,
                wanted: Vec::new(),
                broken: FxHashMap::default(),
                contradicted: FxHashMap::default(),
            };
            let apart = prover.apart(a, b);
            let spreads = apart.as_ref().map_or_else(Vec::new, |apart| apart.spreads.clone());
            let premises = apart.as_ref().map_or_else(BTreeSet::new, |apart| apart.premises.clone());
            let mut question = Question {
                premises: &premises,
                program: &mut self.program,
                pair: (a, b),
                axes: &axes,
                known: &known,
                tickets: &drawn,
                spreads: &spreads,
            };
            let text = question.text();
            queries.push(Query { kernel: self.name.clone(), ops, apart: apart.is_some(), text });
        }
        Ok(queries)
    }

    fn prove(&mut self, axes: &[u8], cancel: &Cancel<'_>) -> Result<Proofs, Cancelled> {
        let (pairs, limited) = self.pairs();
        Ok(Proofs { limited, ..self.prove_pairs(pairs, axes, cancel)? })
    }

    /// Takes races out of runs that the sizes which were tried have made, where their pairs were not looked at: what
    /// would keep them apart was not known when sizes were chosen. Gives what that was.
    fn clear_unproved(
        &mut self,
        outcomes: &mut [(Setting, Outcome)],
        axes: &[u8],
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Spread>, Cancelled> {
        let mut pairs: Vec<(u32, u32)> =
            outcomes.iter().flat_map(|(_, outcome)| outcome.races.iter().map(pair)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.truncate(PAIRS);
        let proofs = self.prove_pairs(pairs, axes, cancel)?;
        let stays = |race: &Meeting| proofs.wanted.is_empty() && proofs.open.contains(&pair(race));
        outcomes.iter_mut().for_each(|(_, outcome)| outcome.races.retain(stays));
        Ok(proofs.spreads)
    }

    pub(crate) fn prove_pairs(
        &mut self,
        pairs: Vec<(u32, u32)>,
        axes: &[u8],
        cancel: &Cancel<'_>,
    ) -> Result<Proofs, Cancelled> {
        let (known, tickets) = (self.known(), self.tickets());
        let (tables, constant) = (self.tables(), self.constant());
        let ranges = Ranges::new(&self.program, &known);
        let counts = self.launch.host.counts(&mut self.program);
        let convert = Converter::of_launch(&self.program, ranges, counts);
        let mut prover = Prover {
            tickets,
            tables: &tables,
            constant: &constant,
            program: &mut self.program,
            convert,
            known: &known,
            launch: &self.launch,
            sized: self.launch.given,
            axes: axes.to_vec(),
            length: None,
            asked: FxHashSet::default(),
            rows: BY_TABLES,
            wanted: Vec::new(),
            broken: FxHashMap::default(),
            contradicted: FxHashMap::default(),
        };
        let mut proofs = Proofs {
            open: Vec::new(),
            spreads: Vec::new(),
            premises: BTreeSet::new(),
            wanted: Vec::new(),
            limited: false,
            overflows: false,
        };
        // A tile that is read and then written is one set of addresses.
        let mut sets = FxHashMap::default();
        let alike: Vec<u32> = (0u32..)
            .zip(&prover.program.accesses)
            .map(|(at, access)| {
                let set = (access.offset, access.mask, access.path, access.lanes.clone(), access.bytes);
                *sets.entry(set).or_insert(at)
            })
            .collect();
        let mut decided: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let mut fits: FxHashMap<Spread, bool> = FxHashMap::default();
        for (a, b) in pairs {
            cancel.check()?;
            let (x, y) = (alike[a as usize], alike[b as usize]);
            let apart = match decided.get(&(x.min(y), x.max(y))) {
                Some(apart) => *apart,
                None => {
                    let apart = prover.apart(x.min(y), x.max(y));
                    // What some launch has to allow, and with numbers that are known this one.
                    let mut possible = |spread: &Spread| {
                        *fits.entry(spread.clone()).or_insert_with(|| {
                            let alone = std::slice::from_ref(spread);
                            !crate::say::is_impossible(prover.program, spread)
                                && (self.launch.host.is_empty()
                                    || !is_contradicted(prover.program, &self.launch, spread))
                                && (!self.launch.tells_sizes()
                                    || !settings(prover.program, &self.launch, alone).is_empty())
                        })
                    };
                    let apart = apart.filter(|apart| {
                        let told = |premise: &Premise| premise.holds(&self.launch.contents) != Some(false);
                        apart.spreads.iter().all(&mut possible) && apart.premises.iter().all(told)
                    });
                    decided.insert((x.min(y), x.max(y)), apart.is_some());
                    let proved = apart.is_some();
                    if let Some(apart) = apart {
                        let open = |spread: &Spread| !crate::say::is_certain(prover.program, spread);
                        proofs.spreads.extend(apart.spreads.into_iter().filter(open));
                        let open = |premise: &Premise| premise.holds(&self.launch.contents).is_none();
                        proofs.premises.extend(apart.premises.into_iter().filter(open));
                    }
                    proved
                }
            };
            if !apart {
                proofs.open.push((a, b));
            }
        }
        proofs.wanted = std::mem::take(&mut prover.wanted);
        proofs.overflows = prover.convert.overflows();
        Ok(proofs)
    }

    fn may_race(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.program.accesses[a], &self.program.accesses[b]);
        if !a.action.writes() && !b.action.writes() {
            return false;
        }
        match (self.tensor(a.base), self.tensor(b.base)) {
            (Some(x), Some(y)) if x == y => {}
            _ => return false,
        }
        match (a.action.ordering(), b.action.ordering()) {
            (Some(x), Some(y)) => x.scope == MemSyncScope::Cta || y.scope == MemSyncScope::Cta || a.bytes != b.bytes,
            _ => true,
        }
    }

    /// The races that launches show; beside each, whether it hangs on no chosen grid.
    fn races(&self, outcomes: &[(Setting, Outcome)]) -> Vec<(Race, Pair, bool)> {
        let mut races: Vec<(Race, Pair, bool)> = Vec::new();
        let mut told: FxHashSet<(u32, u32)> = FxHashSet::default();
        let whole = self.is_whole();
        for (setting, outcome) in outcomes {
            // Sizes that nobody gave may be larger than the kernel is made for.
            for meeting in outcome.races.iter().filter(|race| whole || !wraps(race)) {
                let of = pair(meeting);
                if !told.insert(of) {
                    continue;
                }
                {
                    let all = outcomes.iter().flat_map(|(setting, outcome)| {
                        let same = outcome.races.iter().filter(|race| pair(race) == of);
                        same.map(move |race| (setting, race))
                    });
                    let sure = all.into_iter().any(|(setting, meeting)| self.is_sure(setting, meeting));
                    races.push((self.race(setting, meeting), of, sure));
                }
            }
        }
        races.sort_by_key(|(race, ..)| (race.second.range, race.first.range, race.first.writes && race.second.writes));
        races
    }

    /// Whether a race does not hang on a grid that was chosen. A kernel that asks for several axes may be launched with
    /// one program along some of them: then its addresses need not tell programs apart there.
    fn is_sure(&self, setting: &Setting, meeting: &Meeting) -> bool {
        let unknown = |axis: usize| self.launch.grid[axis].is_none() && !self.launch.host.is_sized(axis);
        if self.program.axes.len() < 2 || meeting.programs[0] == meeting.programs[1] {
            return true;
        }
        let (a, b) = (setting.place(meeting.programs[0]), setting.place(meeting.programs[1]));
        let differ: Vec<usize> = (0..3).filter(|axis| a[*axis] != b[*axis]).collect();
        if !differ.iter().any(|axis| unknown(*axis)) {
            return true;
        }
        let wide = (0..3).filter(|axis| setting.grid[*axis] > 1 && unknown(*axis)).count();
        let told = |axis: &usize| {
            let is = |node: &Node| matches!(node, Node::Symbol(Symbol::Program(of), _) if usize::from(*of) == *axis);
            [&meeting.first, &meeting.second].into_iter().any(|event| {
                let access = &self.program.accesses[event.access as usize];
                [access.offset, access.mask, access.path].into_iter().any(|term| self.program.terms.any_leaf(term, is))
            })
        };
        wide <= 1 && differ.iter().all(told)
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
            hang: None,
            assumed,
            reasons,
            runs,
            accesses: self.program.accesses.len() as u32,
            alone: !self.program.axes.is_empty() && self.axes().is_empty(),
        }
    }
}

/// Whether the address of one side of a race is cut off at its width.
fn wraps(race: &Meeting) -> bool {
    race.first.wrapped || race.second.wrapped
}
