//! Ops that move data: what they move where, read off their operands.

use std::rc::Rc;

use dialects::DataMovement;
use kernel::Mode;

use super::context::Representation;
use super::future::{Future, HandleValue};
use super::host_call::{HostCall, OpResult};
use super::mma::{Accumulator, MatrixOperand, MmaScales, TensorCoreMma, WarpGroupDot};
use super::program_memory::MemoryPlace;
use super::transfer::Transfer;
use tensors::array::ElemType;
use tensors::atomic::scatter;
use tensors::dot::Precision;
use tensors::extreme::Extreme;
use tensors::shape::places_along;
use tensors::tile::slice;
use tensors::{Descriptor, RuntimeValue, TensorValue, Trap};

/// A tile's number in an answer of cluster launch control; what is not granted is 0.
fn encode_clc_answer(tile: Option<[i64; 3]>) -> i64 {
    tile.map_or(0, |[x, y, z]| 1 + x + (y << 20) + (z << 40))
}

/// A coordinate of the tile that an answer grants.
fn clc_coordinate(answer: i64, axis: usize) -> i64 {
    match axis {
        0 => (answer - 1) & 0xf_ffff,
        1 => (answer - 1) >> 20 & 0xf_ffff,
        _ => (answer - 1) >> 40,
    }
}

/// Moves the data of an op. Where its effects did not happen, nothing is moved.
pub(super) fn execute(call: &mut HostCall<'_, '_, '_>, movement: DataMovement) -> OpResult {
    if matches!(movement, DataMovement::ClcGranted | DataMovement::ClcProgram) {
        return call.clc_part();
    }
    if call.done.is_empty() {
        return Ok(());
    }
    match movement {
        DataMovement::Alloc | DataMovement::Store => call.store(),
        DataMovement::Load => call.load(),
        DataMovement::LocalGather => call.local_gather(),
        DataMovement::LocalScatter => call.local_scatter(),
        DataMovement::LocalAtomic => call.local_atomic(),
        DataMovement::CopyIn | DataMovement::BufferIn => call.copy_in(),
        DataMovement::CopyOut => call.copy_out(),
        DataMovement::TmaLoad | DataMovement::TdmLoad => call.block_in(),
        DataMovement::TmaStore | DataMovement::TmaReduce | DataMovement::TdmStore => call.block_out(),
        DataMovement::TmaGather | DataMovement::TdmGather => call.rows_in(),
        DataMovement::TmaScatter | DataMovement::TdmScatter => call.rows_out(),
        DataMovement::SharedStore => call.shared_store(),
        DataMovement::RemoteCopy => call.remote_copy(),
        DataMovement::TmemCopy => call.tmem_copy(),
        DataMovement::Dot => call.dot(),
        DataMovement::Mma => call.mma(),
        DataMovement::ClcRequest => call.clc_request(),
        DataMovement::ClcLoad | DataMovement::ClcQuery => call.clc_load(),
        _ => Ok(()),
    }
}

impl HostCall<'_, '_, '_> {
    /// Registers to memory; an allocation's place is its result.
    fn store(&mut self) -> OpResult {
        let tensor = self.tensor("src")?;
        let into = if self.has("dst") {
            self.memory_place("dst")?.0
        } else {
            let value = self.tree().results(self.host.op).first().copied();
            let (Some(value), Some((view, _))) = (value, self.views.first()) else { return Ok(()) };
            self.program.place(self.run.context, self.cta, Some(*view), value)?
        };
        Ok(self.program.memories.write(&into, &tensor)?)
    }

    /// Memory to registers.
    fn load(&mut self) -> OpResult {
        let (from, _) = self.memory_place("src")?;
        let mut tensor = self.program.memories.read(&from)?;
        let number = self.run.context.machine.cta_of(self.thread);
        if let Some(&value) = self.tree().results(self.host.op).first() {
            let ty = self.run.context.type_of(value, number)?;
            let fits = ty.tile.shape == *tensor.shape();
            if !fits && from.ty.tile.is_whole() && ty.tile.whole == from.ty.tile.whole {
                tensor = slice(&tensor, &ty.tile);
            } else if !fits {
                return Err(Trap::not_followed("registers and memory are cut differently among the CTAs").into());
            }
        }
        if let Some(kind) = self.attr_text("redOp") {
            let extreme = Extreme {
                greatest: kind.contains("max"),
                absolute: self.site().flag("abs"),
                nan: self.site().flag("NaN"),
            };
            let last = self.info.results.len().saturating_sub(1);
            self.give(last, RuntimeValue::Tensor(extreme.of(&tensor)?));
        } else if self.info.results.len() > 2 {
            return Err(Trap::not_followed("a load that reduces in another way is not followed").into());
        }
        self.give(0, RuntimeValue::Tensor(tensor));
        Ok(())
    }

    fn local_gather(&mut self) -> OpResult {
        let source = self.program.memories.read(&self.memory_place("src")?.0)?;
        let indices = self.tensor("indices")?;
        let places = self.places_along_axis(&source, &indices)?;
        let picked = source.dense().pick(indices.shape().clone(), places.into_iter());
        self.give(0, RuntimeValue::Tensor(picked));
        Ok(())
    }

    fn local_scatter(&mut self) -> OpResult {
        let (into, _) = self.memory_place("dst")?;
        let (values, indices) = (self.tensor("values")?, self.tensor("indices")?);
        let old = self.program.memories.read(&into)?;
        let mut bits: Vec<u64> = (0..old.len()).map(|at| old.bits(at)).collect();
        for (from, place) in self.places_along_axis(&old, &indices)?.into_iter().enumerate() {
            if let Some(element) = bits.get_mut(place) {
                *element = values.bits(from);
            }
        }
        let new = TensorValue::from_bits(old.dtype(), old.shape().clone(), bits.into_iter());
        Ok(self.program.memories.write(&into, &new)?)
    }

    fn local_atomic(&mut self) -> OpResult {
        let (into, _) = self.memory_place("dst")?;
        let (values, indices, mask) = (self.tensor("values")?, self.tensor("indices")?, self.optional_tensor("mask")?);
        let old = self.program.memories.read(&into)?;
        // Where an element is kept out, its index may be anything.
        let in_use = |at: usize| mask.as_ref().is_none_or(|mask| mask.bits(at) & 1 != 0);
        let bits = (0..indices.len()).map(|at| if in_use(at) { indices.bits(at) } else { 0 });
        let indices = TensorValue::from_bits(indices.dtype(), indices.shape().clone(), bits);
        let places = self.places_along_axis(&old, &indices)?;
        let kind = self.attr_text("atomic_rmw_op").unwrap_or_default();
        let (new, found) = scatter(kind, &old, &places, &values, mask.as_ref())?;
        self.program.memories.write(&into, &new)?;
        self.give(0, RuntimeValue::Tensor(found));
        Ok(())
    }

    /// For each index the element of a tensor that it names along the op's axis.
    fn places_along_axis(&self, of: &TensorValue, indices: &TensorValue) -> OpResult<Vec<usize>> {
        let axis = self.site().int("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
        Ok(places_along(of, indices, axis)?)
    }

    /// `cp.async` and its like. AMD's buffer loads read 0 past the end of their buffer, and kernels count on it;
    /// deviation: the buffer that Triton names has no end.
    fn copy_in(&mut self) -> OpResult {
        let buffer = self.has("dest");
        let (into, _) = self.memory_place(if buffer { "dest" } else { "result" })?;
        let pointers = if buffer { self.buffer_addresses(into.ty.dtype)? } else { self.tensor("src")? };
        let (mask, other) = (self.optional_tensor("mask")?, self.optional_tensor("other")?);
        self.issue_first(false, Transfer::PointersIn { pointers, mask, other, zero_outside: buffer, into })
    }

    fn copy_out(&mut self) -> OpResult {
        let (from, _) = self.memory_place("src")?;
        let (pointers, mask) = (self.tensor("dst")?, self.optional_tensor("mask")?);
        self.issue_first(false, Transfer::PointersOut { pointers, mask, from })
    }

    /// Addresses from a base and offsets in elements.
    fn buffer_addresses(&mut self, dtype: ElemType) -> OpResult<TensorValue> {
        let base = self.int_or("ptr", 0)?;
        let offsets = self.tensor("offsets")?;
        let bits = (0..offsets.len()).map(|at| (base + offsets.int_at(at) * dtype.bytes() as i64) as u64);
        Ok(TensorValue::from_bits(ElemType::I64, offsets.shape().clone(), bits))
    }

    /// A block of a tensor into each CTA that the operation reaches.
    fn block_in(&mut self) -> OpResult {
        let (desc, at) = self.block()?;
        if self.has("offsets") {
            return Err(Trap::not_followed("im2col is not followed").into());
        }
        let block = |into| Transfer::BlockIn { desc: desc.clone(), at: at.clone(), into };
        self.issue_into_each("result", self.is_in_order(), block)
    }

    /// Whether the op's operations end in the order of their issue, as those of AMD's data mover do.
    fn is_in_order(&self) -> bool {
        use DataMovement::{TdmGather, TdmLoad, TdmScatter, TdmStore};
        matches!(self.info.data_movement, TdmLoad | TdmStore | TdmGather | TdmScatter)
    }

    /// The descriptor, and the coordinates of the block; AMD's descriptors have them in themselves.
    fn block(&mut self) -> OpResult<(Rc<Descriptor>, Vec<i64>)> {
        let desc = self.descriptor()?;
        let at = if self.has("coord") { self.ints("coord")? } else { vec![0; desc.shape.len()] };
        Ok((desc, at))
    }

    fn block_out(&mut self) -> OpResult {
        let (desc, at) = self.block()?;
        let (from, _) = self.memory_place("src")?;
        let reduces = self.info.data_movement == DataMovement::TmaReduce;
        let combine = reduces.then(|| Rc::from(self.attr_text("kind").unwrap_or_default().trim_matches('"')));
        self.issue_first(self.is_in_order(), Transfer::BlockOut { desc, at, from, combine })
    }

    /// The descriptor, the rows that are copied, and the column that they start in.
    fn rows(&mut self) -> OpResult<(Rc<Descriptor>, Vec<i64>, i64)> {
        let desc = self.descriptor()?;
        let groups = ["x_offsets", "src_row_indices", "dst_row_indices"];
        let group = groups.into_iter().find(|group| self.has(group));
        let group = group.ok_or_else(|| Trap::not_followed("which rows it copies is not known"))?;
        Ok((desc, self.tensor(group)?.ints(), self.int_or("y_offset", 0)?))
    }

    fn rows_in(&mut self) -> OpResult {
        let (desc, rows, column) = self.rows()?;
        let group = if self.has("result") { "result" } else { "dst" };
        let transfer = |into| Transfer::RowsIn { desc: desc.clone(), rows: rows.clone(), column, into };
        self.issue_into_each(group, self.is_in_order(), transfer)
    }

    fn rows_out(&mut self) -> OpResult {
        let (desc, rows, column) = self.rows()?;
        let (from, _) = self.memory_place("src")?;
        self.issue_first(self.is_in_order(), Transfer::RowsOut { desc, rows, column, from })
    }

    /// Registers into memory that an access names, maybe of another CTA.
    fn shared_store(&mut self) -> OpResult {
        let tensor = self.tensor("src")?;
        let into = self.written_place()?;
        // A part of it would belong to another CTA's memory.
        if into.ty.tile.shape != *tensor.shape() {
            return Err(Trap::not_followed("registers and memory are cut differently among the CTAs").into());
        }
        self.issue_first(false, Transfer::Put { tensor, into })
    }

    /// The place of the access that writes.
    fn written_place(&self) -> OpResult<MemoryPlace> {
        let (_, value) = self.memory_place("dst")?;
        let view = self.views.iter().find(|(_, mode)| *mode == Mode::Write).map(|(view, _)| *view);
        Ok(self.program.place(self.run.context, self.cta, view, value)?)
    }

    /// Shared memory to that of another CTA.
    fn remote_copy(&mut self) -> OpResult {
        let (from, _) = self.memory_place("src")?;
        let into = self.written_place()?;
        self.issue_first(false, Transfer::Move { from, into })
    }

    /// Shared memory to tensor memory, in each CTA that takes part.
    fn tmem_copy(&mut self) -> OpResult {
        let ((from, source), (_, target)) = (self.memory_place("src")?, self.memory_place("dst")?);
        let into = self.written_place()?;
        let mut operations = self.done.clone();
        operations.dedup_by_key(|done| done.cta);
        for done in operations {
            let from = self.run.context.place_in(&from, done.cta, source)?;
            let into = self.run.context.place_in(&into, done.cta, target)?;
            self.issue(&done, true, Transfer::Move { from, into })?;
        }
        Ok(())
    }

    /// An operand of a product: registers, or memory of the CTAs that hold parts of it.
    fn matrix_operand(&mut self, group: &str, ctas: &[u16]) -> OpResult<MatrixOperand> {
        let missing = || Trap::not_followed(format!("its operand `{group}` is missing"));
        let position = self.position(group).ok_or_else(missing)?;
        if self.info.operands.get(position) != Some(&Representation::View) {
            return self.tensor(group).map(MatrixOperand::Tensor);
        }
        let (place, value) = self.memory_place(group)?;
        let places = ctas.iter().map(|cta| self.run.context.place_in(&place, *cta, value));
        Ok(MatrixOperand::Memory(places.collect::<Result<_, _>>()?))
    }

    fn dot(&mut self) -> OpResult {
        let own = [self.run.context.machine.cta_of(self.thread)];
        let (a, b) = (self.matrix_operand("a", &own)?, self.matrix_operand("b", &own)?);
        let adds = self.int_or("useC", 1)? & 1 == 1;
        let before = self.position("c").and_then(|position| self.host.operands.get(position).copied().flatten());
        let accumulator = match before.and_then(|var| self.program.handle(self.cta, var)) {
            Some(HandleValue::Future(future)) => Accumulator::Future(future.clone()),
            _ => Accumulator::Value(self.tensor("c")?),
        };
        let Some(done) = self.done.first().copied() else { return Ok(()) };
        let Some(Some(result)) = self.host.results.first().copied() else { return Ok(()) };
        let future = Rc::new(Future::default());
        self.program.put(self.cta, result, Some(HandleValue::Future(future.clone())));
        if self.has_seen(&done)
            && let Accumulator::Future(before) = &accumulator
        {
            while before.value().is_none() {
                let Some(next) = self.program.pending.take_towards(before) else { break };
                self.program.perform(self.run, next)?;
            }
        }
        let dot = WarpGroupDot { a, b, accumulator, adds, precision: Precision::Tf32 };
        self.issue(&done, true, Transfer::Dot(Box::new(dot), future))
    }

    fn mma(&mut self) -> OpResult {
        let mut ctas: Vec<u16> = self.done.iter().map(|done| done.cta).collect();
        ctas.sort_unstable();
        ctas.dedup();
        let adds = self.int_or("useD", 1)? & 1 == 1;
        let (into, value) = self.memory_place("d")?;
        for &cta in &ctas {
            let Some(done) = self.done.iter().find(|done| done.cta == cta).copied() else { continue };
            let into = self.run.context.place_in(&into, cta, value)?;
            let a = self.matrix_operand("a", &[cta])?;
            let mut b = self.matrix_operand("b", &[cta])?;
            let b_columns = match &b {
                MatrixOperand::Memory(places) => places.first().and_then(|place| place.ty.tile.shape.last().copied()),
                MatrixOperand::Tensor(tensor) => tensor.shape().last().copied(),
            };
            // Each CTA of a pair holds a part of B's columns, and needs all of them.
            let split = ctas.len() > 1 && b_columns != into.ty.tile.shape.last().copied();
            let b_ctas = if split { &ctas[..] } else { std::slice::from_ref(&cta) };
            if split {
                b = self.matrix_operand("b", b_ctas)?;
            }
            let scaled = if self.has("a_scale") {
                let kind = |name| self.attr_text(name).map(Rc::from);
                let kinds = (kind("a_type"), kind("b_type"));
                Some(MmaScales {
                    a: self.matrix_operand("a_scale", &[cta])?,
                    b: self.matrix_operand("b_scale", b_ctas)?,
                    kinds,
                })
            } else {
                None
            };
            let product = TensorCoreMma { a, b, scaled, into, adds, precision: Precision::Tf32 };
            self.issue(&done, true, Transfer::Multiply(Box::new(product)))?;
        }
        Ok(())
    }

    /// The answer of cluster launch control, in every CTA that gets it.
    fn clc_request(&mut self) -> OpResult {
        let group = if self.has("result") { "result" } else { "clcResAlloc" };
        let answer = encode_clc_answer(self.run.granted) as u64;
        self.issue_into_each(group, false, |into| {
            let tensor = TensorValue::splat(into.ty.dtype, into.ty.tile.shape.clone(), answer);
            Transfer::Put { tensor, into }
        })
    }

    fn clc_load(&mut self) -> OpResult {
        let query = self.info.data_movement == DataMovement::ClcQuery;
        let (from, _) = self.memory_place(if query { "clcResAlloc" } else { "src" })?;
        let answer = self.program.memories.read(&from)?.int_at(0);
        if !query {
            self.give(0, RuntimeValue::int(64, answer));
            return Ok(());
        }
        for axis in 0..3 {
            let coordinate = if answer > 0 { clc_coordinate(answer, axis) } else { -1 };
            self.give(axis, RuntimeValue::int(32, coordinate));
        }
        Ok(())
    }

    /// Whether an answer grants a tile, or a coordinate of it.
    fn clc_part(&mut self) -> OpResult {
        let answer = self.operand(0)?.as_int().unwrap_or(0);
        let value = if self.info.data_movement == DataMovement::ClcGranted {
            RuntimeValue::int(1, i64::from(answer > 0))
        } else {
            let axis = match self.attr_text("dim").unwrap_or("x") {
                "y" | "1" | "1 : i32" => 1,
                "z" | "2" | "2 : i32" => 2,
                _ => 0,
            };
            RuntimeValue::int(32, clc_coordinate(answer, axis))
        };
        self.give(0, value);
        Ok(())
    }
}
