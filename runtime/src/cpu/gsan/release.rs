//! What releasing atomics leave at their addresses, for acquiring ones to take.
//!
//! A release begins a *release sequence* at its address. Further updates belong to it whatever their semantics, another
//! release adds what its own thread knows, and any other write ends it. What was released is kept in a ring a thread,
//! where its size is limited; an entry that was overwritten is noticed by its number, and said.

use std::collections::{BTreeMap, HashMap};

use super::clock::{Actor, Knowledge};
use super::record::Scope;

/// Semantics of an atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Semantics {
    pub(super) acquires: bool,
    pub(super) releases: bool,
    pub(super) scope: Scope,
}

/// A release sequence at an address.
#[derive(Clone, Debug)]
struct Sequence {
    /// What its releases have published.
    known: Knowledge,
    scope: Scope,
    /// The program and CTA of its last release.
    by: (u32, u16),
    /// The thread of the last release, and how many it had made before.
    entry: ((u32, u16), u64),
    /// Equal for sequences that publish the same.
    identity: u64,
}

/// What is wrong with an atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReleaseFault {
    /// Releases of different scopes at one address, of which the later does not have what the earlier published.
    MixedScopes,
    /// What was released is no longer in its ring.
    Overwritten,
}

/// All release sequences.
#[derive(Debug, Default)]
pub(super) struct Releases {
    at: BTreeMap<u64, Sequence>,
    /// Entries of a thread's ring; unlimited without.
    ring: Option<u64>,
    /// By thread, how many releases it has made.
    made: HashMap<(u32, u16), u64>,
    next: u64,
}

/// A release of one op, which may write several addresses.
#[derive(Debug)]
pub(super) struct Publication {
    known: Knowledge,
    entry: ((u32, u16), u64),
    identity: u64,
    /// By identity of the sequence that was joined: what came of it.
    joined: HashMap<u64, (Knowledge, u64)>,
}

impl Releases {
    pub(super) fn new(ring: Option<u32>) -> Releases {
        Releases { ring: ring.map(|ring| u64::from(ring.max(1))), ..Releases::default() }
    }

    /// Whether nothing is released anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Adds to `into` what an acquiring atomic at an address takes; `last` is the identity that it took last.
    pub(super) fn acquire(
        &self,
        address: u64,
        actor: &Actor,
        scope: Scope,
        last: &mut u64,
        into: &mut Knowledge,
    ) -> Result<(), ReleaseFault> {
        let Some(sequence) = self.at.get(&address) else { return Ok(()) };
        let here = (actor.program, actor.cta);
        if sequence.identity == *last || !sequence.scope.covers(sequence.by, here) || !scope.covers(sequence.by, here) {
            return Ok(());
        }
        *last = sequence.identity;
        let (thread, number) = sequence.entry;
        let since = self.made.get(&thread).map_or(0, |made| made - number);
        if self.ring.is_some_and(|ring| since > ring) {
            return Err(ReleaseFault::Overwritten);
        }
        into.join(&sequence.known);
        Ok(())
    }

    /// What a thread publishes that releases now.
    pub(super) fn publish(&mut self, actor: &Actor) -> Publication {
        let made = self.made.entry((actor.program, actor.thread)).or_insert(0);
        let entry = ((actor.program, actor.thread), *made);
        *made += 1;
        self.next += 1;
        Publication { known: actor.released(), entry, identity: self.next, joined: HashMap::new() }
    }

    /// A releasing atomic writes an address. `updates`: it reads too, so that a sequence goes on.
    pub(super) fn release(
        &mut self,
        address: u64,
        actor: &Actor,
        scope: Scope,
        updates: bool,
        what: &mut Publication,
    ) -> Result<(), ReleaseFault> {
        let by = (actor.program, actor.cta);
        let begins = Sequence { known: what.known.clone(), scope, by, entry: what.entry, identity: what.identity };
        let before = self.at.get(&address).filter(|_| updates);
        let (made, fault) = match before {
            None => (begins, Ok(())),
            Some(before) if before.scope != scope => {
                let mixed = !what.known.covers(&before.known);
                (begins, if mixed { Err(ReleaseFault::MixedScopes) } else { Ok(()) })
            }
            Some(before) if !scope.covers(before.by, by) => (begins, Ok(())),
            Some(before) => {
                let next = &mut self.next;
                let (known, identity) = what.joined.entry(before.identity).or_insert_with(|| {
                    if what.known.covers(&before.known) {
                        return (what.known.clone(), what.identity);
                    }
                    let mut known = before.known.clone();
                    known.join(&what.known);
                    *next += 1;
                    (known, *next)
                });
                (Sequence { known: known.clone(), identity: *identity, ..begins }, Ok(()))
            }
        };
        self.at.insert(address, made);
        fault
    }

    /// A write that belongs to no sequence.
    pub(super) fn end(&mut self, address: u64, bytes: u32) {
        if self.at.is_empty() {
            return;
        }
        let ended: Vec<u64> = self.at.range(address..address + u64::from(bytes)).map(|(address, _)| *address).collect();
        for address in ended {
            self.at.remove(&address);
        }
    }
}
