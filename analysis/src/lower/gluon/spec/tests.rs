//! Kernels of a few lines, and what is found of them.

use std::sync::Arc;

use super::{Config, Entry, Instances, Memo, Use, entries, instances, stray};
use crate::base::Cancel;
use crate::syntax::gluon::{Module, NoSources};

const HEAD: &str = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
                    from triton.experimental.gluon.language.nvidia.hopper import tma, mbarrier\n\n";

fn module(text: &str) -> Arc<Module> {
    Arc::new(Module::parse("k.py", format!("{HEAD}{text}"), None))
}

fn found(text: &str) -> (Arc<Module>, Vec<Entry>, Vec<Instances>) {
    let module = module(text);
    let entries = entries(&module);
    let all = instances(&module, &NoSources, &entries, &Config::default(), &mut Memo::default(), &Cancel::never());
    (module, entries, all.unwrap_or_default())
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
    let used: Vec<Use> = entries[0].params.iter().map(|param| param.used).collect();
    assert_eq!(used, [Use::Pointer, Use::Pointer, Use::Memory, Use::Descriptor(2), Use::Scalar, Use::Number][..]);
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
    let (module, entries, all) = found(
        "# fencepost: num_bufers=4, x=\n@gluon.jit\ndef kernel(num_buffers: gl.constexpr):\n    tma.store_wait(0)\n\n\
         # fencepost: a=1\nx = 1\n",
    );
    let said: Vec<&str> = all[0].notes.iter().map(|note| note.message.as_str()).collect();
    let expected = ["nothing is given here", "`kernel` has no parameter `num_bufers`; there is `num_buffers`"];
    assert_eq!(said, expected);
    assert_eq!(all[0].notes[1].range.of(module.text()), "num_bufers=4");
    assert_eq!(stray(&module, &entries).len(), 1);
}

#[test]
fn too_many_combinations_are_capped_and_said() {
    let params: String = (0..6).map(|at| format!("use_{at}: gl.constexpr, ")).collect();
    let (_, _, all) = found(&format!("@gluon.jit\ndef kernel({params}):\n    tma.store_wait(0)\n"));
    assert_eq!(all[0].list.len(), 16);
    assert_eq!(all[0].notes.len(), 1);
}
