//! Messages that are none: each is answered with an error, and the session goes on.

use std::process::{Command, Stdio};

use crate::support::{Server, binary, kernel, place};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A server with a kernel open.
fn opened() -> Server {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("attention.ttgir"));
    server
}

/// The server still answers, and ends as it should.
fn goes_on(mut server: Server) {
    let hover = server.request("textDocument/hover", place(URI, 0, 1));
    assert!(hover.is_ok(), "{hover:?}");
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn what_is_no_json_is_answered_and_the_session_goes_on() {
    let mut server = opened();
    let deep = "[".repeat(100_000);
    let closed = format!("{deep}{}", "]".repeat(100_000));
    let params = format!(r#"{{"jsonrpc":"2.0","id":99,"method":"textDocument/hover","params":{closed}}}"#);
    let bodies = ["{\"broken\"", "", "nul", "{\"a\":\"\\ud800\"}", "{}{}", &deep, &closed, &params];
    for body in bodies {
        server.send_raw(&framed(body));
        let error = server.answer_without_id();
        assert_eq!(error["code"], json!(-32700), "{}", &body[..body.len().min(40)]);
    }
    let mut body = framed("{\"a\":\"..\"}");
    let at = body.len() - 4;
    body[at..at + 2].copy_from_slice(b"\xff\xfe");
    server.send_raw(&body);
    assert_eq!(server.answer_without_id()["code"], json!(-32700));
    goes_on(server);
}

#[test]
fn what_is_no_request_is_answered_and_the_session_goes_on() {
    let mut server = opened();
    for body in
        ["[]", "7", r#"{"method":"textDocument/hover"}"#, r#"{"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","method":7}"#]
    {
        server.send_raw(&framed(body));
        assert_eq!(server.answer_without_id()["code"], json!(-32600), "{body}");
    }
    server.send_raw(&framed(r#"{"jsonrpc":"2.0","id":777,"method":"textDocument/hover","params":7}"#));
    let error = server.answer(777).expect_err("it cannot be read");
    assert_eq!(error["code"], json!(-32600));
    // Answers to what was never asked are nothing to answer.
    server.send_raw(&framed(r#"{"jsonrpc":"2.0","id":4711,"result":null}"#));
    server.send_raw(&framed(r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}"#));
    goes_on(server);
}

#[test]
fn a_wrong_length_costs_one_message() {
    let good = r#"{"jsonrpc":"2.0","id":500,"method":"fencepost/explain","params":{"kind":"deadlock"}}"#;
    let headers = [
        "Content-Type: application/json\r\n\r\n",
        "Content-Length: many\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 18446744073709551616\r\n\r\n",
        "Content-Length: 5\r\n\r\n",
        "Content-Length: 4000000000\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    ];
    for header in headers {
        let mut server = opened();
        server.send_raw(header.as_bytes());
        server.send_raw(good.replace("500", "499").as_bytes());
        server.send_raw(&framed(good));
        assert!(server.answer(500).is_ok(), "{header:?}");
        assert_eq!(server.answer_without_id()["code"], json!(-32700), "{header:?}");
        goes_on(server);
    }
}

#[test]
fn a_type_of_content_without_a_charset_is_no_mistake() {
    let mut server = opened();
    let body = r#"{"jsonrpc":"2.0","id":500,"method":"fencepost/explain","params":{"kind":"deadlock"}}"#;
    let header = format!("content-type: application/vscode-jsonrpc\r\nCONTENT-LENGTH: {}\r\n\r\n", body.len());
    server.send_raw(format!("{header}{body}").as_bytes());
    assert!(server.answer(500).is_ok());
    goes_on(server);
}

#[test]
fn unknown_requests_are_refused_and_unknown_notifications_are_not() {
    let mut server = opened();
    for method in ["$/unknown", "$/cancelRequestX", "workspace/unknown", "unknown", ""] {
        let error = server.request(method, json!({})).expect_err("nobody serves it");
        assert_eq!(error["code"], json!(-32601), "{method}");
        server.notify(method, json!({ "any": [1, 2] }));
    }
    server.notify("$/setTrace", json!({ "value": "verbose" }));
    server.notify("$/cancelRequest", json!({ "id": 123_456 }));
    server.notify("$/cancelRequest", json!({ "id": {} }));
    // A notification that has a number is none, a request without one is not answered.
    let error = server.request("textDocument/didSave", json!({})).expect_err("it has no answer");
    assert_eq!(error["code"], json!(-32600));
    server.notify("textDocument/hover", place(URI, 0, 1));
    goes_on(server);
}

#[test]
fn parameters_of_the_wrong_shape_are_refused() {
    let mut server = opened();
    for params in [json!({}), json!([]), json!({ "textDocument": 7 }), json!({ "textDocument": { "uri": "no name" } })]
    {
        for method in ["textDocument/hover", "textDocument/documentSymbol", "textDocument/codeAction"] {
            let error = server.request(method, params.clone()).expect_err("it cannot be read");
            assert_eq!(error["code"], json!(-32602), "{method} {params}");
        }
    }
    assert!(server.at("textDocument/hover", URI, usize::MAX >> 1, 0).is_err());
    goes_on(server);
}

#[test]
fn an_end_with_parameters_is_an_end() {
    let mut server = opened();
    let ended = server.request("shutdown", json!({}));
    assert_eq!(ended, Ok(Value::Null));
    server.notify("exit", json!({}));
    assert_eq!(server.exit_status().code(), Some(0));
}

#[test]
fn a_request_in_flight_at_the_end_of_the_input_harms_nothing() {
    let mut server = opened();
    for _ in 0..50 {
        server.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
    }
    assert_eq!(server.close_stdin().code(), Some(1));
}

#[test]
#[cfg(unix)]
fn a_client_that_is_gone_is_noticed_though_the_input_is_open() {
    // A client whose child keeps the input open, and one that nobody has asked how it ended.
    for reaped in [true, false] {
        let mut client = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
        let mut command = Command::new(binary());
        command.arg("lsp");
        let mut server = Server::spawn_for(client.id(), command);
        server.open(URI, &kernel("attention.ttgir"));
        assert!(server.request("textDocument/hover", place(URI, 0, 1)).is_ok());
        client.kill().expect("it ends");
        if reaped {
            client.wait().expect("it has ended");
        }
        assert_eq!(server.exit_status().code(), Some(1));
        client.wait().expect("it has ended");
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "that nothing happens has no event")]
fn a_client_in_another_container_is_not_watched() {
    let mut command = Command::new(binary());
    command.arg("lsp");
    let mut server = Server::spawn_for(u32::MAX >> 2, command);
    server.open(URI, &kernel("attention.ttgir"));
    std::thread::sleep(std::time::Duration::from_millis(2500));
    goes_on(server);
}

#[test]
fn a_length_that_reaches_into_the_next_headers_costs_one_message() {
    let hover = |id: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": place(URI, 0, 1) }).to_string()
    };
    for beyond in [1, 7, 14, 16, 18] {
        let mut server = opened();
        // More than is there: the message takes the beginning of the next one.
        let body = hover("broken");
        let mut bytes = format!("Content-Length: {}\r\n\r\n{body}", body.len() + beyond).into_bytes();
        bytes.extend(framed(&hover("next")));
        server.send_raw(&bytes);
        server.named_answer("next");
        goes_on(server);
    }
}
