//! `fencepost check --fix` and `--diff`: what is mended in files, and what of a file stays as it was.

use crate::support::{Folder, fencepost, fencepost_with, kernel};

fn read(path: &str) -> Vec<u8> {
    std::fs::read(path).expect("the file is there")
}

#[test]
fn findings_are_mended_in_files_of_both_languages_and_what_is_left_is_said() {
    for name in ["ring_not_waited.ttgir", "two_loads.py"] {
        let folder = Folder::new(&format!("fix-{name}"));
        let file = folder.write(name, &read(&kernel(name)));
        let before = fencepost(&["check", &file]);
        assert_eq!(before.code, 1, "{name}: {}", before.stdout);
        let out = fencepost(&["check", "--fix", &file]);
        assert_eq!(out.code, 0, "{name}: {}{}", out.stdout, out.stderr);
        assert!(out.stderr.starts_with("note: ") && out.stderr.contains("fixed: "), "{name}: {}", out.stderr);
        assert!(out.stderr.contains("missing-forward-barrier"), "{name}: {}", out.stderr);
        assert!(!out.stdout.contains("error"), "{name}: {}", out.stdout);
        // What is on the disk is what was judged, and there is nothing left to do.
        let again = fencepost(&["check", "--fix", &file]);
        assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{name}: {}", again.stdout);
    }
}

#[test]
fn a_diff_is_printed_and_nothing_is_written() {
    let folder = Folder::new("fix-diff");
    let file = folder.write("ring.ttgir", &read(&kernel("ring_not_waited.ttgir")));
    folder.write("clean.ttgir", &read(&kernel("ring.ttgir")));
    let out = fencepost(&["check", "--diff", &folder.path()]);
    assert_eq!(out.code, 1);
    assert!(out.stdout.starts_with(&format!("--- {file}\n+++ {file}\n@@ ")), "{}", out.stdout);
    assert!(
        out.stdout.lines().any(|line| line.starts_with("+ ") && line.contains("ttng.wait_barrier")),
        "{}",
        out.stdout
    );
    assert!(!out.stdout.contains("clean.ttgir"), "{}", out.stdout);
    assert!(out.stderr.contains("1 finding would be fixed: missing-forward-barrier"), "{}", out.stderr);
    assert!(out.stderr.contains("note: 2 files: 1 error, 1 kernel proved"), "{}", out.stderr);
    assert_eq!(read(&file), read(&kernel("ring_not_waited.ttgir")));
    // Standard input has a diff, and no file to write to.
    let text = read(&file);
    let out = fencepost_with(&["check", "--diff", "-"], &text);
    assert!(out.stdout.starts_with("--- <stdin>\n"), "{}", out.stdout);
    let out = fencepost_with(&["check", "--fix", "-"], &text);
    assert!(out.code == 2 && out.stderr.starts_with("error: --fix writes to files"), "{}", out.stderr);
}

#[test]
fn encoding_line_ends_and_permissions_stay() {
    let folder = Folder::new("fix-bytes");
    let text = String::from_utf8(read(&kernel("two_loads.py"))).expect("text");
    let text = format!("# -*- coding: latin-1 -*-\n# Prüfung, half \u{bd}\n{text}").replace('\n', "\r\n");
    let bytes: Vec<u8> = text.chars().map(|char| u8::try_from(u32::from(char)).expect("Latin-1")).collect();
    let file = folder.write("two.py", &bytes);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o750)).expect("it is ours");
    }
    let out = fencepost(&["check", "--fix", &file]);
    assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
    let after = read(&file);
    assert_ne!(after, bytes);
    assert!(after.starts_with(b"# -*- coding: latin-1 -*-\r\n# Pr\xfcfung, half \xbd\r\n"));
    let bare = after.iter().enumerate().filter(|&(at, byte)| *byte == b'\n' && after[at - 1] != b'\r');
    assert_eq!(bare.count(), 0, "{}", String::from_utf8_lossy(&after));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o750);
    }
}
