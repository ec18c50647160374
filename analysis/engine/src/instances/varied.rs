//! Instances with another value in place of a chosen one, and which findings these do not have.

use std::sync::Arc;

use super::merge::Premise;
use super::premise::{
    Key, RACE_TEXT, RACE_VARIATIONS, TEXT, VARIATIONS, Variation, blames, is_followed, key, race_variations, tells,
    variations,
};
use super::{ElaboratedInstance, Elaboration, KernelInstances};
use crate::Engine;
use base::{Cancel, Cancelled};
use findings::{KernelReport, Kind, Verdict, describe_places};
use gluon::LaunchFacts;
use python::syntax::Sources;

/// A kernel of an elaboration, and what its other files hold.
#[derive(Clone, Copy)]
pub(super) struct Varied<'a> {
    pub(super) of: &'a Elaboration,
    pub(super) kernel: &'a KernelInstances,
    pub(super) sources: &'a dyn Sources,
}

impl Varied<'_> {
    /// An instance of the kernel with another value in place of a chosen one.
    pub(super) fn instance(
        &self,
        elaborated: &ElaboratedInstance,
        variation: &Variation,
        cancel: &Cancel<'_>,
    ) -> Result<ElaboratedInstance, Cancelled> {
        self.launched(elaborated, variation, None, cancel)
    }

    /// The same as one launch has it, if any is named, and else as all that were found.
    pub(super) fn launched(
        &self,
        elaborated: &ElaboratedInstance,
        variation: &Variation,
        launch: Option<Arc<LaunchFacts>>,
        cancel: &Cancel<'_>,
    ) -> Result<ElaboratedInstance, Cancelled> {
        let Varied { of, kernel, sources } = *self;
        let made = gluon::elaborate(&of.module, sources, &variation.spec, cancel)?;
        // A file that was no longer waited for counts as missing: nothing made without it is kept.
        cancel.check()?;
        let mut instance = specialize::Instance { spec: variation.spec.clone(), ..elaborated.instance.clone() };
        if let Some(launch) = launch {
            instance.launches = Arc::new([LaunchFacts::clone(&launch)]);
        }
        let name = kernel.entry.name_range;
        let text = (of.module.clone(), of.outline.clone());
        Ok(ElaboratedInstance::new(text, sources, instance, name, made, &kernel.instances))
    }
}

impl Engine {
    /// Which findings are not there with another value in place of a chosen one.
    pub(super) fn premises(
        &mut self,
        varied: Varied<'_>,
        reports: &[KernelReport],
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Premise>, Cancelled> {
        let kernel = varied.kernel;
        let mut premises: Vec<Premise> = Vec::new();
        let (mut left, mut left_races) = (VARIATIONS, RACE_VARIATIONS);
        let (mut text, mut race_text) = (0, 0);
        for (number, (report, elaborated)) in reports.iter().zip(&kernel.instances).enumerate() {
            if report.verdict != Verdict::Found || elaborated.stale().is_some() {
                continue;
            }
            // A finding that several instances share is looked at in the first of them.
            let earlier = reports.get(..number).unwrap_or(&[]);
            let known = |wanted: &Key| earlier.iter().flat_map(|report| &report.findings).any(|it| key(it) == *wanted);
            let mut open: Vec<Key> = report.findings.iter().filter(|it| blames(it)).map(key).collect();
            open.retain(|wanted| !known(wanted));
            let (mut races, mut others): (Vec<Key>, Vec<Key>) =
                open.into_iter().partition(|wanted| wanted.0 == Kind::GlobalRace);
            for variation in variations(kernel, elaborated) {
                if others.is_empty() || left == 0 || text > TEXT {
                    break;
                }
                left -= 1;
                let other = varied.instance(elaborated, &variation, cancel)?;
                text += other.document().text().len();
                let other = self.findings_of(&other, number, cancel)?;
                if tells(&other, report) {
                    premises.extend(variation.takes_away(&mut others, &other));
                }
            }
            for variation in race_variations(elaborated) {
                if races.is_empty() || left_races == 0 || race_text > RACE_TEXT {
                    break;
                }
                left_races -= 1;
                let other = varied.instance(elaborated, &variation, cancel)?;
                race_text += other.document().text().len();
                if is_followed(&other, elaborated) {
                    premises.extend(variation.takes_away(&mut races, &self.races_of(&other, number, cancel)?));
                }
            }
        }
        Ok(premises)
    }

    /// What is found in one instance and where, in Python; its runs are not for showing.
    fn findings_of(
        &mut self,
        elaborated: &ElaboratedInstance,
        number: usize,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport, Cancelled> {
        let report = match (elaborated.lowered(), elaborated.tree()) {
            (Some(lowered), Some(tree)) => {
                let outcome = self.outcome(&lowered.kernel, cancel)?;
                let report = describe_places(lowered, &outcome);
                self.with_globals(tree, lowered, report, &elaborated.launches(), cancel)?
            }
            _ => KernelReport::without_findings(Verdict::Undecided(Vec::new())),
        };
        Ok(elaborated.in_python(report, number))
    }

    /// The races of one instance in global memory, in Python.
    pub(super) fn races_of(
        &mut self,
        elaborated: &ElaboratedInstance,
        number: usize,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport, Cancelled> {
        let report = match (elaborated.lowered(), elaborated.tree()) {
            (Some(lowered), Some(tree)) => {
                let report = KernelReport::without_findings(Verdict::Clean("its barriers are not looked at".into()));
                self.with_globals(tree, lowered, report, &elaborated.launches(), cancel)?
            }
            _ => KernelReport::without_findings(Verdict::Undecided(Vec::new())),
        };
        Ok(elaborated.in_python(report, number))
    }
}
