//! What rows emit is read back without a syntax error, and lowers without anything unmodelled.

use std::rc::Rc;

use super::library;
use crate::{Target, Version};
use base::Cancel;
use python::interp::{Eval, Interp, Stop, Trees};
use python::library::Args;
use python::syntax::NoSources;
use python::value::{DType, DescKind, TensorDesc, Value};
use ttgir::Tree;

/// A kernel without arguments, made by calling rows.
fn kernel(ctas: u32, version: u8, body: impl for<'a> FnOnce(&mut Kernel<'_, 'a>) -> Result<(), Stop>) -> String {
    let (trees, cancel) = (Trees::default(), Cancel::never());
    let mut interp = Interp::new(&trees, &NoSources, library(), &cancel, Target::Cuda(100), Version(3, version));
    interp.num_ctas = ctas;
    let done = body(&mut Kernel(&mut interp));
    assert!(done.is_ok(), "{done:?}");
    let text = std::mem::take(&mut interp.builder).finish().print(ttgir::build::ValueNames::Numbers).text;
    let (aliases, ops): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    format!(
        "{}\nmodule attributes {{\"ttg.num-ctas\" = {ctas} : i32, \"ttg.num-warps\" = 4 : i32, \
         ttg.target = \"cuda:100\", \"ttg.threads-per-warp\" = 32 : i32}} {{\n\
         tt.func public @kernel() {{\n{}\ntt.return\n}}\n}}\n",
        aliases.join("\n"),
        ops.join("\n")
    )
}

struct Kernel<'i, 'a>(&'i mut Interp<'a>);

impl<'a> Kernel<'_, 'a> {
    fn call(&mut self, path: &str, pos: &[Value<'a>], named: &[(&str, Value<'a>)]) -> Eval<'a> {
        let args = Args {
            pos: pos.to_vec(),
            named: named.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        };
        match library().lookup(path, self.0.version) {
            Some(Value::Builtin(row)) => row.call(self.0, args),
            Some(Value::LibClass(class)) => class.call(self.0, args),
            other => panic!("{path} is {other:?}"),
        }
    }

    fn method(&mut self, name: &str, of: &Value<'a>, rest: &[Value<'a>]) -> Eval<'a> {
        let row = library().member(of.class_name(), name, self.0.version).expect(name);
        let pos = std::iter::once(of.clone()).chain(rest.iter().cloned()).collect();
        row.call(self.0, Args { pos, named: Vec::new() })
    }

    fn bars(&mut self, batch: i128) -> Eval<'a> {
        self.call("gl.nvidia.hopper.mbarrier.allocate_mbarrier", &[], &[("batch", Value::Int(batch))])
    }

    fn nvmma(&mut self, shape: &[i128]) -> Eval<'a> {
        self.call("gl.NVMMASharedLayout.get_default_for", &[ints(shape), f16()], &[])
    }

    fn tile(&mut self, shape: &[i128]) -> Eval<'a> {
        let layout = self.nvmma(shape)?;
        self.call("gl.allocate_shared_memory", &[f16(), ints(shape), layout], &[])
    }

    fn desc(&mut self, shape: &[i128], kind: DescKind) -> Eval<'a> {
        let layout = self.nvmma(shape)?;
        let block: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let ty = python::library::types::descriptor_type(self.0, kind, DType::Fp16, &block, &layout)?;
        let ssa = self.0.opaque(&ty);
        let (shape, strides) = (Vec::new(), Vec::new());
        Ok(Value::TensorDesc(Rc::new(TensorDesc {
            ssa,
            kind,
            dtype: DType::Fp16,
            block_shape: block,
            layout,
            shape,
            strides,
        })))
    }

    fn registers(&self, dtype: DType, shape: &[i64]) -> Value<'a> {
        self.0.registers(dtype, shape, Value::None)
    }
}

fn f16<'a>() -> Value<'a> {
    Value::DType(DType::Fp16)
}
fn f32_<'a>() -> Value<'a> {
    Value::DType(DType::Fp32)
}

fn ints<'a>(values: &[i128]) -> Value<'a> {
    Value::Tuple(values.iter().map(|value| Value::Int(*value)).collect())
}

fn tuple<'a>(values: &[Value<'a>]) -> Value<'a> {
    Value::Tuple(values.to_vec().into())
}

fn one<'a>() -> Value<'a> {
    Value::Int(1)
}
fn zero<'a>() -> Value<'a> {
    Value::Int(0)
}
fn yes<'a>() -> Value<'a> {
    Value::Bool(true)
}

/// Checks a kernel and gives its ops.
fn check(text: &str) -> Vec<String> {
    let tree = Tree::parse(text);
    let errors: Vec<String> =
        tree.errors().iter().map(|error| format!("{}: `{}`", error.message, error.range.of(text))).collect();
    assert!(errors.is_empty(), "{}\n{text}", errors.join("\n"));
    let mut kernels = lower::lower(&tree);
    assert_eq!(kernels.len(), 1, "{text}");
    let lowered = kernels.remove(0);
    assert!(lowered.unmodelled.is_empty(), "{:?}\n{text}", lowered.unmodelled);
    let mut ops = Vec::new();
    for line in text.lines() {
        let op = line.split(" = ").nth(1).filter(|_| line.starts_with('%')).unwrap_or(line);
        if let Some(name) = op.split(' ').next().filter(|name| name.starts_with("tt")) {
            ops.push(name.to_owned());
        }
    }
    ops
}

const BAR: &str = "gl.nvidia.hopper.mbarrier";
const TMA: &str = "gl.nvidia.blackwell.tma";
const TC: &str = "gl.nvidia.blackwell";

#[test]
fn a_tma_pipeline() {
    let text = kernel(1, 9, |k| {
        let (bars, ring) = (k.bars(2)?, k.tile(&[2, 128, 64])?);
        let (bar, slot) = (k.method("index", &bars, &[zero()])?, k.method("index", &ring, &[one()])?);
        k.call(&format!("{BAR}.init"), std::slice::from_ref(&bar), &[("count", one())])?;
        k.call(&format!("{BAR}.expect"), &[bar.clone(), Value::Int(16384)], &[])?;
        let desc = k.desc(&[128, 64], DescKind::Tiled)?;
        k.call(&format!("{TMA}.async_load"), &[desc.clone(), ints(&[0, 0]), bar.clone(), slot.clone()], &[])?;
        k.call(&format!("{BAR}.wait"), &[bar.clone(), zero()], &[("deps", tuple(std::slice::from_ref(&slot)))])?;
        let value = k.method("load", &slot, &[Value::None])?;
        k.method("store", &slot, &[value])?;
        k.call(&format!("{TC}.fence_async_shared"), &[], &[])?;
        k.call(&format!("{TMA}.async_store"), &[desc.clone(), ints(&[0, 0]), slot.clone()], &[])?;
        k.call(&format!("{TMA}.async_atomic_add"), &[desc, ints(&[0, 0]), slot.clone()], &[])?;
        let desc = k.desc(&[1, 64], DescKind::Tiled)?;
        let rows = k.registers(DType::Int32, &[128]);
        k.call(&format!("{TMA}.async_scatter"), &[desc.clone(), rows.clone(), zero(), slot.clone()], &[])?;
        k.call(&format!("{TMA}.store_wait"), &[zero()], &[])?;
        k.call(&format!("{TMA}.async_gather"), &[desc, rows, zero(), bar.clone(), slot.clone()], &[("pred", yes())])?;
        let im2col = k.desc(&[128, 64], DescKind::Im2col)?;
        let offsets = ints(&[0, 1]);
        k.call(&format!("{TMA}.async_load_im2col"), &[im2col, ints(&[0, 0, 0, 0]), offsets, bar.clone(), slot], &[])?;
        k.call(&format!("{BAR}.arrive"), std::slice::from_ref(&bar), &[("count", Value::Int(2))])?;
        k.call(&format!("{BAR}.invalidate"), &[bar], &[])?;
        k.call("gl.barrier", &[], &[])?;
        Ok(())
    });
    let ops = check(&text);
    assert!(ops.contains(&"ttng.async_tma_gather".to_owned()) && ops.len() > 15, "{ops:?}");
}

#[test]
fn views_of_shared_memory() {
    let text = kernel(1, 9, |k| {
        let tile = k.tile(&[128, 64])?;
        let part = k.method("slice", &tile, &[zero(), Value::Int(64)])?;
        let value = k.registers(DType::Fp16, &[64, 64]);
        k.method("store", &part, std::slice::from_ref(&value))?;
        let turned = k.method("permute", &part, &[ints(&[1, 0])])?;
        k.method("load", &turned, &[Value::None])?;
        let flat = k.method("reshape", &tile, &[ints(&[64, 128])])?;
        k.method("load", &flat, &[Value::None])?;
        let layout = k.nvmma(&[64, 64])?;
        let other = k.method("reinterpret", &tile, &[f32_(), ints(&[64, 64]), layout])?;
        k.method("load", &other, &[Value::None])?;
        let index = k.registers(DType::Int32, &[64, 64]);
        k.method("gather", &part, &[index.clone(), zero()])?;
        k.method("scatter", &part, &[value.clone(), index.clone(), zero()])?;
        k.method("atomic_scatter_add", &part, &[value.clone(), index.clone(), zero()])?;
        let mask = k.registers(DType::Int1, &[64, 64]);
        k.method("atomic_scatter_xchg", &part, &[value, index, zero(), mask])?;
        k.method("_keep_alive", &tile, &[])?;
        let full = k.registers(DType::Fp16, &[128, 64]);
        let layout = k.nvmma(&[128, 64])?;
        k.call("gl.allocate_shared_memory", &[f16(), ints(&[128, 64]), layout, full], &[])?;
        Ok(())
    });
    check(&text);
}

#[test]
fn wgmma() {
    let text = kernel(1, 9, |k| {
        let (a, b) = (k.tile(&[128, 64])?, k.tile(&[64, 128])?);
        let zeros = k.registers(DType::Fp32, &[128, 128]);
        let acc = k.call("gl.nvidia.hopper.warpgroup_mma_init", &[zeros], &[])?;
        let acc = k.call("gl.nvidia.hopper.warpgroup_mma", &[a.clone(), b.clone(), acc], &[("is_async", yes())])?;
        let acc = k.call(
            "gl.nvidia.hopper.warpgroup_mma_wait",
            &[zero()],
            &[("deps", tuple(&[acc.clone(), a.clone(), b.clone()]))],
        )?;
        let Value::Tuple(items) = &acc else { panic!("{acc:?}") };
        k.call("gl.nvidia.hopper.warpgroup_mma", &[a, b, items[0].clone()], &[])?;
        Ok(())
    });
    check(&text);
}

#[test]
fn tcgen05() {
    let text = kernel(1, 9, |k| {
        let (a, b, bars) = (k.tile(&[128, 64])?, k.tile(&[64, 128])?, k.bars(1)?);
        let bar = k.method("index", &bars, &[zero()])?;
        k.call(&format!("{BAR}.init"), &[bar.clone(), one()], &[])?;
        let layout = k.call(&format!("{TC}.TensorMemoryLayout"), &[ints(&[128, 128])], &[("col_stride", one())])?;
        let acc = k.call(&format!("{TC}.allocate_tensor_memory"), &[f32_(), ints(&[2, 128, 128]), layout], &[])?;
        let acc = k.method("index", &acc, &[zero()])?;
        let (mma, commit) = (format!("{TC}.tcgen05_mma"), format!("{TC}.tcgen05_commit"));
        let (arms, both) = (tuple(std::slice::from_ref(&bar)), tuple(&[yes()]));
        k.call(&mma, &[a.clone(), b.clone(), acc.clone()], &[("use_acc", Value::Bool(false))])?;
        k.call(&mma, &[a, b, acc.clone()], &[("mbarriers", arms), ("mbarrier_preds", both)])?;
        k.call(&commit, &[bar], &[])?;
        k.method("load", &acc, &[])?;
        k.method("load_max", &acc, &[])?;
        let half = k.method("slice", &acc, &[Value::Int(64), Value::Int(64)])?;
        let value = k.registers(DType::Fp32, &[128, 64]);
        k.method("store", &half, &[value])?;
        let scales = k.call(&format!("{TC}.TensorMemoryScalesLayout"), &[], &[])?;
        let i8 = Value::DType(DType::Int8);
        let scale = k.call(&format!("{TC}.allocate_tensor_memory"), &[i8.clone(), ints(&[128, 4]), scales], &[])?;
        let order = ints(&[1, 0]);
        let layout = k.call("gl.SwizzledSharedLayout", &[one(), one(), one(), order], &[])?;
        let source = k.call("gl.allocate_shared_memory", &[i8.clone(), ints(&[128, 4]), layout.clone()], &[])?;
        k.call(&format!("{TC}.tcgen05_copy"), &[source, scale.clone()], &[])?;
        let packed = k.call("gl.allocate_shared_memory", &[i8, ints(&[128, 64]), layout], &[])?;
        let format = Value::Str("e2m1".into());
        let args = [packed.clone(), packed, acc, scale.clone(), scale, format.clone(), format];
        k.call(&format!("{TC}.tcgen05_mma_scaled"), &args, &[])?;
        Ok(())
    });
    check(&text);
}

#[test]
fn a_cluster() {
    let text = kernel(2, 9, |k| {
        let cga = tuple(&[ints(&[1, 0])]);
        let layout =
            k.call("gl.NVMMASharedLayout", &[Value::Int(128), Value::Int(16)], &[("cga_layout", cga.clone())])?;
        let (a, b) = (k.tile(&[256, 64])?, k.tile(&[64, 128])?);
        let half = k.call("gl.allocate_shared_memory", &[f16(), ints(&[256, 64]), layout], &[])?;
        let nbytes = k.method("@nbytes_per_cta", &half, &[])?;
        assert!(matches!(nbytes, Value::Int(16384)), "{nbytes:?}");
        let bars = k.call(&format!("{BAR}.allocate_mbarrier"), &[], &[("two_ctas", yes())])?;
        k.call(&format!("{BAR}.init"), &[bars.clone(), one()], &[])?;
        k.call(&format!("{BAR}.arrive"), std::slice::from_ref(&bars), &[("from_cta", zero())])?;
        k.call(&format!("{BAR}.expect"), &[bars.clone(), Value::Int(64)], &[("from_cta", one())])?;
        k.call("gl.nvidia.rubin.mbarrier.arrive", std::slice::from_ref(&bars), &[("multicast_cta", one())])?;
        k.call("gl.nvidia.blackwell.cluster.barrier", &[], &[("relaxed", yes())])?;
        k.call("gl.barrier", &[], &[("cluster", yes())])?;
        let layout = k.call(
            &format!("{TC}.TensorMemoryLayout"),
            &[ints(&[128, 128]), one()],
            &[("cga_layout", cga), ("two_ctas", yes())],
        )?;
        let acc = k.call(&format!("{TC}.allocate_tensor_memory"), &[f32_(), ints(&[256, 128]), layout], &[])?;
        k.call(&format!("{TC}.tcgen05_mma"), &[a.clone(), b.clone(), acc], &[("multicast", yes())])?;
        // From 3.9 on the barrier that both share completes no products.
        let own = k.call(&format!("{BAR}.allocate_mbarrier"), &[], &[])?;
        k.call(&format!("{TC}.tcgen05_commit"), &[own], &[("descs", tuple(&[a.clone(), b.clone()]))])?;
        let count = k.call(&format!("{TC}.tcgen05_mma_barrier_count"), &[tuple(&[half]), yes(), yes()], &[])?;
        assert!(matches!(count, Value::Int(1)), "{count:?}");
        let value = k.registers(DType::Fp16, &[256, 64]);
        let plain = k.call(&format!("{BAR}.allocate_mbarrier"), &[], &[])?;
        k.call("gl.nvidia.hopper.async_store", &[a, value, plain], &[])?;
        Ok(())
    });
    let ops = check(&text);
    assert!(ops.contains(&"ttng.cluster_barrier".to_owned()), "{ops:?}");
}

#[test]
fn cp_async_and_launch_control() {
    let text = kernel(1, 9, |k| {
        let (tile, bars) = (k.tile(&[128, 64])?, k.bars(1)?);
        let bar = k.method("index", &bars, &[zero()])?;
        k.call(&format!("{BAR}.init"), &[bar.clone(), one()], &[])?;
        let pointers = k.registers(DType::Fp16.pointer(), &[128, 64]);
        let mask = k.registers(DType::Int1, &[128, 64]);
        let copy = "gl.nvidia.blackwell.async_copy";
        k.call(&format!("{copy}.async_load"), &[tile.clone(), pointers.clone()], &[("mask", mask)])?;
        k.call(&format!("{copy}.commit_group"), &[], &[])?;
        k.call(&format!("{copy}.wait_group"), &[zero()], &[])?;
        k.call(
            &format!("{copy}.mbarrier_arrive"),
            std::slice::from_ref(&bar),
            &[("increment_count", Value::Bool(false))],
        )?;
        let layout = k.call("gl.SwizzledSharedLayout", &[one(), one(), one(), ints(&[0])], &[])?;
        let answer = k.call("gl.allocate_shared_memory", &[Value::DType(DType::Int64), ints(&[2]), layout], &[])?;
        k.call("gl.nvidia.blackwell.clc.try_cancel", &[answer.clone(), bar], &[])?;
        let answer = k.call("gl.nvidia.blackwell.clc.load_result", &[answer], &[])?;
        k.method("is_canceled", &answer, &[])?;
        k.method("program_id", &answer, &[zero()])?;
        Ok(())
    });
    check(&text);
}

#[test]
fn releases_differ() {
    let path = "triton.experimental.gluon.language.nvidia.hopper.tma.async_copy_global_to_shared";
    for minor in [5, 7, 8, 9] {
        assert!(matches!(library().lookup(path, Version(3, minor)), Some(Value::Builtin(_))), "3.{minor}");
    }
    assert!(library().lookup("gl.nvidia.hopper.tma.async_load", Version(3, 7)).is_none());
    assert!(library().lookup("gl.thread_barrier", Version(3, 7)).is_none());
    assert_eq!(
        library().gone("gl.thread_barrier", Version(3, 7)),
        Some((Some("gl.barrier".to_owned()), Version(3, 6)))
    );
    assert!(library().lookup("gl.nvidia.blackwell.warpgroup_mma", Version(3, 9)).is_none());
    assert!(matches!(library().lookup("gl.nvidia.blackwell.mbarrier", Version(3, 9)), Some(Value::Lib(_))));
    let text = kernel(1, 9, |k| {
        let desc = k.desc(&[128, 64], DescKind::Tiled)?;
        let tile = k.tile(&[128, 64])?;
        k.call("gl.nvidia.hopper.tma.async_copy_shared_to_global", &[desc, ints(&[0, 0]), tile], &[])?;
        assert_eq!(k.0.problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["removed-name"]);
        Ok(())
    });
    check(&text);
}

#[test]
fn what_triton_refuses_is_refused() {
    let (trees, cancel) = (Trees::default(), Cancel::never());
    let mut interp = Interp::new(&trees, &NoSources, library(), &cancel, Target::Cuda(90), Version(3, 9));
    let mut k = Kernel(&mut interp);
    let refused = |text: &str, done: Eval<'_>| match done {
        Err(Stop::Raised(_, message)) => assert!(message.contains(text), "{message}"),
        other => panic!("{text}: {other:?}"),
    };
    let (Ok(tile), Ok(bars), Ok(desc)) = (k.tile(&[128, 64]), k.bars(2), k.desc(&[64, 64], DescKind::Tiled)) else {
        panic!("allocations");
    };
    let value = k.registers(DType::Fp16, &[64, 64]);
    refused("has the shape", k.method("store", &tile, &[value]));
    refused("array of mbarriers", k.call(&format!("{BAR}.init"), &[bars.clone(), one()], &[]));
    refused("no mbarrier", k.call(&format!("{BAR}.wait"), &[tile.clone(), zero()], &[]));
    let Ok(bar) = k.method("index", &bars, &[zero()]) else { panic!("a slot") };
    refused(
        "the same shape",
        k.call(&format!("{TMA}.async_load"), &[desc, ints(&[0, 0]), bar.clone(), tile.clone()], &[]),
    );
    refused("not within", k.method("slice", &tile, &[Value::Int(96), Value::Int(64)]));
    refused("no parameter", k.call(&format!("{BAR}.wait"), &[bar, zero()], &[("predicate", yes())]));
    refused("needs `deps`", k.call("gl.nvidia.hopper.warpgroup_mma_wait", &[zero()], &[]));
}

#[test]
fn counts_of_partitions() {
    let (trees, cancel) = (Trees::default(), Cancel::never());
    let mut interp = Interp::new(&trees, &NoSources, library(), &cancel, Target::Cuda(90), Version(3, 9));
    assert!(super::partitions::check_partitions(&mut interp, 2, &[4, 4], Some(&[240, 240])).is_ok());
    assert_eq!(interp.problems, []);
    for (warps, registers) in [(&[4][..], &[24, 24][..]), (&[4, 4], &[24]), (&[3, 4], &[24, 24]), (&[0, 4], &[24, 24])]
    {
        assert!(
            super::partitions::check_partitions(&mut interp, 2, warps, Some(registers)).is_err(),
            "{warps:?} {registers:?}"
        );
    }
    let mut said = |warps: &[i64], registers: &[i64]| {
        interp.problems.clear();
        assert!(super::partitions::check_partitions(&mut interp, 2, warps, Some(registers)).is_ok());
        interp.problems.iter().map(|problem| (problem.code, problem.hint)).collect::<Vec<_>>()
    };
    assert_eq!(said(&[16, 16], &[24, 24]), [("warp-count", false)]);
    assert_eq!(said(&[4, 4], &[256, 256]), [("register-count", true)]);
    assert_eq!(said(&[8, 4], &[240, 24]), [("register-count", true)]);
}

#[test]
fn names_of_amd_are_found_by_both_spellings() {
    for path in ["make_partitioned_dot_layouts", "wmma", "tdm.async_load", "mbarrier.MBarrierLayout", "buffer_load"] {
        for module in ["gl.amd.cdna5", "gl.amd.gfx1250"] {
            assert!(library().lookup(&format!("{module}.{path}"), Version(3, 9)).is_some(), "{module}.{path}");
        }
    }
    assert!(library().lookup("triton.language.extra.libdevice.exp", Version(3, 9)).is_some());
}

#[test]
fn the_library_has_no_faults() {
    let releases = (4..10).map(|minor| Version(3, minor));
    assert_eq!(library().faults(releases), Vec::<String>::new());
}

#[test]
fn tritons_own_spellings_are_understood() {
    assert_eq!(super::canonical("triton.experimental.gluon.language"), "gl");
    assert_eq!(super::canonical("triton.experimental.gluon.language.nvidia.hopper"), "gl.nvidia.hopper");
    assert_eq!(super::canonical("triton.experimental.gluon.jit"), "gluon.jit");
    assert_eq!(super::canonical("triton.languages"), "triton.languages");
}
