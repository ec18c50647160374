//! Which kernels and findings the arguments mean.

use super::super::args::Trace;
use super::super::say;
use findings::KernelReport;
use render::check::CheckedFile;

/// The reports of the kernels that are asked for, with their numbers.
pub(crate) fn named<'a>(args: &Trace, file: &'a CheckedFile) -> Result<Vec<(usize, &'a KernelReport)>, String> {
    let reports = file.result.as_ref().map_or(&[][..], |analysis| analysis.kernels.as_slice());
    let named = |report: &KernelReport| args.kernel.as_ref().is_none_or(|name| *name == report.name);
    if let Some(name) = &args.kernel
        && !reports.iter().any(named)
    {
        return Err(say::no_kernel(name, reports.iter().map(|report| report.name.as_str())));
    }
    Ok(reports.iter().enumerate().filter(|(_, report)| named(report)).collect())
}

/// Refuses a number of a finding that there is not.
pub(crate) fn numbered(args: &Trace, count: usize) -> Result<(), String> {
    match args.finding.map(|number| number.get()) {
        Some(number) if number > count => Err(format!("there is no finding {number}, there are {count}")),
        _ => Ok(()),
    }
}
