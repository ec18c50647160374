//! With a shell as the child, on systems that have one.

#![cfg(unix)]

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use base::Cancel;

use super::{ChildCommand, ChildOutcome, ExitCause, RunFolder, allowed, run};
use crate::process::pause::pause;

fn shell(script: &str, time: Duration, cancel: &Cancel<'_>) -> (ChildOutcome, Vec<String>) {
    let folder = RunFolder::new().expect("a folder");
    let job = ChildCommand {
        program: Path::new("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.path().to_owned(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("X".into(), "seen".into())],
        time,
        output: 1 << 16,
    };
    let mut lines = Vec::new();
    let outcome = run(&job, &mut |line| lines.push(line.to_owned()), cancel).expect("it starts");
    (outcome, lines)
}

/// Whether it goes on after the moment that its end takes.
fn alive(pid: &str) -> bool {
    (0..100).all(|_| {
        pause(Duration::from_millis(20));
        // A zombie that nobody waits for is gone, too.
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    })
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn it_is_read_to_its_end() {
    let (outcome, lines) = shell("echo one; echo $X; echo no >&2; env | wc -l; exit 3", LONG, &Cancel::never());
    assert_eq!(outcome.ended, ExitCause::Code(Some(3)));
    assert_eq!(lines[..2], ["one", "seen"]);
    assert_eq!(outcome.errors.last_lines(4), "no");
    assert!(!outcome.unkillable);
}

#[test]
fn its_whole_group_ends_at_the_limit() {
    let begin = Instant::now();
    let script = "trap '' TERM; sleep 300 & echo $!; sleep 301 & echo $!; wait; sleep 302";
    let (outcome, lines) = shell(script, Duration::from_millis(300), &Cancel::never());
    assert_eq!(outcome.ended, ExitCause::Late);
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|pid| !alive(pid)), "{lines:?}");
}

#[test]
fn what_it_leaves_behind_ends_with_it() {
    let (outcome, lines) = shell("sleep 300 >/dev/null 2>&1 & echo $!", LONG, &Cancel::never());
    assert_eq!(outcome.ended, ExitCause::Code(Some(0)));
    assert!(lines.iter().all(|pid| !alive(pid)), "{lines:?}");
}

#[test]
fn it_is_cancelled() {
    let asked = AtomicU32::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 5;
    let (outcome, _) = shell("sleep 300", LONG, &Cancel::when(&stop));
    assert_eq!(outcome.ended, ExitCause::Cancelled);
    assert!(outcome.seconds < 15.0);
}

#[test]
fn a_flood_is_counted_and_does_not_block() {
    let line = "/k.py:7: unknown: block: [0,0,0], thread: [0,0,0] Assertion \\`a\\` failed.";
    let script = format!("yes | head -c 20000000; yes \"{line}\" | head -n 100000 >&2");
    let (outcome, _) = shell(&script, LONG, &Cancel::never());
    assert_eq!(outcome.ended, ExitCause::Code(Some(0)));
    assert!(outcome.dropped > 19_000_000, "{}", outcome.dropped);
    assert_eq!((outcome.errors.log.asserts.len(), outcome.errors.log.total()), (1, 100_000));
    assert!(outcome.errors.tail.len() <= 64 << 10);
}

#[test]
fn a_folder_goes_with_its_value() {
    let folder = RunFolder::new().expect("a folder");
    let path = folder.path().to_owned();
    std::fs::write(path.join("x"), "y").expect("a file");
    drop(folder);
    assert!(!path.exists());
    assert!(RunFolder::within(Path::new("/nowhere/at/all")).is_err());
}

#[test]
fn credentials_are_not_seen() {
    let names = ["PATH", "CUDA_VISIBLE_DEVICES", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "TORCH_TOKEN", "FOO"];
    let seen = allowed(names.map(|name| (OsString::from(name), OsString::from("x"))));
    let seen: Vec<_> = seen.iter().filter_map(|(name, _)| name.to_str()).collect();
    assert_eq!(seen, ["PATH", "CUDA_VISIBLE_DEVICES"]);
}
