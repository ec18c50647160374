//! The packed-columns race in a whole attention kernel, in every form: `tests/kernels/packed/`.
//!
//! Two groups of rows keep `m` and `l` in columns of their scores. Broken, the score MMA overwrites
//! them before they are read; with a wait at the wrong cadence the kernel hangs. The coverage table
//! has to show exactly those two as missing, of both groups, and everything as ordered where they are
//! waited for.

use base::{Cancel, Limits};
use engine::Engine;
use fencepost_tests::sources::root;
use findings::{KernelReport, Kind, Verdict};
use report::{CoverageOrder, Report};
use ttgir::Document;

fn text(name: &str) -> String {
    let path = root().join("kernels/packed").join(name).with_extension("ttgir");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check(name: &str) -> KernelReport {
    let analysis = Engine::new(Limits::default()).analyse(&Document::new(text(name)), &Cancel::never());
    let analysis = analysis.unwrap_or_else(|_| panic!("nobody cancels"));
    assert!(analysis.syntax.is_empty(), "{name}: {:?}", analysis.syntax);
    analysis.kernels.into_iter().next().unwrap_or_else(|| panic!("{name} has no kernel"))
}

fn report(name: &str) -> Report {
    let report = Engine::new(Limits::default()).report(&Document::new(text(name)), 0, &Cancel::never());
    report.unwrap_or_else(|_| panic!("nobody cancels")).unwrap_or_else(|| panic!("{name} has no kernel"))
}

/// `%p3_m0` is `m0`: the name that a partition gives to what it captures or slices.
fn bare(name: &str) -> &str {
    name.rsplit('_').next().unwrap_or(name).trim_start_matches('%')
}

/// Rows of the coverage table that score MMAs have, as (member, how it is ordered).
fn rows(report: &Report) -> Vec<(String, &'static str)> {
    let scores =
        |number: usize| bare(&report.buffers[number].name).starts_with('s') && report.buffers[number].members.len() > 4;
    let mut rows = Vec::new();
    for block in report.coverage.iter().filter(|block| scores(block.buffer) && block.clears) {
        for row in &block.rows {
            let member = bare(&report.buffers[block.buffer].members[row.member].name).to_owned();
            let order = match &row.order {
                CoverageOrder::Missing { .. } => "missing",
                CoverageOrder::Never(_) | CoverageOrder::Unknown(_) => "unknown",
                CoverageOrder::Program | CoverageOrder::Edges(_) | CoverageOrder::Through { .. } => "ordered",
            };
            rows.push((member, order));
        }
    }
    rows.sort();
    rows.dedup();
    rows
}

fn missing(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for block in &report.coverage {
        for row in &block.rows {
            if matches!(row.order, CoverageOrder::Missing { .. }) {
                names.push(bare(&report.buffers[block.buffer].members[row.member].name).to_owned());
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

fn fixed(name: &str) {
    let kernel = check(name);
    assert!(matches!(kernel.verdict, Verdict::Proved(_)), "{name}: {:?} {:?}", kernel.verdict, kernel.findings);
    assert_eq!(kernel.findings, [], "{name}");
    let report = report(name);
    assert_eq!(missing(&report), [] as [String; 0], "{name}");
    let rows = rows(&report);
    for member in ["s0", "p0", "alpha0", "m0", "l0", "s1", "p1", "alpha1", "m1", "l1"] {
        assert!(rows.contains(&(member.to_owned(), "ordered")), "{name}: {member} in {rows:?}");
    }
    assert!(rows.iter().all(|row| row.1 == "ordered"), "{name}: {rows:?}");
}

/// Races, each of a score MMA against `m` or `l` of its group: one each of all four.
fn broken(name: &str) {
    let text = text(name);
    let kernel = check(name);
    let mut members = Vec::new();
    for finding in &kernel.findings {
        assert_eq!(finding.kind, Kind::PackedOverwrite, "{name}: {}", finding.message);
        let site =
            |at: usize| bare(&text[finding.sites[at].range.start as usize..finding.sites[at].range.end as usize]);
        let (member, scores) = (site(0), site(1));
        let group = member.trim_start_matches(['m', 'l']);
        assert!(member.starts_with(['m', 'l']) && scores == format!("s{group}"), "{name}: {member} {scores}");
        assert!(finding.message.contains("before the loop over"), "{name}: {}", finding.message);
        members.push(member.to_owned());
    }
    members.sort();
    assert_eq!(members, ["l0", "l1", "m0", "m1"], "{name}");
    let report = report(name);
    assert_eq!(missing(&report), ["l0", "l1", "m0", "m1"], "{name}");
    let rows = rows(&report);
    assert!(
        rows.contains(&("alpha0".to_owned(), "ordered")) && rows.contains(&("alpha1".to_owned(), "ordered")),
        "{name}: {rows:?}"
    );
}

fn wrong_cadence(name: &str) {
    let kinds: Vec<Kind> = check(name).findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::Deadlock], "{name}");
}

#[test]
fn with_mbarriers() {
    fixed("final_fixed");
    broken("final_broken");
    wrong_cadence("final_cadence");
}

#[test]
fn with_tokens_in_partitions() {
    fixed("token_fixed");
    broken("token_broken");
    wrong_cadence("token_cadence");
}

#[test]
fn with_tokens_in_one_region() {
    fixed("tagged_fixed");
    broken("tagged_broken");
    wrong_cadence("tagged_cadence");
}

/// Before code partitioning nothing orders the tasks but the channels that it will insert: those of
/// `m` and `l` do not reach the score MMA. In buffers of their own they need not.
#[test]
fn before_code_partitioning() {
    let packed = report("planned_packed");
    assert_eq!(missing(&packed), ["l0", "l1", "m0", "m1"]);
    let apart = report("planned_apart");
    assert_eq!(missing(&apart), [] as [String; 0]);
}
