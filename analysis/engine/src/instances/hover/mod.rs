//! What stands at a place of a Python file: a barrier or buffer of a kernel, a builtin, a helper, a layout.
//!
//! What a name means is read off the text and its imports; what it is in a kernel off an elaborated instance, the first
//! of its kernel that reaches the place.

mod builtin;
mod helper;
mod layout;
mod numbers;
#[cfg(test)]
mod tests;
mod value;

pub(super) use value::found;

use super::{Elaboration, PythonFile};
use crate::ide::Hover;
use base::TextRange;
use gluon::Version;
use python::syntax::{Module, Sources};

/// A place of a file, and what is known of the file.
struct Place<'a> {
    module: &'a Module,
    /// The kernels, where they are elaborated.
    of: Option<&'a Elaboration>,
    sources: &'a dyn Sources,
    offset: u32,
    /// The word there.
    word: TextRange,
    /// The word with the names and dots in front of it; `None` where what is in front is no name.
    dotted: Option<String>,
    version: Version,
}

impl<'a> Place<'a> {
    fn name(&self) -> &'a str {
        let module: &'a Module = self.module;
        self.word.of(module.text())
    }
}

/// The hover at an offset of a file's text.
pub fn hover(file: &PythonFile, of: Option<&Elaboration>, sources: &dyn Sources, offset: u32) -> Option<Hover> {
    let module = file.module();
    let text = module.text();
    if !file.mentions_kernels() || in_comment(text, offset) {
        return None;
    }
    let instances = of.into_iter().flat_map(|of| &of.kernels).flat_map(|kernel| &kernel.instances);
    let version = instances.map(|known| known.instance.spec.version).next().unwrap_or_default();
    let of_value = || of.and_then(|of| value::of_value(of, offset));
    let Some(word) = word(text, offset) else { return of_value() };
    let place = Place { module, of, sources, offset, word, dotted: dotted(text, word), version };
    let mut hover = builtin::hover(&place)
        .or_else(|| of.and_then(|of| value::of_variable(of, offset)))
        .or_else(|| helper::hover(&place))
        .or_else(|| layout::of_variable(&place))
        .or_else(|| numbers::of_parameter(&place))
        .or_else(of_value)?;
    if hover.kernel.is_none() {
        let around = of.and_then(|of| of.kernels.iter().find(|kernel| kernel.entry.range.touches(offset)));
        hover.kernel = around.map(|kernel| module.place(kernel.entry.name_range).0);
    }
    Some(hover)
}

/// The identifier around an offset.
pub(super) fn word(text: &str, offset: u32) -> Option<TextRange> {
    let bytes = text.as_bytes();
    let at = (offset as usize).min(bytes.len());
    let start = at - bytes.get(..at)?.iter().rev().take_while(|byte| is_name(byte)).count();
    let end = at + bytes.get(at..)?.iter().take_while(|byte| is_name(byte)).count();
    let range = TextRange::new(start as u32, end as u32);
    let name = range.of(text);
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(range)
}

fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// `gl.nvidia.hopper.mbarrier.wait` of a word at its end.
fn dotted(text: &str, word: TextRange) -> Option<String> {
    let bytes = text.as_bytes();
    let mut start = word.start as usize;
    while start > 0 && bytes.get(start - 1) == Some(&b'.') {
        let end = start - 1;
        let name = bytes.get(..end)?.iter().rev().take_while(|byte| is_name(byte)).count();
        if name == 0 {
            return None;
        }
        start = end - name;
    }
    text.get(start..word.end as usize).map(str::to_owned)
}

/// Whether a place is behind a `#` that is in no string of its line.
fn in_comment(text: &str, offset: u32) -> bool {
    let Some(before) = text.get(..offset as usize) else { return false };
    let line = before.rsplit('\n').next().unwrap_or("");
    let mut quote = None;
    for byte in line.bytes() {
        match (quote, byte) {
            (None, b'#') => return true,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    false
}
