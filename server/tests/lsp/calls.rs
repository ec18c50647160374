//! Call hierarchy: who calls whom, and who signals whom.

use crate::folder::{Folder, find};
use crate::support::{Server, kernel};
use serde_json::{Value, json};

/// The item at a place.
fn item(server: &mut Server, uri: &str, text: &str, what: &str) -> Value {
    let (line, column) = find(text, what);
    let items = server.at("textDocument/prepareCallHierarchy", uri, line, column).expect("an answer");
    items[0].clone()
}

/// `name (detail): lines` of the calls of an item, lines from 1.
fn calls(server: &mut Server, way: &str, item: &Value) -> Vec<String> {
    let other = if way == "incoming" { "from" } else { "to" };
    let found = server.request(&format!("callHierarchy/{way}Calls"), json!({ "item": item })).expect("an answer");
    let say = |call: &Value| {
        let lines: Vec<u64> = call["fromRanges"]
            .as_array()
            .expect("ranges")
            .iter()
            .map(|range| range["start"]["line"].as_u64().unwrap_or(0) + 1)
            .collect();
        let (name, detail) = (&call[other]["name"], &call[other]["detail"]);
        format!("{} ({}): {lines:?}", name.as_str().unwrap_or("?"), detail.as_str().unwrap_or(""))
    };
    found.as_array().expect("a list").iter().map(say).collect()
}

#[test]
fn partitions_of_ttgir_signal_one_another() {
    let text = kernel("ring.ttgir");
    let mut server = Server::start(json!({ "textDocument": { "callHierarchy": {} } }));
    let uri = "file:///ring.ttgir";
    server.open(uri, &text);
    let producer = item(&mut server, uri, &text, "part$ition0(");
    assert_eq!(producer["name"], json!("partition0"));
    let arrives = find(&text, "ttng.arrive_barrier").0 + 1;
    let expects = find(&text, "ttng.barrier_expect").0 + 1;
    let loads: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("async_tma_copy_global"))
        .map(|(at, _)| at + 1)
        .collect();
    let all = [expects, loads[0], loads[1]];
    assert_eq!(calls(&mut server, "incoming", &producer), [format!("default (@ws_gemm, through %bar_2): [{arrives}]")]);
    assert_eq!(calls(&mut server, "outgoing", &producer), [format!("default (@ws_gemm, through %bar): {all:?}")]);
    let consumer = item(&mut server, uri, &text, "def$ault {");
    assert_eq!(calls(&mut server, "incoming", &consumer), [format!("partition0 (@ws_gemm, through %bar): {all:?}")]);
    // A barrier, at its definition and at an op.
    for what in ["$%bar = ttg", "ttng.$barrier_expect"] {
        let barrier = item(&mut server, uri, &text, what);
        assert_eq!(barrier["name"], json!("%bar"));
        assert_eq!(calls(&mut server, "incoming", &barrier), [format!("partition0 (@ws_gemm, through %bar): {all:?}")]);
        let waits = find(&text, "ttng.wait_barrier %9").0 + 1;
        assert_eq!(calls(&mut server, "outgoing", &barrier), [format!("default (@ws_gemm, through %bar): [{waits}]")]);
    }
    let function = item(&mut server, uri, &text, "@ws$_gemm");
    let names: Vec<String> = calls(&mut server, "outgoing", &function);
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(item(&mut server, uri, &text, "arith.ad$di"), Value::Null);
}

#[test]
fn helpers_of_ttgir_are_called() {
    let text = "module {\n  tt.func private @g(%a: i32) {\n    tt.return\n  }\n  tt.func public @f(%a: i32) {\n    \
                tt.call @g(%a) : (i32) -> ()\n    tt.call @g(%a) : (i32) -> ()\n    tt.return\n  }\n}\n";
    let mut server = Server::start(json!({ "textDocument": { "callHierarchy": {} } }));
    server.open("file:///k.ttgir", text);
    let called = item(&mut server, "file:///k.ttgir", text, "call @$g");
    assert_eq!(calls(&mut server, "incoming", &called), ["@f (): [6, 7]"]);
    let caller = item(&mut server, "file:///k.ttgir", text, "@$f");
    assert_eq!(calls(&mut server, "outgoing", &caller), ["@g (): [6, 7]"]);
}

#[test]
fn partitions_and_helpers_of_gluon_signal_and_call() {
    let (text, helper) = (kernel("gluon/sum_rows.py"), kernel("gluon/ring_tools.py"));
    let folder = Folder::new("calls", &[("sum_rows.py", &text), ("ring_tools.py", &helper)]);
    let mut server = folder.server(json!({ "textDocument": { "callHierarchy": {} } }));
    let uri = folder.uri("sum_rows.py");
    server.open_as("python", &uri, &text);
    let line = |what: &str| find(&text, what).0 + 1;
    let producer = item(&mut server, &uri, &text, "def $producer");
    let incoming = calls(&mut server, "incoming", &producer);
    let signals = format!("consumer (sum_rows.py, through free): [{}]", line("signal(free, slot)"));
    let called = format!("sum_rows (sum_rows.py): [{}]", line("(producer, (desc"));
    assert_eq!(incoming, [signals, called]);
    let outgoing = calls(&mut server, "outgoing", &producer);
    let arrivals = [line("mbarrier.expect"), line("tma.async_load")];
    assert_eq!(outgoing[0], format!("consumer (sum_rows.py, through ready): {arrivals:?}"));
    assert_eq!(outgoing[1], format!("fill (sum_rows.py): [{}]", line("fill(desc, ring, ready, slot, i)")));
    // A barrier, and a helper in a file that is not open.
    let barrier = item(&mut server, &uri, &text, "$ready = mbarrier");
    assert_eq!(
        calls(&mut server, "incoming", &barrier),
        [format!("producer (sum_rows.py, through ready): {arrivals:?}")]
    );
    let waits = line("mbarrier.wait(ready");
    assert_eq!(calls(&mut server, "outgoing", &barrier), [format!("consumer (sum_rows.py, through ready): [{waits}]")]);
    let signal = item(&mut server, &uri, &text, "$signal(free");
    assert_eq!(signal["uri"], json!(folder.uri("ring_tools.py")));
    assert_eq!(calls(&mut server, "incoming", &signal), [format!("consumer (sum_rows.py): [{}]", line("signal(free"))]);
    assert_eq!(server.at("textDocument/prepareCallHierarchy", "file:///no.py", 0, 0), Ok(Value::Null));
}
