//! Whether linear constraints over integers contradict each other, decided over rational numbers: the simplex method
//! with exact fractions. "No" may be wrong where only integers contradict; "yes" never is.

use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Greatest common divisor, not negative.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            let (mut x, mut y) = (x, y);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return x.into();
        }
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// A sum of variables with coefficients, and a constant, that is not negative, or that is 0.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Variables ascending, coefficients not 0.
    pub sum: Vec<(u32, i128)>,
    /// The constant.
    pub constant: i128,
    /// Whether it is 0.
    pub equal: bool,
}

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
        if self.under == other.under {
            return Some(self.over < other.over);
        }
        Some(self.over.checked_mul(other.under)? < other.over.checked_mul(self.under)?)
    }
}

/// A sum of variables, ascending.
type Row = Vec<(u32, Fraction)>;

fn combine(a: &[(u32, Fraction)], b: &[(u32, Fraction)], times: Fraction) -> Option<Row> {
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

/// Constraints that more can be added to.
#[derive(Clone, Debug, Default)]
pub struct Simplex {
    /// Exchanges of variables before it is given up.
    pivots: usize,
    /// Of each variable: its least and greatest value.
    bounds: Vec<(Option<Fraction>, Option<Fraction>)>,
    value: Vec<Fraction>,
    /// Basic variables and what they are in terms of the others; copies share what stays as it is.
    rows: Vec<(u32, Rc<Row>)>,
    /// The row of a basic variable.
    basic: Vec<Option<usize>>,
    /// Variables that stand for sums of others.
    sums: Rc<FxHashMap<Vec<(u32, i128)>, u32>>,
    /// Whether no numbers satisfy them.
    contradictory: bool,
    /// Whether numbers did not fit: nothing is known any more.
    lost: bool,
    /// Whether the values satisfy all constraints.
    satisfied: bool,
}

impl Simplex {
    /// One without constraints, with room for so many, which is given up after so many exchanges of variables.
    pub fn new(pivots: usize, room: usize) -> Simplex {
        let sums = Rc::new(FxHashMap::with_capacity_and_hasher(room, FxBuildHasher));
        let (rows, value) = (Vec::with_capacity(room), Vec::with_capacity(2 * room));
        let (bounds, basic) = (Vec::with_capacity(2 * room), Vec::with_capacity(2 * room));
        Simplex { pivots, sums, rows, value, bounds, basic, ..Simplex::default() }
    }

    /// A variable of which nothing is known.
    pub fn variable(&mut self) -> u32 {
        let var = self.value.len() as u32;
        self.value.push(Fraction::ZERO);
        self.bounds.push((None, None));
        self.basic.push(None);
        var
    }

    /// Whether no rational numbers, and so no integers, satisfy all constraints.
    pub fn contradictory(&mut self) -> bool {
        if !self.contradictory && !self.lost && !self.satisfied {
            match self.infeasible() {
                Some(answer) => (self.contradictory, self.satisfied) = (answer, !answer),
                None => self.lost = true,
            }
        }
        self.contradictory
    }

    /// Whether the constraints and one more contradict each other.
    pub fn contradicts(&self, more: Linear) -> bool {
        let mut with = self.clone();
        with.take(more, false);
        with.contradictory()
    }

    /// Adds a constraint.
    pub fn assert(&mut self, constraint: Linear) {
        self.take(constraint, true);
    }

    /// Adds a constraint; `keep` says whether others follow.
    fn take(&mut self, constraint: Linear, keep: bool) {
        self.satisfied = false;
        let Some(row) = tightened(constraint) else {
            self.contradictory = true;
            return;
        };
        if row.sum.is_empty() {
            self.contradictory |= row.constant < 0 || (row.equal && row.constant != 0);
        } else if self.add(row, keep).is_none() {
            self.lost = true;
        }
    }

    /// `None` where numbers do not fit.
    fn add(&mut self, constraint: Linear, keep: bool) -> Option<()> {
        // sum + constant >= 0
        let Linear { mut sum, constant, equal } = constraint;
        let flip = sum[0].1 < 0;
        if flip {
            sum.iter_mut().for_each(|(_, coefficient)| *coefficient = -*coefficient);
        }
        let scale = if sum.len() == 1 { sum[0].1 } else { 1 };
        let limit = Fraction::new(if flip { constant } else { -constant }, scale);
        let known = self.sums.get(&sum).copied();
        let var = match (sum.as_slice(), known) {
            ([(var, _)], _) => *var,
            (_, Some(var)) => var,
            _ => self.define(sum, keep)?,
        };
        let (mut least, mut most) = self.bounds[var as usize];
        if (!flip || equal) && least.is_none_or(|known| known.less(limit) == Some(true)) {
            least = Some(limit);
        }
        if (flip || equal) && most.is_none_or(|known| limit.less(known) == Some(true)) {
            most = Some(limit);
        }
        self.bounds[var as usize] = (least, most);
        if self.basic[var as usize].is_none() {
            self.place(var)?;
        }
        Some(())
    }

    /// A variable that is a sum of others; `keep` says whether others may ask for the same sum.
    fn define(&mut self, sum: Vec<(u32, i128)>, keep: bool) -> Option<u32> {
        // Those that are not basic stand for themselves.
        let is_free = |of: u32| self.basic[of as usize].is_none();
        let free = sum.iter().filter(|(of, _)| is_free(*of));
        let mut row: Row = free.map(|(of, coefficient)| (*of, Fraction::int(*coefficient))).collect();
        let mut value = Fraction::ZERO;
        for (of, coefficient) in &sum {
            let times = Fraction::int(*coefficient);
            value = value.add(self.value[*of as usize].mul(times)?)?;
            if let Some(at) = self.basic[*of as usize] {
                row = combine(&row, &self.rows[at].1, times)?;
            }
        }
        let var = self.variable();
        self.value[var as usize] = value;
        self.basic[var as usize] = Some(self.rows.len());
        self.rows.push((var, Rc::new(row)));
        if keep {
            Rc::make_mut(&mut self.sums).insert(sum, var);
        }
        Some(var)
    }

    /// Moves a variable that is not basic within its bounds.
    fn place(&mut self, var: u32) -> Option<()> {
        let value = self.value[var as usize];
        let to = match self.bounds[var as usize] {
            (Some(least), _) if value.less(least)? => least,
            (_, Some(most)) if most.less(value)? => most,
            _ => return Some(()),
        };
        let by = to.add(value.neg())?;
        self.value[var as usize] = to;
        for (other, row) in &self.rows {
            if let Ok(place) = row.binary_search_by_key(&var, |entry| entry.0) {
                self.value[*other as usize] = self.value[*other as usize].add(row[place].1.mul(by)?)?;
            }
        }
        Some(())
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
        for _ in 0..self.pivots {
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
            for (var, coefficient) in self.rows[at].1.iter() {
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
        for (var, value) in self.rows[at].1.iter() {
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
            // Without the variable that enters.
            let mut rest = Row::clone(&self.rows[other].1);
            rest.remove(place);
            self.rows[other].1 = Rc::new(combine(&rest, &row, times)?);
        }
        self.rows[at] = (enter, Rc::new(row));
        self.basic[leave as usize] = None;
        self.basic[enter as usize] = Some(at);
        Some(())
    }
}
