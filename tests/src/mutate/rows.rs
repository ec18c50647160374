//! What a row of a coverage table says it is ordered by is what orders it: the waits of its edges are taken out of
//! the text, again and again, until nothing orders it any more. Each time the report has to name another edge, and
//! at last it has to say that the order is missing, with a finding that names what is overwritten.

use super::edit::{Change, ops};
use base::{Cancel, Limits};
use engine::Engine;
use findings::Severity;
use report::{CoverageOrder, CoverageRow, Report};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use ttgir::{Document, OpId, Tree};

/// Deletions after which a row is given up.
const ROUNDS: usize = 16;

/// What became of one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It is missing, and a finding names it, after so many rounds of deletions.
    Missing(usize),
    /// What is found is about another overwrite of it, or another buffer that the same op touches, which lacks the
    /// same wait, or one of those that were taken out before.
    With,
    /// Something else breaks first, or instead: a hang, bytes that do not fit.
    Other(Vec<&'static str>),
    /// What orders it is no wait: partitions that start and end, barriers of all threads.
    NoWait,
    /// The report is wrong.
    Wrong(String),
}

/// A row and what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is overwritten by whom after whose use.
    pub what: String,
    /// How the report says that it is ordered, in a word: `own`, `through`.
    pub order: &'static str,
    /// Whether it is of a buffer that holds several.
    pub sibling: bool,
    /// What became of it.
    pub end: End,
}

/// All rows of a campaign, counted.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    /// Ordered by the buffer's own barrier, and missing as soon as that is not waited for.
    pub needed: usize,
    /// Ordered by it, and through others once that is not waited for.
    pub spare: usize,
    /// Ordered only through others, and missing without them.
    pub through: usize,
    /// Found with another one that lacks a wait by then.
    pub with: usize,
    /// Something else breaks first.
    pub other: usize,
    /// Ordered by no wait.
    pub no_wait: usize,
    /// Wrong ones.
    pub wrong: Vec<String>,
}

impl Tally {
    /// Counts rows of one kernel.
    pub fn add(&mut self, kernel: &str, rows: &[Row]) {
        for row in rows {
            match (&row.end, row.order) {
                (End::Missing(1), "own") => self.needed += 1,
                (End::Missing(_), "own") => self.spare += 1,
                (End::Missing(_), _) => self.through += 1,
                (End::With, _) => self.with += 1,
                (End::Other(_), _) => self.other += 1,
                (End::NoWait, _) => self.no_wait += 1,
                (End::Wrong(why), _) => self.wrong.push(format!("{kernel}: {}: {why}", row.what)),
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { needed, spare, through, with, other, no_wait, wrong } = self;
        write!(
            f,
            "{needed} rows missing once their own barrier is not waited for, {spare} then held through others until \
             those went, {through} held only through others until those went, {with} found with another one that lacks a wait by then, {other} where something else breaks, \
             {no_wait} ordered by no wait, {} wrong",
            wrong.len()
        )
    }
}

/// The rows of a kernel's coverage table that waits order; `kernel` counts the kernels of the text.
pub fn rows(text: &str, kernel: usize) -> Vec<Row> {
    let mut reports = Reports { known: HashMap::new(), engine: Engine::new(Limits::default()), kernel };
    let Some(first) = reports.of(text) else { return Vec::new() };
    let mut rows = Vec::new();
    for (block, coverage) in first.coverage.iter().enumerate() {
        for (number, row) in coverage.rows.iter().enumerate() {
            let order = match row.order {
                CoverageOrder::Edges(_) => "own",
                CoverageOrder::Through { .. } => "through",
                _ => continue,
            };
            let buffer = &first.buffers[coverage.buffer];
            let label = |partition: usize| first.partitions[partition].label.as_str();
            let what = format!(
                "{} in {} by {} of {} after {} {:?}s it",
                buffer.members[row.member].name,
                buffer.name,
                coverage.writer.op,
                label(coverage.writer.partition),
                label(row.partition),
                row.mode
            );
            let place = Place { block, number };
            let end = reports.deleted(text, &first, place);
            rows.push(Row { what, order, sibling: buffer.members.len() > 1, end });
        }
    }
    rows
}

/// A row of the first report: the block of its overwrite, and its number there.
#[derive(Clone, Copy)]
struct Place {
    block: usize,
    number: usize,
}

struct Reports {
    known: HashMap<String, Option<Rc<Report>>>,
    engine: Engine,
    kernel: usize,
}

impl Reports {
    fn of(&mut self, text: &str) -> Option<Rc<Report>> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let report = self.engine.report(&Document::new(text), self.kernel, &Cancel::never());
        let report = report.ok().flatten().map(Rc::new);
        self.known.insert(text.to_owned(), report.clone());
        report
    }

    fn deleted(&mut self, text: &str, first: &Rc<Report>, place: Place) -> End {
        let (mut text, mut report) = (text.to_owned(), first.clone());
        let alone = first.buffers[first.coverage[place.block].buffer].members.len() == 1;
        for round in 0..ROUNDS {
            let row = same(first, place, &report);
            let errors: Vec<&'static str> = report
                .findings
                .iter()
                .filter(|finding| finding.severity < Severity::Hint)
                .map(|finding| finding.kind.name())
                .collect();
            let edges = match row.map(|row| &row.order) {
                Some(CoverageOrder::Edges(edges) | CoverageOrder::Through { edges, .. }) => edges,
                Some(CoverageOrder::Missing { .. }) if named(first, place, &report) => return End::Missing(round),
                Some(CoverageOrder::Missing { .. }) if errors.is_empty() => {
                    return End::Wrong("missing, but nothing is found".to_owned());
                }
                // Of several that lack a wait, or the same one, the finding may name another one. But what is packed
                // into one buffer is named one by one.
                Some(CoverageOrder::Missing { .. }) if round > 1 || alone => return End::With,
                Some(CoverageOrder::Missing { finding: Some(at), .. }) => {
                    return End::Wrong(format!("the finding does not name it: {}", report.findings[*at].message));
                }
                _ if named(first, place, &report) => return End::With,
                _ if !errors.is_empty() => return End::Other(errors),
                Some(CoverageOrder::Program) => return End::Wrong("now said to be in program order".to_owned()),
                Some(order) => return End::Wrong(format!("now {order:?}")),
                None => return End::Wrong("the row is gone".to_owned()),
            };
            let waits: Vec<u32> =
                edges.iter().flat_map(|at| &report.edges[*at].waits).map(|range| range.start).collect();
            match without(&text, &waits) {
                Some(fewer) => text = fewer,
                None => return End::NoWait,
            }
            let Some(next) = self.of(&text) else { return End::Wrong("it is no kernel any more".to_owned()) };
            report = next;
        }
        End::Wrong("still ordered".to_owned())
    }
}

/// The row of a report that a row of the first one is now: who overwrites, what, after whose use.
fn same<'r>(first: &Report, place: Place, report: &'r Report) -> Option<&'r CoverageRow> {
    let (block, row) = (&first.coverage[place.block], &first.coverage[place.block].rows[place.number]);
    let nth = first.coverage[..place.block].iter().filter(|other| other.buffer == block.buffer).count();
    let now = report.coverage.iter().filter(|other| other.buffer == block.buffer).nth(nth)?;
    let alike =
        |other: &&CoverageRow| (other.member, other.partition, other.mode) == (row.member, row.partition, row.mode);
    now.rows.iter().find(alike)
}

/// Whether a finding says what is overwritten, by the name that the table has for it.
fn named(first: &Report, place: Place, report: &Report) -> bool {
    let block = &first.coverage[place.block];
    let Some(buffer) = report.buffers.get(block.buffer) else { return false };
    let Some(member) = buffer.members.get(block.rows[place.number].member) else { return false };
    // A part that nothing names is called after its extent, and a finding has words of its own for that.
    let name = format!("`{}", if member.name.ends_with(']') { &buffer.name } else { &member.name });
    let mut errors = report.findings.iter().filter(|finding| finding.severity < Severity::Hint);
    errors.any(|finding| finding.message.contains(&name) || finding.sites.iter().any(|site| site.text.contains(&name)))
}

/// The text without the ops whose names start there; `None` where there is none.
fn without(text: &str, starts: &[u32]) -> Option<String> {
    let tree = Tree::parse(text);
    let waits: Vec<OpId> =
        ops(&tree).into_iter().filter(|op| starts.contains(&tree.op_name_range(*op).start)).collect();
    // Only what waits: an op that arrives too, or all threads of a partition, stays.
    let waits: Vec<OpId> = waits.into_iter().filter(|op| super::unsynchronised::waits(&tree, *op)).collect();
    if waits.is_empty() {
        return None;
    }
    waits.into_iter().try_fold(Change::new(&tree), Change::remove)?.apply()
}
