//! Scalar arithmetic: `arith` on integers, program ids, scalar pointers and loads.
//!
//! An integer op without a row here gives a free input; that is never wrong, only coarse.

use super::lowerer::Lowerer;
use super::value::{Class, Val};
use dialects::assembly::{self, SpecialRegister};
use dialects::{Arith, Nvg, OpCode, Tt};
use kernel::{CmpOp, Input, InputKind, Pure, Var, Width};
use ttgir::queries::pointer::{pointers, written_pointers};
use ttgir::{OpId, ValueId};

/// Makes the computation of a binary op of a width from its operands.
type BinaryOp = fn(Width, Var, Var) -> Pure<Var>;

/// What an op with two operands and a result of one width computes.
fn binary(op: Arith) -> Option<BinaryOp> {
    Some(match op {
        Arith::Addi => Pure::Add,
        Arith::Andi => Pure::And,
        Arith::Ceildivsi => Pure::CeilDivS,
        Arith::Ceildivui => Pure::CeilDivU,
        Arith::Divsi => Pure::DivS,
        Arith::Divui => Pure::DivU,
        Arith::Floordivsi => Pure::FloorDivS,
        Arith::Maxsi => Pure::MaxS,
        Arith::Maxui => Pure::MaxU,
        Arith::Minsi => Pure::MinS,
        Arith::Minui => Pure::MinU,
        Arith::Muli => Pure::Mul,
        Arith::Ori => Pure::Or,
        Arith::Remsi => Pure::RemS,
        Arith::Remui => Pure::RemU,
        Arith::Shli => Pure::Shl,
        Arith::Shrsi => Pure::ShrS,
        Arith::Shrui => Pure::ShrU,
        Arith::Subi => Pure::Sub,
        Arith::Xori => Pure::Xor,
        _ => return None,
    })
}

/// `arith.cmpi` predicates, by MLIR's number.
const COMPARE: &[(&str, CmpOp)] = &[
    ("eq", CmpOp::Eq),
    ("ne", CmpOp::Ne),
    ("slt", CmpOp::Slt),
    ("sle", CmpOp::Sle),
    ("sgt", CmpOp::Sgt),
    ("sge", CmpOp::Sge),
    ("ult", CmpOp::Ult),
    ("ule", CmpOp::Ule),
    ("ugt", CmpOp::Ugt),
    ("uge", CmpOp::Uge),
];

impl Lowerer<'_> {
    /// Lowers `op` where its result is a scalar that can be computed; false where it is not.
    pub(super) fn scalar_op(&mut self, op: OpId) -> bool {
        let tree = self.tree;
        let &[result] = tree.results(op) else { return false };
        if self.host_only(op) {
            return false;
        }
        let class = self.class(result);
        if class == Class::View && tree.is(op, Arith::Select) {
            return self.select_view(op, result);
        }
        let Class::Scalar(width) = class else { return false };
        let Some(pure) = self.pure(op, Width(width)) else { return false };
        let var = self.build.compute(pure, tree.value_name(result));
        self.bind(result, Val::Scalar(var));
        true
    }

    fn pure(&mut self, op: OpId, width: Width) -> Option<Pure<Var>> {
        let tree = self.tree;
        let operands = tree.operands(op);
        let code = tree.code(op)?;
        if let OpCode::Arith(arith) = code {
            return self.arith(op, arith, operands, width);
        }
        match (code, operands) {
            (OpCode::Tt(Tt::GetProgramId), _) => Some(self.grid(self.axis(op), InputKind::ProgramId)),
            (OpCode::Tt(Tt::GetNumPrograms), _) => Some(self.grid(self.axis(op), InputKind::NumPrograms)),
            (OpCode::Nvg(Nvg::ClusterId), _) => Some(self.rank(width)),
            (OpCode::Tt(Tt::ElementwiseInlineAsm), []) => {
                let register = assembly::special_register(self.assembly(op))?;
                self.register(register)
            }
            (OpCode::Tt(Tt::Addptr), &[pointer, offset]) => {
                let from = Width(self.width(offset));
                let (pointer, offset) = (self.scalar(pointer), self.scalar(offset));
                let bytes = self.pointee(op);
                let offset = self.build.compute(Pure::ExtS(from, Width(64), offset), "");
                let size = self.build.number(bytes);
                let offset = self.build.compute(Pure::Mul(Width(64), offset, size), "");
                Some(Pure::Add(Width(64), pointer, offset))
            }
            (OpCode::Tt(Tt::Load), &[pointer, ..]) if !self.flag(op, "isVolatile") => {
                let kind = if self.is_rewritten(op, pointer) { InputKind::Rewritten } else { InputKind::Memory };
                let pointer = self.scalar(pointer);
                let memory = Input { kind, width: width.0, divisor: 1 };
                let input = self.build.input(memory, "memory");
                let load = Pure::Load(input, pointer);
                let Some(&mask) = tree.group(op, "mask").first() else { return Some(load) };
                // What stands behind a mask that does not hold is another value, or none that matters.
                let other = tree.group(op, "other").first().map(|other| self.scalar(*other));
                let (mask, loaded) = (self.scalar(mask), self.build.compute(load, ""));
                let other = other.unwrap_or_else(|| self.build.number(0));
                Some(Pure::Select(mask, loaded, other))
            }
            (OpCode::Tt(Tt::Bitcast | Tt::IntToPtr | Tt::PtrToInt), &[value]) if self.is_scalar(value) => {
                Some(Pure::Copy(self.scalar(value)))
            }
            _ => None,
        }
    }

    /// Whether the kernel writes through the pointer that a word is read through.
    fn is_rewritten(&mut self, op: OpId, pointer: ValueId) -> bool {
        let tree = self.tree;
        if self.executes() {
            return false;
        }
        let entry = self.calls.first().copied();
        let find = || entry.map(|entry| written_pointers(tree, entry)).unwrap_or_default();
        let written = self.written.get_or_insert_with(find);
        let own = !written.is_empty() && pointers(tree, pointer).iter().any(|root| written.contains(root));
        if own {
            self.rewritten.push(op);
        }
        own
    }

    fn arith(&mut self, op: OpId, code: Arith, operands: &[ValueId], width: Width) -> Option<Pure<Var>> {
        let tree = self.tree;
        if let Some(binary) = binary(code) {
            let &[a, b] = operands else { return None };
            return Some(binary(width, self.scalar(a), self.scalar(b)));
        }
        match (code, operands) {
            (Arith::Constant, _) => {
                let attr = tree.attr(op, "value")?;
                let text = tree.attr_text(attr).trim();
                let value = match text {
                    "true" => 1,
                    "false" => 0,
                    _ => tree.attr_int(attr)?,
                };
                Some(Pure::Const(width.wrap(value)))
            }
            (Arith::Cmpi, &[a, b]) => {
                let from = Width(self.width(a));
                let compare = self.compare(op)?;
                Some(Pure::Cmp(compare, from, self.scalar(a), self.scalar(b)))
            }
            (Arith::Select, &[condition, yes, no]) => {
                Some(Pure::Select(self.scalar(condition), self.scalar(yes), self.scalar(no)))
            }
            (Arith::Extsi | Arith::Extui | Arith::Trunci | Arith::IndexCast | Arith::IndexCastui, &[value])
                if self.is_scalar(value) =>
            {
                let from = Width(self.width(value));
                let unsigned = matches!(code, Arith::Extui | Arith::IndexCastui);
                let value = self.scalar(value);
                Some(if from.0 > width.0 {
                    Pure::Trunc(width, value)
                } else if unsigned {
                    Pure::ExtU(from, width, value)
                } else {
                    Pure::ExtS(from, width, value)
                })
            }
            (Arith::Bitcast, &[value]) if self.is_scalar(value) => Some(Pure::Copy(self.scalar(value))),
            _ => None,
        }
    }

    fn is_scalar(&self, value: ValueId) -> bool {
        matches!(self.class(value), Class::Scalar(_))
    }

    pub(super) fn compare(&self, op: OpId) -> Option<CmpOp> {
        let attr = self.tree.attr(op, "predicate")?;
        if let Some(number) = self.tree.attr_int(attr) {
            return usize::try_from(number).ok().and_then(|at| COMPARE.get(at)).map(|row| row.1);
        }
        let word = self.tree.attr_text(attr).trim();
        COMPARE.iter().find(|row| row.0 == word).map(|row| row.1)
    }

    /// The axis that an op asks about.
    fn axis(&self, op: OpId) -> u8 {
        let attr = self.tree.attr(op, "axis");
        attr.map_or(0, |attr| match (self.tree.attr_int(attr), self.tree.attr_text(attr).trim()) {
            (Some(axis), _) => u8::try_from(axis).unwrap_or(0),
            (None, "y") => 1,
            (None, "z") => 2,
            _ => 0,
        })
    }

    fn grid(&mut self, axis: u8, kind: fn(u8) -> InputKind) -> Pure<Var> {
        let input = Input { kind: kind(axis), width: 32, divisor: 1 };
        let name = if matches!(input.kind, InputKind::ProgramId(_)) { "program_id" } else { "num_programs" };
        Pure::Input(self.build.input(input, &format!("{name}({axis})")))
    }

    /// The number of the CTA in its cluster.
    fn rank(&mut self, width: Width) -> Pure<Var> {
        if self.ctas.cluster == 1 {
            return Pure::Const(0);
        }
        let rank = Input { kind: InputKind::CtaRank, width: width.0, divisor: 1 };
        Pure::Input(self.build.input(rank, "CTA"))
    }

    /// What a register of the hardware holds, as far as it is one of these: a program is a cluster, or each of its CTAs.
    fn register(&mut self, register: SpecialRegister) -> Option<Pure<Var>> {
        let (clusters, ctas) = (self.ctas.program == self.ctas.cluster, self.ctas.program == 1);
        match register {
            SpecialRegister::CtaRank => Some(self.rank(Width(32))),
            SpecialRegister::ClusterSize => Some(Pure::Const(i64::from(self.ctas.cluster))),
            SpecialRegister::Program(axis) if clusters => Some(self.grid(axis, InputKind::ProgramId)),
            SpecialRegister::Programs(axis) if clusters => Some(self.grid(axis, InputKind::NumPrograms)),
            SpecialRegister::Cta(axis) if ctas => Some(self.grid(axis, InputKind::ProgramId)),
            SpecialRegister::Ctas(axis) if ctas => Some(self.grid(axis, InputKind::NumPrograms)),
            _ => None,
        }
    }

    /// Bytes of what the pointer points to; only distinctness of addresses counts.
    fn pointee(&self, op: OpId) -> i64 {
        let result = self.tree.results(op).first().and_then(|result| self.tree.value_type(*result));
        let text = result.map_or("", |ty| self.tree.type_text(ty));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>().parse::<i64>().ok();
        let inner = text.split('<').nth(1).and_then(|inner| inner.split([',', '>']).next()).unwrap_or("");
        match inner.trim() {
            float if float.starts_with("f8") => 1,
            inner => digits(inner).map_or(8, |bits| (bits / 8).max(1)),
        }
    }

    fn select_view(&mut self, op: OpId, result: ValueId) -> bool {
        let tree = self.tree;
        let &[condition, yes, no] = tree.operands(op) else { return false };
        let condition = self.scalar(condition);
        let (Some(a), Some(b)) = (self.view(yes), self.view(no)) else { return false };
        if let Some(value) = self.build.constant(condition) {
            self.bind(result, Val::View(if value & 1 == 1 { a } else { b }));
            return true;
        }
        if self.build.kind(a) != self.build.kind(b) {
            return false;
        }
        let var = self.build.select_view(condition, a, b, tree.value_name(result));
        self.bind(result, Val::View(var));
        true
    }
}
