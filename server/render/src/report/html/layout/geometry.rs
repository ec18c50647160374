//! The boxes and connections of a drawing, before and after they have a place.

/// Least width of a box.
pub(crate) const BOX_WIDTH: i32 = 244;
/// Between parallel lines.
pub(crate) const APART: i32 = 11;
/// From the outermost line of a connection to its label.
pub(super) const BESIDE: i32 = 9;
/// Between the connections at a side of a box.
pub(super) const PORTS: i32 = 16;
/// Between two places of a row.
pub(super) const GAP: i32 = 26;
/// Between a row and the first turn of a line.
pub(super) const MARGIN: i32 = 19;

/// All that connects two boxes, before it has a place.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Indices of two boxes; the same twice for what leads back to its box.
    pub(crate) ends: (usize, usize),
    /// How many lines run side by side, at least one.
    pub(crate) lines: usize,
    /// Width and height of the label.
    pub(crate) label: (i32, i32),
    /// How much the second box should stand below the first.
    pub(crate) down: u32,
    /// How much it should stand above.
    pub(crate) up: u32,
}

impl Connection {
    /// Half the width of its lines.
    pub(super) fn half(&self) -> i32 {
        (self.lines as i32 - 1) * APART / 2
    }

    pub(super) fn is_loop(&self) -> bool {
        self.ends.0 == self.ends.1
    }
}

/// A connection's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// Whether its second box stands above the first.
    pub(crate) turned: bool,
    /// Corners of each line, from left to right, each from the upper box to the lower one.
    pub(crate) lines: Vec<Vec<(i32, i32)>>,
    /// Left and top of its label.
    pub(crate) label: (i32, i32),
}

/// Where a box is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its left end.
    pub(crate) x: i32,
    /// Its top.
    pub(crate) y: i32,
    /// Its width.
    pub(crate) width: i32,
    /// Its height.
    pub(crate) height: i32,
}

/// A drawing's geometry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Width of all.
    pub(crate) width: i32,
    /// Height of all.
    pub(crate) height: i32,
    /// The place of each box.
    pub(crate) boxes: Vec<Place>,
    /// The route of each connection.
    pub(crate) routes: Vec<Route>,
    /// Boxes from the top, and from left to right: the order in which one reads them.
    pub(crate) order: Vec<usize>,
}
