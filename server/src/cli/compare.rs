//! `fencepost compare`: the kernels of a Python file beside what the user's Triton compiles of them.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

use base::{Cancel, Limits};
use engine::Engine;
use engine::instances::Opinion;
use runtime::sidecar::Sidecar;

use super::args::Compare;
use super::check::LoadedFile;
use super::process::{Exit, STACK_BYTES};
use super::say;
use super::sources::{Origin, Source, read};
use execution::compiled_comparison::{KernelComparison, SIDECAR_TIMEOUT, compare, interpreter};
use render::SourceText;

/// Compares the kernels of a file.
pub(crate) fn run(args: &Compare) -> io::Result<Exit> {
    // Elaborating recurses.
    thread::scope(|scope| {
        let work = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || command(args))?;
        work.join().unwrap_or_else(|_| Err(io::Error::other("the comparison failed")))
    })
}

fn command(args: &Compare) -> io::Result<Exit> {
    let source = Source { origin: Origin::File(args.path.clone()), named: true };
    let path = source.path();
    let trouble = |message: &str| {
        say::error(format_args!("{path}: {message}"))?;
        Ok(Exit::Trouble)
    };
    let text = match read(&source) {
        Ok(text) => text,
        Err(error) => return trouble(&error.message),
    };
    let mut file = LoadedFile::new(&source, &text, &args.settings);
    let Some(python) = file.text.python() else { return trouble("is no Python file") };
    let Ok(elaboration) = file.elaborator.elaborate(python, &file.workspace, &Cancel::never()) else {
        return trouble("the elaboration was cancelled");
    };
    if elaboration.kernels.is_empty() {
        return trouble("there is no kernel");
    }
    let python = args.python.clone().unwrap_or_else(interpreter);
    let mut sidecar = match Sidecar::start(&python, SIDECAR_TIMEOUT, &Cancel::never()) {
        Ok(sidecar) => sidecar,
        Err(error) => return trouble(&format!("{}: {error}", python.display())),
    };
    let mut engine = Engine::new(Limits::default());
    let comparisons = match compare(&mut engine, &mut sidecar, &args.path, &elaboration, &Cancel::never()) {
        Ok(Ok(comparisons)) => comparisons,
        Ok(Err(error)) => return trouble(&error.to_string()),
        Err(_) => return trouble("the comparison was cancelled"),
    };
    let version = sidecar.hello().triton.clone().unwrap_or_default();
    let printed = print(&path, &version, &comparisons, &SourceText::new(&text));
    if let Some(folder) = &args.report {
        write_reports(folder, &version, &comparisons)?;
    }
    let mut out = render::printable::stdout();
    out.write_all(printed.as_bytes())?;
    out.flush()?;
    let differs = comparisons.iter().any(|comparison| matches!(comparison.opinion, Ok(Opinion::Differs { .. })));
    let missing = comparisons.iter().any(|comparison| comparison.opinion.is_err());
    Ok(match (differs, missing) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Trouble,
        (false, false) => Exit::Clean,
    })
}

fn print(path: &str, version: &str, comparisons: &[KernelComparison], places: &SourceText<'_>) -> String {
    let mut out = String::new();
    for comparison in comparisons {
        let label = if comparison.label.is_empty() { String::new() } else { format!(" [{}]", comparison.label) };
        let _ = writeln!(
            out,
            "{path}:{}: {}{label}: {} (Triton {version}, {:.0} ms)",
            places.line(comparison.range.start),
            comparison.kernel,
            comparison.describe(),
            comparison.ms
        );
    }
    let count = |test: fn(&KernelComparison) -> bool| comparisons.iter().filter(|comparison| test(comparison)).count();
    let same = count(|comparison| matches!(comparison.opinion, Ok(Opinion::Same)));
    let agrees = count(|comparison| matches!(comparison.opinion, Ok(Opinion::Agrees)));
    let decides = count(|comparison| matches!(comparison.opinion, Ok(Opinion::Decides { .. })));
    let differs = count(|comparison| matches!(comparison.opinion, Ok(Opinion::Differs { .. })));
    let missing = count(|comparison| comparison.opinion.is_err());
    let _ = writeln!(
        out,
        "{} instances: {same} the same kernel, {agrees} the same verdict, {decides} decided by one, {differs} differ, \
         {missing} not compiled",
        comparisons.len()
    );
    out
}

/// What a report of the defect needs: both kernels, one pair of files an instance.
fn write_reports(folder: &Path, version: &str, comparisons: &[KernelComparison]) -> io::Result<()> {
    for (at, comparison) in comparisons.iter().enumerate() {
        let Ok(Opinion::Differs { kernels, .. }) = &comparison.opinion else { continue };
        std::fs::create_dir_all(folder)?;
        let name = format!("{}-{}.md", comparison.kernel, at + 1);
        let text = format!(
            "# `{}` {}\n\nfencepost {}, Triton {version}: {}\n\n## From the Python\n\n```\n{}```\n\n## From what Triton compiled\n\n```\n{}```\n",
            comparison.kernel,
            comparison.label,
            env!("CARGO_PKG_VERSION"),
            comparison.describe(),
            kernels.0,
            kernels.1
        );
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
