//! The Neovim plugin in a real Neovim without a screen, where one is installed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::skip::skip;
use crate::support::{binary, root};

/// Older ones cannot start a server.
const OLDEST: (u32, u32) = (0, 8);

#[test]
fn the_plugin_shows_findings_runs_and_pages() {
    let program = std::env::var_os("FENCEPOST_NVIM").map_or_else(|| PathBuf::from("nvim"), PathBuf::from);
    let Ok(version) = Command::new(&program).arg("--version").stdin(Stdio::null()).output() else {
        skip("the plugin in Neovim", "there is no Neovim (set FENCEPOST_NVIM to one)");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    match number(&version) {
        Some(number) if number >= OLDEST => {}
        _ => {
            skip("the plugin in Neovim", &format!("{} is too old", version.lines().next().unwrap_or("this one")));
            return;
        }
    }
    let out = Command::new(&program)
        .args(["--clean", "-l"])
        .arg(root().join("editors/nvim/tests/run.lua"))
        .arg(binary())
        .arg(root().join("tests/kernels/ring_not_waited.ttgir"))
        .stdin(Stdio::null())
        .output()
        .expect("Neovim starts");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains("PASS missing-forward-barrier"), "{version}{said}");
}

/// `NVIM v0.12.4` as `(0, 12)`.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.lines().next()?.split('v').nth(1)?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
