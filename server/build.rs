//! Puts the commit and its day behind the version, where they are known.
//!
//! They come from `FENCEPOST_COMMIT` (`1234abcd5 2026-01-31`), from what cargo leaves in a packaged crate, or, where the
//! build is an optimised one, from git. None of them has to be there.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FENCEPOST_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let given = env::var("FENCEPOST_COMMIT").ok().filter(|commit| !commit.trim().is_empty());
    let version = match given.or_else(packaged).or_else(checked_out) {
        Some(commit) => format!("{version} ({})", commit.trim()),
        None => version,
    };
    println!("cargo::rustc-env=FENCEPOST_VERSION={version}");
}

/// The commit that a packaged crate was made of.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit: String =
        rest.chars().skip_while(|c| !c.is_ascii_hexdigit()).take_while(char::is_ascii_hexdigit).collect();
    (commit.len() >= 9).then(|| commit[..9].to_owned())
}

/// The commit of the checkout. A test build does without, since it would be built anew at each commit.
fn checked_out() -> Option<String> {
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return None;
    }
    // The sources may lie in somebody else's repository.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--show-prefix"]).filter(|prefix| prefix == "server/")?;
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        // A file that is not there would have this run at each build.
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8(out.stdout).ok()?.trim().to_owned())
}
