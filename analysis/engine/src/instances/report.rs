//! Barrier reports and runs of Python kernels.

use super::budget::FileBudget;
use super::merge::{RESTS, merged};
use super::premise::blames;
use super::{ElaboratedInstance, Elaboration};
use crate::Engine;
use base::{Cancel, Cancelled, Limits};
use findings::{Finding, KernelReport, Verdict};
use report::Report;
use report::timeline::{Timeline, of_finding, of_kernel};

impl Engine {
    /// The barrier report of an instance of a kernel, by their numbers; `None` where there is none. Ranges
    /// are those of the Python text.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn report_python(
        &mut self,
        of: &Elaboration,
        (kernel, instance): (usize, usize),
        cancel: &Cancel<'_>,
    ) -> Result<Option<Report>, Cancelled> {
        let elaborated = of.kernels.get(kernel).and_then(|kernel| Some((kernel, kernel.instances.get(instance)?)));
        let Some((kernel, elaborated)) = elaborated else { return Ok(None) };
        let (Some(lowered), Some(tree)) = (elaborated.lowered(), elaborated.tree()) else { return Ok(None) };
        let mut report = self.report_in(tree, lowered, &elaborated.launches(), &**elaborated, cancel)?;
        elaborated.move_sheet(&mut report, instance);
        // What rests on chosen values shows beside the siblings alone.
        if kernel.instances.len() > 1 && report.findings.iter().any(blames) {
            let mut budget = FileBudget::new(of.kernels.len());
            budget.next_kernel();
            let all = merged(kernel, self.check_instances(kernel, &mut budget, cancel)?.0, &[]);
            for finding in report.findings.iter_mut().filter(|it| blames(it)) {
                let same = |other: &&Finding| (other.kind, other.range) == (finding.kind, finding.range);
                let hint = all.findings.iter().find(same).filter(|other| !blames(other));
                if let Some(hint) = hint {
                    (finding.severity, finding.message) = (hint.severity, hint.message.clone());
                }
            }
            if report.verdict == Verdict::Found && !report.findings.iter().any(blames) {
                report.verdict = Verdict::Clean(RESTS.to_owned());
            }
        }
        report.kernel.clone_from(&kernel.entry.name);
        report.range = of.module.place(kernel.entry.name_range).0;
        Ok(Some(report))
    }
}

impl ElaboratedInstance {
    fn move_sheet(&self, report: &mut Report, number: usize) {
        let findings = std::mem::take(&mut report.findings);
        report.texts_mut(&mut |text| *text = self.say(text));
        report.ranges_mut(&mut |range| *range = self.place(*range).range);
        let mut judged = KernelReport {
            name: report.kernel.clone(),
            range: report.range,
            findings,
            ..KernelReport::without_findings(report.verdict.clone())
        };
        // The order is that of the rows that name them.
        self.move_report(&mut judged, number);
        report.findings = judged.findings;
        report.verdict = judged.verdict;
    }

    /// The run of a finding of this instance, as it is drawn.
    pub fn run_of(&self, finding: &Finding) -> Option<Timeline> {
        let mut timeline = of_finding(self.lowered()?, finding, self)?;
        self.move_timeline(&mut timeline);
        Some(timeline)
    }

    /// A run of this instance in which nothing is wrong.
    pub fn run(&self, limits: &Limits) -> Option<Timeline> {
        let mut timeline = of_kernel(self.lowered()?, limits, self);
        self.move_timeline(&mut timeline);
        Some(timeline)
    }

    fn move_timeline(&self, timeline: &mut Timeline) {
        for step in &mut timeline.steps {
            let place = self.place(step.range);
            step.range = place.range;
            step.text.push_str(&place.within());
            step.source = place.source;
        }
    }
}
