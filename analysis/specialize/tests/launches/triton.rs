//! Kernels of plain Triton, and what is found of their launches.

use std::sync::Arc;

use base::Cancel;
use python::specialization::{ArgumentFacts, Language, LaunchFacts};
use python::syntax::{Module, NoSources};
use specialize::{Config, Entry, Instances, Memo, kernels};

const HEAD: &str = "import torch\nimport triton\nimport triton.language as tl\n\n";

fn found(text: &str) -> (Vec<Entry>, Vec<Instances>) {
    let module = Arc::new(Module::parse("k.py", format!("{HEAD}{text}"), None));
    let all = kernels(&module, &NoSources, &Config::default(), &mut Memo::default(), &Cancel::never());
    all.unwrap_or_default().kernels.into_iter().unzip()
}

/// The one launch of the one instance of the one kernel.
fn launch(text: &str) -> LaunchFacts {
    let (_, all) = found(text);
    let launches = &all[0].list[0].launches;
    assert_eq!((all.len(), all[0].list.len(), launches.len()), (1, 1, 1));
    launches[0].clone()
}

fn argument<'f>(facts: &'f LaunchFacts, name: &str) -> &'f ArgumentFacts {
    facts.arguments.iter().find(|argument| argument.name == name).expect("the launch gives it")
}

const COPY: &str = "@triton.jit\ndef copy(x, out, n, BLOCK: tl.constexpr):\n    \
                    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    \
                    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)\n\n";

#[test]
fn kernels_are_functions_that_no_kernel_calls() {
    let (entries, _) = found(
        "@triton.jit\ndef helper(x):\n    return x + 1\n\n@triton.jit\ndef write(p, x):\n    tl.store(p, x)\n\n\
         @triton.autotune(configs=[], key=[])\n@triton.jit\ndef kernel(out, n):\n    write(out, helper(n))\n",
    );
    let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.language)).collect();
    assert_eq!(names, [("kernel", Language::Triton)]);
}

#[test]
fn arguments_of_one_storage_have_one_number() {
    let facts = launch(&format!(
        "{COPY}def test():\n    x = torch.empty((64, 32), device=\"cuda\")\n    \
         copy[(2, 3)](x, x[1:].view(-1), x.numel(), BLOCK=128)\n"
    ));
    assert_eq!(facts.grid, [Some(2), Some(3), Some(1)]);
    let (x, out) = (argument(&facts, "x"), argument(&facts, "out"));
    assert_eq!((x.memory, x.offset, x.shape.clone()), (Some(0), Some(0), Some(vec![Some(64), Some(32)])));
    assert_eq!((out.memory, out.offset, out.shape.clone()), (Some(0), Some(128), Some(vec![Some(2016)])));
    assert_eq!((x.element.as_deref(), x.divisibility), (Some("fp32"), 16));
    assert_eq!((argument(&facts, "n").value, argument(&facts, "n").divisibility), (Some(2048), 16));
    assert_eq!(argument(&facts, "BLOCK").value, Some(128));
}

#[test]
fn arguments_of_different_storages_have_different_numbers() {
    let facts = launch(&format!(
        "{COPY}def run(x, n: int):\n    out = torch.empty_like(x)\n    \
         copy[lambda meta: (triton.cdiv(n, meta[\"BLOCK\"]), 4)](x.contiguous(), out.T, n, BLOCK=128)\n"
    ));
    assert_eq!(facts.grid, [None, Some(4), Some(1)]);
    assert_eq!((argument(&facts, "x").memory, argument(&facts, "out").memory), (Some(0), Some(1)));
    assert_eq!(argument(&facts, "n").value, None);
}

#[test]
fn what_divides_all_launches_is_kept() {
    let text = format!(
        "{COPY}def run(n):\n    x = torch.empty(4096, dtype=torch.float16)\n    \
         copy[(1,)](x, torch.empty_like(x), n, BLOCK=128)\n\n\
         def test():\n    run(512)\n    run(SECOND)\n"
    );
    let directive = |second: &str| {
        let (_, all) = found(&text.replace("SECOND", second));
        assert_eq!((all[0].list.len(), all[0].list[0].launches.len()), (1, 2));
        all[0].list[0].directive.clone()
    };
    assert!(directive("768").contains("x=*fp16:16, out=*fp16:16, n=i32:16, BLOCK=128"), "{}", directive("768"));
    assert!(directive("777").contains("x=*fp16:16, out=*fp16:16, n=i32, BLOCK=128"), "{}", directive("777"));
}

#[test]
fn a_decorator_of_the_program_hands_on_the_launch_and_its_configurations() {
    let (_, all) = found(
        "def tuner(configs, key):\n    return lambda fn: Wrapped(fn)\n\n\
         @tuner(configs=[triton.Config({\"BLOCK\": b}) for b in (64, 128)], key=[\"n\"])\n\
         @triton.heuristics({\"EVEN\": lambda args: args[\"n\"] % args[\"BLOCK\"] == 0})\n\
         @triton.jit\ndef fill(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):\n    \
         tl.store(out + tl.arange(0, BLOCK), n)\n\n\
         def test():\n    fill[(1,)](torch.empty(192), 192)\n",
    );
    let labels: Vec<&str> = all[0].list.iter().map(|instance| instance.label.as_str()).collect();
    assert_eq!(labels, ["BLOCK=64, EVEN=True", "BLOCK=128, EVEN=False"]);
    assert_eq!(all[0].list[1].launches.len(), 1);
}

#[test]
fn integers_that_the_host_makes_are_known_until_something_may_write_them() {
    let contents = |made: &str| {
        let facts =
            launch(&format!("{COPY}def test():\n    x = {made}\n    copy[(1,)](x, torch.empty(4), 4, BLOCK=4)\n"));
        let x = argument(&facts, "x").clone();
        x.contents.and_then(|contents| contents.elements(4)).map(|elements| elements.to_vec())
    };
    assert_eq!(contents("torch.tensor([[3, 1], [2, 0]], dtype=torch.int32).view(-1)"), Some(vec![3, 1, 2, 0]));
    assert_eq!(contents("torch.arange(2, 10, 2).to(torch.int32).clone()"), Some(vec![2, 4, 6, 8]));
    assert_eq!(contents("torch.full((2, 2), 7, dtype=torch.int64)"), Some(vec![7; 4]));
    assert_eq!(contents("torch.zeros(4, dtype=torch.int32)[1:]"), None);
    assert_eq!(contents("torch.zeros(4)"), None);
    assert_eq!(contents("torch.randperm(4)"), None);
    for write in ["x[0] = 1", "x += 1", "x.copy_(x)", "copy[(1,)](x, x, 4, BLOCK=8)", "helpers.shuffle(x)"] {
        let facts = found(&format!(
            "import helpers\n{COPY}def test():\n    x = torch.zeros(4, dtype=torch.int32)\n    {write}\n    \
             copy[(1,)](x, torch.empty(4), 4, BLOCK=4)\n"
        ));
        let mut launches = facts.1[0].list.iter().flat_map(|instance| instance.launches.iter());
        let last = launches.find(|launch| argument(launch, "BLOCK").value == Some(4)).expect("it is found");
        assert_eq!(argument(last, "x").contents, None, "{write}");
    }
}
