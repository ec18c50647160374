//! Section 2 as a picture: partitions as boxes, bundles of edges as lines between them.
//!
//! All bundles between two partitions run side by side, with one label beside them that lists their edges. A
//! class of edges has a colour, a dash, an arrowhead and a sign of its own, and the label repeats them. The
//! lines come first and the labels after them, box by box in reading order, which is the order of the tab
//! key. A bundle's panel shows while its label or line is pointed at or has the focus; that needs no script.

mod label;

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};
use report::{Mechanism, PartitionRow};

use self::label::{Block, Label, SAMPLE, base_line, line_width};
use super::bundle::{Bundle, EdgeClass, bundles, drawn};
use super::layout::{BOX_WIDTH, Connection, Layout, layout};
use super::links::Links;
use super::text::{code, counted, joined};
use crate::wrap::wrap;

/// Characters of a line in a box.
const IN_BOX: usize = (BOX_WIDTH as usize - 22) * 10 / 74;
/// The same of small ones.
const SMALL_IN_BOX: usize = (BOX_WIDTH as usize - 22) * 10 / 68;

/// Bundles between two partitions.
struct Cable<'a> {
    ends: (usize, usize),
    /// Each with its number among all.
    bundles: Vec<(usize, &'a Bundle)>,
    label: Label,
}

/// A bundle with its place.
struct Placed<'a> {
    id: String,
    bundle: &'a Bundle,
    /// From where it arrives to where it is waited for.
    points: Vec<(i32, i32)>,
    /// Whether that is downwards.
    down: bool,
    /// Left and top of its label, and width.
    at: (i32, i32, i32),
    words: i32,
    block: &'a Block,
}

/// The picture, its legend and its panels; empty where there is nobody.
pub(super) fn draw(links: &Links<'_>) -> Markup {
    let report = links.report();
    let all = bundles(report);
    let shown: Vec<(usize, &Bundle)> = all.iter().enumerate().filter(|(_, bundle)| drawn(bundle, report)).collect();
    let cables = cables(links, &shown);
    let connections: Vec<Connection> = cables.iter().map(connection).collect();
    let boxes: Vec<BoxText> = report.partitions.iter().map(BoxText::new).collect();
    let heights: Vec<i32> = boxes.iter().map(BoxText::height).collect();
    let plan = layout(&heights, &connections);
    let placed = place(links, &plan, &cables);
    html! {
        div class="graph" {
            style { "\n" @for wire in &placed { (reveal(&wire.id)) } }
            (legend())
            (picture(links, &plan, &boxes, &placed))
            div class="panels" aria-hidden="true" {
                p class="hint" {
                    "Point at a line or move to it with the tab and arrow keys: what it stands for is listed here."
                }
                @for wire in &placed { (unstopped(panel(links, wire))) }
            }
            (left_out(links, all.len() > shown.len()))
        }
    }
}

/// What is no line of the picture.
fn left_out(links: &Links<'_>, joins: bool) -> Markup {
    let report = links.report();
    let drawn =
        |at: usize| report.edges.iter().any(|edge| edge.barrier == Some(at) && edge.mechanism != Mechanism::Join);
    let rest: Vec<usize> = (0..report.barriers.len()).filter(|&at| !drawn(at)).collect();
    html! {
        @if !rest.is_empty() {
            p class="quiet" {
                "Barriers that order nothing between two partitions in these runs: "
                (joined(rest.into_iter().map(|at| links.barrier(at)), ", ")) "."
            }
        }
        @if joins { p class="quiet" { "That partitions start and end together is not drawn." } }
    }
}

/// Bundles by the two partitions that they connect.
fn cables<'a>(links: &Links<'_>, shown: &[(usize, &'a Bundle)]) -> Vec<Cable<'a>> {
    let ends = |bundle: &Bundle| (bundle.from.min(bundle.to), bundle.from.max(bundle.to));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for pair in shown.iter().map(|it| ends(it.1)) {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let cable = |pair: (usize, usize)| {
        let bundles: Vec<(usize, &'a Bundle)> = shown.iter().filter(|it| ends(it.1) == pair).copied().collect();
        let own: Vec<&Bundle> = bundles.iter().map(|it| it.1).collect();
        Cable { ends: pair, label: Label::new(links, &own), bundles }
    };
    pairs.into_iter().map(cable).collect()
}

fn connection(cable: &Cable<'_>) -> Connection {
    let weight = |from: usize| {
        let forward = cable.bundles.iter().filter(|it| it.1.class == EdgeClass::Forward && it.1.from == from);
        forward.map(|it| it.1.weight()).sum()
    };
    Connection {
        ends: cable.ends,
        lines: cable.bundles.len(),
        label: (cable.label.width, cable.label.height),
        down: weight(cable.ends.0),
        up: weight(cable.ends.1),
    }
}

fn place<'a>(links: &Links<'_>, plan: &Layout, cables: &'a [Cable<'a>]) -> Vec<Placed<'a>> {
    let mut placed = Vec::new();
    for (cable, route) in cables.iter().zip(&plan.routes) {
        let upper = if route.turned { cable.ends.1 } else { cable.ends.0 };
        for ((&(at, bundle), points), block) in cable.bundles.iter().zip(&route.lines).zip(&cable.label.blocks) {
            let down = bundle.from == upper;
            let mut points = points.clone();
            if !down {
                points.reverse();
            }
            placed.push(Placed {
                id: links.id(format_args!("g{at}")),
                bundle,
                points,
                down,
                at: (route.label.0, route.label.1 + block.top, cable.label.width),
                words: cable.label.words,
                block,
            });
        }
    }
    placed
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

fn picture(links: &Links<'_>, plan: &Layout, boxes: &[BoxText], placed: &[Placed<'_>]) -> Markup {
    let report = links.report();
    let (title, about) = (links.id("graph-title"), links.id("graph-about"));
    html! {
        div class="scroll" {
            svg class="net" data-net width=(plan.width) height=(plan.height) viewBox={ "0 0 " (plan.width) " " (plan.height) }
                // Narrow windows make it smaller, but not too small to be read.
                data-least=(plan.width * 3 / 4)
                role="group" aria-labelledby=(title) aria-describedby=(about) {
                title id=(title) { "Barrier dependency graph of @" (report.kernel) }
                desc id=(about) {
                    (counted(report.partitions.len(), "partition")) "; " (counted(placed.len(), "line"))
                    ". Each is listed in the table below."
                }
                g class="wires" aria-hidden="true" {
                    @for wire in placed {
                        @let (class, d) = (wire.bundle.class, path(&wire.points));
                        @let hot = hot(links, wire.bundle);
                        g class="line" data-k=(hot) data-hot=(hot) {
                            path class="halo" d=(d) {}
                            path class={ "wire " (class.name()) } id={ (wire.id) "-w" } d=(d) {}
                            (arrowhead(class, &wire.points))
                        }
                    }
                }
                @for &member in &plan.order {
                    (node(links, plan, boxes, member))
                    @for wire in placed.iter().filter(|wire| wire.bundle.from == member) { (block(links, wire)) }
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

/// What stands in a box.
struct BoxText {
    label: String,
    warps: String,
    role: Vec<String>,
    ops: Vec<String>,
}

impl BoxText {
    fn new(row: &PartitionRow) -> BoxText {
        let op = |(op, times): &(String, u32)| {
            let name = op.split_once('.').map_or(op.as_str(), |it| it.1);
            if *times > 1 { format!("{name}×{times}") } else { name.to_owned() }
        };
        let ops: Vec<String> = row.key_ops.iter().map(op).collect();
        let filled = |text: &str, by| wrap(text, by).into_iter().filter(|line| !line.is_empty()).collect();
        let warps = counted(row.warps as usize, "warp");
        let (role, ops) = (filled(&row.role, IN_BOX), filled(&ops.join(", "), SMALL_IN_BOX));
        BoxText { label: row.label.clone(), warps, role, ops }
    }

    fn height(&self) -> i32 {
        34 + 15 * self.role.len() as i32 + 14 * self.ops.len() as i32
    }
}

fn node(links: &Links<'_>, plan: &Layout, boxes: &[BoxText], member: usize) -> Markup {
    let row = links.report().partitions.get(member);
    let (Some(row), Some(at), Some(text)) = (row, plan.boxes.get(member), boxes.get(member)) else {
        return Markup::default();
    };
    let line = links.view.line(row.range);
    let place = line.map_or_else(String::new, |line| format!("; line {line}"));
    let target = match line {
        Some(line) => format!("#{}{line}", links.anchor()),
        None => format!("#{}", links.id(format_args!("p{member}"))),
    };
    let about = format!("{}: {}, {}{place}", row.label, row.role, text.warps);
    let (id, hot) = (links.id(format_args!("n{member}")), links.id(format_args!("p{member}")));
    let (x, y) = (at.x + 11, at.y + 19);
    let ops = y + 17 + 15 * text.role.len() as i32;
    html! {
        a class="box" id=(id) href=(target) aria-label=(about) data-hot=(hot) data-k=(hot) {
            title { (about) }
            rect x=(at.x) y=(at.y) width=(at.width) height=(at.height) rx="8" {}
            text class="b" x=(x) y=(y) { (text.label) }
            text class="d e" x=(at.x + at.width - 11) y=(y) { (text.warps) }
            @for (row, line) in (0..).zip(&text.role) { text x=(x) y=(y + 17 + 15 * row) { (line) } }
            @for (row, line) in (0..).zip(&text.ops) { text class="d s" x=(x) y=(ops + 14 * row) { (line) } }
        }
    }
}

/// The block of a bundle, which leads to its rows, and in it the lines that it is about.
fn block(links: &Links<'_>, wire: &Placed<'_>) -> Markup {
    let (id, class, hot) = (&wire.id, wire.bundle.class, hot(links, wire.bundle));
    let (x, y, wide) = wire.at;
    let target = match wire.bundle.rows.first() {
        Some((at, row)) => links.id(format_args!("c{at}-{row}")),
        None => format!("{id}-t"),
    };
    let (from, to) = (links.view.partition(wire.bundle.from), links.view.partition(wire.bundle.to));
    let said: Vec<&str> = wire.block.rows.iter().map(|row| row.text.trim()).collect();
    let (top, bottom) = (y + 5, y + wire.block.height.min(30) - 5);
    let sample = if wire.down { [(x + 11, top), (x + 11, bottom)] } else { [(x + 11, bottom), (x + 11, top)] };
    html! {
        a class={ "bundle " (class.name()) } id=(id) href={ "#" (target) }
            aria-label={ (class.name()) ", " (from) " to " (to) ": " (said.join(" ")) } aria-describedby={ (id) "-p" }
            data-hot=(hot) data-k=(hot) {
            rect x=(x) y=(y) width=(wide) height=(wire.block.height) rx="5" {}
            path class={ "wire " (class.name()) } d=(path(&sample)) {}
            (arrowhead(class, &sample))
            @for (at, row) in wire.block.rows.iter().enumerate() {
                text class=[row.more.then_some("d")] x=(x + SAMPLE) y=(y + base_line(at)) { (row.text) }
            }
        }
        // The panel and the table have the same links within reach of the tab key.
        @for (at, row) in wire.block.rows.iter().enumerate() {
            @if let Some(line) = row.line {
                a class="jump" href={ "#" (links.anchor()) (line) } aria-label={ "line " (line) } {
                    title { "line " (line) }
                    rect class="reach" x=(x + SAMPLE + wire.words) y=(y + base_line(at) - 11) width=(line_width(line))
                        height=(label::LINE) {}
                    text x=(x + SAMPLE + wire.words + 10) y=(y + base_line(at)) { "L" (line) }
                }
            }
        }
    }
}

/// Without stops of the tab key: a panel goes when its bundle loses the focus, and the table of edges has the same links.
fn unstopped(panel: Markup) -> Markup {
    PreEscaped(panel.0.replace("<a ", "<a tabindex=\"-1\" "))
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
