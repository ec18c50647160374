//! The Python files of a workspace: what a file imports, and who mentions its kernels.
//!
//! A [`FileStore`](files::FileStore) reads files and keeps them; what it has read is an immutable
//! [`FileView`](files::FileView). A [`WorkspaceSnapshot`] is such a view with the open documents over it, and
//! [`WorkspaceSources`] is what an analysis sees of it. The command line has a store of its own
//! ([`Workspace`]); in the server a thread owns it ([`Loader`]), and nobody else waits for the disk unless its
//! snapshot lacks a file.
//!
//! Missed: packages outside of the workspace; an import that only an installed package can answer is not
//! followed.

mod configuration;
mod dependencies;
mod dumps;
mod encoding;
mod file_system;
mod files;
mod installed;
mod limits;
pub mod listing;
mod loader;
mod paths;
mod snapshot;
mod threads;
mod triton_sources;

use std::path::Path;
use std::sync::{Arc, Mutex};

use engine::instances::PythonFile;

pub use configuration::{CODE as SETTINGS, Configuration, matches_any, problems as settings_problems};
pub use dependencies::Dependencies;
pub use encoding::{Encoding, Undecodable, read_text};
pub use file_system::{Disk, FileSystem, Stamp};
pub use files::{FileStore, FileView};
pub use limits::LIMITS;
pub use loader::{Loader, LoaderClient};
pub use paths::{absolute, import_root, root};
pub use snapshot::{WorkspaceSnapshot, WorkspaceSources};
pub use threads::threads;
pub use triton_sources::TritonSources;

/// The workspace of the command line: files are read when they are asked for, and once.
pub type Workspace = WorkspaceSources<Mutex<FileStore>>;

impl Workspace {
    /// The workspace of one folder, or none.
    pub fn of(root: Option<&Path>) -> Workspace {
        let roots: Vec<_> = root.map(Path::to_path_buf).into_iter().collect();
        let store = FileStore::new(Arc::new(Disk), roots.clone());
        WorkspaceSources::new(Arc::new(WorkspaceSnapshot::new(roots)), Mutex::new(store))
    }

    /// The workspace around a file, of whatever marks one: a repository, a project, the current folder.
    pub fn around(file: &Path) -> Workspace {
        let current = std::env::current_dir().ok();
        Workspace::of(Some(&import_root(&absolute(file), current.as_deref())))
    }

    /// The same, where the file has another text than on disk.
    pub fn around_open(file: &Path, text: &PythonFile) -> Workspace {
        let current = std::env::current_dir().ok();
        let root = import_root(&absolute(file), current.as_deref());
        let mut snapshot = WorkspaceSnapshot::new(vec![root.clone()]);
        snapshot.open(&file.to_string_lossy(), text);
        WorkspaceSources::new(Arc::new(snapshot), Mutex::new(FileStore::new(Arc::new(Disk), vec![root])))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use python::syntax::{Module, Sources};

    use super::*;

    #[test]
    fn imports_are_looked_for_where_python_would() {
        let root = std::env::temp_dir().join(format!("fencepost-workspace-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&root)).and_then(|()| fs::write(path, text))
        };
        let made = [
            write("kernels/main.py", "import helper\n"),
            write("kernels/helper.py", "x = 1\n"),
            write("kernels/sub/__init__.py", "y = 2\n"),
            write("tests/test_main.py", "main.kernel[grid]()\n"),
            write("the-tools/python/the_tools/shapes.py", "z = 4\n"),
        ];
        assert!(made.iter().all(Result::is_ok));
        let workspace = Workspace::of(Some(&root));
        let main = root.join("kernels/main.py").to_string_lossy().into_owned();
        let text = |module: Option<Arc<Module>>| module.map(|module| module.text().to_string());
        assert_eq!(text(workspace.import(&main, "helper")).as_deref(), Some("x = 1\n"));
        assert_eq!(text(workspace.import(&main, "kernels.helper")).as_deref(), Some("x = 1\n"));
        assert_eq!(text(workspace.import(&main, ".sub")).as_deref(), Some("y = 2\n"));
        assert_eq!(text(workspace.import(&main, "torch")), None);
        // A project beside it that would be installed.
        assert_eq!(text(workspace.import(&main, "the_tools.shapes")).as_deref(), Some("z = 4\n"));
        assert_eq!(text(workspace.file(&main, "../kernels/./helper.py")).as_deref(), Some("x = 1\n"));
        assert_eq!(workspace.mentions("main.kernel").len(), 1);
        let helper = root.join("kernels/helper.py").to_string_lossy().into_owned();
        let mut edited = WorkspaceSnapshot::new(vec![root.clone()]);
        edited.open(&helper, &PythonFile::new(helper.clone(), "x = 3\n"));
        let store = || Mutex::new(FileStore::new(Arc::new(Disk), vec![root.clone()]));
        let over = |snapshot: &WorkspaceSnapshot| WorkspaceSources::new(Arc::new(snapshot.clone()), store());
        assert_eq!(text(over(&edited).import(&main, "helper")).as_deref(), Some("x = 3\n"));
        edited.close(&helper);
        assert_eq!(text(over(&edited).import(&main, "helper")).as_deref(), Some("x = 1\n"));
        let _ = fs::remove_dir_all(root);
    }

    #[test]
    fn the_folder_around_a_file() {
        let top = std::env::temp_dir().join(format!("fencepost-import-root-{}", std::process::id()));
        let project = top.join("project");
        let package = project.join("package/inner");
        let made = fs::create_dir_all(&package)
            .and_then(|()| fs::write(project.join("package/__init__.py"), ""))
            .and_then(|()| fs::write(package.join("__init__.py"), ""));
        assert!(made.is_ok());
        let file = package.join("kernel.py");
        let found = |current: Option<&Path>| import_root(&file, current);
        assert_eq!(found(None), project);
        assert_eq!(found(Some(&top)), top);
        assert_eq!(found(Some(&package)), project);
        assert!(fs::write(top.join("setup.py"), "").is_ok());
        assert_eq!(found(None), top);
        assert!(fs::create_dir_all(project.join(".git")).is_ok());
        assert_eq!(found(Some(&top)), project);
        let _ = fs::remove_dir_all(top);
    }
}
