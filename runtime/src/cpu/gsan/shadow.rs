//! Shadow memory: for each byte of global memory its last write, and the accesses since. A page comes into being when
//! its first byte is touched, and its halves when they are needed.

use std::collections::HashMap;

use super::record::Id;

/// Bytes of a page.
const PAGE: usize = 4096;

type Cells = Box<[Id; PAGE]>;

#[derive(Debug, Default)]
struct Page {
    writes: Option<Cells>,
    since: Option<Cells>,
}

/// What shadow memory says of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Cell {
    /// The last write.
    pub(super) write: Id,
    /// The set of the accesses since.
    pub(super) since: Id,
}

/// The cells of all bytes that were touched.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: HashMap<u64, Page>,
    halves: u64,
}

impl Shadow {
    /// Replaces the cells of a range by what `each` makes of them, given neighbours that are alike at once: the address of
    /// the first, how many, and what they hold.
    pub(super) fn update(&mut self, address: u64, bytes: u32, mut each: impl FnMut(u64, u32, Cell) -> Cell) {
        let (mut at, end) = (address, address + u64::from(bytes));
        while at < end {
            let page = self.pages.entry(at / PAGE as u64).or_default();
            let from = (at % PAGE as u64) as usize;
            let to = PAGE.min(from + (end - at) as usize);
            let mut first = from;
            while first < to {
                let cell = page.cell(first);
                let past = page.alike(first, to, cell);
                let start = at + (first - from) as u64;
                let new = each(start, (past - first) as u32, cell);
                self.halves += set(&mut page.writes, first..past, cell.write, new.write);
                self.halves += set(&mut page.since, first..past, cell.since, new.since);
                first = past;
            }
            at += (to - from) as u64;
        }
    }

    /// Bytes that it holds.
    pub(super) fn held(&self) -> u64 {
        self.halves * size_of::<[Id; PAGE]>() as u64
    }

    /// Bytes of the pages of global memory that it has cells for.
    pub(super) fn covered(&self) -> u64 {
        (self.pages.len() * PAGE) as u64
    }
}

impl Page {
    fn cell(&self, at: usize) -> Cell {
        let of = |cells: &Option<Cells>| cells.as_ref().map_or(0, |cells| cells[at]);
        Cell { write: of(&self.writes), since: of(&self.since) }
    }

    /// The end of the cells from `first` on, below `to`, that hold what the first one does.
    fn alike(&self, first: usize, to: usize, cell: Cell) -> usize {
        let run = |cells: &Option<Cells>, to: usize, id: Id| match cells {
            None => to,
            Some(cells) => cells[first..to].iter().position(|other| *other != id).map_or(to, |len| first + len),
        };
        run(&self.since, run(&self.writes, to, cell.write), cell.since)
    }
}

/// Sets a range of cells; how many halves of a page that took.
fn set(cells: &mut Option<Cells>, range: std::ops::Range<usize>, old: Id, new: Id) -> u64 {
    if old == new {
        return 0;
    }
    let made = u64::from(cells.is_none());
    cells.get_or_insert_with(|| Box::new([0; PAGE]))[range].fill(new);
    made
}
