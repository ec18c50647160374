//! Which part of a tensor a CTA of a cluster holds, read off the layout.
//!
//! A layout maps each bit of a CTA's number to a step in the tensor; a bit whose step is zero does not count, the CTAs
//! that differ in it hold the same part. Layouts come in three spellings: `CGALayout` counts in parts, `block` in
//! elements, `CTAsPerCGA` (Triton up to 3.5) says how many parts there are along each dimension.
//!
//! Missed: parts that are no box of neighbours (a `block` basis below another); they trap.

use ttgir::{Tree, TypeId, ValueId};

use super::tensor::{Sizes, TensorValue, count, strides};
use super::trap::Trap;
use crate::array::{ElemType, offsets};
use crate::limits::tensors::ELEMENTS as MOST;

/// The number of a CTA that stands for the whole cluster: its tile is all of the tensor.
pub const WHOLE: u16 = u16::MAX;

/// A CTA's part of a tensor: a box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Sizes of the part.
    pub shape: Sizes,
    /// Where it starts.
    pub offset: Sizes,
    /// Sizes of the tensor.
    pub whole: Sizes,
    /// Whether no CTA of a lower number holds the same part: such a CTA alone writes where all would write the same.
    pub leader: bool,
    /// Whether another CTA holds the same part.
    pub shared: bool,
}

impl Tile {
    /// All of a tensor.
    pub fn whole(shape: &[u64]) -> Tile {
        let sizes = Sizes::from(shape);
        Tile { shape: sizes.clone(), offset: vec![0; shape.len()].into(), whole: sizes, leader: true, shared: false }
    }

    /// Whether it is all of the tensor.
    pub fn is_whole(&self) -> bool {
        self.shape == self.whole
    }

    /// Whether it holds all of this dimension.
    pub fn covers(&self, dim: usize) -> bool {
        self.shape.get(dim) == self.whole.get(dim)
    }
}

/// A type, as far as values need it.
#[derive(Clone, PartialEq, Debug)]
pub struct TileType {
    /// Of an element; of a pointer `I64`.
    pub dtype: ElemType,
    /// What a pointer points to.
    pub pointee: Option<ElemType>,
    /// The part that one CTA holds; of a scalar, one element without dimensions.
    pub tile: Tile,
}

impl TileType {
    /// Sizes of what one CTA holds.
    pub fn shape(&self) -> &Sizes {
        &self.tile.shape
    }
}

/// Reads the type of a tensor, a scalar, a buffer or a descriptor's block, as CTA `cta` holds it;
/// [`Trap::NotFollowed`] for a type that values do not have.
pub fn read(tree: &Tree, value: ValueId, cta: u16) -> Result<TileType, Trap> {
    match tree.value_type(value) {
        Some(ty) => read_type(tree, ty, cta),
        None => Err(Trap::not_followed(format!("the type of `{}` is not known", tree.value_name(value)))),
    }
}

/// Reads a type, as [`read`] does that of a value.
pub fn read_type(tree: &Tree, ty: TypeId, cta: u16) -> Result<TileType, Trap> {
    let text = tree.type_canonical(ty);
    let unsupported = || Trap::not_followed(format!("the type `{}` is not followed", tree.type_text(ty)));
    let (dims, element) = split(text);
    let (dtype, pointee) = element_type(element).ok_or_else(unsupported)?;
    let mut shape = Vec::with_capacity(dims.len());
    let mut total = 1u64;
    for dim in dims {
        let size = u64::try_from(dim).map_err(|_| unsupported())?;
        total = total.saturating_mul(size);
        shape.push(size);
    }
    if total > MOST {
        return Err(Trap::not_followed(format!("a tensor of {total} elements is not followed")));
    }
    let layout = tree.type_encoding(ty).map_or("", |attr| tree.attr_text(attr));
    let tile = tile(layout, &shape, cta, ctas(tree)).ok_or_else(|| {
        Trap::not_followed(format!("how `{}` is cut among the CTAs is not followed", tree.type_text(ty)))
    })?;
    Ok(TileType { dtype, pointee, tile })
}

/// The sizes and the element of `tensor<128x64xf16, …>`, `!ttg.memdesc<…>`, `!tt.tensordesc<…>`; a scalar has no sizes.
fn split(text: &str) -> (Vec<i64>, &str) {
    let inner = ["tensor<", "!ttg.memdesc<", "!tt.tensordesc<", "!ttng.tensordesc_im2col<"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix));
    let Some(inner) = inner else { return (Vec::new(), text) };
    if inner.starts_with("tensor<") {
        return split(inner);
    }
    let mut dims = Vec::new();
    let mut rest = inner;
    while let Some((size, after)) = rest.split_once('x') {
        let Ok(size) = size.parse::<i64>() else { break };
        dims.push(size);
        rest = after;
    }
    (dims, rest.get(..end(rest)).unwrap_or(rest))
}

/// Where the first `,` or closing bracket outside brackets is.
fn end(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' | b'{' => depth += 1,
            b'>' | b']' | b')' | b'}' | b',' if depth == 0 => return at,
            b'>' | b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// An element type and, of a pointer, what it points to.
fn element_type(text: &str) -> Option<(ElemType, Option<ElemType>)> {
    if let Some(inner) = text.strip_prefix("!tt.ptr<") {
        let name = inner.get(..end(inner))?;
        // A pointer to a descriptor or to a pointer is an address like others, of eight bytes.
        return Some((ElemType::I64, Some(element_type(name).map_or(ElemType::I64, |(dtype, _)| dtype))));
    }
    let dtype = match text {
        "index" => ElemType::I64,
        "tf32" => ElemType::F32,
        _ => ElemType::named(text.strip_prefix(['s', 'u']).filter(|rest| rest.starts_with('i')).unwrap_or(text))?,
    };
    Some((dtype, None))
}

/// CTAs that one program runs in (`ttg.num-ctas`).
fn ctas(tree: &Tree) -> u16 {
    let module = tree.top().first().and_then(|module| tree.attr(*module, "ttg.num-ctas"));
    module.and_then(|attr| tree.attr_int(attr)).and_then(|ctas| u16::try_from(ctas).ok()).unwrap_or(1).clamp(1, 64)
}

/// The tile of a CTA of so many under a layout's canonical text; `None` where it is no box.
fn tile(layout: &str, shape: &[u64], cta: u16, ctas: u16) -> Option<Tile> {
    if cta == WHOLE {
        return Some(Tile::whole(shape));
    }
    let bases = bases(layout, shape)?;
    let mut offset = vec![0; shape.len()];
    let mut cut = vec![0u64; shape.len()];
    let (mut leader, mut shared) = (true, false);
    let none = vec![0; shape.len()];
    for bit in 0..ctas.ilog2() as usize {
        let set = cta >> bit & 1 == 1;
        let mut counts = false;
        for (dim, &step) in bases.get(bit).unwrap_or(&none).iter().enumerate() {
            // A step past the end of the dimension wraps around to zero.
            let step = if step < shape[dim] { step } else { 0 };
            counts |= step != 0;
            cut[dim] |= step;
            if set {
                offset[dim] ^= step;
            }
        }
        leader &= counts || !set;
        shared |= !counts;
    }
    let mut sizes = shape.to_vec();
    for (size, cut) in sizes.iter_mut().zip(&cut) {
        let part = *size >> cut.count_ones();
        if *cut != 0 && (cut + part != *size || part == 0) {
            return None;
        }
        *size = part;
    }
    Some(Tile { shape: sizes.into(), offset: offset.into(), whole: shape.into(), leader, shared })
}

/// Per bit of a CTA's number, the step that it makes along each dimension, in elements.
fn bases(layout: &str, shape: &[u64]) -> Option<Vec<Vec<u64>>> {
    let rank = shape.len();
    let kind = layout.trim_start_matches('#').split('<').next().unwrap_or("");
    if kind.ends_with("slice") {
        let dim: usize = field(layout, "dim")?.parse().ok()?;
        // The parent's size along the dimension that is gone does not matter: nothing of it is left.
        let mut parent = shape.to_vec();
        parent.insert(dim.min(rank), MOST);
        let bases = bases(field(layout, "parent")?, &parent)?;
        return bases.into_iter().map(|mut base| (dim < base.len()).then(|| base.remove(dim)).map(|_| base)).collect();
    }
    if kind.ends_with("dot_op") {
        let mut bases = bases(field(layout, "parent")?, shape)?;
        let inner = if field(layout, "opIdx")? == "0" { rank.checked_sub(1)? } else { rank.checked_sub(2)? };
        for base in &mut bases {
            base[inner] = 0;
        }
        return Some(bases);
    }
    if let Some(text) = field(layout, "CGALayout") {
        return Some(parts(&lists(text)?, shape));
    }
    if let Some(text) = field(layout, "block") {
        return Some(lists(text)?.into_iter().map(|base| pad(base, rank)).collect());
    }
    if let Some(text) = field(layout, "CTAsPerCGA") {
        let number = |name: &str| field(layout, name).map(flat);
        let ctas = flat(text)?;
        let split = number("CTASplitNum").flatten().unwrap_or_else(|| ctas.clone());
        let order = number("CTAOrder").flatten().unwrap_or_else(|| (0..ctas.len() as u64).rev().collect());
        let mut bases = Vec::new();
        for dim in order {
            let dim = dim as usize;
            let (all, own) = (*ctas.get(dim)?, *split.get(dim)?);
            for bit in 0..all.max(1).ilog2() {
                let mut base = vec![0; ctas.len()];
                base[dim] = if 1 << bit < own { 1 << bit } else { 0 };
                bases.push(base);
            }
        }
        return Some(parts(&bases, shape));
    }
    Some(Vec::new())
}

/// Bases that count parts, as ones that count elements: each dimension is cut into as many parts as they reach.
fn parts(bases: &[Vec<u64>], shape: &[u64]) -> Vec<Vec<u64>> {
    let rank = shape.len();
    let padded: Vec<Vec<u64>> = bases.iter().map(|base| pad(base.clone(), rank)).collect();
    let part: Vec<u64> = (0..rank)
        .map(|dim| {
            let reach = padded.iter().fold(0, |all, base| all | base[dim]);
            (shape[dim] / (reach + 1)).max(1)
        })
        .collect();
    padded.into_iter().map(|base| base.iter().zip(&part).map(|(step, part)| step * part).collect()).collect()
}

/// Leading dimensions that a layout does not speak of (slots of a ring) are not cut.
fn pad(mut base: Vec<u64>, rank: usize) -> Vec<u64> {
    while base.len() < rank {
        base.insert(0, 0);
    }
    base.drain(..base.len() - rank);
    base
}

/// The value of a parameter of a layout, up to the end of it; not of a layout within it.
fn field<'t>(layout: &'t str, name: &str) -> Option<&'t str> {
    let mut from = 0;
    while let Some(at) = layout.get(from..)?.find(name) {
        let at = from + at;
        let before = layout[..at].bytes().next_back();
        let rest = layout.get(at + name.len()..)?.trim_start();
        if before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
            && let Some(value) = rest.strip_prefix('=')
        {
            let value = value.trim_start();
            return value.get(..end(value)).map(str::trim_end);
        }
        from = at + name.len();
    }
    None
}

/// The rows of a list of lists `[[1, 0], [0, 2]]`.
fn lists(text: &str) -> Option<Vec<Vec<u64>>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut out = Vec::new();
    let mut rest = inner.trim();
    while let Some(open) = rest.find('[') {
        let close = rest.find(']')?;
        out.push(flat(rest.get(open..=close)?)?);
        rest = &rest[close + 1..];
    }
    Some(out)
}

/// The numbers of a list `[1, 2]`.
fn flat(text: &str) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    inner.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

/// The elements of a box of a row-major tensor, in the order of the box.
pub(super) fn places(shape: &[u64], from: &[u64], of: &[u64]) -> impl Iterator<Item = usize> + use<> {
    let steps = strides(of);
    let start: u64 = from.iter().zip(&steps).map(|(at, step)| at * step).sum();
    offsets(shape, &steps).map(move |offset| (start + offset) as usize)
}

/// The part of a whole tensor that a tile is.
pub fn slice(whole: &TensorValue, tile: &Tile) -> TensorValue {
    if tile.is_whole() {
        return whole.clone();
    }
    whole.pick(tile.shape.clone(), places(&tile.shape, &tile.offset, &tile.whole))
}

/// The tensor that tiles are the parts of.
pub fn assemble(parts: &[(&TensorValue, &Tile)]) -> Option<TensorValue> {
    let (first, tile) = parts.first()?;
    if tile.is_whole() {
        return Some((*first).clone());
    }
    let mut bits = vec![0; count(&tile.whole)];
    for (part, tile) in parts {
        for (at, place) in places(&tile.shape, &tile.offset, &tile.whole).enumerate() {
            if let Some(slot) = bits.get_mut(place) {
                *slot = part.bits(at);
            }
        }
    }
    Some(TensorValue::from_bits(first.dtype(), tile.whole.clone(), bits.into_iter()))
}
