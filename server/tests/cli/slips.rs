//! Slips of the pen in what a file and its settings say to Fencepost are said where they stand.

use crate::support::{Folder, fencepost};

/// A kernel in plain Triton below these lines.
fn adding(lines: &str) -> String {
    format!(
        "import triton\nimport triton.language as tl\n\n\n{lines}\n@triton.jit\ndef add(x, y, out, n, BLOCK: tl.constexpr):\n    \
         at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    inside = at < n\n    \
         tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)\n"
    )
}

/// What `check` says of the kernel below these lines, a line a finding.
fn said(folder: &Folder, lines: &str) -> (i32, String) {
    let path = folder.write("add.py", adding(lines).as_bytes());
    let out = fencepost(&["check", "--format", "concise", &path]);
    (out.code, out.stdout + &out.stderr)
}

#[test]
fn a_value_that_is_refused_is_said_where_it_is_given() {
    let folder = Folder::new("slips-values");
    for (line, why) in [
        ("# fencepost: BLOCK=100", "the size of `arange` must be a power of two, and is 100"),
        ("# fencepost: n=3, BLOCK=hello", "the name `hello` is not defined"),
    ] {
        let (code, said) = said(&folder, line);
        let (at, piece) = (line.rfind([' ', ':']).unwrap_or(0) + 2, line.rsplit(' ').next().unwrap_or(line));
        let place = format!("add.py:5:{at}: error[directive] with `{piece}` Triton would refuse the kernel: {why}");
        assert!(code == 2 && said.contains(&place), "{place:?} is not in\n{said}");
        assert!(said.contains(&format!("with `{piece}` of line 5")), "{said}");
        assert!(!said.contains("would decide it") && !said.contains("that were assumed"), "{said}");
    }
    // What a value of our choice is to blame for stands as it did.
    let (code, proved) = said(&folder, "# fencepost: BLOCK=64");
    assert!(code == 0 && !proved.contains("directive"), "{proved}");
}

#[test]
fn what_misses_its_mark_and_recipes_that_cannot_be_read_are_said() {
    let folder = Folder::new("slips-marks");
    for (line, place, what) in [
        ("# fencepost BLOCK=64", "5:3: warning[directive]", "did you mean `fencepost:`?"),
        ("# fencepost-run add grid=4", "5:3: warning[directive]", "did you mean `fencepost-run:`?"),
        ("# fencepost: BLOK=64", "5:14: error[directive]", "did you mean `BLOCK`?"),
        ("# fencepost: num_wraps=4", "5:14: error[directive]", "did you mean `num_warps`?"),
        ("# fencepost-run: add grid=(4 n=3", "5:27: error[directive]", "is no grid"),
        ("# fencepost-run: add grid=4 x=f99[4]", "5:31: error[directive]", "`f99` is no type of elements"),
        ("# fencepost-run: ad grid=4", "5:18: error[directive]", "there is no kernel `ad`; did you mean `add`?"),
        ("# fencepost-run: add grdi=4", "5:22: error[directive]", "no parameter `grdi`; did you mean `grid`?"),
    ] {
        let (_, said) = said(&folder, line);
        assert!(said.lines().any(|line| line.contains(place) && line.contains(what)), "{line}:\n{said}");
    }
    // A file that a recipe names is nothing that a check looks for, and neither are options of a compiler's.
    let (code, proved) = said(&folder, "# fencepost-run: add grid=4 x=file(no.npy) waves_per_eu=2 num_warps=8");
    assert!(code == 0 && !proved.contains("directive"), "{proved}");
    let path = folder.write("add.py", adding("# fencepost-run: add grdi=4").as_bytes());
    let run = fencepost(&["run", &path, "--python", "/no/such/python"]);
    assert!(run.code == 2 && run.stderr.contains("add.py:5:22: the kernel has no parameter `grdi`"), "{}", run.stderr);
}

#[test]
fn a_recipe_of_ttgir_is_read_too() {
    let folder = Folder::new("slips-ttgir");
    let text = "// fencepost-run: grid=(4 n=3\nmodule {\n  tt.func public @f() {\n    tt.return\n  }\n}\n";
    let path = folder.write("f.ttgir", text.as_bytes());
    let out = fencepost(&["check", "--format", "concise", &path]);
    assert!(out.code == 1 && out.stdout.contains("f.ttgir:1:24: error[directive]"), "{}", out.stdout);
}

#[test]
fn one_refused_kernel_keeps_no_other_from_running() {
    let folder = Folder::new("slips-run");
    let broken = "\n\n@triton.jit\ndef broken(x, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, BLOK), 0)\n";
    let path = folder.write("add.py", (adding("") + broken).as_bytes());
    let out = fencepost(&["run", &path, "--python", "/no/such/python"]);
    assert_eq!(out.code, 2, "{}{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("@add: it ran to its end"), "{}", out.stdout);
    let refused = "failed @broken: Triton would refuse it at add.py:15: the name `BLOK` is not defined";
    assert!(out.stdout.contains(refused), "{}", out.stdout);
    assert!(out.stdout.contains("2 runs: failed"), "{}", out.stdout);
    assert!(out.stdout.contains("beside @add: the run passed, the analysis calls it proved"), "{}", out.stdout);
}

#[test]
fn settings_are_drawn_in_their_own_file() {
    let folder = Folder::new("slips-settings");
    folder.write(".git/HEAD", b"");
    folder.write("fencepost.toml", b"target = \"sm_90\"\n\n[kinds]\ndeadlok = \"off\"\n");
    let paths = ["a.py", "b.py"].map(|name| folder.write(name, adding("").as_bytes()));
    let out = fencepost(&["check", &paths[0], &paths[1]]);
    assert_eq!(out.stdout.matches("fencepost.toml:4:1").count(), 1, "{}", out.stdout);
    assert!(out.code == 1 && out.stdout.contains("4 | deadlok = \"off\""), "{}", out.stdout);
    assert!(out.stdout.contains("2 files: 1 warning, 2 kernels proved"), "{}", out.stdout);
    let concise = fencepost(&["check", "--format", "concise", &paths[0]]);
    assert!(concise.stdout.contains("fencepost.toml:4:1: warning[configuration]"), "{}", concise.stdout);
}

#[test]
fn reports_of_kernels_without_barriers_are_short() {
    let folder = Folder::new("slips-reports");
    let path = folder.write("add.py", adding("").as_bytes());
    let report = fencepost(&["report", &path]).stdout;
    assert!(report.contains("It has no barrier") && !report.contains("Index and phase"), "{report}");
    assert!(report.lines().count() < 16, "{report}");
    let page = fencepost(&["report", "--format", "html", &path]).stdout;
    assert!(page.contains("It has no barrier") && !page.contains("k1-phases"), "the page has empty sections");
    assert!(!page.contains("#k1-graph") && !page.contains("#k1-coverage"), "a link leads to what is not there");
}
