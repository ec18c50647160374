//! Suppression comments: findings that their author knows of and has given a reason for.
//!
//! A comment holds for a finding that is drawn on its line, on the line under it, or, above a function, anywhere in
//! that function and in the run of the kernel that it is. What is suppressed is counted and stays in the report: a
//! kernel with such findings is `found`, not `clean`. A comment without a reason suppresses nothing.
//!
//! Deviations: a finding that is told in another file is suppressed where it is drawn in this one. Whether a comment
//! is used is not said where a kernel that it may be about is not decided.

mod comment;
mod places;
#[cfg(test)]
mod tests;

use base::TextRange;
use findings::{Edit, Finding, Fix, KernelReport, Kind, Suppressed, SuppressedBy, TextProblem, Verdict};
use python::syntax::Module;
use ttgir::Document;

pub use comment::UNUSED;
use comment::{OPEN, problem};
use places::{Function, Suppression, ir_comments, line_start, python_comments};

/// The suppression comments of a text.
#[derive(Clone, Debug, Default)]
pub struct Suppressions<'t> {
    text: &'t str,
    python: bool,
    /// Those for a line first.
    all: Vec<Suppression>,
    /// Whether all of the text was read.
    whole: bool,
}

impl<'t> Suppressions<'t> {
    /// Those of a TTGIR text.
    pub fn of_ir(document: &'t Document) -> Suppressions<'t> {
        let (all, whole) = ir_comments(document);
        Suppressions { text: document.text(), python: false, all, whole }
    }

    /// Those of a Python file.
    pub fn of_python(module: &'t Module) -> Suppressions<'t> {
        let (all, whole) = python_comments(module);
        Suppressions { text: module.text(), python: true, all, whole }
    }

    /// Moves what is suppressed out of a report's findings.
    pub fn apply(&self, report: &mut KernelReport) {
        if self.all.is_empty() {
            return;
        }
        for finding in std::mem::take(&mut report.findings) {
            let by = self.all.iter().find(|it| it.comment.holds(finding.kind) && self.covers(it, &finding, report));
            match by {
                Some(by) => report.suppressed.push(Suppressed {
                    finding,
                    reason: by.comment.reason.clone(),
                    by: SuppressedBy::Comment(by.comment.range),
                }),
                None => report.findings.push(finding),
            }
        }
    }

    fn covers(&self, it: &Suppression, finding: &Finding, report: &KernelReport) -> bool {
        let within = |function: &Function| function.range.contains(finding.range) || function.is(report);
        if it.above.as_ref().is_some_and(within) {
            return true;
        }
        let first = line_start(self.text, finding.range.start as usize) as u32;
        let Some(line) = it.line else { return false };
        // A call over several lines of Python has its comment at any of them.
        line == first || (self.python && it.behind && first < line && line < finding.range.end)
    }

    /// What is wrong with the comments, once they were applied to all kernels of the text; in the order of their
    /// places.
    pub fn problems(&self, kernels: &[KernelReport]) -> Vec<TextProblem> {
        let mut problems: Vec<TextProblem> =
            self.all.iter().flat_map(|it| it.comment.problems.iter().cloned()).collect();
        let judged = self.all.iter().filter(|it| !it.comment.reason.is_empty() && self.is_decided(it, kernels));
        for it in judged {
            let used = |kind: Kind| {
                let mut suppressed = kernels.iter().flat_map(|kernel| &kernel.suppressed);
                suppressed.any(|it_| it_.by == SuppressedBy::Comment(it.comment.range) && it_.finding.kind == kind)
            };
            let unused: Vec<(Kind, TextRange)> =
                it.comment.kinds.iter().copied().filter(|(kind, _)| !used(*kind)).collect();
            problems.extend(self.unused(it, &unused));
        }
        problems.sort_by_key(|problem| (problem.range, problem.severity));
        problems
    }

    /// Whether all kernels are decided that a comment can be about.
    fn is_decided(&self, it: &Suppression, kernels: &[KernelReport]) -> bool {
        let open = |kernel: &KernelReport| {
            let unmodelled = kernel.findings.iter().any(|finding| finding.kind == Kind::Unmodelled);
            unmodelled || matches!(kernel.verdict, Verdict::Undecided(_))
        };
        let own = |kernel: &&KernelReport| it.within.is_some_and(|within| within.contains(kernel.range));
        if kernels.iter().any(|kernel| own(&kernel)) {
            return !kernels.iter().filter(own).any(open);
        }
        self.whole && !kernels.iter().any(open)
    }

    fn unused(&self, it: &Suppression, unused: &[(Kind, TextRange)]) -> Option<TextProblem> {
        let names: Vec<String> = unused.iter().map(|(kind, _)| format!("`{}`", kind.name())).collect();
        if names.is_empty() {
            return None;
        }
        let message = format!("this suppresses nothing: there is no {} here", names.join(" and no "));
        let (range, fix) = if unused.len() == it.comment.kinds.len() {
            let edits = vec![Edit { range: self.whole_comment(it), text: String::new() }];
            (it.comment.range, Fix { title: "Remove the suppression".to_owned(), edits })
        } else {
            let (first, last) = (unused.first()?.1, unused.last()?.1);
            (first.cover(last), self.without(it, unused)?)
        };
        Some(problem(UNUSED, range, message, Some(fix)))
    }

    /// The comment without some of its kinds.
    fn without(&self, it: &Suppression, unused: &[(Kind, TextRange)]) -> Option<Fix> {
        let all = &it.comment.kinds;
        let kept: Vec<&str> = all.iter().filter(|kind| !unused.contains(kind)).map(|(kind, _)| kind.name()).collect();
        let range = all.first()?.1.cover(all.last()?.1);
        let names: Vec<String> = unused.iter().map(|(kind, _)| format!("`{}`", kind.name())).collect();
        let title = format!("Remove {} from the suppression", names.join(" and "));
        Some(Fix { title, edits: vec![Edit { range, text: kept.join(", ") }] })
    }

    /// A comment with the white space before it, or its whole line where nothing else stands there.
    fn whole_comment(&self, it: &Suppression) -> TextRange {
        let (start, end) = (it.comment.range.start as usize, it.comment.range.end as usize);
        let line = line_start(self.text, start);
        let before = self.text.get(line..start).unwrap_or("");
        let after = self.text.get(end..).unwrap_or("");
        let rest = after.find('\n').map_or(after.len(), |at| at + 1);
        if before.trim().is_empty() && after.get(..rest).unwrap_or("").trim().is_empty() {
            return TextRange::new(line as u32, (end + rest) as u32);
        }
        TextRange::new((line + before.trim_end().len()) as u32, end as u32)
    }
}

/// The edit that writes a suppression of a finding above its line, with a `?` for the reason; `None` where no
/// comment can stand there.
pub fn suppression(text: &str, python: bool, finding: &Finding) -> Option<Edit> {
    let start = line_start(text, finding.range.start as usize);
    let line = text.get(start..)?;
    let indent = line.get(..line.len() - line.trim_start_matches([' ', '\t']).len())?;
    let above = text.get(..start)?.trim_end_matches(['\n', '\r']);
    if python && above.ends_with('\\') {
        return None;
    }
    let (sign, end) = (if python { "#" } else { "//" }, if text.contains("\r\n") { "\r\n" } else { "\n" });
    let written = format!("{indent}{sign} {} ignore[{}] {OPEN}{end}", comment::MARK, finding.kind.name());
    // It stands there and waits for its reason.
    if text.get(..start)?.ends_with(&written) {
        return None;
    }
    Some(Edit { range: TextRange::empty(start as u32), text: written })
}
