//! `fencepost check` in a CI: what is known, what has changed, parts of the work, what is said and how it exits.

use std::process::Command;

use crate::schema::Schema;
use crate::support::{Folder, Output, fencepost, fencepost_with, kernel, root};
use serde_json::{Value, json};

/// The file of one of our Gluon kernels, and the same without the wait of its producer.
fn python(good: bool) -> String {
    let path = root().join("tests/kernels/gluon/sum_rows.py");
    let text = std::fs::read_to_string(path).expect("the kernel can be read");
    if good { text } else { text.replace("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", "") }
}

fn ir(good: bool) -> String {
    let path = kernel(if good { "ring.ttgir" } else { "ring_not_waited.ttgir" });
    std::fs::read_to_string(path).expect("the kernel can be read")
}

fn helper() -> Vec<u8> {
    std::fs::read(root().join("tests/kernels/gluon/ring_tools.py")).expect("the helper can be read")
}

fn parsed(out: &Output) -> Value {
    serde_json::from_str(&out.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", out.stdout, out.stderr))
}

fn json_of(args: &[&str]) -> Value {
    let document = parsed(&fencepost(&[&["check", "--format", "json"], args].concat()));
    Schema::published("check.schema.json").holds(&document);
    document
}

#[test]
fn what_is_in_the_baseline_does_not_fail_and_what_is_new_does() {
    let folder = Folder::new("baseline");
    let ring = folder.write("kernels/ring.ttgir", ir(false).as_bytes());
    folder.write("kernels/clean.ttgir", ir(true).as_bytes());
    let (all, file) = (format!("{}/kernels", folder.path()), format!("{}/known.json", folder.path()));
    let known = ["check", "--baseline", &file, &all];
    let none = fencepost(&known);
    assert!(none.code == 2 && none.stderr.contains("--update-baseline writes it"), "{}", none.stderr);
    let written = fencepost(&["check", "--baseline", &file, "--update-baseline", &all]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert!(written.stderr.contains("known.json: ") && written.stderr.contains(" written"), "{}", written.stderr);
    let text = std::fs::read_to_string(&file).expect("the baseline was written");
    assert!(text.contains("\"path\":\"kernels/ring.ttgir\"") && !text.contains("clean.ttgir"), "{text}");

    let out = fencepost(&known);
    assert_eq!(out.code, 0, "{}", out.stdout);
    assert!(out.stdout.contains(" in the baseline") && !out.stdout.contains("error["), "{}", out.stdout);
    // Lines that move change nothing; the kernel is `found` all the same.
    folder.write("kernels/ring.ttgir", format!("// moved\n\n{}", ir(false)).as_bytes());
    let document = json_of(&["--baseline", &file, &all]);
    let found = document["files"].as_array().expect("files").iter().find(|it| it["path"] == json!(ring));
    let found = found.expect("the ring");
    assert_eq!(found["verdict"], json!("found"));
    // Hints do not fail, and are no matter of a baseline.
    assert!(found["findings"].as_array().is_some_and(|it| it.iter().all(|it| it["severity"] == json!("hint"))));
    assert_eq!(found["suppressed"][0]["by"], json!("baseline"));
    let log = parsed(&fencepost(&["check", "--format", "sarif", "--baseline", &file, &all]));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let failing: Vec<&Value> = results.iter().filter(|it| it["level"] != json!("note")).collect();
    assert!(!failing.is_empty());
    for result in failing {
        assert_eq!(
            (&result["suppressions"][0]["kind"], &result["baselineState"]),
            (&json!("external"), &json!("unchanged"))
        );
    }
    let github = fencepost(&["check", "--format", "github", "--baseline", &file, &all]);
    assert!(
        github.code == 0 && github.stdout.contains("::notice title=fencepost::findings in the baseline: "),
        "{}",
        github.stdout
    );
    assert!(!github.stdout.contains("::error"), "{}", github.stdout);

    // Another file with the same slip is new.
    folder.write("kernels/clean.ttgir", ir(false).as_bytes());
    let out = fencepost(&known);
    assert!(out.code == 1 && out.stdout.contains("clean.ttgir:46"), "{}", out.stdout);
    assert_eq!(out.stdout.matches("error[missing-forward-barrier]").count(), 1, "{}", out.stdout);
}

#[test]
fn stale_entries_of_the_baseline_are_said_in_every_format() {
    let folder = Folder::new("stale");
    folder.write("ring.ttgir", ir(false).as_bytes());
    folder.write("gone.ttgir", ir(false).as_bytes());
    let (all, file) = (folder.path(), format!("{}/known.json", folder.path()));
    assert_eq!(fencepost(&["check", "--baseline", &file, "--update-baseline", &all]).code, 0);
    folder.write("ring.ttgir", ir(true).as_bytes());
    std::fs::remove_file(format!("{all}/gone.ttgir")).expect("the file can be removed");
    let out = fencepost(&["check", "--baseline", &file, &all]);
    assert_eq!(out.code, 0);
    for name in ["ring.ttgir", "gone.ttgir"] {
        assert!(
            out.stdout.contains(&format!("note: {name}: the baseline has missing-forward-barrier")),
            "{}",
            out.stdout
        );
    }
    assert!(out.stdout.contains("stale entries in the baseline"), "{}", out.stdout);
    let document = json_of(&["--baseline", &file, &all]);
    assert!(document["staleBaseline"].as_array().is_some_and(|stale| stale.len() >= 2), "{document}");
    let log = parsed(&fencepost(&["check", "--format", "sarif", "--baseline", &file, &all]));
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note["message"]["text"].as_str().is_some_and(|text| text.contains("gone.ttgir"))));
    let github = fencepost(&["check", "--format", "github", "--baseline", &file, &all]);
    assert!(github.stdout.contains("::notice file=gone.ttgir,title=fencepost::"), "{}", github.stdout);
    // Who does not look at a file does not say that its entries are stale, and keeps them.
    let ring = format!("{all}/ring.ttgir");
    folder.write("gone.ttgir", ir(false).as_bytes());
    assert!(!fencepost(&["check", "--baseline", &file, &ring]).stdout.contains("gone.ttgir"));
    assert_eq!(fencepost(&["check", "--baseline", &file, "--update-baseline", &ring]).code, 0);
    let text = std::fs::read_to_string(&file).expect("the baseline");
    assert!(text.contains("gone.ttgir") && !text.contains("ring.ttgir"), "{text}");
    // What is no baseline is said.
    folder.write("known.json", b"{\"schema\":7,\"findings\":[]}");
    let out = fencepost(&["check", "--baseline", &file, &all]);
    assert!(out.code == 2 && out.stderr.contains("has schema 7"), "{}", out.stderr);
}

#[test]
fn a_kernel_in_python_has_a_baseline_too() {
    let folder = Folder::new("baseline-python");
    let path = folder.write("sum_rows.py", python(false).as_bytes());
    folder.write("ring_tools.py", &helper());
    let file = format!("{}/known.json", folder.path());
    assert_eq!(fencepost(&["check", &path]).code, 1);
    assert_eq!(fencepost(&["check", "--baseline", &file, "--update-baseline", &path]).code, 0);
    let moved = python(false).replace("@gluon.jit\ndef producer", "# why\n@gluon.jit\ndef producer");
    folder.write("sum_rows.py", moved.as_bytes());
    let out = fencepost(&["check", "--baseline", &file, &path]);
    assert!(out.code == 0 && !out.stdout.contains("proved"), "{}", out.stdout);
    folder.write("sum_rows.py", python(true).as_bytes());
    let out = fencepost(&["check", "--baseline", &file, &path]);
    assert!(out.code == 0 && out.stdout.contains("proved") && out.stdout.contains("stale"), "{}", out.stdout);
}

#[test]
fn what_is_wrong_with_a_file_is_no_better_for_being_known() {
    let folder = Folder::new("baseline-problem");
    // A directive that names no parameter.
    let wrong = python(true).replace("@gluon.jit\ndef sum_rows", "# fencepost: slots=2\n@gluon.jit\ndef sum_rows");
    let path = folder.write("sum_rows.py", wrong.as_bytes());
    folder.write("ring_tools.py", &helper());
    let file = format!("{}/known.json", folder.path());
    let before = json_of(&[&path])["files"][0].clone();
    assert_eq!(before["problems"][0]["severity"], json!("error"), "{before}");
    fencepost(&["check", "--baseline", &file, "--update-baseline", &path]);
    let known = json_of(&["--baseline", &file, &path])["files"][0].clone();
    assert_eq!((&known["verdict"], &known["knownProblems"]), (&before["verdict"], &json!(1)), "{known}");
    assert!(known["problems"].is_null(), "{known}");
}

fn git(folder: &Folder, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    let out = command.arg("-C").arg(folder.path()).args(who).args(args).output().expect("git starts");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// A repository with a kernel in each language that has a slip, a helper, and a dump of two sections.
fn repository(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("sum_rows.py", python(false).as_bytes());
    folder.write("ring_tools.py", &helper());
    folder.write("ring.ttgir", ir(false).as_bytes());
    let dump = format!(
        "// -----// IR Dump After A (a) //----- //\n{}// -----// IR Dump After B (b) //----- //\n{}",
        ir(false),
        ir(false)
    );
    folder.write("dump.ttgir", dump.as_bytes());
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "all"]);
    folder
}

/// The file of this name in a document.
fn file<'d>(document: &'d Value, name: &str) -> &'d Value {
    let mut files = document["files"].as_array().expect("files").iter();
    files.find(|it| it["path"].as_str().is_some_and(|path| path.ends_with(name))).expect("the file")
}

#[test]
fn only_kernels_that_a_change_concerns_are_looked_at() {
    let folder = repository("changed");
    let all = folder.path();
    let since = |format: &str| fencepost(&["check", "--changed-since", "HEAD", "--format", format, &all]);
    let out = since("human");
    assert_eq!((out.stdout.as_str(), out.code), ("4 files: 4 files not looked at, since unchanged\n", 0));

    // A change of the second section: the first one is left out, and not called anything.
    let dump = std::fs::read_to_string(format!("{all}/dump.ttgir")).expect("the dump");
    let at = dump.rfind("ttng.arrive_barrier").expect("an arrival");
    let line = dump[..at].rfind('\n').expect("a line") + 1;
    folder.write(
        "dump.ttgir",
        format!("{}    %other = arith.constant 7 : i32\n{}", &dump[..line], &dump[line..]).as_bytes(),
    );
    let document = parsed(&since("json"));
    Schema::published("check.schema.json").holds(&document);
    let changed = file(&document, "dump.ttgir");
    assert_eq!((&changed["leftOut"], &changed["verdict"]), (&json!(["ws_gemm"]), &json!("found")));
    assert_eq!(changed["kernels"].as_array().map(Vec::len), Some(1));
    for name in ["ring.ttgir", "sum_rows.py"] {
        let left_out = file(&document, name);
        assert_eq!((&left_out["unchanged"], &left_out["verdict"]), (&json!(true), &json!("none")), "{name}");
    }
    let out = since("human");
    assert_eq!(out.code, 1);
    assert!(out.stdout.ends_with("3 files and 1 kernel not looked at, since unchanged\n"), "{}", out.stdout);
    let github = since("github");
    assert!(
        github.stdout.contains("::notice title=fencepost::3 files and 1 kernel not looked at"),
        "{}",
        github.stdout
    );
    let log = parsed(&since("sarif"));
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes");
    assert_eq!(notes.len(), 4, "{notes:?}");

    // A helper in another file, and its comments.
    let looked_at = |name: &str| {
        let document = parsed(&since("json"));
        file(&document, name)["kernels"].as_array().map(Vec::len)
    };
    let helper = String::from_utf8(helper()).expect("text");
    folder.write("ring_tools.py", helper.replace("count=1", "count=2").as_bytes());
    assert_eq!(looked_at("sum_rows.py"), Some(1));
    assert_eq!(looked_at("ring.ttgir"), Some(0));
    folder.write("ring_tools.py", helper.as_bytes());
    assert_eq!(looked_at("sum_rows.py"), Some(0));
    folder.write("ring_tools.py", format!("# a word\n\n{}# another\n", helper.replace(")\n", ")  # why\n")).as_bytes());
    assert_eq!(looked_at("sum_rows.py"), Some(0));
    folder.write("ring_tools.py", helper.as_bytes());
    // A comment in the kernel is no change, one for us is.
    let commented =
        |text: &str| python(false).replace("@gluon.jit\ndef sum_rows", &format!("# {text}\n@gluon.jit\ndef sum_rows"));
    folder.write("sum_rows.py", commented("a word").as_bytes());
    let out = since("human");
    assert!(!out.stdout.contains("error[missing-backward-barrier]: `%ring"), "{}", out.stdout);
    assert_eq!(looked_at("sum_rows.py"), Some(0));
    folder.write("sum_rows.py", commented("fencepost: num_slots=2").as_bytes());
    assert_eq!(looked_at("sum_rows.py"), Some(1));
    folder.write("sum_rows.py", python(false).as_bytes());
    // A new file is all new, and a test that launches a kernel concerns it; so do settings.
    folder.write("new.ttgir", ir(true).as_bytes());
    folder.write(
        "test_it.py",
        b"from sum_rows import sum_rows\n\n\ndef test():\n    sum_rows[(1,)](None, 3, num_slots=4)\n",
    );
    assert_eq!(looked_at("new.ttgir"), Some(1));
    assert_eq!(looked_at("sum_rows.py"), Some(1));
    std::fs::remove_file(format!("{all}/test_it.py")).expect("the test can be removed");
    assert_eq!(looked_at("sum_rows.py"), Some(0));
    folder.write("fencepost.toml", b"[values]\nnum_slots = [2]\n");
    assert_eq!(looked_at("sum_rows.py"), Some(1));
    assert_eq!(looked_at("ring.ttgir"), Some(1));
}

#[test]
fn what_git_does_not_know_is_said() {
    let folder = repository("no-revision");
    let out = fencepost(&["check", "--changed-since", "nowhere", &folder.path()]);
    assert!(out.code == 2 && out.stderr.contains("there is no such revision"), "{}", out.stderr);
    let out = fencepost(&["check", "--changed-since", "--output=x", &folder.path()]);
    assert_eq!(out.code, 2);
    let out = fencepost(&["check", "--changed-since", "HEAD", "-"]);
    assert!(out.code == 2 && out.stderr.contains("standard input"), "{}", out.stderr);
    let nowhere = std::env::temp_dir();
    let out = fencepost(&["check", "--changed-since", "HEAD", &nowhere.to_string_lossy()]);
    assert!(out.code == 2 && out.stderr.contains("needs a git repository"), "{}", out.stderr);
}

#[test]
fn shards_cover_each_file_once() {
    let folder = Folder::new("shards");
    for at in 0..23 {
        folder.write(&format!("k{at:02}.ttgir"), if at % 5 == 0 { b"module {" } else { b"module {\n}\n" });
    }
    let paths = |args: &[&str]| -> Vec<String> {
        let document = json_of(&[args, &[&folder.path()]].concat());
        let files = document["files"].as_array().cloned().unwrap_or_default();
        files.iter().filter_map(|file| file["path"].as_str().map(str::to_owned)).collect()
    };
    let whole = paths(&[]);
    let mut parts: Vec<String> = ["1/3", "2/3", "3/3"].iter().flat_map(|shard| paths(&["--shard", shard])).collect();
    assert_eq!(paths(&["--shard", "2/3"]), paths(&["--shard", "2/3"]));
    assert!(paths(&["--shard", "2/3"]).len() < whole.len());
    parts.sort();
    assert_eq!(parts, whole);
    for wrong in ["0/3", "4/3", "3"] {
        let out = fencepost(&["check", "--shard", wrong, &folder.path()]);
        assert!(out.code == 2 && out.stderr.contains("I/N"), "{}", out.stderr);
    }
}

#[test]
fn standard_input_can_stand_for_a_file() {
    let folder = Folder::new("stdin-name");
    // Another text on disk, and no helper anywhere else.
    folder.write("sum_rows.py", python(true).as_bytes());
    folder.write("ring_tools.py", &helper());
    let name = format!("{}/sum_rows.py", folder.path());
    let run = |text: &str, more: &[&str]| {
        fencepost_with(&[&["check", "-", "--stdin-name", &name], more].concat(), text.as_bytes())
    };
    let out = run(&python(false), &[]);
    assert!(out.code == 1 && out.stdout.contains(&format!("--> {name}:")), "{}", out.stdout);
    let out = run(&python(true), &[]);
    assert!(out.code == 0 && out.stdout.starts_with("proved "), "{}", out.stdout);
    // Its settings hold.
    folder.write("fencepost.toml", b"[values]\nnum_slots = [5]\n");
    let out = run(&python(true), &["--format", "json"]);
    assert!(out.stdout.contains("num_slots=5"), "{}", out.stdout);
    // The file itself is not looked at beside it.
    let out =
        fencepost_with(&["check", "-", &name, "--stdin-name", &name, "--format", "json"], python(false).as_bytes());
    assert_eq!(parsed(&out)["files"].as_array().map(Vec::len), Some(1));
    let out = fencepost(&["check", &name, "--stdin-name", &name]);
    assert!(out.code == 2 && out.stderr.contains("--stdin-name"), "{}", out.stderr);
    // TTGIR by its name.
    let name = format!("{}/ring.ttgir", folder.path());
    let out = fencepost_with(&["check", "-", "--stdin-name", &name], ir(false).as_bytes());
    assert!(out.code == 1 && out.stdout.contains("ring.ttgir:46:38"), "{}", out.stdout);
}

#[test]
fn quiet_says_what_is_wrong_and_nothing_else() {
    let (bad, good) = (kernel("ring_not_waited.ttgir"), kernel("ring.ttgir"));
    let out = fencepost(&["check", "-q", &good]);
    assert_eq!((out.stdout.as_str(), out.code), ("", 0));
    let out = fencepost(&["check", "--quiet", &bad, &good]);
    assert!(out.code == 1 && out.stdout.contains("error[missing-forward-barrier]"), "{}", out.stdout);
    let loud = fencepost(&["check", &bad, &good]).stdout;
    for said in ["proved ", "2 files", "hint["] {
        assert!(loud.contains(said) && !out.stdout.contains(said), "{said}: {}", out.stdout);
    }
    let out = fencepost_with(&["check", "-q", "-"], b"module {");
    assert!(out.code == 2 && out.stdout.contains("error[syntax"), "{}", out.stdout);
}

#[test]
fn exit_zero_hides_no_trouble() {
    let bad = kernel("ring_not_waited.ttgir");
    let out = fencepost(&["check", "--exit-zero", &bad]);
    assert!(out.code == 0 && out.stdout.contains("error[missing-forward-barrier]"), "{}", out.stdout);
    assert_eq!(fencepost(&["check", "--exit-zero", &bad, "no/such/file"]).code, 2);
}
