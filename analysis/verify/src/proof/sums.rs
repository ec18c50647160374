//! Variables that are functions of inputs, and of the counters around them, as sums.

use super::super::slice::Slices;
use super::eval::plain;
use super::value::{Counted, Driver, Sum, Symbol, SymbolOrigin, Symbols, Value};
use kernel::{InputId, InputKind, Instr, Kernel, Pure, Var, VarKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Loops around each block, and the blocks of each loop.
type Nests = (Vec<SmallVec<[usize; 4]>>, Vec<Vec<bool>>);

/// Finds the sums.
pub(super) struct Sums<'a, 'k> {
    kernel: &'k Kernel,
    /// Where variables come from.
    pub slices: &'a Slices<'k>,
    /// Loops around each block, outermost first.
    pub around: Vec<SmallVec<[usize; 4]>>,
    bodies: Vec<Vec<bool>>,
    /// Symbols of operations that may stand in a sum; `None`: all.
    pub opaque: Option<Vec<Symbol>>,
    /// Variables that stand for a symbol of their own.
    given: FxHashMap<Var, Sum>,
    /// Counters as sums, with their loops.
    counters: FxHashMap<Var, (usize, Sum)>,
    /// The block of each operation.
    blocks: Vec<Option<u32>>,
}

impl<'a, 'k> Sums<'a, 'k> {
    /// Of a kernel.
    pub(super) fn new(kernel: &'k Kernel, slices: &'a Slices<'k>, (around, bodies): Nests) -> Sums<'a, 'k> {
        let mut blocks = vec![None; kernel.vars.len()];
        for (number, block) in kernel.blocks.iter().enumerate() {
            for instr in &block.instrs {
                if let Instr::Let(dst, _) = instr
                    && let Some(slot) = blocks.get_mut(dst.index())
                {
                    *slot = Some(number as u32);
                }
            }
        }
        let (given, counters) = Default::default();
        Sums { kernel, slices, around, bodies, opaque: None, given, counters, blocks }
    }

    /// Whether a block is in a loop.
    pub(super) fn inside(&self, number: usize, block: usize) -> bool {
        self.bodies.get(number).and_then(|body| body.get(block)) == Some(&true)
    }

    /// Lets operations depend on a counter. Loops with one trip count and different first values share a driver, so
    /// what they share is how far their counters are from these.
    pub(super) fn count(&mut self, number: usize, counted: &Counted, driver: &Driver, symbols: &mut Symbols) {
        let symbol = Sum::symbol(symbols.of(SymbolOrigin::Counter(driver.symbol())));
        let sum = match driver {
            Driver::Bound { factor, add, .. } => Sum::constant(*add).plus(&symbol, *factor),
            Driver::Trips(_) => counted.lower.plus(&symbol, 1),
            Driver::Free(_) => Some(symbol),
        };
        self.counters.extend(sum.map(|sum| (counted.counter, (number, sum))));
    }

    /// The sum; `None` for what is more than a function of inputs, or differs from one execution
    /// to the next.
    pub(super) fn of(&self, var: Var, symbols: &mut Symbols) -> Option<Sum> {
        let sum = self.at(var, symbols)?;
        // What depends on a counter is told from the counter itself only where a symbol of its own
        // stands for it.
        let allowed = |symbol: Symbol| match (&self.opaque, symbols.origin(symbol)) {
            (_, Some(SymbolOrigin::Function(Pure::Load(..), _))) if symbols.varies(symbol) => {
                self.given.values().any(|sum| *sum == Sum::symbol(symbol))
            }
            (_, Some(SymbolOrigin::Function(Pure::Load(..), _))) => true,
            (Some(opaque), Some(SymbolOrigin::Function(..) | SymbolOrigin::Counter(_))) => {
                opaque.contains(&symbol) || self.given.values().any(|sum| *sum == Sum::symbol(symbol))
            }
            _ => true,
        };
        sum.terms.iter().all(|&(symbol, _)| allowed(symbol)).then_some(sum)
    }

    /// The sum that a variable is, made of counters around the operation that computes it.
    fn at(&self, var: Var, symbols: &mut Symbols) -> Option<Sum> {
        let sum = self.any(var, symbols, 0)?;
        let block = self.blocks.get(self.slices.root(var).index()).copied().flatten()?;
        let around = self.around.get(block as usize)?;
        let mut loops = SmallVec::new();
        self.loops(var, &mut loops, 0);
        loops.iter().all(|number| around.contains(number)).then_some(sum)
    }

    fn any(&self, var: Var, symbols: &mut Symbols, depth: u32) -> Option<Sum> {
        let var = self.slices.root(var);
        if let Some(sum) = self.given.get(&var) {
            return Some(sum.clone());
        }
        if let Some((_, sum)) = self.counters.get(&var) {
            return Some(sum.clone());
        }
        let pure = self.slices.pure(var)?;
        if depth > 64 || !matches!(self.kernel.vars.get(var.index())?.kind, VarKind::Scalar) {
            return None;
        }
        if matches!(pure, Pure::Input(input) if varies(self.kernel, input)) {
            return None;
        }
        let mut values: SmallVec<[Value; 3]> = SmallVec::new();
        for operand in pure.operands() {
            values.push(Value::Sum(self.any(operand, symbols, depth + 1)?));
        }
        match plain(&pure, &values, symbols) {
            Some(Value::Sum(sum)) => Some(sum),
            _ => None,
        }
    }

    /// The loops whose counters a variable depends on.
    fn loops(&self, var: Var, out: &mut SmallVec<[usize; 4]>, depth: u32) {
        let var = self.slices.root(var);
        if let Some((number, _)) = self.counters.get(&var) {
            out.push(*number);
            return;
        }
        if depth < 64
            && let Some(pure) = self.slices.pure(var)
        {
            pure.operands().into_iter().for_each(|operand| self.loops(operand, out, depth + 1));
        }
    }

    /// The upper bound of a loop. One that is an outer counter, or a sum with one in it, stands
    /// for a symbol of its own: the counter itself stays a number. So does one with a word of memory in it that is
    /// another one in each iteration of a loop around: the numbers of rows of one matrix after the other.
    pub(super) fn bound(&mut self, var: Var, symbols: &mut Symbols) -> Option<Sum> {
        let sum = self.at(var, symbols)?;
        let counts = |&(symbol, _): &(Symbol, i64)| match symbols.origin(symbol) {
            Some(SymbolOrigin::Counter(_)) => true,
            Some(SymbolOrigin::Function(Pure::Load(..), _)) => symbols.varies(symbol),
            _ => false,
        };
        if !sum.terms.iter().any(counts) {
            return Some(sum);
        }
        let root = self.slices.root(var);
        self.slices.pure(root)?;
        let symbol = symbols.of(SymbolOrigin::Function(Pure::Copy(()), smallvec::smallvec![sum]));
        self.given.insert(root, Sum::symbol(symbol));
        Some(Sum::symbol(symbol))
    }

    /// Makes a comparison a symbol of its own, where it depends on counters.
    pub(super) fn question(&mut self, dst: Var, symbols: &mut Symbols) -> bool {
        let opaque = self.opaque.take();
        let sum = self.of(dst, symbols);
        self.opaque = opaque;
        match sum {
            Some(sum) if sum.terms.iter().any(|&(symbol, _)| symbols.varies(symbol)) => {
                self.given.insert(self.slices.root(dst), sum);
                true
            }
            _ => false,
        }
    }

    /// Whether to know a variable takes one of these counters as a whole.
    pub(super) fn asks_for(&self, var: Var, counters: &[Var]) -> bool {
        let mut open = vec![var];
        for _ in 0..256 {
            let Some(var) = open.pop().map(|var| self.slices.root(var)) else { return false };
            if counters.contains(&var) {
                return true;
            }
            let Some(pure) = self.slices.pure(var) else { continue };
            match pure {
                // A rest by a constant is kept as a rest.
                Pure::RemS(_, _, by) | Pure::RemU(_, _, by) if self.slices.constant(by).is_some() => {}
                _ => open.extend(pure.operands()),
            }
        }
        false
    }
}

/// Whether an input may differ from one execution of its op to the next, or from CTA to CTA.
pub(super) fn varies(kernel: &Kernel, input: InputId) -> bool {
    kernel.inputs.get(input.index()).is_none_or(|info| {
        matches!(info.kind, InputKind::Free | InputKind::Memory | InputKind::Rewritten | InputKind::CtaRank)
    })
}
