//! `fencepost trace`: a run as text, JSON and SVG.

use crate::support::{Folder, fencepost, fencepost_with, root};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const RACE: &str = "sm_90/ws_gemm.released_too_early";
const DEADLOCK: &str = "sm_90/pingpong_gemm.both_wait_first";
const CLEAN: &str = "sm_90/ws_gemm";
const LONG: &str = "sm_90/persistent_ws_gemm";

fn kernel(name: &str) -> String {
    root().join(format!("tests/corpus/ttgir/{name}.ttgir")).display().to_string()
}

fn trace(name: &str) -> Value {
    let out = fencepost(&["trace", "--format", "json", &kernel(name)]);
    serde_json::from_str(&out.stdout).expect("the document is JSON")
}

#[test]
fn text_has_a_lane_a_partition_and_fits_a_terminal() {
    let out = fencepost(&["trace", &kernel(RACE)]);
    assert_eq!(out.code, 1);
    assert!(out.stdout.starts_with("finding 1 of 1: pending-access\n"), "{}", out.stdout);
    assert!(out.stdout.lines().all(|line| line.chars().count() <= 100), "{}", out.stdout);
    let head = out.stdout.lines().find(|line| line.trim_start().starts_with("step  line")).expect("a head");
    let columns: Vec<&str> = head.split('|').map(str::trim).collect();
    assert_eq!(columns[1..], ["default", "partition0"]);
    let told = || out.stdout.lines().filter(|line| line.get(1..2) == Some("*"));
    let (first, last) = (told().nth(1).expect("a step"), told().next_back().expect("a step"));
    assert!(first.starts_with(',') && first.contains("(1) reads %a[0]"), "{first}");
    assert!(last.starts_with(':') && last.contains("(2) copy writes %a[0]"), "{last}");
    for columns in ["60", "80", "200"] {
        let narrow = fencepost(&["trace", "--width", columns, &kernel(DEADLOCK)]);
        assert!(narrow.stdout.contains("wait %bar_1[0]"), "{columns}: {}", narrow.stdout);
    }
}

#[test]
fn a_clean_kernel_shows_its_pipeline() {
    let out = fencepost(&["trace", &kernel(CLEAN)]);
    assert_eq!(out.code, 0);
    assert!(out.stdout.starts_with("kernel @ws_gemm is proved\n"), "{}", out.stdout);
    assert!(out.stdout.contains("wait %bar[0], phase 0"), "{}", out.stdout);
}

#[test]
fn who_waits_for_ever_stands_at_the_end() {
    let out = fencepost(&["trace", &kernel(DEADLOCK)]);
    let end: Vec<&str> = out.stdout.lines().filter(|line| line.starts_with(" * end")).collect();
    assert_eq!(end.len(), 3, "{}", out.stdout);
    assert!(out.stdout.contains("missing: nothing completes the phase of %bar_1[0] that default waits for"));
}

#[test]
fn kernels_and_findings_are_chosen_by_name_and_number() {
    let file = kernel(RACE);
    assert_eq!(fencepost(&["trace", "--kernel", "ws_gemm", "--finding", "1", &file]).code, 1);
    let none = fencepost(&["trace", "--finding", "99", &file]);
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("there is no finding 99, there are 1"), "{}", none.stderr);
    let none = fencepost(&["trace", "--kernel", "gemm", &file]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("there is no kernel @gemm; there is @ws_gemm"), "{}", none.stderr);
}

#[test]
fn long_runs_are_folded_and_say_so() {
    let folded = fencepost(&["trace", &kernel(LONG)]).stdout;
    let whole = fencepost(&["trace", "--all-steps", &kernel(LONG)]).stdout;
    assert!(folded.contains("do the same"), "{folded}");
    assert!(!whole.contains("do the same") && whole.lines().count() > folded.lines().count());
}

#[test]
fn json_names_lanes_phases_and_what_is_missing() {
    let document = trace(RACE);
    assert_eq!((&document["schema"], &document["positionEncoding"]), (&json!(1), &json!("utf-16")));
    let trace = &document["traces"][0];
    assert_eq!(trace["kind"], json!("pending-access"));
    assert_eq!(trace["lanes"], json!([{ "name": "default", "cta": 0 }, { "name": "partition0", "cta": 0 }]));
    let steps = trace["steps"].as_array().expect("steps");
    let site = |number: u64| steps.iter().find(|step| step["site"] == json!(number)).expect("a site");
    assert_eq!((&site(0)["verb"], &site(1)["verb"]), (&json!("read"), &json!("copy")));
    assert_eq!(site(1)["range"]["start"]["line"], json!(99));
    let missing = &trace["missing"][0];
    assert_eq!((&missing["from"], &missing["to"]), (&site(0)["step"], &site(1)["step"]));
    let barrier = trace["barriers"].as_array().expect("barriers").iter().find(|it| it["name"] == json!("%bar_2[0]"));
    let phases = barrier.expect("the barrier")["phases"].as_array().expect("phases");
    assert_eq!(phases.iter().map(|phase| &phase["phase"]).collect::<Vec<_>>(), [&json!(0), &json!(1)]);
    assert_eq!((&phases[0]["end"], &phases[1]["end"]), (&json!("complete"), &json!("idle")));
    let accesses = trace["accesses"].as_array().expect("accesses");
    let read = accesses.iter().find(|access| access["site"] == json!(0)).expect("the read");
    assert_eq!((&read["completes"], &read["until"]), (&json!("commit group"), &Value::Null));
}

#[test]
fn a_picture_is_well_formed_and_stands_alone() {
    let folder = Folder::new("svg");
    for name in [RACE, DEADLOCK, CLEAN, LONG] {
        let file = format!("{}/out.svg", folder.path());
        let out = fencepost(&["trace", "--format", "svg", "-o", &file, &kernel(name)]);
        assert_eq!(out.stdout, "", "{name}");
        let svg = std::fs::read_to_string(&file).expect("the picture was written");
        let elements = elements(&svg);
        assert!(elements.contains_key("title") && elements.contains_key("desc"), "{name}");
        for banned in ["<script", "href=", "url(http", "<image", "<foreignObject"] {
            assert!(!svg.contains(banned), "{name} has {banned}");
        }
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("role=\"img\""), "{name}");
    }
}

#[test]
fn a_picture_has_a_chip_a_step_and_a_band_a_phase() {
    let svg = fencepost(&["trace", "--format", "svg", "--all-steps", &kernel(RACE)]).stdout;
    let document = trace(RACE);
    let trace = &document["traces"][0];
    let count = |member: &str| trace[member].as_array().map_or(0, Vec::len);
    let phases = trace["barriers"].as_array().expect("barriers").iter();
    let phases: usize = phases.map(|barrier| barrier["phases"].as_array().map_or(0, Vec::len)).sum();
    let elements = elements(&svg);
    let seen = |key: &str| elements.get(key).copied().unwrap_or(0);
    assert_eq!(seen("rect.hit"), count("steps"));
    // Two more of each stand in the legend.
    let parts =
        |class: &str| ["", " part", " over"].iter().map(|end| seen(&format!("rect.{class}{end}"))).sum::<usize>();
    assert_eq!(parts("p0") + parts("p1"), phases + 2);
    assert_eq!((seen("circle.site"), seen("path.miss")), (2, 2));
    assert!(svg.contains("step 30, line 100 (gluon/ws_gemm.py:33)"), "titles say the place");
    assert!(svg.contains("&lt;128x64xf16"), "titles show the source text");
}

/// The rows of the table of rounds in a page: partition, and what each cell says.
fn rounds(name: &str) -> Vec<(String, Vec<String>)> {
    let path = root().join(format!("tests/kernels/{name}")).display().to_string();
    let page = fencepost(&["trace", "--format", "html", &path]).stdout;
    let body =
        page.split_once("<tbody>").and_then(|(_, rest)| rest.split_once("</tbody>")).map_or("", |(body, _)| body);
    let texts = |html: &str| {
        let parts = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
        parts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let row = |row: &str| {
        let (head, cells) = row.split_once("</th>")?;
        Some((texts(head), cells.split("<td>").skip(1).map(texts).collect()))
    };
    body.split("<tr>").skip(1).filter_map(row).collect()
}

#[test]
fn rounds_of_a_run_are_a_table_of_partitions() {
    let rows = rounds("ring.ttgir");
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["default", "partition0"]);
    // The producer goes round its ring three times: it waits for a slot once a round.
    let (_, loads) = &rows[1];
    assert_eq!(loads.len(), 4, "{loads:?}");
    assert!(loads[0].is_empty() && loads[1..].iter().all(|cell| cell.ends_with(" of its own, 1 wait")), "{loads:?}");
    // The consumer sets up first, and its last round has what follows the loop.
    let (_, default) = &rows[0];
    assert!(default[0].starts_with("steps 1–") && default[0].ends_with("0 waits"), "{default:?}");
    assert!(default[1].contains(" 4 of its own, 2 waits"), "{default:?}");
    // Nobody goes round where the run is over before.
    assert_eq!(rounds("ring_not_waited.ttgir").len(), 0);
}

#[test]
fn names_from_the_text_are_escaped() {
    let text = std::fs::read_to_string(kernel(CLEAN)).expect("the kernel can be read");
    let text = text.replace("@ws_gemm(", "@\"a<b>&c\"(");
    let out = fencepost_with(&["trace", "--format", "svg", "-"], text.as_bytes());
    elements(&out.stdout);
    assert!(!out.stdout.contains("a<b>"), "{}", out.stdout);
}

/// How often each element stands in a document, by name and class; fails where tags do not match.
fn elements(svg: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some((_, tail)) = rest.split_once('<') {
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        rest = tail;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.to_owned()), "tags match");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "attributes are quoted: {tag}");
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        let class = tag.split_once("class=\"").and_then(|(_, class)| class.split('"').next());
        let key = class.map_or_else(|| name.clone(), |class| format!("{name}.{class}"));
        *counts.entry(key).or_insert(0) += 1;
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new(), "all tags are closed");
    counts
}
