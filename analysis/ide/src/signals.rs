//! Who signals whom: partitions, the barriers between them, and the functions that call one another.

use base::TextRange;
use dialects::{BarrierVerb, OpCode, Ttg};
use rustc_hash::FxHashMap;
use ttgir::queries::expr::name;
use ttgir::queries::memory::{Roots, roots};
use ttgir::queries::spot::{Spot, around, function, walk};
use ttgir::queries::words::{places, word_at};
use ttgir::{Document, OpId, Tree, ValueId};

/// What takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartyKind {
    /// A kernel or helper.
    Function,
    /// A warp-specialised partition.
    Partition,
    /// An allocation of barriers.
    Barrier,
}

/// Somebody who signals, is signalled, calls or is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// What it is.
    pub kind: PartyKind,
    /// What it is called.
    pub name: String,
    /// The function that it is in; empty of a function.
    pub container: String,
    /// All of it.
    pub range: TextRange,
    /// Its name: [`party_at`] finds it again there.
    pub selection: TextRange,
}

/// What leads from one party to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The other one.
    pub party: Party,
    /// The barriers over which it goes; empty of a call.
    pub over: Vec<String>,
    /// The ops that arrive, or call.
    pub ranges: Vec<TextRange>,
}

/// Who executes an op of a function: its own code, or a region of a `ttg.warp_specialize`, 0 the default one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Executor {
    Function,
    Region(OpId, usize),
}

/// One op that does something with a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) barrier: ValueId,
    pub(crate) verb: BarrierVerb,
    pub(crate) by: Executor,
    pub(crate) op: OpId,
}

impl Event {
    /// Whether it counts towards a phase.
    pub(crate) fn arrives(&self) -> bool {
        matches!(self.verb, BarrierVerb::Arrive | BarrierVerb::Expect)
    }

    /// Whether it waits for one.
    pub(crate) fn waits(&self) -> bool {
        self.verb == BarrierVerb::Wait
    }
}

/// Who executes an op.
fn executor(tree: &Tree, op: OpId) -> Executor {
    let mut inner = None;
    for (outer, region) in around(tree, op) {
        match tree.code(outer) {
            Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => inner = Some(region + 1),
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) => return Executor::Region(outer, inner.unwrap_or(region)),
            _ => {}
        }
    }
    Executor::Function
}

/// All that is done with barriers in a function, in the order of the text.
pub(crate) fn events(tree: &Tree, within: OpId) -> Vec<Event> {
    let mut known: FxHashMap<ValueId, Roots> = FxHashMap::default();
    let mut found = Vec::new();
    walk(tree, &[within], &mut |op| {
        let Some(barrier) = tree.code(op).and_then(|code| code.decl().barrier) else { return };
        let by = executor(tree, op);
        for &value in tree.group(op, barrier.group) {
            for &root in known.entry(value).or_insert_with(|| roots(tree, value)).iter() {
                found.push(Event { barrier: root, verb: barrier.verb, by, op });
            }
        }
    });
    found
}

/// The ties of one who executes ops to those that wait for it (`out`), or that it waits for: the other, the barriers,
/// and the ops that arrive.
pub(crate) fn ties_of(events: &[Event], who: Executor, out: bool) -> Vec<(Executor, Vec<ValueId>, Vec<OpId>)> {
    let mut found: Vec<(Executor, Vec<ValueId>, Vec<OpId>)> = Vec::new();
    for wait in events.iter().filter(|event| event.waits() && (out || event.by == who)) {
        for arrival in events.iter().filter(|event| event.arrives() && event.barrier == wait.barrier) {
            if out && arrival.by != who {
                continue;
            }
            let other = if out { wait.by } else { arrival.by };
            let at = found.iter().position(|(known, ..)| *known == other).unwrap_or_else(|| {
                found.push((other, Vec::new(), Vec::new()));
                found.len() - 1
            });
            let Some((_, barriers, ops)) = found.get_mut(at) else { continue };
            if !barriers.contains(&wait.barrier) {
                barriers.push(wait.barrier);
            }
            if !ops.contains(&arrival.op) {
                ops.push(arrival.op);
            }
        }
    }
    found
}

/// The party whose name is at an offset: of a function where it is called too, of a barrier at its values and at the
/// names of the ops on it.
pub fn party_at(document: &Document, offset: u32) -> Option<Party> {
    let spot = Spot::at(document, offset)?;
    let tree = spot.tree();
    Some(Site { spot, tree }.lifted(target(tree, spot.offset)?))
}

/// Who calls or signals a party, or what a party calls or signals (`out`); the party is the one whose name is at an
/// offset.
pub fn ties(document: &Document, offset: u32, out: bool) -> Vec<Tie> {
    let Some(spot) = Spot::at(document, offset) else { return Vec::new() };
    let tree = spot.tree();
    let site = Site { spot, tree };
    match target(tree, spot.offset) {
        Some(Target::Function(op)) => site.of_function(op, out),
        Some(Target::Partition(op, region)) => site.of_executor(op, Executor::Region(op, region), out),
        Some(Target::Barrier(root)) => site.of_barrier(root, out),
        None => Vec::new(),
    }
}

/// What is at a place of a tree.
#[derive(Clone, Copy)]
enum Target {
    Function(OpId),
    Partition(OpId, usize),
    Barrier(ValueId),
}

fn target(tree: &Tree, offset: u32) -> Option<Target> {
    if let Some((value, _)) = tree.value_at(offset) {
        return barrier(tree, value).map(Target::Barrier);
    }
    if let Some(word) = word_at(tree, offset).filter(|word| word.range.of(tree.text()).starts_with('@')) {
        return function_named(tree, word.range.of(tree.text())).map(Target::Function);
    }
    let op = tree.op_at(offset)?;
    if tree.op_name_range(op).touches(offset)
        && let Some(decl) = tree.code(op).and_then(|code| code.decl().barrier)
        && let Some(value) = tree.group(op, decl.group).first()
    {
        return barrier(tree, *value).map(Target::Barrier);
    }
    let holders = std::iter::once(op).chain(around(tree, op).map(|(outer, _)| outer));
    let specialised = holders.filter(|op| tree.is(*op, Ttg::WarpSpecialize));
    for holder in specialised {
        let found = (0..).map_while(|number| Some((number, head(tree, holder, number)?)));
        if let Some((number, _)) = found.into_iter().find(|(_, head)| head.touches(offset)) {
            return Some(Target::Partition(holder, number));
        }
    }
    None
}

/// The barriers that a value may be.
fn barrier(tree: &Tree, value: ValueId) -> Option<ValueId> {
    let found = roots(tree, value);
    let root = *found.first()?;
    let uses = super::uses::all(tree, &found);
    uses.iter().any(|used| super::uses::verb(tree, used).is_some()).then_some(root)
}

fn function_named(tree: &Tree, name: &str) -> Option<OpId> {
    let at = *tree.symbol_ranges(name).first()?;
    tree.op_at(at.start).and_then(|op| function(tree, op))
}

/// The region of a partition by its number, 0 the default one.
fn region(tree: &Tree, specialised: OpId, number: usize) -> Option<ttgir::RegionId> {
    let own = tree.regions(specialised);
    if let Some(&region) = own.get(number).filter(|_| number == 0 || own.len() > 2) {
        return Some(region);
    }
    // In the generic form the partitions are in an op of the second region.
    let inner = own.get(1).and_then(|region| tree.blocks(*region).first()).map(|block| tree.block_ops(*block));
    let holder = inner.into_iter().flatten().find(|op| tree.is(**op, Ttg::WarpSpecializePartitions));
    match holder {
        Some(holder) => tree.regions(*holder).get(number.checked_sub(1)?).copied(),
        None => own.get(number).copied(),
    }
}

/// The word in front of a partition's region, with what stands between.
fn head(tree: &Tree, specialised: OpId, number: usize) -> Option<TextRange> {
    let start = tree.region_range(region(tree, specialised, number)?).start;
    let before = tree.text().get(..start as usize)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let word = before.get(line..)?.find(|c: char| !c.is_whitespace()).map_or(start as usize, |at| line + at);
    Some(TextRange::new(word as u32, start))
}

/// A section with its tree.
struct Site<'a> {
    spot: Spot<'a>,
    tree: &'a Tree,
}

impl Site<'_> {
    fn lifted(&self, target: Target) -> Party {
        let mut party = self.party(target);
        party.range = self.spot.lift(party.range);
        party.selection = self.spot.lift(party.selection);
        party
    }

    fn party(&self, target: Target) -> Party {
        let tree = self.tree;
        match target {
            Target::Function(op) => {
                let attr = tree.attr(op, "sym_name");
                let name = attr.and_then(|attr| tree.attr_str(attr)).unwrap_or("?");
                let selection = attr.map(|attr| tree.attr_range(attr)).filter(|range| !range.is_empty());
                Party {
                    kind: PartyKind::Function,
                    name: format!("@{name}"),
                    container: String::new(),
                    range: tree.op_range(op),
                    selection: selection.unwrap_or_else(|| tree.op_name_range(op)),
                }
            }
            Target::Partition(op, number) => {
                let inner = region(tree, op, number).map_or_else(|| tree.op_range(op), |it| tree.region_range(it));
                let head = head(tree, op, number).unwrap_or_else(|| TextRange::empty(inner.start));
                let text = head.of(tree.text());
                let len = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len()) as u32;
                let name = if number == 0 { "default".to_owned() } else { format!("partition{}", number - 1) };
                Party {
                    kind: PartyKind::Partition,
                    name,
                    container: self.holder(op),
                    range: head.cover(inner),
                    selection: TextRange::new(head.start, head.start + len),
                }
            }
            Target::Barrier(root) => {
                let selection = tree.value_range(root);
                let op = super::hover::defining_op(tree, root);
                Party {
                    kind: PartyKind::Barrier,
                    name: name(tree, root),
                    container: op.map_or_else(String::new, |op| self.holder(op)),
                    range: op.map_or(selection, |op| tree.op_header_range(op)).cover(selection),
                    selection,
                }
            }
        }
    }

    /// The name of the function around an op.
    fn holder(&self, op: OpId) -> String {
        let attr = function(self.tree, op).and_then(|op| self.tree.attr(op, "sym_name"));
        attr.and_then(|attr| self.tree.attr_str(attr)).map_or_else(String::new, |name| format!("@{name}"))
    }

    fn executor(&self, by: Executor, within: OpId) -> Party {
        self.lifted(match by {
            Executor::Function => Target::Function(within),
            Executor::Region(op, number) => Target::Partition(op, number),
        })
    }

    fn names(&self, ops: &[OpId]) -> Vec<TextRange> {
        ops.iter().map(|op| self.spot.lift(self.tree.op_name_range(*op))).collect()
    }

    fn of_executor(&self, inside: OpId, who: Executor, out: bool) -> Vec<Tie> {
        let Some(within) = function(self.tree, inside) else { return Vec::new() };
        let events = events(self.tree, within);
        let mut found: Vec<Tie> = ties_of(&events, who, out)
            .into_iter()
            .map(|(other, barriers, ops)| Tie {
                party: self.executor(other, within),
                over: barriers.into_iter().map(|root| name(self.tree, root)).collect(),
                ranges: self.names(&ops),
            })
            .collect();
        if out {
            found.extend(self.calls(within, |op| executor(self.tree, op) == who));
        }
        found
    }

    fn of_barrier(&self, root: ValueId, out: bool) -> Vec<Tie> {
        let within = super::hover::defining_op(self.tree, root).and_then(|op| function(self.tree, op));
        let Some(within) = within else { return Vec::new() };
        let mut found: Vec<(Executor, Vec<OpId>)> = Vec::new();
        for event in events(self.tree, within).iter().filter(|event| event.barrier == root) {
            if !(if out { event.waits() } else { event.arrives() }) {
                continue;
            }
            match found.iter_mut().find(|(by, _)| *by == event.by) {
                Some((_, ops)) => ops.push(event.op),
                None => found.push((event.by, vec![event.op])),
            }
        }
        let over = || vec![name(self.tree, root)];
        let tie = |(by, ops): (Executor, Vec<OpId>)| Tie {
            party: self.executor(by, within),
            over: over(),
            ranges: self.names(&ops),
        };
        found.into_iter().map(tie).collect()
    }

    /// The functions that a function's ops call.
    fn calls(&self, within: OpId, own: impl Fn(OpId) -> bool) -> Vec<Tie> {
        let tree = self.tree;
        let mut found: Vec<(OpId, Vec<TextRange>)> = Vec::new();
        walk(tree, &[within], &mut |op| {
            let Some(callee) = tree.attr(op, "callee").filter(|_| own(op)) else { return };
            let range = tree.attr_range(callee);
            let Some(called) = function_named(tree, range.of(tree.text())) else { return };
            match found.iter_mut().find(|(known, _)| *known == called) {
                Some((_, ranges)) => ranges.push(self.spot.lift(range)),
                None => found.push((called, vec![self.spot.lift(range)])),
            }
        });
        let tie = |(called, ranges)| Tie { party: self.lifted(Target::Function(called)), over: Vec::new(), ranges };
        found.into_iter().map(tie).collect()
    }

    fn of_function(&self, op: OpId, out: bool) -> Vec<Tie> {
        let tree = self.tree;
        let mut found = self.of_executor(op, Executor::Function, out);
        if out {
            walk(tree, &[op], &mut |inner| {
                let specialised = tree.is(inner, Ttg::WarpSpecialize);
                let all = (0..).map_while(|number| head(tree, inner, number).filter(|_| specialised).map(|_| number));
                for number in all {
                    let party = self.lifted(Target::Partition(inner, number));
                    if !found.iter().any(|known| known.party == party) {
                        let ranges = vec![party.selection];
                        found.push(Tie { party, over: Vec::new(), ranges });
                    }
                }
            });
            return found;
        }
        let symbol = tree.attr(op, "sym_name").map(|attr| tree.attr_range(attr).of(tree.text())).unwrap_or("");
        let mut callers: Vec<(OpId, Vec<TextRange>)> = Vec::new();
        for place in places(tree, symbol) {
            let call = tree.op_at(place.start).filter(|call| tree.attr(*call, "callee").is_some());
            let Some(caller) = call.and_then(|call| function(tree, call)) else { continue };
            match callers.iter_mut().find(|(known, _)| *known == caller) {
                Some((_, ranges)) => ranges.push(self.spot.lift(place)),
                None => callers.push((caller, vec![self.spot.lift(place)])),
            }
        }
        let tie = |(caller, ranges)| Tie { party: self.lifted(Target::Function(caller)), over: Vec::new(), ranges };
        found.extend(callers.into_iter().map(tie));
        found
    }
}
