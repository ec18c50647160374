//! What is shown at a place, in both languages.

use crate::support::{Server, kernel, root};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

fn python(name: &str) -> (String, String) {
    let folder = std::fs::canonicalize(root().join("tests/kernels/gluon")).expect("the folder is there");
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    (format!("file://{}", folder.join(name).display()), text)
}

fn markdown() -> Value {
    json!({ "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } } })
}

/// Line and column of the `$` in `what`, which stands in the text without it.
fn find(text: &str, what: &str) -> (usize, usize) {
    let at = text.find(&what.replace('$', "")).unwrap_or_else(|| panic!("there is no {what}"));
    let at = at + what.find('$').expect("a cursor");
    let before = &text[..at];
    (before.matches('\n').count(), at - before.rfind('\n').map_or(0, |end| end + 1))
}

fn hover(server: &mut Server, uri: &str, (line, column): (usize, usize)) -> String {
    let hover = server.at("textDocument/hover", uri, line, column).expect("an answer");
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_wait_says_what_it_does_who_arrives_and_which_flip_it_sees() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(json!({}));
    server.open(URI, &text);
    server.diagnostics(URI, 1);
    let said = hover(&mut server, URI, find(&text, "ttng.wait_$barrier %22"));
    for part in [
        "ttng.wait_barrier: Waits until the phase of an mbarrier with this parity has completed.",
        "Waits on %bar_5[%cursor.index].",
        "2 slots, each with phases of its own. A phase completes after 1 arrival and 16384 announced bytes.",
        "%22 is %bar_5[%cursor.index]: barrier, 2 slots",
        "line 163  partition0  arrive  [%cursor.index]  16384 bytes when the TMA load has landed",
        "line 62  default  slot       0 1 0 1 0 1 0 1",
        "phase      0 0 1 1 0 0 1 1",
        "sees flip  1 1 2 2 3 3 4 4",
        "Verdict on attention_ws: ",
    ] {
        assert!(said.contains(part), "{part}\n---\n{said}");
    }
    assert!(!said.contains("not analysed"), "{said}");
    // The same table stands at the barrier's name, wherever that is.
    let name = hover(&mut server, URI, find(&text, "%bar$_5 = ttg.local_alloc"));
    assert!(name.contains("sees flip  1 1 2 2 3 3 4 4") && name.contains("line 163"), "{name}");
    assert!(server.shutdown().success());
}

#[test]
fn edges_have_directions_once_the_kernel_is_analysed() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(json!({}));
    server.open(URI, &text);
    let at = find(&text, "%bar$_5 = ttg.local_alloc");
    server.diagnostics(URI, 1);
    // The report may take longer than a hover waits.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut said = hover(&mut server, URI, at);
    while !said.contains("forward (data ready)") && std::time::Instant::now() < until {
        said = hover(&mut server, URI, at);
    }
    assert!(said.contains("forward (data ready) to default"), "{said}");
    assert!(said.contains("forward (data ready) from partition0"), "{said}");
    // Of a text that is not analysed nothing is said that was found of another one.
    server.change(URI, 2, None, &text.replace("%bar_5", "%ready"));
    let now = hover(&mut server, URI, at);
    assert!(now.contains("not analysed yet") || now.contains("Verdict on attention_ws"), "{now}");
}

#[test]
fn types_and_layouts_are_drawn() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(markdown());
    server.open(URI, &text);
    let said = hover(&mut server, URI, find(&text, "#sha$red = #ttg.nvmma"));
    assert!(said.contains("row 1: 1 0 3 2 5 4 7 6"), "{said}");
    let buffer = hover(&mut server, URI, find(&text, "!ttg.mem$desc<2x128x64xf16"));
    assert!(buffer.contains("A buffer of 2x128x64 f16 in shared memory, 32 KiB"), "{buffer}");
    let tensor = hover(&mut server, URI, find(&text, "tensor<64x$128xf32, #mma>"));
    assert!(tensor.contains("wgmma"), "{tensor}");
}

#[test]
fn python_has_builtins_barriers_helpers_and_layouts() {
    let (uri, text) = python("sum_rows.py");
    let mut server = Server::start(markdown());
    server.open_as("python", &uri, &text);
    server.diagnostics(&uri, 1);
    let wait = hover(&mut server, &uri, find(&text, "mbarrier.wa$it(ready"));
    for part in [
        "`mbarrier.wait(mbarrier, phase, pred=True, deps=())`",
        "Emits `ttng.wait_barrier`: Waits until the phase",
        "barrier, 2 slots",
        "sees flip  1 1 2 2 3 3",
        "Verdict on `sum_rows`: ",
    ] {
        assert!(wait.contains(part), "{part}\n---\n{wait}");
    }
    let free = hover(&mut server, &uri, find(&text, "mbarrier.wa$it(free"));
    assert!(free.contains("sees flip  - - 1 1 2 2"), "{free}");
    let helper = hover(&mut server, &uri, find(&text, "sig$nal(free"));
    assert!(helper.contains("def signal(barriers, slot)") && helper.contains("ring_tools.py"), "{helper}");
    let layout = hover(&mut server, &uri, find(&text, "gl.Blocked$Layout("));
    assert!(layout.contains("size_per_thread") && layout.contains("w0:t1"), "{layout}");
    let ring = hover(&mut server, &uri, find(&text, "ri$ng = gl.allocate"));
    assert!(ring.contains("slots of") && ring.contains("writes") && ring.contains("reads"), "{ring}");
    assert!(server.shutdown().success());
}

#[test]
fn names_of_the_users_are_no_markup() {
    let text = "\"\"\"A.\"\"\"\nfrom triton.experimental import gluon\n\n\n@gluon.jit\ndef f_a__b(x):\n    \
                '''Not <b>bold</b>.\n\n    ```\n    # no heading\n    '''\n    pass\n\n\n@gluon.jit\ndef g(x):\n    f_a__b(x)\n";
    let mut server = Server::start(markdown());
    server.open_as("python", "file:///tmp/markup.py", text);
    let said = hover(&mut server, "file:///tmp/markup.py", find(text, "f_a$__b(x)\n"));
    assert!(said.contains("`f_a__b`") && said.contains("````text\nNot <b>bold</b>."), "{said}");
}

#[test]
fn a_document_that_is_not_open_has_no_hover() {
    let mut server = Server::start(markdown());
    for uri in ["file:///nowhere.ttgir", "file:///nowhere.py"] {
        assert_eq!(server.at("textDocument/hover", uri, 0, 0), Ok(Value::Null));
    }
}
