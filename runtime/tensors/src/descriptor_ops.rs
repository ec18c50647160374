//! Operations on tensor descriptors as ones on tensors: loads and stores of blocks, gathers, scatters, reductions.

use std::rc::Rc;

use super::descriptor::Descriptor;
use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg, int};
use super::tile::Tile;
use super::trap::Trap;

/// Reads an operation on descriptors.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    Ok(Some(match site.name() {
        "tt.make_tensor_descriptor" => make(site)?,
        "tt.descriptor_load" => load(site)?,
        "tt.descriptor_store" => store(site, site.word("reduce_kind").filter(|kind| *kind != "none"))?,
        "tt.descriptor_reduce" => store(site, site.word("kind"))?,
        "tt.descriptor_gather" => gather(site)?,
        "tt.descriptor_scatter" => scatter(site)?,
        "amdg.update_tensor_descriptor" => update(site)?,
        "ttng.tensormap_create" => create(site)?,
        "ttng.reinterpret_tensor_descriptor" | "tt.reinterpret_tensor_descriptor" => reinterpret(site)?,
        "ttng.tensormap_fenceproxy_acquire" | "ttng.prefetch_tensormap" => Evaluator::nothing(),
        "ttg.global_scratch_alloc" => {
            let size = site.int("nbytes").and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= 1 << 24);
            let size = size.ok_or_else(|| site.trap("of this size is not followed"))?;
            Evaluator::new(move |_, world| {
                let address = world.global.allocate("scratch", vec![u8::MAX; size]);
                Ok(vec![RuntimeValue::int(64, address as i64)])
            })
        }
        _ => return Ok(None),
    }))
}

/// The descriptor that an operand is.
pub(crate) fn descriptor(operands: &[RuntimeValue], at: usize) -> Result<&Descriptor, Trap> {
    match operands.get(at) {
        Some(RuntimeValue::Descriptor(descriptor)) => Ok(descriptor),
        _ => Err(Trap::not_followed("an operand is no tensor descriptor")),
    }
}

/// A group of integer operands.
fn group(site: &OpSite<'_>, name: &str) -> std::ops::Range<usize> {
    site.tree.group_span(site.op, name).map_or(0..0, |(first, len)| first..first + len)
}

fn ints(operands: &[RuntimeValue], group: &std::ops::Range<usize>) -> Result<Vec<i64>, Trap> {
    group.clone().map(|at| int(operands, at)).collect()
}

fn make(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let block = site.result(0)?;
    let (shape, strides) = (group(site, "shape"), group(site, "strides"));
    let padding = site.text("padding").unwrap_or("");
    let nan = padding.contains("nan") || padding.starts_with('2');
    Ok(Evaluator::new(move |operands, _| {
        let made = Descriptor {
            base: int(operands, 0)? as u64,
            dtype: block.dtype,
            shape: ints(operands, &shape)?,
            strides: ints(operands, &strides)?,
            block: block.tile.whole.to_vec(),
            nan,
            off: false,
        };
        Ok(vec![RuntimeValue::Descriptor(Rc::new(made))])
    }))
}

/// Coordinates of a CTA's tile: those of the block, and where the tile is in it.
pub(crate) fn within(at: &[i64], tile: &Tile) -> Vec<i64> {
    let skipped = at.len().saturating_sub(tile.offset.len());
    let offset = |dim: usize| dim.checked_sub(skipped).and_then(|dim| tile.offset.get(dim)).map_or(0, |at| *at as i64);
    at.iter().enumerate().map(|(dim, at)| at + offset(dim)).collect()
}

fn load(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let ty = site.result(0)?;
    let indices = group(site, "indices");
    Ok(Evaluator::new(move |operands, world| {
        let at = within(&ints(operands, &indices)?, &ty.tile);
        let read = descriptor(operands, 0)?.load(&world.global, &at, ty.shape())?;
        Ok(vec![RuntimeValue::Tensor(read)])
    }))
}

fn store(site: &OpSite<'_>, kind: Option<&str>) -> Result<Evaluator, Trap> {
    let indices = group(site, "indices");
    let src = site.group("src").ok_or_else(|| site.trap("has no source"))?;
    let tile = site.operand(src)?.tile;
    let kind = kind.map(str::to_owned);
    Ok(Evaluator::new(move |operands, world| {
        let at = within(&ints(operands, &indices)?, &tile);
        let (into, from) = (descriptor(operands, 0)?, arg(operands, src)?);
        match &kind {
            _ if !tile.leader => {}
            Some(kind) => into.reduce(&mut world.global, &at, from, kind)?,
            None => into.store(&mut world.global, &at, from)?,
        }
        Ok(Vec::new())
    }))
}

fn gather(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let ty = site.result(0)?;
    let rows = site.operand(1)?;
    if !ty.tile.is_whole() || !rows.tile.is_whole() {
        return Ok(Evaluator::exchange());
    }
    Ok(Evaluator::new(move |operands, world| {
        let (from, rows) = (descriptor(operands, 0)?, arg(operands, 1)?.ints());
        Ok(vec![RuntimeValue::Tensor(from.gather(&world.global, &rows, int(operands, 2)?, ty.shape())?)])
    }))
}

fn scatter(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let src = site.group("src").ok_or_else(|| site.trap("has no source"))?;
    let (rows, tile) = (site.operand(1)?, site.operand(src)?.tile);
    if !tile.is_whole() || !rows.tile.is_whole() {
        return Ok(Evaluator::exchange());
    }
    Ok(Evaluator::new(move |operands, world| {
        let (into, rows) = (descriptor(operands, 0)?, arg(operands, 1)?.ints());
        if tile.leader {
            into.scatter(&mut world.global, &rows, int(operands, 2)?, arg(operands, src)?)?;
        }
        Ok(Vec::new())
    }))
}

/// AMD: a descriptor that starts elsewhere, or ends elsewhere, or copies nothing.
fn update(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (offsets, bounds) = (group(site, "add_offsets"), group(site, "set_bounds"));
    let (pred, clamp) = (site.group("pred"), site.flag("clamp_bounds"));
    Ok(Evaluator::new(move |operands, _| {
        let mut moved = descriptor(operands, 0)?.clone();
        let (offsets, bounds) = (ints(operands, &offsets)?, ints(operands, &bounds)?);
        moved.shift(&offsets, clamp);
        if !bounds.is_empty() {
            moved.shape = bounds;
        }
        if let Some(pred) = pred
            && int(operands, pred)? == 0
        {
            moved.off = true;
        }
        Ok(vec![RuntimeValue::Descriptor(Rc::new(moved))])
    }))
}

/// A tensor map in memory; its innermost dimension is first, its strides count bytes and leave out the innermost.
fn create(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let names = ["box_dim", "global_dim", "global_stride"];
    let [boxes, dims, strides] = names.map(|name| group(site, name));
    let nan = site.int("fill_mode").is_some_and(|mode| mode != 0);
    Ok(Evaluator::new(move |operands, world| {
        let reversed = |mut list: Vec<i64>| {
            list.reverse();
            list
        };
        let made = Descriptor {
            base: int(operands, 1)? as u64,
            dtype: crate::array::ElemType::I8,
            shape: reversed(ints(operands, &dims)?),
            strides: reversed(ints(operands, &strides)?),
            block: reversed(ints(operands, &boxes)?).into_iter().map(|size| size.max(0) as u64).collect(),
            nan,
            ..Descriptor::default()
        };
        world.maps.insert(int(operands, 0)? as u64, made);
        Ok(Vec::new())
    }))
}

/// The tensor map at an address as a descriptor.
fn reinterpret(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let block = site.result(0)?;
    Ok(Evaluator::new(move |operands, world| {
        if let Some(RuntimeValue::Descriptor(same)) = operands.first() {
            return Ok(vec![RuntimeValue::Descriptor(same.clone())]);
        }
        let map = world.maps.get(&(int(operands, 0)? as u64)).cloned();
        let mut made = map.ok_or_else(|| Trap::not_followed("no tensor map was made at the address"))?;
        made.dtype = block.dtype;
        let bytes = block.dtype.bytes() as i64;
        made.strides = made.strides.iter().map(|stride| stride / bytes).chain([1]).collect();
        made.block = block.tile.whole.to_vec();
        Ok(vec![RuntimeValue::Descriptor(Rc::new(made))])
    }))
}
