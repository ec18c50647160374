//! Whether linear constraints over integers contradict each other, decided over rational numbers: the simplex method
//! with exact fractions. "No" may be wrong where only integers contradict; "yes" never is.

use super::poly::gcd;

/// A sum of variables with coefficients, and a constant, that is not negative, or that is 0.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// Variables ascending, coefficients not 0.
    pub(crate) sum: Vec<(u32, i128)>,
    pub(crate) constant: i128,
    pub(crate) equal: bool,
}

/// Exchanges of variables before the answer is given up.
const PIVOTS: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    const ZERO: Fraction = Fraction { over: 0, under: 1 };

    fn new(over: i128, under: i128) -> Fraction {
        let by = gcd(over, under).max(1);
        let by = if under < 0 { -by } else { by };
        Fraction { over: over / by, under: under / by }
    }

    fn int(value: i128) -> Fraction {
        Fraction { over: value, under: 1 }
    }

    fn add(self, other: Fraction) -> Option<Fraction> {
        if self.under == 1 && other.under == 1 {
            return Some(Fraction::int(self.over.checked_add(other.over)?));
        }
        let over = self.over.checked_mul(other.under)?.checked_add(other.over.checked_mul(self.under)?)?;
        Some(Fraction::new(over, self.under.checked_mul(other.under)?))
    }

    fn mul(self, other: Fraction) -> Option<Fraction> {
        if self.under == 1 && other.under == 1 {
            return Some(Fraction::int(self.over.checked_mul(other.over)?));
        }
        Some(Fraction::new(self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?))
    }

    fn neg(self) -> Fraction {
        Fraction { over: -self.over, under: self.under }
    }

    fn inverse(self) -> Fraction {
        Fraction::new(self.under, self.over)
    }

    fn less(self, other: Fraction) -> Option<bool> {
        Some(self.over.checked_mul(other.under)? < other.over.checked_mul(self.under)?)
    }
}

/// A sum of variables, ascending.
type Row = Vec<(u32, Fraction)>;

fn combine(a: &Row, b: &Row, times: Fraction) -> Option<Row> {
    let mut sum = Row::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).map(|e| e.0), b.get(j).map(|e| e.0));
        match (x, y) {
            (Some(x), Some(y)) if x == y => {
                let value = a[i].1.add(b[j].1.mul(times)?)?;
                if value != Fraction::ZERO {
                    sum.push((x, value));
                }
                i += 1;
                j += 1;
            }
            (Some(x), y) if y.is_none_or(|y| x < y) => {
                sum.push(a[i]);
                i += 1;
            }
            _ => {
                sum.push((b[j].0, b[j].1.mul(times)?));
                j += 1;
            }
        }
    }
    Some(sum)
}

/// Divides by what all coefficients have in common; an integer sum is at least the next integer.
fn tightened(mut of: Linear) -> Option<Linear> {
    let common = of.sum.iter().fold(0, |all, (_, coefficient)| gcd(all, *coefficient));
    if common > 1 {
        if of.equal && of.constant % common != 0 {
            return None;
        }
        of.sum.iter_mut().for_each(|(_, coefficient)| *coefficient /= common);
        of.constant = of.constant.div_euclid(common);
    }
    Some(of)
}

/// Whether no rational numbers, and so no integers, satisfy all constraints.
pub(crate) fn contradict(constraints: Vec<Linear>) -> bool {
    let mut rows: Vec<Linear> = Vec::new();
    for constraint in constraints {
        let Some(row) = tightened(constraint) else { return true };
        if row.sum.is_empty() {
            if row.constant < 0 || (row.equal && row.constant != 0) {
                return true;
            }
            continue;
        }
        rows.push(row);
    }
    Simplex::new(rows).and_then(|mut simplex| simplex.infeasible()).unwrap_or(false)
}

struct Simplex {
    /// Of each variable: its least and greatest value.
    bounds: Vec<(Option<Fraction>, Option<Fraction>)>,
    value: Vec<Fraction>,
    /// Basic variables and what they are in terms of the others.
    rows: Vec<(u32, Row)>,
    /// The row of a basic variable.
    basic: Vec<Option<usize>>,
}

impl Simplex {
    /// `None` where a bound already contradicts.
    fn new(constraints: Vec<Linear>) -> Option<Simplex> {
        let count = constraints.iter().flat_map(|row| row.sum.iter()).map(|(var, _)| var + 1).max().unwrap_or(0);
        let mut simplex = Simplex {
            bounds: vec![(None, None); count as usize],
            value: vec![Fraction::ZERO; count as usize],
            rows: Vec::new(),
            basic: vec![None; count as usize],
        };
        let mut sums: Vec<(Vec<(u32, i128)>, u32)> = Vec::new();
        for constraint in constraints {
            // sum + constant >= 0
            let Linear { mut sum, constant, equal } = constraint;
            let flip = sum[0].1 < 0;
            if flip {
                sum.iter_mut().for_each(|(_, coefficient)| *coefficient = -*coefficient);
            }
            let scale = if sum.len() == 1 { sum[0].1 } else { 1 };
            let limit = Fraction::new(if flip { constant } else { -constant }, scale);
            let var = match sum.as_slice() {
                [(var, _)] => *var,
                _ => match sums.iter().find(|(known, _)| *known == sum) {
                    Some((_, var)) => *var,
                    None => {
                        let var = simplex.value.len() as u32;
                        let row: Row = sum.iter().map(|(v, c)| (*v, Fraction::int(*c))).collect();
                        simplex.value.push(Fraction::ZERO);
                        simplex.bounds.push((None, None));
                        simplex.basic.push(Some(simplex.rows.len()));
                        simplex.rows.push((var, row));
                        sums.push((sum, var));
                        var
                    }
                },
            };
            let (least, most) = &mut simplex.bounds[var as usize];
            if !flip || equal {
                match least {
                    Some(known) if !known.less(limit)? => {}
                    _ => *least = Some(limit),
                }
            }
            if flip || equal {
                match most {
                    Some(known) if !limit.less(*known)? => {}
                    _ => *most = Some(limit),
                }
            }
        }
        Some(simplex)
    }

    /// `None` where it was not found out.
    fn infeasible(&mut self) -> Option<bool> {
        for (least, most) in &self.bounds {
            if let (Some(least), Some(most)) = (least, most)
                && most.less(*least)?
            {
                return Some(true);
            }
        }
        // Variables that are not basic start within their bounds.
        for var in 0..self.value.len() {
            if self.basic[var].is_none() {
                let (least, most) = self.bounds[var];
                self.value[var] = match (least, most) {
                    (Some(least), _) if self.value[var].less(least)? => least,
                    (_, Some(most)) if most.less(self.value[var])? => most,
                    _ => self.value[var],
                };
            }
        }
        for at in 0..self.rows.len() {
            let (var, row) = &self.rows[at];
            let mut sum = Fraction::ZERO;
            for (of, coefficient) in row {
                sum = sum.add(self.value[*of as usize].mul(*coefficient)?)?;
            }
            self.value[*var as usize] = sum;
        }
        for _ in 0..PIVOTS {
            // The least variable that is out of bounds (Bland's rule: it ends).
            let mut broken: Option<(u32, usize, Fraction, bool)> = None;
            for (at, (var, _)) in self.rows.iter().enumerate() {
                let value = self.value[*var as usize];
                let (least, most) = self.bounds[*var as usize];
                let low = least.filter(|least| value.less(*least) == Some(true));
                let high = most.filter(|most| most.less(value) == Some(true));
                let found = low.map(|to| (to, true)).or(high.map(|to| (to, false)));
                if let Some((to, raise)) = found
                    && broken.is_none_or(|(best, ..)| *var < best)
                {
                    broken = Some((*var, at, to, raise));
                }
            }
            let Some((_, at, to, raise)) = broken else { return Some(false) };
            let mut pick = None;
            for (var, coefficient) in &self.rows[at].1 {
                let up = (coefficient.over > 0) == raise;
                let (least, most) = self.bounds[*var as usize];
                let value = self.value[*var as usize];
                let free = match up {
                    true => most.is_none_or(|most| value.less(most) == Some(true)),
                    false => least.is_none_or(|least| least.less(value) == Some(true)),
                };
                if free {
                    pick = Some((*var, *coefficient));
                    break;
                }
            }
            let Some((enter, coefficient)) = pick else { return Some(true) };
            self.pivot(at, enter, coefficient, to)?;
        }
        None
    }

    /// Makes the basic variable of a row take a value by moving `enter`, which becomes basic in its place.
    fn pivot(&mut self, at: usize, enter: u32, coefficient: Fraction, to: Fraction) -> Option<()> {
        let leave = self.rows[at].0;
        let inverse = coefficient.inverse();
        let by = to.add(self.value[leave as usize].neg())?.mul(inverse)?;
        self.value[leave as usize] = to;
        self.value[enter as usize] = self.value[enter as usize].add(by)?;
        for (other, (var, row)) in self.rows.iter().enumerate() {
            if other != at
                && let Ok(place) = row.binary_search_by_key(&enter, |entry| entry.0)
            {
                self.value[*var as usize] = self.value[*var as usize].add(row[place].1.mul(by)?)?;
            }
        }
        // enter = (leave - rest) / coefficient
        let mut row: Row = Vec::with_capacity(self.rows[at].1.len());
        for (var, value) in &self.rows[at].1 {
            if *var != enter {
                row.push((*var, value.mul(inverse)?.neg()));
            }
        }
        let place = row.partition_point(|entry| entry.0 < leave);
        row.insert(place, (leave, inverse));
        for other in 0..self.rows.len() {
            if other == at {
                continue;
            }
            let Ok(place) = self.rows[other].1.binary_search_by_key(&enter, |entry| entry.0) else { continue };
            let times = self.rows[other].1[place].1;
            let mut rest = self.rows[other].1.clone();
            rest.remove(place);
            self.rows[other].1 = combine(&rest, &row, times)?;
        }
        self.rows[at] = (enter, row);
        self.basic[leave as usize] = None;
        self.basic[enter as usize] = Some(at);
        Some(())
    }
}
