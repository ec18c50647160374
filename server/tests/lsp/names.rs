//! Hovers, outline, names and folds.

use crate::support::{Server, kernel, place};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

/// A server with a kernel open, and the kernel's lines.
fn with(name: &str, capabilities: Value) -> (Server, Vec<String>) {
    let text = kernel(name);
    let mut server = Server::start(capabilities);
    server.open(URI, &text);
    (server, text.lines().map(str::to_owned).collect())
}

/// Line and column just inside the word, on the first line with `on`.
fn find(lines: &[String], on: &str, word: &str) -> (usize, usize) {
    let line = lines.iter().position(|line| line.contains(on)).expect("the line is there");
    (line, lines[line].find(word).expect("the word is there") + 1)
}

fn hover(server: &mut Server, at: (usize, usize)) -> String {
    let hover = server.at("textDocument/hover", URI, at.0, at.1).expect("an answer");
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_barrier_says_who_does_what_with_it() {
    let (mut server, lines) = with("attention.ttgir", json!({}));
    let at = find(&lines, "ttng.wait_barrier %22", "%22");
    let text = hover(&mut server, at);
    let expected = "\
%22 is %bar_5[%cursor.index]: barrier, 2 slots

%bar_5 = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>

2 slots, each with phases of its own. A phase completes after 1 arrival and 16384 announced bytes.
";
    assert!(text.starts_with(expected), "{text}");
    let rows = "\
line 32   default     init    [0]              1 arrival a phase
line 40   default     init    [1]              1 arrival a phase
line 62   default     wait    [%cursor.index]  phase %cursor.phase_19
line 160  partition0  expect  [%cursor.index]  16384 bytes
line 163  partition0  arrive  [%cursor.index]  16384 bytes when the TMA load has landed
where %cursor.index is 0, then 0 if (%cursor.index == 1) else (%cursor.index + 1)
where %cursor.phase_19 is 0, then (%cursor.phase_19 ^ 1) if (%cursor.index == 1) else %cursor.phase_19";
    // Which way the rows order is added once the kernel is analysed.
    let plain: Vec<&str> = text.lines().map(|line| line.split("  forward").next().unwrap_or(line).trim_end()).collect();
    assert!(plain.join("\n").contains(rows), "{text}");
}

#[test]
fn a_buffer_says_who_touches_it_and_a_number_how_it_is_computed() {
    let markdown = json!({ "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } } });
    let (mut server, lines) = with("attention.ttgir", markdown);
    let at = find(&lines, "%k = ttg.local_alloc", "%k");
    let text = hover(&mut server, at);
    assert!(text.starts_with("`%k: buffer of 2x128x64 f16 in shared memory, 32 KiB`\n\n```ttgir\n"), "{text}");
    assert!(text.contains("2 slots of 16 KiB; 32 KiB in all."), "{text}");
    let row = text.lines().find(|line| line.starts_with("line 163")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().skip(2).collect();
    assert_eq!(words, ["partition0", "writes", "[%cursor.index]", "ttng.async_tma_copy_global_to_local"], "{text}");
    let at = find(&lines, "%9 = arith.muli", "%9");
    assert!(hover(&mut server, at).starts_with("`%9: i32 = (%row + 1) * 64`"));
    assert_eq!(hover(&mut server, (0, 0)), "");
}

#[test]
fn the_outline_is_functions_partitions_loops_barriers_and_buffers() {
    let tree = json!({ "textDocument": { "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } } });
    let (mut server, _) = with("attention.ttgir", tree);
    let params = json!({ "textDocument": { "uri": URI } });
    let symbols = server.request("textDocument/documentSymbol", params.clone()).expect("symbols");
    let mut drawn = String::new();
    draw(&symbols, 0, &mut drawn);
    let expected = "\
12 @attention_ws
  18 %q
  18 %k
  18 %v
  24 %bar
  24 %bar_5
  24 %bar_6
  24 %bar_7
  24 %bar_8
  3 default
    25 scf.for %j
  3 partition0
    25 scf.for %j
";
    assert_eq!(drawn, expected);
    let (mut flat, _) = with("attention.ttgir", json!({}));
    let symbols = flat.request("textDocument/documentSymbol", params).expect("symbols");
    assert_eq!(symbols.as_array().map(Vec::len), Some(13));
    assert_eq!(symbols[12]["containerName"], json!("partition0"));
}

fn draw(symbols: &Value, depth: usize, out: &mut String) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let detail = symbol["detail"].as_str().filter(|_| symbol["kind"] == json!(25)).unwrap_or_default();
        let line =
            format!("{:1$}{2} {3} {detail}", "", depth * 2, symbol["kind"], symbol["name"].as_str().unwrap_or("?"));
        out.push_str(line.trim_end());
        out.push('\n');
        draw(&symbol["children"], depth + 1, out);
    }
}

#[test]
fn a_name_leads_to_its_definition_and_its_uses() {
    let (mut server, lines) = with("attention.ttgir", json!({}));
    for (on, word, defined) in [
        ("ttng.wait_barrier %22", "%22", "%22 = ttg.memdesc_index"),
        ("%q = ttg.local_alloc", "#smem", "#smem = #ttg.shared_memory"),
        ("%acc_18 = %cst_1", "%cst_1,", "%cst_1 = arith.constant"),
    ] {
        let (line, column) = find(&lines, on, word);
        let found = server.at("textDocument/definition", URI, line, column).expect("an answer");
        let line = found["range"]["start"]["line"].as_u64().expect("a line") as usize;
        assert!(lines[line].contains(defined), "{word}: {}", lines[line]);
    }
    let (line, column) = find(&lines, "%9 = arith.muli", "%9");
    let mut params = place(URI, line, column);
    params["context"] = json!({ "includeDeclaration": false });
    let uses = server.request("textDocument/references", params.clone()).expect("uses");
    assert_eq!(uses.as_array().map(Vec::len), Some(1));
    params["context"]["includeDeclaration"] = json!(true);
    let all = server.request("textDocument/references", params).expect("uses");
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let marks = server.at("textDocument/documentHighlight", URI, line, column).expect("marks");
    let kinds: Vec<&Value> = marks.as_array().expect("marks").iter().map(|mark| &mark["kind"]).collect();
    assert_eq!(kinds, [&json!(3), &json!(2)]);
}

#[test]
fn regions_and_runs_of_aliases_fold() {
    let (mut server, lines) = with("attention.ttgir", json!({}));
    let folds = server.request("textDocument/foldingRange", json!({ "textDocument": { "uri": URI } })).expect("folds");
    let folds: Vec<(usize, usize)> = folds.as_array().expect("folds").iter().map(lines_of).collect();
    for (start, end) in folds {
        let (first, after) = (&lines[start], lines.get(end + 1).map_or("", |line| line.trim()));
        let alias = first.starts_with('#') && !after.starts_with('#');
        assert!(alias || after.starts_with('}') || after.starts_with("partition"), "{first} … {after}");
    }
}

fn lines_of(fold: &Value) -> (usize, usize) {
    let line = |name: &str| fold[name].as_u64().expect("a line") as usize;
    (line("startLine"), line("endLine"))
}
