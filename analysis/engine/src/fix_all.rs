//! Several fixes as one change, judged as a whole.
//!
//! Each fix was judged alone; together they may meet at one barrier, or one may make another needless. So the text with
//! all of them is analysed again, and the change counts where what they are for is gone and nothing is new: no finding
//! but hints, no syntax error, no kernel less decided. Where all of them together do not pass, they are taken one by one
//! as long as the whole passes.
//!
//! Missed: fixes that meet at one place are not merged; the first of them is taken.

use std::collections::BTreeSet;

use base::Cancelled;
use findings::{Edit, Finding, Fix, KernelReport, Kind, Severity, Verdict};
use fixes::{apply, moved};

use crate::Analysis;

/// Texts that are judged for one change.
const TRIES: usize = 12;

/// A fix and the finding that it is for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The kernel, by its place among the analysis's.
    pub kernel: usize,
    /// The finding, by its place among the kernel's.
    pub finding: usize,
    /// Its fix, judged alone.
    pub fix: Fix,
}

/// A change that mends several findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManyFixed {
    /// Its edits, ascending, disjoint.
    pub edits: Vec<Edit>,
    /// How many findings are gone with it.
    pub findings: usize,
}

/// Analyses a text as the one before was analysed.
pub type Analyse<'a> = dyn FnMut(&str) -> Result<Analysis, Cancelled> + 'a;

/// The change that makes of a text one with as many of these fixes as pass together; `None` where none does.
///
/// # Errors
///
/// Where `analyse` was cancelled.
pub fn fix_all(
    text: &str,
    before: &Analysis,
    wanted: &[Wanted],
    analyse: &mut Analyse<'_>,
) -> Result<Option<ManyFixed>, Cancelled> {
    let mut tries = TRIES;
    let mut judge = |chosen: &[&Wanted]| -> Result<Option<ManyFixed>, Cancelled> {
        let Some(edits) = joined(chosen) else { return Ok(None) };
        let Some(edited) = apply(text, &edits).filter(|_| tries > 0) else { return Ok(None) };
        tries -= 1;
        let after = analyse(&edited)?;
        Ok(passes(before, &after, chosen, &edits).then(|| gone(before, &after, edits)))
    };
    let all = disjoint(wanted);
    if all.is_empty() {
        return Ok(None);
    }
    if let Some(whole) = judge(&all)? {
        return Ok(Some(whole));
    }
    let (mut chosen, mut best) = (Vec::new(), None);
    for one in all {
        chosen.push(one);
        match judge(&chosen)? {
            Some(passed) => best = Some(passed),
            None => drop(chosen.pop()),
        }
    }
    Ok(best)
}

/// Those that do not touch what an earlier one changes otherwise.
fn disjoint(wanted: &[Wanted]) -> Vec<&Wanted> {
    let mut chosen: Vec<&Wanted> = Vec::new();
    for one in wanted.iter().filter(|one| !one.fix.edits.is_empty()) {
        chosen.push(one);
        if joined(&chosen).is_none() {
            chosen.pop();
        }
    }
    chosen
}

/// The edits of several fixes, each once; `None` where two of them meet. What two fixes write at one place is no
/// conflict where it is the same.
fn joined(chosen: &[&Wanted]) -> Option<Vec<Edit>> {
    let all: BTreeSet<(u32, u32, &str)> = chosen
        .iter()
        .flat_map(|one| &one.fix.edits)
        .map(|edit| (edit.range.start, edit.range.end, edit.text.as_str()))
        .collect();
    let all: Vec<(u32, u32, &str)> = all.into_iter().collect();
    // Two insertions at one place would have an order, which nobody knows.
    let meets = |pair: &[(u32, u32, &str)]| match pair {
        [(start, end, _), (next, ..)] => next < end || start == next,
        _ => false,
    };
    if all.windows(2).any(meets) {
        return None;
    }
    let edit =
        |(start, end, text): (u32, u32, &str)| Edit { range: base::TextRange::new(start, end), text: text.to_owned() };
    Some(all.into_iter().map(edit).collect())
}

/// Whether the edited text has lost what the chosen fixes are for, and has nothing new.
fn passes(before: &Analysis, after: &Analysis, chosen: &[&Wanted], edits: &[Edit]) -> bool {
    let worse = |analysis: &Analysis| {
        let refused = analysis.problems.iter().filter(|problem| problem.severity <= Severity::Warning);
        (analysis.syntax.len(), refused.count(), analysis.skipped.len())
    };
    let ((syntax, refused, skipped), (syntax_before, refused_before, skipped_before)) = (worse(after), worse(before));
    if syntax > syntax_before || refused > refused_before || skipped > skipped_before {
        return false;
    }
    let same_kernels = before.kernels.len() == after.kernels.len();
    same_kernels
        && before.kernels.iter().zip(&after.kernels).enumerate().all(|(at, (old, new))| {
            let goals: Vec<(Kind, u32)> = chosen
                .iter()
                .filter(|one| one.kernel == at)
                .filter_map(|one| old.findings.get(one.finding))
                .map(|finding| place(finding, edits))
                .collect();
            kernel_passes(old, new, &goals, edits)
        })
}

fn kernel_passes(old: &KernelReport, new: &KernelReport, goals: &[(Kind, u32)], edits: &[Edit]) -> bool {
    let open = |report: &KernelReport| report.broken || matches!(report.verdict, Verdict::Undecided(_));
    if old.name != new.name || (open(new) && !open(old)) {
        return false;
    }
    let known: Vec<(Kind, u32)> = all(old).map(|finding| place(finding, edits)).collect();
    all(new).all(|finding| {
        let at = (finding.kind, finding.range.start);
        !goals.contains(&at) && (known.contains(&at) || finding.severity == Severity::Hint)
    })
}

/// The change, with the number of findings that it takes away.
fn gone(before: &Analysis, after: &Analysis, edits: Vec<Edit>) -> ManyFixed {
    let count = |analysis: &Analysis| analysis.kernels.iter().map(|kernel| kernel.findings.len()).sum::<usize>();
    let findings = count(before).saturating_sub(count(after)).max(1);
    ManyFixed { edits, findings }
}

/// All findings of a kernel, whether they are shown or not.
fn all(report: &KernelReport) -> impl Iterator<Item = &Finding> {
    report.findings.iter().chain(report.suppressed.iter().map(|it| &it.finding))
}

/// A finding's kind and place in the edited text.
fn place(finding: &Finding, edits: &[Edit]) -> (Kind, u32) {
    (finding.kind, moved(finding.range.start, edits))
}

#[cfg(test)]
mod tests {
    use base::{Cancel, Limits};
    use ttgir::Document;

    use super::*;
    use crate::Engine;

    const RING: &str = include_str!("../../../tests/kernels/ring_not_waited.ttgir");

    fn analysed(text: &str) -> Analysis {
        let document = Document::new(text);
        Engine::new(Limits::default()).analyse(&document, &Cancel::never()).unwrap_or_default()
    }

    fn fixes_of(analysis: &Analysis) -> Vec<Wanted> {
        let of_kernel = |(kernel, report): (usize, &KernelReport)| {
            let fixed = report.findings.iter().enumerate();
            let one = move |(finding, it): (usize, &Finding)| Some(Wanted { kernel, finding, fix: it.fix.clone()? });
            fixed.filter_map(one).collect::<Vec<_>>()
        };
        analysis.kernels.iter().enumerate().flat_map(of_kernel).collect()
    }

    /// Two kernels with the same slip: both are mended, and the whole is clean.
    #[test]
    fn two_kernels_are_mended_by_one_change() {
        let text = format!("{RING}\n// -----\n{RING}");
        let before = analysed(&text);
        let wanted = fixes_of(&before);
        assert!(wanted.iter().any(|one| one.kernel == 1) && wanted.len() > 1, "{wanted:?}");
        let fixed = fix_all(&text, &before, &wanted, &mut |text| Ok(analysed(text))).ok().flatten().expect("a change");
        let after = analysed(&apply(&text, &fixed.edits).expect("edits"));
        let errors = after.kernels.iter().flat_map(|it| &it.findings).filter(|it| it.severity == Severity::Error);
        assert_eq!((errors.count(), after.kernels.len()), (0, 2));
        assert!(fixed.findings >= 2);
    }

    /// A fix that does not pass is left out, and the others are made.
    #[test]
    fn what_does_not_pass_is_left_out() {
        let text = format!("{RING}\n// -----\n{RING}");
        let before = analysed(&text);
        let mut wanted = fixes_of(&before);
        let first = wanted.iter().position(|one| one.kernel == 0).expect("a fix");
        // It breaks the text.
        let at = before.kernels[0].range;
        wanted[first].fix.edits = vec![Edit { range: at, text: "{".to_owned() }];
        let fixed = fix_all(&text, &before, &wanted, &mut |text| Ok(analysed(text))).ok().flatten().expect("a change");
        assert!(fixed.edits.iter().all(|edit| edit.text != "{"));
        let none = vec![wanted[first].clone()];
        assert_eq!(fix_all(&text, &before, &none, &mut |text| Ok(analysed(text))), Ok(None));
    }

    #[test]
    fn edits_that_meet_are_no_change() {
        let one = |start, end, text: &str| Wanted {
            kernel: 0,
            finding: 0,
            fix: Fix {
                title: String::new(),
                edits: vec![Edit { range: base::TextRange::new(start, end), text: text.into() }],
            },
        };
        let (a, b, c) = (one(4, 9, "x"), one(6, 7, "y"), one(12, 12, "z"));
        assert_eq!(disjoint(&[a.clone(), b, c.clone()]).len(), 2);
        assert_eq!(joined(&[&a, &a, &c]).map(|edits| edits.len()), Some(2));
        assert_eq!(joined(&[&c, &one(12, 12, "other")]), None);
    }
}
