//! Tokens of NVWS: each stands for an array of full barriers and one of empty ones.
//!
//! What each op becomes follows the pass that lowers them (facebookexperimental fork, token
//! lowering): a barrier counts one arrival a phase; acquiring waits for the empty barrier with the
//! other phase, so that the first one passes; a commit and a wait of the same token by one task are
//! left out, since program order does what they would. Where the producer copies asynchronously
//! (`asyncLoadOp`), the pass stops; its documentation has the arrival of every thread of the
//! producer when its copies are done, which is what is lowered here.
//!
//! Deviates: a store's wait that releases several tokens arrives on the barrier of each; the pass
//! puts all on the first.

use rustc_hash::FxHashSet;

use super::channel::Token;
use super::origin::origin;
use super::tasks::below;
use crate::lowerer::Lowerer;
use base::{Message, message};
use dialects::{Nvws, OpCode, TokenOp, Ttg, ttng};
use kernel::{
    Abstract, AbstractOf, Buffer, BufferId, Dim, EffectKind, Half, Pure, Recipients, Shape, SiteId, Space, Stage, Var,
    ViewOp, Width,
};
use ttgir::{OpId, Ty, ValueId};

/// `loadType = asyncLoadOp`.
const ASYNC_LOAD: i64 = 1;

impl Lowerer<'_> {
    /// `create_token`: two arrays of barriers.
    pub(crate) fn create_token(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        let slots = self.int_attr(op, "numBuffers").or_else(|| match tree.ty(tree.value_type(result)?) {
            Ty::Tensor { shape, .. } => shape.first().copied(),
            _ => None,
        });
        let Some(slots) = slots.and_then(|slots| u64::try_from(slots).ok()).filter(|slots| (1..=1024).contains(slots))
        else {
            return self.unmodelled(op, "how many slots the token has is not known");
        };
        self.reaches(Stage::Tokens);
        let copies = self.int_attr(op, "loadType") == Some(ASYNC_LOAD);
        let users = self.users_of_token(op);
        let elided = self.within_a_task(&users);
        let arrivals = if copies { self.producers(&users, &elided) } else { 1 };
        let site = self.site(op);
        let full = self.token_barriers(op, site, result, slots, Half::Full);
        let empty = self.token_barriers(op, site, result, slots, Half::Empty);
        for slot in 0..slots {
            for (buffer, count) in [(full, arrivals), (empty, 1)] {
                let index = self.build.number(slot as i64);
                let barrier = self.slot_of(buffer, slots, index);
                self.build.effect(site, None, EffectKind::Init { barrier, count });
            }
        }
        self.tokens.insert(op, Token { full, empty, slots, copies, elided });
    }

    /// A storage of barriers that the text does not allocate.
    fn token_barriers(&mut self, op: OpId, site: SiteId, token: ValueId, slots: u64, half: Half) -> BufferId {
        let tree = self.tree;
        let buffer = Buffer { space: Space::Shared, bits: slots * 64, start: None, barriers: true, slot_bits: 64 };
        let side = if half == Half::Full { "full" } else { "empty" };
        let name = format!("{} ({side})", tree.value_name(token));
        let range = tree.value_range(token);
        let id = self.build.buffer(buffer, &name, range);
        self.build.map.abstracts.push(Abstract { buffer: id, of: AbstractOf::Token, half, range });
        self.build.effect(site, None, EffectKind::Allocate(id));
        self.role(op, site, side, range);
        id
    }

    /// One barrier of such a storage.
    fn slot_of(&mut self, buffer: BufferId, slots: u64, index: Var) -> Var {
        let name = self.build.map.buffer(buffer);
        let all = Shape::dense(&[slots, 1], 64);
        let base = self.build.base(buffer, all, &name);
        let one = Shape { dims: vec![Dim { size: 1, stride: 64 }], element: 64, exact: true };
        self.build.view(base, ViewOp::Index { index, stride: 64, count: slots }, one, false, &name)
    }

    /// An op on a token.
    pub(crate) fn token_op(&mut self, op: OpId, what: TokenOp) {
        let tree = self.tree;
        let (Some(&token), Some(&index)) = (tree.group(op, "token").first(), tree.group(op, "idx").first()) else {
            return self.unmodelled(op, "its token or its slot is missing");
        };
        let Some(token) = self.token(op, token) else { return };
        if token.elided.contains(&op) {
            return;
        }
        let index = self.scalar(index);
        let half = match what {
            TokenOp::Acquire | TokenOp::Release => token.empty,
            TokenOp::Commit | TokenOp::Wait => token.full,
        };
        let phase = match (what, tree.group(op, "phase").first()) {
            (TokenOp::Commit | TokenOp::Release, _) => None,
            (_, None) => return self.unmodelled(op, "the phase is missing"),
            (_, Some(&phase)) => {
                let width = Width(self.width(phase));
                let phase = self.scalar(phase);
                Some(if what == TokenOp::Acquire {
                    let one = self.build.number(1);
                    self.build.compute(Pure::Xor(width, phase, one), "")
                } else {
                    phase
                })
            }
        };
        let site = self.site(op);
        let barrier = self.slot_of(half, token.slots, index);
        self.role_of(op, site, "barrier", "token", 0);
        let to = Recipients::own();
        let kind = match (what, phase) {
            (_, Some(phase)) => EffectKind::Wait { barrier, phase },
            (TokenOp::Commit, None) if token.copies => EffectKind::AsyncCopyArrive { barrier, increments: false, to },
            (_, None) => EffectKind::Arrive { barrier, count: 1, to },
        };
        self.build.effect(site, None, kind);
        if phase.is_some() {
            self.role_of(op, site, "phase", "phase", 0);
        }
    }

    /// The arrivals on the empty barriers of the tokens that a store's wait releases.
    pub(crate) fn release_tokens(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(wait) = ttng::AsyncTmaStoreTokenWait::cast(tree, op) else { return };
        for (at, &value) in wait.nvws_tokens().iter().enumerate() {
            let Some(&index) = wait.nvws_token_indices().get(at) else {
                return self.unmodelled(op, "the slot of a token is missing");
            };
            let Some(token) = self.token(op, value) else { return };
            let index = self.scalar(index);
            let site = self.site(op);
            let barrier = self.slot_of(token.empty, token.slots, index);
            self.role_of(op, site, "barrier", "nvws_tokens", at);
            self.build.effect(site, None, EffectKind::Arrive { barrier, count: 1, to: Recipients::own() });
        }
    }

    /// The token that a value is; one that is not followed is said.
    fn token(&mut self, op: OpId, value: ValueId) -> Option<Token> {
        let token = origin(self.tree, value).and_then(|made| self.tokens.get(&made).cloned());
        if token.is_none() {
            let name = self.tree.value_name(value);
            self.unmodelled(op, message!("where the token `{token}` is made is not followed", Message::value(name)));
        }
        token
    }

    /// Every op of the functions being lowered that takes this token.
    fn users_of_token(&mut self, made: OpId) -> Vec<OpId> {
        if self.token_users.is_empty() {
            let tree = self.tree;
            let mut ops = Vec::new();
            self.calls.iter().for_each(|function| below(tree, *function, &mut ops));
            for op in ops.into_iter().filter(|op| matches!(tree.code(*op), Some(OpCode::Nvws(_)))) {
                if let Some(&token) = tree.group(op, "token").first()
                    && let Some(made) = origin(tree, token)
                {
                    self.token_users.entry(made).or_default().push(op);
                }
            }
        }
        self.token_users.get(&made).cloned().unwrap_or_default()
    }

    /// Commits and waits of one task among the ops of a token.
    fn within_a_task(&self, users: &[OpId]) -> FxHashSet<OpId> {
        let coded = |code: Nvws| -> Vec<(OpId, i64)> {
            let of = users.iter().copied().filter(|op| self.tree.is(*op, code));
            of.filter_map(|op| Some((op, self.only_task(op)?))).collect()
        };
        let (commits, waits) = (coded(Nvws::ProducerCommit), coded(Nvws::ConsumerWait));
        let both = |task: i64| [&commits, &waits].iter().all(|ops| ops.iter().any(|(_, other)| *other == task));
        commits.iter().chain(&waits).filter(|(_, task)| both(*task)).map(|(op, _)| *op).collect()
    }

    /// The task of an op that has one only.
    fn only_task(&self, op: OpId) -> Option<i64> {
        match self.tree.attr_ints(self.tree.attr(op, "async_task_id")?)[..] {
            [task] => Some(task),
            _ => None,
        }
    }

    /// Threads that arrive with their copies before a full barrier flips.
    fn producers(&self, users: &[OpId], elided: &FxHashSet<OpId>) -> u32 {
        let commits = users.iter().filter(|op| self.tree.is(**op, Nvws::ProducerCommit));
        let warps = commits.filter(|op| !elided.contains(op)).find_map(|op| self.warps_at(*op));
        warps.unwrap_or_else(|| self.warps()).saturating_mul(self.lanes)
    }

    /// Warps of the partition of a `ttg.warp_specialize` that holds an op.
    fn warps_at(&self, op: OpId) -> Option<u32> {
        let tree = self.tree;
        let mut op = op;
        loop {
            let region = tree.parent_region(tree.parent_block(op)?);
            let around = tree.parent_op(region)?;
            let at = tree.regions(around).iter().position(|other| *other == region)?;
            let (holder, at) = match tree.code(around) {
                Some(OpCode::Ttg(Ttg::WarpSpecialize)) => (around, at.checked_sub(1)?),
                Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => {
                    (tree.parent_op(tree.parent_region(tree.parent_block(around)?))?, at)
                }
                _ => {
                    op = around;
                    continue;
                }
            };
            let warps = tree.attr(holder, "partitionNumWarps").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
            return warps.get(at).and_then(|warps| u32::try_from(*warps).ok());
        }
    }

    /// Notes how far automatic warp specialisation has taken the text.
    pub(super) fn reaches(&mut self, stage: Stage) {
        let map = &mut self.build.map;
        map.stage = map.stage.max(stage);
    }
}
