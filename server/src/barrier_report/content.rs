//! What a file has that can be reported.

use engine::instances::Elaboration;
use ttgir::Document;

/// Where kernels come from.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    /// Sections of TTGIR.
    Ir(&'a Document),
    /// Python, elaborated.
    Python(&'a Elaboration),
}

/// The instances of all kernels: numbers of the kernel and of the instance.
pub(crate) fn instances(elaboration: &Elaboration) -> Vec<(usize, usize)> {
    let kernels = elaboration.kernels.iter().enumerate();
    kernels.flat_map(|(at, kernel)| (0..kernel.instances.len()).map(move |number| (at, number))).collect()
}
