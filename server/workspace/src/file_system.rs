//! The file system as the workspace uses it, so that a test can put a slow one in its place.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::encoding::read_text;

/// Folders that hold no launches of the user's.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "__pycache__", "site-packages", "build", "dist", "target"];

/// What tells two versions of a file apart without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// When it was last written, where the file system says so.
    pub modified: Option<SystemTime>,
}

/// Where files come from. Every call may block for as long as the disk takes.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// The stamp of a regular file; `None` where there is none.
    fn stamp(&self, path: &Path) -> Option<Stamp>;

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, or is no text.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Why the text of a file cannot be had, in words, although something stands at its path; `None` where it can, or
    /// where nothing is there.
    fn unreadable(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Walks a folder in the order of names. One item is one entry of a directory: the path of a Python file,
    /// or `None` for anything else, so that the caller can count what it has looked at.
    fn walk(&self, root: &Path) -> Box<dyn Iterator<Item = Option<PathBuf>> + '_>;

    /// Walks a folder like [`FileSystem::walk`], for all files that are analysed: those of Python, TTGIR and settings.
    fn walk_kernels(&self, root: &Path) -> Box<dyn Iterator<Item = Option<PathBuf>> + '_> {
        self.walk(root)
    }

    /// Whether a file at this path below a root is one that [`FileSystem::walk`] gives.
    fn is_wanted(&self, below: &Path) -> bool {
        let is_python = below.extension().is_some_and(|extension| extension == "py");
        let mut folders = below.parent().into_iter().flat_map(Path::components);
        is_python
            && is_wanted_name(below.file_name().unwrap_or_default())
            && folders.all(|folder| is_wanted_name(folder.as_os_str()))
    }
}

/// Whether a walk looks at a folder or file of this name.
pub(super) fn is_wanted_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| !name.starts_with('.') && !SKIPPED_FOLDERS.contains(&name))
}

/// The disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl FileSystem for Disk {
    fn stamp(&self, path: &Path) -> Option<Stamp> {
        let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Stamp { size: data.len(), modified: data.modified().ok() })
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        read_text(path)
    }

    fn unreadable(&self, path: &Path) -> Option<String> {
        let error = match fs::metadata(path) {
            Ok(data) if data.is_dir() => return Some("it is a directory".to_owned()),
            Ok(_) => read_text(path).err()?,
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            io::ErrorKind::InvalidData => Some("it is not UTF-8".to_owned()),
            io::ErrorKind::PermissionDenied => Some("permission denied".to_owned()),
            _ => Some(error.to_string()),
        }
    }

    fn walk(&self, root: &Path) -> Box<dyn Iterator<Item = Option<PathBuf>> + '_> {
        Box::new(walk(root, |path| path.extension().is_some_and(|extension| extension == "py")))
    }

    fn walk_kernels(&self, root: &Path) -> Box<dyn Iterator<Item = Option<PathBuf>> + '_> {
        let wanted = |path: &Path| {
            let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            matches!(extension, "py" | "ttgir" | "ttir") || path.ends_with(settings::FILE)
        };
        Box::new(walk(root, wanted))
    }
}

fn walk(root: &Path, wanted: fn(&Path) -> bool) -> impl Iterator<Item = Option<PathBuf>> + use<> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|entry| entry.depth() == 0 || is_wanted_name(entry.file_name()));
    entries.map(move |entry| {
        let entry = entry.ok().filter(|entry| entry.file_type().is_file())?;
        wanted(entry.path()).then(|| entry.into_path())
    })
}
