//! Ops that give the elements of a tensor another place.

use dialects::{OpCode, Tt, Ttg};
use ttgir::{OpId, ValueId};

use super::{Elements, Extractor, Pointer, Value};
use terms::{BinOp, Term};

impl Extractor<'_> {
    /// Follows `op` where it makes or moves elements; false where it does not.
    pub(super) fn shape_op(&mut self, op: OpId) -> bool {
        let tree = self.tree;
        let Some(code) = tree.code(op) else { return false };
        let operands = tree.operands(op);
        let results = tree.results(op);
        let (&[result], first) = (results, operands.first()) else {
            return matches!(code, OpCode::Tt(Tt::Split)) && self.split(operands, results);
        };
        let made = match (code, first) {
            (OpCode::Tt(Tt::MakeRange), _) => self.range(op, result),
            (OpCode::Tt(Tt::Splat), Some(&source)) => self.moved(source, result, |_, _| Vec::new()),
            (OpCode::Tt(Tt::Unsplat), Some(&source)) => self.moved(source, result, |this, lanes| {
                let zero = this.program.terms.int(0, 64);
                vec![zero; lanes.len()]
            }),
            (OpCode::Tt(Tt::Broadcast), Some(&source)) => self.moved(source, result, |this, lanes| {
                let zero = this.program.terms.int(0, 64);
                (0..lanes.len()).map(|dim| if lanes[dim] == 1 { zero } else { this.lane(dim) }).collect()
            }),
            (OpCode::Tt(Tt::ExpandDims), Some(&source)) => {
                let axis = tree.attr(op, "axis").and_then(|attr| tree.attr_int(attr)).unwrap_or(0) as usize;
                self.moved(source, result, |this, lanes| {
                    (0..lanes.len()).map(|dim| this.lane(if dim < axis { dim } else { dim + 1 })).collect()
                })
            }
            (OpCode::Tt(Tt::Trans), Some(&source)) => {
                let order = tree.attr(op, "order").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
                self.moved(source, result, |this, lanes| {
                    (0..lanes.len())
                        .map(|dim| {
                            let at = order.iter().position(|from| *from == dim as i64).unwrap_or(dim);
                            this.lane(at)
                        })
                        .collect()
                })
            }
            (OpCode::Tt(Tt::Reshape), Some(&source)) => {
                let shape = self.lanes(result);
                if tree.attr(op, "allow_reorder").is_some_and(|attr| tree.attr_bool(attr)) {
                    return false;
                }
                self.moved(source, result, |this, lanes| this.reshaped(&shape, lanes))
            }
            (OpCode::Tt(Tt::Join), Some(&source)) => self.join(source, operands.get(1).copied(), result),
            // It promises no order of the elements.
            (OpCode::Tt(Tt::Cat), Some(_)) => None,
            (OpCode::Ttg(Ttg::ConvertLayout), Some(&source)) => Some(self.value(source)),
            _ => return false,
        };
        match made {
            Some(value) => self.bind(result, value),
            None => {
                let value = self.unknown(result);
                self.bind(result, value);
            }
        }
        true
    }

    fn range(&mut self, op: OpId, result: ValueId) -> Option<Value> {
        let tree = self.tree;
        let start = tree.attr(op, "start").and_then(|attr| tree.attr_int(attr))?;
        let lane = self.lane(0);
        let lane = self.program.terms.resize(lane, 32, true);
        let start = self.program.terms.int(start, 32);
        let term = self.program.terms.binary(BinOp::Add, lane, start);
        Some(Value::Int(Elements { lanes: self.lanes(result), term }))
    }

    /// The source's value at the lanes that `at` gives, of the source's shape, in terms of the result's lanes.
    fn moved(
        &mut self,
        source: ValueId,
        result: ValueId,
        at: impl FnOnce(&mut Self, &[i64]) -> Vec<Term>,
    ) -> Option<Value> {
        let lanes = self.lanes(result);
        match self.value(source) {
            Value::Int(elements) => {
                let at = at(self, &elements.lanes);
                let term = self.program.terms.at_lanes(elements.term, &at);
                Some(Value::Int(Elements { lanes, term }))
            }
            Value::Pointer(pointer) => {
                let at = at(self, &pointer.lanes);
                let offset = self.program.terms.at_lanes(pointer.offset, &at);
                let base = self.retarget(pointer.base, &mut |this, term| this.program.terms.at_lanes(term, &at));
                Some(Value::Pointer(Pointer { lanes, base, offset, ..pointer }))
            }
            Value::Descriptor(_) => None,
            Value::Opaque => Some(Value::Opaque),
        }
    }

    /// Lanes of `source` at the lanes of `shape`, both of one number of elements, in row-major order.
    fn reshaped(&mut self, shape: &[i64], source: &[i64]) -> Vec<Term> {
        // Dimensions that both have at the front and the back stay what they are: simpler terms.
        let front = shape.iter().zip(source).take_while(|(a, b)| a == b).count();
        let back = shape[front..].iter().rev().zip(source[front..].iter().rev()).take_while(|(a, b)| a == b).count();
        let mut linear = self.program.terms.int(0, 64);
        for (dim, size) in shape.iter().enumerate().take(shape.len() - back).skip(front) {
            let size = self.program.terms.int(*size, 64);
            linear = self.program.terms.binary(BinOp::Mul, linear, size);
            let lane = self.lane(dim);
            linear = self.program.terms.binary(BinOp::Add, linear, lane);
        }
        let middle = &source[front..source.len() - back];
        let mut at: Vec<Term> = (0..front).map(|dim| self.lane(dim)).collect();
        for dim in 0..middle.len() {
            let below: i64 = middle[dim + 1..].iter().fold(1, |below: i64, size| below.saturating_mul(*size));
            let below = self.program.terms.int(below.max(1), 64);
            let mut place = self.program.terms.binary(BinOp::DivS, linear, below);
            if dim > 0 {
                let size = self.program.terms.int(middle[dim].max(1), 64);
                place = self.program.terms.binary(BinOp::RemS, place, size);
            }
            at.push(place);
        }
        for dim in 0..back {
            let lane = self.lane(shape.len() - back + dim);
            at.push(lane);
        }
        at
    }

    fn join(&mut self, a: ValueId, b: Option<ValueId>, result: ValueId) -> Option<Value> {
        let lanes = self.lanes(result);
        let (a, b) = (self.value(a), self.value(b?));
        let last = self.lane(lanes.len().checked_sub(1)?);
        let zero = self.program.terms.int(0, 64);
        let first = self.program.terms.binary(BinOp::Eq, last, zero);
        self.choose(first, a, b).map(|value| with_lanes(value, lanes))
    }

    fn split(&mut self, operands: &[ValueId], results: &[ValueId]) -> bool {
        let (&[source], &[left, right]) = (operands, results) else { return false };
        for (at, result) in [left, right].into_iter().enumerate() {
            let value = self.moved(source, result, |this, lanes| {
                let side = this.program.terms.int(at as i64, 64);
                let last = lanes.len().saturating_sub(1);
                (0..lanes.len()).map(|dim| if dim == last { side } else { this.lane(dim) }).collect()
            });
            let value = match value {
                Some(value) => value,
                None => self.unknown(result),
            };
            self.bind(result, value);
        }
        true
    }
}

fn with_lanes(value: Value, lanes: Box<[i64]>) -> Value {
    match value {
        Value::Int(elements) => Value::Int(Elements { lanes, ..elements }),
        Value::Pointer(pointer) => Value::Pointer(Pointer { lanes, ..pointer }),
        other => other,
    }
}
