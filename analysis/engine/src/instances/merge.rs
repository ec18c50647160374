//! The reports on a kernel's instances as one.

use super::KernelInstances;
use super::budget::LEFT_OUT;
use super::premise::{Key, blames, depends, groups, key, tells};
use base::TextRange;
use findings::{Finding, GlobalMemoryReport, KernelReport, Kind, Severity, Verdict};

/// Instances that a condition names; more are counted.
const NAMED: usize = 3;

/// A finding that is not there with another value in place of a chosen one, in words:
/// `with BLOCK=128, which was chosen; with BLOCK=64 it is not there`.
pub(super) type Premise = (Key, String);

/// One report for all instances of a kernel. `premises` says which findings another chosen value takes away.
pub(super) fn merged(kernel: &KernelInstances, reports: Vec<KernelReport>, premises: &[Premise]) -> KernelReport {
    let (groups, count) = (groups(kernel), reports.len());
    let told: Vec<bool> = reports.iter().flat_map(|it| reports.iter().map(move |other| tells(it, other))).collect();
    let launches = |at: usize| kernel.instances.get(at).map(|elaborated| &elaborated.instance.launches);
    // Of a way through the host code that leads to one of two with other chosen values alone, the other one tells nothing.
    let has_launches_of = |sibling: usize, at: usize| match (launches(sibling), launches(at)) {
        (Some(siblings), Some(own)) => own.iter().all(|launch| siblings.contains(launch)),
        _ => true,
    };
    let tell = |sibling: usize, at: usize| {
        told.get(sibling * count + at).copied().unwrap_or(false) && has_launches_of(sibling, at)
    };
    let broken = reports.iter().any(|it| it.broken);
    let (runs, steps) = (reports.iter().map(|it| it.runs).sum(), reports.iter().map(|it| it.steps).sum());
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(reports.len());
    let mut globals: Vec<(usize, GlobalMemoryReport)> = Vec::new();
    let mut found: Vec<(Key, Finding, Vec<usize>)> = Vec::new();
    for (number, report) in reports.into_iter().enumerate() {
        verdicts.push(report.verdict);
        globals.extend(report.global.map(|global| (number, global)));
        for finding in report.findings {
            let key = key(&finding);
            match found.iter_mut().find(|(known, ..)| *known == key) {
                Some((_, _, numbers)) => numbers.push(number),
                None => found.push((key, finding, vec![number])),
            }
        }
    }
    let mut global = GlobalMemoryReport::merged(globals.iter().map(|(_, global)| global.clone()));
    if let Some(global) = &global {
        // What one instance rests on, all of them do.
        for (number, of) in &globals {
            let verdict = verdicts.get_mut(*number).filter(|verdict| **verdict == of.told());
            if let Some(verdict) = verdict.filter(|_| of.rank() == global.rank()) {
                *verdict = global.told();
            }
        }
    }
    if let Some(global) = &mut global {
        let proved = global.told();
        // Whoever generates a kernel says of all its launches what they are.
        global.own_up(kernel.entry.generated.is_some());
        verdicts.iter_mut().filter(|verdict| **verdict == proved).for_each(|verdict| *verdict = global.told());
    }
    let mut hints: Vec<usize> = Vec::new();
    let mut blamed: Vec<usize> = Vec::new();
    let mut findings: Vec<Finding> = Vec::with_capacity(found.len());
    for (key, mut finding, mut numbers) in found {
        numbers.dedup();
        let premise = premises.iter().find(|(known, _)| *known == key).map(|(_, premise)| premise);
        if blames(&finding) {
            let words = match premise {
                Some(premise) => Some(format!(" ({premise})")),
                None if depends(&groups, &numbers, &tell) => chosen_conditions(kernel, &numbers),
                None => None,
            };
            match words {
                Some(words) => {
                    finding.severity = Severity::Hint;
                    finding.message.push_str(&words);
                    hints.extend(&numbers);
                }
                None => {
                    finding.message.push_str(&conditions(kernel, &numbers));
                    blamed.extend(&numbers);
                }
            }
        } else {
            finding.message.push_str(&conditions(kernel, &numbers));
        }
        finding.kernel.clone_from(&kernel.entry.name);
        findings.push(finding);
    }
    // An instance whose findings all became hints is blamed for nothing; of races in global memory, not cleared either.
    let races = |severity: fn(Severity) -> bool| {
        findings.iter().any(|finding| finding.kind == Kind::GlobalRace && severity(finding.severity))
    };
    let rests = races(|severity| severity == Severity::Hint) && !races(|severity| severity <= Severity::Warning);
    let undecided = || Verdict::Undecided(vec![RACES_REST.to_owned()]);
    if rests
        && let Some(global) = &mut global
        && global.verdict == Verdict::Found
    {
        global.verdict = undecided();
    }
    for (number, verdict) in verdicts.iter_mut().enumerate() {
        if *verdict == Verdict::Found && hints.contains(&number) && !blamed.contains(&number) {
            *verdict = if rests { undecided() } else { Verdict::Clean(RESTS.to_owned()) };
        }
    }
    findings.sort_by_key(|finding| (finding.severity, finding.range));
    let verdict = verdict(kernel, &verdicts);
    let pin = matches!(verdict, Verdict::Undecided(_)).then(|| kernel.pin()).flatten();
    let name = kernel.entry.name.clone();
    KernelReport {
        name,
        range: TextRange::default(),
        verdict,
        findings,
        suppressed: Vec::new(),
        runs,
        steps,
        proof: None,
        pin,
        global,
        broken,
    }
}

/// The verdict on a kernel with hints that rest on chosen values, and nothing else.
pub(super) const RESTS: &str = "no finding that does not rest on chosen values";

/// Why global memory is not decided where some values that were chosen make a race and others do not.
const RACES_REST: &str = "programs race with some of the values that were chosen, and not with others";

/// [`conditions`] of a finding that is there with some chosen values only.
fn chosen_conditions(kernel: &KernelInstances, numbers: &[usize]) -> Option<String> {
    let words = conditions(kernel, numbers);
    let words = words.strip_suffix(')')?;
    Some(format!("{words}, which was chosen; nothing launches it so)"))
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

fn verdict(kernel: &KernelInstances, verdicts: &[Verdict]) -> Verdict {
    if verdicts.is_empty() {
        return Verdict::Undecided(vec!["nothing is known that it could be launched with".to_owned()]);
    }
    if verdicts.contains(&Verdict::Found) {
        return Verdict::Found;
    }
    let mut reasons: Vec<(&String, Vec<usize>)> = Vec::new();
    for (number, verdict) in verdicts.iter().enumerate() {
        let Verdict::Undecided(why) = verdict else { continue };
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
    let rests = verdicts.iter().find(|verdict| matches!(verdict, Verdict::Clean(how) if how == RESTS));
    let left = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Clean(how) if how == LEFT_OUT)).count();
    if left > 0 {
        // What was left out may be another kernel: nothing is proved of it.
        let how = rests.into_iter().chain(verdicts).find_map(|verdict| match verdict {
            Verdict::Clean(how) | Verdict::Proved(how) if how != LEFT_OUT => Some(how),
            _ => None,
        });
        let how = how.map_or("", String::as_str);
        return Verdict::Clean(format!("{how}{with}; not finished: {left} of them {LEFT_OUT}"));
    }
    let clean = rests.into_iter().chain(verdicts).find_map(|verdict| match verdict {
        Verdict::Clean(how) => Some(Verdict::Clean(format!("{how}{with}"))),
        _ => None,
    });
    let proved = verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Proved(how) => Some(Verdict::Proved(format!("{how}{with}"))),
        _ => None,
    });
    clean.or(proved).unwrap_or_else(|| Verdict::Undecided(vec!["it was not analysed".to_owned()]))
}

/// What the verdict is about: what was assumed, and the host code that may launch the kernel with something else.
fn with(kernel: &KernelInstances) -> String {
    let mut with = values(kernel);
    if !kernel.unfollowed.is_empty() {
        let named: Vec<String> = kernel.unfollowed.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = kernel.unfollowed.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        with.push_str(&format!("; not followed to its launches: {}{more}", named.join(", ")));
    }
    if kernel.left_out > 0 {
        let launches = if kernel.left_out == 1 { "launch that is" } else { "launches that are" };
        with.push_str(&format!("; left out: {} {launches} known in part", kernel.left_out));
    }
    with
}

/// What the kernel is launched with, given or assumed.
fn values(kernel: &KernelInstances) -> String {
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
