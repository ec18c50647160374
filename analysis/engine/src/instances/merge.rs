//! The reports on a kernel's instances as one.

use super::KernelInstances;
use super::blame::cause;
use base::TextRange;
use findings::{Finding, KernelReport, Kind, Severity, Verdict};

/// Instances that a condition names; more are counted.
const NAMED: usize = 3;

/// What tells a finding from others of its kernel: what and where, whatever the instance.
type Key = (Kind, TextRange, Vec<TextRange>, Severity);

fn key(finding: &Finding) -> Key {
    // What is missing at a call is one thing, whichever accesses behind it an instance has.
    let sites = finding.sites.iter().map(|site| site.range);
    let sites = if cause(finding).is_some() { vec![finding.range] } else { sites.collect() };
    (finding.kind, finding.range, sites, finding.severity)
}

/// One report for all instances of a kernel.
pub(super) fn merged(kernel: &KernelInstances, reports: Vec<KernelReport>) -> KernelReport {
    let verdict = verdict(kernel, &reports);
    let (runs, steps) = (reports.iter().map(|it| it.runs).sum(), reports.iter().map(|it| it.steps).sum());
    let mut found: Vec<(Key, Finding, Vec<usize>)> = Vec::new();
    for (number, report) in reports.into_iter().enumerate() {
        for finding in report.findings {
            let key = key(&finding);
            match found.iter_mut().find(|(known, ..)| *known == key) {
                Some((_, _, numbers)) => numbers.push(number),
                None => found.push((key, finding, vec![number])),
            }
        }
    }
    let findings = found.into_iter().map(|(_, mut finding, mut numbers)| {
        numbers.dedup();
        finding.message.push_str(&conditions(kernel, &numbers));
        finding.kernel = kernel.entry.name.clone();
        finding
    });
    let mut findings: Vec<Finding> = findings.collect();
    findings.sort_by_key(|finding| (finding.severity, finding.range));
    KernelReport { name: kernel.entry.name.clone(), range: TextRange::default(), verdict, findings, runs, steps }
}

/// ` when num_buffers=1`: in which of the instances something holds; empty where it does in all.
pub(super) fn conditions(kernel: &KernelInstances, numbers: &[usize]) -> String {
    let all = kernel.instances.len();
    if numbers.len() >= all {
        return String::new();
    }
    let label = |&number: &usize| kernel.instances.get(number).map(|elaborated| elaborated.instance.label.as_str());
    let labels: Vec<&str> = numbers.iter().filter_map(label).filter(|label| !label.is_empty()).collect();
    if labels.is_empty() {
        return String::new();
    }
    let named = labels.iter().take(NAMED).copied().collect::<Vec<_>>().join(" or ");
    if labels.len() > NAMED {
        return format!(" (in {} of {all} instances, such as {named})", labels.len());
    }
    format!(" (when {named})")
}

fn verdict(kernel: &KernelInstances, reports: &[KernelReport]) -> Verdict {
    if reports.is_empty() {
        return Verdict::Undecided(vec!["nothing is known that it could be launched with".to_owned()]);
    }
    if reports.iter().any(|report| report.verdict == Verdict::Found) {
        return Verdict::Found;
    }
    let mut reasons: Vec<(&String, Vec<usize>)> = Vec::new();
    for (number, report) in reports.iter().enumerate() {
        let Verdict::Undecided(why) = &report.verdict else { continue };
        for reason in why {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, numbers)) => numbers.push(number),
                None => reasons.push((reason, vec![number])),
            }
        }
        if why.is_empty() {
            return Verdict::Undecided(vec!["it could not be elaborated".to_owned()]);
        }
    }
    if !reasons.is_empty() {
        let said = reasons.into_iter().map(|(why, numbers)| format!("{why}{}", conditions(kernel, &numbers)));
        return Verdict::Undecided(said.collect());
    }
    let with = with(kernel);
    let clean = reports.iter().find_map(|report| match &report.verdict {
        Verdict::Clean(how) => Some(Verdict::Clean(format!("{how}{with}"))),
        _ => None,
    });
    let proved = reports.iter().find_map(|report| match &report.verdict {
        Verdict::Proved(how) => Some(Verdict::Proved(format!("{how}{with}"))),
        _ => None,
    });
    clean.or(proved).unwrap_or_else(|| Verdict::Undecided(vec!["it was not analysed".to_owned()]))
}

/// What the verdict is about: what was assumed.
fn with(kernel: &KernelInstances) -> String {
    match kernel.instances.as_slice() {
        [] => String::new(),
        [one] if one.instance.hint.is_empty() => String::new(),
        [one] => format!("; with {}", one.instance.hint),
        many => {
            let labels: Vec<&str> = many.iter().map(|elaborated| elaborated.instance.label.as_str()).collect();
            let named = labels.iter().take(NAMED).copied().collect::<Vec<_>>().join("; ");
            let more = labels.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            format!("; in {} instances: {named}{more}", labels.len())
        }
    }
}
