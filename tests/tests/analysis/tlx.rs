//! Kernels of TLX as people write them: without a finding as they are, and found with any of their waits taken out.

use base::{Cancel, Limits};
use engine::Engine;
use engine::instances::{Elaborator, PythonFile};
use fencepost_tests::sources::root;
use findings::{Severity, Verdict};
use python::syntax::NoSources;

/// Lines that other lines make up for: who stores a tile asks for the next one only then, so whoever multiplies it finds the
/// slot of tensor memory empty.
const SPARE: [&str; 1] = ["tlx.barrier_wait(acc_empty[slot], phase ^ 1)"];

/// Kinds of errors in a text, and whether a kernel in it is undecided in its barriers.
fn judged(path: &str, text: &str) -> (Vec<&'static str>, Vec<Verdict>) {
    let file = PythonFile::new(path, text);
    let mut elaborator = Elaborator::default();
    let of = elaborator.elaborate(&file, &NoSources, &Cancel::never()).expect("not cancelled");
    let mut engine = Engine::new(Limits::default());
    let analysis = engine.analyse_python(&of.into(), &NoSources, &Cancel::never()).expect("not cancelled");
    let errors = analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    let errors = errors.filter(|finding| finding.severity == Severity::Error).map(|finding| finding.kind.name());
    (errors.collect(), analysis.kernels.iter().map(|kernel| kernel.verdict.clone()).collect())
}

#[test]
fn each_wait_is_needed() {
    let mut tried = 0;
    for name in ["hopper_gemm.py", "blackwell_gemm.py"] {
        let path = root().join("kernels/tlx").join(name);
        let text = std::fs::read_to_string(&path).expect("a file");
        let (errors, verdicts) = judged(name, &text);
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(
            verdicts.iter().all(|verdict| matches!(verdict, Verdict::Proved(_) | Verdict::Clean(_))),
            "{verdicts:?}"
        );
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let waits = ["tlx.barrier_wait(", "tlx.barrier_arrive(", "tlx.tcgen05_commit("];
            if !waits.iter().any(|wait| line.trim_start().starts_with(wait)) || SPARE.contains(&line.trim()) {
                continue;
            }
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != number).map(|(_, line)| *line).collect();
            let (errors, _) = judged(name, &rest.join("\n"));
            assert!(!errors.is_empty(), "{name} without line {}: {}", number + 1, line.trim());
            tried += 1;
        }
    }
    assert!(tried > 8, "{tried}");
}
