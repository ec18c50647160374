//! Where a suppression holds, where it does not, and what is said of one that is of no use.

use super::*;
use crate::Analysis;
use crate::Engine;
use crate::instances::{Elaborator, PythonFile};
use base::{Cancel, Limits};
use findings::Severity;
use python::syntax::NoSources;
use std::sync::Arc;

/// Two kernels that wait for what nobody sends.
const IR: &str = r#"#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @a() {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @b() {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
}
"#;

const PYTHON: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


# fencepost: target=sm_90
@gluon.jit
def kernel():
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.wait(
        bar,
        0,
    )
";

fn of_ir(text: &str) -> Analysis {
    let mut engine = Engine::new(Limits::default());
    engine.analyse(&Document::new(text), &Cancel::never()).unwrap_or_default()
}

fn of_python(text: &str) -> Analysis {
    let (mut engine, cancel) = (Engine::new(Limits::default()), Cancel::never());
    let file = PythonFile::new("kernel.py", text);
    let made = Elaborator::default().elaborate(&file, &NoSources, &cancel);
    made.and_then(|made| engine.analyse_python(&Arc::new(made), &NoSources, &cancel)).unwrap_or_default()
}

/// Findings and suppressed ones of each kernel, and what is said of the comments.
fn seen(analysis: &Analysis) -> (Vec<(usize, usize)>, Vec<&'static str>) {
    let counts = analysis.kernels.iter().map(|kernel| (kernel.findings.len(), kernel.suppressed.len())).collect();
    let said = analysis.problems.iter().filter(|problem| problem.severity == Severity::Warning);
    (counts, said.map(|problem| problem.code).collect())
}

const WAIT: &str = "    ttng.wait_barrier";

#[test]
fn on_the_line_above_it_and_above_the_function() {
    assert_eq!(seen(&of_ir(IR)), (vec![(1, 0), (1, 0)], vec![]));
    let above = IR.replacen(WAIT, &format!("    // fencepost: ignore[deadlock] by design\n{WAIT}"), 1);
    let behind = IR.replacen(
        "%c0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>\n",
        "%c0 : !ttg.memdesc<1xi64, #shared, #smem, mutable> // fencepost: ignore[deadlock] by design\n",
        1,
    );
    let whole = IR.replacen(
        "  tt.func public @a",
        "  // fencepost: ignore[deadlock] by design\n  // more\n  tt.func public @a",
        1,
    );
    for text in [&above, &behind, &whole] {
        let analysis = of_ir(text);
        assert_eq!(seen(&analysis), (vec![(0, 1), (1, 0)], vec![]), "{text}");
        let kernel = &analysis.kernels[0];
        assert_eq!((kernel.verdict.name(), kernel.suppressed_words().as_str()), ("found", "; 1 suppressed"));
        assert_eq!(kernel.suppressed[0].reason, "by design");
    }
    let apart = IR.replacen(WAIT, &format!("    // fencepost: ignore[deadlock] by design\n\n{WAIT}"), 1);
    assert_eq!(seen(&of_ir(&apart)), (vec![(1, 0), (1, 0)], vec![UNUSED]));
}

#[test]
fn in_python_too() {
    assert_eq!(seen(&of_python(PYTHON)), (vec![(1, 0)], vec![]));
    let places = [
        ("    mbarrier.wait(\n", "    # fencepost: ignore[deadlock] by design\n    mbarrier.wait(\n"),
        ("    mbarrier.wait(\n", "    mbarrier.wait(  # fencepost: ignore[deadlock] by design\n"),
        ("        0,\n    )\n", "        0,\n    )  # fencepost: ignore[deadlock] by design\n"),
        ("@gluon.jit\n", "# fencepost: ignore[deadlock] by design\n@gluon.jit\n"),
        ("@gluon.jit\n", "@gluon.jit\n# fencepost: ignore[deadlock] by design\n"),
        ("# fencepost: target", "# fencepost: ignore[deadlock] by design\n# fencepost: target"),
    ];
    for (part, with) in places {
        let text = PYTHON.replacen(part, with, 1);
        let analysis = of_python(&text);
        assert_eq!(seen(&analysis), (vec![(0, 1)], vec![]), "{text}");
        assert_eq!(analysis.kernels[0].verdict, Verdict::Found);
        assert!(analysis.problems.iter().all(|problem| problem.code != "directive"), "{text}");
    }
    // In a string it is no comment.
    let text = PYTHON.replacen(
        "    bar =",
        "    \"\"\"\n    # fencepost: ignore[lapped-wait] by design\n    \"\"\"\n    bar =",
        1,
    );
    assert_eq!(seen(&of_python(&text)), (vec![(1, 0)], vec![]));
}

#[test]
fn another_kind_and_no_reason_suppress_nothing() {
    let with =
        |comment: &str| PYTHON.replacen("    mbarrier.wait(\n", &format!("    # {comment}\n    mbarrier.wait(\n"), 1);
    assert_eq!(seen(&of_python(&with("fencepost: ignore[lapped-wait] x"))), (vec![(1, 0)], vec![UNUSED]));
    assert_eq!(seen(&of_python(&with("fencepost: ignore[deadlock]"))), (vec![(1, 0)], vec!["suppression"]));
    assert_eq!(seen(&of_python(&with("fencepost: ignore[deadlock] ?"))), (vec![(1, 0)], vec!["suppression"]));
    assert_eq!(seen(&of_python(&with("fencepost: ignore[deadlok] x"))), (vec![(1, 0)], vec!["suppression"]));
}

#[test]
fn what_is_unused_is_removed_by_its_fix() {
    let fixed = |text: &str| {
        let analysis = of_python(text);
        let problem = analysis.problems.iter().find(|problem| problem.code == UNUSED).expect("it is unused");
        fixes::apply(text, &problem.fix.as_ref().expect("a fix").edits).expect("it can be applied")
    };
    let line = PYTHON.replacen("    bar =", "    # fencepost: ignore[deadlock] by design\n    bar =", 1);
    assert_eq!(fixed(&line), PYTHON);
    let behind = PYTHON.replacen("count=1)", "count=1)  # fencepost: ignore[deadlock] by design", 1);
    assert_eq!(fixed(&behind), PYTHON);
    let part = |kinds: &str| PYTHON.replacen("@gluon", &format!("# fencepost: ignore[{kinds}] by design\n@gluon"), 1);
    assert_eq!(fixed(&part("lapped-wait, deadlock")), part("deadlock"));
}

#[test]
fn where_a_kernel_is_not_decided_nothing_is_unused() {
    let text = PYTHON.replacen("    mbarrier.wait(\n        bar,\n        0,\n    )\n", "    unheard_of(bar)\n", 1);
    let text = text.replacen("@gluon", "# fencepost: ignore[deadlock] by design\n@gluon", 1);
    let analysis = of_python(&text);
    assert!(matches!(analysis.kernels[0].verdict, Verdict::Undecided(_)));
    assert!(analysis.problems.iter().all(|problem| problem.code != UNUSED), "{:?}", analysis.problems);
}

#[test]
fn a_suppression_is_written_where_it_holds() {
    for (python, text) in [(true, PYTHON), (false, IR)] {
        let analysis = |text: &str| if python { of_python(text) } else { of_ir(text) };
        let before = analysis(text);
        let edit = suppression(text, python, &before.kernels[0].findings[0]).expect("a place");
        let open = fixes::apply(text, &[edit]).expect("it can be applied");
        assert_eq!(seen(&analysis(&open)).1, ["suppression"], "{open}");
        let done = analysis(&open.replacen("] ?", "] by design", 1));
        assert_eq!(seen(&done).0[0], (0, 1), "{open}");
    }
}
