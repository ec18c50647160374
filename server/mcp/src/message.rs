//! Messages of JSON-RPC 2.0, as the Model Context Protocol has them: one a line.

use serde_json::{Map, Value, json};

/// JSON that is none.
pub(crate) const PARSE: i64 = -32700;
/// JSON that is no request.
pub(crate) const INVALID: i64 = -32600;
/// A method that is not served.
pub(crate) const METHOD: i64 = -32601;
/// Parameters that a method does not have.
pub(crate) const PARAMS: i64 = -32602;

/// What a client sends.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// Wants an answer.
    Request { id: Value, method: String, params: Map<String, Value> },
    /// Wants none.
    Notification { method: String, params: Map<String, Value> },
    /// Answers a request; this server makes none.
    Response,
    /// Several of them at once, as versions before 2025-06-18 allow.
    Batch(Vec<Value>),
}

/// An answer that says what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// One of the codes above.
    pub(crate) code: i64,
    /// A sentence.
    pub(crate) message: String,
}

impl Failure {
    /// A failure with this code.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }
}

/// Reads a message; `Err` has the answer that says what is wrong with it.
pub(crate) fn read(value: Value) -> Result<Message, Value> {
    let members = match value {
        Value::Object(members) => members,
        Value::Array(messages) if !messages.is_empty() => return Ok(Message::Batch(messages)),
        _ => return Err(failed(&Value::Null, &Failure::new(INVALID, "a message is an object"))),
    };
    let id = members.get("id").cloned();
    // Only an id that can be one is repeated.
    let named = id.clone().filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null);
    let invalid = |why: &str| Err(failed(&named, &Failure::new(INVALID, why)));
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` is \"2.0\"");
    }
    let Some(method) = members.get("method") else {
        let answers = members.contains_key("result") || members.contains_key("error");
        return if answers { Ok(Message::Response) } else { invalid("there is no `method`") };
    };
    let Some(method) = method.as_str().map(str::to_owned) else { return invalid("`method` is a string") };
    let params = match members.get("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) => return Err(failed(&named, &Failure::new(PARAMS, "`params` is an object"))),
    };
    match id {
        None => Ok(Message::Notification { method, params }),
        Some(_) if named.is_null() => invalid("`id` is a string or a number"),
        Some(id) => Ok(Message::Request { id, method, params }),
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, result: Result<Value, Failure>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => failed(id, &failure),
    }
}

/// The answer that says what is wrong; with `null` for an id where it is not known.
pub(crate) fn failed(id: &Value, failure: &Failure) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": failure.code, "message": failure.message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_said() {
        let code = |value: Value| read(value).err().and_then(|answer| answer["error"]["code"].as_i64());
        for wrong in [
            json!(1),
            json!([]),
            json!({}),
            json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": 2 }),
            json!({ "jsonrpc": "2.0", "id": 1 }),
        ] {
            assert_eq!(code(wrong.clone()), Some(INVALID), "{wrong}");
        }
        assert_eq!(code(json!({ "jsonrpc": "2.0", "id": 1, "method": "m", "params": [1] })), Some(PARAMS));
        let said = read(json!({ "jsonrpc": "2.0", "id": "a", "method": 2 }));
        assert_eq!(said.err().map(|answer| answer["id"].clone()), Some(json!("a")));
        assert_eq!(read(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), Ok(Message::Response));
        let note = Message::Notification { method: "n".to_owned(), params: Map::new() };
        assert_eq!(read(json!({ "jsonrpc": "2.0", "method": "n" })), Ok(note));
    }
}
