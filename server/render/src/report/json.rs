//! Reports as a JSON document, schema 1: members may be added, none is taken away.
//!
//! `docs/report.schema.json` is generated from the types below; a test says when it is stale. Indices
//! point into the lists of the same report. Positions count from 0, in UTF-16 code units on the
//! command line and as agreed with the client over LSP.

use findings::{Finding, Verdict};
use kernel::{Half, Mode, Space};
use report::{BarrierSummary, Coverage, CoverageOrder, CoverageRow, Edge, PartitionUse, PhysicalBuffer, Report};
use serde::Serialize;
use serde_json::Value;

use super::view::{ReportView, SectionName, order_word};
use super::{SectionEntry, diff};
use crate::document::{Input, Positions, Range, TOOL, Tool, value};

/// What `fencepost report --format json` prints and `fencepost/report` answers. Members may be added, none is taken
/// away. Indices count from 0 and point into the lists of the same report. Lines and characters count from 0.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportDocument<'a> {
    /// 1
    schema: u32,
    tool: Tool,
    /// Over LSP: the version of the text
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    /// utf-16 on the command line, what was agreed over LSP
    #[cfg_attr(test, schemars(extend("enum" = ["utf-8", "utf-16", "utf-32"])))]
    position_encoding: &'a str,
    reports: Vec<ReportJson<'a>>,
    /// Instead of reports: the sections of a dump with kernels, where none was chosen
    sections: Vec<Section<'a>>,
}

impl<'a> ReportDocument<'a> {
    /// A document around reports, or around the lists of files' sections, by path.
    pub fn new(
        encoding: &'a str,
        version: Option<i32>,
        reports: Vec<ReportJson<'a>>,
        sections: impl IntoIterator<Item = (&'a str, &'a SectionEntry)>,
    ) -> ReportDocument<'a> {
        let sections = sections.into_iter().map(|(path, entry)| Section::new(path, entry)).collect();
        ReportDocument { schema: 1, tool: TOOL, version, position_encoding: encoding, reports, sections }
    }

    /// The document, members sorted by name.
    pub fn value(&self) -> Value {
        value(self)
    }
}

/// What `fencepost report --diff --format json` prints.
#[derive(Serialize)]
pub struct DiffDocument<'a> {
    schema: u32,
    tool: Tool,
    diffs: Vec<diff::DiffJson<'a>>,
}

impl<'a> DiffDocument<'a> {
    /// A document of differences.
    pub fn new(diffs: Vec<diff::DiffJson<'a>>) -> DiffDocument<'a> {
        DiffDocument { schema: 1, tool: TOOL, diffs }
    }

    /// The document, members sorted by name.
    pub fn value(&self) -> Value {
        value(self)
    }
}

/// A section of a dump that has kernels
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Section<'a> {
    path: &'a str,
    /// From 1, what --section takes
    number: usize,
    /// What the separator says, `after doCodePartition`; may be empty
    pass: &'a str,
    /// Where it starts, from 1
    line: u32,
    kernels: &'a [String],
}

impl<'a> Section<'a> {
    fn new(path: &'a str, entry: &'a SectionEntry) -> Section<'a> {
        let SectionName { number, pass, .. } = &entry.name;
        Section { path, number: *number, pass, line: entry.line, kernels: &entry.kernels }
    }
}

/// The barrier report of one kernel
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportJson<'a> {
    path: &'a str,
    /// null in a file of one module
    section: Option<&'a SectionName>,
    /// Without @
    kernel: &'a str,
    /// Its name
    range: Option<Range>,
    /// How far automatic warp specialisation has taken the text: mbarriers in partitions; tokens, arefs or semaphores
    /// in partitions; ops that name their tasks, synchronised; the same before anything synchronises them
    #[cfg_attr(test, schemars(extend("enum" = ["final", "tokens", "tagged", "planned"])))]
    stage: &'a str,
    /// CTAs of the cluster that runs it
    ctas: u32,
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "clean", "found", "undecided"])))]
    verdict: &'a str,
    reasons: Vec<&'a str>,
    /// Rows of the coverage table that nothing orders
    missing: usize,
    findings: Vec<FindingJson<'a>>,
    /// Inputs of the runs that edges and coverage come from
    runs: Vec<Vec<Input<'a>>>,
    partitions: Vec<PartitionJson<'a>>,
    barriers: Vec<BarrierJson<'a>>,
    edges: Vec<EdgeJson>,
    buffers: Vec<BufferJson<'a>>,
    coverage: Vec<CoverageJson<'a>>,
    remarks: Vec<RemarkJson<'a>>,
    /// What the analysis cannot follow; where there is any, edges and rows of the coverage table are missing
    unmodelled: Vec<Text<'a>>,
    /// Whether the graph and the tables are without what `unmodelled` orders
    partial: bool,
    /// What passes of Triton that are still to come add, in their order: its absence is no fault
    coming: Vec<ComingJson<'a>>,
}

impl<'a> ReportJson<'a> {
    /// One report.
    pub fn new(view: &'a ReportView<'_>, at: Positions<'_>) -> ReportJson<'a> {
        let Report { kernel, range, stage, ctas, verdict, findings, runs, partitions, barriers, .. } = &view.report;
        let Report { edges, buffers, coverage, remarks, unmodelled, coming, .. } = &view.report;
        let partitions = partitions.iter().map(|row| PartitionJson {
            label: &row.label,
            range: Range::placed(row.range, at),
            role: &row.role,
            key_ops: row.key_ops.iter().map(|(op, count)| KeyOp { op, count: u64::from(*count) }).collect(),
            warps: row.warps,
        });
        let remarks = remarks.iter().map(|remark| RemarkJson {
            kind: remark.kind.name(),
            range: Range::placed(remark.range, at),
            text: &remark.text,
            sites: remark.sites.iter().map(|&site| Range::placed(site, at)).collect(),
        });
        ReportJson {
            path: view.path,
            section: view.section.as_ref(),
            kernel,
            range: Range::placed(*range, at),
            stage: stage.name(),
            ctas: *ctas,
            verdict: verdict.name(),
            reasons: reasons(verdict),
            missing: view.missing(),
            findings: findings.iter().map(|it| FindingJson::new(it, at)).collect(),
            runs: runs.iter().map(|run| Input::all(run)).collect(),
            partitions: partitions.collect(),
            barriers: barriers.iter().map(|it| BarrierJson::new(it, at)).collect(),
            edges: edges.iter().map(|it| EdgeJson::new(it, at)).collect(),
            buffers: buffers.iter().map(|it| BufferJson::new(it, at)).collect(),
            coverage: coverage.iter().map(|it| CoverageJson::new(it, at)).collect(),
            remarks: remarks.collect(),
            unmodelled: unmodelled
                .iter()
                .map(|(range, text)| Text { range: Range::placed(*range, at), text })
                .collect(),
            partial: !unmodelled.is_empty(),
            coming: coming.iter().map(|it| ComingJson { pass: it.pass, adds: &it.adds }).collect(),
        }
    }
}

/// Why a verdict is what it is.
pub(crate) fn reasons(verdict: &Verdict) -> Vec<&str> {
    match verdict {
        Verdict::Proved(how) | Verdict::Clean(how) => vec![how],
        Verdict::Found => Vec::new(),
        Verdict::Undecided(why) => why.iter().map(String::as_str).collect(),
    }
}

/// What a later pass adds
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ComingJson<'a> {
    pass: &'a str,
    adds: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Text<'a> {
    range: Option<Range>,
    text: &'a str,
}

/// As in `fencepost check --format json`, without run and fix
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingJson<'a> {
    kind: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["error", "warning", "information", "hint"])))]
    severity: &'a str,
    message: &'a str,
    range: Option<Range>,
    sites: Vec<Site<'a>>,
    inputs: Vec<Input<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Site<'a> {
    range: Option<Range>,
    text: &'a str,
    /// `file:line` of the program
    source: Option<&'a str>,
    primary: bool,
}

impl<'a> FindingJson<'a> {
    fn new(finding: &'a Finding, at: Positions<'_>) -> FindingJson<'a> {
        let sites = finding.sites.iter().map(|site| Site {
            range: Range::placed(site.range, at),
            text: &site.text,
            source: site.source.as_deref(),
            primary: site.primary,
        });
        FindingJson {
            kind: finding.kind.name(),
            severity: finding.severity.name(),
            message: &finding.message,
            range: Range::placed(finding.range, at),
            sites: sites.collect(),
            inputs: Input::all(&finding.inputs),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct PartitionJson<'a> {
    /// `default`, `partition0`, `task 2`
    label: &'a str,
    range: Option<Range>,
    role: &'a str,
    key_ops: Vec<KeyOp<'a>>,
    warps: u32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct KeyOp<'a> {
    op: &'a str,
    count: u64,
}

/// An op that uses a barrier or a buffer
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UseJson<'a> {
    range: Option<Range>,
    op: &'a str,
    /// Index into `partitions`
    partition: usize,
    /// In words
    what: &'a str,
    /// As an expression; empty where there is one slot
    slot: &'a str,
    /// Loops around it, outermost first
    cadence: &'a [String],
}

impl<'a> UseJson<'a> {
    fn new(it: &'a PartitionUse, at: Positions<'_>) -> UseJson<'a> {
        let PartitionUse { range, op, partition, what, slot, cadence } = it;
        UseJson { range: Range::placed(*range, at), op, partition: *partition, what, slot, cadence }
    }

    fn all(uses: &'a [PartitionUse], at: Positions<'_>) -> Vec<UseJson<'a>> {
        uses.iter().map(|it| UseJson::new(it, at)).collect()
    }
}

/// A logical buffer: an index into `buffers`, and one into its `members`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MemberRef {
    buffer: usize,
    member: usize,
}

fn member_refs(members: &[(usize, usize)]) -> Vec<MemberRef> {
    members.iter().map(|&(buffer, member)| MemberRef { buffer, member }).collect()
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct BarrierJson<'a> {
    name: &'a str,
    range: Option<Range>,
    /// What it stands for where it is no mbarrier of the text
    abstract_of: Option<AbstractOf<'a>>,
    /// Slots
    depth: u64,
    /// Arrivals a phase, where all slots have the same
    count: Option<u64>,
    mechanisms: Vec<&'a str>,
    /// How the slot is computed, each expression once
    index: &'a [String],
    /// How the phase is computed at its waits, each expression once
    phase: &'a [String],
    /// Slots of uses in one iteration, as offsets from the first
    stagger: Vec<Stagger<'a>>,
    expects: Vec<ExpectJson<'a>>,
    uses: Vec<UseJson<'a>>,
    /// Every value that names it
    aliases: Vec<AliasJson<'a>>,
    protects: Vec<MemberRef>,
    /// Flips of each slot in the longest run, and the waits that saw them
    traffic: Vec<Traffic>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AbstractOf<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["token", "aref", "semaphore", "channel"])))]
    what: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["full", "empty", "whole"])))]
    half: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stagger<'a> {
    name: &'a str,
    offset: i64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ExpectJson<'a> {
    range: Option<Range>,
    bytes: u64,
    /// The copies that count on it
    parts: Vec<ExpectPart<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ExpectPart<'a> {
    name: &'a str,
    bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AliasJson<'a> {
    name: &'a str,
    range: Option<Range>,
    how: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Traffic {
    flips: u32,
    waits: u32,
}

impl<'a> BarrierJson<'a> {
    fn new(barrier: &'a BarrierSummary, at: Positions<'_>) -> BarrierJson<'a> {
        let half = |half: Half| match half {
            Half::Full => "full",
            Half::Empty => "empty",
            Half::Whole => "whole",
        };
        let expects = barrier.expects.iter().map(|expect| ExpectJson {
            range: Range::placed(expect.range, at),
            bytes: expect.bytes,
            parts: expect.parts.iter().map(|(name, bytes)| ExpectPart { name, bytes: *bytes }).collect(),
        });
        let aliases = barrier.aliases.iter().map(|alias| AliasJson {
            name: &alias.name,
            range: Range::placed(alias.range, at),
            how: &alias.how,
        });
        BarrierJson {
            name: &barrier.name,
            range: Range::placed(barrier.range, at),
            abstract_of: barrier.abstract_of.map(|(what, which)| AbstractOf { what, half: half(which) }),
            depth: barrier.depth,
            count: barrier.count.map(u64::from),
            mechanisms: barrier.mechanisms.iter().map(|it| it.name()).collect(),
            index: &barrier.index,
            phase: &barrier.phase,
            stagger: barrier.stagger.iter().map(|(name, offset)| Stagger { name, offset: *offset }).collect(),
            expects: expects.collect(),
            uses: UseJson::all(&barrier.uses, at),
            aliases: aliases.collect(),
            protects: member_refs(&barrier.protects),
            traffic: barrier.traffic.iter().map(|&(flips, waits)| Traffic { flips, waits }).collect(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct EdgeJson {
    /// Who arrives: index into `partitions`
    from: usize,
    /// Who waits
    to: usize,
    /// null for partition starts and ends
    barrier: Option<usize>,
    mechanism: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = ["forward", "backward", "control"])))]
    direction: &'static str,
    data: Vec<MemberRef>,
    arrivals: Vec<Option<Range>>,
    waits: Vec<Option<Range>>,
    /// Pairs of accesses in the runs that this edge is the one to order
    pairs: u32,
    /// A channel that code partitioning makes: nothing in the text makes it yet
    planned: bool,
}

impl EdgeJson {
    fn new(edge: &Edge, at: Positions<'_>) -> EdgeJson {
        EdgeJson {
            from: edge.from,
            to: edge.to,
            barrier: edge.barrier,
            mechanism: edge.mechanism.name(),
            direction: edge.direction.name(),
            data: member_refs(&edge.data),
            arrivals: edge.arrivals.iter().map(|&range| Range::placed(range, at)).collect(),
            waits: edge.waits.iter().map(|&range| Range::placed(range, at)).collect(),
            pairs: edge.pairs,
            planned: edge.planned,
        }
    }
}

/// In the buffer's unit; `to` is one past the last
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Extent {
    from: u64,
    to: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BufferJson<'a> {
    name: &'a str,
    range: Option<Range>,
    /// `buffer.id`
    id: Option<i64>,
    #[cfg_attr(test, schemars(extend("enum" = ["shared", "tensor"])))]
    space: &'static str,
    /// Of sizes and extents
    #[cfg_attr(test, schemars(extend("enum" = ["bytes", "columns"])))]
    unit: &'static str,
    slots: u64,
    /// Of a slot
    size: u64,
    #[serde(rename = "type")]
    ty: &'a str,
    /// A tensor that one task computes and others use: buffer allocation makes its buffer
    registers: bool,
    members: Vec<MemberJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MemberJson<'a> {
    name: &'a str,
    /// What its accesses make of it where its name is a number: `accumulator`, `tile of %a_desc`
    #[serde(skip_serializing_if = "str::is_empty")]
    about: &'a str,
    range: Option<Range>,
    extent: Extent,
    #[serde(rename = "type")]
    ty: &'a str,
    writers: Vec<UseJson<'a>>,
    readers: Vec<UseJson<'a>>,
}

impl<'a> BufferJson<'a> {
    fn new(buffer: &'a PhysicalBuffer, at: Positions<'_>) -> BufferJson<'a> {
        let (space, unit) = match buffer.space {
            Space::Shared => ("shared", "bytes"),
            Space::Tensor => ("tensor", "columns"),
        };
        let members = buffer.members.iter().map(|member| MemberJson {
            name: &member.name,
            about: &member.about,
            range: Range::placed(member.range, at),
            extent: Extent { from: member.extent.0, to: member.extent.1 },
            ty: &member.ty,
            writers: UseJson::all(&member.writers, at),
            readers: UseJson::all(&member.readers, at),
        });
        BufferJson {
            name: &buffer.name,
            range: Range::placed(buffer.range, at),
            id: buffer.id,
            space,
            unit,
            slots: buffer.slots,
            size: buffer.size,
            ty: &buffer.ty,
            registers: buffer.registers,
            members: members.collect(),
        }
    }
}

/// One op that overwrites a physical buffer or a part of it
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CoverageJson<'a> {
    buffer: usize,
    writer: UseJson<'a>,
    /// Whether it also clears what it does not name
    clears: bool,
    /// Of an MMA, whether it adds to its accumulator: `true`, `false`, or what decides that
    #[serde(skip_serializing_if = "Option::is_none")]
    use_c: Option<&'a str>,
    extent: Extent,
    rows: Vec<RowJson<'a>>,
}

impl<'a> CoverageJson<'a> {
    fn new(block: &'a Coverage, at: Positions<'_>) -> CoverageJson<'a> {
        CoverageJson {
            buffer: block.buffer,
            writer: UseJson::new(&block.writer, at),
            clears: block.clears,
            use_c: block.use_c.as_deref(),
            extent: Extent { from: block.extent.0, to: block.extent.1 },
            rows: block.rows.iter().map(|row| RowJson::new(row, at)).collect(),
        }
    }
}

/// A member that the overwrite touches, and a partition that uses it
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RowJson<'a> {
    member: usize,
    partition: usize,
    #[cfg_attr(test, schemars(extend("enum" = ["read", "write"])))]
    mode: &'static str,
    uses: Vec<UseJson<'a>>,
    #[cfg_attr(test, schemars(extend("enum" = ["ordered", "through", "missing", "never", "unknown"])))]
    order: &'static str,
    #[serde(flatten)]
    reason: OrderReason<'a>,
}

/// What is said of an order beside its word.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OrderReason<'a> {
    /// Of `ordered`: `program order`
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    /// Of `ordered` and `through`: indices into `edges`
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<&'a [usize]>,
    /// Of `through`: which edit would leave it unordered
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks: Option<&'a str>,
    /// Of `missing`: index into `findings`, or null
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<Option<usize>>,
    /// Of `missing`: who has to tell whom, where, at which cadence
    #[serde(skip_serializing_if = "Option::is_none")]
    needed: Option<&'a str>,
    /// Of `never` and `unknown`
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> RowJson<'a> {
    fn new(row: &'a CoverageRow, at: Positions<'_>) -> RowJson<'a> {
        let none = OrderReason::default();
        let reason = match &row.order {
            CoverageOrder::Program => OrderReason { by: Some("program order"), ..none },
            CoverageOrder::Edges(edges) => OrderReason { edges: Some(edges), ..none },
            CoverageOrder::Through { edges, breaks } => {
                OrderReason { edges: Some(edges), breaks: Some(breaks), ..none }
            }
            CoverageOrder::Missing { finding, needed } => {
                OrderReason { finding: Some(*finding), needed: Some(needed), ..none }
            }
            CoverageOrder::Never(why) | CoverageOrder::Unknown(why) => OrderReason { why: Some(why), ..none },
        };
        RowJson {
            member: row.member,
            partition: row.partition,
            mode: if row.mode == Mode::Read { "read" } else { "write" },
            uses: UseJson::all(&row.uses, at),
            order: order_word(&row.order),
            reason,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RemarkJson<'a> {
    #[cfg_attr(
        test,
        schemars(extend(
            "enum" = ["redundant-wait", "counts-differ", "depth-one", "dead-slot", "redundant-zero", "dropped-token"]
        ))
    )]
    kind: &'a str,
    range: Option<Range>,
    text: &'a str,
    sites: Vec<Option<Range>>,
}
