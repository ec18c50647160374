//! What a campaign says, in words and counts.

use super::Campaign;
use super::campaign::{Case, name};
use super::make::Class;
use super::meaning::Meaning;
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
    /// Programs that do the same.
    pub equivalent: usize,
    /// Flagged.
    pub found: usize,
    /// Flagged, and the device shows the change too.
    pub shown: usize,
    /// Not flagged, and known to change something.
    pub gaps: usize,
    /// Not flagged, and unknown.
    pub unknown: usize,
}

impl Counts {
    fn add(&mut self, case: &Case) {
        self.made += 1;
        match case.meaning {
            Meaning::Rejected => self.rejected += 1,
            Meaning::Equivalent(_) => self.equivalent += 1,
            Meaning::Found(shown) => {
                self.found += 1;
                self.shown += usize::from(shown);
            }
            Meaning::Gap(_) => self.gaps += 1,
            Meaning::Unknown(_) => self.unknown += 1,
        }
    }

    /// How many of those that change something are found, in percent; what is unknown counts as missed.
    pub fn percent(&self) -> f64 {
        let changed = self.found + self.gaps + self.unknown;
        if changed == 0 { 100.0 } else { 100.0 * self.found as f64 / changed as f64 }
    }

    fn cells(&self) -> [String; 8] {
        let Counts { made, rejected, equivalent, found, shown, gaps, unknown } = *self;
        let percent = format!("{:.1} %", self.percent());
        let [made, rejected, equivalent, found] = [made, rejected, equivalent, found].map(|count| count.to_string());
        let [shown, gaps, unknown] = [shown, gaps, unknown].map(|count| count.to_string());
        [made, rejected, equivalent, found, shown, gaps, unknown, percent]
    }
}

const HEAD: [&str; 8] = ["made", "rejected", "equivalent", "found", "shown", "gaps", "unknown", "found of changed"];

/// Of all mutants.
pub fn total(campaign: &Campaign) -> Counts {
    let mut all = Counts::default();
    campaign.cases.iter().for_each(|case| all.add(case));
    all
}

/// A line each: a table's rows.
type Rows = Vec<(String, Counts)>;

fn rows<K: Ord>(campaign: &Campaign, key: impl Fn(&Case) -> K, name: impl Fn(&K) -> String) -> Rows {
    let mut groups: BTreeMap<K, Counts> = BTreeMap::new();
    for case in &campaign.cases {
        groups.entry(key(case)).or_default().add(case);
    }
    groups.iter().map(|(key, counts)| (name(key), *counts)).collect()
}

fn kernels(campaign: &Campaign) -> Rows {
    rows(campaign, |case| name(&case.file).to_string(), String::clone)
}

fn classes(campaign: &Campaign) -> Rows {
    rows(campaign, |case| case.mutant.class, |class: &Class| class.name().to_string())
}

fn mutations(campaign: &Campaign) -> Rows {
    rows(campaign, |case| (case.mutant.class, case.mutant.mutation), |(_, mutation)| (*mutation).to_string())
}

/// Survivors that mean the same, and where they stand.
fn survivors(campaign: &Campaign) -> BTreeMap<(&str, &str), Vec<String>> {
    let mut groups: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for case in &campaign.cases {
        if !matches!(case.meaning, Meaning::Rejected | Meaning::Found(_)) {
            let place = format!("{}:{} {}", name(&case.file), case.mutant.line, case.mutant.mutation);
            groups.entry((case.meaning.name(), case.meaning.why())).or_default().push(place);
        }
    }
    groups
}

/// For a terminal.
pub fn text(campaign: &Campaign) -> String {
    let mut out = String::new();
    for (title, rows) in [("mutation", mutations(campaign)), ("kernel", kernels(campaign))] {
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(title.len());
        let mut line = |name: &str, cells: &[String; 8]| {
            let _ = write!(out, "{name:<width$}");
            for (cell, head) in cells.iter().zip(HEAD) {
                let _ = write!(out, "  {cell:>0$}", head.len());
            }
            out.push('\n');
        };
        line(title, &HEAD.map(str::to_string));
        rows.iter().for_each(|(name, counts)| line(name, &counts.cells()));
        line("all", &total(campaign).cells());
        out.push('\n');
    }
    for ((meaning, why), places) in survivors(campaign) {
        let _ = writeln!(out, "{meaning} ({}): {why}", places.len());
        for place in places {
            let _ = writeln!(out, "  {place}");
        }
    }
    out.push('\n');
    for line in &campaign.stale {
        let _ = writeln!(out, "{line}");
    }
    out + &closing(campaign)
}

/// For a page.
pub fn markdown(campaign: &Campaign) -> String {
    let mut out = String::new();
    for (title, rows) in
        [("class", classes(campaign)), ("mutation", mutations(campaign)), ("kernel", kernels(campaign))]
    {
        let _ = writeln!(out, "| {title} | {} |\n| --- |{}", HEAD.join(" | "), " ---: |".repeat(HEAD.len()));
        let all = ("all".to_string(), total(campaign));
        for (name, counts) in rows.iter().chain([&all]) {
            let _ = writeln!(out, "| {name} | {} |", counts.cells().join(" | "));
        }
        out.push('\n');
    }
    for ((meaning, why), places) in survivors(campaign) {
        let _ = writeln!(out, "- **{meaning}** ({}): {why}\n  ({})", places.len(), places.join(", "));
    }
    out + "\n" + &closing(campaign)
}

fn closing(campaign: &Campaign) -> String {
    let all = total(campaign);
    let (judging, playing) = (campaign.judging.as_secs_f64(), campaign.playing.as_secs_f64());
    format!(
        "{} of {} mutants that change something are found ({:.1} %); the second machine shows {} of them; \
         {judging:.1} s of analysis, {playing:.1} s of play\n",
        all.found,
        all.found + all.gaps + all.unknown,
        all.percent(),
        all.shown,
    )
}

/// For other tools.
pub fn json(campaign: &Campaign) -> String {
    let rows: Vec<_> = campaign.cases.iter().map(|case| row(case, &case.file)).collect();
    let json = json!({ "schema": 1, "mutants": rows, "stale": campaign.stale });
    serde_json::to_string_pretty(&json).unwrap_or_default()
}
