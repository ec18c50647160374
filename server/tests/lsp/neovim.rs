//! The Neovim plugin in each Neovim that there is, without a screen.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::skip::skip;
use crate::support::{binary, root};

/// The plugin says on older ones that it does not work.
const OLDEST: (u32, u32) = (0, 10);

/// What `editors/nvim/tests/run.lua` does one after the other.
const PARTS: [&str; 7] = ["reading", "stepping", "python", "reports", "ir", "running", "upkeep"];

/// Those that `FENCEPOST_NVIM` lists, as `PATH` lists folders; else the one on the `PATH`.
fn programs() -> Vec<PathBuf> {
    let named = std::env::var_os("FENCEPOST_NVIM");
    named.map_or_else(|| vec![PathBuf::from("nvim")], |named| std::env::split_paths(&named).collect())
}

#[test]
fn the_plugin_shows_findings_runs_and_pages() {
    for program in programs() {
        let Ok(version) = Command::new(&program).arg("--version").stdin(Stdio::null()).output() else {
            skip("the plugin in Neovim", "there is no Neovim (FENCEPOST_NVIM names some)");
            continue;
        };
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        match number(&version) {
            Some(number) if number >= OLDEST => in_one(&program, &version),
            _ => the_old_one_is_told(&program, &version),
        }
    }
}

fn in_one(program: &Path, version: &str) {
    let out = Command::new(program)
        .args(["--clean", "-l"])
        .arg(root().join("editors/nvim/tests/run.lua"))
        .arg(binary())
        .arg(root().join("tests/kernels/ring_not_waited.ttgir"))
        .stdin(Stdio::null())
        .output()
        .expect("Neovim starts");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let failed = String::from_utf8_lossy(&out.stderr).into_owned();
    let passed: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    assert!(out.status.success() && passed == PARTS && said.contains("PASS"), "{version}{said}{failed}");
}

/// What the plugin cannot work in still opens the file, and `:checkhealth` says why nothing happens.
fn the_old_one_is_told(program: &Path, version: &str) {
    let plugin = root().join("editors/nvim");
    let out = Command::new(program)
        .args(["--clean", "--headless", "--cmd"])
        .arg(format!("set runtimepath^={}", plugin.display()))
        .arg(root().join("tests/kernels/ring.ttgir"))
        .args(["+checkhealth fencepost", "+%print", "+qall!"])
        .stdin(Stdio::null())
        .output()
        .expect("Neovim starts");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("Fencepost needs Neovim 0.10 or newer"), "{version}{said}");
    skip("the plugin in Neovim", &format!("{} is too old", version.lines().next().unwrap_or("this one")));
}

/// `NVIM v0.12.4` as `(0, 12)`.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.lines().next()?.split('v').nth(1)?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
