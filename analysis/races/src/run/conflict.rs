//! Whether two executed accesses touch a common byte, and one of them writes it.

use super::event::Event;
use super::setting::Setting;
use crate::program::{Completion, MemSyncScope, Program};

/// Two executed accesses that meet.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub(crate) first: Event,
    pub(crate) second: Event,
    /// The program of each.
    pub(crate) programs: [u32; 2],
    /// The lane of each.
    pub(crate) lanes: [u32; 2],
    /// Where the common bytes begin, from the beginning of the tensor.
    pub(crate) start: i64,
    /// How many there are.
    pub(crate) bytes: i64,
}

/// Whether accesses with these numbers may race at all where they meet.
pub(crate) fn matters(program: &Program, setting: &Setting, a: u32, b: u32) -> bool {
    let (a, b) = (&program.accesses[a as usize], &program.accesses[b as usize]);
    if !a.action.writes() && !b.action.writes() {
        return false;
    }
    let (Some(x), Some(y)) = (setting.tensor(a.base), setting.tensor(b.base)) else { return false };
    if x != y {
        return false;
    }
    match (a.action.ordering(), b.action.ordering()) {
        (Some(x), Some(y)) => x.scope == MemSyncScope::Cta || y.scope == MemSyncScope::Cta || a.bytes != b.bytes,
        _ => true,
    }
}

/// The first common bytes of two executed accesses: the lanes, where they begin, how many.
pub(crate) fn overlap(program: &Program, a: &Event, b: &Event) -> Option<([u32; 2], i64, i64)> {
    let (long, wide) =
        (i64::from(program.accesses[a.access as usize].bytes), i64::from(program.accesses[b.access as usize].bytes));
    let (mut mine, mut others) = (a.spans.cursor(), b.spans.cursor());
    while let (Some((x, lane)), Some((y, other))) = (mine.span(), others.span()) {
        let (start, end) = (x.max(y), (x + long).min(y + wide));
        if start < end {
            return Some(([lane, other], start, end - start));
        }
        // What ends before the other begins meets nothing.
        if x + long <= y + wide {
            mine.advance(y - long);
        } else {
            others.advance(x - wide);
        }
    }
    None
}

/// Those of the accesses of an instance that are still under way which its next one meets, `most` of them at most.
pub(crate) fn own<'e>(
    program: &Program,
    setting: &Setting,
    under_way: impl Iterator<Item = &'e Event>,
    next: &Event,
    most: usize,
) -> Vec<Event> {
    let next_ends = program.accesses[next.access as usize].completion;
    if matches!(next_ends, Completion::StoreWait | Completion::Counted) {
        return Vec::new();
    }
    // A loop leaves many of one access behind.
    let mut last = None;
    let mut may_meet = |access: u32| match last {
        Some((known, may)) if known == access => may,
        _ => {
            let may = matters(program, setting, access, next.access);
            last = Some((access, may));
            may
        }
    };
    let meets = |open: &&Event| may_meet(open.access) && overlap(program, open, next).is_some();
    under_way.filter(meets).take(most).cloned().collect()
}
