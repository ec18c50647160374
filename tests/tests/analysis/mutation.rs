//! The mutation tool on a part of the corpus: `cargo xtask mutate` runs all of it.

use fencepost_tests::mutate::{Choice, Meaning, campaign, report};
use fencepost_tests::sources::root;

fn run(kernels: &[&str], sample: Option<usize>) -> campaign::Campaign {
    let choice = Choice { kernels: kernels.iter().map(|glob| (*glob).to_string()).collect(), sample };
    campaign::run(&root().join("corpus"), &choice).expect("the corpus can be read")
}

#[test]
fn slips_are_found_and_survivors_are_known() {
    let campaign = run(&["ws_gemm", "tc05_ws_gemm", "cp_async_gemm", "static_stages"], None);
    let all = report::total(&campaign);
    assert!(all.made > 100, "{all:?}");
    assert_eq!(campaign.stale, Vec::<String>::new());
    let unknown: Vec<_> = campaign.cases.iter().filter(|case| matches!(case.meaning, Meaning::Unknown(_))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // What is found, a second machine shows too: no alarm is false.
    assert_eq!(all.shown, all.found, "{}", report::text(&campaign));
}

#[test]
fn a_sample_is_spread_and_the_same_each_time() {
    let (first, again) = (run(&["sm_90/*"], Some(40)), run(&["sm_90/*"], Some(40)));
    let names = |campaign: &campaign::Campaign| -> Vec<(String, String)> {
        campaign.cases.iter().map(|case| (case.file.clone(), case.mutant.id())).collect()
    };
    assert_eq!(names(&first), names(&again));
    assert_eq!(first.cases.len(), 40);
    let mut files: Vec<&String> = first.cases.iter().map(|case| &case.file).collect();
    files.dedup();
    assert!(files.len() > 10, "{files:?}");
}

#[test]
#[ignore = "half a minute: the whole corpus"]
fn nearly_all_slips_are_found() {
    let campaign = run(&[], None);
    let all = report::total(&campaign);
    assert_eq!(campaign.stale, Vec::<String>::new());
    assert_eq!(all.unknown, 0, "{}", report::text(&campaign));
    assert!(all.percent() >= 97.0, "{}", report::text(&campaign));
}
