//! Notifications that cannot be read. Nobody is told of an error in one, and what a lost change of a document has
//! changed is not known: so what is lost has to be said.

use memchr::memmem;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::ls_types::{DidChangeTextDocumentParams, DidOpenTextDocumentParams, Uri};

/// What a message that cannot be read was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The text of a document.
    Text(Uri),
    /// The text of some document.
    SomeText,
    /// Nothing that changes a text.
    Other,
}

/// A notification that cannot be read.
pub(crate) struct Unreadable {
    /// What it was about.
    pub(crate) what: Lost,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// Reads the parameters of notifications that change texts, and says what is lost where that fails.
pub(crate) fn check(method: &str, params: Option<&Value>) -> Result<(), Unreadable> {
    match method {
        "textDocument/didOpen" => read::<DidOpenTextDocumentParams>(params),
        "textDocument/didChange" => read::<DidChangeTextDocumentParams>(params),
        _ => Ok(()),
    }
}

fn read<T: DeserializeOwned>(params: Option<&Value>) -> Result<(), Unreadable> {
    let params = params.unwrap_or(&Value::Null);
    let Err(error) = T::deserialize(params) else { return Ok(()) };
    let uri = params.pointer("/textDocument/uri").and_then(|uri| Uri::deserialize(uri).ok());
    Err(Unreadable { what: uri.map_or(Lost::SomeText, Lost::Text), why: error.to_string() })
}

/// What bytes that are no message may have been about.
pub(crate) fn guess(bytes: &[u8]) -> Lost {
    let is_change = [&b"textDocument/didChange\""[..], b"textDocument/didOpen\"", b"contentChanges"];
    if !is_change.iter().any(|name| memmem::find(bytes, name).is_some()) {
        return Lost::Other;
    }
    // The first name of a document, which is that of the change if nothing but the end is missing.
    let uri = memmem::find(bytes, b"\"uri\"").and_then(|at| bytes.get(at + 5..)).and_then(|rest| {
        let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(rest.get(..end)?).ok()?.parse::<Uri>().ok()
    });
    uri.map_or(Lost::SomeText, Lost::Text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lost(method: &str, params: &Value) -> Option<Lost> {
        check(method, Some(params)).err().map(|lost| lost.what)
    }

    #[test]
    fn a_change_that_cannot_be_read_names_its_document() {
        let text = Lost::Text("file:///k".parse().expect("a name"));
        let document = json!({ "uri": "file:///k", "version": 2 });
        let change = "textDocument/didChange";
        assert_eq!(lost(change, &json!({ "textDocument": document, "contentChanges": [] })), None);
        assert_eq!(lost(change, &json!({ "textDocument": document, "contentChanges": 7 })), Some(text.clone()));
        assert_eq!(lost(change, &json!({ "textDocument": document })), Some(text));
        assert_eq!(lost(change, &json!({ "contentChanges": [] })), Some(Lost::SomeText));
        assert_eq!(lost("textDocument/didOpen", &json!([])), Some(Lost::SomeText));
        assert_eq!(lost("textDocument/didSave", &json!([])), None);
    }

    #[test]
    fn bytes_that_may_have_been_a_change_are_one() {
        let cut =
            br#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri": "file:///k","#;
        assert_eq!(guess(cut), Lost::Text("file:///k".parse().expect("a name")));
        assert_eq!(guess(&cut[..cut.len() - 4]), Lost::SomeText);
        assert_eq!(
            guess(br#"{"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///k"}}"#),
            Lost::Other
        );
    }
}
