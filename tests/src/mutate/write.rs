//! Leaves the mutants on disk, with a manifest, for other tools to run.

use super::Campaign;
use super::campaign::{Case, name};
use super::judge::Verdict;
use super::meaning::Meaning;
use serde_json::{Value, json};
use std::path::Path;

/// Writes each mutant that is a program into a folder, and `manifest.json` beside them.
pub fn write(campaign: &Campaign, folder: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut rows = Vec::new();
    for case in campaign.cases.iter().filter(|case| !matches!(case.verdict, Verdict::Rejected(_))) {
        let Some(text) = &case.mutant.text else { continue };
        let file = file_of(case);
        let path = folder.join(&file);
        std::fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        std::fs::write(&path, text).map_err(failed)?;
        rows.push(row(case, &file));
    }
    let manifest = json!({ "schema": 1, "files": rows });
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::write(folder.join("manifest.json"), text + "\n").map_err(failed)?;
    Ok(rows.len())
}

/// `sm_90/ws_gemm.L72.wait-drop.ttgir`.
fn file_of(case: &Case) -> String {
    format!("{}.L{}.{}.ttgir", name(&case.file), case.mutant.line, case.mutant.mutation)
}

/// A case as JSON.
pub fn row(case: &Case, file: &str) -> Value {
    let (verdict, kinds) = match &case.verdict {
        Verdict::Rejected(_) => ("rejected", &[][..]),
        Verdict::Found(kinds) => ("found", kinds.as_slice()),
        Verdict::Undecided(_) => ("undecided", &[][..]),
        Verdict::Survived(hints) => ("survived", hints.as_slice()),
    };
    json!({
        "file": file,
        "source": case.file,
        "mutation": case.mutant.mutation,
        "class": case.mutant.class.name(),
        "line": case.mutant.line,
        "op": case.mutant.op,
        "verdict": verdict,
        "kinds": kinds,
        "meaning": case.meaning.name(),
        "shown": case.meaning == Meaning::Found(true) || matches!(case.meaning, Meaning::Gap(_)),
        "why": case.meaning.why(),
    })
}
