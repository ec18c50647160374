//! What an edit runs again of the host code, and that it finds what a fresh analysis of the text does.

use std::sync::Arc;

use base::Cancel;
use python::syntax::{Module, NoSources};
use specialize::{Config, Memo, kernels};

const HEAD: &str = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
                    from triton.experimental.gluon.language.nvidia.hopper import tma, mbarrier\n\n";

const HOST: &str = "import torch\nimport pytest\nimport triton\n\
                    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n\n";

fn module(text: &str) -> Arc<Module> {
    Arc::new(Module::parse("k.py", format!("{HEAD}{text}"), None))
}

#[test]
fn host_code_is_not_run_again_for_an_edit_of_a_kernel() {
    let text = format!(
        "{HOST}@gluon.jit\ndef kernel(out, n: gl.constexpr):\n    gl.store(out, n)\n\n\
         def test():\n    kernel[(1,)](torch.empty(4), n=7)\n"
    );
    let mut memo = Memo::default();
    let mut run = |text: &str| {
        let module = module(text);
        let all = kernels(&module, &NoSources, &Config::default(), &mut memo, &Cancel::never());
        (all.unwrap_or_default().kernels[0].1.list[0].directive.clone(), memo.runs)
    };
    assert_eq!(run(&text), ("# fencepost: out=*fp32, n=7, target=sm_90".to_owned(), 1));
    assert_eq!(run(&text.replace("store(out, n)", "store(out, n + 1)")).1, 1);
    let changed = run(&text.replace("n=7", "n=8"));
    assert_eq!(changed, ("# fencepost: out=*fp32, n=8, target=sm_90".to_owned(), 2));
}

#[test]
fn what_a_kernel_loads_through_is_known_to_host_code() {
    let text = format!(
        "{HOST}import triton.language as tl\n\n\
         @triton.jit\ndef kernel(out, bias, BIASED: tl.constexpr):\n    if BIASED:\n        tl.store(out, bias)\n\n\
         def launch(out, bias=None):\n    kernel[(1,)](out, bias, BIASED=bias is not None)\n"
    );
    let found = |text: &str, memo: &mut Memo| {
        let all = kernels(&module(text), &NoSources, &Config::default(), memo, &Cancel::never());
        all.unwrap_or_default().kernels.iter().map(|(_, found)| found.list.clone()).collect::<Vec<_>>()
    };
    let mut memo = Memo::default();
    for text in [&text, &text.replace("tl.store(out, bias)", "tl.store(out, tl.load(bias))"), &text] {
        assert_eq!(found(text, &mut memo), found(text, &mut Memo::default()), "{text}");
    }
    assert_eq!(memo.runs, 2, "what was known of the first text is known of it again");
}

#[test]
fn an_edit_of_host_code_runs_what_ran_it_or_asked_for_its_names() {
    let text = format!(
        "{HOST}SIZE = 4\n\ndef launch(n):\n    kernel[(1,)](torch.empty(SIZE), n=n)\n\n\
         @gluon.jit\ndef kernel(out, n: gl.constexpr):\n    gl.store(out, n)\n\n\
         @gluon.jit\ndef other(out, m: gl.constexpr):\n    gl.store(out, m)\n\n\
         def test_one():\n    launch(7)\n\n\
         def test_two():\n    m = 3\n    other[(1,)](torch.empty(4), m=m)\n\n\
         def test_three():\n    @gluon.jit\n    def inner(out):\n        gl.store(out, WIDTH)\n    \
         WIDTH = 8\n    inner[(1,)](torch.empty(WIDTH))\n"
    );
    let run = |text: &str, memo: &mut Memo| {
        let all = kernels(&module(text), &NoSources, &Config::default(), memo, &Cancel::never());
        all.unwrap_or_default()
    };
    let mut memo = Memo::default();
    run(&text, &mut memo);
    let (mut now, mut parts) = (text, memo.parts);
    for (old, new, anew) in [
        ("    m = 3\n", "    m = 3\n    spare = m\n", 1),
        ("launch(7)", "launch(9)", 1),
        ("SIZE = 4", "SIZE = 5", 1),
        ("m = 3", "m = 5", 1),
        ("def test_two", "def unused():\n    return 1\n\ndef test_two", 0),
        ("out, WIDTH)", "out, WIDTH + 1)", 0),
        ("out, WIDTH + 1)", "out, HEIGHT)", 1),
        ("WIDTH = 8\n", "WIDTH = 8\n    HEIGHT = 2\n", 1),
        ("def unused", "def launch(n):\n    kernel[(2,)](torch.empty(SIZE), n=n + 1)\n\ndef unused", 1),
        ("@gluon.jit\ndef other(out, ", "@gluon.jit\ndef other(into, ", 3),
    ] {
        now = now.replace(old, new);
        assert_eq!(run(&now, &mut memo), run(&now, &mut Memo::default()), "{new:?} for {old:?}");
        assert_eq!(memo.parts - parts, anew, "{new:?} for {old:?}");
        parts = memo.parts;
    }
}

#[test]
fn a_comment_moves_instances_and_finds_none_anew() {
    let text = format!(
        "{HOST}@gluon.jit\ndef kernel(out, n: gl.constexpr):\n    gl.store(out, n)\n\n\
         def test():\n    x = torch.empty(4)\n    kernel[(1,)](x, n=7)\n\n\
         def outer():\n    @gluon.jit\n    def inner(out, m: gl.constexpr):\n        gl.store(out, m)\n    \
         inner[(1,)](torch.empty(4), m=3)\n"
    );
    let mut memo = Memo::default();
    let run = |text: &str, memo: &mut Memo| {
        let module = module(text);
        let all = kernels(&module, &NoSources, &Config::default(), memo, &Cancel::never());
        all.unwrap_or_default()
    };
    let first = run(&text, &mut memo);
    assert_eq!(
        first.kernels.iter().map(|(_, of)| (of.list.len(), of.sites.len())).collect::<Vec<_>>(),
        [(1, 1), (1, 1)]
    );
    let (mut now, mut runs) = (text, memo.runs);
    for (old, new, anew) in [
        ("(out, n)\n", "(out, n)  # why\n", false),
        ("torch.empty(4)\n", "torch.empty(4)    # four\n", false),
        ("def test", "# launches\n\ndef test", false),
        ("m=3)\n", "m=3) \n", false),
        ("n=7", "n=8", true),
        ("n=8)\n", "n=8)  # eight\n", false),
        ("# launches\n\n", "", false),
        ("@gluon.jit\ndef kernel", "# fencepost: n=9\n@gluon.jit\ndef kernel", false),
        ("n=9", "n=10", false),
    ] {
        now = now.replace(old, new);
        assert_eq!(run(&now, &mut memo), run(&now, &mut Memo::default()), "{new:?} for {old:?}");
        assert!(!anew || memo.runs > runs, "{new:?} for {old:?}");
        assert!(anew || new.contains("fencepost") || new.contains("10") || memo.runs == runs, "{new:?} for {old:?}");
        runs = memo.runs;
    }
}

#[test]
fn launches_are_known_while_a_kernel_does_not_parse_and_once_an_edit_is_taken_back() {
    let text = format!(
        "{HOST}def launch(out, n):\n    kernel[(1,)](out, n=n)\n\n\
         @gluon.jit\ndef kernel(out, n: gl.constexpr):\n    gl.store(out, n)\n\n\
         @gluon.jit\ndef other(out, m: gl.constexpr):\n    gl.store(out, m)\n\n\
         def test():\n    launch(torch.empty(4), 7)\n    other[(1,)](torch.empty(4), m=3)\n"
    );
    let run = |module: &Arc<Module>, memo: &mut Memo| {
        kernels(module, &NoSources, &Config::default(), memo, &Cancel::never()).unwrap_or_default()
    };
    // What does not parse stands behind the rest: that matters where the file launches by itself.
    for (behind, torn) in [("", 1), ("\nkernel[(2,)](torch.empty(4), n=9)\n", 2)] {
        let (good, mut memo) = (module(&format!("{text}{behind}")), Memo::default());
        run(&good, &mut memo);
        for (old, new, runs) in [
            ("gl.store(out, n)", "gl.store(out, n + 1 + 2)", 1),
            ("gl.store(out, n)", "gl.store(out, (n", torn),
            ("def launch", "# about\n\ndef launch", torn),
            ("empty(4), 7", "empty(4), 8", torn + 1),
            ("empty(4), 7", "empty(4), 7", torn + 1),
            ("launch(torch.empty(4), 7)", "launch(torch.empty(4), 7", torn * 2),
        ] {
            let now = good.text().replace(old, new);
            let now = Arc::new(Module::parse("k.py", now, Some(&good)));
            assert_eq!(run(&now, &mut memo), run(&now, &mut Memo::default()), "{new:?} for {old:?}");
            assert_eq!(memo.runs, runs, "{new:?} for {old:?}");
        }
    }
}

#[test]
fn a_bracket_in_a_kernel_decides_what_the_text_behind_it_is() {
    let run = |text: &str, memo: &mut Memo| {
        let module = module(text);
        kernels(&module, &NoSources, &Config::default(), memo, &Cancel::never()).unwrap_or_default()
    };
    // The head of the kernel is left open, and what its parameters end with is another statement's or its own.
    let texts = ["@gluon.jit\ndef kernel({n(`\ndef ()\n )kernel", "@gluon.jit\ndef kernel({n( (`\ndef ()\n )kernel"];
    let mut memo = Memo::default();
    let [before, after] = texts.map(|text| (run(text, &mut memo), run(text, &mut Memo::default())));
    assert_eq!(before.0, before.1);
    assert_eq!(after.0, after.1, "nothing of the text before is left");
}
