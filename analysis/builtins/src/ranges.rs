//! What loops count through: `range`, and `tl.range` with what its compilation is asked for.

use std::rc::Rc;

use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{Range, Value};

/// The bounds of a loop, and what its compilation is asked for; those from `data_partition_factor` on in facebookexperimental's release alone.
const TL_RANGE: &str = "arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, \
     disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False, \
     data_partition_factor=None, merge_epilogue=None, merge_epilogue_to_computation=None, merge_correction=None, \
     separate_epilogue_store=None, tmem_alloc_algo=None, smem_alloc_algo=None, smem_budget=None, \
     smem_circular_reuse=None, multi_cta=False";

pub(super) const PART: Part =
    Part { rows: &[Row::new("range", "*args", 4, range), Row::new("tl.range", TL_RANGE, 4, tl_range)], ..NOTHING };

fn range<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let (start, stop, step) = match &args.rest[..] {
        [stop] => (Value::Int(0), stop.clone(), Value::Int(1)),
        [start, stop] => (start.clone(), stop.clone(), Value::Int(1)),
        [start, stop, step] => (start.clone(), stop.clone(), step.clone()),
        _ => return interp.raise("a range has one to three bounds"),
    };
    counted(interp, start, stop, step)
}

fn tl_range<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let given = |at: usize| args.at(at).filter(|value| !matches!(value, Value::None)).cloned();
    if args.get("multi_cta").is_some_and(|value| interp.truth(value) != Some(false)) {
        return interp.unknown("a loop whose iterations the CTAs of a cluster share is not followed");
    }
    let first = given(0).unwrap_or(Value::None);
    let (start, stop) = match given(1) {
        Some(stop) => (first, stop),
        None => (Value::Int(0), first),
    };
    counted(interp, start, stop, given(2).unwrap_or(Value::Int(1)))
}

fn counted<'a>(interp: &mut Interp<'a>, start: Value<'a>, stop: Value<'a>, step: Value<'a>) -> Eval<'a> {
    if matches!(step, Value::Int(0)) {
        return interp.raise("the step of a range is 0");
    }
    Ok(Value::Range(Rc::new(Range { start, stop, step, unrolled: false })))
}
