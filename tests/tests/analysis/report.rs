//! The barrier report of every kernel of the pages and the corpus: what it says of itself holds.

use base::{Cancel, Limits, TextRange};
use engine::Engine;
use fencepost_tests::sources::{corpus, sources};
use report::{CoverageOrder, PartitionUse, PhysicalBuffer, Report};
use ttgir::Document;

/// What is wrong with a report.
struct Complaints<'a> {
    name: &'a str,
    text: &'a str,
    found: Vec<String>,
}

impl Complaints<'_> {
    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.found.push(format!("{}: {}", self.name, what()));
        }
    }

    fn at(&self, range: TextRange) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("outside")
    }

    fn uses<'u>(&mut self, report: &Report, uses: impl IntoIterator<Item = &'u PartitionUse>, of: &str) {
        for used in uses {
            self.check(used.partition < report.partitions.len(), || format!("{of}: a use by nobody"));
            let last = used.op.rsplit('.').next().unwrap_or_default();
            let said = self.at(used.range).contains(last);
            self.check(said, || format!("{of}: `{}` does not stand at {:?}", used.op, used.range));
        }
    }
}

fn reports(text: &str) -> Vec<Report> {
    let document = Document::new(text);
    let mut engine = Engine::new(Limits::default());
    let reports = engine.reports(&document, &Cancel::never()).expect("nobody cancels");
    for (number, report) in reports.iter().enumerate() {
        let alone = engine.report(&document, number, &Cancel::never()).expect("nobody cancels");
        assert_eq!(alone.as_ref(), Some(report), "asked for alone");
    }
    assert_eq!(engine.report(&document, reports.len(), &Cancel::never()), Ok(None));
    reports
}

fn member(buffers: &[PhysicalBuffer], (buffer, member): (usize, usize)) -> bool {
    buffers.get(buffer).is_some_and(|buffer| member < buffer.members.len())
}

fn complaints(name: &str, text: &str) -> Vec<String> {
    let mut all = Complaints { name, text, found: Vec::new() };
    let reports = reports(text);
    all.check(reports == self::reports(text), || "two engines differ".to_owned());
    for mut report in reports {
        let mut outside = 0;
        report.ranges_mut(&mut |range| {
            outside += u32::from(text.get(range.start as usize..range.end as usize).is_none())
        });
        all.check(outside == 0, || format!("{outside} ranges are outside"));
        memory(&mut all, &report);
        barriers(&mut all, &report);
        order(&mut all, &report);
    }
    all.found
}

fn memory(all: &mut Complaints<'_>, report: &Report) {
    for buffer in &report.buffers {
        let mut names: Vec<&str> = buffer.members.iter().map(|member| member.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        all.check(names.len() == buffer.members.len(), || format!("{}: two members share a name", buffer.name));
        for member in &buffer.members {
            let (from, to) = member.extent;
            all.check(from < to && to <= buffer.size, || {
                format!("{} of {}: {from}..{to} of {}", member.name, buffer.name, buffer.size)
            });
            all.check(!member.writers.is_empty() || !member.readers.is_empty(), || {
                format!("{} of {}: nobody uses it", member.name, buffer.name)
            });
            all.uses(report, member.writers.iter().chain(&member.readers), &member.name);
        }
    }
}

fn barriers(all: &mut Complaints<'_>, report: &Report) {
    for barrier in &report.barriers {
        let name = &barrier.name;
        all.check(barrier.depth > 0, || format!("{name}: no slot"));
        all.uses(report, &barrier.uses, name);
        for alias in &barrier.aliases {
            let word = alias.name.split('#').next().unwrap_or_default();
            let said = all.at(alias.range).starts_with(word);
            all.check(said, || format!("{name}: {} does not stand at {:?}", alias.name, alias.range));
        }
        let known = barrier.protects.iter().all(|at| member(&report.buffers, *at));
        all.check(known, || format!("{name}: protects what is not there"));
        let arrives = |used: &PartitionUse| used.what.contains("arrive");
        let silent = barrier.mechanisms.is_empty() && barrier.uses.iter().any(arrives);
        all.check(!silent, || format!("{name}: arrivals without a mechanism"));
    }
}

fn order(all: &mut Complaints<'_>, report: &Report) {
    for edge in &report.edges {
        let ends = edge.from < report.partitions.len() && edge.to < report.partitions.len();
        all.check(ends, || "an edge from or to nobody".to_owned());
        let Some(number) = edge.barrier else { continue };
        let Some(barrier) = report.barriers.get(number) else {
            all.check(false, || "an edge of no barrier".to_owned());
            continue;
        };
        let protected = edge.data.iter().all(|data| barrier.protects.contains(data));
        all.check(protected, || format!("{}: does not protect what its edge orders", barrier.name));
    }
    for coverage in &report.coverage {
        let Some(buffer) = report.buffers.get(coverage.buffer) else {
            all.check(false, || "coverage of no buffer".to_owned());
            continue;
        };
        all.uses(report, [&coverage.writer], &buffer.name);
        for row in &coverage.rows {
            all.check(row.member < buffer.members.len(), || format!("{}: a row of no member", buffer.name));
            all.check(row.partition < report.partitions.len(), || format!("{}: a row of nobody", buffer.name));
            all.uses(report, &row.uses, &buffer.name);
            let known = match &row.order {
                CoverageOrder::Edges(edges) | CoverageOrder::Through { edges, .. } => {
                    !edges.is_empty() && edges.iter().all(|edge| *edge < report.edges.len())
                }
                CoverageOrder::Missing { finding, .. } => finding.is_none_or(|finding| finding < report.findings.len()),
                CoverageOrder::Program | CoverageOrder::Never(_) | CoverageOrder::Unknown(_) => true,
            };
            all.check(known, || format!("{}: ordered by what is not there", buffer.name));
        }
    }
    for (number, buffer) in report.buffers.iter().enumerate() {
        let written = buffer.members.iter().any(|member| !member.writers.is_empty());
        let covered = report.coverage.iter().any(|coverage| coverage.buffer == number);
        all.check(covered || !written, || format!("{}: written and not covered", buffer.name));
    }
}

fn run(sources: Vec<(String, String)>, least: usize) {
    assert!(sources.len() >= least, "{} sources", sources.len());
    let found: Vec<String> = sources.iter().flat_map(|(name, text)| complaints(name, text)).collect();
    assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
}

#[test]
fn of_the_pages() {
    run(sources(), 100);
}

#[test]
fn of_the_corpus() {
    run(corpus(), 50);
}

#[test]
fn of_a_dump_ranges_count_from_its_start() {
    let (_, text) = corpus().into_iter().next().expect("the corpus has a kernel");
    let dump = format!(
        "// -----// IR Dump Before A (a) //----- //\n{text}\n// -----// IR Dump After B (b) //----- //\n{text}"
    );
    let all = reports(&dump);
    let half = all.len() / 2;
    let names = |report: &Report| {
        let at = |range: TextRange| dump.get(range.start as usize..range.end as usize).unwrap_or_default().to_owned();
        report.barriers.iter().flat_map(|barrier| &barrier.aliases).map(|alias| at(alias.range)).collect::<Vec<_>>()
    };
    assert!(half > 0);
    assert_eq!(
        all.iter().take(half).map(names).collect::<Vec<_>>(),
        all.iter().skip(half).map(names).collect::<Vec<_>>()
    );
}
