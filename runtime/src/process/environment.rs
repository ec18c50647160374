//! The part of an environment that a child process may see.

use std::ffi::{OsStr, OsString};

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
pub(crate) fn allowed(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    variables.into_iter().filter(|(name, _)| is_allowed(name)).collect()
}

fn is_allowed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let upper = name.to_ascii_uppercase();
    let secret = ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY"].iter().any(|word| upper.contains(word));
    !secret && (NAMES.contains(&upper.as_str()) || STARTS.iter().any(|start| upper.starts_with(start)))
}
