//! The engine on Python: instances are judged one by one, and what is said of them is put at its place in
//! Python and merged.

use std::sync::Arc;

use super::ahead::Ahead;
use super::blame::one_a_call;
use super::budget::{FileBudget, LEFT_OUT, Spent};
use super::judged::{JudgedKernel, JudgedKey};
use super::merge::{conditions, merged};
use super::outline::{Comparison, Since};
use super::place::line;
use super::premise::blames;
use super::varied::Varied;
use super::{ElaboratedInstance, Elaboration, KernelInstances, PythonFile};
use crate::Engine;
use crate::analysis::{Analysis, withhold_if_malformed};
use crate::deleted::note_deleted_reads;
use crate::limits::quick_report::{FURTHER_STEPS, INSTANCES as FIRST_INSTANCES, STEPS};
use crate::near_directives;
use crate::progress::{Depth, KernelNumber, Listener, Progress};
use crate::suppress::Suppressions;
use base::workers::map;
use base::{Cancel, Cancelled, Message, TextRange};
use findings::{
    Edit, Finding, Fix, KernelReport, Kind, Note, Proof, Severity, TextProblem, Verdict, add_global, describe_quickly,
};
use gluon::FileId;
use kernel::Lowered;
use python::reason::cause;
use python::syntax::{Module, Sources};
use races::Launch;
use specialize::{Entry, SpecNote, SpecNoteKind};
use ttgir::Tree;

/// What was said of a kernel before, and how the text of then compares with that of now.
type Known = (Arc<JudgedKernel>, Arc<Comparison>);

impl Engine {
    /// Analyses the kernels of a Python file. Ranges of the answer are those of its text.
    ///
    /// `sources` are those of the elaboration; with them a kernel is elaborated with other values than those that
    /// were chosen, where a finding may rest on these.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn analyse_python(
        &mut self,
        of: &Arc<Elaboration>,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<Analysis, Cancelled> {
        self.analyse_python_with(of, sources, cancel, None)
    }

    /// The same; `listener` is told of each kernel as soon as something is known of it.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn analyse_python_telling(
        &mut self,
        of: &Arc<Elaboration>,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<Analysis, Cancelled> {
        self.analyse_python_with(of, sources, cancel, Some(listener))
    }

    fn analyse_python_with(
        &mut self,
        of: &Arc<Elaboration>,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
        mut listener: Option<&mut Listener<'_>>,
    ) -> Result<Analysis, Cancelled> {
        let mut analysis = Analysis { problems: broken(&of.module), ..Analysis::default() };
        analysis.problems.extend(of.notes.iter().map(|note| remark(&of.module, note)));
        let comments = Suppressions::of_python(&of.module);
        let mut since = Since::new(of.outline.clone());
        let known: Vec<_> = of.kernels.iter().map(|kernel| self.judged(kernel, &mut since)).collect();
        for (at, kernel) in of.kernels.iter().enumerate() {
            if let Some(listener) = &mut listener
                && known.get(at).is_some_and(Option::is_none)
                && let Some(mut report) = self.first_findings(of, kernel, cancel)?
            {
                comments.apply(&mut report);
                let number = KernelNumber { section: 0, kernel: at };
                listener(Progress::Kernel { number, depth: Depth::Quick, report: &report });
            }
        }
        let mut budget = FileBudget::new(of.kernels.len());
        let mut ahead = Ahead::new(of, known.iter().map(Option::is_none));
        for ((at, kernel), known) in of.kernels.iter().enumerate().zip(known) {
            budget.next_kernel();
            ahead.judge_up_to(at, &budget, self, cancel);
            let (mut report, problems) = self.judge(of, kernel, known, &mut budget, sources, cancel)?;
            comments.apply(&mut report);
            let number = KernelNumber { section: 0, kernel: at };
            let told = Progress::Kernel { number, depth: Depth::Full, report: &report };
            listener.iter_mut().for_each(|listener| listener(told));
            analysis.kernels.push(report);
            analysis.problems.extend(problems);
            analysis.problems.extend(kernel.notes.iter().map(|note| remark(&of.module, note)));
        }
        analysis.problems.extend(comments.problems(&analysis.kernels));
        analysis.problems.extend(near_directives::problems(of.module.text(), "#"));
        analysis.problems.sort_by_key(|problem| (problem.range, problem.severity));
        analysis.problems.dedup_by(|a, b| (a.range, a.code, &a.message) == (b.range, b.code, &b.message));
        analysis.gluon = Some(of.clone());
        Ok(analysis)
    }

    /// What was said of a kernel before, and how the text of then compares with that of now.
    fn judged(&self, kernel: &KernelInstances, since: &mut Since) -> Option<Known> {
        if !kernel.instances.iter().all(|elaborated| elaborated.is_whole()) {
            return None;
        }
        let known = self.cache.kernels.get(JudgedKey::hash(kernel), |key| key.is(kernel))?;
        let between = since.since(known.outline())?;
        known.holds_after(&between).then_some((known, between))
    }

    /// What there is to say of a kernel, and what Triton would refuse of it.
    fn judge(
        &mut self,
        of: &Elaboration,
        kernel: &KernelInstances,
        known: Option<Known>,
        budget: &mut FileBudget,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<(KernelReport, Vec<TextProblem>), Cancelled> {
        let known = known.filter(|(known, _)| budget.affords_again(&kernel.instances, &known.spent, &self.limits));
        if let Some((known, between)) = &known
            && let Some(said) = known.in_text(kernel, between)
        {
            budget.spend_again(&kernel.instances, &known.spent);
            return Ok(said);
        }
        let (mut reports, steps) = self.check_instances(kernel, budget, cancel)?;
        let mut premises = match &known {
            Some((known, between)) => known.premises(between),
            None => self.premises(Varied { of, kernel, sources }, &reports, cancel)?,
        };
        premises.extend(self.with_unlike_constants(Varied { of, kernel, sources }, &mut reports, cancel)?);
        let mut report = merged(kernel, reports, &premises);
        report.range = of.module.place(kernel.entry.name_range).0;
        let mut problems = problems(&of.module, kernel);
        for elaborated in &kernel.instances {
            let varied = Varied { of, kernel, sources };
            let Some(blamed) = varied.blamed(elaborated, cancel)? else { continue };
            blamed.correct(&of.module, &mut report, &mut problems);
            problems.push(blamed.problem(of.module.text()));
        }
        if kernel.instances.iter().all(|elaborated| elaborated.is_whole()) {
            let judged = JudgedKernel::new(of, kernel, steps, report.clone(), problems.clone(), premises);
            let weight = judged.weight();
            self.cache.kernels.insert(JudgedKey::hash(kernel), JudgedKey::of(kernel), judged, weight);
        }
        Ok((report, problems))
    }

    /// What a few runs show of the first instance of a kernel in which something is found, or else of the first one. Of
    /// instances whose kernels are of one form only one is run.
    fn first_findings(
        &mut self,
        of: &Elaboration,
        kernel: &KernelInstances,
        cancel: &Cancel<'_>,
    ) -> Result<Option<KernelReport>, Cancelled> {
        let Some((first, others)) = kernel.instances.split_first() else { return Ok(None) };
        let (module, entry) = (&of.module, &kernel.entry);
        let answer = self.first_answer(module, entry, (first, STEPS), cancel)?;
        if answer.as_ref().is_none_or(|report| !report.findings.is_empty()) {
            return Ok(answer);
        }
        let form = |elaborated: &ElaboratedInstance| {
            let kernel = &elaborated.lowered()?.kernel;
            Some((kernel.ctas, kernel.partitions.len(), kernel.effects.len(), kernel.loops.len()))
        };
        let mut forms = vec![form(first)];
        let mut distinct: Vec<&ElaboratedInstance> = Vec::new();
        for elaborated in others.iter().filter(|elaborated| !elaborated.is_left_out()) {
            let form = form(elaborated);
            if forms.len() <= FIRST_INSTANCES && !forms.contains(&form) {
                forms.push(form);
                distinct.push(elaborated);
            }
        }
        let engine = &*self;
        let answers = map(&*self.workers, distinct, |elaborated| {
            engine.sibling().first_answer(module, entry, (elaborated, FURTHER_STEPS), cancel)
        });
        for other in answers {
            if let Some(found) = other?.filter(|report| !report.findings.is_empty()) {
                return Ok(Some(found));
            }
        }
        Ok(answer)
    }

    /// What runs of so many steps of one instance of a kernel show, or what is known of it: a start, for who waits. `None`
    /// where that is nothing.
    fn first_answer(
        &mut self,
        module: &Module,
        entry: &Entry,
        (elaborated, steps): (&ElaboratedInstance, u64),
        cancel: &Cancel<'_>,
    ) -> Result<Option<KernelReport>, Cancelled> {
        let (Some(lowered), Some(tree)) = (elaborated.lowered(), elaborated.tree()) else { return Ok(None) };
        if lowered.kernel.effects.is_empty() || elaborated.stale().is_some() {
            return Ok(None);
        }
        let report = match self.known_report(elaborated.document().shared_text(), &elaborated.instance.launches) {
            Some(known) => (*known).clone(),
            None => {
                let outcome = self.surveyed_within(&lowered.kernel, steps, cancel)?;
                let mut report = describe_quickly(lowered, &outcome);
                withhold_if_malformed(tree, lowered, &mut report);
                note_deleted_reads(tree, &mut report);
                report
            }
        };
        let mut report = elaborated.in_python(report, 0);
        report.findings.retain(blames);
        report.findings.iter_mut().for_each(|finding| finding.kernel.clone_from(&entry.name));
        report.name.clone_from(&entry.name);
        report.range = module.place(entry.name_range).0;
        Ok(Some(report))
    }

    /// Tells `listener` what a few runs of the instance of a kernel show that was elaborated first, while the others
    /// are yet to be found.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn tell_first(
        &mut self,
        file: &PythonFile,
        kernel: usize,
        entry: &Entry,
        elaborated: &ElaboratedInstance,
        cancel: &Cancel<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<(), Cancelled> {
        if let Some(mut report) = self.first_answer(file.module(), entry, (elaborated, STEPS), cancel)? {
            Suppressions::of_python(file.module()).apply(&mut report);
            let number = KernelNumber { section: 0, kernel };
            listener(Progress::Kernel { number, depth: Depth::Quick, report: &report });
        }
        Ok(())
    }

    /// Why each kernel's verdict is what it is, in the order of the analysis; of several instances the first
    /// that has something open, or else the first.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn explain_python(&mut self, of: &Elaboration, cancel: &Cancel<'_>) -> Result<Vec<Proof>, Cancelled> {
        let mut proofs = Vec::with_capacity(of.kernels.len());
        let mut budget = FileBudget::new(of.kernels.len());
        for kernel in &of.kernels {
            let mut chosen: Option<Proof> = None;
            budget.next_kernel();
            for elaborated in &kernel.instances {
                if !budget.affords(elaborated, &self.limits) {
                    continue;
                }
                let Some(lowered) = elaborated.lowered() else { continue };
                let outcome = self.outcome(&lowered.kernel, cancel)?;
                budget.spend(elaborated, Spent { steps: outcome.steps, proof: outcome.proof, beyond: false });
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

    /// What there is to say of each instance of a kernel, and what it took; of those that the budget leaves
    /// out and that break no rule in a few runs, that it does.
    pub(super) fn check_instances(
        &mut self,
        kernel: &KernelInstances,
        budget: &mut FileBudget,
        cancel: &Cancel<'_>,
    ) -> Result<(Vec<KernelReport>, Vec<Option<Spent>>), Cancelled> {
        let mut reports = Vec::with_capacity(kernel.instances.len());
        let mut spent = Vec::with_capacity(kernel.instances.len());
        for (number, elaborated) in kernel.instances.iter().enumerate() {
            cancel.check()?;
            let beyond = !budget.affords(elaborated, &self.limits);
            if beyond && !self.breaks_anew(elaborated, &reports, cancel)? {
                reports.push(KernelReport::without_findings(Verdict::Clean(LEFT_OUT.to_owned())));
                spent.push(None);
                continue;
            }
            let report = self.check_instance(elaborated, number, cancel)?;
            let took = Spent::on(&report, beyond);
            budget.spend(elaborated, took);
            spent.push(Some(took));
            reports.push(report);
        }
        Ok((reports, spent))
    }

    /// Whether a few runs of an instance that the budget leaves out find what is in no report yet: then it is analysed
    /// all the same.
    fn breaks_anew(
        &mut self,
        elaborated: &ElaboratedInstance,
        reports: &[KernelReport],
        cancel: &Cancel<'_>,
    ) -> Result<bool, Cancelled> {
        let Some(lowered) = elaborated.lowered().filter(|_| !elaborated.is_left_out()) else { return Ok(false) };
        let outcome = self.survey(&lowered.kernel, FURTHER_STEPS, cancel)?;
        if outcome.found.is_empty() {
            return Ok(false);
        }
        let quick = elaborated.in_python(describe_quickly(lowered, &outcome), 0);
        let is_new = |finding: &Finding| {
            let mut known = reports.iter().flat_map(|report| &report.findings);
            !known.any(|known| (known.kind, known.range) == (finding.kind, finding.range))
        };
        Ok(quick.findings.iter().filter(|finding| blames(finding)).any(is_new))
    }

    /// What there is to say of one instance, in Python.
    pub(super) fn check_instance(
        &mut self,
        elaborated: &ElaboratedInstance,
        number: usize,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport, Cancelled> {
        let report = match (elaborated.lowered(), elaborated.tree()) {
            // One text may be launched in several ways.
            (Some(lowered), Some(tree)) => {
                let (text, launches) = (elaborated.document().shared_text(), &elaborated.instance.launches);
                let calls: Vec<Option<u32>> = lowered.map.sites.iter().map(|site| site.call).collect();
                self.report_by_text(text, launches, &calls, cancel, |engine| {
                    let report = engine.describe_kernel(lowered, cancel)?;
                    engine.with_globals(tree, lowered, report, &elaborated.launches(), cancel)
                })?
            }
            _ => undecided(),
        };
        Ok(elaborated.in_python(report, number))
    }

    /// A report on a kernel of an elaborated text, with what there is to say of that text and its global memory.
    pub(super) fn with_globals(
        &mut self,
        tree: &Tree,
        lowered: &Lowered,
        mut report: KernelReport<Message>,
        launches: &Arc<[Launch]>,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport<Message>, Cancelled> {
        withhold_if_malformed(tree, lowered, &mut report);
        note_deleted_reads(tree, &mut report);
        let globals = self.globals(tree, launches, cancel)?;
        if let Some(global) = globals.first() {
            add_global(&mut report, global, lowered.kernel.effects.is_empty());
        }
        if !tree.errors().is_empty() {
            let why = "what it was elaborated to has errors; please report this";
            report.verdict = Verdict::Undecided(vec![why.into()]);
        }
        Ok(report)
    }
}

impl ElaboratedInstance {
    /// A report on this instance in the words and at the places of Python.
    pub(super) fn in_python(&self, report: KernelReport<Message>, number: usize) -> KernelReport {
        let mut report = report.render(self);
        self.move_report(&mut report, number);
        report
    }

    /// Puts a report on this instance at the places of Python, with what its elaboration says.
    pub(super) fn move_report(&self, report: &mut KernelReport, number: usize) {
        report.findings.iter_mut().for_each(|finding| self.move_finding(finding, number));
        one_a_call(&mut report.findings, &self.module);
        // What the elaborator said of these places is more than what the lowering can.
        if self.has_unmodelled_op() {
            let said = |finding: &Finding| {
                let at = |(file, range, _): &(FileId, TextRange, String)| {
                    *file == FileId(0) && self.module.place(*range).0 == finding.range
                };
                finding.kind == Kind::Unmodelled && self.unmodelled().iter().any(at)
            };
            report.findings.retain(|finding| !said(finding));
        }
        let causes = self.causes();
        report.findings.extend(causes.iter().map(|cause| self.not_followed(cause, number)));
        let mut reasons = match &report.verdict {
            Verdict::Undecided(why) => why.clone(),
            _ => Vec::new(),
        };
        if let Some(cause) = causes.first() {
            let place = match cause.file {
                FileId(0) => format!("line {}", line(&self.module, cause.range)),
                file => self.spot(file, cause.range),
            };
            reasons.push(format!("{place} could not be followed: {}", cause.why));
        }
        if let Some(problem) = self.problems().iter().find(|problem| !problem.hint) {
            let guessed = self.refused_by_guess(problem) && problem.code != TextProblem::REMOVED;
            reasons.push(refused_words(guessed.then_some(ASSUMED), &problem.message));
            report.broken = true;
        }
        if let Some(range) = self.broken() {
            report.broken = true;
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
            // They have no places in the text as it is.
            report.broken = true;
            report.findings.clear();
            reasons.push(format!("line {line} does not parse"));
            report.verdict = Verdict::Undecided(reasons);
            return;
        }
        if self.lowered().is_none() && reasons.is_empty() {
            reasons.push("it could not be elaborated".to_owned());
        }
        if !reasons.is_empty() {
            reasons.dedup();
            // What was not followed may be an access.
            if let Some(global) = report.global.as_mut().filter(|global| global.verdict != Verdict::Found) {
                global.verdict = Verdict::Undecided(reasons.clone());
            }
            if report.verdict != Verdict::Found {
                report.verdict = Verdict::Undecided(reasons);
            }
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

    /// What could not be followed, one a cause, in the order in which they were met. A cause is told where it is
    /// said by itself, and else at the first place that follows from it.
    fn causes(&self) -> Vec<NotFollowed<'_>> {
        let mut causes: Vec<NotFollowed<'_>> = Vec::new();
        for (file, range, why) in self.unmodelled() {
            let root = cause(why);
            match causes.iter_mut().find(|known| cause(known.why) == root) {
                Some(known) if known.why != root && why == root => {
                    (known.file, known.range, known.why) = (*file, *range, why);
                    known.more += 1;
                }
                Some(known) => known.more += 1,
                None => causes.push(NotFollowed { file: *file, range: *range, why, more: 0 }),
            }
        }
        causes
    }

    fn not_followed(&self, cause: &NotFollowed<'_>, number: usize) -> Finding {
        let NotFollowed { file, range, why, more } = *cause;
        let own = file == FileId(0);
        let place = if own { self.module.place(range).0 } else { self.module.place(self.name).0 };
        let source = (!own).then(|| self.spot(file, range));
        // Most reasons say it themselves.
        let message = match (&source, why.ends_with("is not followed")) {
            (Some(source), true) => format!("in {source}: {why}"),
            (Some(source), false) => format!("not followed in {source}: {why}"),
            (None, true) => why.to_owned(),
            (None, false) => format!("not followed: {why}"),
        };
        let message = match more {
            0 => message,
            1 => format!("{message} (and one more place because of it)"),
            _ => format!("{message} (and {more} more places because of it)"),
        };
        let kernel = self.lowered().map_or("", |lowered| &lowered.map.kernel);
        let site = Note { range: place, text: message.clone(), source, primary: true };
        Finding { instance: number, ..Finding::with_sites(Kind::Unmodelled, message, vec![site], kernel) }
    }
}

/// A place that could not be followed, and how many others could not because of it.
struct NotFollowed<'a> {
    file: FileId,
    range: TextRange,
    why: &'a str,
    more: usize,
}

/// The report on what could not be elaborated.
fn undecided() -> KernelReport<Message> {
    KernelReport::without_findings(Verdict::Undecided(Vec::new()))
}

/// What Triton would refuse of a kernel, each once.
fn problems(module: &Module, kernel: &KernelInstances) -> Vec<TextProblem> {
    let mut said: Vec<(TextProblem, Vec<usize>)> = Vec::new();
    for (number, elaborated) in kernel.instances.iter().enumerate() {
        for problem in elaborated.problems() {
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
            let guessed = elaborated.refused_by_guess(problem) && problem.code != TextProblem::REMOVED;
            let (severity, message) = match (problem.hint, guessed) {
                // What another release would refuse is shown where hints are not.
                (true, _) if problem.code == TextProblem::REMOVED => (Severity::Information, message),
                (true, _) => (Severity::Hint, message),
                (false, true) => (Severity::Information, format!("{ASSUMED}, {message}")),
                (false, false) => (Severity::Error, message),
            };
            let problem = TextProblem { code: problem.code, severity, message, range, source, fix };
            match said.iter_mut().find(|(known, _)| *known == problem) {
                Some((_, numbers)) => numbers.push(number),
                None => said.push((problem, vec![number])),
            }
        }
    }
    let finish = |(mut problem, mut numbers): (TextProblem, Vec<usize>)| {
        numbers.dedup();
        problem.message.push_str(&conditions(kernel, &numbers));
        problem
    };
    said.into_iter().map(finish).collect()
}

/// Where a refusal may hang on values of our choice.
pub(super) const ASSUMED: &str = "with the values that were assumed";

/// That Triton would refuse a kernel, and with what.
pub(super) fn refused_words(with: Option<&str>, message: &str) -> String {
    let with = with.map_or_else(String::new, |with| format!(" {with}"));
    format!("Triton would refuse it{with}: {message}")
}

/// What does not parse.
fn broken(module: &Module) -> Vec<TextProblem> {
    let errors = module.broken().iter().filter_map(|broken| broken.errors.first());
    let problem = |(range, message): &(TextRange, String)| TextProblem {
        code: findings::TextProblem::SYNTAX,
        severity: Severity::Error,
        message: message.clone(),
        range: *range,
        source: None,
        fix: None,
    };
    errors.map(problem).collect()
}

fn remark(module: &Module, note: &SpecNote) -> TextProblem {
    let (range, _) = module.place(note.range);
    let (code, severity) = match note.kind {
        SpecNoteKind::Directive => ("directive", Severity::Error),
        SpecNoteKind::Assumed => ("assumed", Severity::Hint),
        SpecNoteKind::Unread => (TextProblem::UNREAD, Severity::Information),
    };
    TextProblem { code, severity, message: note.message.clone(), range, source: None, fix: None }
}
