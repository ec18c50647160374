//! How findings are shown: the one place where levels meet findings, after the analysis.

use engine::{Analysis, Listener, Progress};
use findings::{Finding, KernelReport, Suppressed, SuppressedBy};

use crate::{Level, Settings};

impl Settings {
    /// Gives the findings of an analysis the severities that are set, and sets those aside whose kind is off. The
    /// verdicts stay: a kernel whose findings are all off is still one with findings.
    pub fn apply(&self, analysis: &mut Analysis) {
        analysis.kernels.iter_mut().for_each(|kernel| self.apply_to(kernel));
    }

    /// Tells `listener` of kernels as these settings have them.
    pub fn listener<'a>(&'a self, listener: &'a mut Listener<'_>) -> impl FnMut(Progress<'_>) + Send + 'a {
        move |found| match found {
            Progress::Kernel { number, depth, report } => {
                let mut report = report.clone();
                self.apply_to(&mut report);
                listener(Progress::Kernel { number, depth, report: &report });
            }
            Progress::Syntax(errors) => listener(Progress::Syntax(errors)),
        }
    }

    /// The same of one kernel.
    pub fn apply_to(&self, kernel: &mut KernelReport) {
        if self.kinds.is_empty() {
            return;
        }
        for mut finding in std::mem::take(&mut kernel.findings) {
            if self.shows(&mut finding) {
                kernel.findings.push(finding);
            } else {
                let reason = format!("`{}` is off in the settings", finding.kind.name());
                kernel.suppressed.push(Suppressed { finding, reason, by: SuppressedBy::Settings });
            }
        }
    }

    /// Whether a finding is shown; it gets its severity.
    fn shows(&self, finding: &mut Finding) -> bool {
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

#[cfg(test)]
mod tests {
    use base::TextRange;
    use findings::{Kind, Verdict};

    use super::*;

    #[test]
    fn what_is_off_is_set_aside_and_counted() {
        let text = "[kinds]\ndeadlock = \"off\"\n";
        let (settings, errors) = crate::read(text);
        assert_eq!(errors, []);
        let found = |kind| Finding::at(kind, "nobody arrives".to_owned(), TextRange::new(3, 5), "k");
        let mut report = KernelReport {
            name: "k".to_owned(),
            range: TextRange::new(0, 1),
            verdict: Verdict::Found,
            findings: vec![found(Kind::Deadlock), found(Kind::LappedWait)],
            suppressed: Vec::new(),
            runs: 1,
            steps: 1,
            proof: None,
            pin: None,
            global: None,
            broken: false,
        };
        settings.apply_to(&mut report);
        let kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!((kinds, report.verdict.name()), (vec![Kind::LappedWait], "found"));
        assert_eq!((report.suppressed.len(), report.suppressed[0].by), (1, SuppressedBy::Settings));
        assert_eq!(report.suppressed[0].reason, "`deadlock` is off in the settings");
    }
}
