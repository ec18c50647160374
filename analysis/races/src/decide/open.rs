//! Why a kernel is not decided: what is not followed of it, and what proofs and runs leave open.

use base::{Cancel, Cancelled, TextRange};
use rustc_hash::FxHashSet;

use super::{Decider, Proofs, Runs};
use crate::program::{Access, Argument, Base};
use crate::prove::Spread;
use crate::report::Reason;
use crate::run::Setting;

impl Decider<'_> {
    /// What of the kernel and its launch is not followed.
    pub(super) fn not_followed(&self, writes: bool) -> Vec<Reason> {
        let mut reasons: Vec<Reason> =
            self.program.gaps.iter().map(|(range, text)| Reason { range: *range, text: text.clone() }).collect();
        for access in &self.program.accesses {
            if access.base == Base::Unknown && (writes || access.action.writes()) {
                let range = self.tree.op_header_range(access.op);
                reasons.push(Reason { range, text: "which tensor this pointer points into is not known".to_owned() });
            }
        }
        for argument in &self.launch.folded {
            let used = |access: &&Access| access.base == Base::Argument(*argument);
            if let Some(access) = self.program.accesses.iter().find(used) {
                let range = self.tree.op_header_range(access.op);
                let text = "some elements of the described tensor lie in one place, which is not followed".to_owned();
                reasons.push(Reason { range, text });
            }
        }
        reasons.extend(self.laid_over().into_iter().map(|(range, text)| Reason { range, text }));
        reasons
    }

    /// Accesses through a descriptor of a tensor that the launch hands over in another way too: how the rows of the one
    /// lie in the other is not followed.
    pub(super) fn laid_over(&self) -> Vec<(TextRange, String)> {
        let arguments = || (0u32..).zip(&self.program.arguments);
        let mut all = Vec::new();
        for (at, own) in arguments().filter(|(_, argument)| argument.rank > 0) {
            let tensor = self.tensor(Base::Argument(at));
            let same = |(number, other): &(u32, &Argument)| {
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

    /// Why no launch is run.
    pub(super) fn none_to_run(&self, proofs: &Proofs) -> Reason {
        let text = match proofs.overflows {
            true => "a number of it does not fit into its integers in a launch that is too large to be run",
            false => "no launch that is small enough to be run satisfies what the kernel needs",
        };
        Reason { range: self.range, text: text.to_owned() }
    }

    /// What holds with no sizes that are known.
    pub(super) fn no_sizes(&self, needed: &[Spread]) -> Reason {
        let conditions: Vec<String> = crate::say::largest(&self.program, needed)
            .into_iter()
            .take(2)
            .map(|one| crate::say::spread(&self.program, one))
            .collect();
        let more = if needed.len() > 2 { ", and more" } else { "" };
        let text = format!("no sizes are known with which its rows stay apart: {}{more}", conditions.join(", "));
        Reason { range: self.range, text }
    }

    /// What runs without a race leave open, beside `reasons` that are known. `needed` has to hold for all to be proved.
    pub(super) fn left_by_runs(
        &self,
        (proofs, possible): (&Proofs, bool),
        runs: &Runs,
        (needed, asked): (&[Spread], &FxHashSet<u32>),
        reasons: &mut Vec<Reason>,
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        if reasons.is_empty() {
            let forever = self.never_given_back(&runs.outcomes).or_else(|| self.ends_in_no_run(&runs.outcomes));
            reasons.extend(forever.or_else(|| self.windows(needed)));
        }
        self.left_open(&runs.outcomes, asked, reasons);
        let executed = |access: u32| runs.outcomes.iter().any(|(_, outcome)| outcome.executes(access));
        let open = !self.is_whole();
        for access in proofs.open.iter().flat_map(|(a, b)| [*a, *b]) {
            if open && !executed(access) && reasons.is_empty() {
                reasons.push(self.at_access(access, "no run executed this access"));
            }
        }
        if proofs.limited {
            let text = "the kernel has too many accesses to compare".to_owned();
            reasons.push(Reason { range: self.range, text });
        }
        reasons.extend(self.parts());
        if reasons.is_empty() && open {
            let run: Vec<&Setting> = runs.outcomes.iter().map(|(setting, _)| setting).chain(&runs.uneven).collect();
            reasons.extend(self.never_varied(&run, asked));
            let run: Vec<&Setting> = run.into_iter().chain(&runs.beside).collect();
            reasons.extend(self.once_at_most(&run, asked));
        }
        if reasons.is_empty() && open && possible {
            reasons.extend(self.reaching_over(&proofs.spreads, &proofs.premises, cancel)?);
        }
        Ok(())
    }

    /// A reason at an access.
    pub(super) fn at_access(&self, access: u32, text: &str) -> Reason {
        let op = self.program.accesses[access as usize].op;
        Reason { range: self.tree.op_header_range(op), text: text.to_owned() }
    }
}
