//! Scalar operations, with MLIR's width and wrap rules.
//!
//! Values are `i64`; a value of width `w` is kept sign-extended from its low `w` bits
//! (`i1` is 0 or -1 in MLIR's signed view, but is kept as 0 or 1 here, as MLIR prints it).
//! Division by zero and other undefined results give `None`: the machine then stops the run as
//! undecided instead of inventing a value.

/// Bit width of an integer; `index` is 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Width(pub u8);

impl Width {
    /// Brings `value` into the canonical form of this width.
    pub fn wrap(self, value: i64) -> i64 {
        match self.0 {
            0 | 64.. => value,
            1 => value & 1,
            bits => (value << (64 - bits)) >> (64 - bits),
        }
    }

    /// The value's bits as an unsigned number.
    pub fn unsigned(self, value: i64) -> u64 {
        match self.0 {
            0 | 64.. => value as u64,
            bits => value as u64 & ((1 << bits) - 1),
        }
    }

    /// The value as MLIR's signed operations see it: an `i1` that is 1 reads as -1.
    pub fn signed(self, value: i64) -> i64 {
        if self.0 == 1 { -(value & 1) } else { value }
    }
}

/// `arith.cmpi` predicates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum CmpOp {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

/// A pure scalar operation over variables `V`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Pure<V> {
    Const(i64),
    /// The value of a kernel input ([`Kernel::inputs`](super::Kernel::inputs)).
    Input(super::InputId),
    Copy(V),
    Add(Width, V, V),
    Sub(Width, V, V),
    Mul(Width, V, V),
    DivS(Width, V, V),
    DivU(Width, V, V),
    CeilDivS(Width, V, V),
    CeilDivU(Width, V, V),
    FloorDivS(Width, V, V),
    RemS(Width, V, V),
    RemU(Width, V, V),
    MinS(Width, V, V),
    MaxS(Width, V, V),
    MinU(Width, V, V),
    MaxU(Width, V, V),
    And(Width, V, V),
    Or(Width, V, V),
    Xor(Width, V, V),
    Shl(Width, V, V),
    ShrS(Width, V, V),
    ShrU(Width, V, V),
    Cmp(CmpOp, Width, V, V),
    Select(V, V, V),
    /// Sign extension from the first width to the second.
    ExtS(Width, Width, V),
    /// Zero extension from the first width to the second.
    ExtU(Width, Width, V),
    Trunc(Width, V),
    /// A scalar read from global memory at an address; equal addresses give equal values within
    /// one valuation, so partitions that read one word agree.
    Load(super::InputId, V),
}

impl<V: Copy> Pure<V> {
    /// The operands, in order.
    pub fn operands(&self) -> smallvec::SmallVec<[V; 3]> {
        use Pure::*;
        match *self {
            Const(_) | Input(_) => smallvec::smallvec![],
            Copy(a) | ExtS(_, _, a) | ExtU(_, _, a) | Trunc(_, a) | Load(_, a) => smallvec::smallvec![a],
            Add(_, a, b)
            | Sub(_, a, b)
            | Mul(_, a, b)
            | DivS(_, a, b)
            | DivU(_, a, b)
            | CeilDivS(_, a, b)
            | CeilDivU(_, a, b)
            | FloorDivS(_, a, b)
            | RemS(_, a, b)
            | RemU(_, a, b)
            | MinS(_, a, b)
            | MaxS(_, a, b)
            | MinU(_, a, b)
            | MaxU(_, a, b)
            | And(_, a, b)
            | Or(_, a, b)
            | Xor(_, a, b)
            | Shl(_, a, b)
            | ShrS(_, a, b)
            | ShrU(_, a, b)
            | Cmp(_, _, a, b) => smallvec::smallvec![a, b],
            Select(c, a, b) => smallvec::smallvec![c, a, b],
        }
    }

    /// The same operation over other operands.
    pub fn map<W>(&self, mut f: impl FnMut(V) -> W) -> Pure<W> {
        use Pure::*;
        match *self {
            Const(value) => Const(value),
            Input(input) => Input(input),
            Copy(a) => Copy(f(a)),
            Add(w, a, b) => Add(w, f(a), f(b)),
            Sub(w, a, b) => Sub(w, f(a), f(b)),
            Mul(w, a, b) => Mul(w, f(a), f(b)),
            DivS(w, a, b) => DivS(w, f(a), f(b)),
            DivU(w, a, b) => DivU(w, f(a), f(b)),
            CeilDivS(w, a, b) => CeilDivS(w, f(a), f(b)),
            CeilDivU(w, a, b) => CeilDivU(w, f(a), f(b)),
            FloorDivS(w, a, b) => FloorDivS(w, f(a), f(b)),
            RemS(w, a, b) => RemS(w, f(a), f(b)),
            RemU(w, a, b) => RemU(w, f(a), f(b)),
            MinS(w, a, b) => MinS(w, f(a), f(b)),
            MaxS(w, a, b) => MaxS(w, f(a), f(b)),
            MinU(w, a, b) => MinU(w, f(a), f(b)),
            MaxU(w, a, b) => MaxU(w, f(a), f(b)),
            And(w, a, b) => And(w, f(a), f(b)),
            Or(w, a, b) => Or(w, f(a), f(b)),
            Xor(w, a, b) => Xor(w, f(a), f(b)),
            Shl(w, a, b) => Shl(w, f(a), f(b)),
            ShrS(w, a, b) => ShrS(w, f(a), f(b)),
            ShrU(w, a, b) => ShrU(w, f(a), f(b)),
            Cmp(op, w, a, b) => Cmp(op, w, f(a), f(b)),
            Select(c, a, b) => Select(f(c), f(a), f(b)),
            ExtS(from, to, a) => ExtS(from, to, f(a)),
            ExtU(from, to, a) => ExtU(from, to, f(a)),
            Trunc(w, a) => Trunc(w, f(a)),
            Load(input, a) => Load(input, f(a)),
        }
    }

    /// Computes the value: `get` reads an operand, `input` an input, `load` global memory.
    pub fn eval(
        &self,
        get: impl Fn(V) -> i64,
        input: impl Fn(super::InputId) -> i64,
        load: impl Fn(super::InputId, i64) -> i64,
    ) -> Option<i64> {
        use Pure::*;
        Some(match *self {
            Const(value) => value,
            Input(id) => input(id),
            Copy(a) => get(a),
            Add(w, a, b) => w.wrap(get(a).wrapping_add(get(b))),
            Sub(w, a, b) => w.wrap(get(a).wrapping_sub(get(b))),
            Mul(w, a, b) => w.wrap(get(a).wrapping_mul(get(b))),
            DivS(w, a, b) => w.wrap(w.signed(get(a)).checked_div(w.signed(get(b)))?),
            DivU(w, a, b) => w.wrap(w.unsigned(get(a)).checked_div(w.unsigned(get(b)))? as i64),
            CeilDivS(w, a, b) => {
                let (a, b) = (w.signed(get(a)), w.signed(get(b)));
                let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
                w.wrap(if rest != 0 && (rest < 0) == (b < 0) { quotient + 1 } else { quotient })
            }
            CeilDivU(w, a, b) => {
                let (a, b) = (w.unsigned(get(a)), w.unsigned(get(b)));
                w.wrap((a.checked_div(b)? + u64::from(a % b != 0)) as i64)
            }
            FloorDivS(w, a, b) => {
                let (a, b) = (w.signed(get(a)), w.signed(get(b)));
                let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
                w.wrap(if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient })
            }
            RemS(w, a, b) => w.wrap(w.signed(get(a)).checked_rem(w.signed(get(b)))?),
            RemU(w, a, b) => w.wrap(w.unsigned(get(a)).checked_rem(w.unsigned(get(b)))? as i64),
            MinS(w, a, b) => {
                if w.signed(get(a)) <= w.signed(get(b)) {
                    get(a)
                } else {
                    get(b)
                }
            }
            MaxS(w, a, b) => {
                if w.signed(get(a)) >= w.signed(get(b)) {
                    get(a)
                } else {
                    get(b)
                }
            }
            MinU(w, a, b) => {
                if w.unsigned(get(a)) <= w.unsigned(get(b)) {
                    get(a)
                } else {
                    get(b)
                }
            }
            MaxU(w, a, b) => {
                if w.unsigned(get(a)) >= w.unsigned(get(b)) {
                    get(a)
                } else {
                    get(b)
                }
            }
            And(w, a, b) => w.wrap(get(a) & get(b)),
            Or(w, a, b) => w.wrap(get(a) | get(b)),
            Xor(w, a, b) => w.wrap(get(a) ^ get(b)),
            Shl(w, a, b) => w.wrap(get(a).checked_shl(shift(w, get(b))?)?),
            ShrS(w, a, b) => w.wrap(w.signed(get(a)).checked_shr(shift(w, get(b))?)?),
            ShrU(w, a, b) => w.wrap(w.unsigned(get(a)).checked_shr(shift(w, get(b))?)? as i64),
            Cmp(op, w, a, b) => i64::from(compare(op, w, get(a), get(b))),
            Select(c, a, b) => {
                if get(c) & 1 == 1 {
                    get(a)
                } else {
                    get(b)
                }
            }
            ExtS(from, to, a) => to.wrap(from.signed(get(a))),
            ExtU(from, to, a) => to.wrap(from.unsigned(get(a)) as i64),
            Trunc(w, a) => w.wrap(get(a)),
            Load(id, a) => load(id, get(a)),
        })
    }
}

fn shift(width: Width, amount: i64) -> Option<u32> {
    let amount = width.unsigned(amount);
    (amount < u64::from(width.0.min(64))).then_some(amount as u32)
}

fn compare(op: CmpOp, width: Width, a: i64, b: i64) -> bool {
    let (sa, sb) = (width.signed(a), width.signed(b));
    let (ua, ub) = (width.unsigned(a), width.unsigned(b));
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Slt => sa < sb,
        CmpOp::Sle => sa <= sb,
        CmpOp::Sgt => sa > sb,
        CmpOp::Sge => sa >= sb,
        CmpOp::Ult => ua < ub,
        CmpOp::Ule => ua <= ub,
        CmpOp::Ugt => ua > ub,
        CmpOp::Uge => ua >= ub,
    }
}
