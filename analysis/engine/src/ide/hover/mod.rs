//! What stands at a place: for a barrier who does what with it, for a buffer who touches it, for an op what it does, for
//! a type or layout what it means.

mod memory;
mod op;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use types::{layout_of_spec, value_type};

use base::TextRange;
use report::{Direction, Report};
use ttgir::queries::expr::{carried, expression, known_name, name};
use ttgir::queries::memory::is_memory;
use ttgir::queries::spot::{Spot, function};
use ttgir::{Def, Document, OpId, Tree, ValueId};

/// A hover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    /// The word it is about.
    pub range: TextRange,
    /// What it is, one line.
    pub title: String,
    /// Its definition, as it is written.
    pub code: String,
    /// Sentences about it; code in them stands between backticks.
    pub words: Vec<String>,
    /// Lines of equal-width text.
    pub picture: String,
    /// Text of the user's, as it is written: a docstring.
    pub quote: String,
    /// What the rows are about, where that is not what the title says: one line.
    pub subject: String,
    /// Who does what with it, in the order of the text.
    pub rows: Vec<Row>,
    /// How many rows were left out.
    pub more: usize,
    /// What each wait sees, time after time.
    pub cadence: Vec<CadenceRow>,
    /// What the loops do with the values that the rows name: `%phase`, `0, then %phase ^ 1`.
    pub carried: Vec<(String, String)>,
    /// Where the kernel is named that it is in.
    pub kernel: Option<TextRange>,
}

/// What one operation does with a barrier or buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The operation's name in the document.
    pub range: TextRange,
    /// `default`, `partition0`, …
    pub partition: String,
    /// One word.
    pub verb: String,
    /// The slot, as the expression that computes it: `[%i % 2]`; empty for the whole.
    pub slot: String,
    /// Counts, phases, predicates.
    pub detail: String,
    /// Which way it orders, where that is known: `forward to default`.
    pub edge: String,
}

/// What a wait sees, the first times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CadenceRow {
    /// The wait's name in the document.
    pub range: TextRange,
    /// `default`, `partition0`, …
    pub partition: String,
    /// The slots that it waits on; empty where there is one.
    pub slots: Vec<i64>,
    /// The parities that it waits for.
    pub phases: Vec<i64>,
    /// Which flip of its slot it sees, from 1; 0 where it goes on at once.
    pub flips: Vec<u64>,
    /// Whether some of them sees no new flip.
    pub repeats: bool,
}

/// The hover of the value, op, type or layout at `offset`.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    let spot = Spot::at(document, offset)?;
    let tree = spot.tree();
    let mut hover = match tree.value_at(spot.offset) {
        Some((value, range)) => of_value(spot, value, spot.lift(range)),
        None => op::hover(spot).or_else(|| types::hover(spot))?,
    };
    hover.kernel = tree.op_at(spot.offset).and_then(|op| kernel_name(spot, op));
    Some(hover)
}

/// The hover of a value that an operation has to do with, at the operation.
pub(crate) fn hover_of(document: &Document, op: OpId, value: ValueId) -> Option<Hover> {
    let spot = Spot::at(document, 0)?;
    Some(of_value(spot, value, spot.tree().op_name_range(op)))
}

fn of_value(spot: Spot<'_>, value: ValueId, range: TextRange) -> Hover {
    let memory = is_memory(spot.tree(), value).then(|| memory::hover(spot, value, range)).flatten();
    memory.unwrap_or_else(|| plain(spot, value, range))
}

fn plain(spot: Spot<'_>, value: ValueId, range: TextRange) -> Hover {
    let tree = spot.tree();
    let ty = tree.value_type(value).map_or("unknown type", |ty| tree.type_text(ty));
    let mut title = format!("{}: {ty}", titled(tree, value));
    let computed = expression(tree, value);
    if computed != known_name(tree, value) {
        title = format!("{title} = {computed}");
    }
    let described = tree.value_type(value).map(|ty| types::value_type(tree, ty)).unwrap_or_default();
    Hover {
        range,
        title,
        code: definition_line(tree, value),
        words: described.words,
        picture: described.picture,
        carried: carried(tree, value),
        ..Hover::default()
    }
}

/// A value's name, and the one that its location gives: `%47 (accum_cnt)`.
fn titled(tree: &Tree, value: ValueId) -> String {
    let (own, known) = (name(tree, value), known_name(tree, value));
    if own == known { own } else { format!("{own} ({known})") }
}

/// Where the kernel around an op is named.
fn kernel_name(spot: Spot<'_>, op: OpId) -> Option<TextRange> {
    let tree = spot.tree();
    let attr = tree.attr(function(tree, op)?, "sym_name")?;
    Some(spot.lift(tree.attr_range(attr)))
}

/// The operation that a value's definition belongs to.
pub(super) fn defining_op(tree: &Tree, value: ValueId) -> Option<OpId> {
    match tree.value_def(value) {
        Def::Result(op, _) => Some(op),
        Def::BlockArg(block, _) => tree.parent_op(tree.parent_region(block)),
        Def::Undefined => None,
    }
}

/// The definition without its location and regions.
fn definition_line(tree: &Tree, value: ValueId) -> String {
    let range = match tree.value_def(value) {
        Def::Result(op, _) => tree.op_header_range(op),
        Def::BlockArg(..) | Def::Undefined => return String::new(),
    };
    let text = range.of(tree.text());
    let text = text.split(" loc(").next().unwrap_or(text);
    let first = text.lines().next().unwrap_or("").trim();
    first.to_owned()
}

/// Adds to the rows of a barrier which way they order, as the kernel's barrier report has it.
pub fn add_edges(hover: &mut Hover, report: &Report) {
    let Some(barrier) = barrier_of(hover, report) else { return };
    let label = |at: usize| report.partitions.get(at).map_or("", |row| row.label.as_str());
    for row in &mut hover.rows {
        let mut said: Vec<String> = Vec::new();
        for edge in report.edges.iter().filter(|edge| edge.barrier == Some(barrier)) {
            let what = match edge.direction {
                Direction::Forward => "forward (data ready)",
                Direction::Backward => "backward (slot free)",
                Direction::Control => "control",
            };
            let to = edge.arrivals.contains(&row.range).then(|| format!("{what} to {}", label(edge.to)));
            let from = edge.waits.contains(&row.range).then(|| format!("{what} from {}", label(edge.from)));
            for one in to.into_iter().chain(from).filter(|_| matches!(row.verb.as_str(), "wait" | "arrive" | "expect"))
            {
                if !said.contains(&one) {
                    said.push(one);
                }
            }
        }
        row.edge = said.join(", ");
    }
}

/// The barrier of a report that the rows are about: the one whose uses they are; of several, the one that is named.
fn barrier_of(hover: &Hover, report: &Report) -> Option<usize> {
    let uses = |at: &usize| {
        let barrier = report.barriers.get(*at);
        barrier
            .is_some_and(|barrier| hover.rows.iter().all(|row| barrier.uses.iter().any(|used| used.range == row.range)))
    };
    let named = |at: &usize| {
        let name = report.barriers.get(*at).map_or("", |barrier| barrier.name.as_str());
        let title = if hover.subject.is_empty() { &hover.title } else { &hover.subject };
        !name.is_empty() && title.split([' ', ':', '[', '(', ')']).any(|word| word == name)
    };
    let all: Vec<usize> = (0..report.barriers.len()).filter(uses).collect();
    match all.as_slice() {
        [one] => Some(*one),
        several => several.iter().copied().find(named),
    }
}
