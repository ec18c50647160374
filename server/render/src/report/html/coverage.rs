//! The coverage table: for each op that overwrites a physical buffer, who used what it overwrites,
//! and what orders the two.

use std::fmt::Write;

use kernel::Mode;
use report::{Coverage, CoverageOrder, CoverageRow, PartitionUse, PhysicalBuffer};

use super::links::{Links, code, counted, escape, prose};
use crate::report::view::{order_word, space, unit};

/// Tables in which nothing is missing are folded beyond so many.
const OPEN: usize = 12;

/// All tables.
pub fn draw(links: &Links<'_>) -> String {
    let report = links.report();
    let mut out = String::new();
    if report.coverage.is_empty() {
        out.push_str("<p>No op overwrites a buffer that partitions share.</p>\n");
        return out;
    }
    let missing = links.sheet.missing();
    let rows: usize = report.coverage.iter().map(|block| block.rows.len()).sum();
    let verdict = if missing > 0 {
        format!("<b class=\"bad\">✗ {missing} MISSING</b>")
    } else {
        "<b class=\"good\">✓ none is MISSING</b>".to_owned()
    };
    let _ = writeln!(
        out,
        "<p>{}, {}: {verdict}. A row asks whether the overwrite comes after what the row's partition did with the buffer; where one is MISSING, its table comes first.</p>",
        counted(report.coverage.len(), "overwriting op"),
        counted(rows, "row"),
    );
    let bad = |block: &Coverage| block.rows.iter().any(|row| matches!(row.order, CoverageOrder::Missing { .. }));
    let (first, rest): (Vec<_>, Vec<_>) = report.coverage.iter().enumerate().partition(|(_, block)| bad(block));
    for (nth, (at, block)) in first.into_iter().chain(rest).enumerate() {
        table(&mut out, links, at, block, bad(block), bad(block) || nth < OPEN);
    }
    out
}

fn table(out: &mut String, links: &Links<'_>, at: usize, block: &Coverage, bad: bool, open: bool) {
    let Some(buffer) = links.report().buffers.get(block.buffer) else { return };
    let id = links.id(format_args!("c{at}"));
    let mark = if bad { "<b class=\"bad\">✗ MISSING</b>" } else { "" };
    let clears = if block.clears { ", clears the rest of it" } else { "" };
    let _ = writeln!(
        out,
        "<details class=\"block\" id=\"{id}\"{}><summary><b>{}</b>{} — overwritten by {} {mark}</summary>",
        if open { " open" } else { "" },
        code(&buffer.name),
        escape(&size(buffer)),
        code(&block.writer.op),
    );
    let _ = write!(
        out,
        "<p>Writer: {} at line {} ({}{}), {}{clears}.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Coverage of {}\">\
         <table class=\"coverage\"><thead><tr><th>Extent</th><th>Buffer</th><th>Used by</th><th>PartitionUse</th>\
         <th>Loops</th><th>Overwrite ordered after it?</th></tr></thead><tbody>\n",
        code(&block.writer.op),
        links.at(block.writer.range),
        links.partition(block.writer.partition),
        cadence(&block.writer),
        links.extent(block.buffer, block.extent, &format!("coverage/{at}/extent")),
        escape(&buffer.name),
    );
    for (row, it) in block.rows.iter().enumerate() {
        line(out, links, (at, row), block, it, buffer);
    }
    out.push_str("</tbody></table></div></details>\n");
}

fn line(
    out: &mut String,
    links: &Links<'_>,
    (at, row): (usize, usize),
    block: &Coverage,
    it: &CoverageRow,
    buffer: &PhysicalBuffer,
) {
    let id = links.id(format_args!("c{at}-{row}"));
    let mut hot = id.clone();
    if let CoverageOrder::Edges(edges) = &it.order {
        for edge in edges {
            let _ = write!(hot, " {}", links.id(format_args!("e{edge}")));
        }
    }
    let extent = buffer.members.get(it.member).map(|member| member.extent);
    let verb = if it.mode == Mode::Read { "reads" } else { "writes" };
    let mut loops: Vec<String> = it.uses.iter().map(loops).collect();
    loops.dedup();
    let role = links.report().partitions.get(it.partition).map_or("", |row| row.role.as_str());
    let role = if role.is_empty() { String::new() } else { format!(" <span class=\"quiet\">{}</span>", escape(role)) };
    let _ = writeln!(
        out,
        "<tr id=\"{id}\" class=\"{}\" data-k=\"{hot}\" data-hot=\"{hot}\"><td>{}{}</td><td class=\"name\">{}</td><td>{}{role}</td>\
         <td class=\"uses\"{}>{verb} at {}</td><td class=\"tight\">{}</td><td class=\"order\">{}</td></tr>",
        order_word(&it.order),
        extent.map_or_else(String::new, |extent| {
            links.extent(block.buffer, extent, &format!("buffers/{}/members/{}/extent", block.buffer, it.member))
        }),
        bar(buffer, Some(block.extent), extent),
        links.member_alone((block.buffer, it.member)),
        links.partition(it.partition),
        links.lines_of(&format!("coverage/{at}/rows/{row}/uses")),
        links.all_at(it.uses.iter().map(|used| used.range)),
        loops.join("<br>"),
        order(links, &it.order),
    );
}

/// The last cell.
fn order(links: &Links<'_>, order: &CoverageOrder) -> String {
    match order {
        CoverageOrder::Program => "✓ program order: the same partition".to_owned(),
        CoverageOrder::Edges(edges) => {
            let edges: Vec<String> = edges.iter().map(|&at| links.edge(at)).collect();
            format!("✓ {}", edges.join("<br>✓ "))
        }
        CoverageOrder::Missing { finding, needed } => {
            let finding = finding.map_or_else(String::new, |at| {
                format!(r##" (<a href="#{}">finding {}</a>)"##, links.id(format_args!("f{at}")), at + 1)
            });
            format!("<strong>✗ MISSING</strong>{finding}<br>{}", prose(needed))
        }
        CoverageOrder::Never(why) => format!("– not overwritten: {}", prose(why)),
        CoverageOrder::Unknown(why) => format!("? unknown: {}", prose(why)),
    }
}

/// What is known of a buffer's storage: ` (buffer.id 8, TMEM, 128 cols, 2 slots)`.
pub fn size(buffer: &PhysicalBuffer) -> String {
    let id = buffer.id.map_or_else(String::new, |id| format!("buffer.id {id}, "));
    let slots = if buffer.slots > 1 { format!(", {} slots", buffer.slots) } else { String::new() };
    format!(" ({id}{}, {} {}{slots})", space(buffer.space), buffer.size, unit(buffer))
}

/// The loops around a use: `%i › %j`.
pub fn loops(used: &PartitionUse) -> String {
    let loops: Vec<String> = used.cadence.iter().map(|name| code(name)).collect();
    if loops.is_empty() { "<span class=\"quiet\">none</span>".to_owned() } else { loops.join(" › ") }
}

fn cadence(used: &PartitionUse) -> String {
    if used.cadence.is_empty() { String::new() } else { format!(", in {}", loops(used)) }
}

/// Where in a slot the overwrite and the row's buffer lie, as a picture.
pub fn bar(buffer: &PhysicalBuffer, write: Option<(u64, u64)>, member: Option<(u64, u64)>) -> String {
    let size = buffer.size.max(buffer.members.iter().map(|member| member.extent.1).max().unwrap_or(0)).max(1);
    let share = |(from, to): (u64, u64)| {
        let from = from.min(size) as f64 * 100.0 / size as f64;
        let to = to.min(size) as f64 * 100.0 / size as f64;
        // What is a column of hundreds still shows.
        (from.min(98.5), (to - from).max(1.5))
    };
    let rect = |class: &str, y: u32, height: u32, extent: (u64, u64)| {
        let (x, width) = share(extent);
        format!("<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\"/>")
    };
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"all\" width=\"100\" height=\"10\"/>{}{}</svg>",
        write.map_or_else(String::new, |write| rect("write", 0, 10, write)),
        member.map_or_else(String::new, |member| rect("own", 3, 4, member)),
    )
}
