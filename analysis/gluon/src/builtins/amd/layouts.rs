//! AMD's layouts.
//!
//! Deviation: layouts that Triton computes in C++ (of scales, of padded memory) have unknown bases.

use std::rc::Rc;

use super::super::layouts::{build, object, opaque_padded, opaque_registers, swizzled_text};
use builtins::operand::{field, flag, given, int, int_list, ints, list, need};
use python::interp::{Eval, Interp, Stop};
use python::library::types::layout_text;
use python::library::{Args, Bound, Earlier, LibClass, NOTHING, Part, Row};
use python::value::{Object, Value};

const DISTRIBUTED: &str = "gl.DistributedLayout";
const PARTITIONED: &str = "gl.amd.cdna5.PartitionedSharedLayout";

pub(super) const PART: Part = Part {
    classes: &[
        LibClass::new(
            "gl.amd.AMDMFMALayout",
            "version, instr_shape, transposed, warps_per_cta, element_bitwidth=None, tiles_per_warp=None, cga_layout=[]",
            &[DISTRIBUTED],
            5,
            mfma,
        )
        .earlier(&[("ctas_per_cga", Earlier::One), ("cta_split_num", Earlier::One), ("cta_order", Earlier::Ignored)]),
        LibClass::new(
            "gl.amd.AMDWMMALayout",
            "version, transposed, warp_bases, reg_bases=None, instr_shape=None, cga_layout=[], rank=None",
            &[DISTRIBUTED],
            6,
            wmma,
        ),
        LibClass::new(
            "gl.intel.IntelDPASLayout",
            "repeatCount, systolic_depth, execution_size, ops_per_chan, warps_per_cta, rep_cluster, \
             threads_per_warp, cta_order=None",
            &[DISTRIBUTED],
            9,
            |_, class, bound| Ok(Value::Object(Rc::new(build(class, bound, &[])))),
        ),
        LibClass::new(
            PARTITIONED,
            "num_partitions, num_groups, partition_dim, partition_layout",
            &["gl.SharedLayout"],
            7,
            partitioned,
        )
        .text(partitioned_text),
        LibClass::new(
            "gl.amd.cdna5.mbarrier.MBarrierLayout",
            "cga_layout=None",
            &["gl.SwizzledSharedLayout", "gl.SharedLayout"],
            6,
            barrier,
        )
        .text(swizzled_text),
    ],
    rows: &[
        Row::new("gl.amd.cdna5.get_wmma_scale_layout", "dot_operand_layout, shape, scale_factor=32", 6, scales),
        Row::new("gl.amd.cdna4.get_mfma_scale_layout", "dot_operand_layout, shape, scale_factor=32", 6, scales),
        Row::new(
            "gl.amd.cdna3.get_scaled_upcast_fp4_scale_layout",
            "src, scale_factor, elem_type, axis",
            9,
            |interp, _| opaque_registers(interp, &[]),
        ),
        Row::new(
            "gl.amd.cdna4.compute_efficient_padded_shared_layout",
            "dot_operand_layout, shape, dtype, is_k_contig=True",
            8,
            |interp, bound| {
                let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
                opaque_padded(interp, &shape)
            },
        ),
        Row::new(
            "gl.amd.cdna5.make_partitioned_dot_layouts",
            "block_m, block_n, original_layout_a, original_layout_b, num_warps, instr_shape, a_transposed=False, \
             b_transposed=False, slice_m=None, slice_n=None, transposed=True",
            8,
            partitioned_dot,
        ),
    ],
    ..NOTHING
};

fn mfma<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let warps = match need(interp, bound, "warps_per_cta")? {
        warps @ (Value::Tuple(_) | Value::List(_)) => list(interp, warps, "warps_per_cta")?.len(),
        _ => 2,
    };
    let defaults = [
        ("element_bitwidth", Value::Int(32)),
        ("tiles_per_warp", int_list(std::iter::repeat_n(1, warps))),
        ("cga_layout", int_list([])),
    ];
    Ok(Value::Object(Rc::new(completed(class, bound, &defaults))))
}

fn wmma<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let defaults = [
        ("reg_bases", int_list([])),
        ("instr_shape", int_list([16, 16, 16])),
        ("cga_layout", int_list([])),
        ("rank", Value::Int(2)),
    ];
    Ok(Value::Object(Rc::new(completed(class, bound, &defaults))))
}

/// A field that is given as `None` takes its default too.
fn completed<'a>(class: &'static LibClass, bound: &Bound<'a>, defaults: &[(&'static str, Value<'a>)]) -> Object<'a> {
    let mut made = build(class, bound, defaults);
    for (name, value) in &mut made.fields {
        if matches!(value, Value::None)
            && let Some((_, default)) = defaults.iter().find(|(known, _)| known == name)
        {
            *value = default.clone();
        }
    }
    made
}

fn barrier<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let cga = given(bound, "cga_layout").cloned().unwrap_or_else(|| int_list([]));
    let one = || Value::Int(1);
    let fields =
        vec![("vec", one()), ("per_phase", one()), ("max_phase", one()), ("order", int_list([0])), ("cga_layout", cga)];
    object(interp, class.path, fields)
}

fn partitioned<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    for name in ["num_partitions", "num_groups"] {
        if let Value::Int(value) = need(interp, bound, name)?
            && (*value <= 0 || value & (value - 1) != 0)
        {
            return interp.raise(format!("`{name}` is {value}, and no power of two"));
        }
    }
    Ok(Value::Object(Rc::new(build(class, bound, &[]))))
}

fn partitioned_text<'a>(interp: &Interp<'a>, object: &Object<'a>) -> Result<String, Stop> {
    let number = |name: &str| field(object, name).map_or(Ok(0), |value| int(interp, value, name));
    let (partitions, groups, dim) = (number("num_partitions")?, number("num_groups")?, number("partition_dim")?);
    let inner = layout_text(interp, field(object, "partition_layout").unwrap_or(&Value::None))?;
    Ok(format!(
        "#ttg.partitioned_shared<{{numPartitions = {partitions}, numGroups = {groups}, partitionDim = {dim}, partitionLayout = {inner}}}>"
    ))
}

fn scales<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    opaque_registers(interp, &shape)
}

/// Memory of both operands in partitions, and the layout of the product, whose bases are not worked out.
fn partitioned_dot<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let size = |interp: &Interp<'a>, name: &str, otherwise: i64| match given(bound, name) {
        Some(value) => int(interp, value, name),
        None => Ok(otherwise),
    };
    let (m, n) = (size(interp, "block_m", 0)?, size(interp, "block_n", 0)?);
    let (slice_m, slice_n) = (size(interp, "slice_m", m)?, size(interp, "slice_n", n)?);
    if slice_m <= 0 || slice_n <= 0 || m % slice_m != 0 || n % slice_n != 0 {
        return interp.raise("a slice does not divide its block");
    }
    let a_transposed = flag(interp, bound.get("a_transposed"), false, "a_transposed")?;
    let b_transposed = flag(interp, bound.get("b_transposed"), false, "b_transposed")?;
    let a = operand(interp, need(interp, bound, "original_layout_a")?, usize::from(a_transposed), m / slice_m)?;
    let b = operand(interp, need(interp, bound, "original_layout_b")?, usize::from(!b_transposed), n / slice_n)?;
    let unknown = || Value::Unknown("Triton computes this layout itself".into());
    let transposed = bound.get("transposed").cloned().unwrap_or(Value::Bool(true));
    let fields = vec![
        ("version", Value::Int(3)),
        ("transposed", transposed),
        ("warp_bases", unknown()),
        ("reg_bases", unknown()),
        ("instr_shape", need(interp, bound, "instr_shape")?.clone()),
        ("cga_layout", int_list([])),
        ("rank", Value::Int(2)),
    ];
    let product = object(interp, "gl.amd.AMDWMMALayout", fields)?;
    Ok(Value::Tuple(Rc::from([a, b, product])))
}

/// The pieces of one operand: two partitions, in turn.
fn operand<'a>(interp: &mut Interp<'a>, layout: &Value<'a>, dim: usize, groups: i64) -> Eval<'a> {
    let Value::Object(whole) = layout else { return interp.unknown("the operand's layout is not known") };
    let part = |name: &str| field(whole, name).cloned().unwrap_or(Value::None);
    let mut shape = ints(interp, &part("shape"), "shape")?;
    let pieces = groups.saturating_mul(2);
    match shape.get_mut(dim) {
        Some(size) if pieces > 0 && *size % pieces == 0 => *size /= pieces,
        _ => return interp.raise(format!("the operand is not cut into {pieces} pieces along dimension {dim}")),
    }
    let Some(Value::Builtin(identity)) =
        interp.library.lookup("gl.PaddedSharedLayout.with_identity_for", interp.version)
    else {
        return interp.unknown("padded layouts are not known");
    };
    let pos = vec![part("interval_padding_pairs"), int_list(shape), int_list([1, 0]), part("cga_layout")];
    let inner = identity.call(interp, Args { pos, named: Vec::new() })?;
    let fields = vec![
        ("num_partitions", Value::Int(2)),
        ("num_groups", Value::Int(groups.into())),
        ("partition_dim", Value::Int(dim as i128)),
        ("partition_layout", inner),
    ];
    object(interp, PARTITIONED, fields)
}
