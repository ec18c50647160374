//! What a pass did to a kernel's barriers: the report before it and the report after it, compared.
//!
//! Edges are matched by what they order: from whom, to whom, in which direction, which data. So a
//! token's edge and the edge of the mbarrier that a later pass makes of it are one edge that changed.
//! What values are called, and on which lines things stand, is no difference.

mod pairing;
mod rename;

use std::collections::BTreeMap;

use base::TextRange;
use kernel::Mode;
use report::{BarrierSummary, Direction, Edge, Mechanism, PartitionUse, Report};
use serde::Serialize;

use super::blocks::{DocBlock, DocTable};
use super::graph::numbers;
use super::view::{ReportView, SectionName, extent, order_word, unit};
use pairing::{MemberId, Pairing, assign, find, member_ids, stem, value};
use rename::Renames;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `added`, `removed`, `changed`.
    pub change: &'static str,
    /// What it is about.
    pub what: String,
    /// How it was; empty for what was added.
    pub was: String,
    /// How it is; empty for what was removed.
    pub is: String,
}

/// All differences between two reports.
pub struct Diff<'a, 'b> {
    /// The report before the pass.
    pub was: &'a ReportView<'b>,
    /// The report after it.
    pub is: &'a ReportView<'b>,
    /// Differences by part of the report: its name for tools, its title, the changes, and how many
    /// things are as they were.
    pub parts: Vec<(&'static str, &'static str, Vec<Change>, usize)>,
}

impl<'a, 'b> Diff<'a, 'b> {
    /// Compares two reports of one kernel.
    pub fn new(was: &'a ReportView<'b>, is: &'a ReportView<'b>) -> Diff<'a, 'b> {
        let pairing = Pairing::new(&was.report, &is.report);
        let renames = Renames::new(&was.report, &is.report);
        let mut found = Comparison { was, is, pairing, renames, edges: Vec::new() };
        let partitions = found.partitions();
        let (edges, same_edges) = found.edges();
        let (barriers, same_barriers) = found.barriers();
        let (buffers, same_buffers) = found.buffers();
        let (coverage, same_rows) = found.coverage();
        let (partitions, same_partitions) = partitions;
        let parts = vec![
            ("partitions", "Partitions", partitions, same_partitions),
            ("edges", "Barrier edges", edges, same_edges),
            ("barriers", "Barriers", barriers, same_barriers),
            ("buffers", "Buffers", buffers, same_buffers),
            ("coverage", "Coverage", coverage, same_rows),
        ];
        Diff { was, is, parts }
    }

    /// For text and Markdown.
    pub fn blocks(&self) -> Vec<DocBlock> {
        let (was, is) = (self.was, self.is);
        let mut out = vec![DocBlock::Title(format!("Barriers of @{}, before and after", is.report.kernel))];
        let stage = |view: &ReportView<'_>| view.report.stage.name();
        out.push(DocBlock::Fields(vec![
            ("was", format!("{}; stage {}", place(was), stage(was))),
            ("is", format!("{}; stage {}", place(is), stage(is))),
        ]));
        let mut same = Vec::new();
        for (_, title, changes, unchanged) in &self.parts {
            if *unchanged > 0 {
                same.push(format!("{} {unchanged}", title.to_lowercase()));
            }
            if changes.is_empty() {
                continue;
            }
            out.push(DocBlock::Heading((*title).to_owned()));
            let mut table = DocTable::new(&["change", "what", "was", "is"]);
            for Change { change, what, was, is } in changes {
                table.row(vec![(*change).to_owned(), what.clone(), was.clone(), is.clone()]);
            }
            out.push(DocBlock::Table(table));
        }
        if self.parts.iter().all(|(_, _, changes, _)| changes.is_empty()) {
            out.push(DocBlock::Text("Nothing changed.".to_owned()));
        }
        if !same.is_empty() {
            out.push(DocBlock::Text(format!("As before: {}.", same.join(", "))));
        }
        out
    }

    /// For tools.
    pub fn json(&self) -> DiffJson<'_> {
        let parts = self.parts.iter().map(|(name, _, changes, unchanged)| {
            let part = PartJson { changes, unchanged: *unchanged };
            (*name, part)
        });
        DiffJson { was: Side::new(self.was), is: Side::new(self.is), parts: parts.collect() }
    }
}

/// What [`super::json::DiffDocument`] holds of one kernel.
#[derive(Serialize)]
pub struct DiffJson<'a> {
    was: Side<'a>,
    is: Side<'a>,
    #[serde(flatten)]
    parts: BTreeMap<&'static str, PartJson<'a>>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    changes: &'a [Change],
    unchanged: usize,
}

#[derive(Serialize)]
struct Side<'a> {
    path: &'a str,
    section: Option<&'a SectionName>,
    kernel: &'a str,
    stage: &'static str,
    missing: usize,
}

impl<'a> Side<'a> {
    fn new(view: &'a ReportView<'_>) -> Side<'a> {
        let stage = view.report.stage.name();
        let (section, kernel) = (view.section.as_ref(), &view.report.kernel);
        Side { path: view.path, section, kernel, stage, missing: view.missing() }
    }
}

fn place(view: &ReportView<'_>) -> String {
    let section = view.section.as_ref().map_or_else(String::new, |section| {
        let pass = if section.pass.is_empty() { String::new() } else { format!(" ({})", section.pass) };
        format!(", section {}{pass}", section.number)
    });
    format!("{}{section}", view.path)
}

struct Comparison<'a, 'b> {
    was: &'a ReportView<'b>,
    is: &'a ReportView<'b>,
    pairing: Pairing,
    renames: Renames,
    /// Pairs of edges, once they are found.
    edges: Vec<(usize, usize)>,
}

impl<'a> Comparison<'a, '_> {
    fn reports(&self) -> (&'a Report, &'a Report) {
        (&self.was.report, &self.is.report)
    }

    fn partitions(&self) -> (Vec<Change>, usize) {
        let (old, new) = (self.was, self.is);
        let mut changes = Vec::new();
        let mut same = 0;
        for at in 0..old.report.partitions.len() {
            let (label, was) = (old.partition(at).to_owned(), old.partition_role(at));
            match self.pairing.partition(at) {
                None => changes.push(removed(label, was)),
                Some(partner) => {
                    let is = new.partition_role(partner);
                    if self.renames.same(&was, &is) { same += 1 } else { changes.push(changed(label, was, is)) }
                }
            }
        }
        for at in 0..new.report.partitions.len() {
            if !self.pairing.partitions.contains(&Some(at)) {
                changes.push(added(new.partition(at).to_owned(), new.partition_role(at)));
            }
        }
        (changes, same)
    }

    fn edges(&mut self) -> (Vec<Change>, usize) {
        let (was, is) = self.reports();
        let (old, new) = (made(was), made(is));
        let pairs = assign(old.len(), new.len(), 1, |a, b| self.alike(old[a].1, new[b].1));
        let mut changes = Vec::new();
        let mut same = 0;
        for (a, b) in pairs.iter().enumerate() {
            let (number, edge) = old[a];
            let Some(b) = *b else {
                changes.push(removed(ends(self.was, edge), words(self.was, edge)));
                continue;
            };
            let (partner, newer) = new[b];
            self.edges.push((number, partner));
            let same_data = self.data(edge) == sorted(&newer.data);
            let alike = same_data && kind(was, edge) == kind(is, newer) && edge.mechanism == newer.mechanism;
            if alike {
                same += 1;
            } else {
                changes.push(changed(ends(self.is, newer), words(self.was, edge), words(self.is, newer)));
            }
        }
        for (b, (_, edge)) in new.iter().enumerate() {
            if !pairs.contains(&Some(b)) {
                changes.push(added(ends(self.is, edge), words(self.is, edge)));
            }
        }
        (changes, same)
    }

    /// How much speaks for an edge being another; 0 where it cannot be.
    fn alike(&self, old: &Edge, new: &Edge) -> u32 {
        let ends = self.pairing.partition(old.from) == Some(new.from) && self.pairing.partition(old.to) == Some(new.to);
        if !ends || old.direction != new.direction {
            return 0;
        }
        let (was, is) = self.reports();
        let (a, b) = (barrier(was, old), barrier(is, new));
        // Another barrier may order the same: then the one's edge is gone, and the other's is new.
        if let (Some(a), Some(b)) = (a, b)
            && a.abstract_of.is_some() == b.abstract_of.is_some()
            && !self.renames.one(&a.name, &b.name)
        {
            return 0;
        }
        let name = |barrier: Option<&BarrierSummary>| barrier.and_then(|barrier| stem(&barrier.name));
        let named = name(a).is_some() && name(a) == name(b);
        let data = self.data(old);
        let common = new.data.iter().filter(|place| data.contains(place)).count() as u32;
        let nothing = old.data.is_empty() && new.data.is_empty();
        let alike = 10 * common + 5 * u32::from(named) + 2 * u32::from(nothing);
        if alike == 0 { 0 } else { alike + u32::from(old.mechanism == new.mechanism) }
    }

    /// What an edge of the first report orders, as the second report numbers it.
    fn data(&self, old: &Edge) -> Vec<MemberId> {
        let places: Vec<MemberId> =
            old.data.iter().filter_map(|place| self.pairing.members.get(place).copied()).collect();
        sorted(&places)
    }

    fn barriers(&self) -> (Vec<Change>, usize) {
        let (was, is) = self.reports();
        let voted = |a: usize, b: usize| {
            let pairs = self.edges.iter().filter(|(old, new)| {
                let (old, new) = (was.edges.get(*old), is.edges.get(*new));
                old.and_then(|edge| edge.barrier) == Some(a) && new.and_then(|edge| edge.barrier) == Some(b)
            });
            pairs.count() as u32
        };
        let pairs = assign(was.barriers.len(), is.barriers.len(), 2, |a, b| {
            let (old, new) = (&was.barriers[a], &is.barriers[b]);
            let same = value(&old.name).is_some() && value(&old.name) == value(&new.name);
            let renamed = self.renames.one(&old.name, &new.name) && facts(old) == facts(new);
            let alike = if renamed { self.users(old, new) } else { 0 };
            4 * voted(a, b) + 3 * u32::from(same) + alike + u32::from(old.depth == new.depth)
        });
        let mut changes = Vec::new();
        let mut same = 0;
        for (a, b) in pairs.iter().enumerate() {
            let old = &was.barriers[a];
            match b.map(|b| &is.barriers[b]) {
                None => changes.push(removed(old.name.clone(), facts(old))),
                Some(new) if facts(old) == facts(new) => same += 1,
                Some(new) => changes.push(changed(new.name.clone(), named(old, new), facts(new))),
            }
        }
        for (b, new) in is.barriers.iter().enumerate() {
            if !pairs.contains(&Some(b)) {
                changes.push(added(new.name.clone(), facts(new)));
            }
        }
        (changes, same)
    }

    /// 2 where the same partitions do the same with two barriers, in the same order; 1 where they do most of it.
    fn users(&self, old: &BarrierSummary, new: &BarrierSummary) -> u32 {
        let same = |a: &PartitionUse, b: &PartitionUse| {
            self.pairing.partition(a.partition) == Some(b.partition)
                && a.op == b.op
                && a.cadence.len() == b.cadence.len()
        };
        let mut left: Vec<&PartitionUse> = new.uses.iter().collect();
        let common = old.uses.iter().filter(|used| {
            let at = left.iter().position(|other| same(used, other));
            at.map(|at| left.remove(at)).is_some()
        });
        let (common, all) = (common.count(), old.uses.len().max(new.uses.len()));
        let order = old.uses.iter().zip(&new.uses).all(|(a, b)| same(a, b));
        u32::from(2 * common > all) + u32::from(common == all && order && all > 0)
    }

    fn buffers(&self) -> (Vec<Change>, usize) {
        let (was, is) = self.reports();
        let mut changes = Vec::new();
        let mut same = 0;
        let mut partners: Vec<MemberId> = Vec::new();
        for old in member_ids(was) {
            let name = find(was, old).map_or_else(String::new, |(_, member)| member.name.clone());
            match self.pairing.members.get(&old) {
                None => changes.push(removed(name, window(was, old))),
                Some(&new) => {
                    partners.push(new);
                    let alike = shape(was, old) == shape(is, new) && self.owner(old, new);
                    let name = find(is, new).map_or(name, |(_, member)| member.name.clone());
                    if alike {
                        same += 1;
                    } else {
                        changes.push(changed(name, window(was, old), window(is, new)));
                    }
                }
            }
        }
        for new in member_ids(is) {
            if !partners.contains(&new) {
                let name = find(is, new).map_or_else(String::new, |(_, member)| member.name.clone());
                changes.push(added(name, window(is, new)));
            }
        }
        (changes, same)
    }

    /// Whether two logical buffers lie in the same physical one: it has the same first member.
    fn owner(&self, old: MemberId, new: MemberId) -> bool {
        self.pairing.members.get(&(old.0, 0)).is_none_or(|first| first.0 == new.0)
    }

    fn coverage(&self) -> (Vec<Change>, usize) {
        let (old, new) = (rows(self.was), rows(self.is));
        let same_row = |a: &Row, b: &Row| {
            self.pairing.partition(a.writer) == Some(b.writer)
                && self.pairing.partition(a.user) == Some(b.user)
                && self.pairing.members.get(&a.member) == Some(&b.member)
                && a.mode == b.mode
        };
        let pairs = assign(old.len(), new.len(), 1, |a, b| {
            let (a, b) = (&old[a], &new[b]);
            u32::from(same_row(a, b)) * (1 + u32::from(a.word == b.word))
        });
        let mut changes = Vec::new();
        let mut same = 0;
        for (a, b) in pairs.iter().enumerate() {
            let row = &old[a];
            match b.map(|b| &new[b]) {
                None => changes.push(removed(row.what.clone(), row.order.clone())),
                Some(newer) if newer.word == row.word => same += 1,
                Some(newer) => changes.push(changed(newer.what.clone(), row.order.clone(), newer.order.clone())),
            }
        }
        for (b, row) in new.iter().enumerate() {
            if !pairs.contains(&Some(b)) {
                changes.push(added(row.what.clone(), row.order.clone()));
            }
        }
        (changes, same)
    }
}

/// A row of a coverage table.
struct Row {
    writer: usize,
    member: MemberId,
    user: usize,
    mode: Mode,
    what: String,
    order: String,
    word: &'static str,
}

fn rows(view: &ReportView<'_>) -> Vec<Row> {
    let blocks = view.report.coverage.iter();
    let rows = blocks.flat_map(|block| block.rows.iter().map(move |row| (block, row)));
    rows.map(|(block, row)| {
        let (writer, member) = (block.writer.partition, (block.buffer, row.member));
        let verb = if row.mode == Mode::Read { "reads" } else { "writes" };
        let over = format!("{} by {}", view.member(member), view.partition(writer));
        Row {
            writer,
            member,
            user: row.partition,
            mode: row.mode,
            what: format!("overwriting {over} after {} {verb} it", view.partition(row.partition)),
            order: view.order(row),
            word: order_word(&row.order),
        }
    })
    .collect()
}

/// Edges that something in the text makes, with their numbers.
fn made(report: &Report) -> Vec<(usize, &Edge)> {
    report.edges.iter().enumerate().filter(|(_, edge)| edge.mechanism != Mechanism::Join).collect()
}

/// `backward: default -> partition0`.
fn ends(view: &ReportView<'_>, edge: &Edge) -> String {
    format!("{}: {} -> {}", edge.direction.name(), view.partition(edge.from), view.partition(edge.to))
}

/// `%full of a token, mbarrier (arrive), data %a; arrives at line 12, waits at line 40`.
fn words(view: &ReportView<'_>, edge: &Edge) -> String {
    let kind = kind(&view.report, edge).map_or_else(String::new, |what| format!(" of a {what}"));
    let name = view.barrier(edge);
    let name = if name.is_empty() { name } else { format!("{name}{kind}, ") };
    let data: Vec<String> = edge.data.iter().map(|&member| view.member(member)).collect();
    let data = match edge.direction {
        _ if data.is_empty() => String::new(),
        Direction::Backward => format!(", frees {}", data.join(", ")),
        Direction::Forward => format!(", data {}", data.join(", ")),
        Direction::Control => format!(", orders {}", data.join(", ")),
    };
    let at = |what: &str, ranges: &[TextRange]| match view.lines(ranges.iter().copied()) {
        lines if lines.is_empty() => String::new(),
        lines => format!("; {what} at {}", numbers(&lines)),
    };
    let (arrives, waits) = (at("arrives", &edge.arrivals), at("waits", &edge.waits));
    format!("{name}{}{data}{arrives}{waits}", edge.mechanism.name())
}

/// What the barrier of an edge stands for, where it is none of the text.
fn kind(report: &Report, edge: &Edge) -> Option<&'static str> {
    Some(barrier(report, edge)?.abstract_of?.0)
}

fn barrier<'a>(report: &'a Report, edge: &Edge) -> Option<&'a BarrierSummary> {
    report.barriers.get(edge.barrier?)
}

/// `depth 2, count 1, of a token, mbarrier (TMA)`: what of a barrier a pass may change.
fn facts(barrier: &BarrierSummary) -> String {
    let mut parts = vec![format!("depth {}", barrier.depth)];
    parts.extend(barrier.count.map(|count| format!("count {count}")));
    parts.extend(barrier.abstract_of.map(|(what, _)| format!("of a {what}")));
    parts.extend(barrier.mechanisms.iter().map(|mechanism| mechanism.name().to_owned()));
    let bytes: Vec<String> = barrier.expects.iter().map(|expect| expect.bytes.to_string()).collect();
    if !bytes.is_empty() {
        parts.push(format!("expects {} bytes", bytes.join(", ")));
    }
    parts.join(", ")
}

/// Facts with the name, where it is no longer that.
fn named(old: &BarrierSummary, new: &BarrierSummary) -> String {
    if old.name == new.name { facts(old) } else { format!("{}: {}", old.name, facts(old)) }
}

/// `in %qk, col 64 of 1 slot of 128 cols, with %qk`: where a logical buffer lies, and beside what.
fn window(report: &Report, place: MemberId) -> String {
    let Some((buffer, member)) = find(report, place) else { return String::new() };
    let whole = member.extent == (0, buffer.size);
    let inside = if whole { String::new() } else { format!("{} of ", extent(buffer, member.extent)) };
    let holder = if buffer.name == member.name { String::new() } else { format!("in {}, ", buffer.name) };
    let slots = format!("{} slot{}", buffer.slots, if buffer.slots == 1 { "" } else { "s" });
    let others = buffer.members.iter().enumerate().filter(|(at, _)| *at != place.1);
    let others: Vec<&str> = others.map(|(_, other)| other.name.as_str()).collect();
    let others = if others.is_empty() { String::new() } else { format!(", with {}", others.join(", ")) };
    format!("{holder}{inside}{slots} of {} {}{others}", buffer.size, unit(buffer))
}

/// The same without names: window, slots, size, and whether it is all there is.
fn shape(report: &Report, place: MemberId) -> Option<((u64, u64), u64, u64, bool)> {
    let (buffer, member) = find(report, place)?;
    Some((member.extent, buffer.slots, buffer.size, buffer.members.len() == 1))
}

fn sorted(places: &[MemberId]) -> Vec<MemberId> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places
}

fn added(what: String, is: String) -> Change {
    Change { change: "added", what, was: String::new(), is }
}

fn removed(what: String, was: String) -> Change {
    Change { change: "removed", what, was, is: String::new() }
}

fn changed(what: String, was: String, is: String) -> Change {
    Change { change: "changed", what, was, is }
}
