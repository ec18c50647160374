//! The printers and the comparison on a report made by hand: a query-key accumulator in tensor memory
//! with two packed rows, one of which nothing orders.

use base::TextRange;
use findings::Verdict;
use kernel::{Half, Mode, Space, Stage};
use report::{
    Alias, BarrierSummary, Coverage, CoverageOrder, CoverageRow, Direction, Edge, Expect, LogicalBuffer, Mechanism,
    PartitionRow, PartitionUse, PhysicalBuffer, Remark, RemarkKind, Report,
};
use serde_json::json;

use super::diff::Diff;
use super::json::ReportJson;
use super::view::{ReportView, SectionName};
use super::{md, text};
use crate::SourceText;
use crate::document::value;
use crate::style::Painter;

/// A line a character, so that offset 2 n is line n + 1.
const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";

fn line(number: u32) -> TextRange {
    TextRange::new(2 * number - 2, 2 * number - 1)
}

fn used(at: u32, partition: usize, what: &str, cadence: &[&str]) -> PartitionUse {
    PartitionUse {
        range: line(at),
        op: "ttng.tmem_load".to_owned(),
        partition,
        what: what.to_owned(),
        slot: String::new(),
        cadence: cadence.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn partition(label: &str, role: &str, op: &str) -> PartitionRow {
    let (label, role) = (label.to_owned(), role.to_owned());
    PartitionRow { label, range: line(1), role, key_ops: vec![(op.to_owned(), 2)], warps: 4 }
}

fn member(name: &str, extent: (u64, u64)) -> LogicalBuffer {
    let ty = "!ttg.memdesc<1x128x64xf32, #tmem, #ttng.tensor_memory, mutable>".to_owned();
    let (writers, readers) = (vec![used(5, 1, "writes", &["%j"])], vec![used(6, 0, "reads", &["%j"])]);
    LogicalBuffer { name: name.to_owned(), about: String::new(), range: line(2), extent, ty, writers, readers }
}

fn barrier(name: &str, mechanism: Mechanism, abstract_of: Option<(&'static str, Half)>) -> BarrierSummary {
    BarrierSummary {
        name: name.to_owned(),
        range: line(3),
        abstract_of,
        depth: 2,
        count: Some(1),
        mechanisms: vec![mechanism],
        index: vec!["%i mod 2".to_owned()],
        phase: vec!["%i / 2 mod 2".to_owned()],
        carried: Vec::new(),
        stagger: vec![("%a".to_owned(), 0), ("%b".to_owned(), 1)],
        expects: vec![Expect { range: line(4), bytes: 96, parts: vec![("%a".to_owned(), 64), ("%b".to_owned(), 16)] }],
        uses: vec![used(4, 0, "waits, phase %ph", &["%i"])],
        aliases: vec![Alias { name: "%arg3".to_owned(), range: line(4), how: "capture of partition0".to_owned() }],
        protects: vec![(0, 0)],
        traffic: vec![(3, 2), (2, 2)],
    }
}

fn edge(ends: (usize, usize), direction: Direction, barrier: usize, mechanism: Mechanism) -> Edge {
    let data = if direction == Direction::Forward { vec![(0, 0)] } else { vec![(0, 1)] };
    Edge {
        from: ends.0,
        to: ends.1,
        barrier: Some(barrier),
        mechanism,
        direction,
        data,
        arrivals: vec![line(7)],
        waits: vec![line(8), line(9)],
        pairs: 3,
        planned: false,
    }
}

/// With tokens, or with what a later pass makes of them.
fn report(tokens: bool) -> Report {
    let (full, empty) = if tokens { ("%tok (full)", "%tok (empty)") } else { ("%12", "%13") };
    let half = |half| tokens.then_some(("token", half));
    let missing = CoverageOrder::Missing { finding: None, needed: "default has to tell partition0".to_owned() };
    let row = |member, partition, order| CoverageRow {
        member,
        partition,
        mode: Mode::Read,
        uses: vec![used(6, partition, "reads", if member == 2 { &["%i"] } else { &["%i", "%j"] })],
        order,
    };
    Report {
        kernel: "attention".to_owned(),
        range: line(1),
        stage: if tokens { Stage::Tokens } else { Stage::Final },
        ctas: 1,
        verdict: Verdict::Clean("no finding in 3 runs".to_owned()),
        findings: Vec::new(),
        runs: vec![vec![("%K".to_owned(), 64)], vec![("%K".to_owned(), 128)]],
        partitions: vec![
            partition("default", "softmax", "math.exp2"),
            partition("partition0", "MMA", "ttng.tc_gen5_mma"),
        ],
        barriers: vec![
            barrier(full, Mechanism::Mma, half(Half::Full)),
            barrier(empty, Mechanism::Arrive, half(Half::Empty)),
        ],
        edges: vec![
            edge((1, 0), Direction::Forward, 0, if tokens { Mechanism::Arrive } else { Mechanism::Mma }),
            edge((0, 1), Direction::Backward, 1, Mechanism::Arrive),
            Edge { barrier: None, data: Vec::new(), ..edge((0, 1), Direction::Control, 0, Mechanism::Join) },
        ],
        buffers: vec![PhysicalBuffer {
            name: "%qk".to_owned(),
            range: line(2),
            id: Some(8),
            space: Space::Tensor,
            slots: 1,
            size: 128,
            ty: "!ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>".to_owned(),
            registers: false,
            members: vec![member("%qk", (0, 64)), member("%alpha", (64, 65)), member("%m_ij", (65, 66))],
        }],
        coverage: vec![Coverage {
            buffer: 0,
            writer: used(10, 1, "writes", &["%i", "%j"]),
            clears: true,
            use_c: None,
            extent: (0, 128),
            rows: vec![row(0, 1, CoverageOrder::Program), row(1, 0, CoverageOrder::Edges(vec![1])), row(2, 0, missing)],
        }],
        remarks: vec![Remark {
            kind: RemarkKind::RedundantWait,
            range: line(8),
            text: "every run has seen this phase".to_owned(),
            sites: vec![line(9)],
        }],
        unmodelled: vec![(line(11), "`tt.mystery` touches memory".to_owned())],
        coming: Vec::new(),
    }
}

/// A report as a printer is given it.
pub(super) fn view<'a>(places: &'a SourceText<'a>, report: Report) -> ReportView<'a> {
    let section = Some(SectionName { number: 3, count: 9, pass: "after doCodePartition".to_owned() });
    let text = base::TextRange::new(0, places.text().len() as u32);
    ReportView { path: "k.ttgir", section, text, places, report, timeline: None, finding: None }
}

#[test]
fn the_text_has_five_sections_the_coverage_table_and_fits_a_terminal() {
    let places = SourceText::new(TEXT);
    let view = view(&places, report(false));
    let drawn = text::draw(&view, 100, Painter::plain());
    let wide: Vec<&str> = drawn.lines().filter(|line| line.chars().count() > 100).collect();
    assert_eq!(wide, [""; 0], "{drawn}");
    let heads = ["1. Partitions", "2. Dependency graph", "3. Index and phase", "4. Shared data", "5. Values and uses"];
    let places: Vec<Option<usize>> = heads.iter().chain(&["Coverage: "]).map(|head| drawn.find(head)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{drawn}");
    for said in [
        "file      k.ttgir:1, section 3 of 9 (after doCodePartition)",
        "coverage  3 rows, 1 MISSING",
        "runs      edges and coverage come from 2 runs: with %K = 64; with %K = 128",
        "expects  96 bytes (line 4), but 80 come: 64 %a + 16 %b",
        "stagger  %a: +0, %b: +1",
        "traffic  slot 0: 3 flips, 2 waits; slot 1: 2 flips, 2 waits",
        "Physical buffer %qk (buffer.id 8): TMEM, 128 cols",
        "Writer: ttng.tmem_load of partition0, line 10 in %i, %j (inner); cols 0-127, clears what",
        "redundant-wait: line 8: every run has seen this phase (see line 9)",
        "- line 11: `tt.mystery` touches memory",
        "Partition start and end: default -> partition0.",
    ] {
        assert!(drawn.contains(said), "{said:?} is not in\n{drawn}");
    }
    let row = |name: &str| drawn.lines().rfind(|line| line.contains("col ") && line.contains(name)).unwrap_or_default();
    assert!(row("%alpha").contains("reads in %i, %j") && row("%alpha").contains("ordered (by %13:"), "{drawn}");
    assert!(row("%m_ij").contains("col 65") && row("%m_ij").contains("MISSING (default has to"), "{drawn}");
}

#[test]
fn arrows_point_down_where_data_goes_and_up_where_room_comes_back() {
    let places = SourceText::new(TEXT);
    let drawn = text::draw(&view(&places, report(false)), 100, Painter::plain());
    let forward = "
  partition0 (MMA)
    |
    |  %12 [2], mbarrier (MMA completion), data %qk
    |    arrives at line 7 -> waits at lines 8, 9
    v
  default (softmax)
";
    let backward = "
  partition0 (MMA)
    ^
    |  %13 [2], mbarrier (arrive), frees %alpha in %qk
    |    waits at lines 8, 9 <- arrives at line 7
  default (softmax)
";
    assert!(drawn.contains(forward) && drawn.contains(backward), "{drawn}");
}

#[test]
fn markdown_has_tables() {
    let places = SourceText::new(TEXT);
    let drawn = md::draw(&view(&places, report(false)));
    assert!(drawn.starts_with("# Barrier report of @attention\n"), "{drawn}");
    assert!(
        drawn.contains("| partition | role | key ops | warps | line |\n| --- | --- | --- | --- | --- |\n"),
        "{drawn}"
    );
    assert!(drawn.contains(
        "| col 65 | %m\\_ij | default | reads in %i (outer) | line 6 | MISSING (default has to tell partition0) |"
    ));
}

#[test]
fn the_document_counts_what_the_text_counts() {
    let places = SourceText::new(TEXT);
    let view = view(&places, report(false));
    let made = value(ReportJson::new(&view, &|offset| places.utf16(offset)));
    assert_eq!(made["missing"], json!(1));
    assert_eq!(made["section"], json!({ "number": 3, "count": 9, "pass": "after doCodePartition" }));
    let rows = made["coverage"][0]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let orders: Vec<&str> = rows.iter().filter_map(|row| row["order"].as_str()).collect();
    assert_eq!(orders, ["ordered", "ordered", "missing"]);
    assert_eq!(rows[1]["edges"], json!([1]));
    assert_eq!(made["edges"][1]["waits"][1]["start"], json!({ "line": 8, "character": 0 }));
    assert_eq!(made["edges"][2]["barrier"], json!(null));
}

#[test]
fn a_tokens_edge_becomes_that_of_an_mbarrier() {
    let places = SourceText::new(TEXT);
    let mut later = report(false);
    later.coverage[0].rows[2].order = CoverageOrder::Edges(vec![1]);
    later.buffers[0].slots = 2;
    let (was, is) = (view(&places, report(true)), view(&places, later));
    let diff = Diff::new(&was, &is);
    let part = |name: &str| diff.parts.iter().find(|part| part.0 == name).map(|part| (part.2.clone(), part.3));
    let changes = |name: &str| part(name).unwrap_or_default().0;
    let edges: Vec<&str> = changes("edges").iter().map(|it| it.change).collect();
    assert_eq!(edges, ["changed", "changed"]);
    assert!(changes("edges")[0].was.contains("%tok (full) [2] of a token, mbarrier (arrive)"));
    assert!(changes("edges")[0].is.contains("%12 [2], mbarrier (MMA completion)"));
    assert_eq!(changes("barriers").len(), 2);
    let coverage = changes("coverage");
    assert_eq!((coverage.len(), part("coverage").map(|part| part.1)), (1, Some(2)));
    assert!(coverage[0].was.starts_with("MISSING") && coverage[0].is.starts_with("ordered"));
    assert!(changes("buffers").iter().all(|it| it.is.contains("2 slots of 128 cols")));
    assert_eq!(part("partitions"), Some((Vec::new(), 2)));
}

#[test]
fn an_edge_that_a_pass_drops_is_removed() {
    let places = SourceText::new(TEXT);
    let mut later = report(false);
    later.edges.remove(1);
    let (was, is) = (view(&places, report(false)), view(&places, later));
    let diff = Diff::new(&was, &is);
    let edges = &diff.parts[1];
    assert_eq!((edges.2.len(), edges.3), (1, 1));
    assert_eq!((edges.2[0].change, edges.2[0].what.as_str()), ("removed", "backward: default -> partition0"));
    assert_eq!(Diff::new(&was, &was).parts.iter().map(|part| part.2.len()).sum::<usize>(), 0);
}
