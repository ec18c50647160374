//! What a run says of a kernel in Python, in the names that the analysis has for its partitions and ops.

use engine::instances::{ElaboratedInstance, Elaboration};
use findings::{Finding, KernelReport, Note};
use runtime::run::{RunEnd, RunReport};

/// Renames what is said of kernels that were compiled from Python.
pub(super) fn in_python(kernels: &mut [KernelReport], elaboration: &Elaboration) {
    for report in kernels {
        let of = elaboration.kernels.iter().find(|kernel| kernel.entry.name == report.name);
        let Some(instance) = of.and_then(|kernel| kernel.instances.first()) else { continue };
        report.findings.iter_mut().for_each(|finding| rename(finding, instance));
    }
}

/// Renames what is said of a run that has no place in the text; without a name the kernel is the only one.
pub(super) fn of_reasons(report: &mut RunReport, kernel: Option<&str>, elaboration: &Elaboration) {
    let of = match (kernel, elaboration.kernels.as_slice()) {
        (None, [only]) => Some(only),
        (name, all) => all.iter().find(|kernel| Some(kernel.entry.name.as_str()) == name),
    };
    let Some(instance) = of.and_then(|kernel| kernel.instances.first()) else { return };
    let say = |text: &mut String| *text = instance.say_of_compiled(text);
    report.elsewhere.iter_mut().for_each(say);
    if let RunEnd::Hung(why) | RunEnd::Undecided(why) = &mut report.end {
        why.iter_mut().for_each(say);
    }
}

fn rename(finding: &mut Finding, instance: &ElaboratedInstance) {
    let say = |text: &mut String| *text = instance.say_of_compiled(text);
    say(&mut finding.message);
    finding.sites.iter_mut().chain(&mut finding.context).for_each(|note: &mut Note| say(&mut note.text));
    for step in &mut finding.run {
        say(&mut step.partition);
        say(&mut step.text);
    }
}
