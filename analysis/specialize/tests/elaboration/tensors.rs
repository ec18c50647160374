//! What is emitted for register tensors and accesses to global memory.

use super::{elaborated, lines};

/// The ops of a kernel that `tl` is a name in; what they print as is read back without an error.
fn ops(parameters: &str, statements: &str, arguments: &[(&str, &str)]) -> Vec<String> {
    let indented: String = statements.trim().lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("import triton.language as tl\n\n@gluon.jit\ndef kernel({parameters}):\n{indented}");
    let out = elaborated(&text, arguments);
    let serious = out.problems.iter().filter(|problem| !problem.hint).count();
    assert!(serious == 0 && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    let tree = ttgir::Tree::parse(&out.ir);
    let errors: Vec<&str> = tree.errors().iter().map(|error| &*error.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", out.ir);
    assert!(!out.ir.contains("tt.opaque"), "{}", out.ir);
    lines(&out)
}

/// The ops of a name, as they are printed behind it.
fn named<'l>(ops: &'l [String], name: &str) -> Vec<&'l str> {
    ops.iter().filter_map(|line| line.split_once(name).map(|(_, rest)| rest.trim())).collect()
}

#[test]
fn an_access_has_its_addresses_and_its_mask() {
    let ops = ops(
        "x, n, B: tl.constexpr",
        "offs = tl.program_id(0) * B + tl.arange(0, B)\ntl.store(x + offs, 1.0, mask=offs < n)",
        &[("x", "*fp32"), ("n", "i32"), ("B", "=64")],
    );
    assert_eq!(
        ops,
        [
            "%2 = tt.get_program_id x : i32",
            "%3 = arith.constant 64 : i32",
            "%4 = arith.muli %2, %3 : i32",
            "%5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>",
            "%6 = tt.splat %4 : i32 -> tensor<64xi32>",
            "%7 = arith.addi %6, %5 : tensor<64xi32>",
            "%8 = tt.splat %0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>",
            "%9 = tt.addptr %8, %7 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>",
            "%10 = tt.splat %1 : i32 -> tensor<64xi32>",
            "%11 = arith.cmpi slt, %7, %10 : tensor<64xi32>",
            "%12 = arith.constant dense<1.000000e+00> : tensor<64xf32>",
            "tt.store %9, %12, %11 : tensor<64x!tt.ptr<f32>>",
        ]
    );
}

#[test]
fn rows_and_columns_are_broadcast() {
    let ops = ops(
        "x, s",
        "r = tl.arange(0, 16)[:, None]\nc = tl.arange(0, 32)[None, :]\nv = tl.load(x + r * s + c)",
        &[("x", "*fp16"), ("s", "i32")],
    );
    assert_eq!(
        named(&ops, "tt.broadcast"),
        ["%9 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>", "%5 : tensor<1x32xi32> -> tensor<16x32xi32>"]
    );
    assert_eq!(named(&ops, "tt.load"), ["%12 : tensor<16x32x!tt.ptr<f16>>"]);
}

#[test]
fn pointers_go_round_a_loop() {
    let ops = ops(
        "x, n",
        "p = x + tl.arange(0, 16)\ns = tl.zeros([16], tl.float32)\nfor i in range(n):\n    s += tl.load(p)\n    p += 16",
        &[("x", "*fp32"), ("n", "i32")],
    );
    let text = ops.join("\n");
    assert!(text.contains("-> (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) : i32 {"), "{text}");
    assert!(text.contains("arith.constant dense<16> : tensor<16xi32>"), "{text}");
}

#[test]
fn operators_follow_the_sign() {
    let unsigned = ops(
        "x, n",
        "a = tl.arange(0, 16).to(tl.uint32)\nm = (a // n < 3) & (a % n >= 2)\ntl.store(x + (a >> 1), a, mask=m)",
        &[("x", "*u32"), ("n", "u32")],
    );
    let text = unsigned.join("\n");
    for op in ["arith.divui", "arith.remui", "arith.cmpi ult", "arith.cmpi uge", "arith.shrui", "arith.extui"] {
        assert!(text.contains(op), "{op} in {text}");
    }
    let signed = ops(
        "x, n",
        "a = tl.arange(0, 16)\nm = (a // n < 3) & (a % n >= 2)\ntl.store(x + (a >> 1), a, mask=m)",
        &[("x", "*i32"), ("n", "i32")],
    );
    let text = signed.join("\n");
    for op in ["arith.divsi", "arith.remsi", "arith.cmpi slt", "arith.cmpi sge", "arith.shrsi"] {
        assert!(text.contains(op), "{op} in {text}");
    }
}

#[test]
fn wide_offsets_are_computed_wide() {
    let ops = ops("x, s", "a = tl.arange(0, 16)\ntl.store(x + a.to(tl.int64) * s, a)", &[("x", "*i32"), ("s", "i32")]);
    assert_eq!(named(&ops, "arith.extsi").len(), 2, "{ops:?}");
    assert_eq!(named(&ops, "tt.addptr"), ["%7, %6 : tensor<16x!tt.ptr<i32>>, tensor<16xi64>"]);
}

#[test]
fn atomics_say_their_semantics_and_scope() {
    let ops = ops(
        "x, f, n",
        "a = tl.arange(0, 16)\nold = tl.atomic_add(x + a, n, mask=a < n, sem=\"relaxed\", scope=\"cta\")\n\
         tl.atomic_xchg(x, 0, sem=\"release\")\nseen = tl.atomic_cas(x, 0, 1, sem=\"acquire\")\n\
         tl.atomic_add(f + a, 1.0)\nlast = tl.atomic_load(x)\ntl.atomic_store(x, last)\nhit = tl.atomic_poll(x, 3)",
        &[("x", "*i32"), ("f", "*fp32"), ("n", "i32")],
    );
    let rmw = named(&ops, "tt.atomic_rmw");
    assert!(rmw[0].starts_with("add, relaxed, cta, "), "{rmw:?}");
    assert!(rmw[1].starts_with("exch, release, gpu, "), "{rmw:?}");
    assert!(rmw[2].starts_with("fadd, acq_rel, gpu, "), "{rmw:?}");
    assert!(named(&ops, "tt.atomic_cas")[0].starts_with("acquire, gpu, %0"), "{ops:?}");
    assert!(named(&ops, "tt.atomic_load")[0].starts_with("acquire, gpu, %0"), "{ops:?}");
    assert!(named(&ops, "tt.atomic_store")[0].starts_with("release, gpu, %0"), "{ops:?}");
    assert!(named(&ops, "tt.atomic_poll")[0].ends_with(": !tt.ptr<i32>, i32 -> i1"), "{ops:?}");
}

#[test]
fn the_maximum_of_floats_is_two_atomics_on_their_bits() {
    let ops = ops("x, v", "tl.atomic_max(x, v)", &[("x", "*fp32"), ("v", "fp32")]);
    let rmw = named(&ops, "tt.atomic_rmw");
    assert!(rmw[0].starts_with("max, ") && rmw[1].starts_with("umin, "), "{rmw:?}");
}

#[test]
fn a_reduction_has_what_combines_as_its_region() {
    let ops = ops("x", "tl.store(x, tl.sum(tl.load(x + tl.arange(0, 16)), axis=0))", &[("x", "*i32")]);
    let start = ops.iter().position(|line| line.contains("\"tt.reduce\"")).unwrap_or_default();
    assert_eq!(
        ops[start..],
        [
            "%8 = \"tt.reduce\"(%4) <{axis = 0 : i32}> ({",
            "^bb0(%5: i32, %6: i32):",
            "%7 = arith.addi %5, %6 : i32",
            "tt.reduce.return %7 : i32",
            "}) : (tensor<16xi32>) -> i32",
            "tt.store %0, %8 : !tt.ptr<i32>",
        ]
    );
}

#[test]
fn a_function_of_the_kernel_combines() {
    let text = "
import triton.language as tl

@gluon.jit
def larger(a, i, b, j):
    return tl.where(a > b, a, b), tl.where(a > b, i, j)

@gluon.jit
def plus(a, b):
    return a + b

@gluon.jit
def kernel(x):
    a = tl.arange(0, 16)
    v, i = tl.reduce((tl.load(x + a), a), 0, larger)
    s = tl.associative_scan(a, 0, plus)
    tl.store(x + i, v)
    tl.store(x + s, tl.cumsum(v + a.to(tl.float32), 0))
";
    let out = elaborated(text, &[("x", "*fp32")]);
    assert!(out.problems.is_empty() && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    let ops = lines(&out);
    let text = ops.join("\n");
    assert_eq!(text.matches("arith.cmpf ogt").count(), 2, "{text}");
    assert_eq!(text.matches("\"tt.scan\"").count(), 2, "{text}");
    assert!(text.contains("}) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)"), "{text}");
}

#[test]
fn blocks_of_descriptors_are_loaded_and_stored() {
    let ops = ops(
        "x, n",
        "d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 32])\nd.store([0, 32], d.load([n, 0]) + 1)",
        &[("x", "*fp16"), ("n", "i32")],
    );
    assert_eq!(
        named(&ops, "tt.descriptor_load"),
        ["%4[%1, %5] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>"],
        "{ops:?}"
    );
    assert_eq!(named(&ops, "tt.descriptor_store").len(), 1, "{ops:?}");
}

#[test]
fn a_block_pointer_goes_round_as_its_offsets() {
    let ops = ops(
        "x, n",
        "p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 32), (1, 0))\nfor i in range(n):\n    \
         v = tl.load(p, boundary_check=(0, 1), padding_option=\"zero\")\n    p = tl.advance(p, (0, 32))",
        &[("x", "*fp16"), ("n", "i32")],
    );
    let text = ops.join("\n");
    assert!(text.contains("-> (i32) : i32 {"), "{text}");
    assert_eq!(text.matches("arith.cmpi slt").count(), 2, "{text}");
    assert!(named(&ops, "tt.load")[0].ends_with(": tensor<16x32x!tt.ptr<f16>>"), "{text}");
}

#[test]
fn random_numbers_are_integer_ops() {
    let ops = ops("x, s", "a = tl.arange(0, 16)\ntl.store(x + a, tl.rand(s, a))", &[("x", "*fp32"), ("s", "i32")]);
    assert_eq!(named(&ops, "tt.mulhiui").len(), 20, "{ops:?}");
}

#[test]
fn a_product_is_added_to_its_accumulator() {
    let ops = ops(
        "x",
        "a = tl.load(x + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])\n\
         c = tl.dot(a, tl.trans(a))\nc = tl.dot(a, a, c)",
        &[("x", "*fp16")],
    );
    let dots = named(&ops, "tt.dot");
    assert_eq!(dots.len(), 2);
    assert!(dots[1].ends_with("inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>"));
    assert_eq!(
        named(&ops, "tt.trans")[0].split_once(" : ").map(|(form, _)| &form[3..]),
        Some(" {order = array<i32: 1, 0>}")
    );
}

#[test]
fn functions_of_the_device_library_are_called_by_their_symbols() {
    let ops = ops(
        "x",
        "a = tl.arange(0, 16)\nv = tl.load(x + a)\n\
         v = tl.extra.libdevice.pow(tl.extra.libdevice.tanh(v), 2.0)\ntl.store(x + tl.extra.libdevice.clz(a), v)",
        &[("x", "*fp32")],
    );
    let symbols: Vec<&str> = named(&ops, "symbol = \"").iter().filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(symbols, ["__nv_tanhf", "__nv_powf", "__nv_clz"], "{ops:?}");
}
