//! Edges of one kind between the same two partitions are drawn as one.

use std::collections::BTreeMap;

use report::{CoverageOrder, Direction, Mechanism, Report};

/// What a line of the graph means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum EdgeClass {
    /// Nothing orders an overwrite after a use.
    Missing,
    /// Data goes on.
    Forward,
    /// Room is given back.
    Backward,
    /// Neither.
    Control,
}

impl EdgeClass {
    /// Its name, also in the style view.
    pub(super) fn name(self) -> &'static str {
        match self {
            EdgeClass::Missing => "missing",
            EdgeClass::Forward => "forward",
            EdgeClass::Backward => "backward",
            EdgeClass::Control => "control",
        }
    }

    /// Its sign in texts.
    pub(super) fn sign(self) -> &'static str {
        match self {
            EdgeClass::Missing => "✗",
            EdgeClass::Forward => "→",
            EdgeClass::Backward => "↩",
            EdgeClass::Control => "·",
        }
    }
}

/// Edges of one class between two partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    /// Who arrives, or for a missing edge who should.
    pub from: usize,
    /// Who waits.
    pub to: usize,
    /// What they mean.
    pub class: EdgeClass,
    /// Indices of edges.
    pub edges: Vec<usize>,
    /// Of a missing edge: indices of coverage entries and rows.
    pub rows: Vec<(usize, usize)>,
}

impl Bundle {
    /// How much it weighs when the graph is laid out.
    pub(super) fn weight(&self) -> u32 {
        u32::try_from(self.edges.len()).unwrap_or(u32::MAX)
    }
}

/// All bundles, those that are missing first, then by partitions.
pub(super) fn bundles(report: &Report) -> Vec<Bundle> {
    let mut found: BTreeMap<(EdgeClass, usize, usize), Bundle> = BTreeMap::new();
    let mut bundle = |class: EdgeClass, from: usize, to: usize, edge: Option<usize>, row: Option<(usize, usize)>| {
        let new = || Bundle { from, to, class, edges: Vec::new(), rows: Vec::new() };
        let bundle = found.entry((class, from, to)).or_insert_with(new);
        bundle.edges.extend(edge);
        bundle.rows.extend(row);
    };
    for (at, block) in report.coverage.iter().enumerate() {
        for (row, it) in block.rows.iter().enumerate() {
            if matches!(it.order, CoverageOrder::Missing { .. }) {
                bundle(EdgeClass::Missing, it.partition, block.writer.partition, None, Some((at, row)));
            }
        }
    }
    for (at, edge) in report.edges.iter().enumerate() {
        let class = match edge.direction {
            Direction::Forward => EdgeClass::Forward,
            Direction::Backward => EdgeClass::Backward,
            Direction::Control => EdgeClass::Control,
        };
        bundle(class, edge.from, edge.to, Some(at), None);
    }
    found.into_values().collect()
}

/// Whether a bundle is drawn: every partition starts and ends, so a line for that says nothing.
pub(super) fn drawn(bundle: &Bundle, report: &Report) -> bool {
    let count = report.partitions.len();
    let starts = |at: &usize| report.edges.get(*at).is_some_and(|edge| edge.mechanism == Mechanism::Join);
    let bare = bundle.class == EdgeClass::Control && bundle.edges.iter().all(starts);
    bundle.from < count && bundle.to < count && !bare
}
