//! `fencepost check --explain-proof`: what a verdict rests on.

use crate::support::{Folder, fencepost, fencepost_with, root};
use serde_json::{Value, json};

fn kernel(name: &str) -> String {
    root().join(format!("tests/corpus/ttgir/sm_90/{name}.ttgir")).display().to_string()
}

#[test]
fn a_proof_names_its_loops_and_what_it_assumes() {
    let out = fencepost(&["check", "--explain-proof", &kernel("ws_gemm")]);
    assert_eq!(out.code, 0);
    for said in [
        "   = made: ",
        "; each run stands for all schedules\n",
        "   = closed: line 59: the scf.for loop is in the same state again every 6 iterations, from iteration ",
        "   = assumed: line 59: this loop runs at least 3 times, as often as its ring has slots\n",
        "   = assumed: no counter wraps around its width, and steps of loops are positive\n",
    ] {
        assert!(out.stdout.contains(said), "{said}: {}", out.stdout);
    }
    assert!(!out.stdout.contains("= open"), "{}", out.stdout);
}

#[test]
fn tools_get_the_same() {
    let args = ["check", "--format", "json", "--explain-proof", &kernel("ws_gemm")];
    let document: Value = serde_json::from_str(&fencepost(&args).stdout).expect("the document is JSON");
    let proof = &document["files"][0]["kernels"][0]["proof"];
    assert_eq!((&proof["states"], &proof["cut"], &proof["open"]), (&json!(0), &json!(false), &json!([])));
    assert_eq!((&proof["loops"][0]["period"], &proof["loops"][0]["op"]), (&json!(6), &json!("scf.for")));
    assert_eq!(proof["loops"][0]["range"]["start"]["line"], json!(58));
    assert!(proof["runs"].as_u64() > Some(0) && proof["steps"].as_u64() > Some(0));
    let plain = fencepost(&["check", "--format", "json", &kernel("ws_gemm")]);
    assert!(!plain.stdout.contains("\"proof\""), "{}", plain.stdout);
}

#[test]
fn what_is_undecided_says_where() {
    let text = std::fs::read_to_string(kernel("ws_gemm")).expect("the kernel can be read");
    let call = "\"ttng.unheard_of\"(%bar) : (!ttg.memdesc<3x1xi64, #shared1, #smem, mutable>) -> ()\n    ";
    let text = text.replacen("ttg.warp_specialize(", &format!("{call}ttg.warp_specialize("), 1);
    let line = text.lines().position(|line| line.contains("unheard_of")).expect("the op") + 1;
    let out = fencepost_with(&["check", "--explain-proof", "-"], text.as_bytes());
    assert!(out.stdout.contains(&format!("   = open: line {line}: ")), "{}", out.stdout);
    // Of its barriers nothing is assumed.
    let assumed = out.stdout.lines().filter(|line| line.contains("= assumed"));
    assert!(assumed.into_iter().all(|line| line.contains("of global memory")), "{}", out.stdout);
}

#[test]
fn what_is_found_shows_its_runs() {
    let out = fencepost(&["check", "--explain-proof", &kernel("ws_gemm.released_too_early")]);
    assert_eq!(out.code, 1);
    assert!(out.stdout.contains("\nfound ") && out.stdout.contains("   = made: "), "{}", out.stdout);
}

/// Two sizes that are equal on one way through host code are not so on the other, and a launch behind both has either.
#[test]
fn what_holds_on_one_way_of_host_code_does_not_on_another() {
    let folder = Folder::new("ways");
    let kernel = "import torch
import triton
import triton.language as tl


@triton.jit
def put(x, y, n, m, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(y + row * m + at, tl.load(x + row * n + at, mask=at < n), mask=at < n)


def run(a, b):
    y = torch.empty((a.shape[0], b.shape[1]), device=a.device)
    CONDITION
    put[(a.shape[0],)](a, y, a.shape[1], b.shape[1], BLOCK=triton.next_power_of_2(a.shape[1]))
    return y
";
    let assumed = "assuming that `m` is at least `n`";
    for (condition, is_assumed) in [
        ("assert a.shape[1] == b.shape[1]", false),
        ("assert a.shape == (b.shape[0], b.shape[1])", false),
        ("if a.shape[1] != b.shape[1]: raise ValueError()", false),
        ("if a.shape[1] == b.shape[1]: print(y)", true),
        ("if a.shape == (b.shape[0], b.shape[1]): return a", true),
    ] {
        let path = folder.write("put.py", kernel.replace("CONDITION", condition).as_bytes());
        let out = fencepost(&["check", "--explain-proof", &path]);
        assert!(out.stdout.starts_with("proved "), "{condition}: {}", out.stdout);
        assert_eq!(out.stdout.contains(assumed), is_assumed, "{condition}: {}", out.stdout);
    }
}
