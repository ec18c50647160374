//! The kernels of a document, for lenses and code actions.

use base::TextRange;
use ide::KernelPlace;

use crate::lsp::snapshot::Snapshot;

/// The kernels of a text, by the section of the report that each is in.
pub(crate) fn kernels(snapshot: &Snapshot) -> Vec<KernelPlace> {
    if let Some(document) = snapshot.source.ir() {
        return ide::kernels(document);
    }
    let Some(elaboration) = snapshot.elaboration_now() else { return Vec::new() };
    let mut section = 0;
    let places = elaboration.kernels.iter().filter_map(|kernel| {
        let first = section;
        section += kernel.instances.len();
        let range = elaboration.module.place(kernel.entry.name_range).0;
        let place = KernelPlace { section: first, name: kernel.entry.name.clone(), range };
        (!kernel.instances.is_empty()).then_some(place)
    });
    places.collect()
}

/// Of things that kernels are known by, that of the kernel around an offset: the last whose name stands at or before
/// it, above all of them the first.
pub(crate) fn around<T>(kernels: &[T], name: impl Fn(&T) -> TextRange, offset: u32) -> Option<&T> {
    let before = kernels.iter().filter(|kernel| name(kernel).start <= offset).max_by_key(|kernel| name(kernel).start);
    before.or_else(|| kernels.iter().min_by_key(|kernel| name(kernel).start))
}
