//! Work that is shared among threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What each of `items` gives, in their order, with so many threads; a panic is the item's.
///
/// # Panics
///
/// Where a thread cannot be started.
pub fn each<T: Sync, R: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<Result<R, String>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<R, String>>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || {
                    while let Some((at, item)) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
                    {
                        let made = catch_unwind(AssertUnwindSafe(|| work(item))).map_err(|panic| words(&*panic));
                        if let Some(slot) = done.lock().expect("no thread panics here").get_mut(at) {
                            *slot = Some(made);
                        }
                    }
                })
                .expect("a thread starts");
        }
    });
    let done = done.into_inner().expect("no thread panics here");
    done.into_iter().map(|one| one.unwrap_or_else(|| Err("it was not done".to_owned()))).collect()
}

/// As much as the server gives its workers.
const STACK: usize = 64 << 20;

/// What a panic says.
pub fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// How many threads the machine has.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
