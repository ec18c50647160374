//! Races as findings: each pair of ops once a kind of race, with both sides.

use std::collections::BTreeMap;

use asserts::{AssertMessage, AssertedRace, run_finding};
use base::{IrNames, Message, message};
use findings::Finding;
use tensors::memory::{AccessMode, GlobalMemory};
use ttgir::OpId;

use super::super::context::Context;
use super::record::Record;

/// Two accesses that nothing orders, and where they meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    pub(super) earlier: Record,
    pub(super) later: Record,
    /// Whether the later one knows that the earlier one was issued, and not that it is over.
    pub(super) published: bool,
    pub(super) address: u64,
    pub(super) bytes: u32,
    /// The element of the later access's tile.
    pub(super) element: u32,
    /// Bytes of an element.
    pub(super) width: u8,
}

/// The first of equal races, and how many bytes the others have.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    first: Witness,
    bytes: u64,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct RaceLog {
    races: BTreeMap<(OpId, OpId, AssertedRace), Repeated>,
    faults: BTreeMap<(OpId, &'static str), u64>,
    /// By op and argument, the first read of what nobody has written: by whom, where, how wide; and how many bytes.
    unwritten: BTreeMap<OpId, (Record, u64, u8, u64)>,
}

impl Witness {
    fn race(&self) -> AssertedRace {
        match (self.earlier.writes(), self.later.mode) {
            (false, _) => AssertedRace::WriteAfterRead,
            (true, AccessMode::Write | AccessMode::AtomicWrite) => AssertedRace::WriteAfterWrite,
            (true, _) => AssertedRace::ReadAfterWrite,
        }
    }
}

impl RaceLog {
    pub(super) fn add(&mut self, witness: Witness) {
        let key = (witness.later.op, witness.earlier.op, witness.race());
        let known = self.races.entry(key).or_insert(Repeated { first: witness, bytes: 0 });
        known.bytes += u64::from(witness.bytes);
    }

    /// Something else that is said of an op.
    pub(super) fn fault(&mut self, op: OpId, what: &'static str) {
        *self.faults.entry((op, what)).or_insert(0) += 1;
    }

    /// Somebody reads what nobody has written.
    pub(super) fn unwritten(&mut self, record: Record, address: u64, bytes: u32, width: u8) {
        self.unwritten.entry(record.op).or_insert((record, address, width, 0)).3 += u64::from(bytes);
    }

    /// The findings.
    pub(super) fn findings(&self, context: &Context<'_>, global: &GlobalMemory, grid: [i64; 3]) -> Vec<Finding> {
        let words = Words { context, global, grid };
        let races = self.races.iter().map(|((_, _, race), found)| words.race(*race, found));
        let faults = self.faults.keys().map(|(op, what)| words.fault(*op, what));
        let unwritten = self.unwritten.values().map(|(record, address, width, bytes)| {
            let text = AssertMessage::Unwritten(String::new()).text();
            let what = words.element(*address, *width);
            let (who, verb) = (words.who(record), does(record.mode));
            words.told(record.op, &text, message!("{who} {verb} `{what}` ({bytes} bytes)", who, verb, what, bytes))
        });
        races.chain(faults).chain(unwritten).map(|found| found.render(&IrNames)).collect()
    }
}

/// What findings are said with.
struct Words<'a, 'k> {
    context: &'a Context<'k>,
    global: &'a GlobalMemory,
    grid: [i64; 3],
}

impl Words<'_, '_> {
    fn op(&self, op: OpId) -> Message {
        Message::op(self.context.tree.op_name(op).to_owned())
    }

    /// `kernel.py:12`: the place in the source that the text was compiled from.
    fn source(&self, op: OpId) -> Option<String> {
        self.context.tree.loc(op).first().map(|loc| format!("{}:{}", loc.file, loc.line))
    }

    /// `program 3`, `program (1, 2, 0)`, and the CTA and partition where there are several.
    fn who(&self, record: &Record) -> Message {
        let machine = &self.context.machine;
        let [x, y, _] = self.grid;
        let number = i64::from(record.program);
        let program = if self.grid[1] == 1 && self.grid[2] == 1 {
            format!("program {number}")
        } else {
            format!("program ({}, {}, {})", number % x, number / x % y, number / x / y)
        };
        let cta = if machine.cluster().len() > 1 { format!(", CTA {}", record.cta) } else { String::new() };
        let partition = machine.partition_of(usize::from(record.thread));
        if machine.partitions() > 1 {
            let partition = self.context.made.lowered.map.partition(partition).to_string();
            return message!("{program}{cta}, {partition}", program, cta, partition);
        }
        message!("{program}{cta}", program, cta)
    }

    /// The element at an address: `x[5]`.
    fn element(&self, address: u64, width: u8) -> String {
        let width = u64::from(width.max(1));
        match self.global.allocation(address) {
            Some((name, start, _)) => {
                let at = address - start;
                let rest =
                    if at.is_multiple_of(width) { String::new() } else { format!(" (byte {} of it)", at % width) };
                format!("{name}[{}]{rest}", at / width)
            }
            None => format!("{address:#x}"),
        }
    }

    fn race(&self, race: AssertedRace, found: &Repeated) -> Finding<Message> {
        let Repeated { first: witness, bytes } = found;
        let Witness { earlier, later, .. } = witness;
        let what = self.element(witness.address, witness.width);
        let (late_who, early_who) = (self.who(later), self.who(earlier));
        let does = does(later.mode);
        let did = has_done(earlier);
        let more = match bytes.saturating_sub(u64::from(witness.width)) {
            0 => String::new(),
            more => format!(" ({more} more bytes)"),
        };
        let text = AssertMessage::Race(race).text();
        let message = message!(
            "{text}: `{op}` of {who} {does} `{what}`, which {other} {did}; {why}{more}",
            text,
            self.op(later.op),
            late_who.clone(),
            does,
            what.clone(),
            early_who.clone(),
            did,
            why(witness),
            more,
        );
        let lane = witness.element.to_string();
        let tree = self.context.tree;
        let places = vec![
            (
                tree.op_name_range(later.op),
                message!("{who} {does} `{what}`, element {lane} of its tile", late_who, does, what.clone(), lane),
            ),
            (tree.op_name_range(earlier.op), message!("{who} {did} `{what}`", early_who, did, what)),
        ];
        let kind = AssertMessage::Race(race).kind();
        let mut finding = run_finding(&self.context.made.lowered.map, kind, message, places);
        for (site, op) in finding.sites.iter_mut().zip([later.op, earlier.op]) {
            site.source = self.source(op);
        }
        finding
    }

    fn fault(&self, op: OpId, what: &str) -> Finding<Message> {
        self.told(op, what, message!("`{op}`", self.op(op)))
    }

    /// What is said of one op: the sanitizer's words, and who or what it is about.
    fn told(&self, op: OpId, what: &str, about: Message) -> Finding<Message> {
        let message = AssertMessage::read(what);
        let sign = if what.ends_with('.') { " (" } else { ": " };
        let close = if what.ends_with('.') { ")" } else { "" };
        let text = message!("{what}{sign}{about}{close}", what.to_owned(), sign, about, close);
        let place = (self.context.tree.op_name_range(op), text.clone());
        let mut finding = run_finding(&self.context.made.lowered.map, message.kind(), text, vec![place]);
        finding.sites.iter_mut().for_each(|site| site.source = self.source(op));
        finding
    }
}

/// What an access does.
fn does(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::Read => "reads",
        AccessMode::Write => "writes",
        AccessMode::AtomicRead => "reads atomically",
        AccessMode::AtomicWrite => "writes atomically",
        AccessMode::AtomicUpdate => "updates atomically",
    }
}

/// What an earlier access has done, or may still do.
fn has_done(record: &Record) -> &'static str {
    match (record.mode, record.asynchronous) {
        (AccessMode::Read, false) => "has read",
        (AccessMode::Write, false) => "has written",
        (AccessMode::AtomicRead, false) => "has read atomically",
        (AccessMode::AtomicWrite, false) => "has written atomically",
        (AccessMode::AtomicUpdate, false) => "has updated atomically",
        (AccessMode::Read | AccessMode::AtomicRead, true) => "may still be reading",
        (AccessMode::Write | AccessMode::AtomicWrite, true) => "may still be writing",
        (AccessMode::AtomicUpdate, true) => "may still be updating",
    }
}

/// Why they are not ordered.
fn why(Witness { earlier, later, published, .. }: &Witness) -> String {
    if let (Some(a), Some(b)) = (earlier.scope, later.scope) {
        let narrow = a.min(b).name();
        return format!("both are atomics, and scope `{narrow}` does not reach the other program");
    }
    if earlier.program == later.program {
        let late = [earlier, later].iter().any(|record| record.asynchronous);
        return if late {
            "nothing between them waits for the end of the asynchronous operation".to_owned()
        } else {
            "no barrier orders the two".to_owned()
        };
    }
    if *published {
        return "its end was not waited for before the release that was acquired".to_owned();
    }
    "no release and acquire order the two programs".to_owned()
}
