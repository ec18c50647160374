//! `fencepost trace`: the run of each finding, one column a partition.

use std::io::{self, IsTerminal, Write};

use analysis::findings::Verdict;

use super::Exit;
use super::args::Trace;
use super::check::check;
use super::paint::{Paint, Style};
use super::sources::{Origin, Source};
use crate::lanes;
use crate::place::Places;

/// Wide enough for four partitions.
const WIDTH: usize = 120;

/// Prints the runs of a file's findings.
pub fn run(args: &Trace) -> io::Result<Exit> {
    let origin = if args.path.as_os_str() == "-" { Origin::Stdin } else { Origin::File(args.path.clone()) };
    let file = check(&Source { origin, named: true });
    let paint = Paint::stdout(args.color);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let analysis = match &file.result {
        Ok(analysis) => analysis,
        Err(trouble) => {
            writeln!(io::stderr(), "fencepost: {}: {}", file.path, trouble.message)?;
            return Ok(Exit::Trouble);
        }
    };
    let places = Places::new(&file.text);
    let width = args.width.unwrap_or_else(terminal_width);
    let wanted = |at: usize| args.finding.is_none_or(|number| number.get() == at + 1);
    let mut shown = 0;
    for (at, finding) in file.findings().enumerate().filter(|(at, _)| wanted(*at)) {
        shown += 1;
        let (line, column) = places.line_column(finding.range.start);
        let head = format!("finding {} of {}: {}", at + 1, file.findings().count(), finding.kind.name());
        writeln!(out, "{}", paint.text(Style::Bold, &head))?;
        writeln!(out, "{}", finding.message)?;
        writeln!(out, "{}:{line}:{column}, kernel @{}", file.path, finding.kernel)?;
        let with = lanes::inputs(&finding.inputs);
        if !with.is_empty() {
            writeln!(out, "{with}")?;
        }
        if finding.run.is_empty() {
            writeln!(out, "no run leads here: it holds wherever this line is executed\n")?;
        } else {
            writeln!(out, "\n{}", lanes::draw(finding, &places, width))?;
        }
    }
    if let (0, Some(number)) = (shown, args.finding) {
        let count = file.findings().count();
        writeln!(io::stderr(), "fencepost: {}: there is no finding {number}, there are {count}", file.path)?;
        return Ok(Exit::Trouble);
    }
    for error in &analysis.syntax {
        let (line, column) = places.line_column(error.range.start);
        writeln!(out, "{}:{line}:{column}: syntax error: {}", file.path, error.message)?;
    }
    if args.finding.is_none() {
        for kernel in analysis.kernels.iter().filter(|kernel| kernel.verdict != Verdict::Found) {
            let line = places.line(kernel.range.start);
            writeln!(out, "{}:{line}: kernel @{} is {}", file.path, kernel.name, kernel.verdict.name())?;
        }
    }
    out.flush()?;
    Ok(if !analysis.syntax.is_empty() {
        Exit::Trouble
    } else if shown > 0 {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

/// `COLUMNS` is exported by few shells, so this is often the default.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.filter(|_| io::stdout().is_terminal()).unwrap_or(WIDTH)
}
