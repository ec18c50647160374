//! Puts the commit and its day behind the version, where they are known.
//!
//! They come from `FENCEPOST_COMMIT` (`1234abcd5 2026-01-31`), from what cargo leaves in a packaged crate, or, where the
//! build is an optimised one, from git, in a worktree too. None of them has to be there; a debug build says that it is one.

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
        None if is_debug() => format!("{version} (debug build)"),
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

/// Whether this is a debug build, as tests are. It names no commit, or it would be built anew at each of them.
fn is_debug() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "debug")
}

/// The commit of the checkout.
fn checked_out() -> Option<String> {
    if is_debug() {
        return None;
    }
    // The sources may lie in somebody else's repository.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--show-prefix"]).filter(|prefix| prefix == "server/")?;
    for path in told_of_commits() {
        println!("cargo::rerun-if-changed={path}");
    }
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

/// Files that change with the commit of the checkout. In a worktree `HEAD` and its log are its own, while branches are those
/// of the repository: git says where each is. A file that is not there would have this run at each build.
fn told_of_commits() -> Vec<String> {
    let path = |name: &str| git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists());
    let mut paths = Vec::from_iter(path("HEAD"));
    if let Some(log) = path("logs/HEAD") {
        paths.push(log);
    } else if let Some(branch) = git(&["symbolic-ref", "--quiet", "HEAD"]) {
        // Without a log the branch says it: a file of its own, or a line of the packed ones until it changes.
        match path(&branch) {
            Some(own) => paths.push(own),
            None => paths.extend(["packed-refs", "refs/heads"].into_iter().filter_map(path)),
        }
    }
    paths
}

fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8(out.stdout).ok()?.trim().to_owned())
}
