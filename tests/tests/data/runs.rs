//! The kernels of the corpus, and kernels in plain Triton, executed on the CPU: what they write is what the reference
//! says, with every seed, and nobody asserts; their broken twins assert, or write something else.
//!
//! `tests/open-runs.txt` lists what is known to be otherwise, with a word on why.

use fencepost_tests::corpus::manifest;
use fencepost_tests::known::{Case, with_failing};
use fencepost_tests::runs::{self, Distance, Runnable, compare, corpus_file, numbers, recipes, runnable, written};
use fencepost_tests::sources::root;
use findings::Finding;
use runtime::launch::ArgumentValue;
use runtime::run::{Instrument, RunEnd, RunReport};
use tensors::array::ElemType;

/// Of the schedule.
const SEEDS: [u64; 2] = [0, 1];

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let clean = |kernel: Runnable| Case::new(kernel.stem.clone(), move || clean(&kernel));
    let mut cases: Vec<Case> = runs::corpus().into_iter().chain(runs::plain()).map(clean).collect();
    cases.extend(twins()?.into_iter().map(|(name, twin, clean)| Case::new(name, move || broken(&twin, &clean))));
    with_failing("open-runs.txt", cases)
}

/// Runs a clean kernel with each seed, watched and not, and compares what it writes.
fn clean(kernel: &Runnable) -> Result<(), String> {
    for seed in SEEDS {
        let report = runs::run(kernel, Instrument::Both, seed);
        passed(&report, seed)?;
        right(kernel, kernel.kernel(), &report, seed)?;
    }
    let plain = runs::run(kernel, Instrument::Plain, SEEDS[0]);
    passed(&plain, SEEDS[0])?;
    right(kernel, kernel.kernel(), &plain, SEEDS[0])
}

fn passed(report: &RunReport, seed: u64) -> Result<(), String> {
    match report.end {
        RunEnd::Passed => Ok(()),
        _ => Err(format!("seed {seed}: {:?}\n{}", report.end, said(report).join("\n"))),
    }
}

fn said(report: &RunReport) -> Vec<String> {
    let line = |finding: &Finding| format!("{}: {}", finding.kind.name(), finding.message);
    report.kernels.iter().flat_map(|kernel| &kernel.findings).map(line).chain(report.elsewhere.clone()).collect()
}

/// Compares what a run left behind with the reference of a kernel.
fn right(kernel: &Runnable, reference: &str, report: &RunReport, seed: u64) -> Result<(), String> {
    let given = runs::given(&kernel.launch);
    let Some(written) = written(reference, &given) else { return Err(format!("`{reference}` has no reference")) };
    for (name, want) in written {
        let Some((_, array)) = report.outputs.iter().find(|(output, _)| output == name) else {
            return Err(format!("seed {seed}: `{name}` did not come back"));
        };
        let (distance, allowed) = (compare(&numbers(array), &want), Distance::allowed(array.dtype, inner(kernel)));
        if distance.relative.is_nan() || distance.relative > allowed {
            return Err(format!("seed {seed}: `{name}` is off by {distance:?}, allowed {allowed:e}"));
        }
    }
    Ok(())
}

/// The coarsest type that goes into the kernel, which is that of what it rounds on the way.
fn inner(kernel: &Runnable) -> ElemType {
    let dtype = |given: &ArgumentValue| match given {
        ArgumentValue::Array(spec) if !spec.dtype.is_int() => Some(spec.dtype),
        _ => None,
    };
    let types: Vec<ElemType> = kernel.launch.arguments.iter().filter_map(|argument| dtype(&argument.given)).collect();
    let coarse = [ElemType::BF16, ElemType::F16].into_iter().find(|dtype| types.contains(dtype));
    coarse.unwrap_or(ElemType::F32)
}

/// A broken twin asserts with some seed, or writes something else than its clean sibling.
fn broken(twin: &Runnable, clean: &str) -> Result<(), String> {
    let mut ends = Vec::new();
    for seed in 0..4 {
        let report = runs::run(twin, Instrument::ConSan, seed);
        match report.end {
            RunEnd::Asserted | RunEnd::Hung(_) | RunEnd::Failed(_) => return Ok(()),
            RunEnd::Passed if right(twin, clean, &report, seed).is_err() => return Ok(()),
            end => ends.push(format!("{end:?}")),
        }
    }
    Err(format!("nobody notices: {}", ends.join("; ")))
}

/// The broken twins of kernels with a recipe: a name, the twin, its clean sibling's name.
fn twins() -> Result<Vec<(String, Runnable, String)>, String> {
    let rows = manifest(&root().join("corpus"))?;
    let recipes = recipes();
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| row.bug.is_some() && !row.file.contains(".alloc.")) {
        let stem = row.file.trim_start_matches("ttgir/").trim_end_matches(".ttgir");
        let clean = stem.split('.').next().unwrap_or(stem);
        let Some((_, launch)) = recipes.iter().find(|(stem, _)| stem == clean) else { continue };
        let kernel = clean.rsplit('/').next().unwrap_or(clean).to_owned();
        found.push((stem.to_owned(), runnable(stem, corpus_file(stem), launch.clone()), kernel));
    }
    Ok(found)
}
