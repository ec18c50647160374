//! What was said of a kernel in Python, so that an edit which only moves it says nothing anew.
//!
//! It is known by what its instances were elaborated to. Where all that it ran stands in lines of the same numbers as
//! before, and only columns and offsets have moved, the whole report holds; else its words are put together anew, and
//! what was found out with other values in place of chosen ones still holds.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use super::budget::Spent;
use super::instance::Original;
use super::merge::Premise;
use super::outline::{Comparison, Outline};
use super::{ElaboratedInstance, Elaboration, KernelInstances};
use base::TextRange;
use base::cache::Weight;
use findings::{Finding, KernelReport, TextProblem};
use rustc_hash::FxHasher;
use specialize::{Entry, Instance};

/// By what a kernel is known. It does not keep what its instances were elaborated to: once nobody else does, that does not
/// come back.
#[derive(Debug)]
pub(crate) struct JudgedKey {
    name: String,
    originals: Vec<Weak<Original>>,
}

impl PartialEq for JudgedKey {
    fn eq(&self, other: &JudgedKey) -> bool {
        self.name == other.name
            && self.originals.len() == other.originals.len()
            && self.originals.iter().zip(&other.originals).all(|(a, b)| a.ptr_eq(b))
    }
}

impl JudgedKey {
    /// That of a kernel.
    pub(super) fn of(kernel: &KernelInstances) -> JudgedKey {
        let originals = kernel.instances.iter().map(|instance| Arc::downgrade(instance.original()));
        JudgedKey { name: kernel.entry.name.clone(), originals: originals.collect() }
    }

    /// Whether it is that of a kernel.
    pub(super) fn is(&self, kernel: &KernelInstances) -> bool {
        self.name == kernel.entry.name
            && self.originals.len() == kernel.instances.len()
            && self
                .originals
                .iter()
                .zip(&kernel.instances)
                .all(|(known, now)| known.as_ptr() == Arc::as_ptr(now.original()))
    }

    /// The hash of that of a kernel.
    pub(super) fn hash(kernel: &KernelInstances) -> u64 {
        let places = kernel.instances.iter().map(|instance| Arc::as_ptr(instance.original()) as usize);
        let mut hasher = FxHasher::default();
        (&kernel.entry.name, places.collect::<Vec<usize>>()).hash(&mut hasher);
        hasher.finish()
    }
}

/// What was said of a kernel, in the places of the text that it was said of.
#[derive(Debug)]
pub(crate) struct JudgedKernel {
    outline: Arc<Outline>,
    entry: Entry,
    instances: Vec<Instance>,
    unfollowed: Vec<String>,
    left_out: usize,
    /// What each instance took; `None` of one that the file's budget left out.
    pub(super) spent: Vec<Option<Spent>>,
    report: KernelReport,
    problems: Vec<TextProblem>,
    premises: Vec<Premise>,
    /// Where all has ended that words can speak of.
    end: u32,
    /// How many kernels of its file share the outline.
    sharing: usize,
}

impl JudgedKernel {
    /// What was said of a kernel of an elaboration.
    pub(super) fn new(
        of: &Elaboration,
        kernel: &KernelInstances,
        spent: Vec<Option<Spent>>,
        report: KernelReport,
        problems: Vec<TextProblem>,
        premises: Vec<Premise>,
    ) -> JudgedKernel {
        JudgedKernel {
            outline: of.outline.clone(),
            entry: kernel.entry.clone(),
            instances: kernel.instances.iter().map(|elaborated| elaborated.instance.clone()).collect(),
            unfollowed: kernel.unfollowed.clone(),
            left_out: kernel.left_out,
            spent,
            report,
            problems,
            premises,
            end: kernel.instances.iter().map(|elaborated| elaborated.end()).fold(kernel.entry.range.end, u32::max),
            sharing: of.kernels.len(),
        }
    }

    /// The text that it was said of.
    pub(super) fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// Whether what was found out with other values in place of chosen ones still holds, in a text that compares so with its
    /// own: what these ran of the statements of the file is not known.
    pub(super) fn holds_after(&self, between: &Comparison) -> bool {
        between.keeps_statements() || (self.report.findings.is_empty() && self.report.suppressed.is_empty())
    }

    /// What it costs to keep, and what it would cost to find out again.
    pub(super) fn weight(&self) -> Weight {
        let outline = self.outline.len() / self.sharing.max(1);
        let bytes = 2048 + outline + self.report.findings.len() * 4096 + self.instances.len() * 1024;
        Weight { bytes, work: 1 + self.report.steps }
    }

    /// The report and the problems in a text that compares so with its own; `None` where their words would be others.
    pub(super) fn in_text(
        &self,
        kernel: &KernelInstances,
        between: &Comparison,
    ) -> Option<(KernelReport, Vec<TextProblem>)> {
        let same = between.same_lines_before(self.end)
            && self.unfollowed == kernel.unfollowed
            && self.left_out == kernel.left_out
            && moved_entry(&self.entry, between) == kernel.entry
            && self.instances.iter().zip(&kernel.instances).all(|(was, is)| is_same_instance(was, is, between));
        if !same {
            return None;
        }
        let (mut report, mut problems) = (self.report.clone(), self.problems.clone());
        if !between.is_still() {
            let mut shift = |range: &mut TextRange| *range = between.range(*range);
            // What should have come first stands in places of what the instance was elaborated to, which has not moved.
            let orders: Vec<_> = all_findings(&mut report).map(|finding| finding.order.take()).collect();
            report.ranges_mut(&mut shift);
            all_findings(&mut report).zip(orders).for_each(|(finding, order)| finding.order = order);
            for problem in &mut problems {
                shift(&mut problem.range);
                let edits = problem.fix.iter_mut().flat_map(|fix| &mut fix.edits);
                edits.for_each(|edit| shift(&mut edit.range));
            }
        }
        Some((report, problems))
    }

    /// Which findings other values take away, in a text that compares so with its own.
    pub(super) fn premises(&self, between: &Comparison) -> Vec<Premise> {
        let moved = |((kind, range, sites, severity), words): &Premise| {
            let sites = sites.iter().map(|site| between.range(*site)).collect();
            ((*kind, between.range(*range), sites, *severity), words.clone())
        };
        self.premises.iter().map(moved).collect()
    }
}

fn all_findings(report: &mut KernelReport) -> impl Iterator<Item = &mut Finding> {
    let suppressed = report.suppressed.iter_mut().map(|suppressed| &mut suppressed.finding);
    report.findings.iter_mut().chain(suppressed)
}

fn moved_entry(entry: &Entry, between: &Comparison) -> Entry {
    let mut moved = entry.clone();
    moved.def = between.offset(entry.def);
    moved.range = between.range(entry.range);
    moved.name_range = between.range(entry.name_range);
    moved.params.iter_mut().for_each(|param| param.range = between.range(param.range));
    moved
}

fn is_same_instance(was: &Instance, is: &ElaboratedInstance, between: &Comparison) -> bool {
    let now = &is.instance;
    (&was.label, &was.hint, &was.directive, &was.launches) == (&now.label, &now.hint, &now.directive, &now.launches)
        && between.is_same_spec(&was.spec, &now.spec)
}
