//! Fixes that were looked for in a document's present text: a search is not repeated while the cursor moves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Cancelled;
use engine::fix_all::ManyFixed;
use findings::{Fix, Kind};

/// The fixes of one document.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFixes {
    shared: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The text that they are of.
    generation: u64,
    /// Of a finding, by the places of its kernel and its own; `None` where there is none.
    single: BTreeMap<(usize, usize), Option<Fix>>,
    /// Of all findings of a kind, or of all kinds.
    many: BTreeMap<Option<Kind>, Option<ManyFixed>>,
}

impl KnownFixes {
    fn of(&self, generation: u64) -> MutexGuard<'_, Known> {
        let mut known = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation {
            *known = Known { generation, ..Known::default() };
        }
        known
    }

    /// The fix of a finding of a text, looked for by `find` where nobody has.
    pub(crate) fn single(
        &self,
        generation: u64,
        key: (usize, usize),
        find: impl FnOnce() -> Result<Option<Fix>, Cancelled>,
    ) -> Result<Option<Fix>, Cancelled> {
        if let Some(known) = self.of(generation).single.get(&key) {
            return Ok(known.clone());
        }
        let found = find()?;
        self.of(generation).single.insert(key, found.clone());
        Ok(found)
    }

    /// The same of all findings of a kind.
    pub(crate) fn many(
        &self,
        generation: u64,
        kind: Option<Kind>,
        find: impl FnOnce() -> Result<Option<ManyFixed>, Cancelled>,
    ) -> Result<Option<ManyFixed>, Cancelled> {
        if let Some(known) = self.of(generation).many.get(&kind) {
            return Ok(known.clone());
        }
        let found = find()?;
        self.of(generation).many.insert(kind, found.clone());
        Ok(found)
    }
}
