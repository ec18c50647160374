//! From a document to its kernels' reports, with outcomes remembered by kernel.
//!
//! A kernel holds no span, so an edit of a comment, white space, a name or arithmetic that no
//! barrier depends on gives an equal kernel, and its outcome is taken from memory:
//! [`Engine::explorations`] does not move. Words and places are made anew each time.

use crate::cache::{GlobalsKey, ReportKey, SharedCache, hash, report_weight};
use crate::deleted::note_deleted_reads;
use crate::instances::Elaboration;
use crate::judged_section::{JudgedSection, SectionKey};
use crate::limits::fixes::STEPS as FIX_STEPS;
use crate::limits::memo::FIXES_THAT_PASSED as PASSED;
use crate::limits::quick_report::{RUN as REPORT_RUN, STATES as REPORT_STATES, STEPS as REPORT_STEPS};
use crate::near_directives;
use crate::progress::{Depth, KernelNumber, Listener, Progress};
use crate::recipes::recipes;
use crate::suppress::Suppressions;
use base::cache::{Cache, Weight};
use base::workers::SharedWorkers;
use base::{Cancel, Cancelled, IrNames, Limits, Message, Names, TextRange, message};
use findings::{
    KernelReport, Proof, Severity, TextProblem, Verdict, add_global, describe, describe_quickly, explain,
    explain_phases,
};
use fixes::{PassedCandidates, attach_fixes};
use kernel::{Kernel, Lowered, Stage};
use lower::{LoweringOptions, lower_with};
use python::specialization::LaunchFacts;
use races::{Global, Launch, races};
use report::Report;
use report::buffers::BufferAccesses;
use std::borrow::Cow;
use std::sync::Arc;
use ttgir::{Document, IrLevel, Section, SyntaxError, Tree};
use verify::{Outcome, kernel_bytes, unbound};

/// The analysis of documents, with a memory.
#[derive(Debug)]
pub struct Engine {
    pub(crate) limits: Limits,
    pub(crate) options: LoweringOptions,
    pub(crate) cache: Arc<SharedCache>,
    /// Which candidates fix a kernel's findings. That hangs on how its text is written too, so it is not shared.
    passed: Arc<Cache<Kernel, PassedCandidates>>,
    explorations: u64,
    /// Steps that were spent on changed kernels.
    retried: u64,
    /// Whether a barrier report waits for a proof.
    patient: bool,
    pub(crate) workers: SharedWorkers,
}

/// What a document says.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Its kernels, in order; ranges count from the document's start.
    pub kernels: Vec<KernelReport>,
    /// What is wrong with its syntax; ranges count from the document's start.
    pub syntax: Vec<SyntaxError>,
    /// What is wrong with it beside: what Triton would refuse of a Python file.
    pub problems: Vec<TextProblem>,
    /// What was left out, one sentence each.
    pub skipped: Vec<String>,
    /// The kernels of a Python file as they were elaborated.
    pub gluon: Option<Arc<Elaboration>>,
}

impl Engine {
    /// An engine that remembers nothing yet.
    pub fn new(limits: Limits) -> Engine {
        Engine::with_cache(limits, Arc::default())
    }

    /// An engine that remembers what all engines with this cache have found out.
    pub fn with_cache(limits: Limits, cache: Arc<SharedCache>) -> Engine {
        Engine {
            limits,
            options: LoweringOptions::default(),
            cache,
            passed: Arc::new(Cache::new(PASSED)),
            explorations: 0,
            retried: 0,
            patient: false,
            workers: SharedWorkers::default(),
        }
    }

    /// From now on it has these limits.
    pub fn set_limits(&mut self, limits: Limits) {
        if self.limits != limits {
            // What passed, passed within other limits.
            self.passed = Arc::new(Cache::new(PASSED));
            self.limits = limits;
        }
    }

    /// Ends a period, and forgets the fixes of kernels for which nobody asked in it nor in the one before; what is
    /// shared with other engines is not touched ([`SharedCache::forget_unused`]).
    pub fn forget_unused(&self) {
        self.passed.forget_unused();
    }

    /// Another engine that remembers, and finds out for this one, whatever this one does: they may work at once.
    pub fn sibling(&self) -> Engine {
        Engine {
            limits: self.limits.clone(),
            options: self.options,
            cache: self.cache.clone(),
            passed: self.passed.clone(),
            explorations: 0,
            retried: 0,
            patient: self.patient,
            workers: self.workers.clone(),
        }
    }

    /// The same, with something to assume of kernels.
    pub fn assume(self, options: LoweringOptions) -> Engine {
        Engine { options, ..self }
    }

    /// The same, whose barrier reports say what the analysis says, however long that takes. Else a report that an
    /// editor waits for has the verdict of the runs where no other is remembered.
    pub fn with_proofs(self) -> Engine {
        Engine { patient: true, ..self }
    }

    /// The same, which has `workers` do what does not hang together.
    pub fn with_workers(self, workers: SharedWorkers) -> Engine {
        Engine { workers, ..self }
    }

    /// What `describe` says of the module with this text, launched so; remembered by both.
    pub(crate) fn report_by_text(
        &mut self,
        text: &Arc<str>,
        launches: &Arc<[LaunchFacts]>,
        calls: &[Option<u32>],
        cancel: &Cancel<'_>,
        describe: impl FnOnce(&mut Engine) -> Result<KernelReport<Message>, Cancelled>,
    ) -> Result<KernelReport<Message>, Cancelled> {
        let (cache, limits) = (self.cache.clone(), self.limits.clone());
        let is_key = |key: &ReportKey| {
            (Arc::ptr_eq(&key.text, text) || key.text == *text)
                && key.launches == *launches
                && key.calls == calls
                && key.limits == limits
        };
        let key = || ReportKey {
            text: text.clone(),
            launches: launches.clone(),
            calls: calls.to_vec(),
            limits: limits.clone(),
        };
        let (report, _) = cache.reports.get_or_compute(hash((text, &limits)), is_key, key, cancel, || {
            describe(self).map(|report| (report.clone(), report_weight(text, &report)))
        })?;
        Ok((*report).clone())
    }

    /// What [`Self::report_by_text`] gave for a text before, where that is still known.
    pub(crate) fn known_report(
        &self,
        text: &Arc<str>,
        launches: &Arc<[LaunchFacts]>,
    ) -> Option<Arc<KernelReport<Message>>> {
        let is_key = |key: &ReportKey| {
            (Arc::ptr_eq(&key.text, text) || key.text == *text)
                && key.launches == *launches
                && key.limits == self.limits
        };
        self.cache.reports.get(hash((text, &self.limits)), is_key)
    }

    /// How many kernels this engine explored, rather than it or another one remembered.
    pub fn explorations(&self) -> u64 {
        self.explorations
    }

    /// Analyses every section of a document that is at the level of TTGIR.
    pub fn analyse(&mut self, document: &Document, cancel: &Cancel<'_>) -> Result<Analysis, Cancelled> {
        self.analyse_with(document, 0, cancel, None)
    }

    /// The same; sections near `focus`, an offset of the text, come first, and `listener` is told of each kernel as
    /// soon as something is known of it.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn analyse_telling(
        &mut self,
        document: &Document,
        focus: u32,
        cancel: &Cancel<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<Analysis, Cancelled> {
        self.analyse_with(document, focus, cancel, Some(listener))
    }

    fn analyse_with(
        &mut self,
        document: &Document,
        focus: u32,
        cancel: &Cancel<'_>,
        mut listener: Option<&mut Listener<'_>>,
    ) -> Result<Analysis, Cancelled> {
        let all = document.sections().iter().enumerate();
        let (read, other): (Vec<_>, Vec<_>) = all.partition(|(_, section)| section.level() != IrLevel::Llvm);
        let mut order = read;
        order.sort_by_key(|(_, section)| {
            let range = section.range();
            if range.touches(focus) { 0 } else { range.start.abs_diff(focus).min(range.end.abs_diff(focus)) }
        });
        let comments = Suppressions::of_ir(document);
        let mut judged = Vec::with_capacity(order.len());
        for (number, section) in order {
            cancel.check()?;
            let syntax = syntax_errors(section);
            if let Some(listener) = listener.as_mut().filter(|_| !syntax.is_empty()) {
                listener(Progress::Syntax(&syntax));
            }
            judged.push((number, syntax, self.section(section, number, &comments, cancel, &mut listener)?));
        }
        judged.sort_by_key(|(number, ..)| *number);
        let mut analysis = Analysis::default();
        for (_, syntax, kernels) in judged {
            analysis.syntax.extend(syntax);
            analysis.kernels.extend(kernels);
        }
        analysis.problems = comments.problems(&analysis.kernels);
        analysis.problems.extend(near_directives::problems(document.text(), "//"));
        analysis.problems.extend(document.sections().iter().filter_map(undefined_locations));
        analysis.problems.sort_by_key(|problem| problem.range.start);
        if !other.is_empty() {
            let count = other.len();
            analysis.skipped.push(format!("{count} sections below TTGIR (LLVM) have no barriers to follow"));
        }
        Ok(analysis)
    }

    /// Why each kernel's verdict is what it is, in the order of [`Analysis::kernels`].
    pub fn explain(&mut self, document: &Document, cancel: &Cancel<'_>) -> Result<Vec<Proof>, Cancelled> {
        let mut proofs = Vec::new();
        for (offset, lowered) in lowered(document, self.options) {
            let mut proof = self.explain_one(&lowered, cancel)?.render(&IrNames);
            let Proof { loops, assumed, open, .. } = &mut proof;
            loops.iter_mut().for_each(|closed| shift(&mut closed.range, offset));
            let reasons = assumed.iter_mut().chain(open).filter_map(|reason| reason.range.as_mut());
            reasons.for_each(|range| shift(range, offset));
            proofs.push(proof);
        }
        Ok(proofs)
    }

    /// Why the verdict on one kernel is what it is.
    pub(crate) fn explain_one(&mut self, lowered: &Lowered, cancel: &Cancel<'_>) -> Result<Proof<Message>, Cancelled> {
        let outcome = self.outcome(&lowered.kernel, cancel)?;
        Ok(explain(lowered, &outcome, &self.limits))
    }

    /// The barrier report of the kernel of this number, in the order of [`Analysis::kernels`]; its
    /// ranges count from the document's start. It does not wait for a proof, unless it is made
    /// [`Engine::with_proofs`]: where none is remembered, the verdict is that of the runs.
    pub fn report(
        &mut self,
        document: &Document,
        kernel: usize,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Report>, Cancelled> {
        let mut before = 0;
        for section in document.sections().iter().filter(|section| section.level() != IrLevel::Llvm) {
            cancel.check()?;
            let kernels = kernels(section.tree(), self.options);
            if let Some(lowered) = kernels.get(kernel - before) {
                return self.report_of(section, lowered, cancel).map(Some);
            }
            before += kernels.len();
        }
        Ok(None)
    }

    /// The barrier reports of all kernels, in the order of [`Analysis::kernels`].
    pub fn reports(&mut self, document: &Document, cancel: &Cancel<'_>) -> Result<Vec<Report>, Cancelled> {
        let mut reports = Vec::new();
        for section in document.sections().iter().filter(|section| section.level() != IrLevel::Llvm) {
            reports.extend(self.section_reports(section, None, cancel)?.into_iter().map(|(report, _)| report));
        }
        Ok(reports)
    }

    /// The barrier reports of one section's kernels, or of those with this name, beside what they are
    /// lowered to; ranges of the reports count from the document's start.
    pub fn section_reports(
        &mut self,
        section: &Section,
        name: Option<&str>,
        cancel: &Cancel<'_>,
    ) -> Result<Vec<(Report, Lowered)>, Cancelled> {
        let mut reports = Vec::new();
        for lowered in kernels(section.tree(), self.options) {
            cancel.check()?;
            if name.is_none_or(|name| name == lowered.map.kernel) {
                reports.push((self.report_of(section, &lowered, cancel)?, lowered));
            }
        }
        Ok(reports)
    }

    fn report_of(&mut self, section: &Section, lowered: &Lowered, cancel: &Cancel<'_>) -> Result<Report, Cancelled> {
        let mut lowered = Cow::Borrowed(lowered);
        if !self.surveyed(&lowered.kernel, cancel)?.found.is_empty() {
            name_members(section.tree(), lowered.to_mut());
        }
        let launches: Arc<[Launch]> = recipes(section.text(), "//").into();
        let mut report = self.report_in(section.tree(), &lowered, &launches, &IrNames, cancel)?;
        if section.offset() > 0 {
            report.ranges_mut(&mut |range| shift(range, section.offset()));
        }
        Ok(report)
    }

    /// The barrier report of a kernel of a tree, with the tree's ranges and in these names; its verdict is about global
    /// memory in these launches, too.
    pub(crate) fn report_in(
        &mut self,
        tree: &Tree,
        lowered: &Lowered,
        launches: &Arc<[Launch]>,
        names: &dyn Names,
        cancel: &Cancel<'_>,
    ) -> Result<Report, Cancelled> {
        let outcome = self.surveyed(&lowered.kernel, cancel)?;
        let mut kernel = describe(lowered, &outcome);
        withhold_if_malformed(tree, lowered, &mut kernel);
        let globals = self.globals(tree, launches, cancel)?;
        if let Some(global) = globals.iter().find(|global| global.kernel == lowered.map.kernel) {
            add_global(&mut kernel, global, lowered.kernel.effects.is_empty());
        }
        Report::build(tree, lowered, &outcome, &kernel.render(names), &self.limits, cancel)
    }

    /// What there is to say of the kernels of a section; ranges count from the document's start.
    fn section(
        &mut self,
        section: &Section,
        number: usize,
        comments: &Suppressions<'_>,
        cancel: &Cancel<'_>,
        listener: &mut Option<&mut Listener<'_>>,
    ) -> Result<Vec<KernelReport>, Cancelled> {
        let (tree, offset) = (section.tree(), section.offset());
        let tell = |listener: &mut Option<&mut Listener<'_>>, kernel, depth, report: &mut KernelReport| {
            let number = KernelNumber { section: number, kernel };
            shift_report(report, offset);
            comments.apply(report);
            listener.iter_mut().for_each(|listener| listener(Progress::Kernel { number, depth, report }));
        };
        let launches: Arc<[Launch]> = recipes(tree.text(), "//").into();
        let (limits, options, text) = (self.limits.clone(), self.options, tree.text());
        let hash = SectionKey::hash(text, &limits, options);
        // What does not parse is read with regard to its lines.
        let known = tree
            .errors()
            .is_empty()
            .then(|| self.cache.sections.get(hash, |key| key.is(text, &launches, &limits, options))?.in_text(text));
        if let Some(mut reports) = known.flatten() {
            for (at, report) in reports.iter_mut().enumerate() {
                tell(listener, at, Depth::Full, report);
            }
            return Ok(reports);
        }
        let mut kernels = kernels(tree, options);
        for (at, lowered) in kernels.iter().enumerate().filter(|(_, lowered)| !lowered.kernel.effects.is_empty()) {
            if listener.is_none() {
                break;
            }
            let mut report = self.quick_answer(tree, lowered, cancel)?;
            tell(listener, at, Depth::Quick, &mut report);
        }
        let globals = self.globals(tree, &launches, cancel)?;
        let mut reports = Vec::with_capacity(kernels.len());
        let mut told = Vec::with_capacity(kernels.len());
        for (at, lowered) in kernels.iter_mut().enumerate() {
            cancel.check()?;
            let report = match malformed(tree, lowered) {
                // Nothing of what runs would show is the kernel's that is meant.
                Some(report) => report,
                None => self.whole_answer(tree, lowered, globals.get(at), cancel)?,
            };
            let report = report.render(&IrNames);
            let mut moved = report.clone();
            tell(listener, at, Depth::Full, &mut moved);
            told.push(moved);
            reports.push(report);
        }
        if tree.errors().is_empty() {
            let judged = JudgedSection::new(text, reports);
            let weight = judged.weight();
            let key = SectionKey::new(text, &launches, &limits, options);
            self.cache.sections.insert(hash, key, judged, weight);
        }
        Ok(told)
    }

    /// What there is to say of a kernel, with fixes.
    fn whole_answer(
        &mut self,
        tree: &Tree,
        lowered: &mut Lowered,
        global: Option<&Global>,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport<Message>, Cancelled> {
        if !self.outcome(&lowered.kernel, cancel)?.found.is_empty() {
            name_members(tree, lowered);
        }
        let mut report = self.describe_kernel(lowered, cancel)?;
        note_deleted_reads(tree, &mut report);
        self.fix(tree, lowered, &mut report, cancel)?;
        if let Some(global) = global {
            add_global(&mut report, global, lowered.kernel.effects.is_empty());
        }
        Ok(report)
    }

    /// What a few runs of a kernel show: a start, for who waits.
    fn quick_answer(&mut self, tree: &Tree, lowered: &Lowered, cancel: &Cancel<'_>) -> Result<KernelReport, Cancelled> {
        if let Some(report) = malformed(tree, lowered) {
            return Ok(report.render(&IrNames));
        }
        let outcome = self.surveyed(&lowered.kernel, cancel)?;
        let mut report = describe_quickly(lowered, &outcome);
        note_deleted_reads(tree, &mut report);
        Ok(report.render(&IrNames))
    }

    /// What there is to say of the global memory of each kernel of a module, remembered by its text. `launches` are
    /// those that are known of its kernels.
    pub(crate) fn globals(
        &mut self,
        tree: &Tree,
        launches: &Arc<[Launch]>,
        cancel: &Cancel<'_>,
    ) -> Result<Arc<Vec<Global>>, Cancelled> {
        // What does not parse is not the kernel that would run.
        if !tree.errors().is_empty() {
            return Ok(Arc::default());
        }
        let (cache, text, limits) = (self.cache.clone(), tree.text(), self.limits.clone());
        let is_key = |key: &GlobalsKey| key.text == text && key.launches == *launches && key.limits == limits;
        let key = || GlobalsKey { text: text.to_owned(), launches: launches.clone(), limits: limits.clone() };
        let made = cache.globals.get_or_compute(hash(text), is_key, key, cancel, || {
            let mut made = races(tree, launches, cancel)?;
            made.iter_mut().try_for_each(|global| self.order_partitions(tree, global, cancel))?;
            let weight = Weight { bytes: text.len() + 2048 * made.len(), work: 1 + text.len() as u64 };
            Ok((made, weight))
        })?;
        Ok(made.0)
    }

    /// What there is to say of one kernel.
    pub fn check_kernel(&mut self, lowered: &Lowered, cancel: &Cancel<'_>) -> Result<KernelReport, Cancelled> {
        Ok(self.describe_kernel(lowered, cancel)?.render(&IrNames))
    }

    /// What there is to say of one kernel, in whatever names.
    pub(crate) fn describe_kernel(
        &mut self,
        lowered: &Lowered,
        cancel: &Cancel<'_>,
    ) -> Result<KernelReport<Message>, Cancelled> {
        let outcome = self.outcome(&lowered.kernel, cancel)?;
        let mut report = describe(lowered, &outcome);
        if lowered.map.stage != Stage::Planned {
            explain_phases(lowered, &mut report, &mut self.retry_runs(cancel))?;
        }
        Ok(report)
    }

    /// Offers fixes where there are findings.
    fn fix(
        &mut self,
        tree: &Tree,
        lowered: &Lowered,
        report: &mut KernelReport<Message>,
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        // What a plan lacks is the compiler's to add, not the text's.
        if report.findings.is_empty() || lowered.map.stage == Stage::Planned {
            return Ok(());
        }
        let outcome = self.outcome(&lowered.kernel, cancel)?;
        let hash = hash(&lowered.kernel);
        let known = self.passed.get(hash, |kernel| *kernel == lowered.kernel);
        let passed = attach_fixes(tree, lowered, &outcome, known.as_deref(), report, &mut self.retry(cancel))?;
        if let Some(passed) = passed {
            let weight = Weight { bytes: kernel_bytes(&lowered.kernel), work: 1 + outcome.steps };
            self.passed.insert(hash, lowered.kernel.clone(), passed, weight);
        }
        Ok(())
    }

    /// Decides changed kernels.
    pub(crate) fn retry<'a>(
        &'a mut self,
        cancel: &'a Cancel<'a>,
    ) -> impl FnMut(&Kernel) -> Result<Outcome, Cancelled> + 'a {
        // A change that is costly to check is not worth waiting for in an editor.
        let limits = Limits { total_steps: FIX_STEPS, ..self.limits.clone() };
        move |kernel: &Kernel| {
            let outcome = self.decide(kernel, &limits, cancel)?;
            self.retried += outcome.steps;
            Ok(Arc::unwrap_or_clone(outcome))
        }
    }

    /// What runs find in changed kernels: whether none of all inputs breaks a rule is not asked.
    fn retry_runs<'a>(
        &'a mut self,
        cancel: &'a Cancel<'a>,
    ) -> impl FnMut(&Kernel) -> Result<Arc<Outcome>, Cancelled> + 'a {
        let limits = Limits { total_steps: FIX_STEPS, ..self.limits.clone() };
        move |kernel: &Kernel| {
            let (outcome, explored) = self.cache.outcomes.survey(kernel, &limits, cancel)?;
            self.explorations += u64::from(explored);
            self.retried += outcome.steps;
            Ok(outcome)
        }
    }

    /// How many steps changed kernels have taken so far: what a search for a fix may cost is counted in them.
    pub(crate) fn retried(&self) -> u64 {
        self.retried
    }

    /// The outcome of a kernel where it is remembered, and else what runs say of it.
    pub(crate) fn surveyed(&mut self, kernel: &Kernel, cancel: &Cancel<'_>) -> Result<Arc<Outcome>, Cancelled> {
        self.surveyed_within(kernel, REPORT_STEPS, cancel)
    }

    /// The same with runs of so many steps in all.
    pub(crate) fn surveyed_within(
        &mut self,
        kernel: &Kernel,
        steps: u64,
        cancel: &Cancel<'_>,
    ) -> Result<Arc<Outcome>, Cancelled> {
        if self.patient {
            return self.outcome(kernel, cancel);
        }
        if let Some(known) = self.cache.outcomes.decided(kernel, &self.limits) {
            return Ok(known);
        }
        self.survey(kernel, steps, cancel)
    }

    /// What runs of so many steps in all find in a kernel, whatever else is known of it.
    pub(crate) fn survey(
        &mut self,
        kernel: &Kernel,
        steps: u64,
        cancel: &Cancel<'_>,
    ) -> Result<Arc<Outcome>, Cancelled> {
        let limits = Limits {
            run_steps: self.limits.run_steps.min(REPORT_RUN).min(steps),
            total_steps: self.limits.total_steps.min(steps),
            states: self.limits.states.min(REPORT_STATES),
            ..self.limits.clone()
        };
        let (outcome, explored) = self.cache.outcomes.survey(kernel, &limits, cancel)?;
        self.explorations += u64::from(explored);
        Ok(outcome)
    }

    pub(crate) fn outcome(&mut self, kernel: &Kernel, cancel: &Cancel<'_>) -> Result<Arc<Outcome>, Cancelled> {
        let limits = self.limits.clone();
        self.decide(kernel, &limits, cancel)
    }

    fn decide(&mut self, kernel: &Kernel, limits: &Limits, cancel: &Cancel<'_>) -> Result<Arc<Outcome>, Cancelled> {
        let (outcome, explored) = self.cache.outcomes.decide(kernel, limits, cancel)?;
        self.explorations += u64::from(explored);
        Ok(outcome)
    }
}

/// What does not parse of a section; ranges count from the document's start.
fn syntax_errors(section: &Section) -> Vec<SyntaxError> {
    let (tree, offset) = (section.tree(), section.offset());
    let mut errors = tree.errors().to_vec();
    for error in &mut errors {
        shift(&mut error.range, offset);
        error.related.iter_mut().for_each(|(range, _)| shift(range, offset));
    }
    errors
}

/// What there is to say of the locations that a section does not define; places count from the document's start.
fn undefined_locations(section: &Section) -> Option<TextProblem> {
    if section.level() == IrLevel::Llvm {
        return None;
    }
    let lost = section.tree().undefined_locations();
    let mut range = *lost.first()?;
    let first = range.of(section.text());
    let others = match lost.len() - 1 {
        0 => String::new(),
        1 => ", and one other is not defined either".into(),
        more => format!(", and {more} others are not defined either"),
    };
    shift(&mut range, section.offset());
    Some(TextProblem {
        code: TextProblem::LOCATION,
        severity: Severity::Information,
        message: format!(
            "nothing defines the location `{first}`{others}: what stands there leads to no line of Python"
        ),
        range,
        source: None,
        fix: None,
    })
}

/// The kernels of a section, as they are run.
fn kernels(tree: &Tree, options: LoweringOptions) -> Vec<Lowered> {
    let mut kernels = lower_with(tree, options);
    for lowered in &mut kernels {
        if let Some(kernel) = unbound(&lowered.kernel) {
            lowered.kernel = kernel;
        }
    }
    kernels
}

/// Has findings call what several logical buffers share by the names that the barrier report has for them.
fn name_members(tree: &Tree, lowered: &mut Lowered) {
    lowered.map.members = BufferAccesses::new(tree, lowered).names();
}

/// The kernels of a document under what is assumed of them, each with the start of its section, in the
/// order of [`Analysis::kernels`].
pub fn lowered(document: &Document, options: LoweringOptions) -> Vec<(u32, Lowered)> {
    let sections = document.sections().iter().filter(|section| section.level() != IrLevel::Llvm);
    sections
        .flat_map(|section| kernels(section.tree(), options).into_iter().map(|lowered| (section.offset(), lowered)))
        .collect()
}

/// The report on a kernel whose text does not parse; `None` where it does.
fn malformed(tree: &Tree, lowered: &Lowered) -> Option<KernelReport<Message>> {
    let function = tree.op_at(lowered.map.kernel_range.start).map(|op| tree.op_range(op));
    let function = function.unwrap_or_else(|| TextRange::new(0, tree.text().len() as u32));
    let errors = tree.errors().iter().filter(|error| function.touches(error.range.start)).count();
    let why = match errors {
        0 => return None,
        1 => "its text has a syntax error".into(),
        _ => message!("its text has {errors} syntax errors", errors),
    };
    Some(KernelReport {
        name: lowered.map.kernel.clone(),
        range: lowered.map.kernel_range,
        broken: true,
        ..KernelReport::without_findings(Verdict::Undecided(vec![why]))
    })
}

/// Takes the findings on a kernel away whose text does not parse.
pub(crate) fn withhold_if_malformed(tree: &Tree, lowered: &Lowered, report: &mut KernelReport<Message>) {
    if let Some(malformed) = malformed(tree, lowered) {
        report.broken = true;
        report.findings.clear();
        report.verdict = malformed.verdict;
    }
}

fn shift(range: &mut TextRange, by: u32) {
    *range = TextRange::new(range.start + by, range.end + by);
}

fn shift_report(report: &mut KernelReport, by: u32) {
    if by == 0 {
        return;
    }
    report.ranges_mut(&mut |range| shift(range, by));
}
