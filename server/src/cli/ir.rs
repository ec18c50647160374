//! `fencepost ir`: the TTGIR as which a kernel in Python is analysed, with its lines of Python.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::thread;

use base::{Cancel, TextRange};
use engine::instances::{ElaboratedInstance, Elaboration};

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
            for (_, range, why) in elaborated.unmodelled() {
                let _ = writeln!(out, "// not followed, line {}: {why}", places.line(range.start));
            }
            for problem in elaborated.problems() {
                let _ = writeln!(
                    out,
                    "// {}, line {}: {}",
                    problem.code,
                    places.line(problem.range.start),
                    problem.message
                );
            }
            whole &= elaborated.lowered().is_some() && elaborated.unmodelled().is_empty();
            lines(&mut out, elaborated, places);
        }
    }
    (out, whole)
}

fn lines(out: &mut String, elaborated: &ElaboratedInstance, places: &SourceText<'_>) {
    let (mut at, mut depth) = (0u32, 0usize);
    for line in elaborated.document().text().split_inclusive('\n') {
        let place = elaborated.place(TextRange::empty(at));
        at += line.len() as u32;
        let text = line.trim();
        depth = depth.saturating_sub(usize::from(text.starts_with('}')));
        let code = format!("{:1$}{text}", "", 2 * depth);
        depth += usize::from(text.ends_with('{') && !text.starts_with('#'));
        if text.is_empty() || text.starts_with(['#', '}', '/']) || place.range.is_empty() {
            let _ = writeln!(out, "{code}");
            continue;
        }
        let said = place.source.unwrap_or_else(|| places.line(place.range.start).to_string());
        let _ = writeln!(out, "{code:COLUMN$}  // {said}");
    }
}
