//! Dead code: marks what the effects need, then drops the rest.

use super::flow::{Post, reverse_postorder, successors};
use kernel::{BlockId, Effect, EffectKind, Instr, JumpTarget, Kernel, Terminator, Var, WordAccess};

/// Where a variable gets its value.
#[derive(Clone, Copy)]
enum Def {
    Missing,
    Param(BlockId, u32),
    Instr(BlockId, u32),
}

struct Marks<'a> {
    kernel: &'a Kernel,
    post: &'a Post,
    defs: Vec<Def>,
    /// Ways into a block: the jumping block and which of its targets.
    ways_in: Vec<Vec<(BlockId, u32)>>,
    vars: Vec<bool>,
    blocks: Vec<bool>,
    branches: Vec<bool>,
    work: Vec<Var>,
}

/// Removes variables, branches and loops that no effect needs.
pub(super) fn eliminate(kernel: &mut Kernel) {
    let order = reverse_postorder(kernel);
    let post = Post::new(kernel, &order);
    let (vars, branches) = mark(kernel, &post, &order);
    let told = kernel.blocks.iter().flat_map(|block| &block.instrs).any(|instr| reads(instr, &vars));
    for &id in &order {
        let params: Vec<Vec<bool>> = {
            let targets = kernel.block(id).terminator.targets();
            let live =
                |target: &&JumpTarget| kernel.block(target.block).params.iter().map(|p| vars[p.index()]).collect();
            targets.iter().map(live).collect()
        };
        let block = &mut kernel.blocks[id.index()];
        block.instrs.retain(|instr| match instr {
            Instr::Let(dst, _) | Instr::View { dst, .. } | Instr::Base(dst, _) => vars[dst.index()],
            // What is stored is told to those who read it.
            Instr::Word(word) => word.defines().map_or(told, |(dst, _)| vars[dst.index()]),
            Instr::Effect(_) | Instr::Host(_) => true,
        });
        for (target, live) in targets_mut(&mut block.terminator).into_iter().zip(params) {
            let mut live = live.iter();
            target.args.retain(|_| live.next().copied().unwrap_or(true));
        }
        if matches!(block.terminator, Terminator::Branch(..)) && !branches[id.index()] {
            // Its postdominator has no live parameter, else the branch were live.
            if let Some(next) = post.immediate[id.index()] {
                block.terminator = Terminator::Jump(JumpTarget { block: next, args: Vec::new() });
            }
        }
    }
    for block in &mut kernel.blocks {
        block.params.retain(|param| vars[param.index()]);
    }
}

/// Whether an instruction reads a word that is needed.
fn reads(instr: &Instr, vars: &[bool]) -> bool {
    matches!(instr, Instr::Word(WordAccess::Read { dst, .. }) if vars[dst.index()])
}

pub(super) fn targets_mut(terminator: &mut Terminator) -> Vec<&mut JumpTarget> {
    match terminator {
        Terminator::Jump(target) | Terminator::Join(_, target) => vec![target],
        Terminator::Branch(_, yes, no) => vec![yes, no],
        Terminator::Fork(fork) => {
            std::iter::once(&mut fork.default).chain(fork.partitions.iter_mut().map(|(_, target)| target)).collect()
        }
        Terminator::Exit(_) | Terminator::Return(_) => Vec::new(),
    }
}

fn mark(kernel: &Kernel, post: &Post, order: &[BlockId]) -> (Vec<bool>, Vec<bool>) {
    let count = kernel.blocks.len();
    let mut marks = Marks {
        kernel,
        post,
        defs: vec![Def::Missing; kernel.vars.len()],
        ways_in: vec![Vec::new(); count],
        vars: vec![false; kernel.vars.len()],
        blocks: vec![false; count],
        branches: vec![false; count],
        work: Vec::new(),
    };
    for &id in order {
        let block = kernel.block(id);
        for (at, param) in block.params.iter().enumerate() {
            marks.defs[param.index()] = Def::Param(id, at as u32);
        }
        for (at, instr) in block.instrs.iter().enumerate() {
            if let Instr::Let(dst, _) | Instr::View { dst, .. } | Instr::Base(dst, _) = instr {
                marks.defs[dst.index()] = Def::Instr(id, at as u32);
            }
            if let Instr::Word(word) = instr
                && let Some((dst, _)) = word.defines()
            {
                marks.defs[dst.index()] = Def::Instr(id, at as u32);
            }
        }
        for (at, target) in block.terminator.targets().iter().enumerate() {
            marks.ways_in[target.block.index()].push((id, at as u32));
        }
    }
    for &id in order {
        marks.root(id);
    }
    while let Some(var) = marks.work.pop() {
        marks.trace(var);
    }
    (marks.vars, marks.branches)
}

impl Marks<'_> {
    /// Effects and all ends but branches are always live; so is what may never end.
    fn root(&mut self, id: BlockId) {
        let kernel = self.kernel;
        let block = kernel.block(id);
        let mut live = !matches!(block.terminator, Terminator::Jump(_) | Terminator::Branch(..));
        for instr in &block.instrs {
            if let Instr::Effect(effect) = instr {
                live = true;
                effect_vars(kernel.effect(*effect), &mut |var| self.var(var));
            }
        }
        let endless = !self.post.ends[id.index()] || self.post.gave_up;
        if live || endless {
            self.block(id);
        }
        if endless || successors(block).iter().any(|next| !self.post.ends[next.index()]) {
            self.branch(id);
        }
    }

    fn var(&mut self, var: Var) {
        if let Some(live) = self.vars.get_mut(var.index())
            && !std::mem::replace(live, true)
        {
            self.work.push(var);
        }
    }

    fn block(&mut self, id: BlockId) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut self.blocks[id.index()], true) {
                for &decider in &self.post.deciders[id.index()] {
                    self.condition(decider);
                    stack.push(decider);
                }
            }
        }
    }

    fn branch(&mut self, id: BlockId) {
        self.condition(id);
        self.block(id);
    }

    fn condition(&mut self, id: BlockId) {
        if let Terminator::Branch(condition, ..) = self.kernel.block(id).terminator {
            self.branches[id.index()] = true;
            self.var(condition);
        }
    }

    /// What is stored as a word, where some word is read.
    fn stores(&mut self) {
        let instrs = self.kernel.blocks.iter().flat_map(|block| &block.instrs);
        for instr in instrs {
            if let Instr::Word(word @ WordAccess::Write { .. }) = instr {
                word.operands().into_iter().for_each(|operand| self.var(operand));
            }
        }
    }

    fn trace(&mut self, var: Var) {
        let kernel = self.kernel;
        match self.defs[var.index()] {
            Def::Missing => {}
            Def::Instr(id, at) => {
                self.block(id);
                match kernel.block(id).instrs.get(at as usize) {
                    Some(Instr::Let(_, pure)) => pure.operands().into_iter().for_each(|operand| self.var(operand)),
                    Some(Instr::View { src, op, .. }) => {
                        self.var(*src);
                        op.operand().into_iter().for_each(|operand| self.var(operand));
                    }
                    Some(Instr::Word(word)) => {
                        word.operands().into_iter().for_each(|operand| self.var(operand));
                        if matches!(word, WordAccess::Read { .. }) {
                            self.stores();
                        }
                    }
                    _ => {}
                }
            }
            Def::Param(id, at) => {
                self.block(id);
                for (from, which) in std::mem::take(&mut self.ways_in[id.index()]).iter() {
                    // Which way was taken decides the value.
                    self.branch(*from);
                    let targets = kernel.block(*from).terminator.targets();
                    if let Some(arg) = targets.get(*which as usize).and_then(|target| target.args.get(at as usize)) {
                        self.var(*arg);
                    }
                    self.ways_in[id.index()].push((*from, *which));
                }
            }
        }
    }
}

/// Calls `see` with every variable that an effect reads, and with the one that it sets.
pub(crate) fn effect_vars(effect: &Effect, see: &mut impl FnMut(Var)) {
    let mut copy = effect.clone();
    effect_vars_mut(&mut copy, &mut |var| see(*var));
}

/// The same, to rename them.
pub(super) fn effect_vars_mut(effect: &mut Effect, see: &mut impl FnMut(&mut Var)) {
    match &mut effect.kind {
        EffectKind::Operation { accesses, completion, .. } => {
            accesses.iter_mut().for_each(|access| see(&mut access.view));
            for arrival in completion.arrivals_mut() {
                see(&mut arrival.barrier);
                arrival.predicate.iter_mut().for_each(&mut *see);
            }
        }
        EffectKind::ClcLoad { source, dst } => {
            see(&mut source.view);
            see(dst);
        }
        EffectKind::ReadPhase { barrier, dst } => {
            see(barrier);
            see(dst);
        }
        EffectKind::NamedArrive { id, threads } => {
            see(id);
            see(threads);
        }
        EffectKind::NamedWait { id } => see(id),
        EffectKind::Use { of } => see(of),
        EffectKind::Init { barrier, .. }
        | EffectKind::Invalidate { barrier }
        | EffectKind::Expect { barrier, .. }
        | EffectKind::Arrive { barrier, .. }
        | EffectKind::TensorCoreCommit { barrier, .. }
        | EffectKind::AsyncCopyArrive { barrier, .. } => see(barrier),
        EffectKind::Wait { barrier, phase } => {
            see(barrier);
            see(phase);
        }
        EffectKind::Allocate(_)
        | EffectKind::Commit(_)
        | EffectKind::WaitGroup { .. }
        | EffectKind::ProxyFence
        | EffectKind::ClusterArrive { .. }
        | EffectKind::ClusterWait
        | EffectKind::Unmodelled => {}
    }
    effect.predicate.iter_mut().for_each(see);
}
