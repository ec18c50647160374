//! Where the dependency graph's boxes, lines and labels go: rows from top to bottom, lines at right angles.
//!
//! All that connects two boxes is one *connection*: parallel lines with one label beside them. Boxes lie in
//! layers, those of a connection always in different ones ([`rank`]), and rows for labels lie between
//! layers. A connection has a place in each row that it passes, wide enough for its lines, and in one of
//! them for its label too, so a label meets nothing. The order within rows is chosen so that few lines
//! cross ([`order`]), positions so that they run straight ([`place`]), and tracks between rows so that what
//! is in order there does not cross either ([`route`]).

mod order;
mod place;
mod rank;
mod route;
#[cfg(test)]
mod tests;

use order::{Node, Rows};

/// Least width of a box.
pub(super) const BOX_WIDTH: i32 = 244;
/// Between parallel lines.
pub(super) const APART: i32 = 11;
/// From the outermost line of a connection to its label.
const BESIDE: i32 = 9;
/// Between the connections at a side of a box.
const PORTS: i32 = 16;
/// Between two places of a row.
const GAP: i32 = 26;
/// Between a row and the first turn of a line.
const MARGIN: i32 = 19;

/// All that connects two boxes, before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Indices of two boxes; the same twice for what leads back to its box.
    pub(super) ends: (usize, usize),
    /// How many lines run side by side, at least one.
    pub(super) lines: usize,
    /// Width and height of the label.
    pub(super) label: (i32, i32),
    /// How much the second box should stand below the first.
    pub(super) down: u32,
    /// How much it should stand above.
    pub(super) up: u32,
}

impl Connection {
    /// Half the width of its lines.
    fn half(&self) -> i32 {
        (self.lines as i32 - 1) * APART / 2
    }

    fn is_loop(&self) -> bool {
        self.ends.0 == self.ends.1
    }
}

/// A connection's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    /// Whether its second box stands above the first.
    pub(super) turned: bool,
    /// Corners of each line, from left to right, each from the upper box to the lower one.
    pub(super) lines: Vec<Vec<(i32, i32)>>,
    /// Left and top of its label.
    pub(super) label: (i32, i32),
}

/// Where a box is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Its left end.
    pub(super) x: i32,
    /// Its top.
    pub(super) y: i32,
    /// Its width.
    pub(super) width: i32,
    /// Its height.
    pub(super) height: i32,
}

/// A drawing's geometry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Width of all.
    pub(super) width: i32,
    /// Height of all.
    pub(super) height: i32,
    /// The place of each box.
    pub(super) boxes: Vec<Place>,
    /// The route of each connection.
    pub(super) routes: Vec<Route>,
    /// Boxes from the top, and from left to right: the order in which one reads them.
    pub(super) order: Vec<usize>,
}

/// Lays out boxes of these heights.
pub(super) fn layout(heights: &[i32], connections: &[Connection]) -> Layout {
    let count = heights.len();
    let layers = rank::layers(count, connections);
    let rows = Rows::new(&layers, connections);
    let widths = box_widths(count, &rows, connections);
    let xs = place::place(&rows, &widths, connections);
    let mut layout = route::route(&rows, &widths, heights, &xs, connections);
    layout.order = rows.rows.iter().flatten().filter_map(|node| node.boxed()).collect();
    fit(layout, connections)
}

/// Wide enough for the lines at their tops and at their bottoms.
fn box_widths(count: usize, rows: &Rows, connections: &[Connection]) -> Vec<i32> {
    let side = |member: usize, below: bool| -> i32 {
        let own = connections.iter().enumerate().filter(|(at, it)| {
            !it.is_loop() && if below { rows.upper(*at) == member } else { rows.lower(*at) == member }
        });
        own.map(|(_, it)| 2 * it.half() + PORTS).sum::<i32>() + PORTS
    };
    (0..count).map(|member| BOX_WIDTH.max(side(member, false)).max(side(member, true))).collect()
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

/// Moves all so that the leftmost is at the margin.
fn fit(mut layout: Layout, connections: &[Connection]) -> Layout {
    let (mut left, mut right) = (i32::MAX, i32::MIN);
    let mut cover = |from: i32, to: i32| {
        left = left.min(from);
        right = right.max(to);
    };
    for at in &layout.boxes {
        cover(at.x, at.x + at.width);
    }
    for (route, it) in layout.routes.iter().zip(connections) {
        cover(route.label.0, route.label.0 + it.label.0);
        for &(x, _) in route.lines.iter().flatten() {
            cover(x - 6, x + 6);
        }
    }
    if left > right {
        return layout;
    }
    let by = 4 - left;
    layout.width = right + by + 4;
    for at in &mut layout.boxes {
        at.x += by;
    }
    for route in &mut layout.routes {
        route.label.0 += by;
        for point in route.lines.iter_mut().flatten() {
            point.0 += by;
        }
    }
    layout
}
