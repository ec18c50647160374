//! What several runs said of one kernel as one report.

use findings::{Finding, KernelReport, Verdict};

/// Adds what a run said. A finding that is there already is not repeated.
pub(crate) fn merge(into: &mut Vec<KernelReport>, reports: &[KernelReport]) {
    for report in reports {
        let known = into.iter_mut().find(|known| known.name == report.name && known.range == report.range);
        let Some(known) = known else {
            into.push(report.clone());
            continue;
        };
        for finding in &report.findings {
            if !known.findings.iter().any(|other| same(other, finding)) {
                known.findings.push(finding.clone());
            }
        }
        known.findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
        known.runs += report.runs;
        known.steps += report.steps;
        known.verdict = worse(&known.verdict, &report.verdict);
    }
}

/// Whether two findings say the same at the same places, however often it happened.
fn same(a: &Finding, b: &Finding) -> bool {
    let places = |finding: &Finding| finding.sites.iter().map(|site| site.range).collect::<Vec<_>>();
    (a.kind, a.range) == (b.kind, b.range) && places(a) == places(b)
}

fn worse(a: &Verdict, b: &Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Found, _) | (_, Verdict::Found) => Verdict::Found,
        (Verdict::Undecided(one), Verdict::Undecided(other)) => {
            let mut all = one.clone();
            all.extend(other.iter().filter(|why| !one.contains(why)).cloned());
            Verdict::Undecided(all)
        }
        (Verdict::Undecided(why), _) | (_, Verdict::Undecided(why)) => Verdict::Undecided(why.clone()),
        (verdict, _) => verdict.clone(),
    }
}
