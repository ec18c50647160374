//! A folder for the files of one run, removed with the value.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::pause;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// How many names are tried.
const TRIES: u32 = 64;

/// A new folder of its owner's alone.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one where the system keeps temporary files.
    ///
    /// # Errors
    ///
    /// Where none can be made: the disk is full, or nothing may be written there.
    pub fn new() -> io::Result<Folder> {
        Folder::within(&std::env::temp_dir())
    }

    /// Makes one inside another.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn within(parent: &Path) -> io::Result<Folder> {
        let mut last = io::Error::other("no free name for a temporary folder");
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("fencepost-{}-{number}", process::id()));
            match create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A process that is just being ended may still write into it.
        for _ in 0..5 {
            match fs::remove_dir_all(&self.0) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    pause(Duration::from_millis(50));
                }
                _ => return,
            }
        }
    }
}

fn create(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
