//! A child process that cannot get away: in a process group of its own, with a time limit, a limit on what it may
//! write, an environment of chosen variables, and a folder that is removed with it.
//!
//! It never sees a shell. Its standard input is a lifeline that carries nothing: it stays open as long as the one who
//! started it lives, so that the child can end itself when that one is gone (`runtime/src/triton/driver.py` does).
//! What it misses: on systems without process groups only the child itself is ended.

mod child;
mod folder;

pub use child::{ChildCommand, ChildOutcome, ExitCause, StderrLog, run};
pub use folder::RunFolder;

use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// Waits for the system: that a child has ended or a file is let go of is told to nobody, it can only be asked for.
#[allow(clippy::disallowed_methods)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Variables that a child may see, exactly.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "TZ",
    "TERM",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "CC",
    "CXX",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "PATHEXT",
    "COMSPEC",
    "WINDIR",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "NUMBER_OF_PROCESSORS",
];

/// The same, by how they begin.
const STARTS: &[&str] = &[
    "LC_", "CUDA_", "NVIDIA_", "HIP_", "ROCM_", "ROCR_", "HSA_", "GPU_", "CONDA_", "TRITON_", "TORCH_", "PYTORCH_",
    "XDG_",
];

/// Of an environment what a child may see. Credentials are in none of these.
pub fn allowed(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    variables.into_iter().filter(|(name, _)| may_see(name)).collect()
}

fn may_see(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let upper = name.to_ascii_uppercase();
    let secret = ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY"].iter().any(|word| upper.contains(word));
    !secret && (NAMES.contains(&upper.as_str()) || STARTS.iter().any(|start| upper.starts_with(start)))
}

#[cfg(test)]
mod tests;
