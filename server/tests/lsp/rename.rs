//! New names: what changes, what is refused and why.

use crate::folder::{Folder, find};
use crate::support::{Server, kernel, place};
use serde_json::{Value, json};

/// The text after a rename, or the reason why there is none.
fn renamed(server: &mut Server, uri: &str, text: &str, what: &str, name: &str) -> Result<String, String> {
    let (line, column) = find(text, what);
    let mut params = place(uri, line, column);
    params["newName"] = json!(name);
    let reason = |error: Value| error["message"].as_str().unwrap_or_default().to_owned();
    let edit = server.request("textDocument/rename", params).map_err(reason)?;
    let mut edits: Vec<&Value> = edit["changes"][uri].as_array().map(|all| all.iter().collect()).unwrap_or_default();
    let start = |edit: &Value| {
        let at = &edit["range"]["start"];
        (at["line"].as_u64().unwrap_or(0), at["character"].as_u64().unwrap_or(0))
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(start(edit)));
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for edit in edits {
        let (line, from) = start(edit);
        let to = edit["range"]["end"]["character"].as_u64().unwrap_or(0) as usize;
        lines[line as usize].replace_range(from as usize..to, edit["newText"].as_str().unwrap_or_default());
    }
    Ok(lines.join("\n"))
}

const TTGIR: &str = "\
#layout = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func private @pair(%n: i32) -> (i32, i32) {
    tt.return %n, %n : i32, i32 // %n @pair #layout
  }
  tt.func public @k(%n: i32, %t: tensor<128xf32, #layout>) {
    %p:2 = tt.call @pair(%n) : (i32) -> (i32, i32)
    %q = arith.addi %p#0, %p#1 : i32
    cf.br ^bb1(%q : i32)
  ^bb1(%block: i32):
    %r = arith.addi %block, %q : i32
    tt.return
  }
}
";

#[test]
fn values_aliases_and_functions_get_new_names() {
    let mut server = Server::start(json!({ "general": { "positionEncodings": ["utf-8"] } }));
    let uri = "file:///k.ttgir";
    server.open(uri, TTGIR);
    let mut to = |what: &str, name: &str| renamed(&mut server, uri, TTGIR, what, name);
    let pack = TTGIR.replace("%p:2", "%both:2").replace("%p#", "%both#");
    assert_eq!(to("addi $%p#0", "%both"), Ok(pack.clone()));
    assert_eq!(to("$%p:2", "both"), Ok(pack));
    assert_eq!(to("($%block", "b"), Ok(TTGIR.replace("%block", "%b")));
    let alias = TTGIR.replace("#layout =", "#blocked =").replace("f32, #layout", "f32, #blocked");
    assert_eq!(to("f32, $#layout", "blocked"), Ok(alias));
    let function = TTGIR.replace("private @pair", "private @two").replace("call @pair", "call @two");
    assert_eq!(to("call $@pair", "@two"), Ok(function));
    // Another function's value of that name stays what it is.
    let value =
        TTGIR.replace("private @pair(%n: i32)", "private @pair(%m: i32)").replace("return %n, %n :", "return %m, %m :");
    assert_eq!(to("@pair($%n", "m"), Ok(value));
    let refused = |answer: Result<String, String>| answer.expect_err("it is refused");
    assert_eq!(refused(to("$%q =", "n")), "`%n` already stands in this function");
    assert_eq!(refused(to("$%q =", "a b")), "`%a b` is no name of MLIR");
    assert_eq!(refused(to("call $@pair", "k")), "`@k` already stands in this module");
    assert!(refused(to("$#ttg.blocked", "x")).contains("is not defined in this module"));
    assert_eq!(refused(to("$module", "x")), "there is no name here");
}

#[test]
fn a_renamed_kernel_is_the_same_kernel() {
    let text = kernel("ring.ttgir");
    let mut server = Server::start(json!({ "general": { "positionEncodings": ["utf-8"] } }));
    let uri = "file:///ring.ttgir";
    server.open(uri, &text);
    assert_eq!(server.diagnostics(uri, 1), [Value::Null; 0]);
    let mut now = text;
    for (at, (what, name)) in
        [("$%bar = ttg", "full"), ("f16, $#shared,", "tiles"), ("$%i = %c0_i32 to", "step"), ("@ws$_gemm", "gemm")]
            .into_iter()
            .enumerate()
    {
        now = renamed(&mut server, uri, &now, what, name).unwrap_or_else(|why| panic!("{what}: {why}"));
        let version = at as i32 + 2;
        server.change(uri, version, None, &now);
        assert_eq!(server.diagnostics(uri, version), [Value::Null; 0], "{what}");
    }
    assert!(now.contains("@gemm(") && now.contains("memdesc_index %full[") && now.contains("#tiles = "));
}

#[test]
fn variables_of_python_get_new_names_by_scope() {
    let text = kernel("gluon/sum_rows.py");
    let helper = kernel("gluon/ring_tools.py");
    let folder = Folder::new("rename", &[("sum_rows.py", &text), ("ring_tools.py", &helper)]);
    let mut server = folder.server(json!({}));
    let uri = folder.uri("sum_rows.py");
    server.open_as("python", &uri, &text);
    let mut to = |what: &str, name: &str| renamed(&mut server, &uri, &text, what, name);
    // A barrier of the kernel: not the parameters of the same name elsewhere.
    let (before, kernel) = text.split_at(text.find("def sum_rows").unwrap_or(0));
    assert_eq!(to("$ready = mbarrier", "full"), Ok(format!("{before}{}", kernel.replace("ready", "full"))));
    // A function, with its calls.
    assert_eq!(to("def $fill", "load"), Ok(text.replace("fill(", "load(")));
    let refused = |answer: Result<String, String>| answer.expect_err("it is refused");
    assert!(refused(to("$ready = mbarrier", "free")).starts_with("`free` is already there, in line "));
    assert!(refused(to("$ready = mbarrier", "gl")).starts_with("`gl` is already there"));
    assert_eq!(refused(to("$ready = mbarrier", "class")), "`class` is no name of Python");
    assert!(refused(to("$signal(free", "tell")).contains("is imported"));
    assert!(refused(to("in $range(rows)", "steps")).contains("is not defined in this file"));
    assert!(refused(to("$rows, num_slots", "gl")).contains("already"));
    // What another file imports is not this file's alone.
    server.open_as("python", &folder.uri("ring_tools.py"), &helper);
    let answer = renamed(&mut server, &folder.uri("ring_tools.py"), &helper, "def $signal", "tell");
    assert!(refused(answer).contains("sum_rows.py"));
}

#[test]
fn parameters_take_their_keywords_and_directives_along() {
    let text = "\
import triton
import triton.language as tl

# fencepost: BLOCK=64
@triton.jit
def add(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, [BLOCK for _ in (BLOCK,)][0])

def launch(x):
    add[(1,)](x, BLOCK=64)
";
    let folder = Folder::new("rename-parameters", &[("add.py", text)]);
    let mut server = folder.server(json!({}));
    let uri = folder.uri("add.py");
    server.open_as("python", &uri, text);
    assert_eq!(renamed(&mut server, &uri, text, "arange(0, $BLOCK", "SIZE"), Ok(text.replace("BLOCK", "SIZE")));
    let quoted =
        text.replace("@triton.jit", "@triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=[])\n@triton.jit");
    server.change(&uri, 2, None, &quoted);
    let answer = renamed(&mut server, &uri, &quoted, "arange(0, $BLOCK", "SIZE");
    assert_eq!(answer, Ok(quoted.replace("BLOCK", "SIZE")));
    let listed = text.replace("(x, BLOCK=64)", "(x, **options)");
    server.change(&uri, 3, None, &listed);
    let answer = renamed(&mut server, &uri, &listed, "arange(0, $BLOCK", "SIZE");
    assert_eq!(answer, Err("line 11 passes what may hold `BLOCK`".to_owned()));
    folder.write("other.py", "import triton\nfrom add import add\nadd[(1,)](0, BLOCK=1)\n");
    server.notify(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": [{ "uri": folder.uri("other.py"), "type": 1 }] }),
    );
    server.change(&uri, 4, None, text);
    let answer = renamed(&mut server, &uri, text, "arange(0, $BLOCK", "SIZE");
    assert!(answer.as_ref().is_err_and(|why| why.contains("other.py")), "{answer:?}");
}

#[test]
fn a_client_that_asks_first_is_told_what_is_renamed() {
    let mut server = Server::start(json!({ "textDocument": { "rename": { "prepareSupport": true } } }));
    assert_eq!(server.info["capabilities"]["renameProvider"]["prepareProvider"], json!(true));
    server.open("file:///k.ttgir", TTGIR);
    let (line, column) = find(TTGIR, "addi $%p#0");
    let found = server.at("textDocument/prepareRename", "file:///k.ttgir", line, column).expect("an answer");
    assert_eq!(found, json!({ "range": crate::support::range((7, 21), (7, 22)), "placeholder": "p" }));
    assert!(server.at("textDocument/prepareRename", "file:///k.ttgir", 1, 2).is_err());
    assert_eq!(server.at("textDocument/prepareRename", "file:///other.ttgir", 1, 2), Ok(Value::Null));
    let text = "from triton.experimental import gluon\n@gluon.jit\ndef f(größe):\n    return größe\n";
    server.open_as("python", "file:///f.py", text);
    let found = server.at("textDocument/prepareRename", "file:///f.py", 3, 13).expect("an answer");
    assert_eq!(found["placeholder"], json!("größe"));
    let mut params = place("file:///f.py", 3, 13);
    params["newName"] = json!("𝒳");
    assert!(server.request("textDocument/rename", params).is_ok());
    assert!(Server::start(json!({})).info["capabilities"]["renameProvider"] == json!(true));
}
