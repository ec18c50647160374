//! The engine on Python: instances are judged one by one, and what is said of them is put at its place in
//! Python and merged.

use std::sync::Arc;

use super::blame::one_a_call;
use super::merge::{conditions, merged};
use super::place::line;
use super::{ElaboratedInstance, Elaboration, KernelInstances};
use crate::Engine;
use crate::analysis::{Analysis, withhold_if_malformed};
use base::{Cancel, Cancelled, Message, TextRange};
use findings::{Edit, Finding, Fix, KernelReport, Kind, Note, Problem, Proof, Severity, Verdict};
use gluon::{FileId, Note as Remark};
use python::syntax::Module;

impl Engine {
    /// Analyses the kernels of a Python file. Ranges of the answer are those of its text.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn analyse_python(&mut self, of: &Arc<Elaboration>, cancel: &Cancel<'_>) -> Result<Analysis, Cancelled> {
        let mut analysis = Analysis { problems: broken(&of.module), ..Analysis::default() };
        analysis.problems.extend(of.notes.iter().map(|note| remark(&of.module, note)));
        for kernel in &of.kernels {
            let mut reports = Vec::with_capacity(kernel.instances.len());
            for (number, elaborated) in kernel.instances.iter().enumerate() {
                cancel.check()?;
                reports.push(self.check_instance(elaborated, number, cancel)?);
            }
            let mut report = merged(kernel, reports);
            report.range = of.module.place(kernel.entry.name_range).0;
            analysis.kernels.push(report);
            analysis.problems.extend(problems(&of.module, kernel));
            analysis.problems.extend(kernel.notes.iter().map(|note| remark(&of.module, note)));
        }
        analysis.problems.sort_by_key(|problem| (problem.range, problem.severity));
        analysis.problems.dedup_by(|a, b| (a.range, a.code, &a.message) == (b.range, b.code, &b.message));
        analysis.gluon = Some(of.clone());
        Ok(analysis)
    }

    /// Why each kernel's verdict is what it is, in the order of the analysis; of several instances the first
    /// that has something open, or else the first.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn explain_python(&mut self, of: &Elaboration, cancel: &Cancel<'_>) -> Result<Vec<Proof>, Cancelled> {
        let mut proofs = Vec::with_capacity(of.kernels.len());
        for kernel in &of.kernels {
            let mut chosen: Option<Proof> = None;
            for elaborated in &kernel.instances {
                let Some(lowered) = &elaborated.lowered else { continue };
                let mut proof = self.explain_one(lowered, cancel)?.render(&**elaborated);
                elaborated.move_proof(&mut proof);
                let better = chosen.as_ref().is_none_or(|known| known.open.is_empty() && !proof.open.is_empty());
                if better {
                    chosen = Some(proof);
                }
            }
            proofs.push(chosen.unwrap_or_default());
        }
        Ok(proofs)
    }

    /// What there is to say of one instance, in Python.
    fn check_instance(
        &mut self,
        elaborated: &ElaboratedInstance,
        number: usize,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport, Cancelled> {
        let report = match (&elaborated.lowered, elaborated.tree()) {
            (Some(lowered), Some(tree)) => self.report_by_text(elaborated.document.text(), cancel, |engine| {
                let mut report = engine.describe_kernel(lowered, cancel)?;
                withhold_if_malformed(tree, lowered, &mut report);
                if !tree.errors().is_empty() {
                    let why = "what it was elaborated to has errors; please report this";
                    report.verdict = Verdict::Undecided(vec![why.into()]);
                }
                Ok(report)
            })?,
            _ => undecided(),
        };
        let mut report = report.render(elaborated);
        elaborated.move_report(&mut report, number);
        Ok(report)
    }
}

impl ElaboratedInstance {
    /// Puts a report on this instance at the places of Python, with what its elaboration says.
    pub(super) fn move_report(&self, report: &mut KernelReport, number: usize) {
        report.findings.iter_mut().for_each(|finding| self.move_finding(finding, number));
        one_a_call(&mut report.findings, &self.module);
        // What the elaborator said of these places is more than what the lowering can.
        if self.has_unmodelled_op {
            let said = |finding: &Finding| {
                let at = |(file, range, _): &(FileId, TextRange, String)| {
                    *file == FileId(0) && self.module.place(*range).0 == finding.range
                };
                finding.kind == Kind::Unmodelled && self.unmodelled.iter().any(at)
            };
            report.findings.retain(|finding| !said(finding));
        }
        let followed = self.unmodelled.iter().map(|(file, range, why)| self.not_followed(*file, *range, why, number));
        report.findings.extend(followed);
        let mut reasons = match &report.verdict {
            Verdict::Undecided(why) => why.clone(),
            _ => Vec::new(),
        };
        for (_, range, _) in self.unmodelled.iter().filter(|(file, ..)| *file == FileId(0)).take(1) {
            let line = line(&self.module, *range);
            reasons.push(format!("line {line} could not be followed"));
        }
        if reasons.is_empty() && !self.unmodelled.is_empty() {
            reasons.push("a place could not be followed".to_owned());
        }
        if let Some(problem) = self.problems.iter().find(|problem| !problem.hint) {
            let with =
                if self.guessed() && problem.code != REMOVED { " with the values that were assumed" } else { "" };
            reasons.push(format!("Triton would refuse it{with}: {}", problem.message));
        }
        if let Some(range) = self.broken() {
            report.findings.clear();
            reasons.push(format!("its text does not parse at line {}", line(&self.module, range)));
            report.verdict = Verdict::Undecided(reasons);
            return;
        }
        if self.guessed() && !self.instance.hint.is_empty() {
            let place = self.module.place(self.name).0;
            let text = format!("analysed with {}", self.instance.hint);
            for finding in report.findings.iter_mut().filter(|finding| finding.kind != Kind::Unmodelled) {
                let note = Note { range: place, text: text.clone(), source: None, primary: false };
                finding.context.push(note);
            }
        }
        if let Some(range) = self.stale() {
            let line = line(&self.module, range);
            for finding in &mut report.findings {
                finding.message.push_str(" (of the last text that parsed)");
                finding.severity = Severity::Hint;
            }
            reasons.push(format!("line {line} does not parse; what is said is about the last text that did"));
            report.verdict = Verdict::Undecided(reasons);
            return;
        }
        if self.lowered.is_none() && reasons.is_empty() {
            reasons.push("it could not be elaborated".to_owned());
        }
        if !reasons.is_empty() && report.verdict != Verdict::Found {
            reasons.dedup();
            report.verdict = Verdict::Undecided(reasons);
        }
    }

    pub(super) fn move_finding(&self, finding: &mut Finding, number: usize) {
        let blame = finding.order.as_ref().and_then(|order| self.blame(order));
        let primary = self.place(finding.range);
        finding.message += &primary.within();
        if let Some(source) = &primary.source {
            finding.message = format!("{} (in {source})", finding.message);
        }
        finding.context = primary.calls;
        finding.range = primary.range;
        finding.instance = number;
        for site in &mut finding.sites {
            let place = self.place(site.range);
            site.text += &place.within();
            site.range = place.range;
            site.source = place.source;
            if !site.primary {
                let new = place.calls.into_iter().filter(|call| !finding.context.contains(call));
                let new: Vec<Note> = new.collect();
                finding.context.extend(new);
            }
        }
        for step in &mut finding.run {
            let place = self.place(step.range);
            step.text += &place.within();
            step.range = place.range;
        }
        if let Some(blame) = blame {
            blame.draw(finding, &self.module);
        }
    }

    /// Where a finding on the elaborated instance is drawn.
    pub(super) fn drawn<M>(&self, finding: &Finding<M>) -> TextRange {
        let blame = finding.order.as_ref().and_then(|order| self.blame(order));
        blame.map_or_else(|| self.place(finding.range).range, |blame| blame.range)
    }

    pub(super) fn move_proof(&self, proof: &mut Proof) {
        for closed in &mut proof.loops {
            closed.range = self.place(closed.range).range;
        }
        for reason in proof.assumed.iter_mut().chain(&mut proof.open) {
            reason.range = reason.range.map(|range| self.place(range).range);
        }
    }

    fn not_followed(&self, file: FileId, range: TextRange, why: &str, number: usize) -> Finding {
        let own = file == FileId(0);
        let place = if own { self.module.place(range).0 } else { self.module.place(self.name).0 };
        let source = (!own).then(|| self.spot(file, range));
        let message = match &source {
            Some(source) => format!("not followed in {source}: {why}"),
            None => format!("not followed: {why}"),
        };
        let kernel = self.lowered.as_ref().map_or("", |lowered| &lowered.map.kernel);
        let site = Note { range: place, text: message.clone(), source, primary: true };
        Finding { instance: number, ..Finding::with_sites(Kind::Unmodelled, message, vec![site], kernel) }
    }
}

/// The report on what could not be elaborated.
fn undecided() -> KernelReport<Message> {
    KernelReport {
        name: String::new(),
        range: TextRange::default(),
        verdict: Verdict::Undecided(Vec::new()),
        findings: Vec::new(),
        runs: 0,
        steps: 0,
    }
}

/// What Triton would refuse of a kernel, each once.
fn problems(module: &Module, kernel: &KernelInstances) -> Vec<Problem> {
    let mut said: Vec<(Problem, Vec<usize>)> = Vec::new();
    for (number, elaborated) in kernel.instances.iter().enumerate() {
        for problem in &elaborated.problems {
            let own = problem.file == FileId(0);
            let (range, stale) = module.place(if own { problem.range } else { elaborated.name });
            if stale {
                continue;
            }
            let source = (!own).then(|| elaborated.spot(problem.file, problem.range));
            let message = match &source {
                Some(source) => format!("{} (in {source})", problem.message),
                None => problem.message.clone(),
            };
            let fix = problem
                .fix
                .as_ref()
                .filter(|_| own)
                .map(|(text, title)| Fix { title: title.clone(), edits: vec![Edit { range, text: text.clone() }] });
            let guessed = elaborated.guessed() && problem.code != REMOVED;
            let (severity, message) = match (problem.hint, guessed) {
                (true, _) => (Severity::Hint, message),
                (false, true) => (Severity::Information, format!("with the values that were assumed, {message}")),
                (false, false) => (Severity::Error, message),
            };
            let problem = Problem { code: problem.code, severity, message, range, source, fix };
            match said.iter_mut().find(|(known, _)| *known == problem) {
                Some((_, numbers)) => numbers.push(number),
                None => said.push((problem, vec![number])),
            }
        }
    }
    let finish = |(mut problem, mut numbers): (Problem, Vec<usize>)| {
        numbers.dedup();
        problem.message.push_str(&conditions(kernel, &numbers));
        problem
    };
    said.into_iter().map(finish).collect()
}

/// The code of what no value makes right.
const REMOVED: &str = "removed-name";

/// What does not parse.
fn broken(module: &Module) -> Vec<Problem> {
    let errors = module.broken().iter().filter_map(|broken| broken.errors.first());
    let problem = |(range, message): &(TextRange, String)| Problem {
        code: findings::Problem::SYNTAX,
        severity: Severity::Error,
        message: message.clone(),
        range: *range,
        source: None,
        fix: None,
    };
    errors.map(problem).collect()
}

fn remark(module: &Module, note: &Remark) -> Problem {
    let (range, _) = module.place(note.range);
    let (code, severity) = if note.error { ("directive", Severity::Error) } else { ("assumed", Severity::Hint) };
    Problem { code, severity, message: note.message.clone(), range, source: None, fix: None }
}
