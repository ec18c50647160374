//! Ops that move data: what they move where, read off their operands.

use std::rc::Rc;

use dialects::DataMovement;
use kernel::Mode;

use super::driver::LaunchState;
use super::host_ops::HostCall;
use super::mma::{Accumulator, MatrixOperand, MmaScales, TensorCoreMma, WarpGroupDot};
use super::program::{Halt, HandleValue, Program};
use super::transfer::{MemoryPlace, Transfer};
use super::transfer_queue::Future;
use super::value::dot::Precision;
use super::value::tensor::{Sizes, strides};
use super::value::tile::slice;
use super::value::{Tensor, Trap, Value};
use crate::array::ElemType;

/// A tile's number in an answer of cluster launch control; what is not granted is 0.
fn pack(tile: Option<[i64; 3]>) -> i64 {
    tile.map_or(0, |[x, y, z]| 1 + x + (y << 20) + (z << 40))
}

/// A coordinate of it.
fn unpack(answer: i64, axis: usize) -> i64 {
    match axis {
        0 => (answer - 1) & 0xf_ffff,
        1 => (answer - 1) >> 20 & 0xf_ffff,
        _ => (answer - 1) >> 40,
    }
}

type Moved = Result<(), Halt>;

impl<'k> Program<'k> {
    fn trap(at: &HostCall<'_>, why: impl Into<Rc<str>>) -> Halt {
        Halt::Trap(at.host.op, Trap::NotFollowed(why.into()))
    }

    /// Registers to memory; an allocation's place is its result.
    pub(super) fn store(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let tensor = self.tensor(run, at, "src")?;
        let into = match run.context.place(at.host.op, "dst") {
            Some(_) => self.at(run, at, "dst")?.0,
            None => {
                let value = run.context.tree.results(at.host.op).first().copied();
                let (Some(value), Some((view, _))) = (value, at.views.first()) else { return Ok(()) };
                let place = self.place(run.context, at.cta, Some(*view), value);
                place.map_err(|trap| Halt::Trap(at.host.op, trap))?
            }
        };
        self.memories.write(&into, &tensor).map_err(|trap| Halt::Trap(at.host.op, trap))
    }

    /// Memory to registers.
    pub(super) fn load(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let (from, _) = self.at(run, at, "src")?;
        let mut tensor = self.memories.read(&from).map_err(|trap| Halt::Trap(at.host.op, trap))?;
        let number = run.context.machine.cta_of(at.thread);
        if let Some(&value) = run.context.tree.results(at.host.op).first() {
            let ty = run.context.type_of(value, number).map_err(|trap| Halt::Trap(at.host.op, trap))?;
            let fits = ty.tile.shape == *tensor.shape();
            if !fits && from.ty.tile.is_whole() && ty.tile.whole == from.ty.tile.whole {
                tensor = slice(&tensor, &ty.tile);
            } else if !fits {
                return Err(Self::trap(at, "registers and memory are cut differently among the CTAs"));
            }
        }
        if at.info.results.len() > 2 {
            return Err(Self::trap(at, "a load that reduces is not followed"));
        }
        self.give(at, 0, Value::Tensor(tensor));
        Ok(())
    }

    pub(super) fn local_gather(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let (from, _) = self.at(run, at, "src")?;
        let source = self.memories.read(&from).map_err(|trap| Halt::Trap(at.host.op, trap))?;
        let indices = self.tensor(run, at, "indices")?;
        let places = along(&source, &indices, self.axis(run, at)).ok_or_else(|| Self::trap(at, "an index outside"))?;
        let picked = source.dense().pick(indices.shape().clone(), places.into_iter());
        self.give(at, 0, Value::Tensor(picked));
        Ok(())
    }

    pub(super) fn local_scatter(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let (into, _) = self.at(run, at, "dst")?;
        let (values, indices) = (self.tensor(run, at, "values")?, self.tensor(run, at, "indices")?);
        let old = self.memories.read(&into).map_err(|trap| Halt::Trap(at.host.op, trap))?;
        let places = along(&old, &indices, self.axis(run, at)).ok_or_else(|| Self::trap(at, "an index outside"))?;
        let mut bits: Vec<u64> = (0..old.len()).map(|at| old.bits(at)).collect();
        for (from, place) in places.into_iter().enumerate() {
            if let Some(slot) = bits.get_mut(place) {
                *slot = values.bits(from);
            }
        }
        let made = Tensor::from_bits(old.dtype(), old.shape().clone(), bits.into_iter());
        self.memories.write(&into, &made).map_err(|trap| Halt::Trap(at.host.op, trap))
    }

    fn axis(&self, run: &LaunchState<'_, 'k>, at: &HostCall<'_>) -> usize {
        let tree = run.context.tree;
        let axis = tree.attr(at.host.op, "axis").and_then(|attr| tree.attr_int(attr));
        axis.and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0)
    }

    /// `cp.async` and its like. AMD's buffer loads read 0 past the end of their buffer, and kernels count on it;
    /// deviation: the buffer that Triton names has no end.
    pub(super) fn copy_in(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let buffer = run.context.place(at.host.op, "dest").is_some();
        let (into, _) = self.at(run, at, if buffer { "dest" } else { "result" })?;
        let pointers = if buffer { self.offset(run, at, into.ty.dtype)? } else { self.tensor(run, at, "src")? };
        let mask = self.optional(run, at, "mask")?;
        let other = self.optional(run, at, "other")?;
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        self.issue(run, at, &done, false, Transfer::PointersIn { pointers, mask, other, strays: buffer, into })
    }

    pub(super) fn copy_out(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let (from, _) = self.at(run, at, "src")?;
        let (pointers, mask) = (self.tensor(run, at, "dst")?, self.optional(run, at, "mask")?);
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        self.issue(run, at, &done, false, Transfer::PointersOut { pointers, mask, from })
    }

    fn optional(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
    ) -> Result<Option<Tensor>, Halt> {
        Ok(self.group(run, at, group)?.and_then(|value| value.as_tensor().cloned()))
    }

    /// Pointers from a base and offsets in elements.
    fn offset(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>, dtype: ElemType) -> Result<Tensor, Halt> {
        let base = self.group(run, at, "ptr")?.and_then(|base| base.as_int()).unwrap_or(0);
        let offsets = self.tensor(run, at, "offsets")?;
        let bits = (0..offsets.len()).map(|at| (base + offsets.int_at(at) * dtype.bytes() as i64) as u64);
        Ok(Tensor::from_bits(ElemType::I64, offsets.shape().clone(), bits))
    }

    /// A block of a tensor into each CTA that the operation reaches.
    pub(super) fn block_in(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let desc = self.descriptor(run, at)?;
        let coordinates = self.coordinates(run, at, desc.shape.len())?;
        if !run.context.places(at.host.op, "offsets").is_empty() {
            return Err(Self::trap(at, "im2col is not followed"));
        }
        let (into, value) = self.at(run, at, "result")?;
        for done in at.done.clone() {
            let into = self.in_cta(run.context, &into, done.cta, value);
            let into = into.map_err(|trap| Halt::Trap(at.host.op, trap))?;
            let act = Transfer::BlockIn { desc: desc.clone(), at: coordinates.clone(), into };
            self.issue(run, at, &done, Self::in_turn(at), act)?;
        }
        Ok(())
    }

    /// AMD's data mover works in order.
    fn in_turn(at: &HostCall<'_>) -> bool {
        matches!(
            at.info.data_movement,
            DataMovement::TdmLoad | DataMovement::TdmStore | DataMovement::TdmGather | DataMovement::TdmScatter
        )
    }

    /// The coordinates; AMD's descriptors have them in themselves.
    fn coordinates(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>, rank: usize) -> Result<Vec<i64>, Halt> {
        if run.context.places(at.host.op, "coord").is_empty() {
            return Ok(vec![0; rank]);
        }
        self.ints(run, at, "coord")
    }

    pub(super) fn block_out(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let desc = self.descriptor(run, at)?;
        let coordinates = self.coordinates(run, at, desc.shape.len())?;
        let (from, _) = self.at(run, at, "src")?;
        let tree = run.context.tree;
        let combine = match at.info.data_movement {
            DataMovement::TmaReduce => {
                let kind = tree.attr(at.host.op, "kind").map_or("", |attr| tree.attr_text(attr).trim());
                Some(Rc::from(kind.trim_matches('"')))
            }
            _ => None,
        };
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        self.issue(run, at, &done, Self::in_turn(at), Transfer::BlockOut { desc, at: coordinates, from, combine })
    }

    fn rows(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Result<(Vec<i64>, i64), Halt> {
        for group in ["x_offsets", "src_row_indices", "dst_row_indices"] {
            if run.context.place(at.host.op, group).is_some() {
                let rows = self.tensor(run, at, group)?.ints();
                let column = self.group(run, at, "y_offset")?.and_then(|value| value.as_int()).unwrap_or(0);
                return Ok((rows, column));
            }
        }
        Err(Self::trap(at, "which rows it copies is not known"))
    }

    pub(super) fn rows_in(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let desc = self.descriptor(run, at)?;
        let (rows, column) = self.rows(run, at)?;
        let group = if run.context.place(at.host.op, "result").is_some() { "result" } else { "dst" };
        let (into, value) = self.at(run, at, group)?;
        for done in at.done.clone() {
            let into = self.in_cta(run.context, &into, done.cta, value);
            let into = into.map_err(|trap| Halt::Trap(at.host.op, trap))?;
            let act = Transfer::RowsIn { desc: desc.clone(), rows: rows.clone(), column, into };
            self.issue(run, at, &done, Self::in_turn(at), act)?;
        }
        Ok(())
    }

    pub(super) fn rows_out(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let desc = self.descriptor(run, at)?;
        let (rows, column) = self.rows(run, at)?;
        let (from, _) = self.at(run, at, "src")?;
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        self.issue(run, at, &done, Self::in_turn(at), Transfer::RowsOut { desc, rows, column, from })
    }

    /// Registers into memory that an access names, maybe of another CTA.
    pub(super) fn shared_store(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let tensor = self.tensor(run, at, "src")?;
        let into = self.written(run, at)?;
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        self.issue(run, at, &done, false, Transfer::Put { tensor, into })
    }

    /// The place of the access that writes.
    fn written(&self, run: &LaunchState<'_, 'k>, at: &HostCall<'_>) -> Result<MemoryPlace, Halt> {
        let (_, value) = self.at(run, at, "dst")?;
        let view = at.views.iter().find(|(_, mode)| *mode == Mode::Write).map(|(view, _)| *view);
        self.place(run.context, at.cta, view, value).map_err(|trap| Halt::Trap(at.host.op, trap))
    }

    /// Memory to memory: to another CTA's, or to tensor memory.
    pub(super) fn copy(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let ((from, source), (_, target)) = (self.at(run, at, "src")?, self.at(run, at, "dst")?);
        let into = self.written(run, at)?;
        let ordered = at.info.data_movement == DataMovement::TmemCopy;
        let mut ctas: Vec<_> = at.done.clone();
        ctas.dedup_by_key(|done| done.cta);
        if !ordered {
            ctas.truncate(1);
        }
        for done in ctas {
            let (from, into) = if ordered {
                let from = self.in_cta(run.context, &from, done.cta, source);
                let into = self.in_cta(run.context, &into, done.cta, target);
                let trap = |trap| Halt::Trap(at.host.op, trap);
                (from.map_err(trap)?, into.map_err(trap)?)
            } else {
                (from.clone(), into.clone())
            };
            self.issue(run, at, &done, ordered, Transfer::Move { from, into })?;
        }
        Ok(())
    }

    /// An operand of a product: registers, or memory of the CTAs that hold parts of it.
    fn factor(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
        ctas: &[u16],
    ) -> Result<MatrixOperand, Halt> {
        let Some(place) = run.context.place(at.host.op, group) else {
            return Err(Self::trap(at, format!("its operand `{group}` is missing")));
        };
        if at.info.operands.get(place) != Some(&super::context::Representation::View) {
            return self.tensor(run, at, group).map(MatrixOperand::Tensor);
        }
        let (place, value) = self.at(run, at, group)?;
        let places = ctas.iter().map(|cta| self.in_cta(run.context, &place, *cta, value));
        let places = places.collect::<Result<_, _>>().map_err(|trap| Halt::Trap(at.host.op, trap))?;
        Ok(MatrixOperand::Memory(places))
    }

    pub(super) fn dot(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let own = [run.context.machine.cta_of(at.thread)];
        let (a, b) = (self.factor(run, at, "a", &own)?, self.factor(run, at, "b", &own)?);
        let adds = self.group(run, at, "useC")?.and_then(|value| value.as_int()).unwrap_or(1) & 1 == 1;
        let before =
            run.context.place(at.host.op, "c").and_then(|place| at.host.operands.get(place).copied().flatten());
        let open = before.and_then(|var| self.slot(at.cta, var)).and_then(|slot| match slot {
            HandleValue::Future(future) => Some(future.clone()),
            HandleValue::Value(_) => None,
        });
        let accumulator = match open {
            Some(future) => Accumulator::Future(future),
            None => Accumulator::Value(self.tensor(run, at, "c")?),
        };
        let Some(done) = at.done.first().copied() else { return Ok(()) };
        let Some(Some(result)) = at.host.results.first().copied() else { return Ok(()) };
        let future = Rc::new(Future::default());
        self.put(at.cta, result, Some(HandleValue::Future(future.clone())));
        let dot = WarpGroupDot { a, b, accumulator, adds, precision: self.precision(run, at) };
        let now =
            self.state.threads().get(at.thread).is_some_and(|thread| thread.seen.get(done.channel) >= done.number);
        if now && let Accumulator::Future(before) = &dot.accumulator {
            while before.value().is_none() {
                let Some(next) = self.pending.towards(before) else { break };
                self.perform(run.context, &mut run.world, next)?;
            }
        }
        self.issue(run, at, &done, true, Transfer::Dot(Box::new(dot), future))
    }

    fn precision(&self, run: &LaunchState<'_, 'k>, at: &HostCall<'_>) -> Precision {
        let tree = run.context.tree;
        Precision::named(tree.attr(at.host.op, "inputPrecision").map(|attr| tree.attr_text(attr).trim()))
    }

    pub(super) fn mma(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let mut ctas: Vec<u16> = at.done.iter().map(|done| done.cta).collect();
        ctas.sort_unstable();
        ctas.dedup();
        let adds = self.group(run, at, "useD")?.and_then(|value| value.as_int()).unwrap_or(1) & 1 == 1;
        let (into, value) = self.at(run, at, "d")?;
        let tree = run.context.tree;
        let kind = |name| tree.attr(at.host.op, name).map(|attr| Rc::from(tree.attr_text(attr).trim()));
        for &cta in &ctas {
            let Some(done) = at.done.iter().find(|done| done.cta == cta).copied() else { continue };
            let into = self.in_cta(run.context, &into, cta, value).map_err(|trap| Halt::Trap(at.host.op, trap))?;
            let a = self.factor(run, at, "a", &[cta])?;
            let columns = into.ty.tile.shape.last().copied();
            let mut b = self.factor(run, at, "b", &[cta])?;
            let holds = |b: &MatrixOperand| match b {
                MatrixOperand::Memory(places) => places.first().and_then(|place| place.ty.tile.shape.last().copied()),
                MatrixOperand::Tensor(tensor) => tensor.shape().last().copied(),
            };
            let parted = ctas.len() > 1 && holds(&b) != columns;
            if parted {
                b = self.factor(run, at, "b", &ctas)?;
            }
            let scaled = if run.context.place(at.host.op, "a_scale").is_some() {
                let a = self.factor(run, at, "a_scale", &[cta])?;
                let b = self.factor(run, at, "b_scale", if parted { &ctas } else { std::slice::from_ref(&cta) })?;
                Some(MmaScales { a, b, kinds: (kind("a_type"), kind("b_type")) })
            } else {
                None
            };
            let product = TensorCoreMma { a, b, scaled, into, adds, precision: self.precision(run, at) };
            self.issue(run, at, &done, true, Transfer::Multiply(Box::new(product)))?;
        }
        Ok(())
    }

    /// The answer of cluster launch control, in every CTA that hears it.
    pub(super) fn clc_request(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let group = if run.context.place(at.host.op, "result").is_some() { "result" } else { "clcResAlloc" };
        let (into, value) = self.at(run, at, group)?;
        let answer = pack(run.granted) as u64;
        for done in at.done.clone() {
            let into = self.in_cta(run.context, &into, done.cta, value);
            let into = into.map_err(|trap| Halt::Trap(at.host.op, trap))?;
            let (dtype, sizes) = (into.ty.dtype, into.ty.tile.shape.clone());
            let act = Transfer::Put { tensor: Tensor::splat(dtype, sizes, answer), into };
            self.issue(run, at, &done, false, act)?;
        }
        Ok(())
    }

    pub(super) fn clc_load(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let query = at.info.data_movement == DataMovement::ClcQuery;
        let (from, _) = self.at(run, at, if query { "clcResAlloc" } else { "src" })?;
        let tensor = self.memories.read(&from).map_err(|trap| Halt::Trap(at.host.op, trap))?;
        let answer = tensor.int_at(0);
        if query {
            for axis in 0..3 {
                let place = if answer > 0 { unpack(answer, axis) } else { -1 };
                self.give(at, axis, Value::int(32, place));
            }
        } else {
            self.give(at, 0, Value::int(64, answer));
        }
        Ok(())
    }

    /// A part of an answer.
    pub(super) fn clc_part(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Moved {
        let answer = self.operand(run, at, 0)?.as_int().unwrap_or(0);
        let value = if at.info.data_movement == DataMovement::ClcGranted {
            Value::int(1, i64::from(answer > 0))
        } else {
            let tree = run.context.tree;
            let axis = match tree.attr(at.host.op, "dim").map_or("x", |attr| tree.attr_text(attr).trim()) {
                "y" | "1" | "1 : i32" => 1,
                "z" | "2" | "2 : i32" => 2,
                _ => 0,
            };
            Value::int(32, unpack(answer, axis))
        };
        self.give(at, 0, value);
        Ok(())
    }
}

/// For each element of `indices`, the place in `of` that it names along an axis.
fn along(of: &Tensor, indices: &Tensor, axis: usize) -> Option<Vec<usize>> {
    let (steps, own) = (strides(of.shape()), strides(indices.shape()));
    let sizes: &Sizes = of.shape();
    if sizes.len() != indices.shape().len() || axis >= sizes.len() {
        return None;
    }
    (0..indices.len())
        .map(|at| {
            let mut place = 0;
            for dim in 0..sizes.len() {
                let here = (at as u64 / own[dim]) % indices.shape()[dim];
                let here = if dim == axis { u64::try_from(indices.int_at(at)).ok()? } else { here };
                if here >= sizes[dim] {
                    return None;
                }
                place += here * steps[dim];
            }
            Some(place as usize)
        })
        .collect()
}
