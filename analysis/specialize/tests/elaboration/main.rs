//! Own small kernels; what is emitted is compared, or what their lowered kernel waits for.

mod tensors;

use std::sync::Arc;

use base::Cancel;
use gluon::{Argument, Elaborated, Given, Spec, Target, ValueSource, Version, elaborate};
use python::syntax::{Module, NoSources};
use specialize::entries;

const HEAD: &str = "
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier
";

/// Elaborates the last kernel of a text.
fn elaborated(text: &str, arguments: &[(&str, &str)]) -> Elaborated {
    let module = Arc::new(Module::parse("kernel.py", format!("{HEAD}{text}"), None));
    let entry = entries(&module, &NoSources).pop().unwrap_or_else(|| panic!("a kernel in {text}"));
    let arguments = arguments.iter().map(|(name, given)| {
        let given = match given.strip_prefix('=') {
            Some(value) => Given::Value(value.to_owned()),
            None => Given::Type((*given).to_owned()),
        };
        Argument { name: (*name).to_owned(), given, source: ValueSource::Directive }
    });
    let spec = Spec {
        def: entry.def,
        language: entry.language,
        arguments: arguments.collect(),
        host: None,
        target: (Target::Cuda(90), ValueSource::Directive),
        version: Version::default(),
        num_warps: (4, ValueSource::Directive),
        num_ctas: (1, ValueSource::Directive),
    };
    elaborate(&module, &NoSources, &spec, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"))
}

/// The ops of a kernel body.
fn body(parameters: &str, statements: &str, arguments: &[(&str, &str)]) -> Vec<String> {
    let indented: String = statements.trim().lines().map(|line| format!("    {line}\n")).collect();
    let out = elaborated(&format!("@gluon.jit\ndef kernel({parameters}):\n{indented}"), arguments);
    assert!(out.problems.is_empty() && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    lines(&out)
}

fn lines(out: &Elaborated) -> Vec<String> {
    let ir = out.module.print(ttgir::build::ValueNames::Numbers).text;
    let body = ir.lines().skip_while(|line| !line.starts_with("tt.func")).skip(1);
    body.take_while(|line| *line != "tt.return").map(str::to_owned).collect()
}

#[test]
fn integers_are_ops_and_constants_are_folded() {
    let ops = body("n", "k = 3\nm = (n + k * 2) // 4 % 8\nif m > 0:\n    pass", &[("n", "i32")]);
    assert_eq!(
        ops,
        [
            "%1 = arith.constant 6 : i32",
            "%2 = arith.addi %0, %1 : i32",
            "%3 = arith.constant 4 : i32",
            "%4 = arith.divsi %2, %3 : i32",
            "%5 = arith.constant 8 : i32",
            "%6 = arith.remsi %4, %5 : i32",
            "%7 = arith.constant 0 : i32",
            "%8 = arith.cmpi sgt, %6, %7 : i32",
        ]
    );
}

#[test]
fn a_loop_carries_what_it_changes() {
    let ops = body("n", "phase = 0\nfor i in range(n):\n    phase ^= 1\nif phase == 1:\n    pass", &[("n", "i32")]);
    let text = ops.join("\n");
    assert!(text.contains("scf.for"), "{text}");
    assert!(text.contains("-> (i32) : i32 {"), "{text}");
    assert!(text.contains("arith.xori"), "{text}");
    assert!(text.contains("scf.yield"), "{text}");
}

#[test]
fn a_branch_joins_what_it_changes() {
    let ops = body("n", "x = n\nif n > 3:\n    x = n + 1\nfor i in range(x):\n    pass", &[("n", "i32")]);
    let text = ops.join("\n");
    assert!(text.contains("= scf.if %2 -> (i32) {\n"), "{text}");
    assert!(text.contains("} else {\nscf.yield %0 : i32\n}"), "{text}");
}

#[test]
fn an_early_return_leaves_the_rest_to_the_other_branch() {
    let text = "
@gluon.jit
def pick(n):
    if n > 3:
        return n
    return n + 1

@gluon.jit
def kernel(n):
    for i in range(pick(n)):
        pass
";
    let out = elaborated(text, &[("n", "i32")]);
    let text = lines(&out).join("\n");
    assert!(text.contains("scf.yield %0 : i32\n} else {\n"), "{text}");
    assert!(text.contains("arith.addi"), "{text}");
}

#[test]
fn static_ranges_and_constexpr_conditions_are_run_at_once() {
    let text = "
@gluon.jit
def kernel(n, DEPTH: gl.constexpr):
    bars = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        if s != 1:
            mbarrier.init(bars.index(s), count=1)
";
    let out = elaborated(text, &[("n", "i32"), ("DEPTH", "=3")]);
    assert!(out.problems.is_empty() && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    assert_eq!(out.ir.matches("ttng.init_barrier").count(), 2, "{}", out.ir);
    let frames: Vec<&str> = out.origins.frames.iter().map(|frame| frame.what.as_str()).collect();
    assert!(frames.contains(&"s = 0") && frames.contains(&"s = 2"), "{frames:?}");
}

#[test]
fn aggregates_have_fields_methods_and_go_round_loops() {
    let text = "
@gluon.aggregate
class Counter:
    index: gl.tensor
    phase: gl.tensor
    depth: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, index, phase, depth):
        self.index = index
        self.phase = phase
        self.depth = gl.constexpr(depth)

    @gluon.jit
    def next(self):
        return Counter(self.index + 1, self.phase ^ 1, self.depth)

@gluon.jit
def kernel(n, m):
    c = Counter(n, m, 3)
    for i in range(n):
        c = c.next()
    for j in range(c.phase):
        pass
";
    let out = elaborated(text, &[("n", "i32"), ("m", "i32")]);
    assert!(out.problems.is_empty(), "{:?}", out.problems);
    assert!(out.ir.contains("-> (i32, i32) : i32 {"), "{}", out.ir);
}

#[test]
fn partitions_get_what_they_are_given() {
    let text = "
@gluon.jit
def first(bars):
    mbarrier.wait(bars.index(0), 0)

@gluon.jit
def second(bars, n):
    for i in range(n):
        mbarrier.arrive(bars.index(0), count=1)

@gluon.jit
def kernel(n):
    bars = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(bars.index(0), count=1)
    gl.warp_specialize([(first, (bars,)), (second, (bars, n))], [1], [24])
";
    let out = elaborated(text, &[("n", "i32")]);
    assert!(out.problems.is_empty() && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    assert_eq!(out.partitions, ["first", "second"]);
    let tree = ttgir::Tree::parse(&out.ir);
    let errors: Vec<&str> = tree.errors().iter().map(|error| &*error.message).collect();
    assert!(errors.is_empty(), "{errors:?} {}", out.ir);
    let kernels = lower::lower(&tree);
    let kernel = kernels.first().map(|lowered| kernel::text::print(&lowered.kernel)).unwrap_or_default();
    assert_eq!(kernel.lines().filter(|line| line.trim() == "partition").count(), 2, "{kernel}");
    assert!(kernel.contains("wait") && kernel.contains("arrive"), "{kernel}");
}

#[test]
fn what_triton_refuses_is_said_at_its_place() {
    let out = elaborated("@gluon.jit\ndef kernel(n):\n    x = missing + 1\n", &[("n", "i32")]);
    let [problem] = &out.problems[..] else { panic!("{:?}", out.problems) };
    assert_eq!(problem.message, "the name `missing` is not defined");
    let out =
        elaborated("@gluon.jit\ndef kernel(N: gl.constexpr):\n    gl.static_assert(N > 4, 'small')\n", &[("N", "=3")]);
    assert_eq!(out.problems.first().map(|problem| &*problem.message), Some("the static assertion fails: small"));
}

#[test]
fn what_is_not_known_makes_the_kernel_unmodelled() {
    let out = elaborated(
        "import other\n@gluon.jit\ndef kernel(n):\n    other.synchronise(n)\n    if other.FLAG:\n        pass\n",
        &[("n", "i32")],
    );
    assert_eq!(out.ir.matches("ttng.unmodelled").count(), 2, "{}", out.ir);
    assert_eq!(out.unmodelled.len(), 2);
}

#[test]
fn every_prefix_of_a_kernel_is_survived() {
    let text = "
@gluon.jit
def helper(bars, n, D: gl.constexpr):
    for i in range(n):
        mbarrier.wait(bars.index(i % D), (i // D) & 1)
        yield_ = [x for x in range(3) if x]

@gluon.jit
def kernel(n):
    bars = mbarrier.allocate_mbarrier(batch=2)
    gl.warp_specialize([(helper, (bars, n, 2)), (helper, (bars, n, 2))], [1], [24])
";
    for (at, _) in text.char_indices() {
        let part = format!("{}\n@gluon.jit\ndef kernel(n):\n    helper(n, n, 2)\n", &text[..at]);
        let module = Module::parse("kernel.py", format!("{HEAD}{part}"), None);
        // An open bracket takes the kernel behind it along.
        if !entries(&module, &NoSources).is_empty() {
            elaborated(&part, &[("n", "i32")]);
        }
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("@gluon.jit\ndef kernel(n):\n    x = {}n{}\n", "(1 + ".repeat(500), ")".repeat(500));
    elaborated(&deep, &[("n", "i32")]);
    let calls = "
@gluon.jit
def again(n):
    return again(((((((((n + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1))

@gluon.jit
def kernel(n):
    again(n)
";
    let out = elaborated(calls, &[("n", "i32")]);
    assert!(!out.unmodelled.is_empty(), "{:?}", out.problems);
    let host = "
def f(n):
    return g([f(x) for x in [n + 1]])

def g(n):
    return f(n[0] if n else n)

@gluon.jit
def kernel(n, D: gl.constexpr = f(3)):
    pass
";
    elaborated(host, &[("n", "i32")]);
}

#[test]
fn files_that_a_program_loads_itself_are_run() {
    use python::syntax::Sources;

    #[derive(Debug)]
    struct One;
    impl Sources for One {
        fn import(&self, _: &str, _: &str) -> Option<Arc<Module>> {
            None
        }
        fn file(&self, _: &str, path: &str) -> Option<Arc<Module>> {
            (path == "other.py").then(|| Arc::new(Module::parse("other.py", "DEPTH = 2\n", None)))
        }
        fn mentions(&self, _: &str) -> Vec<Arc<Module>> {
            Vec::new()
        }
    }
    let text = format!(
        "import sys, importlib.util
{HEAD}
def load():
    found = sys.modules.get('other')
    if found is not None:
        return found
    spec = importlib.util.spec_from_file_location('other', 'other.py')
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules['other'] = module
    spec.loader.exec_module(module)
    return module

other = load()

@gluon.jit
def kernel():
    bars = mbarrier.allocate_mbarrier(batch=other.DEPTH)
    for s in gl.static_range(other.DEPTH):
        mbarrier.init(bars.index(s), count=1)
"
    );
    let module = Arc::new(Module::parse("kernel.py", text, None));
    let def = entries(&module, &NoSources).pop().map_or(0, |entry| entry.def);
    let spec = Spec {
        def,
        language: gluon::Language::Gluon,
        arguments: Vec::new(),
        host: None,
        target: (Target::Cuda(90), ValueSource::Directive),
        version: Version::default(),
        num_warps: (4, ValueSource::Directive),
        num_ctas: (1, ValueSource::Directive),
    };
    let out = elaborate(&module, &One, &spec, &Cancel::never()).unwrap_or_default();
    assert_eq!(out.ir.matches("ttng.init_barrier").count(), 2, "{:?} {:?}", out.problems, out.unmodelled);
    assert_eq!(out.files, ["kernel.py", "other.py"]);
}

#[test]
fn what_a_loop_sets_to_the_constant_that_it_was_is_a_constant() {
    let text = "
@gluon.jit
def kernel(n):
    bars = mbarrier.allocate_mbarrier(batch=2)
    first = gl.to_tensor(False)
    for i in range(n):
        mbarrier.wait(bars.index(0), 0, pred=first)
        first = gl.to_tensor(True)
        for j in range(i):
            mbarrier.wait(bars.index(0), 0, pred=first)
            first = gl.to_tensor(True)
        first = gl.to_tensor(False)
";
    let out = elaborated(text, &[("n", "i32")]);
    assert!(out.problems.is_empty() && out.unmodelled.is_empty(), "{:?} {:?}", out.problems, out.unmodelled);
    assert!(!out.ir.contains("iter_args"), "{}", out.ir);
}

#[test]
fn a_constant_of_one_branch_is_not_used_behind_it() {
    let ops = body(
        "n",
        "x = n\nif n > 3:\n    x = gl.to_tensor(2)\nelse:\n    x = gl.to_tensor(2)\nfor i in range(x):\n    pass",
        &[("n", "i32")],
    );
    let tree = ttgir::Tree::parse(&format!("tt.func public @k(%0: i32) {{\n{}\ntt.return\n}}", ops.join("\n")));
    let errors: Vec<&str> = tree.errors().iter().map(|error| &*error.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", ops.join("\n"));
}
