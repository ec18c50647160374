//! From a function of a module to what its program instances do to global memory.

mod choice;
mod control;
mod descriptor;
mod memory;
mod scalar;
mod shape;
mod types;
mod value;

use dialects::{Amdg, Cf, Llvm, OpCode, Scf, Tt, Ttg, Ttng};
use rustc_hash::FxHashMap;
use ttgir::{OpId, RegionId, Tree, Ty, ValueId};

use crate::limits::extract::{CALLS as DEPTH, TERMS};
use crate::program::{Argument, Base, Program, Source, Step, Unfollowed};
pub(crate) use scalar::axis;
use terms::{Node, Term, Variable};
pub(crate) use value::{Choice, Descriptor, Elements, Pointer, Target, Value};

/// The state of the walk over one function.
pub(crate) struct Extractor<'t> {
    pub(crate) tree: &'t Tree,
    functions: &'t FxHashMap<&'t str, OpId>,
    pub(crate) program: Program,
    values: FxHashMap<ValueId, Value>,
    /// Under what the present op is executed.
    path: Term,
    loops: Vec<u32>,
    /// The steps of the present block.
    steps: Vec<Step>,
    depth: usize,
    /// Where pointers go by conditions.
    choices: Vec<Choice>,
}

/// What the function does.
pub(crate) fn extract<'t>(tree: &'t Tree, functions: &'t FxHashMap<&'t str, OpId>, function: OpId) -> Program {
    let mut program = Program::default();
    let path = program.terms.truth(true);
    let mut extractor = Extractor {
        tree,
        functions,
        program,
        values: FxHashMap::default(),
        path,
        loops: Vec::new(),
        steps: Vec::new(),
        depth: 0,
        choices: Vec::new(),
    };
    if let Some(&region) = tree.regions(function).first() {
        extractor.arguments(function, region);
        extractor.function_body(region);
    }
    let mut program = extractor.program;
    program.steps = extractor.steps;
    // Programs that do not ask which one they are may tell each other apart by atomics.
    if program.axes.is_empty() && program.accesses.iter().any(|access| access.action.ordering().is_some()) {
        program.axes.push(0);
    }
    program
}

impl<'t> Extractor<'t> {
    fn arguments(&mut self, function: OpId, region: RegionId) {
        let tree = self.tree;
        let Some(&entry) = tree.blocks(region).first() else { return };
        for (at, &argument) in tree.block_args(entry).iter().enumerate() {
            let number = at as u32;
            let ty = tree.value_type(argument).map_or(Ty::Other, |ty| tree.ty(ty));
            let divisor = tree.arg_attr(function, at, "tt.divisibility").and_then(|attr| tree.attr_int(attr));
            let bits = match ty {
                Ty::Int(bits) => u8::try_from(bits).ok().filter(|bits| *bits <= 64),
                Ty::Index => Some(64),
                _ => None,
            };
            let value = match &ty {
                Ty::Ptr => {
                    let offset = self.program.terms.int(0, 64);
                    let bytes = self.pointee_bytes(argument);
                    Value::Pointer(Pointer {
                        lanes: [].into(),
                        base: Target::Tensor(Base::Argument(number)),
                        offset,
                        bytes,
                    })
                }
                Ty::TensorDesc { shape, elem } => self.described_argument(number, shape, elem.bits),
                _ => match bits {
                    Some(bits) => {
                        let term = self.program.terms.variable(Variable::Argument(number), bits);
                        Value::Int(Elements { lanes: [].into(), term })
                    }
                    None => self.argument_tensor(argument, number),
                },
            };
            let rank = if let Value::Descriptor(descriptor) = &value { descriptor.sizes.len() } else { 0 };
            self.values.insert(argument, value);
            let name = tree.value_name(argument).to_owned();
            let divisor = divisor.unwrap_or(1).max(1);
            let pointer = matches!(ty, Ty::Ptr);
            self.program.arguments.push(Argument { name, bits, divisor, rank, pointer });
        }
    }

    /// A tensor that is handed to a function: of pointers into a tensor, of integers, or of what no address depends on.
    fn argument_tensor(&mut self, argument: ValueId, number: u32) -> Value {
        let tree = self.tree;
        let lanes = self.lanes(argument);
        let pointers = tree.value_type(argument).is_some_and(|ty| tree.type_canonical(ty).contains("!tt.ptr<"));
        if !pointers || lanes.is_empty() {
            return self.unknown(argument);
        }
        let source = self.source(Source::Op);
        let offset = self.whole(source, lanes.clone(), 64).term;
        let bytes = self.pointee_bytes(argument);
        Value::Pointer(Pointer { lanes, base: Target::Tensor(Base::Argument(number)), offset, bytes })
    }

    /// Says at an op that it is not followed.
    pub(crate) fn gap(&mut self, op: OpId, reason: impl Into<String>) {
        let range = self.tree.op_name_range(op);
        if !self.program.gaps.iter().any(|(at, _)| *at == range) {
            self.program.gaps.push((range, reason.into()));
        }
    }

    pub(crate) fn source(&mut self, source: Source) -> u32 {
        self.program.sources.push(source);
        self.program.sources.len() as u32 - 1
    }

    /// The value of an operand.
    pub(crate) fn value(&mut self, value: ValueId) -> Value {
        match self.values.get(&value) {
            Some(known) => known.clone(),
            None => self.unknown(value),
        }
    }

    pub(crate) fn bind(&mut self, value: ValueId, to: Value) {
        self.values.insert(value, to);
    }

    /// A value of which only the type is known.
    pub(crate) fn unknown(&mut self, value: ValueId) -> Value {
        match self.int_type(value) {
            Some((lanes, bits)) => {
                let source = self.source(Source::Op);
                Value::Int(self.whole(source, lanes, bits))
            }
            None => Value::Opaque,
        }
    }

    /// The tensor that a source gives, lane by lane.
    pub(crate) fn whole(&mut self, source: u32, lanes: Box<[i64]>, bits: u8) -> Elements {
        let at: Box<[Term]> = (0..lanes.len()).map(|dim| self.lane(dim)).collect();
        let term = self.program.terms.read(source, at, bits);
        Elements { lanes, term }
    }

    /// An element's place along a dimension of the tensor at hand.
    pub(crate) fn lane(&mut self, dim: usize) -> Term {
        self.program.terms.variable(Variable::Lane(dim as u8), 64)
    }

    /// Walks over the ops of a region's only block.
    fn block(&mut self, ops: &[OpId]) {
        for &op in ops {
            if self.program.terms.len() > TERMS {
                return self.gap(op, "the kernel's addresses are too many to follow");
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: OpId) {
        let tree = self.tree;
        match tree.code(op) {
            Some(OpCode::Scf(Scf::For)) => self.for_loop(op),
            Some(OpCode::Scf(Scf::While)) => self.while_loop(op),
            Some(OpCode::Scf(Scf::If)) => self.if_op(op),
            Some(OpCode::Scf(Scf::ExecuteRegion)) => {
                if let Some(&region) = tree.regions(op).first() {
                    let made = self.inline(region);
                    self.bind_all(tree.results(op), made);
                }
            }
            Some(OpCode::Scf(Scf::Yield | Scf::Condition) | OpCode::Cf(Cf::Br | Cf::CondBr | Cf::Assert)) => {}
            Some(OpCode::Llvm(Llvm::IntrAssume)) => self.assume(op),
            Some(OpCode::Tt(Tt::Call)) => self.call(op),
            Some(OpCode::Tt(Tt::Return)) => {}
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) => self.warp_specialize(op),
            // One that is `read_only` ends when shared memory was read; what was stored may be seen later still.
            Some(OpCode::Ttng(Ttng::AsyncTmaStoreWait))
                if tree.attr(op, "read_only").is_some_and(|attr| tree.attr_bool(attr)) => {}
            Some(OpCode::Ttng(Ttng::AsyncTmaStoreWait)) => {
                let pending = tree.attr(op, "pendings").and_then(|attr| tree.attr_int(attr)).unwrap_or(0);
                self.steps.push(Step::StoreWait(u32::try_from(pending).unwrap_or(0)));
            }
            // What is open of AMD's data mover are loads and stores.
            Some(OpCode::Amdg(wait @ (Amdg::AsyncTdmWait | Amdg::AsyncTdmIntrinsicWait))) => {
                let name = if wait == Amdg::AsyncTdmWait { "num" } else { "count" };
                let pending = tree.attr(op, name).and_then(|attr| tree.attr_int(attr)).unwrap_or(i64::MAX);
                self.steps.push(Step::StoreWait(u32::try_from(pending).unwrap_or(u32::MAX)));
            }
            Some(OpCode::Ttng(Ttng::AsyncTmaStoreTokenWait)) => self.steps.push(Step::StoreWait(0)),
            _ => {
                if !self.memory_op(op) && !self.shape_op(op) && !self.scalar_op(op) {
                    self.other(op);
                }
            }
        }
    }

    /// What is said of arguments to hold: where it does not, nothing that follows is done.
    fn assume(&mut self, op: OpId) {
        let condition = self.tree.operands(op).first().and_then(|operand| self.values.get(operand));
        let Some(Value::Int(Elements { lanes, term })) = condition else { return };
        let own = |node: &Node| match node {
            Node::Variable(variable, _) => !matches!(variable, Variable::Argument(_)),
            Node::Read(..) => true,
            _ => false,
        };
        if lanes.is_empty() && !self.program.terms.any_leaf(*term, own) {
            self.path = self.program.terms.and(self.path, *term);
        }
    }

    /// Notes an op that is not followed and may wait for other programs.
    pub(crate) fn unfollowed(&mut self, op: OpId) {
        let range = self.tree.op_header_range(op);
        let before = self.program.accesses.len() as u32;
        self.program.unfollowed.push(Unfollowed { range, before, loops: self.loops.clone().into() });
    }

    /// Whether an op stands for anything: no dialect has it, nor is it a value of which nothing is known, or it says of itself
    /// that it does more than to compute.
    fn does_anything(&self, op: OpId) -> bool {
        let tree = self.tree;
        match tree.code(op) {
            None => tree.op_name(op) != "tt.opaque",
            Some(OpCode::Tt(Tt::ElementwiseInlineAsm | Tt::ExternElementwise)) => {
                tree.attr(op, "pure").is_some_and(|attr| !tree.attr_bool(attr))
            }
            Some(_) => false,
        }
    }

    /// An op that is not followed: its integer results are values of their own.
    fn other(&mut self, op: OpId) {
        let tree = self.tree;
        if self.does_anything(op) {
            self.unfollowed(op);
        }
        for &result in tree.results(op) {
            let value = self.unknown(result);
            self.bind(result, value);
        }
        // A region may hold what matters, and an op that is handed a pointer may go through it.
        let touches = tree
            .operands(op)
            .iter()
            .any(|operand| matches!(self.values.get(operand), Some(Value::Pointer(_) | Value::Descriptor(_))));
        let pure = matches!(
            tree.code(op),
            Some(OpCode::Tt(
                Tt::Bitcast | Tt::PtrToInt | Tt::Reduce | Tt::Scan | Tt::Print | Tt::Assert | Tt::MapElementwise
            )) | Some(OpCode::Arith(_))
        );
        if touches && self.only_reads(op) {
            return self.read_somewhere(op);
        }
        if touches && !pure && !self.is_harmless(op) {
            // What stands for a call that is not followed has no name of its own.
            let text = match tree.op_name(op) {
                "tt.opaque" => "what this does to global memory is not followed".to_owned(),
                name => format!("what `{name}` does to global memory is not followed"),
            };
            self.gap(op, text);
        }
    }

    /// Ops that copy out of global memory in ways that are not followed.
    fn only_reads(&self, op: OpId) -> bool {
        let name = self.tree.op_name(op);
        ["global_to_local", "descriptor_load"].iter().any(|part| name.contains(part))
    }

    /// Ops that are handed a pointer and neither read nor write what it points to.
    fn is_harmless(&self, op: OpId) -> bool {
        matches!(
            self.tree.code(op),
            Some(
                OpCode::Ttng(
                    Ttng::AsyncTmaPrefetch | Ttng::TensormapFenceproxyAcquire | Ttng::ReinterpretTensorDescriptor
                ) | OpCode::Amdg(Amdg::TdmPrefetch)
            )
        )
    }

    pub(crate) fn bind_all(&mut self, results: &[ValueId], values: Vec<Value>) {
        for (at, &result) in results.iter().enumerate() {
            let value = match values.get(at) {
                Some(value) => value.clone(),
                None => self.unknown(result),
            };
            self.bind(result, value);
        }
    }
}
