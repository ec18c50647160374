//! Sections 1, 3, 4 and 5, and the table of section 2.

use std::fmt::Write;

use kernel::Half;
use report::{BarrierSummary, Edge, Member, PartitionUse, PhysicalBuffer, Report};

use super::bundle::{Bundle, Class, bundles};
use super::coverage::{bar, loops, size};
use super::links::{Links, code, codes, counted, escape};

/// Longer tables are folded.
const LONG: usize = 60;

/// A table that scrolls by itself where it is too wide.
fn table(out: &mut String, name: &str, head: &[&str], body: &str) {
    let head: String = head.iter().map(|cell| format!("<th>{cell}</th>")).collect();
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table><thead><tr>{head}</tr></thead>\n\
         {body}</table></div>\n"
    );
}

/// Section 1.
pub fn partitions(links: &Links<'_>) -> String {
    let mut body = String::from("<tbody>\n");
    for (at, row) in links.report().partitions.iter().enumerate() {
        let id = links.id(format_args!("p{at}"));
        let ops = row.key_ops.iter().map(|(op, times)| match times {
            1 => code(op),
            _ => format!("{} ×{times}", code(op)),
        });
        let _ = writeln!(
            body,
            "<tr id=\"{id}\" data-k=\"{id}\" data-hot=\"{id}\"><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            links.name(&row.label, row.range),
            escape(&row.role),
            ops.collect::<Vec<_>>().join(", "),
            links.number(&format!("partitions/{at}/warps"), row.warps),
        );
    }
    body.push_str("</tbody>");
    let mut out = String::new();
    table(&mut out, "Partitions", &["Partition", "Role", "Key ops", "Warps"], &body);
    out
}

/// The table of section 2, bundle by bundle.
pub fn edges(links: &Links<'_>) -> String {
    let report = links.report();
    let mut body = String::new();
    for (at, bundle) in bundles(report).iter().enumerate().filter(|(_, bundle)| bundle.class != Class::Missing) {
        let id = links.id(format_args!("g{at}"));
        let _ = writeln!(
            body,
            "<tbody id=\"{id}-t\"><tr class=\"group\"><th colspan=\"7\" scope=\"rowgroup\">{} {} → {}, {}: {}</th></tr>",
            bundle.class.sign(),
            links.partition(bundle.from),
            links.partition(bundle.to),
            bundle.class.name(),
            counted(bundle.edges.len(), "edge"),
        );
        rows(&mut body, links, report, bundle);
        body.push_str("</tbody>\n");
    }
    if body.is_empty() {
        return "<p>No barrier connects two partitions.</p>\n".to_owned();
    }
    let mut out = String::new();
    let open = if report.edges.len() > LONG { "" } else { " open" };
    let _ = writeln!(out, "<details{open}><summary>{}</summary>", counted(report.edges.len(), "edge"));
    let head = ["Barrier", "Mechanism", "Direction", "Orders", "Arrives at line", "Waits at line", "Pairs"];
    table(&mut out, "Edges", &head, &body);
    out.push_str("</details>\n");
    out
}

fn rows(body: &mut String, links: &Links<'_>, report: &Report, bundle: &Bundle) {
    for &at in &bundle.edges {
        let Some(edge) = report.edges.get(at) else { continue };
        let id = links.id(format_args!("e{at}"));
        let Edge { barrier, mechanism, direction, data, arrivals, waits, pairs, .. } = edge;
        let data: Vec<String> = data.iter().map(|&member| links.member(member)).collect();
        let _ = writeln!(
            body,
            "<tr id=\"{id}\" data-k=\"{id}\" data-hot=\"{id}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td{}>{}</td>\
             <td{}>{}</td><td class=\"n\">{}</td></tr>",
            barrier.map_or_else(String::new, |at| links.barrier(at)),
            escape(mechanism.name()),
            direction.name(),
            data.join("<br>"),
            links.lines_of(&format!("edges/{at}/arrivals")),
            links.all_at(arrivals.iter().copied()),
            links.lines_of(&format!("edges/{at}/waits")),
            links.all_at(waits.iter().copied()),
            links.number(&format!("edges/{at}/pairs"), pairs),
        );
    }
}

/// Section 3.
pub fn phases(links: &Links<'_>) -> String {
    let report = links.report();
    if report.barriers.is_empty() {
        return "<p>There is no barrier.</p>\n".to_owned();
    }
    let mut rows: Vec<[String; 9]> = Vec::new();
    for (at, barrier) in report.barriers.iter().enumerate() {
        let path = |what: &str| format!("barriers/{at}/{what}");
        let more = links.id(format_args!("v{at}"));
        rows.push([
            format!(
                "{}{}<br><a class=\"more\" href=\"#{more}\">values and uses</a>",
                links.name(&barrier.name, barrier.range),
                stands_for(barrier)
            ),
            links.number(&path("depth"), barrier.depth),
            match barrier.count {
                Some(count) => links.number(&path("count"), count),
                None => "<span class=\"quiet\">differs</span>".to_owned(),
            },
            barrier.mechanisms.iter().map(|it| escape(it.name())).collect::<Vec<_>>().join("<br>"),
            codes(&barrier.index),
            codes(&barrier.phase) + &carried(barrier),
            stagger(barrier),
            expects(links, at, barrier),
            traffic(barrier),
        ]);
    }
    let head = ["Barrier", "Depth", "Arrivals", "Mechanism", "Index", "Phase", "Stagger", "Expects", "Flips/waits"];
    // A column in which nothing stands is left out.
    let used: Vec<usize> = (0..head.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
    let mut body = String::from("<tbody>\n");
    for (at, row) in rows.iter().enumerate() {
        let id = links.id(format_args!("b{at}"));
        let cells: String = used.iter().map(|&at| format!("<td>{}</td>", row[at])).collect();
        let _ = writeln!(body, "<tr id=\"{id}\" data-k=\"{id}\" data-hot=\"{id}\">{cells}</tr>");
    }
    body.push_str("</tbody>");
    let head: Vec<&str> = used.iter().map(|&at| head[at]).collect();
    let mut out = String::new();
    table(&mut out, "Barriers", &head, &body);
    if used.contains(&8) {
        out.push_str("<p class=\"quiet\">Flips and waits: of each slot, in the longest run.</p>\n");
    }
    out
}

fn stands_for(barrier: &BarrierSummary) -> String {
    let Some((what, half)) = barrier.abstract_of else { return String::new() };
    let half = match half {
        Half::Full => ", full half",
        Half::Empty => ", empty half",
        Half::Whole => "",
    };
    format!(" <span class=\"quiet\">{what}{half}</span>")
}

/// What loops do with the values in the expressions.
fn carried(barrier: &BarrierSummary) -> String {
    // Partitions have loops of their own, which often read alike.
    let mut values: Vec<&(String, String)> = Vec::new();
    for value in &barrier.carried {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let value =
        |(name, how): &(String, String)| format!("<br><span class=\"quiet\">{}: {}</span>", code(name), escape(how));
    values.into_iter().map(value).collect()
}

fn stagger(barrier: &BarrierSummary) -> String {
    let offsets = barrier.stagger.iter().map(|(name, by)| format!("{}: {by:+}", code(name)));
    offsets.collect::<Vec<_>>().join("<br>")
}

fn expects(links: &Links<'_>, at: usize, barrier: &BarrierSummary) -> String {
    let expects = barrier.expects.iter().enumerate().map(|(nth, expect)| {
        let sum: u64 = expect.parts.iter().fold(0, |sum, part| sum.saturating_add(part.1));
        let parts: Vec<String> = expect.parts.iter().map(|(name, bytes)| format!("{} {bytes}", code(name))).collect();
        let merged = if parts.len() > 1 { ", merged" } else { "" };
        let made = if parts.is_empty() { String::new() } else { format!(" = {}", parts.join(" + ")) };
        let differs = if !parts.is_empty() && sum != expect.bytes {
            format!(" <b class=\"bad\">✗ the copies bring {sum}</b>")
        } else {
            String::new()
        };
        let bytes = links.number(&format!("barriers/{at}/expects/{nth}/bytes"), expect.bytes);
        format!("{bytes} bytes{made}{merged} (line {}){differs}", links.at(expect.range))
    });
    expects.collect::<Vec<_>>().join("<br>")
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
pub fn data(links: &Links<'_>) -> String {
    let mut out = String::new();
    if links.report().buffers.is_empty() {
        out.push_str("<p>No memory is shared.</p>\n");
    }
    for (at, buffer) in links.report().buffers.iter().enumerate() {
        let id = links.id(format_args!("d{at}"));
        let _ = writeln!(
            out,
            "<details class=\"block\" id=\"{id}\" open><summary><b>{}</b>{}</summary><p>{} line {}</p>",
            code(&buffer.name),
            escape(&size(buffer)),
            code(&buffer.ty),
            links.at(buffer.range),
        );
        let mut body = String::from("<tbody>\n");
        for (member, it) in buffer.members.iter().enumerate() {
            data_row(&mut body, links, (at, member), buffer, it);
        }
        body.push_str("</tbody>");
        let name = escape(&format!("Members of {}", buffer.name));
        table(&mut out, &name, &["Extent", "Buffer", "Type", "Written by", "Read by", "Ordered by"], &body);
        out.push_str("</details>\n");
    }
    out
}

fn data_row(body: &mut String, links: &Links<'_>, at: (usize, usize), buffer: &PhysicalBuffer, member: &Member) {
    let id = links.id(format_args!("d{}-{}", at.0, at.1));
    let barriers = links.report().barriers.iter().enumerate().filter(|(_, barrier)| barrier.protects.contains(&at));
    let barriers: Vec<String> = barriers.map(|(barrier, _)| links.barrier(barrier)).collect();
    let _ = writeln!(
        body,
        "<tr id=\"{id}\" data-hot=\"{id}\"><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        links.extent(at.0, member.extent, &format!("buffers/{}/members/{}/extent", at.0, at.1)),
        bar(buffer, None, Some(member.extent)),
        links.name(&member.name, member.range),
        code(&member.ty),
        users(links, &member.writers),
        users(links, &member.readers),
        barriers.join("<br>"),
    );
}

/// Who uses a buffer: partition, op and lines, each pair once.
fn users(links: &Links<'_>, uses: &[PartitionUse]) -> String {
    let mut groups: Vec<(usize, &str, Vec<&PartitionUse>)> = Vec::new();
    for used in uses {
        match groups.iter_mut().find(|it| it.0 == used.partition && it.1 == used.op) {
            Some(group) => group.2.push(used),
            None => groups.push((used.partition, &used.op, vec![used])),
        }
    }
    let lines = groups.into_iter().map(|(who, op, uses)| {
        let at = links.all_at(uses.iter().map(|used| used.range));
        format!("{} {} at {at}", links.partition(who), code(op))
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Section 5.
pub fn aliases(links: &Links<'_>) -> String {
    let report = links.report();
    let many = report.barriers.iter().map(|it| it.uses.len() + it.aliases.len()).sum::<usize>() > LONG;
    let mut out = String::new();
    if report.barriers.is_empty() {
        out.push_str("<p>There is no barrier.</p>\n");
    }
    for (at, barrier) in report.barriers.iter().enumerate() {
        let id = links.id(format_args!("v{at}"));
        let open = if many { "" } else { " open" };
        let _ = writeln!(
            out,
            "<details class=\"block\" id=\"{id}\"{open}><summary><b>{}</b>: {}, {}</summary><div class=\"pair\">",
            code(&barrier.name),
            counted(barrier.aliases.len(), "value"),
            counted(barrier.uses.len(), "use"),
        );
        let mut body = String::from("<tbody>\n");
        for alias in &barrier.aliases {
            let (name, how) = (links.name(&alias.name, alias.range), escape(&alias.how));
            let _ =
                writeln!(body, "<tr><td>{name}</td><td>{how}</td><td class=\"n\">{}</td></tr>", links.at(alias.range));
        }
        body.push_str("</tbody>");
        let name = escape(&barrier.name);
        table(&mut out, &format!("Values that name {name}"), &["Value", "How", "Line"], &body);
        let mut body = String::from("<tbody>\n");
        for used in &barrier.uses {
            let _ = writeln!(
                body,
                "<tr><td class=\"n\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                links.at(used.range),
                links.partition(used.partition),
                code(&used.op),
                escape(&used.what),
                if used.slot.is_empty() { String::new() } else { code(&used.slot) },
                loops(used),
            );
        }
        body.push_str("</tbody>");
        let head = ["Line", "Partition", "Op", "What", "Slot", "Loops"];
        table(&mut out, &format!("Uses of {name}"), &head, &body);
        out.push_str("</div></details>\n");
    }
    out
}
