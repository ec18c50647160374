//! `fencepost limits`, and what happens to a kernel that meets a limit: it is never called clean for it, and nothing
//! crashes or hangs.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, fencepost, root};

/// The rows of the command.
fn rows() -> Vec<Value> {
    let out = fencepost(&["limits", "--format", "json"]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    let document: Value = serde_json::from_str(&out.stdout).expect("it is JSON");
    document["limits"].as_array().expect("a list").clone()
}

/// The files that declare limits, below a folder.
fn declarations(folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            declarations(&path, found);
        } else if path.file_name().is_some_and(|name| name == "limits.rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let area = text.split("limits! { \"").nth(1).and_then(|rest| rest.split('"').next());
            found.extend(area.map(str::to_owned));
        }
    }
}

#[test]
fn every_crate_that_declares_limits_is_listed() {
    let mut declared = Vec::new();
    ["analysis", "runtime", "server"].iter().for_each(|folder| {
        let source = root().join(folder);
        declarations(&source, &mut declared);
    });
    assert!(declared.len() > 15, "{declared:?}");
    let rows = rows();
    let listed: BTreeSet<&str> = rows.iter().filter_map(|row| row["name"].as_str()?.split('.').next()).collect();
    for area in &declared {
        assert!(listed.contains(area.as_str()), "the limits of `{area}` are not listed by `fencepost limits`");
    }
}

#[test]
fn the_page_has_what_the_command_prints() {
    let page = std::fs::read_to_string(root().join("docs/limits.md")).expect("the page is there");
    let out = fencepost(&["limits", "--format", "markdown"]);
    for line in out.stdout.lines() {
        assert!(
            page.lines().any(|own| own == line),
            "docs/limits.md lacks what `fencepost limits --format markdown` prints: {line}"
        );
    }
    let rows = |text: &str| text.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows(&page), rows(&out.stdout), "docs/limits.md has rows of limits that are gone");
}

/// A text that meets a limit: the limit, the file, the text, what is said, and the exit code.
struct Meets {
    limit: &'static str,
    file: &'static str,
    text: String,
    said: &'static str,
    code: i32,
}

/// A module of TTGIR around a body.
fn ttgir(body: &str) -> String {
    format!(
        "#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>\n\
         #smem = #ttg.shared_memory\n\
         module attributes {{\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32}} {{\n  \
         tt.func public @k(%n: i32, %c: i1) {{\n{body}    tt.return\n  }}\n}}\n"
    )
}

const BARRIER: &str = "    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s, #smem, mutable>\n    \
                       ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #s, #smem, mutable>\n";
const ARRIVE: &str = "    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #s, #smem, mutable>\n";

fn nested(depth: usize, inner: &str) -> String {
    format!("{BARRIER}{}{inner}{}", "    scf.if %c {\n".repeat(depth), "    }\n".repeat(depth))
}

/// Functions each of which calls the next twice.
fn doubling(levels: usize) -> String {
    let mut text = String::from(
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem = #ttg.shared_memory\n\
         module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32} {\n",
    );
    for level in 0..levels {
        let call = format!("    tt.call @f{}() : () -> ()\n", level + 1);
        text.push_str(&format!("  tt.func private @f{level}() {{\n{call}{call}    tt.return\n  }}\n"));
    }
    text.push_str(&format!("  tt.func private @f{levels}() {{\n{BARRIER}    tt.return\n  }}\n"));
    text + "  tt.func public @k() {\n    tt.call @f0() : () -> ()\n    tt.return\n  }\n}\n"
}

/// A kernel in Gluon around a body, with something before it.
fn gluon(before: &str, body: &[&str]) -> String {
    let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
         from triton.experimental.gluon.language.nvidia.hopper import mbarrier\n\n\n{before}@gluon.jit\n\
         def kernel(n):\n    bar = mbarrier.allocate_mbarrier()\n    mbarrier.init(bar, count=1)\n{body}"
    )
}

fn texts() -> Vec<Meets> {
    let meets = |limit, file, text, said, code| Meets { limit, file, text, said, code };
    let brackets = format!("    %x = arith.constant {{a = {}{}}} 1 : i32\n", "[".repeat(200), "]".repeat(200));
    let negated = format!("x = {}n{}", "-(".repeat(300), ")".repeat(300));
    let recursive = "@gluon.jit\ndef f(n):\n    f(n)\n\n\n";
    let range = "for i in gl.static_range(100000000):";
    vec![
        meets("ttgir.parse.nesting", "nesting.ttgir", ttgir(&brackets), "96 levels", 2),
        meets("ttgir.parse.regions", "regions.ttgir", ttgir(&nested(200, "")), "deeper than 128 levels", 2),
        meets(
            "ttgir.parse.errors",
            "errors.ttgir",
            ttgir(&"    %x = nonsense ??\n".repeat(2000)),
            "500 syntax errors",
            2,
        ),
        meets("lower.calls.depth", "depth.ttgir", ttgir(&nested(110, ARRIVE)), "deeper than 100 levels", 2),
        meets("lower.calls.calls", "calls.ttgir", doubling(14), "too many calls", 2),
        meets("python.run.calls", "calls.py", gluon(recursive, &["f(n)"]), "deeper than 40 levels", 2),
        meets("python.run.nesting", "nesting.py", gluon("", &[&negated]), "deeper than 240 levels", 2),
        meets("python.values.items", "range.py", gluon("", &[range, "    x = i"]), "100000 numbers", 2),
        meets(
            "python.values.items",
            "list.py",
            gluon("", &["xs: gl.constexpr = [0] * 1000000000", "gl.static_assert(len(xs) > 0)"]),
            "a collection of this size",
            2,
        ),
        meets(
            "python.host.text",
            "text.py",
            gluon("", &["S: gl.constexpr = \"x\" * 100000000000", "gl.static_assert(len(S) > 0)"]),
            "a text of this size",
            2,
        ),
        meets(
            "python.run.ops",
            "ops.py",
            gluon(
                "",
                &[
                    "for i in gl.static_range(90000):",
                    "    mbarrier.arrive(bar, count=1)",
                    "    mbarrier.arrive(bar, count=1)",
                ],
            ),
            "operations",
            2,
        ),
        meets(
            "python.run.steps",
            "growing.py",
            gluon("", &["xs = ()", "for i in gl.static_range(90000):", "    xs = xs + (i,)"]),
            "steps of Python",
            2,
        ),
        meets(
            "python.run.steps",
            "slices.py",
            gluon(
                "XS = gl.constexpr(tuple(range(20000)))\n\n\n",
                &["for i in gl.static_range(90000):", "    ys = XS[1:]"],
            ),
            "steps of Python",
            2,
        ),
    ]
}

#[test]
fn a_kernel_that_meets_a_limit_is_not_clean() {
    let folder = Folder::new("limits");
    let rows = rows();
    for Meets { limit, file, text, said, code } in texts() {
        assert!(rows.iter().any(|row| row["name"] == limit), "there is no limit {limit}");
        folder.write(file, text.as_bytes());
        let path = format!("{}/{file}", folder.path());
        let started = std::time::Instant::now();
        let out = fencepost(&["check", &path]);
        assert_eq!(out.code, code, "{limit}, {file}: {}{}", tail(&out.stdout), out.stderr);
        assert!(out.stdout.contains(said), "{limit}, {file}: `{said}` is not said in {}", tail(&out.stdout));
        assert!(
            !out.stdout.contains("proved") && !out.stdout.contains("kernel clean"),
            "{file}: {}",
            tail(&out.stdout)
        );
        // Far more than any of them takes, on a machine that is busy too.
        assert!(started.elapsed().as_secs() < 60, "{limit}, {file} took {:?}", started.elapsed());
    }
}

/// The end of a text, for a message.
fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(800);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[test]
fn a_limit_that_is_set_makes_the_verdict_weaker() {
    // A run of 6,000 steps, and one that is short but has a loop to be proved.
    let phase = |flip: usize| format!("    ttng.wait_barrier %b, %p{flip} : !ttg.memdesc<1xi64, #s, #smem, mutable>\n");
    let rounds: String = (0..3000).map(|round| format!("{ARRIVE}{}", phase(round % 2))).collect();
    let phases = "    %p0 = arith.constant 0 : i32\n    %p1 = arith.constant 1 : i32\n";
    let long = ttgir(&format!("{BARRIER}{phases}{rounds}")).into_bytes();
    let gemm =
        std::fs::read(root().join("tests/corpus/ttgir/sm_90/persistent_ws_gemm.ttgir")).expect("the corpus is there");
    for (setting, value, kernel, verdict) in
        [("run_steps", 1000, &long, "undecided"), ("total_steps", 1000, &gemm, "clean")]
    {
        let folder = Folder::new(&format!("limit-{setting}"));
        folder.write("kernel.ttgir", kernel);
        let path = format!("{}/kernel.ttgir", folder.path());
        assert_eq!(fencepost(&["check", &path]).code, 0, "it is proved without a setting");
        folder.write("fencepost.toml", format!("[limits]\n{setting} = {value}\n").as_bytes());
        let out = fencepost(&["check", &path]);
        let limit = rows().iter().any(|row| row["setting"] == format!("limits.{setting}"));
        assert!(limit, "no limit says that limits.{setting} sets it");
        assert!(out.stdout.contains(&format!("1 kernel {verdict}")), "{setting}: {}", out.stdout);
    }
}

#[test]
fn a_file_that_is_too_large_is_said_and_not_read() {
    let folder = Folder::new("large");
    for name in ["large.ttgir", "large.py"] {
        let file = File::create(format!("{}/{name}", folder.path())).expect("the file can be made");
        // A gigabyte that takes no place on the disk.
        file.set_len(1 << 30).expect("the file can be long");
    }
    folder.write("good.ttgir", b"module {\n}\n");
    let out = fencepost(&["check", &folder.path()]);
    for name in ["large.ttgir", "large.py"] {
        let line = out.stdout.lines().find(|line| line.contains(name)).unwrap_or_default();
        assert!(line.contains("is larger than 256 MiB"), "{}", out.stdout);
    }
    assert!(out.stdout.contains("3 files: 2 files that could not be checked"), "{}", out.stdout);
    assert_eq!(out.code, 2);
}
