//! How findings are shown: the one place where levels meet findings, after the analysis.

use engine::Analysis;
use findings::{Finding, KernelReport, Problem, Severity};

use crate::{Level, Settings};

impl Settings {
    /// Gives the findings of an analysis the severities that are set, and takes out those that are switched off.
    /// The verdicts stay: a kernel whose findings are all switched off is still one with findings.
    pub fn apply(&self, analysis: &mut Analysis) {
        if self.kinds.is_empty() {
            return;
        }
        for kernel in &mut analysis.kernels {
            let before = kernel.findings.len();
            self.apply_to(kernel);
            let gone = before - kernel.findings.len();
            if gone > 0 {
                analysis.problems.push(switched_off(kernel, gone));
            }
        }
    }

    /// The same of one kernel.
    pub fn apply_to(&self, kernel: &mut KernelReport) {
        kernel.findings.retain_mut(|finding| self.keep(finding));
    }

    /// Whether a finding is shown; it gets its severity.
    fn keep(&self, finding: &mut Finding) -> bool {
        let usual = finding.kind.severity();
        match self.kinds.get(&finding.kind) {
            None => true,
            Some(Level::Off) => false,
            Some(Level::As(severity)) => {
                // What its run makes weaker than its kind stays weaker; severities go down from the first.
                finding.severity = if finding.severity > usual { finding.severity.max(*severity) } else { *severity };
                true
            }
        }
    }
}

/// That findings of a kernel are not shown: no mark never means that there is none.
fn switched_off(kernel: &KernelReport, gone: usize) -> Problem {
    let findings = if gone == 1 { "finding is" } else { "findings are" };
    Problem {
        code: "switched-off",
        severity: Severity::Hint,
        message: format!("{gone} {findings} switched off by the settings"),
        range: kernel.range,
        source: None,
        fix: None,
    }
}
