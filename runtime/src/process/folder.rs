//! A folder for the files of one run, removed with the value.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::pause::pause;

/// A new folder that only its owner may enter.
#[derive(Debug)]
pub(crate) struct RunFolder(TempDir);

impl RunFolder {
    /// Makes one where the system keeps temporary files.
    ///
    /// # Errors
    ///
    /// Where none can be made: the disk is full, or nothing may be written there.
    pub(crate) fn new() -> io::Result<RunFolder> {
        RunFolder::within(&std::env::temp_dir())
    }

    /// Makes one inside another.
    ///
    /// # Errors
    ///
    /// Where none can be made in it.
    pub(crate) fn within(parent: &Path) -> io::Result<RunFolder> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("fencepost-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder.tempdir_in(parent).map(RunFolder)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // A process that is just being ended may still write into it, so that one attempt is not enough.
        for _ in 0..5 {
            match fs::remove_dir_all(self.0.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => pause(Duration::from_millis(50)),
                _ => return,
            }
        }
    }
}
