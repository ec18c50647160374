//! The graphs of plans whose tasks hand over registers, and what reports say of them beside the graph.

use base::{Cancel, Limits};
use engine::Engine;
use fencepost_tests::sources::sources;
use report::{Direction, Report};
use ttgir::Document;

fn reports(page: &str) -> Vec<Report> {
    let pages = sources().into_iter().filter(|(name, _)| name.starts_with(page));
    let mut engine = Engine::new(Limits::default());
    pages
        .flat_map(|(_, text)| engine.reports(&Document::new(text), &Cancel::never()).expect("nobody cancels"))
        .collect()
}

/// `0 > 1 %a`: who hands what to whom, each once.
fn edges(report: &Report, direction: Direction) -> Vec<String> {
    let own = report.edges.iter().filter(|edge| edge.direction == direction);
    let mut edges: Vec<String> = own
        .flat_map(|edge| {
            edge.data.iter().map(|(buffer, member)| {
                let member = &report.buffers[*buffer].members[*member];
                format!("{} > {} {}", edge.from, edge.to, member.name)
            })
        })
        .collect();
    edges.sort();
    edges.dedup();
    edges
}

#[test]
fn registers_and_filled_allocations_have_their_edges() {
    let expected: &[(&str, &[&str])] = &[
        ("one_consumer", &["0 > 1 %a", "0 > 1 %b"]),
        ("two_consumers", &["0 > 1 %a", "0 > 1 %b", "0 > 2 %b", "0 > 2 %c"]),
        ("handed_out", &["0 > 1 %a", "1 > 2 %sum"]),
        ("round", &[]),
        ("straight", &["0 > 1 %l"]),
        ("many", &[]),
        ("branch", &["0 > 1 %l"]),
        ("epilogue", &["0 > 2 %acc", "1 > 0 %a", "1 > 0 %b"]),
        ("pair", &["0 > 2 %acc", "1 > 0 %a", "1 > 0 %b"]),
        ("loads_name_buffers", &["0 > 1 %a", "0 > 1 %b"]),
        ("tiles", &["0 > 1 %s"]),
        ("loop_in_a_tile", &[]),
    ];
    let reports = reports("autows-registers.md");
    assert_eq!(reports.len(), expected.len());
    for (report, (kernel, forward)) in reports.iter().zip(expected) {
        assert_eq!(report.kernel, *kernel);
        assert_eq!(edges(report, Direction::Forward), *forward, "{kernel}");
        // What was handed over and is handed over again in the next round leads back as well.
        if !matches!(*kernel, "epilogue" | "pair") {
            let back: Vec<String> = forward
                .iter()
                .map(|edge| {
                    let (who, what) = edge.rsplit_once(' ').expect("a member");
                    let (from, to) = who.split_once(" > ").expect("two tasks");
                    format!("{to} > {from} {what}")
                })
                .collect();
            let (mut found, mut back) = (edges(report, Direction::Backward), back);
            found.sort();
            back.sort();
            assert_eq!(found, back, "{kernel}");
        }
        assert!(report.edges.iter().filter(|edge| edge.barrier.is_some()).all(|edge| edge.planned), "{kernel}");
    }
}

#[test]
fn values_have_the_type_of_their_registers() {
    let reports = reports("autows-registers.md");
    let first = &reports[0];
    let values: Vec<(&str, &str, u64)> = first
        .buffers
        .iter()
        .filter(|buffer| buffer.registers)
        .map(|buffer| (buffer.name.as_str(), buffer.ty.split(',').next().unwrap_or_default(), buffer.size))
        .collect();
    assert_eq!(values, [("%a", "tensor<64x64xf16", 8192), ("%b", "tensor<64x64xf16", 8192)]);
    // Filled allocations are buffers of the text.
    assert!(reports[1].buffers.iter().all(|buffer| !buffer.registers));
}

#[test]
fn what_is_to_come_is_named_and_what_is_not_followed_makes_a_report_partial() {
    for report in reports("autows-registers.md") {
        let passes: Vec<&str> = report.coming.iter().map(|coming| coming.pass).collect();
        let names = |pass: &str| passes.iter().any(|name| name.contains(pass));
        assert!(names("doCodePartition"), "{}: {passes:?}", report.kernel);
        assert_eq!(
            names("doBufferAllocation"),
            report.buffers.iter().any(|buffer| buffer.registers),
            "{}",
            report.kernel
        );
        assert_eq!(names("2cta"), report.kernel == "pair", "{}: {passes:?}", report.kernel);
        assert_eq!(
            report.unmodelled.is_empty(),
            !matches!(&*report.kernel, "round" | "many" | "loop_in_a_tile"),
            "{}",
            report.kernel
        );
    }
    for report in reports("warp-specialize.md") {
        assert_eq!(report.coming, [], "{}: its text is final", report.kernel);
    }
}

/// What each barrier of a report expects: `24576 = 16384 %a + 8192 %b`.
fn expects(report: &Report) -> Vec<String> {
    let all = report.barriers.iter().flat_map(|barrier| &barrier.expects);
    all.map(|expect| {
        let parts: Vec<String> = expect.parts.iter().map(|(name, bytes)| format!("{bytes} {name}")).collect();
        format!("{} = {}", expect.bytes, parts.join(" + "))
    })
    .collect()
}

#[test]
fn the_bytes_that_a_plan_will_expect_are_those_of_its_loads() {
    let named = |page: &str, kernel: &str| -> Vec<String> {
        reports(page).iter().filter(|report| report.kernel == kernel).flat_map(expects).collect()
    };
    assert_eq!(named("autows-registers.md", "loads_name_buffers"), ["16384 = 16384 %a", "8192 = 8192 %b"]);
    // One MMA waits for both, whose buffers share an id: they are announced together.
    assert_eq!(named("autows-plan.md", "gemm"), ["24576 = 16384 %a + 8192 %b"]);
    // These come from pointers.
    assert!(named("autows-registers.md", "two_consumers").is_empty());
}
