//! Asserts as findings, in the text that they are about.
//!
//! Each is looked for in the IR that ran. Where the request is that IR, the finding is drawn at the operand. Where it is
//! Python, the op's location leads there: into this file at the innermost call that stands in it, and what lies in
//! other files is told beside. Where the analysis of the same IR predicts the assert at the same op, its kind, its
//! sites and its run are taken over; where the device names no op (a deadlock that is noticed when somebody ends),
//! the waits that the analysis says are endless_waits are the places.

use std::sync::Arc;

use super::paths::{TargetText, in_file, python_range};
use super::python_names::PythonNames;
use super::{AssertLocation, AssertMessage, CandidateOp, CountedAssert, DeadlockAt, PathMap, agree, locate};
use base::{Cancel, Cancelled, TextRange};
use findings::{Finding, KernelReport, Kind, Note, RunStep, Severity, Verdict};
use kernel::Lowered;
use lower::lower;
use ttgir::{Document, IrLevel, Tree};

/// What the analysis says of one kernel; whoever attributes asserts brings the analysis along.
pub type KernelCheck<'c> = dyn FnMut(&Lowered, &Cancel<'_>) -> Result<KernelReport, Cancelled> + 'c;

/// The IR of a kernel that ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledIr {
    /// Its text, with locations.
    pub text: Arc<str>,
    /// Files whose lines are the lines of this text: a device names them where the IR was compiled so.
    pub files: Vec<String>,
    /// Whether it is the text of the request.
    pub own: bool,
}

/// What came home.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attributed {
    /// Findings at ranges of the target, one an assert.
    pub kernels: Vec<KernelReport>,
    /// Asserts that have no place in it, one sentence each.
    pub elsewhere: Vec<String>,
    /// Of the asserts, those that one op or one line and column alone can be.
    pub exact: usize,
}

/// An IR that was read.
struct Read {
    own: bool,
    files: Vec<String>,
    parts: Vec<Part>,
}

/// A section of it.
struct Part {
    document: Document,
    section: usize,
    kernels: Vec<Lowered>,
    analysis: Vec<KernelReport>,
    /// What the target calls its values.
    names: PythonNames,
}

impl Part {
    fn tree(&self) -> Option<&Tree> {
        Some(self.document.sections().get(self.section)?.tree())
    }

    fn offset(&self) -> u32 {
        self.document.sections().get(self.section).map_or(0, |section| section.offset())
    }
}

/// A place beside the part of the IR that it is in.
type Found<'a> = (&'a Read, &'a Part, CandidateOp);

/// Brings asserts home.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn attribute(
    target: TargetText<'_>,
    irs: &[CompiledIr],
    asserts: &[CountedAssert],
    map: &PathMap,
    check: &mut KernelCheck<'_>,
    cancel: &Cancel<'_>,
) -> Result<Attributed, Cancelled> {
    let mut reads = Vec::new();
    for ir in irs {
        reads.push(read(target, ir, map, check, cancel)?);
    }
    let mut home = Attributed::default();
    for counted in asserts {
        cancel.check()?;
        let places = places(&reads, counted, map);
        if one_place(&places) {
            home.exact += 1;
        }
        let names = places.first().map(|(_, part, _)| &part.names);
        match tell(target, counted, &places, map) {
            Ok((kernel, range, mut finding)) => {
                if let Some(names) = names {
                    names.rename(&mut finding);
                }
                file(&mut home.kernels, kernel, range, finding);
            }
            Err(sentence) => home.elsewhere.push(names.map_or(sentence.clone(), |names| names.say(&sentence))),
        }
    }
    Ok(home)
}

fn read(
    target: TargetText<'_>,
    ir: &CompiledIr,
    map: &PathMap,
    check: &mut KernelCheck<'_>,
    cancel: &Cancel<'_>,
) -> Result<Read, Cancelled> {
    let document = Document::new(ir.text.clone());
    let mut parts = Vec::new();
    for (at, section) in document.sections().iter().enumerate() {
        if section.level() == IrLevel::Llvm {
            continue;
        }
        let kernels = lower(section.tree());
        let mut analysis = Vec::new();
        for lowered in &kernels {
            analysis.push(check(lowered, cancel)?);
        }
        let names = PythonNames::new(section.tree(), target, map);
        parts.push(Part { document: document.clone(), section: at, kernels, analysis, names });
    }
    Ok(Read { own: ir.own, files: ir.files.clone(), parts })
}

/// All ops that an assert may be about.
fn places<'a>(reads: &'a [Read], counted: &CountedAssert, map: &PathMap) -> Vec<Found<'a>> {
    let first = &counted.first;
    let mut found = Vec::new();
    let own_lines = |read: &Read| read.files.contains(&first.file);
    let named = reads.iter().any(own_lines);
    for read in reads {
        if named && !own_lines(read) {
            continue;
        }
        for part in &read.parts {
            let Some(tree) = part.tree() else { continue };
            let at = if named {
                // Lines count from the start of the file, a section has its own.
                let before = part.document.text().get(..part.offset() as usize).unwrap_or_default();
                let before = before.bytes().filter(|byte| *byte == b'\n').count() as u32;
                match first.line.checked_sub(before).filter(|line| *line > 0) {
                    Some(line) => AssertLocation::Text { line },
                    None => continue,
                }
            } else {
                AssertLocation::Source { file: first.file.clone(), line: first.line }
            };
            let thread = first.thread.map(|[thread, _, _]| thread);
            let mut here = locate(tree, &part.kernels, &at, &first.message, thread);
            if let (true, AssertLocation::Source { line, .. }) = (here.is_empty(), &at) {
                let at = AssertLocation::Source { file: map.apply(&first.file), line: *line };
                here = locate(tree, &part.kernels, &at, &first.message, thread);
            }
            found.extend(here.into_iter().map(|place| (read, part, place)));
        }
    }
    found
}

/// Whether the places are one op, or one place in the source by the same calls.
fn one_place(places: &[Found<'_>]) -> bool {
    let Some((first, rest)) = places.split_first() else { return false };
    let same = |other: &Found<'_>| !first.2.chain.is_empty() && other.2.chain == first.2.chain;
    rest.iter().all(same)
}

fn file(kernels: &mut Vec<KernelReport>, name: String, range: TextRange, finding: Finding) {
    match kernels.iter_mut().find(|report| report.name == name) {
        Some(report) => report.findings.push(finding),
        None => kernels.push(KernelReport {
            name,
            range,
            findings: vec![finding],
            ..KernelReport::without_findings(Verdict::Found)
        }),
    }
}

/// An assert in words: the kernel, the range of its name, the finding. Else a sentence for what has no place here.
fn tell(
    target: TargetText<'_>,
    counted: &CountedAssert,
    places: &[Found<'_>],
    map: &PathMap,
) -> Result<(String, TextRange, Finding), String> {
    let first = &counted.first;
    let message = sentence(counted, places.first().map(|found| &found.2));
    let elsewhere = || format!("{}:{}: {message}", first.file, first.line);
    let Some(found) = places.first() else {
        // The line is in this very file, and no op is known to come from it.
        if !target.python || !map.is(&first.file, target.path) || first.line == 0 {
            return Err(elsewhere());
        }
        let range = python_range(target.text, first.line, 0);
        let note = note(range, message.clone(), None, true);
        return Ok((String::new(), range, finding(first.message.kind(), message, vec![note], String::new())));
    };
    let drawn = |found: &Found<'_>| draw(target, found, map);
    let predicted = prediction(found, &first.message);
    let mut sites = Vec::new();
    let mut context = Vec::new();
    let mut run = Vec::new();
    let mut kind = first.message.kind();
    let place = drawn(found);
    if let Some(report) = &predicted {
        kind = report.kind;
        sites = moved(target, found, &report.sites, map);
        run = run_of(target, found, &report.run, map);
    }
    let Some(range) = place.or_else(|| sites.iter().find(|site| site.primary).map(|site| site.range)) else {
        return Err(format!("{}{}", elsewhere(), way(found)));
    };
    // The device's own place is where it is drawn, unless that is only where somebody noticed.
    let noticed = matches!(first.message, AssertMessage::Deadlock(at) if at != DeadlockAt::Wait) && !sites.is_empty();
    let range = if noticed { sites.iter().find(|site| site.primary).map_or(range, |site| site.range) } else { range };
    if !noticed {
        sites.iter_mut().for_each(|site| site.primary = false);
        let same = sites.iter_mut().find(|site| site.range == range);
        match same {
            Some(site) => site.primary = true,
            None => sites.push(note(range, said(first), source(&found.2), true)),
        }
    }
    for other in places.iter().skip(1) {
        if let Some(other_range) = drawn(other).filter(|other| *other != range) {
            sites.push(note(other_range, format!("or here: {}", told(&other.2)), source(&other.2), false));
        }
    }
    if target.python {
        context.extend(calls(target, &found.2, map));
    }
    let kernel = kernel_of(found);
    let name_range = name_range(target, found, &kernel);
    let mut finding = finding(kind, message, sites, kernel.clone());
    finding.range = range;
    finding.context = context;
    finding.run = run;
    Ok((kernel, name_range, finding))
}

fn finding(kind: Kind, message: String, sites: Vec<Note>, kernel: String) -> Finding {
    let range = sites.iter().find(|site| site.primary).map(|site| site.range).unwrap_or_default();
    Finding {
        kind,
        severity: Severity::Error,
        message,
        range,
        sites,
        context: Vec::new(),
        run: Vec::new(),
        witness: None,
        inputs: Vec::new(),
        phases: Vec::new(),
        order: None,
        kernel,
        instance: 0,
        fix: None,
    }
}

fn note(range: TextRange, text: String, source: Option<String>, primary: bool) -> Note {
    Note { range, text, source, primary }
}

/// What the device says, with what it is said of.
fn sentence(counted: &CountedAssert, place: Option<&CandidateOp>) -> String {
    let first = &counted.first;
    let mut text = said(first);
    if let Some(place) = place {
        text += &format!(": {}", told(place));
    }
    if let Some([x, y, z]) = first.block {
        text += &format!(", in program ({x}, {y}, {z})");
    }
    if counted.count > 1 {
        text += &format!(", the first of {}", counted.count);
    }
    text
}

fn said(first: &super::Assert) -> String {
    let who = match first.message {
        AssertMessage::Race(_) | AssertMessage::Global(_) => "GSan",
        AssertMessage::Other(_) => "the kernel",
        _ => "ConSan",
    };
    format!("{who} asserts \"{}\"", first.message.text())
}

fn told(place: &CandidateOp) -> String {
    let partition = match place.partition {
        0 => "default".to_owned(),
        number => format!("partition{}", number - 1),
    };
    match &place.buffer {
        Some(buffer) => format!("{partition} at `{}` on `{buffer}`", place.name),
        None => format!("{partition} at `{}`", place.name),
    }
}

fn source(place: &CandidateOp) -> Option<String> {
    place.chain.first().map(|loc| format!("{}:{}:{}", loc.file, loc.line, loc.col))
}

/// The calls that lead to an op, for a sentence.
fn way(found: &Found<'_>) -> String {
    let calls: Vec<String> =
        found.2.chain.iter().skip(1).map(|loc| format!("{}:{}:{}", loc.file, loc.line, loc.col)).collect();
    if calls.is_empty() { String::new() } else { format!(" (called at {})", calls.join(", called at ")) }
}

/// Where a place is drawn in the target.
fn draw(target: TargetText<'_>, (read, part, place): &Found<'_>, map: &PathMap) -> Option<TextRange> {
    if target.python {
        let (_, loc) = in_file(&place.chain, map, target.path)?;
        return Some(python_range(target.text, loc.line, loc.col));
    }
    read.own.then(|| shifted(place.range, part.offset()))
}

fn shifted(range: TextRange, by: u32) -> TextRange {
    TextRange::new(range.start + by, range.end + by)
}

/// The calls around an op: outwards those in this file as places, and those inwards of it in words.
fn calls(target: TargetText<'_>, place: &CandidateOp, map: &PathMap) -> Vec<Note> {
    let Some((at, _)) = in_file(&place.chain, map, target.path) else { return Vec::new() };
    let mut notes = Vec::new();
    let drawn = |loc: &ttgir::SourceLoc| python_range(target.text, loc.line, loc.col);
    for loc in &place.chain[..at] {
        let file = loc.file.rsplit(['/', '\\']).next().unwrap_or_default();
        let text = format!("the op is in {file}, line {}", loc.line);
        notes.push(note(drawn(&place.chain[at]), text, Some(format!("{}:{}", loc.file, loc.line)), false));
    }
    for loc in place.chain[at + 1..].iter().filter(|loc| map.is(&loc.file, target.path)) {
        let source = Some(format!("{}:{}", loc.file, loc.line));
        notes.push(note(drawn(loc), "called here".to_owned(), source, false));
    }
    notes
}

/// The static finding that is this assert: the one with a site at the op, else for a deadlock any.
fn prediction(found: &Found<'_>, message: &AssertMessage) -> Option<Finding> {
    let (_, part, place) = found;
    let tree = part.tree()?;
    let header = tree.op_header_range(place.op);
    let findings = part.analysis.iter().flat_map(|report| &report.findings);
    let able: Vec<&Finding> = findings.filter(|finding| agree::predicts(finding, message)).collect();
    let at_op = |finding: &&&Finding| finding.sites.iter().any(|site| header.contains(site.range));
    let deadlock = matches!(message, AssertMessage::Deadlock(_));
    able.iter().find(at_op).or_else(|| able.first().filter(|_| deadlock)).map(|finding| (*finding).clone())
}

/// Notes of the IR in the target; what has no place there is left out.
fn moved(target: TargetText<'_>, found: &Found<'_>, notes: &[Note], map: &PathMap) -> Vec<Note> {
    let place = |range| move_range(target, found, range, map);
    notes.iter().filter_map(|note| Some(Note { range: place(note.range)?, ..note.clone() })).collect()
}

fn run_of(target: TargetText<'_>, found: &Found<'_>, run: &[RunStep], map: &PathMap) -> Vec<RunStep> {
    let place = |range| move_range(target, found, range, map);
    // Sites may have been left out, and numbers of sites with them.
    run.iter().filter_map(|step| Some(RunStep { range: place(step.range)?, site: None, ..step.clone() })).collect()
}

fn move_range(
    target: TargetText<'_>,
    (read, part, _): &Found<'_>,
    range: TextRange,
    map: &PathMap,
) -> Option<TextRange> {
    if !target.python {
        return read.own.then(|| shifted(range, part.offset()));
    }
    let tree = part.tree()?;
    let chain = tree.loc(tree.op_at(range.start)?);
    let (_, loc) = in_file(&chain, map, target.path)?;
    Some(python_range(target.text, loc.line, loc.col))
}

fn kernel_of((_, part, place): &Found<'_>) -> String {
    if place.kernel.is_empty() {
        return part.kernels.first().map(|lowered| lowered.map.kernel.clone()).unwrap_or_default();
    }
    place.kernel.clone()
}

fn name_range(target: TargetText<'_>, (read, part, _): &Found<'_>, kernel: &str) -> TextRange {
    if !target.python {
        let lowered = part.kernels.iter().find(|lowered| lowered.map.kernel == kernel && read.own);
        return lowered.map(|lowered| shifted(lowered.map.kernel_range, part.offset())).unwrap_or_default();
    }
    function_name_range(target.text, kernel)
}

/// The name of a function of a Python text, where it is defined.
pub fn function_name_range(text: &str, name: &str) -> TextRange {
    let at = text.match_indices("def ").find_map(|(at, _)| {
        let rest = text[at + 4..].trim_start();
        let start = text.len() - rest.len();
        let after = rest.strip_prefix(name)?;
        after.trim_start().starts_with('(').then_some(start)
    });
    at.map_or_else(TextRange::default, |at| TextRange::new(at as u32, (at + name.len()) as u32))
}

/// The reports on a kernel's IR at the places of a Python text. What has no place there is told as a sentence.
pub fn move_to_python(
    reports: &[KernelReport],
    ir: &str,
    target: TargetText<'_>,
    map: &PathMap,
) -> (Vec<KernelReport>, Vec<String>) {
    let document = Document::new(ir);
    let mut elsewhere = Vec::new();
    let names = PythonNames::of_text(ir, target, map);
    let place = |range: TextRange| {
        let section = document.sections().iter().find(|section| section.range().contains(range))?;
        let tree = section.tree();
        let op = tree.op_at(range.start.checked_sub(section.offset())?)?;
        let chain = tree.loc(op);
        let (_, loc) = in_file(&chain, map, target.path)?;
        Some(python_range(target.text, loc.line, loc.col))
    };
    let notes = |notes: &[Note]| -> Vec<Note> {
        notes.iter().filter_map(|note| Some(Note { range: place(note.range)?, ..note.clone() })).collect()
    };
    let mut out = Vec::new();
    for report in reports {
        let mut moved = KernelReport {
            range: function_name_range(target.text, &report.name),
            findings: Vec::new(),
            suppressed: Vec::new(),
            ..report.clone()
        };
        for finding in &report.findings {
            let Some(range) = place(finding.range) else {
                elsewhere.push(names.say(&finding.message));
                continue;
            };
            let steps = finding
                .run
                .iter()
                .filter_map(|step| Some(RunStep { range: place(step.range)?, site: None, ..step.clone() }));
            let mut here = Finding {
                range,
                sites: notes(&finding.sites),
                context: notes(&finding.context),
                run: steps.collect(),
                witness: None,
                fix: None,
                ..finding.clone()
            };
            names.rename(&mut here);
            moved.findings.push(here);
        }
        out.push(moved);
    }
    (out, elsewhere)
}

/// What the analysis of the IR says will never end, one sentence a wait: for a run that did not come to its end.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn endless_waits(
    target: TargetText<'_>,
    irs: &[CompiledIr],
    map: &PathMap,
    check: &mut KernelCheck<'_>,
    cancel: &Cancel<'_>,
) -> Result<Vec<String>, Cancelled> {
    let mut out: Vec<String> = Vec::new();
    for ir in irs {
        for part in read(target, ir, map, check, cancel)?.parts {
            let findings = part.analysis.iter().flat_map(|report| &report.findings);
            for finding in
                findings.filter(|finding| agree::classes(finding.kind).contains(&super::AssertClass::Deadlock))
            {
                for site in finding.sites.iter().filter(|site| site.text.contains("waits")) {
                    let place = site.source.as_deref().map_or_else(String::new, |source| format!(" ({source})"));
                    let text = format!("{}{place}", part.names.say(&site.text));
                    if !out.contains(&text) {
                        out.push(text);
                    }
                }
            }
        }
    }
    Ok(out)
}
