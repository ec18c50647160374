//! Names for the parts of a run, as the text has them.

use super::minimal::Goal;
use base::TextRange;
use kernel::{
    Access, BufferId, CommitKind, Completion, EffectKind, Issuer, Kernel, Lowered, Mode, SiteId, SourceMap, Var,
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

    /// A place in a buffer: `%smem[1]`, or `%smem` where it has one slot.
    pub fn slot(&self, buffer: BufferId, start: u64) -> String {
        let name = self.map.buffer(buffer);
        match self.kernel.buffers.get(buffer.0 as usize) {
            Some(info) if info.slot_bits > 0 && info.slot_bits < info.bits => {
                format!("{name}[{}]", start / info.slot_bits)
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
    pub fn barrier(&self, place: BarrierPlace) -> String {
        match place.kind() {
            BarrierKind::Barrier => self.slot(place.buffer, place.start),
            BarrierKind::Cluster(_) => "cluster barrier".to_owned(),
            BarrierKind::Named(id) => format!("named barrier {id}"),
        }
    }

    /// A partition, and of which CTA where there are several.
    pub fn partition(&self, thread: u16) -> String {
        let (cta, partition) = (usize::from(thread) / self.partitions, usize::from(thread) % self.partitions);
        let name = self.map.partition(partition);
        if self.cluster.len() > 1 { format!("{name} of CTA {}", self.cluster.number(cta)) } else { name }
    }

    /// Whether it speaks of AMD's ops.
    pub fn amd(&self) -> bool {
        self.map.sites.iter().any(|site| site.op.starts_with("amdg."))
    }

    /// An op's name.
    pub fn op(&self, site: SiteId) -> String {
        self.map.sites.get(site.index()).map_or_else(String::new, |site| format!("`{}`", site.op))
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

    /// What an event did, as a verb phrase: `the TMA copy writes %smem[0]`.
    pub fn did(&self, event: &Event, place: Option<&str>) -> String {
        let what = place.map_or_else(|| self.operand(event), str::to_owned);
        let verb = match event.mode {
            Mode::Read => "reads",
            Mode::Write => "writes",
        };
        format!("{} {verb} {what}", self.actor(event))
    }

    /// The family whose wait says that an event is over, unless a barrier says so too.
    pub fn pending(&self, event: &Event) -> Option<CommitKind> {
        let effect = self.kernel.effects.get(event.effect.index()).map(|effect| &effect.kind);
        let told =
            matches!(effect, Some(EffectKind::Operation { completion, .. }) if !completion.arrivals().is_empty());
        self.channels.family(event.channel).filter(|_| !told)
    }

    /// Who performs an event.
    fn actor(&self, event: &Event) -> String {
        let effect = self.kernel.effects.get(event.effect.index());
        let op = effect.map(|effect| self.op(effect.site)).unwrap_or_default();
        let asynchronous = matches!(
            effect.map(|effect| &effect.kind),
            Some(EffectKind::Operation { issuer: Issuer::Tma | Issuer::Clc | Issuer::TensorCore, .. })
        ) || self.channels.family(event.channel).is_some();
        if asynchronous { format!("asynchronous {op}") } else { op }
    }

    /// The buffers that an event's operand may name, as text.
    pub fn operand(&self, event: &Event) -> String {
        self.access(event)
            .and_then(|access| self.buffer_of(access.view))
            .map_or_else(|| "the buffer".to_owned(), |buffer| format!("`{}`", self.map.buffer(buffer)))
    }

    /// The buffer behind a memdesc, where views lead to one only.
    pub fn buffer_of(&self, view: Var) -> Option<BufferId> {
        buffer_of(self.kernel, view)
    }

    /// How an asynchronous operation is waited for.
    pub fn awaited_by(kind: CommitKind) -> &'static str {
        match kind {
            CommitKind::AsyncCopy => "`ttg.async_wait`",
            CommitKind::Wgmma => "`ttng.warp_group_dot_wait`",
            CommitKind::TmaStore => "`ttng.async_tma_store_wait`",
            CommitKind::Tdm => "`amdg.async_tdm_wait`",
        }
    }

    /// Where a thread stands when the run ends, in words.
    pub fn standing(&self, goal: &Goal, thread: u16) -> String {
        let op = |site: SiteId| self.map.sites.get(site.index()).map_or("", |site| site.op.as_str());
        match goal {
            Goal::Lapped { site, place, .. } => {
                format!("{}: has not looked at {} yet", op(*site), self.barrier(*place))
            }
            Goal::Broken(Violation { rule: Rule::Deadlock(blocked), .. }) => {
                let stuck = blocked.iter().find(|blocked| blocked.thread == thread);
                stuck.map_or_else(String::new, |stuck| match stuck.on {
                    BlockedOn::Barrier { barrier, phase, .. } => {
                        format!("{}: waits for phase {phase} of {} for ever", op(stuck.site), self.barrier(barrier))
                    }
                    BlockedOn::Partitions => format!("{}: waits for the partitions for ever", op(stuck.site)),
                })
            }
            Goal::Broken(Violation { rule: Rule::WaitedOn { at, .. }, barrier, .. }) => {
                let name = barrier.map_or_else(String::new, |place| format!(" on {}", self.barrier(place)));
                format!("{}: waits{name}", op(*at))
            }
            Goal::Broken(_) => String::new(),
        }
    }

    /// What a step concerns, in few words.
    pub fn brief(&self, record: &Record) -> String {
        let mut parts: Vec<String> = Vec::new();
        let effect = record.effect.and_then(|id| self.kernel.effects.get(id.index()));
        match effect.map(|effect| &effect.kind) {
            Some(EffectKind::Operation { accesses, .. }) => {
                for (mode, verb) in [(Mode::Read, "reads"), (Mode::Write, "writes")] {
                    let own = accesses.iter().zip(&record.places).filter(|(access, _)| access.mode == mode);
                    let mut places: Vec<String> = own.map(|(_, place)| self.barrier(*place)).collect();
                    places.dedup();
                    if !places.is_empty() {
                        parts.push(format!("{verb} {}", places.join(", ")));
                    }
                }
            }
            Some(EffectKind::Allocate(buffer)) => parts.push(self.map.buffer(*buffer)),
            Some(EffectKind::WaitGroup { kind: CommitKind::Tdm, pending }) => {
                parts.push(format!("to {pending} open operations"));
            }
            Some(EffectKind::WaitGroup { pending, .. }) => parts.push(format!("to {pending} open groups")),
            _ => {}
        }
        for barrier in &record.barriers {
            let name = self.barrier(barrier.place);
            parts.push(match barrier.act {
                BarrierAction::Init => format!("{name}, counts {}", barrier.pending),
                BarrierAction::Invalidate => name,
                BarrierAction::Arrive { flipped: true } => {
                    format!("{name} completes phase {}", (barrier.flips + 1) & 1)
                }
                BarrierAction::Arrive { flipped: false } if barrier.pending != 0 => {
                    format!("{name}, {} to come", barrier.pending)
                }
                BarrierAction::Arrive { flipped: false } => format!("{name}, {} bytes to come", barrier.bytes),
                BarrierAction::Read { phase } | BarrierAction::Wait { phase } => format!("{name}, phase {phase}"),
            });
        }
        parts.join("; ")
    }

    /// One step of a run, in words.
    pub fn step(&self, record: &Record) -> String {
        let effect = record.effect.and_then(|id| self.kernel.effects.get(id.index()));
        let mut parts = Vec::new();
        match effect.map(|effect| &effect.kind) {
            Some(EffectKind::Operation { accesses, completion, .. }) => {
                for (access, place) in accesses.iter().zip(&record.places) {
                    let verb = if access.mode == Mode::Read { "reads" } else { "writes" };
                    parts.push(format!("{verb} {}", self.barrier(*place)));
                }
                if let Completion::Commit { implicit: false, .. } = completion {
                    parts.push("in the open group".to_owned());
                }
            }
            Some(EffectKind::Commit(_)) => parts.push("closes the group".to_owned()),
            Some(EffectKind::WaitGroup { kind, pending }) => {
                let (one, many) = match kind {
                    CommitKind::Tdm => ("operation of the data mover is", "operations of the data mover are"),
                    _ => ("group is", "groups are"),
                };
                let what = if *pending == 1 { one } else { many };
                parts.push(format!("waits until at most {pending} {what} open"));
            }
            Some(EffectKind::ProxyFence) => parts.push("fences generic against async accesses".to_owned()),
            Some(EffectKind::ClcLoad { .. }) => {
                parts.extend(record.places.iter().map(|place| format!("reads {}", self.barrier(*place))));
            }
            Some(EffectKind::Allocate(buffer)) => parts.push(format!("allocates {}", self.map.buffer(*buffer))),
            _ => {}
        }
        for barrier in &record.barriers {
            let name = self.barrier(barrier.place);
            parts.push(match barrier.act {
                BarrierAction::Init => format!("initialises {name} for {}", count(barrier.pending, "arrival")),
                BarrierAction::Invalidate => format!("invalidates {name}"),
                BarrierAction::Arrive { flipped: true } if barrier.place.kind() != BarrierKind::Barrier => {
                    format!("{name} is complete")
                }
                BarrierAction::Arrive { flipped: true } => {
                    format!("{name} completes phase {} (flip {})", (barrier.flips + 1) & 1, barrier.flips)
                }
                BarrierAction::Arrive { flipped: false } if barrier.bytes != 0 => {
                    format!("{name} still needs {} and {} bytes", count(barrier.pending, "arrival"), barrier.bytes)
                }
                BarrierAction::Arrive { flipped: false } => {
                    format!("{name} still needs {}", count(barrier.pending, "arrival"))
                }
                BarrierAction::Read { phase } => format!("{name} is in phase {phase}"),
                BarrierAction::Wait { .. } if barrier.place.kind() != BarrierKind::Barrier => format!("passes {name}"),
                BarrierAction::Wait { phase } if barrier.flips == 0 => {
                    format!("wait on {name} for phase {phase} passes: nothing has flipped it yet")
                }
                BarrierAction::Wait { phase } => {
                    format!("wait on {name} for phase {phase} passes after flip {}", barrier.flips)
                }
            });
        }
        let op = self.map.sites.get(record.site.index()).map_or("", |site| site.op.as_str());
        if parts.is_empty() { op.to_owned() } else { format!("{op}: {}", parts.join("; ")) }
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
fn count(number: i64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
