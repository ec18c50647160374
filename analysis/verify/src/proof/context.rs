//! What can be said of a kernel before any run: its loops, what drives them, and how much of each
//! variable the states of a proof have to keep.

use super::super::demand::{Demand, Liveness, demands};
use super::super::slice::Slices;
use super::nesting::{ahead, behind, loop_nesting, places};
use super::sums::Sums;
use super::value::{Counted, Driver, Sum, Symbol, SymbolOrigin, Symbols};
use kernel::{BlockId, CmpOp, InputId, InputKind, Instr, Kernel, Pure, Terminator, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a proof needs to know of a loop.
#[derive(Debug)]
pub(super) struct LoopSummary {
    /// The block that each iteration starts at.
    pub head: BlockId,
    /// Its counter and bounds, where these are functions of inputs and of counters around it.
    pub counted: Option<Counted>,
    /// The condition of its head, where the head is a test.
    pub test: Option<Var>,
    /// What drives it.
    pub driver: Driver,
    /// Iterations that are taken for granted.
    pub floor: i64,
    /// How many loops with this driver stand before it in the same loop.
    pub turn: i64,
}

/// What of a symbol states have to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolUse {
    /// As of a variable.
    pub demand: Demand,
    /// Values up to here are told apart by comparisons with constants.
    pub horizon: i64,
}

/// The kernel, looked at once.
#[derive(Debug)]
pub(super) struct ProofContext<'k> {
    /// The kernel that is proved.
    pub kernel: &'k Kernel,
    /// By loop number.
    pub loops: Vec<LoopSummary>,
    /// Loops around each block, outermost first.
    pub around: Vec<SmallVec<[usize; 4]>>,
    /// Which loop each block is the head of.
    pub head_of: Vec<Option<usize>>,
    /// Which loops can be reached from each block.
    pub ahead: Vec<Vec<bool>>,
    /// Which variables matter at all.
    pub wanted: Vec<Demand>,
    /// How much of each variable states keep.
    pub kept: Vec<Demand>,
    /// Which variables may still be read.
    pub liveness: Liveness<'k>,
    /// How states keep each symbol.
    pub needs: FxHashMap<Symbol, SymbolUse>,
    /// Symbols that drive a loop inside another one.
    pub nested: Vec<Symbol>,
    /// Symbols that drive several loops, one after the other.
    pub turned: Vec<Symbol>,
    /// The tiles that cluster launch control still has.
    pub tiles: Option<Symbol>,
    /// Variables that are the same sum of inputs, and of counters around them, in every run.
    pub fixed: Vec<Option<Sum>>,
    /// Whether the rest of an inner trip count is decided before the count itself, so that it is
    /// the same in all outer iterations.
    pub rests_first: bool,
    /// Places of blocks in reverse postorder.
    order: Vec<usize>,
    /// By head of a loop: which blocks can be reached from it.
    behind: Vec<Vec<bool>>,
}

impl<'k> ProofContext<'k> {
    /// Looks at a kernel; `floors` are how many iterations of each loop are taken for granted.
    pub(super) fn new(kernel: &'k Kernel, floors: &[i64], symbols: &mut Symbols) -> ProofContext<'k> {
        let slices = Slices::new(kernel);
        let mut sums = Sums::new(kernel, &slices, loop_nesting(kernel));
        let loops = loops(kernel, floors, &mut sums, symbols);
        let mut head_of = vec![None; kernel.blocks.len()];
        for (number, info) in kernel.loops.iter().enumerate() {
            if let Some(slot) = head_of.get_mut(info.head.index()) {
                *slot = Some(number);
            }
        }
        let inner = |summary: &&LoopSummary| sums.around.get(summary.head.index()).is_some_and(|loops| loops.len() > 1);
        let symbol = |summary: &LoopSummary| summary.driver.symbol();
        let tiles = kernel.inputs.iter().position(|input| input.kind == InputKind::Tiles);
        let mut context = ProofContext {
            kernel,
            head_of,
            ahead: ahead(kernel),
            wanted: Vec::new(),
            kept: Vec::new(),
            liveness: Liveness::new(kernel),
            needs: FxHashMap::default(),
            turned: loops.iter().filter(|summary| summary.turn > 0).map(symbol).collect(),
            nested: loops.iter().filter(inner).map(symbol).collect(),
            around: sums.around.clone(),
            loops,
            fixed: Vec::new(),
            tiles: tiles.map(|at| symbols.of(SymbolOrigin::Input(InputId(at as u32)))),
            rests_first: false,
            order: places(kernel),
            behind: behind(kernel),
        };
        // What a trip count is made of stays as it is too, say the smaller of two numbers: were it one of them on
        // each path, its comparisons with the counter would no longer be about the trip count.
        let made_of = |summary: &LoopSummary| match (&summary.driver, &summary.counted) {
            (Driver::Trips(_), Some(counted)) => {
                let sums = [&counted.lower, &counted.upper, &counted.step];
                sums.into_iter().flat_map(|sum| &sum.terms).map(|&(symbol, _)| symbol).collect()
            }
            _ => Vec::new(),
        };
        let drivers = context.loops.iter().map(symbol);
        sums.opaque = Some(drivers.chain(context.loops.iter().flat_map(made_of)).collect());
        context.runs_at_all();
        context.keep(&mut sums, symbols);
        context
    }

    /// Whether a loop runs at all is one answer for all its instances.
    fn runs_at_all(&mut self) {
        for number in 0..self.loops.len() {
            let summary = &self.loops[number];
            let Some(counted) = &summary.counted else { continue };
            let least = match summary.driver {
                Driver::Bound { factor, add, .. } => {
                    (counted.lower.add - add).saturating_add(summary.floor * counted.step.add) / factor
                }
                _ => summary.floor,
            };
            let symbol = summary.driver.symbol();
            let need = self.need(symbol);
            need.horizon = need.horizon.max(least.saturating_add(1));
        }
    }

    /// Finds what states keep of each variable. A comparison of outer counters for which they
    /// would have to keep these whole is made a question of its own in each iteration.
    fn keep(&mut self, sums: &mut Sums<'_, 'k>, symbols: &mut Symbols) {
        let driven = |number: &usize| self.loops[*number].driver.decides();
        let tested: Vec<BlockId> =
            (0..self.kernel.loops.len()).filter(driven).map(|number| self.kernel.loops[number].head).collect();
        loop {
            self.fixed = (0..self.kernel.vars.len()).map(|at| sums.of(Var(at as u32), symbols)).collect();
            let leaves: Vec<bool> = self.fixed.iter().map(Option::is_some).collect();
            let apart = self.apart(sums, symbols);
            self.wanted = demands(self.kernel, &[], &[], &leaves);
            self.kept = demands(self.kernel, &tested, &apart, &leaves);
            if !self.ask(sums, &apart, symbols) {
                break;
            }
        }
        for at in 0..self.kernel.vars.len() {
            let demand = self.kept.get(at).copied().unwrap_or(Demand::Whole);
            let Some(sum) = self.fixed[at].clone() else { continue };
            if demand == Demand::Nothing {
                continue;
            }
            for &(symbol, factor) in &sum.terms {
                let need = self.need(symbol);
                need.demand = match demand {
                    Demand::Near { modulus, horizon } if factor == 1 => {
                        let far = horizon.saturating_add(sum.add.saturating_abs()).saturating_add(1);
                        need.horizon = need.horizon.max(far);
                        need.demand.join(if modulus > 1 { Demand::Modulo(modulus) } else { Demand::Nothing })
                    }
                    Demand::Near { .. } => Demand::Whole,
                    demand => need.demand.join(demand),
                };
            }
        }
    }

    /// Makes comparisons questions of their own; whether there were any.
    fn ask(&self, sums: &mut Sums<'_, 'k>, apart: &[Var], symbols: &mut Symbols) -> bool {
        let whole = |var: &Var| self.kept.get(var.index()) == Some(&Demand::Whole);
        let open = |summary: &&LoopSummary| summary.driver.decides() || summary.counted.is_none();
        let counters: Vec<Var> = self
            .loops
            .iter()
            .filter(open)
            .flat_map(|summary| summary.counted.as_ref().map(|counted| counted.counter))
            .collect();
        if !counters.iter().any(whole) {
            return false;
        }
        let mut found = false;
        for instr in self.kernel.blocks.iter().flat_map(|block| &block.instrs) {
            let Instr::Let(dst, Pure::Cmp(_, _, a, b)) = instr else { continue };
            let known = apart.contains(dst) || self.fixed.get(dst.index()).is_none_or(Option::is_some);
            if known || self.kept.get(dst.index()) == Some(&Demand::Nothing) {
                continue;
            }
            if [*a, *b].iter().any(|side| sums.asks_for(*side, &counters)) && sums.question(*dst, symbols) {
                found = true;
            }
        }
        found
    }

    /// The comparisons that states need not keep the operands of, because positions relative to
    /// the symbols say how they end: of a counter with its own bound, of symbols with each other.
    fn apart(&mut self, sums: &mut Sums<'_, 'k>, symbols: &mut Symbols) -> Vec<Var> {
        let mut apart = Vec::new();
        for (at, block) in self.kernel.blocks.iter().enumerate() {
            for instr in &block.instrs {
                let Instr::Let(dst, pure) = instr else { continue };
                let (Pure::Cmp(_, _, a, b) | Pure::MaxS(_, a, b) | Pure::MinS(_, a, b)) = *pure else {
                    continue;
                };
                let unsigned = matches!(pure, Pure::Cmp(CmpOp::Ult | CmpOp::Ule | CmpOp::Ugt | CmpOp::Uge, ..));
                if unsigned && !self.loops.iter().any(|summary| summary.test == Some(*dst)) {
                    continue;
                }
                let (Some(a), Some(b)) = (self.side(a, sums, symbols), self.side(b, sums, symbols)) else { continue };
                let Some(rest) = a.sum.plus(&b.sum, -1) else { continue };
                match (a.summary, b.summary) {
                    (None, None) => {
                        if let [(symbol, 1 | -1)] = *rest.terms.as_slice() {
                            let need = self.need(symbol);
                            need.horizon = need.horizon.max(rest.add.saturating_abs().saturating_add(2));
                            apart.push(*dst);
                        }
                    }
                    (Some(number), None) | (None, Some(number)) if sums.inside(number, at) => {
                        let rest = if a.summary.is_some() { Some(rest) } else { Sum::default().plus(&rest, -1) };
                        let summary = &self.loops[number];
                        let Some(counted) = &summary.counted else { continue };
                        let to_end = rest.and_then(|rest| rest.plus(&counted.upper, 1));
                        let own = match summary.driver {
                            Driver::Bound { .. } => to_end.is_some_and(|to_end| to_end.terms.is_empty()),
                            Driver::Trips(_) => to_end.is_some_and(|to_end| to_end.times(&counted.step).is_some()),
                            Driver::Free(_) => false,
                        };
                        if own {
                            apart.push(*dst);
                        }
                    }
                    _ => {}
                }
            }
        }
        apart
    }

    fn need(&mut self, symbol: Symbol) -> &mut SymbolUse {
        self.needs.entry(symbol).or_insert(SymbolUse { demand: Demand::Nothing, horizon: 1 })
    }

    /// Which of the loops with this driver, one after the other, a block is in or behind.
    pub(super) fn turn(&self, block: BlockId, symbol: Symbol) -> i64 {
        let (Some(around), Some(&place)) = (self.around.get(block.index()), self.order.get(block.index())) else {
            return 0;
        };
        let before = self.loops.iter().filter(|summary| {
            let head = summary.head.index();
            let outer = self.around.get(head).and_then(|loops| loops.split_last());
            summary.driver.symbol() == symbol
                && self.order.get(head).is_some_and(|&at| at <= place)
                && self.behind.get(head).and_then(|behind| behind.get(block.index())) == Some(&true)
                && outer.is_some_and(|(_, outer)| around.starts_with(outer))
        });
        before.map(|summary| summary.turn).max().unwrap_or(0)
    }

    /// Whether rests of inner trip counts are noticed.
    pub(super) fn has_rests(&self) -> bool {
        self.nested.iter().any(|symbol| matches!(self.need_of(*symbol).demand, Demand::Modulo(_)))
    }

    /// What states keep of a symbol.
    pub(super) fn need_of(&self, symbol: Symbol) -> SymbolUse {
        self.needs.get(&symbol).copied().unwrap_or(SymbolUse { demand: Demand::Nothing, horizon: 1 })
    }

    /// A variable as a counter, or none, and a sum of inputs.
    fn side(&self, var: Var, sums: &mut Sums<'_, 'k>, symbols: &mut Symbols) -> Option<Side> {
        let mut side = Side { summary: None, sum: Sum::default() };
        let mut var = var;
        for _ in 0..32 {
            var = sums.slices.root(var);
            if let Some((number, ahead)) = self.counts(var, sums, symbols) {
                side.summary = Some(number);
                side.sum = side.sum.plus(&ahead, 1)?;
                return Some(side);
            }
            if let Some(sum) = sums.of(var, symbols) {
                side.sum = side.sum.plus(&sum, 1)?;
                return Some(side);
            }
            let (rest, other, factor) = match sums.slices.pure(var)? {
                Pure::Add(_, a, b) => match sums.of(b, symbols) {
                    Some(sum) => (a, sum, 1),
                    None => (b, sums.of(a, symbols)?, 1),
                },
                Pure::Sub(_, a, b) => (a, sums.of(b, symbols)?, -1),
                _ => return None,
            };
            side.sum = side.sum.plus(&other, factor)?;
            var = rest;
        }
        None
    }

    /// The loop whose counter a variable is, or is always ahead of by the same sum.
    fn counts(&self, var: Var, sums: &mut Sums<'_, 'k>, symbols: &mut Symbols) -> Option<(usize, Sum)> {
        for (number, summary) in self.loops.iter().enumerate() {
            let Some(counted) = &summary.counted else { continue };
            if counted.counter == var {
                return Some((number, Sum::default()));
            }
            let Some(at) = self.kernel.block(summary.head).params.iter().position(|param| *param == var) else {
                continue;
            };
            let mut first = None;
            for (from, block) in self.kernel.blocks.iter().enumerate() {
                for target in block.terminator.targets().into_iter().filter(|target| target.block == summary.head) {
                    let arg = *target.args.get(at)?;
                    if sums.inside(number, from) {
                        let Pure::Add(_, a, b) = sums.slices.pure(arg)? else { return None };
                        let step = if sums.slices.root(a) == var {
                            b
                        } else if sums.slices.root(b) == var {
                            a
                        } else {
                            return None;
                        };
                        if sums.of(step, symbols)? != counted.step {
                            return None;
                        }
                    } else {
                        let sum = sums.of(arg, symbols)?;
                        if first.replace(sum.clone()).is_some_and(|before| before != sum) {
                            return None;
                        }
                    }
                }
            }
            return Some((number, first?.plus(&counted.lower, -1)?));
        }
        None
    }
}

/// A side of a comparison: a counter, or none, and a sum of inputs.
struct Side {
    summary: Option<usize>,
    sum: Sum,
}

/// The loops, outer ones first found so that inner bounds may depend on their counters.
fn loops<'k>(kernel: &'k Kernel, floors: &[i64], sums: &mut Sums<'_, 'k>, symbols: &mut Symbols) -> Vec<LoopSummary> {
    let depth = |sums: &Sums<'_, 'k>, number: usize| {
        sums.around.get(kernel.loops[number].head.index()).map_or(0, |loops| loops.len())
    };
    let behind = behind(kernel);
    let mut order: Vec<usize> = (0..kernel.loops.len()).collect();
    order.sort_by_key(|&number| depth(sums, number));
    let mut found: Vec<Option<LoopSummary>> = (0..kernel.loops.len()).map(|_| None).collect();
    for number in order {
        let info = &kernel.loops[number];
        let test = match kernel.blocks.get(info.head.index()).map(|block| &block.terminator) {
            Some(Terminator::Branch(condition, ..)) => Some(*condition),
            _ => None,
        };
        let counted = info.counted.and_then(|(counter, lower, upper, step)| {
            let (lower, step) = (sums.of(lower, symbols)?, sums.of(step, symbols)?);
            Some(Counted { counter, lower, upper: sums.bound(upper, symbols)?, step })
        });
        let driver = driver(counted.as_ref(), depth(sums, number) as i64, symbols);
        if let Some(counted) = &counted {
            sums.count(number, counted, &driver, symbols);
        }
        let outer = |at: usize| sums.around.get(kernel.loops[at].head.index()).and_then(|loops| loops.split_last());
        let same = |other: &usize| {
            found[*other].as_ref().is_some_and(|summary| summary.driver.symbol() == driver.symbol())
                && outer(*other).map(|(_, outer)| outer) == outer(number).map(|(_, outer)| outer)
                && behind[kernel.loops[*other].head.index()][info.head.index()]
        };
        let turn = (0..number).filter(same).count() as i64;
        let floor = floors.get(number).copied().unwrap_or(0);
        found[number] = Some(LoopSummary { head: info.head, counted, test, driver, floor, turn });
    }
    found.into_iter().flatten().collect()
}

fn driver(counted: Option<&Counted>, depth: i64, symbols: &mut Symbols) -> Driver {
    let Some(counted) = counted else {
        return Driver::Free(symbols.of(SymbolOrigin::LoopPosition(
            Sum::constant(depth),
            Sum::default(),
            Sum::default(),
        )));
    };
    let (lower, upper, step) = (counted.lower.clone(), counted.upper.clone(), counted.step.clone());
    let plain = lower.terms.is_empty() && step.terms.is_empty() && step.add > 0;
    match *upper.terms.as_slice() {
        [(symbol, factor)]
            if plain && factor > 0 && step.add % factor == 0 && (lower.add - upper.add) % factor == 0 =>
        {
            Driver::Bound { symbol, factor, add: upper.add }
        }
        [] if plain => Driver::Free(symbols.of(SymbolOrigin::LoopPosition(lower, upper, step))),
        // How often it runs is a matter of how far the bounds lie apart.
        _ => {
            let (lower, upper) = match upper.plus(&lower, -1) {
                Some(length) => (Sum::default(), length),
                None => (lower, upper),
            };
            Driver::Trips(symbols.of(SymbolOrigin::Trips(lower, upper, step)))
        }
    }
}
