//! The cluster that a module asks for.

/// What the module says of clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ctas {
    /// CTAs that one program runs in (`ttg.num-ctas`).
    pub(super) program: u16,
    /// CTAs of the cluster.
    pub(super) cluster: u16,
    /// CTAs along x, where the cluster is one of programs.
    pub(super) along_x: u16,
    /// Each CTA touches its own memory and barriers only, even in a multicast (AMD).
    pub(super) apart: bool,
    /// Tensor cores work in pairs of CTAs (`ttng.two-ctas`).
    pub(super) pairs: bool,
    /// Each CTA initialises its own copy of every barrier and waits on that (Triton up to 3.6).
    pub(super) own_barriers: bool,
    /// The target has tensor memory.
    pub(super) tensor_memory: bool,
    /// Descriptors that the host makes are tensor maps of NVIDIA's driver.
    pub(super) tensor_maps: bool,
}

impl Default for Ctas {
    fn default() -> Ctas {
        Ctas {
            program: 1,
            cluster: 1,
            along_x: 1,
            apart: false,
            pairs: false,
            own_barriers: false,
            tensor_memory: false,
            tensor_maps: false,
        }
    }
}
