//! `fencepost report`: text, Markdown, JSON, dumps and what a pass changed.

use crate::schema::Schema;
use crate::support::{Folder, fencepost, kernel, root};
use serde_json::{Value, json};

fn corpus(name: &str) -> String {
    root().join(format!("tests/corpus/ttgir/sm_90/{name}.ttgir")).display().to_string()
}

fn document(args: &[&str]) -> Value {
    let out = fencepost(&[&["report", "--format", "json"], args].concat());
    serde_json::from_str(&out.stdout).expect("the document is JSON")
}

/// Two modules of one kernel, as a compiler's log has them; the second lacks a wait.
fn dump(folder: &Folder) -> String {
    let (good, bad) =
        (std::fs::read_to_string(kernel("ring.ttgir")), std::fs::read_to_string(kernel("ring_not_waited.ttgir")));
    let text = format!(
        "// -----// IR Dump Before First: first{{n=1}} ('builtin.module' operation) //----- //\n{}\n\
         // -----// IR Dump After Second //----- //\n{}\n",
        good.expect("the kernel can be read"),
        bad.expect("the kernel can be read")
    );
    folder.write("dump.log", text.as_bytes())
}

#[test]
fn text_has_the_five_sections_and_the_coverage_table() {
    let out = fencepost(&["report", &kernel("attention.ttgir")]);
    assert_eq!((out.code, out.stderr.as_str()), (0, ""));
    assert!(out.stdout.starts_with("Barrier report of @attention_ws\n"), "{}", out.stdout);
    for heading in [
        "\n1. Partitions\n",
        "\n2. Dependency graph\n",
        "\n3. Index and phase\n",
        "\n4. Shared data\n",
        "\n5. Values and uses of each barrier\n",
        "\nCoverage: what each overwrite meets\n",
    ] {
        assert!(out.stdout.contains(heading), "{heading:?} is not in\n{}", out.stdout);
    }
    assert!(out.stdout.lines().all(|line| line.chars().count() <= 100), "{}", out.stdout);
    assert!(out.stdout.contains("%bar_5: depth 2"), "{}", out.stdout);
}

#[test]
fn a_kernel_with_a_race_is_exit_code_1() {
    let out = fencepost(&["report", &kernel("ring_not_waited.ttgir")]);
    assert_eq!(out.code, 1);
    assert!(out.stdout.contains("\nFindings\n"), "{}", out.stdout);
    assert_eq!(fencepost(&["report", &kernel("ring.ttgir")]).code, 0);
}

#[test]
fn a_plan_is_asked_what_its_own_channels_order_and_what_reuse_promises() {
    let plan = kernel("packed/planned_packed.ttgir");
    let own = fencepost(&["report", &plan]);
    assert!(own.code == 1 && own.stdout.contains(" MISSING"), "{}", own.stdout);
    let groups = fencepost(&["report", "--channels", "groups", &plan]);
    assert!(groups.code == 0 && groups.stdout.contains("none MISSING"), "{}", groups.stdout);
}

#[test]
fn what_cannot_be_reported_is_exit_code_2_and_does_not_keep_the_rest() {
    let folder = Folder::new("report-bad");
    let bad = folder.write("bad.ttgir", b"module {\n  tt.func public @f( {\n}\n");
    let out = fencepost(&["report", &bad, &kernel("ring.ttgir"), &format!("{}/none.ttgir", folder.path())]);
    assert_eq!(out.code, 2);
    assert!(out.stdout.contains("Barrier report of @ws_gemm"), "{}", out.stdout);
    assert!(out.stderr.contains("none.ttgir: no such file"), "{}", out.stderr);
    let none = fencepost(&["report", "--kernel", "gemm", &kernel("ring.ttgir")]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("there is no kernel @gemm"), "{}", none.stderr);
}

#[test]
fn documents_are_as_the_schema_says() {
    let schema = Schema::published("report.schema.json");
    for name in ["ws_gemm", "ws_gemm.released_too_early", "persistent_ws_gemm", "pingpong_gemm"] {
        let document = document(&[&corpus(name)]);
        assert_eq!(document["reports"].as_array().map(Vec::len), Some(1), "{name}");
        schema.holds(&document);
    }
}

#[test]
fn documents_and_text_say_the_same() {
    let document = document(&[&corpus("ws_gemm.released_too_early")]);
    let report = &document["reports"][0];
    let text = fencepost(&["report", &corpus("ws_gemm.released_too_early")]).stdout;
    for barrier in report["barriers"].as_array().expect("barriers") {
        let head = format!("{}: depth {}", barrier["name"].as_str().expect("a name"), barrier["depth"]);
        assert_eq!(text.matches(&head).count(), 2, "{head}\n{text}");
    }
    let missing = report["missing"].as_u64().expect("a count") as usize;
    assert_eq!(text.lines().filter(|line| line.contains("MISSING (")).count(), missing, "{text}");
    assert_eq!(report["kernel"], json!("ws_gemm"));
}

#[test]
fn markdown_and_files() {
    let folder = Folder::new("report-md");
    let file = format!("{}/out.md", folder.path());
    let out = fencepost(&["report", "--format", "md", "-o", &file, &corpus("ws_gemm")]);
    assert_eq!((out.code, out.stdout.as_str()), (0, ""));
    let page = std::fs::read_to_string(&file).expect("the page was written");
    assert!(page.starts_with("# Barrier report of @ws\\_gemm\n"), "{page}");
    assert!(page.contains("| partition |"), "{page}");
}

#[test]
fn a_dump_is_listed_and_its_sections_chosen() {
    let folder = Folder::new("report-dump");
    let file = dump(&folder);
    let list = fencepost(&["report", &file]);
    assert_eq!(list.code, 0);
    assert!(list.stdout.contains("2 sections of"), "{}", list.stdout);
    let rows = list.stdout.lines().skip_while(|line| !line.contains("---")).skip(1);
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][2..4], ["before", "First"]);
    assert_eq!((rows[1][0], &rows[1][2..4]), ("2", &["after", "Second"][..]));
    let sections = document(&[&file])["sections"].clone();
    assert_eq!(sections[1]["pass"], json!("after Second"));
    for wanted in ["2", "Second", "after Second", "seco"] {
        let one = document(&["--section", wanted, &file]);
        assert_eq!(one["reports"][0]["section"], json!({ "number": 2, "count": 2, "pass": "after Second" }));
        assert_eq!(one["reports"].as_array().map(Vec::len), Some(1), "{wanted}");
    }
    assert_eq!(document(&["--section", "all", &file])["reports"].as_array().map(Vec::len), Some(2));
    // Lines count in the file, not in the section.
    let line = |it: &Value| it["reports"][0]["range"]["start"]["line"].as_u64().expect("a line");
    assert!(line(&document(&["--section", "2", &file])) > line(&document(&["--section", "1", &file])) + 50);
    let none = fencepost(&["report", "--section", "banana", &file]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("no section with kernels has `banana`"), "{}", none.stderr);
}

#[test]
fn two_sections_and_two_files_are_compared() {
    let folder = Folder::new("report-diff");
    let file = dump(&folder);
    let by_section = fencepost(&["report", "--diff", "--section", "1..Second", &file]);
    assert_eq!(by_section.code, 1, "the newer one has a race: {}", by_section.stderr);
    assert!(by_section.stdout.starts_with("Barriers of @ws_gemm"), "{}", by_section.stdout);
    let (good, bad) = (kernel("ring.ttgir"), kernel("ring_not_waited.ttgir"));
    assert_eq!(fencepost(&["report", "--diff", &bad, &good]).code, 0);
    let same = fencepost(&["report", "--diff", &good, &good]);
    assert!(same.stdout.contains("Nothing changed."), "{}", same.stdout);
    let same = document(&["--diff", &good, &good]);
    let diff = &same["diffs"][0];
    assert_eq!((&same["schema"], &diff["edges"]["changes"]), (&json!(1), &json!([])));
    assert!(diff["barriers"]["unchanged"].as_u64() > Some(0), "{diff}");
    let all = document(&["--diff", "--section", "all", &file]);
    assert_eq!(all["diffs"].as_array().map(Vec::len), Some(1));
    for bad in [&["report", "--diff", &file][..], &["report", "--diff", "--section", "1", &file]] {
        assert_eq!(fencepost(bad).code, 2);
    }
}

/// A text whose values are all called something else, with lines between its own.
fn renamed(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut out = String::from("\n\n");
    for (at, part) in text.split('%').enumerate() {
        let end = part.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(part.len());
        let (name, rest) = part.split_at(if at == 0 { 0 } else { end });
        if at > 0 {
            let known = names.iter().position(|known| *known == name).unwrap_or(names.len());
            if known == names.len() {
                names.push(name);
            }
            out.push_str(&format!("%other{known}of"));
        }
        out.push_str(&rest.replace(" : !bar\n", " : !bar\n\n"));
    }
    out
}

#[test]
fn names_and_lines_are_no_difference_and_a_wait_is_its_edge() {
    let folder = Folder::new("report-meaning");
    for form in ["final", "token", "tagged"] {
        let file = kernel(&format!("packed/{form}_fixed.ttgir"));
        let text = std::fs::read_to_string(&file).expect("the kernel can be read");
        let other = folder.write("renamed.ttgir", renamed(&text).as_bytes());
        let same = fencepost(&["report", "--diff", &file, &other]);
        assert!(same.stdout.contains("Nothing changed."), "{form}: {}", same.stdout);
    }
    let file = kernel("packed/final_fixed.ttgir");
    let text = std::fs::read_to_string(&file).expect("the kernel can be read");
    let wait = "ttng.wait_barrier %p0_p0_full, ";
    let lines = text.lines().filter(|line| !line.contains(wait));
    let without = lines.map(|line| format!("{line}\n")).collect::<String>();
    let without = folder.write("without.ttgir", without.as_bytes());
    for newer in [
        &without,
        &folder.write("both.ttgir", renamed(&std::fs::read_to_string(&without).unwrap_or_default()).as_bytes()),
    ] {
        let diff = document(&["--diff", &file, newer])["diffs"][0].clone();
        let changes = diff["edges"]["changes"].as_array().cloned().unwrap_or_default();
        let told: Vec<(&str, &str)> =
            changes.iter().filter_map(|it| Some((it["change"].as_str()?, it["what"].as_str()?))).collect();
        assert_eq!(told, [("removed", "forward: partition3 -> partition0")], "{changes:?}");
        assert_eq!(diff["barriers"]["changes"], json!([]));
        let rows = diff["coverage"]["changes"].as_array().map(Vec::len);
        assert_eq!(rows, Some(1), "{}", diff["coverage"]);
    }
}

/// The section of the page that draws memory.
fn memory(path: &str) -> String {
    let page = fencepost(&["report", "--format", "html", path]).stdout;
    let (_, section) = page.split_once("id=\"k1-memory\"").expect("the section");
    section.split("</section>").next().unwrap_or_default().to_owned()
}

#[test]
fn the_page_draws_who_holds_which_bytes_when() {
    let corpus = root().join("tests/corpus/ttgir/sm_90");
    let clean = memory(&corpus.join("ws_gemm.ttgir").to_string_lossy());
    let broken = memory(&corpus.join("ws_gemm.released_too_early.ttgir").to_string_lossy());
    for (section, says) in [(&clean, "clean"), (&broken, "broken")] {
        assert!(section.contains("shared, bytes 0-16383"), "{says}: {section}");
        assert!(section.contains("class=\"write\"") && section.contains("class=\"read\""), "{says}");
        assert!(section.contains("partition0 writes; over by step"), "{says}");
        // What is drawn is said in words, too.
        assert!(section.contains("As a table: "), "{says}");
    }
    assert!(!clean.contains("<line class=\"missing\""), "{clean}");
    assert_eq!(broken.matches("<line class=\"missing\"").count(), 2, "{broken}");
    let tensor = memory(&root().join("tests/kernels/packed/final_fixed.ttgir").to_string_lossy());
    assert!(tensor.contains("tensor, columns "), "{tensor}");
}
