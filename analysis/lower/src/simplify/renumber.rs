//! Numbers everything by first use, blocks in reverse postorder.

use rustc_hash::FxHashMap;

use super::flow::reverse_postorder;
use super::live::{effect_vars_mut, targets_mut};
use super::merge::map_pure;
use kernel::{
    Block, BlockId, BufferId, Effect, EffectId, EffectKind, InputId, InputKind, Instr, Issuer, Kernel, LoopInfo, Pure,
    Shape, ShapeId, SiteId, SourceMap, Terminator, Var, VarInfo, VarKind,
};

/// Old number to new, given out at first sight.
struct Numbers {
    new: Vec<Option<u32>>,
    old: Vec<u32>,
}

impl Numbers {
    fn new(count: usize) -> Numbers {
        Numbers { new: vec![None; count], old: Vec::new() }
    }

    fn of(&mut self, old: u32) -> u32 {
        if self.new.len() <= old as usize {
            self.new.resize(old as usize + 1, None);
        }
        let next = self.old.len() as u32;
        *self.new[old as usize].get_or_insert_with(|| {
            self.old.push(old);
            next
        })
    }

    /// The old table in the new order.
    fn pick<T: Clone>(&self, table: &[T]) -> Vec<T> {
        self.old.iter().filter_map(|old| table.get(*old as usize).cloned()).collect()
    }
}

struct Renumber {
    vars: Numbers,
    blocks: Numbers,
    buffers: Numbers,
    inputs: Numbers,
    sites: Numbers,
    effects: Vec<Effect>,
}

/// Renumbers the kernel and its source map; what nothing uses any more is dropped.
pub(super) fn renumber(mut kernel: Kernel, mut map: SourceMap) -> (Kernel, SourceMap) {
    let order = reverse_postorder(&kernel);
    let mut to = Renumber {
        vars: Numbers::new(kernel.vars.len()),
        blocks: Numbers::new(kernel.blocks.len()),
        buffers: Numbers::new(kernel.buffers.len()),
        inputs: Numbers::new(kernel.inputs.len()),
        sites: Numbers::new(map.sites.len()),
        effects: Vec::with_capacity(kernel.effects.len()),
    };
    for &id in &order {
        to.blocks.of(id.0);
        define(&mut to, kernel.block(id), &kernel.effects);
    }
    let old = std::mem::take(&mut kernel.blocks);
    let blocks =
        order.iter().filter_map(|id| old.get(id.index())).map(|block| to.block(block.clone(), &kernel.effects));
    kernel.blocks = blocks.collect();
    kernel.loops = std::mem::take(&mut kernel.loops).into_iter().map(|info| to.loop_info(info)).collect();
    kernel.loops.sort_by_key(|info| info.head);
    kernel.entry = BlockId(to.blocks.of(kernel.entry.0));
    // The machine asks for the tiles that are to come wherever the program does.
    let asks = |effect: &Effect| matches!(effect.kind, EffectKind::Operation { issuer: Issuer::Clc, .. });
    if to.effects.iter().any(asks)
        && let Some(tiles) = kernel.inputs.iter().position(|input| input.kind == InputKind::Tiles)
    {
        to.inputs.of(tiles as u32);
    }
    kernel.effects = to.effects;
    kernel.buffers = to.buffers.pick(&kernel.buffers);
    kernel.inputs = to.inputs.pick(&kernel.inputs);
    kernel.vars = to.vars.pick(&kernel.vars);
    shapes(&mut kernel);
    map.buffers = to.buffers.pick(&map.buffers);
    map.abstracts.retain_mut(|barrier| match to.buffers.new.get(barrier.buffer.0 as usize) {
        Some(&Some(new)) => {
            barrier.buffer = BufferId(new);
            true
        }
        _ => false,
    });
    let new = |id: &BufferId| to.buffers.new.get(id.0 as usize).copied().flatten().map(BufferId);
    map.placed = map.placed.iter().filter_map(new).collect();
    map.registers = map.registers.iter().filter_map(new).collect();
    map.global_places = map.global_places.iter().filter_map(new).collect();
    map.inputs = to.inputs.pick(&map.inputs);
    map.vars = to.vars.pick(&map.vars);
    map.sites = to.sites.pick(&map.sites);
    (kernel, map)
}

fn define(to: &mut Renumber, block: &Block, effects: &[Effect]) {
    block.params.iter().for_each(|param| {
        to.vars.of(param.0);
    });
    for instr in &block.instrs {
        if let Instr::Let(dst, _) | Instr::View { dst, .. } | Instr::Base(dst, _) = instr {
            to.vars.of(dst.0);
        }
        if let Instr::Word(word) = instr
            && let Some((dst, _)) = word.defines()
        {
            to.vars.of(dst.0);
        }
        if let Instr::Effect(id) = instr
            && let Some(dst) = effects.get(id.index()).and_then(|effect| effect.kind.defines())
        {
            to.vars.of(dst.0);
        }
    }
}

impl Renumber {
    fn var(&mut self, var: &mut Var) {
        *var = Var(self.vars.of(var.0));
    }

    fn site(&mut self, site: &mut SiteId) {
        *site = SiteId(self.sites.of(site.0));
    }

    fn block(&mut self, mut block: Block, effects: &[Effect]) -> Block {
        block.params.iter_mut().for_each(|param| self.var(param));
        for instr in &mut block.instrs {
            match instr {
                Instr::Let(dst, pure) => {
                    self.var(dst);
                    map_pure(pure, &mut |var| self.var(var));
                    if let Pure::Input(id) | Pure::Load(id, _) = pure {
                        *id = InputId(self.inputs.of(id.0));
                    }
                }
                Instr::View { dst, src, op } => {
                    self.var(dst);
                    self.var(src);
                    op.operand_mut().into_iter().for_each(|operand| self.var(operand));
                }
                Instr::Base(dst, buffer) => {
                    self.var(dst);
                    *buffer = BufferId(self.buffers.of(buffer.0));
                }
                Instr::Effect(id) => {
                    if let Some(effect) = effects.get(id.index()) {
                        *id = self.effect(effect.clone());
                    }
                }
                Instr::Word(word) => word.vars_mut().into_iter().for_each(|var| self.var(var)),
                Instr::Host(_) => {}
            }
        }
        match &mut block.terminator {
            Terminator::Branch(condition, ..) => self.var(condition),
            Terminator::Fork(fork) => self.site(&mut fork.site),
            Terminator::Join(site, _) | Terminator::Exit(site) | Terminator::Return(site) => self.site(site),
            Terminator::Jump(_) => {}
        }
        for target in targets_mut(&mut block.terminator) {
            target.block = BlockId(self.blocks.of(target.block.0));
            target.args.iter_mut().for_each(|arg| self.var(arg));
        }
        block
    }

    fn effect(&mut self, mut effect: Effect) -> EffectId {
        self.site(&mut effect.site);
        effect_vars_mut(&mut effect, &mut |var| self.var(var));
        if let EffectKind::Allocate(buffer) = &mut effect.kind {
            *buffer = BufferId(self.buffers.of(buffer.0));
        }
        self.effects.push(effect);
        EffectId(self.effects.len() as u32 - 1)
    }

    fn loop_info(&mut self, mut info: LoopInfo) -> LoopInfo {
        self.site(&mut info.site);
        info.head = BlockId(self.blocks.of(info.head.0));
        if let Some((iv, lower, upper, step)) = &mut info.counted {
            [iv, lower, upper, step].into_iter().for_each(|var| self.var(var));
        }
        info
    }
}

/// Equal shapes once, by first use.
fn shapes(kernel: &mut Kernel) {
    let old = std::mem::take(&mut kernel.shapes);
    let mut known: FxHashMap<Shape, ShapeId> = FxHashMap::default();
    for VarInfo { kind } in &mut kernel.vars {
        if let VarKind::View(id) = kind
            && let Some(shape) = old.get(id.0 as usize)
        {
            *id = *known.entry(shape.clone()).or_insert_with(|| {
                kernel.shapes.push(shape.clone());
                ShapeId(kernel.shapes.len() as u32 - 1)
            });
        }
    }
}
