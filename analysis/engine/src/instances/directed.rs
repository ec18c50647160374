//! Values of a directive that Triton refuses, whatever is chosen for the rest: they are said where they are given.
//!
//! That a value is to blame is tried: with another one in its place the refusal is gone, and with other values in place of
//! those that were chosen it is not.

use super::ElaboratedInstance;
use super::judge::{ASSUMED, refused_words};
use super::place::line;
use super::premise::{Variation, variations};
use super::varied::Varied;
use crate::limits::directives::TRIED;
use base::{Cancel, Cancelled, TextRange};
use findings::{KernelReport, Severity, TextProblem, Verdict};
use gluon::{Given, Problem, ValueSource};
use python::syntax::Module;
use specialize::{directives, neighbours, written};

/// Values in place of one that has no neighbours: sizes, types and a switch.
const INSTEAD: [&str; 7] = ["128", "16", "1", "*fp32", "i32", "fp32", "True"];

/// A value of a directive that is to blame.
pub(super) struct Blamed {
    /// `BLOCK=100`, in the text.
    pub(super) range: TextRange,
    /// What Triton would refuse.
    message: String,
}

impl Blamed {
    /// That it is refused, where it is given.
    pub(super) fn problem(&self, text: &str) -> TextProblem {
        TextProblem {
            code: "directive",
            severity: Severity::Error,
            message: format!("with `{}` Triton would refuse the kernel: {}", self.range.of(text), self.message),
            range: self.range,
            source: None,
            fix: None,
        }
    }

    /// Says it of the kernel too, in place of the values that were assumed: no other choice of these would decide it.
    pub(super) fn correct(&self, module: &Module, report: &mut KernelReport, problems: &mut [TextProblem]) {
        let of = format!("with `{}` of line {}", self.range.of(module.text()), line(module, self.range));
        let assumed = refused_words(Some(ASSUMED), &self.message);
        if let Verdict::Undecided(reasons) = &mut report.verdict {
            let own = reasons.iter_mut().filter(|reason| reason.starts_with(&assumed));
            own.for_each(|reason| *reason = reason.replacen(ASSUMED, &of, 1));
        }
        report.pin = None;
        let assumed = format!("{ASSUMED}, {}", self.message);
        for problem in problems.iter_mut().filter(|problem| problem.message.starts_with(&assumed)) {
            problem.message = problem.message.replacen(ASSUMED, &of, 1);
        }
    }
}

/// What stops Triton.
fn refusal(of: &ElaboratedInstance) -> Option<&Problem> {
    of.problems().iter().find(|problem| !problem.hint && problem.code != findings::TextProblem::REMOVED)
}

impl Varied<'_> {
    /// The value of a directive that is to blame for what Triton would refuse of an instance, if one is.
    pub(super) fn blamed(
        &self,
        elaborated: &ElaboratedInstance,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Blamed>, Cancelled> {
        let spec = &elaborated.instance.spec;
        let given = spec.arguments.iter().filter(|argument| argument.source == ValueSource::Directive);
        let given: Vec<(&String, &Given)> = given.map(|argument| (&argument.name, &argument.given)).collect();
        let Some(refused) = refusal(elaborated) else { return Ok(None) };
        if given.is_empty() || elaborated.stale().is_some() || !elaborated.refused_by_guess(refused) {
            return Ok(None);
        }
        let stays = |other: &ElaboratedInstance| {
            let same = |problem: &Problem| (problem.file, problem.range) == (refused.file, refused.range);
            refusal(other).is_some_and(same)
        };
        for variation in variations(self.kernel, elaborated).into_iter().take(TRIED) {
            if !stays(&self.instance(elaborated, &variation, cancel)?) {
                return Ok(None);
            }
        }
        for (name, was) in given {
            let instead = INSTEAD.iter().filter_map(|text| specialize::given(text).ok());
            let others = neighbours(was, spec.num_ctas.0).into_iter().chain(instead);
            for other in others.take(TRIED) {
                let mut spec = spec.clone();
                let argument = spec.arguments.iter_mut().find(|argument| argument.name == *name);
                argument.into_iter().for_each(|argument| argument.given = other.clone());
                let variation = Variation { was: String::new(), is: String::new(), spec };
                if refusal(&self.instance(elaborated, &variation, cancel)?).is_none() {
                    let blamed = |range| Blamed { range, message: refused.message.clone() };
                    return Ok(self.place(name, was).map(blamed));
                }
            }
        }
        Ok(None)
    }

    /// Where a directive above the kernel gives this to a parameter.
    fn place(&self, name: &str, given: &Given) -> Option<TextRange> {
        let lines = directives(&self.of.module, self.kernel.entry.range);
        let values = || lines.iter().flat_map(|line| &line.values).filter(|(of, ..)| of == name);
        let exact = values().find(|(_, value, _)| written(value) == written(given));
        exact.or_else(|| values().next()).map(|(.., range)| *range)
    }
}
