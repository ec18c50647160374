//! What a report says, section by section, before it is text or Markdown.

use base::TextRange;
use findings::Verdict;
use kernel::{Half, Mode};
use report::{BarrierSummary, Coverage, CoverageOrder, CoverageRow, Direction, PartitionUse, PhysicalBuffer};

use super::blocks::{DocBlock, DocTable};
use super::graph::{self, numbers};
use super::view::{BARE, PLANNED, ReportView, extent, space, unit};
use crate::lanes;

/// What a missing order needs is said in its row up to so many characters.
const SHORT: usize = 32;

/// A whole report; drawings are at most `width` columns wide.
pub(super) fn blocks(view: &ReportView<'_>, width: usize) -> Vec<DocBlock> {
    let mut out = head(view);
    partitions(view, &mut out);
    if view.is_bare() {
        out.push(DocBlock::Text(BARE.to_owned()));
    } else {
        dependencies(view, width, &mut out);
        phases(view, &mut out);
        shared(view, &mut out);
        aliases(view, &mut out);
        coverage(view, &mut out);
    }
    rest(view, &mut out);
    out
}

/// `12 rows, 2 MISSING`.
pub(super) fn tally(view: &ReportView<'_>) -> String {
    let rows: usize = view.report.coverage.iter().map(|block| block.rows.len()).sum();
    let unknown = view.report.coverage.iter().flat_map(|block| &block.rows);
    let unknown = unknown.filter(|row| matches!(row.order, CoverageOrder::Unknown(_))).count();
    let mut parts = vec![format!("{rows} row{}", if rows == 1 { "" } else { "s" })];
    match view.missing() {
        0 if rows > 0 => parts.push("none MISSING".to_owned()),
        0 => {}
        missing => parts.push(format!("{missing} MISSING")),
    }
    if view.through() > 0 {
        parts.push(format!("{} ordered only through another barrier", view.through()));
    }
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    parts.join(", ")
}

/// `proved: …`, `found: 1 error, 2 hints`.
pub(super) fn verdict(view: &ReportView<'_>) -> String {
    let why = match &view.report.verdict {
        Verdict::Proved(how) | Verdict::Clean(how) => how.clone(),
        Verdict::Undecided(why) => why.join("; "),
        Verdict::Found => String::new(),
    };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for finding in &view.report.findings {
        let name = finding.severity.name();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts = counts.iter().map(|(name, count)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }));
    let parts: Vec<String> = std::iter::once(why).chain(counts).filter(|part| !part.is_empty()).collect();
    let name = view.report.verdict.name();
    if parts.is_empty() { name.to_owned() } else { format!("{name}: {}", parts.join("; ")) }
}

fn head(view: &ReportView<'_>) -> Vec<DocBlock> {
    let report = &view.report;
    let mut place = format!("{}:{}", view.path, view.places.line(report.range.start));
    if let Some(section) = &view.section {
        place.push_str(&format!(", section {} of {}", section.number, section.count));
        if !section.pass.is_empty() {
            place.push_str(&format!(" ({})", section.pass));
        }
    }
    let mut fields = vec![
        ("file", place),
        ("stage", report.stage.name().to_owned()),
        ("verdict", verdict(view)),
        ("coverage", tally(view)),
    ];
    if view.is_bare() {
        fields.pop();
    }
    if report.ctas > 1 {
        fields.insert(2, ("cluster", format!("{} CTAs", report.ctas)));
    }
    if !view.partial().is_empty() {
        fields.push(("partial", view.partial()));
    }
    for (at, coming) in report.coming.iter().enumerate() {
        fields.push((if at == 0 { "to come" } else { "" }, format!("{}: {}", coming.pass, coming.adds)));
    }
    if !report.runs.is_empty() && !view.is_bare() {
        let runs: Vec<String> = report.runs.iter().map(|inputs| lanes::inputs(inputs)).collect();
        let named: Vec<&str> = runs.iter().map(String::as_str).filter(|run| !run.is_empty()).collect();
        let count = runs.len();
        let plural = if count == 1 { "" } else { "s" };
        let with = if named.is_empty() { String::new() } else { format!(": {}", named.join("; ")) };
        fields.push(("runs", format!("edges and coverage come from {count} run{plural}{with}")));
    }
    vec![DocBlock::Title(format!("Barrier report of @{}", report.kernel)), DocBlock::Fields(fields)]
}

fn coverage(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("Coverage: what each overwrite meets".to_owned()));
    if view.report.coverage.is_empty() {
        out.push(DocBlock::Text("No op overwrites a buffer.".to_owned()));
    }
    let (mut last, mut notes) = (None, Notes::default());
    let levels = deepest(view);
    for block in &view.report.coverage {
        let Some(buffer) = view.report.buffers.get(block.buffer) else { continue };
        if last != Some(block.buffer) {
            out.push(DocBlock::Part(owner(buffer)));
            last = Some(block.buffer);
        }
        out.push(DocBlock::Text(writer(view, buffer, block)));
        let mut table = DocTable::new(&["extent", "buffer", "partition", "use", "at", "order"]);
        for row in &block.rows {
            let member = buffer.members.get(row.member);
            let verb = if row.mode == Mode::Read { "reads" } else { "writes" };
            table.row(vec![
                member.map_or_else(String::new, |member| extent(buffer, member.extent)),
                member.map_or_else(|| "?".to_owned(), |member| member.name.clone()),
                view.partition(row.partition).to_owned(),
                format!("{verb}{}", cadence(&row.uses, levels)),
                plain_lines(view, row.uses.iter().map(|it| it.range)),
                order(view, row, &mut notes),
            ]);
        }
        if table.is_empty() {
            out.push(DocBlock::Text("It meets nothing that anyone else uses.".to_owned()));
        } else {
            out.push(DocBlock::Table(table));
        }
    }
    if !notes.missing.is_empty() {
        out.push(DocBlock::Part("What is missing".to_owned()));
        let notes = notes.missing.iter().enumerate().map(|(at, note)| format!("({}) {note}", at + 1));
        out.push(DocBlock::List(notes.collect()));
    }
    if !notes.breaks.is_empty() {
        out.push(DocBlock::Part("What holds only through another barrier".to_owned()));
        let notes = notes.breaks.iter().enumerate().map(|(at, note)| format!("[{}] {note}", at + 1));
        out.push(DocBlock::List(notes.collect()));
    }
}

/// What is said below the tables, each once.
#[derive(Default)]
struct Notes<'a> {
    missing: Vec<&'a str>,
    breaks: Vec<&'a str>,
}

/// The number of a note, from 1.
fn number<'a>(notes: &mut Vec<&'a str>, text: &'a str) -> usize {
    let at = notes.iter().position(|note| *note == text).unwrap_or_else(|| {
        notes.push(text);
        notes.len() - 1
    });
    at + 1
}

/// The order of a row; what a missing one needs is a note below the tables, unless it is short.
fn order<'a>(view: &'a ReportView<'_>, row: &'a CoverageRow, notes: &mut Notes<'a>) -> String {
    match &row.order {
        CoverageOrder::Missing { needed, .. } if needed.chars().count() > SHORT => {
            format!("MISSING ({})", number(&mut notes.missing, needed))
        }
        CoverageOrder::Through { breaks, .. } => {
            format!("{} [{}]", view.order(row), number(&mut notes.breaks, breaks))
        }
        _ => view.order(row),
    }
}

/// `Physical buffer %qk (buffer.id 8): TMEM, 128 cols`.
fn owner(buffer: &PhysicalBuffer) -> String {
    let id = buffer.id.map_or_else(String::new, |id| format!(" (buffer.id {id})"));
    format!("Physical buffer {}{id}: {}", buffer.name, storage(buffer))
}

/// `accumulator, TMEM, 128 cols`: what it is where its name is a number, and where.
fn storage(buffer: &PhysicalBuffer) -> String {
    let about = buffer.about().map_or_else(String::new, |about| format!("{about}, "));
    let slots = if buffer.slots > 1 { format!("{} slots of ", buffer.slots) } else { String::new() };
    format!("{about}{}, {slots}{} {}", space(buffer.space), buffer.size, unit(buffer))
}

fn writer(view: &ReportView<'_>, buffer: &PhysicalBuffer, block: &Coverage) -> String {
    let by = &block.writer;
    let use_c = block.use_c.as_ref().map_or_else(String::new, |it| format!(", useC = {it}"));
    let what = if block.clears { ", clears what it does not name" } else { "" };
    let slot = if by.slot.is_empty() { String::new() } else { format!(", slot {}", by.slot) };
    let line = view.line(by.range).map_or_else(String::new, |line| format!(", line {line}"));
    let inside = cadence(std::slice::from_ref(by), deepest(view));
    let (who, extent) = (view.partition(by.partition), extent(buffer, block.extent));
    format!("Writer: {} of {who}{line}{inside}; {extent}{slot}{use_c}{what}", by.op)
}

/// How deep the loops around the uses of the table are.
fn deepest(view: &ReportView<'_>) -> usize {
    let blocks = view.report.coverage.iter();
    let uses = blocks.flat_map(|block| block.rows.iter().flat_map(|row| &row.uses).chain([&block.writer]));
    uses.map(|used| used.cadence.len()).max().unwrap_or(0)
}

/// ` in %i, %j (inner)`: the loops around uses, and which they are where loops are nested.
fn cadence(uses: &[PartitionUse], deepest: usize) -> String {
    let mut all: Vec<String> = Vec::new();
    for it in uses {
        let which = match it.cadence.len() {
            _ if deepest < 2 => "",
            depth if depth == deepest => " (inner)",
            _ => " (outer)",
        };
        let one = if it.cadence.is_empty() { String::new() } else { format!(" in {}{which}", it.cadence.join(", ")) };
        if !all.contains(&one) {
            all.push(one);
        }
    }
    match all.as_slice() {
        [one] => one.clone(),
        _ => all.iter().map(|one| if one.is_empty() { " outside loops" } else { one }).collect::<Vec<_>>().join(" and"),
    }
}

fn plain_lines(view: &ReportView<'_>, ranges: impl Iterator<Item = TextRange>) -> String {
    let lines = view.lines(ranges);
    if lines.is_empty() { String::new() } else { numbers(&lines) }
}

fn partitions(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("1. Partitions".to_owned()));
    let mut table = DocTable::new(&["partition", "role", "key ops", "warps", "line"]);
    for row in &view.report.partitions {
        let ops = row.key_ops.iter();
        let ops = ops.map(|(op, count)| if *count > 1 { format!("{op} x{count}") } else { op.clone() });
        table.row(vec![
            row.label.clone(),
            row.role.clone(),
            ops.collect::<Vec<_>>().join(", "),
            row.warps.to_string(),
            view.line(row.range).map_or_else(String::new, |line| line.to_string()),
        ]);
    }
    out.push(DocBlock::Table(table));
}

fn dependencies(view: &ReportView<'_>, width: usize, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("2. Dependency graph".to_owned()));
    let mut empty = true;
    if view.report.edges.iter().any(|edge| edge.planned) {
        out.push(DocBlock::Text(PLANNED.to_owned()));
    }
    for (direction, title) in [
        (Direction::Forward, "Forward: what was written may be read"),
        (Direction::Backward, "Backward: what was read may be overwritten"),
        (Direction::Control, "Control: nothing is handed on in the runs"),
    ] {
        let drawing = graph::draw(view, direction, width);
        if !drawing.is_empty() {
            empty = false;
            out.push(DocBlock::Part(title.to_owned()));
            out.push(DocBlock::Drawing(drawing));
        }
    }
    let joins = graph::joins(view);
    if !joins.is_empty() {
        out.push(DocBlock::Text(format!("Partition start and end: {}.", joins.join("; "))));
    } else if empty {
        out.push(DocBlock::Text("No partition waits for another.".to_owned()));
    }
}

fn phases(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("3. Index and phase".to_owned()));
    if view.report.barriers.is_empty() {
        out.push(DocBlock::Text("There is no barrier.".to_owned()));
    }
    for barrier in &view.report.barriers {
        out.push(DocBlock::Part(title(view, barrier)));
        let mut fields = Vec::new();
        for (name, texts) in [("index", &barrier.index), ("phase", &barrier.phase)] {
            if !texts.is_empty() {
                fields.push((name, once(texts).join("; ")));
            }
        }
        if barrier.stagger.iter().any(|(_, offset)| *offset != 0) {
            let offsets = barrier.stagger.iter().map(|(name, offset)| format!("{name}: {offset:+}"));
            fields.push(("stagger", offsets.collect::<Vec<_>>().join(", ")));
        }
        for expect in &barrier.expects {
            let sum: u64 = expect.parts.iter().map(|(_, bytes)| bytes).sum();
            let parts: Vec<String> = expect.parts.iter().map(|(name, bytes)| format!("{bytes} {name}")).collect();
            let line = view.line(expect.range).map_or_else(String::new, |line| format!(" (line {line})"));
            let parts = match parts.len() {
                0 => String::new(),
                _ if sum == expect.bytes => format!(" = {}", parts.join(" + ")),
                _ => format!(", but {} come: {}", sum, parts.join(" + ")),
            };
            fields.push(("expects", format!("{} bytes{line}{parts}", expect.bytes)));
        }
        if !barrier.traffic.is_empty() {
            fields.push(("traffic", traffic(&barrier.traffic, barrier.depth)));
        }
        out.push(DocBlock::Fields(fields));
    }
}

/// `%bar_5: depth 2, count 1, line 27`.
fn title(view: &ReportView<'_>, barrier: &BarrierSummary) -> String {
    let mut parts = vec![format!("depth {}", barrier.depth)];
    parts.extend(barrier.count.map(|count| format!("count {count}")));
    parts.extend(barrier.abstract_of.map(|(what, half)| match half {
        Half::Full => format!("full half of a {what}"),
        Half::Empty => format!("empty half of a {what}"),
        Half::Whole => what.to_owned(),
    }));
    parts.extend(barrier.mechanisms.iter().map(|mechanism| mechanism.name().to_owned()));
    parts.extend(view.line(barrier.range).map(|line| format!("line {line}")));
    format!("{}: {}", barrier.name, parts.join(", "))
}

/// Flips and waits a slot; slots that do alike once. A barrier with one slot has several where each CTA has its own.
fn traffic(slots: &[(u32, u32)], depth: u64) -> String {
    let each = if depth == 1 { "CTA" } else { "slot" };
    let words = |(flips, waits): (u32, u32)| {
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        format!("{flips} flip{}, {waits} wait{}", plural(flips), plural(waits))
    };
    match slots {
        [] => String::new(),
        [one] => words(*one),
        [first, rest @ ..] if rest.iter().all(|slot| slot == first) => format!("each {each}: {}", words(*first)),
        _ => {
            let slots = slots.iter().enumerate().map(|(at, slot)| format!("{each} {at}: {}", words(*slot)));
            slots.collect::<Vec<_>>().join("; ")
        }
    }
}

fn shared(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("4. Shared data".to_owned()));
    if view.report.buffers.is_empty() {
        out.push(DocBlock::Text("There is no buffer.".to_owned()));
    }
    for (at, buffer) in view.report.buffers.iter().enumerate() {
        let id = buffer.id.map_or_else(String::new, |id| format!(" (buffer.id {id})"));
        let line = view.line(buffer.range).map_or_else(String::new, |line| format!(", line {line}"));
        let still = if buffer.registers { ", in registers until buffer allocation" } else { "" };
        out.push(DocBlock::Part(format!("{}{id}: {}{line}{still}", buffer.name, storage(buffer))));
        if !buffer.ty.is_empty() {
            out.push(DocBlock::Text(buffer.ty.clone()));
        }
        let mut table = DocTable::new(&["extent", "buffer", "written by", "read by", "barriers"]);
        for (number, member) in buffer.members.iter().enumerate() {
            let by = view.report.barriers.iter().filter(|barrier| barrier.protects.contains(&(at, number)));
            table.row(vec![
                extent(buffer, member.extent),
                member.name.clone(),
                users(view, &member.writers),
                users(view, &member.readers),
                by.map(|barrier| barrier.name.as_str()).collect::<Vec<_>>().join(", "),
            ]);
        }
        out.push(DocBlock::Table(table));
    }
}

/// An op without its dialect.
fn bare(op: &str) -> &str {
    op.rsplit('.').next().unwrap_or(op)
}

/// Texts, each once.
fn once(texts: &[String]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for text in texts {
        if !out.contains(&text.as_str()) {
            out.push(text);
        }
    }
    out
}

/// `partition0: tc_gen5_mma, line 88; …`, by partition and op.
fn users(view: &ReportView<'_>, uses: &[PartitionUse]) -> String {
    let mut groups: Vec<((usize, &str), Vec<TextRange>)> = Vec::new();
    for it in uses {
        let key = (it.partition, it.op.as_str());
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, ranges)) => ranges.push(it.range),
            None => groups.push((key, vec![it.range])),
        }
    }
    let words = groups.into_iter().map(|((partition, op), ranges)| {
        let lines = plain_lines(view, ranges.into_iter());
        format!("{}: {}, {lines}", view.partition(partition), bare(op))
    });
    words.collect::<Vec<_>>().join("; ")
}

fn aliases(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    out.push(DocBlock::Heading("5. Values and uses of each barrier".to_owned()));
    for barrier in &view.report.barriers {
        out.push(DocBlock::Part(title(view, barrier)));
        let values = barrier.aliases.iter().map(|alias| {
            let line = view.line(alias.range).map_or_else(String::new, |line| format!("line {line}: "));
            format!("{line}{}, {}", alias.name, alias.how)
        });
        if !barrier.aliases.is_empty() {
            out.push(DocBlock::Fields(vec![("values", values.collect::<Vec<_>>().join("; "))]));
        }
        let mut table = DocTable::new(&["line", "partition", "op", "what", "slot", "loops"]);
        for it in &barrier.uses {
            table.row(vec![
                view.line(it.range).map_or_else(String::new, |line| line.to_string()),
                view.partition(it.partition).to_owned(),
                bare(&it.op).to_owned(),
                it.what.clone(),
                it.slot.clone(),
                it.cadence.join(", "),
            ]);
        }
        if !table.is_empty() {
            out.push(DocBlock::Table(table));
        }
    }
    if view.report.barriers.is_empty() {
        out.push(DocBlock::Text("There is no barrier.".to_owned()));
    }
}

fn rest(view: &ReportView<'_>, out: &mut Vec<DocBlock>) {
    let report = &view.report;
    let at = |range| view.line(range).map_or_else(String::new, |line| format!("line {line}: "));
    let findings = report.findings.iter().map(|finding| {
        let with = lanes::inputs(&finding.inputs);
        let with = if with.is_empty() { with } else { format!(" ({with})") };
        let mut text = format!("{}[{}] ", finding.severity.name(), finding.kind.name());
        text += &format!("{}{}{with}", at(finding.range), finding.message);
        if finding.sites.len() > 1 {
            for (number, site) in finding.sites.iter().enumerate() {
                text += &format!("; ({}) {}{}", number + 1, at(site.range), site.text);
            }
        }
        text
    });
    let remarks = report.remarks.iter().map(|remark| {
        let others = view.lines(remark.sites.iter().copied());
        let others = if others.is_empty() { String::new() } else { format!(" (see {})", numbers(&others)) };
        format!("{}: {}{}{others}", remark.kind.name(), at(remark.range), remark.text)
    });
    let unmodelled = report.unmodelled.iter().map(|(range, why)| format!("{}{why}", at(*range)));
    for (heading, list) in [
        ("Findings", findings.collect::<Vec<_>>()),
        ("Remarks", remarks.collect()),
        ("Not followed", unmodelled.collect()),
    ] {
        if !list.is_empty() {
            out.push(DocBlock::Heading(heading.to_owned()));
            out.push(DocBlock::List(list));
        }
    }
}
