//! What stands at a place: for a barrier who does what with it, for a buffer who touches it, for an op what it does, for
//! a type or layout what it means.

mod content;
mod definition;
mod memory;
mod op;
#[cfg(test)]
mod tests;
mod types;

pub use content::{CadenceRow, Hover, OperationRow};
pub(crate) use definition::defining_op;
pub(crate) use memory::ALSO_KNOWN;
pub(crate) use types::{layout_of_spec, value_type};

use base::TextRange;
use definition::{definition_line, titled};
use report::{Direction, Report};
use ttgir::queries::expr::{carried, expression, known_name};
use ttgir::queries::memory::is_memory;
use ttgir::queries::spot::{Spot, function};
use ttgir::queries::words::line_tokens;
use ttgir::{Document, OpId, ValueId};

/// The hover of the value, op, type or layout at `offset`.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    let spot = Spot::at(document, offset)?;
    let tree = spot.tree();
    let mut hover = match tree.value_at(spot.offset) {
        Some((value, range)) => of_value(spot, value, spot.lift(range)),
        None => location(document, spot).or_else(|| op::hover(spot)).or_else(|| types::hover(spot))?,
    };
    hover.kernel = tree.op_at(spot.offset).and_then(|op| kernel_name(spot, op));
    Some(hover)
}

/// The lines of Python that the name of a location stands for.
fn location(document: &Document, spot: Spot<'_>) -> Option<Hover> {
    let tree = spot.tree();
    let mut tokens = line_tokens(tree, spot.offset).filter(|token| token.range.touches(spot.offset));
    let name = tokens.find(|token| token.range.of(tree.text()).starts_with("#loc"))?.range;
    let range = spot.lift(name);
    let places = crate::source_places(document, range.start);
    let told = places.iter().enumerate().map(|(at, place)| {
        let variable = place.name.as_ref().map_or_else(String::new, |name| format!(", `{name}`"));
        let how = if at == 0 { "" } else { "called from " };
        format!("{how}`{}:{}:{}`{variable}", place.file, place.line, place.col)
    });
    let told: Vec<String> = told.collect();
    let title = name.of(tree.text()).to_owned();
    (!told.is_empty()).then(|| Hover { range, title, words: told, ..Hover::default() })
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

/// Where the kernel around an op is named.
fn kernel_name(spot: Spot<'_>, op: OpId) -> Option<TextRange> {
    let tree = spot.tree();
    let attr = tree.attr(function(tree, op)?, "sym_name")?;
    Some(spot.lift(tree.attr_range(attr)))
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
