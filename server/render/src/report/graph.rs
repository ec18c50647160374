//! The dependency graph as a drawing in letters: partitions below each other, arrows between them
//! downwards where data is handed on and upwards where room is given back.

use report::{Direction, Edge, Mechanism};

use super::view::ReportView;
use crate::wrap::wrap;

/// The edges of one direction; empty where there are none.
pub(super) fn draw(view: &ReportView<'_>, direction: Direction, width: usize) -> String {
    let mut out: Vec<String> = Vec::new();
    for chain in chains(&pairs(view, direction)) {
        if !out.is_empty() {
            out.push(String::new());
        }
        match direction {
            Direction::Backward => upwards(view, &chain, width, &mut out),
            Direction::Forward | Direction::Control => downwards(view, &chain, width, &mut out),
        }
    }
    out.join("\n")
}

/// Starts and ends of partitions, which nothing in the text makes.
pub(super) fn joins(view: &ReportView<'_>) -> Vec<String> {
    let joins = view.report.edges.iter().filter(|edge| edge.mechanism == Mechanism::Join);
    let mut out: Vec<String> = Vec::new();
    for edge in joins {
        let line = format!("{} -> {}", view.partition(edge.from), view.partition(edge.to));
        if !out.contains(&line) {
            out.push(line);
        }
    }
    out
}

/// Edges between the same two partitions.
struct Pair<'a> {
    from: usize,
    to: usize,
    edges: Vec<&'a Edge>,
}

fn pairs<'a>(view: &'a ReportView<'_>, direction: Direction) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let own = |edge: &&Edge| edge.direction == direction && edge.mechanism != Mechanism::Join;
    for edge in view.report.edges.iter().filter(own) {
        match pairs.iter_mut().find(|pair| (pair.from, pair.to) == (edge.from, edge.to)) {
            Some(pair) => pair.edges.push(edge),
            None => pairs.push(Pair { from: edge.from, to: edge.to, edges: vec![edge] }),
        }
    }
    pairs
}

/// Pairs in chains, each starting where the last one ends, from a partition that nobody leads to if
/// there is one.
fn chains<'p, 'a>(pairs: &'p [Pair<'a>]) -> Vec<Vec<&'p Pair<'a>>> {
    let mut left: Vec<&Pair<'a>> = pairs.iter().collect();
    let mut chains = Vec::new();
    while !left.is_empty() {
        let fed = |pair: &Pair<'_>| left.iter().any(|other| other.to == pair.from && other.from != other.to);
        let first = left.iter().position(|pair| !fed(pair)).unwrap_or(0);
        let mut chain = vec![left.remove(first)];
        while let Some(last) = chain.last().map(|pair| pair.to)
            && let Some(next) = left.iter().position(|pair| pair.from == last)
        {
            chain.push(left.remove(next));
        }
        chains.push(chain);
    }
    chains
}

fn downwards(view: &ReportView<'_>, chain: &[&Pair<'_>], width: usize, out: &mut Vec<String>) {
    let Some(first) = chain.first() else { return };
    out.push(view.partition_role(first.from));
    for pair in chain {
        for edge in &pair.edges {
            out.push("  |".to_owned());
            for line in label(view, edge, false, width) {
                out.push(format!("  |  {line}"));
            }
        }
        out.push("  v".to_owned());
        out.push(view.partition_role(pair.to));
    }
}

/// The one who may go on stands above the one who lets it.
fn upwards(view: &ReportView<'_>, chain: &[&Pair<'_>], width: usize, out: &mut Vec<String>) {
    for pair in chain.iter().rev() {
        if out.last().is_none_or(|last| *last != view.partition_role(pair.to)) {
            out.push(view.partition_role(pair.to));
        }
        out.push("  ^".to_owned());
        for (at, edge) in pair.edges.iter().enumerate() {
            if at > 0 {
                out.push("  |".to_owned());
            }
            for line in label(view, edge, true, width) {
                out.push(format!("  |  {line}"));
            }
        }
        out.push(view.partition_role(pair.from));
    }
}

fn label(view: &ReportView<'_>, edge: &Edge, up: bool, width: usize) -> Vec<String> {
    let data: Vec<String> = edge.data.iter().map(|&member| view.handed(member)).collect();
    let data = match edge.direction {
        _ if data.is_empty() => String::new(),
        Direction::Backward => format!(", frees {}", data.join(", ")),
        Direction::Forward => format!(", data {}", data.join(", ")),
        Direction::Control => format!(", orders {}", data.join(", ")),
    };
    let name = view.barrier(edge);
    let planned = if edge.planned { "planned, " } else { "" };
    let name = if name.is_empty() { name } else { format!("{name}, {planned}") };
    let mut lines = wrap(&format!("{name}{}{data}", edge.mechanism.name()), width.saturating_sub(5).max(30));
    let (arrives, waits) = (at(view, "arrives", &edge.arrivals), at(view, "waits", &edge.waits));
    let places = if up { [waits, arrives] } else { [arrives, waits] };
    let places: Vec<String> = places.into_iter().filter(|place| !place.is_empty()).collect();
    if !places.is_empty() {
        lines.push(format!("  {}", places.join(if up { " <- " } else { " -> " })));
    }
    lines
}

fn at(view: &ReportView<'_>, what: &str, ranges: &[base::TextRange]) -> String {
    let lines = view.lines(ranges.iter().copied());
    if lines.is_empty() {
        return String::new();
    }
    format!("{what} at {}", numbers(&lines))
}

/// `line 12`, `lines 12, 14`.
pub(super) fn numbers(lines: &[u32]) -> String {
    let words: Vec<String> = lines.iter().map(u32::to_string).collect();
    format!("line{} {}", if words.len() == 1 { "" } else { "s" }, words.join(", "))
}
