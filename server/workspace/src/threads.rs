//! The threads that share the work of an analysis.

use std::sync::LazyLock;

use crate::limits::threads::STACK;
use base::workers::{OneByOne, SharedWorkers, Workers};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// One thread a core, for all analyses of this process together; one after the other where no thread can be had.
static THREADS: LazyLock<SharedWorkers> = LazyLock::new(|| {
    let named = |number| format!("analysis {number}");
    match ThreadPoolBuilder::new().stack_size(STACK).thread_name(named).build() {
        Ok(pool) => SharedWorkers::new(Threads(pool)),
        Err(error) => {
            tracing::warn!("analysing with one thread: {error}");
            SharedWorkers::new(OneByOne)
        }
    }
});

/// The threads of this process.
pub fn threads() -> SharedWorkers {
    THREADS.clone()
}

#[derive(Debug)]
struct Threads(ThreadPool);

impl Workers for Threads {
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        if count < 2 {
            return OneByOne.each(count, task);
        }
        self.0.install(|| (0..count).into_par_iter().with_max_len(1).for_each(task));
    }

    fn at_once(&self) -> usize {
        self.0.current_num_threads()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_task_is_done_once_and_a_panic_comes_back() {
        let done = AtomicUsize::new(0);
        threads().each(100, &|number| {
            done.fetch_add(number, Ordering::Relaxed);
        });
        assert_eq!(done.load(Ordering::Relaxed), 4950);
        let panics = std::panic::catch_unwind(|| threads().each(3, &|number| assert_ne!(number, 1, "the second")));
        assert!(panics.is_err());
    }
}
