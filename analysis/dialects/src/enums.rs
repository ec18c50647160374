//! The words that attributes of ops may be, as far as the dialects fix them.

/// The values of an attribute that is written in the form of an op or in its dictionary; empty where they are not a
/// fixed list of words. `op` is the full name.
pub fn attribute_values(op: &str, attribute: &str) -> &'static [&'static str] {
    match (op, attribute) {
        ("arith.cmpi", "predicate") => &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
        ("arith.cmpf", "predicate") => &[
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
            "true",
        ],
        (_, "overflowFlags") => &["none", "nsw", "nuw"],
        (_, "roundingmode") => &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"],
        (_, "fastmath") => &["none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"],
        (_, "atomic_rmw_op") => &["and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"],
        ("tt.descriptor_reduce" | "ttng.async_tma_reduce", "kind") | ("tt.descriptor_store", "reduce_kind") => {
            &["none", "add", "min", "max", "inc", "dec", "and", "or", "xor"]
        }
        (_, "sem") => &["relaxed", "acquire", "release", "acq_rel"],
        (_, "scope") => &["gpu", "cta", "sys"],
        (_, "cache") => &["none", "ca", "cg", "wb", "cs", "wt", "cv"],
        (_, "evict") => &["evict_normal", "evict_first", "evict_last"],
        (_, "inputPrecision") => &["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"],
        ("tt.fp_to_fp", "rounding") => &["rtz", "rtne", "rs"],
        ("tt.clampf", "propagateNan") => &["none", "all"],
        ("tt.dot_scaled", "a_elem_type" | "b_elem_type") | ("ttng.tc_gen5_mma_scaled", "a_type" | "b_type") => {
            &["e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"]
        }
        ("tt.get_program_id" | "tt.get_num_programs" | "ttng.clc_get_program_id", _) | (_, "dimension") => {
            &["x", "y", "z"]
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn each_list_is_that_of_an_op() {
        for (op, attribute) in [("arith.cmpi", "predicate"), ("tt.atomic_rmw", "sem"), ("tt.dot", "inputPrecision")] {
            let row = table().find(op).map(|row| table().row(row));
            assert!(row.is_some_and(|row| row.decl.syntax.contains(&format!("${attribute}"))), "{op}");
            assert!(!attribute_values(op, attribute).is_empty());
        }
        assert!(attribute_values("ttng.init_barrier", "count").is_empty());
    }
}
