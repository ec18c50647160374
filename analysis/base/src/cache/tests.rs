//! The bound, the order of eviction, and threads that ask at once.

#![allow(clippy::disallowed_methods, reason = "tests of what threads share start threads")]

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread::scope;

/// Asks for `key`, under a hash that all keys share with some others; says whether it was computed.
fn ask(cache: &Cache<u64, u64>, key: u64, work: u64) -> bool {
    let compute = || Ok((key * 2, Weight { bytes: 10, work }));
    let (value, computed) =
        cache.get_or_compute(key % 7, |other| *other == key, || key, &Cancel::never(), compute).expect("not cancelled");
    assert_eq!(*value, key * 2);
    computed
}

#[test]
fn equal_hashes_are_told_apart() {
    let cache = Cache::new(10_000);
    assert!((0..100).all(|key| ask(&cache, key, 1)));
    assert!((0..100).all(|key| !ask(&cache, key, 1)));
}

#[test]
fn the_bound_holds_and_costly_answers_stay() {
    let cache = Cache::new(1_000);
    assert!(ask(&cache, 1_000_000, 100));
    for key in 0..300 {
        ask(&cache, key, 1);
        assert!(cache.bytes.load(Ordering::Relaxed) <= 1_000);
    }
    assert!(!ask(&cache, 1_000_000, 100));
    // Nor does it stay for ever: what is dropped makes all later answers worth more beside it.
    for key in 0..20_000 {
        ask(&cache, key, 1);
    }
    assert!(ask(&cache, 1_000_000, 100));
}

#[test]
fn a_round_trip_that_does_not_fit_still_finds_most() {
    let cache = Cache::new(1_000);
    let round = || (0..110).filter(|key| !ask(&cache, *key, 1 + key % 5)).count();
    round();
    let found: usize = (0..10).map(|_| round()).sum();
    assert!(found > 600, "{found} of 1100");
}

#[test]
fn what_nobody_asks_for_is_forgotten() {
    let cache = Cache::new(1_000);
    assert!(ask(&cache, 1, 1) && ask(&cache, 2, 1));
    cache.forget_unused();
    assert!(!ask(&cache, 1, 1));
    cache.forget_unused();
    assert_eq!(cache.bytes.load(Ordering::Relaxed), 10, "nobody asked for the second in a whole period");
    assert!(!ask(&cache, 1, 1));
    cache.forget_unused();
    assert!(!ask(&cache, 1, 1) && ask(&cache, 2, 1));
}

#[test]
fn an_answer_can_be_replaced() {
    let cache = Cache::new(1_000);
    for value in 0..3 {
        cache.insert(1, 7, value, Weight { bytes: 10, work: 1 });
        assert_eq!(cache.get(1, |key: &u64| *key == 7).as_deref(), Some(&value));
    }
    assert_eq!(cache.bytes.load(Ordering::Relaxed), 10);
}

#[test]
fn threads_that_ask_at_once_compute_once() {
    let (cache, start) = (Cache::new(1_000), Barrier::new(4));
    let computed: usize = scope(|scope| {
        let asking: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let compute = || {
                        std::thread::sleep(Duration::from_millis(50));
                        Ok((1u64, Weight { bytes: 10, work: 1 }))
                    };
                    let asked = cache.get_or_compute(1, |key| *key == 1u64, || 1, &Cancel::never(), compute);
                    usize::from(asked.expect("not cancelled").1)
                })
            })
            .collect();
        asking.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(computed, 1);
}

#[test]
fn who_gives_up_leaves_the_question_to_others() {
    let cache: Cache<u64, u64> = Cache::new(1_000);
    let cancelled = cache.get_or_compute(1, |key| *key == 1, || 1, &Cancel::never(), || Err(Cancelled));
    assert_eq!(cancelled.err(), Some(Cancelled));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        cache.get_or_compute(1, |key| *key == 1, || 1, &Cancel::never(), || panic!("a defect"))
    }));
    assert!(panicked.is_err());
    assert!(ask(&cache, 1, 1));
}

#[test]
fn who_waits_can_be_cancelled() {
    let (cache, started) = (Cache::<u64, u64>::new(1_000), Barrier::new(2));
    let (stop, finish) = (|| true, Barrier::new(2));
    scope(|scope| {
        scope.spawn(|| {
            let compute = || {
                started.wait();
                finish.wait();
                Ok((1, Weight { bytes: 10, work: 1 }))
            };
            assert!(cache.get_or_compute(1, |key| *key == 1, || 1, &Cancel::never(), compute).is_ok());
        });
        started.wait();
        let waiting = cache.get_or_compute(1, |key| *key == 1, || 1, &Cancel::when(&stop), || panic!("twice"));
        assert!(waiting.is_err());
        assert!(cache.get(1, |key| *key == 1).is_none(), "a look waits for nobody");
        finish.wait();
    });
    assert!(cache.get(1, |key| *key == 1).is_some());
}
