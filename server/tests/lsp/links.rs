//! Links to files, and symbols of the whole workspace.

use crate::folder::{Folder, said};
use crate::support::{Server, kernel};
use serde_json::{Value, json};

#[test]
fn files_that_are_there_are_linked() {
    let folder = Folder::new("links", &[("k.py", "x = 1\n"), ("data/a.npy", "")]);
    let text = format!(
        "// fencepost-run: a=f32[4]:file(data/a.npy) b=f32[4]:file(none.npy)\nmodule {{\n}}\n\
         #loc = loc(\"{}\":3:5)\n#loc1 = loc(\"gone.py\":1:1)\n#loc2 = loc(callsite(\"/other/k.py\":1:1 at #loc))\n",
        folder.path("k.py"),
    );
    let mut server = folder.server(json!({ "textDocument": { "documentLink": {} } }));
    let uri = folder.uri("k.ttgir");
    server.open(&uri, &text);
    let links = |server: &mut Server, uri: &str| {
        let found =
            server.request("textDocument/documentLink", json!({ "textDocument": { "uri": uri } })).expect("links");
        let say = |link: &Value| {
            let line = link["range"]["start"]["line"].as_u64().unwrap_or(0);
            format!("{line} {}", link["target"].as_str().unwrap_or("?"))
        };
        found.as_array().map(|all| all.iter().map(say).collect::<Vec<_>>())
    };
    let k = folder.uri("k.py");
    let expected = [format!("0 {}", folder.uri("data/a.npy")), format!("3 {k}#L3,5"), format!("5 {k}#L1,1")];
    assert_eq!(links(&mut server, &uri), Some(expected.to_vec()));
    let python = "import triton\n# fencepost-run: x=f32[4]:file('data/a.npy')\n@triton.jit\ndef k(x):\n    pass\n";
    server.open_as("python", &folder.uri("r.py"), python);
    let found = links(&mut server, &folder.uri("r.py"));
    assert_eq!(found, Some(vec![format!("1 {}", folder.uri("data/a.npy"))]));
    assert_eq!(links(&mut server, &folder.uri("not_open.ttgir")), None);
}

#[test]
fn symbols_of_the_workspace_are_found_by_some_of_their_letters() {
    let (text, helper) = (kernel("gluon/sum_rows.py"), kernel("gluon/ring_tools.py"));
    let folder = Folder::new(
        "symbols",
        &[("sum_rows.py", &text), ("more/ring_tools.py", &helper), ("plain.py", "def signal():\n    pass\n")],
    );
    let mut server = folder.server(json!({}));
    let ttgir = kernel("ring.ttgir");
    folder.write("ring.ttgir", &ttgir);
    server.open(&folder.uri("ring.ttgir"), &ttgir);
    let asked = |server: &mut Server, query: &str| {
        let found = server.request("workspace/symbol", json!({ "query": query })).expect("symbols");
        let say = |symbol: &Value| format!("{} {}", symbol["kind"], said(&folder, &symbol["location"]));
        found.as_array().expect("a list").iter().map(say).collect::<Vec<_>>()
    };
    // No Python file is open.
    assert_eq!(asked(&mut server, "sgnl"), ["12 more/ring_tools.py:8 signal"]);
    assert_eq!(asked(&mut server, "sumrows"), ["12 sum_rows.py:38 sum_rows"]);
    assert_eq!(asked(&mut server, "read"), ["24 sum_rows.py:40 ready"]);
    assert_eq!(asked(&mut server, "wsgemm"), ["12 ring.ttgir:7 @ws_gemm"]);
    assert!(asked(&mut server, "bar").contains(&"24 ring.ttgir:24 %bar".to_owned()));
    assert!(asked(&mut server, "").len() >= 8);
    // As it is typed, not as it is on disk.
    let edited = text.replace("def sum_rows", "def total_of_rows");
    server.open_as("python", &folder.uri("sum_rows.py"), &edited);
    folder.write("sum_rows.py", &edited);
    assert_eq!(asked(&mut server, "totalof"), ["12 sum_rows.py:38 total_of_rows"]);
}
