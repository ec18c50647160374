//! Sessions with the real server over stdio: beginning, end, and order.

use crate::support::Server;
use serde_json::{Value, json};

#[test]
fn a_session_ends_as_the_protocol_says() {
    assert_eq!(Server::start(json!({})).shutdown().code(), Some(0));
    let mut server = Server::start(json!({}));
    server.notify("exit", Value::Null);
    assert_eq!(server.exit_status().code(), Some(1));
}

#[test]
fn a_closed_stdin_ends_the_server() {
    assert_eq!(Server::start(json!({})).close_stdin().code(), Some(1));
}

#[test]
fn the_first_encoding_that_costs_nothing_is_taken() {
    for (offered, taken) in [
        (json!(["utf-16"]), "utf-16"),
        (json!(["utf-8", "utf-16", "utf-32"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-32"),
        (json!([]), "utf-16"),
    ] {
        let server = Server::start(json!({ "general": { "positionEncodings": offered } }));
        assert_eq!(server.info["capabilities"]["positionEncoding"], json!(taken));
        assert_eq!(server.shutdown().code(), Some(0));
    }
}

#[test]
fn a_document_that_is_not_open_has_nothing() {
    let mut server = Server::start(json!({}));
    let report = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": "file:///no" } }));
    assert_eq!(report.map(|report| report["items"].clone()), Ok(json!([])));
}
