//! Several fixes as one change, judged as a whole.
//!
//! Each fix was judged alone; together they may meet at one barrier, or one may make another needless. So the text with
//! all of them is analysed again, and the change counts where what they are for is gone and nothing is new: no finding
//! but hints, no syntax error, no kernel less decided. Where all of them together do not pass, they are taken one by one
//! as long as the whole passes. What is left then, or met another at one place, is looked at again in the changed text.

mod patch;

use std::collections::BTreeSet;

use base::Cancelled;
use findings::{Edit, Finding, Fix, KernelReport, Severity, Verdict};
use fixes::{FindingKey, apply};

use crate::Analysis;
use crate::limits::fix_all::TRIES;
use patch::Patch;

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

/// What a change is made with.
pub trait Judge {
    /// Analyses a text as the one before was analysed.
    ///
    /// # Errors
    ///
    /// Where nobody wants the answer any more.
    fn analyse(&mut self, text: &str) -> Result<Analysis, Cancelled>;

    /// The fixes that are wanted in such a text.
    ///
    /// # Errors
    ///
    /// Where nobody wants the answer any more.
    fn wanted(&mut self, text: &str, analysis: &Analysis) -> Result<Vec<Wanted>, Cancelled>;
}

/// Looks for the fix of a finding of the kernel at a place.
pub type FindFix<'a> = dyn FnMut(usize, &Finding) -> Result<Option<Fix>, Cancelled> + 'a;

/// The fixes of the findings that are meant; `fix` looks for that of a finding of the kernel at a place.
///
/// # Errors
///
/// Those of `fix`.
pub fn wanted(
    analysis: &Analysis,
    is_meant: impl Fn(&Finding) -> bool,
    fix: &mut FindFix<'_>,
) -> Result<Vec<Wanted>, Cancelled> {
    let mut wanted = Vec::new();
    for (kernel, report) in analysis.kernels.iter().enumerate() {
        for (finding, it) in report.findings.iter().enumerate().filter(|(_, it)| is_meant(it)) {
            wanted.extend(fix(kernel, it)?.map(|fix| Wanted { kernel, finding, fix }));
        }
    }
    Ok(wanted)
}

/// The change that makes of a text one with as many of these fixes as pass together; `None` where none does.
///
/// # Errors
///
/// Where the judge was cancelled.
pub fn fix_all(text: &str, before: &Analysis, judge: &mut dyn Judge) -> Result<Option<ManyFixed>, Cancelled> {
    let mut patch = Patch::new(text);
    let (mut now, mut analysis, mut tries) = (text.to_owned(), before.clone(), TRIES);
    loop {
        let wanted = judge.wanted(&now, &analysis)?;
        let Some((edits, after)) = step(&now, &analysis, &wanted, judge, &mut tries)? else { break };
        patch.edit(&edits);
        let Some(next) = apply(&now, &edits) else { break };
        (now, analysis) = (next, after);
    }
    let edits = patch.edits();
    Ok((!edits.is_empty()).then(|| gone(before, &analysis, edits)))
}

/// One change, and what the text is then.
type Step = (Vec<Edit>, Analysis);

/// All of these fixes at once, or as many as pass together.
fn step(
    text: &str,
    before: &Analysis,
    wanted: &[Wanted],
    judge: &mut dyn Judge,
    tries: &mut usize,
) -> Result<Option<Step>, Cancelled> {
    let all = disjoint(wanted);
    if let Some(whole) = judged(text, before, &all, judge, tries)? {
        return Ok(Some(whole));
    }
    let (mut chosen, mut best) = (Vec::new(), None);
    for one in all.into_iter().filter(|_| wanted.len() > 1) {
        chosen.push(one);
        match judged(text, before, &chosen, judge, tries)? {
            Some(passed) => best = Some(passed),
            None => drop(chosen.pop()),
        }
    }
    Ok(best)
}

fn judged(
    text: &str,
    before: &Analysis,
    chosen: &[&Wanted],
    judge: &mut dyn Judge,
    tries: &mut usize,
) -> Result<Option<Step>, Cancelled> {
    let Some(edits) = joined(chosen).filter(|edits| !edits.is_empty() && *tries > 0) else { return Ok(None) };
    let Some(edited) = apply(text, &edits) else { return Ok(None) };
    *tries -= 1;
    let after = judge.analyse(&edited)?;
    Ok(passes(before, &after, chosen, &edits).then_some((edits, after)))
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
            let goals: Vec<FindingKey> = chosen
                .iter()
                .filter(|one| one.kernel == at)
                .filter_map(|one| old.findings.get(one.finding))
                .map(|finding| place(finding, edits))
                .collect();
            kernel_passes(old, new, &goals, edits)
        })
}

fn kernel_passes(old: &KernelReport, new: &KernelReport, goals: &[FindingKey], edits: &[Edit]) -> bool {
    let open = |report: &KernelReport| report.broken || matches!(report.verdict, Verdict::Undecided(_));
    if old.name != new.name || (open(new) && !open(old)) {
        return false;
    }
    let known: Vec<FindingKey> = all(old).map(|finding| place(finding, edits)).collect();
    all(new).all(|finding| {
        let at = FindingKey::new(finding, |range| range.start);
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

/// The identity of a finding in the edited text.
fn place(finding: &Finding, edits: &[Edit]) -> FindingKey {
    FindingKey::new(finding, |range| range.start).after(edits)
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

    /// Of TTGIR the fixes come with the analysis.
    struct Plain(Option<fn(&mut Vec<Wanted>)>);

    impl Judge for Plain {
        fn analyse(&mut self, text: &str) -> Result<Analysis, Cancelled> {
            Ok(analysed(text))
        }

        fn wanted(&mut self, _: &str, analysis: &Analysis) -> Result<Vec<Wanted>, Cancelled> {
            let mut wanted = fixes_of(analysis);
            self.0.iter().for_each(|change| change(&mut wanted));
            Ok(wanted)
        }
    }

    fn fixed(text: &str, change: Option<fn(&mut Vec<Wanted>)>) -> Option<ManyFixed> {
        fix_all(text, &analysed(text), &mut Plain(change)).ok().flatten()
    }

    /// Two kernels with the same slip: both are mended, and the whole is clean.
    #[test]
    fn two_kernels_are_mended_by_one_change() {
        let text = format!("{RING}\n// -----\n{RING}");
        let wanted = fixes_of(&analysed(&text));
        assert!(wanted.iter().any(|one| one.kernel == 1) && wanted.len() > 1, "{wanted:?}");
        let fixed = fixed(&text, None).expect("a change");
        let after = analysed(&apply(&text, &fixed.edits).expect("edits"));
        let errors = after.kernels.iter().flat_map(|it| &it.findings).filter(|it| it.severity == Severity::Error);
        assert_eq!((errors.count(), after.kernels.len()), (0, 2));
        assert!(fixed.findings >= 2);
    }

    /// Four waits that belong at one place, each with a phase of its own to compute: one after the other.
    #[test]
    fn fixes_that_meet_at_one_place_are_made_in_turn() {
        let text = include_str!("../../../tests/kernels/packed/final_broken.ttgir");
        let fixed = fixed(text, None).expect("a change");
        let after = apply(text, &fixed.edits).expect("edits");
        let kernel = analysed(&after).kernels.remove(0);
        assert_eq!((kernel.findings.len(), fixed.findings), (0, 4), "{after}");
        assert!(matches!(kernel.verdict, Verdict::Proved(_) | Verdict::Clean(_)));
    }

    /// A fix that does not pass is left out, and the others are made.
    #[test]
    fn what_does_not_pass_is_left_out() {
        let text = format!("{RING}\n// -----\n{RING}");
        let breaks = |wanted: &mut Vec<Wanted>| {
            for one in wanted.iter_mut().filter(|one| one.kernel == 0) {
                one.fix.edits = vec![Edit { range: base::TextRange::new(0, 1), text: "{".to_owned() }];
            }
        };
        let some = fixed(&text, Some(breaks)).expect("a change");
        assert!(some.edits.iter().all(|edit| edit.text != "{"));
        let none = |wanted: &mut Vec<Wanted>| wanted.clear();
        assert_eq!(fixed(&text, Some(none)), None);
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
