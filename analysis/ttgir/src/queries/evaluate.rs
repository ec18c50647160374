//! A scalar as the number that it comes to, where the values that it hangs on are given.

use super::spot::captured;
use crate::limits::queries::NUMBERS as FUEL;
use crate::{Def, OpId, Tree, Ty, ValueId};
use dialects::{Arith, OpCode, Scf};
use rustc_hash::FxHashMap;

/// Numbers of values; what is not in it is computed from its definition.
pub type Numbers = FxHashMap<ValueId, i64>;

/// The number that a value is; a truth value is 0 or 1. `None` where that is not known.
pub fn evaluate(tree: &Tree, value: ValueId, known: &Numbers) -> Option<i64> {
    Evaluation { tree, known, fuel: FUEL }.value(value, 64)
}

struct Evaluation<'t> {
    tree: &'t Tree,
    known: &'t Numbers,
    fuel: u32,
}

impl Evaluation<'_> {
    fn value(&mut self, value: ValueId, depth: u32) -> Option<i64> {
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        let depth = depth.checked_sub(1)?;
        self.fuel = self.fuel.checked_sub(1)?;
        let tree = self.tree;
        match tree.value_def(value) {
            Def::BlockArg(block, number) => self.value(captured(tree, block, number as usize)?, depth),
            Def::Result(op, number) => match tree.code(op)? {
                OpCode::Scf(Scf::If) => {
                    let taken = usize::from(self.value(*tree.operands(op).first()?, depth)? == 0);
                    let region = *tree.regions(op).get(taken)?;
                    let end = *tree.blocks(region).first().and_then(|block| tree.block_ops(*block).last())?;
                    let given = tree.is(end, Scf::Yield).then(|| tree.operands(end).get(number as usize))??;
                    self.value(*given, depth)
                }
                OpCode::Arith(code) => self.arith(op, code, depth).map(|number| self.wrapped(value, number)),
                _ => None,
            },
            Def::Undefined => None,
        }
    }

    fn arith(&mut self, op: OpId, code: Arith, depth: u32) -> Option<i64> {
        let tree = self.tree;
        if code == Arith::Constant {
            return tree.attr_int(tree.attr(op, "value")?);
        }
        let operands = tree.operands(op);
        let first = self.value(*operands.first()?, depth)?;
        match code {
            Arith::Extsi if self.bits(*operands.first()?) == Some(1) => return Some(-first),
            Arith::Extsi | Arith::Trunci | Arith::IndexCast | Arith::IndexCastui => return Some(first),
            Arith::Extui => return self.unsigned(*operands.first()?, first),
            Arith::Select => return self.value(*operands.get(if first == 0 { 2 } else { 1 })?, depth),
            _ => {}
        }
        let second = self.value(*operands.get(1)?, depth)?;
        let unsigned = || Some((self.unsigned(*operands.first()?, first)?, self.unsigned(*operands.get(1)?, second)?));
        Some(match code {
            Arith::Addi => first.checked_add(second)?,
            Arith::Subi => first.checked_sub(second)?,
            Arith::Muli => first.checked_mul(second)?,
            Arith::Divsi => first.checked_div(second)?,
            Arith::Remsi => first.checked_rem(second)?,
            Arith::Floordivsi => first.checked_div_euclid(second).filter(|_| second > 0)?,
            Arith::Divui => unsigned().and_then(|(a, b)| a.checked_div(b))?,
            Arith::Remui => unsigned().and_then(|(a, b)| a.checked_rem(b))?,
            Arith::Andi => first & second,
            Arith::Ori => first | second,
            Arith::Xori => first ^ second,
            Arith::Shli => first.checked_mul(1i64.checked_shl(u32::try_from(second).ok().filter(|by| *by < 63)?)?)?,
            Arith::Shrsi => first >> u32::try_from(second).ok().filter(|by| *by < 64)?,
            Arith::Shrui => unsigned()?.0 >> u32::try_from(second).ok().filter(|by| *by < 64)?,
            Arith::Minsi => first.min(second),
            Arith::Maxsi => first.max(second),
            Arith::Minui => unsigned().map(|(a, b)| a.min(b))?,
            Arith::Maxui => unsigned().map(|(a, b)| a.max(b))?,
            Arith::Cmpi => {
                let predicate = tree.attr(op, "predicate")?;
                let holds = match tree.attr_str(predicate).unwrap_or_else(|| tree.attr_text(predicate)) {
                    "eq" => first == second,
                    "ne" => first != second,
                    "slt" => first < second,
                    "sle" => first <= second,
                    "sgt" => first > second,
                    "sge" => first >= second,
                    "ult" => unsigned().map(|(a, b)| a < b)?,
                    "ule" => unsigned().map(|(a, b)| a <= b)?,
                    "ugt" => unsigned().map(|(a, b)| a > b)?,
                    "uge" => unsigned().map(|(a, b)| a >= b)?,
                    _ => return None,
                };
                i64::from(holds)
            }
            _ => return None,
        })
    }

    /// How many bits a value has, where it is an integer of at most 64.
    fn bits(&self, value: ValueId) -> Option<u32> {
        match self.tree.ty(self.tree.value_type(value)?) {
            Ty::Int(bits) if (1..=64).contains(&bits) => Some(bits),
            Ty::Index => Some(64),
            _ => None,
        }
    }

    /// A number as the value's type holds it.
    fn wrapped(&self, value: ValueId, number: i64) -> i64 {
        match self.bits(value) {
            Some(1) => number & 1,
            Some(bits @ 2..=63) => number << (64 - bits) >> (64 - bits),
            _ => number,
        }
    }

    /// The same bits without a sign; `None` where that is no `i64`.
    fn unsigned(&self, value: ValueId, number: i64) -> Option<i64> {
        match self.bits(value)? {
            64 => (number >= 0).then_some(number),
            bits => Some(number & ((1i64 << bits) - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::spot::walk;

    #[test]
    fn numbers_wrap_as_their_types_do() {
        let text = "module {\n  tt.func @f(%n: i32) {\n    %c1 = arith.constant 1 : i32\n    %c3 = arith.constant 3 : i32\n    \
                    %m = arith.constant -1 : i32\n    %t = arith.constant true\n    %slot = arith.remsi %n, %c3 : i32\n    \
                    %s = arith.extsi %t : i1 to i32\n    %u = arith.extui %t : i1 to i32\n    \
                    %less = arith.cmpi ult, %c3, %m : i32\n    %pick = arith.select %less, %c3, %c1 : i32\n    \
                    %max = arith.constant 2147483647 : i32\n    %over = arith.addi %max, %c1 : i32\n    tt.return\n  }\n}\n";
        let tree = Tree::parse(text);
        let mut values: FxHashMap<String, ValueId> = FxHashMap::default();
        walk(&tree, tree.top(), &mut |op| {
            for value in tree.results(op).iter().chain(tree.operands(op)) {
                values.insert(tree.value_name(*value).to_owned(), *value);
            }
        });
        let of = |name: &str, known: &Numbers| evaluate(&tree, values[name], known);
        let none = Numbers::default();
        let known: Numbers = [(values["%n"], 7)].into_iter().collect();
        assert_eq!((of("%slot", &none), of("%slot", &known)), (None, Some(1)));
        assert_eq!((of("%s", &none), of("%u", &none)), (Some(-1), Some(1)));
        assert_eq!((of("%less", &none), of("%pick", &none)), (Some(1), Some(3)));
        assert_eq!(of("%over", &none), Some(-2_147_483_648));
    }
}
