//! Layouts: their classes, what they default to, and their text as attributes of the IR.
//!
//! Deviation: what Triton computes of layouts in C++ (the linear form of a layout, the register layout for
//! a tensor memory access) has unknown bases here. How the CTAs of a cluster share a descriptor is kept.

use std::rc::Rc;

use builtins::operand::{field, flag, int, int_list, ints, list, need};
use python::emit::{Attr, Op};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Earlier, LibClass, NOTHING, Part, Row};
use python::value::{DType, Object, Value};

const DISTRIBUTED: &str = "gl.DistributedLayout";
const SHARED: &str = "gl.SharedLayout";
/// How releases up to 3.5 said what the CTAs of a cluster share.
const CTAS: &[(&str, Earlier)] =
    &[("ctas_per_cga", Earlier::One), ("cta_split_num", Earlier::One), ("cta_order", Earlier::Ignored)];
const BARRIER: &str = "gl.nvidia.ampere.mbarrier.MBarrierLayout";

pub(super) const PART: Part = Part {
    classes: &[
        LibClass::new(DISTRIBUTED, "", &[], 4, plain),
        LibClass::new(SHARED, "", &[], 4, plain),
        LibClass::new("gl.AutoLayout", "", &[DISTRIBUTED], 5, plain),
        LibClass::new("gl.CoalescedLayout", "", &[DISTRIBUTED], 6, plain),
        LibClass::new(
            "gl.BlockedLayout",
            "size_per_thread, threads_per_warp, warps_per_cta, order, cga_layout=[]",
            &[DISTRIBUTED],
            4,
            blocked,
        )
        .earlier(CTAS),
        LibClass::new("gl.SliceLayout", "dim, parent", &[DISTRIBUTED], 4, plain),
        LibClass::new(
            "gl.DistributedLinearLayout",
            "reg_bases, lane_bases, warp_bases, block_bases, shape",
            &[DISTRIBUTED],
            4,
            plain,
        ),
        LibClass::new("gl.DotOperandLayout", "operand_index, parent, k_width", &[DISTRIBUTED], 5, plain),
        LibClass::new(
            "gl.NVMMADistributedLayout",
            "version, warps_per_cta, instr_shape, cga_layout=[]",
            &[DISTRIBUTED],
            4,
            with_cga,
        )
        .earlier(CTAS),
        LibClass::new(
            "gl.NVMMASharedLayout",
            "swizzle_byte_width, element_bitwidth, rank=2, transposed=False, fp4_padded=False, cga_layout=[]",
            &[SHARED],
            4,
            nvmma,
        )
        .text(nvmma_text)
        .earlier(CTAS),
        LibClass::new(
            "gl.SwizzledSharedLayout",
            "vec, per_phase, max_phase, order, cga_layout=[]",
            &[SHARED],
            4,
            with_cga,
        )
        .text(swizzled_text)
        .earlier(CTAS),
        LibClass::new(
            "gl.PaddedSharedLayout",
            "interval_padding_pairs, offset_bases, cga_layout=[], shape=[]",
            &[SHARED],
            6,
            with_cga,
        )
        .text(padded_text)
        .earlier(&[("block_bases", Earlier::One)]),
        LibClass::new("gl.SharedLinearLayout", "offset_bases, block_bases=[], alignment=16", &[SHARED], 6, with_cga)
            .text(linear_text),
        LibClass::new(BARRIER, "cga_layout=None", &["gl.SwizzledSharedLayout", SHARED], 4, barrier).text(swizzled_text),
        LibClass::new(
            "gl.nvidia.blackwell.TensorMemoryLayout",
            "block, col_stride=1, cga_layout=[], two_ctas=False, fp4_padded=False",
            &[],
            4,
            tensor_memory,
        )
        // Whether elements below 32 bits have a column each: packed or not is no matter of synchronisation.
        .text(tensor_memory_text)
        .earlier(&[("unpacked", Earlier::Ignored), ("cta_split_num", Earlier::One)]),
        LibClass::new("gl.nvidia.blackwell._TensorMemoryLinearLayout", "rows, cols, shape", &[], 6, |interp, _, _| {
            interp.unknown("tensor memory whose bases are given one by one is not followed")
        }),
        LibClass::new("gl.nvidia.blackwell.TensorMemoryScalesLayout", "cga_layout=[]", &[], 5, with_cga)
            .text(scales_text),
        LibClass::new(
            "gl.nvidia.rubin.TensorMemoryScalesLayout",
            "cga_layout=[], block_rep_order='mnThenK'",
            &["gl.nvidia.blackwell.TensorMemoryScalesLayout"],
            8,
            with_cga,
        )
        .text(scales_text),
    ],
    rows: &[
        Row::new(
            "triton._C.libtriton.gluon_ir.make_cga_layout",
            "ctas_per_cga, cta_split_num, cta_order",
            6,
            cga_layout,
        ),
        Row::new(
            "gl.NVMMASharedLayout.get_default_for",
            "block_shape, dtype, transposed=False, fp4_padded=False, cga_layout=None",
            4,
            |interp, bound| {
                let shape = ints(interp, need(interp, bound, "block_shape")?, "block_shape")?;
                let dtype = builtins::operand::dtype(interp, need(interp, bound, "dtype")?, "dtype")?;
                let transposed = flag(interp, bound.get("transposed"), false, "transposed")?;
                let padded = flag(interp, bound.get("fp4_padded"), false, "fp4_padded")?;
                let cga = cga_of(interp, bound.get("cga_layout"))?;
                let made = default_shared(interp, &shape, dtype, transposed, padded, &cga)?;
                if let Value::Object(layout) = &made {
                    interp.doubt_ctas(layout);
                }
                Ok(made)
            },
        ),
        Row::new("gl.nvidia.ampere.mbarrier.MBarrierLayout.multicta", "num_ctas, two_cta=False", 7, |interp, bound| {
            let ctas = int(interp, need(interp, bound, "num_ctas")?, "num_ctas")?;
            let pairs = flag(interp, bound.get("two_cta"), false, "two_cta")?;
            multicta(interp, ctas, pairs)
        }),
        Row::new(
            "gl.PaddedSharedLayout.with_identity_for",
            "interval_padding_pairs, shape, order, cga_layout=[]",
            6,
            with_identity,
        ),
        Row::new("gl.DistributedLayout.@rank", "self", 4, |interp, bound| {
            let of = need(interp, bound, "self")?;
            rank(interp, of).map(|rank| Value::Int(rank.into()))
        }),
        Row::new("gl.SliceLayout.@cga_layout", "self", 7, |interp, bound| {
            let of = need(interp, bound, "self")?;
            Ok(bases(&cga(interp, of)?))
        }),
        Row::new("gl.DotOperandLayout.@cga_layout", "self", 7, |interp, bound| {
            let of = need(interp, bound, "self")?;
            Ok(bases(&cga(interp, of)?))
        }),
        Row::new("gl.SharedLinearLayout.@shape", "self", 6, |interp, bound| {
            let of = need(interp, bound, "self")?;
            let Value::Object(object) = of else { return interp.unknown("the layout is not known") };
            let mut largest: Vec<i64> = Vec::new();
            for name in ["offset_bases", "block_bases"] {
                for basis in bases_of(interp, field(object, name), name)? {
                    largest.resize(basis.len().max(largest.len()), 0);
                    largest.iter_mut().zip(basis).for_each(|(most, value)| *most = value.max(*most));
                }
            }
            Ok(int_list(
                largest.into_iter().map(|most| 1_i64.checked_shl(i64::BITS - most.leading_zeros()).unwrap_or(1)),
            ))
        }),
    ],
    ..NOTHING
};

/// An object of a class of the table.
pub(super) fn object<'a>(interp: &Interp<'a>, path: &str, fields: Vec<(&'static str, Value<'a>)>) -> Eval<'a> {
    match interp.library.class(path) {
        Some(class) => Ok(Value::Object(Rc::new(Object { class, fields }))),
        None => interp.unknown(format!("`{path}` is not known")),
    }
}

/// The object that a constructor was asked for, with its fields as they were given, or else with what stands
/// in `defaults`.
pub(super) fn build<'a>(
    class: &'static LibClass,
    bound: &Bound<'a>,
    defaults: &[(&'static str, Value<'a>)],
) -> Object<'a> {
    let fields = bound.iter().map(|(name, value)| {
        let default = || defaults.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        (name, value.cloned().or_else(default).unwrap_or(Value::None))
    });
    Object { class, fields: fields.collect() }
}

fn plain<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Object(Rc::new(build(class, bound, &[]))))
}

fn with_cga<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let defaults = [
        ("cga_layout", int_list([])),
        ("shape", int_list([])),
        ("block_bases", int_list([])),
        ("alignment", Value::Int(16)),
        ("block_rep_order", Value::Str("mnThenK".into())),
    ];
    Ok(Value::Object(Rc::new(build(class, bound, &defaults))))
}

fn blocked<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let mut ranks = Vec::new();
    for name in ["size_per_thread", "threads_per_warp", "warps_per_cta", "order"] {
        if let Value::Tuple(_) | Value::List(_) = need(interp, bound, name)? {
            ranks.push(list(interp, need(interp, bound, name)?, name)?.len());
        }
    }
    if ranks.windows(2).any(|pair| pair[0] != pair[1]) {
        return interp.raise("the lists of a `BlockedLayout` have different lengths");
    }
    with_cga(interp, class, bound)
}

fn nvmma<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let known = |name: &str| match bound.get(name) {
        Some(Value::Int(value)) => Some(*value),
        _ => None,
    };
    if known("swizzle_byte_width").is_some_and(|width| ![0, 32, 64, 128].contains(&width)) {
        return interp.raise("`swizzle_byte_width` is 0, 32, 64 or 128");
    }
    if known("element_bitwidth").is_some_and(|width| ![8, 16, 32, 64].contains(&width)) {
        return interp.raise("`element_bitwidth` is 8, 16, 32 or 64");
    }
    let cga = cga_of(interp, bound.get("cga_layout"))?;
    let rank = known("rank").unwrap_or(2);
    if cga.first().is_some_and(|basis| basis.len() as i128 != rank) {
        return interp.raise(format!("`cga_layout` has bases of another length than the rank {rank}"));
    }
    let defaults = [("rank", Value::Int(2)), ("transposed", Value::Bool(false)), ("fp4_padded", Value::Bool(false))];
    let mut made = build(class, bound, &defaults);
    made.fields.iter_mut().filter(|(name, _)| *name == "cga_layout").for_each(|(_, value)| *value = bases(&cga));
    Ok(Value::Object(Rc::new(made)))
}

fn tensor_memory<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let block = need(interp, bound, "block")?;
    if !matches!(block, Value::Unknown(_)) && list(interp, block, "block")?.len() != 2 {
        return interp.raise("`block` has two numbers: rows and columns");
    }
    let defaults = [
        ("col_stride", Value::Int(1)),
        ("cga_layout", int_list([])),
        ("two_ctas", Value::Bool(false)),
        ("fp4_padded", Value::Bool(false)),
    ];
    let mut made = build(class, bound, &defaults);
    for (name, value) in &mut made.fields {
        // Up to 3.5 the second parameter was `unpacked`, a flag.
        if *name == "col_stride" && matches!(value, Value::Bool(_)) {
            *value = Value::Int(1);
        }
    }
    Ok(Value::Object(Rc::new(made)))
}

fn barrier<'a>(interp: &mut Interp<'a>, _: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let cga = cga_of(interp, bound.get("cga_layout"))?;
    barrier_of(interp, &cga)
}

fn barrier_of<'a>(interp: &Interp<'a>, cga: &[Vec<i64>]) -> Eval<'a> {
    let one = || Value::Int(1);
    let fields = vec![
        ("vec", one()),
        ("per_phase", one()),
        ("max_phase", one()),
        ("order", int_list([0])),
        ("cga_layout", bases(cga)),
    ];
    object(interp, BARRIER, fields)
}

/// The layout of barriers of a cluster.
pub(super) fn multicta<'a>(interp: &Interp<'a>, ctas: i64, pairs: bool) -> Eval<'a> {
    if ctas <= 0 || ctas & (ctas - 1) != 0 {
        return interp.raise(format!("`num_ctas` is {ctas} and no power of two"));
    }
    if pairs && ctas % 2 != 0 {
        return interp.raise("barriers of CTA pairs need an even number of CTAs");
    }
    let rest = if pairs { ctas / 2 } else { ctas };
    let mut cga: Vec<Vec<i64>> = if pairs { vec![vec![0]] } else { Vec::new() };
    cga.extend((0..rest.trailing_zeros()).map(|bit| vec![1_i64 << bit]));
    barrier_of(interp, &cga)
}

/// The widest swizzle that fits a block of this shape in one CTA, in bytes; `None` of a block without dimensions.
pub fn default_swizzle(block: &[i64], bits: u32, transposed: bool, padded: bool) -> Option<i64> {
    let mut part = block.to_vec();
    if transposed && !part.is_empty() {
        part.rotate_left(1);
    }
    let (&inner, outer) = part.split_last()?;
    let bytes = inner.saturating_mul(if padded { 2 } else { 1 }).saturating_mul(i64::from(bits)) / 8;
    let fits = |width: i64| bytes >= width && bytes % width == 0;
    let rows = outer.iter().fold(1_i64, |rows, size| rows.saturating_mul(*size));
    if block.len() < 2 || rows < 8 {
        return Some(0);
    }
    Some([128, 64, 32].into_iter().find(|width| fits(*width)).unwrap_or(0))
}

/// `NVMMASharedLayout.get_default_for`: the widest swizzle that fits.
pub(super) fn default_shared<'a>(
    interp: &Interp<'a>,
    shape: &[i64],
    dtype: DType,
    transposed: bool,
    padded: bool,
    cga: &[Vec<i64>],
) -> Eval<'a> {
    let part = per_cta(interp, shape, cga)?;
    let Some(swizzle) = default_swizzle(&part, dtype.bits(), transposed, padded) else {
        return interp.raise("the block has no dimension");
    };
    let fields = vec![
        ("swizzle_byte_width", Value::Int(swizzle.into())),
        ("element_bitwidth", Value::Int(dtype.bits().into())),
        ("rank", Value::Int(shape.len() as i128)),
        ("transposed", Value::Bool(transposed)),
        ("fp4_padded", Value::Bool(padded)),
        ("cga_layout", bases(cga)),
    ];
    object(interp, "gl.NVMMASharedLayout", fields)
}

fn with_identity<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    let order = ints(interp, need(interp, bound, "order")?, "order")?;
    let cga = cga_of(interp, bound.get("cga_layout"))?;
    let part = per_cta(interp, &shape, &cga)?;
    if order.len() != shape.len() || shape.iter().any(|size| *size <= 0 || size & (size - 1) != 0) {
        return interp.raise("sizes are powers of two, and `order` has one number for each");
    }
    let mut offsets = Vec::new();
    for &dim in &order {
        let size = usize::try_from(dim).ok().and_then(|dim| part.get(dim)).copied().unwrap_or(1);
        for bit in 0..size.trailing_zeros() {
            offsets.push((0..shape.len() as i64).map(|at| if at == dim { 1_i64 << bit } else { 0 }).collect());
        }
    }
    let pairs = need(interp, bound, "interval_padding_pairs")?.clone();
    let fields = vec![
        ("interval_padding_pairs", pairs),
        ("offset_bases", bases(&offsets)),
        ("cga_layout", bases(&cga)),
        ("shape", int_list(shape)),
    ];
    object(interp, "gl.PaddedSharedLayout", fields)
}

fn cga_layout<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let ctas = ints(interp, need(interp, bound, "ctas_per_cga")?, "ctas_per_cga")?;
    let split = ints(interp, need(interp, bound, "cta_split_num")?, "cta_split_num")?;
    let order = ints(interp, need(interp, bound, "cta_order")?, "cta_order")?;
    Ok(bases(&cga_bases(&ctas, &split, &order)))
}

/// How the CTAs of a cluster share a tensor: along each dimension, the innermost first, the bits that cut it and
/// then those whose CTAs hold the same part.
fn cga_bases(ctas: &[i64], split: &[i64], order: &[i64]) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    for dim in order.iter().filter_map(|dim| usize::try_from(*dim).ok()) {
        let (Some(&ctas), Some(&cut)) = (ctas.get(dim), split.get(dim)) else { continue };
        let bits = |count: i64| if count > 0 { count.trailing_zeros() } else { 0 };
        for bit in 0..bits(ctas) {
            let value = if bit < bits(cut) { 1_i64 << bit } else { 0 };
            all.push((0..order.len()).map(|at| if at == dim { value } else { 0 }).collect());
        }
    }
    all
}

/// A list of bases as a value.
pub(super) fn bases<'a>(all: &[Vec<i64>]) -> Value<'a> {
    let items: Vec<Value<'a>> = all.iter().map(|basis| int_list(basis.iter().copied())).collect();
    Value::List(Rc::new(items.into()))
}

fn bases_of<'a>(interp: &Interp<'a>, value: Option<&Value<'a>>, name: &str) -> Result<Vec<Vec<i64>>, Stop> {
    match value {
        None | Some(Value::None) => Ok(Vec::new()),
        Some(value) => list(interp, value, name)?.iter().map(|basis| ints(interp, basis, name)).collect(),
    }
}

fn cga_of<'a>(interp: &Interp<'a>, value: Option<&Value<'a>>) -> Result<Vec<Vec<i64>>, Stop> {
    bases_of(interp, value, "cga_layout")
}

/// How the CTAs of a cluster share what has this layout: a basis for each bit of a CTA's number.
pub(super) fn cga<'a>(interp: &Interp<'a>, layout: &Value<'a>) -> Result<Vec<Vec<i64>>, Stop> {
    let Value::Object(object) = layout else { return Ok(Vec::new()) };
    let inner = |name: &str| field(object, name).cloned().unwrap_or(Value::None);
    match object.class.path {
        "gl.SliceLayout" => {
            let dim = int(interp, &inner("dim"), "dim")?;
            let mut all = cga(interp, &inner("parent"))?;
            for basis in &mut all {
                match usize::try_from(dim).ok().filter(|dim| *dim < basis.len()) {
                    Some(dim) => drop(basis.remove(dim)),
                    None => return interp.raise("a `SliceLayout` of a dimension that its parent does not have"),
                }
            }
            Ok(all)
        }
        "gl.DotOperandLayout" => {
            let first = int(interp, &inner("operand_index"), "operand_index")? == 0;
            let mut all = cga(interp, &inner("parent"))?;
            for basis in &mut all {
                let at = basis.len().checked_sub(if first { 1 } else { 2 });
                if let Some(value) = at.and_then(|at| basis.get_mut(at)) {
                    *value = 0;
                }
            }
            Ok(all)
        }
        "gl.SharedLinearLayout" => {
            // In CTAs along each dimension, not in elements.
            let blocks = bases_of(interp, field(object, "block_bases"), "block_bases")?;
            let mut seen: Vec<u32> = Vec::new();
            let made = blocks.into_iter().map(|basis| {
                seen.resize(basis.len().max(seen.len()), 0);
                let units = basis.iter().zip(&mut seen).map(|(&value, seen)| {
                    let unit = if value == 0 { 0 } else { 1_i64.checked_shl(*seen).unwrap_or(0) };
                    *seen += u32::from(value != 0);
                    unit
                });
                units.collect()
            });
            Ok(made.collect())
        }
        _ => cga_of(interp, field(object, "cga_layout")),
    }
}

/// An op with how the CTAs of a cluster share its registers, which their type does not say here: `registers.cga`.
pub(super) fn shared_by_ctas<'a>(interp: &Interp<'a>, op: Op, layout: &Value<'a>) -> Op {
    if interp.num_ctas <= 1 {
        return op;
    }
    match cga(interp, layout) {
        Ok(bases) if !bases.is_empty() => op.attr("registers.cga", Attr::Word(format!("{bases:?}"))),
        _ => op,
    }
}

/// The part of a shape that one CTA has.
pub(super) fn per_cta(interp: &Interp<'_>, shape: &[i64], cga: &[Vec<i64>]) -> Result<Vec<i64>, Stop> {
    let mut part = shape.to_vec();
    for (dim, size) in part.iter_mut().enumerate() {
        let largest = cga.iter().filter_map(|basis| basis.get(dim)).copied().max().unwrap_or(0);
        let ctas = if largest <= 0 { 1 } else { largest.saturating_mul(2) };
        if *size % ctas != 0 {
            return interp.raise(format!("dimension {dim} of {shape:?} cannot be cut among {ctas} CTAs"));
        }
        *size /= ctas;
    }
    Ok(part)
}

/// The number of dimensions that a register layout is for.
fn rank<'a>(interp: &Interp<'a>, layout: &Value<'a>) -> Result<i64, Stop> {
    let Value::Object(object) = layout else { return interp.unknown("the layout is not known") };
    let length = |name: &str| match field(object, name) {
        Some(value) => list(interp, value, name).map(|items| items.len() as i64),
        None => interp.unknown("the layout is not known"),
    };
    let parent = || field(object, "parent").cloned().unwrap_or(Value::None);
    match object.class.path {
        "gl.BlockedLayout" => length("order"),
        "gl.SliceLayout" => rank(interp, &parent()).map(|rank| rank - 1),
        "gl.DotOperandLayout" => rank(interp, &parent()),
        "gl.DistributedLinearLayout" => length("shape"),
        "gl.AutoLayout" | "gl.CoalescedLayout" => interp.raise("this layout has no rank"),
        _ => length("warps_per_cta"),
    }
}

/// A register layout of which only the shape is known.
pub(super) fn opaque_registers<'a>(interp: &Interp<'a>, shape: &[i64]) -> Eval<'a> {
    let unknown = || Value::Unknown("Triton computes this layout itself".into());
    let fields = vec![
        ("reg_bases", unknown()),
        ("lane_bases", unknown()),
        ("warp_bases", unknown()),
        ("block_bases", unknown()),
        ("shape", int_list(shape.iter().copied())),
    ];
    object(interp, "gl.DistributedLinearLayout", fields)
}

/// A layout of shared memory of which only is known how CTAs share it; `blocks` counts elements.
pub(super) fn opaque_shared<'a>(interp: &Interp<'a>, blocks: &[Vec<i64>]) -> Eval<'a> {
    let fields = vec![
        ("offset_bases", Value::Unknown("Triton computes this layout itself".into())),
        ("block_bases", bases(blocks)),
        ("alignment", Value::Int(128)),
    ];
    object(interp, "gl.SharedLinearLayout", fields)
}

/// Padded memory whose bases and padding Triton computes: one interval and its padding, whatever the operand.
pub(super) fn opaque_padded<'a>(interp: &Interp<'a>, shape: &[i64]) -> Eval<'a> {
    let unknown = || Value::Unknown("Triton computes this layout itself".into());
    let pair = Value::Tuple(Rc::from([unknown(), unknown()]));
    let fields = vec![
        ("interval_padding_pairs", Value::List(Rc::new(vec![pair].into()))),
        ("offset_bases", unknown()),
        ("cga_layout", int_list([])),
        ("shape", int_list(shape.iter().copied())),
    ];
    object(interp, "gl.PaddedSharedLayout", fields)
}

/// Whether a value is not known, or a part of it.
fn is_open(value: &Value<'_>) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::List(items) => items.borrow().iter().any(is_open),
        Value::Tuple(items) => items.iter().any(is_open),
        _ => false,
    }
}

/// A field that is a number; 0 where there is no such field.
fn number(interp: &Interp<'_>, object: &Object<'_>, name: &str) -> Result<i64, Stop> {
    field(object, name).map_or(Ok(0), |value| int(interp, value, name))
}

/// A field that is a list of numbers.
fn numbers<'a>(interp: &Interp<'a>, object: &Object<'a>, name: &str) -> Result<Vec<i64>, Stop> {
    field(object, name).map_or(Ok(Vec::new()), |value| ints(interp, value, name))
}

/// `, CGALayout = [[1, 0]]`, or nothing.
fn cga_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let cga = cga_of(interp, field(object, "cga_layout"))?;
    Ok(if cga.is_empty() { String::new() } else { format!(", CGALayout = {cga:?}") })
}

fn nvmma_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let cga = cga_text(interp, object)?;
    let padded = if number(interp, object, "fp4_padded")? != 0 { ", fp4Padded = true" } else { "" };
    let rank = match number(interp, object, "rank")? {
        rank if rank != 2 && cga.is_empty() => format!(", rank = {rank}"),
        _ => String::new(),
    };
    let (swizzle, bits) = (number(interp, object, "swizzle_byte_width")?, number(interp, object, "element_bitwidth")?);
    let transposed = number(interp, object, "transposed")? != 0;
    Ok(format!(
        "#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = {transposed}, elementBitWidth = {bits}{padded}{rank}{cga}}}>"
    ))
}

pub(super) fn swizzled_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let cga = cga_text(interp, object)?;
    let number = |name| number(interp, object, name);
    let (vec, per, most) = (number("vec")?, number("per_phase")?, number("max_phase")?);
    let order = numbers(interp, object, "order")?;
    Ok(format!("#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = {order:?}{cga}}}>"))
}

fn linear_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let offsets = match field(object, "offset_bases") {
        Some(Value::Unknown(_)) => Vec::new(),
        other => bases_of(interp, other, "offset_bases")?,
    };
    let blocks = bases_of(interp, field(object, "block_bases"), "block_bases")?;
    let blocks = if blocks.is_empty() { String::new() } else { format!(", block = {blocks:?}") };
    let alignment = number(interp, object, "alignment")?;
    Ok(format!("#ttg.shared_linear<{{offset = {offsets:?}{blocks}}}, alignment = {alignment}>"))
}

fn tensor_memory_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let [rows, columns] = numbers(interp, object, "block")?[..] else {
        return interp.raise("`block` has two numbers: rows and columns");
    };
    let (stride, cga) = (number(interp, object, "col_stride")?, cga_text(interp, object)?);
    let padded = if number(interp, object, "fp4_padded")? != 0 { ", fp4Padded = true" } else { "" };
    let pairs = if number(interp, object, "two_ctas")? != 0 { ", twoCTAs = true" } else { "" };
    Ok(format!(
        "#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = {stride}{cga}{pairs}{padded}>"
    ))
}

fn scales_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let cga = cga_text(interp, object)?;
    Ok(format!("#ttng.tensor_memory_scales_encoding<{}>", cga.trim_start_matches(", ")))
}

fn padded_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    if ["interval_padding_pairs", "offset_bases"].iter().any(|name| field(object, name).is_some_and(is_open)) {
        return Ok("#ttg.shared_linear<{offset = []}, alignment = 128>".to_owned());
    }
    let cga = cga_of(interp, field(object, "cga_layout"))?;
    let pairs = bases_of(interp, field(object, "interval_padding_pairs"), "interval_padding_pairs")?;
    let offsets = bases_of(interp, field(object, "offset_bases"), "offset_bases")?;
    let pairs: Vec<String> = pairs
        .iter()
        .map(|pair| match pair[..] {
            [interval, padding] => format!("{interval}:+{padding}"),
            _ => String::new(),
        })
        .collect();
    // Bases of CTAs count elements here.
    let shape = match field(object, "shape") {
        Some(shape) => ints(interp, shape, "shape")?,
        None => Vec::new(),
    };
    let part = per_cta(interp, &shape, &cga)?;
    let blocks: Vec<Vec<i64>> = cga
        .iter()
        .map(|basis| basis.iter().zip(&part).map(|(unit, size)| unit.saturating_mul(*size)).collect())
        .collect();
    Ok(format!("#ttg.padded_shared<[{}] {{offset = {offsets:?}, block = {blocks:?}}}>", pairs.join(", ")))
}
