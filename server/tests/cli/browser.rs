//! The report's page in a real browser without a screen, where one is installed.
//!
//! `tests/browser/report.mjs` drives it and says what it checks: links, numbers, themes, keys, no
//! network. It needs Node and a Chromium, and no packages of either.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::skip::skip;
use crate::support::{Folder, fencepost, root};

/// Names under which Chromium is installed.
const NAMES: [&str; 6] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// What is shown, from the root of the repository.
const KERNELS: [&str; 5] = [
    "tests/kernels/attention.ttgir",
    "tests/corpus/ttgir/sm_90/ws_gemm.ttgir",
    "tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir",
    "tests/kernels/packed/final_fixed.ttgir",
    "tests/kernels/packed/final_broken.ttgir",
];

fn answers(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
}

/// The browser of `FENCEPOST_BROWSER`, or one that has a known name.
fn browser() -> Option<String> {
    match std::env::var("FENCEPOST_BROWSER") {
        Ok(named) => Some(named),
        Err(_) => NAMES.into_iter().find(|name| answers(name)).map(str::to_owned),
    }
}

#[test]
fn the_page_keeps_its_promises_in_a_browser() {
    let Some(browser) = browser() else {
        skip("the report in a browser", "there is no Chromium (set FENCEPOST_BROWSER to one)");
        return;
    };
    if !answers("node") {
        skip("the report in a browser", "there is no Node to drive it");
        return;
    }
    let folder = Folder::new("report-browser");
    let pages: Vec<PathBuf> = KERNELS
        .iter()
        .enumerate()
        .map(|(at, kernel)| {
            let page = PathBuf::from(folder.path()).join(format!("{at}.html"));
            let source = root().join(kernel);
            let args = ["report", "--format", "html", "--output"].map(str::to_owned);
            let paths = [&page, &source].map(|path| path.to_string_lossy().into_owned());
            let args: Vec<&str> = args.iter().chain(&paths).map(String::as_str).collect();
            let out = fencepost(&args);
            assert!(out.code < 2 && page.is_file(), "{kernel}: {}", out.stderr);
            page
        })
        .collect();
    let script = root().join("tests/browser/report.mjs");
    let out = Command::new("node").arg(script).arg(&browser).args(&pages).stdin(Stdio::null()).output();
    let out = out.expect("Node starts");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains("PASS"), "{browser} {KERNELS:?}\n{said}");
}
