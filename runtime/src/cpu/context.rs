//! What all programs of a launch share: the kernel, its machine, and what was read off the tree once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use dialects::DataMovement;
use kernel::{HostId, InputKind, Shape};
use lower::{Executable, HostOp};
use machine::Machine;
use ttgir::{OpId, Tree, Ty, ValueId};

use super::data_movement::data_movement;
use super::program_memory::{ElementOrder, MemoryPlace, element_order};
use tensors::{Trap, tile};

/// How a variable holds a value of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Representation {
    /// The machine has it: an integer of this width, or an address.
    Int(u32),
    /// The machine has it: a place in shared or tensor memory.
    View,
    /// It lies beside the machine.
    Handle,
    /// The same, and it is a token, of which there is nothing to know.
    Token,
}

/// A host op, looked at once.
#[derive(Clone, Debug)]
pub(super) struct HostOpInfo {
    /// What it does.
    pub(super) data_movement: DataMovement,
    /// How its operands are held.
    pub(super) operands: Vec<Representation>,
    /// How its results are held.
    pub(super) results: Vec<Representation>,
}

/// A kernel that is executed.
pub(super) struct Context<'k> {
    /// The tree of its text.
    pub(super) tree: &'k Tree,
    /// The kernel as it was lowered for execution.
    pub(super) made: &'k Executable,
    /// The machine; what differs between programs is in their states.
    pub(super) machine: Machine<'k>,
    /// By host op.
    infos: Vec<HostOpInfo>,
    /// Inputs that differ between programs: by input, the axis of a program's number or of the grid.
    pub(super) axes: Vec<Option<GridInput>>,
    types: RefCell<HashMap<(ValueId, u16), Rc<tile::TileType>>>,
    orders: RefCell<HashMap<ValueId, Option<ElementOrder>>>,
}

/// An input that the grid gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GridInput {
    /// The program's number along an axis.
    Program(usize),
    /// Programs along an axis.
    Grid(usize),
}

impl<'k> Context<'k> {
    pub(super) fn new(tree: &'k Tree, made: &'k Executable, machine: Machine<'k>) -> Context<'k> {
        let infos = made.hosts.iter().map(|host| info(tree, host)).collect();
        let axes = made.lowered.kernel.inputs.iter().map(|input| match input.kind {
            InputKind::ProgramId(axis) => Some(GridInput::Program(usize::from(axis).min(2))),
            InputKind::NumPrograms(axis) => Some(GridInput::Grid(usize::from(axis).min(2))),
            _ => None,
        });
        Context {
            tree,
            made,
            machine,
            infos,
            axes: axes.collect(),
            types: RefCell::default(),
            orders: RefCell::default(),
        }
    }

    /// Where an op comes from in the source that its location names: `k.py:12`.
    pub(super) fn source(&self, op: OpId) -> Option<String> {
        let loc = self.tree.loc(op).into_iter().next()?;
        let file = loc.file.rsplit(['/', '\\']).next().unwrap_or(&loc.file);
        Some(format!("{file}:{}", loc.line))
    }

    /// A host op and its plan.
    pub(super) fn host(&self, id: HostId) -> Option<(&'k HostOp, &HostOpInfo)> {
        Some((self.made.hosts.get(id.index())?, self.infos.get(id.index())?))
    }

    /// The type of a value, as a CTA holds it.
    pub(super) fn type_of(&self, value: ValueId, cta: u16) -> Result<Rc<tile::TileType>, Trap> {
        if let Some(known) = self.types.borrow().get(&(value, cta)) {
            return Ok(known.clone());
        }
        let read = Rc::new(tile::read(self.tree, value, cta)?);
        self.types.borrow_mut().insert((value, cta), read.clone());
        Ok(read)
    }

    /// The order of a memdesc's elements where no strides say it and its layout does.
    pub(super) fn order_of(&self, value: ValueId, shape: &Shape, ty: &tile::TileType) -> Option<ElementOrder> {
        let dense = matches!(&shape.dims[..], [dim] if dim.stride == shape.element);
        if shape.exact || !dense || !ty.tile.is_whole() {
            return None;
        }
        let encoding = || self.tree.value_type(value).and_then(|ty| self.tree.type_encoding(ty));
        let made = || element_order(self.tree.attr_text(encoding()?), &ty.tile.shape);
        self.orders.borrow_mut().entry(value).or_insert_with(made).clone()
    }

    /// The same place in another CTA's memory.
    pub(super) fn place_in(&self, place: &MemoryPlace, number: u16, value: ValueId) -> Result<MemoryPlace, Trap> {
        let position = self.machine.cluster().position(number);
        let cta = position.ok_or_else(|| Trap::not_followed("a CTA that is not there"))?;
        Ok(MemoryPlace { cta, ty: self.type_of(value, number)?, ..place.clone() })
    }
}

fn info(tree: &Tree, host: &HostOp) -> HostOpInfo {
    let representation = |value: &ValueId| representation(tree, *value);
    HostOpInfo {
        data_movement: data_movement(tree, host),
        operands: tree.operands(host.op).iter().map(representation).collect(),
        results: tree.results(host.op).iter().map(representation).collect(),
    }
}

/// How a value is held.
pub(super) fn representation(tree: &Tree, value: ValueId) -> Representation {
    match tree.value_type(value).map(|ty| tree.ty(ty)) {
        Some(Ty::Int(width @ 1..=64)) => Representation::Int(width),
        Some(Ty::Index | Ty::Ptr) => Representation::Int(64),
        Some(Ty::MemDesc { .. }) => Representation::View,
        Some(Ty::AsyncToken) => Representation::Token,
        _ => Representation::Handle,
    }
}
