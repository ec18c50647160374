//! `fencepost check` and `trace` on kernels with and without bugs, in every format.

use crate::schema::Schema;
use crate::support::{Folder, fencepost, fencepost_with, kernel, root};
use serde_json::{Value, json};

const BUGGY: &str = "ring_not_waited.ttgir";
const CLEAN: &str = "ring.ttgir";

fn document(args: &[&str]) -> (Value, i32) {
    let out = fencepost(&[&["check", "--format", "json"], args].concat());
    (serde_json::from_str(&out.stdout).expect("the document is JSON"), out.code)
}

#[test]
fn people_get_places_a_run_and_what_to_do() {
    let out = fencepost(&["check", &kernel(BUGGY)]);
    assert_eq!(out.code, 1);
    let blocks: Vec<&str> = out.stdout.split("\n\n").collect();
    let race = blocks.iter().find(|block| block.starts_with("error[missing-forward-barrier]: ")).expect("the race");
    for said in [
        "ring_not_waited.ttgir:46:38",
        "^^^^^^ (2) default reads `%a",
        "--- (1) partition0 writes `%a",
        "   = run, with %K = ",
        "(1) ttng.async_tma_copy_global_to_local: ",
    ] {
        assert!(race.contains(said), "{said}: {race}");
    }
    assert!(
        out.stdout.contains("help: `fencepost explain KIND` says more of missing-forward-barrier"),
        "{}",
        out.stdout
    );
    assert!(!out.stdout.contains('\x1b'), "no colours where no terminal is");
    let coloured = fencepost(&["check", "--color", "always", &kernel(BUGGY)]);
    assert_eq!(strip_colours(&coloured.stdout), out.stdout);
}

fn strip_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn a_good_kernel_is_said_to_be_good_and_why() {
    let out = fencepost(&["check", &kernel(CLEAN)]);
    assert_eq!(out.code, 0);
    assert!(out.stdout.starts_with("proved ") && out.stdout.contains("@ws_gemm: "), "{}", out.stdout);
    assert!(out.stdout.ends_with("1 file: 1 kernel proved\n"), "{}", out.stdout);
}

#[test]
fn json_is_the_document_that_other_tools_read() {
    let (found, code) = document(&[&kernel(BUGGY), &kernel(CLEAN)]);
    assert_eq!(code, 1);
    Schema::published("check.schema.json").holds(&found);
    assert_eq!((&found["schema"], &found["positionEncoding"]), (&json!(1), &json!("utf-16")));
    let file = &found["files"][0];
    assert_eq!(file["path"], json!(kernel(BUGGY)));
    assert_eq!(file["verdict"], json!("found"));
    assert_eq!(file["kernels"][0]["name"], json!("ws_gemm"));
    assert_eq!(file["kernels"][0]["verdict"], json!("found"));
    let findings = file["findings"].as_array().expect("findings");
    let race = findings.iter().find(|it| it["kind"] == json!("missing-forward-barrier")).expect("the race");
    assert_eq!(race["severity"], json!("error"));
    assert_eq!(race["range"]["start"], json!({ "line": 45, "character": 37 }));
    assert_eq!(race["sites"].as_array().map(Vec::len), Some(2));
    assert_eq!(race["sites"][1]["primary"], json!(true));
    assert_eq!(race["inputs"][0]["name"], json!("%K"));
    assert!(race["run"][0]["partition"].is_string() && race["run"][0]["range"].is_object());
    let clean = &found["files"][1];
    assert_eq!((&clean["verdict"], &clean["findings"]), (&json!("proved"), &json!([])));
}

#[test]
fn documents_of_every_sort_are_as_the_schema_says() {
    let schema = Schema::published("check.schema.json");
    let (gluon, corpus) = (root().join("tests/kernels/gluon"), root().join("tests/corpus/ttgir/sm_90/ws_gemm.ttgir"));
    let folder = Folder::new("schema");
    let broken = folder.write("broken.ttgir", b"module {\n  tt.func public @f( {\n}\n");
    let unreadable = folder.write("unreadable.ttgir", b"module {\n \xff");
    let [gluon, corpus] = [&gluon, &corpus].map(|path| path.to_string_lossy().into_owned());
    for args in [&["--explain-proof", &corpus][..], &[&gluon], &[&broken, &unreadable, "no/such/file"]] {
        schema.holds(&document(args).0);
    }
}

#[test]
fn sarif_has_rules_places_and_the_run_as_a_code_flow() {
    let out = fencepost(&["check", "--format", "sarif", &kernel(BUGGY), &kernel(CLEAN)]);
    assert_eq!(out.code, 1);
    let log: Value = serde_json::from_str(&out.stdout).expect("the log is JSON");
    assert_eq!(log["version"], json!("2.1.0"));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let rule = &rules[result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
        let steps = flows.iter().flat_map(|flow| flow["locations"].as_array().into_iter().flatten());
        let mut order: Vec<u64> = steps.filter_map(|step| step["executionOrder"].as_u64()).collect();
        order.sort_unstable();
        assert_eq!(order, (1..=order.len() as u64).collect::<Vec<_>>());
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].as_u64() > Some(0) && region["endColumn"].as_u64() > Some(0));
    }
}

#[test]
fn github_gets_one_line_a_finding() {
    let out = fencepost(&["check", "--format", "github", &kernel(BUGGY)]);
    assert_eq!(out.code, 1);
    let (found, _) = document(&[&kernel(BUGGY)]);
    assert_eq!(out.stdout.lines().count(), found["files"][0]["findings"].as_array().map_or(0, Vec::len));
    let race = out.stdout.lines().find(|line| line.contains("title=missing-forward-barrier::")).expect("the race");
    assert!(race.starts_with("::error file=") && race.contains(",line=46,endLine=46,col=38,endColumn=44,"), "{race}");
    assert!(race.contains("%0A(1) line "), "{race}");
}

#[test]
fn line_ends_and_tabs_move_nothing_but_columns() {
    let text = std::fs::read_to_string(kernel(BUGGY)).expect("the kernel can be read");
    let folder = Folder::new("crlf");
    let crlf = folder.write("crlf.ttgir", text.replace('\n', "\r\n").replace("\r\n    ", "\r\n\t\t").as_bytes());
    let ((plain, _), (odd, code)) = (document(&[&kernel(BUGGY)]), document(&[&crlf]));
    assert_eq!(code, 1);
    let lines = |document: &Value| -> Vec<(Value, Value)> {
        let findings = document["files"][0]["findings"].as_array().cloned().unwrap_or_default();
        findings.into_iter().map(|it| (it["kind"].clone(), it["range"]["start"]["line"].clone())).collect()
    };
    assert_eq!(lines(&plain), lines(&odd));
}

#[test]
fn a_truncated_kernel_could_not_be_analysed() {
    let text = std::fs::read_to_string(kernel(CLEAN)).expect("the kernel can be read");
    let closed = text.rfind("\n  }").expect("the function ends");
    for end in (0..text.len()).step_by(997).skip(1) {
        let out = fencepost_with(&["check", "--format", "json", "-"], &text.as_bytes()[..end]);
        let found: Value = serde_json::from_str(&out.stdout).expect("the document is JSON");
        let file = &found["files"][0];
        let kernels = file["kernels"].as_array().expect("kernels");
        let whole = file["errors"].as_array().is_some_and(Vec::is_empty);
        assert_eq!(out.code, if whole { 0 } else { 2 }, "cut at {end}: {file}");
        // A cut kernel is never called good.
        for kernel in kernels.iter().filter(|_| end < closed) {
            assert_eq!(kernel["verdict"], json!("undecided"), "cut at {end}");
        }
    }
}

#[test]
fn undecided_exits_with_2_unless_it_is_allowed() {
    let text = std::fs::read_to_string(kernel(CLEAN)).expect("the kernel can be read");
    // Named barriers of another file's making: an op that nobody can follow.
    let text = text.replacen(
        "ttg.warp_specialize(",
        "\"ttng.unheard_of\"(%bar) : (!ttg.memdesc<3x1xi64, #shared1, #smem, mutable>) -> ()\n    ttg.warp_specialize(",
        1,
    );
    let out = fencepost_with(&["check", "-"], text.as_bytes());
    assert!(out.stdout.contains("undecided <stdin>:"), "{}", out.stdout);
    assert_eq!(out.code, 2);
    for (flag, code) in [("--allow-undecided", 0), ("--strict", 2)] {
        let other = fencepost_with(&["check", flag, "-"], text.as_bytes());
        assert_eq!((other.code, other.stdout), (code, out.stdout.clone()), "{flag}");
    }
    assert_eq!(fencepost_with(&["check", "--strict", "--allow-undecided", "-"], text.as_bytes()).code, 2);
    let github = fencepost_with(&["check", "--format", "github", "-"], text.as_bytes());
    assert_eq!(github.code, 2);
    assert!(github.stdout.contains("::warning file=<stdin>,") && github.stdout.contains("title=undecided::@"));
    let sarif = fencepost_with(&["check", "--format", "sarif", "-"], text.as_bytes());
    let log: Value = serde_json::from_str(&sarif.stdout).expect("the log is JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let open = results.iter().find(|result| result["ruleId"] == json!("undecided")).expect("an open result");
    assert_eq!((&open["kind"], &open["level"], sarif.code), (&json!("open"), &json!("none"), 2));
    let rule = open["ruleIndex"].as_u64().expect("a rule") as usize;
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][rule]["id"], json!("undecided"));
}

#[test]
fn a_dump_tells_a_finding_in_full_once() {
    let section = std::fs::read_to_string(kernel(BUGGY)).expect("the kernel can be read");
    let dump: String = (1..=3).map(|at| format!("// -----// IR Dump After P{at} (p) //----- //\n{section}")).collect();
    let out = fencepost_with(&["check", "-"], dump.as_bytes());
    assert_eq!(
        out.stdout.matches("`fencepost explain KIND` says more of missing-forward-barrier").count(),
        1,
        "{}",
        out.stdout
    );
    assert_eq!(out.stdout.matches("error[missing-forward-barrier]: <stdin>:").count(), 2, "{}", out.stdout);
    assert!(out.stdout.contains(": the same as at line 47\n") && out.stdout.ends_with("1 file: 3 errors\n"));
}

#[test]
fn what_is_suppressed_is_counted_and_can_be_shown() {
    let text = std::fs::read_to_string(kernel(BUGGY)).expect("the kernel can be read");
    let kinds = "missing-forward-barrier, missing-backward-barrier, lapped-wait, phase-mismatch, deadlock";
    let comment = format!("// fencepost: ignore[{kinds}] a test of the host\n  tt.func public");
    let text = text.replacen("tt.func public", &comment, 1);
    let plain = fencepost_with(&["check", "--no-suppress", "-"], text.as_bytes());
    assert!(plain.code == 1 && plain.stdout.contains("error[missing-forward-barrier]"), "{}", plain.stdout);
    let out = fencepost_with(&["check", "-"], text.as_bytes());
    assert!(!out.stdout.contains("error[missing-forward-barrier]"), "{}", out.stdout);
    assert!(out.stdout.contains("found <stdin>:") && out.stdout.contains(": 2 suppressed"), "{}", out.stdout);
    assert!(out.stdout.ends_with("1 file: 1 warning, 2 findings suppressed\n"), "{}", out.stdout);
    // Kinds that are not found here are said.
    assert!(out.stdout.contains("[unused-suppression]"), "{}", out.stdout);
    let json = fencepost_with(&["check", "--format", "json", "-"], text.as_bytes());
    let document: Value = serde_json::from_str(&json.stdout).expect("the document is JSON");
    Schema::published("check.schema.json").holds(&document);
    let file = &document["files"][0];
    assert_eq!((&file["verdict"], &file["suppressed"][0]["reason"]), (&json!("found"), &json!("a test of the host")));
    let sarif = fencepost_with(&["check", "--format", "sarif", "-"], text.as_bytes());
    let log: Value = serde_json::from_str(&sarif.stdout).expect("the log is JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let hidden = results.iter().find(|it| it["suppressions"].is_array()).expect("a suppressed result");
    assert_eq!(hidden["suppressions"][0]["kind"], json!("inSource"));
    assert_eq!(hidden["suppressions"][0]["justification"], json!("a test of the host"));
    assert!(hidden["partialFingerprints"]["fencepost/v1"].is_string());
}
