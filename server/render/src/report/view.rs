//! A report with what every printer of it needs: whose text it is about, and where its lines are.

use base::TextRange;
use kernel::Space;
use report::timeline::Timeline;
use report::{CoverageOrder, CoverageRow, Edge, PhysicalBuffer, Report};

use crate::SourceText;

/// What is said above a graph with edges that nothing in the text makes yet.
pub(super) const PLANNED: &str = "An edge that is planned is a channel that code partitioning makes: it follows from \
                                  who writes and who reads a buffer, or computes and uses a value.";

/// What stands in place of the sections about barriers where there is nothing for them to say.
pub(super) const BARE: &str = "It has no barrier and shares no memory between partitions: there is nothing that has to be ordered within a program.";

/// How many lines that are not followed are named where a report says that it is partial.
const LINES: usize = 8;

/// What the text, Markdown, JSON and HTML printers take.
pub struct ReportView<'a> {
    /// The file as it was named, or `<stdin>`.
    pub path: &'a str,
    /// The section that the kernel stands in; `None` where the file is one module.
    pub section: Option<SectionName>,
    /// What of the text is that section, or all of it.
    pub text: TextRange,
    /// The file's text and its lines; the ranges of the report count in it.
    pub places: &'a SourceText<'a>,
    /// The report.
    pub report: Report,
    /// A run to draw: that of [`ReportView::finding`], or where there is none that of the clean kernel.
    pub timeline: Option<Timeline>,
    /// Index of the finding that the timeline leads to.
    pub finding: Option<usize>,
}

/// A section of a dump.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SectionName {
    /// Its number in the file, from 1.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// `after doCodePartition`; empty where the separator does not say.
    pub pass: String,
}

impl ReportView<'_> {
    /// Line of a range, from 1; `None` for what has no place.
    pub fn line(&self, range: TextRange) -> Option<u32> {
        (!range.is_empty()).then(|| self.places.line(range.start))
    }

    /// Lines of ranges, each once, ascending.
    pub fn lines(&self, ranges: impl IntoIterator<Item = TextRange>) -> Vec<u32> {
        let mut lines: Vec<u32> = ranges.into_iter().filter_map(|range| self.line(range)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// A partition's label.
    pub fn partition(&self, at: usize) -> &str {
        self.report.partitions.get(at).map_or("?", |row| row.label.as_str())
    }

    /// A partition's label with its role: `partition0 (MMA)`.
    pub fn partition_role(&self, at: usize) -> String {
        match self.report.partitions.get(at) {
            Some(row) if !row.role.is_empty() => format!("{} ({})", row.label, row.role),
            Some(row) => row.label.clone(),
            None => "?".to_owned(),
        }
    }

    /// A logical buffer's name; with that of its physical buffer where it has another.
    pub fn member(&self, (buffer, member): (usize, usize)) -> String {
        let Some(physical) = self.report.buffers.get(buffer) else { return "?".to_owned() };
        match physical.members.get(member) {
            Some(member) if physical.members.len() == 1 || member.name == physical.name => member.name.clone(),
            Some(member) => format!("{} in {}", member.name, physical.name),
            None => physical.name.clone(),
        }
    }

    /// Why the graph and the tables are partial; empty where they are not.
    pub fn partial(&self) -> String {
        let unmodelled = &self.report.unmodelled;
        let lines = self.lines(unmodelled.iter().map(|(range, _)| *range));
        match (unmodelled.len(), lines.as_slice()) {
            (0, _) => String::new(),
            (_, [line]) => format!("line {line} is not followed: what it orders is missing below"),
            (_, []) => "what is not followed orders nothing below".to_owned(),
            (_, lines) => {
                let shown: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
                let more = lines.len() - shown.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("lines {}{more} are not followed: what they order is missing below", shown.join(", "))
            }
        }
    }

    /// What an edge hands on: the member's name and, where it is still in registers, its type.
    pub fn handed(&self, at: (usize, usize)) -> String {
        format!("{}{}", self.member(at), self.in_registers(at))
    }

    /// ` (tensor<128x64xf16> in registers)` of a value that has no buffer yet.
    pub fn in_registers(&self, (buffer, _): (usize, usize)) -> String {
        let buffer = self.report.buffers.get(buffer).filter(|buffer| buffer.registers);
        buffer.map_or_else(String::new, |buffer| format!(" ({} in registers)", short(&buffer.ty)))
    }

    /// What an edge goes by: the barrier's name with its slots (`%full [2]`).
    pub fn barrier(&self, edge: &Edge) -> String {
        match edge.barrier.and_then(|at| self.report.barriers.get(at)) {
            Some(barrier) if barrier.depth > 1 => format!("{} [{}]", barrier.name, barrier.depth),
            Some(barrier) => barrier.name.clone(),
            None => String::new(),
        }
    }

    /// Whether nothing of it is about barriers or shared memory, as in most kernels of plain Triton.
    pub(super) fn is_bare(&self) -> bool {
        let report = &self.report;
        report.partitions.len() <= 1
            && report.barriers.is_empty()
            && report.buffers.is_empty()
            && report.edges.is_empty()
            && report.coverage.is_empty()
    }

    /// How many rows of the coverage table nothing orders.
    pub fn missing(&self) -> usize {
        let rows = self.report.coverage.iter().flat_map(|block| &block.rows);
        rows.filter(|row| matches!(row.order, CoverageOrder::Missing { .. })).count()
    }

    /// `ordered (by …)`, `MISSING (…)`, …: the last column of the coverage table.
    pub fn order(&self, row: &CoverageRow) -> String {
        let reason = |text: &str| if text.is_empty() { String::new() } else { format!(" ({text})") };
        match &row.order {
            CoverageOrder::Program => "ordered (by program order)".to_owned(),
            CoverageOrder::Edges(edges) => format!("ordered (by {})", self.edges(edges)),
            CoverageOrder::Through { edges, .. } => format!("ordered only through {}", self.edges(edges)),
            CoverageOrder::Missing { needed, .. } => format!("MISSING{}", reason(needed)),
            CoverageOrder::Never(why) => format!("not overwritten{}", reason(why)),
            CoverageOrder::Unknown(why) => format!("unknown{}", reason(why)),
        }
    }

    fn edges(&self, edges: &[usize]) -> String {
        let edges: Vec<String> = edges.iter().filter_map(|&at| self.edge(at)).collect();
        edges.join("; ")
    }

    /// How many rows of the coverage table are ordered only through barriers of other buffers.
    pub fn through(&self) -> usize {
        let rows = self.report.coverage.iter().flat_map(|block| &block.rows);
        rows.filter(|row| matches!(row.order, CoverageOrder::Through { .. })).count()
    }

    /// An edge in a few words: `%empty: default -> partition0`.
    pub fn edge(&self, at: usize) -> Option<String> {
        let edge = self.report.edges.get(at)?;
        let by = edge.barrier.and_then(|at| self.report.barriers.get(at));
        let by = by.map_or(edge.mechanism.name(), |barrier| barrier.name.as_str());
        Some(format!("{by}: {} -> {}", self.partition(edge.from), self.partition(edge.to)))
    }
}

/// A tensor's type without its layout: `tensor<128x64xf16>`.
fn short(ty: &str) -> String {
    match ty.split_once(',') {
        Some((head, _)) => format!("{head}>"),
        None => ty.to_owned(),
    }
}

/// `ordered`, `through`, `missing`, `never`, `unknown`: one word an order, for tools.
pub(super) fn order_word(order: &CoverageOrder) -> &'static str {
    match order {
        CoverageOrder::Program | CoverageOrder::Edges(_) => "ordered",
        CoverageOrder::Through { .. } => "through",
        CoverageOrder::Missing { .. } => "missing",
        CoverageOrder::Never(_) => "never",
        CoverageOrder::Unknown(_) => "unknown",
    }
}

/// `SMEM`, `TMEM`.
pub(super) fn space(space: Space) -> &'static str {
    match space {
        Space::Shared => "SMEM",
        Space::Tensor => "TMEM",
    }
}

/// What sizes and extents of a buffer count: `bytes`, `cols`.
pub(super) fn unit(buffer: &PhysicalBuffer) -> &'static str {
    match buffer.space {
        Space::Shared => "bytes",
        Space::Tensor => "cols",
    }
}

/// `cols 0-63`, `col 64`, `bytes 0-16383`: both ends are inside.
pub(super) fn extent(buffer: &PhysicalBuffer, (first, end): (u64, u64)) -> String {
    let unit = unit(buffer);
    if end <= first + 1 {
        format!("{} {first}", unit.trim_end_matches('s'))
    } else {
        format!("{unit} {first}-{}", end - 1)
    }
}
