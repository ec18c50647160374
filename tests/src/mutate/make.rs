//! The mutants of a text.

use super::edit::{Change, line_of, ops, spelling};
use dialects::MutationRole;
use ttgir::{Def, OpId, Tree, Ty, ValueId};

/// Families of slips.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Class {
    Wait,
    Arrive,
    Commit,
    Expect,
    Fence,
    Init,
    Phase,
    Index,
}

impl Class {
    /// All, in the order of the report.
    pub const ALL: [Class; 8] = [
        Class::Wait,
        Class::Arrive,
        Class::Commit,
        Class::Expect,
        Class::Fence,
        Class::Init,
        Class::Phase,
        Class::Index,
    ];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Class::Wait => "wait",
            Class::Arrive => "arrive",
            Class::Commit => "commit",
            Class::Expect => "expect",
            Class::Fence => "fence",
            Class::Init => "init",
            Class::Phase => "phase",
            Class::Index => "index",
        }
    }
}

/// What may be wrong with an op.
fn role(tree: &Tree, op: OpId) -> Option<MutationRole> {
    tree.code(op)?.decl().mutation
}

/// A text with one slip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The family.
    pub class: Class,
    /// What was done: `wait-drop`, `init+1`, …; with the line it names the mutant in its file.
    pub mutation: &'static str,
    /// Line of the op in the clean text, from 1.
    pub line: u32,
    /// Name of the op.
    pub op: String,
    /// The whole text; `None` where the change cannot be written.
    pub text: Option<String>,
}

impl Mutant {
    /// Its name within its file.
    pub fn id(&self) -> String {
        format!("{}:{}", self.line, self.mutation)
    }
}

/// All mutants of a tree, in the order of its text.
pub fn mutants(tree: &Tree) -> Vec<Mutant> {
    let mut maker = Maker { tree, out: Vec::new() };
    for op in ops(tree) {
        if let Some(role) = role(tree, op) {
            maker.op(op, role);
        }
    }
    maker.out
}

struct Maker<'t> {
    tree: &'t Tree,
    out: Vec<Mutant>,
}

impl<'t> Maker<'t> {
    fn push(&mut self, op: OpId, class: Class, mutation: &'static str, change: Option<Change<'t>>) {
        self.out.push(Mutant {
            class,
            mutation,
            line: line_of(self.tree, op),
            op: self.tree.op_name(op).to_string(),
            text: change.and_then(Change::apply),
        });
    }

    fn change(&self) -> Change<'t> {
        Change::new(self.tree)
    }

    fn op(&mut self, op: OpId, role: MutationRole) {
        match role {
            MutationRole::BarrierWait(phase) => {
                self.wait(op);
                self.phase(op, phase);
            }
            MutationRole::GroupWait(pendings) => {
                self.wait(op);
                self.count(op, Class::Wait, "wait-pending+1", pendings, 1);
            }
            MutationRole::Rendezvous => self.wait(op),
            MutationRole::Arrive(count) => {
                self.push(op, Class::Arrive, "arrive-drop", self.change().remove(op));
                self.push(op, Class::Arrive, "arrive-twice", Some(self.change().repeat(op)));
                if let Some(count) = count {
                    self.count(op, Class::Arrive, "arrive-count+1", count, 1);
                }
            }
            MutationRole::Commit => self.push(op, Class::Commit, "commit-drop", self.change().remove(op)),
            MutationRole::Expect(bytes) => {
                self.push(op, Class::Expect, "expect-drop", self.change().remove(op));
                self.count(op, Class::Expect, "expect+16", bytes, 16);
                self.count(op, Class::Expect, "expect-16", bytes, -16);
            }
            MutationRole::Fence => self.push(op, Class::Fence, "fence-drop", self.change().remove(op)),
            MutationRole::Init(count) => {
                self.count(op, Class::Init, "init+1", count, 1);
                self.count(op, Class::Init, "init-1", count, -1);
            }
            MutationRole::Index(index) => self.index(op, index),
            MutationRole::Access => {}
        }
    }

    fn wait(&mut self, op: OpId) {
        self.push(op, Class::Wait, "wait-drop", self.change().remove(op));
        if let Some(next) = self.next_access(op) {
            self.push(op, Class::Wait, "wait-later", Some(self.change().shift(op, next)));
        }
    }

    /// Changes a number by `by`; no mutant where it would not be positive (0 is a number of
    /// pending groups, but `by` never leads there).
    fn count(&mut self, op: OpId, class: Class, mutation: &'static str, attr: &str, by: i64) {
        let Some(attr) = self.tree.attr(op, attr) else { return };
        let (Some(value), range) = (self.tree.attr_int(attr), self.tree.attr_range(attr)) else { return };
        if range.is_empty() || value + by < 1 {
            return;
        }
        let written = range.of(self.tree.text());
        let change = written.strip_prefix(&value.to_string()).map(|kind| {
            let new = format!("{}{kind}", value + by);
            self.change().replace(range, new)
        });
        self.push(op, class, mutation, change);
    }

    /// The other parity.
    fn phase(&mut self, op: OpId, group: &str) {
        let Some((at, 1)) = self.tree.group_span(op, group) else { return };
        let phase = self.tree.operands(op)[at];
        let lines = match self.constant(phase) {
            Some(value) => vec![format!("%mutant = arith.constant {} : i32", value ^ 1)],
            None => vec![
                "%mutant_1 = arith.constant 1 : i32".to_string(),
                format!("%mutant = arith.xori {}, %mutant_1 : i32", spelling(self.tree, phase)),
            ],
        };
        let change = self.change().before(op, &lines).replace(self.tree.operand_range(op, at), "%mutant");
        self.push(op, Class::Phase, "phase-flip", Some(change));
    }

    /// The next slot of the ring.
    fn index(&mut self, op: OpId, group: &str) {
        let Some((at, 1)) = self.tree.group_span(op, group) else { return };
        let (index, ring) = (self.tree.operands(op)[at], self.tree.operands(op).first().copied());
        let ty = ring.and_then(|ring| self.tree.value_type(ring)).map(|ty| self.tree.ty(ty));
        let Some(Ty::MemDesc { shape, .. }) = ty else { return };
        let Some(&depth) = shape.first().filter(|&&depth| depth > 1) else { return };
        let lines = match self.constant(index) {
            Some(value) => vec![format!("%mutant = arith.constant {} : i32", (value + 1) % depth)],
            None => vec![
                "%mutant_1 = arith.constant 1 : i32".to_string(),
                format!("%mutant_depth = arith.constant {depth} : i32"),
                format!("%mutant_next = arith.addi {}, %mutant_1 : i32", spelling(self.tree, index)),
                "%mutant = arith.remsi %mutant_next, %mutant_depth : i32".to_string(),
            ],
        };
        let change = self.change().before(op, &lines).replace(self.tree.operand_range(op, at), "%mutant");
        self.push(op, Class::Index, "index+1", Some(change));
    }

    fn constant(&self, value: ValueId) -> Option<i64> {
        let Def::Result(op, _) = self.tree.value_def(value) else { return None };
        if self.tree.op_name(op) != "arith.constant" {
            return None;
        }
        self.tree.attr_int(self.tree.attr(op, "value")?)
    }

    /// The next op of the block that touches memory, or holds one that does.
    fn next_access(&self, op: OpId) -> Option<OpId> {
        let block = self.tree.block_ops(self.tree.parent_block(op)?);
        let at = block.iter().position(|&other| other == op)?;
        block[at + 1..].iter().copied().find(|&other| self.accesses(other))
    }

    fn accesses(&self, op: OpId) -> bool {
        if role(self.tree, op) == Some(MutationRole::Access) {
            return true;
        }
        let blocks = self.tree.regions(op).iter().flat_map(|&region| self.tree.blocks(region));
        blocks.flat_map(|&block| self.tree.block_ops(block)).any(|&inner| self.accesses(inner))
    }
}
