//! What the analysis says of a text.

use base::{Cancel, Limits};
use engine::Engine;
use findings::{self, Kind, Severity};
use lower::lower;
use ttgir::Document;
use verify::unbound;

/// What became of a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is no program: why.
    Rejected(String),
    /// The kinds of its findings, each once, in their order of importance.
    Found(Vec<&'static str>),
    /// Nothing was found, and something was left open: what.
    Undecided(Vec<String>),
    /// Nothing was found; the kinds that a hint names.
    Survived(Vec<&'static str>),
}

/// Analyses a text.
pub fn judge(text: &str) -> Verdict {
    let document = Document::new(text);
    let mut engine = Engine::new(Limits::default());
    let (mut kinds, mut hints, mut open, mut kernels) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for section in document.sections() {
        let tree = section.tree();
        if let Some(error) = tree.errors().first() {
            return Verdict::Rejected(error.message.clone());
        }
        for mut lowered in lower(tree) {
            if let Some(kernel) = unbound(&lowered.kernel) {
                lowered.kernel = kernel;
            }
            kernels += 1;
            // Without the fixes that the engine offers for a document: they cost most of the time.
            let Ok(report) = engine.check_kernel(&lowered, &Cancel::never()) else { continue };
            if let findings::Verdict::Undecided(reasons) = report.verdict {
                open.extend(reasons);
            }
            for finding in report.findings.iter().filter(|finding| finding.kind != Kind::Unmodelled) {
                if finding.severity == Severity::Hint {
                    hints.push(finding.kind);
                } else {
                    kinds.push(finding.kind);
                }
            }
        }
    }
    if kernels == 0 {
        return Verdict::Rejected("it has no kernel".into());
    }
    match (kinds.is_empty(), open.is_empty()) {
        (false, _) => Verdict::Found(names(kinds)),
        (true, false) => Verdict::Undecided(open),
        (true, true) => Verdict::Survived(names(hints)),
    }
}

fn names(mut kinds: Vec<Kind>) -> Vec<&'static str> {
    kinds.sort();
    kinds.dedup();
    kinds.into_iter().map(Kind::name).collect()
}
