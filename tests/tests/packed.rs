//! The packed-columns race in a whole attention kernel, in every form: `tests/kernels/packed/`.
//!
//! Two groups of rows keep `m` and `l` in columns of their scores. Broken, the score MMA overwrites
//! them before they are read; with a wait at the wrong cadence the kernel hangs.

use analysis::Engine;
use analysis::base::{Cancel, Limits};
use analysis::findings::{KernelReport, Kind, Verdict};
use analysis::syntax::ttgir::Document;
use fencepost_tests::sources::root;

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

fn fixed(name: &str) {
    let kernel = check(name);
    assert!(matches!(kernel.verdict, Verdict::Proved(_)), "{name}: {:?} {:?}", kernel.verdict, kernel.findings);
    assert_eq!(kernel.findings, [], "{name}");
}

/// Races, each of a score MMA against `m` or `l` of its group, and both groups have one.
fn broken(name: &str) {
    let text = text(name);
    let kernel = check(name);
    for finding in &kernel.findings {
        assert_eq!(finding.kind, Kind::PackedOverwrite, "{name}: {}", finding.message);
        let sites: Vec<&str> =
            finding.sites.iter().map(|site| &text[site.range.start as usize..site.range.end as usize]).collect();
        let [member, scores] = sites.as_slice() else { panic!("{name}: {sites:?}") };
        let member = member.rsplit('_').next().unwrap_or(member).trim_start_matches('%');
        let group = member.trim_start_matches(['m', 'l']);
        assert!(member.starts_with(['m', 'l']) && scores.ends_with(&format!("s{group}")), "{name}: {sites:?}");
        assert!(finding.message.contains("before the loop over"), "{name}: {}", finding.message);
    }
    assert_eq!(kernel.findings.len(), 2, "{name}: {:?}", kernel.findings);
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
