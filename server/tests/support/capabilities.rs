//! What a client says that it can do.

use serde_json::{Value, json};

/// What a client can do that can do everything: what the server announces only to those who can, it announces here.
pub(crate) fn everything() -> Value {
    let dynamic = json!({ "dynamicRegistration": true });
    let plain = [
        "references",
        "documentHighlight",
        "formatting",
        "rangeFormatting",
        "onTypeFormatting",
        "documentColor",
        "callHierarchy",
        "typeHierarchy",
        "moniker",
        "linkedEditingRange",
        "inlineValue",
        "selectionRange",
        "codeLens",
        "synchronization",
    ];
    let links = ["definition", "typeDefinition", "declaration", "implementation"];
    let mut text = json!({
        "publishDiagnostics": {
            "relatedInformation": true, "versionSupport": true, "codeDescriptionSupport": true, "dataSupport": true,
            "tagSupport": { "valueSet": [1, 2] },
        },
        "diagnostic": {
            "dynamicRegistration": true, "relatedDocumentSupport": true, "relatedInformation": true,
            "codeDescriptionSupport": true, "dataSupport": true,
        },
        "hover": { "dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"] },
        "completion": {
            "dynamicRegistration": true, "contextSupport": true, "insertTextMode": 2,
            "completionItem": {
                "snippetSupport": true, "commitCharactersSupport": true, "deprecatedSupport": true,
                "documentationFormat": ["markdown", "plaintext"], "preselectSupport": true,
                "insertReplaceSupport": true, "labelDetailsSupport": true,
                "resolveSupport": { "properties": ["documentation", "detail", "additionalTextEdits"] },
            },
            "completionList": { "itemDefaults": ["commitCharacters", "editRange", "insertTextFormat", "data"] },
        },
        "signatureHelp": {
            "dynamicRegistration": true, "contextSupport": true,
            "signatureInformation": {
                "documentationFormat": ["markdown", "plaintext"], "activeParameterSupport": true,
                "parameterInformation": { "labelOffsetSupport": true },
            },
        },
        "documentSymbol": {
            "dynamicRegistration": true, "hierarchicalDocumentSymbolSupport": true, "labelSupport": true,
        },
        "documentLink": { "dynamicRegistration": true, "tooltipSupport": true },
        "codeAction": {
            "dynamicRegistration": true, "isPreferredSupport": true, "disabledSupport": true, "dataSupport": true,
            "resolveSupport": { "properties": ["edit", "command"] },
            "codeActionLiteralSupport": {
                "codeActionKind": { "valueSet": ["", "quickfix", "refactor", "source", "source.fixAll"] },
            },
        },
        "rename": { "dynamicRegistration": true, "prepareSupport": true, "honorsChangeAnnotations": true },
        "foldingRange": {
            "dynamicRegistration": true, "lineFoldingOnly": true,
            "foldingRangeKind": { "valueSet": ["comment", "imports", "region"] },
            "foldingRange": { "collapsedText": true },
        },
        "semanticTokens": {
            "dynamicRegistration": true, "requests": { "range": true, "full": { "delta": true } },
            "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"], "overlappingTokenSupport": false,
            "multilineTokenSupport": false, "serverCancelSupport": true, "augmentsSyntaxTokens": true,
        },
        "inlayHint": {
            "dynamicRegistration": true,
            "resolveSupport": { "properties": ["tooltip", "textEdits", "label.tooltip", "label.location"] },
        },
    });
    plain.iter().for_each(|name| text[*name] = dynamic.clone());
    links.iter().for_each(|name| text[*name] = json!({ "dynamicRegistration": true, "linkSupport": true }));
    let refresh = json!({ "refreshSupport": true });
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16", "utf-32"],
            "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] } },
        "window": { "workDoneProgress": true, "showMessage": {}, "showDocument": { "support": true } },
        "workspace": {
            "applyEdit": true, "configuration": true, "workspaceFolders": true,
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] },
            "didChangeConfiguration": dynamic, "executeCommand": dynamic,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "symbol": { "dynamicRegistration": true, "resolveSupport": { "properties": ["location.range"] } },
            "fileOperations": { "dynamicRegistration": true, "didCreate": true, "didRename": true, "didDelete": true },
            "semanticTokens": refresh, "inlayHint": refresh, "codeLens": refresh, "diagnostics": refresh,
            "foldingRange": refresh, "textDocumentContent": { "dynamicRegistration": true },
        },
        "textDocument": text,
        "experimental": { "commands": { "commands": ["fencepost.showReport", "fencepost.showTimeline", "fencepost.showIr", "fencepost.showLinked"] } },
    })
}
