//! The findings of each kernel in the last text of a document in which it could be judged, at their places now.
//!
//! While somebody types, a kernel does not parse for a moment, or its analysis takes longer than the next key. What
//! was found before stays at its place till then, and says that it is of an earlier text.

use base::TextRange;
use engine::Analysis;
use findings::{Finding, KernelReport, TextProblem, Verdict};

/// What a finding of an earlier text says of itself.
const EARLIER: &str = " (of an earlier text; this one is not judged yet)";

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastGood {
    kernels: Vec<KernelReport>,
}

impl LastGood {
    /// Moves all places with an edit of the text. A finding whose own place is edited goes.
    pub(crate) fn edit(&mut self, edit: TextRange, len: usize) {
        for kernel in &mut self.kernels {
            kernel.findings.retain(|finding| !(edit.start < finding.range.end && finding.range.start < edit.end));
            kernel.ranges_mut(&mut |range| *range = moved(*range, edit, len));
        }
    }

    /// Takes over what could be judged of a text; what could not stays as it was, unless it is gone.
    pub(crate) fn keep(&mut self, analysis: &Analysis) {
        let torn = is_torn(analysis);
        let mut kept = Vec::with_capacity(analysis.kernels.len());
        let mut before: Vec<Option<KernelReport>> = std::mem::take(&mut self.kernels).into_iter().map(Some).collect();
        for (at, kernel) in analysis.kernels.iter().enumerate() {
            let known = counterpart(&before, kernel, ordinal(&analysis.kernels, at)).and_then(|at| before[at].take());
            if !kernel.broken {
                kept.push(kernel.clone());
            } else if let Some(known) = known {
                kept.push(known);
            }
        }
        if torn {
            // Text that does not parse may hide a kernel.
            kept.extend(before.into_iter().flatten());
        }
        self.kernels = kept;
    }

    /// The kernels that it knows.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Whether [`fill`](Self::fill) adds anything to what is known of a whole text.
    pub(crate) fn adds_to(&self, analysis: &Analysis) -> bool {
        !self.kernels.is_empty() && (is_torn(analysis) || analysis.kernels.iter().any(|kernel| kernel.broken))
    }

    /// Adds to each kernel that is not judged as it stands what was found in it before. `is_open` tells of a kernel of
    /// `analysis` whether more is to come, `all` whether kernels that are not there are to come, too.
    pub(crate) fn fill(&self, analysis: &mut Analysis, is_open: &dyn Fn(usize) -> bool, all: bool) {
        let torn = all || is_torn(analysis);
        let mut used = vec![false; self.kernels.len()];
        let known: Vec<Option<&KernelReport>> = self.kernels.iter().map(Some).collect();
        for at in 0..analysis.kernels.len() {
            let number = ordinal(&analysis.kernels, at);
            let Some(before) = counterpart(&known, &analysis.kernels[at], number) else { continue };
            used[before] = true;
            let kernel = &mut analysis.kernels[at];
            if kernel.broken || is_open(at) {
                let new = |old: &&Finding| {
                    let mut known =
                        kernel.findings.iter().chain(kernel.suppressed.iter().map(|suppressed| &suppressed.finding));
                    !known.any(|it| (it.kind, it.range) == (old.kind, old.range))
                };
                let added: Vec<Finding> = self.kernels[before].findings.iter().filter(new).map(earlier).collect();
                kernel.findings.extend(added);
            }
        }
        if torn {
            let gone = self.kernels.iter().zip(used).filter(|(_, used)| !used).map(|(kernel, _)| kernel);
            analysis.kernels.extend(gone.map(|kernel| KernelReport {
                findings: kernel.findings.iter().map(earlier).collect(),
                verdict: Verdict::Undecided(vec!["the text around it does not parse".to_owned()]),
                broken: true,
                ..kernel.clone()
            }));
        }
    }
}

/// Whether some of a text does not parse.
fn is_torn(analysis: &Analysis) -> bool {
    !analysis.syntax.is_empty() || analysis.problems.iter().any(|problem| problem.code == TextProblem::SYNTAX)
}

/// How many kernels of the same name stand before one.
fn ordinal(kernels: &[KernelReport], at: usize) -> usize {
    let name = kernels.get(at).map(|kernel| &kernel.name);
    kernels.iter().take(at).filter(|other| Some(&other.name) == name).count()
}

/// Where a kernel stands among those of an earlier text: the one of its name and number.
fn counterpart<K: AsKernel>(before: &[K], kernel: &KernelReport, number: usize) -> Option<usize> {
    let same = before.iter().enumerate().filter(|(_, known)| known.name() == Some(&kernel.name));
    same.map(|(at, _)| at).nth(number)
}

trait AsKernel {
    fn name(&self) -> Option<&str>;
}

impl AsKernel for Option<KernelReport> {
    fn name(&self) -> Option<&str> {
        self.as_ref().map(|kernel| kernel.name.as_str())
    }
}

impl AsKernel for Option<&KernelReport> {
    fn name(&self) -> Option<&str> {
        self.map(|kernel| kernel.name.as_str())
    }
}

fn earlier(finding: &Finding) -> Finding {
    // Its fix is an edit of another text.
    Finding { message: format!("{}{EARLIER}", finding.message), fix: None, ..finding.clone() }
}

/// Where a range stands after an edit.
fn moved(range: TextRange, edit: TextRange, len: usize) -> TextRange {
    let shift = |at: u32| u32::try_from(i64::from(at) + len as i64 - i64::from(edit.len())).unwrap_or(u32::MAX);
    let place = |at: u32, is_end: bool| {
        if at < edit.start || (is_end && at == edit.start) {
            at
        } else if at >= edit.end {
            shift(at)
        } else {
            edit.start
        }
    };
    let start = place(range.start, false);
    TextRange::new(start, place(range.end, !range.is_empty()).max(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Kind;

    fn kernel(name: &str, at: u32, broken: bool) -> KernelReport {
        let range = TextRange::new(at, at + 4);
        let found = Finding::at(Kind::Deadlock, "nobody arrives".to_owned(), range, name);
        KernelReport {
            name: name.to_owned(),
            range,
            verdict: Verdict::Found,
            findings: if broken { Vec::new() } else { vec![found] },
            suppressed: Vec::new(),
            runs: 1,
            steps: 1,
            proof: None,
            pin: None,
            global: None,
            broken,
        }
    }

    fn analysis(kernels: Vec<KernelReport>) -> Analysis {
        Analysis { kernels, ..Analysis::default() }
    }

    #[test]
    fn a_torn_kernel_keeps_its_findings_where_they_moved_and_says_so() {
        let mut last = LastGood::default();
        last.keep(&analysis(vec![kernel("a", 10, false), kernel("b", 50, false)]));
        last.edit(TextRange::new(2, 4), 5);
        let mut now = analysis(vec![kernel("a", 13, true), kernel("b", 53, false)]);
        last.fill(&mut now, &|_| false, false);
        let found = &now.kernels[0].findings;
        assert_eq!((found.len(), found[0].range), (1, TextRange::new(13, 17)));
        assert!(found[0].message.ends_with(EARLIER));
        assert_eq!(now.kernels[1].findings.len(), 1);
        // Once more without a judgement in between.
        last.keep(&analysis(vec![kernel("a", 13, true), kernel("b", 53, false)]));
        let mut again = analysis(vec![kernel("a", 13, true)]);
        last.fill(&mut again, &|_| false, false);
        assert_eq!(again.kernels[0].findings.len(), 1);
    }

    #[test]
    fn what_is_edited_or_deleted_is_not_kept() {
        let mut last = LastGood::default();
        last.keep(&analysis(vec![kernel("a", 10, false), kernel("b", 50, false)]));
        last.edit(TextRange::new(11, 12), 3);
        let mut now = analysis(vec![kernel("a", 10, true)]);
        last.fill(&mut now, &|_| false, false);
        assert_eq!((now.kernels.len(), now.kernels[0].findings.len()), (1, 0));
        last.keep(&analysis(vec![kernel("a", 10, false)]));
        assert_eq!(last.kernels.len(), 1);
    }

    #[test]
    fn places_move_with_the_text_before_them() {
        let range = TextRange::new(10, 14);
        assert_eq!(moved(range, TextRange::new(2, 4), 5), TextRange::new(13, 17));
        assert_eq!(moved(range, TextRange::new(14, 14), 5), range);
        assert_eq!(moved(range, TextRange::new(10, 10), 5), TextRange::new(15, 19));
        assert_eq!(moved(range, TextRange::new(12, 12), 5), TextRange::new(10, 19));
        assert_eq!(moved(range, TextRange::new(8, 20), 0), TextRange::new(8, 8));
    }
}
