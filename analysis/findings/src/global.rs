//! What is said of global memory: races between programs as findings, and how far a kernel is decided there.

use base::{Message, TextRange, message};
use races::{Assumption, Global, Hang, MemSyncScope, PartitionRace, Race, Side, Status};

use super::finding::{Finding, GlobalMemoryReport, KernelReport, Note, Verdict};
use super::kind::{Kind, Severity};

/// Assumptions that a verdict names; more are counted.
const NAMED: usize = 6;

/// Places of one reason that are named.
const SITES: usize = 4;

/// What the inputs of a finding call the number of programs along each axis.
pub const GRID: [&str; 3] = ["grid.x", "grid.y", "grid.z"];

/// Adds to a kernel's report what is said of its global memory. Where the kernel does nothing else that could go
/// wrong, its verdict is this one.
pub fn add_global(report: &mut KernelReport<Message>, global: &Global, nothing_else: bool) {
    let assumed: Vec<Message> = global.assumed.iter().map(|Assumption { text }| named(text)).collect();
    let verdict = match global.status {
        Status::NoWrites => return,
        Status::Proved => Verdict::Proved(Message::from("no two programs race in global memory")),
        Status::Clean => {
            let launches = if global.runs == 1 { "launch" } else { "launches" };
            Verdict::Clean(message!("no race in global memory in {} {} in any order", global.runs, launches))
        }
        Status::Found if is_of_same_values(global) => {
            Verdict::Undecided(vec![Message::from("programs write the same value to one place")])
        }
        Status::Found => Verdict::Found,
        Status::Undecided => {
            let mut why: Vec<Message> = Vec::new();
            for reason in &global.reasons {
                let text = named(&reason.text);
                if !why.contains(&text) {
                    why.push(text);
                }
            }
            Verdict::Undecided(why)
        }
    };
    if global.status == Status::Undecided {
        report.findings.extend(left_open(global, report));
    }
    if global.status == Status::Found {
        report.findings.extend(one_a_place(global.races.iter().map(|race| finding(race, &report.name))));
        report.findings.extend(global.partition_races.iter().map(|race| between_partitions(race, &report.name)));
        report.findings.extend(global.hang.iter().map(|hang| waits_for_ever(hang, &report.name)));
        report.findings.sort_by_key(|finding| (finding.severity, finding.range));
    }
    let quiet = matches!(report.verdict, Verdict::Clean(_) | Verdict::Proved(_));
    let memory = GlobalMemoryReport { verdict, assumed, alone: global.alone };
    match &memory.verdict {
        Verdict::Found => report.verdict = Verdict::Found,
        Verdict::Undecided(why) if nothing_else && quiet => {
            report.verdict = Verdict::Undecided(why.iter().map(|why| message!("global memory: {}", why)).collect());
        }
        _ if nothing_else && quiet => report.verdict = memory.told(),
        _ => {}
    }
    report.global = Some(memory);
}

/// Why global memory is not decided, each reason at the first op that it is about with the others beside it. What is about
/// the whole kernel stands in the verdict alone, and what the lowering has said of an op is not said again.
fn left_open(global: &Global, report: &KernelReport<Message>) -> Vec<Finding<Message>> {
    let known = |range: TextRange| {
        report.findings.iter().any(|finding| finding.kind == Kind::Unmodelled && finding.range == range)
    };
    let mut told: Vec<(&str, Finding<Message>)> = Vec::new();
    for reason in global.reasons.iter().filter(|reason| reason.range != global.range && !known(reason.range)) {
        match told.iter_mut().find(|(text, _)| *text == reason.text) {
            Some((_, finding)) if finding.sites.len() >= SITES => {}
            Some((_, finding)) => finding.sites.push(Note::new(reason.range, "and here")),
            None => {
                let message = message!("global memory: {}", named(&reason.text));
                let finding = Finding::at(Kind::Unmodelled, message, reason.range, report.name.as_str());
                told.push((&reason.text, finding));
            }
        }
    }
    told.into_iter().map(|(_, finding)| finding).collect()
}

impl GlobalMemoryReport<Message> {
    /// The verdict with what it rests on in its words.
    fn told(&self) -> Verdict<Message> {
        let told = |how: &Message| how.clone().and(premises(&self.assumed));
        match &self.verdict {
            Verdict::Proved(how) => Verdict::Proved(told(how)),
            Verdict::Clean(how) => Verdict::Clean(told(how)),
            other => other.clone(),
        }
    }
}

impl GlobalMemoryReport {
    /// Whether the verdict rests on what is assumed.
    pub fn is_told(&self) -> bool {
        matches!(self.verdict, Verdict::Proved(_) | Verdict::Clean(_))
    }

    /// The verdict with what it rests on in its words.
    pub fn told(&self) -> Verdict {
        let named = first_few(&self.assumed, |more| more);
        let premises = if named.is_empty() { String::new() } else { format!(", assuming that {}", named.join("; ")) };
        match &self.verdict {
            Verdict::Proved(how) => Verdict::Proved(format!("{how}{premises}")),
            Verdict::Clean(how) => Verdict::Clean(format!("{how}{premises}")),
            other => other.clone(),
        }
    }

    /// A proof about launches of one program each says nothing of a kernel that is made for several: it is not decided,
    /// and clean where there can be no other launches than those that are known.
    pub fn own_up(&mut self, no_others: bool) {
        if self.alone && self.is_told() {
            let why = "global memory: all launches that are known have one program, which has no other to race with";
            self.verdict = match no_others {
                true => Verdict::Clean("no race in global memory in launches of one program".to_owned()),
                false => Verdict::Undecided(vec![why.to_owned()]),
            };
        }
    }

    /// What is said of several launches, or values, of one kernel: what is said of the one that is decided least, and
    /// all that any of them rests on.
    pub fn merged(all: impl Iterator<Item = GlobalMemoryReport>) -> Option<GlobalMemoryReport> {
        all.reduce(|mut kept, next| {
            let (mut assumed, other) = (std::mem::take(&mut kept.assumed), next.assumed.clone());
            kept.alone &= next.alone;
            if next.rank() > kept.rank() {
                kept.verdict = next.verdict;
            }
            for clause in other {
                if !assumed.contains(&clause) {
                    assumed.push(clause);
                }
            }
            GlobalMemoryReport { assumed, ..kept }
        })
    }
}

/// Findings that are drawn at one place as one: a read that races comes first, and what else does is told beside it.
fn one_a_place(findings: impl Iterator<Item = Finding<Message>>) -> Vec<Finding<Message>> {
    let mut told: Vec<Finding<Message>> = Vec::new();
    for finding in findings {
        match told.iter_mut().find(|known| known.range == finding.range) {
            Some(known) => {
                for site in finding.sites {
                    let same = |other: &Note<Message>| other.range == site.range && other.text == site.text;
                    if !known.sites.iter().any(same) {
                        known.sites.push(Note { primary: false, ..site });
                    }
                }
            }
            None => told.push(finding),
        }
    }
    told
}

fn premises(assumed: &[Message]) -> Message {
    if assumed.is_empty() {
        return Message::default();
    }
    message!(", assuming that {}", Message::join(first_few(assumed, Message::from), "; "))
}

/// The first assumptions, and how many more there are.
fn first_few<M: Clone>(assumed: &[M], text: impl Fn(String) -> M) -> Vec<M> {
    let more = assumed.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| text(format!("{more} more")));
    assumed.iter().take(NAMED).cloned().chain(more).collect()
}

/// A text whose backquoted names are values of the kernel.
fn named(text: &str) -> Message {
    let mut message = Message::default();
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            message = message.and("`");
        }
        message = if at % 2 == 1 && part.starts_with('%') {
            message.and(Message::value(part))
        } else {
            message.and(part.to_owned())
        };
    }
    message
}

fn tuple(values: &[i64]) -> String {
    match values {
        [one] => one.to_string(),
        many => format!("({})", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn program(side: &Side) -> String {
    format!("program {}", tuple(&side.program))
}

/// What one side does: `program 1 writes %out[64]`.
fn does(side: &Side, race: &Race) -> Message {
    let verb = match (side.writes, side.atomic.is_some(), side.pending) {
        (true, true, _) => "updates",
        (true, false, true) => "is still writing",
        (true, false, false) => "writes",
        (false, true, _) => "polls",
        (false, false, true) => "is still reading",
        (false, false, false) => "reads",
    };
    message!("{} {} `{}[{}]`", program(side), verb, Message::value(race.tensor.as_str()), race.index)
}

fn note(side: &Side, race: &Race, primary: bool) -> Note<Message> {
    let mut text = does(side, race);
    if !side.lane.is_empty() {
        let (first, last) = side.extent;
        text = text.and(format!(", lane {} of those that take {first} to {last}", tuple(&side.lane)));
    }
    if !side.rounds.is_empty() {
        text = text.and(format!(", iteration {}", tuple(&side.rounds)));
    }
    if side.atomic == Some(MemSyncScope::Cta) {
        text = text.and(", atomic within its own CTA alone");
    }
    Note { range: side.range, text, source: side.source.clone(), primary }
}

fn finding(race: &Race, kernel: &str) -> Finding<Message> {
    let tensor = || Message::value(race.tensor.as_str());
    let (a, b) = (&race.first, &race.second);
    let first_byte = race.start;
    let last = race.start + race.bytes - 1;
    let bytes = format!("bytes {first_byte} to {last}");
    let message = if race.same {
        message!(
            "{} and {} both write `{}` ({}): the same value, whichever comes last",
            program(a),
            program(b),
            tensor(),
            bytes
        )
    } else if a.program == b.program {
        message!(
            "{} touches `{}` ({}) again while an access of its own is under way: nothing waits for it",
            program(b),
            tensor(),
            bytes
        )
    } else if a.writes && b.writes {
        message!("{} and {} both write `{}` ({}), and nothing orders them", program(a), program(b), tensor(), bytes)
    } else {
        let (writer, reader) = if a.writes { (a, b) } else { (b, a) };
        message!(
            "{} reads what {} writes in `{}` ({}), and nothing orders them",
            program(reader),
            program(writer),
            tensor(),
            bytes
        )
    };
    // It is drawn at the later access in the text; a read and a write at the read.
    let second_is_primary = b.range.start >= a.range.start;
    let mut sites = vec![note(a, race, !second_is_primary), note(b, race, second_is_primary)];
    if a.range == b.range && sites[0].text == sites[1].text {
        sites.remove(0);
    }
    let mut finding = Finding::with_sites(Kind::GlobalRace, message, sites, kernel);
    finding.inputs = race.inputs.iter().map(|(name, value)| (Message::value(name.as_str()), *value)).collect();
    finding.inputs.extend(grid(race.grid));
    finding.range = place(&finding);
    if race.same {
        finding.severity = Severity::Hint;
    }
    finding
}

/// Two partitions of one program that meet.
fn between_partitions(race: &PartitionRace, kernel: &str) -> Finding<Message> {
    let PartitionRace { pair, partitions: [one, other] } = race;
    let tensor = || Message::value(pair.tensor.as_str());
    let who = |label: &String| Message::partition(label.as_str());
    let message = match pair.writes {
        [true, true] => message!("{} and {} both write `{}`, and nothing orders them", who(one), who(other), tensor()),
        [writes_first, _] => {
            let (reader, writer) = if writes_first { (other, one) } else { (one, other) };
            message!("{} reads what {} writes in `{}`, and nothing orders them", who(reader), who(writer), tensor())
        }
    };
    let note = |at: usize| {
        let verb = if pair.writes[at] { "writes" } else { "reads" };
        let text = message!("{} {} `{}`", who(&race.partitions[at]), verb, tensor());
        Note { range: pair.ranges[at], text, source: None, primary: at == 1 }
    };
    let mut finding = Finding::with_sites(Kind::GlobalRace, message, vec![note(0), note(1)], kernel);
    finding.range = place(&finding);
    finding
}

/// Whether all that races writes one value whoever comes last.
fn is_of_same_values(global: &Global) -> bool {
    global.hang.is_none() && global.partition_races.is_empty() && global.races.iter().all(|race| race.same)
}

/// A program that waits for a word which another one, or itself, has taken.
fn waits_for_ever(hang: &Hang, kernel: &str) -> Finding<Message> {
    let word = || message!("`{}[{}]`", Message::value(hang.tensor.as_str()), hang.index);
    let (wait, taken) = (&hang.wait, &hang.taken);
    let who = if wait.program == taken.program { "it".to_owned() } else { program(taken) };
    let lock = wait.range == taken.range;
    let done = if lock { "has taken" } else { "was the last to change" };
    let message = message!("{} waits here for ever: {} {} {}, ", program(wait), who, done, word());
    let message = message.and(if lock { "and nothing gives it back" } else { "and nothing changes it any more" });
    let does = if lock { "takes" } else { "changes" };
    let note =
        |side: &Side, text: Message, primary| Note { range: side.range, text, source: side.source.clone(), primary };
    let first = note(taken, message!("{} {} {}", program(taken), does, word()), false);
    let second = note(wait, message!("{} waits for {}", program(wait), word()), true);
    let mut finding = Finding::with_sites(Kind::Deadlock, message, vec![first, second], kernel);
    finding.inputs = grid(hang.grid);
    finding.range = place(&finding);
    finding
}

fn grid(programs: [i64; 3]) -> Vec<(Message, i64)> {
    let wide = GRID.into_iter().zip(programs).filter(|(_, count)| *count > 1);
    wide.map(|(axis, count)| (Message::from(axis), count)).collect()
}

fn place(finding: &Finding<Message>) -> TextRange {
    finding.sites.iter().find(|site| site.primary).map(|site| site.range).unwrap_or_default()
}
