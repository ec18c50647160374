//! A second opinion: what the machine says of the TTGIR that Triton compiled of an instance, beside what it
//! says of the instance itself.
//!
//! Both are judged by the same machine, so a difference is one of the elaborator: our defect. Where the
//! kernels are equal there is nothing to compare further. Locations of compiled IR are lines and columns
//! of the file; findings are compared by kind and line.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ElaboratedInstance;
use super::instance::launched;
use crate::Engine;
use base::{Cancel, Cancelled, LineIndex};
use findings::{Finding, KernelReport, Kind, Severity, Verdict};
use kernel::text::print;
use lower::lower;
use ttgir::Document;
use verify::unbound;

/// How two readings of one instance compare.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// The kernels are equal.
    Same,
    /// The kernels differ in what no rule looks at: verdict and findings are equal.
    Agrees,
    /// The instance could not be followed whole, or Triton's IR could not; the other says this.
    Decides {
        /// Whether it is the compiled one that is decided.
        compiled: bool,
        /// Its verdict in words, and its findings.
        says: String,
    },
    /// They say different things, which is a defect of ours.
    Differs {
        /// Found in Python only: kind and line, from 1.
        python: Vec<(Kind, u32)>,
        /// Found in what Triton compiled only.
        compiled: Vec<(Kind, u32)>,
        /// Both kernels as text, for a report of the defect.
        kernels: Box<(String, String)>,
    },
}

impl Engine {
    /// Judges what Triton compiled of an instance. `Err` in the answer says why it is no second opinion.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn compare_with_compiled(
        &mut self,
        elaborated: &ElaboratedInstance,
        ttgir: &str,
        cancel: &Cancel<'_>,
    ) -> Result<Result<Opinion, String>, Cancelled> {
        let document = Document::new(ttgir);
        let Some(tree) = document.sections().first().map(|section| section.tree()) else {
            return Ok(Err("what Triton printed is empty".to_owned()));
        };
        if let Some(error) = tree.errors().first() {
            return Ok(Err(format!("what Triton printed cannot be read: {}", error.message)));
        }
        let mut kernels = lower(tree);
        let Some(mut lowered) = kernels.pop().filter(|_| kernels.is_empty()) else {
            return Ok(Err("what Triton printed holds not one kernel".to_owned()));
        };
        if let Some(kernel) = unbound(&lowered.kernel) {
            lowered.kernel = kernel;
        }
        // It is launched with what the instance is.
        let lowered = launched(Arc::new(lowered), &elaborated.instance);
        let whole = elaborated.unmodelled().is_empty() && elaborated.problems().iter().all(|problem| problem.hint);
        let Some(own) = elaborated.lowered() else {
            let report = self.check_kernel(&lowered, cancel)?;
            return Ok(Ok(Opinion::Decides { compiled: true, says: words(&report) }));
        };
        if whole && own.kernel == lowered.kernel {
            return Ok(Ok(Opinion::Same));
        }
        let compiled = self.check_kernel(&lowered, cancel)?;
        let python = self.check_kernel(own, cancel)?;
        let open = |report: &KernelReport| matches!(report.verdict, Verdict::Undecided(_));
        match (open(&python) || !whole, open(&compiled)) {
            (true, true) => return Ok(Ok(Opinion::Agrees)),
            (true, false) => return Ok(Ok(Opinion::Decides { compiled: true, says: words(&compiled) })),
            (false, true) => return Ok(Ok(Opinion::Decides { compiled: false, says: words(&python) })),
            (false, false) => {}
        }
        let lines = LineIndex::new(elaborated.module.text());
        let blamed = |report: &KernelReport| -> Vec<Finding> {
            let bad = report.findings.iter().filter(|finding| finding.severity <= Severity::Warning);
            bad.cloned().collect()
        };
        let line = |finding: &Finding| lines.line_col(elaborated.place(finding.range).range.start).line + 1;
        let here: BTreeSet<(Kind, u32)> = blamed(&python).iter().map(|finding| (finding.kind, line(finding))).collect();
        let file = elaborated.module.path().rsplit(['/', '\\']).next().unwrap_or("");
        let there: BTreeSet<(Kind, u32)> =
            blamed(&compiled).iter().map(|finding| (finding.kind, source_line(finding, file))).collect();
        // An op of a library's helper has no line in this file.
        let same = |a: &(Kind, u32), b: &(Kind, u32)| a.0 == b.0 && (a.1 == b.1 || a.1 == 0 || b.1 == 0);
        let only = |of: &BTreeSet<(Kind, u32)>, other: &BTreeSet<(Kind, u32)>| -> Vec<(Kind, u32)> {
            of.iter().filter(|a| !other.iter().any(|b| same(a, b))).copied().collect()
        };
        let (python, compiled) = (only(&here, &there), only(&there, &here));
        if python.is_empty() && compiled.is_empty() {
            return Ok(Ok(Opinion::Agrees));
        }
        Ok(Ok(Opinion::Differs { python, compiled, kernels: Box::new((print(&own.kernel), print(&lowered.kernel))) }))
    }
}

/// The line of the file that a finding of compiled IR is drawn at; 0 where it is in another file.
fn source_line(finding: &Finding, file: &str) -> u32 {
    let primary = finding.sites.iter().find(|site| site.primary).and_then(|site| site.source.as_deref());
    let Some((path, line)) = primary.and_then(|place| place.rsplit_once(':')) else { return 0 };
    if path.rsplit(['/', '\\']).next() == Some(file) { line.parse().unwrap_or(0) } else { 0 }
}

fn words(report: &KernelReport) -> String {
    match &report.verdict {
        Verdict::Proved(_) => "proved".to_owned(),
        Verdict::Clean(_) => "clean".to_owned(),
        Verdict::Undecided(why) => format!("undecided: {}", why.join("; ")),
        Verdict::Found => {
            let kinds: BTreeSet<&str> = report.findings.iter().map(|finding| finding.kind.name()).collect();
            kinds.into_iter().collect::<Vec<_>>().join(", ")
        }
    }
}
