//! Kernels of a few lines, and what is found of them.

mod triton;

use std::sync::Arc;

use base::Cancel;
use gluon::{Given, ValueSource};
use python::syntax::{Module, NoSources};
use specialize::{Config, Entry, Instances, Memo, ParamUse, kernels};

const HEAD: &str = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
                    from triton.experimental.gluon.language.nvidia.hopper import tma, mbarrier\n\n";

fn module(text: &str) -> Arc<Module> {
    Arc::new(Module::parse("k.py", format!("{HEAD}{text}"), None))
}

fn found(text: &str) -> (Arc<Module>, Vec<Entry>, Vec<Instances>) {
    let module = module(text);
    let all = kernels(&module, &NoSources, &Config::default(), &mut Memo::default(), &Cancel::never());
    let (entries, all) = all.unwrap_or_default().kernels.into_iter().unzip();
    (module, entries, all)
}

fn labels(instances: &Instances) -> Vec<&str> {
    instances.list.iter().map(|instance| instance.label.as_str()).collect()
}

#[test]
fn roots_are_kernels_and_helpers_are_not() {
    let (_, entries, _) = found(
        "@gluon.jit\ndef helper(x):\n    return x + 1\n\n@gluon.jit\ndef store(bar, n):\n    mbarrier.wait(bar, n)\n\n\
         @gluon.jit\ndef kernel(out, n):\n    gl.store(out + helper(n), 0)\n\n\
         def test():\n    @gluon.jit\n    def inner(a):\n        gl.store(a, 1)\n    inner[(1,)](t)\n",
    );
    let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.inside.join("."))).collect();
    assert_eq!(names, [("kernel", String::new()), ("inner", "test".to_owned())]);
}

#[test]
fn uses_of_parameters() {
    let (_, entries, _) = found(
        "@gluon.jit\ndef copy(src, dst, n):\n    ptrs = src + gl.arange(0, 4)\n    gl.store(dst + 1, gl.load(ptrs))\n\n\
         @gluon.jit\ndef kernel(a, b, c_desc, d, M, DEPTH: gl.constexpr):\n    copy(a, b, M)\n    \
         bars = mbarrier.allocate_mbarrier(batch=DEPTH)\n    tma.async_load(d, [0, M * 2], bars, c_desc)\n\n\
         kernel[(1,)](t)\n",
    );
    let used: Vec<ParamUse> = entries[0].params.iter().map(|param| param.used).collect();
    assert_eq!(
        used,
        [
            ParamUse::Pointer,
            ParamUse::Pointer,
            ParamUse::Memory,
            ParamUse::Descriptor(2),
            ParamUse::Scalar,
            ParamUse::Number
        ][..]
    );
}

#[test]
fn depths_and_switches_are_enumerated() {
    let (_, _, all) = found(
        "@gluon.jit\ndef kernel(desc, BLOCK_M: gl.constexpr, num_buffers: gl.constexpr, use_tma: gl.constexpr, \
         W: gl.constexpr = 4):\n    tma.store_wait(0)\n",
    );
    let expected = [
        "num_buffers=2, use_tma=True",
        "num_buffers=2, use_tma=False",
        "num_buffers=3, use_tma=True",
        "num_buffers=3, use_tma=False",
    ];
    assert_eq!(labels(&all[0]), expected);
    let first = &all[0].list[0];
    assert_eq!(
        first.directive,
        "# fencepost: desc=fp16[128,128], BLOCK_M=128, num_buffers=2, use_tma=True, target=sm_90"
    );
    assert_eq!(
        first.hint,
        "W=4, num_warps=4, num_ctas=1 (default) · \
         desc=fp16[128,128], BLOCK_M=128, num_buffers=2, use_tma=True, sm_90 (chosen)"
    );
}

#[test]
fn each_line_is_an_instance_and_its_text_pins_it() {
    let kernel = "@gluon.jit\ndef kernel(desc, num_buffers: gl.constexpr):\n    tma.store_wait(0)\n";
    let (_, _, all) =
        found(&format!("# fencepost: num_buffers=4\n# fencepost: num_buffers=1, target=sm_100\n{kernel}"));
    assert_eq!(labels(&all[0]), ["num_buffers=4, target=sm_90", "num_buffers=1, target=sm_100"]);
    let pinned = &all[0].list[1];
    let (_, _, again) = found(&format!("{}\n{kernel}", pinned.directive));
    assert_eq!(again[0].list.len(), 1);
    assert_eq!(again[0].list[0].directive, pinned.directive);
    assert_eq!(again[0].list[0].hint.matches("(directive)").count(), 1);
}

#[test]
fn errors_in_directives_are_said() {
    let (module, _, all) = found(
        "# fencepost: num_bufers=4, x=\n@gluon.jit\ndef kernel(num_buffers: gl.constexpr):\n    tma.store_wait(0)\n\n\
         # fencepost: a=1\nx = 1\n",
    );
    let said: Vec<&str> = all[0].notes.iter().map(|note| note.message.as_str()).collect();
    let expected = ["nothing is given here", "`kernel` has no parameter `num_bufers`; did you mean `num_buffers`?"];
    assert_eq!(said, expected);
    assert_eq!(all[0].notes[1].range.of(module.text()), "num_bufers=4");
    let all = kernels(&module, &NoSources, &Config::default(), &mut Memo::default(), &Cancel::never());
    assert_eq!(all.unwrap_or_default().stray.len(), 1);
}

#[test]
fn too_many_combinations_are_capped_and_said() {
    let params: String = (0..6).map(|at| format!("use_{at}: gl.constexpr, ")).collect();
    let (_, _, all) = found(&format!("@gluon.jit\ndef kernel({params}):\n    tma.store_wait(0)\n"));
    assert_eq!(all[0].list.len(), 16);
    assert_eq!(all[0].notes.len(), 1);
}

#[test]
fn a_class_that_has_what_is_asked_of_it() {
    let (_, _, all) = found(
        "@gluon.aggregate\nclass Plain:\n    x: gl.tensor\n    @gluon.jit\n    def create(n):\n        return Plain(n)\n    \
         @gluon.jit\n    def tile(self):\n        return self.x\n\nclass Other:\n    pass\n\n\
         @gluon.jit\ndef kernel(out, Scheduler: gl.constexpr):\n    s = Scheduler.create(1)\n    gl.store(out, 1)\n",
    );
    assert!(all[0].list[0].directive.contains("Scheduler=Plain"), "{}", all[0].list[0].directive);
}

const HOST: &str = "import torch\nimport pytest\nimport triton\n\
                    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n\n";

#[test]
fn launches_of_a_parametrised_test() {
    let (_, _, all) = found(&format!(
        "{HOST}@gluon.jit\ndef kernel(desc, out, n, one, num_buffers: gl.constexpr, flag: gl.constexpr = False):\n    \
         tma.store_wait(0)\n\n\
         def run(a, num_buffers=2, num_warps=4):\n    \
         layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)\n    \
         desc = TensorDescriptor.from_tensor(a, [128, 64], layout)\n    out = torch.empty_like(a, dtype=torch.float32)\n    \
         grid = (triton.cdiv(a.shape[0], 128), )\n    \
         kernel[grid](desc, out, a.numel(), a.stride(1), num_buffers, num_warps=num_warps)\n\n\
         @pytest.mark.parametrize(\"dtype\", [torch.float16])\n\
         @pytest.mark.parametrize(\"num_buffers, warps\", [(1, 4), pytest.param(3, 8), (3, 8)])\n\
         def test_run(num_buffers, warps, dtype):\n    a = torch.randn((1024, 64), device=\"cuda\", dtype=dtype)\n    \
         run(a, num_buffers, num_warps=warps)\n    assert torch.allclose(a, a)\n"
    ));
    assert_eq!(labels(&all[0]), ["num_buffers=1, num_warps=4", "num_buffers=3, num_warps=8"]);
    assert_eq!(
        all[0].list[1].directive,
        "# fencepost: desc=fp16[128,64], out=*fp32, n=i32, one=1, num_buffers=3, target=sm_90, num_warps=8"
    );
}

#[test]
fn nested_kernels_and_fixtures() {
    let text = format!(
        "{HOST}@pytest.fixture(params=[1, 2])\ndef num_ctas(request):\n    return request.param\n\n\
         @pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10, reason=\"needs Blackwell\")\n\
         @pytest.mark.parametrize(\"FAILURE\", [True, False])\n\
         def test_it(FAILURE, num_ctas, run_wrapper, monkeypatch):\n    if num_ctas == 4:\n        pytest.skip(\"no\")\n    \
         if run_wrapper:\n        run_in_process(test_it, (FAILURE, num_ctas, False, monkeypatch))\n        return\n\n    \
         @gluon.jit\n    def kernel(out, FAILURE: gl.constexpr):\n        gl.store(out, num_ctas)\n\n    \
         kernel[(1,)](torch.empty(4), FAILURE=FAILURE, num_ctas=num_ctas)\n\n\
         @pytest.fixture\ndef run_wrapper():\n    return True\n\nfrom triton._internal_testing import run_in_process\n"
    );
    let (_, entries, all) = found(&text);
    assert_eq!(entries[0].inside, ["test_it"]);
    let expected = [
        "FAILURE=True, num_ctas=1",
        "FAILURE=False, num_ctas=1",
        "FAILURE=True, num_ctas=2",
        "FAILURE=False, num_ctas=2",
    ];
    assert_eq!(labels(&all[0]), expected);
    let spec = &all[0].list[3].spec;
    assert_eq!(spec.target.0.name(), "sm_100");
    assert_eq!(spec.host.as_ref().and_then(|host| host.case), Some(3));
}

#[test]
fn configurations_of_autotune_and_their_hooks() {
    let (_, _, all) = found(&format!(
        "{HOST}def hook(nargs):\n    nargs[\"d\"].block_shape = [nargs[\"BLOCK\"], 64]\n\n\
         @triton.autotune(configs=[triton.Config({{\"BLOCK\": b}}, num_warps=w, pre_hook=hook) for b in (64, 128) for w in (4, 8)], key=[\"n\"])\n\
         @triton.heuristics({{\"EVEN\": lambda args: args[\"n\"] % 2 == 0}})\n\
         @gluon.jit\ndef kernel(d, n, BLOCK: gl.constexpr, EVEN: gl.constexpr):\n    tma.store_wait(0)\n\n\
         def main():\n    t = torch.empty((256, 64), dtype=torch.bfloat16)\n    \
         d = TensorDescriptor.from_tensor(t, [1, 1], gl.NVMMASharedLayout(128, 16, 2))\n    \
         kernel[lambda meta: (1,)](d, 3)\n"
    ));
    assert_eq!(all[0].list.len(), 4);
    let first = &all[0].list[0];
    assert!(first.directive.contains("d=bf16[64,64],"), "{}", first.directive);
    assert!(first.directive.contains("BLOCK=64, EVEN=False"), "{}", first.directive);
}

#[test]
fn what_torch_answers_is_known_or_not_and_never_guessed() {
    let depths = |call: &str| {
        let (_, _, all) = found(&format!(
            "import torch\n\n@gluon.jit\ndef kernel(out, n: gl.constexpr):\n    gl.store(out, n)\n\n\
             def test():\n    x = torch.empty((56, 64))\n    kernel[(1,)](x, n={call}.shape[0])\n"
        ));
        all[0].list.iter().map(|instance| instance.directive.clone()).collect::<String>()
    };
    for known in ["torch.relu(x)", "torch.nn.functional.softmax(x, 0)", "x.clone()", "x.fill_(0)", "torch.add(x, x[0])"]
    {
        assert!(depths(known).contains("n=56"), "{known}: {}", depths(known));
    }
    let part = ["x.narrow(0, 0, 8)", "x.reshape(7, 8, 8).norm(2, 0)", "x.reshape(7, 8, 8).var(dim=0, unbiased=True)"];
    for call in part {
        assert!(depths(call).contains("n=8"), "{call}: {}", depths(call));
    }
    for unknown in
        ["torch.topk(x, 3)", "torch.nonzero(x)", "torch.matrix_power(x, 2)", "x.std(False)", "x.resize_(8, 8)"]
    {
        assert!(!depths(unknown).contains("n=56"), "{unknown}: {}", depths(unknown));
    }
}

#[test]
fn launches_are_known_whole() {
    use gluon::Handed;
    let kernel = "@gluon.jit\ndef kernel(x, y, n, scale, BLOCK: gl.constexpr):\n    gl.store(x + n, scale)\n\n";
    let host = "def run(size=256):\n    x = torch.empty((size, 64), dtype=torch.bfloat16)\n    y = x.t()\n    \
                grid = lambda meta: (size // meta['BLOCK'], 2)\n    kernel[grid](x, y, size, 0.5, BLOCK=64)\n";
    let (module, _, all) = found(&format!("import torch\n\n{kernel}{host}"));
    let [site] = all[0].sites.as_slice() else { panic!("{:?}", all[0].sites) };
    assert_eq!((site.grid, site.unknown.len()), (Some([4, 2, 1]), 0));
    let text = site.range.map(|range| module.slice(range)).unwrap_or_default();
    assert!(text.starts_with("kernel[grid]") && text.ends_with("BLOCK=64)"), "{text}");
    let tensor =
        |shape: [u64; 2], strides| Handed::Tensor { dtype: "bfloat16".to_owned(), shape: shape.to_vec(), strides };
    let expected = [
        ("x", tensor([256, 64], None)),
        ("y", tensor([64, 256], Some(vec![1, 64]))),
        ("n", Handed::Int(256)),
        ("scale", Handed::Float(0.5)),
        ("BLOCK", Handed::Int(64)),
    ];
    assert_eq!(site.arguments, expected.map(|(name, handed)| (name.to_owned(), handed)));
}

/// The line that pins the first instance.
fn pinned(text: &str) -> String {
    let (_, _, all) = found(text);
    all.first().and_then(|all| all.list.first()).map(|first| first.directive.clone()).unwrap_or_default()
}

#[test]
fn integers_are_loaded_where_a_bound_or_an_index_comes_of_it() {
    let line = pinned(
        "@gluon.jit\ndef rows(table, at):\n    return gl.load(table + at)\n\n\
         @gluon.jit\ndef kernel(table, x, out, stride_descale_x):\n    first = rows(table, gl.program_id(0))\n    \
         for i in range(first):\n        gl.store(out + i * stride_descale_x, gl.load(x + i))\n",
    );
    assert_eq!(line, "# fencepost: table=*i32, x=*fp16, out=*fp16, stride_descale_x=i32, target=sm_90");
}

#[test]
fn coordinates_and_strides_are_integers() {
    let line = pinned(
        "@gluon.jit\ndef kernel(table, x_desc, out, ks_stride):\n    \
         tile = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)\n    \
         bar = mbarrier.allocate_mbarrier()\n    mbarrier.init(bar, count=1)\n    row = gl.load(table)\n    \
         tma.async_load(x_desc, [row, 0], bar, tile)\n    mbarrier.wait(bar, 0)\n    gl.store(out, row * ks_stride)\n",
    );
    let types: Vec<&str> = line.split([' ', ',']).filter(|part| part.contains("=i") || part.contains("=*")).collect();
    assert_eq!(types, ["table=*i32", "out=*fp16", "ks_stride=i32"], "{line}");
}

#[test]
fn what_assertions_demand_is_given() {
    let line = pinned(
        "class Shape:\n    def __init__(self, rows, kind):\n        self.rows = gl.constexpr(rows)\n        \
         self.kind = gl.constexpr(kind)\n        assert self.rows == 48\n\n\
         @gluon.jit\ndef kernel(out, R: gl.constexpr, KIND: gl.constexpr, MODE: gl.constexpr, DEPTH: gl.constexpr):\n    \
         gl.static_assert(KIND == 'row' or KIND == 'column')\n    gl.static_assert(DEPTH % 24 == 0)\n    \
         shape: gl.constexpr = Shape(R, KIND)\n    if MODE == 1:\n        gl.store(out, shape.rows)\n",
    );
    assert_eq!(line, "# fencepost: out=*fp16, R=48, KIND='row', MODE=1, DEPTH=24, target=sm_90");
}

#[test]
fn where_a_value_is_refused_the_next_is_tried() {
    let line = pinned(
        "@gluon.jit\ndef half(n: gl.constexpr):\n    gl.static_assert(n * 2 <= 100)\n    return n // 2\n\n\
         @gluon.jit\ndef kernel(out, BLOCK: gl.constexpr):\n    gl.store(out, half(BLOCK))\n",
    );
    assert_eq!(line, "# fencepost: out=*fp16, BLOCK=32, target=sm_90");
}

#[test]
fn a_loop_runs_where_some_value_makes_it_run() {
    let line = pinned(
        "@gluon.jit\ndef kernel(out, K: gl.constexpr, BLOCK: gl.constexpr):\n    \
         for k in range(0, K // BLOCK - 1):\n        gl.store(out + k, 1)\n",
    );
    assert_eq!(line, "# fencepost: out=*fp16, K=1024, BLOCK=128, target=sm_90");
}

#[test]
fn what_a_wait_leaves_open_is_never_chosen() {
    let (_, _, all) =
        found("@gluon.jit\ndef kernel(out, LEFT: gl.constexpr):\n    tma.store_wait(LEFT)\n    gl.store(out, 1)\n");
    assert_eq!(all[0].list[0].directive, "# fencepost: out=*fp16, target=sm_90");
    assert!(all[0].notes[0].message.contains("`# fencepost: LEFT=…` decides"), "{:?}", all[0].notes);
}

#[test]
fn instances_that_only_chosen_values_make_wrong_are_left_out() {
    let (_, _, all) = found(
        "@gluon.jit\ndef kernel(out, num_buffers: gl.constexpr):\n    gl.static_assert(num_buffers < 3)\n    \
         gl.store(out, num_buffers)\n",
    );
    assert_eq!(labels(&all[0]), [""]);
    let said = "chosen values that are refused are left out: num_buffers=3 (the static assertion fails)";
    assert_eq!(all[0].notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>(), [said]);
}

#[test]
fn a_number_that_a_condition_bounds_is_chosen_and_one_that_it_names_is_given() {
    let launched = |condition: &str| {
        let text = format!(
            "@gluon.jit\ndef kernel(out, SPLITS: gl.constexpr):\n    gl.store(out, SPLITS)\n\n\
             def run(splits):\n    if {condition}:\n        kernel[(splits, )](torch.empty(4), SPLITS=splits)\n"
        );
        let (_, _, all) = found(&format!("import torch\n\n{text}"));
        let arguments = all[0].list[0].spec.arguments.clone();
        let splits = arguments.into_iter().find(|argument| argument.name == "SPLITS").expect("it is given");
        (splits.given, splits.source)
    };
    let one = Given::Value("1".to_owned());
    assert_eq!(launched("splits == 1"), (one.clone(), ValueSource::Launch));
    assert_eq!(launched("not splits > 1"), (one, ValueSource::Chosen));
}

#[test]
fn what_somebody_gives_is_not_changed() {
    let line = pinned(
        "# fencepost: A=5\n@gluon.jit\ndef kernel(out, A: gl.constexpr, B: gl.constexpr, C: gl.constexpr = 3):\n    \
         gl.static_assert(A + C == B)\n    gl.store(out, B)\n",
    );
    assert!(line.contains("A=5") && !line.contains("C="), "{line}");
}

#[test]
fn the_target_is_that_of_what_is_used_wherever_it_is() {
    let line = pinned(
        "from triton.experimental.gluon.language.nvidia.blackwell import tcgen05_commit as commit\n\n\
         @gluon.aggregate\nclass State:\n    bar: gl.shared_memory_descriptor\n    @gluon.jit\n    \
         def finish(self):\n        commit(self.bar)\n\n\
         @gluon.jit\ndef kernel(out):\n    state = State(mbarrier.allocate_mbarrier())\n    state.finish()\n    \
         gl.store(out, 1)\n",
    );
    assert!(line.ends_with("target=sm_100"), "{line}");
}

#[test]
fn a_dimension_in_front_of_a_block_counts_slots() {
    let line = pinned(
        "@gluon.jit\ndef kernel(x_desc, RING: gl.constexpr, NEAR: gl.constexpr, FULL: gl.constexpr):\n    \
         a = gl.allocate_shared_memory(x_desc.dtype, [RING, 128, 64], x_desc.layout)\n    \
         b = gl.allocate_shared_memory(x_desc.dtype, [NEAR] + x_desc.block_shape, x_desc.layout)\n    \
         bars = mbarrier.allocate_mbarrier(batch=FULL)\n    for slot in gl.static_range(FULL):\n        \
         mbarrier.init(bars.index(slot), count=1)\n",
    );
    assert!(line.ends_with("RING=2, NEAR=2, FULL=2, target=sm_90"), "{line}");
}

#[test]
fn values_come_last_whose_memory_no_card_has() {
    let kernel = |columns: u32| {
        pinned(&format!(
            "@gluon.jit\ndef kernel(x_desc, ROWS: gl.constexpr):\n    \
             a = gl.allocate_shared_memory(gl.float32, [ROWS, {columns}], x_desc.layout)\n    tma.store_wait(0)\n"
        ))
    };
    assert!(kernel(256).ends_with("ROWS=128, target=sm_90"), "{}", kernel(256));
    assert!(kernel(1024).ends_with("ROWS=2, target=sm_90"), "{}", kernel(1024));
}

#[test]
fn a_huge_index_is_of_no_tuple() {
    let line = pinned("@gluon.jit\ndef kernel(x, out):\n    gl.store(out, x[9223372036854775806])\n");
    assert!(line.contains("out="), "{line}");
}
