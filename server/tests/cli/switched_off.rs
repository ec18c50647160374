//! Kinds that are off in `fencepost.toml`: their findings are counted in every format, and never look like none.

use crate::support::{BINARY, Folder, Output, fencepost, kernel};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// All that is found in `ring_not_waited.ttgir`, off.
const OFF: &str =
    "[kinds]\nmissing-forward-barrier = \"off\"\nphase-mismatch = \"off\"\nuninitialised-read = \"off\"\n";

fn read(name: &str) -> Vec<u8> {
    std::fs::read(kernel(name)).expect("the kernel can be read")
}

/// A flagged and a clean kernel in one folder with these settings.
fn folder(name: &str) -> (Folder, String, String) {
    let folder = Folder::new(name);
    let flagged = folder.write("flagged.ttgir", &read("ring_not_waited.ttgir"));
    let clean = folder.write("clean.ttgir", &read("ring.ttgir"));
    folder.write("fencepost.toml", OFF.as_bytes());
    (folder, flagged, clean)
}

fn check(format: &str, path: &str) -> Output {
    fencepost(&["check", "--format", format, path])
}

#[test]
fn people_are_told_how_many_there_are() {
    let (_folder, flagged, clean) = folder("off-human");
    let out = check("human", &flagged);
    // The rule of suppression comments: what is not shown does not fail.
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    assert!(!out.stdout.contains("error[") && out.stdout.contains("found "), "{}", out.stdout);
    assert!(out.stdout.contains("@ws_gemm: 3 suppressed"), "{}", out.stdout);
    assert!(out.stdout.ends_with("1 file: 3 findings suppressed\n"), "{}", out.stdout);
    let out = check("human", &clean);
    assert!(out.code == 0 && !out.stdout.contains("suppressed"), "{}", out.stdout);
}

#[test]
fn machines_are_told_what_is_off() {
    let (_folder, flagged, clean) = folder("off-json");
    let out = check("json", &flagged);
    let document: Value = serde_json::from_str(&out.stdout).expect("the document is JSON");
    crate::schema::Schema::published("check.schema.json").holds(&document);
    let file = &document["files"][0];
    assert_eq!((out.code, &file["verdict"], &file["findings"]), (0, &json!("found"), &json!([])));
    let off = file["suppressed"].as_array().expect("what is off");
    assert!(!off.is_empty() && off.iter().all(|it| it["by"] == json!("settings")), "{file}");
    assert_eq!(file["kernels"][0]["suppressed"], json!(off.len()));
    assert!(off[0]["reason"].as_str().is_some_and(|why| why.ends_with("is off in the settings")), "{file}");
    let out = check("json", &clean);
    let document: Value = serde_json::from_str(&out.stdout).expect("the document is JSON");
    assert_eq!(document["files"][0]["suppressed"], Value::Null);

    let log: Value = serde_json::from_str(&check("sarif", &flagged).stdout).expect("the log is JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), off.len());
    assert!(results.iter().all(|it| it["suppressions"][0]["kind"] == json!("external")), "{log}");
    assert!(results.iter().all(|it| it["baselineState"].is_null()), "{log}");
}

#[test]
fn an_annotation_says_so() {
    let (_folder, flagged, clean) = folder("off-github");
    let out = check("github", &flagged);
    assert_eq!((out.code, out.stdout.matches("::").count()), (0, 2), "{}", out.stdout);
    assert!(out.stdout.starts_with("::notice file=") && out.stdout.contains("suppressed"), "{}", out.stdout);
    assert!(out.stdout.contains("found; "), "{}", out.stdout);
    assert_eq!(check("github", &clean).stdout, "");
}

#[test]
fn a_relative_path_has_the_same_settings() {
    let (folder, _, _) = folder("off-relative");
    let mut command = Command::new(BINARY);
    command.args(["check", "flagged.ttgir"]).current_dir(folder.path()).stdin(Stdio::null());
    let out = command.output().expect("the binary runs");
    assert!(String::from_utf8_lossy(&out.stdout).contains(" suppressed"), "{out:?}");
}
