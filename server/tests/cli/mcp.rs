//! `fencepost mcp`: the real binary over its standard input and output, as a client of the protocol sees it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::schema::Schema;
use crate::support::{BINARY, Folder, fencepost, kernel, root};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server and what it says.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    kept: Vec<Value>,
    next: u64,
}

impl Client {
    fn new() -> Client {
        let mut child = Command::new(BINARY)
            .arg("mcp")
            .env("CLICOLOR_FORCE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if send.send(value).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, lines, kept: Vec::new(), next: 0 }
    }

    /// One that has said hello.
    fn ready() -> Client {
        let mut client = Client::new();
        let hello = client.request(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["result"]["protocolVersion"], json!("2025-06-18"));
        client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the server reads");
    }

    fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The next message with this id.
    fn answer(&mut self, id: &Value) -> Value {
        if let Some(at) = self.kept.iter().position(|it| it["id"] == *id) {
            return self.kept.remove(at);
        }
        loop {
            let message =
                self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: no answer to {id}"));
            assert_eq!(message["jsonrpc"], json!("2.0"), "{message}");
            if message["id"] == *id {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        self.answer(&json!(id))
    }

    /// The result of a tool.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        let result = answer["result"].clone();
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
        assert!(!text(&result).contains('\x1b'), "no colours");
        result
    }

    /// Closes the server's input; gives what it still said and its exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let mut rest = std::mem::take(&mut self.kept);
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(message) => rest.push(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        (rest, self.child.wait().expect("it ends").code())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

fn gluon(good: bool) -> String {
    let path = root().join("tests/kernels/gluon/sum_rows.py");
    let text = std::fs::read_to_string(path).expect("the kernel can be read");
    if good { text } else { text.replace("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", "") }
}

/// A document without what the server adds to those of the command line.
fn document(result: &Value) -> Value {
    let mut document = result["structuredContent"].clone();
    document.as_object_mut().expect("an object").remove("exitCode");
    document
}

#[test]
fn versions_are_negotiated_and_tools_listed() {
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2031-01-01", "2025-06-18"),
    ] {
        let mut client = Client::new();
        let hello =
            client.request("initialize", json!({ "protocolVersion": asked, "capabilities": {} }))["result"].clone();
        assert_eq!(hello["protocolVersion"], json!(spoken));
        assert_eq!(hello["serverInfo"]["name"], json!("fencepost"));
        assert!(hello["capabilities"]["tools"].is_object() && hello["capabilities"]["resources"].is_null());
        assert!(hello["instructions"].as_str().is_some_and(|text| text.contains("`undecided`")));
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().expect("tools");
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["check", "report", "trace", "explain", "run"]);
        for tool in tools {
            let schema = jsonschema::validator_for(&tool["inputSchema"]).expect("a schema");
            let source = tool["name"] != json!("explain");
            assert_eq!(schema.is_valid(&json!({ "path": "k.py" })), source, "{tool}");
            assert!(!schema.is_valid(&json!({ "pth": "k.py" })));
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 60));
        }
        let (rest, code) = client.end();
        assert_eq!((rest, code), (vec![], Some(0)));
    }
}

#[test]
fn check_says_what_the_command_says() {
    let mut client = Client::ready();
    let schema = Schema::published("check.schema.json");
    for (name, code, verdict) in [("ring_not_waited.ttgir", 1, "found"), ("ring.ttgir", 0, "proved")] {
        let path = kernel(name);
        let result = client.call("check", json!({ "path": path }));
        assert_eq!(text(&result), fencepost(&["check", &path]).stdout);
        assert_eq!((&result["isError"], &result["structuredContent"]["exitCode"]), (&json!(false), &json!(code)));
        let own = document(&result);
        schema.holds(&own);
        let command: Value =
            serde_json::from_str(&fencepost(&["check", "--format", "json", &path]).stdout).expect("JSON");
        assert_eq!(own, command);
        assert_eq!(own["files"][0]["verdict"], json!(verdict));
        // The same as a text, once without a name.
        let given = std::fs::read_to_string(&path).expect("the kernel can be read");
        let result = client.call("check", json!({ "text": given }));
        assert_eq!(
            (&document(&result)["files"][0]["verdict"], &result["structuredContent"]["exitCode"]),
            (&json!(verdict), &json!(code))
        );
    }
    // Python, edited and not saved: its imports are those of the file that it stands for.
    let path = root().join("tests/kernels/gluon/sum_rows.py").to_string_lossy().into_owned();
    for (good, verdict) in [(false, "found"), (true, "proved"), (false, "found")] {
        let result = client.call("check", json!({ "path": path, "text": gluon(good), "set": { "num_slots": 3 } }));
        let found = document(&result);
        assert_eq!(found["files"][0]["verdict"], json!(verdict), "{}", text(&result));
        assert!(!text(&result).contains("num_slots=2"), "{}", text(&result));
    }
}

#[test]
fn report_trace_and_explain_answer() {
    let mut client = Client::ready();
    let (flagged, clean) = (kernel("ring_not_waited.ttgir"), kernel("ring.ttgir"));
    let missing = client.call("report", json!({ "path": flagged, "kernel": "ws_gemm" }));
    assert!(text(&missing).contains("MISSING"), "{}", text(&missing));
    assert_eq!(missing["structuredContent"]["exitCode"], json!(1));
    Schema::published("report.schema.json").holds(&document(&missing));
    let whole = client.call("report", json!({ "path": clean }));
    assert!(text(&whole).contains("none MISSING") && text(&whole).contains("ordered"), "{}", text(&whole));
    assert_eq!(whole["structuredContent"]["exitCode"], json!(0));
    let python =
        client.call("report", json!({ "text": gluon(true), "path": root().join("tests/kernels/gluon/sum_rows.py") }));
    assert!(text(&python).contains("sum_rows") && python["isError"] == json!(false), "{}", text(&python));

    for (wrong, said) in [
        (json!({ "path": flagged, "kernel": "nope" }), "there is no kernel @nope"),
        (json!({ "path": flagged, "section": "nope" }), "nope"),
    ] {
        let none = client.call("report", wrong);
        assert!(none["isError"] == json!(true) && text(&none).contains(said), "{}", text(&none));
    }

    let run = client.call("trace", json!({ "path": flagged, "finding": 1 }));
    assert!(text(&run).contains("partition0") && run["structuredContent"]["exitCode"] == json!(1), "{}", text(&run));
    assert_eq!(document(&run)["traces"].as_array().map(Vec::len), Some(1));
    let run = client.call("trace", json!({ "path": clean }));
    assert!(text(&run).contains("@ws_gemm is proved") && run["structuredContent"]["exitCode"] == json!(0));
    let none = client.call("trace", json!({ "path": flagged, "finding": 99 }));
    assert!(none["isError"] == json!(true) && text(&none).contains("there is no finding 99"), "{}", text(&none));

    let page = client.call("explain", json!({ "kind": "deadlock" }));
    assert!(text(&page).starts_with("# deadlock\n"));
    assert_eq!(page["structuredContent"]["codes"][0]["code"], json!("deadlock"));
    let all = client.call("explain", json!({}));
    assert!(all["structuredContent"]["codes"].as_array().is_some_and(|codes| codes.len() > 20));
    let wrong = client.call("explain", json!({ "kind": "deadlok" }));
    assert!(wrong["isError"] == json!(true) && text(&wrong).contains("did you mean `deadlock`?"), "{}", text(&wrong));
}

#[test]
fn run_executes_kernels_and_no_code_of_the_file() {
    let mut client = Client::ready();
    let flagged = client.call("run", json!({ "path": kernel("ring_not_waited.ttgir"), "seeds": 2 }));
    assert_eq!(flagged["structuredContent"]["exitCode"], json!(1), "{}", text(&flagged));
    assert_eq!(flagged["structuredContent"]["run"]["end"], json!("asserted"));
    let clean = client.call("run", json!({ "path": kernel("ring.ttgir"), "arguments": { "K": 192 } }));
    assert_eq!(clean["structuredContent"]["exitCode"], json!(0), "{}", text(&clean));
    assert!(text(&clean).contains("K=192"), "{}", text(&clean));
    let folder = Folder::new("mcp-run");
    let marker = format!("{}/marker", folder.path());
    folder
        .write("ring_tools.py", &std::fs::read(root().join("tests/kernels/gluon/ring_tools.py")).expect("the helper"));
    let executes = format!("{}\n\nopen({marker:?}, 'w').close()\n", gluon(true));
    let path = folder.write("sum_rows.py", executes.as_bytes());
    for arguments in [json!({ "path": path }), json!({ "path": path, "text": executes })] {
        let python = client.call("run", arguments);
        assert_eq!(python["structuredContent"]["run"]["end"], json!("passed"), "{}", text(&python));
    }
    let refused = client.call("run", json!({ "path": path, "backend": "triton" }));
    assert!(refused["isError"] == json!(true) && text(&refused).contains("not allowed"), "{}", text(&refused));
    assert!(!std::path::Path::new(&marker).exists(), "the file was executed");
    // Tensors that are larger than a run may be are never made.
    let large = format!("f16[{},128]:empty", 1u64 << 40);
    let large = client.call("run", json!({ "path": kernel("ring.ttgir"), "arguments": { "a_desc": large } }));
    assert!(
        large["isError"] == json!(true) && text(&large).contains("a run holds 4096 MiB at most"),
        "{}",
        text(&large)
    );
    let shown = client.call("run", json!({ "path": kernel("ring.ttgir"), "dry_run": true, "grid": "2,2" }));
    assert!(text(&shown).contains("grid=(2,2)") && shown["isError"] == json!(false), "{}", text(&shown));
}

#[test]
fn what_is_wrong_is_said_and_the_server_goes_on() {
    let mut client = Client::ready();
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    for (line, expected) in [
        ("{\"jsonrpc\": \"2.0\", ", -32700),
        ("nonsense", -32700),
        ("\u{1}\u{2}", -32700),
        ("[]", -32600),
        ("7", -32600),
        ("{\"jsonrpc\":\"1.0\",\"method\":\"ping\"}", -32600),
    ] {
        client.line(line);
        assert_eq!(code(&client.answer(&Value::Null)), Some(expected), "{line}");
    }
    client.line("");
    assert_eq!(code(&client.request("tools/call", json!({ "name": "chekc", "arguments": {} }))), Some(-32602));
    assert_eq!(code(&client.request("tools/call", json!({ "name": "check", "arguments": [] }))), Some(-32602));
    assert_eq!(code(&client.request("resources/list", json!({}))), Some(-32601));
    // What nobody has to answer is not answered.
    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/unheard_of" }).to_string());
    client.line(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }).to_string());
    // Wrong arguments, and what is not there, are results that an agent reads.
    for (arguments, said) in [
        (json!({}), "Give `path` or `text`"),
        (json!({ "path": "-" }), "names a file"),
        (json!({ "path": "k.py", "targt": "sm_90" }), "takes no `targt`; it takes `path`"),
        (json!({ "path": "k.py", "target": "sm_1" }), "sm_1"),
        (json!({ "path": "/no/such/file.ttgir" }), "no such file or directory"),
        (json!({ "path": kernel("ring.ttgir"), "changed_since": "--output=x" }), "no such revision"),
    ] {
        let result = client.call("check", arguments.clone());
        let trouble = result["isError"] == json!(true) || result["structuredContent"]["exitCode"] == json!(2);
        assert!(trouble && text(&result).contains(said), "{arguments}: {}", text(&result));
    }
    // Several at once.
    let batch = json!([
        { "jsonrpc": "2.0", "id": "a", "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": { "name": "explain", "arguments": {} } },
    ]);
    client.line(&batch.to_string());
    assert_eq!(client.answer(&json!("a"))["result"], json!({}));
    assert!(client.answer(&json!("b"))["result"]["content"].is_array());
    // A text that does not parse is undecided, never clean.
    let broken = client.call("check", json!({ "text": "module {\n  tt.func public @f( {\n}\n" }));
    assert_eq!(document(&broken)["files"][0]["verdict"], json!("undecided"));
    assert_eq!(client.end(), (vec![], Some(0)));
}

#[test]
fn large_answers_are_cut_and_say_so() {
    let mut client = Client::ready();
    let result = client.call("check", json!({ "path": kernel("ring_not_waited.ttgir"), "limit": 1000 }));
    assert!(text(&result).chars().count() < 1200 && text(&result).contains(" left out: ask for"), "{}", text(&result));
    assert!(result["structuredContent"].to_string().len() <= 2000);
    assert!(result["structuredContent"]["truncated"].is_string());
    let result = client.call("trace", json!({ "path": kernel("attention.ttgir") }));
    assert!(text(&result).chars().count() < 24_200);
    let whole = client.call("trace", json!({ "path": kernel("attention.ttgir"), "limit": 4_000_000 }));
    assert!(whole["structuredContent"]["truncated"].is_null());
}

#[test]
fn a_cancelled_call_ends_and_is_not_answered() {
    let mut client = Client::ready();
    // More than there are threads, each of minutes.
    let slow = json!({ "name": "run", "arguments": { "path": kernel("ring.ttgir"), "seeds": 10_000 } });
    let ids: Vec<u64> = (0..12).map(|_| client.start("tools/call", slow.clone())).collect();
    let again = json!({ "jsonrpc": "2.0", "id": ids[0], "method": "tools/call", "params": slow });
    client.line(&again.to_string());
    assert_eq!(client.answer(&json!(ids[0]))["error"]["code"], json!(-32600), "its id is taken");
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    for id in &ids {
        let params = json!({ "requestId": id, "reason": "a test" });
        client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
    }
    client.line(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "unknown" } })
            .to_string(),
    );
    let started = Instant::now();
    let result = client.call("check", json!({ "path": kernel("ring.ttgir") }));
    assert_eq!(result["structuredContent"]["exitCode"], json!(0));
    assert!(started.elapsed() < Duration::from_secs(30), "the calls went on for {:?}", started.elapsed());
    let (rest, code) = client.end();
    assert_eq!((rest, code), (vec![], Some(0)));
}

#[test]
fn the_end_of_the_input_ends_the_server() {
    let mut client = Client::ready();
    // What is quick is still answered, what is slow is not waited for.
    let quick = client.start("tools/call", json!({ "name": "check", "arguments": { "path": kernel("ring.ttgir") } }));
    client
        .start("tools/call", json!({ "name": "run", "arguments": { "path": kernel("ring.ttgir"), "seeds": 10_000 } }));
    let started = Instant::now();
    let (rest, code) = client.end();
    assert!(started.elapsed() < Duration::from_secs(30) && code == Some(0));
    assert_eq!(rest.iter().map(|it| it["id"].clone()).collect::<Vec<_>>(), [json!(quick)]);
}

#[test]
fn the_page_for_agents_names_every_tool() {
    let page = std::fs::read_to_string(root().join("docs/agents.md")).expect("there is a page");
    for tool in ["check", "report", "trace", "explain", "run"] {
        assert!(page.contains(&format!("| `{tool}` |")), "{tool}");
    }
    // Its snippets of JSON are JSON, and start this program as this server.
    let snippets: Vec<&str> = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(snippets.len() >= 2);
    for snippet in snippets {
        let value: Value = serde_json::from_str(snippet).unwrap_or_else(|error| panic!("{error}: {snippet}"));
        let text = value.to_string();
        assert!(text.contains("fencepost") && text.contains("[\"mcp\"]"), "{snippet}");
    }
}
