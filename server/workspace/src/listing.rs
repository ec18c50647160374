//! The files of a workspace that are analysed though nobody has opened them, within bounds.

use std::path::{Path, PathBuf};

use base::Cancel;
use engine::is_python;
use rustc_hash::FxHashSet;

use super::file_system::{FileSystem, Stamp};
use crate::limits::diagnostics::{BYTES as MAX_BYTES, ENTRIES as MAX_ENTRIES, FILES as MAX_FILES};

/// The files, in the order of their folders and names.
#[derive(Debug, Default)]
pub struct Listing {
    /// Each once, with its stamp.
    pub files: Vec<(PathBuf, Stamp)>,
    /// Whether there are more than are looked at.
    pub cut: bool,
}

/// Lists what may hold kernels, or settings, below folders.
pub fn list(disk: &dyn FileSystem, folders: &[PathBuf], cancel: &Cancel<'_>) -> Listing {
    let (mut listing, mut entries) = (Listing::default(), 0);
    let mut seen = FxHashSet::default();
    for folder in folders {
        for entry in disk.walk_kernels(folder) {
            entries += 1;
            if cancel.is_cancelled() {
                return listing;
            }
            if entries > MAX_ENTRIES || listing.files.len() >= MAX_FILES {
                listing.cut = true;
                return listing;
            }
            let Some(path) = entry.filter(|path| seen.insert(path.clone())) else { continue };
            let Some(stamp) = disk.stamp(&path).filter(|stamp| stamp.size <= MAX_BYTES) else { continue };
            listing.files.push((path, stamp));
        }
    }
    listing
}

/// The text of a listed file, where it can hold something to say.
pub fn read(disk: &dyn FileSystem, path: &Path) -> Option<String> {
    let text = disk.read(path).ok()?;
    (!is_python(&path.to_string_lossy()) || python::syntax::mentions_kernels(&text)).then_some(text)
}
