//! The signature of the call around a place in Python, and the parameter that the place is about.

use base::TextRange;
use python::syntax::CurrentTree;
use specialize::Imports;

use super::FileContext;
use super::callee::Callee;
use super::cursor::{Cursor, OpenCall, Where};
use super::functions::Definitions;
use super::scene::Scene;
use super::tensors;
use super::things::{Library, Things};
use crate::completion::item::{Signature, SignaturePart};
use engine::instances::PythonFile;

/// The signature of the innermost call at an offset that is one of a builtin, helper or class of kernels.
pub fn signature(file: &PythonFile, setting: &FileContext<'_>, offset: u32) -> Option<Signature> {
    if !file.mentions_kernels() {
        return None;
    }
    let cursor = Cursor::at(file.text(), offset)?;
    if cursor.at == Where::Comment || cursor.calls.is_empty() {
        return None;
    }
    with_scene(file, setting, |scene| {
        // The innermost call alone: what is around a call that others know would hide theirs.
        let call = cursor.calls.first()?;
        Some(shown(&tensors::callee(scene, call, offset)?, call))
    })
}

/// Asks what is known of a file's present text.
pub(super) fn with_scene<R>(
    file: &PythonFile,
    setting: &FileContext<'_>,
    ask: impl FnOnce(&Scene<'_>) -> Option<R>,
) -> Option<R> {
    let present = CurrentTree::of(file.module());
    let names = Imports::of(file.module(), setting.sources);
    let definitions = Definitions::of(&present, &names);
    let library = Library::new(&names, setting.version);
    let things = Things::of(&definitions, &library);
    ask(&Scene { file, setting, names: &names, definitions: &definitions, things: &things })
}

fn shown(callee: &Callee, call: &OpenCall) -> Signature {
    let mut label = format!("{}(", callee.name);
    let mut parts = Vec::new();
    for (at, param) in callee.params.iter().enumerate() {
        if at > 0 {
            label.push_str(", ");
        }
        let start = label.len() as u32;
        label.push_str(&param.text);
        parts.push(SignaturePart { range: TextRange::new(start, label.len() as u32), doc: String::new() });
    }
    label.push(')');
    Signature { label, doc: callee.doc.clone(), parts, active: active(callee, call) }
}

/// The number of the parameter that the argument at the place gives.
pub(super) fn active(callee: &Callee, call: &OpenCall) -> Option<usize> {
    let mut params = callee.params.iter();
    if let Some(keyword) = &call.keyword {
        let named = params.clone().position(|param| !param.collects && param.name == *keyword);
        return named.or_else(|| params.position(|param| param.text.starts_with("**")));
    }
    // Behind a keyword nothing is given by its place.
    if call.place > call.positional {
        return None;
    }
    for (at, param) in callee.params.iter().enumerate() {
        if param.keyword_only || param.text == "*" {
            return None;
        }
        if at == call.place || param.collects {
            return Some(at);
        }
    }
    None
}
