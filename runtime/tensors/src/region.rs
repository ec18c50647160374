//! The region of `tt.reduce`, `tt.scan` and `tt.map_elementwise`, on whole tensors at once.
//!
//! Its block's arguments are scalars in the text; here they are tensors, and each op of the block is done element by
//! element. An `scf.if` is both its branches and a selection, since what is in it has no effects. Missed: loops,
//! calls, jumps, and values from outside of the region that are no constants.

use std::collections::HashMap;

use ttgir::{BlockId, Def, OpId, RegionId, Tree, ValueId};

use super::elementwise::select;
use super::evaluator::{Environment, Evaluator, OpSite, RuntimeValue};
use super::trap::Trap;
use super::{arith, cast, intrinsics, libdevice, math};

/// One op of a region: what it does, to which values; its results follow the values so far.
struct Step {
    evaluator: Evaluator,
    operands: Vec<usize>,
}

/// A region, ready to be executed.
pub(crate) struct RegionProgram {
    steps: Vec<Step>,
    /// Values before the first step: the block's arguments.
    arguments: usize,
    results: Vec<usize>,
}

/// A region that is being read.
struct Reader<'t> {
    tree: &'t Tree,
    cta: u16,
    steps: Vec<Step>,
    slots: HashMap<ValueId, usize>,
    next: usize,
}

impl RegionProgram {
    /// Reads a region of an op.
    pub(crate) fn read(site: &OpSite<'_>, region: RegionId) -> Result<RegionProgram, Trap> {
        let tree = site.tree;
        let &[block] = tree.blocks(region) else { return Err(site.trap("with jumps in its region is not followed")) };
        let mut reader = Reader { tree, cta: site.cta, steps: Vec::new(), slots: HashMap::new(), next: 0 };
        let arguments = tree.block_args(block);
        for &argument in arguments {
            reader.name(argument);
        }
        let results = reader.block(block)?;
        Ok(RegionProgram { steps: reader.steps, arguments: arguments.len(), results })
    }

    /// Executes it on tensors of one shape.
    pub(crate) fn run(
        &self,
        mut values: Vec<RuntimeValue>,
        world: &mut Environment,
    ) -> Result<Vec<RuntimeValue>, Trap> {
        if values.len() != self.arguments {
            return Err(Trap::not_followed("a region has not as many arguments as it is given"));
        }
        let mut operands = Vec::new();
        for step in &self.steps {
            operands.clear();
            operands.extend(step.operands.iter().map(|at| values.get(*at).cloned().unwrap_or(RuntimeValue::Unit)));
            values.extend(step.evaluator.run(&operands, world)?);
        }
        Ok(self.results.iter().map(|at| values.get(*at).cloned().unwrap_or(RuntimeValue::Unit)).collect())
    }
}

/// Whether an op is done element by element, whatever the shape of its operands.
fn elementwise(name: &str) -> bool {
    const TT: [&str; 11] = [
        "tt.bitcast",
        "tt.fp_to_fp",
        "tt.clampf",
        "tt.precise_sqrt",
        "tt.precise_divf",
        "tt.approx_divf",
        "tt.mulhiui",
        "tt.extern_elementwise",
        "tt.elementwise_inline_asm",
        "tt.int_to_ptr",
        "tt.ptr_to_int",
    ];
    name.starts_with("arith.") || name.starts_with("math.") || TT.contains(&name)
}

/// Reads an op of a region, which is one of those that work element by element.
fn elementwise_op(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    for family in [arith::compile, math::compile, libdevice::compile, cast::compile, intrinsics::compile] {
        if let Some(evaluator) = family(site)? {
            return Ok(evaluator);
        }
    }
    Err(site.trap("is not followed"))
}

impl Reader<'_> {
    /// Gives a value the next place.
    fn name(&mut self, value: ValueId) {
        self.slots.insert(value, self.next);
        self.next += 1;
    }

    /// Where a value is; a constant from outside is made here.
    fn slot(&mut self, value: ValueId) -> Result<usize, Trap> {
        if let Some(&slot) = self.slots.get(&value) {
            return Ok(slot);
        }
        if let Def::Result(op, _) = self.tree.value_def(value)
            && self.tree.op_name(op) == "arith.constant"
        {
            self.step(op, Vec::new())?;
            return self.slots.get(&value).copied().ok_or(Trap::Exchange);
        }
        let name = self.tree.value_name(value);
        Err(Trap::not_followed(format!("`{name}`, which a region takes from outside, is not followed")))
    }

    fn step(&mut self, op: OpId, operands: Vec<usize>) -> Result<(), Trap> {
        let evaluator = elementwise_op(&OpSite { tree: self.tree, op, cta: self.cta })?;
        self.steps.push(Step { evaluator, operands });
        for &result in self.tree.results(op) {
            self.name(result);
        }
        Ok(())
    }

    /// Reads the ops of a block; where the operands of its terminator are.
    fn block(&mut self, block: BlockId) -> Result<Vec<usize>, Trap> {
        for &op in self.tree.block_ops(block) {
            let name = self.tree.op_name(op);
            let operands = self.tree.operands(op).to_vec();
            let slots: Vec<usize> =
                operands.into_iter().map(|operand| self.slot(operand)).collect::<Result<_, Trap>>()?;
            if self.tree.is_terminator(op) {
                return Ok(slots);
            }
            match name {
                "scf.if" => self.branch(op, &slots)?,
                name if elementwise(name) => self.step(op, slots)?,
                name => return Err(Trap::not_followed(format!("`{name}` in a region is not followed"))),
            }
        }
        Err(Trap::not_followed("a region without an end is not followed"))
    }

    fn branch(&mut self, op: OpId, slots: &[usize]) -> Result<(), Trap> {
        let mut sides = Vec::new();
        for &region in self.tree.regions(op) {
            let &[block] = self.tree.blocks(region) else {
                return Err(Trap::not_followed("a region with jumps is not followed"));
            };
            sides.push(self.block(block)?);
        }
        let (&[condition], [yes, no]) = (slots, &sides[..]) else {
            return Err(Trap::not_followed("an `scf.if` without both branches in a region is not followed"));
        };
        for ((&result, &yes), &no) in self.tree.results(op).iter().zip(yes).zip(no) {
            self.steps.push(Step { evaluator: Evaluator::three(select), operands: vec![condition, yes, no] });
            self.name(result);
        }
        Ok(())
    }
}
