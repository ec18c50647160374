//! Tables of indices: tensors that the kernel never writes, whose values say where programs work.
//!
//! What they hold is not known. Where nothing but that stands in the way of a proof, what kernels of this kind need of
//! their tables is assumed, and the verdict says so: that no slot is given twice, that sequences lie behind each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::linear::gcd;
use rustc_hash::FxHashMap;

use super::convert::Converter;
use super::poly::Poly;
use crate::limits::proofs::COLUMNS;
use crate::program::{Access, Action, Base, Program, Source};
use terms::Node;

/// How a kernel reads a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// By rows of so many values, all of which are read: slots, pages, chunks as pairs of a sequence and a place in it.
    Rows(i64),
    /// By neighbours: where one stretch begins and the next one does.
    Ends,
}

/// What is assumed beside strides that are large enough.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Premise {
    /// No row of so many values occurs twice in a table, by its argument.
    Distinct(u32, i64),
    /// What stands in the first table stands in the second at the same place alone, where it stands there at all.
    Aside(u32, u32),
    /// The values of a table do not decrease.
    Ascending(u32),
    /// The values of a table are not negative.
    Natural(u32),
    /// Stretches that begin where the first table says, and are as long as the second says at the same place, do not
    /// overlap.
    Apart(u32, u32),
    /// From each value of the first table to the next one it is as far as the second goes there in chunks of so many.
    Chunks(u32, u32, i64),
    /// There are at most so many programs along an axis.
    Few(u8, Poly),
}

impl Premise {
    /// Whether it holds, where the launch says what the tables hold.
    pub(crate) fn holds(&self, contents: &FxHashMap<u32, Arc<[i64]>>) -> Option<bool> {
        match self {
            Premise::Distinct(table, width) => {
                let mut rows: Vec<&[i64]> = contents.get(table)?.chunks(usize::try_from(*width).ok()?.max(1)).collect();
                rows.sort_unstable();
                Some(rows.windows(2).all(|pair| pair[0] != pair[1]))
            }
            Premise::Aside(one, other) => {
                let (one, other) = (contents.get(one)?, contents.get(other)?);
                let values: BTreeSet<(i64, usize)> = other.iter().copied().zip(0..).collect();
                let of = |value: i64| values.range((value, 0)..=(value, usize::MAX));
                Some(one.iter().zip(0..).all(|(value, at)| of(*value).all(|(_, place)| *place == at)))
            }
            Premise::Ascending(table) => Some(contents.get(table)?.is_sorted()),
            Premise::Natural(table) => Some(contents.get(table)?.iter().all(|value| *value >= 0)),
            Premise::Apart(starts, lengths) => {
                let (starts, lengths) = (contents.get(starts)?, contents.get(lengths)?);
                let mut stretches: Vec<(i64, i64)> = starts.iter().copied().zip(lengths.iter().copied()).collect();
                stretches.sort_unstable();
                Some(stretches.windows(2).all(|pair| pair[0].0.saturating_add(pair[0].1) <= pair[1].0))
            }
            Premise::Chunks(starts, ends, size) => {
                let steps = contents.get(starts)?.windows(2).zip(contents.get(ends)?.windows(2));
                let far = |step: &[i64]| step[1].saturating_sub(step[0]);
                Some(
                    steps
                        .into_iter()
                        .all(|(own, of)| far(own) >= far(of).div_euclid(*size) + i64::from(far(of) % size != 0)),
                )
            }
            Premise::Few(..) => None,
        }
    }
}

/// How much is assumed of a kernel that reads tables; more includes less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Trust {
    Nothing,
    /// No row occurs twice, and ends do not decrease.
    Order,
    /// Indices are not negative.
    Natural,
    /// What no address tells apart is launched once.
    Few,
}

/// By argument, how the tensors are read that are tables; `is_constant` says of an argument whether nothing writes its
/// tensor.
pub(crate) fn tables(program: &mut Program, is_constant: impl Fn(u32) -> bool) -> FxHashMap<u32, Table> {
    let mut convert = Converter::default();
    let mut places: FxHashMap<u32, Vec<Option<Poly>>> = FxHashMap::default();
    let mut reads: FxHashMap<u32, (u32, Poly)> = FxHashMap::default();
    for at in 0..program.accesses.len() {
        let access = &program.accesses[at];
        let (Base::Argument(argument), Action::Load, Some(_)) = (access.base, access.action, access.source) else {
            continue;
        };
        let (offset, bytes) = (access.offset, i128::from(access.bytes));
        if is_constant(argument) {
            let words = convert.poly(&mut program.terms, offset).exactly_by(bytes);
            reads.extend(words.clone().map(|words| (at as u32, (argument, words))));
            places.entry(argument).or_default().push(words);
        }
    }
    let needed: Vec<BTreeSet<u32>> = program.accesses.iter().map(|access| needed(program, access)).collect();
    // Columns of a row of which no access needs two, and by each of which the same tensors are written, are values by
    // themselves: slots of a token, one after the other.
    let is_row = |argument: u32, width: i128| {
        let mut written = vec![BTreeSet::new(); usize::try_from(width).unwrap_or(0)];
        for (access, needed) in program.accesses.iter().zip(&needed) {
            let own = needed.iter().filter_map(|at| reads.get(at)).filter(|(of, _)| *of == argument);
            let columns: BTreeSet<i128> = own.map(|(_, place)| place.offset().rem_euclid(width)).collect();
            if columns.len() > 1 {
                return true;
            }
            if let (Some(column), true) = (columns.first(), access.action.writes())
                && let Some(written) = usize::try_from(*column).ok().and_then(|column| written.get_mut(column))
                && let Base::Argument(tensor) = access.base
            {
                written.insert(tensor);
            }
        }
        written.iter().any(|tensors| tensors.is_empty() || Some(tensors) != written.first())
    };
    let read = |argument: u32, places: Vec<Option<Poly>>| {
        let places: Vec<Poly> = places.into_iter().collect::<Option<_>>()?;
        let factors = places.iter().flat_map(|place| place.terms().filter(|(monomial, _)| !monomial.is_empty()));
        let width = factors.fold(0, |all, (_, factor)| gcd(all, factor));
        let column = |place: &Poly| place.offset().rem_euclid(width);
        let next = |(a, b): (&Poly, &Poly)| b.minus(a).as_constant() == Some(1);
        match width {
            0 => None,
            1 if places.iter().any(|a| places.iter().any(|b| next((a, b)))) => Some(Table::Ends),
            1..=COLUMNS if (0..width).all(|at| places.iter().any(|place| column(place) == at)) => {
                let width = if is_row(argument, width) { width } else { 1 };
                Some(Table::Rows(i64::try_from(width).ok()?))
            }
            _ => None,
        }
    };
    places.into_iter().filter_map(|(argument, places)| Some((argument, read(argument, places)?))).collect()
}

/// The accesses that read what it depends on where another one goes, and whether it is executed.
fn needed(program: &Program, access: &Access) -> BTreeSet<u32> {
    let mut open = vec![access.offset, access.mask, access.path];
    let mut needed = BTreeSet::new();
    while let Some(term) = open.pop() {
        program.terms.leaves(term, &mut |node| {
            if let Node::Read(source, ..) = node
                && let Some(Source::Access(read)) = program.sources.get(*source as usize)
                && needed.insert(*read)
            {
                let of = &program.accesses[*read as usize];
                open.extend([of.offset, of.mask]);
            }
        });
    }
    needed
}
