//! The kernels of a document, for lenses and code actions.

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
