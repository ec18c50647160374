//! Section 2 as a picture: partitions as boxes, bundles of edges as wires.
//!
//! A class of edges has a colour, a dash, an arrowhead and a sign of its own. The wires come first and
//! the labels after them, box by box in reading order, which is the order of the tab key. A bundle's
//! panel shows while its label or wire is pointed at or has the focus; that needs no script.

use std::fmt::Write;

use super::bundle::{Bundle, Class, bundles, drawn};
use super::layout::{BOX, Layout, Route, Wire, layout};
use super::links::{Links, code, counted, escape, short, width};
use crate::wrap::wrap;

/// Characters of a label at most.
const LABEL: usize = 42;
/// Width of a character of a label, in tenths of a pixel.
const LETTER: usize = 67;
/// Characters of a line in a box.
const IN_BOX: usize = 27;

/// A bundle with its place.
struct Placed<'a> {
    at: usize,
    bundle: &'a Bundle,
    route: &'a Route,
    label: String,
    line: Option<u32>,
}

/// The picture, its legend and its panels; empty where there is nobody.
pub fn draw(links: &Links<'_>) -> String {
    let report = links.report();
    let all = bundles(report);
    let shown: Vec<(usize, &Bundle)> = all.iter().enumerate().filter(|(_, bundle)| drawn(bundle, report)).collect();
    let labels: Vec<(String, Option<u32>)> = shown.iter().map(|(_, bundle)| label(links, bundle)).collect();
    let wires: Vec<Wire> = shown
        .iter()
        .zip(&labels)
        .map(|((_, bundle), (label, line))| Wire {
            from: bundle.from,
            to: bundle.to,
            forward: bundle.class == Class::Forward,
            weight: bundle.weight(),
            label: pill(label, *line).0 + pill(label, *line).1,
        })
        .collect();
    let plan = layout(report.partitions.len(), &wires);
    let placed: Vec<Placed<'_>> = shown
        .iter()
        .zip(&plan.routes)
        .zip(labels)
        .map(|((&(at, bundle), route), (label, line))| Placed { at, bundle, route, label, line })
        .collect();
    let mut out = String::from("<div class=\"graph\">\n<style>\n");
    for wire in &placed {
        reveal(&mut out, &links.id(format_args!("g{}", wire.at)));
    }
    out.push_str("</style>\n");
    legend(&mut out);
    picture(&mut out, links, &plan, &placed);
    out.push_str(r#"<div class="panels" aria-hidden="true">"#);
    out.push_str("<p class=\"hint\">Point at a line or move to it with the tab and arrow keys: what it stands for is listed here.</p>\n");
    for wire in &placed {
        panel(&mut out, links, wire);
    }
    out.push_str("</div>\n");
    let bare = all.len() - shown.len();
    if bare > 0 {
        out.push_str("<p class=\"quiet\">That partitions start and end together is not drawn.</p>\n");
    }
    out.push_str("</div>\n");
    out
}

/// What a bundle is labelled with, and the first line that it is about.
fn label(links: &Links<'_>, bundle: &Bundle) -> (String, Option<u32>) {
    let report = links.report();
    let sign = bundle.class.sign();
    if bundle.class == Class::Missing {
        let blocks = bundle.rows.iter().filter_map(|&(at, row)| {
            let block = report.coverage.get(at)?;
            Some((block, report.buffers.get(block.buffer)?.members.get(block.rows.get(row)?.member)?))
        });
        let (mut names, mut line) = (Vec::new(), None);
        for (block, member) in blocks {
            line = line.or(links.sheet.line(block.writer.range));
            if !names.contains(&member.name.as_str()) {
                names.push(&member.name);
            }
        }
        return (short(&format!("{sign} MISSING: {}", names.join(", ")), LABEL), line);
    }
    let edges: Vec<_> = bundle.edges.iter().filter_map(|&at| report.edges.get(at)).collect();
    let name = |edge: &&report::Edge| match edge.barrier.and_then(|at| report.barriers.get(at)) {
        Some(barrier) => barrier.name.clone(),
        None => edge.mechanism.name().to_owned(),
    };
    let line =
        edges.iter().flat_map(|edge| edge.waits.iter().chain(&edge.arrivals)).find_map(|&at| links.sheet.line(at));
    let mut data: Vec<String> = Vec::new();
    for &member in edges.iter().flat_map(|edge| &edge.data) {
        let physical = report.buffers.get(member.0);
        let name = physical.and_then(|buffer| buffer.members.get(member.1)).map_or("?", |member| member.name.as_str());
        if !data.iter().any(|it| it == name) {
            data.push(name.to_owned());
        }
    }
    let names: Vec<String> = edges.iter().map(name).collect();
    let times = if edges.len() > 1 { format!("{}× ", edges.len()) } else { String::new() };
    let names =
        if edges.len() > 1 && !data.is_empty() { short(&names.join(", "), LABEL / 2) } else { names.join(", ") };
    let data = if data.is_empty() { String::new() } else { format!(": {}", data.join(", ")) };
    (short(&format!("{sign} {times}{names}{data}"), LABEL), line)
}

/// Widths of a label's two parts: its words, and its line.
fn pill(label: &str, line: Option<u32>) -> (i32, i32) {
    let wide = |characters: usize| (characters * LETTER / 10) as i32;
    (wide(width(label)) + 16, line.map_or(0, |line| wide(line.to_string().len() + 1) + 12))
}

/// The rules that show a bundle's panel and stress its wire.
fn reveal(out: &mut String, id: &str) {
    let when = format!(".graph:has(#{id}:hover,#{id}:focus-visible,#{id}-w:hover,#{id}-p:hover,#{id}-p:focus-within)");
    let _ =
        writeln!(out, "{when} #{id}-p{{display:block}}{when} #{id}-w{{stroke-width:4}}{when} .hint{{display:none}}");
}

fn legend(out: &mut String) {
    out.push_str("<ul class=\"legend\">");
    for (class, text) in [
        (Class::Forward, "forward: written, may be read"),
        (Class::Backward, "backward: read, may be overwritten"),
        (Class::Control, "neither"),
        (Class::Missing, "missing: nothing orders the overwrite"),
    ] {
        let name = class.name();
        let _ = write!(
            out,
            "<li><svg width=\"54\" height=\"16\" aria-hidden=\"true\"><path class=\"wire {name}\" d=\"M2 8H42\"/>{}</svg> {text}</li>",
            head(class, &[(2, 8), (52, 8)])
        );
    }
    out.push_str("</ul>\n");
}

fn picture(out: &mut String, links: &Links<'_>, plan: &Layout, placed: &[Placed<'_>]) {
    let report = links.report();
    let (title, about) = (links.id("graph-title"), links.id("graph-about"));
    let _ = write!(
        out,
        "<div class=\"scroll\"><svg class=\"net\" data-net width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"group\" \
         aria-labelledby=\"{title}\" aria-describedby=\"{about}\">\n\
         <title id=\"{title}\">Barrier dependency graph of @{}</title>\n<desc id=\"{about}\">{}; {}. Each is listed in the \
         table below.</desc>\n<g class=\"wires\" aria-hidden=\"true\">\n",
        escape(&report.kernel),
        counted(report.partitions.len(), "partition"),
        counted(placed.len(), "line"),
        w = plan.width,
        h = plan.height,
    );
    for wire in placed {
        let id = links.id(format_args!("g{}", wire.at));
        let (class, d) = (wire.bundle.class.name(), path(&wire.route.points));
        let hot = hot(links, wire.bundle);
        let _ = writeln!(
            out,
            "<g class=\"line\" data-k=\"{hot}\" data-hot=\"{hot}\"><path class=\"halo\" d=\"{d}\"/>\
             <path class=\"wire {class}\" id=\"{id}-w\" d=\"{d}\"/>{}</g>",
            head(wire.bundle.class, &wire.route.points)
        );
    }
    out.push_str("</g>\n");
    for &member in &plan.order {
        node(out, links, plan, member);
        for wire in placed.iter().filter(|wire| wire.bundle.from == member) {
            words(out, links, wire);
        }
    }
    out.push_str("</svg></div>\n");
}

/// What lights up with a bundle.
fn hot(links: &Links<'_>, bundle: &Bundle) -> String {
    let edges = bundle.edges.iter().map(|at| links.id(format_args!("e{at}")));
    let rows = bundle.rows.iter().map(|(at, row)| links.id(format_args!("c{at}-{row}")));
    edges.chain(rows).collect::<Vec<_>>().join(" ")
}

fn node(out: &mut String, links: &Links<'_>, plan: &Layout, member: usize) {
    let (Some(row), Some(&(x, y, wide))) = (links.report().partitions.get(member), plan.boxes.get(member)) else {
        return;
    };
    let line = links.sheet.line(row.range);
    let place = line.map_or_else(String::new, |line| format!("; line {line}"));
    let target = match line {
        Some(line) => format!("{}{line}", links.anchor()),
        None => links.id(format_args!("p{member}")),
    };
    let warps = counted(row.warps as usize, "warp");
    let about = escape(&format!("{}: {}, {warps}{place}", row.label, row.role));
    let (id, hot) = (links.id(format_args!("n{member}")), links.id(format_args!("p{member}")));
    let _ = writeln!(
        out,
        "<a class=\"box\" id=\"{id}\" href=\"#{target}\" aria-label=\"{about}\" data-hot=\"{hot}\" data-k=\"{hot}\">\
         <title>{about}</title><rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{BOX}\" rx=\"8\"/>"
    );
    let fits = IN_BOX.max((wide as usize).saturating_sub(20) * 10 / 73);
    let label = short(&row.label, fits.saturating_sub(warps.len() + 2));
    let _ = write!(out, "<text class=\"b\" x=\"{}\" y=\"{}\">{}</text>", x + 11, y + 19, escape(&label));
    let _ = write!(out, "<text class=\"d e\" x=\"{}\" y=\"{}\">{warps}</text>", x + wide - 11, y + 19);
    let mut lines = wrap(&row.role, fits);
    if lines.len() > 2 {
        lines = vec![lines[0].clone(), short(&lines[1..].join(" "), fits)];
    }
    for (at, text) in lines.iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + 11,
            y + 36 + 15 * at as i32,
            escape(&short(text, fits))
        );
    }
    let ops = row.key_ops.iter().map(|(op, times)| if *times > 1 { format!("{op} ×{times}") } else { op.clone() });
    let ops = short(&ops.collect::<Vec<_>>().join(", "), fits + 2);
    let _ = write!(out, "<text class=\"d s\" x=\"{}\" y=\"{}\">{}</text>", x + 11, y + BOX - 8, escape(&ops));
    out.push_str("</a>\n");
}

/// The label of a bundle, which leads to its rows, and beside it its first line.
fn words(out: &mut String, links: &Links<'_>, wire: &Placed<'_>) {
    let id = links.id(format_args!("g{}", wire.at));
    let (class, hot) = (wire.bundle.class.name(), hot(links, wire.bundle));
    let (first, second) = pill(&wire.label, wire.line);
    let (x, y) = (wire.route.label.0 - (first + second) / 2, wire.route.label.1);
    let target = match wire.bundle.rows.first() {
        Some((at, row)) => links.id(format_args!("c{at}-{row}")),
        None => format!("{id}-t"),
    };
    let (from, to) = (links.sheet.partition(wire.bundle.from), links.sheet.partition(wire.bundle.to));
    let about = escape(&format!("{class}, {from} to {to}: {}", wire.label));
    let _ = writeln!(
        out,
        "<a class=\"bundle {class}\" id=\"{id}\" href=\"#{target}\" aria-label=\"{about}\" aria-describedby=\"{id}-p\" \
         data-hot=\"{hot}\" data-k=\"{hot}\"><rect x=\"{x}\" y=\"{}\" width=\"{}\" height=\"22\" rx=\"6\"/>\
         <text x=\"{}\" y=\"{}\">{}</text></a>",
        y - 11,
        first + second,
        x + 8,
        y + 4,
        escape(&wire.label)
    );
    if let Some(line) = wire.line {
        // The panel and the table have the same link within reach of the tab key.
        let _ = writeln!(
            out,
            "<a class=\"jump\" href=\"#{}{line}\" tabindex=\"-1\" aria-label=\"line {line}\"><title>line {line}</title>\
             <rect class=\"reach\" x=\"{}\" y=\"{}\" width=\"{second}\" height=\"22\"/><text x=\"{}\" y=\"{}\">L{line}</text></a>",
            links.anchor(),
            x + first,
            y - 11,
            x + first + 2,
            y + 4
        );
    }
}

/// What a bundle stands for, edge by edge.
fn panel(out: &mut String, links: &Links<'_>, wire: &Placed<'_>) {
    let report = links.report();
    let id = links.id(format_args!("g{}", wire.at));
    let (from, to) = (escape(links.sheet.partition(wire.bundle.from)), escape(links.sheet.partition(wire.bundle.to)));
    let class = wire.bundle.class.name();
    let _ = write!(out, "<div class=\"panel\" id=\"{id}-p\"><b>{from} → {to}</b>, {class}<ul>");
    for edge in wire.bundle.edges.iter().filter_map(|&at| report.edges.get(at)) {
        let name =
            edge.barrier.and_then(|at| report.barriers.get(at)).map_or_else(String::new, |it| code(&it.name) + ", ");
        let data: Vec<String> = edge.data.iter().map(|&member| code(&links.sheet.member(member))).collect();
        let data = if data.is_empty() { String::new() } else { format!(": {}", data.join(", ")) };
        let (arrives, waits) = (links.all_at(edge.arrivals.iter().copied()), links.all_at(edge.waits.iter().copied()));
        let mechanism = escape(edge.mechanism.name());
        let _ = write!(out, "<li>{name}{mechanism}{data}; arrives at line {arrives}, waits at line {waits}</li>");
    }
    for &(at, row) in &wire.bundle.rows {
        let Some(block) = report.coverage.get(at) else { continue };
        let Some(it) = block.rows.get(row) else { continue };
        let used = links.all_at(it.uses.iter().map(|used| used.range));
        let (name, writer) = (code(&links.sheet.member((block.buffer, it.member))), links.at(block.writer.range));
        let _ =
            write!(out, "<li>{name}, used at line {used}, is overwritten at line {writer}; nothing orders that</li>");
    }
    out.push_str("</ul></div>\n");
}

/// A path with round corners.
fn path(points: &[(i32, i32)]) -> String {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for &point in points {
        // What lies on a straight line is no corner.
        while let [.., a, b] = corners[..]
            && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
        {
            corners.pop();
        }
        if corners.last() != Some(&point) {
            corners.push(point);
        }
    }
    let mut out = String::new();
    for (at, &(x, y)) in corners.iter().enumerate() {
        match (at.checked_sub(1).and_then(|before| corners.get(before)), corners.get(at + 1)) {
            (None, _) => {
                let _ = write!(out, "M{x} {y}");
            }
            (Some(_), None) => {
                let _ = write!(out, "L{x} {y}");
            }
            (Some(&before), Some(&after)) => {
                let near = |to: (i32, i32)| {
                    let (dx, dy) = (to.0 - x, to.1 - y);
                    let by = 7.min((dx.abs() + dy.abs()) / 2);
                    (x + dx.signum() * by, y + dy.signum() * by)
                };
                let (a, b) = (near(before), near(after));
                let _ = write!(out, "L{} {}Q{x} {y} {} {}", a.0, a.1, b.0, b.1);
            }
        }
    }
    out
}

/// The arrowhead: full, open, a hook, or a bar behind a cross.
fn head(class: Class, points: &[(i32, i32)]) -> String {
    let [.., before, (x, y)] = points else { return String::new() };
    let (dx, dy) = ((x - before.0).signum(), (y - before.1).signum());
    // At `along` before the tip and `across` it.
    let at = |along: i32, across: i32| format!("{} {}", x - dx * along - dy * across, y - dy * along + dx * across);
    match class {
        Class::Forward => format!("<path class=\"head forward\" d=\"M{}L{}L{}z\"/>", at(0, 0), at(10, -5), at(10, 5)),
        Class::Backward => format!("<path class=\"head backward\" d=\"M{}L{}L{}z\"/>", at(1, 0), at(11, -6), at(11, 6)),
        Class::Control => format!("<path class=\"head control\" d=\"M{}L{}L{}\"/>", at(7, -4), at(1, 0), at(7, 4)),
        Class::Missing => format!(
            "<path class=\"head missing\" d=\"M{}L{}M{}L{}M{}L{}\"/>",
            at(2, -6),
            at(2, 6),
            at(6, -6),
            at(18, 6),
            at(6, 6),
            at(18, -6)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_round_and_straight_wires_straight() {
        assert_eq!(path(&[(5, 0), (5, 10), (5, 10), (5, 30)]), "M5 0L5 30");
        assert_eq!(path(&[(0, 0), (0, 20), (40, 20), (40, 60)]), "M0 0L0 13Q0 20 7 20L33 20Q40 20 40 27L40 60");
    }
}
