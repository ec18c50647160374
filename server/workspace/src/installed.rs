//! Which Triton is installed for a file. Nothing is run: the name of a `.dist-info` folder says the release.
//!
//! Looked at are, the first that has Triton counts: `.venv`, `venv` and `env` in the folders above the file up to its
//! workspace; the environment that is active (`VIRTUAL_ENV`, `CONDA_PREFIX`); the one whose `python3` or `python` comes
//! first on the PATH.
//!
//! Missed: a Triton that is installed from its sources, whose release no folder names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use engine::instances::{Version, version};

/// Names of folders that hold an environment.
const FOLDERS: [&str; 3] = [".venv", "venv", "env"];

/// Names under which Triton is distributed.
const PACKAGES: [&str; 5] = ["triton", "pytorch_triton", "pytorch_triton_rocm", "triton_rocm", "triton_nightly"];

/// A release of Triton in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledTriton {
    /// Which.
    pub version: Version,
    /// The environment.
    pub place: PathBuf,
    /// The folder of its packages.
    pub packages: PathBuf,
}

/// What was found, by the folder of the file: environments seldom change while a program runs.
static KNOWN: Mutex<BTreeMap<PathBuf, Option<InstalledTriton>>> = Mutex::new(BTreeMap::new());

/// The Triton that is installed for a file in a workspace.
pub(crate) fn installed(file: &Path, root: &Path) -> Option<InstalledTriton> {
    let folder = file.parent()?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(folder) {
        return found.clone();
    }
    let found = environments(folder, root).into_iter().find_map(|place| {
        let (version, packages) = triton_of(&place)?;
        Some(InstalledTriton { version, place, packages })
    });
    known.insert(folder.to_path_buf(), found.clone());
    found
}

/// The environments that may count for a file of a folder, in order.
fn environments(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let inside = folder.ancestors().take_while(|above| above.starts_with(root));
    let mut all: Vec<PathBuf> = inside.flat_map(|above| FOLDERS.map(|name| above.join(name))).collect();
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os);
    all.extend(active.filter(|path| !path.is_empty()).map(PathBuf::from));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut bins = std::env::split_paths(&path);
    let python = |bin: &PathBuf| ["python3", "python", "python.exe"].iter().any(|name| bin.join(name).is_file());
    // Of a folder `bin` the environment is the one above it; on Windows it is the folder itself.
    if let Some(bin) = bins.find(python) {
        let named = bin.file_name().is_some_and(|name| name == "bin" || name == "Scripts");
        all.extend(bin.parent().filter(|_| named).map(Path::to_path_buf));
        all.push(bin);
    }
    all
}

/// The release of Triton in an environment, and the folder that it is in.
fn triton_of(environment: &Path) -> Option<(Version, PathBuf)> {
    let mut packages = vec![environment.join("Lib").join("site-packages")];
    for library in ["lib", "lib64", "local/lib"] {
        for python in names(&environment.join(library)).into_iter().filter(|name| name.starts_with("python3")) {
            let folder = environment.join(library).join(python);
            packages.extend(["site-packages", "dist-packages"].map(|name| folder.join(name)));
        }
    }
    packages.into_iter().find_map(|folder| {
        let version = names(&folder).iter().find_map(|name| release(name))?;
        Some((version, folder))
    })
}

/// Names in a folder, in order; none where it cannot be read.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The release that `triton-3.6.0.dist-info` names, where it is known.
fn release(name: &str) -> Option<Version> {
    let (package, rest) = name.strip_suffix(".dist-info")?.split_once('-')?;
    if !PACKAGES.contains(&package) {
        return None;
    }
    version(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_says_the_release() {
        assert_eq!(release("triton-3.6.0.dist-info"), Some(Version(3, 6)));
        assert_eq!(release("pytorch_triton-3.5.1+gitabc.dist-info"), Some(Version(3, 5)));
        assert_eq!(release("triton-3.2.0.dist-info"), Some(Version(3, 2)));
        assert_eq!(release("triton-2.1.0.dist-info"), None);
        assert_eq!(release("triton_kernels-3.6.0.dist-info"), None);
        assert_eq!(release("triton"), None);
    }

    #[test]
    fn the_environment_nearest_to_the_file_counts() {
        let root = std::env::temp_dir().join(format!("fencepost-installed-{}", std::process::id()));
        let make = |place: &str, name: &str| {
            fs::create_dir_all(root.join(place).join("lib/python3.12/site-packages").join(name))
        };
        let made = [
            make(".venv", "triton-3.5.0.dist-info"),
            make("kernels/venv", "triton-3.6.1.dist-info"),
            make("other/env", "numpy-2.0.0.dist-info"),
        ];
        assert!(made.iter().all(Result::is_ok));
        let found = |file: &str| installed(&root.join(file), &root).map(|found| found.version);
        assert_eq!(found("kernels/k.py"), Some(Version(3, 6)));
        assert_eq!(found("other/k.py"), Some(Version(3, 5)));
        assert_eq!(found("k.py"), Some(Version(3, 5)));
        let _ = fs::remove_dir_all(root);
    }
}
