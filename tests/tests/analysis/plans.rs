//! Plans whose tasks nothing orders yet: what becomes of them where buffers with one `buffer.id` are
//! ordered as one, as code partitioning promises.

use base::{Cancel, Limits};
use engine::Engine;
use fencepost_tests::sources::sources;
use findings::Verdict;
use kernel::Stage;
use lower::{ChannelGrouping, LoweringOptions};
use report::CoverageOrder;
use ttgir::Document;

fn plans() -> Vec<(String, Document)> {
    let plans: Vec<(String, Document)> = sources()
        .into_iter()
        .filter(|(name, _)| name.starts_with("autows-plan.md"))
        .map(|(name, text)| (name, Document::new(text)))
        .collect();
    assert!(plans.len() >= 6, "the page has plans");
    plans
}

fn engine(channels: ChannelGrouping) -> Engine {
    Engine::new(Limits::default()).assume(LoweringOptions { channels })
}

#[test]
fn nothing_is_left_to_add_where_groups_are_ordered_as_one() {
    for (name, plan) in plans() {
        let analysis = engine(ChannelGrouping::Groups).analyse(&plan, &Cancel::never()).unwrap_or_default();
        assert_eq!(analysis.kernels.len(), 1, "{name}");
        for kernel in analysis.kernels {
            assert_eq!(kernel.findings, [], "{name}");
            assert!(matches!(kernel.verdict, Verdict::Undecided(_)), "{name}: {:?}", kernel.verdict);
        }
    }
}

#[test]
fn what_is_assumed_of_channels_holds_for_proofs_too() {
    let mut different = 0;
    for (name, plan) in plans() {
        let proofs = [ChannelGrouping::Own, ChannelGrouping::Groups].map(|channels| {
            let mut engine = engine(channels);
            let analysis = engine.analyse(&plan, &Cancel::never()).unwrap_or_default();
            let explored = engine.explorations();
            let proofs = engine.explain(&plan, &Cancel::never()).unwrap_or_default();
            assert_eq!(proofs.len(), analysis.kernels.len(), "{name}");
            assert_eq!(engine.explorations(), explored, "{name}: another kernel is explained than was analysed");
            proofs
        });
        different += usize::from(proofs[0] != proofs[1]);
    }
    assert!(different > 0, "the assumption changes no proof");
}

#[test]
fn only_what_is_read_after_the_inner_loop_lacks_an_edge() {
    let (mut missing, mut ordered) = (Vec::new(), 0);
    for (name, plan) in plans() {
        let reports = engine(ChannelGrouping::Own).reports(&plan, &Cancel::never()).unwrap_or_default();
        // What `%dq` lacks is a finding; its readers come after the overwrite in every run.
        for report in reports.into_iter().filter(|report| report.kernel != "backward") {
            assert_eq!(report.stage, Stage::Planned, "{name}");
            for coverage in &report.coverage {
                let buffer = &report.buffers[coverage.buffer];
                for row in &coverage.rows {
                    match &row.order {
                        CoverageOrder::Missing { .. } => {
                            missing.push((report.kernel.clone(), buffer.members[row.member].name.clone()))
                        }
                        CoverageOrder::Program | CoverageOrder::Edges(_) | CoverageOrder::Through { .. } => {
                            ordered += 1
                        }
                        CoverageOrder::Never(_) | CoverageOrder::Unknown(_) => {}
                    }
                }
            }
        }
    }
    missing.sort();
    missing.dedup();
    let missing: Vec<(&str, &str)> =
        missing.iter().map(|(kernel, member)| (kernel.as_str(), member.as_str())).collect();
    assert_eq!(missing, [("attention", "%l"), ("attention", "%m")]);
    assert!(ordered > 20, "{ordered} rows are ordered");
}
