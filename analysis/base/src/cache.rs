//! A bounded map from questions to answers that are costly to compute, shared by threads.
//!
//! Who asks what somebody else is computing waits for that answer, so that nothing is computed twice. What to
//! drop follows GreedyDual-Size (Cao and Irani, 1997): an answer's credit is what computing it again would cost
//! for each byte it takes, counted from the credit of the last one dropped. So costly answers outlive cheap
//! ones, answers in use outlive both, and a round trip through more answers than there is room for still finds
//! most of them. Of an answer for which nobody asked in a long time the memory is freed before it is short
//! ([`Cache::forget_unused`]): of texts that nobody sees any more.

use crate::{Cancel, Cancelled};
use dashmap::DashMap;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread sleeps between two looks at its own cancellation while it waits for another's answer.
const CANCEL_POLL: Duration = Duration::from_millis(20);

/// What an answer costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weight {
    /// About how much memory question and answer take.
    pub bytes: usize,
    /// About how much work the answer was, in any unit that all answers of a cache share.
    pub work: u64,
}

/// Answers by question. Questions are looked up by a hash and a comparison, so that a question can be borrowed
/// from what it is about; the hash alone never decides.
pub struct Cache<K, V> {
    entries: DashMap<u64, Vec<Arc<Entry<K, V>>>, FxBuildHasher>,
    /// Bytes of all answers that are there.
    bytes: AtomicUsize,
    capacity: usize,
    /// Credit of the last answer that was dropped.
    age: AtomicU64,
    /// Counts the calls of [`Cache::forget_unused`].
    period: AtomicU64,
    eviction: Mutex<()>,
}

struct Entry<K, V> {
    key: K,
    state: Mutex<State<V>>,
    changed: Condvar,
    /// Credit at the last use; 0 while it is computed.
    credit: AtomicU64,
    /// The period of the last use.
    period: AtomicU64,
}

enum State<V> {
    Computing,
    Ready(Arc<V>, Weight),
    /// Cancelled or panicked; the entry is no longer in the map.
    Abandoned,
}

impl<K, V> Cache<K, V> {
    /// A cache for answers of so many bytes in all.
    pub fn new(capacity: usize) -> Cache<K, V> {
        Cache {
            entries: DashMap::default(),
            bytes: AtomicUsize::new(0),
            capacity,
            age: AtomicU64::new(0),
            period: AtomicU64::new(0),
            eviction: Mutex::new(()),
        }
    }

    /// The answer to a question, where it is there; waits for nobody.
    pub fn get(&self, hash: u64, is_key: impl Fn(&K) -> bool) -> Option<Arc<V>> {
        let entry = self.entries.get(&hash)?.iter().find(|entry| is_key(&entry.key))?.clone();
        let State::Ready(value, weight) = &*lock(&entry.state) else { return None };
        self.credit(&entry, *weight);
        Some(value.clone())
    }

    /// The answer to a question, and whether this call computed it.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so, also while another thread computes the answer, and where `compute` fails.
    pub fn get_or_compute(
        &self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        key: impl Fn() -> K,
        cancel: &Cancel<'_>,
        compute: impl FnOnce() -> Result<(V, Weight), Cancelled>,
    ) -> Result<(Arc<V>, bool), Cancelled> {
        loop {
            let (entry, is_new) = self.entry(hash, &is_key, &key);
            if is_new {
                let claim = Claim { cache: self, hash, entry: &entry };
                let (value, weight) = compute()?;
                return Ok((claim.fulfil(Arc::new(value), weight), true));
            }
            if let Some((value, weight)) = entry.wait(cancel)? {
                self.credit(&entry, weight);
                return Ok((value, false));
            }
        }
    }

    /// Sets the answer to a question, in place of an earlier one.
    pub fn insert(&self, hash: u64, key: K, value: V, weight: Weight)
    where
        K: PartialEq,
    {
        let earlier = self.entries.get(&hash).and_then(|all| all.iter().find(|entry| entry.key == key).cloned());
        if let Some(earlier) = earlier {
            self.remove(hash, &earlier);
        }
        let entry = Arc::new(Entry::new(key));
        self.entries.entry(hash).or_default().push(entry.clone());
        Claim { cache: self, hash, entry: &entry }.fulfil(Arc::new(value), weight);
    }

    /// The entry of a question, and whether it was made for this call.
    fn entry(&self, hash: u64, is_key: impl Fn(&K) -> bool, key: impl Fn() -> K) -> (Arc<Entry<K, V>>, bool) {
        let mut all = self.entries.entry(hash).or_default();
        if let Some(known) = all.iter().find(|entry| is_key(&entry.key)) {
            return (known.clone(), false);
        }
        let entry = Arc::new(Entry::new(key()));
        all.push(entry.clone());
        (entry, true)
    }

    fn credit(&self, entry: &Entry<K, V>, weight: Weight) {
        let worth = weight.work.saturating_mul(1 << 10) / weight.bytes.max(1) as u64;
        entry.credit.store(self.age.load(Ordering::Relaxed).saturating_add(worth + 1), Ordering::Relaxed);
        entry.period.store(self.period.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Ends a period, and drops the answers for which nobody asked in it nor in the one before.
    pub fn forget_unused(&self) {
        let over = self.period.fetch_add(1, Ordering::Relaxed);
        let unused = |entry: &Entry<K, V>| {
            entry.credit.load(Ordering::Relaxed) > 0 && entry.period.load(Ordering::Relaxed) < over
        };
        for (hash, entry) in self.all() {
            if unused(&entry) {
                self.remove(hash, &entry);
            }
        }
    }

    /// All entries with their hashes, as they are at the moment.
    fn all(&self) -> Vec<(u64, Arc<Entry<K, V>>)> {
        let buckets = self.entries.iter();
        buckets
            .flat_map(|bucket| bucket.iter().map(|entry| (*bucket.key(), entry.clone())).collect::<Vec<_>>())
            .collect()
    }

    fn remove(&self, hash: u64, entry: &Arc<Entry<K, V>>) {
        let mut removed = false;
        self.entries.remove_if_mut(&hash, |_, all| {
            let before = all.len();
            all.retain(|other| !Arc::ptr_eq(other, entry));
            removed = all.len() < before;
            all.is_empty()
        });
        if removed && let State::Ready(_, weight) = &*lock(&entry.state) {
            self.bytes.fetch_sub(weight.bytes, Ordering::Relaxed);
        }
    }

    /// Drops the answers of least credit until an eighth of the capacity is free.
    fn evict(&self) {
        let Ok(_only_one) = self.eviction.try_lock() else { return };
        let all = self.all().into_iter();
        let mut all: Vec<_> = all.map(|(hash, entry)| (entry.credit.load(Ordering::Relaxed), hash, entry)).collect();
        all.sort_by_key(|(credit, hash, _)| (*credit, *hash));
        for (credit, hash, entry) in all.into_iter().filter(|(credit, ..)| *credit > 0) {
            if self.bytes.load(Ordering::Relaxed) <= self.capacity / 8 * 7 {
                break;
            }
            self.age.fetch_max(credit, Ordering::Relaxed);
            self.remove(hash, &entry);
        }
    }
}

impl<K, V> Entry<K, V> {
    fn new(key: K) -> Entry<K, V> {
        Entry {
            key,
            state: Mutex::new(State::Computing),
            changed: Condvar::new(),
            credit: AtomicU64::new(0),
            period: AtomicU64::new(0),
        }
    }

    /// Waits until the answer is there; `None` where whoever computed it has given up.
    fn wait(&self, cancel: &Cancel<'_>) -> Result<Option<(Arc<V>, Weight)>, Cancelled> {
        let mut state = lock(&self.state);
        loop {
            match &*state {
                State::Ready(value, weight) => return Ok(Some((value.clone(), *weight))),
                State::Abandoned => return Ok(None),
                State::Computing => cancel.check()?,
            }
            state = self.changed.wait_timeout(state, CANCEL_POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The duty to answer a question; dropped without an answer, by a cancellation or a panic, it frees those who wait.
struct Claim<'a, K, V> {
    cache: &'a Cache<K, V>,
    hash: u64,
    entry: &'a Arc<Entry<K, V>>,
}

impl<K, V> Claim<'_, K, V> {
    fn fulfil(self, value: Arc<V>, weight: Weight) -> Arc<V> {
        self.cache.bytes.fetch_add(weight.bytes, Ordering::Relaxed);
        *lock(&self.entry.state) = State::Ready(value.clone(), weight);
        self.cache.credit(self.entry, weight);
        self.entry.changed.notify_all();
        if self.cache.bytes.load(Ordering::Relaxed) > self.cache.capacity {
            self.cache.evict();
        }
        value
    }
}

impl<K, V> Drop for Claim<'_, K, V> {
    fn drop(&mut self) {
        if !matches!(&*lock(&self.entry.state), State::Computing) {
            return;
        }
        self.cache.remove(self.hash, self.entry);
        *lock(&self.entry.state) = State::Abandoned;
        self.entry.changed.notify_all();
    }
}

/// A state is written as a whole, so that one which a panic left behind is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("bytes", &self.bytes).field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
