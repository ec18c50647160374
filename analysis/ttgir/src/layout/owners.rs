//! Which warp and lane hold which element of a tensor in registers.

use super::read::LayoutSpec;
use crate::limits::layouts::ELEMENTS;

/// Who holds an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner {
    /// The warp, from 0.
    pub warp: i64,
    /// The thread in its warp, from 0.
    pub lane: i64,
}

/// The tile that a layout gives out once: of one or two dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Rows and columns; one row for a tile of one dimension.
    pub shape: [i64; 2],
    /// Elements next to each other that one thread holds: the cells in which it is drawn.
    pub cell: [i64; 2],
    /// Cells down and across that belong to one warp, next to each other.
    pub warp: [i64; 2],
    owners: Vec<Owner>,
}

impl Tile {
    /// Who holds the element in this row and column.
    pub(crate) fn owner(&self, row: i64, column: i64) -> Option<Owner> {
        let [rows, columns] = self.shape;
        let inside = (0..rows).contains(&row) && (0..columns).contains(&column);
        let at = usize::try_from(row * columns + column).ok().filter(|_| inside)?;
        self.owners.get(at).copied()
    }

    /// The tile of a layout that can be drawn.
    pub(crate) fn of(spec: &LayoutSpec) -> Option<Tile> {
        match spec.kind.as_str() {
            "ttg.blocked" => blocked(&Blocked::of(spec)?),
            "ttg.linear" => linear(spec),
            "ttg.nvidia_mma" => mma(spec),
            _ => None,
        }
    }

    fn fill(shape: [i64; 2], cell: [i64; 2], warp: [i64; 2], owner: impl Fn(i64, i64) -> Owner) -> Option<Tile> {
        let [rows, columns] = shape;
        if rows < 1 || columns < 1 || rows.checked_mul(columns)? > ELEMENTS {
            return None;
        }
        let owners = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let owners = owners.map(|(row, column)| owner(row, column)).collect();
        Some(Tile { shape, cell, warp, owners })
    }
}

/// The numbers of a blocked layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// Elements of a thread, by dimension.
    pub size_per_thread: Vec<i64>,
    /// Threads of a warp, by dimension.
    pub threads_per_warp: Vec<i64>,
    /// Warps, by dimension.
    pub warps: Vec<i64>,
    /// Dimensions, the fastest first.
    pub order: Vec<i64>,
}

impl Blocked {
    pub(crate) fn of(spec: &LayoutSpec) -> Option<Blocked> {
        let own = Blocked {
            size_per_thread: spec.ints("sizePerThread")?,
            threads_per_warp: spec.ints("threadsPerWarp")?,
            warps: spec.ints("warpsPerCTA")?,
            order: spec.ints("order")?,
        };
        let rank = own.order.len();
        let lists = [&own.size_per_thread, &own.threads_per_warp, &own.warps];
        let sizes = lists.iter().all(|list| list.len() == rank && list.iter().all(|size| (1..=1 << 20).contains(size)));
        let mut dims = own.order.clone();
        dims.sort_unstable();
        (sizes && rank > 0 && dims.iter().enumerate().all(|(at, dim)| *dim == at as i64)).then_some(own)
    }

    /// What all threads together hold once, by dimension.
    pub(crate) fn tile(&self) -> Vec<i64> {
        let parts = self.size_per_thread.iter().zip(&self.threads_per_warp).zip(&self.warps);
        parts.map(|((size, threads), warps)| size.saturating_mul(*threads).saturating_mul(*warps)).collect()
    }

    /// Who holds an element, by its coordinates.
    pub(crate) fn owner(&self, at: &[i64]) -> Owner {
        let (mut lane, mut warp) = (0, 0);
        let (mut lanes, mut warps) = (1, 1);
        for dim in &self.order {
            let dim = *dim as usize;
            let of = |list: &[i64]| list.get(dim).copied().unwrap_or(1).max(1);
            let thread = at.get(dim).copied().unwrap_or(0) / of(&self.size_per_thread);
            let (threads, count) = (of(&self.threads_per_warp), of(&self.warps));
            lane += thread % threads * lanes;
            warp += thread / threads % count * warps;
            lanes *= threads;
            warps *= count;
        }
        Owner { warp, lane }
    }
}

fn blocked(own: &Blocked) -> Option<Tile> {
    let two = |list: &[i64]| match *list {
        [columns] => Some([1, columns]),
        [rows, columns] => Some([rows, columns]),
        _ => None,
    };
    let one = own.order.len() == 1;
    let coordinates = |row: i64, column: i64| if one { vec![column] } else { vec![row, column] };
    Tile::fill(two(&own.tile())?, two(&own.size_per_thread)?, two(&own.threads_per_warp)?, |row, column| {
        own.owner(&coordinates(row, column))
    })
}

/// A linear layout: each bit of register, lane and warp moves the element by its basis, and bits add by exclusive or.
fn linear(spec: &LayoutSpec) -> Option<Tile> {
    let named = |name: &str| spec.bases(name);
    let (registers, lanes, warps) = (named("register")?, named("lane")?, named("warp")?);
    let bits = registers.len() + lanes.len() + warps.len();
    let all = || registers.iter().chain(&lanes).chain(&warps);
    let rank = all().next()?.len();
    if !(1..=2).contains(&rank) || bits > 15 || all().any(|basis| basis.len() != rank) {
        return None;
    }
    let pair = |basis: &[i64]| match *basis {
        [column] => [0, column],
        [row, column] => [row, column],
        _ => [0, 0],
    };
    let mut shape = [1i64, 1];
    for basis in all() {
        let place = pair(basis);
        for (size, moved) in shape.iter_mut().zip(place) {
            if !(0..1 << 20).contains(&moved) {
                return None;
            }
            while *size <= moved {
                *size *= 2;
            }
        }
    }
    let mut owners = vec![None; usize::try_from(shape[0].checked_mul(shape[1]).filter(|it| *it <= ELEMENTS)?).ok()?];
    for number in 0..1i64 << bits {
        let mut place = [0i64, 0];
        for (bit, basis) in all().enumerate().filter(|(bit, _)| number >> bit & 1 == 1) {
            let _ = bit;
            let moved = pair(basis);
            place = [place[0] ^ moved[0], place[1] ^ moved[1]];
        }
        let lane = number >> registers.len() & ((1 << lanes.len()) - 1);
        let warp = number >> (registers.len() + lanes.len());
        let at = usize::try_from(place[0] * shape[1] + place[1]).ok()?;
        let owner = Owner { warp, lane };
        // Of several that hold an element, the first.
        if let Some(held) = owners.get_mut(at)
            && held.is_none_or(|before| owner < before)
        {
            *held = Some(owner);
        }
    }
    let owners: Option<Vec<Owner>> = owners.into_iter().collect();
    // Elements next to each other are those of the register bits that count up from 1.
    let mut cell = [1i64, 1];
    for _ in 0..registers.len() {
        for basis in &registers {
            match pair(basis) {
                [0, column] if column == cell[1] => cell[1] *= 2,
                [row, 0] if row == cell[0] => cell[0] *= 2,
                _ => {}
            }
        }
    }
    Some(Tile { shape, cell, warp: [0, 0], owners: owners? })
}

/// The accumulator of `mma.sync` (version 2) and of wgmma (version 3): in each block of 8 rows and 8 columns a lane holds
/// two elements next to each other, and four lanes a row.
fn mma(spec: &LayoutSpec) -> Option<Tile> {
    let (major, warps, instr) = (spec.int("versionMajor")?, spec.ints("warpsPerCTA")?, spec.ints("instrShape")?);
    let (&[_, _], [.., rows, columns]) = (warps.as_slice(), instr.get(..2)?) else { return None };
    if !matches!(major, 2 | 3) || *rows != 16 || columns % 8 != 0 {
        return None;
    }
    Tile::fill([16, 8], [1, 2], [16, 4], |row, column| Owner { warp: 0, lane: row % 8 * 4 + column / 2 })
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    fn tile(text: &str) -> Tile {
        Tile::of(&read(text, &|_| None).expect("a layout")).expect("a tile")
    }

    fn owner(tile: &Tile, row: i64, column: i64) -> (i64, i64) {
        tile.owner(row, column).map(|it| (it.warp, it.lane)).expect("it is inside")
    }

    #[test]
    fn a_blocked_layout_counts_along_its_order() {
        let rows = tile(
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>",
        );
        assert_eq!(rows.shape, [32, 32]);
        // Eight elements along a row are one thread's, four threads a row, eight rows a warp.
        assert_eq!([owner(&rows, 0, 7), owner(&rows, 0, 8), owner(&rows, 1, 0)], [(0, 0), (0, 1), (0, 4)]);
        assert_eq!([owner(&rows, 7, 31), owner(&rows, 8, 0), owner(&rows, 31, 31)], [(0, 31), (1, 0), (3, 31)]);
        let columns = tile(
            "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [0, 1]}>",
        );
        assert_eq!(columns.shape, [32, 16]);
        // Lanes and warps go down the rows first.
        assert_eq!([owner(&columns, 4, 0), owner(&columns, 0, 1)], [(0, 1), (0, 4)]);
        assert_eq!([owner(&columns, 16, 0), owner(&columns, 0, 8), owner(&columns, 16, 8)], [(1, 0), (2, 0), (3, 0)]);
    }

    #[test]
    fn one_dimension_is_one_row() {
        let row = tile("#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>");
        assert_eq!(row.shape, [1, 256]);
        assert_eq!([owner(&row, 0, 3), owner(&row, 0, 64), owner(&row, 0, 255)], [(0, 1), (1, 0), (3, 31)]);
    }

    #[test]
    fn a_linear_layout_that_says_the_same_has_the_same_owners() {
        let linear = tile(
            "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], \
             warp = [[8, 0], [16, 0]], block = []}>",
        );
        let blocked = tile(
            "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>",
        );
        assert_eq!((linear.shape, linear.cell), ([32, 16], [1, 4]));
        for (row, column) in (0..32).flat_map(|row| (0..16).map(move |column| (row, column))) {
            assert_eq!(linear.owner(row, column), blocked.owner(row, column));
        }
    }

    #[test]
    fn an_accumulator_has_two_elements_a_lane_and_four_lanes_a_row() {
        let mma = tile(
            "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>",
        );
        let lanes = [owner(&mma, 0, 0), owner(&mma, 0, 2), owner(&mma, 1, 0), owner(&mma, 7, 7), owner(&mma, 8, 0)];
        assert_eq!(lanes.map(|(_, lane)| lane), [0, 1, 4, 31, 0]);
    }

    #[test]
    fn numbers_that_make_no_sense_have_no_tile() {
        for text in [
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8], warpsPerCTA = [4, 1], order = [1, 0]}>",
            "#ttg.blocked<{sizePerThread = [0], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
            "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [7]}>",
            "#ttg.blocked<{sizePerThread = [99999], threadsPerWarp = [99999], warpsPerCTA = [99999], order = [0]}>",
            "#ttg.linear<{register = [[0, -1]], lane = [], warp = []}>",
        ] {
            assert_eq!(read(text, &|_| None).and_then(|spec| Tile::of(&spec)), None, "{text}");
        }
    }
}
