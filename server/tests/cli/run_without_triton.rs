//! A kernel in Python is run on the CPU from what it is elaborated to, where no Triton is installed.

use std::path::PathBuf;

use crate::support::{Output, fencepost, root};

/// A Python that is not there has no Triton.
const NOWHERE: &str = "/no/such/python";

fn run(path: &str, more: &[&str]) -> Output {
    let mut args = vec!["run", path, "--python", NOWHERE];
    args.extend(more);
    fencepost(&args)
}

/// The file of `tests/races/` with a change.
fn changed(name: &str, from: &str, to: &str) -> PathBuf {
    let text = std::fs::read_to_string(root().join("tests/races").join(name)).expect("the file");
    assert!(text.contains(from), "{from}");
    let folder = std::env::temp_dir().join(format!("fencepost-run-without-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text.replace(from, to)).expect("a file");
    path
}

#[test]
fn plain_triton_runs_and_its_races_are_on_its_lines() {
    let path = root().join("tests/races/rows.py").to_string_lossy().into_owned();
    let out = run(&path, &["--kernel", "transpose"]);
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("the run passed, the analysis calls it proved"), "{}", out.stdout);

    let store = "tl.store(out + column[:, None] * rows + row[None, :]";
    let broken = changed("rows.py", store, "tl.store(out + column[:, None] * (rows - 1) + row[None, :]");
    let path = broken.to_string_lossy().into_owned();
    let out = run(&path, &["--kernel", "transpose"]);
    assert_eq!(out.code, 1, "{}{}", out.stdout, out.stderr);
    let text = std::fs::read_to_string(&broken).expect("the file");
    let line = text.lines().position(|line| line.contains("(rows - 1)")).expect("the line") + 1;
    assert!(
        out.stdout.contains("error[global-race]") && out.stdout.contains(&format!("rows.py:{line}:")),
        "{}",
        out.stdout
    );
    assert!(out.stdout.contains("the analysis says the same of it"), "{}", out.stdout);
    let _ = std::fs::remove_dir_all(broken.parent().unwrap_or(&broken));
}

#[test]
fn gluon_runs_too() {
    let path = root().join("tests/kernels/gluon/sum_rows.py").to_string_lossy().into_owned();
    let out = run(&path, &[]);
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("@sum_rows: it ran to its end"), "{}", out.stdout);
}

#[test]
fn constants_that_were_not_analysed_are_elaborated() {
    let path = root().join("tests/races/rows.py").to_string_lossy().into_owned();
    let out = run(&path, &["--kernel", "transpose", "--arg", "ROWS=64"]);
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("ROWS=64"), "{}", out.stdout);
}

#[test]
fn arguments_that_no_kernel_has_are_errors() {
    let path = root().join("tests/races/rows.py").to_string_lossy().into_owned();
    for (argument, said) in [
        ("ROWZ=3", "--arg ROWZ: no kernel has such a parameter; did you mean `ROWS`?"),
        ("rows=abc", "--arg rows: `abc` is no number and no tensor"),
    ] {
        let out = run(&path, &["--kernel", "transpose", "--arg", argument]);
        assert_eq!(out.code, 2, "{}{}", out.stdout, out.stderr);
        assert!(out.stderr.contains(said), "{}", out.stderr);
    }
    let out = run(&path, &["--kernel", "transpose", "--arg", "num_warps=4"]);
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
}
