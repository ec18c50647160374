//! Reports as a JSON document, schema 1: members may be added, none is taken away.
//!
//! `docs/report.schema.json` says what each member means; a test holds documents against it. Indices
//! point into the lists of the same report. Positions count from 0, in UTF-16 code units on the
//! command line and as agreed with the client over LSP.

use base::TextRange;
use findings::{Finding, Verdict};
use kernel::{Half, Mode, Space};
use report::{Alias, BarrierSummary, Coverage, CoverageOrder, Edge, PartitionUse, PhysicalBuffer, Report};
use serde_json::{Value, json};

use super::SectionEntry;
use super::view::{ReportView, SectionName, order_word};

/// The positions of offsets: line and character, from 0.
pub type Positions<'a> = &'a dyn Fn(u32) -> (u32, u32);

/// A document around reports, or around the list of a dump's sections.
pub fn document(encoding: &str, reports: Vec<Value>, sections: Vec<Value>) -> Value {
    json!({
        "schema": 1,
        "tool": { "name": "fencepost", "version": env!("CARGO_PKG_VERSION") },
        "positionEncoding": encoding,
        "reports": reports,
        "sections": sections,
    })
}

/// A document of differences.
pub fn diffs(diffs: Vec<Value>) -> Value {
    json!({
        "schema": 1,
        "tool": { "name": "fencepost", "version": env!("CARGO_PKG_VERSION") },
        "diffs": diffs,
    })
}

/// An entry of the list of sections.
pub fn listed(path: &str, listed: &SectionEntry) -> Value {
    let kernels: Vec<&str> = listed.kernels.iter().map(String::as_str).collect();
    json!({
        "path": path,
        "number": listed.name.number,
        "pass": listed.name.pass,
        "line": listed.line,
        "kernels": kernels,
    })
}

/// One report.
pub fn report(sheet: &ReportView<'_>, positions: Positions<'_>) -> Value {
    let Report { kernel, range, stage, verdict, findings, runs, partitions, barriers, .. } = &sheet.report;
    let Report { edges, buffers, coverage, remarks, unmodelled, .. } = &sheet.report;
    let at = |range: TextRange| place(range, positions);
    let reasons: Vec<&str> = match verdict {
        Verdict::Proved(how) | Verdict::Clean(how) => vec![how],
        Verdict::Found => Vec::new(),
        Verdict::Undecided(why) => why.iter().map(String::as_str).collect(),
    };
    let inputs = |run: &[(String, i64)]| -> Vec<Value> {
        run.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    let partitions = partitions.iter().map(|row| {
        let ops = row.key_ops.iter().map(|(op, count)| json!({ "op": op, "count": count }));
        json!({
            "label": row.label,
            "range": at(row.range),
            "role": row.role,
            "keyOps": ops.collect::<Vec<_>>(),
            "warps": row.warps,
        })
    });
    let remarks = remarks.iter().map(|remark| {
        json!({
            "kind": remark.kind.name(),
            "range": at(remark.range),
            "text": remark.text,
            "sites": remark.sites.iter().map(|&site| at(site)).collect::<Vec<_>>(),
        })
    });
    json!({
        "path": sheet.path,
        "section": sheet.section.as_ref().map(section),
        "kernel": kernel,
        "range": at(*range),
        "stage": stage.name(),
        "verdict": verdict.name(),
        "reasons": reasons,
        "missing": sheet.missing(),
        "findings": findings.iter().map(|it| finding(it, positions)).collect::<Vec<_>>(),
        "runs": runs.iter().map(|run| inputs(run)).collect::<Vec<_>>(),
        "partitions": partitions.collect::<Vec<_>>(),
        "barriers": barriers.iter().map(|it| barrier(it, positions)).collect::<Vec<_>>(),
        "edges": edges.iter().map(|it| edge(it, positions)).collect::<Vec<_>>(),
        "buffers": buffers.iter().map(|it| buffer(it, positions)).collect::<Vec<_>>(),
        "coverage": coverage.iter().map(|it| block(it, positions)).collect::<Vec<_>>(),
        "remarks": remarks.collect::<Vec<_>>(),
        "unmodelled": unmodelled
            .iter()
            .map(|(range, text)| json!({ "range": at(*range), "text": text }))
            .collect::<Vec<_>>(),
    })
}

fn section(section: &SectionName) -> Value {
    json!({ "number": section.number, "count": section.count, "pass": section.pass })
}

/// A range; `null` for what has no place in the text.
fn place(range: TextRange, positions: Positions<'_>) -> Value {
    if range.is_empty() {
        return Value::Null;
    }
    let position = |offset| {
        let (line, character) = positions(offset);
        json!({ "line": line, "character": character })
    };
    json!({ "start": position(range.start), "end": position(range.end) })
}

fn finding(finding: &Finding, positions: Positions<'_>) -> Value {
    let at = |range: TextRange| place(range, positions);
    let sites = finding.sites.iter().map(
        |site| json!({ "range": at(site.range), "text": site.text, "source": site.source, "primary": site.primary }),
    );
    let inputs = finding.inputs.iter().map(|(name, value)| json!({ "name": name, "value": value }));
    json!({
        "kind": finding.kind.name(),
        "severity": finding.severity.name(),
        "message": finding.message,
        "range": at(finding.range),
        "sites": sites.collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
    })
}

fn uses(uses: &[PartitionUse], positions: Positions<'_>) -> Vec<Value> {
    uses.iter().map(|it| one_use(it, positions)).collect()
}

fn one_use(it: &PartitionUse, positions: Positions<'_>) -> Value {
    json!({
        "range": place(it.range, positions),
        "op": it.op,
        "partition": it.partition,
        "what": it.what,
        "slot": it.slot,
        "cadence": it.cadence,
    })
}

fn barrier(barrier: &BarrierSummary, positions: Positions<'_>) -> Value {
    let at = |range: TextRange| place(range, positions);
    let half = |half: Half| match half {
        Half::Full => "full",
        Half::Empty => "empty",
        Half::Whole => "whole",
    };
    let expects = barrier.expects.iter().map(|expect| {
        let parts = expect.parts.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes }));
        json!({ "range": at(expect.range), "bytes": expect.bytes, "parts": parts.collect::<Vec<_>>() })
    });
    let aliases = barrier.aliases.iter();
    let aliases = aliases.map(|Alias { name, range, how }| json!({ "name": name, "range": at(*range), "how": how }));
    let stagger = barrier.stagger.iter().map(|(name, offset)| json!({ "name": name, "offset": offset }));
    let traffic = barrier.traffic.iter().map(|(flips, waits)| json!({ "flips": flips, "waits": waits }));
    json!({
        "name": barrier.name,
        "range": at(barrier.range),
        "abstractOf": barrier.abstract_of.map(|(what, which)| json!({ "what": what, "half": half(which) })),
        "depth": barrier.depth,
        "count": barrier.count,
        "mechanisms": barrier.mechanisms.iter().map(|it| it.name()).collect::<Vec<_>>(),
        "index": barrier.index,
        "phase": barrier.phase,
        "stagger": stagger.collect::<Vec<_>>(),
        "expects": expects.collect::<Vec<_>>(),
        "uses": uses(&barrier.uses, positions),
        "aliases": aliases.collect::<Vec<_>>(),
        "protects": members(&barrier.protects),
        "traffic": traffic.collect::<Vec<_>>(),
    })
}

fn members(members: &[(usize, usize)]) -> Vec<Value> {
    members.iter().map(|(buffer, member)| json!({ "buffer": buffer, "member": member })).collect()
}

fn edge(edge: &Edge, positions: Positions<'_>) -> Value {
    let at = |ranges: &[TextRange]| ranges.iter().map(|&range| place(range, positions)).collect::<Vec<_>>();
    json!({
        "from": edge.from,
        "to": edge.to,
        "barrier": edge.barrier,
        "mechanism": edge.mechanism.name(),
        "direction": edge.direction.name(),
        "data": members(&edge.data),
        "arrivals": at(&edge.arrivals),
        "waits": at(&edge.waits),
        "pairs": edge.pairs,
    })
}

fn extent((first, end): (u64, u64)) -> Value {
    json!({ "from": first, "to": end })
}

fn buffer(buffer: &PhysicalBuffer, positions: Positions<'_>) -> Value {
    let members = buffer.members.iter().map(|member| {
        json!({
            "name": member.name,
            "range": place(member.range, positions),
            "extent": extent(member.extent),
            "type": member.ty,
            "writers": uses(&member.writers, positions),
            "readers": uses(&member.readers, positions),
        })
    });
    let (space, unit) = match buffer.space {
        Space::Shared => ("shared", "bytes"),
        Space::Tensor => ("tensor", "columns"),
    };
    json!({
        "name": buffer.name,
        "range": place(buffer.range, positions),
        "id": buffer.id,
        "space": space,
        "unit": unit,
        "slots": buffer.slots,
        "size": buffer.size,
        "type": buffer.ty,
        "members": members.collect::<Vec<_>>(),
    })
}

fn block(block: &Coverage, positions: Positions<'_>) -> Value {
    let rows = block.rows.iter().map(|row| {
        let mut value = json!({
            "member": row.member,
            "partition": row.partition,
            "mode": if row.mode == Mode::Read { "read" } else { "write" },
            "uses": uses(&row.uses, positions),
            "order": order_word(&row.order),
        });
        match &row.order {
            CoverageOrder::Program => value["by"] = json!("program order"),
            CoverageOrder::Edges(edges) => value["edges"] = json!(edges),
            CoverageOrder::Missing { finding, needed } => {
                value["finding"] = json!(finding);
                value["needed"] = json!(needed);
            }
            CoverageOrder::Never(why) | CoverageOrder::Unknown(why) => value["why"] = json!(why),
        }
        value
    });
    json!({
        "buffer": block.buffer,
        "writer": one_use(&block.writer, positions),
        "clears": block.clears,
        "extent": extent(block.extent),
        "rows": rows.collect::<Vec<_>>(),
    })
}
