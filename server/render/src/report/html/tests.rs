//! The page of a report made by hand: an attention kernel, with names that would like to be markup.

use base::TextRange;
use findings::{Finding, Kind, Note, RunStep, Severity, Verdict};
use kernel::{Half, Mode, Space, Stage};
use report::{
    Alias, BarrierSummary, Coverage, CoverageOrder, CoverageRow, Direction, Edge, Expect, LogicalBuffer, Mechanism,
    PartitionRow, PartitionUse, PhysicalBuffer, Remark, RemarkKind, Report,
};

use super::page;
use crate::SourceText;
use crate::report::tests::view;
use crate::report::view::ReportView;

const HOSTILE: &str = "%x</script><script>alert(1)</script>\"'&<!--";
const JSON: &str = r#"{"reports":[{"kernel":"</script><b>"}]}"#;

/// The range of the first word of a line, from 1.
fn line(text: &str, number: usize) -> TextRange {
    let start: usize = text.split_inclusive('\n').take(number - 1).map(str::len).sum();
    TextRange::new(start as u32, start as u32 + 4)
}

fn used(text: &str, number: usize, op: &str, partition: usize, loops: &[&str]) -> PartitionUse {
    PartitionUse {
        range: line(text, number),
        op: op.to_owned(),
        partition,
        what: "waits, phase %ph ^ 1".to_owned(),
        slot: "%i mod 2".to_owned(),
        cadence: loops.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// Six partitions as in attention; `alpha`, `m` and `l` share the accumulator's columns.
pub(super) fn attention(text: &str) -> Report {
    let roles = [
        ("default", "correction of the accumulator", 4, vec![("tmem_load", 2), ("tmem_store", 2)]),
        ("partition0", "MMA", 1, vec![("tc_gen5_mma", 4), ("tc_gen5_commit", 2)]),
        ("partition1", "TMA load (%desc_q, %desc_k, %desc_v)", 1, vec![("async_tma_copy_global_to_local", 4)]),
        ("partition2", "softmax 0", 4, vec![("tmem_load", 1), ("math.exp2", 3), ("tt.reduce", 2)]),
        ("partition3", "softmax 1", 4, vec![("tmem_load", 1), ("math.exp2", 3), ("tt.reduce", 2)]),
        ("partition4", "TMA store", 1, vec![("async_tma_copy_local_to_global", 2)]),
    ];
    let partitions = roles.into_iter().enumerate().map(|(at, (label, role, warps, ops))| PartitionRow {
        label: label.to_owned(),
        range: line(text, at + 2),
        role: role.to_owned(),
        key_ops: ops.into_iter().map(|(op, times)| (op.to_owned(), times)).collect(),
        warps,
    });
    let names = ["%q", "%k", "%v", "%qk_0", "%qk_1", "%p_0", "%p_1", "%alpha", "%acc", HOSTILE];
    let half = |name: &&str, half: Half| BarrierSummary {
        name: format!("{name}_{}", if half == Half::Full { "full" } else { "empty" }),
        range: line(text, 10),
        abstract_of: Some(("token", half)),
        depth: 2,
        count: Some(1),
        mechanisms: vec![Mechanism::Tma, Mechanism::Arrive],
        index: vec!["%i mod 2".to_owned()],
        phase: vec!["(%i / 2) mod 2".to_owned()],
        carried: vec![("%ph".to_owned(), "0, then %ph ^ 1".to_owned())],
        stagger: vec![("%a".to_owned(), 1)],
        expects: vec![Expect {
            range: line(text, 11),
            bytes: 49152,
            parts: vec![("%q".to_owned(), 16384), ("%k".to_owned(), 32768)],
        }],
        uses: vec![used(text, 12, "ttng.wait_barrier", 1, &["%i", "%j"])],
        aliases: vec![Alias {
            name: "%arg7".to_owned(),
            range: line(text, 13),
            how: "capture of partition0".to_owned(),
        }],
        protects: vec![(0, 0)],
        traffic: vec![(3, 3), (3, 3)],
    };
    let barriers = names.iter().flat_map(|name| [half(name, Half::Full), half(name, Half::Empty)]).collect();
    let flow = [(2, 1), (2, 1), (2, 1), (1, 3), (1, 4), (3, 1), (4, 1), (3, 0), (1, 0), (0, 5)];
    let edge = |at: usize, from: usize, to: usize, direction: Direction| Edge {
        from,
        to,
        barrier: Some(2 * at + usize::from(direction == Direction::Backward)),
        mechanism: Mechanism::TensorCoreCommit,
        direction,
        data: vec![(0, at % 4)],
        arrivals: vec![line(text, 20 + at)],
        waits: vec![line(text, 30 + at)],
        pairs: 3,
        planned: false,
    };
    let edges: Vec<Edge> = flow
        .iter()
        .enumerate()
        .flat_map(|(at, &(from, to))| [edge(at, from, to, Direction::Forward), edge(at, to, from, Direction::Backward)])
        .collect();
    let member = |name: &str, extent: (u64, u64), at: usize| LogicalBuffer {
        name: name.to_owned(),
        about: String::new(),
        range: line(text, at),
        extent,
        ty: "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>".to_owned(),
        writers: vec![used(text, 14, "ttng.tc_gen5_mma", 1, &["%i"])],
        readers: vec![used(text, 15, "ttng.tmem_load", 3, &["%i"])],
    };
    let row = |member: usize, partition: usize, at: usize, loops: &[&str], order: CoverageOrder| CoverageRow {
        member,
        partition,
        mode: Mode::Read,
        uses: vec![used(text, at, "ttng.tmem_load", partition, loops)],
        order,
    };
    let needed = || {
        let place = "before the loop over %j, at the cadence of %i";
        CoverageOrder::Missing { finding: Some(0), needed: format!("default has to tell partition0 {place}") }
    };
    Report {
        kernel: "attention".to_owned(),
        range: line(text, 1),
        stage: Stage::Final,
        ctas: 1,
        verdict: Verdict::Found,
        findings: vec![Finding {
            kind: Kind::Deadlock,
            severity: Severity::Error,
            message: format!("`{HOSTILE}` is overwritten"),
            range: line(text, 14),
            sites: vec![Note {
                range: line(text, 14),
                text: HOSTILE.to_owned(),
                source: Some(HOSTILE.to_owned()),
                primary: true,
            }],
            run: vec![RunStep {
                partition: HOSTILE.to_owned(),
                range: line(text, 15),
                text: HOSTILE.to_owned(),
                site: Some(0),
            }],
            witness: None,
            context: Vec::new(),
            instance: 0,
            phases: Vec::new(),
            order: None,
            inputs: vec![(HOSTILE.to_owned(), 192)],
            kernel: "attention".to_owned(),
            fix: None,
        }],
        runs: vec![vec![("%K".to_owned(), 192)], Vec::new()],
        partitions: partitions.collect(),
        barriers,
        edges,
        buffers: vec![PhysicalBuffer {
            name: "%qk_0".to_owned(),
            range: line(text, 16),
            id: Some(8),
            space: Space::Tensor,
            slots: 1,
            size: 128,
            ty: "!ttg.memdesc<128x128xf32>".to_owned(),
            registers: false,
            members: vec![
                member("%qk_0", (0, 64), 16),
                member("%alpha", (64, 65), 17),
                member("%m_ij", (65, 66), 18),
                member(HOSTILE, (66, 67), 19),
            ],
        }],
        coverage: vec![Coverage {
            buffer: 0,
            writer: used(text, 14, "ttng.tc_gen5_mma", 1, &["%i", "%j"]),
            clears: true,
            use_c: None,
            extent: (0, 128),
            rows: vec![
                row(0, 3, 15, &["%i", "%j"], CoverageOrder::Edges(vec![7, 11])),
                row(1, 1, 17, &["%i", "%j"], CoverageOrder::Program),
                row(2, 0, 18, &["%i"], needed()),
                row(3, 0, 19, &["%i"], needed()),
                row(0, 4, 19, &[], CoverageOrder::Never("it ends first".to_owned())),
                row(0, 5, 19, &[], CoverageOrder::Unknown(HOSTILE.to_owned())),
            ],
        }],
        remarks: vec![Remark {
            kind: RemarkKind::DepthOne,
            range: line(text, 16),
            text: format!("`{HOSTILE}` has one slot"),
            sites: vec![line(text, 17)],
        }],
        unmodelled: vec![(line(text, 40), HOSTILE.to_owned())],
        coming: Vec::new(),
    }
}

fn made() -> String {
    let text: String = (1..=50).map(|at| format!("op_{at} {HOSTILE}\r\n")).collect();
    let places = SourceText::new(&text);
    let report = attention(&text);
    let view = |report| ReportView { path: HOSTILE, section: None, ..view(&places, report) };
    page(&[view(report.clone()), view(report)], &[], JSON)
}

/// The values of an attribute.
fn values<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    page.split(&format!(" {name}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_link_has_an_aim_and_every_id_is_one() {
    let page = made();
    let mut ids = values(&page, "id");
    ids.sort_unstable();
    assert_eq!(ids.windows(2).find(|pair| pair[0] == pair[1]), None);
    let links = values(&page, "href");
    assert!(links.len() > 100);
    for link in links {
        let aim = link.strip_prefix('#').expect("no link leaves the page");
        assert!(ids.binary_search(&aim).is_ok(), "{link} leads nowhere");
    }
    for word in ["aria-labelledby", "aria-describedby"] {
        let named = values(&page, word).into_iter().flat_map(|ids| ids.split(' '));
        assert_eq!(named.into_iter().find(|id| ids.binary_search(id).is_err()), None);
    }
    for key in values(&page, "data-hot").into_iter().flat_map(|keys| keys.split(' ')) {
        assert!(page.contains(&format!("data-k=\"{key}")) || page.contains(&format!(" {key}")), "{key} lights nothing");
    }
}

#[test]
fn names_stay_names() {
    let page = made();
    assert_eq!(page.matches("<script").count(), 2, "the document and the script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<!--") && page.contains("&lt;!--"));
}

#[test]
fn the_document_is_in_the_page() {
    let page = made();
    let json = page.split("id=\"report\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("a document");
    let read: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let given: serde_json::Value = serde_json::from_str(JSON).expect("JSON");
    assert_eq!(read, given);
}

#[test]
fn what_is_missing_is_said_in_words_and_drawn() {
    let page = made();
    assert_eq!(page.matches("<strong>✗ MISSING</strong>").count(), 4);
    assert_eq!(page.matches("<tr id=\"k1-c0-2\" class=\"missing\"").count(), 1);
    assert_eq!(page.matches(">✗ MISSING: %m_ij</text>").count(), 2, "in the graph");
    assert_eq!(
        page.matches("<path class=\"head missing\"").count(),
        2 * 3,
        "one line a kernel, the sample in its label, and the legends"
    );
}

#[test]
fn edges_of_one_kind_between_two_are_one_line() {
    let page = made();
    for row in ["%q_full: %qk_0", "%k_full: %alpha"] {
        assert!(page.contains(&format!(">{row}</text>")), "an edge has a row of its own: {row}");
    }
    let drawn = page.matches("<a class=\"bundle ").count();
    assert_eq!(drawn, 2 * (16 + 1), "16 bundles of 20 edges, one that is missing, twice");
}

/// The cells of the tables with a heading of these words, row by row.
fn cells(page: &str, heading: &str) -> Vec<Vec<String>> {
    let tables = page.split("<table").filter(|table| table.contains(heading));
    let rows = tables.flat_map(|table| table.split("</table>").next().unwrap_or("").split("<tr").skip(1));
    let row = |row: &str| {
        let cells = row.split("<td").skip(1).filter_map(|cell| cell.split_once('>')?.1.split("</td>").next());
        cells.map(str::to_owned).collect()
    };
    rows.map(row).filter(|row: &Vec<String>| !row.is_empty()).collect()
}

#[test]
fn a_cell_without_a_value_says_none_and_a_column_without_one_is_left_out() {
    let none = "<span class=\"quiet\">none</span>";
    let text: String = (1..=50).map(|at| format!("op_{at}\n")).collect();
    let mut report = attention(&text);
    report.barriers.iter_mut().for_each(|barrier| barrier.expects.clear());
    report.barriers[0].stagger.clear();
    let places = SourceText::new(&text);
    let page = page(&[view(&places, report)], &[], JSON);
    let barriers = cells(&page, ">Stagger<");
    assert!(!page.contains(">Expects<") && barriers.len() == 20, "{barriers:?}");
    let said: Vec<usize> = barriers.iter().map(|row| row.iter().filter(|cell| *cell == none).count()).collect();
    assert_eq!((said[0], said[1..].iter().sum::<usize>()), (1, 0), "{barriers:?}");
    assert!(barriers.iter().flatten().all(|cell| !cell.is_empty()), "{barriers:?}");
    // A use outside of all loops.
    assert!(page.contains(&format!("{none}</td>")), "a use without loops says so");
}
