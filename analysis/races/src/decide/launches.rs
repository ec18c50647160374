//! In which launches a kernel is run for what is not proved of it, and the runs.

use base::{Cancel, Cancelled};
use rustc_hash::FxHashSet;

use super::{Decider, Launches, Proofs, Runs};
use crate::choose::{companions, few_of_each, neighbours, real_settings, settings, unlike};
use crate::limits::runs::PROGRAMS;
use crate::persistent::{grouped, longer, persistent};
use crate::program::Completion;
use crate::remainder::congruent;
use crate::run::{Allowance, Setting, explore};

impl Decider<'_> {
    /// The launches that are run.
    pub(super) fn launches(&self, proofs: &Proofs) -> Launches {
        let spreads = &proofs.spreads;
        let mut needed = spreads.clone();
        for wanted in &proofs.wanted {
            if !needed.contains(wanted) {
                needed.push(wanted.clone());
            }
        }
        // What the host computes is what it is, be it enough for a proof or not.
        let real = [&needed, spreads, &Vec::new()]
            .into_iter()
            .map(|spreads| real_settings(&self.program, &self.launch, spreads))
            .find(|made| !made.is_empty());
        let mut tried = real.unwrap_or_else(|| settings(&self.program, &self.launch, &needed));
        // Numbers under which strides overlap show races that no caller asks for.
        let fits = !tried.is_empty() || self.is_whole();
        if tried.is_empty() {
            tried = settings(&self.program, &self.launch, spreads);
        }
        if tried.is_empty() {
            tried = settings(&self.program, &self.launch, &[]);
        }
        let mut unlike = match fits && !proofs.open.is_empty() && !self.launch.host.is_empty() {
            true => unlike(&self.program, &self.launch, &needed),
            false => Vec::new(),
        };
        if fits && !proofs.open.is_empty() {
            unlike.extend(persistent(&self.program, &self.launch, &needed));
            unlike.extend(grouped(&self.program, &self.launch, &needed));
            unlike.extend(longer(&self.program, &self.launch, &needed, &self.asked(proofs)));
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
            let mut few = few_of_each(&self.program, &self.launch, spreads).into_iter();
            tried.extend(few.next());
            unlike.extend(few);
        }
        Launches { tried, unlike, needed, fits }
    }

    /// Runs launches as long as the allowance lasts.
    pub(super) fn run(
        &self,
        (tried, unlike): (Vec<Setting>, Vec<Setting>),
        asked: &FxHashSet<u32>,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Runs, Cancelled> {
        let mut runs = Runs::default();
        let mut queue: Vec<Setting> = tried.into_iter().rev().collect();
        while let Some(setting) = queue.pop() {
            let outcome = explore(&self.program, &setting, asked, allowance, cancel)?;
            runs.hangs = runs.hangs.or_else(|| Some((setting.clone(), outcome.hangs.clone()?)));
            let empty = outcome.limited && outcome.races.is_empty() && !(allowance.rationed && outcome.alone);
            if empty && setting.chosen.is_empty() && setting.programs() > 3 {
                // A few of the programs, while the others are late.
                queue.extend(neighbours(&setting).into_iter().map(|chosen| Setting { chosen, ..setting.clone() }));
                // Where each could be compared with each, a few show races and not that there is none.
                if !outcome.alone {
                    runs.few = true;
                    continue;
                }
            }
            runs.outcomes.push((setting, outcome));
        }
        for setting in unlike {
            let mut outcome = explore(&self.program, &setting, asked, allowance, cancel)?;
            if !outcome.races.is_empty() {
                outcome.stuck.clear();
                outcome.limited = false;
                runs.outcomes.push((setting, outcome));
            } else if !outcome.limited && outcome.stuck.is_empty() {
                runs.beside.push(setting);
            }
        }
        Ok(runs)
    }

    /// Accesses that runs have to show: those of pairs that are not proved apart, and what may meet copies of its own
    /// program that are under way.
    pub(super) fn asked(&self, proofs: &Proofs) -> FxHashSet<u32> {
        let accesses = || (0u32..).zip(&self.program.accesses);
        if proofs.limited {
            return accesses().map(|(number, _)| number).collect();
        }
        let mut asked: FxHashSet<u32> = proofs.open.iter().flat_map(|(a, b)| [*a, *b]).collect();
        asked.extend(self.transfers());
        asked
    }

    /// Stores that are under way until they are waited for, and what else their own program does to their tensor.
    pub(super) fn transfers(&self) -> FxHashSet<u32> {
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
}
