//! Where in the program a step is: iterations of loops, and what keeps an op from being reached.

use super::words::Words;
use crate::limits::words::BLOCKS;
use base::{Message, message};
use kernel::{BlockId, EffectId, Instr, Kernel, Terminator, Var};
use verify::Slices;

/// The counted loops of a kernel and their blocks.
#[derive(Debug)]
pub struct Loops<'k> {
    kernel: &'k Kernel,
    /// By block: the loops around it, the outermost first.
    around: Vec<Vec<usize>>,
    /// By effect: its block.
    blocks: Vec<Option<BlockId>>,
}

impl<'k> Loops<'k> {
    /// Finds the blocks of all counted loops.
    pub fn new(kernel: &'k Kernel) -> Loops<'k> {
        let slices = Slices::new(kernel);
        let before = slices.predecessors();
        let mut bodies: Vec<(usize, Vec<usize>)> =
            kernel.loops.iter().map(|info| slices.body(info, &before)).enumerate().collect();
        bodies.sort_by_key(|(_, body)| std::cmp::Reverse(body.len()));
        let mut around = vec![Vec::new(); kernel.blocks.len()];
        for (number, body) in bodies {
            body.into_iter().for_each(|block| around[block].push(number));
        }
        let mut blocks = vec![None; kernel.effects.len()];
        for (at, block) in kernel.blocks.iter().enumerate().rev() {
            for instr in &block.instrs {
                if let Instr::Effect(id) = instr
                    && let Some(place) = blocks.get_mut(id.index())
                {
                    *place = Some(BlockId(at as u32));
                }
            }
        }
        Loops { kernel, around, blocks }
    }

    /// The loops around a block by number, the outermost first.
    pub fn around(&self, block: BlockId) -> &[usize] {
        self.around.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// The loops around an effect by number, the outermost first.
    pub(crate) fn around_effect(&self, effect: EffectId) -> &[usize] {
        self.blocks.get(effect.index()).copied().flatten().map_or(&[], |block| self.around(block))
    }

    /// The iteration, from 0, that a loop is in.
    pub fn iteration(&self, number: usize, vars: &[i64]) -> Option<i64> {
        let (counter, lower, _, step) = self.kernel.loops.get(number)?.counted?;
        let value = |var: Var| vars.get(var.index()).copied();
        value(counter)?.checked_sub(value(lower)?)?.checked_div(value(step)?)
    }

    /// The number of iterations that a loop makes.
    pub fn trips(&self, number: usize, vars: &[i64]) -> Option<i64> {
        let (_, lower, upper, step) = self.kernel.loops.get(number)?.counted?;
        let value = |var: Var| vars.get(var.index()).copied();
        let (span, step) = (value(upper)?.checked_sub(value(lower)?)?, value(step)?);
        (step > 0).then(|| (span.max(0) as u64).div_ceil(step as u64) as i64)
    }

    /// The counter of a loop, as the text names it.
    pub fn counter(&self, words: &Words<'_>, number: usize) -> Option<Message> {
        let (counter, ..) = self.kernel.loops.get(number)?.counted?;
        words.map.var(counter).map(|name| message!("`{name}`", Message::value(name)))
    }

    /// ` in iteration 2`, with the outer loop's where there is one; empty outside of loops.
    pub fn place(&self, block: BlockId, vars: &[i64]) -> Message {
        let around = self.around(block);
        let iterations: Vec<String> =
            around.iter().filter_map(|number| self.iteration(*number, vars)).map(|at| at.to_string()).collect();
        match iterations.as_slice() {
            [] => Message::default(),
            [only] => message!(" in iteration {only}", only),
            [outer @ .., last] => message!(" in iteration {last} of outer iteration {}", last, outer.join(".")),
        }
    }
}

/// The block that an effect stands in.
pub(crate) fn block_of(kernel: &Kernel, effect: EffectId) -> Option<BlockId> {
    let holds = |instrs: &[Instr]| instrs.iter().any(|instr| matches!(instr, Instr::Effect(id) if *id == effect));
    kernel.blocks.iter().position(|block| holds(&block.instrs)).map(|at| BlockId(at as u32))
}

/// Why a write was not executed in a run that left `vars`, as far as that can be told.
pub(crate) fn skipped(words: &Words<'_>, effect: EffectId, vars: &[i64]) -> Option<Message> {
    let kernel = words.kernel;
    let value = |var: Var| vars.get(var.index()).copied().unwrap_or(0);
    let named = |var: Var| {
        let root = Slices::new(kernel).root(var);
        words.map.var(var).or_else(|| words.map.var(root)).map(|name| message!("`{name}`", Message::value(name)))
    };
    let block = block_of(kernel, effect)?;
    for (branch, needs) in guards(kernel, block).into_iter().rev() {
        let Terminator::Branch(condition, ..) = kernel.block(branch).terminator else { continue };
        let counted = kernel.loops.iter().find(|info| info.head == branch).map(|info| info.counted);
        match counted {
            Some(Some((_, lower, upper, _))) if value(upper) <= value(lower) => {
                return Some("the loop around its write does not run".into());
            }
            Some(_) => {}
            None if (value(condition) & 1 == 1) != needs => {
                let sense = if needs { "false" } else { "true" };
                return Some(match named(condition) {
                    Some(name) => message!("{name} is {sense}", name, sense),
                    None => message!("the condition around its write is {sense}", sense),
                });
            }
            None => {}
        }
    }
    let predicate = kernel.effects.get(effect.index())?.predicate?;
    (value(predicate) & 1 == 0).then(|| match named(predicate) {
        Some(name) => message!("the predicate of its write, {name}, is false", name),
        None => "the predicate of its write is false".into(),
    })
}

/// The branches that decide whether a block is reached, the nearest first, with the side it needs.
fn guards(kernel: &Kernel, block: BlockId) -> Vec<(BlockId, bool)> {
    if kernel.blocks.len() > BLOCKS {
        return Vec::new();
    }
    let ids = || (0..kernel.blocks.len()).map(|at| BlockId(at as u32));
    let without: Vec<Vec<bool>> = ids().map(|block| reaches(kernel, kernel.entry, block)).collect();
    let over = |block: BlockId| {
        ids().filter(|other| *other != block && !without[other.index()][block.index()]).collect::<Vec<_>>()
    };
    let mut above = over(block);
    above.sort_by_key(|block| std::cmp::Reverse(over(*block).len()));
    let mut out = Vec::new();
    for at in above {
        if let Terminator::Branch(_, yes, no) = &kernel.block(at).terminator {
            let sides = [yes, no].map(|side| reaches(kernel, side.block, at)[block.index()]);
            if sides[0] != sides[1] {
                out.push((at, sides[0]));
            }
        }
    }
    out
}

/// Blocks that can be reached from one without passing another.
fn reaches(kernel: &Kernel, from: BlockId, avoid: BlockId) -> Vec<bool> {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == avoid || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        open.extend(kernel.blocks[block.index()].terminator.targets().iter().map(|target| target.block));
    }
    seen
}
