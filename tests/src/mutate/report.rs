//! What a campaign says, in words and counts.

use super::Campaign;
use super::campaign::{Case, name};
use super::judge::Verdict;
use super::make::Class;
use super::write::row;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of one group of mutants.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// All.
    pub made: usize,
    /// No programs.
    pub rejected: usize,
    /// Flagged.
    pub found: usize,
    /// Not flagged, and something is open.
    pub undecided: usize,
    /// Not flagged.
    pub survived: usize,
}

impl Counts {
    fn add(&mut self, case: &Case) {
        self.made += 1;
        match case.verdict {
            Verdict::Rejected(_) => self.rejected += 1,
            Verdict::Found(_) => self.found += 1,
            Verdict::Undecided(_) => self.undecided += 1,
            Verdict::Survived(_) => self.survived += 1,
        }
    }
}

/// Counts by a key, and all together.
fn counts<K: Ord>(campaign: &Campaign, key: impl Fn(&Case) -> K) -> (BTreeMap<K, Counts>, Counts) {
    let (mut groups, mut all) = (BTreeMap::new(), Counts::default());
    for case in &campaign.cases {
        groups.entry(key(case)).or_insert_with(Counts::default).add(case);
        all.add(case);
    }
    (groups, all)
}

/// For a terminal.
pub fn text(campaign: &Campaign) -> String {
    let mut out = String::new();
    let (kernels, all) = counts(campaign, |case| name(&case.file).to_string());
    let (classes, _) = counts(campaign, |case| case.mutant.class);
    let _ = writeln!(
        out,
        "{:<34} {:>6} {:>9} {:>6} {:>10} {:>9}",
        "", "made", "rejected", "found", "undecided", "survived"
    );
    let mut line = |name: &str, counts: &Counts| {
        let Counts { made, rejected, found, undecided, survived } = counts;
        let _ = writeln!(out, "{name:<34} {made:>6} {rejected:>9} {found:>6} {undecided:>10} {survived:>9}");
    };
    kernels.iter().for_each(|(name, counts)| line(name, counts));
    Class::ALL.iter().filter_map(|class| Some((class, classes.get(class)?))).for_each(|(c, n)| line(c.name(), n));
    line("all", &all);
    for case in &campaign.cases {
        let (word, more) = match &case.verdict {
            Verdict::Survived(hints) => ("survived", hints.join(", ")),
            Verdict::Undecided(why) => ("undecided", why.join("; ")),
            Verdict::Rejected(why) => ("rejected", why.clone()),
            Verdict::Found(_) => continue,
        };
        let _ = writeln!(out, "{word} {}:{} {} {more}", case.file, case.mutant.line, case.mutant.mutation);
    }
    let _ = writeln!(out, "{} mutants in {:.1} s", all.made, campaign.took.as_secs_f64());
    out
}

/// For other tools.
pub fn json(campaign: &Campaign) -> String {
    let rows: Vec<_> = campaign.cases.iter().map(|case| row(case, &case.file)).collect();
    serde_json::to_string_pretty(&json!({ "schema": 1, "mutants": rows })).unwrap_or_default()
}
