//! What an analysis says does not depend on who does its tasks, nor in which order.

use std::sync::Arc;

use base::workers::{SharedWorkers, Workers};
use base::{Cancel, Limits};
use engine::instances::{Config, Elaborator, PythonFile};
use engine::{Analysis, Engine};
use fencepost_tests::sources::{files, root, sources};
use python::syntax::NoSources;
use ttgir::Document;

/// Begins with the last task.
#[derive(Debug)]
struct Backwards;

impl Workers for Backwards {
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(task);
    }

    fn at_once(&self) -> usize {
        4
    }
}

/// One thread a task.
#[derive(Debug)]
struct Together;

impl Workers for Together {
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for number in 0..count {
                scope.spawn(move || task(number));
            }
        });
    }

    fn at_once(&self) -> usize {
        4
    }
}

/// What is said with the workers that do one task after the other, and with the two others.
fn compare(name: &str, analyse: impl Fn(SharedWorkers) -> Analysis) {
    let alone = analyse(SharedWorkers::default());
    for (who, workers) in [("backwards", SharedWorkers::new(Backwards)), ("together", SharedWorkers::new(Together))] {
        let shared = analyse(workers);
        assert_eq!(alone.kernels, shared.kernels, "{name}: {who}");
        assert_eq!(alone.problems, shared.problems, "{name}: {who}");
    }
}

#[test]
fn of_compiled_kernels() {
    for (name, text) in sources() {
        let document = Document::new(text.as_str());
        compare(&name, |workers| {
            let mut engine = Engine::new(Limits::default()).with_workers(workers);
            engine.analyse(&document, &Cancel::never()).expect("nobody cancels")
        });
    }
}

#[test]
fn of_kernels_in_python() {
    for path in files(&root().join("kernels/gluon"), "py") {
        let text = std::fs::read_to_string(&path).expect("a file");
        let name = path.display().to_string();
        compare(&name, |workers| {
            let mut elaborator = Elaborator::new(Config::default()).with_workers(workers.clone());
            let script = PythonFile::new(name.as_str(), text.as_str());
            let made = elaborator.elaborate(&script, &NoSources, &Cancel::never()).expect("nobody cancels");
            let mut engine = Engine::new(Limits::default()).with_workers(workers);
            engine.analyse_python(&Arc::new(made), &NoSources, &Cancel::never()).expect("nobody cancels")
        });
    }
}
