//! A place of a Python file: the word there, and what is known of the file.

use base::TextRange;
use engine::instances::Elaboration;
use gluon::Version;
use python::syntax::{Module, Sources, range};
use ruff_text_size::Ranged;

/// A place of a file, and what is known of the file.
pub(super) struct Place<'a> {
    pub(super) module: &'a Module,
    /// The kernels, where they are elaborated.
    pub(super) of: Option<&'a Elaboration>,
    pub(super) sources: &'a dyn Sources,
    pub(super) offset: u32,
    /// The word there.
    pub(super) word: TextRange,
    /// The word with the names and dots in front of it; `None` where what is in front is no name.
    pub(super) dotted: Option<String>,
    pub(super) version: Version,
}

impl<'a> Place<'a> {
    pub(super) fn name(&self) -> &'a str {
        let module: &'a Module = self.module;
        self.word.of(module.text())
    }
}

/// The source of a node.
pub(super) fn source<'m>(module: &'m Module, node: &impl Ranged) -> &'m str {
    module.slice(range(node))
}

fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// `gl.nvidia.hopper.mbarrier.wait` of a word at its end.
pub(super) fn dotted(text: &str, word: TextRange) -> Option<String> {
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
pub(super) fn in_comment(text: &str, offset: u32) -> bool {
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
