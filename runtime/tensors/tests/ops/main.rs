//! Operations from their text, against references that are written another way.

use std::collections::HashMap;

use base::rng::SplitMix64;
use ttgir::{Tree, ValueId};

use tensors::array::ElemType;
use tensors::float_format::{self, Rounding};
use tensors::tensor::Sizes;
use tensors::{Environment, OpSite, RuntimeValue, TensorValue, Trap, evaluate, evaluate_cluster};

mod arith;
mod cluster;
mod corpus;
mod floats;
mod matrices;
mod memory;
mod reductions;
mod shapes;

/// A number from -1 to 1.
pub(crate) fn unit(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A function of these parameters (`%a: i32, %b: tensor<4xf32>`) whose body is to be executed.
pub(crate) struct Kernel {
    tree: Tree,
    parameters: usize,
    ctas: u16,
}

impl Kernel {
    /// Reads it, for a cluster of so many CTAs.
    pub(crate) fn new(ctas: u16, parameters: &str, body: &str) -> Kernel {
        let text = format!(
            "module attributes {{\"ttg.num-ctas\" = {ctas} : i32}} {{\n  tt.func @f({parameters}) {{\n{body}\n    tt.return\n  }}\n}}\n"
        );
        let tree = Tree::parse(&text);
        assert_eq!(tree.errors(), &[], "{text}");
        let parameters = if parameters.is_empty() { 0 } else { tree_arguments(&tree) };
        Kernel { tree, parameters, ctas }
    }

    /// Executes it in one CTA; the results of the last op.
    pub(crate) fn run_in(
        &self,
        cta: u16,
        arguments: &[RuntimeValue],
        world: &mut Environment,
    ) -> Result<Vec<RuntimeValue>, Trap> {
        assert_eq!(arguments.len(), self.parameters);
        // A world belongs to one tree; here several kernels go over one memory.
        world.next_tree();
        let mut of_all = vec![HashMap::new(); usize::from(self.ctas)];
        for values in &mut of_all {
            bind(&self.tree, arguments, values);
        }
        let mut last = Vec::new();
        for &op in body(&self.tree) {
            if self.tree.is_terminator(op) {
                break;
            }
            let operands: Vec<Vec<RuntimeValue>> = of_all
                .iter()
                .map(|values| self.tree.operands(op).iter().map(|operand| values[operand].clone()).collect())
                .collect();
            let mut results = Vec::new();
            for number in 0..self.ctas {
                let call = OpSite { tree: &self.tree, op, cta: number };
                results.push(evaluate(&call, &operands[usize::from(number)], world));
            }
            let results = if results.contains(&Err(Trap::Exchange)) {
                evaluate_cluster(&self.tree, op, &operands, world)?
            } else {
                results.into_iter().collect::<Result<Vec<_>, Trap>>()?
            };
            for (values, results) in of_all.iter_mut().zip(&results) {
                values.extend(self.tree.results(op).iter().copied().zip(results.iter().cloned()));
            }
            last = results[usize::from(cta)].clone();
        }
        Ok(last)
    }

    /// Executes it in the first CTA.
    pub(crate) fn run(&self, arguments: &[RuntimeValue]) -> Result<Vec<RuntimeValue>, Trap> {
        self.run_in(0, arguments, &mut Environment::default())
    }
}

fn body(tree: &Tree) -> &[ttgir::OpId] {
    let module = tree.top()[0];
    let func = tree.block_ops(tree.blocks(tree.regions(module)[0])[0])[0];
    tree.block_ops(tree.blocks(tree.regions(func)[0])[0])
}

fn entry(tree: &Tree) -> &[ValueId] {
    let module = tree.top()[0];
    let func = tree.block_ops(tree.blocks(tree.regions(module)[0])[0])[0];
    tree.block_args(tree.blocks(tree.regions(func)[0])[0])
}

fn tree_arguments(tree: &Tree) -> usize {
    entry(tree).len()
}

fn bind(tree: &Tree, arguments: &[RuntimeValue], values: &mut HashMap<ValueId, RuntimeValue>) {
    values.extend(entry(tree).iter().copied().zip(arguments.iter().cloned()));
}

/// The first result of a body.
pub(crate) fn eval(parameters: &str, body: &str, arguments: &[RuntimeValue]) -> TensorValue {
    let results = Kernel::new(1, parameters, body).run(arguments).expect("it is followed");
    results[0].as_tensor().expect("a tensor").clone()
}

/// A tensor of integers.
pub(crate) fn ints(dtype: ElemType, shape: &[u64], values: impl IntoIterator<Item = i64>) -> RuntimeValue {
    let mask = if dtype == ElemType::I1 { 1 } else { -1 };
    RuntimeValue::Tensor(TensorValue::from_bits(
        dtype,
        Sizes::from(shape),
        values.into_iter().map(|value| (value & mask) as u64),
    ))
}

/// A tensor of floats.
pub(crate) fn floats(dtype: ElemType, shape: &[u64], values: impl IntoIterator<Item = f64>) -> RuntimeValue {
    let bits = values.into_iter().map(|value| float_format::encode(dtype, value, Rounding::Nearest));
    RuntimeValue::Tensor(TensorValue::from_bits(dtype, Sizes::from(shape), bits))
}

/// The elements of a tensor of floats.
pub(crate) fn numbers(tensor: &TensorValue) -> Vec<f64> {
    (0..tensor.len()).map(|at| float_format::decode(tensor.dtype(), tensor.bits(at))).collect()
}
