//! Triton's module paths, and which module takes names from which other.
//!
//! Deviation: a module that takes some names of another is said to take all of them, save those in
//! [`HIDDEN`].

use std::borrow::Cow;

use crate::spec::Version;

/// How a library's modules are called, and how this room calls them, longest first.
const SPELLINGS: &[(&str, &str)] = &[
    ("triton.experimental.gluon.language", "gl"),
    ("triton.experimental.gluon", "gluon"),
    ("triton.language.extra.libdevice", "gl.extra.libdevice"),
    ("triton.language.extra.cuda.libdevice", "gl.extra.libdevice"),
    ("triton.language.extra.hip.libdevice", "gl.extra.libdevice"),
    ("triton.language.extra", "tl.extra"),
    ("triton.language", "tl"),
];

/// Modules, the release that brings them, and where they take names from that they do not define.
const MODULES: &[(&str, u8, &[&str])] = &[
    ("triton", 4, &[]),
    ("triton.experimental", 4, &[]),
    ("gluon", 4, &[]),
    ("tl", 4, &["gl"]),
    ("tl.core", 4, &["tl", "gl"]),
    ("tl.extra", 4, &[]),
    ("gl", 4, &[]),
    ("gl._core", 4, &["gl"]),
    ("gl._layouts", 4, &["gl"]),
    ("gl._standard", 4, &["gl"]),
    ("gl._math", 4, &["gl"]),
    ("gl.extra", 5, &[]),
    ("gl.fpsan", 9, &[]),
    ("gl.nvidia", 4, &[]),
    ("gl.nvidia.ampere", 5, &[]),
    ("gl.nvidia.ampere.async_copy", 5, &[]),
    ("gl.nvidia.ampere.mbarrier", 5, &[]),
    ("gl.nvidia.hopper", 4, &["gl.nvidia.ampere"]),
    ("gl.nvidia.hopper.async_copy", 5, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.hopper.mbarrier", 4, &["gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.hopper.tma", 4, &[]),
    ("gl.nvidia.hopper.cluster", 7, &[]),
    ("gl.nvidia.blackwell", 4, &["gl.nvidia.hopper", "gl.nvidia.ampere"]),
    ("gl.nvidia.blackwell.async_copy", 5, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.blackwell.mbarrier", 4, &["gl.nvidia.hopper.mbarrier", "gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.blackwell.tma", 4, &["gl.nvidia.hopper.tma"]),
    ("gl.nvidia.blackwell.cluster", 7, &["gl.nvidia.hopper.cluster"]),
    ("gl.nvidia.blackwell.clc", 8, &[]),
    ("gl.nvidia.rubin", 8, &["gl.nvidia.blackwell", "gl.nvidia.hopper", "gl.nvidia.ampere"]),
    ("gl.nvidia.rubin.async_copy", 8, &["gl.nvidia.ampere.async_copy"]),
    ("gl.nvidia.rubin.mbarrier", 8, &["gl.nvidia.hopper.mbarrier", "gl.nvidia.ampere.mbarrier"]),
    ("gl.nvidia.rubin.tma", 8, &["gl.nvidia.blackwell.tma", "gl.nvidia.hopper.tma"]),
    ("gl.nvidia.rubin.cluster", 8, &["gl.nvidia.hopper.cluster"]),
    ("gl.nvidia.rubin.clc", 8, &["gl.nvidia.blackwell.clc"]),
    ("gl.amd", 5, &[]),
    ("gl.amd.cdna3", 5, &[]),
    ("gl.amd.cdna4", 5, &["gl.amd.cdna3"]),
    ("gl.amd.cdna4.async_copy", 5, &[]),
    ("gl.amd.rdna3", 6, &[]),
    ("gl.amd.rdna4", 6, &[]),
    ("gl.amd.cdna5", 9, &["gl.amd.cdna3"]),
    ("gl.amd.cdna5.async_copy", 9, &["gl.amd.cdna4.async_copy"]),
    ("gl.amd.cdna5.mbarrier", 9, &[]),
    ("gl.amd.cdna5.cluster", 9, &[]),
    ("gl.amd.cdna5.tdm", 9, &[]),
    ("gl.amd.gfx1250", 6, &["gl.amd.cdna5", "gl.amd.cdna3"]),
    ("gl.amd.gfx1250.async_copy", 6, &["gl.amd.cdna5.async_copy", "gl.amd.cdna4.async_copy"]),
    ("gl.amd.gfx1250.mbarrier", 6, &["gl.amd.cdna5.mbarrier"]),
    ("gl.amd.gfx1250.cluster", 7, &["gl.amd.cdna5.cluster"]),
    ("gl.amd.gfx1250.tdm", 6, &["gl.amd.cdna5.tdm"]),
    ("gl.amd.hint", 9, &[]),
    ("gl.amd.slice", 8, &[]),
    ("gl.amd.warp_pipeline", 6, &["gl.amd"]),
    // Python's own; the file that knows their functions is `python`.
    ("math", 0, &[]),
    ("functools", 0, &[]),
    ("itertools", 0, &[]),
    ("operator", 0, &[]),
    ("dataclasses", 0, &[]),
    ("enum", 0, &[]),
    ("typing", 0, &[]),
    ("copy", 0, &[]),
    ("os", 0, &[]),
    ("os.path", 0, &[]),
    ("sys", 0, &[]),
    ("importlib", 0, &[]),
    ("importlib.util", 0, &[]),
    ("torch", 0, &[]),
    ("pytest", 0, &[]),
];

/// What a module does not take although it takes the rest.
const HIDDEN: &[(&str, &[&str])] = &[
    ("gl.nvidia.blackwell", &["warpgroup_mma", "warpgroup_mma_wait", "warpgroup_mma_init"]),
    ("gl.nvidia.rubin", &["warpgroup_mma", "warpgroup_mma_wait", "warpgroup_mma_init"]),
];

/// A full name in this room's spelling.
pub fn canonical(path: &str) -> Cow<'_, str> {
    for (theirs, ours) in SPELLINGS {
        match path.strip_prefix(theirs) {
            Some("") => return Cow::Borrowed(ours),
            Some(rest) if rest.starts_with('.') => return Cow::Owned(format!("{ours}{rest}")),
            _ => {}
        }
    }
    Cow::Borrowed(path)
}

/// Whether a name in this room's spelling is a module of this release.
pub fn is_module(path: &str, version: Version) -> bool {
    MODULES.iter().any(|(name, since, _)| *name == path && Version(3, *since) <= version)
}

/// Asks a module for a name, then those that it takes names from.
pub fn search<T>(owner: &str, name: &str, mut ask: impl FnMut(&str, &str) -> Option<T>) -> Option<T> {
    if let Some(found) = ask(owner, name) {
        return Some(found);
    }
    if HIDDEN.iter().any(|(of, names)| *of == owner && names.contains(&name)) {
        return None;
    }
    let from = MODULES.iter().find(|(module, ..)| *module == owner).map_or(&[][..], |(.., from)| from);
    from.iter().find_map(|from| ask(from, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_meet() {
        assert_eq!(canonical("triton.experimental.gluon.language"), "gl");
        assert_eq!(canonical("triton.experimental.gluon.language.nvidia.hopper"), "gl.nvidia.hopper");
        assert_eq!(canonical("triton.experimental.gluon.jit"), "gluon.jit");
        assert_eq!(canonical("triton.languages"), "triton.languages");
    }

    #[test]
    fn names_are_taken_from_modules_that_exist() {
        for (module, _, from) in MODULES {
            for other in *from {
                assert!(MODULES.iter().any(|(name, ..)| name == other), "{module} takes from {other}");
            }
        }
    }
}
