//! Integers of a width, as MLIR's `arith` computes with them.

/// An operation on two integers of one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "called as in `arith`")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    FloorDivS,
    CeilDivS,
    CeilDivU,
    RemS,
    RemU,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    Eq,
    Ne,
    Slt,
    Sle,
    Ult,
    Ule,
}

/// The signed number that the low bits of `value` are; a truth value is 0 or 1.
#[inline(always)]
pub fn wrap(value: i64, bits: u8) -> i64 {
    match bits {
        1 => value & 1,
        2..64 => {
            let shift = 64 - u32::from(bits);
            value << shift >> shift
        }
        _ => value,
    }
}

/// The unsigned number that the low bits of `value` are.
#[inline(always)]
pub fn unsigned(value: i64, bits: u8) -> u64 {
    match bits {
        1..64 => value as u64 & ((1 << bits) - 1),
        _ => value as u64,
    }
}

/// What an operation makes of two numbers of a width; `None` where MLIR does not define it.
#[inline(always)]
pub fn apply(op: BinOp, bits: u8, a: i64, b: i64) -> Option<i64> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    let nonzero = |divisor: i64| (divisor != 0).then_some(divisor);
    let in_range = || u32::try_from(ub).ok().filter(|by| *by < u32::from(bits.max(1)));
    let made = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::DivS => a.checked_div(nonzero(b)?)?,
        BinOp::DivU => ua.checked_div(ub)? as i64,
        BinOp::FloorDivS => {
            let quotient = a.checked_div(nonzero(b)?)?;
            quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))
        }
        BinOp::CeilDivS => {
            let quotient = a.checked_div(nonzero(b)?)?;
            quotient + i64::from(a % b != 0 && (a < 0) == (b < 0))
        }
        BinOp::CeilDivU => ua.checked_div(ub)?.wrapping_add(u64::from(ua % ub != 0)) as i64,
        BinOp::RemS => a.checked_rem(nonzero(b)?)?,
        BinOp::RemU => ua.checked_rem(ub)? as i64,
        BinOp::MinS => a.min(b),
        BinOp::MaxS => a.max(b),
        BinOp::MinU => ua.min(ub) as i64,
        BinOp::MaxU => ua.max(ub) as i64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a.wrapping_shl(in_range()?),
        BinOp::ShrS => a.wrapping_shr(in_range()?),
        BinOp::ShrU => ua.wrapping_shr(in_range()?) as i64,
        BinOp::Eq => return Some(i64::from(a == b)),
        BinOp::Ne => return Some(i64::from(a != b)),
        BinOp::Slt => return Some(i64::from(a < b)),
        BinOp::Sle => return Some(i64::from(a <= b)),
        BinOp::Ult => return Some(i64::from(ua < ub)),
        BinOp::Ule => return Some(i64::from(ua <= ub)),
    };
    Some(wrap(made, bits))
}

/// Whether a sum, a difference or a product of signed integers does not fit into `bits`, which are 32 or more: of
/// narrower ones that is as a rule meant.
#[inline(always)]
pub fn wraps(op: BinOp, bits: u8, a: i64, b: i64) -> bool {
    let exact = match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        _ => return false,
    };
    bits >= 32 && exact.is_none_or(|exact| wrap(exact, bits) != exact)
}

impl BinOp {
    /// Whether it asks, and answers with a truth value.
    pub fn is_question(self) -> bool {
        matches!(self, BinOp::Eq | BinOp::Ne | BinOp::Slt | BinOp::Sle | BinOp::Ult | BinOp::Ule)
    }
}
