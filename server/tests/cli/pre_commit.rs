//! The hooks for pre-commit: their commands, as pre-commit calls them on staged files.

use std::process::{Command, Stdio};

use crate::support::{BINARY, Folder, kernel, root};

/// The values of a key in the file of the hooks.
fn values(key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("there are hooks");
    let lines = text.lines().map(|line| line.trim_start_matches(['-', ' ']));
    lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": ").map(str::to_owned)).collect()
}

fn git(folder: &Folder, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    let out = command.arg("-C").arg(folder.path()).args(args).output().expect("git starts");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

#[test]
fn the_hooks_stop_a_commit_with_a_finding_and_let_a_clean_one_pass() {
    let entries = values("entry");
    assert_eq!(entries.len(), values("id").len());
    let (flagged, clean) = (kernel("ring_not_waited.ttgir"), kernel("ring.ttgir"));
    let read = |path: &str| std::fs::read(path).expect("the kernel can be read");
    let plain = b"import os\n\nprint(os.getcwd())\n";
    for entry in entries {
        let mut words = entry.split_whitespace();
        assert_eq!(words.next(), Some("fencepost"));
        let arguments: Vec<&str> = words.collect();
        for (ring, code) in [(&flagged, 1), (&clean, 0)] {
            let folder = Folder::new(&format!("hook-{}-{code}", arguments.len()));
            git(&folder, &["init", "-q"]);
            folder.write("kernels/ring.ttgir", &read(ring));
            folder.write("setup.py", plain);
            // What is not staged is not looked at.
            git(&folder, &["add", "."]);
            folder.write("later.ttgir", &read(&flagged));
            let staged = git(&folder, &["diff", "--cached", "--name-only"]);
            let files: Vec<&str> =
                staged.lines().filter(|name| name.ends_with(".py") || name.ends_with(".ttgir")).collect();
            assert_eq!(files, ["kernels/ring.ttgir", "setup.py"]);
            let out = Command::new(BINARY)
                .args(&arguments)
                .args(&files)
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .output()
                .expect("the binary starts");
            let said = String::from_utf8(out.stdout).expect("text");
            assert_eq!(out.status.code(), Some(code), "{entry}: {said}");
            assert_eq!(said.contains("kernels/ring.ttgir:46:38"), code == 1, "{said}");
            assert!(code == 1 || said.is_empty(), "{said}");
        }
    }
}
