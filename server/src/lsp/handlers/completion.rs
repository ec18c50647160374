//! `textDocument/completion` and `completionItem/resolve`.

use engine::Source;
use ide::completion::{self, CodeCompletion, CompletionKind as Kind, Completions, DocKey};
use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CompletionContext, CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit,
    CompletionTriggerKind, Documentation, InsertReplaceEdit, MarkupContent, MarkupKind, Position, TextEdit,
};

use crate::lsp::snapshot::Snapshot;

/// Characters behind which TTGIR is asked for: they begin a name, or go on with one.
const TTGIR: &[&str] = &["%", "#", "!", "@", "^", "."];

/// Those of Python: a member, the value of a keyword.
const PYTHON: &[&str] = &[".", "="];

/// Opens the kinds of a suppression, in comments of both.
const KINDS: &str = "[";

/// Those of `fencepost.toml`: a table, a key with dots, a value.
const SETTINGS: &[&str] = &["[", ".", "="];

/// Characters behind which the client asks; a server has one list for all languages.
pub(crate) fn trigger_characters() -> Vec<String> {
    let more = PYTHON.iter().filter(|character| !TTGIR.contains(character));
    TTGIR.iter().chain(more).chain(&[KINDS]).map(|character| (*character).to_owned()).collect()
}

/// What may stand at a position.
pub(crate) fn completion(
    snapshot: &Snapshot,
    position: Position,
    context: Option<&CompletionContext>,
) -> Option<CompletionResponse> {
    let typed = context.filter(|context| context.trigger_kind == CompletionTriggerKind::TRIGGER_CHARACTER);
    let typed = typed.and_then(|context| context.trigger_character.as_deref());
    let offset = snapshot.mapper().offset(position);
    let found = match &*snapshot.source {
        Source::Ir(document) => {
            if typed.is_some_and(|typed| typed != KINDS && !TTGIR.contains(&typed)) {
                return None;
            }
            completion::completions(document, offset)?
        }
        Source::Python(file) => {
            if typed.is_some_and(|typed| typed != KINDS && !PYTHON.contains(&typed)) {
                return None;
            }
            snapshot.with_python_setting(|setting| ide::python::completions(file, setting, offset))?
        }
        Source::Other(text) => {
            let asked = typed.is_none_or(|typed| SETTINGS.contains(&typed));
            return asked.then(|| settings_list(snapshot, settings::completions(text, offset)));
        }
    };
    let kinds = || found.items.iter().any(|item| matches!(item.key, Some(DocKey::Finding(_))));
    if typed == Some(KINDS) && !kinds() {
        return None;
    }
    Some(list(snapshot, found))
}

/// What may stand at a place of `fencepost.toml`; the documentation of a setting is a sentence, so it comes at once.
fn settings_list(snapshot: &Snapshot, found: Vec<settings::SettingCompletion>) -> CompletionResponse {
    let item = |(at, item): (usize, settings::SettingCompletion)| CompletionItem {
        kind: Some(if item.key { CompletionItemKind::PROPERTY } else { CompletionItemKind::VALUE }),
        sort_text: Some(format!("{at:04}")),
        filter_text: Some(item.label.clone()),
        label: item.label,
        documentation: Some(item.documentation).filter(|it| !it.is_empty()).map(|text| {
            match snapshot.client.markdown {
                true => documentation(text, true),
                false => documentation(text.replace("**", "").replace('`', ""), false),
            }
        }),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range: snapshot.mapper().range(item.range),
            new_text: item.text,
        })),
        ..CompletionItem::default()
    };
    let items = found.into_iter().enumerate().map(item).collect();
    CompletionResponse::List(CompletionList { is_incomplete: false, items })
}

fn documentation(value: String, markdown: bool) -> Documentation {
    let kind = if markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
    Documentation::MarkupContent(MarkupContent { kind, value })
}

fn list(snapshot: &Snapshot, found: Completions) -> CompletionResponse {
    let mapper = snapshot.mapper();
    let (insert, replace) = (mapper.range(found.insert), mapper.range(found.replace));
    let item = |(at, item): (usize, CodeCompletion)| {
        let new_text = item.insert.clone().unwrap_or_else(|| item.label.clone());
        let edit = if snapshot.client.insert_replace {
            CompletionTextEdit::InsertAndReplace(InsertReplaceEdit { new_text, insert, replace })
        } else {
            CompletionTextEdit::Edit(TextEdit { range: insert, new_text })
        };
        CompletionItem {
            kind: Some(kind(item.kind)),
            detail: (!item.detail.is_empty()).then_some(item.detail),
            // The order is the engine's.
            sort_text: Some(format!("{at:04}")),
            filter_text: Some(item.label.clone()),
            label: item.label,
            text_edit: Some(edit),
            data: item.key.as_ref().map(data),
            ..CompletionItem::default()
        }
    };
    let items = found.items.into_iter().enumerate().map(item).collect();
    CompletionResponse::List(CompletionList { is_incomplete: found.incomplete, items })
}

/// The same item with its documentation.
pub(crate) fn resolve(mut item: CompletionItem, markdown: bool) -> CompletionItem {
    let doc = item.data.as_ref().and_then(key).as_ref().and_then(completion::documentation);
    item.documentation = doc.map(|text| documentation(text, markdown));
    item
}

fn data(key: &DocKey) -> Value {
    match key {
        DocKey::Op(name) => json!({ "op": name }),
        DocKey::Builtin(path) => json!({ "builtin": path }),
        DocKey::Finding(name) => json!({ "finding": name }),
    }
}

fn key(data: &Value) -> Option<DocKey> {
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    let op = text("op").map(DocKey::Op);
    op.or_else(|| text("builtin").map(DocKey::Builtin)).or_else(|| text("finding").map(DocKey::Finding))
}

fn kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Op | Kind::Function => CompletionItemKind::FUNCTION,
        Kind::Value | Kind::Parameter => CompletionItemKind::VARIABLE,
        Kind::Attribute | Kind::Constant => CompletionItemKind::CONSTANT,
        Kind::Type => CompletionItemKind::TYPE_PARAMETER,
        Kind::Method => CompletionItemKind::METHOD,
        Kind::Class => CompletionItemKind::CLASS,
        Kind::Module => CompletionItemKind::MODULE,
        Kind::Property => CompletionItemKind::PROPERTY,
        Kind::Word | Kind::Finding => CompletionItemKind::ENUM_MEMBER,
        Kind::Keyword => CompletionItemKind::KEYWORD,
        Kind::Label => CompletionItemKind::REFERENCE,
    }
}
