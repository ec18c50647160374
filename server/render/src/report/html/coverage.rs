//! The coverage table: for each op that overwrites a physical buffer, who used what it overwrites,
//! and what orders the two.

use kernel::Mode;
use maud::{Markup, html};
use report::{Coverage, CoverageOrder, CoverageRow, PartitionUse, PhysicalBuffer};

use super::links::Links;
use super::text::{code, counted, joined, lines, prose};
use crate::report::view::{order_word, space, unit};

/// Tables in which nothing is missing are folded beyond so many.
const OPEN: usize = 12;

/// All tables.
pub(super) fn draw(links: &Links<'_>) -> Markup {
    let coverage = &links.report().coverage;
    if coverage.is_empty() {
        return html! { p { "No op overwrites a buffer that partitions share." } };
    }
    let missing = links.view.missing();
    let rows: usize = coverage.iter().map(|block| block.rows.len()).sum();
    let bad = |block: &Coverage| block.rows.iter().any(|row| matches!(row.order, CoverageOrder::Missing { .. }));
    let (first, rest): (Vec<_>, Vec<_>) = coverage.iter().enumerate().partition(|(_, block)| bad(block));
    html! {
        p {
            (counted(coverage.len(), "overwriting op")) ", " (counted(rows, "row")) ": "
            @if missing > 0 { b class="bad" { "✗ " (missing) " MISSING" } } @else { b class="good" { "✓ none is MISSING" } }
            ". A row asks whether the overwrite comes after what the row's partition did with the buffer; "
            "where one is MISSING, its table comes first."
            @if links.view.through() > 0 {
                " △: only the barrier of another buffer orders it, and the row says which edit would break that."
            }
        }
        @for (nth, (at, block)) in first.into_iter().chain(rest).enumerate() {
            @if let Some(buffer) = links.report().buffers.get(block.buffer) {
                (table(links, at, block, buffer, bad(block), nth < OPEN))
            }
        }
    }
}

fn table(links: &Links<'_>, at: usize, block: &Coverage, buffer: &PhysicalBuffer, bad: bool, open: bool) -> Markup {
    let writer = &block.writer;
    html! {
        details class="block" id=(links.id(format_args!("c{at}"))) open[bad || open] {
            summary {
                b { (code(&buffer.name)) } (size(buffer)) " — overwritten by " (code(&writer.op)) " "
                @if bad { b class="bad" { "✗ MISSING" } }
            }
            p {
                "Writer: " (code(&writer.op)) " at line " (links.at(writer.range)) " ("
                (links.partition(writer.partition))
                @if !writer.cadence.is_empty() { ", in " (loops(writer)) }
                "), " (links.extent(block.buffer, block.extent, format_args!("coverage/{at}/extent")))
                @if let Some(use_c) = &block.use_c { ", useC = " (prose(use_c)) }
                @if block.clears { ", clears the rest of it" } (zeroes(links, block, buffer)) "."
            }
            div class="scroll" tabindex="0" role="region" aria-label={ "Coverage of " (buffer.name) } {
                table class="coverage" {
                    thead { tr { th { "Buffer" } th { "Used by" } th { "Use" } th { "Overwrite ordered after it?" } } }
                    tbody { @for (row, it) in block.rows.iter().enumerate() { (line(links, (at, row), block, it, buffer)) } }
                }
            }
        }
    }
}

/// Of a store of zeros: whose accumulator it clears, and what the products do with it.
fn zeroes(links: &Links<'_>, block: &Coverage, buffer: &PhysicalBuffer) -> Markup {
    let touched = |extent: (u64, u64)| extent.0 < block.extent.1 && block.extent.0 < extent.1;
    let members = || buffer.members.iter().filter(|member| touched(member.extent));
    let own = |used: &&PartitionUse| (used.range, used.partition) == (block.writer.range, block.writer.partition);
    if !members().flat_map(|member| &member.writers).any(|used| own(&used) && used.writes_zeros()) {
        return Markup::default();
    }
    let products = || members().flat_map(|member| &member.writers).filter(|used| used.accumulates());
    let clears = |used: &&PartitionUse| {
        links
            .report()
            .coverage
            .iter()
            .any(|it| it.clears && (it.writer.range, it.writer.partition) == (used.range, used.partition))
    };
    let over = links.all_at(products().filter(clears).map(|used| used.range));
    let into = links.all_at(products().filter(|used| !clears(used)).map(|used| used.range));
    html! {
        "; writes zeros"
        @if products().next().is_some() { ": the accumulator of the products" }
        @if !into.0.is_empty() { " at line " (into) }
        @if !over.0.is_empty() {
            @if into.0.is_empty() { " at line " (over) ", which overwrite it (useC = false)" }
            @else { "; those at line " (over) " overwrite it (useC = false)" }
        }
    }
}

fn line(
    links: &Links<'_>,
    (at, row): (usize, usize),
    block: &Coverage,
    it: &CoverageRow,
    buffer: &PhysicalBuffer,
) -> Markup {
    let id = links.id(format_args!("c{at}-{row}"));
    let mut hot = id.clone();
    if let CoverageOrder::Edges(edges) = &it.order {
        hot.extend(edges.iter().map(|edge| format!(" {}", links.id(format_args!("e{edge}")))));
    }
    let extent = buffer.members.get(it.member).map(|member| member.extent);
    let mut around: Vec<&PartitionUse> = it.uses.iter().collect();
    around.dedup_by(|a, b| a.cadence == b.cadence);
    let role = links.report().partitions.get(it.partition).map_or("", |row| row.role.as_str());
    html! {
        tr id=(id) class=(order_word(&it.order)) data-k=(hot) data-hot=(hot) {
            td class="name" {
                (links.member_alone((block.buffer, it.member)))
                @if let Some(extent) = extent {
                    " " span class="quiet" {
                        (links.extent(block.buffer, extent, format_args!("buffers/{}/members/{}/extent", block.buffer, it.member)))
                    }
                }
                (bar(buffer, Some(block.extent), extent))
            }
            td { (links.partition(it.partition)) @if !role.is_empty() { " " span class="quiet" { (role) } } }
            td class="uses" {
                span data-lines=(links.path(format_args!("coverage/{at}/rows/{row}/uses"))) {
                    (if it.mode == Mode::Read { "reads" } else { "writes" }) " at "
                    (links.all_at(it.uses.iter().map(|used| used.range)))
                }
                @for used in around.into_iter().filter(|used| !used.cadence.is_empty()) {
                    br; span class="quiet" { "in " (loops(used)) }
                }
            }
            td class="order" { (order(links, &it.order)) }
        }
    }
}

/// The last cell.
fn order(links: &Links<'_>, order: &CoverageOrder) -> Markup {
    match order {
        CoverageOrder::Program => html! { "✓ program order: the same partition" },
        CoverageOrder::Edges(edges) => html! { "✓ " (lines(edges.iter().enumerate().map(|(nth, &at)| html! {
            @if nth > 0 { "✓ " } (links.edge(at))
        }))) },
        CoverageOrder::Through { edges, breaks } => html! {
            "△ only through " (lines(edges.iter().enumerate().map(|(nth, &at)| html! {
                @if nth > 0 { "; " }
                (links.edge(at))
            }))) br; (prose(breaks))
        },
        CoverageOrder::Missing { finding, needed } => html! {
            strong { "✗ MISSING" }
            @if let Some(at) = finding { " (" (links.to(format_args!("f{at}"), html! { "finding " (at + 1) })) ")" }
            br; (prose(needed))
        },
        CoverageOrder::Never(why) => html! { "– not overwritten: " (prose(why)) },
        CoverageOrder::Unknown(why) => html! { "? unknown: " (prose(why)) },
    }
}

/// What is known of a buffer's storage: ` (buffer.id 8, TMEM, 128 cols, 2 slots)`.
pub(super) fn size(buffer: &PhysicalBuffer) -> String {
    let id = buffer.id.map_or_else(String::new, |id| format!("buffer.id {id}, "));
    let slots = if buffer.slots > 1 { format!(", {} slots", buffer.slots) } else { String::new() };
    let about = buffer.about().map_or_else(String::new, |about| format!("{about}, "));
    format!(" ({about}{id}{}, {} {}{slots})", space(buffer.space), buffer.size, unit(buffer))
}

/// The loops around a use: `%i › %j`.
pub(super) fn loops(used: &PartitionUse) -> Markup {
    if used.cadence.is_empty() {
        return html! { span class="quiet" { "none" } };
    }
    joined(used.cadence.iter().map(|name| code(name)), " › ")
}

/// Where in a slot the overwrite and the row's buffer lie, as a picture.
pub(super) fn bar(buffer: &PhysicalBuffer, write: Option<(u64, u64)>, member: Option<(u64, u64)>) -> Markup {
    let size = buffer.size.max(buffer.members.iter().map(|member| member.extent.1).max().unwrap_or(0)).max(1);
    let rect = |class: &str, y: u32, height: u32, (from, to): (u64, u64)| {
        let from = from.min(size) as f64 * 100.0 / size as f64;
        let to = to.min(size) as f64 * 100.0 / size as f64;
        // What is a column of hundreds still shows.
        let (x, width) = (format!("{:.1}", from.min(98.5)), format!("{:.1}", (to - from).max(1.5)));
        html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) {} }
    };
    html! {
        svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            rect class="all" width="100" height="10" {}
            @if let Some(write) = write { (rect("write", 0, 10, write)) }
            @if let Some(member) = member { (rect("own", 3, 4, member)) }
        }
    }
}
