//! A message as JSON-RPC has it: a request or notification, an answer, or neither.

use serde_json::{Map, Value};
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

/// What a client sends.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request or a notification.
    Request(Request),
    /// The answer to a request of ours.
    Response(Response),
    /// What has to be answered with an error, since it is neither.
    Unreadable(Id, Error),
}

impl Message {
    /// Reads a body. Values that nest more than 128 deep are no message.
    pub(crate) fn read(body: &[u8]) -> Message {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Message::of(fields),
            Ok(_) => Message::Unreadable(Id::Null, invalid("a message is an object")),
            Err(error) => Message::Unreadable(Id::Null, because(Error::parse_error(), &error.to_string())),
        }
    }

    fn of(mut fields: Map<String, Value>) -> Message {
        let id = fields.remove("id").map(id);
        let refuse =
            |id: &Option<Option<Id>>, why| Message::Unreadable(id.clone().flatten().unwrap_or_default(), invalid(why));
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return refuse(&id, "`jsonrpc` is not \"2.0\"");
        }
        match (fields.remove("method"), id.clone()) {
            (_, Some(None)) => refuse(&id, "`id` is neither a whole number nor a text"),
            (Some(Value::String(method)), named) => {
                let mut request = Request::build(method);
                match fields.remove("params") {
                    None => {}
                    Some(params @ (Value::Object(_) | Value::Array(_) | Value::Null)) => {
                        request = request.params(params)
                    }
                    Some(_) => return refuse(&id, "`params` is neither an object nor an array"),
                }
                Message::Request(match named.flatten() {
                    Some(id) => request.id(id).finish(),
                    None => request.finish(),
                })
            }
            (Some(_), _) => refuse(&id, "`method` is no text"),
            (None, Some(Some(named))) => {
                let error = fields.remove("error").filter(|error| !error.is_null());
                let body = match error.map(serde_json::from_value::<Error>) {
                    Some(Ok(error)) => Err(error),
                    Some(Err(_)) => Err(Error::internal_error()),
                    // Some leave out what is null.
                    None => Ok(fields.remove("result").unwrap_or_default()),
                };
                Message::Response(Response::from_parts(named, body))
            }
            (None, _) => refuse(&id, "there is neither `method` nor `id`"),
        }
    }
}

/// The number or name of a request.
fn id(value: Value) -> Option<Id> {
    match value {
        Value::Number(number) => number.as_i64().map(Id::Number),
        Value::String(name) => Some(Id::String(name)),
        Value::Null => Some(Id::Null),
        _ => None,
    }
}

fn invalid(why: &str) -> Error {
    because(Error::invalid_request(), why)
}

fn because(error: Error, why: &str) -> Error {
    Error { message: format!("{}: {why}", error.message).into(), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of the error that answers a body, and whom it answers.
    fn refused(body: &str) -> (i64, Id) {
        match Message::read(body.as_bytes()) {
            Message::Unreadable(id, error) => (error.code.code(), id),
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let deep_params = format!(r#"{{"jsonrpc":"2.0","method":"m","id":1,"params":{deep}}}"#);
        for body in ["", "{", "{\"broken\"", "nul", "{\"a\":\"\\ud800\"}", "{}{}", &deep, &deep_params] {
            assert_eq!(refused(body), (-32700, Id::Null), "{}", &body[..body.len().min(40)]);
        }
        let Message::Unreadable(_, error) = Message::read(b"{\"a\":\"\xff\"}") else { panic!("it is no text") };
        assert_eq!(error.code.code(), -32700);
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_with_its_number() {
        for (body, id) in [
            ("[]", Id::Null),
            ("7", Id::Null),
            (r#"{"method":"m","id":1}"#, Id::Number(1)),
            (r#"{"jsonrpc":"1.0","method":"m","id":1}"#, Id::Number(1)),
            (r#"{"jsonrpc":"2.0","method":7,"id":"a"}"#, Id::String("a".to_owned())),
            (r#"{"jsonrpc":"2.0","method":"m","params":7,"id":2}"#, Id::Number(2)),
            (r#"{"jsonrpc":"2.0","method":"m","id":1.5}"#, Id::Null),
            (r#"{"jsonrpc":"2.0","method":"m","id":{}}"#, Id::Null),
            (r#"{"jsonrpc":"2.0"}"#, Id::Null),
        ] {
            assert_eq!(refused(body), (-32600, id), "{body}");
        }
    }

    #[test]
    fn requests_notifications_and_answers_are_told_apart() {
        let read = |body: &str| Message::read(body.as_bytes());
        let Message::Request(request) = read(r#"{"jsonrpc":"2.0","method":"m","params":null,"id":"x"}"#) else {
            panic!("a request")
        };
        assert_eq!((request.method(), request.id()), ("m", Some(&Id::String("x".to_owned()))));
        let Message::Request(request) = read(r#"{"jsonrpc":"2.0","method":"$/m"}"#) else { panic!("a notification") };
        assert_eq!(request.id(), None);
        for (body, is_ok) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, true),
            (r#"{"jsonrpc":"2.0","id":1}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, false),
        ] {
            let Message::Response(response) = read(body) else { panic!("an answer: {body}") };
            assert_eq!(response.is_ok(), is_ok, "{body}");
        }
    }
}
