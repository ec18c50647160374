//! Accesses of global memory.

use dialects::{Amdg, OpCode, Tt, Ttg, Ttng};
use ttgir::{OpId, ValueId};

use super::{Elements, Extractor, Pointer, Target, Value};
use crate::limits::extract::LANES;
use crate::program::{Access, Action, Base, Completion, Loop, MemSyncScope, Ordering, Source, Step, Update};
use terms::{BinOp, Term};

/// Where an access goes, before it is one.
pub(super) struct Place {
    pub(super) base: Target,
    pub(super) offset: Term,
    pub(super) bytes: u32,
    pub(super) lanes: Box<[i64]>,
    pub(super) mask: Term,
}

impl Place {
    /// The same place in another tensor.
    pub(super) fn with(&self, base: Target) -> Place {
        Place { base, lanes: self.lanes.clone(), ..*self }
    }
}

impl Extractor<'_> {
    /// Follows `op` where it accesses global memory; false where it does not.
    pub(super) fn memory_op(&mut self, op: OpId) -> bool {
        let tree = self.tree;
        let Some(code) = tree.code(op) else { return self.by_name(op) };
        let group = |name: &str| tree.group(op, name).first().copied();
        match code {
            OpCode::Tt(Tt::Load) => {
                self.through(op, group("ptr"), group("mask"), Action::Load, Completion::Done, None);
            }
            OpCode::Tt(Tt::Store) => {
                self.through(op, group("ptr"), group("mask"), Action::Store, Completion::Done, group("value"));
            }
            OpCode::Tt(Tt::AtomicRmw) => {
                let action = Action::Atomic(self.update(op), self.ordering(op));
                self.through(op, group("ptr"), group("mask"), action, Completion::Done, group("val"));
            }
            OpCode::Tt(Tt::AtomicCas) => {
                let action = Action::Atomic(Update::CompareExchange, self.ordering(op));
                let before = self.program.accesses.len();
                self.through(op, group("ptr"), group("mask"), action, Completion::Done, group("val"));
                if let Some(compare) = group("cmp").and_then(|cmp| self.int(cmp)) {
                    self.program.accesses[before..].iter_mut().for_each(|made| made.compare = Some(compare.term));
                }
            }
            OpCode::Tt(Tt::AtomicLoad) => {
                let action = Action::Atomic(Update::Keep, self.ordering(op));
                self.through(
                    op,
                    tree.operands(op).first().copied(),
                    self.mask_of(op, 1),
                    action,
                    Completion::Done,
                    None,
                );
            }
            OpCode::Tt(Tt::AtomicStore) => {
                let action = Action::Atomic(Update::Exchange, self.ordering(op));
                let operands = tree.operands(op);
                let (pointer, value) = (operands.first().copied(), operands.get(1).copied());
                self.through(op, pointer, self.mask_of(op, 2), action, Completion::Done, value);
            }
            OpCode::Tt(Tt::AtomicPoll) => self.poll(op),
            OpCode::Ttg(Ttg::AsyncCopyGlobalToLocal) => {
                self.through(op, group("src"), group("mask"), Action::Load, Completion::Copied, None);
            }
            OpCode::Amdg(Amdg::BufferLoad | Amdg::BufferLoadToLocal) => {
                self.buffer(op, Action::Load, None);
            }
            OpCode::Amdg(Amdg::BufferStore) => self.buffer(op, Action::Store, group("value")),
            OpCode::Amdg(Amdg::BufferAtomicRmw) => {
                let action = Action::Atomic(self.update(op), self.ordering(op));
                self.buffer(op, action, group("value"));
            }
            OpCode::Amdg(Amdg::BufferAtomicCas) => {
                let action = Action::Atomic(Update::CompareExchange, self.ordering(op));
                self.buffer(op, action, group("val"));
            }
            OpCode::Tt(Tt::MakeTensorDescriptor) => self.make_descriptor(op),
            OpCode::Tt(Tt::DescriptorLoad) => self.block_access(op, Action::Load, Completion::Done),
            OpCode::Tt(Tt::DescriptorStore) => self.block_access(op, Action::Store, Completion::Done),
            OpCode::Tt(Tt::DescriptorReduce) => self.block_access(op, REDUCE, Completion::Done),
            OpCode::Tt(Tt::DescriptorGather) => self.row_access(op, Action::Load, Completion::Done),
            OpCode::Tt(Tt::DescriptorScatter) => self.row_access(op, Action::Store, Completion::Done),
            OpCode::Ttng(Ttng::AsyncTmaCopyGlobalToLocal) => {
                self.block_access(op, Action::Load, Completion::Copied);
            }
            OpCode::Ttng(Ttng::AsyncTmaCopyLocalToGlobal) => {
                self.block_access(op, Action::Store, Completion::StoreWait);
            }
            OpCode::Amdg(Amdg::UpdateTensorDescriptor) => self.update_descriptor(op),
            OpCode::Amdg(Amdg::AsyncTdmCopyGlobalToLocal | Amdg::AsyncTdmFusedCopyGlobalToLocal) => {
                self.mover_access(op, Action::Load, Completion::Counted);
            }
            OpCode::Amdg(Amdg::AsyncTdmCopyLocalToGlobal) => {
                let completion = self.mover_completion(op);
                self.mover_access(op, Action::Store, completion);
            }
            OpCode::Amdg(Amdg::AsyncTdmGather) => {
                self.mover_rows(op, "src_row_indices", Action::Load, Completion::Counted);
            }
            OpCode::Amdg(Amdg::AsyncTdmScatter) => {
                let completion = self.mover_completion(op);
                self.mover_rows(op, "dst_row_indices", Action::Store, completion);
            }
            OpCode::Ttng(Ttng::AsyncTmaReduce) => self.block_access(op, REDUCE, Completion::StoreWait),
            OpCode::Ttng(Ttng::AsyncTmaGather) => self.row_access(op, Action::Load, Completion::Copied),
            OpCode::Ttng(Ttng::AsyncTmaScatter) => self.row_access(op, Action::Store, Completion::StoreWait),
            _ => return self.by_name(op),
        }
        for &result in tree.results(op) {
            if !self.values.contains_key(&result) {
                let value = self.unknown(result);
                self.bind(result, value);
            }
        }
        true
    }

    /// Ops of earlier releases, which are declared by name alone.
    fn by_name(&mut self, op: OpId) -> bool {
        match self.tree.op_name(op) {
            "tt.make_tensor_ptr" => self.make_block_pointer(op),
            "tt.advance" => self.advance(op),
            _ => return false,
        }
        true
    }

    /// The mask among the operands of an op without groups, if it has one.
    fn mask_of(&self, op: OpId, at: usize) -> Option<ValueId> {
        let operand = self.tree.operands(op).get(at).copied()?;
        self.int_type(operand).filter(|(_, bits)| *bits == 1).map(|_| operand)
    }

    /// The word of an attribute, as the assembly form writes it.
    fn word(&self, op: OpId, name: &str) -> String {
        let Some(attr) = self.tree.attr(op, name) else { return String::new() };
        let text = self.tree.attr_str(attr).unwrap_or_else(|| self.tree.attr_text(attr));
        text.trim().trim_matches('"').to_owned()
    }

    pub(super) fn ordering(&self, op: OpId) -> Ordering {
        let (mut sem, mut scope) = (self.word(op, "sem"), self.word(op, "scope"));
        if sem.is_empty() || scope.is_empty() {
            // Forms that no declaration reads word by word.
            let range = self.tree.op_header_range(op);
            let text = self.tree.text().get(range.start as usize..range.end as usize).unwrap_or("");
            for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                match word {
                    "relaxed" | "acquire" | "release" | "acq_rel" if sem.is_empty() => sem = word.to_owned(),
                    "cta" | "gpu" | "sys" if scope.is_empty() => scope = word.to_owned(),
                    _ => {}
                }
            }
        }
        // The numbers are those of Triton's enumerations: relaxed 1, acquire 2, release 3, acq_rel 4; gpu 1, cta 2, sys 3.
        let number = |text: &str| text.split(':').next().unwrap_or("").trim().to_owned();
        let (sem, scope) = (number(&sem), number(&scope));
        Ordering {
            acquire: matches!(sem.as_str(), "acquire" | "acq_rel" | "2" | "4"),
            release: matches!(sem.as_str(), "release" | "acq_rel" | "3" | "4"),
            scope: match scope.as_str() {
                "cta" | "2" => MemSyncScope::Cta,
                "sys" | "3" => MemSyncScope::System,
                _ => MemSyncScope::Gpu,
            },
        }
    }

    fn update(&self, op: OpId) -> Update {
        let word = self.word(op, "atomic_rmw_op");
        match word.split(':').next().unwrap_or("").trim() {
            "and" | "1" => Update::And,
            "or" | "2" => Update::Or,
            "xor" | "3" => Update::Xor,
            "add" | "4" => Update::Add,
            "max" | "6" => Update::MaxS,
            "min" | "7" => Update::MinS,
            "umax" | "8" => Update::MaxU,
            "umin" | "9" => Update::MinU,
            "exch" | "10" => Update::Exchange,
            _ => Update::Float,
        }
    }

    /// An access through a pointer, or through a block pointer.
    fn through(
        &mut self,
        op: OpId,
        pointer: Option<ValueId>,
        mask: Option<ValueId>,
        action: Action,
        completion: Completion,
        value: Option<ValueId>,
    ) -> Option<u32> {
        let place = match pointer.map(|pointer| self.value(pointer)) {
            Some(Value::Pointer(pointer)) => {
                let mask = match mask.map(|mask| self.int(mask)) {
                    None => self.program.terms.truth(true),
                    Some(Some(mask)) => mask.term,
                    Some(None) => self.program.terms.truth(true),
                };
                let Pointer { lanes, base, offset, bytes } = pointer;
                Place { base, offset, bytes, lanes, mask }
            }
            Some(Value::Descriptor(descriptor)) if !descriptor.place.is_empty() => {
                let checked = self.tree.attr(op, "boundaryCheck").map(|attr| self.tree.attr_ints(attr));
                self.block_place(&descriptor, &descriptor.place, &checked.unwrap_or_default())
            }
            _ if action == Action::Load => {
                self.read_somewhere(op);
                return None;
            }
            _ => {
                self.gap(op, "where this accesses global memory is not followed");
                return None;
            }
        };
        Some(self.access(op, place, action, completion, value))
    }

    /// A read of which nothing is known but that it is one.
    pub(super) fn read_somewhere(&mut self, op: OpId) {
        let offset = self.program.terms.int(0, 64);
        let mask = self.program.terms.truth(true);
        let place = Place { base: Target::Tensor(Base::Unknown), offset, bytes: 1, lanes: [].into(), mask };
        self.access(op, place, Action::Load, Completion::Done, None);
    }

    /// Notes an access; gives its number.
    pub(super) fn access(
        &mut self,
        op: OpId,
        place: Place,
        action: Action,
        completion: Completion,
        value: Option<ValueId>,
    ) -> u32 {
        let base = match place.base {
            Target::Tensor(base) => base,
            Target::Choice(choice) => return self.either_access(op, choice, &place, action, completion, value),
        };
        let number = self.program.accesses.len() as u32;
        let mut value = value.and_then(|value| self.int(value)).map(|value| value.term);
        let Place { mut offset, mut bytes, mut lanes, mut mask, .. } = place;
        let mut base = base;
        if lanes.iter().fold(1, |count: i64, size| count.saturating_mul(*size)) > LANES {
            self.gap(op, "an access of more than 2^24 elements is not followed");
            (base, bytes, lanes, value) = (Base::Unknown, 1, [].into(), None);
            (offset, mask) = (self.program.terms.int(0, 64), self.program.terms.truth(true));
        }
        let result = self.tree.results(op).first().copied();
        let read = result.and_then(|result| Some((result, self.int_type(result)?)));
        let mut source = None;
        if let Some((result, (shape, bits))) = read
            && action != Action::Store
        {
            let made = self.source(Source::Access(number));
            let whole = self.whole(made, shape, bits);
            self.bind(result, Value::Int(whole));
            source = Some(made);
        }
        self.program.accesses.push(Access {
            op,
            action,
            completion,
            base,
            offset,
            bytes,
            lanes,
            mask,
            path: self.path,
            value,
            compare: None,
            source,
            loops: self.loops.clone().into(),
        });
        self.steps.push(Step::Access(number));
        number
    }

    /// An access of AMD's, through a scalar pointer and offsets in elements.
    fn buffer(&mut self, op: OpId, action: Action, value: Option<ValueId>) {
        let tree = self.tree;
        let operand = |name: &str| tree.group(op, name).first().copied();
        let pointer = operand("ptr").map(|pointer| self.value(pointer));
        let offsets = operand("offsets");
        let (Some(Value::Pointer(pointer)), Some(offsets)) = (pointer, offsets) else {
            return self.gap(op, "where this accesses global memory is not followed");
        };
        let Some(by) = self.wide(offsets) else {
            return self.gap(op, "where this accesses global memory is not followed");
        };
        let mask = operand("mask").and_then(|mask| self.int(mask)).map(|mask| mask.term);
        let terms = &mut self.program.terms;
        let mask = mask.unwrap_or_else(|| terms.truth(true));
        let size = terms.int(i64::from(pointer.bytes), 64);
        let by = terms.binary(BinOp::Mul, by, size);
        let offset = terms.binary(BinOp::Add, pointer.offset, by);
        let lanes = self.lanes(offsets);
        let place = Place { base: pointer.base, offset, bytes: pointer.bytes, lanes, mask };
        self.access(op, place, action, Completion::Done, value);
    }

    /// Reads one word until it is what is expected.
    fn poll(&mut self, op: OpId) {
        let tree = self.tree;
        let operands = tree.operands(op);
        let action = Action::Atomic(Update::Keep, self.ordering(op));
        let pointer = operands.first().copied();
        let expected = operands.get(1).and_then(|value| self.int(*value));
        let (Some(Value::Pointer(pointer)), Some(expected)) = (pointer.map(|pointer| self.value(pointer)), expected)
        else {
            return self.gap(op, "what this waits for in global memory is not followed");
        };
        let rounds = self.source(Source::Rounds);
        let number = self.program.loops.len() as u32;
        let outer = std::mem::take(&mut self.steps);
        self.loops.push(number);
        let mask = self.program.terms.truth(true);
        let Pointer { lanes, mut base, offset, bytes } = pointer;
        if let Target::Choice(_) = base {
            base = Target::Tensor(Base::Unknown);
        }
        let made = self.access(op, Place { base, offset, bytes, lanes, mask }, action, Completion::Done, None);
        self.loops.pop();
        let source = self.source(Source::Access(made));
        self.program.accesses[made as usize].source = Some(source);
        let bits = self.program.terms.bits(expected.term);
        let read = self.whole(source, expected.lanes.clone(), bits);
        let terms = &mut self.program.terms;
        let condition = terms.binary(BinOp::Ne, read.term, expected.term);
        let matched = terms.binary(BinOp::Eq, read.term, expected.term);
        let range = tree.op_range(op);
        self.program.loops.push(Loop { condition, carried: Vec::new(), trips: None, rounds, range });
        let before = std::mem::replace(&mut self.steps, outer);
        self.steps.push(Step::Loop(number, before, Vec::new()));
        self.path = self.program.terms.and(self.path, matched);
        if let Some(&result) = tree.results(op).first() {
            let term = self.program.terms.truth(true);
            self.bind(result, Value::Int(Elements { lanes: [].into(), term }));
        }
    }
}

/// A reduction of the tensor memory accelerator: atomic, and ordered with nothing.
const REDUCE: Action =
    Action::Atomic(Update::Float, Ordering { acquire: false, release: false, scope: MemSyncScope::Gpu });
