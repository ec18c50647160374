//! Launches in which numbers of programs go beyond what they are divided by or held below: two of them are alike there.

use std::borrow::Cow;

use crate::choose::{Choice, bounded, setting, sizes};
use crate::divisor::{Divided, Divisors, divisors, is_of};
use crate::host::Numbers;
use crate::launch::Known;
use crate::limits::choose::{CONGRUENT, LONGEST};
use crate::limits::runs::PROGRAMS;
use crate::program::Program;
use crate::prove::Spread;
use crate::run::Setting;

/// Launches of which two programs are run: as far apart as a number by which theirs are divided with a remainder, so that
/// the quotient alone tells them apart; or both beyond a number that theirs are held below.
pub(crate) fn congruent(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let Divisors { remainders, capped, .. } = divisors(program, launch);
    let mut pairs: Vec<(u8, i64, i64)> = Vec::new();
    for axis in program.axes.iter().copied() {
        let of = |all: &[Divided]| -> Vec<i64> {
            all.iter().filter(|(of, _)| is_of(program, *of, axis)).map(|(_, by)| *by).collect()
        };
        // Small ones are gone beyond by as many programs as are run anyway, if they need no more along other axes.
        let least = if program.axes.len() == 1 { LONGEST } else { 2 };
        pairs.extend(of(&remainders).into_iter().filter(|by| *by >= least).map(|by| (axis, 0, by)));
        pairs.extend(of(&capped).into_iter().filter(|by| *by > 0).map(|by| (axis, by, by + 1)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let has = |(axis, _, last): &(u8, i64, i64)| launch.grid[usize::from(*axis)].is_none_or(|count| *last < count);
    pairs.retain(|pair| pair.2 < PROGRAMS && has(pair));
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let size = sizes(&with_bounds, launch)[0];
    let made = pairs.into_iter().filter_map(|(axis, first, last)| {
        let at = usize::from(axis);
        let host = &launch.host;
        let fixed = match &host.programs[at] {
            Some(quantity) => {
                let mut numbers = host.numbers(host.fitting(&with_bounds, size), 0);
                if !host.raise(quantity, last + 1, &mut numbers, &Numbers::new()) {
                    return None;
                }
                let own = host.free_in(quantity);
                numbers.into_iter().filter(|(number, _)| own.contains(number)).collect()
            }
            None => Numbers::new(),
        };
        let wide = !fixed.is_empty();
        let mut made = setting(&with_bounds, launch, &bounded, &Choice { size, wide, fixed, ..Choice::default() })?;
        made.grid[at] = launch.grid[at].unwrap_or(made.grid[at].max(last + 1));
        let before = made.grid.iter().take(at).fold(1i64, |all, count| all.saturating_mul((*count).max(1)));
        let number = |place: i64| u32::try_from(place.saturating_mul(before)).ok();
        made.chosen = vec![number(first)?, number(last)?];
        Some(made)
    });
    made.take(CONGRUENT).collect()
}
