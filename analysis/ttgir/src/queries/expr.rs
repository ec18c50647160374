//! A scalar as the expression that computes it, as far as it is short.

use super::spot::captured;
use crate::limits::queries::EXPRESSIONS as DEPTH;
use crate::{Def, OpId, Tree, ValueId};
use dialects::{Arith, OpCode, Scf, Tt, Ttg};

/// `(%k / 3) & 1` for a value that is computed so; its name where it comes from elsewhere.
pub fn expression(tree: &Tree, value: ValueId) -> String {
    let text = render(tree, value, DEPTH);
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        // The outer pair, where it is one: `(a) + (b)` keeps its own.
        Some(inner) if balanced(inner) => inner.to_owned(),
        _ => text,
    }
}

/// The value's name with its number, as it is written.
pub fn name(tree: &Tree, value: ValueId) -> String {
    match tree.value_number(value) {
        Some(number) => format!("{}#{number}", tree.value_name(value)),
        None => tree.value_name(value).to_owned(),
    }
}

/// What a person calls a value: the name that its location gives where the text only numbers it, else its own.
pub fn known_name(tree: &Tree, value: ValueId) -> String {
    location_name(tree, value).unwrap_or_else(|| name(tree, value))
}

/// The name that the location of a numbered value gives, often that of a Python variable; `None` of a value with a name
/// of its own, and of one of several results.
pub fn location_name(tree: &Tree, value: ValueId) -> Option<String> {
    let bare = tree.value_name(value).strip_prefix('%')?;
    let Def::Result(op, _) = tree.value_def(value) else { return None };
    if !bare.starts_with(|c: char| c.is_ascii_digit()) || tree.value_number(value).is_some() {
        return None;
    }
    let name = tree.loc(op).into_iter().next()?.name?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (starts && name.chars().all(is_name)).then_some(name)
}

/// How a value that a loop carries goes on: its name, and `0, then %i + 1`; one for each such value
/// that the expression of `value` names.
pub fn carried(tree: &Tree, value: ValueId) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(tree, value, DEPTH, &mut found);
    found
}

fn collect(tree: &Tree, value: ValueId, depth: u32, found: &mut Vec<(String, String)>) {
    match tree.value_def(value) {
        Def::BlockArg(block, number) => {
            let Some(op) = tree.parent_op(tree.parent_region(block)) else { return };
            if !tree.is(op, Scf::For) {
                return;
            }
            let Some(at) = (number as usize).checked_sub(1) else {
                let bound = |group: &str| tree.group(op, group).first().map(|bound| expression(tree, *bound));
                let bounds = [bound("lowerBound"), bound("upperBound"), bound("step")];
                if let [Some(from), Some(to), Some(step)] = bounds {
                    found.push((known_name(tree, value), format!("{from} to {to} by {step}")));
                }
                return;
            };
            let end = tree.block_ops(block).last().filter(|end| tree.is(**end, Scf::Yield));
            let next = end.and_then(|end| tree.operands(*end).get(at));
            if let (Some(first), Some(next)) = (tree.group(op, "initArgs").get(at), next) {
                let (first, next) = (expression(tree, *first), expression(tree, *next));
                found.push((known_name(tree, value), format!("{first}, then {next}")));
            }
        }
        Def::Result(op, _) if depth > 0 && tree.op_name(op).starts_with("arith.") => {
            for operand in tree.operands(op) {
                collect(tree, *operand, depth - 1, found);
            }
        }
        Def::Result(..) | Def::Undefined => {}
    }
}

fn balanced(text: &str) -> bool {
    let mut open = 0i32;
    text.chars().all(|c| {
        open += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        open >= 0
    })
}

fn render(tree: &Tree, value: ValueId, depth: u32) -> String {
    let op = match tree.value_def(value) {
        Def::Result(op, number) if depth > 0 && tree.is(op, Scf::If) => {
            return choice(tree, op, number as usize, depth).unwrap_or_else(|| known_name(tree, value));
        }
        Def::Result(op, _) => op,
        // A captured value is known by its name outside, where the other partitions see it too.
        Def::BlockArg(block, number) if depth > 0 => {
            return match captured(tree, block, number as usize) {
                Some(outer) => render(tree, outer, depth - 1),
                None => known_name(tree, value),
            };
        }
        Def::BlockArg(..) | Def::Undefined => return known_name(tree, value),
    };
    if let Some(constant) = constant(tree, op) {
        return constant;
    }
    let operands = tree.operands(op);
    let expand = |at: usize| operands.get(at).map_or_else(String::new, |operand| render(tree, *operand, depth - 1));
    // A tensor that holds one scalar everywhere is that scalar, and a layout changes no value.
    if depth > 0 && (tree.is(op, Tt::Splat) || tree.is(op, Tt::Broadcast) || tree.is(op, Ttg::ConvertLayout)) {
        return expand(0);
    }
    let Some(OpCode::Arith(code)) = tree.code(op) else { return known_name(tree, value) };
    match (code, operands.len()) {
        (_, _) if depth == 0 => known_name(tree, value),
        (Arith::Extsi | Arith::Extui | Arith::Trunci | Arith::IndexCast, 1) => expand(0),
        (Arith::Cmpi, 2) => match comparison(tree, op) {
            Some(sign) => format!("({} {sign} {})", expand(0), expand(1)),
            None => known_name(tree, value),
        },
        (Arith::Select, 3) => format!("({} if {} else {})", expand(1), expand(0), expand(2)),
        (Arith::Xori, 2) if matches!(expand(1).as_str(), "-1" | "true") => format!("~{}", expand(0)),
        (code, 2) => match infix(code) {
            Some(sign) => format!("({} {sign} {})", expand(0), expand(1)),
            None => known_name(tree, value),
        },
        _ => known_name(tree, value),
    }
}

/// A result of an `scf.if`: what either way yields for it.
fn choice(tree: &Tree, op: OpId, number: usize, depth: u32) -> Option<String> {
    let condition = *tree.operands(op).first()?;
    let [yes, no] = tree.regions(op) else { return None };
    let yielded = |region| {
        let block = *tree.blocks(region).first()?;
        let end = *tree.block_ops(block).last().filter(|end| tree.is(**end, Scf::Yield))?;
        Some(render(tree, *tree.operands(end).get(number)?, depth - 1))
    };
    let (yes, no) = (yielded(*yes)?, yielded(*no)?);
    Some(format!("({yes} if {} else {no})", render(tree, condition, depth - 1)))
}

/// The number or truth value of a constant, also of one that fills a tensor.
fn constant(tree: &Tree, op: OpId) -> Option<String> {
    if !tree.is(op, Arith::Constant) {
        return None;
    }
    let text = tree.attr_text(tree.attr(op, "value")?);
    let number = text.split(':').next().unwrap_or(text).trim();
    let number = number.strip_prefix("dense<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(number);
    (number.len() <= 20 && !number.starts_with(['d', '[', '"'])).then(|| number.to_owned())
}

fn infix(op: Arith) -> Option<&'static str> {
    Some(match op {
        Arith::Addi => "+",
        Arith::Subi => "-",
        Arith::Muli => "*",
        Arith::Divsi | Arith::Divui => "/",
        Arith::Remsi | Arith::Remui => "%",
        Arith::Andi => "&",
        Arith::Ori => "|",
        Arith::Xori => "^",
        Arith::Shli => "<<",
        Arith::Shrsi | Arith::Shrui => ">>",
        Arith::Minsi | Arith::Minui => "min",
        Arith::Maxsi | Arith::Maxui => "max",
        _ => return None,
    })
}

fn comparison(tree: &Tree, op: OpId) -> Option<&'static str> {
    let predicate = tree.attr(op, "predicate")?;
    Some(match tree.attr_str(predicate).unwrap_or_else(|| tree.attr_text(predicate)) {
        "eq" => "==",
        "ne" => "!=",
        "slt" | "ult" => "<",
        "sle" | "ule" => "<=",
        "sgt" | "ugt" => ">",
        "sge" | "uge" => ">=",
        _ => return None,
    })
}
