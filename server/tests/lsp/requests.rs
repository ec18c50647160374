//! An example of each request that a server announces, for a document.

use serde_json::{Value, json};

use super::client::range;

/// Capabilities, the requests that they stand for, and what these need beside the document.
const TABLE: &[(&str, &[(&str, Params)])] = &[
    ("hoverProvider", &[("textDocument/hover", Params::Place)]),
    ("definitionProvider", &[("textDocument/definition", Params::Place)]),
    ("typeDefinitionProvider", &[("textDocument/typeDefinition", Params::Place)]),
    ("declarationProvider", &[("textDocument/declaration", Params::Place)]),
    ("implementationProvider", &[("textDocument/implementation", Params::Place)]),
    ("referencesProvider", &[("textDocument/references", Params::References)]),
    ("documentHighlightProvider", &[("textDocument/documentHighlight", Params::Place)]),
    ("documentSymbolProvider", &[("textDocument/documentSymbol", Params::Document)]),
    ("workspaceSymbolProvider", &[("workspace/symbol", Params::Query)]),
    ("foldingRangeProvider", &[("textDocument/foldingRange", Params::Document)]),
    ("selectionRangeProvider", &[("textDocument/selectionRange", Params::Places)]),
    ("linkedEditingRangeProvider", &[("textDocument/linkedEditingRange", Params::Place)]),
    ("inlayHintProvider", &[("textDocument/inlayHint", Params::Range)]),
    ("codeLensProvider", &[("textDocument/codeLens", Params::Document)]),
    ("codeActionProvider", &[("textDocument/codeAction", Params::Action)]),
    ("documentLinkProvider", &[("textDocument/documentLink", Params::Document)]),
    ("completionProvider", &[("textDocument/completion", Params::Place)]),
    ("signatureHelpProvider", &[("textDocument/signatureHelp", Params::Place)]),
    ("callHierarchyProvider", &[("textDocument/prepareCallHierarchy", Params::Place)]),
    ("typeHierarchyProvider", &[("textDocument/prepareTypeHierarchy", Params::Place)]),
    ("monikerProvider", &[("textDocument/moniker", Params::Place)]),
    ("documentFormattingProvider", &[]),
    ("renameProvider", &[("textDocument/rename", Params::Rename)]),
    ("diagnosticProvider", &[("textDocument/diagnostic", Params::Document)]),
    ("semanticTokensProvider", &[("textDocument/semanticTokens/full", Params::Document)]),
    ("executeCommandProvider", &[("workspace/executeCommand", Params::Command)]),
    ("renameProvider.prepareProvider", &[("textDocument/prepareRename", Params::Place)]),
    ("semanticTokensProvider.range", &[("textDocument/semanticTokens/range", Params::Range)]),
    ("diagnosticProvider.workspaceDiagnostics", &[("workspace/diagnostic", Params::Previous)]),
    ("workspace.textDocumentContent", &[("workspace/textDocumentContent", Params::Page)]),
    ("experimental", &[]),
    ("positionEncoding", &[]),
    ("textDocumentSync", &[]),
    ("workspace", &[]),
];

/// What a request is about.
#[derive(Clone, Copy, Debug)]
enum Params {
    Document,
    Place,
    Places,
    References,
    Range,
    Action,
    Query,
    Rename,
    Command,
    Previous,
    Page,
}

impl Params {
    fn make(self, uri: &str, text: &str, at: (usize, usize)) -> Value {
        let document = json!({ "uri": uri });
        let position = json!({ "line": at.0, "character": at.1 });
        let mut place = json!({ "textDocument": document, "position": position });
        let all = range((0, 0), (text.lines().count(), 0));
        match self {
            Params::Document => json!({ "textDocument": document }),
            Params::Place => place,
            Params::Places => json!({ "textDocument": document, "positions": [position] }),
            Params::References => {
                place["context"] = json!({ "includeDeclaration": true });
                place
            }
            Params::Range => json!({ "textDocument": document, "range": all }),
            Params::Action => json!({ "textDocument": document, "range": all, "context": { "diagnostics": [] } }),
            Params::Query => json!({ "query": "a" }),
            Params::Rename => {
                place["newName"] = json!("renamed");
                place
            }
            // Nothing is run: the document is not open.
            Params::Command => {
                json!({ "command": "fencepost.runKernel", "arguments": [{ "uri": "file:///nowhere.ttgir" }] })
            }
            Params::Previous => json!({ "previousResultIds": [] }),
            Params::Page => json!({ "uri": format!("fencepost-report:/k.txt?uri={uri}") }),
        }
    }
}

/// A place in the text that a word of a barrier stands at.
fn some_place(text: &str) -> (usize, usize) {
    let words = ["wait_barrier %", "mbarrier.wait(", "init_barrier %"];
    let found = words.iter().find_map(|word| Some((text.find(word)? + word.len(), *word)));
    let (at, _) = found.unwrap_or((0, ""));
    let before = &text[..at];
    (before.matches('\n').count(), at - before.rfind('\n').map_or(0, |end| end + 1))
}

/// The requests of a server with these capabilities, about a document with this text.
pub(crate) fn examples(capabilities: &Value, uri: &str, text: &str) -> Vec<(String, Value)> {
    examples_at(capabilities, uri, text, some_place(text))
}

/// The same about a place.
pub(crate) fn examples_at(capabilities: &Value, uri: &str, text: &str, at: (usize, usize)) -> Vec<(String, Value)> {
    let on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    for (name, value) in capabilities.as_object().expect("capabilities") {
        let known = TABLE.iter().any(|(capability, _)| capability == name);
        assert!(known || !on(value), "there is no example of a request for {name}");
    }
    let mut all = Vec::new();
    for (capability, requests) in TABLE {
        let pointer = format!("/{}", capability.replace('.', "/"));
        if capabilities.pointer(&pointer).is_some_and(on) {
            let made = requests.iter().map(|(method, params)| ((*method).to_owned(), params.make(uri, text, at)));
            all.extend(made);
        }
    }
    let beyond = capabilities.pointer("/experimental/fencepost/requests").and_then(Value::as_array);
    for method in beyond.into_iter().flatten().filter_map(Value::as_str) {
        let params = match method {
            "fencepost/explain" => json!({ "kind": "deadlock" }),
            "fencepost/timeline" => json!({ "uri": uri, "kernel": "kernel", "section": 1 }),
            "fencepost/report" | "fencepost/reportText" => json!({ "uri": uri }),
            // The rest is about a place of a document.
            _ => {
                let mut place = Params::Place.make(uri, text, at);
                place["uri"] = json!(uri);
                place
            }
        };
        all.push((method.to_owned(), params));
    }
    all
}
