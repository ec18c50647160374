//! Sections 1, 3, 4 and 5, and the table of section 2.

use kernel::Half;
use maud::{Markup, html};
use report::{BarrierSummary, Edge, PartitionUse};

use super::bundle::{EdgeClass, bundles};
use super::coverage::{bar, loops, size};
use super::links::Links;
use super::text::{code, codes, counted, joined, lines, table};
use crate::report::view::PLANNED;

/// Longer tables are folded.
const LONG: usize = 60;

/// Section 1.
pub(super) fn partitions(links: &Links<'_>) -> Markup {
    let body = html! {
        tbody {
            @for (at, row) in links.report().partitions.iter().enumerate() {
                @let id = links.id(format_args!("p{at}"));
                @let ops = row.key_ops.iter().map(|(op, times)| html! { (code(op)) @if *times != 1 { " ×" (times) } });
                tr id=(id) data-k=(id) data-hot=(id) {
                    td { (links.name(&row.label, row.range)) }
                    td { (row.role) }
                    td { (joined(ops, ", ")) }
                    td class="n" { (links.number(format_args!("partitions/{at}/warps"), row.warps)) }
                }
            }
        }
    };
    table("Partitions", &["Partition", "Role", "Key ops", "Warps"], &body)
}

/// The table of section 2, bundle by bundle.
pub(super) fn edges(links: &Links<'_>) -> Markup {
    let report = links.report();
    let bundles = bundles(report);
    let shown = || bundles.iter().enumerate().filter(|(_, bundle)| bundle.class != EdgeClass::Missing);
    if shown().next().is_none() {
        return html! { p { "No barrier connects two partitions." } };
    }
    let body = html! {
        @for (at, bundle) in shown() {
            tbody id={ (links.id(format_args!("g{at}"))) "-t" } {
                tr class="group" {
                    th colspan="7" scope="rowgroup" {
                        (bundle.class.sign()) " " (links.partition(bundle.from)) " → " (links.partition(bundle.to)) ", "
                        (bundle.class.name()) ": " (counted(bundle.edges.len(), "edge"))
                    }
                }
                @for &at in &bundle.edges {
                    @if let Some(edge) = report.edges.get(at) { (edge_row(links, at, edge)) }
                }
            }
        }
    };
    let head = ["Barrier", "Mechanism", "Direction", "Orders", "Arrives at line", "Waits at line", "Pairs"];
    html! {
        @if report.edges.iter().any(|edge| edge.planned) { p { (PLANNED) } }
        details open[report.edges.len() <= LONG] {
            summary { (counted(report.edges.len(), "edge")) }
            (table("Edges", &head, &body))
        }
    }
}

fn edge_row(links: &Links<'_>, at: usize, edge: &Edge) -> Markup {
    let id = links.id(format_args!("e{at}"));
    html! {
        tr id=(id) data-k=(id) data-hot=(id) {
            td { @if let Some(barrier) = edge.barrier { (links.barrier(barrier)) } }
            td { (edge.mechanism.name()) @if edge.planned { ", planned" } }
            td { (edge.direction.name()) }
            td { (lines(edge.data.iter().map(|&at| html! { (links.member(at)) (links.view.in_registers(at)) }))) }
            td data-lines=(links.path(format_args!("edges/{at}/arrivals"))) { (links.all_at(edge.arrivals.iter().copied())) }
            td data-lines=(links.path(format_args!("edges/{at}/waits"))) { (links.all_at(edge.waits.iter().copied())) }
            td class="n" { (links.number(format_args!("edges/{at}/pairs"), edge.pairs)) }
        }
    }
}

/// Section 3.
pub(super) fn phases(links: &Links<'_>) -> Markup {
    let report = links.report();
    if report.barriers.is_empty() {
        return html! { p { "There is no barrier." } };
    }
    let rows: Vec<[Markup; 9]> =
        report.barriers.iter().enumerate().map(|(at, barrier)| phase_cells(links, at, barrier)).collect();
    let head = ["Barrier", "Depth", "Arrivals", "Mechanism", "Index", "Phase", "Stagger", "Expects", "Flips/waits"];
    // A column in which nothing stands is left out.
    let used: Vec<usize> = (0..head.len()).filter(|&at| rows.iter().any(|row| !row[at].0.is_empty())).collect();
    let body = html! {
        tbody {
            @for (at, row) in rows.iter().enumerate() {
                @let id = links.id(format_args!("b{at}"));
                tr id=(id) data-k=(id) data-hot=(id) { @for &at in &used { td { (or_none(&row[at])) } } }
            }
        }
    };
    let head: Vec<&str> = used.iter().map(|&at| head[at]).collect();
    html! {
        (table("Barriers", &head, &body))
        @if used.contains(&8) { p class="quiet" { "Flips and waits: of each slot, in the longest run." } }
    }
}

/// A cell, and that nothing is to be said in it where that is so.
fn or_none(cell: &Markup) -> Markup {
    if cell.0.is_empty() {
        html! { span class="quiet" { "none" } }
    } else {
        cell.clone()
    }
}

fn phase_cells(links: &Links<'_>, at: usize, barrier: &BarrierSummary) -> [Markup; 9] {
    let number = |what: &str, value: u64| links.number(format_args!("barriers/{at}/{what}"), value);
    // Partitions have loops of their own, which often read alike.
    let mut carried: Vec<&(String, String)> = Vec::new();
    for value in &barrier.carried {
        if !carried.contains(&value) {
            carried.push(value);
        }
    }
    let name = html! {
        (links.name(&barrier.name, barrier.range))
        @if let Some((what, half)) = barrier.abstract_of {
            " " span class="quiet" {
                (what) (match half { Half::Full => ", full half", Half::Empty => ", empty half", Half::Whole => "" })
            }
        }
        br; a class="more" href={ "#" (links.id(format_args!("v{at}"))) } { "values and uses" }
    };
    let count = html! {
        @if let Some(count) = barrier.count { (number("count", count.into())) } @else { span class="quiet" { "differs" } }
    };
    let phase = html! {
        (codes(&barrier.phase))
        @for (nth, (name, how)) in carried.into_iter().enumerate() {
            @if nth > 0 || !barrier.phase.is_empty() { br; }
            span class="quiet" { (code(name)) ": " (how) }
        }
    };
    [
        name,
        number("depth", barrier.depth),
        count,
        lines(barrier.mechanisms.iter().map(|it| html! { (it.name()) })),
        codes(&barrier.index),
        phase,
        lines(barrier.stagger.iter().map(|(name, by)| html! { (code(name)) ": " (format!("{by:+}")) })),
        expects(links, at, barrier),
        html! { (traffic(barrier)) },
    ]
}

fn expects(links: &Links<'_>, at: usize, barrier: &BarrierSummary) -> Markup {
    lines(barrier.expects.iter().enumerate().map(|(nth, expect)| {
        let sum: u64 = expect.parts.iter().fold(0, |sum, part| sum.saturating_add(part.1));
        let parts = expect.parts.iter().map(|(name, bytes)| html! { (code(name)) " " (bytes) });
        html! {
            (links.number(format_args!("barriers/{at}/expects/{nth}/bytes"), expect.bytes)) " bytes"
            @if !expect.parts.is_empty() { " = " (joined(parts, " + ")) }
            @if expect.parts.len() > 1 { ", merged" }
            " (line " (links.at(expect.range)) ")"
            @if !expect.parts.is_empty() && sum != expect.bytes {
                " " b class="bad" { "✗ the copies bring " (sum) }
            }
        }
    }))
}

/// `3/3` a slot; once where all slots have the same.
fn traffic(barrier: &BarrierSummary) -> String {
    let slots: Vec<String> = barrier.traffic.iter().map(|(flips, waits)| format!("{flips}/{waits}")).collect();
    match slots.split_first() {
        Some((first, rest)) if !rest.is_empty() && rest.iter().all(|slot| slot == first) => format!("{first} each"),
        _ => slots.join(", "),
    }
}

/// Section 4.
pub(super) fn data(links: &Links<'_>) -> Markup {
    let report = links.report();
    let head = ["Extent", "Buffer", "Type", "Written by", "Read by", "Ordered by"];
    let row = |at: (usize, usize)| {
        let id = links.id(format_args!("d{}-{}", at.0, at.1));
        let (buffer, member) = (&report.buffers[at.0], &report.buffers[at.0].members[at.1]);
        let barriers = report.barriers.iter().enumerate().filter(|(_, barrier)| barrier.protects.contains(&at));
        html! {
            tr id=(id) data-hot=(id) {
                td {
                    (links.extent(at.0, member.extent, format_args!("buffers/{}/members/{}/extent", at.0, at.1)))
                    (bar(buffer, None, Some(member.extent)))
                }
                td { (links.name(&member.name, member.range)) }
                td { (code(&member.ty)) }
                td { (or_none(&users(links, &member.writers))) }
                td { (or_none(&users(links, &member.readers))) }
                td { (or_none(&lines(barriers.map(|(barrier, _)| links.barrier(barrier))))) }
            }
        }
    };
    html! {
        @if report.buffers.is_empty() { p { "No memory is shared." } }
        @for (at, buffer) in report.buffers.iter().enumerate() {
            details class="block" id=(links.id(format_args!("d{at}"))) open {
                summary { b { (code(&buffer.name)) } (size(buffer)) }
                p { (code(&buffer.ty)) " line " (links.at(buffer.range)) }
                @let body = html! { tbody { @for member in 0..buffer.members.len() { (row((at, member))) } } };
                (table(&format!("Members of {}", buffer.name), &head, &body))
            }
        }
    }
}

/// Who uses a buffer: partition, op and lines, each pair once.
fn users(links: &Links<'_>, uses: &[PartitionUse]) -> Markup {
    let mut groups: Vec<(usize, &str, Vec<&PartitionUse>)> = Vec::new();
    for used in uses {
        match groups.iter_mut().find(|it| it.0 == used.partition && it.1 == used.op) {
            Some(group) => group.2.push(used),
            None => groups.push((used.partition, &used.op, vec![used])),
        }
    }
    lines(groups.into_iter().map(|(partition, op, uses)| {
        let at = links.all_at(uses.iter().map(|used| used.range));
        html! { (links.partition(partition)) " " (code(op)) " at " (at) }
    }))
}

/// Section 5.
pub(super) fn aliases(links: &Links<'_>) -> Markup {
    let barriers = &links.report().barriers;
    let many = barriers.iter().map(|it| it.uses.len() + it.aliases.len()).sum::<usize>() > LONG;
    html! {
        @if barriers.is_empty() { p { "There is no barrier." } }
        @for (at, barrier) in barriers.iter().enumerate() {
            details class="block" id=(links.id(format_args!("v{at}"))) open[!many] {
                summary {
                    b { (code(&barrier.name)) } ": " (counted(barrier.aliases.len(), "value")) ", "
                    (counted(barrier.uses.len(), "use"))
                }
                div class="pair" { (alias_table(links, barrier)) (use_table(links, barrier)) }
            }
        }
    }
}

fn alias_table(links: &Links<'_>, barrier: &BarrierSummary) -> Markup {
    let body = html! {
        tbody {
            @for alias in &barrier.aliases {
                tr { td { (links.name(&alias.name, alias.range)) } td { (alias.how) } td class="n" { (links.at(alias.range)) } }
            }
        }
    };
    table(&format!("Values that name {}", barrier.name), &["Value", "How", "Line"], &body)
}

fn use_table(links: &Links<'_>, barrier: &BarrierSummary) -> Markup {
    let body = html! {
        tbody {
            @for used in &barrier.uses {
                tr {
                    td class="n" { (links.at(used.range)) }
                    td { (links.partition(used.partition)) }
                    td { (code(&used.op)) }
                    td { (used.what) }
                    td { (or_none(&if used.slot.is_empty() { html! {} } else { code(&used.slot) })) }
                    td { (loops(used)) }
                }
            }
        }
    };
    let head = ["Line", "Partition", "Op", "What", "Slot", "Loops"];
    table(&format!("Uses of {}", barrier.name), &head, &body)
}
