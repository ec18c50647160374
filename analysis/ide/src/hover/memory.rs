//! Barriers and buffers: slots, sizes, names, and who does what with them.

use super::content::{CadenceRow, Hover, OperationRow};
use super::definition::{defining_op, definition_line, titled};
use super::types::{self, space_name};
use crate::cadence::cadences;
use crate::effects::access;
use crate::limits::hover::ROWS;
use crate::roles::{Role, role};
use crate::sizes::{bytes, bytes_of, ctas};
use base::TextRange;
use dialects::{BarrierVerb, OpCode, Ttg};
use ttgir::queries::expr::{carried, known_name};
use ttgir::queries::memory::{Use, indices, is_memory, path, roots, uses};
use ttgir::queries::spot::{Spot, function, partition, walk};
use ttgir::{Def, OpId, Tree, Ty, ValueId};

/// How the sentence begins that lists the other names of a barrier or buffer.
pub(crate) const ALSO_KNOWN: &str = "Also known as ";

/// Other names of one buffer that are told.
const NAMES: usize = 12;

/// The hover of a barrier or buffer, or of a view of one.
pub(super) fn hover(spot: Spot<'_>, value: ValueId, range: TextRange) -> Option<Hover> {
    let tree = spot.tree();
    let roots = roots(tree, value);
    let root = *roots.first()?;
    let within = defining_op(tree, root).and_then(|op| function(tree, op))?;
    let uses = uses(tree, within, &roots);
    let roles: Vec<Option<Role>> = uses.iter().map(|used| role(tree, used)).collect();
    let barrier = roles.iter().flatten().next().is_some();
    let rows = uses.iter().zip(roles).map(|(used, role)| row(spot, used, role));
    let rows: Vec<OperationRow> = rows.take(ROWS).collect();
    let more = uses.len() - rows.len();
    let names: Vec<String> = roots.iter().map(|root| titled(tree, *root)).collect();
    let what = describe(tree, root, barrier);
    let all = names.join(" or ");
    let title = if roots.contains(&value) && roots.len() == 1 {
        format!("{all}: {what}")
    } else {
        format!("{} is {all}{}: {what}", titled(tree, value), path(tree, value))
    };
    let mut hover = Hover {
        range,
        title,
        code: definition_line(tree, root),
        rows,
        more,
        carried: all_carried(tree, &uses),
        ..Hover::default()
    };
    let names = other_names(tree, within, &roots, value);
    if barrier {
        hover.words = phases(tree, root, &uses);
        hover.words.extend(names);
        let slots = slots(tree, root, true);
        hover.cadence = cadences(tree, within, &uses)
            .into_iter()
            .map(|cadence| CadenceRow {
                range: spot.lift(tree.op_name_range(cadence.op)),
                partition: partition(tree, cadence.op),
                slots: if slots == Some(1) { Vec::new() } else { cadence.slots },
                phases: cadence.phases,
                flips: cadence.flips,
                repeats: cadence.repeats,
            })
            .collect();
    } else {
        hover.words = sizes(tree, root);
        hover.words.extend(names);
        // The last of these words introduces the picture.
        if let Some(ty) = tree.value_type(root) {
            let described = types::value_type(tree, ty);
            hover.words.extend(described.words.into_iter().skip(1));
            hover.picture = described.picture;
        }
    }
    Some(hover)
}

fn row(spot: Spot<'_>, used: &Use, role: Option<Role>) -> OperationRow {
    let tree = spot.tree();
    let role = role.unwrap_or_else(|| {
        let op = tree.op_name(used.op).to_owned();
        match access(tree, used) {
            Some((true, true)) => Role { verb: "reads and writes".to_owned(), detail: op },
            Some((true, false)) => Role { verb: "reads".to_owned(), detail: op },
            Some((false, _)) => Role { verb: "writes".to_owned(), detail: op },
            None => Role { verb: op.rsplit('.').next().unwrap_or_default().to_owned(), detail: String::new() },
        }
    });
    OperationRow {
        range: spot.lift(tree.op_name_range(used.op)),
        partition: partition(tree, used.op),
        verb: role.verb,
        slot: path(tree, used.value),
        detail: role.detail,
        edge: String::new(),
    }
}

/// How many slots an allocation has; of a buffer those that views pick by an index.
fn slots(tree: &Tree, root: ValueId, barrier: bool) -> Option<i64> {
    let Ty::MemDesc { shape, .. } = tree.ty(tree.value_type(root)?) else { return None };
    if barrier {
        return shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size));
    }
    let first = *shape.first().filter(|_| shape.len() > 2)?;
    (first > 0).then_some(first)
}

/// Arrivals and bytes of a phase of a barrier.
fn phases(tree: &Tree, root: ValueId, uses: &[Use]) -> Vec<String> {
    let mut counts: Vec<i64> = Vec::new();
    let mut expected: Vec<i64> = Vec::new();
    for used in uses {
        let Some(barrier) = tree.code(used.op).and_then(|code| code.decl().barrier) else { continue };
        let number = |attr: &str| tree.attr(used.op, attr).and_then(|attr| tree.attr_int(attr));
        let (list, number) = match barrier.verb {
            BarrierVerb::Init => (&mut counts, number("count")),
            BarrierVerb::Expect => (&mut expected, number("size").filter(|size| *size > 0)),
            _ => continue,
        };
        if let Some(number) = number.filter(|number| !list.contains(number)) {
            list.push(number);
        }
    }
    let either = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(" or ");
    let mut said = match slots(tree, root, true) {
        Some(1) | None => String::new(),
        Some(slots) => format!("{slots} slots, each with phases of its own. "),
    };
    if !counts.is_empty() {
        let noun = if counts == [1] { "arrival" } else { "arrivals" };
        said.push_str(&format!("A phase completes after {} {noun}", either(&counts)));
        if !expected.is_empty() {
            said.push_str(&format!(" and {} announced bytes", either(&expected)));
        }
        said.push('.');
    }
    let said = said.trim().to_owned();
    if said.is_empty() { Vec::new() } else { vec![said] }
}

/// Bytes of a buffer and of a slot.
fn sizes(tree: &Tree, root: ValueId) -> Vec<String> {
    let Some(all) = bytes_of(tree, root) else { return Vec::new() };
    let mut said = match slots(tree, root, false).filter(|slots| *slots > 1 && all % slots == 0) {
        Some(slots) => format!("{slots} slots of {}; {} in all", bytes(all / slots), bytes(all)),
        None => format!("One slot of {}", bytes(all)),
    };
    if ctas(tree) > 1 {
        said.push_str(&format!(", over the {} CTAs of the cluster", ctas(tree)));
    }
    let written = match tree.value_def(root) {
        Def::Result(op, _) if tree.operands(op).iter().any(|operand| !is_memory(tree, *operand)) => {
            "; written where it is allocated"
        }
        _ => "",
    };
    vec![format!("{said}{written}.")]
}

/// Views, captures and block arguments that name the same memory.
fn other_names(tree: &Tree, within: OpId, of: &[ValueId], but: ValueId) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut more = 0usize;
    let mut add = |value: ValueId, how: String| {
        let named =
            is_memory(tree, value) && value != but && !of.contains(&value) && !tree.value_name(value).is_empty();
        if !named || !roots(tree, value).iter().any(|root| of.contains(root)) {
            return;
        }
        let said = format!("`{}`{how}", known_name(tree, value));
        if names.len() >= NAMES {
            more += 1;
        } else if !names.contains(&said) {
            names.push(said);
        }
    };
    walk(tree, &[within], &mut |op| {
        for &result in tree.results(op) {
            let picked = path(tree, result);
            add(result, if picked.is_empty() { String::new() } else { format!(" `{picked}`") });
        }
        let captures = matches!(tree.code(op), Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions)));
        for &region in tree.regions(op) {
            for &argument in tree.blocks(region).iter().flat_map(|block| tree.block_args(*block)) {
                let inner = tree.blocks(region).first().and_then(|block| tree.block_ops(*block).first());
                let how = match inner {
                    Some(inner) if captures => format!(" in {}", partition(tree, *inner)),
                    _ => String::new(),
                };
                add(argument, how);
            }
        }
    });
    if names.is_empty() {
        return Vec::new();
    }
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    vec![format!("{ALSO_KNOWN}{}{rest}.", names.join(", "))]
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
    let size =
        bytes_of(tree, root).filter(|size| *size > 0).map_or_else(String::new, |size| format!(", {}", bytes(size)));
    format!("buffer of {} {} in {}{size}", sizes.join("x"), elem.name, space_name(space))
}
