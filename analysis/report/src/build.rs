//! Puts a report together.

use super::barriers::Barriers;
use super::buffers::BufferAccesses;
use super::coverage::Tables;
use super::edges::Edges;
use super::order::ordering_facts;
use super::reaching::Reaching;
use super::remarks::Remarks;
use super::trace::Trace;
use super::{CoverageOrder, PartitionUse, Report, aliases, coming, coverage, edges, partitions, planned};
use base::{Cancel, Cancelled, Limits, TextRange};
use findings::{KernelReport, inputs};
use kernel::Lowered;
use ttgir::Tree;
use verify::Outcome;

impl Report {
    /// The report of a kernel: `outcome` and `kernel` are what the analysis said of it. Ranges are
    /// those of the tree.
    pub fn build(
        tree: &Tree,
        lowered: &Lowered,
        outcome: &Outcome,
        kernel: &KernelReport,
        limits: &Limits,
        cancel: &Cancel<'_>,
    ) -> Result<Report, Cancelled> {
        cancel.check()?;
        let trace = Trace::new(tree, lowered);
        let memory = BufferAccesses::of(&trace);
        let mut barriers = Barriers::of(&trace, &memory);
        aliases::fill(&trace, &mut barriers);
        planned::expects(&trace, &mut barriers);
        let (mut ordering_facts, made) = ordering_facts(&lowered.kernel, outcome, limits, cancel)?;
        let handed = ordering_facts.payload.members(&memory);
        ordering_facts.prefer(|pair, link| coverage::hands_over(&memory, &handed, pair, link));
        let edges = Edges::new(&trace, &ordering_facts, &memory, &barriers);
        edges::fill(&mut barriers, &edges.rows, &ordering_facts);
        let (rows, findings) = (&barriers.rows, &kernel.findings);
        let tables = Tables {
            trace: &trace,
            ordering_facts: &ordering_facts,
            memory: &memory,
            edges: &edges,
            handed: &handed,
            barriers: rows,
            findings,
            reaching: &Reaching::new(&trace),
        };
        let coverage = tables.all();
        let (all, told) = (&memory, &barriers);
        let remarks =
            Remarks { trace: &trace, ordering_facts: &ordering_facts, memory: all, barriers: told, findings }.all();
        let unmodelled = not_followed(tree, lowered, &trace);
        Ok(Report {
            kernel: kernel.name.clone(),
            range: kernel.range,
            stage: lowered.map.stage,
            ctas: lowered.kernel.ctas,
            verdict: kernel.verdict.clone(),
            findings: kernel.findings.clone(),
            runs: made
                .iter()
                .map(|run| inputs(&lowered.kernel, &lowered.map, &run.valuation))
                .map(|all| all.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
                .collect(),
            partitions: partitions::rows(&trace, &memory),
            barriers: barriers.rows,
            edges: edges.rows,
            buffers: memory.buffers,
            coverage,
            remarks,
            unmodelled,
            coming: coming::coming(&trace),
        })
    }

    /// Every range, to be moved.
    pub fn ranges_mut(&mut self, each: &mut dyn FnMut(&mut TextRange)) {
        each(&mut self.range);
        for finding in &mut self.findings {
            finding.ranges_mut(each);
        }
        self.partitions.iter_mut().for_each(|row| each(&mut row.range));
        for barrier in &mut self.barriers {
            each(&mut barrier.range);
            barrier.expects.iter_mut().for_each(|expect| each(&mut expect.range));
            barrier.uses.iter_mut().for_each(|used| each(&mut used.range));
            barrier.aliases.iter_mut().for_each(|alias| each(&mut alias.range));
        }
        for edge in &mut self.edges {
            edge.arrivals.iter_mut().chain(&mut edge.waits).for_each(&mut *each);
        }
        for buffer in &mut self.buffers {
            each(&mut buffer.range);
            for member in &mut buffer.members {
                each(&mut member.range);
                member.writers.iter_mut().chain(&mut member.readers).for_each(|used| each(&mut used.range));
            }
        }
        for coverage in &mut self.coverage {
            each(&mut coverage.writer.range);
            let uses = coverage.rows.iter_mut().flat_map(|row| &mut row.uses);
            uses.for_each(|used| each(&mut used.range));
        }
        for remark in &mut self.remarks {
            each(&mut remark.range);
            remark.sites.iter_mut().for_each(&mut *each);
        }
        self.unmodelled.iter_mut().for_each(|(range, _)| each(range));
    }
    /// Every piece of text but the kernel's name and the findings, to be put in other words.
    pub fn texts_mut(&mut self, each: &mut dyn FnMut(&mut String)) {
        self.runs.iter_mut().flatten().for_each(|(name, _)| each(name));
        for row in &mut self.partitions {
            each(&mut row.label);
            each(&mut row.role);
            row.key_ops.iter_mut().for_each(|(op, _)| each(op));
        }
        for barrier in &mut self.barriers {
            each(&mut barrier.name);
            barrier.index.iter_mut().chain(&mut barrier.phase).for_each(&mut *each);
            for (name, text) in &mut barrier.carried {
                each(name);
                each(text);
            }
            barrier.stagger.iter_mut().for_each(|(name, _)| each(name));
            barrier.expects.iter_mut().flat_map(|expect| &mut expect.parts).for_each(|(name, _)| each(name));
            barrier.uses.iter_mut().for_each(|used| used.texts_mut(each));
            for alias in &mut barrier.aliases {
                each(&mut alias.name);
                each(&mut alias.how);
            }
        }
        for buffer in &mut self.buffers {
            each(&mut buffer.name);
            for member in &mut buffer.members {
                each(&mut member.name);
                member.writers.iter_mut().chain(&mut member.readers).for_each(|used| used.texts_mut(each));
            }
        }
        for coverage in &mut self.coverage {
            coverage.writer.texts_mut(each);
            coverage.use_c.iter_mut().for_each(&mut *each);
            for row in &mut coverage.rows {
                row.uses.iter_mut().for_each(|used| used.texts_mut(each));
                match &mut row.order {
                    CoverageOrder::Missing { needed: text, .. }
                    | CoverageOrder::Through { breaks: text, .. }
                    | CoverageOrder::Never(text)
                    | CoverageOrder::Unknown(text) => each(text),
                    CoverageOrder::Program | CoverageOrder::Edges(_) => {}
                }
            }
        }
        self.remarks.iter_mut().for_each(|remark| each(&mut remark.text));
        self.unmodelled.iter_mut().for_each(|(_, reason)| each(reason));
        self.coming.iter_mut().for_each(|coming| each(&mut coming.adds));
    }
}

/// What the machine cannot follow, and what cannot be read in the kernel's own text.
fn not_followed(tree: &Tree, lowered: &Lowered, trace: &Trace<'_>) -> Vec<(TextRange, String)> {
    let own = trace.function.map(|function| tree.op_range(function)).unwrap_or_default();
    let errors = tree.errors().iter().filter(|error| own.start <= error.range.start && error.range.start < own.end);
    let unread = errors.map(|error| (error.range, error.message.clone()));
    let unmodelled = lowered.unmodelled.iter().map(|item| (item.range, item.reason.to_string()));
    let mut all: Vec<(TextRange, String)> = unread.chain(unmodelled).collect();
    all.sort_by_key(|(range, _)| (range.start, range.end));
    all
}

impl PartitionUse {
    fn texts_mut(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.op);
        each(&mut self.what);
        each(&mut self.slot);
        self.cadence.iter_mut().for_each(each);
    }
}
