//! Fixes on the corpus: each is applied to the text, and the text is analysed anew.
//!
//! `--nocapture` prints how many broken twins get one.

use base::{Cancel, Limits};
use engine::{Analysis, Engine};
use fencepost_tests::corpus::manifest;
use fencepost_tests::sources::root;
use findings::{Finding, Kind, Severity};
use fixes as fix;
use ttgir::Document;

fn analyse(engine: &mut Engine, text: &str) -> Analysis {
    engine.analyse(&Document::new(text), &Cancel::never()).expect("nobody cancels")
}

fn findings(analysis: &Analysis) -> Vec<&Finding> {
    let all = analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    all.filter(|finding| finding.kind != Kind::Unmodelled && finding.severity != Severity::Hint).collect()
}

#[test]
fn most_broken_twins_get_a_fix_that_holds() {
    let folder = root().join("corpus");
    let (mut broken, mut some, mut all) = (0, 0, 0);
    for row in manifest(&folder).expect("the corpus has a manifest") {
        let text = std::fs::read_to_string(folder.join(&row.file)).expect("the file is there");
        let mut engine = Engine::new(Limits::default());
        let before = analyse(&mut engine, &text);
        let known = findings(&before);
        if row.bug.is_none() {
            assert_eq!(engine.explorations(), 1, "{}: a clean kernel costs nothing more", row.file);
            continue;
        }
        broken += 1;
        some += usize::from(known.iter().any(|finding| finding.fix.is_some()));
        all += usize::from(known.iter().all(|finding| finding.fix.is_some()));
        for finding in &known {
            let Some(offered) = &finding.fix else { continue };
            let fixed = fix::apply(&text, &offered.edits).expect("edits ascend and are disjoint");
            let after = analyse(&mut Engine::new(Limits::default()), &fixed);
            let left = findings(&after);
            assert!(after.syntax.is_empty(), "{}: {}", row.file, offered.title);
            assert!(left.len() < known.len(), "{}: {}", row.file, offered.title);
        }
        let explored = engine.explorations();
        let again = analyse(&mut engine, &text.replacen("module attributes", "module  attributes", 1));
        assert_eq!(engine.explorations(), explored, "{}: an edit that keeps the kernel explores nothing", row.file);
        let titles = |all: Vec<&Finding>| -> Vec<Option<String>> {
            all.into_iter().map(|finding| finding.fix.as_ref().map(|fix| fix.title.clone())).collect()
        };
        assert_eq!(titles(known), titles(findings(&again)), "{}", row.file);
    }
    println!("{broken} broken twins: {some} get a fix, {all} one for every finding");
    assert!(some * 3 >= broken * 2);
}
