//! Section 2 as a picture: partitions as boxes, bundles of edges as wires.
//!
//! A class of edges has a colour, a dash, an arrowhead and a sign of its own. The wires come first and
//! the labels after them, box by box in reading order, which is the order of the tab key. A bundle's
//! panel shows while its label or wire is pointed at or has the focus; that needs no script.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::bundle::{Bundle, EdgeClass, bundles, drawn};
use super::layout::{BOX, Layout, Route, Wire, layout};
use super::links::Links;
use super::text::{code, counted, joined, short, width};
use crate::wrap::wrap;

/// Characters of a label at most.
const LABEL: usize = 42;
/// Width of a character of a label, in tenths of a pixel.
const LETTER: usize = 67;
/// Characters of a line in a box.
const IN_BOX: usize = 27;

/// A bundle with its place.
struct Placed<'a> {
    id: String,
    bundle: &'a Bundle,
    route: &'a Route,
    label: String,
    line: Option<u32>,
}

/// The picture, its legend and its panels; empty where there is nobody.
pub(super) fn draw(links: &Links<'_>) -> Markup {
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
            forward: bundle.class == EdgeClass::Forward,
            weight: bundle.weight(),
            label: pill(label, *line).0 + pill(label, *line).1,
        })
        .collect();
    let plan = layout(report.partitions.len(), &wires);
    let placed: Vec<Placed<'_>> = shown
        .iter()
        .zip(&plan.routes)
        .zip(labels)
        .map(|((&(at, bundle), route), (label, line))| Placed {
            id: links.id(format_args!("g{at}")),
            bundle,
            route,
            label,
            line,
        })
        .collect();
    html! {
        div class="graph" {
            style { "\n" @for wire in &placed { (reveal(&wire.id)) } }
            (legend())
            (picture(links, &plan, &placed))
            div class="panels" aria-hidden="true" {
                p class="hint" {
                    "Point at a line or move to it with the tab and arrow keys: what it stands for is listed here."
                }
                @for wire in &placed { (panel(links, wire)) }
            }
            @if all.len() > shown.len() {
                p class="quiet" { "That partitions start and end together is not drawn." }
            }
        }
    }
}

/// What a bundle is labelled with, and the first line that it is about.
fn label(links: &Links<'_>, bundle: &Bundle) -> (String, Option<u32>) {
    let report = links.report();
    let sign = bundle.class.sign();
    if bundle.class == EdgeClass::Missing {
        let blocks = bundle.rows.iter().filter_map(|&(at, row)| {
            let block = report.coverage.get(at)?;
            Some((block, report.buffers.get(block.buffer)?.members.get(block.rows.get(row)?.member)?))
        });
        let (mut names, mut line) = (Vec::new(), None);
        for (block, member) in blocks {
            line = line.or(links.view.line(block.writer.range));
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
        edges.iter().flat_map(|edge| edge.waits.iter().chain(&edge.arrivals)).find_map(|&at| links.view.line(at));
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
fn reveal(id: &str) -> PreEscaped<String> {
    let when = format!(".graph:has(#{id}:hover,#{id}:focus-visible,#{id}-w:hover,#{id}-p:hover,#{id}-p:focus-within)");
    PreEscaped(format!("{when} #{id}-p{{display:block}}{when} #{id}-w{{stroke-width:4}}{when} .hint{{display:none}}\n"))
}

fn legend() -> Markup {
    let entries = [
        (EdgeClass::Forward, "forward: written, may be read"),
        (EdgeClass::Backward, "backward: read, may be overwritten"),
        (EdgeClass::Control, "neither"),
        (EdgeClass::Missing, "missing: nothing orders the overwrite"),
    ];
    html! {
        ul class="legend" {
            @for (class, text) in entries {
                li {
                    svg width="54" height="16" aria-hidden="true" {
                        path class={ "wire " (class.name()) } d="M2 8H42" {}
                        (arrowhead(class, &[(2, 8), (52, 8)]))
                    }
                    " " (text)
                }
            }
        }
    }
}

fn picture(links: &Links<'_>, plan: &Layout, placed: &[Placed<'_>]) -> Markup {
    let report = links.report();
    let (title, about) = (links.id("graph-title"), links.id("graph-about"));
    html! {
        div class="scroll" {
            svg class="net" data-net width=(plan.width) height=(plan.height) viewBox={ "0 0 " (plan.width) " " (plan.height) }
                role="group" aria-labelledby=(title) aria-describedby=(about) {
                title id=(title) { "Barrier dependency graph of @" (report.kernel) }
                desc id=(about) {
                    (counted(report.partitions.len(), "partition")) "; " (counted(placed.len(), "line"))
                    ". Each is listed in the table below."
                }
                g class="wires" aria-hidden="true" {
                    @for wire in placed {
                        @let (class, d) = (wire.bundle.class, path(&wire.route.points));
                        @let hot = hot(links, wire.bundle);
                        g class="line" data-k=(hot) data-hot=(hot) {
                            path class="halo" d=(d) {}
                            path class={ "wire " (class.name()) } id={ (wire.id) "-w" } d=(d) {}
                            (arrowhead(class, &wire.route.points))
                        }
                    }
                }
                @for &member in &plan.order {
                    (node(links, plan, member))
                    @for wire in placed.iter().filter(|wire| wire.bundle.from == member) { (wire_label(links, wire)) }
                }
            }
        }
    }
}

/// The elements that are highlighted together with a bundle.
fn hot(links: &Links<'_>, bundle: &Bundle) -> String {
    let edges = bundle.edges.iter().map(|at| links.id(format_args!("e{at}")));
    let rows = bundle.rows.iter().map(|(at, row)| links.id(format_args!("c{at}-{row}")));
    edges.chain(rows).collect::<Vec<_>>().join(" ")
}

fn node(links: &Links<'_>, plan: &Layout, member: usize) -> Markup {
    let (Some(row), Some(&(x, y, wide))) = (links.report().partitions.get(member), plan.boxes.get(member)) else {
        return Markup::default();
    };
    let line = links.view.line(row.range);
    let place = line.map_or_else(String::new, |line| format!("; line {line}"));
    let target = match line {
        Some(line) => format!("#{}{line}", links.anchor()),
        None => format!("#{}", links.id(format_args!("p{member}"))),
    };
    let warps = counted(row.warps as usize, "warp");
    let about = format!("{}: {}, {warps}{place}", row.label, row.role);
    let (id, hot) = (links.id(format_args!("n{member}")), links.id(format_args!("p{member}")));
    let fits = IN_BOX.max((wide as usize).saturating_sub(20) * 10 / 73);
    let mut lines = wrap(&row.role, fits);
    if lines.len() > 2 {
        lines = vec![lines[0].clone(), short(&lines[1..].join(" "), fits)];
    }
    let ops = row.key_ops.iter().map(|(op, times)| if *times > 1 { format!("{op} ×{times}") } else { op.clone() });
    let ops = ops.collect::<Vec<_>>().join(", ");
    html! {
        a class="box" id=(id) href=(target) aria-label=(about) data-hot=(hot) data-k=(hot) {
            title { (about) }
            rect x=(x) y=(y) width=(wide) height=(BOX) rx="8" {}
            text class="b" x=(x + 11) y=(y + 19) { (short(&row.label, fits.saturating_sub(warps.len() + 2))) }
            text class="d e" x=(x + wide - 11) y=(y + 19) { (warps) }
            @for (at, text) in (0..).zip(&lines) { text x=(x + 11) y=(y + 36 + 15 * at) { (short(text, fits)) } }
            text class="d s" x=(x + 11) y=(y + BOX - 8) { (short(&ops, fits + 2)) }
        }
    }
}

/// The label of a bundle, which leads to its rows, and beside it its first line.
fn wire_label(links: &Links<'_>, wire: &Placed<'_>) -> Markup {
    let (id, class, hot) = (&wire.id, wire.bundle.class.name(), hot(links, wire.bundle));
    let (first, second) = pill(&wire.label, wire.line);
    let (x, y) = (wire.route.label.0 - (first + second) / 2, wire.route.label.1);
    let target = match wire.bundle.rows.first() {
        Some((at, row)) => links.id(format_args!("c{at}-{row}")),
        None => format!("{id}-t"),
    };
    let (from, to) = (links.view.partition(wire.bundle.from), links.view.partition(wire.bundle.to));
    html! {
        a class={ "bundle " (class) } id=(id) href={ "#" (target) }
            aria-label={ (class) ", " (from) " to " (to) ": " (wire.label) } aria-describedby={ (id) "-p" }
            data-hot=(hot) data-k=(hot) {
            rect x=(x) y=(y - 11) width=(first + second) height="22" rx="6" {}
            text x=(x + 8) y=(y + 4) { (wire.label) }
        }
        @if let Some(line) = wire.line {
            // The panel and the table have the same link within reach of the tab key.
            a class="jump" href={ "#" (links.anchor()) (line) } tabindex="-1" aria-label={ "line " (line) } {
                title { "line " (line) }
                rect class="reach" x=(x + first) y=(y - 11) width=(second) height="22" {}
                text x=(x + first + 2) y=(y + 4) { "L" (line) }
            }
        }
    }
}

/// What a bundle stands for, edge by edge.
fn panel(links: &Links<'_>, wire: &Placed<'_>) -> Markup {
    let report = links.report();
    let bundle = wire.bundle;
    let rows = bundle.rows.iter().filter_map(|&(at, row)| {
        let block = report.coverage.get(at)?;
        Some((block, block.rows.get(row)?))
    });
    html! {
        div class="panel" id={ (wire.id) "-p" } {
            b { (links.view.partition(bundle.from)) " → " (links.view.partition(bundle.to)) } ", " (bundle.class.name())
            ul {
                @for edge in bundle.edges.iter().filter_map(|&at| report.edges.get(at)) {
                    li {
                        @if let Some(barrier) = edge.barrier.and_then(|at| report.barriers.get(at)) {
                            (code(&barrier.name)) ", "
                        }
                        (edge.mechanism.name())
                        @if !edge.data.is_empty() {
                            ": " (joined(edge.data.iter().map(|&member| code(&links.view.member(member))), ", "))
                        }
                        "; arrives at line " (links.all_at(edge.arrivals.iter().copied()))
                        ", waits at line " (links.all_at(edge.waits.iter().copied()))
                    }
                }
                @for (block, row) in rows {
                    li {
                        (code(&links.view.member((block.buffer, row.member)))) ", used at line "
                        (links.all_at(row.uses.iter().map(|used| used.range))) ", is overwritten at line "
                        (links.at(block.writer.range)) "; nothing orders that"
                    }
                }
            }
        }
    }
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
fn arrowhead(class: EdgeClass, points: &[(i32, i32)]) -> Markup {
    let [.., before, (x, y)] = points else { return Markup::default() };
    let (dx, dy) = ((x - before.0).signum(), (y - before.1).signum());
    // Pairs of how far before the tip, and how far across it; `true` starts a new stroke.
    let (corners, close): (&[(bool, i32, i32)], &str) = match class {
        EdgeClass::Forward => (&[(true, 0, 0), (false, 10, -5), (false, 10, 5)], "z"),
        EdgeClass::Backward => (&[(true, 1, 0), (false, 11, -6), (false, 11, 6)], "z"),
        EdgeClass::Control => (&[(true, 7, -4), (false, 1, 0), (false, 7, 4)], ""),
        EdgeClass::Missing => {
            (&[(true, 2, -6), (false, 2, 6), (true, 6, -6), (false, 18, 6), (true, 6, 6), (false, 18, -6)], "")
        }
    };
    let corner = |&(starts, along, across): &(bool, i32, i32)| {
        let letter = if starts { 'M' } else { 'L' };
        format!("{letter}{} {}", x - dx * along - dy * across, y - dy * along + dx * across)
    };
    let d: String = corners.iter().map(corner).collect();
    html! { path class={ "head " (class.name()) } d={ (d) (close) } {} }
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
