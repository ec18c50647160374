//! What a value is: for a barrier who does what with it, for a buffer who touches it.

use super::roles::{Role, role};
use base::TextRange;
use ttgir::queries::expr::{carried, expression, name};
use ttgir::queries::memory::{Use, indices, is_memory, path, roots, uses};
use ttgir::queries::spot::{Spot, function, partition};
use ttgir::{Def, Document, MemSpace, OpId, Tree, Ty, ValueId};

/// Rows of one hover; a screen holds no more.
const ROWS: usize = 48;

/// A hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The word it is about.
    pub range: TextRange,
    /// What it is, one line.
    pub title: String,
    /// Its definition, as it is written.
    pub code: String,
    /// Who does what with it, in the order of the text.
    pub rows: Vec<Row>,
    /// What the loops do with the values that the rows name: `%phase`, `0, then %phase ^ 1`.
    pub carried: Vec<(String, String)>,
    /// How many rows were left out.
    pub more: usize,
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
}

/// The hover of the value or of the op's name at `offset`.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    let spot = Spot::at(document, offset)?;
    let tree = spot.tree();
    let Some((value, range)) = tree.value_at(spot.offset) else { return op_doc(spot) };
    let range = spot.lift(range);
    if is_memory(tree, value)
        && let Some(hover) = memory(spot, value, range)
    {
        return Some(hover);
    }
    Some(plain(spot, value, range))
}

/// What the op whose name is at the place does, by its declaration.
fn op_doc(spot: Spot<'_>) -> Option<Hover> {
    let tree = spot.tree();
    let op = tree.op_at(spot.offset)?;
    let range = tree.op_name_range(op);
    let decl = tree.code(op).filter(|_| range.touches(spot.offset))?.decl();
    let title = format!("{}: {}", decl.name, decl.doc.trim());
    Some(Hover { range: spot.lift(range), title, code: String::new(), rows: Vec::new(), carried: Vec::new(), more: 0 })
}

fn plain(spot: Spot<'_>, value: ValueId, range: TextRange) -> Hover {
    let tree = spot.tree();
    let ty = tree.value_type(value).map_or("unknown type", |ty| tree.type_text(ty));
    let mut title = format!("{}: {ty}", name(tree, value));
    let computed = expression(tree, value);
    if computed != name(tree, value) {
        title = format!("{title} = {computed}");
    }
    Hover { range, title, code: definition_line(tree, value), rows: Vec::new(), carried: carried(tree, value), more: 0 }
}

/// The hover of a value that an operation has to do with, at the operation.
pub(crate) fn hover_of(document: &Document, op: OpId, value: ValueId) -> Option<Hover> {
    let spot = Spot::at(document, 0)?;
    let tree = spot.tree();
    let range = tree.op_name_range(op);
    if is_memory(tree, value)
        && let Some(hover) = memory(spot, value, range)
    {
        return Some(hover);
    }
    Some(plain(spot, value, range))
}

fn memory(spot: Spot<'_>, value: ValueId, range: TextRange) -> Option<Hover> {
    let tree = spot.tree();
    let roots = roots(tree, value);
    let root = *roots.first()?;
    let within = defining_op(tree, root).and_then(|op| function(tree, op))?;
    let uses = uses(tree, within, &roots);
    let roles: Vec<Option<Role>> = uses.iter().map(|used| role(tree, used)).collect();
    let barrier = roles.iter().flatten().next().is_some();
    let rows = uses.iter().zip(roles).map(|(used, role)| {
        let bare = tree.op_name(used.op).rsplit('.').next().unwrap_or_default().to_owned();
        let role = role.unwrap_or(Role { verb: bare, detail: String::new() });
        Row {
            range: spot.lift(tree.op_name_range(used.op)),
            partition: partition(tree, used.op),
            verb: role.verb,
            slot: path(tree, used.value),
            detail: role.detail,
        }
    });
    let rows: Vec<Row> = rows.take(ROWS).collect();
    let more = uses.len() - rows.len();
    let names: Vec<String> = roots.iter().map(|root| name(tree, *root)).collect();
    let what = describe(tree, root, barrier);
    let all = names.join(" or ");
    let title = if roots.contains(&value) && roots.len() == 1 {
        format!("{all}: {what}")
    } else {
        format!("{} is {all}{}: {what}", name(tree, value), path(tree, value))
    };
    let code = definition_line(tree, root);
    Some(Hover { range, title, code, rows, carried: all_carried(tree, &uses), more })
}

/// What loops do with the slots and phases of these uses, each value once.
fn all_carried(tree: &Tree, uses: &[Use]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for used in uses.iter().take(ROWS) {
        let phase = tree.group(used.op, "phase").first().copied();
        for value in indices(tree, used.value).into_iter().chain(phase) {
            for entry in carried(tree, value) {
                if !all.contains(&entry) {
                    all.push(entry);
                }
            }
        }
    }
    all
}

/// `barrier, 2 slots`, `buffer of 2x128x64 f16 in shared memory, 32 KiB`.
fn describe(tree: &Tree, root: ValueId, barrier: bool) -> String {
    let Some(Ty::MemDesc { shape, elem, space, .. }) = tree.value_type(root).map(|ty| tree.ty(ty)) else {
        return "memory".to_owned();
    };
    let elements = shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size)).unwrap_or(0);
    if barrier {
        return if elements == 1 { "barrier".to_owned() } else { format!("barrier, {elements} slots") };
    }
    let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
    let space = match space {
        MemSpace::Shared => "shared memory",
        MemSpace::Tensor => "tensor memory",
        MemSpace::SharedCluster => "the cluster's shared memory",
        MemSpace::Other => "memory",
    };
    let bytes = elements.saturating_mul(i64::from(elem.bits)) / 8;
    let size = match bytes {
        0 => String::new(),
        bytes if bytes % 1024 == 0 => format!(", {} KiB", bytes / 1024),
        bytes => format!(", {bytes} bytes"),
    };
    format!("buffer of {} {} in {space}{size}", sizes.join("x"), elem.name)
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
