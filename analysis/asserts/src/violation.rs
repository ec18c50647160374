//! A rule that breaks in a run, as the finding that a sanitizer's assert would be.

use super::AssertMessage;
use base::{Message, TextRange, message};
use findings::{Finding, Kind, Note, Words};
use kernel::{Lowered, Mode, SourceMap};
use machine::{BlockedOn, Event, Machine, Rule, Violation};

/// Places, each with what happens there.
type Places = Vec<(TextRange, Message)>;

/// A finding of a run with these places, the first of which is primary.
pub fn run_finding(map: &SourceMap, kind: Kind, message: Message, places: Places) -> Finding<Message> {
    let note =
        |(at, (range, text)): (usize, (TextRange, Message))| Note { range, text, source: None, primary: at == 0 };
    let mut finding =
        Finding::with_sites(kind, message, places.into_iter().enumerate().map(note).collect(), &*map.kernel);
    finding.name_sources(map);
    finding
}

/// The finding that a rule broken in a run is; `assert` is what the sanitizer says of it. It does not look for a second
/// arrival at one round of a barrier, which ends the program all the same.
pub fn violation_finding(
    lowered: &Lowered,
    machine: &Machine<'_>,
    violation: &Violation,
    assert: Option<&AssertMessage>,
) -> Finding<Message> {
    let words = Words::new(lowered, machine);
    let who = words.partition(violation.thread);
    let Some(assert) = assert else {
        let what = violation.barrier.map(|place| words.barrier(place));
        let message = message!("{who} arrives at `{what}` again before it has waited for the round before", who, what);
        let place = (words.site_range(violation.site), message.clone());
        return run_finding(&lowered.map, Kind::ArrivalOverflow, message, vec![place]);
    };
    let (clause, places) = match &violation.rule {
        Rule::Race { earlier, later } | Rule::ProxyFence { earlier, later } => {
            unordered(machine, &words, earlier, later)
        }
        Rule::Deadlock(blocked) => endless(&words, blocked),
        _ => {
            let what = violation.barrier.map(|place| message!(" on `{barrier}`", words.barrier(place)));
            let op = words.op(violation.site);
            let place = (words.site_range(violation.site), message!("{who} executes {op}", who, op));
            (message!("{op} of {who}{what}", op, who, what), vec![place])
        }
    };
    let text = assert.text();
    let sign = if text.ends_with('.') { " " } else { ": " };
    run_finding(&lowered.map, assert.kind(), message!("{assert}{sign}{clause}", text, sign, clause), places)
}

/// Two accesses that nothing orders, or no fence: the clause, and the later place before the earlier.
fn unordered(machine: &Machine<'_>, words: &Words<'_>, earlier: &Event, later: &Event) -> (Message, Places) {
    let (first, second) = (words.partition(earlier.thread), words.partition(later.thread));
    let late = machine.channels().base(usize::from(earlier.thread)) != earlier.channel;
    let before = match (earlier.mode, late) {
        (Mode::Read, true) => "may still be reading it",
        (Mode::Read, false) => "has read it",
        (Mode::Write, true) => "may still be writing it",
        (Mode::Write, false) => "has written it",
    };
    let did = words.did(later);
    let clause =
        message!("{did} of {second}; {op} of {first} {before}", did, second, words.op_of(earlier), first, before);
    let places = vec![
        (words.event_range(later), message!("{second}: {did}", second, did)),
        (words.event_range(earlier), message!("{first}: {did}", first, words.did(earlier))),
    ];
    (clause, places)
}

/// Threads that wait for ever.
fn endless(words: &Words<'_>, blocked: &[machine::Blocked]) -> (Message, Places) {
    let places = blocked.iter().filter_map(|stuck| {
        let BlockedOn::Barrier { barrier, phase, flips, pending, bytes, .. } = stuck.on else { return None };
        let missing = missing(pending, bytes);
        let flipped: Message = match flips {
            0 => "has not flipped".into(),
            1 => "has flipped once".into(),
            many => message!("has flipped {many} times", many),
        };
        let sentence = message!(
            "{who} waits for phase {phase} of `{barrier}`, which {flipped}; {missing}",
            words.partition(stuck.thread),
            phase,
            words.barrier(barrier),
            flipped,
            missing,
        );
        Some((words.site_range(stuck.site), sentence))
    });
    let places: Places = places.collect();
    (Message::join(places.iter().map(|(_, text)| text.clone()), "; "), places)
}

/// What a phase lacks; fewer bytes than none are more than it was told to expect.
fn missing(arrivals: i64, bytes: i64) -> Message {
    let arrived: Message = match arrivals {
        1 => "1 arrival is missing".into(),
        many => message!("{many} arrivals are missing", many),
    };
    match (arrivals, bytes) {
        (0, more) if more < 0 => message!("{more} bytes more have come than it expects", -more),
        (0, bytes) => message!("{bytes} bytes are missing", bytes),
        (_, 0) => arrived,
        (_, more) if more < 0 => message!("{arrived}, and {more} bytes more have come than it expects", arrived, -more),
        (arrivals, bytes) => message!("{arrivals} arrivals and {bytes} bytes are missing", arrivals, bytes),
    }
}
