//! Definitions, types, implementations, references and highlights, in both languages and from one to the other.

use crate::folder::{Folder, all, find};
use crate::support::{Server, kernel, place, range};
use serde_json::{Value, json};

const TTGIR: &str = "\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!tile = tensor<128xf32, #blocked>
#loc = loc(\"FOLDER/k.py\":1:1)
module {
  tt.func private @helper(%arg0: !tile) -> !tile {
    tt.return %arg0 : !tile loc(#loc2)
  } loc(#loc)
  tt.func public @k(%x: !tile) {
    %0 = tt.call @helper(%x) : (!tile) -> !tile loc(#loc4)
    %1 = arith.addf %0, %x : !tile loc(\"/elsewhere/of/k.py\":7:9)
    tt.return loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc(\"FOLDER/k.py\":5:5)
#loc3 = loc(\"gone.py\":5:5)
#loc4 = loc(\"call\"(callsite(#loc2 at \"k.py\":6:9)))
";

const PYTHON: &str = "\
from triton.experimental import gluon
import helpers

@gluon.jit
def helper(x):
    return helpers.twice(x)
def k(x):
    return helper(x)
";

const HELPERS: &str =
    "from triton.experimental import gluon\n\n@gluon.jit\ndef twice(value):\n    return value + value\n";

/// A folder with a kernel in both languages, and a server in it with both open.
fn opened(name: &str) -> (Folder, Server, String) {
    let folder = Folder::new(name, &[("k.py", PYTHON), ("helpers.py", HELPERS)]);
    let text = TTGIR.replace("FOLDER", folder.path("").trim_end_matches('/'));
    folder.write("k.ttgir", &text);
    let mut server = folder.server(json!({}));
    server.open(&folder.uri("k.ttgir"), &text);
    server.open_as("python", &folder.uri("k.py"), PYTHON);
    (folder, server, text)
}

fn ask(server: &mut Server, folder: &Folder, method: &str, name: &str, at: (usize, usize)) -> Vec<String> {
    let answer = server.at(method, &folder.uri(name), at.0, at.1).expect("an answer");
    all(folder, &answer)
}

#[test]
fn names_of_ttgir_lead_to_their_definitions() {
    let (folder, mut server, text) = opened("ttgir-names");
    let mut defined = |what: &str| ask(&mut server, &folder, "textDocument/definition", "k.ttgir", find(&text, what));
    assert_eq!(defined("addf $%0"), ["k.ttgir:9 %0"]);
    assert_eq!(defined("call $@helper"), ["k.ttgir:5 @helper"]);
    assert_eq!(defined("(%x: !t$ile"), ["k.ttgir:2 !tile"]);
    assert_eq!(defined("f32, $#blocked"), ["k.ttgir:1 #blocked"]);
    assert_eq!(defined("!tile loc($#loc4)"), ["k.ttgir:17 #loc4"]);
    assert_eq!(defined("$module"), ["k.py:1 from"]);
    let mut types = |what: &str| ask(&mut server, &folder, "textDocument/typeDefinition", "k.ttgir", find(&text, what));
    assert_eq!(types("addf $%0"), ["k.ttgir:2 !tile"]);
    assert_eq!(types("(%x: !t$ile"), ["k.ttgir:1 #blocked"]);
}

#[test]
fn locations_lead_to_lines_of_python_that_are_there() {
    let (folder, mut server, text) = opened("locations");
    let mut defined = |what: &str| ask(&mut server, &folder, "textDocument/definition", "k.ttgir", find(&text, what));
    // By an absolute path, through an alias, a name and a call, and by the end of a path of another machine.
    assert_eq!(defined("#loc2 = loc(\"$"), ["k.py:5 helper(x)"]);
    assert_eq!(defined("$#loc2 ="), ["k.py:5 helper(x)"]);
    assert_eq!(defined("#loc4 = l$oc"), ["k.py:5 helper(x)"]);
    assert_eq!(defined("at \"k$.py\":6:9"), ["k.py:6 rn"]);
    assert_eq!(defined("\"/else$where"), ["k.py:7 def k(x):"]);
    assert_eq!(defined("tt.$call"), ["k.py:5 helper(x)"]);
    assert_eq!(defined("$gone.py"), [""; 0]);
    assert_eq!(defined("loc(unk$nown"), [""; 0]);
    let found = ask(&mut server, &folder, "textDocument/implementation", "k.ttgir", find(&text, "tt.$call"));
    assert_eq!(found, ["k.py:5 helper(x)", "k.py:6 rn"]);
}

#[test]
fn a_line_of_python_leads_to_its_ops() {
    let (folder, mut server, text) = opened("ops-of-line");
    let (line, column) = find(PYTHON, "def helper");
    let found = ask(&mut server, &folder, "textDocument/implementation", "k.py", (line, column));
    assert_eq!(found, ["k.ttgir:6 tt.return", "k.ttgir:9 tt.call"]);
    let linked = server.at("fencepost/linkedRanges", &folder.uri("k.py"), line, column).expect("an answer");
    assert_eq!(linked["linked"][0]["uri"], json!(folder.uri("k.ttgir")));
    assert_eq!(linked["linked"][0]["ranges"].as_array().map(Vec::len), Some(2));
    let (line, column) = find(&text, "tt.$call");
    let linked = server.at("fencepost/linkedRanges", &folder.uri("k.ttgir"), line, column).expect("an answer");
    let expected = json!({
        "ranges": [range((8, 9), (8, 16))],
        "linked": [{ "uri": folder.uri("k.py"), "ranges": [range((4, 4), (4, 13)), range((5, 8), (5, 10))] }],
        "elaborated": [],
    });
    assert_eq!(linked, expected);
    // A document that is not open, beside the file.
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": folder.uri("k.ttgir") } }));
    let found = ask(&mut server, &folder, "textDocument/implementation", "k.py", (4, 0));
    assert_eq!(found, ["k.ttgir:6 tt.return", "k.ttgir:9 tt.call"]);
}

#[test]
fn a_line_of_gluon_has_the_ops_of_its_kernel() {
    let text = kernel("gluon/sum_rows.py");
    let folder =
        Folder::new("elaborated-ops", &[("sum_rows.py", &text), ("ring_tools.py", &kernel("gluon/ring_tools.py"))]);
    let mut server = folder.server(json!({}));
    server.open_as("python", &folder.uri("sum_rows.py"), &text);
    let (line, column) = find(&text, "tma.async_load");
    let linked = server.at("fencepost/linkedRanges", &folder.uri("sum_rows.py"), line, column).expect("an answer");
    let ops = linked["elaborated"][0]["ops"].to_string();
    assert_eq!(linked["elaborated"][0]["kernel"], json!("sum_rows"));
    assert!(ops.contains("ttng.async_tma_copy_global_to_local"), "{linked}");
    assert!(linked["ranges"].as_array().is_some_and(|ranges| !ranges.is_empty()), "{linked}");
}

#[test]
fn names_of_python_lead_to_their_definitions() {
    let text = kernel("gluon/sum_rows.py");
    let packages = "venv/lib/python3.12/site-packages";
    let library = format!("{packages}/triton/experimental/gluon/language");
    let folder = Folder::new(
        "python-names",
        &[
            ("sum_rows.py", &text),
            ("ring_tools.py", &kernel("gluon/ring_tools.py")),
            (&format!("{packages}/triton-3.6.0.dist-info/METADATA"), ""),
            (&format!("{library}/nvidia/hopper/mbarrier.py"), "from ..ampere.mbarrier import wait\n"),
            (&format!("{library}/nvidia/ampere/mbarrier.py"), "def wait(mbarrier, phase):\n    pass\n"),
            (&format!("{library}/nvidia/hopper/__init__.py"), "from . import mbarrier\n"),
        ],
    );
    let mut server = folder.server(json!({}));
    server.open_as("python", &folder.uri("sum_rows.py"), &text);
    let mut defined =
        |what: &str| ask(&mut server, &folder, "textDocument/definition", "sum_rows.py", find(&text, what));
    assert_eq!(defined("$fill(desc, ring, ready, slot, i)"), ["sum_rows.py:11 fill"]);
    assert_eq!(defined("$signal(free"), ["ring_tools.py:8 signal"]);
    assert_eq!(defined("i % $depth"), ["sum_rows.py:18 depth"]);
    assert_eq!(defined("(consumer, (ring, $ready"), ["sum_rows.py:40 ready"]);
    let found = defined("mbarrier.wa$it(free");
    assert_eq!(found, [format!("{library}/nvidia/ampere/mbarrier.py:1 wait")]);
    // The layout that a tensor is loaded with.
    let found = ask(&mut server, &folder, "textDocument/typeDefinition", "sum_rows.py", find(&text, "$value = ring"));
    assert_eq!(found, ["sum_rows.py:28 tile"]);
    // A file that is not open has no answers, and one that is has, also half-typed.
    assert_eq!(server.at("textDocument/definition", &folder.uri("ring_tools.py"), 8, 20), Ok(Value::Null));
    let torn = text.replace("fill(desc, ring, ready, slot, i)", "fill(desc, ring, ready, slot, (");
    server.change(&folder.uri("sum_rows.py"), 2, None, &torn);
    folder.write("sum_rows.py", &torn);
    let found = ask(
        &mut server,
        &folder,
        "textDocument/definition",
        "sum_rows.py",
        find(&torn, "$fill(desc, ring, ready, slot, ("),
    );
    assert_eq!(found, ["sum_rows.py:11 fill"]);
}

fn kinds(server: &mut Server, uri: &str, at: (usize, usize)) -> Vec<(u64, u64)> {
    let marks = server.at("textDocument/documentHighlight", uri, at.0, at.1).expect("marks");
    let mark =
        |mark: &Value| (mark["range"]["start"]["line"].as_u64().unwrap_or(0) + 1, mark["kind"].as_u64().unwrap_or(0));
    marks.as_array().expect("a list").iter().map(mark).collect()
}

#[test]
fn arrivals_and_waits_of_a_barrier_are_told_apart() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(json!({}));
    server.open("file:///k.ttgir", &text);
    // Alloc and inits write, the wait of the other partition reads, expect and TMA write; the view is a name.
    let found = kinds(&mut server, "file:///k.ttgir", find(&text, "ttng.wait_barrier %$22"));
    let lines: Vec<u64> = found.iter().filter(|(_, kind)| *kind == 2).map(|(line, _)| *line).collect();
    assert_eq!(lines, [62]);
    let lines: Vec<u64> = found.iter().filter(|(_, kind)| *kind == 3).map(|(line, _)| *line).collect();
    assert_eq!(lines, [26, 32, 40, 160, 163], "{found:?}");
    let lines: Vec<u64> = found.iter().filter(|(_, kind)| *kind == 1).map(|(line, _)| *line).collect();
    assert_eq!(lines, [61]);

    let text = kernel("gluon/sum_rows.py");
    let folder =
        Folder::new("highlights", &[("sum_rows.py", &text), ("ring_tools.py", &kernel("gluon/ring_tools.py"))]);
    let mut server = folder.server(json!({}));
    let uri = folder.uri("sum_rows.py");
    server.open_as("python", &uri, &text);
    let found = kinds(&mut server, &uri, find(&text, "$ready = mbarrier"));
    let of = |kind: u64| found.iter().filter(|it| it.1 == kind).map(|it| it.0).collect::<Vec<_>>();
    let waits = find(&text, "mbarrier.wait(ready").0 as u64 + 1;
    assert_eq!(of(2), [waits], "{found:?}");
    let arrivals =
        [find(&text, "mbarrier.expect").0, find(&text, "tma.async_load").0, find(&text, "mbarrier.init(ready").0];
    assert_eq!(of(3), arrivals.map(|line| line as u64 + 1), "{found:?}");
    assert!(of(1).len() >= 4, "the variable's own places: {found:?}");
}

#[test]
fn references_reach_other_files() {
    let text = kernel("gluon/sum_rows.py");
    let helper = kernel("gluon/ring_tools.py");
    let folder = Folder::new("references", &[("sum_rows.py", &text), ("ring_tools.py", &helper)]);
    let mut server = folder.server(json!({}));
    server.open_as("python", &folder.uri("ring_tools.py"), &helper);
    let (line, column) = find(&helper, "def sig$nal");
    let mut params = place(&folder.uri("ring_tools.py"), line, column);
    params["context"] = json!({ "includeDeclaration": false });
    let found = server.request("textDocument/references", params.clone()).expect("an answer");
    assert_eq!(all(&folder, &found), ["sum_rows.py:7 signal", "sum_rows.py:34 signal"]);
    params["context"]["includeDeclaration"] = json!(true);
    let found = server.request("textDocument/references", params).expect("an answer");
    assert_eq!(all(&folder, &found).len(), 3);
}
