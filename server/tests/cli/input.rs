//! `fencepost check` on input that is no good: each is said with its place, the others are checked.

use crate::support::{Folder, fencepost, fencepost_with};
use serde_json::Value;

/// Bytes that cannot be checked, and what is said.
const BAD: [(&str, &[u8], &str); 5] = [
    ("empty.ttgir", b"", "is empty"),
    ("blank.ttgir", b" \r\n\t\n", "is empty"),
    ("binary.ttgir", b"\x7fELF\x02\x01\0\0", "is binary: byte 6 is 0"),
    ("latin.ttgir", b"module {\n  // caf\xe9\n}\n", "latin.ttgir:2:9: is not UTF-8: byte 17 is 0xe9"),
    ("utf16.ttgir", b"\xff\xfem\0o\0d\0", "is UTF-16"),
];

#[test]
fn each_bad_file_is_said_and_the_good_one_checked() {
    let folder = Folder::new("bad");
    for (name, bytes, _) in BAD {
        folder.write(name, bytes);
    }
    folder.write("good.ttgir", b"module {\n}\n");
    let out = fencepost(&["check", &folder.path()]);
    for (name, _, said) in BAD {
        assert!(out.stdout.lines().any(|line| line.contains(name) && line.contains(said)), "{name}: {}", out.stdout);
    }
    assert!(!out.stdout.contains("good.ttgir"), "{}", out.stdout);
    assert!(out.stdout.contains("6 files: 5 files that could not be checked"), "{}", out.stdout);
    assert_eq!(out.code, 2);
}

#[test]
fn a_path_that_leads_nowhere_is_said() {
    let out = fencepost(&["check", "no/such/file.ttgir"]);
    assert!(out.stdout.contains("no/such/file.ttgir: no such file or directory"), "{}", out.stdout);
    assert_eq!(out.code, 2);
    let folder = Folder::new("none");
    let out = fencepost(&["check", &folder.path()]);
    assert!(out.stderr.contains("no .ttgir file and no kernel in Python in this directory"), "{}", out.stderr);
    assert_eq!(out.code, 0);
}

#[test]
fn a_directory_is_searched_by_name_and_each_file_checked_once() {
    let folder = Folder::new("walk");
    folder.write("b.ttgir", b"module {\n}\n");
    folder.write("a/.hidden/x.ttgir", b"module {\n}\n");
    folder.write("a/y.ttgir", b"module {\n}\n");
    folder.write("a/notes.md", b"nothing");
    folder.write(".git/z.ttgir", b"module {\n}\n");
    let file = format!("{}/b.ttgir", folder.path());
    let out = fencepost(&["check", "--no-ignore", "--format", "json", &folder.path(), &file]);
    let document: Value = serde_json::from_str(&out.stdout).expect("the document is JSON");
    let paths: Vec<&str> = document["files"].as_array().expect("files").iter().filter_map(path).collect();
    let names: Vec<&str> = paths.iter().filter_map(|path| path.strip_prefix(&folder.path())).collect();
    assert_eq!(names, ["/a/.hidden/x.ttgir", "/a/y.ttgir", "/b.ttgir"]);
    assert_eq!(out.code, 0);
}

fn path(file: &Value) -> Option<&str> {
    file["path"].as_str()
}

#[test]
fn stdin_is_a_file() {
    let out = fencepost_with(&["check", "-"], b"module {\n}\n");
    assert_eq!((out.stdout.as_str(), out.code), ("1 file: no kernel\n", 0));
    let out = fencepost_with(&["check", "-"], b"");
    assert!(out.stdout.contains("<stdin>: is empty"), "{}", out.stdout);
    assert_eq!(out.code, 2);
}

#[test]
fn every_format_says_what_could_not_be_read() {
    let folder = Folder::new("formats");
    folder.write("latin.ttgir", b"module {\n  // caf\xe9\n}\n");
    let file = format!("{}/latin.ttgir", folder.path());

    let out = fencepost(&["check", "--format", "json", &file]);
    let document: Value = serde_json::from_str(&out.stdout).expect("the document is JSON");
    assert_eq!(document["schema"], 1);
    assert_eq!(document["files"][0]["verdict"], "undecided");
    assert_eq!(document["files"][0]["problem"]["position"]["line"], 1);
    assert_eq!(out.code, 2);

    let out = fencepost(&["check", "--format", "sarif", &file]);
    let log: Value = serde_json::from_str(&out.stdout).expect("the log is JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let note = &invocation["toolExecutionNotifications"][0];
    assert_eq!(note["locations"][0]["physicalLocation"]["region"]["startLine"], 2);

    let out = fencepost(&["check", "--format", "github", &file]);
    assert!(out.stdout.starts_with("::error file="), "{}", out.stdout);
    assert!(out.stdout.contains(",line=2,col=9,title=fencepost::is not UTF-8"), "{}", out.stdout);
}

#[test]
fn many_files_come_out_in_order_whatever_the_jobs() {
    let folder = Folder::new("order");
    for at in 0..200 {
        folder.write(&format!("k{at:03}.ttgir"), if at % 3 == 0 { b"" } else { b"module {\n}\n" });
    }
    let one = fencepost(&["check", "-j", "1", &folder.path()]);
    for jobs in ["2", "7"] {
        assert_eq!(fencepost(&["check", "-j", jobs, &folder.path()]).stdout, one.stdout);
    }
}

#[test]
fn output_that_nobody_reads_is_no_error() {
    let folder = Folder::new("pipe");
    for at in 0..500 {
        folder.write(&format!("k{at:03}.ttgir"), b"");
    }
    let out = crate::support::fencepost_unread(&["check", &folder.path()]);
    assert_eq!(out.stderr, "");
}
