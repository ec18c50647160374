//! The nest of loops and branches that holds the accesses of a buffer.

use super::access::{Access, constant};
use super::order::Item;
use dialects::{OpCode, Scf};
use ttgir::{BlockId, OpId, Tree};

/// The innermost block that holds all accesses, and what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Nest {
    pub(super) block: BlockId,
    /// Whether that block runs more than once: a loop is around it.
    pub(super) repeats: bool,
    pub(super) items: Vec<Item>,
}

impl Nest {
    /// The nest of accesses in the order of the text; the op that is not followed where there is one.
    pub(super) fn new(tree: &Tree, accesses: &[Access]) -> Result<Option<Nest>, OpId> {
        let Some(first) = accesses.first() else { return Ok(None) };
        let Some(&(mut block, _)) = first.path.first() else { return Ok(None) };
        let all: Vec<usize> = (0..accesses.len()).collect();
        let mut items = within(tree, accesses, &all, 0)?;
        let mut repeats = false;
        // A ring lives at the innermost level that all its accesses share.
        loop {
            items = match items.as_mut_slice() {
                [Item::Loop { body, items, .. }] => {
                    (block, repeats) = (*body, true);
                    std::mem::take(items)
                }
                [Item::Branch { ways, .. }] if ways.len() == 1 => {
                    let Some((way, items)) = ways.pop() else { return Ok(None) };
                    block = way;
                    items
                }
                _ => return Ok(Some(Nest { block, repeats, items })),
            };
        }
    }
}

/// The items of accesses that share the first `depth` blocks.
fn within(tree: &Tree, accesses: &[Access], places: &[usize], depth: usize) -> Result<Vec<Item>, OpId> {
    let mut items = Vec::new();
    let mut rest = places;
    let block = rest.first().and_then(|at| accesses[*at].path.get(depth)).map(|(block, _)| *block);
    while let Some(&at) = rest.first() {
        let access = &accesses[at];
        let Some(&(here, op)) = access.path.get(depth) else { break };
        if Some(here) != block {
            return Err(access.op);
        }
        let run = rest.iter().take_while(|at| accesses[**at].path.get(depth).is_some_and(|step| step.1 == op)).count();
        let (run, others) = rest.split_at(run);
        rest = others;
        // What the op itself takes comes ahead of what is in it.
        let (own, inside): (Vec<usize>, Vec<usize>) = run.iter().partition(|at| accesses[**at].path.len() == depth + 1);
        items.extend(own.into_iter().map(Item::Access));
        if !inside.is_empty() {
            items.push(structure(tree, accesses, &inside, depth, op)?);
        }
    }
    Ok(items)
}

fn structure(tree: &Tree, accesses: &[Access], run: &[usize], depth: usize, op: OpId) -> Result<Item, OpId> {
    let block_of = |at: usize| accesses[at].path.get(depth + 1).map(|(block, _)| *block);
    let first = |number: usize| tree.regions(op).get(number).and_then(|region| tree.blocks(*region).first()).copied();
    match tree.code(op) {
        Some(OpCode::Scf(Scf::For | Scf::While)) => {
            let body = first(usize::from(tree.is(op, Scf::While))).ok_or(op)?;
            if let Some(other) = run.iter().find(|at| block_of(**at) != Some(body)) {
                return Err(accesses[*other].op);
            }
            let runs = tree.is(op, Scf::For) && runs(tree, op);
            Ok(Item::Loop { body, items: within(tree, accesses, run, depth + 1)?, runs })
        }
        Some(OpCode::Scf(Scf::If | Scf::IndexSwitch)) => {
            let mut ways: Vec<(BlockId, Vec<Item>)> = Vec::new();
            let mut rest = run;
            while let Some(&at) = rest.first() {
                let block = block_of(at).ok_or(op)?;
                let (way, others) = rest.split_at(rest.iter().take_while(|at| block_of(**at) == Some(block)).count());
                ways.push((block, within(tree, accesses, way, depth + 1)?));
                rest = others;
            }
            let regions = tree.regions(op).len();
            let all = ways.len() == regions && (!tree.is(op, Scf::If) || regions == 2);
            Ok(Item::Branch { ways, all })
        }
        _ => Err(op),
    }
}

/// Whether a counted loop is known to run at least once.
fn runs(tree: &Tree, op: OpId) -> bool {
    let number = |at: usize| tree.operands(op).get(at).and_then(|value| constant(tree, *value));
    matches!((number(0), number(1)), (Some(lower), Some(upper)) if lower < upper)
}
