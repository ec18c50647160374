//! Semantic tokens: full, delta and range, in both languages and all encodings.

use crate::support::{Server, kernel, range};
use serde_json::{Value, json};

const IR: &str = "file:///k.ttgir";
const PYTHON: &str = "file:///kernels/k.py";

fn editor(encoding: &str) -> Value {
    json!({
        "general": { "positionEncodings": [encoding] },
        "textDocument": { "semanticTokens": {
            "requests": { "full": { "delta": true }, "range": true }, "formats": ["relative"],
            "tokenTypes": [], "tokenModifiers": [],
        } },
    })
}

/// A token: its word, its type, its modifiers.
type Painted = (String, String, Vec<String>);

/// Reads an answer: line, start and length count units of `encoding`.
fn painted(server: &Server, text: &str, data: &Value, encoding: &str) -> Vec<Painted> {
    let legend = &server.info["capabilities"]["semanticTokensProvider"]["legend"];
    let name = |list: &str, at: u64| legend[list][at as usize].as_str().expect("it is in the legend").to_owned();
    let lines: Vec<&str> = text.lines().collect();
    let numbers: Vec<u64> = data.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let (mut line, mut column) = (0, 0);
    let mut out = Vec::new();
    for token in numbers.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let word = slice(lines[line as usize], column as usize, token[2] as usize, encoding);
        let modifiers = (0..32).filter(|bit| token[4] & (1 << bit) != 0).map(|bit| name("tokenModifiers", bit));
        out.push((word, name("tokenTypes", token[3]), modifiers.collect()));
    }
    out
}

fn slice(line: &str, start: usize, length: usize, encoding: &str) -> String {
    match encoding {
        "utf-8" => line[start..start + length].to_owned(),
        "utf-32" => line.chars().skip(start).take(length).collect(),
        _ => {
            let units: Vec<u16> = line.encode_utf16().collect();
            String::from_utf16_lossy(&units[start..start + length])
        }
    }
}

fn full(server: &mut Server, uri: &str) -> Value {
    let params = json!({ "textDocument": { "uri": uri } });
    server.request("textDocument/semanticTokens/full", params).expect("an answer")
}

fn find<'t>(tokens: &'t [Painted], word: &str) -> &'t Painted {
    tokens.iter().find(|token| token.0 == word).unwrap_or_else(|| panic!("{word} is painted"))
}

#[test]
fn ttgir_is_painted_by_dialect_and_by_what_values_are() {
    let text = kernel("attention.ttgir");
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let text = format!("// 𝒳\n{text}");
        let mut server = Server::start(editor(encoding));
        server.open(IR, &text);
        let answer = full(&mut server, IR);
        let tokens = painted(&server, &text, &answer["data"], encoding);
        assert_eq!(find(&tokens, "// 𝒳").1, "comment");
        let wait = find(&tokens, "ttng.wait_barrier");
        assert!(wait.1 == "method" && wait.2.contains(&"ttng".to_owned()) && wait.2.contains(&"barrier".to_owned()));
        assert_eq!(find(&tokens, "%bar_5").2, ["declaration", "barrier"]);
        assert_eq!(find(&tokens, "%k").2, ["declaration", "memory"]);
        assert_eq!(find(&tokens, "@attention_ws").1, "function");
        assert_eq!(find(&tokens, "#smem").1, "macro");
    }
}

#[test]
fn python_is_painted_where_we_know_more_than_others() {
    let text = kernel("gluon/sum_rows.py");
    let mut server = Server::start(editor("utf-16"));
    server.open_as("python", PYTHON, &text);
    let answer = full(&mut server, PYTHON);
    let tokens = painted(&server, &text, &answer["data"], "utf-16");
    assert_eq!(find(&tokens, "sum_rows").2, ["declaration", "kernel"]);
    assert_eq!(find(&tokens, "ready").2, ["declaration", "barrier"]);
    assert_eq!(find(&tokens, "ring").2, ["declaration", "memory"]);
    assert_eq!(find(&tokens, "num_slots").2, ["declaration", "readonly", "constexpr"]);
    let load = find(&tokens, "async_load");
    assert!(load.1 == "function" && load.2.contains(&"async".to_owned()), "{load:?}");
    assert!(tokens.iter().all(|token| token.0 != "range" && token.0 != "rows"), "plain Python is for others");
    server.open_as("python", "file:///kernels/plain.py", "x = [1]\n");
    assert_eq!(full(&mut server, "file:///kernels/plain.py"), Value::Null);
    assert_eq!(full(&mut server, "file:///no.ttgir"), Value::Null);
}

#[test]
fn a_delta_makes_the_old_tokens_into_the_new_ones() {
    for (uri, text, language) in
        [(IR, kernel("attention.ttgir"), "ttgir"), (PYTHON, kernel("gluon/sum_rows.py"), "python")]
    {
        let mut server = Server::start(editor("utf-16"));
        server.open_as(language, uri, &text);
        let first = full(&mut server, uri);
        let mut data: Vec<Value> = first["data"].as_array().cloned().expect("tokens");
        let delta = |server: &mut Server, previous: &Value| {
            let params = json!({ "textDocument": { "uri": uri }, "previousResultId": previous });
            server.request("textDocument/semanticTokens/full/delta", params).expect("an answer")
        };
        let same = delta(&mut server, &first["resultId"]);
        assert_eq!(same["edits"], json!([]));
        let line = text.lines().position(|line| line.contains("init")).expect("the line is there");
        server.change(uri, 2, Some(range((line, 0), (line, 0))), "\n\n");
        let next = delta(&mut server, &same["resultId"]);
        for edit in next["edits"].as_array().expect("edits") {
            let start = edit["start"].as_u64().expect("a start") as usize;
            let count = edit["deleteCount"].as_u64().expect("a count") as usize;
            data.splice(start..start + count, edit["data"].as_array().cloned().unwrap_or_default());
        }
        assert!(next["edits"][0]["data"].as_array().map_or(0, Vec::len) <= 10, "{next}");
        assert_eq!(json!(data), full(&mut server, uri)["data"]);
        // An answer that is not the last one is no base.
        let whole = delta(&mut server, &json!("none"));
        assert_eq!(json!(data), whole["data"]);
    }
}

#[test]
fn a_range_is_painted_as_the_whole_is() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(editor("utf-16"));
    server.open(IR, &text);
    let whole = full(&mut server, IR);
    let all = painted(&server, &text, &whole["data"], "utf-16");
    let params = json!({ "textDocument": { "uri": IR }, "range": range((20, 0), (30, 0)) });
    let part = server.request("textDocument/semanticTokens/range", params).expect("an answer");
    let part = painted(&server, &text, &part["data"], "utf-16");
    assert!(part.len() > 20 && all.windows(part.len()).any(|run| run == part), "{part:?}");
}

#[test]
fn of_a_long_dump_only_what_is_looked_at_is_painted() {
    let one = kernel("attention.ttgir");
    let dump: String = (0..200).map(|at| format!("// -----// IR Dump After P{at} //----- //\n{one}\n")).collect();
    let mut server = Server::start(editor("utf-16"));
    server.open(IR, &dump);
    assert_eq!(full(&mut server, IR), Value::Null, "too long for one answer");
    let lines = dump.lines().count();
    let params = json!({ "textDocument": { "uri": IR }, "range": range((lines - 40, 0), (lines, 0)) });
    let part = server.request("textDocument/semanticTokens/range", params).expect("an answer");
    assert!(part["data"].as_array().is_some_and(|data| data.len() > 100));
}
