//! Where a document's kernels are, for what editors show at them.

use super::EAGER_SECTIONS;
use base::TextRange;
use lower::kernel_names;
use ttgir::{Document, IrLevel};

/// A kernel of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPlace {
    /// Index of its section.
    pub section: usize,
    /// Its name, without `@`.
    pub name: String,
    /// Where the name stands.
    pub range: TextRange,
}

/// The kernels of a document; of a long dump those in sections that were looked at before.
pub fn kernels(document: &Document) -> Vec<KernelPlace> {
    let sections = document.sections();
    let eager = sections.len() <= EAGER_SECTIONS;
    let mut places = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        if section.level() == IrLevel::Llvm || !(eager || section.is_read()) {
            continue;
        }
        for (name, range) in kernel_names(section.tree()) {
            let (start, end) = (range.start + section.offset(), range.end + section.offset());
            places.push(KernelPlace { section: at, name, range: TextRange::new(start, end) });
        }
    }
    places
}
