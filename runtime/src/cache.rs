//! What Triton compiled before: its cache holds the TTGIR of every kernel that ran, with locations.
//!
//! A kernel lies in a folder of its own, `<key>/<kernel>.ttgir` beside `<kernel>.json` with the options.
//! Arguments that were constants are not recorded; the types of the others stand in the TTGIR.

use crate::limits::triton_cache::{BYTES, FOLDERS};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The kernels of a cache, by name.
#[derive(Clone, Debug, Default)]
pub struct KernelCache {
    kernels: BTreeMap<String, Vec<CacheEntry>>,
    /// Whether there were more folders than are looked at.
    pub cut: bool,
}

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// The file with its TTGIR.
    pub ttgir: PathBuf,
    /// When it was written.
    pub written: SystemTime,
}

/// The texts of an [`CacheEntry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedTexts {
    /// The text of the TTGIR module.
    pub ttgir: String,
    /// The options it was compiled with, as JSON; empty where the file is missing.
    pub options: String,
}

/// Where Triton keeps its cache: `TRITON_CACHE_DIR`, or `.triton/cache` in the home folder.
pub fn folder(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    if let Some(folder) = variable("TRITON_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return Some(folder.into());
    }
    let home = variable("TRITON_HOME").or_else(|| variable("HOME")).or_else(|| variable("USERPROFILE"))?;
    Some(Path::new(&home).join(".triton").join("cache"))
}

impl KernelCache {
    /// Lists a cache; a folder that is not there is an empty one.
    pub fn list(folder: &Path) -> io::Result<KernelCache> {
        let mut cache = KernelCache::default();
        let folders = match fs::read_dir(folder) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cache),
            Err(error) => return Err(error),
        };
        for (at, key) in folders.flatten().enumerate() {
            if at == FOLDERS {
                cache.cut = true;
                break;
            }
            // A folder that is being written or was just removed is not there yet, or any more.
            let Ok(files) = fs::read_dir(key.path()) else { continue };
            for file in files.flatten() {
                cache.note(&file);
            }
        }
        for entries in cache.kernels.values_mut() {
            entries.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.ttgir.cmp(&b.ttgir)));
        }
        Ok(cache)
    }

    fn note(&mut self, file: &fs::DirEntry) {
        let path = file.path();
        if path.extension() != Some(OsStr::new("ttgir")) {
            return;
        }
        let (Some(name), Ok(data)) = (path.file_stem().and_then(OsStr::to_str), file.metadata()) else { return };
        if data.is_file() && data.len() <= BYTES {
            let written = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            self.kernels.entry(name.to_owned()).or_default().push(CacheEntry { ttgir: path, written });
        }
    }

    /// All kernels, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[CacheEntry])> {
        self.kernels.iter().map(|(name, entries)| (name.as_str(), entries.as_slice()))
    }

    /// The kernels of this name, newest first.
    pub fn kernels(&self, name: &str) -> &[CacheEntry] {
        self.kernels.get(name).map_or(&[], Vec::as_slice)
    }
}

impl CacheEntry {
    /// Reads the files of the kernel.
    pub fn read(&self) -> io::Result<CachedTexts> {
        let ttgir = fs::read_to_string(&self.ttgir)?;
        let options = fs::read_to_string(self.ttgir.with_extension("json")).unwrap_or_default();
        Ok(CachedTexts { ttgir, options })
    }
}
