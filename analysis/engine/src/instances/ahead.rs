//! Instances that several workers judge at once, before it is said in order what there is to say of each.
//!
//! What they find out is remembered by the engine; whoever goes through the kernels then finds it there.

use super::budget::{FileBudget, SharedBudget, Spent};
use super::{ElaboratedInstance, Elaboration};
use crate::Engine;
use base::Cancel;
use std::sync::Arc;

/// How many instances are judged at once at least, where there are so many.
const BATCH: usize = 16;

/// The instances of a file that are yet to be judged.
pub(super) struct Ahead<'e> {
    /// Each with the number of its kernel.
    instances: Vec<(usize, &'e Arc<ElaboratedInstance>)>,
    next: usize,
    budget: SharedBudget,
}

impl<'e> Ahead<'e> {
    /// Those of the kernels that are `unknown`.
    pub(super) fn new(of: &'e Elaboration, unknown: impl Iterator<Item = bool>) -> Ahead<'e> {
        let kernels = of.kernels.iter().enumerate().zip(unknown).filter(|(_, unknown)| *unknown);
        let instances = kernels.flat_map(|((at, kernel), _)| kernel.instances.iter().map(move |it| (at, it)));
        let instances = instances.filter(|(_, elaborated)| !elaborated.is_left_out()).collect();
        Ahead { instances, next: 0, budget: SharedBudget::new(of.kernels.len()) }
    }

    /// Judges what there is of the kernels up to this one, and of those behind it where these are few.
    /// `left` is what they may cost.
    pub(super) fn judge_up_to(&mut self, kernel: usize, left: &FileBudget, engine: &Engine, cancel: &Cancel<'_>) {
        let rest = self.instances.get(self.next..).unwrap_or(&[]);
        let due = rest.iter().take_while(|(at, _)| *at <= kernel).count();
        if due == 0 {
            return;
        }
        let batch = rest.get(..due.max(BATCH).min(rest.len())).unwrap_or(rest);
        self.next += batch.len();
        let budget = &self.budget;
        engine.workers.each(batch.len(), &|number| {
            let Some((of, elaborated)) = batch.get(number) else { return };
            let most = if *of == kernel { left.share() } else { left.least_share() };
            if budget.affords(*of, elaborated, most, &engine.limits)
                && let Ok(report) = engine.sibling().check_instance(elaborated, 0, cancel)
            {
                budget.spend(*of, elaborated, Spent::on(&report, false));
            }
        });
    }
}
