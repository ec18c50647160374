//! What is left: where a program is, gathers and histograms, what a kernel prints and asserts, assembly that is known.

use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg, optional};
use super::shape::places_along;
use super::tensor::{TensorValue, Word, count, each};
use super::trap::Trap;
use super::{arith, math};
use crate::array::ElemType;
use crate::limits::prints::KEPT;

/// Most elements of a tensor that a print shows.
const SHOWN: usize = 16;

/// Reads an operation.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    Ok(Some(match site.name() {
        "tt.get_program_id" | "tt.get_num_programs" => {
            let axis = match site.text("axis").unwrap_or("x").split(':').next().unwrap_or("").trim() {
                "x" | "0" => 0,
                "y" | "1" => 1,
                _ => 2,
            };
            let number = site.name() == "tt.get_program_id";
            Evaluator::new(move |_, world| {
                Ok(vec![RuntimeValue::int(32, if number { world.program[axis] } else { world.grid[axis] })])
            })
        }
        "tt.gather" => {
            let (src, indices) = (site.operand(0)?, site.operand(1)?);
            let axis = site.axis(src.shape().len())?;
            if !src.tile.is_whole() || !indices.tile.is_whole() {
                return Ok(Some(Evaluator::exchange()));
            }
            Evaluator::two(move |src, indices| {
                let places = places_along(src, indices, axis)?;
                Ok(src.pick(indices.shape().clone(), places.into_iter()))
            })
        }
        "tt.histogram" => histogram(site)?,
        "tt.print" => print(site),
        "tt.assert" => {
            let message: std::rc::Rc<str> = site.word("message").unwrap_or("").into();
            Evaluator::new(move |operands, _| {
                let holds = arg(operands, 0)?;
                let fails = each!(holds.data(), words => words.iter().any(|word| Word::to_u64(*word) == 0));
                if fails { Err(Trap::Assert(message.clone())) } else { Ok(Vec::new()) }
            })
        }
        "tt.elementwise_inline_asm" => assembly(site)?,
        "ttng.packed_arith" => {
            let kind = site.text("op_kind").map(|kind| kind.split(':').next().unwrap_or(kind).trim());
            return Ok(match kind {
                Some(kind @ ("add" | "sub" | "mul")) => arith::float(&format!("{kind}f")),
                Some("fma") => math::function("fma"),
                _ => None,
            });
        }
        "tt.grid_dependency_wait" | "tt.grid_dependency_launch_dependents" => Evaluator::nothing(),
        _ => return Ok(None),
    }))
}

/// How many elements have each value from 0 on; others do not count.
fn histogram(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (src, ty) = (site.operand(0)?, site.result(0)?);
    if !src.tile.is_whole() || !ty.tile.is_whole() {
        return Ok(Evaluator::exchange());
    }
    let mask = site.group("mask");
    Ok(Evaluator::new(move |operands, _| {
        let src = arg(operands, 0)?;
        let mask = optional(operands, mask)?;
        let mut counts = vec![0u64; count(ty.shape())];
        for at in 0..src.len() {
            if mask.is_none_or(|mask| mask.bits(at) != 0)
                && let Some(slot) = counts.get_mut(src.bits(at) as usize)
            {
                *slot += 1;
            }
        }
        Ok(vec![RuntimeValue::Tensor(TensorValue::from_bits(ty.dtype, ty.shape().clone(), counts.into_iter()))])
    }))
}

fn print(site: &OpSite<'_>) -> Evaluator {
    let prefix = site.word("prefix").unwrap_or("").to_owned();
    let signed = site.ints("isSigned").unwrap_or_default();
    let hex = site.flag("hex");
    Evaluator::new(move |operands, world| {
        let [x, y, z] = world.program;
        let mut text = format!("program ({x}, {y}, {z}):{prefix}");
        for at in 0..operands.len() {
            let unsigned = signed.get(at).is_some_and(|signed| *signed == 0);
            text.push(' ');
            text.push_str(&shown(arg(operands, at)?, hex, unsigned));
        }
        if world.prints.len() < KEPT {
            world.prints.push(text);
        }
        Ok(Vec::new())
    })
}

/// The first elements of a tensor.
fn shown(tensor: &TensorValue, hex: bool, unsigned: bool) -> String {
    let one = |at: usize| match tensor.dtype() {
        _ if hex => format!("{:#x}", tensor.bits(at)),
        dtype if dtype.is_int() && unsigned => tensor.bits(at).to_string(),
        dtype if dtype.is_int() => tensor.int_at(at).to_string(),
        dtype => crate::float_format::decode(dtype, tensor.bits(at)).to_string(),
    };
    if tensor.shape().is_empty() {
        return one(0);
    }
    let mut words: Vec<String> = (0..tensor.len().min(SHOWN)).map(one).collect();
    if tensor.len() > SHOWN {
        words.push(format!("… ({} elements)", tensor.len()));
    }
    format!("[{}]", words.join(", "))
}

/// One PTX instruction, its operands in order, or a number that is given; beside it a thread may sleep.
fn assembly(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let text = site.word("asm_string").unwrap_or("");
    let unsupported = || Trap::not_followed(format!("the assembly `{text}` is not followed"));
    let statements = text.split(';').map(|one| one.trim().trim_start_matches("\\n").trim_end_matches("\\n").trim());
    let awake: Vec<&str> = statements.filter(|one| !one.is_empty() && !one.starts_with("nanosleep.u32 ")).collect();
    let &[text] = awake.as_slice() else { return Err(unsupported()) };
    let (instruction, operands) = text.split_once(char::is_whitespace).ok_or_else(unsupported)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    if let (Some("mov"), &["$0", number]) = (instruction.split('.').next(), operands.as_slice())
        && let Ok(number) = number.parse::<i64>()
    {
        let ty = site.result(0)?;
        if !ty.dtype.is_int() {
            return Err(unsupported());
        }
        return Ok(Evaluator::constant(RuntimeValue::Tensor(TensorValue::splat(
            ty.dtype,
            ty.shape().clone(),
            number as u64,
        ))));
    }
    let ordered = operands.iter().enumerate().all(|(at, name)| *name == format!("${at}"));
    if !ordered || site.int("packed_element").is_some_and(|packed| packed != 1) {
        return Err(unsupported());
    }
    let ty = site.result(0)?.dtype;
    if (instruction, operands.len(), ty.bits()) == ("cvt.rna.tf32.f32", 2, 32) {
        return Ok(Evaluator::one(move |a| {
            let rounded = (0..a.len()).map(|at| to_tf32(a.bits(at) as u32).into());
            Ok(TensorValue::from_bits(ty, a.shape().clone(), rounded))
        }));
    }
    let mut words = instruction.split('.');
    let (name, kind) = (words.next().unwrap_or(""), instruction.rsplit('.').next().unwrap_or(""));
    let float = matches!(
        (kind, ty),
        ("f32", ElemType::F32) | ("f64", ElemType::F64) | ("f16", ElemType::F16) | ("bf16", ElemType::BF16)
    );
    let bits = kind.get(1..).and_then(|bits| bits.parse::<u32>().ok());
    let whole = kind.starts_with(['s', 'u', 'b']) && bits == Some(ty.bits()) && ty.is_int();
    ptx_instruction(name, kind, float, whole, operands.len() - 1).ok_or_else(unsupported)
}

/// A float with ten bits of fraction, halves away from zero; infinity and NaN stay.
fn to_tf32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0x7f80_0000 { bits } else { bits.wrapping_add(0x1000) & !0x1fff }
}

/// An instruction as the op of `arith` or `math` that does the same.
fn ptx_instruction(name: &str, kind: &str, float: bool, whole: bool, operands: usize) -> Option<Evaluator> {
    let sign = if kind.starts_with('s') { "s" } else { "u" };
    match (name, operands) {
        ("mov", 1) if float || whole => Some(Evaluator::one(|a| Ok(a.clone()))),
        ("ex2", 1) if float => math::function("exp2"),
        ("lg2", 1) if float => math::function("log2"),
        ("abs", 1) if float => math::function("absf"),
        ("rcp" | "sqrt" | "rsqrt" | "tanh" | "sin" | "cos", 1) | ("fma", 3) if float => math::function(name),
        ("neg", 1) | ("add" | "sub" | "mul" | "div", 2) if float => arith::float(&format!("{name}f")),
        ("max" | "min", 2) if float => arith::float(&format!("{name}numf")),
        ("add" | "sub" | "and" | "or" | "xor" | "shl", 2) if whole => arith::integer(&format!("{name}i")),
        ("max" | "min", 2) if whole => arith::integer(&format!("{name}{sign}i")),
        ("shr", 2) if whole => arith::integer(&format!("shr{sign}i")),
        _ => None,
    }
}
