//! What somebody does in a file, key by key: a line typed and taken away, a number changed, a line removed and put
//! back, a block pasted, a half-typed statement left for a while. Everything is undone, so that a file stays what it
//! is, however long this goes on.

use std::collections::VecDeque;
use std::time::Duration;

use base::rng::SplitMix64;

use crate::edits::{KINDS, edits};
use crate::mirror::Mirror;

/// One thing that is done, and how long nothing is done after it.
pub(crate) enum Act {
    /// Bytes `start..end` become `with`.
    Type {
        start: usize,
        end: usize,
        with: String,
        pause: Duration,
    },
    /// The pointer or the cursor rests at a place.
    Look {
        at: usize,
        pause: Duration,
    },
    /// What was asked last is not wanted any more.
    Cancel {
        pause: Duration,
    },
    Save {
        pause: Duration,
    },
    /// The file is closed and opened again.
    Reopen {
        pause: Duration,
    },
    /// Another file is looked at.
    Switch {
        pause: Duration,
    },
}

/// What is still to be done in the present file.
#[derive(Default)]
pub(crate) struct Script(VecDeque<Act>);

/// Between two keys: 80 to 250 ms.
fn key(random: &mut SplitMix64) -> Duration {
    Duration::from_millis(80 + random.below(170) as u64)
}

/// While somebody reads: one to four seconds.
fn reading(random: &mut SplitMix64) -> Duration {
    Duration::from_millis(1000 + random.below(3000) as u64)
}

impl Script {
    pub(crate) fn next(&mut self, mirror: &Mirror, python: bool, random: &mut SplitMix64) -> Act {
        if self.0.is_empty() {
            self.plan(mirror, python, random);
        }
        self.0.pop_front().unwrap_or(Act::Switch { pause: Duration::from_millis(200) })
    }

    fn plan(&mut self, mirror: &Mirror, python: bool, random: &mut SplitMix64) {
        match random.below(10) {
            0 => self.0.push_back(Act::Save { pause: reading(random) }),
            1 => self.cut(mirror, random),
            2 => self.paste(mirror, random),
            3 => self.look(mirror, random),
            kind => {
                let kind = KINDS[kind % KINDS.len()];
                let places = edits(mirror, python, kind, 40);
                let count = places.len();
                if let Some(edit) = places.into_iter().nth(random.below(count)) {
                    self.insert(edit.at, edit.keys, random);
                }
            }
        }
        match random.below(12) {
            0 => self.0.push_back(Act::Reopen { pause: reading(random) }),
            1..4 => self.0.push_back(Act::Switch { pause: reading(random) }),
            _ => {}
        }
    }

    /// Types keys at a place; takes them away from the end, all at once (undo) or one by one.
    fn insert(&mut self, at: usize, keys: Vec<String>, random: &mut SplitMix64) {
        let mut end = at;
        // Half of what is begun is not finished.
        let half = random.below(4) == 0;
        let count = if half { keys.len().div_ceil(2) } else { keys.len() };
        let keys: Vec<String> = keys.into_iter().take(count).collect();
        for with in &keys {
            self.0.push_back(Act::Type { start: end, end, with: with.clone(), pause: key(random) });
            end += with.len();
        }
        self.0.push_back(Act::Look { at, pause: reading(random) });
        if random.below(2) == 0 {
            self.0.push_back(Act::Type { start: at, end, with: String::new(), pause: reading(random) });
            return;
        }
        for with in keys.iter().rev() {
            let start = end - with.len();
            self.0.push_back(Act::Type { start, end, with: String::new(), pause: key(random) });
            end = start;
        }
    }

    /// Removes a line and puts it back.
    fn cut(&mut self, mirror: &Mirror, random: &mut SplitMix64) {
        let (start, line) = mirror.line(random.below(mirror.lines()));
        let end = (start + line.len() + 1).min(mirror.text.len());
        let Some(removed) = mirror.text.get(start..end) else { return };
        self.0.push_back(Act::Type { start, end, with: String::new(), pause: reading(random) });
        self.0.push_back(Act::Type { start, end: start, with: removed.to_owned(), pause: key(random) });
    }

    /// Copies up to ten lines to another place, and takes them away again.
    fn paste(&mut self, mirror: &Mirror, random: &mut SplitMix64) {
        let lines = mirror.lines();
        let first = random.below(lines);
        let (from, _) = mirror.line(first);
        let (to, _) = mirror.line(first + 1 + random.below(10));
        let (at, _) = mirror.line(random.below(lines));
        let Some(block) = mirror.text.get(from..to).filter(|block| !block.is_empty()) else { return };
        let end = at + block.len();
        self.0.push_back(Act::Type { start: at, end: at, with: block.to_owned(), pause: reading(random) });
        self.0.push_back(Act::Type { start: at, end, with: String::new(), pause: key(random) });
    }

    /// Looks at several places; one of the questions is not waited for.
    fn look(&mut self, mirror: &Mirror, random: &mut SplitMix64) {
        for _ in 0..1 + random.below(4) {
            let (start, line) = mirror.line(random.below(mirror.lines()));
            let mut at = start + random.below(line.len() + 1);
            while !mirror.text.is_char_boundary(at) {
                at -= 1;
            }
            self.0.push_back(Act::Look { at, pause: Duration::from_millis(200 + random.below(800) as u64) });
        }
        if random.below(2) == 0 {
            self.0.push_back(Act::Cancel { pause: reading(random) });
        }
    }
}
