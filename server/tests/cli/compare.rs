//! A Python file's kernels beside what Triton compiles of them.
//!
//! What needs Triton runs with the Python of `FENCEPOST_PYTHON` (or `python3`), and says so where that has none.

use crate::skip::skip;
use crate::support::{fencepost, root};

fn python() -> String {
    std::env::var("FENCEPOST_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

#[test]
fn both_readings_of_a_kernel_agree() {
    let kernel = root().join("tests/kernels/gluon/sum_rows.py").to_string_lossy().into_owned();
    let out = fencepost(&["compare", &kernel, "--python", &python(), "--target", "sm_90"]);
    if out.stderr.contains("has no Triton") || out.stderr.contains("cannot be started") {
        skip("compare with Triton", out.stderr.trim());
        return;
    }
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("sum_rows") && out.stdout.contains("agrees"), "{}", out.stdout);
    assert!(out.stdout.contains("0 differ, 0 not compiled"), "{}", out.stdout);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let kernel = root().join("tests/kernels/gluon/sum_rows.py").to_string_lossy().into_owned();
    let out = fencepost(&["compare", &kernel, "--python", "no-such-python"]);
    assert_eq!((out.code, out.stdout.as_str()), (2, ""));
    assert!(out.stderr.contains("no-such-python: Python cannot be started"), "{}", out.stderr);
    let other = root().join("README.md").to_string_lossy().into_owned();
    let out = fencepost(&["compare", &other, "--python", "no-such-python"]);
    assert!(out.code == 2 && out.stderr.contains("is no Python file"), "{}", out.stderr);
}
