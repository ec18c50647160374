//! Ports, tracks and corners.
//!
//! Between two rows a line goes down, to the side in a track of its own, and down. Of lines that go to the
//! right, the left one turns below the right one; of those that go to the left, above: so lines that have
//! the same order in both rows do not cross.

use super::geometry::{APART, BESIDE, Connection, Layout, MARGIN, PORTS, Place, Route};
use super::order::{Node, Rows};
use super::place::separate;

/// One piece of a line between two rows.
struct Piece {
    connection: usize,
    line: usize,
    /// Where it is above and below.
    x: (i32, i32),
    track: i32,
}

/// Puts all in place.
pub(super) fn route(rows: &Rows, widths: &[i32], high: &[i32], xs: &[Vec<i32>], connections: &[Connection]) -> Layout {
    let heights: Vec<i32> = (0..rows.rows.len()).map(|row| height(rows, row, high, connections)).collect();
    let gaps: Vec<Vec<Piece>> =
        (1..rows.rows.len()).map(|row| pieces(rows, row - 1, widths, xs, connections)).collect();
    let mut tops = Vec::new();
    let mut top = 2;
    for (row, &height) in heights.iter().enumerate() {
        tops.push(top);
        let tracks = gaps.get(row).map(|pieces| pieces.iter().map(|piece| piece.track + 1).max().unwrap_or(0));
        top += height + tracks.map_or(2, |tracks| 2 * MARGIN + APART * (tracks - 1).max(0));
    }
    let mut boxes = vec![Place::default(); widths.len()];
    for (row, nodes) in rows.rows.iter().enumerate() {
        for (node, &x) in nodes.iter().zip(&xs[row]) {
            if let Node::Box(member) = *node {
                let (width, height) = (widths[member], high[member]);
                boxes[member] = Place { x: x - width / 2, y: tops[row] + (heights[row] - height) / 2, width, height };
            }
        }
    }
    let mut routes: Vec<Route> = Vec::new();
    for (at, it) in connections.iter().enumerate() {
        let (upper, row) = (rows.upper(at), rows.label_row[at]);
        let mut route = Route { turned: upper != it.ends.0, ..Route::default() };
        if it.is_loop() {
            around(it, boxes[upper], &mut route);
        } else {
            let (start, end) = (boxes[upper].y + boxes[upper].height, boxes[rows.lower(at)].y);
            route.lines = vec![Vec::new(); it.lines];
            let last = rows.row_of(rows.lower(at)).saturating_sub(1);
            for (gap, pieces) in gaps.iter().enumerate() {
                for piece in pieces.iter().filter(|piece| piece.connection == at) {
                    let y = tops[gap] + heights[gap] + MARGIN + APART * piece.track.max(0);
                    let line = &mut route.lines[piece.line];
                    if line.is_empty() {
                        line.push((piece.x.0, start));
                    }
                    if piece.x.0 != piece.x.1 {
                        line.extend([(piece.x.0, y), (piece.x.1, y)]);
                    }
                    if gap == last {
                        line.push((piece.x.1, end));
                    }
                }
            }
            let x = rows.rows[row].iter().zip(&xs[row]).find(|(node, _)| **node == Node::Line(at));
            let x = x.map_or(0, |(_, x)| *x) + it.half() + BESIDE;
            route.label = (x, tops[row] + (heights[row] - it.label.1) / 2);
        }
        routes.push(route);
    }
    Layout { width: 0, height: top, boxes, routes, order: Vec::new() }
}

/// Height of a row: that of its boxes and labels.
fn height(rows: &Rows, row: usize, high: &[i32], connections: &[Connection]) -> i32 {
    let node = |node: &Node| match *node {
        Node::Box(member) => {
            let loops = connections.iter().filter(|it| it.is_loop() && it.ends.0 == member);
            loops.map(|it| it.label.1).max().unwrap_or(0).max(high[member])
        }
        Node::Line(at) if rows.label_row[at] == row => connections[at].label.1,
        Node::Line(_) => 0,
    };
    rows.rows[row].iter().map(node).max().unwrap_or(0)
}

/// Lines that leave a box at its right side and come back there, one around the other.
fn around(it: &Connection, place: Place, route: &mut Route) {
    let (right, middle) = (place.x + place.width, place.y + place.height / 2);
    for line in 0..it.lines as i32 {
        let (x, by) = (right + PORTS + line * APART, 8 + line * 8);
        route.lines.push(vec![(right, middle - by), (x, middle - by), (x, middle + by), (right, middle + by)]);
    }
    route.label = (right + PORTS + 2 * it.half() + BESIDE, middle - it.label.1 / 2);
}

/// Where each connection leaves a box: as straight as the others there and the box's width allow.
fn ports(
    rows: &Rows,
    row: usize,
    below: bool,
    widths: &[i32],
    xs: &[Vec<i32>],
    connections: &[Connection],
) -> Vec<(usize, i32)> {
    let other = if below { row + 1 } else { row - 1 };
    let mut ports = Vec::new();
    for (node, &middle) in rows.rows[row].iter().zip(&xs[row]) {
        let Node::Box(member) = *node else { continue };
        let mut own: Vec<(i32, usize)> = rows
            .between(row.min(other))
            .filter(|&at| rows.node(at, row) == *node)
            .filter_map(|at| {
                let position = rows.rows[other].iter().position(|it| *it == rows.node(at, other))?;
                Some((xs[other][position], at))
            })
            .collect();
        own.sort_unstable();
        let half = |at: usize| connections[at].half();
        let apart: Vec<i32> = own.windows(2).map(|pair| half(pair[0].1) + PORTS + half(pair[1].1)).collect();
        let wishes: Vec<(f64, f64)> = own.iter().map(|it| (f64::from(it.0), 1.0)).collect();
        let apart_f: Vec<f64> = apart.iter().map(|&it| f64::from(it)).collect();
        let mut places: Vec<i32> = separate(&wishes, &apart_f).into_iter().map(|x| x.round() as i32).collect();
        let (left, right) = (middle - widths[member] / 2, middle + widths[member] / 2);
        let mut least = left + PORTS / 2;
        for (at, place) in places.iter_mut().enumerate() {
            least += half(own[at].1);
            *place = (*place).max(least);
            least = *place + half(own[at].1) + PORTS;
        }
        let mut most = right - PORTS / 2;
        for (at, place) in places.iter_mut().enumerate().rev() {
            most -= half(own[at].1);
            *place = (*place).min(most);
            most = *place - half(own[at].1) - PORTS;
        }
        ports.extend(own.iter().zip(places).map(|(it, place)| (it.1, place)));
    }
    ports
}

/// The pieces between a row and the next one, each with its track.
fn pieces(rows: &Rows, row: usize, widths: &[i32], xs: &[Vec<i32>], connections: &[Connection]) -> Vec<Piece> {
    let above = ports(rows, row, true, widths, xs, connections);
    let below = ports(rows, row + 1, false, widths, xs, connections);
    let place = |at: usize, row: usize, ports: &[(usize, i32)]| {
        let port = ports.iter().find(|it| it.0 == at).map(|it| it.1);
        let passes = || rows.rows[row].iter().zip(&xs[row]).find(|(node, _)| **node == Node::Line(at)).map(|it| *it.1);
        port.or_else(passes).unwrap_or(0)
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for at in rows.between(row) {
        let (from, to) = (place(at, row, &above), place(at, row + 1, &below));
        for line in 0..connections[at].lines {
            let by = line as i32 * APART - connections[at].half();
            pieces.push(Piece { connection: at, line, x: (from + by, to + by), track: -1 });
        }
    }
    tracks(&mut pieces);
    pieces
}

/// Gives each piece that goes to the side the highest track in which it meets none.
fn tracks(pieces: &mut [Piece]) {
    let mut right: Vec<usize> = (0..pieces.len()).filter(|&at| pieces[at].x.1 > pieces[at].x.0).collect();
    right.sort_by_key(|&at| (-pieces[at].x.0, -pieces[at].x.1));
    let mut left: Vec<usize> = (0..pieces.len()).filter(|&at| pieces[at].x.1 < pieces[at].x.0).collect();
    left.sort_by_key(|&at| (pieces[at].x.0, pieces[at].x.1));
    let mut placed: Vec<(i32, i32, i32)> = Vec::new();
    for at in right.into_iter().chain(left) {
        let (a, b) = pieces[at].x;
        let (low, high) = (a.min(b) - 3, a.max(b) + 3);
        let met = placed.iter().filter(|it| it.0 <= high && low <= it.1);
        let track = met.map(|it| it.2 + 1).max().unwrap_or(0);
        placed.push((low, high, track));
        pieces[at].track = track;
    }
}
