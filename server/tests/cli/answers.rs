//! How strong an answer is: what would decide a kernel, what a finding rests on, for which release it is.

use crate::support::{Folder, fencepost, root};
use serde_json::{Value, json};

/// The head of a Python file with kernels.
const HEAD: &str = "from triton.experimental import gluon\n\
                    from triton.experimental.gluon import language as gl\n\
                    from triton.experimental.gluon.language.nvidia.ampere import async_copy\n\
                    from triton.experimental.gluon.language.nvidia.hopper import mbarrier\n\n\n";

/// Somebody has to say how many groups may stay open: that is never chosen.
const TEMPLATE: &str = "@gluon.jit\n\
                        def spread(out, pending: gl.constexpr, count: gl.constexpr):\n\
                        \x20   bar = mbarrier.allocate_mbarrier()\n\
                        \x20   mbarrier.init(bar, count=1)\n\
                        \x20   async_copy.wait_group(pending)\n\
                        \x20   gl.static_assert(count > 0)\n";

fn check_json(args: &[&str]) -> Value {
    let out = fencepost(&[&["check", "--format", "json"], args].concat());
    serde_json::from_str(&out.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", out.stdout, out.stderr))
}

#[test]
fn the_line_that_would_decide_a_kernel_is_offered() {
    let folder = Folder::new("pin");
    let path = folder.write("k.py", format!("{HEAD}{TEMPLATE}").as_bytes());
    let found = check_json(&[&path]);
    let kernel = &found["files"][0]["kernels"][0];
    assert_eq!(kernel["verdict"], "undecided", "{found}");
    assert_eq!(kernel["pin"]["open"], json!(["pending"]), "{found}");
    let line = kernel["pin"]["line"].as_str().expect("a line");
    assert!(line.starts_with("# fencepost: pending=?, ") && line.contains("count="), "{line}");
    let people = fencepost(&["check", &path]);
    assert_eq!(people.code, 2, "{}", people.stdout);
    assert!(
        people.stdout.contains("a line above it with a value for `pending` would decide it: `# fencepost: pending=?")
    );
    assert_eq!(people.stdout.matches("what `pending` is given is not known").count(), 2, "{}", people.stdout);
    for format in ["github", "sarif"] {
        let out = fencepost(&["check", &path, "--format", format]);
        assert!(out.stdout.contains("pending=?") && out.code == 2, "{format}: {}", out.stdout);
    }
    // As it is offered it is not finished, and with a value it decides.
    let open = folder.write("open.py", format!("{HEAD}{line}\n{TEMPLATE}").as_bytes());
    let out = fencepost(&["check", &open]);
    assert!(out.stdout.contains("write what `pending` is given in place of `?`"), "{}", out.stdout);
    let line = line.replace("pending=?", "pending=0").replace("count=0", "count=1");
    let done = folder.write("done.py", format!("{HEAD}{line}\n{TEMPLATE}").as_bytes());
    let out = fencepost(&["check", &done]);
    assert_eq!(out.code, 0, "{}", out.stdout);
    assert!(out.stdout.contains("proved"), "{}", out.stdout);
}

#[test]
fn a_chosen_value_that_is_refused_is_asked_for() {
    let folder = Folder::new("refused-pin");
    let text = "@gluon.jit\ndef odd(WIDTH: gl.constexpr):\n    gl.static_assert(WIDTH == 96, \"96\")\n";
    let path = folder.write("k.py", format!("{HEAD}{text}").as_bytes());
    let found = check_json(&[&path]);
    let kernel = &found["files"][0]["kernels"][0];
    // Whoever chooses better decides it; whoever does not asks for this very value.
    if kernel["verdict"] == "undecided" {
        assert_eq!(kernel["pin"]["open"], json!(["WIDTH"]), "{found}");
    }
    assert_eq!(check_json(&[&path, "--set", "WIDTH=96"])["files"][0]["kernels"][0]["verdict"], "proved");
}

#[test]
fn a_comment_is_no_code_when_it_is_asked_what_a_refusal_depends_on() {
    let folder = Folder::new("comment-pin");
    let open = |comment: &str| {
        let text =
            format!("@gluon.jit\ndef odd(WIDTH: gl.constexpr, KIND: gl.constexpr):\n    nobody(WIDTH){comment}\n");
        let found = check_json(&[&folder.write("k.py", format!("{HEAD}{text}").as_bytes())]);
        found["files"][0]["kernels"][0]["pin"]["open"].clone()
    };
    assert_eq!(open("  # not KIND"), open(""));
}

#[test]
fn a_finding_that_another_chosen_value_takes_away_is_a_hint() {
    let folder = Folder::new("premise");
    let text = "@gluon.jit\n\
                def k(BLOCK: gl.constexpr):\n\
                \x20   regs: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n\
                \x20   shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])\n\
                \x20   tile = gl.allocate_shared_memory(gl.float32, [128], shared)\n\
                \x20   if BLOCK < 100:\n\
                \x20       tile.store(gl.full([128], 0.0, gl.float32, regs))\n\
                \x20   gl.barrier()\n\
                \x20   value = tile.load(regs)\n\
                \x20   gl.static_print(value)\n";
    let path = folder.write("k.py", format!("{HEAD}{text}").as_bytes());
    let found = check_json(&[&path]);
    let finding = &found["files"][0]["findings"][0];
    assert_eq!((&finding["kind"], &finding["severity"]), (&json!("uninitialised-read"), &json!("hint")), "{found}");
    let message = finding["message"].as_str().expect("a message");
    assert!(message.ends_with("(with BLOCK=100, which was chosen; with BLOCK=50 it is not there)"), "{message}");
    assert_eq!(found["files"][0]["verdict"], "clean", "{found}");
    // With a value that somebody gives it is what its kind says, and so is one that no value takes away.
    assert_eq!(check_json(&[&path, "--set", "BLOCK=128"])["files"][0]["findings"][0]["severity"], "warning");
    let never = folder.write("never.py", format!("{HEAD}{}", text.replace("BLOCK < 100", "BLOCK < 0")).as_bytes());
    assert_eq!(check_json(&[&never])["files"][0]["findings"][0]["severity"], "warning");
    assert_eq!(fencepost(&["check", &never]).code, 1);
}

#[test]
fn one_cause_is_told_once() {
    let folder = Folder::new("cause");
    let text = format!(
        "from elsewhere import make\n{HEAD}@gluon.jit\ndef k():\n    tool = make()\n    tool.first()\n    \
         tool.second()\n    if tool.third():\n        tool.fourth()\n"
    );
    let path = folder.write("k.py", text.as_bytes());
    let found = check_json(&[&path]);
    let told: Vec<&str> = found["files"][0]["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("`elsewhere.make` is not followed: there is no source of `elsewhere` at hand")
            && told[0].contains("more places"),
        "{told:?}"
    );
    assert!(!found.to_string().contains("is not known: what is called here"), "{found}");
}

#[test]
fn settings_that_nobody_has_are_errors() {
    let path = root().join("tests/kernels/gluon/sum_rows.py").to_string_lossy().into_owned();
    for command in ["check", "ir", "report", "trace"] {
        let out = fencepost(&[command, &path, "--set", "num_slot=3"]);
        assert_eq!(out.code, 2, "{command}: {}", out.stdout);
        assert!(out.stderr.contains("did you mean `num_slots`?"), "{command}: {}", out.stderr);
        assert_eq!(fencepost(&[command, &path, "--set", "num_slots=3"]).code, 0, "{command}");
    }
    let out = fencepost(&["check", &path, "--target", "sm90"]);
    assert!(out.code == 2 && out.stderr.contains("did you mean sm_90?"), "{}", out.stderr);
    assert_eq!(fencepost(&["check", &path, "--target", "sm_900"]).code, 2);
}

#[test]
fn the_release_comes_from_whoever_knows_it() {
    let folder = Folder::new("release");
    let kernel = format!(
        "{HEAD}@gluon.jit\ndef k():\n    bar = mbarrier.allocate_mbarrier()\n    mbarrier.init(bar, count=1)\n"
    );
    let path = folder.write("kernels/k.py", kernel.as_bytes());
    folder.write(".git/HEAD", b"");
    folder.write(".venv/lib/python3.12/site-packages/triton-3.7.1.dist-info/METADATA", b"");
    let release = |args: &[&str]| {
        let found = check_json(&[&[path.as_str()], args].concat());
        let triton = &found["files"][0]["triton"];
        (triton["version"].as_str().unwrap_or("").to_owned(), triton["source"].as_str().unwrap_or("").to_owned())
    };
    let (version, source) = release(&[]);
    assert!(version == "3.7" && source.starts_with("installed in ") && source.ends_with(".venv"), "{version} {source}");
    let people = fencepost(&["check", &path]).stdout;
    assert_eq!(people.matches("note: analysed for Triton 3.7, installed in ").count(), 1, "{people}");
    assert_eq!(release(&["--triton", "3.8"]), ("3.8".to_owned(), "command line".to_owned()));
    folder.write("fencepost.toml", b"triton = \"3.6\"\n");
    assert_eq!(release(&[]), ("3.6".to_owned(), "fencepost.toml".to_owned()));
    assert_eq!(fencepost(&["check", &path, "--triton", "3.2"]).code, 2);
}

#[test]
fn a_report_says_what_the_check_says() {
    for name in ["ws_gemm", "ws_gemm.released_too_early"] {
        let path = root().join(format!("tests/corpus/ttgir/sm_90/{name}.ttgir")).display().to_string();
        let checked = check_json(&[&path]);
        let out = fencepost(&["report", &path, "--format", "json"]);
        let report: Value = serde_json::from_str(&out.stdout).expect("the report is JSON");
        let said = |document: &Value, pointer: &str| document.pointer(pointer).cloned().unwrap_or_default();
        let verdict = said(&checked, "/files/0/kernels/0/verdict");
        assert_eq!(said(&report, "/reports/0/verdict"), verdict, "{name}: {}", report["reports"][0]["verdict"]);
    }
}
