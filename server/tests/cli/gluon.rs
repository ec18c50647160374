//! Python files on the command line.

use crate::support::{fencepost, fencepost_with, root};
use serde_json::Value;

/// A kernel of `tests/kernels/gluon`.
fn kernel(name: &str) -> String {
    root().join("tests/kernels/gluon").join(name).to_string_lossy().into_owned()
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kernel(name)).expect("there is such a kernel")
}

/// A folder of a test with the ring and its helper, the ring changed.
fn folder(test: &str, change: impl Fn(&str) -> String) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("fencepost-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let changed = change(&text("sum_rows.py"));
    assert_ne!(changed, text("sum_rows.py"), "the change is one");
    std::fs::write(folder.join("sum_rows.py"), changed).expect("a file");
    std::fs::write(folder.join("ring_tools.py"), text("ring_tools.py")).expect("a file");
    folder
}

fn json(args: &[&str]) -> Value {
    let out = fencepost(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&out.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", out.stdout, out.stderr))
}

#[test]
fn a_kernel_is_proved_and_what_was_assumed_is_said() {
    let out = fencepost(&["check", &kernel("sum_rows.py")]);
    assert_eq!(out.code, 0, "{}", out.stdout);
    assert!(out.stdout.contains("proved") && out.stdout.contains("@sum_rows"), "{}", out.stdout);
    assert!(out.stdout.contains("num_slots=2") && out.stdout.contains("num_slots=3"), "{}", out.stdout);
    let out = fencepost(&["check", &kernel("sum_rows.py"), "--set", "num_slots=4", "--target", "sm_90"]);
    assert!(out.stdout.contains("num_slots=4") && !out.stdout.contains("num_slots=3"), "{}", out.stdout);
    let out = fencepost(&["check", &kernel("sum_rows.py"), "--set", "num_slots"]);
    assert_eq!(out.code, 2);
}

#[test]
fn a_race_in_a_helper_stands_at_the_call_before_which_the_wait_is_missing() {
    let broken =
        folder("via", |text| text.replace("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", ""));
    let path = broken.join("sum_rows.py").to_string_lossy().into_owned();
    let found = json(&["check", &path]);
    let finding = &found["files"][0]["findings"][0];
    assert_eq!(finding["kernel"], "sum_rows");
    let line = finding["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let source = std::fs::read_to_string(&path).expect("the file");
    assert!(source.lines().nth(line).is_some_and(|line| line.trim().starts_with("fill(")), "{finding}");
    assert!(finding["context"][0]["text"].as_str().is_some_and(|text| text.contains("`producer`")), "{finding}");
    let places = finding["sites"].as_array().expect("places");
    let access = places.iter().any(|site| {
        let line = site["range"]["start"]["line"].as_u64().and_then(|line| source.lines().nth(line as usize));
        line.is_some_and(|line| line.trim().starts_with("tma.async_load"))
    });
    assert!(access, "{finding}");
    let message = finding["message"].as_str().expect("a message");
    assert!(message.contains("before this call of `fill`"), "{message}");
    assert!(message.contains("ring") && !message.contains('%') && !message.contains("ttng."), "{message}");
    let people = fencepost(&["check", &path]);
    assert_eq!(people.code, 1);
    assert!(people.stdout.contains("note: in this call of `producer`"), "{}", people.stdout);
    for format in ["sarif", "github"] {
        let out = fencepost(&["check", &path, "--format", format]);
        assert_eq!(out.code, 1, "{format}");
        assert!(out.stdout.contains("producer writes `ring[0]`"), "{format}: {}", out.stdout);
    }
    let traced = fencepost(&["trace", &path]);
    assert!(traced.code == 1 && traced.stdout.contains("producer"), "{}", traced.stdout);
    let _ = std::fs::remove_dir_all(broken);
}

#[test]
fn what_holds_in_one_instance_says_in_which() {
    // Two slots are filled ahead, whatever there are.
    let broken = folder("when", |text| {
        text.replace("slot = i % depth\n        mbarrier.wait(ready", "slot = i % 2\n        mbarrier.wait(ready")
    });
    let path = broken.join("sum_rows.py").to_string_lossy().into_owned();
    let found = json(&["check", &path]);
    let findings = found["files"][0]["findings"].as_array().expect("findings");
    assert!(!findings.is_empty(), "{found}");
    for finding in findings {
        let message = finding["message"].as_str().expect("a message");
        assert!(message.contains("(when num_slots=3, which was chosen"), "{finding}");
        assert_eq!(finding["severity"], "hint", "nobody launches it so");
    }
    assert_eq!(found["files"][0]["verdict"], "clean");
    assert_eq!(fencepost(&["check", &path]).code, 0);
    // Somebody who says so does.
    let said = json(&["check", &path, "--set", "num_slots=3"]);
    assert_eq!(said["files"][0]["findings"][0]["severity"], "error", "{said}");
    assert_eq!(fencepost(&["check", &path, "--set", "num_slots=3"]).code, 1);
    let _ = std::fs::remove_dir_all(broken);
}

#[test]
fn a_call_in_another_file_is_named() {
    let broken = folder("file", |text| text.replace("rows of a ring", "rows").replace("Sums rows", "Adds rows"));
    let twice = text("ring_tools.py").replace("count=1", "count=2");
    std::fs::write(broken.join("ring_tools.py"), twice).expect("a file");
    let path = broken.join("sum_rows.py").to_string_lossy().into_owned();
    let found = json(&["check", &path]);
    let finding = &found["files"][0]["findings"][0];
    assert_eq!(finding["kind"], "arrival-overflow");
    assert!(finding["message"].as_str().is_some_and(|text| text.ends_with("(in ring_tools.py:9)")), "{finding}");
    let line = finding["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let source = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(source.lines().nth(line).map(str::trim), Some("signal(free, slot)"), "{finding}");
    let _ = std::fs::remove_dir_all(broken);
}

#[test]
fn directives_and_what_does_not_parse_are_said() {
    let directed = folder("directive", |text| {
        text.replace("@gluon.jit\ndef sum_rows(", "# fencepost: num_slots=3, colour=1\n@gluon.jit\ndef sum_rows(")
    });
    let path = directed.join("sum_rows.py").to_string_lossy().into_owned();
    let found = json(&["check", &path]);
    let problem = &found["files"][0]["problems"][0];
    assert_eq!((problem["code"].as_str(), problem["severity"].as_str()), (Some("directive"), Some("error")), "{found}");
    assert_eq!(fencepost(&["check", &path]).code, 1);
    let _ = std::fs::remove_dir_all(directed);

    let torn = folder("torn", |text| text.replace("rows, num_slots: gl.constexpr):", "rows, num_slots: gl.constexpr:"));
    let path = torn.join("sum_rows.py").to_string_lossy().into_owned();
    let out = fencepost(&["check", &path]);
    assert_eq!(out.code, 2, "{}", out.stdout);
    assert!(out.stdout.contains("error[syntax]") && !out.stdout.contains("proved"), "{}", out.stdout);
    let _ = std::fs::remove_dir_all(torn);
}

#[test]
fn other_python_gets_nothing() {
    let out = fencepost_with(&["check", "-"], b"import os\n\ndef f(:\n");
    assert_eq!((out.stdout.as_str(), out.code), ("1 file: no kernel\n", 0), "{}", out.stderr);
    // A kernel of plain Triton is read, and what is said of it names what was looked at.
    let plain = b"import triton\nimport triton.language as tl\n\n@triton.jit\ndef copy(x):\n    tl.store(x + tl.program_id(0), 1)\n";
    let out = fencepost_with(&["check", "--format", "json", "-"], plain);
    assert!(out.stdout.contains(r#""verdict":"proved","kernels":[{"name":"copy""#), "{}", out.stdout);
    assert!(out.stdout.contains(r#""global":{"verdict":"proved""#), "{}", out.stdout);
}

#[test]
fn reports_name_partitions_and_instances() {
    let path = kernel("sum_rows.py");
    let out = fencepost(&["report", &path]);
    assert_eq!(out.code, 0, "{} {}", out.stdout, out.stderr);
    for said in ["producer", "ready", "free", "ring", "section 1 of 2", "(num_slots=2)"] {
        assert!(out.stdout.contains(said), "{said}: {}", out.stdout);
    }
    assert!(!out.stdout.contains("ttng.") && !out.stdout.contains("partition0"), "{}", out.stdout);
    let other = fencepost(&["report", &path, "--section", "2"]);
    assert!(other.stdout.contains("num_slots=3"), "{}", other.stdout);
    for format in ["md", "json", "html"] {
        assert_eq!(fencepost(&["report", &path, "--format", format]).code, 0, "{format}");
    }
    assert_eq!(fencepost(&["check", &path, "--explain-proof"]).code, 0);
    assert_eq!(fencepost(&["trace", &path]).code, 0);
}

#[test]
fn the_ir_is_printed_with_its_lines() {
    let out = fencepost(&["ir", &kernel("sum_rows.py")]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    let wait = out.stdout.lines().find(|line| line.contains("ttng.wait_barrier")).expect("a wait");
    assert!(wait.contains("// 31"), "{wait}");
    assert!(out.stdout.contains("// ring_tools.py:9"), "{}", out.stdout);
    assert_eq!(fencepost(&["ir", &kernel("sum_rows.py"), "--kernel", "other"]).code, 2);
}

/// A product in a loop that adds to what nobody wrote.
const ACCUMULATOR: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, mbarrier, tcgen05_mma, tma,
)


# fencepost: a_desc=fp16[128,64], b_desc=fp16[64,128], target=sm_100
@gluon.jit
def gemm(a_desc, b_desc, steps):
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_shape, b_desc.layout)
    layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    acc = allocate_tensor_memory(gl.float32, [128, 128], layout)
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    for i in range(steps):
        mbarrier.expect(full, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [0, i * 64], full, a)
        tma.async_load(b_desc, [i * 64, 0], full, b)
        mbarrier.wait(full, i & 1)
        tcgen05_mma(a, b, acc, use_acc=True, mbarriers=[done])
        mbarrier.wait(done, i & 1)
";

#[test]
fn a_first_product_that_adds_to_nothing_has_a_fix() {
    let found = fencepost_with(&["check", "-"], ACCUMULATOR.as_bytes());
    assert_eq!(found.code, 1, "{}", found.stdout);
    assert!(found.stdout.contains("help: overwrite the accumulator in the first iteration"), "{}", found.stdout);
    let fixed = "        tcgen05_mma(a, b, acc, use_acc=i != 0, mbarriers=[done])";
    assert!(found.stdout.contains(&format!("+ {fixed}")), "{}", found.stdout);
    let text = ACCUMULATOR.replace("use_acc=True", "use_acc=i != 0");
    assert_eq!(fencepost_with(&["check", "-"], text.as_bytes()).code, 0);
    // Where the argument is left out it is written.
    let short = ACCUMULATOR.replace("use_acc=True, ", "");
    let found = fencepost_with(&["check", "-"], short.as_bytes());
    assert!(found.stdout.contains("mbarriers=[done], use_acc=i != 0)"), "{}", found.stdout);
}
