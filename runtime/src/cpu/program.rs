//! One program: a cluster of CTAs with their variables, memories and copies on their way.

use std::rc::Rc;

use base::rng::SplitMix64;
use kernel::{BufferId, HostId, Kernel, SiteId, Target, Var, VarKind};
use machine::{Lost, Record, State, remote_cta, unpack};
use ttgir::{OpId, ValueId};

use super::context::{Context, Held};
use super::driver::Mood;
use super::memory::Local;
use super::pending::{Future, Pending, Transfer};
use super::transfer::{Memories, Place};
use super::value::{Trap, Value, World};

/// A value beside the machine.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// It is there.
    Value(Value),
    /// An asynchronous dot will make it.
    Future(Rc<Future>),
}

/// Why a program cannot go on.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Stop {
    /// An op has no result.
    Trap(OpId, Trap),
    /// An effect that the machine does not follow.
    Unmodelled(SiteId),
    /// The machine lost its way.
    Lost(Lost),
}

/// A program that runs.
pub(super) struct Program<'k> {
    /// Its number along x, y, z.
    pub(super) id: [i64; 3],
    /// Where it is, and what the machine knows of it.
    pub(super) state: State,
    /// Values beside the machine: as many a CTA as it has variables.
    slots: Vec<Option<Slot>>,
    /// What memory holds.
    pub(super) memories: Memories<'k>,
    /// Copies on their way.
    pub(super) pending: Pending,
    /// By thread: what it did since its last host op.
    pub(super) recent: Vec<Vec<Record>>,
    /// By thread: the host op that it cannot do before all CTAs are there.
    pub(super) meets: Vec<Option<HostId>>,
    /// By CTA and buffer: whether it was allocated.
    pub(super) allocated: Vec<bool>,
    /// The thread that ran last.
    pub(super) last: usize,
    /// How it treats copies for now.
    pub(super) mood: Mood,
}

impl<'k> Program<'k> {
    /// A program at its start; `None` where its memory is more than any machine has.
    pub(super) fn new(
        context: &Context<'k>,
        random: &mut SplitMix64,
        id: [i64; 3],
        arguments: &[(Var, Argument)],
    ) -> Option<Program<'k>> {
        use explore::System;
        let machine = &context.machine;
        let kernel: &'k Kernel = machine.kernel();
        let mut state = machine.initial();
        let ctas = machine.cluster().len();
        let threads = state.threads.len();
        let mut slots = vec![None; state.stride * ctas];
        for cta in 0..ctas {
            for (var, argument) in arguments {
                match argument {
                    Argument::Int(value) => drop(state.set(cta, *var, *value)),
                    Argument::Value(value) => {
                        if let Some(slot) = slots.get_mut(cta * state.stride + var.index()) {
                            *slot = Some(Slot::Value(value.clone()));
                        }
                    }
                }
            }
        }
        let local = || Local::new(&kernel.buffers);
        let memories = Memories { kernel, ctas: (0..ctas).map(|_| local()).collect::<Option<_>>()? };
        Some(Program {
            id,
            state,
            slots,
            memories,
            pending: Pending::default(),
            recent: vec![Vec::new(); threads],
            meets: vec![None; threads],
            allocated: vec![false; kernel.buffers.len() * ctas],
            last: 0,
            mood: Mood::any(random, threads),
        })
    }

    /// Where its threads stand, in words.
    pub(super) fn stands(&self, context: &Context<'k>) -> Vec<String> {
        use kernel::Instr;
        use machine::{Life, Place};
        let (machine, map) = (&context.machine, &context.made.lowered.map);
        let kernel = machine.kernel();
        let running = (0..self.state.threads.len()).filter(|thread| self.state.threads[*thread].life == Life::Running);
        let op = |thread: usize| match machine.stands(&self.state, thread) {
            Place::Instr(Instr::Effect(id)) => {
                let site = kernel.effects.get(id.index()).map(|effect| effect.site)?;
                let site = map.sites.get(site.index())?;
                Some((site.op.clone(), site.source.first().cloned()))
            }
            Place::Instr(Instr::Host(id)) => Some((context.tree.op_name(context.host(*id)?.0.op).to_owned(), None)),
            _ => None,
        };
        running
            .map(|thread| {
                let who = map.partition(machine.partition_of(thread));
                let what = match op(thread) {
                    Some((op, Some(source))) => format!("stands at `{op}` ({source})"),
                    Some((op, None)) => format!("stands at `{op}`"),
                    None => "goes round".to_owned(),
                };
                format!("program {:?}, CTA {}, {who}: {what}", self.id, machine.cta_of(thread))
            })
            .collect()
    }

    /// Bytes that it holds.
    pub(super) fn held(&self) -> u64 {
        self.memories.held()
    }

    /// The value beside the machine that a variable has.
    pub(super) fn slot(&self, cta: usize, var: Var) -> Option<&Slot> {
        self.slots.get(cta * self.state.stride + var.index())?.as_ref()
    }

    /// Sets it.
    pub(super) fn put(&mut self, cta: usize, var: Var, slot: Option<Slot>) {
        let stride = self.state.stride;
        if let Some(place) = self.slots.get_mut(cta * stride + var.index()).filter(|_| var.index() < stride) {
            *place = slot;
        }
    }

    /// What a jump hands on beside the machine.
    pub(super) fn hand_on(&mut self, context: &Context<'k>, cta: usize, target: &Target) {
        let params = context.machine.params(target.block);
        let values: Vec<Option<Slot>> = target.args.iter().map(|&arg| self.slot(cta, arg).cloned()).collect();
        for (&param, value) in params.iter().zip(values) {
            self.put(cta, param, value);
        }
    }

    /// The value of a variable; a copy that makes it happens first.
    pub(super) fn value(
        &mut self,
        context: &Context<'k>,
        world: &mut World,
        cta: usize,
        var: Option<Var>,
        held: Held,
    ) -> Result<Value, Absent> {
        let Some(var) = var else { return Err(Absent::Missing) };
        match held {
            Held::Int(width) => Ok(Value::int(width, self.state.var(cta, var))),
            Held::View | Held::Token => Ok(Value::Unit),
            Held::Handle => {
                let future = match self.slot(cta, var) {
                    Some(Slot::Value(value)) => return Ok(value.clone()),
                    Some(Slot::Future(future)) => future.clone(),
                    None => return Err(Absent::Missing),
                };
                while future.value().is_none() {
                    let Some(next) = self.pending.towards(&future) else { return Err(Absent::Missing) };
                    self.land(context, world, next).map_err(Absent::Stop)?;
                }
                future.value().ok_or(Absent::Missing)
            }
        }
    }

    /// Lets a copy happen.
    pub(super) fn land(&mut self, _context: &Context<'k>, world: &mut World, transfer: Transfer) -> Result<(), Stop> {
        let op = transfer.op;
        transfer.act.happen(&mut self.memories, world).map_err(|trap| Stop::Trap(op, trap))
    }

    /// Lets happen what a thread has found done.
    pub(super) fn settle(&mut self, context: &Context<'k>, world: &mut World, thread: usize) -> Result<(), Stop> {
        while !self.pending.is_empty() {
            let Some(known) = self.state.threads.get(thread) else { return Ok(()) };
            let Some(next) = self.pending.due(&known.seen) else { return Ok(()) };
            self.land(context, world, next)?;
        }
        Ok(())
    }

    /// The place that a memdesc variable names, in a CTA's memory or in another's.
    pub(super) fn place(
        &self,
        context: &Context<'k>,
        cta: usize,
        var: Option<Var>,
        value: ValueId,
    ) -> Result<Place, Trap> {
        let unknown = || Trap::not_followed(format!("where `{}` lies is not known", context.tree.value_name(value)));
        let var = var.ok_or_else(unknown)?;
        let at = self.state.var(cta, var);
        let Some(VarKind::View(shape)) = context.machine.kernel().vars.get(var.index()).map(|info| info.kind) else {
            return Err(unknown());
        };
        if at < 0 {
            return Err(Trap::not_followed(format!("`{}` is no slot of its ring", context.tree.value_name(value))));
        }
        let (buffer, start) = unpack(at);
        let cluster = context.machine.cluster();
        let number = remote_cta(at).unwrap_or_else(|| cluster.number(cta));
        let cta = cluster.position(number).ok_or_else(unknown)?;
        let ty = context.type_of(value, number)?;
        let strided = context.machine.kernel().shapes.get(shape.0 as usize);
        let order = strided.and_then(|shape| context.order_of(value, shape, &ty));
        Ok(Place { cta, buffer: BufferId(buffer), start, shape, ty, order })
    }

    /// The same place in another CTA's memory.
    pub(super) fn in_cta(
        &self,
        context: &Context<'k>,
        place: &Place,
        number: u16,
        value: ValueId,
    ) -> Result<Place, Trap> {
        let position = context.machine.cluster().position(number);
        let cta = position.ok_or_else(|| Trap::not_followed("a CTA that is not there"))?;
        Ok(Place { cta, ty: context.type_of(value, number)?, ..place.clone() })
    }
}

/// Why a value is not there.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Absent {
    /// Nothing computed it.
    Missing,
    /// What makes it stops.
    Stop(Stop),
}

/// An argument of a launch, as a program has it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Argument {
    /// An integer or an address.
    Int(i64),
    /// Anything else.
    Value(Value),
}
