//! Where the dependency graph's boxes, lines and labels go: rows from top to bottom, lines at right angles.
//!
//! All that connects two boxes is one *connection*: parallel lines with one label beside them. Boxes lie in
//! layers, those of a connection always in different ones ([`rank`]), and rows for labels lie between
//! layers. A connection has a place in each row that it passes, wide enough for its lines, and in one of
//! them for its label too, so a label meets nothing. The order within rows is chosen so that few lines
//! cross ([`order`]), positions so that they run straight ([`place`]), and tracks between rows so that what
//! is in order there does not cross either ([`route`]).

mod geometry;
mod order;
mod place;
mod rank;
mod route;
#[cfg(test)]
mod tests;

use geometry::PORTS;
pub(super) use geometry::{BOX_WIDTH, Connection, Layout};
use order::Rows;

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
