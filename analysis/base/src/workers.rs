//! Who does what does not hang together: the caller owns the threads, and what comes out does not depend on them.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Does tasks of which none waits for another, perhaps several at once.
pub trait Workers: Debug + Send + Sync {
    /// Does `task` with each number below `count`, in any order, and comes back when all are done.
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync));

    /// How many tasks are done at once at most.
    fn at_once(&self) -> usize {
        1
    }
}

/// Does one task after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneByOne;

impl Workers for OneByOne {
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
}

/// Workers that several share.
#[derive(Clone, Debug)]
pub struct SharedWorkers(Arc<dyn Workers>);

impl SharedWorkers {
    /// These.
    pub fn new(workers: impl Workers + 'static) -> SharedWorkers {
        SharedWorkers(Arc::new(workers))
    }
}

impl Default for SharedWorkers {
    fn default() -> SharedWorkers {
        SharedWorkers::new(OneByOne)
    }
}

impl Deref for SharedWorkers {
    type Target = dyn Workers;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// What `make` makes of each of `inputs`, in their order.
pub fn map<I: Send, O: Send>(workers: &dyn Workers, inputs: Vec<I>, make: impl Fn(I) -> O + Sync) -> Vec<O> {
    let tasks: Vec<Mutex<(Option<I>, Option<O>)>> =
        inputs.into_iter().map(|input| Mutex::new((Some(input), None))).collect();
    workers.each(tasks.len(), &|number| {
        let Some(task) = tasks.get(number) else { return };
        let mut task = task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = task.0.take() {
            task.1 = Some(make(input));
        }
    });
    let done = tasks.into_iter().map(|task| task.into_inner().unwrap_or_else(PoisonError::into_inner).1);
    done.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins with the last task.
    #[derive(Debug)]
    struct Backwards;

    impl Workers for Backwards {
        fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(task);
        }
    }

    #[test]
    fn what_is_made_is_in_the_order_of_the_inputs() {
        let of = |workers: &dyn Workers| map(workers, vec!["a", "b", "c"], |text| format!("{text}{text}"));
        assert_eq!(of(&OneByOne), ["aa", "bb", "cc"]);
        assert_eq!(of(&Backwards), of(&OneByOne));
    }
}
