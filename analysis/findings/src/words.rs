//! Names for the parts of a run, as the text has them.

use super::minimal::Goal;
use base::{Message, TextRange, message};
use kernel::{
    Access, BufferId, CommitKind, Completion, EffectId, EffectKind, Issuer, Kernel, Lowered, Mode, SiteId, SourceMap,
    Var,
};
use machine::{
    BarrierAction, BarrierKind, BarrierPlace, BlockedOn, Channels, Cluster, Event, Machine, Record, Rule, Violation,
};

/// The kernel and its way back to the text.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    /// What runs.
    pub kernel: &'a Kernel,
    /// Where it stands.
    pub map: &'a SourceMap,
    /// The machine's channels.
    pub channels: Channels,
    /// Partitions of one CTA.
    pub partitions: usize,
    /// The CTAs that are run.
    pub cluster: Cluster,
}

impl<'a> Words<'a> {
    /// The words for a machine's runs.
    pub fn new(lowered: &'a Lowered, machine: &Machine<'_>) -> Words<'a> {
        Words {
            kernel: &lowered.kernel,
            map: &lowered.map,
            channels: machine.channels(),
            partitions: machine.partitions(),
            cluster: machine.cluster().clone(),
        }
    }

    /// A buffer by its name.
    pub fn buffer(&self, buffer: BufferId) -> Message {
        Message::value(self.map.buffer(buffer))
    }

    /// Why two buffers meet that the text does not place: one may lie where the other did. The buffer that is made
    /// last comes first.
    pub(crate) fn same_memory(&self, one: BufferId, other: BufferId) -> Option<(TextRange, Message)> {
        let placed = |buffer: &BufferId| self.map.placed.contains(buffer);
        if one == other || ![one, other].iter().all(placed) {
            return None;
        }
        let (later, earlier) = (one.max(other), one.min(other));
        let (_, range) = self.map.buffers.get(later.0 as usize)?;
        let (later, earlier) = (self.buffer(later), self.buffer(earlier));
        let text =
            message!("`{later}` may get the memory of `{earlier}`, which nothing names any more", later, earlier);
        Some((*range, text))
    }

    /// A place in a buffer: `%smem[1]`, or `%smem` where it has one slot.
    pub fn slot(&self, buffer: BufferId, start: u64) -> Message {
        let name = self.buffer(buffer);
        match self.kernel.buffers.get(buffer.0 as usize) {
            Some(info) if info.slot_bits > 0 && info.slot_bits < info.bits => {
                message!("{name}[{slot}]", name, start / info.slot_bits)
            }
            _ => name,
        }
    }

    /// Where in its slot a place begins, in bits.
    pub fn offset(&self, place: BarrierPlace) -> u64 {
        match self.kernel.buffers.get(place.buffer.0 as usize) {
            Some(info) if info.slot_bits > 0 && info.slot_bits < info.bits => place.start % info.slot_bits,
            _ => place.start,
        }
    }

    /// A barrier or a rendezvous.
    pub fn barrier(&self, place: BarrierPlace) -> Message {
        match place.kind() {
            BarrierKind::Barrier => self.slot(place.buffer, place.start),
            BarrierKind::Cluster(_) => "cluster barrier".into(),
            BarrierKind::Named(id) => message!("named barrier {number}", id),
        }
    }

    /// A barrier as a thread names it, in backticks: with its CTA where that is another one than the thread's.
    pub fn barrier_of(&self, place: BarrierPlace, thread: u16) -> Message {
        let name = message!("`{}`", self.barrier(place));
        let own = self.cluster.number(usize::from(thread) / self.partitions);
        if place.cta == own { name } else { message!("{name} of CTA {cta}", name, place.cta) }
    }

    /// The same in a run, without backticks.
    fn barrier_in_step(&self, place: BarrierPlace, thread: u16) -> Message {
        let name = self.barrier(place);
        let own = self.cluster.number(usize::from(thread) / self.partitions);
        let plain = self.cluster.len() < 2 || place.cta == own || !matches!(place.kind(), BarrierKind::Barrier);
        if plain { name } else { message!("{name} of CTA {cta}", name, place.cta) }
    }

    /// A partition, and of which CTA where there are several.
    pub fn partition(&self, thread: u16) -> Message {
        let (cta, partition) = (usize::from(thread) / self.partitions, usize::from(thread) % self.partitions);
        let name = Message::partition(self.map.partition(partition));
        if self.cluster.len() > 1 { message!("{name} of CTA {cta}", name, self.cluster.number(cta)) } else { name }
    }

    /// Several of them: `a, b and c`.
    pub(crate) fn all_partitions(&self, threads: &[u16]) -> Message {
        let mut names: Vec<Message> = threads.iter().map(|thread| self.partition(*thread)).collect();
        match (names.pop(), names.is_empty()) {
            (Some(last), false) => message!("{} and {last}", Message::join(names, ", "), last),
            (last, _) => last.unwrap_or_default(),
        }
    }

    /// Whether it speaks of AMD's ops.
    pub fn amd(&self) -> bool {
        self.map.sites.iter().any(|site| site.op.starts_with("amdg."))
    }

    /// An op's name between backticks.
    pub fn op(&self, site: SiteId) -> Message {
        self.map.sites.get(site.index()).map_or_else(Message::default, |_| message!("`{op}`", self.op_name(site)))
    }

    /// An op's name.
    fn op_name(&self, site: SiteId) -> Message {
        self.map.sites.get(site.index()).map_or_else(Message::default, |site| Message::op(site.op.clone()))
    }

    /// The name of the op of an event, between backticks.
    pub fn op_of(&self, event: &Event) -> Message {
        self.kernel.effects.get(event.effect.index()).map(|effect| self.op(effect.site)).unwrap_or_default()
    }

    /// The access that an event records.
    pub fn access(&self, event: &Event) -> Option<&Access> {
        match &self.kernel.effects.get(event.effect.index())?.kind {
            EffectKind::Operation { accesses, .. } => accesses.get(usize::from(event.access)),
            EffectKind::ClcLoad { source, .. } => Some(source),
            _ => None,
        }
    }

    /// Where an event's operand stands; the op's name where the operand is not known.
    pub fn event_range(&self, event: &Event) -> TextRange {
        let Some(effect) = self.kernel.effects.get(event.effect.index()) else { return TextRange::default() };
        let Some(site) = self.map.sites.get(effect.site.index()) else { return TextRange::default() };
        // Several effects may share a site; operands are found by their role.
        let role = self.access(event).map(|access| access.operand);
        let mut operands = site.operands.iter().filter(|(_, range)| !range.is_empty());
        match role {
            Some(role) if !role.is_empty() => {
                operands.find(|(name, _)| name == role).map_or(site.name, |(_, range)| *range)
            }
            _ => site.operands.get(usize::from(event.access)).map_or(site.name, |(_, range)| *range),
        }
    }

    /// Where a site's op is named.
    pub fn site_range(&self, site: SiteId) -> TextRange {
        self.map.sites.get(site.index()).map(|site| site.name).unwrap_or_default()
    }

    /// What an event did, as a verb phrase: `asynchronous `ttng.tc_gen5_mma` writes `%smem``.
    pub fn did(&self, event: &Event) -> Message {
        message!("{actor} {verb} {buffer}", self.actor(event), verb(event.mode), self.operand(event))
    }

    /// The family whose wait says that an event is over, unless a barrier says so too.
    pub fn pending(&self, event: &Event) -> Option<CommitKind> {
        let effect = self.kernel.effects.get(event.effect.index()).map(|effect| &effect.kind);
        let told =
            matches!(effect, Some(EffectKind::Operation { completion, .. }) if !completion.arrivals().is_empty());
        self.channels.family(event.channel).filter(|kind| !told && !kind.is_by_warps())
    }

    /// The op that performs an event.
    fn actor(&self, event: &Event) -> Message {
        let effect = self.kernel.effects.get(event.effect.index());
        let asynchronous = matches!(
            effect.map(|effect| &effect.kind),
            Some(EffectKind::Operation { issuer: Issuer::Tma | Issuer::Clc | Issuer::TensorCore, .. })
        ) || self.channels.family(event.channel).is_some_and(|kind| !kind.is_by_warps());
        message!("{asynchronous}{op}", if asynchronous { "asynchronous " } else { "" }, self.op_of(event))
    }

    /// The buffer that an event's operand names.
    pub fn operand(&self, event: &Event) -> Message {
        let buffer = self.access(event).and_then(|access| self.buffer_of(access.view));
        let buffer = buffer.map_or_else(|| "the buffer".into(), |buffer| message!("`{buffer}`", self.buffer(buffer)));
        self.member(event.effect, event.access)
            .map_or(buffer.clone(), |name| message!("`{name}` in {buffer}", name, buffer))
    }

    /// What the data of an access is called, where its memory holds others too.
    pub fn member(&self, effect: EffectId, access: u16) -> Option<Message> {
        self.map.members.get(&(effect, access)).map(|name| Message::value(name.clone()))
    }

    /// A place that an access touches: `%m in %qk`, `%smem[1]`.
    pub fn data(&self, effect: Option<EffectId>, access: usize, place: BarrierPlace) -> Message {
        let whole = self.barrier(place);
        let name = effect.and_then(|effect| self.member(effect, access as u16));
        name.map_or(whole.clone(), |name| message!("{name} in {whole}", name, whole))
    }

    /// The buffer behind a memdesc, where views lead to one only.
    pub fn buffer_of(&self, view: Var) -> Option<BufferId> {
        buffer_of(self.kernel, view)
    }

    /// The op that waits for asynchronous operations of a family.
    pub fn awaited_by(kind: CommitKind) -> Message {
        message!(
            "`{op}`",
            Message::op(match kind {
                CommitKind::AsyncCopy => "ttg.async_wait",
                CommitKind::Wgmma => "ttng.warp_group_dot_wait",
                CommitKind::TmaStore => "ttng.async_tma_store_wait",
                CommitKind::Tdm => "amdg.async_tdm_wait",
                CommitKind::RelaxedRead | CommitKind::Stage => "ttg.barrier",
            })
        )
    }

    /// Where a thread stands when the run ends, in words.
    pub fn standing(&self, goal: &Goal, thread: u16) -> Message {
        match goal {
            Goal::Lapped { site, place, .. } => {
                message!("{op}: has not looked at {barrier} yet", self.op_name(*site), self.barrier(*place))
            }
            Goal::Broken(Violation { rule: Rule::Deadlock(blocked), .. }) => {
                let Some(stuck) = blocked.iter().find(|blocked| blocked.thread == thread) else {
                    return Message::default();
                };
                let op = self.op_name(stuck.site);
                match stuck.on {
                    BlockedOn::Barrier { barrier, phase, .. } => {
                        let name = self.barrier(barrier);
                        message!("{op}: waits for phase {phase} of {barrier} for ever", op, phase, name)
                    }
                    BlockedOn::Partitions => message!("{op}: waits for the partitions for ever", op),
                }
            }
            Goal::Broken(Violation { rule: Rule::WaitedOn { at, .. }, barrier, .. }) => {
                let name = barrier.map(|place| message!(" on {barrier}", self.barrier(place)));
                message!("{op}: waits{name}", self.op_name(*at), name)
            }
            Goal::Broken(_) => Message::default(),
        }
    }

    /// What a step concerns, in few words.
    pub fn brief(&self, record: &Record) -> Message {
        let mut parts: Vec<Message> = Vec::new();
        let effect = record.effect.and_then(|id| self.kernel.effects.get(id.index()));
        match effect.map(|effect| &effect.kind) {
            Some(EffectKind::Operation { accesses, .. }) => {
                for mode in [Mode::Read, Mode::Write] {
                    let own = accesses.iter().zip(&record.places).enumerate();
                    let own = own.filter(|(_, (access, _))| access.mode == mode);
                    let mut places: Vec<Message> =
                        own.map(|(at, (_, place))| self.data(record.effect, at, *place)).collect();
                    places.dedup();
                    if !places.is_empty() {
                        parts.push(message!("{verb} {places}", verb(mode), Message::join(places, ", ")));
                    }
                }
            }
            Some(EffectKind::Allocate(buffer)) => parts.push(self.buffer(*buffer)),
            Some(EffectKind::WaitGroup { kind, .. }) if kind.is_by_warps() => {}
            Some(EffectKind::WaitGroup { kind: CommitKind::Tdm, pending }) => {
                parts.push(message!("to {pending} open operations", pending));
            }
            Some(EffectKind::WaitGroup { pending, .. }) => parts.push(message!("to {pending} open groups", pending)),
            _ => {}
        }
        for barrier in &record.barriers {
            let name = self.barrier_in_step(barrier.place, record.thread);
            parts.push(match barrier.act {
                BarrierAction::Init => message!("{name}, counts {count}", name, barrier.pending),
                BarrierAction::Invalidate => name,
                BarrierAction::Arrive { flipped: true } => {
                    message!("{name} completes phase {phase}", name, (barrier.flips + 1) & 1)
                }
                BarrierAction::Arrive { flipped: false } if barrier.pending != 0 && barrier.bytes > 0 => {
                    let arrivals = count(barrier.pending, "arrival");
                    message!("{name}, {arrivals} and {bytes} bytes to come", name, arrivals, barrier.bytes)
                }
                BarrierAction::Arrive { flipped: false } if barrier.pending != 0 => {
                    message!("{name}, {count} to come", name, barrier.pending)
                }
                BarrierAction::Arrive { flipped: false } => {
                    message!("{name}, {bytes} bytes to come", name, barrier.bytes)
                }
                BarrierAction::Wait { phase, ahead: 1.. } => {
                    message!("{name}, phase {phase}, passes at flip {flip} already", name, phase, barrier.seen())
                }
                BarrierAction::Read { phase } | BarrierAction::Wait { phase, .. } => {
                    message!("{name}, phase {phase}", name, phase)
                }
            });
        }
        Message::join(parts, "; ")
    }

    /// One step of a run, in words.
    pub fn step(&self, record: &Record) -> Message {
        let effect = record.effect.and_then(|id| self.kernel.effects.get(id.index()));
        let mut parts: Vec<Message> = Vec::new();
        match effect.map(|effect| &effect.kind) {
            Some(EffectKind::Operation { accesses, completion, .. }) => {
                for (at, (access, place)) in accesses.iter().zip(&record.places).enumerate() {
                    parts.push(message!("{verb} {place}", verb(access.mode), self.data(record.effect, at, *place)));
                }
                if let Completion::Commit { implicit: false, kind, .. } = completion
                    && !kind.is_by_warps()
                {
                    parts.push("in the open group".into());
                }
            }
            Some(EffectKind::Commit(CommitKind::Stage)) => parts.push("ends a stage of the warp pipeline".into()),
            Some(EffectKind::WaitGroup { kind: CommitKind::RelaxedRead, .. }) => parts.push("the warps meet".into()),
            Some(EffectKind::WaitGroup { kind: CommitKind::Stage, .. }) => {
                parts.push("the slower half of the warps ends the stage before".into());
            }
            Some(EffectKind::Commit(_)) => parts.push("closes the group".into()),
            Some(EffectKind::WaitGroup { kind, pending }) => {
                let (one, many) = match kind {
                    CommitKind::Tdm => ("operation of the data mover is", "operations of the data mover are"),
                    _ => ("group is", "groups are"),
                };
                let what = if *pending == 1 { one } else { many };
                parts.push(message!("waits until at most {pending} {what} open", pending, what));
            }
            Some(EffectKind::ProxyFence) => parts.push("fences generic against async accesses".into()),
            Some(EffectKind::ClcLoad { .. }) => {
                parts.extend(record.places.iter().map(|place| message!("reads {place}", self.barrier(*place))));
            }
            Some(EffectKind::Allocate(buffer)) => parts.push(message!("allocates {buffer}", self.buffer(*buffer))),
            _ => {}
        }
        for barrier in &record.barriers {
            let name = self.barrier_in_step(barrier.place, record.thread);
            parts.push(match barrier.act {
                BarrierAction::Init => {
                    message!("initialises {name} for {arrivals}", name, count(barrier.pending, "arrival"))
                }
                BarrierAction::Invalidate => message!("invalidates {name}", name),
                BarrierAction::Arrive { flipped: true } if barrier.place.kind() != BarrierKind::Barrier => {
                    message!("{name} is complete", name)
                }
                BarrierAction::Arrive { flipped: true } => {
                    let phase = (barrier.flips + 1) & 1;
                    message!("{name} completes phase {phase} (flip {flips})", name, phase, barrier.flips)
                }
                BarrierAction::Arrive { flipped: false } if barrier.bytes < 0 => {
                    message!("{name} has got {bytes} bytes that it does not expect", name, -barrier.bytes)
                }
                BarrierAction::Arrive { flipped: false } if barrier.pending == 0 && barrier.bytes != 0 => {
                    message!("{name} still needs {bytes} bytes", name, barrier.bytes)
                }
                BarrierAction::Arrive { flipped: false } if barrier.bytes != 0 => {
                    let arrivals = count(barrier.pending, "arrival");
                    message!("{name} still needs {arrivals} and {bytes} bytes", name, arrivals, barrier.bytes)
                }
                BarrierAction::Arrive { flipped: false } => {
                    message!("{name} still needs {arrivals}", name, count(barrier.pending, "arrival"))
                }
                BarrierAction::Read { phase } => message!("{name} is in phase {phase}", name, phase),
                BarrierAction::Wait { .. } if barrier.place.kind() != BarrierKind::Barrier => {
                    message!("passes {name}", name)
                }
                BarrierAction::Wait { phase, ahead: 1.. } if barrier.seen() == 0 => {
                    message!(
                        "wait on {name} for phase {phase} can pass before any flip: what flips it may still be under way",
                        name,
                        phase
                    )
                }
                BarrierAction::Wait { phase, ahead: 1.. } => {
                    message!(
                        "wait on {name} for phase {phase} can pass after flip {flip} already: what brings flip {next} may still be under way",
                        name,
                        phase,
                        barrier.seen(),
                        barrier.seen() + 1
                    )
                }
                BarrierAction::Wait { phase, .. } if barrier.flips == 0 => {
                    message!("wait on {name} for phase {phase} passes: nothing has flipped it yet", name, phase)
                }
                BarrierAction::Wait { phase, .. } => {
                    message!("wait on {name} for phase {phase} passes after flip {flips}", name, phase, barrier.flips)
                }
            });
        }
        let op = self.op_name(record.site);
        if parts.is_empty() { op } else { message!("{op}: {parts}", op, Message::join(parts, "; ")) }
    }
}

/// What an access does.
pub(crate) fn verb(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "reads",
        Mode::Write => "writes",
    }
}

/// The buffer behind a memdesc, where views lead to one only.
pub fn buffer_of(kernel: &Kernel, view: Var) -> Option<BufferId> {
    use kernel::Instr;
    let mut var = view;
    for _ in 0..kernel.vars.len() {
        let mut next = None;
        for block in &kernel.blocks {
            for instr in &block.instrs {
                match instr {
                    Instr::Base(dst, buffer) if *dst == var => return Some(*buffer),
                    Instr::View { dst, src, .. } if *dst == var => next = Some(*src),
                    Instr::Let(dst, kernel::Pure::Copy(src)) if *dst == var => next = Some(*src),
                    _ => {}
                }
            }
        }
        if next.is_none() {
            next = verify::Slices::new(kernel).source(var);
        }
        var = next?;
    }
    None
}

/// `1 arrival`, `2 arrivals`.
fn count(number: i64, noun: &'static str) -> Message {
    message!("{number} {noun}{plural}", number, noun, if number == 1 { "" } else { "s" })
}
