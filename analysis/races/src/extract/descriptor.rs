//! Tensor descriptors and block pointers: blocks of a tensor in global memory by its sizes and strides.

use ttgir::{OpId, Ty, ValueId};

use super::memory::Place;
use super::value::element_bytes;
use super::{Descriptor, Elements, Extractor, Target, Value};
use crate::program::{Action, Base, Completion};
use terms::{BinOp, Term, Variable};

impl Extractor<'_> {
    /// A descriptor that the host makes: its sizes are not known here, and its elements lie row by row without gaps
    /// that would matter.
    pub(super) fn described_argument(&mut self, argument: u32, block: &[i64], bits: u32) -> Value {
        let terms = &mut self.program.terms;
        let size = |dim: usize| Variable::DescriptorSize(argument, dim as u8);
        let sizes: Vec<Term> = (0..block.len()).map(|dim| terms.variable(size(dim), 64)).collect();
        let mut strides = vec![terms.int(1, 64); block.len()];
        for dim in (0..block.len().saturating_sub(1)).rev() {
            strides[dim] = terms.binary(BinOp::Mul, sizes[dim + 1], strides[dim + 1]);
        }
        let offset = terms.int(0, 64);
        Value::Descriptor(Box::new(Descriptor {
            base: Target::Tensor(Base::Argument(argument)),
            offset,
            bytes: bits.div_ceil(8).max(1),
            sizes,
            strides,
            block: block.into(),
            place: Vec::new(),
            enabled: None,
        }))
    }

    pub(super) fn make_descriptor(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        let base = tree.group(op, "base").first().map(|base| self.value(*base));
        let (shape, strides) = (tree.group(op, "shape").to_vec(), tree.group(op, "strides").to_vec());
        let block = match tree.value_type(result).map(|ty| tree.ty(ty)) {
            Some(Ty::TensorDesc { shape, .. }) => shape,
            _ => Vec::new(),
        };
        let (Some(Value::Pointer(pointer)), Some(sizes), Some(strides)) =
            (base, self.wide_all(&shape), self.wide_all(&strides))
        else {
            return;
        };
        if block.len() != sizes.len() || strides.len() != sizes.len() {
            return;
        }
        let descriptor = Descriptor {
            base: pointer.base,
            offset: pointer.offset,
            bytes: pointer.bytes,
            sizes,
            strides,
            block: block.into(),
            place: Vec::new(),
            enabled: None,
        };
        self.bind(result, Value::Descriptor(Box::new(descriptor)));
    }

    fn wide_all(&mut self, values: &[ValueId]) -> Option<Vec<Term>> {
        values.iter().map(|value| self.wide(*value)).collect()
    }

    /// `tt.make_tensor_ptr base, [sizes], [strides], [offsets]`, of releases before 3.9.
    pub(super) fn make_block_pointer(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        let text = tree.value_type(result).map_or("", |ty| tree.type_canonical(ty));
        let inner = text.split_once("tensor<").map_or("", |(_, inner)| inner);
        let inner = inner.split('>').next().unwrap_or("");
        let block: Vec<i64> = inner.split('x').map_while(|size| size.trim().parse().ok()).collect();
        let element = inner.rsplit('x').next().unwrap_or("");
        let operands = tree.operands(op).to_vec();
        let rank = block.len();
        let base = operands.first().map(|base| self.value(*base));
        let (Some(Value::Pointer(pointer)), true) = (base, operands.len() == 1 + 3 * rank) else { return };
        let part = |at: usize| &operands[1 + at * rank..1 + (at + 1) * rank];
        let (Some(sizes), Some(strides), Some(place)) =
            (self.wide_all(part(0)), self.wide_all(part(1)), self.wide_all(part(2)))
        else {
            return;
        };
        let descriptor = Descriptor {
            base: pointer.base,
            offset: pointer.offset,
            bytes: element_bytes(element),
            sizes,
            strides,
            block: block.into(),
            place,
            enabled: None,
        };
        self.bind(result, Value::Descriptor(Box::new(descriptor)));
    }

    pub(super) fn advance(&mut self, op: OpId) {
        let tree = self.tree;
        let (operands, results) = (tree.operands(op).to_vec(), tree.results(op));
        let (Some((&pointer, by)), Some(&result)) = (operands.split_first(), results.first()) else { return };
        let (Value::Descriptor(mut moved), Some(by)) = (self.value(pointer), self.wide_all(by)) else { return };
        for (place, by) in moved.place.iter_mut().zip(by) {
            *place = self.program.terms.binary(BinOp::Add, *place, by);
        }
        self.bind(result, Value::Descriptor(moved));
    }

    /// The lanes of a block that begins at `place`; `checked` are the dimensions whose bounds are looked at.
    pub(super) fn block_place(&mut self, of: &Descriptor, place: &[Term], checked: &[i64]) -> Place {
        let lanes: Vec<Term> = (0..of.block.len()).map(|dim| self.lane(dim)).collect();
        let terms = &mut self.program.terms;
        let mut offset = of.offset;
        let mut mask = terms.truth(true);
        for (dim, lane) in lanes.into_iter().enumerate() {
            let (Some(&start), Some(&stride), Some(&size)) = (place.get(dim), of.strides.get(dim), of.sizes.get(dim))
            else {
                continue;
            };
            let index = terms.binary(BinOp::Add, start, lane);
            if checked.contains(&(dim as i64)) {
                let zero = terms.int(0, 64);
                let (low, high) = (terms.binary(BinOp::Sle, zero, index), terms.binary(BinOp::Slt, index, size));
                mask = terms.and(mask, low);
                mask = terms.and(mask, high);
            }
            let by = terms.binary(BinOp::Mul, index, stride);
            let bytes = terms.int(i64::from(of.bytes), 64);
            let by = terms.binary(BinOp::Mul, by, bytes);
            offset = terms.binary(BinOp::Add, offset, by);
        }
        Place { base: of.base, offset, bytes: of.bytes, lanes: of.block.clone(), mask }
    }

    /// The descriptor that an op is handed.
    fn descriptor_of(&mut self, op: OpId) -> Option<Box<Descriptor>> {
        let operand = self.tree.group(op, "desc").first().copied()?;
        match self.value(operand) {
            Value::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn predicate(&mut self, op: OpId) -> Option<Term> {
        let operand = self.tree.group(op, "pred").first().copied()?;
        self.int(operand).map(|pred| pred.term)
    }

    /// An access of a block by a descriptor.
    pub(super) fn block_access(&mut self, op: OpId, action: Action, completion: Completion) {
        let tree = self.tree;
        let mut at = tree.group(op, "indices").to_vec();
        if at.is_empty() {
            at = tree.group(op, "coord").to_vec();
        }
        let (Some(descriptor), Some(at)) = (self.descriptor_of(op), self.wide_all(&at)) else {
            if action == Action::Load {
                return self.read_somewhere(op);
            }
            return self.gap(op, "where this accesses global memory is not followed");
        };
        if at.len() != descriptor.block.len() || !tree.group(op, "offsets").is_empty() {
            if action == Action::Load {
                return self.read_somewhere(op);
            }
            return self.gap(op, "a copy of a block of another rank (im2col) is not followed in global memory");
        }
        let all: Vec<i64> = (0..at.len() as i64).collect();
        let mut place = self.block_place(&descriptor, &at, &all);
        if let Some(pred) = self.predicate(op) {
            place.mask = self.program.terms.and(place.mask, pred);
        }
        self.access(op, place, action, completion, None);
    }

    /// AMD: a descriptor that begins elsewhere, ends elsewhere, or copies nothing where its predicate is 0.
    pub(super) fn update_descriptor(&mut self, op: OpId) {
        let tree = self.tree;
        let (by, bounds) = (tree.group(op, "add_offsets").to_vec(), tree.group(op, "set_bounds").to_vec());
        let clamps = tree.attr(op, "clamp_bounds").is_some();
        let (Some(&result), Some(mut made), Some(by), Some(bounds)) =
            (tree.results(op).first(), self.descriptor_of(op), self.wide_all(&by), self.wide_all(&bounds))
        else {
            return;
        };
        let rank = made.sizes.len();
        if by.len() > rank || bounds.len() > rank {
            return;
        }
        let terms = &mut self.program.terms;
        if made.place.is_empty() {
            made.place = vec![terms.int(0, 64); rank];
        }
        for (dim, by) in by.into_iter().enumerate() {
            if clamps {
                made.place[dim] = terms.binary(BinOp::Add, made.place[dim], by);
            } else {
                // The sizes count from the new beginning.
                let elements = terms.binary(BinOp::Mul, by, made.strides[dim]);
                let bytes = terms.int(i64::from(made.bytes), 64);
                let bytes = terms.binary(BinOp::Mul, elements, bytes);
                made.offset = terms.binary(BinOp::Add, made.offset, bytes);
            }
        }
        for (dim, bound) in bounds.into_iter().enumerate() {
            made.sizes[dim] = terms.binary(BinOp::Add, made.place[dim], bound);
        }
        if let Some(pred) = self.predicate(op) {
            let terms = &mut self.program.terms;
            let zero = terms.int(0, terms.bits(pred));
            made.enabled = Some(terms.binary(BinOp::Ne, pred, zero));
        }
        self.bind(result, Value::Descriptor(made));
    }

    /// AMD: when a store of the data mover is done. Who waits on its barrier is not followed.
    pub(super) fn mover_completion(&self, op: OpId) -> Completion {
        if self.tree.group(op, "barrier").is_empty() { Completion::StoreWait } else { Completion::Counted }
    }

    /// AMD: copies of the blocks at which descriptors were left.
    pub(super) fn mover_access(&mut self, op: OpId, action: Action, completion: Completion) {
        let tree = self.tree;
        let operands: Vec<ValueId> =
            ["desc", "descs"].iter().flat_map(|group| tree.group(op, group)).copied().collect();
        for operand in operands {
            let Value::Descriptor(descriptor) = self.value(operand) else {
                match action {
                    Action::Load => self.read_somewhere(op),
                    _ => self.gap(op, "where this accesses global memory is not followed"),
                }
                continue;
            };
            let place = self.moved_block(&descriptor);
            self.access(op, place, action, completion, None);
        }
    }

    /// The block at which a descriptor of AMD's was left: nothing behind the end of its tensor, and what is ahead of its
    /// beginning is not looked at.
    fn moved_block(&mut self, descriptor: &Descriptor) -> Place {
        let zero = self.program.terms.int(0, 64);
        let at: Vec<Term> =
            (0..descriptor.block.len()).map(|dim| descriptor.place.get(dim).copied().unwrap_or(zero)).collect();
        let mut place = self.block_place(descriptor, &at, &[]);
        for (dim, start) in at.into_iter().enumerate() {
            let lane = self.lane(dim);
            let terms = &mut self.program.terms;
            let index = terms.binary(BinOp::Add, start, lane);
            let inside = terms.binary(BinOp::Slt, index, descriptor.sizes[dim]);
            place.mask = terms.and(place.mask, inside);
        }
        if let Some(enabled) = descriptor.enabled {
            place.mask = self.program.terms.and(place.mask, enabled);
        }
        place
    }

    /// AMD: copies of chosen rows, from where the descriptor was left on.
    pub(super) fn mover_rows(&mut self, op: OpId, rows: &str, action: Action, completion: Completion) {
        let zero = self.program.terms.int(0, 64);
        let rows = self.tree.group(op, rows).first().copied().and_then(|rows| self.int(rows));
        let descriptor = self.descriptor_of(op);
        let column = descriptor.as_ref().and_then(|descriptor| descriptor.place.get(1)).copied().unwrap_or(zero);
        let rows = rows.map(|mut rows| {
            if let Some(first) = descriptor.as_ref().and_then(|descriptor| descriptor.place.first()) {
                let terms = &mut self.program.terms;
                let wide = terms.resize(rows.term, 64, true);
                rows.term = terms.binary(BinOp::Add, *first, wide);
            }
            rows
        });
        let enabled = descriptor.as_ref().and_then(|descriptor| descriptor.enabled);
        self.rows(op, (descriptor, rows, Some(column)), enabled, (action, completion));
    }

    /// An access of chosen rows: `x_offsets` names them, `y_offset` is where each begins.
    pub(super) fn row_access(&mut self, op: OpId, action: Action, completion: Completion) {
        let tree = self.tree;
        let rows = tree.group(op, "x_offsets").first().copied();
        let column = tree.group(op, "y_offset").first().copied();
        let rows = rows.and_then(|rows| self.int(rows));
        let column = column.and_then(|column| self.wide(column));
        let descriptor = self.descriptor_of(op);
        let enabled = self.predicate(op);
        self.rows(op, (descriptor, rows, column), enabled, (action, completion));
    }

    /// An access of rows by their numbers, from a column on, where `enabled` holds.
    fn rows(
        &mut self,
        op: OpId,
        (descriptor, rows, column): (Option<Box<Descriptor>>, Option<Elements>, Option<Term>),
        enabled: Option<Term>,
        (action, completion): (Action, Completion),
    ) {
        let (Some(descriptor), Some(rows), Some(column)) = (descriptor, rows, column) else {
            if action == Action::Load {
                return self.read_somewhere(op);
            }
            return self.gap(op, "where this accesses global memory is not followed");
        };
        let (&[.., columns], &[count]) = (&*descriptor.block, &*rows.lanes) else {
            return self.gap(op, "where this accesses global memory is not followed");
        };
        let row = self.program.terms.resize(rows.term, 64, true);
        // The rows' own lane is the first; the block's first dimension is one row.
        let mut one = (*descriptor).clone();
        one.block = [count, columns].into();
        let zero = self.program.terms.int(0, 64);
        let mut place = self.block_place(&one, &[zero, column], &[1]);
        let terms = &mut self.program.terms;
        // The block's lane along the rows stands for the row itself.
        let lane = terms.variable(Variable::Lane(0), 64);
        let by_lane = terms.binary(BinOp::Mul, lane, one.strides[0]);
        let bytes = terms.int(i64::from(one.bytes), 64);
        let by_lane = terms.binary(BinOp::Mul, by_lane, bytes);
        let without = terms.binary(BinOp::Sub, place.offset, by_lane);
        let by_row = terms.binary(BinOp::Mul, row, one.strides[0]);
        let by_row = terms.binary(BinOp::Mul, by_row, bytes);
        place.offset = terms.binary(BinOp::Add, without, by_row);
        let (low, high) = (terms.binary(BinOp::Sle, zero, row), terms.binary(BinOp::Slt, row, one.sizes[0]));
        place.mask = terms.and(place.mask, low);
        place.mask = terms.and(place.mask, high);
        if let Some(enabled) = enabled {
            place.mask = self.program.terms.and(place.mask, enabled);
        }
        self.access(op, place, action, completion, None);
    }
}
