//! A folder of a test's own, with files that a session looks at.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Server, binary};

/// A folder that is gone after the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        let folder = Folder(fs::canonicalize(&path).expect("the folder is there"));
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name))
    }

    /// A server whose workspace is the folder.
    pub(crate) fn server(&self, capabilities: Value) -> Server {
        let mut command = std::process::Command::new(binary());
        command.arg("lsp").current_dir(&self.0);
        Server::spawn_in(
            command,
            capabilities,
            &json!([{ "uri": format!("file://{}", self.0.display()), "name": "f" }]),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The line and column of the first place of `what`, at the `$` in it if there is one.
pub(crate) fn find(text: &str, what: &str) -> (usize, usize) {
    let (skipped, what) = (what.find('$').unwrap_or(0), what.replacen('$', "", 1));
    let at = text.find(&what).unwrap_or_else(|| panic!("there is no {what}")) + skipped;
    let before = &text[..at];
    (before.matches('\n').count(), at - before.rfind('\n').map_or(0, |end| end + 1))
}

/// `file:line text` of a location, lines from 1; the texts are those of the folder's files.
pub(crate) fn said(folder: &Folder, location: &Value) -> String {
    let uri = location["uri"].as_str().expect("a uri");
    let path = uri.strip_prefix("file://").expect("a file");
    let text = fs::read_to_string(path).expect("the file is there");
    let place = |name: &str, part: &str| location["range"][name][part].as_u64().expect("a number") as usize;
    let line = text.lines().nth(place("start", "line")).unwrap_or_default();
    let end = if place("end", "line") == place("start", "line") { place("end", "character") } else { line.len() };
    let name = path.strip_prefix(&folder.path("")).unwrap_or(path);
    format!("{name}:{} {}", place("start", "line") + 1, &line[place("start", "character")..end])
}

/// The same of an answer that is a location, a list of them, or nothing.
pub(crate) fn all(folder: &Folder, answer: &Value) -> Vec<String> {
    match answer {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().map(|location| said(folder, location)).collect(),
        location => vec![said(folder, location)],
    }
}
