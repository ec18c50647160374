//! `fencepost ir`: the TTGIR as which a kernel in Python is analysed, with its lines of Python.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::thread;

use base::Cancel;
use engine::instances::Elaboration;
use ide::python::{ElaboratedText, elaborated_text};

use super::args::Ir;
use super::check::LoadedFile;
use super::process::{Exit, STACK_BYTES};
use super::say;
use super::settings;
use super::sources::{Origin, Source, read};
use render::SourceText;

/// Column behind which the line of Python stands.
const COLUMN: usize = 100;

/// Prints the kernels of a file.
pub(crate) fn run(args: &Ir) -> io::Result<Exit> {
    // Elaborating recurses.
    thread::scope(|scope| {
        let work = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || command(args))?;
        work.join().unwrap_or_else(|_| Err(io::Error::other("the elaboration failed")))
    })
}

fn command(args: &Ir) -> io::Result<Exit> {
    let origin = if args.path.as_os_str() == "-" { Origin::Stdin } else { Origin::File(args.path.clone()) };
    let source = Source { origin, named: true };
    let path = source.path();
    let trouble = |message: &str| {
        say::error(format_args!("{path}: {message}"))?;
        Ok(Exit::Trouble)
    };
    let text = match read(&source) {
        Ok(text) => text,
        Err(error) => return trouble(&error.message),
    };
    let mut file = LoadedFile::new(&source, &text, &args.python);
    let Some(python) = file.text.python() else { return trouble("is no Python file") };
    let Ok(elaboration) = file.elaborator.elaborate(python, &file.workspace, &Cancel::never()) else {
        return trouble("the elaboration was cancelled");
    };
    if let Some(problem) = settings::problems(&args.python, [&elaboration]).first() {
        return trouble(problem);
    }
    let (printed, whole) = print(args, &elaboration, &SourceText::new(&text));
    if printed.is_empty() {
        let there = elaboration.kernels.iter().map(|kernel| kernel.entry.name.as_str());
        let what = args.kernel.as_ref().map(|name| say::no_kernel(name, there));
        return trouble(what.as_deref().unwrap_or("there is no kernel"));
    }
    let mut out = render::printable::stdout();
    out.write_all(printed.as_bytes())?;
    out.flush()?;
    Ok(if whole { Exit::Clean } else { Exit::Trouble })
}

/// The text, and whether each kernel was followed whole.
fn print(args: &Ir, elaboration: &Elaboration, places: &SourceText<'_>) -> (String, bool) {
    let (mut out, mut whole) = (String::new(), true);
    let wanted =
        elaboration.kernels.iter().filter(|kernel| args.kernel.as_ref().is_none_or(|it| *it == kernel.entry.name));
    for kernel in wanted {
        for elaborated in kernel.instances.iter().take(if args.all { usize::MAX } else { 1 }) {
            if !out.is_empty() {
                out.push_str("\n// -----\n");
            }
            let _ = writeln!(out, "// {}: {}", kernel.entry.name, elaborated.instance.hint);
            let ops = elaborated_text(elaborated);
            for (range, remark) in &ops.remarks {
                let _ = writeln!(out, "// line {}: {remark}", places.line(range.start));
            }
            whole &= elaborated.lowered().is_some() && elaborated.unmodelled().is_empty();
            lines(&mut out, &ops, places);
        }
    }
    (out, whole)
}

fn lines(out: &mut String, ops: &ElaboratedText, places: &SourceText<'_>) {
    for (code, place) in ops.text.lines().zip(&ops.lines) {
        let Some(place) = place else {
            let _ = writeln!(out, "{code}");
            continue;
        };
        let said = place.source.clone().unwrap_or_else(|| places.line(place.range.start).to_string());
        let _ = writeln!(out, "{code:COLUMN$}  // {said}");
    }
}
