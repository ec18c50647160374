//! `textDocument/signatureHelp`: the form of the op or call at a position, and the part of it that the position is in.

use base::TextRange;
use engine::Source;
use ide::completion::{self, Signature};
use tower_lsp::ls_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, Position, SignatureHelp,
    SignatureHelpContext, SignatureHelpTriggerKind, SignatureInformation,
};

use crate::lsp::snapshot::Snapshot;

/// Characters behind which the client asks: a blank in TTGIR, an opening bracket in Python, a comma in both.
pub(crate) const TRIGGERS: [&str; 3] = ["(", ",", " "];

/// The signature at a position.
pub(crate) fn signature_help(
    snapshot: &Snapshot,
    position: Position,
    context: Option<&SignatureHelpContext>,
) -> Option<SignatureHelp> {
    let offset = snapshot.mapper().offset(position);
    let found = match &*snapshot.source {
        Source::Ir(document) => completion::signature(document, offset)?,
        Source::Python(file) => {
            // A blank opens nothing here.
            let blank = context.is_some_and(|context| {
                context.trigger_kind == SignatureHelpTriggerKind::TRIGGER_CHARACTER
                    && context.trigger_character.as_deref() == Some(" ")
                    && !context.is_retrigger
            });
            if blank {
                return None;
            }
            snapshot.with_python_setting(|setting| ide::python::signature(file, setting, offset))?
        }
        Source::Other(_) => return None,
    };
    Some(answer(snapshot, found))
}

fn answer(snapshot: &Snapshot, found: Signature) -> SignatureHelp {
    let markup = |value: String| {
        let kind = if snapshot.client.markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
        (!value.is_empty()).then_some(Documentation::MarkupContent(MarkupContent { kind, value }))
    };
    let label = |range: TextRange| {
        if snapshot.client.label_offsets {
            ParameterLabel::LabelOffsets([units(&found.label, range.start), units(&found.label, range.end)])
        } else {
            ParameterLabel::Simple(range.of(&found.label).to_owned())
        }
    };
    let parts = found.parts.iter();
    let parameters =
        parts.map(|part| ParameterInformation { label: label(part.range), documentation: markup(part.doc.clone()) });
    let parameters = parameters.collect();
    // A part that does not exist marks none: without a number clients mark the first.
    let active = Some(found.active.unwrap_or(found.parts.len()) as u32);
    let signature = SignatureInformation {
        label: found.label.clone(),
        documentation: markup(found.doc.clone()),
        parameters: Some(parameters),
        active_parameter: active,
    };
    SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: active }
}

/// A byte offset in UTF-16, in which labels are counted whatever positions are.
fn units(text: &str, offset: u32) -> u32 {
    text.get(..offset as usize).map_or(0, |text| text.encode_utf16().count() as u32)
}
