//! What a run says of a kernel in Python, in the names that the analysis has for its partitions and ops.

use engine::instances::{ElaboratedInstance, Elaboration};
use findings::{Finding, KernelReport, Note};

/// Renames what is said of kernels that were compiled from Python.
pub(super) fn in_python(kernels: &mut [KernelReport], elaboration: &Elaboration) {
    for report in kernels {
        let of = elaboration.kernels.iter().find(|kernel| kernel.entry.name == report.name);
        let Some(instance) = of.and_then(|kernel| kernel.instances.first()) else { continue };
        report.findings.iter_mut().for_each(|finding| rename(finding, instance));
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
