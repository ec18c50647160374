//! Which bytes the lanes of an executed access touch: as a rule a few rows of equal distances.

use std::rc::Rc;

/// First byte and lane of each active lane, in an order.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    rows: Rc<[StridedLanes]>,
    count: usize,
}

/// Lanes whose bytes and numbers are equally far apart.
#[derive(Clone, Copy, Debug)]
pub struct StridedLanes {
    start: i64,
    /// Bytes from one to the next.
    by: i64,
    lane: u32,
    /// Lanes from one to the next.
    step: i32,
    count: u32,
}

impl StridedLanes {
    /// So many lanes from this one on, with what is between their bytes and their numbers.
    pub fn new(start: i64, by: i64, lane: i64, step: i64, count: i64) -> StridedLanes {
        StridedLanes { start, by, lane: lane as u32, step: step as i32, count: count as u32 }
    }

    /// Puts a row behind others, as a part of the last where it goes on as that does.
    pub fn append(rows: &mut Vec<StridedLanes>, row: StridedLanes) {
        match rows.last_mut() {
            Some(last)
                if (last.by, last.step) == (row.by, row.step)
                    && last.count > 1
                    && row.count > 1
                    && last.at(last.count) == row.at(0) =>
            {
                last.count += row.count;
            }
            _ => rows.push(row),
        }
    }

    /// Puts one lane behind others, as a part of the last row where it goes on as that does.
    pub fn push(rows: &mut Vec<StridedLanes>, start: i64, lane: u32) {
        match rows.last_mut() {
            Some(row) if row.count == 1 => {
                let by = start.checked_sub(row.start);
                if let (Some(by), Ok(step)) = (by, i32::try_from(i64::from(lane) - i64::from(row.lane))) {
                    (row.by, row.step, row.count) = (by, step, 2);
                    return;
                }
            }
            Some(row) if row.at(row.count) == (start, lane) => {
                row.count += 1;
                return;
            }
            _ => {}
        }
        rows.push(StridedLanes { start, by: 0, lane, step: 0, count: 1 });
    }

    fn at(&self, place: u32) -> (i64, u32) {
        let lane = i64::from(self.lane) + i64::from(self.step) * i64::from(place);
        (self.start + self.by * i64::from(place), lane as u32)
    }

    fn last(&self) -> (i64, u32) {
        self.at(self.count.saturating_sub(1))
    }
}

impl FromIterator<(i64, u32)> for Spans {
    fn from_iter<I: IntoIterator<Item = (i64, u32)>>(all: I) -> Spans {
        let mut rows: Vec<StridedLanes> = Vec::new();
        all.into_iter().for_each(|(start, lane)| StridedLanes::push(&mut rows, start, lane));
        Spans::of(rows)
    }
}

impl PartialEq for Spans {
    fn eq(&self, other: &Spans) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl Spans {
    /// Of rows, in their order.
    pub fn of(rows: Vec<StridedLanes>) -> Spans {
        Spans { count: rows.iter().map(|row| row.count as usize).sum(), rows: rows.into() }
    }

    /// How many lanes there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first of them.
    pub fn first(&self) -> Option<(i64, u32)> {
        self.rows.first().map(|row| row.at(0))
    }

    /// The last one.
    pub fn last(&self) -> Option<(i64, u32)> {
        self.rows.last().map(StridedLanes::last)
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = (i64, u32)> {
        self.rows.iter().flat_map(|row| (0..row.count).map(|place| row.at(place)))
    }

    /// Whether they ascend: by bytes, and by lanes where those are equal.
    pub fn ascend(&self) -> bool {
        let within = |row: &StridedLanes| row.count < 2 || row.at(0) < row.at(1);
        self.rows.iter().all(within) && self.rows.windows(2).all(|pair| pair[0].last() < pair[1].at(0))
    }

    /// The place of the first.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { rows: &self.rows, place: 0 }
    }
}

/// A place in spans.
#[derive(Clone, Debug)]
pub struct Cursor<'s> {
    rows: &'s [StridedLanes],
    place: u32,
}

impl Cursor<'_> {
    /// The span here.
    pub fn span(&self) -> Option<(i64, u32)> {
        self.rows.first().map(|row| row.at(self.place))
    }

    /// Goes on to the next span, and past what follows in its row and begins at or before `limit`.
    pub fn advance(&mut self, limit: i64) {
        let Some(row) = self.rows.first() else { return };
        let rest = row.count - self.place;
        let before = limit.saturating_sub(row.at(self.place).0);
        let past = match row.by {
            _ if before < 0 => 1,
            0 => rest,
            1.. => u32::try_from(before / row.by + 1).unwrap_or(u32::MAX),
            _ => 1,
        };
        if past >= rest {
            (self.rows, self.place) = (self.rows.get(1..).unwrap_or(&[]), 0);
        } else {
            self.place += past;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_what_they_were_made_of() {
        let tile: Vec<(i64, u32)> =
            (0..32).map(|lane| (i64::from(lane / 8) * 1000 + i64::from(lane % 8) * 2, lane)).collect();
        let odd = vec![(5, 0), (5, 1), (5, 2), (900, 9), (-3, 10), (0, 4)];
        for all in [tile, odd, Vec::new(), vec![(i64::MIN, 3), (i64::MAX, 2)]] {
            let spans: Spans = all.iter().copied().collect();
            assert_eq!(spans.iter().collect::<Vec<_>>(), all);
            assert_eq!(
                (spans.first(), spans.last(), spans.len()),
                (all.first().copied(), all.last().copied(), all.len())
            );
            assert_eq!(spans.ascend(), all.is_sorted());
        }
    }

    #[test]
    fn a_cursor_skips_what_begins_early_in_its_row() {
        let spans: Spans = [(0, 0), (2, 1), (4, 2), (6, 3), (3, 4)].into_iter().collect();
        let mut cursor = spans.cursor();
        cursor.advance(-1);
        assert_eq!(cursor.span(), Some((2, 1)), "at least one");
        cursor.advance(4);
        assert_eq!(cursor.span(), Some((6, 3)));
        cursor.advance(100);
        assert_eq!(cursor.span(), Some((3, 4)), "only of its own row");
        cursor.advance(0);
        assert_eq!(cursor.span(), None);
    }
}
