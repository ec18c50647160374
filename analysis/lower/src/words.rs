//! Integers that go through shared memory, and counters in global memory: a scheduler's tile numbers.
//!
//! A store of one integer that was splatted, and a load of one that is taken out of its tensor again, carry a word: the
//! kernel is told what they hold ([`kernel::WordAccess`]). A word that is stored and not known is an input.

use super::lowerer::Lowerer;
use super::value::{Class, Val};
use dialects::{Arith, OpCode, Tt, Ttg};
use kernel::{Input, InputKind, Instr, Pure, Var, WordAccess};
use ttgir::{Def, OpId, Ty, ValueId};

impl Lowerer<'_> {
    /// What an op says of words, after its effects.
    pub(super) fn carry_words(&mut self, op: OpId) {
        // Before the tasks are apart, one value is used by several of them.
        if self.executes() || self.task.is_some() {
            return;
        }
        match self.tree.code(op) {
            Some(OpCode::Ttg(Ttg::LocalStore)) => self.store_word(op),
            Some(OpCode::Ttg(Ttg::LocalLoad)) => self.load_word(op),
            Some(OpCode::Tt(Tt::AtomicRmw)) => self.claim(op),
            Some(OpCode::Tt(Tt::Unsplat | Tt::Reduce)) => self.take_out(op),
            _ => {}
        }
    }

    fn store_word(&mut self, op: OpId) {
        let tree = self.tree;
        let (Some(&source), Some(view)) = (tree.operands(op).first(), self.one_integer(op)) else { return };
        let value = match (self.splatted(source), self.constant(source)) {
            (Some(scalar), _) => self.scalar(scalar),
            (None, Some(number)) => self.build.number(number),
            (None, None) => {
                let width = self.element_width(source).unwrap_or(32);
                self.unknown(width, tree.value_name(source))
            }
        };
        self.build.instr(Instr::Word(WordAccess::Write { view, value }));
    }

    fn load_word(&mut self, op: OpId) {
        let (Some(&result), Some(view)) = (self.tree.results(op).first(), self.one_integer(op)) else { return };
        let Some(width) = self.element_width(result) else { return };
        let name = self.tree.value_name(result);
        let otherwise = self.unknown(width, name);
        let dst = self.build.scalar_param(name);
        self.build.instr(Instr::Word(WordAccess::Read { dst, view, otherwise }));
        self.words.insert(result, dst);
    }

    /// `tt.atomic_rmw add` of one integer.
    fn claim(&mut self, op: OpId) {
        let tree = self.tree;
        let adds = tree.attr(op, "atomic_rmw_op").is_some_and(|kind| tree.attr_text(kind).trim() == "add");
        let (Some(&result), Some(&by)) = (tree.results(op).first(), tree.group(op, "val").first()) else { return };
        if !adds || tree.uses(result).is_empty() {
            return;
        }
        let scalar = matches!(self.class(result), Class::Scalar(_));
        let width = if scalar { Some(self.width(result)) } else { self.one_element(result) };
        let Some(width) = width else { return };
        let by = match self.splatted(by) {
            Some(scalar) => self.scalar(scalar),
            None if scalar => self.scalar(by),
            None => self.build.number(1),
        };
        let name = tree.value_name(result);
        let otherwise = self.unknown(width, name);
        let dst = self.build.scalar_param(name);
        self.build.instr(Instr::Word(WordAccess::Claim { dst, otherwise, by }));
        if scalar {
            self.bind(result, Val::Scalar(dst));
        } else {
            self.words.insert(result, dst);
        }
    }

    /// The integer of a tensor that holds one.
    fn take_out(&mut self, op: OpId) {
        let tree = self.tree;
        let (&[source], &[result]) = (tree.operands(op), tree.results(op)) else { return };
        let word = self.words.get(&self.converted(source)).copied();
        if let (Some(word), Class::Scalar(_)) = (word, self.class(result)) {
            let var = self.build.compute(Pure::Copy(word), tree.value_name(result));
            self.bind(result, Val::Scalar(var));
        }
    }

    /// The window of a load or store of one integer.
    fn one_integer(&self, op: OpId) -> Option<Var> {
        let tree = self.tree;
        let memdesc = tree.operands(op).iter().copied().find(|value| self.class(*value) == Class::View)?;
        let one = self.memory(memdesc)?.sizes.iter().product::<u64>() == 1;
        self.view(memdesc).filter(|_| one)
    }

    /// The width of the integer that a tensor of one element holds.
    fn one_element(&self, value: ValueId) -> Option<u8> {
        let Ty::Tensor { shape, .. } = self.tree.ty(self.tree.value_type(value)?) else { return None };
        if shape.iter().product::<i64>() != 1 {
            return None;
        }
        self.element_width(value)
    }

    fn element_width(&self, value: ValueId) -> Option<u8> {
        let Ty::Tensor { elem, .. } = self.tree.ty(self.tree.value_type(value)?) else { return None };
        u8::try_from(elem.bits).ok().filter(|bits| (1..=64).contains(bits) && elem.name.starts_with('i'))
    }

    /// The scalar that a tensor holds in all places.
    fn splatted(&self, value: ValueId) -> Option<ValueId> {
        let tree = self.tree;
        let op = self.made_by(self.converted(value))?;
        tree.is(op, Tt::Splat).then(|| tree.operands(op).first().copied())?
    }

    /// The number that a constant tensor holds in all places.
    fn constant(&self, value: ValueId) -> Option<i64> {
        let tree = self.tree;
        let op = self.made_by(self.converted(value)).filter(|op| tree.is(*op, Arith::Constant))?;
        let text = tree.attr_text(tree.attr(op, "value")?).trim();
        let inside = text.strip_prefix("dense<")?.split('>').next()?.trim();
        match inside {
            "true" => Some(1),
            "false" => Some(0),
            number => number.parse().ok(),
        }
    }

    /// What a tensor was before it only changed its layout.
    fn converted(&self, value: ValueId) -> ValueId {
        let tree = self.tree;
        let mut value = value;
        while let Some(op) = self.made_by(value).filter(|op| tree.is(*op, Ttg::ConvertLayout)) {
            let Some(&source) = tree.operands(op).first() else { break };
            value = source;
        }
        value
    }

    fn made_by(&self, value: ValueId) -> Option<OpId> {
        match self.tree.value_def(value) {
            Def::Result(op, _) => Some(op),
            _ => None,
        }
    }

    fn unknown(&mut self, width: u8, name: &str) -> Var {
        let input = self.build.input(Input { kind: InputKind::Free, width, divisor: 1 }, name);
        self.build.compute(Pure::Input(input), name)
    }
}
