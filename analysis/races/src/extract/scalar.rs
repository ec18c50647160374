//! Arithmetic of integers, of scalars and of tensors element by element.

use dialects::assembly::{self, SpecialRegister};
use dialects::{Arith, OpCode, Tt, Ttng};
use ttgir::{OpId, Tree};

use super::{Descriptor, Elements, Extractor, Pointer, Target, Value};
use crate::program::{Base, Source};
use terms::{BinOp, Term, Variable};

/// The axis of the grid that an attribute of an op names, by letter or number.
pub(crate) fn axis(tree: &Tree, op: OpId, attribute: &str) -> u8 {
    match tree.attr(op, attribute).map_or("x", |attr| tree.attr_text(attr).trim()).split_whitespace().next() {
        Some("y" | "1") => 1,
        Some("z" | "2") => 2,
        _ => 0,
    }
}

/// How many CTAs run one program of the module around an op.
fn ctas(tree: &Tree, op: OpId) -> i64 {
    let around = |op: &OpId| tree.parent_op(tree.parent_region(tree.parent_block(*op)?));
    let mut all = std::iter::successors(Some(op), around);
    let said = all.find_map(|op| tree.attr(op, "ttg.num-ctas"));
    said.and_then(|said| tree.attr_int(said)).unwrap_or(1)
}

fn binary(op: Arith) -> Option<BinOp> {
    Some(match op {
        Arith::Addi => BinOp::Add,
        Arith::Andi => BinOp::And,
        Arith::Ceildivsi => BinOp::CeilDivS,
        Arith::Ceildivui => BinOp::CeilDivU,
        Arith::Divsi => BinOp::DivS,
        Arith::Divui => BinOp::DivU,
        Arith::Floordivsi => BinOp::FloorDivS,
        Arith::Maxsi => BinOp::MaxS,
        Arith::Maxui => BinOp::MaxU,
        Arith::Minsi => BinOp::MinS,
        Arith::Minui => BinOp::MinU,
        Arith::Muli => BinOp::Mul,
        Arith::Ori => BinOp::Or,
        Arith::Remsi => BinOp::RemS,
        Arith::Remui => BinOp::RemU,
        Arith::Shli => BinOp::Shl,
        Arith::Shrsi => BinOp::ShrS,
        Arith::Shrui => BinOp::ShrU,
        Arith::Subi => BinOp::Sub,
        Arith::Xori => BinOp::Xor,
        _ => return None,
    })
}

/// A comparison's operation, and whether its operands change places.
fn comparison(name: &str) -> Option<(BinOp, bool)> {
    Some(match name {
        "eq" | "0" => (BinOp::Eq, false),
        "ne" | "1" => (BinOp::Ne, false),
        "slt" | "2" => (BinOp::Slt, false),
        "sle" | "3" => (BinOp::Sle, false),
        "sgt" | "4" => (BinOp::Slt, true),
        "sge" | "5" => (BinOp::Sle, true),
        "ult" | "6" => (BinOp::Ult, false),
        "ule" | "7" => (BinOp::Ule, false),
        "ugt" | "8" => (BinOp::Ult, true),
        "uge" | "9" => (BinOp::Ule, true),
        _ => return None,
    })
}

impl Extractor<'_> {
    /// Follows `op` where its result is an integer or a pointer that can be computed.
    pub(super) fn scalar_op(&mut self, op: OpId) -> bool {
        let tree = self.tree;
        let &[result] = tree.results(op) else { return false };
        let Some(code) = tree.code(op) else { return false };
        let Some(value) = self.computed(op, code, result) else { return false };
        self.bind(result, value);
        true
    }

    /// A number of the grid.
    fn of_grid(&mut self, variable: Variable) -> Value {
        if let Variable::Program(axis) = variable
            && !self.program.axes.contains(&axis)
        {
            self.program.axes.push(axis);
        }
        Value::Int(Elements { lanes: [].into(), term: self.program.terms.variable(variable, 32) })
    }

    fn computed(&mut self, op: OpId, code: OpCode, result: ttgir::ValueId) -> Option<Value> {
        let tree = self.tree;
        let operands = tree.operands(op);
        match code {
            OpCode::Arith(Arith::Select) => self.select(operands),
            OpCode::Arith(arith) => self.arith(op, arith, result).map(Value::Int),
            OpCode::Tt(Tt::GetProgramId) => Some(self.of_grid(Variable::Program(axis(tree, op, "axis")))),
            OpCode::Tt(Tt::GetNumPrograms) => Some(self.of_grid(Variable::Programs(axis(tree, op, "axis")))),
            OpCode::Tt(Tt::ElementwiseInlineAsm) if operands.is_empty() => {
                let text = tree.attr(op, "asm_string").and_then(|attr| tree.attr_str(attr));
                let alone = ctas(tree, op) == 1;
                match assembly::special_register(text?)? {
                    SpecialRegister::Program(axis) if !alone => Some(self.of_grid(Variable::Program(axis))),
                    SpecialRegister::Programs(axis) if !alone => Some(self.of_grid(Variable::Programs(axis))),
                    SpecialRegister::Cta(axis) if alone => Some(self.of_grid(Variable::Program(axis))),
                    SpecialRegister::Ctas(axis) if alone => Some(self.of_grid(Variable::Programs(axis))),
                    _ => None,
                }
            }
            OpCode::Ttng(Ttng::ClcGetProgramId) => {
                let source = self.source(Source::Granted(axis(tree, op, "dim")));
                Some(Value::Int(self.whole(source, [].into(), 32)))
            }
            OpCode::Tt(Tt::Addptr) => {
                let (Value::Pointer(pointer), Some(by)) =
                    (self.value(*operands.first()?), self.wide(*operands.get(1)?))
                else {
                    return None;
                };
                let size = self.program.terms.int(i64::from(pointer.bytes), 64);
                let by = self.program.terms.binary(BinOp::Mul, by, size);
                let offset = self.program.terms.binary(BinOp::Add, pointer.offset, by);
                Some(Value::Pointer(Pointer { lanes: self.lanes(result), offset, ..pointer }))
            }
            OpCode::Tt(Tt::IntToPtr) => {
                let wide = self.wide(*operands.first()?)?;
                let (lanes, bytes) = (self.lanes(result), self.pointee_bytes(result));
                Some(Value::Pointer(Pointer { lanes, base: Target::Tensor(Base::Unknown), offset: wide, bytes }))
            }
            OpCode::Tt(Tt::Bitcast) => match self.value(*operands.first()?) {
                Value::Pointer(pointer) => {
                    Some(Value::Pointer(Pointer { bytes: self.pointee_bytes(result), ..pointer }))
                }
                Value::Int(elements) if self.int_type(result).is_some() => Some(Value::Int(elements)),
                _ => None,
            },
            _ => None,
        }
    }

    fn select(&mut self, operands: &[ttgir::ValueId]) -> Option<Value> {
        let &[condition, yes, no] = operands else { return None };
        let condition = self.int(condition)?.term;
        let (yes, no) = (self.value(yes), self.value(no));
        self.choose(condition, yes, no)
    }

    /// One of two values by a condition.
    pub(super) fn choose(&mut self, condition: Term, yes: Value, no: Value) -> Option<Value> {
        let terms = &mut self.program.terms;
        match (yes, no) {
            (Value::Int(yes), Value::Int(no)) => {
                let term = terms.select(condition, yes.term, no.term);
                Some(Value::Int(Elements { lanes: yes.lanes, term }))
            }
            (Value::Pointer(yes), Value::Pointer(no)) => {
                let offset = terms.select(condition, yes.offset, no.offset);
                let base = self.one_of(condition, yes.base, no.base);
                Some(Value::Pointer(Pointer { base, offset, ..yes }))
            }
            (yes, no) if yes == no => Some(yes),
            (Value::Descriptor(yes), Value::Descriptor(no)) => match terms.constant(condition) {
                Some(0) => Some(Value::Descriptor(no)),
                Some(_) => Some(Value::Descriptor(yes)),
                None => self.either(condition, *yes, &no).map(|made| Value::Descriptor(Box::new(made))),
            },
            _ => None,
        }
    }

    /// One of two descriptors of a tensor, which differ in where they begin, how far they go and whether they copy.
    fn either(&mut self, condition: Term, mut yes: Descriptor, no: &Descriptor) -> Option<Descriptor> {
        if (yes.base, yes.bytes, &yes.block, &yes.strides) != (no.base, no.bytes, &no.block, &no.strides) {
            return None;
        }
        let terms = &mut self.program.terms;
        yes.offset = terms.select(condition, yes.offset, no.offset);
        for (yes, no) in yes.sizes.iter_mut().zip(&no.sizes) {
            *yes = terms.select(condition, *yes, *no);
        }
        let (zero, always) = (terms.int(0, 64), terms.truth(true));
        let rank = yes.place.len().max(no.place.len());
        yes.place.resize(rank, zero);
        for (dim, yes) in yes.place.iter_mut().enumerate() {
            *yes = terms.select(condition, *yes, no.place.get(dim).copied().unwrap_or(zero));
        }
        if yes.enabled.is_some() || no.enabled.is_some() {
            let (own, other) = (yes.enabled.unwrap_or(always), no.enabled.unwrap_or(always));
            yes.enabled = Some(terms.select(condition, own, other));
        }
        Some(yes)
    }

    fn arith(&mut self, op: OpId, code: Arith, result: ttgir::ValueId) -> Option<Elements> {
        let tree = self.tree;
        let operands = tree.operands(op);
        let (lanes, bits) = self.int_type(result)?;
        if let Some(binary) = binary(code) {
            let (a, b) = (self.int(*operands.first()?)?, self.int(*operands.get(1)?)?);
            return Some(Elements { lanes, term: self.program.terms.binary(binary, a.term, b.term) });
        }
        let term = match code {
            Arith::Constant => self.constant(op, bits)?,
            Arith::Cmpi => {
                let (a, b) = (self.int(*operands.first()?)?.term, self.int(*operands.get(1)?)?.term);
                let name = tree.attr_text(tree.attr(op, "predicate")?).trim();
                let (question, swapped) = comparison(name.split_whitespace().next().unwrap_or(name))?;
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                self.program.terms.binary(question, a, b)
            }
            Arith::Extsi | Arith::Trunci | Arith::IndexCast => {
                let a = self.int(*operands.first()?)?.term;
                self.program.terms.resize(a, bits, true)
            }
            Arith::Extui | Arith::IndexCastui => {
                let a = self.int(*operands.first()?)?.term;
                self.program.terms.resize(a, bits, false)
            }
            Arith::Bitcast => self.int(*operands.first()?)?.term,
            _ => return None,
        };
        Some(Elements { lanes, term })
    }

    fn constant(&mut self, op: OpId, bits: u8) -> Option<Term> {
        let tree = self.tree;
        let attr = tree.attr(op, "value")?;
        let text = tree.attr_text(attr).trim();
        let one = match text.strip_prefix("dense<") {
            Some(rest) => rest.split('>').next().unwrap_or("").trim(),
            None => text.split(':').next().unwrap_or("").trim(),
        };
        let value = match one {
            "true" => 1,
            "false" => 0,
            _ => one.parse::<i128>().ok().map(|value| value as i64)?,
        };
        Some(self.program.terms.int(value, bits))
    }
}
