//! Applies the declared effects of ops.

use super::lowerer::Lowerer;
use super::value::{Class, Val};
use base::{Message, TextRange, message};
use dialects::{
    Amdg, Func, Llvm, Nvws, OpCode, OpCompletion, OpEffect, OperandAccess, Scf, Tt, Ttg, Ttng, Ub, assembly,
};
use kernel::{
    Access, Arrival, CommitKind, Completion, CtaSet, EffectId, EffectKind, Issuer, Proxy, Recipients, SiteId, Space,
    Var,
};
use ttgir::{OpId, Ty, ValueId};

/// A predicate that is known while lowering.
pub(super) enum Predicate {
    Always,
    Never,
    When(Var),
}

impl Predicate {
    pub(super) fn var(&self) -> Option<Var> {
        match self {
            Predicate::When(var) => Some(*var),
            Predicate::Always | Predicate::Never => None,
        }
    }
}

impl Lowerer<'_> {
    /// Lowers one op that is no terminator.
    pub(super) fn op(&mut self, op: OpId) {
        let tree = self.tree;
        let name = tree.op_name(op);
        if self.task.is_none() && self.tasks.opens(op) && !self.tasks.spans_function() {
            return self.share(op, &[op]);
        }
        if self.leaves(op) {
            return self.passed_by(op);
        }
        if tree.is_broken(op) && tree.regions(op).is_empty() {
            self.forget(op);
            if !matches!(name.split('.').next(), Some("arith" | "math" | "tt")) {
                self.unmodelled(op, message!("`{op}` could not be read", Message::op(name.to_owned())));
            }
            return;
        }
        self.keep_operands(op);
        self.use_results(op);
        self.plan_before(op);
        self.meet_warps(op);
        let first = self.next_effect();
        match tree.code(op) {
            Some(OpCode::Scf(Scf::For)) => self.scf_for(op),
            Some(OpCode::Scf(Scf::While)) => self.scf_while(op),
            Some(OpCode::Scf(Scf::If)) => self.scf_if(op),
            Some(OpCode::Scf(Scf::IndexSwitch)) => self.scf_index_switch(op),
            Some(OpCode::Scf(Scf::ExecuteRegion)) => self.scf_execute_region(op),
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) => self.warp_specialize(op),
            Some(OpCode::Nvws(Nvws::WarpGroup)) => self.warp_group(op),
            Some(OpCode::Ttng(Ttng::SubtiledRegion)) => self.subtiled_region(op),
            Some(OpCode::Tt(Tt::Call) | OpCode::Func(Func::Call)) => self.call(op),
            Some(OpCode::Amdg(Amdg::CondBarrier)) if self.hold_back(op) => {}
            Some(OpCode::Llvm(Llvm::IntrAssume)) => self.assume(op),
            _ if self.scalar_op(op) => {}
            _ => self.effect(op, first),
        }
        self.touch_places(op, first);
        self.carry_words(op);
        self.bind_results(op);
        self.plan_after(op);
        self.scratch(op);
        self.stage_ends(op);
        self.noted.insert(op);
        if self.rendezvous == Some(op) {
            self.meet(op);
        }
    }

    /// The allocations of the memdescs that an op takes last until there.
    fn keep_operands(&mut self, op: OpId) {
        if self.executes() {
            return;
        }
        for value in self.tree.operands(op) {
            if let Some(Val::View(view)) = self.values.get(value).copied() {
                self.build.keep(view);
            }
        }
    }

    /// An op that only computes, if no memdesc goes in or out.
    fn pure_op(&mut self, op: OpId) {
        let tree = self.tree;
        let name = tree.op_name(op);
        let touches = |value: &ValueId| self.class(*value) == Class::View;
        if tree.is(op, Ub::Poison) {
            // Whoever uses it says so.
            return;
        }
        if tree.is(op, Tt::ElementwiseInlineAsm) || tree.is(op, Ttg::InlineAsm) {
            let text = self.assembly(op);
            if assembly::synchronises(text) && !assembly::is_barrier(text) {
                return self.unmodelled(op, "the assembly synchronises or touches shared memory");
            }
        }
        if tree.operands(op).iter().any(touches) || tree.results(op).iter().any(touches) {
            self.unmodelled(
                op,
                message!("`{op}` has a memdesc, and what it does with it is not known", Message::op(name.to_owned())),
            );
        } else if !tree.regions(op).is_empty() && !name.starts_with("tt.") {
            self.unmodelled(op, message!("the regions of `{op}` are not followed", Message::op(name.to_owned())));
        }
    }

    /// The assembly of an op: an attribute, or the first string behind its name.
    pub(super) fn assembly(&self, op: OpId) -> &str {
        let tree = self.tree;
        if let Some(attr) = tree.attr(op, "asm_string") {
            return tree.attr_str(attr).unwrap_or("");
        }
        let (name, header) = (tree.op_name_range(op), tree.op_header_range(op));
        let behind = tree.text().get(name.end as usize..header.end as usize).unwrap_or("");
        behind.split('"').nth(1).unwrap_or("")
    }

    /// What the op's declaration says; `first` is the number of the first effect that is the op's.
    fn effect(&mut self, op: OpId, first: EffectId) {
        let effect = self.tree.effect(op);
        match effect {
            OpEffect::View(kind) => return self.window(op, kind),
            OpEffect::MapToRemote => return self.map_to_remote(op),
            OpEffect::Allocate => self.allocate(op),
            _ => {
                self.forget(op);
                self.apply(op, effect);
            }
        }
        if !matches!(effect, OpEffect::Unknown | OpEffect::Structure) {
            self.host(op, first);
        }
    }

    fn apply(&mut self, op: OpId, effect: OpEffect) {
        match effect {
            OpEffect::Nothing | OpEffect::Allocate | OpEffect::View(_) | OpEffect::MapToRemote => {}
            OpEffect::Pure => self.pure_op(op),
            OpEffect::Unknown | OpEffect::Structure => {
                self.unmodelled(op, format!("`{}` is not known", self.tree.op_name(op)));
            }
            OpEffect::Unmodelled(reason) => self.unmodelled(op, reason),
            OpEffect::Memory { issuer, accesses, completion } => self.memory_op(op, issuer, accesses, completion),
            OpEffect::Mma { scaled } => self.mma(op, scaled),
            OpEffect::WaitGroup { kind, pending } => {
                let tree = self.tree;
                for (&result, &value) in tree.results(op).iter().zip(tree.operands(op)) {
                    if self.class(result) == Class::View {
                        self.rebind(result, value);
                    }
                }
                let Some(pending) = self.count(op, pending).filter(|_| !self.is_passed_by_places(op)) else { return };
                let site = self.site(op);
                self.build.effect(site, None, EffectKind::WaitGroup { kind, pending });
            }
            OpEffect::LoweredWaitGroup { kind, groups, instructions } => {
                self.lowered_wait(op, kind, groups, instructions)
            }
            OpEffect::StoreTokenWait => self.store_token_wait(op),
            OpEffect::Commit(kind) => self.plain(op, EffectKind::Commit(kind)),
            OpEffect::ProxyFence => self.plain(op, EffectKind::ProxyFence),
            OpEffect::ClusterBarrier => {
                self.cluster_arrive(op);
                self.plain(op, EffectKind::ClusterWait);
            }
            OpEffect::ClusterArrive => self.cluster_arrive(op),
            OpEffect::ClusterWait => self.plain(op, EffectKind::ClusterWait),
            OpEffect::ClusterSize => self.cluster_size(op),
            OpEffect::NamedArrive => self.named(op, false),
            OpEffect::NamedWait => self.named(op, true),
            OpEffect::StorageAliasSpec => self.storage_alias_spec(op),
            OpEffect::StorageAliasAlloc => self.storage_alias_local_alloc(op),
            OpEffect::RequireLayout => self.layout_asked(op),
            OpEffect::ArefCreate => self.aref_create(op),
            OpEffect::ArefEnter { put } => self.aref_enter(op, put),
            OpEffect::ArefExit { put } => self.aref_exit(op, put),
            OpEffect::ArefBuffer => self.aref_buffer(op),
            OpEffect::SemaphoreCreate => self.semaphore_create(op),
            OpEffect::SemaphoreAcquire => self.semaphore_acquire(op),
            OpEffect::SemaphoreBuffer => self.semaphore_buffer(op),
            OpEffect::SemaphoreRelease => self.semaphore_release(op),
            OpEffect::DescriptorLoad => self.descriptor_load(op),
            OpEffect::CreateToken => self.create_token(op),
            OpEffect::Token(what) => self.token_op(op, what),
            OpEffect::ClcRequest { result, barrier } => self.clc_request(op, result, barrier),
            OpEffect::ClcLoad => self.clc_load(op),
            OpEffect::ClcGranted => self.clc_granted(op),
            OpEffect::ClcQuery => self.clc_query(op),
            OpEffect::ClcAsk => self.clc_ask(op),
            OpEffect::ClcAnswer => self.clc_answer(op),
            OpEffect::RemoteStore(how) => self.remote_store(op, how),
            OpEffect::InitBarrier => {
                let Some(count) = self.count(op, "count") else { return };
                // The one row of a group of CTAs counts the arrivals of all of them.
                let mask = self.broadcast(op, "alloc", 0);
                let count = count.saturating_mul(1 << mask.count_ones());
                self.barrier_row(op, "alloc", mask, |barrier| EffectKind::Init { barrier, count });
            }
            OpEffect::InvalidateBarrier => {
                let mask = self.broadcast(op, "alloc", 0);
                self.barrier_row(op, "alloc", mask, |barrier| EffectKind::Invalidate { barrier });
            }
            OpEffect::ExpectBytes => {
                let Some(bytes) = self.count(op, "size").map(u64::from) else { return };
                let (from, to) = self.routed(op, self.broadcast(op, "alloc", 0));
                self.barrier_row(op, "alloc", from, |barrier| EffectKind::Expect { barrier, bytes, to });
            }
            OpEffect::ArriveBarrier => {
                let Some(count) = self.count(op, "count") else { return };
                let count = if self.flag(op, "perThread") {
                    count.saturating_mul(self.warps()).saturating_mul(self.lanes)
                } else {
                    count
                };
                let (from, to) = self.routed(op, self.broadcast(op, "alloc", 0));
                self.barrier_row(op, "alloc", from, |barrier| EffectKind::Arrive { barrier, count, to });
            }
            OpEffect::ArriveByThreads => self.arrive_threads(op),
            OpEffect::ReadPhase => self.read_phase(op),
            OpEffect::WaitBarrier => {
                let Some(&phase) = self.tree.group(op, "phase").first() else {
                    return self.unmodelled(op, "the phase is missing");
                };
                let phase = self.scalar(phase);
                let mask = self.broadcast(op, "alloc", 0);
                self.barrier_row(op, "alloc", mask, |barrier| EffectKind::Wait { barrier, phase });
                if let Some(&site) = self.sites.get(&op) {
                    self.role_of(op, site, "phase", "phase", 0);
                }
            }
            OpEffect::TensorCoreCommit => {
                let to = self.completion_ctas(op, self.tree.group(op, "descs").iter().copied());
                let pair = self.paired(op).leaders;
                self.barrier_row(op, "barrier", pair, |barrier| EffectKind::TensorCoreCommit { barrier, to });
            }
            OpEffect::AsyncCopyArrive { increments } => {
                let increments = increments && !self.flag(op, "noIncrement");
                let to = Recipients::one(CtaSet::leader(self.broadcast(op, "barrier", 0)));
                self.barrier_row(op, "barrier", 0, |barrier| EffectKind::AsyncCopyArrive { barrier, increments, to });
            }
        }
    }

    fn cluster_arrive(&mut self, op: OpId) {
        let relaxed = self.flag(op, "relaxed");
        self.plain(op, EffectKind::ClusterArrive { relaxed });
    }

    fn cluster_size(&mut self, op: OpId) {
        let size = self.build.number(i64::from(self.ctas.cluster));
        if let Some(&result) = self.tree.results(op).first() {
            self.bind(result, Val::Scalar(size));
        }
    }

    /// `arrive_barrier_named` and `wait_barrier_named`, which arrives too (PTX `bar.sync`).
    fn named(&mut self, op: OpId, waits: bool) {
        let &[id, threads] = self.tree.operands(op) else {
            return self.unmodelled(op, "its number or its thread count is missing");
        };
        let (id, threads) = (self.scalar(id), self.scalar(threads));
        self.plain(op, EffectKind::NamedArrive { id, threads });
        if waits {
            self.plain(op, EffectKind::NamedWait { id });
        }
    }

    /// A count in an attribute; one that is missing or negative is said.
    pub(super) fn count(&mut self, op: OpId, attr: &str) -> Option<u32> {
        let count = self.int_attr(op, attr).and_then(|count| u32::try_from(count).ok());
        if count.is_none() {
            self.unmodelled(op, format!("its `{attr}` is not a count"));
        }
        count
    }

    fn plain(&mut self, op: OpId, kind: EffectKind) {
        let site = self.site(op);
        self.build.effect(site, None, kind);
    }

    /// The operand `pred`; ops without one happen always.
    pub(super) fn predicate(&mut self, op: OpId) -> Predicate {
        let Some(&value) = self.tree.group(op, "pred").first() else { return Predicate::Always };
        let var = self.scalar(value);
        self.known(var)
    }

    pub(super) fn known(&self, var: Var) -> Predicate {
        match self.build.constant(var) {
            Some(value) if value & 1 == 1 => Predicate::Always,
            Some(_) => Predicate::Never,
            None => Predicate::When(var),
        }
    }

    fn barrier_row(&mut self, op: OpId, group: &str, leaders: u16, kind: impl FnOnce(Var) -> EffectKind) {
        let predicate = self.predicate(op);
        if matches!(predicate, Predicate::Never) {
            return;
        }
        let site = self.site(op);
        if let Some(barrier) = self.barrier(op, site, group, 0) {
            self.build.effect_of(site, predicate.var(), leaders, kind(barrier));
        }
    }

    /// The barrier in place `at` of an operand group, noted as one and with its role; one that is
    /// not followed is said.
    pub(super) fn barrier(&mut self, op: OpId, site: SiteId, group: &str, at: usize) -> Option<Var> {
        let barrier = self.operand(op, group, at)?;
        if let Some(buffer) = self.build.facts(barrier).origin
            && let Some(buffer) = self.build.kernel.buffers.get_mut(buffer.0 as usize)
        {
            buffer.barriers = true;
        }
        self.role_of(op, site, "barrier", group, at);
        Some(barrier)
    }

    /// A memdesc operand; one that is missing or not followed is said.
    pub(super) fn operand(&mut self, op: OpId, group: &str, at: usize) -> Option<Var> {
        let tree = self.tree;
        match tree.group(op, group).get(at) {
            None => {
                self.unmodelled(op, format!("its operand `{group}` is missing"));
                None
            }
            Some(&value) => {
                let view = self.view(value);
                if view.is_none() {
                    self.unmodelled(
                        op,
                        message!("where `{value}` lies is not followed", Message::value(tree.value_name(value))),
                    );
                }
                view
            }
        }
    }

    fn memory_op(&mut self, op: OpId, issuer: Issuer, operands: &[OperandAccess], completion: OpCompletion) {
        let tree = self.tree;
        if matches!(completion, OpCompletion::Group { .. }) && self.copies_in_bulk(op) {
            return self.bulk_copy(op);
        }
        let predicate = self.predicate(op);
        if matches!(predicate, Predicate::Never) {
            return;
        }
        let site = self.site(op);
        if let Some(&mask) = tree.group(op, "multicastTargets").first() {
            let mask = self.scalar(mask);
            return self.multicast_to(op, site, &predicate, mask);
        }
        let reach = self.reach(op, issuer, completion);
        let Some(mut accesses) = self.accesses(op, site, operands) else { return };
        accesses.iter_mut().for_each(|access| access.ctas = reach.ctas);
        let completion = match completion {
            OpCompletion::InOrder => self.warp_completion(op, issuer),
            OpCompletion::Group { when: Some(attr), .. } if !self.flag(op, attr) => Completion::InOrder,
            OpCompletion::Group { kind, implicit, .. } => {
                let awaited = kind == CommitKind::Wgmma && self.result_is_used(op);
                let result = if awaited { self.number_result(op) } else { 0 };
                Completion::Commit { kind, implicit, awaited, result }
            }
            OpCompletion::InTurn { barrier } => return self.data_mover(op, site, reach.leaders, accesses, barrier),
            OpCompletion::Transaction { barrier, of } => {
                let bytes = tree.group(op, of).first().and_then(|value| self.memory(*value)).map(|memory| memory.bytes);
                let Some(bytes) = bytes else { return self.unmodelled(op, "how much it copies is not known") };
                let Some(barrier) = self.barrier(op, site, barrier, 0) else { return };
                Completion::Transaction(vec![Arrival {
                    barrier,
                    predicate: None,
                    count: 0,
                    bytes: bytes * reach.times / reach.shares,
                    to: reach.to,
                }])
            }
        };
        let kind = EffectKind::Operation { issuer, accesses, completion };
        self.build.effect_of(site, predicate.var(), reach.leaders, kind);
    }

    /// The accesses of an op; operands in registers have none. `None` where one is not followed.
    pub(super) fn accesses(&mut self, op: OpId, site: SiteId, operands: &[OperandAccess]) -> Option<Vec<Access>> {
        let tree = self.tree;
        let mut accesses = Vec::with_capacity(operands.len() + 1);
        let discards = self.discards(op);
        for operand in operands.iter().filter(|operand| !discards || operand.mode != kernel::Mode::Read) {
            for at in 0..tree.group(op, operand.group).len().max(1) {
                let value = tree.group(op, operand.group).get(at).copied();
                let ty = value.and_then(|value| tree.value_type(value)).map(|ty| tree.ty(ty));
                if matches!(ty, Some(Ty::Tensor { .. })) {
                    continue;
                }
                let view = self.operand(op, operand.group, at)?;
                let proxy = self.proxy(view, operand.proxy);
                let role = if operand.operand.is_empty() { operand.group } else { operand.operand };
                self.role_of(op, site, role, operand.group, at);
                accesses.push(Access {
                    view,
                    mode: operand.mode,
                    proxy,
                    operand: operand.operand,
                    clears: false,
                    ctas: CtaSet::OWN,
                });
            }
        }
        Some(accesses)
    }

    /// Whether an op exchanges what is in memory and nobody uses what was there: it is a write then.
    fn discards(&self, op: OpId) -> bool {
        let tree = self.tree;
        tree.is(op, Ttg::LocalAtomicScatterRmw)
            && tree.attr(op, "atomic_rmw_op").is_some_and(|kind| tree.attr_text(kind).trim() == "exch")
            && tree.results(op).iter().all(|result| tree.uses(*result).is_empty())
    }

    /// Tensor memory has no proxies, wherever an op may also take shared memory.
    pub(super) fn proxy(&self, view: Var, shared: Proxy) -> Proxy {
        let origin = self.build.facts(view).origin;
        let buffer = origin.and_then(|buffer| self.build.kernel.buffers.get(buffer.0 as usize));
        match buffer.map(|buffer| buffer.space) {
            Some(Space::Tensor) => Proxy::Tensor,
            _ => shared,
        }
    }

    /// Notes an operand's place in its site, once an op.
    pub(super) fn role_of(&mut self, op: OpId, site: SiteId, role: &str, group: &str, at: usize) {
        let tree = self.tree;
        let Some((first, count)) = tree.group_span(op, group) else { return };
        if at < count {
            self.role(op, site, role, tree.operand_range(op, first + at));
        }
    }

    pub(super) fn role(&mut self, op: OpId, site: SiteId, role: &str, range: TextRange) {
        if !self.noted.contains(&op)
            && let Some(site) = self.build.map.sites.get_mut(site.index())
        {
            site.operands.push((role.to_owned(), range));
        }
    }
}
