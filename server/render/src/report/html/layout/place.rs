//! Positions within rows: as close as the order allows to where the lines are straight.

use super::geometry::{BESIDE, Connection, GAP, PORTS};
use super::order::{Node, Rows};

/// How often rows are placed by their neighbours.
const ROUNDS: usize = 40;
/// A line's wish counts so many times as much as a box's.
const LINE: f64 = 4.0;

/// Where the lines of each node are, or the middle of its box: by row, then by place in it.
pub(super) fn place(rows: &Rows, widths: &[i32], connections: &[Connection]) -> Vec<Vec<i32>> {
    let apart: Vec<Vec<f64>> = (0..rows.rows.len()).map(|row| distances(rows, row, widths, connections)).collect();
    let mut xs: Vec<Vec<f64>> =
        rows.rows.iter().zip(&apart).map(|(nodes, apart)| separate(&vec![(0.0, 1.0); nodes.len()], apart)).collect();
    let count = rows.rows.len();
    for round in 0..ROUNDS {
        for step in 0..count {
            let row = if round % 2 == 0 { step } else { count - 1 - step };
            let wishes: Vec<(f64, f64)> =
                (0..rows.rows[row].len()).map(|at| wish(rows, &xs, (row, at), widths, connections)).collect();
            xs[row] = separate(&wishes, &apart[row]);
        }
    }
    for _ in 0..2 {
        for at in 0..connections.len() {
            straighten(rows, &mut xs, &apart, at);
        }
    }
    xs.into_iter().map(|row| row.into_iter().map(|x| x.round() as i32).collect()).collect()
}

/// How far each node is from the one before it, at least.
fn distances(rows: &Rows, row: usize, widths: &[i32], connections: &[Connection]) -> Vec<f64> {
    let reaches: Vec<(i32, i32)> =
        rows.rows[row].iter().map(|&node| reach(node, rows, row, widths, connections)).collect();
    reaches.windows(2).map(|pair| f64::from(pair[0].1 + GAP + pair[1].0)).collect()
}

/// Where a node stands.
fn at(rows: &Rows, xs: &[Vec<f64>], row: usize, node: Node) -> f64 {
    let position = rows.rows[row].iter().position(|it| *it == node);
    position.and_then(|position| xs[row].get(position)).copied().unwrap_or_default()
}

/// Where a node's lines would be straight, and how much that counts.
fn wish(
    rows: &Rows,
    xs: &[Vec<f64>],
    (row, position): (usize, usize),
    widths: &[i32],
    connections: &[Connection],
) -> (f64, f64) {
    let node = rows.rows[row][position];
    let own = xs[row][position];
    let (mut sum, mut weight) = (0.0, 0.0);
    for other in [row.checked_sub(1), Some(row + 1).filter(|&below| below < rows.rows.len())].into_iter().flatten() {
        for it in rows.between(row.min(other)).filter(|&it| rows.node(it, row) == node) {
            let x = at(rows, xs, other, rows.node(it, other));
            let lines = connections[it].lines as f64;
            let aim = match rows.node(it, other) {
                // Lines may leave a box anywhere.
                Node::Box(member) => {
                    let room = f64::from(widths[member] / 2 - PORTS - connections[it].half()).max(0.0);
                    own.clamp(x - room, x + room)
                }
                Node::Line(_) => x,
            };
            sum += aim * lines;
            weight += lines;
        }
    }
    match node {
        _ if weight == 0.0 => (own, 0.1),
        Node::Box(_) => (sum / weight, 1.0),
        Node::Line(_) => (sum / weight, LINE),
    }
}

/// The places closest to the wishes, by their weights, that are so far apart: neighbours that are too close
/// are moved as one.
pub(super) fn separate(wishes: &[(f64, f64)], apart: &[f64]) -> Vec<f64> {
    let mut shift = 0.0;
    // Per group that moves as one: sum of weighted wishes, sum of weights, members.
    let mut groups: Vec<(f64, f64, usize)> = Vec::new();
    for (at, &(wish, weight)) in wishes.iter().enumerate() {
        shift += if at == 0 { 0.0 } else { apart[at - 1] };
        groups.push(((wish - shift) * weight, weight, 1));
        while let [.., before, last] = groups[..]
            && before.0 / before.1 > last.0 / last.1
        {
            groups.truncate(groups.len() - 2);
            groups.push((before.0 + last.0, before.1 + last.1, before.2 + last.2));
        }
    }
    let mut places = Vec::new();
    let mut shift = 0.0;
    for (sum, weight, members) in groups {
        for _ in 0..members {
            let at = places.len();
            shift += if at == 0 { 0.0 } else { apart[at - 1] };
            places.push(sum / weight + shift);
        }
    }
    places
}

/// Puts all of a connection on one vertical, where there is one that is free in all rows.
fn straighten(rows: &Rows, xs: &mut [Vec<f64>], apart: &[Vec<f64>], connection: usize) {
    let (from, to) = (rows.row_of(rows.upper(connection)), rows.row_of(rows.lower(connection)));
    let own: Vec<(usize, usize)> = (from + 1..to)
        .filter_map(|row| Some((row, rows.rows[row].iter().position(|node| *node == Node::Line(connection))?)))
        .collect();
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(row, position) in &own {
        if position > 0 {
            least = least.max(xs[row][position - 1] + apart[row][position - 1]);
        }
        if position + 1 < xs[row].len() {
            most = most.min(xs[row][position + 1] - apart[row][position]);
        }
    }
    if own.is_empty() || least > most {
        return;
    }
    let middle = own.iter().map(|&(row, position)| xs[row][position]).sum::<f64>() / own.len() as f64;
    let x = middle.clamp(least, most);
    for (row, position) in own {
        xs[row][position] = x;
    }
}

/// How far a node reaches to the left and to the right of where its lines are.
fn reach(node: Node, rows: &Rows, row: usize, widths: &[i32], connections: &[Connection]) -> (i32, i32) {
    match node {
        Node::Box(member) => {
            let loops = connections.iter().filter(|it| it.is_loop() && it.ends.0 == member);
            let beside = loops.map(|it| 2 * it.half() + 2 * BESIDE + PORTS + it.label.0).max().unwrap_or(0);
            (widths[member] / 2, widths[member] / 2 + beside)
        }
        Node::Line(at) => {
            let it = &connections[at];
            let label = if rows.label_row[at] == row { BESIDE + it.label.0 } else { 0 };
            (it.half(), it.half() + label)
        }
    }
}
