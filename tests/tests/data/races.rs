//! Races in global memory in kernels of plain Triton: `tests/races/` holds files without any, and `broken.txt` slips in
//! them, each of which has to be found.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Limits;
use fencepost_tests::gluon::file::observe_gluon;
use fencepost_tests::known::Case;
use fencepost_tests::observe::Observation;

/// The kind that a slip has to be found as.
const KIND: &str = "global-race";

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("races");
    let mut files: Vec<(String, Arc<str>)> = Vec::new();
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "py"))
    {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.push((name, read(&path)?.into()));
    }
    files.sort();
    let slips = slips(&read(&folder.join("broken.txt"))?)?;
    let mut cases = Vec::new();
    for slip in slips {
        let text = files.iter().find(|(name, _)| *name == slip.file).map(|(_, text)| text.clone());
        let text = text.ok_or_else(|| format!("broken.txt: there is no {}", slip.file))?;
        cases.push(Case::new(slip.name(), move || broken(&slip, &text)));
    }
    cases.extend(files.into_iter().map(|(name, text)| Case::new(name, move || clean(&text))));
    Ok(cases)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A slip: in which function of which file, and what it changes.
struct Slip {
    file: String,
    function: String,
    what: String,
    before: String,
    after: String,
}

impl Slip {
    fn name(&self) -> String {
        format!("{} {}: {}", self.file, self.function, self.what)
    }

    /// The file with the slip.
    fn apply(&self, text: &str) -> Option<String> {
        let start = text.find(&format!("\ndef {}(", self.function))?;
        let end = text[start + 1..].find("\ndef ").map_or(text.len(), |at| start + 1 + at);
        let body = &text[start..end];
        let changed = body.replace(&self.before, &self.after);
        (changed != body).then(|| format!("{}{changed}{}", &text[..start], &text[end..]))
    }
}

fn slips(text: &str) -> Result<Vec<Slip>, String> {
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty() && !block.starts_with('#'));
    let slip = |block: &str| {
        let (head, change) = block.split_once('\n')?;
        let (place, what) = head.split_once(": ")?;
        let (file, function) = place.split_once(' ')?;
        let (before, after) = change.strip_prefix("- ")?.split_once("\n+ ")?;
        let [file, function, what, before, after] = [file, function, what, before, after].map(str::to_owned);
        Some(Slip { file, function, what, before, after })
    };
    blocks.map(|block| slip(block).ok_or_else(|| format!("broken.txt: no slip:\n{block}"))).collect()
}

fn observe(text: &str) -> Observation {
    observe_gluon(text, std::iter::empty(), &Limits::default())
}

fn broken(slip: &Slip, text: &str) -> Result<(), String> {
    let text = slip.apply(text).ok_or("the text is not in the function")?;
    let seen = observe(&text);
    if seen.marks.primary.iter().any(|mark| mark.kind == KIND && mark.severity == "error") {
        return seen.defects.first().map_or(Ok(()), |defect| Err(defect.clone()));
    }
    Err(format!("it is not found\n{}", seen.states))
}

fn clean(text: &str) -> Result<(), String> {
    let seen = observe(text);
    let sure = seen.verdicts.iter().all(|verdict| matches!(*verdict, "proved" | "clean"));
    if sure && !seen.marks.primary.iter().any(|mark| mark.severity == "error") && seen.defects.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}", seen.states, seen.defects.join("\n")))
}
