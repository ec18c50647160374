//! Runs every case of every page: the pages of the kinds and the suites in `tests/pages`.
//!
//! `UPDATE_EXPECT=1` rewrites the output blocks, `UPDATE_EXPECT=marks` the marks as well, of all pages or of
//! those whose path holds one of the arguments; a case whose analysis breaks a promise fails all the same.

use base::Limits;
use fencepost_tests::gluon::file::observe_gluon;
use fencepost_tests::known::Case;
use fencepost_tests::marks::{Marks, is_mark};
use fencepost_tests::observe::{Observation, limits, observe, observe_sync};
use fencepost_tests::page::{self, Block, Lang};
use fencepost_tests::sources::{pages, read};
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq)]
enum Update {
    Outputs,
    Marks,
}

/// Rewrites the pages if that is what was asked for.
pub(crate) fn update() -> Option<ExitCode> {
    let update = match std::env::var("UPDATE_EXPECT").as_deref() {
        Err(_) | Ok("" | "0") => return None,
        Ok("marks") => Update::Marks,
        Ok(_) => Update::Outputs,
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked = |path: &Path| words.is_empty() || words.iter().any(|word| path.to_string_lossy().contains(word));
    for path in pages().iter().filter(|path| asked(path)) {
        if let Err(message) = rewrite(path, update) {
            eprintln!("{}: {message}", path.display());
            return Some(ExitCode::FAILURE);
        }
    }
    Some(ExitCode::SUCCESS)
}

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    Ok(pages().iter().flat_map(|path| page(path)).collect())
}

fn page(path: &Path) -> Vec<Case> {
    match read(path) {
        Ok(page) => {
            let name = |case: &page::Case| format!("{}: {}", page.path, case.title);
            page.cases.into_iter().map(|case| Case::new(name(&case), move || run(&case))).collect()
        }
        Err(message) => vec![Case::new(path.display().to_string(), || Err(message))],
    }
}

fn run(case: &page::Case) -> Result<(), String> {
    let limits = limits(case)?;
    let mut seen = Observation::default();
    let mut message = String::new();
    for block in &case.blocks {
        match block.lang {
            _ if block.file().is_some() => {}
            Lang::Ttgir | Lang::Gluon | Lang::Sync => {
                seen = look(case, block, &limits);
                source(&mut message, block, &seen);
            }
            Lang::Trace => output(&mut message, block, &seen.trace),
            Lang::States => output(&mut message, block, &seen.states),
            Lang::Toml => {}
        }
    }
    if message.is_empty() { Ok(()) } else { Err(message) }
}

fn look(case: &page::Case, block: &Block, limits: &Limits) -> Observation {
    match block.lang {
        Lang::Sync => observe_sync(&block.text, limits),
        Lang::Gluon => {
            let files = case.blocks.iter().filter_map(|block| Some((block.file()?, block.text.as_str())));
            observe_gluon(&block.text, files, limits)
        }
        _ => observe(&block.text, limits),
    }
}

/// How a comment of the block's language starts.
fn comment(block: &Block) -> &'static str {
    if block.lang == Lang::Gluon { "#" } else { "//" }
}

fn source(message: &mut String, block: &Block, seen: &Observation) {
    let expected = Marks::read(&block.text);
    let mut lines = expected.disagreements(&seen.marks);
    lines.extend(verdict(block, &expected, seen));
    lines.extend(seen.defects.iter().cloned());
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(message, "block at line {}:", block.line);
    for line in &lines {
        let _ = writeln!(message, "  {line}");
    }
    let _ = write!(message, "{}", seen.states);
    let drawn = seen.marks.draw(&block.text, comment(block));
    let _ = writeln!(message, "what was found:");
    let mut above = "";
    for line in drawn.lines() {
        if is_mark(line) {
            if !is_mark(above) {
                let _ = writeln!(message, "  {above}");
            }
            let _ = writeln!(message, "  {line}");
        }
        above = line;
    }
}

/// A source without marks must be decided; a word behind its language demands one verdict.
fn verdict(block: &Block, expected: &Marks, seen: &Observation) -> Option<String> {
    let wrong = |wanted: &str| Some(format!("expected {wanted}, the verdict is {}", seen.verdicts.join(", ")));
    if let Some(word) = block.words.first() {
        return if seen.verdicts.iter().all(|verdict| verdict == word) && !seen.verdicts.is_empty() {
            None
        } else {
            wrong(word)
        };
    }
    let decided = seen.verdicts.iter().all(|verdict| matches!(*verdict, "proved" | "clean"));
    if expected.primary.is_empty() && !decided { wrong("proved or clean") } else { None }
}

fn output(message: &mut String, block: &Block, found: &str) {
    if block.text != found {
        let _ = writeln!(message, "output at line {} differs, it is now:\n{found}", block.line);
    }
}

fn rewrite(path: &Path, update: Update) -> Result<(), String> {
    let page = read(path)?;
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for case in &page.cases {
        let limits: Limits = limits(case)?;
        let mut seen = Observation::default();
        for block in &case.blocks {
            match block.lang {
                _ if block.file().is_some() => {}
                Lang::Ttgir | Lang::Gluon | Lang::Sync => {
                    seen = look(case, block, &limits);
                    if update == Update::Marks {
                        changes.push((block.range.clone(), seen.marks.draw(&block.text, comment(block))));
                    }
                }
                Lang::Trace => changes.push((block.range.clone(), seen.trace.clone())),
                Lang::States => changes.push((block.range.clone(), seen.states.clone())),
                Lang::Toml => {}
            }
        }
    }
    fs::write(path, page.with(changes)).map_err(|error| error.to_string())
}
