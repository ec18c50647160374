//! The order within rows: by barycentres and by exchanging neighbours, from several starts, until nothing
//! crosses or no start is left.

use base::rng::SplitMix64;

use super::geometry::Connection;

/// Orders that the search starts from.
const STARTS: usize = 24;
/// Sweeps from one start at most.
const SWEEPS: usize = 8;

/// What has a place in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Node {
    /// A box, by its index.
    Box(usize),
    /// A connection that passes, by its index.
    Line(usize),
}

impl Node {
    /// The box that it is.
    pub(super) fn boxed(self) -> Option<usize> {
        match self {
            Node::Box(member) => Some(member),
            Node::Line(_) => None,
        }
    }
}

/// What lies in each row: boxes in those of even number, labels in the others, and the lines that pass.
pub(super) struct Rows {
    /// From the top, each from left to right.
    pub(super) rows: Vec<Vec<Node>>,
    /// The row of each connection's label.
    pub(super) label_row: Vec<usize>,
    /// The upper and the lower box of each connection.
    ends: Vec<(usize, usize)>,
    /// The row of each box.
    row: Vec<usize>,
}

impl Rows {
    /// Rows of few crossings.
    pub(super) fn new(layers: &[Vec<usize>], connections: &[Connection]) -> Rows {
        let count = layers.iter().map(Vec::len).sum();
        let mut row = vec![0; count];
        for (at, members) in layers.iter().enumerate() {
            for &member in members {
                row[member] = 2 * at;
            }
        }
        let upwards = |it: &Connection| row[it.ends.0] > row[it.ends.1];
        let ends: Vec<(usize, usize)> =
            connections.iter().map(|it| if upwards(it) { (it.ends.1, it.ends.0) } else { it.ends }).collect();
        let mut rows: Vec<Vec<Node>> = vec![Vec::new(); (2 * layers.len()).saturating_sub(1)];
        for (at, members) in layers.iter().enumerate() {
            rows[2 * at].extend(members.iter().map(|&member| Node::Box(member)));
        }
        for (at, &(upper, lower)) in ends.iter().enumerate() {
            for nodes in rows.iter_mut().take(row[lower]).skip(row[upper] + 1) {
                nodes.push(Node::Line(at));
            }
        }
        let label_row = label_rows(&rows, &row, &ends, connections);
        let mut made = Rows { rows, label_row, ends, row };
        made.uncross(connections);
        made
    }

    /// The upper box of a connection.
    pub(super) fn upper(&self, connection: usize) -> usize {
        self.ends[connection].0
    }

    /// The lower box of a connection.
    pub(super) fn lower(&self, connection: usize) -> usize {
        self.ends[connection].1
    }

    /// The row of a box.
    pub(super) fn row_of(&self, member: usize) -> usize {
        self.row[member]
    }

    /// What of a connection lies in the row, which it reaches.
    pub(super) fn node(&self, connection: usize, row: usize) -> Node {
        let (upper, lower) = self.ends[connection];
        match row {
            row if row == self.row[upper] => Node::Box(upper),
            row if row == self.row[lower] => Node::Box(lower),
            _ => Node::Line(connection),
        }
    }

    /// The connections between a row and the next one.
    pub(super) fn between(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let passes = move |at: &usize| {
            let (upper, lower) = self.ends[*at];
            self.row[upper] <= row && row < self.row[lower]
        };
        (0..self.ends.len()).filter(passes)
    }

    /// Where a node stands in its row.
    fn position(&self, row: usize, node: Node) -> usize {
        self.rows[row].iter().position(|it| *it == node).unwrap_or(0)
    }

    /// How many lines cross between a row and the next one.
    pub(super) fn crossings(&self, row: usize, connections: &[Connection]) -> usize {
        let ends: Vec<(usize, usize, usize)> = self
            .between(row)
            .map(|at| {
                let place = |row| self.position(row, self.node(at, row));
                (place(row), place(row + 1), connections[at].lines)
            })
            .collect();
        let mut crossings = 0;
        for (at, one) in ends.iter().enumerate() {
            for other in &ends[..at] {
                if (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1) {
                    crossings += one.2 * other.2;
                }
            }
        }
        crossings
    }

    /// How many lines cross above and below a row.
    fn around(&self, row: usize, connections: &[Connection]) -> usize {
        let above = row.checked_sub(1).map_or(0, |above| self.crossings(above, connections));
        above + if row + 1 < self.rows.len() { self.crossings(row, connections) } else { 0 }
    }

    fn all_crossings(&self, connections: &[Connection]) -> usize {
        (1..self.rows.len()).map(|row| self.crossings(row - 1, connections)).sum()
    }

    fn uncross(&mut self, connections: &[Connection]) {
        let first = self.rows.clone();
        let mut best = (usize::MAX, first.clone());
        let mut random = SplitMix64::new(1);
        for start in 0..STARTS {
            self.rows.clone_from(&first);
            if start > 0 {
                for nodes in &mut self.rows {
                    for at in (1..nodes.len()).rev() {
                        nodes.swap(at, random.below(at + 1));
                    }
                }
            }
            for sweep in 0..SWEEPS {
                self.sweep(sweep % 2 == 0);
                self.exchange(connections);
                let crossings = self.all_crossings(connections);
                if crossings < best.0 {
                    best = (crossings, self.rows.clone());
                }
                if best.0 == 0 {
                    break;
                }
            }
            if best.0 == 0 {
                break;
            }
        }
        self.rows = best.1;
    }

    /// Puts each node between those that it is connected with in the row before.
    fn sweep(&mut self, down: bool) {
        let count = self.rows.len();
        for step in 1..count {
            let row = if down { step } else { count - 1 - step };
            let from = if down { row - 1 } else { row + 1 };
            let mut wishes: Vec<(usize, usize, Node)> = Vec::new();
            for (at, &node) in self.rows[row].iter().enumerate() {
                let met: Vec<usize> = self
                    .between(row.min(from))
                    .filter(|&it| self.node(it, row) == node)
                    .map(|it| self.position(from, self.node(it, from)))
                    .collect();
                // A node that nothing holds stays where it is.
                let sum = if met.is_empty() { at * 1000 } else { met.iter().sum::<usize>() * 1000 / met.len() };
                wishes.push((sum, at, node));
            }
            wishes.sort_by_key(|it| (it.0, it.1));
            self.rows[row] = wishes.into_iter().map(|it| it.2).collect();
        }
    }

    /// Exchanges neighbours while that makes fewer lines cross.
    fn exchange(&mut self, connections: &[Connection]) {
        let mut changed = true;
        while changed {
            changed = false;
            for row in 0..self.rows.len() {
                for at in 1..self.rows[row].len() {
                    let before = self.around(row, connections);
                    if before == 0 {
                        break;
                    }
                    self.rows[row].swap(at - 1, at);
                    if self.around(row, connections) < before {
                        changed = true;
                    } else {
                        self.rows[row].swap(at - 1, at);
                    }
                }
            }
        }
    }
}

/// Rows for the labels: the shortest connections first, each where the least of others is.
fn label_rows(rows: &[Vec<Node>], row: &[usize], ends: &[(usize, usize)], connections: &[Connection]) -> Vec<usize> {
    let mut used = vec![0; rows.len()];
    let mut label_row = vec![0; connections.len()];
    let mut sorted: Vec<usize> = (0..connections.len()).collect();
    sorted.sort_by_key(|&at| row[ends[at].1] - row[ends[at].0]);
    for at in sorted {
        let (from, to) = (row[ends[at].0], row[ends[at].1]);
        let odd = (from + 1..to).filter(|row| row % 2 == 1);
        let Some(best) = odd.min_by_key(|&row| (used[row], row.abs_diff(usize::midpoint(from, to)))) else {
            label_row[at] = from;
            continue;
        };
        used[best] += connections[at].label.0;
        label_row[at] = best;
    }
    label_row
}
