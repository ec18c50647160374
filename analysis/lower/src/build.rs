//! Builds a kernel op by op, knowing no syntax; [`simplify`](super::simplify) makes it canonical.

use rustc_hash::FxHashMap;

use super::lifetimes::Kept;
use base::TextRange;
use kernel::{
    Block, BlockId, Buffer, BufferId, Effect, EffectId, EffectKind, Input, InputId, InputKind, Instr, JumpTarget,
    Kernel, LoopInfo, Pure, Shape, ShapeId, Site, SiteId, SourceMap, Terminator, Var, VarInfo, VarKind, ViewOp,
};

/// What is known of a memdesc variable beside its shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViewFacts {
    /// The allocation it comes from, where every way leads to one.
    pub(super) origin: Option<BufferId>,
    /// It went through a reinterpretation, so windows of it mix two linear spaces.
    pub(super) punned: bool,
    /// It went through a reinterpretation, in whatever memory: its slots are not those of the allocation.
    pub(super) retyped: bool,
    /// Bits from the start of the allocation, where that is one number.
    pub(super) start: Option<u64>,
}

/// A kernel in the making and the block that is being written.
pub(super) struct Build {
    pub(super) kernel: Kernel,
    pub(super) map: SourceMap,
    current: Option<BlockId>,
    constants: Vec<Option<i64>>,
    views: Vec<ViewFacts>,
    /// Allocations of which views without a reinterpretation count slots.
    counted: Vec<BufferId>,
    shapes: FxHashMap<Shape, ShapeId>,
    inputs: FxHashMap<(InputKind, u8), InputId>,
    /// Memdescs whose allocations last until there at least.
    pub(super) kept: Vec<Kept>,
}

impl Build {
    pub(super) fn new() -> Build {
        let kernel = Kernel::empty();
        let mut build = Build {
            kernel,
            map: SourceMap::default(),
            current: None,
            constants: Vec::new(),
            views: Vec::new(),
            counted: Vec::new(),
            shapes: FxHashMap::default(),
            inputs: FxHashMap::default(),
            kept: Vec::new(),
        };
        build.current = Some(build.block(Vec::new()));
        build
    }

    // Variables.

    fn var(&mut self, kind: VarKind, facts: ViewFacts, name: &str) -> Var {
        self.kernel.vars.push(VarInfo { kind });
        self.map.vars.push((!name.is_empty()).then(|| name.to_owned()));
        self.constants.push(None);
        self.views.push(facts);
        Var(self.kernel.vars.len() as u32 - 1)
    }

    /// A scalar that a block receives.
    pub(super) fn scalar_param(&mut self, name: &str) -> Var {
        self.var(VarKind::Scalar, ViewFacts::default(), name)
    }

    /// A memdesc that a block receives, of the kind of `like`.
    pub(super) fn view_param(&mut self, like: Var, name: &str) -> Var {
        self.var(self.kind(like), ViewFacts { start: None, ..self.facts(like) }, name)
    }

    pub(super) fn kind(&self, var: Var) -> VarKind {
        self.kernel.vars.get(var.index()).map_or(VarKind::Scalar, |info| info.kind)
    }

    pub(super) fn facts(&self, var: Var) -> ViewFacts {
        self.views.get(var.index()).copied().unwrap_or_default()
    }

    /// The value of a variable that is the same in every run.
    pub(super) fn constant(&self, var: Var) -> Option<i64> {
        self.constants.get(var.index()).copied().flatten()
    }

    pub(super) fn shape(&self, var: Var) -> Option<&Shape> {
        self.kernel.shape(var)
    }

    // Instructions.

    fn push(&mut self, instr: Instr) {
        let block = self.here();
        self.kernel.blocks[block.index()].instrs.push(instr);
    }

    /// Computes a scalar; an operation on constants becomes one.
    pub(super) fn compute(&mut self, pure: Pure<Var>, name: &str) -> Var {
        let known = pure.operands().iter().all(|var| self.constant(*var).is_some());
        let value = match pure {
            Pure::Input(_) | Pure::Load(..) => None,
            _ if known => pure.eval(|var| self.constant(var).unwrap_or(0), |_| 0, |_, _| 0),
            _ => None,
        };
        let pure = value.map_or(pure, Pure::Const);
        let var = self.var(VarKind::Scalar, ViewFacts::default(), name);
        self.constants[var.index()] = value;
        self.push(Instr::Let(var, pure));
        var
    }

    pub(super) fn number(&mut self, value: i64) -> Var {
        self.compute(Pure::Const(value), "")
    }

    /// A memdesc chosen by a condition; both have the same kind.
    pub(super) fn select_view(&mut self, condition: Var, yes: Var, no: Var, name: &str) -> Var {
        let (a, b) = (self.facts(yes), self.facts(no));
        let facts = ViewFacts {
            origin: a.origin.filter(|_| a.origin == b.origin),
            punned: a.punned || b.punned,
            retyped: a.retyped || b.retyped,
            start: a.start.filter(|_| a.start == b.start),
        };
        let var = self.var(self.kind(yes), facts, name);
        self.push(Instr::Let(var, Pure::Select(condition, yes, no)));
        var
    }

    pub(super) fn base(&mut self, buffer: BufferId, shape: Shape, name: &str) -> Var {
        let shape = self.intern(shape);
        let facts = ViewFacts { origin: Some(buffer), start: Some(0), ..ViewFacts::default() };
        let var = self.var(VarKind::View(shape), facts, name);
        self.push(Instr::Base(var, buffer));
        var
    }

    pub(super) fn view(&mut self, src: Var, op: ViewOp<Var>, shape: Shape, punned: bool, name: &str) -> Var {
        let shape = self.intern(shape);
        let from = self.facts(src);
        let by = match op {
            ViewOp::Shift(by) => Some(by),
            ViewOp::Index { index, stride, .. } => {
                self.constant(index).and_then(|at| u64::try_from(at).ok()?.checked_mul(stride))
            }
            ViewOp::Remote(_) => Some(0),
        };
        let start = from.start.zip(by).and_then(|(start, by)| start.checked_add(by));
        let facts = ViewFacts { punned, start, ..from };
        let dst = self.var(VarKind::View(shape), facts, name);
        self.push(Instr::View { dst, src, op });
        dst
    }

    /// A memdesc is a reinterpretation.
    pub(super) fn retype(&mut self, var: Var) {
        if let Some(facts) = self.views.get_mut(var.index()) {
            facts.retyped = true;
        }
    }

    /// A view with these facts counts slots of an allocation: they name its places, and those of a reinterpretation only
    /// where nothing else counts any.
    pub(super) fn counts_slots(&mut self, of: ViewFacts, stride: u64) {
        let Some(id) = of.origin else { return };
        let Some(buffer) = self.kernel.buffers.get_mut(id.0 as usize) else { return };
        match (of.retyped, self.counted.contains(&id)) {
            (true, true) => {}
            (false, false) => {
                buffer.slot_bits = stride.min(buffer.bits);
                self.counted.push(id);
            }
            _ => buffer.slot_bits = buffer.slot_bits.min(stride),
        }
    }

    /// The allocation of a memdesc lasts until here.
    pub(super) fn keep(&mut self, var: Var) {
        let block = self.here();
        let at = self.kernel.blocks[block.index()].instrs.len();
        self.kept.push(Kept { block, at, var });
    }

    fn intern(&mut self, shape: Shape) -> ShapeId {
        let shapes = &mut self.kernel.shapes;
        *self.shapes.entry(shape).or_insert_with_key(|shape| {
            shapes.push(shape.clone());
            ShapeId(shapes.len() as u32 - 1)
        })
    }

    // Tables.

    /// An input; all but free ones exist once.
    pub(super) fn input(&mut self, input: Input, name: &str) -> InputId {
        let key = (input.kind, input.width);
        if let Some(&id) = self.inputs.get(&key) {
            return id;
        }
        self.kernel.inputs.push(input);
        self.map.inputs.push(name.to_owned());
        let id = InputId(self.kernel.inputs.len() as u32 - 1);
        if key.0 != InputKind::Free {
            self.inputs.insert(key, id);
        }
        id
    }

    pub(super) fn buffer(&mut self, buffer: Buffer, name: &str, range: TextRange) -> BufferId {
        self.kernel.buffers.push(buffer);
        self.map.buffers.push((name.to_owned(), range));
        BufferId(self.kernel.buffers.len() as u32 - 1)
    }

    pub(super) fn site(&mut self, site: Site) -> SiteId {
        self.map.sites.push(site);
        SiteId(self.map.sites.len() as u32 - 1)
    }

    pub(super) fn effect(&mut self, site: SiteId, predicate: Option<Var>, kind: EffectKind) {
        self.effect_of(site, predicate, 0, kind);
    }

    /// An instruction that defines nothing the kernel knows.
    pub(super) fn instr(&mut self, instr: Instr) {
        self.push(instr);
    }

    /// An effect that only CTAs execute whose number has no bit of `leaders`.
    pub(super) fn effect_of(&mut self, site: SiteId, predicate: Option<Var>, leaders: u16, kind: EffectKind) {
        self.kernel.effects.push(Effect { site, predicate, leaders, kind });
        let id = EffectId(self.kernel.effects.len() as u32 - 1);
        self.push(Instr::Effect(id));
    }

    // Blocks.

    /// A new block; [`enter`](Self::enter) makes it the current one.
    pub(super) fn block(&mut self, params: Vec<Var>) -> BlockId {
        self.kernel.blocks.push(Block { params, instrs: Vec::new(), terminator: Terminator::Return(SiteId(0)) });
        BlockId(self.kernel.blocks.len() as u32 - 1)
    }

    pub(super) fn enter(&mut self, block: BlockId) {
        self.current = Some(block);
    }

    /// The current block; code after a terminator goes to one that nothing reaches.
    pub(super) fn here(&mut self) -> BlockId {
        match self.current {
            Some(block) => block,
            None => {
                let block = self.block(Vec::new());
                self.current = Some(block);
                block
            }
        }
    }

    pub(super) fn end(&mut self, terminator: Terminator) {
        let block = self.here();
        self.kernel.blocks[block.index()].terminator = terminator;
        self.current = None;
    }

    pub(super) fn jump(&mut self, block: BlockId, args: Vec<Var>) {
        self.end(Terminator::Jump(JumpTarget { block, args }));
    }

    /// A branch to blocks without parameters; on a constant, a jump.
    pub(super) fn branch(&mut self, condition: Var, yes: BlockId, no: BlockId) {
        let target = |block| JumpTarget { block, args: Vec::new() };
        match self.constant(condition) {
            Some(value) => self.end(Terminator::Jump(target(if value & 1 == 1 { yes } else { no }))),
            None => self.end(Terminator::Branch(condition, target(yes), target(no))),
        }
    }

    pub(super) fn loop_head(&mut self, site: SiteId, head: BlockId, counted: Option<(Var, Var, Var, Var)>) {
        self.kernel.loops.push(LoopInfo { site, head, counted, parent: None });
    }
}
