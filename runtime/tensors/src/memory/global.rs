//! Global memory: allocations at addresses of their own, far from each other.
//!
//! An allocation starts at a multiple of 4 KiB and has a gap of at least 1 MiB on both sides, so that an access outside of
//! it meets nothing else and can be told from which allocation it strayed. An *elastic* allocation has no end: its pages
//! come into being, filled by a function, when they are first touched. Deviation: a real allocator packs, so that a
//! stray access may go unnoticed.

use crate::limits::memory::ELASTIC;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Bytes of a page of an elastic allocation.
const PAGE: usize = 4096;

/// Where the first allocation starts.
const FIRST: u64 = 0x7000_0000_0000;

/// Bytes between allocations, at least.
const GAP: u64 = 1 << 20;

/// Fills bytes of an elastic allocation, given where they start in it.
type PageSource = Rc<dyn Fn(u64, &mut [u8])>;

/// An access that meets no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessFault {
    /// The address of the first byte.
    pub address: u64,
    /// How many bytes are accessed.
    pub bytes: u64,
    /// The nearest allocation: its name, where the access starts in it, and how many bytes it has.
    pub near: Option<(Rc<str>, i64, u64)>,
}

impl fmt::Display for AccessFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.near {
            Some((name, at, size)) => write!(f, "at byte {at} of `{name}`, which has {size}"),
            None => write!(f, "at address {:#x}, where nothing is", self.address),
        }
    }
}

enum Backing {
    Dense(Vec<u8>),
    Elastic { pages: RefCell<BTreeMap<u64, Box<[u8; PAGE]>>>, source: PageSource },
}

struct Allocation {
    name: Rc<str>,
    start: u64,
    size: u64,
    store: Backing,
}

/// How an operation touches global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessMode {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads atomically: a load, or a comparison that fails.
    AtomicRead,
    /// It writes atomically without a read.
    AtomicWrite,
    /// It reads and writes atomically.
    AtomicUpdate,
}

/// Neighbouring bytes that an operation touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GlobalAccess {
    /// The address of the first byte.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// How they are touched.
    pub mode: AccessMode,
    /// The element of the CTA's tile that the first byte belongs to, in row-major order.
    pub element: u32,
    /// Bytes of an element.
    pub width: u8,
}

/// Global memory: all allocations of a launch.
#[derive(Default)]
pub struct GlobalMemory {
    /// In the order of addresses.
    allocations: Vec<Allocation>,
    /// The one that was touched last.
    last: Cell<usize>,
    /// Writes that have changed something.
    changes: u64,
    /// What was touched since somebody looked; `None` where nobody wants to know.
    log: RefCell<Option<Vec<GlobalAccess>>>,
}

impl fmt::Debug for GlobalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.allocations.iter().map(|one| (&one.name, one.start, one.size))).finish()
    }
}

impl GlobalMemory {
    fn next(&self) -> u64 {
        let end = self.allocations.last().map_or(FIRST, |last| last.start + last.size + GAP);
        end.next_multiple_of(PAGE as u64)
    }

    /// An allocation that holds these bytes; its address.
    pub fn allocate(&mut self, name: &str, bytes: Vec<u8>) -> u64 {
        let (start, size) = (self.next(), bytes.len() as u64);
        self.allocations.push(Allocation { name: name.into(), start, size, store: Backing::Dense(bytes) });
        start
    }

    /// An allocation without an end, whose bytes `source` makes when they are first touched, given where they start;
    /// its address.
    pub fn elastic(&mut self, name: &str, source: impl Fn(u64, &mut [u8]) + 'static) -> u64 {
        let start = self.next();
        let store = Backing::Elastic { pages: RefCell::default(), source: Rc::new(source) };
        self.allocations.push(Allocation { name: name.into(), start, size: ELASTIC, store });
        start
    }

    /// What an allocation holds, by its address; `None` of an elastic one.
    pub fn contents(&self, address: u64) -> Option<&[u8]> {
        let one = self.allocations.iter().find(|one| one.start == address)?;
        match &one.store {
            Backing::Dense(bytes) => Some(bytes),
            Backing::Elastic { .. } => None,
        }
    }

    /// Bytes that are held.
    pub fn held(&self) -> u64 {
        let held = |one: &Allocation| match &one.store {
            Backing::Dense(bytes) => bytes.len() as u64,
            Backing::Elastic { pages, .. } => (pages.borrow().len() * PAGE) as u64,
        };
        self.allocations.iter().map(held).sum()
    }

    /// How many writes have changed what was there.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// From now on accesses are noted, for [`GlobalMemory::accesses`].
    pub fn watch(&mut self) {
        self.log = RefCell::new(Some(Vec::new()));
    }

    /// Whether accesses are noted.
    pub fn is_watched(&self) -> bool {
        self.log.borrow().is_some()
    }

    /// Takes what was touched since the last call into an empty list, in order.
    pub fn accesses(&self, into: &mut Vec<GlobalAccess>) {
        into.clear();
        if let Some(log) = &mut *self.log.borrow_mut() {
            std::mem::swap(log, into);
        }
    }

    /// Notes an access that an operation has made.
    pub(crate) fn note(&self, address: u64, bytes: usize, mode: AccessMode, element: usize, width: usize) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            let (bytes, element, width) = (bytes as u32, element as u32, width as u8);
            log.push(GlobalAccess { address, bytes, mode, element, width });
        }
    }

    /// The allocation that an address is in: its name, where it starts, and how many bytes it has, `None` without an end.
    pub fn allocation(&self, address: u64) -> Option<(Rc<str>, u64, Option<u64>)> {
        let (index, _) = self.find(address, 1).ok()?;
        let one = self.allocations.get(index)?;
        let size = matches!(one.store, Backing::Dense(_)).then_some(one.size);
        Some((one.name.clone(), one.start, size))
    }

    /// A word in words: `x[5] = 0`, elements being of so many bytes.
    pub fn word(&self, address: u64, bytes: u64, value: i64) -> Rc<str> {
        match self.allocation(address) {
            Some((name, start, _)) => format!("{name}[{}] = {value}", (address - start) / bytes.max(1)).into(),
            None => format!("{value}").into(),
        }
    }

    /// The allocation that holds all of a range, and where it starts in it.
    fn find(&self, address: u64, bytes: u64) -> Result<(usize, u64), AccessFault> {
        let within = |one: &Allocation| {
            let at = address.checked_sub(one.start)?;
            (at.checked_add(bytes)? <= one.size).then_some(at)
        };
        let last = self.last.get();
        if let Some(at) = self.allocations.get(last).and_then(within) {
            return Ok((last, at));
        }
        let after = self.allocations.partition_point(|one| one.start <= address);
        if let Some(index) = after.checked_sub(1)
            && let Some(at) = self.allocations.get(index).and_then(within)
        {
            self.last.set(index);
            return Ok((index, at));
        }
        Err(self.fault(address, bytes, after))
    }

    #[cold]
    fn fault(&self, address: u64, bytes: u64, after: usize) -> AccessFault {
        let below = after.checked_sub(1).and_then(|index| self.allocations.get(index));
        let below = below.map(|one| (address.saturating_sub(one.start + one.size), one));
        let above = self.allocations.get(after).map(|one| (one.start.saturating_sub(address), one));
        let nearest = below.into_iter().chain(above).min_by_key(|(distance, _)| *distance);
        // An address that is nowhere near is no offset of anything.
        let near = nearest.filter(|(distance, _)| *distance < 1 << 39);
        let near = near.map(|(_, one)| (one.name.clone(), address.wrapping_sub(one.start) as i64, one.size));
        AccessFault { address, bytes, near }
    }

    /// Reads bytes. Fails where they are not all in one allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), AccessFault> {
        let (index, at) = self.find(address, into.len() as u64)?;
        match self.allocations.get(index).map(|one| &one.store) {
            Some(Backing::Dense(bytes)) => {
                if let Some(from) = bytes.get(at as usize..at as usize + into.len()) {
                    into.copy_from_slice(from);
                }
            }
            Some(Backing::Elastic { pages, source }) => {
                let mut pages = pages.borrow_mut();
                each_page(at, into.len(), |page, within, range| {
                    let page = pages.entry(page).or_insert_with(|| new_page(source, page));
                    into[range.clone()].copy_from_slice(&page[within..within + range.len()]);
                });
            }
            None => {}
        }
        Ok(())
    }

    /// Writes bytes. Fails where they are not all in one allocation.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), AccessFault> {
        let (index, at) = self.find(address, from.len() as u64)?;
        match self.allocations.get_mut(index).map(|one| &mut one.store) {
            Some(Backing::Dense(bytes)) => {
                if let Some(into) = bytes.get_mut(at as usize..at as usize + from.len())
                    && into != from
                {
                    self.changes += 1;
                    into.copy_from_slice(from);
                }
            }
            Some(Backing::Elastic { pages, source }) => {
                let (pages, changes) = (pages.get_mut(), &mut self.changes);
                each_page(at, from.len(), |page, within, range| {
                    let page = pages.entry(page).or_insert_with(|| new_page(source, page));
                    let into = &mut page[within..within + range.len()];
                    *changes += u64::from(*into != from[range.clone()]);
                    into.copy_from_slice(&from[range]);
                });
            }
            None => {}
        }
        Ok(())
    }
}

/// A page as it is before the first write to it.
fn new_page(source: &PageSource, page: u64) -> Box<[u8; PAGE]> {
    let mut bytes = Box::new([0; PAGE]);
    source(page * PAGE as u64, &mut bytes[..]);
    bytes
}

/// Cuts a range at pages: the page, where in it, and which bytes of the range.
fn each_page(at: u64, len: usize, mut each: impl FnMut(u64, usize, std::ops::Range<usize>)) {
    let mut done = 0;
    while done < len {
        let place = at + done as u64;
        let within = (place % PAGE as u64) as usize;
        let step = (PAGE - within).min(len - done);
        each(place / PAGE as u64, within, done..done + step);
        done += step;
    }
}
