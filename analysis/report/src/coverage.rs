//! The coverage table: for each op that writes a physical buffer everything that somebody else does
//! with the memory it writes, and what orders the write after it. Absences are listed too: that is the
//! point of the table.
//!
//! A row holds for all runs: one round in which nothing orders the write makes it missing. Where
//! another write lies between a use and the overwrite, what orders the overwrite after that write
//! stands for it, since the use is compared with that write in its own row.
//!
//! Where nothing orders an op's write after its own write a round before, nobody need have read that
//! one: the rows of its readers are missing then.
//!
//! A row is ordered by its buffer's own barrier, one that hands over that very buffer (see
//! [`super::payload`]), or only through barriers that hand over others. Where a write is met only
//! behind another write of its own partition, what the row of that one says holds for it too.
//!
//! No row are uses that the overwrite cannot meet: in another slot of the ring, where both are numbers, and in its own
//! partition behind it, where control does not come back.
//!
//! What is missed: memory that two physical buffers share (allocations at one place): the machine
//! checks it, but a row is about one buffer.

use super::barriers::used_by;
use super::buffers::BufferAccesses;
use super::edges::Edges;
use super::ordering_facts::OrderingFacts;
use super::pairs::{BarrierArray, OrderedBy, Pair, SyncLink};
use super::reaching::Reaching;
use super::scalars::Exprs;
use super::trace::Trace;
use super::uses::used;
use super::{BarrierSummary, Coverage, CoverageOrder, CoverageRow, Direction, PartitionUse};
use findings::{Finding, Goal};
use kernel::{Block, EffectId, EffectKind, Instr, Issuer, Mode};
use machine::{Rule, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the runs say of a row.
#[derive(Default)]
struct Seen {
    edges: Vec<usize>,
    /// Those of them that hand over something else, with who makes the arrival.
    others: Vec<(usize, Pair)>,
    /// Whether another write was in between each time.
    far: bool,
    program: bool,
    missing: Vec<Pair>,
    unsure: bool,
    /// The uses that it met.
    met: Vec<EffectId>,
}

/// An overwriting op: its effects are alternatives of one op of the text.
struct Writer {
    buffer: usize,
    effects: Vec<EffectId>,
    /// Members that it writes.
    members: Vec<usize>,
    clears: bool,
    writer: PartitionUse,
}

/// Everything that a table is made of.
pub(super) struct Tables<'a> {
    pub trace: &'a Trace<'a>,
    pub ordering_facts: &'a OrderingFacts,
    pub memory: &'a BufferAccesses,
    pub edges: &'a Edges,
    /// What each barrier hands over.
    pub handed: &'a FxHashMap<BarrierArray, Vec<(usize, usize)>>,
    pub barriers: &'a [BarrierSummary],
    pub findings: &'a [Finding],
    /// Where control may go.
    pub reaching: &'a Reaching,
}

/// Whether a link is by a barrier that hands over one of the logical buffers that a pair is about.
pub(super) fn hands_over(
    memory: &BufferAccesses,
    handed: &FxHashMap<BarrierArray, Vec<(usize, usize)>>,
    pair: &Pair,
    link: &SyncLink,
) -> bool {
    // Starts and ends of partitions, and barriers of all CTAs, are nobody's in particular.
    let Some(array) = link.array.filter(|array| *array != BarrierArray::Cluster) else { return true };
    let member = memory.of.get(&(pair.earlier.effect, usize::from(pair.earlier.access)));
    member.zip(handed.get(&array)).is_none_or(|(member, handed)| handed.contains(member))
}

impl Tables<'_> {
    /// The table, by buffer and then in the order of the text.
    pub(super) fn all(&self) -> Vec<Coverage> {
        let writers = self.writers();
        let mut at: FxHashMap<(EffectId, usize), usize> = FxHashMap::default();
        for (number, writer) in writers.iter().enumerate() {
            at.extend(writer.effects.iter().map(|effect| ((*effect, writer.buffer), number)));
        }
        let mut again: FxHashMap<usize, Vec<Pair>> = FxHashMap::default();
        let mut seen: FxHashMap<(usize, usize, usize, Mode), Seen> = FxHashMap::default();
        for (pair, met) in self.ordering_facts.pairs().iter().filter(|(pair, _)| pair.later.mode == Mode::Write) {
            let member = |effect, access: u16| self.memory.of.get(&(effect, usize::from(access)));
            let Some(&(buffer, member)) = member(pair.earlier.effect, pair.earlier.access) else { continue };
            let Some(&writer) = at.get(&(pair.later.effect, buffer)) else { continue };
            if at.get(&(pair.earlier.effect, buffer)) == Some(&writer) {
                if matches!(pair.how, OrderedBy::Missing | OrderedBy::Unread) {
                    again.entry(writer).or_default().push(*pair);
                }
                continue;
            }
            let key = (writer, member, usize::from(pair.earlier.partition), pair.earlier.mode);
            let seen = seen.entry(key).or_insert_with(|| Seen { far: true, ..Seen::default() });
            seen.far &= met.near == 0;
            seen.met.push(pair.earlier.effect);
            match pair.how {
                OrderedBy::Program => seen.program = true,
                OrderedBy::Sync(link) => {
                    let edge = self.edges.of(pair);
                    seen.edges.extend(edge);
                    if !hands_over(self.memory, self.handed, pair, &link) {
                        seen.others.extend(edge.map(|edge| (edge, *pair)));
                    }
                }
                OrderedBy::Missing | OrderedBy::Unread => seen.missing.push(*pair),
                OrderedBy::Unsure => seen.unsure = true,
            }
        }
        let place = |number: usize, (member, partition, mode): (usize, usize, Mode)| {
            writers.get(number).map(|it| (it.buffer, it.writer.partition, member, partition, mode))
        };
        let own = seen.iter().filter(|(_, seen)| !seen.far && seen.others.is_empty() && seen.missing.is_empty());
        let own: FxHashSet<_> = own.filter_map(|(key, _)| place(key.0, (key.1, key.2, key.3))).collect();
        for (key, seen) in seen.iter_mut().filter(|(_, seen)| seen.far) {
            if place(key.0, (key.1, key.2, key.3)).is_some_and(|place| own.contains(&place)) {
                seen.others.clear();
            }
        }
        let tables = writers.into_iter().enumerate().map(|(number, writer)| {
            let again = again.remove(&number).unwrap_or_default();
            self.table(writer, &again, |key| seen.remove(&(number, key.0, key.1, key.2)))
        });
        tables.collect()
    }

    fn writers(&self) -> Vec<Writer> {
        let mut writers: Vec<Writer> = Vec::new();
        for (id, effect) in self.trace.effects() {
            for (number, access) in super::buffers::accesses(&effect.kind).iter().enumerate() {
                if access.mode != Mode::Write {
                    continue;
                }
                let Some(&(buffer, member)) = self.memory.of.get(&(id, number)) else { continue };
                let writer = used(self.trace, id, effect);
                // As the member has it: with what it does and where.
                let own = |known: &&PartitionUse| (known.range, known.partition) == (writer.range, writer.partition);
                let members = self.memory.buffers.get(buffer).and_then(|buffer| buffer.members.get(member));
                let writer = members.and_then(|member| member.writers.iter().find(own)).cloned().unwrap_or(writer);
                let same = |known: &Writer| {
                    (known.buffer, known.writer.range, known.writer.partition)
                        == (buffer, writer.range, writer.partition)
                };
                let known = match writers.iter().position(same) {
                    Some(at) => at,
                    None => {
                        writers.push(Writer { buffer, effects: vec![], members: vec![], clears: false, writer });
                        writers.len() - 1
                    }
                };
                let Some(known) = writers.get_mut(known) else { continue };
                known.clears |= access.clears;
                if known.effects.last() != Some(&id) {
                    known.effects.push(id);
                }
                if !known.members.contains(&member) {
                    known.members.push(member);
                }
            }
        }
        writers.sort_by_key(|writer| (writer.buffer, writer.writer.range));
        writers
    }

    /// One table; `again`: writes of the op that nothing orders after its own earlier ones.
    fn table(
        &self,
        writer: Writer,
        again: &[Pair],
        mut seen: impl FnMut((usize, usize, Mode)) -> Option<Seen>,
    ) -> Coverage {
        let members = self.memory.buffers.get(writer.buffer).map_or(&[][..], |buffer| &buffer.members);
        let extents = || writer.members.iter().filter_map(|member| Some(members.get(*member)?.extent));
        let extent = extents().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let touched = |with: (u64, u64)| extents().any(|extent| extent.0 < with.1 && with.0 < extent.1);
        let mut rows = Vec::new();
        for (number, member) in members.iter().enumerate().filter(|(_, member)| touched(member.extent)) {
            for (mode, uses) in [(Mode::Read, &member.readers), (Mode::Write, &member.writers)] {
                let mut partitions: Vec<usize> = uses.iter().map(|used| used.partition).collect();
                partitions.sort_unstable();
                partitions.dedup();
                for partition in partitions {
                    // What an op does to memory that it writes itself is no other use of it.
                    let itself = (writer.writer.range, writer.writer.partition);
                    let own = |used: &&PartitionUse| used.partition == partition && (used.range, partition) != itself;
                    let mut known = seen((number, partition, mode));
                    let met = known.as_ref().map_or(&[][..], |known| known.met.as_slice());
                    let meets = |used: &&PartitionUse| self.meets(&writer, used, met);
                    let uses: Vec<PartitionUse> = uses.iter().filter(own).filter(meets).cloned().collect();
                    if uses.is_empty() {
                        continue;
                    }
                    if mode == Mode::Read && partition != writer.writer.partition {
                        let unread = again.iter().filter(|pair| pair.how == OrderedBy::Unread);
                        let missing: Vec<Pair> = unread.copied().collect();
                        if !missing.is_empty() {
                            known.get_or_insert_default().missing.extend(missing);
                        }
                    }
                    let order = match known {
                        Some(known) => self.order(&writer, number, &uses, known),
                        None => CoverageOrder::Never(self.never(&writer, &uses)),
                    };
                    rows.push(CoverageRow { member: number, partition, mode, uses, order });
                }
            }
        }
        one_word(&mut rows);
        if !again.is_empty() && !rows.iter().any(|row| matches!(row.order, CoverageOrder::Missing { .. })) {
            rows.extend(self.itself(&writer, again));
        }
        let use_c = self.use_c(&writer);
        Coverage { buffer: writer.buffer, clears: writer.clears, use_c, extent, rows, writer: writer.writer }
    }

    /// Whether an overwrite may meet a use: it has, or neither their slots nor the way of control keep them apart.
    fn meets(&self, writer: &Writer, used: &PartitionUse, met: &[EffectId]) -> bool {
        let of = |effect: &EffectId| {
            let site = self.trace.site(self.trace.lowered.kernel.effect(*effect).site);
            (site.name, self.trace.partition(*effect)) == (used.range, used.partition)
        };
        if met.iter().any(of) {
            return true;
        }
        let slots = (writer.writer.slot.parse::<i64>(), used.slot.parse::<i64>());
        if let (Ok(written), Ok(used)) = slots
            && written != used
        {
            return false;
        }
        used.partition != writer.writer.partition
            || self
                .reaching
                .from(used.range, used.partition)
                .any(|from| writer.effects.iter().any(|effect| self.reaching.reaches(from, *effect)))
    }

    /// Whether an MMA adds to its accumulator: `true`, `false`, or what decides that.
    fn use_c(&self, writer: &Writer) -> Option<String> {
        let kernel = &self.trace.lowered.kernel;
        let of = |mode: Mode, id: &&EffectId| {
            let accesses = super::buffers::accesses(&kernel.effect(**id).kind).iter();
            let mut own = accesses.filter(|access| access.operand == "Acc");
            own.any(|access| access.mode == mode)
        };
        writer.effects.iter().find(|id| of(Mode::Write, id))?;
        let adds = writer.effects.iter().find(|id| of(Mode::Read, id));
        let clears = writer.effects.iter().find(|id| of(Mode::Write, id) && !of(Mode::Read, id));
        match (adds, clears) {
            (None, _) => Some("false".to_owned()),
            (_, None) => Some("true".to_owned()),
            (Some(adds), Some(_)) => {
                let exprs = Exprs::new(self.trace);
                let decides = exprs.of(kernel.effect(*adds).predicate?);
                let carried = exprs.carried(std::slice::from_ref(&decides));
                let course = carried.iter().find(|(name, _)| *name == decides.to_string());
                Some(course.map_or_else(|| decides.to_string(), |(name, text)| format!("{name} ({text})")))
            }
        }
    }

    /// The row of an op's own earlier writes.
    fn itself(&self, writer: &Writer, again: &[Pair]) -> Option<CoverageRow> {
        let first = again.first()?;
        let &(_, member) = self.memory.of.get(&(first.earlier.effect, usize::from(first.earlier.access)))?;
        let uses = vec![writer.writer.clone()];
        let order = CoverageOrder::Missing {
            finding: self.finding(member, again),
            needed: self.needed(writer, member, &uses, again),
        };
        Some(CoverageRow { member, partition: writer.writer.partition, mode: Mode::Write, uses, order })
    }

    fn order(&self, writer: &Writer, member: usize, uses: &[PartitionUse], seen: Seen) -> CoverageOrder {
        if !seen.missing.is_empty() {
            let finding = self.finding(member, &seen.missing);
            return CoverageOrder::Missing { finding, needed: self.needed(writer, member, uses, &seen.missing) };
        }
        if seen.unsure {
            return CoverageOrder::Unknown("an op that the machine cannot follow comes before it".to_owned());
        }
        if !seen.edges.is_empty() {
            let each = |mut edges: Vec<usize>| {
                edges.sort_unstable();
                edges.dedup();
                edges
            };
            if !seen.others.is_empty() {
                let breaks = self.breaks(writer, member, uses, &seen.others);
                return CoverageOrder::Through { edges: each(seen.others.iter().map(|it| it.0).collect()), breaks };
            }
            return CoverageOrder::Edges(each(seen.edges));
        }
        CoverageOrder::Program
    }

    /// Which edit would leave a use unordered that barriers of other buffers order by the way.
    fn breaks(&self, writer: &Writer, member: usize, uses: &[PartitionUse], others: &[(usize, Pair)]) -> String {
        let label = |partition: usize| self.trace.lowered.map.partition(partition);
        let name = |(buffer, member): (usize, usize)| {
            let member = self.memory.buffers.get(buffer).and_then(|buffer| buffer.members.get(member));
            member.map_or("", |member| member.name.as_str())
        };
        let barrier = |link: &SyncLink| {
            let row = link.array.and_then(|array| self.edges.barrier(array)).and_then(|row| self.barriers.get(row));
            row.map_or("the barrier", |row| row.name.as_str())
        };
        let Some((used, (_, pair))) = uses.last().zip(others.first()) else { return String::new() };
        let OrderedBy::Sync(link) = pair.how else { return String::new() };
        let handed = link.array.and_then(|array| self.handed.get(&array)).map_or(&[][..], Vec::as_slice);
        let handed: Vec<String> = handed.iter().map(|place| format!("`{}`", name(*place))).collect();
        let handed = if handed.is_empty() { "no buffer".to_owned() } else { handed.join(", ") };
        let from = usize::from(link.from);
        let before = if from == used.partition {
            format!("before its `{}` of `{}`", used.op, name((writer.buffer, member)))
        } else {
            format!("without having waited for {}", label(used.partition))
        };
        let mut rest: Vec<&str> = self.ordering_facts.each(pair).iter().map(barrier).collect();
        rest.retain(|name| *name != barrier(&link));
        rest.dedup();
        let alone = match rest.as_slice() {
            [] => "nothing orders this".to_owned(),
            [one] => format!("only `{one}` orders this"),
            [one, more @ ..] => format!("only `{one}` and {} more order this", more.len()),
        };
        format!("`{}` hands over {handed}: {alone} once {} arrives on it {before}", barrier(&link), label(from))
    }

    /// Why no run overwrites after a use.
    fn never(&self, writer: &Writer, uses: &[PartitionUse]) -> String {
        let ran = |effect: &EffectId| self.ordering_facts.times(*effect) > 0;
        if !writer.effects.iter().any(ran) {
            return "no run gets to the overwrite".to_owned();
        }
        let effects = self.trace.effects();
        let used = |used: &PartitionUse| {
            let own = |id: &EffectId, range| range == used.range && self.trace.partition(*id) == used.partition;
            effects.iter().any(|(id, effect)| own(id, self.trace.site(effect.site).name) && ran(id))
        };
        match uses.iter().any(used) {
            true => "no run overwrites after it".to_owned(),
            false => "no run gets to the use".to_owned(),
        }
    }

    /// The finding that says that a pair is not ordered: of the very ops, else of the overwrite and the same
    /// member, else of the overwrite and the same partition, else of the overwrite.
    fn finding(&self, member: usize, missing: &[Pair]) -> Option<usize> {
        let races = self.findings.iter().enumerate().filter_map(|(number, finding)| {
            let Goal::Broken(Violation { rule: Rule::Race { earlier, later }, .. }) =
                &finding.witness.as_ref()?.run.goal
            else {
                return None;
            };
            let of = self.memory.of.get(&(earlier.effect, usize::from(earlier.access)));
            Some((number, of.is_some_and(|of| of.1 == member), earlier.effect, later.effect))
        });
        let likeness = |same: bool, earlier: EffectId, later: EffectId| {
            let close = |pair: &Pair| match (pair.later.effect == later, pair.earlier.effect == earlier) {
                (true, true) => 4,
                (true, false) if same => 3,
                (true, false) if usize::from(pair.earlier.partition) == self.trace.partition(earlier) => 2,
                (true, false) => 1,
                _ => 0,
            };
            missing.iter().map(close).max().unwrap_or(0)
        };
        let rated =
            races.map(|(number, same, earlier, later)| (likeness(same, earlier, later), std::cmp::Reverse(number)));
        rated.filter(|(likeness, _)| *likeness > 0).max().map(|(_, number)| number.0)
    }

    /// What would order an overwrite after a use.
    fn needed(&self, writer: &Writer, member: usize, uses: &[PartitionUse], missing: &[Pair]) -> String {
        let label = |partition: usize| self.trace.lowered.map.partition(partition);
        // The use that is not ordered, and the last one of its partition where all are alike.
        let racing = |used: &&PartitionUse| {
            missing.iter().any(|pair| {
                self.trace.site(self.trace.lowered.kernel.effect(pair.earlier.effect).site).name == used.range
            })
        };
        let Some(used) = uses.iter().rfind(racing).or(uses.last()) else { return String::new() };
        let name = self.memory.buffers.get(writer.buffer).and_then(|buffer| buffer.members.get(member));
        let name = name.map_or("", |member| member.name.as_str());
        let (reader, who) = (label(used.partition), label(writer.writer.partition));
        if used.partition == writer.writer.partition {
            return format!("{who} has to wait, before `{}`, until its own `{}` is over", writer.writer.op, used.op);
        }
        let release = self.release(used);
        let early = self.told(writer.buffer, member, used.partition, Some(writer.writer.partition));
        if let (None, Some(barrier)) = (&release, early) {
            return format!(
                "{reader} arrives on `{barrier}`, for which {who} waits, but not behind `{}` of `{name}`: the arrival belongs there",
                used.op
            );
        }
        let told = release.or_else(|| self.told(writer.buffer, member, used.partition, None));
        let tells = match told {
            Some(barrier) => format!("{reader} arrives on `{barrier}` after `{}` of `{name}`", used.op),
            None => format!("{reader} has to arrive on a barrier after `{}` of `{name}`", used.op),
        };
        let (outer, inner) = (&used.cadence, &writer.writer.cadence);
        let op = &writer.writer.op;
        let turn = |names: &[String]| names.last().map(|name| format!("each iteration of `{name}`"));
        let hears = match inner.len().checked_sub(outer.len()) {
            Some(0) => match turn(inner) {
                Some(turn) => format!("before `{op}`, in {turn}: both are in a loop of the same level"),
                None => format!("before `{op}`"),
            },
            Some(_) => {
                let below = inner.get(outer.len()).map_or("while", String::as_str);
                let often = turn(inner.get(..outer.len()).unwrap_or_default());
                let (often, phase) = match often {
                    Some(often) => (format!("once in {often}"), ", with the phase of that outer loop"),
                    None => ("once".to_owned(), ""),
                };
                format!("before its loop `{below}`, {often}{phase}: a wait within `{below}` would never end")
            }
            None => {
                let often = turn(inner).map_or_else(|| "once".to_owned(), |turn| format!("in {turn}"));
                let below = outer.get(inner.len()).map_or("while", String::as_str);
                format!("before `{op}`, {often}; the arrival belongs after the loop `{below}`")
            }
        };
        format!("{tells}, and {who} has to wait for that {hears}")
    }

    /// The barrier on which a use's partition arrives after it, in the same stretch of code.
    fn release(&self, used: &PartitionUse) -> Option<String> {
        let kernel = &self.trace.lowered.kernel;
        let is_use = |instr: &Instr| match instr {
            Instr::Effect(id) => {
                self.trace.site(kernel.effect(*id).site).name == used.range
                    && self.trace.partition(*id) == used.partition
            }
            _ => false,
        };
        let found = |block: &Block| block.instrs.iter().position(is_use);
        let (instrs, from) = kernel.blocks.iter().find_map(|block| Some((&block.instrs, found(block)?)))?;
        let tensor_core = |kind: &EffectKind| {
            matches!(
                kind,
                EffectKind::Operation { issuer: Issuer::TensorCore, .. } | EffectKind::TensorCoreCommit { .. }
            )
        };
        let of_core = match instrs.get(from)? {
            Instr::Effect(id) => tensor_core(&kernel.effect(*id).kind),
            _ => false,
        };
        instrs.get(from..)?.iter().find_map(|instr| {
            let Instr::Effect(id) = instr else { return None };
            let kind = &kernel.effect(*id).kind;
            // What the tensor core reads it says itself, a copy says nothing of others.
            let says = if of_core { tensor_core(kind) } else { matches!(kind, EffectKind::Arrive { .. }) };
            let (barrier, _) = used_by(kind).into_iter().find(|(_, how)| says && how.is_some())?;
            let chain = self.trace.chains(barrier).into_iter().next()?;
            Some(self.trace.lowered.map.buffer(chain.buffer))
        })
    }

    /// The barrier by which a partition already says, to another one if that is given, that it has read a member.
    fn told(&self, buffer: usize, member: usize, from: usize, to: Option<usize>) -> Option<String> {
        let says = |edge: &&super::Edge| {
            edge.direction == Direction::Backward
                && edge.from == from
                && to.is_none_or(|to| edge.to == to)
                && edge.data.contains(&(buffer, member))
        };
        let edge = self.edges.rows.iter().find(says)?;
        Some(self.barriers.get(edge.barrier?)?.name.clone())
    }
}

/// Where a use that reads a member is not ordered, what orders it orders the write that it reads too.
fn one_word(rows: &mut [CoverageRow]) {
    let reads = |row: &CoverageRow| match &row.order {
        CoverageOrder::Missing { needed, .. } if row.mode == Mode::Read => {
            Some((row.member, row.partition, needed.clone()))
        }
        _ => None,
    };
    let known: Vec<(usize, usize, String)> = rows.iter().filter_map(reads).collect();
    for row in rows.iter_mut().filter(|row| row.mode == Mode::Write) {
        let CoverageOrder::Missing { needed, .. } = &mut row.order else { continue };
        let reader = known.iter().find(|(member, partition, _)| *member == row.member && *partition != row.partition);
        if let Some((_, _, text)) = reader {
            needed.clone_from(text);
        }
    }
}
