//! What engines remember and may share: outcomes by kernel, and reports by elaborated text.

use crate::instances::{JudgedKernel, JudgedKey};
use crate::judged_section::{JudgedSection, SectionKey};
use crate::limits::memo::{KERNELS, REPORTS};
use base::cache::{Cache, Weight};
use base::{Limits, Message};
use findings::KernelReport;
use python::specialization::LaunchFacts;
use races::{Global, Launch};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use verify::OutcomeCache;

/// A memory that any number of engines, on any number of threads, share by reference. What is found in it is
/// what would be computed, so an answer never depends on who asked before.
#[derive(Debug)]
pub struct SharedCache {
    pub(crate) outcomes: OutcomeCache,
    /// What was said of modules that were elaborated from Python, by their text: an edit that leaves it as it
    /// is describes nothing anew.
    pub(crate) reports: Cache<ReportKey, KernelReport<Message>>,
    /// What is said of the global memory of modules, by their text.
    pub(crate) globals: Cache<GlobalsKey, Vec<Global>>,
    /// What was said of sections of TTGIR, by their tokens.
    pub(crate) sections: Cache<SectionKey, JudgedSection>,
    /// What was said of whole kernels in Python, by what their instances were elaborated to.
    pub(crate) kernels: Cache<JudgedKey, JudgedKernel>,
}

/// What the report on an elaborated module depends on.
#[derive(Debug, PartialEq)]
pub(crate) struct ReportKey {
    pub(crate) text: Arc<str>,
    pub(crate) launches: Arc<[LaunchFacts]>,
    /// Which ops are of one call.
    pub(crate) calls: Vec<Option<u32>>,
    pub(crate) limits: Limits,
}

/// What the races of a module in global memory depend on.
#[derive(Debug, PartialEq)]
pub(crate) struct GlobalsKey {
    pub(crate) text: String,
    pub(crate) launches: Arc<[Launch]>,
    pub(crate) limits: Limits,
}

impl Default for SharedCache {
    fn default() -> SharedCache {
        SharedCache {
            outcomes: OutcomeCache::default(),
            reports: Cache::new(REPORTS),
            globals: Cache::new(REPORTS),
            sections: Cache::new(REPORTS),
            kernels: Cache::new(KERNELS),
        }
    }
}

impl SharedCache {
    /// Ends a period, and forgets that for which nobody asked in it nor in the one before.
    pub fn forget_unused(&self) {
        self.outcomes.forget_unused();
        self.reports.forget_unused();
        self.globals.forget_unused();
        self.sections.forget_unused();
        self.kernels.forget_unused();
    }
}

/// The hash that a key is kept under.
pub(crate) fn hash(key: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

/// What the report on a text of this length costs.
pub(crate) fn report_weight(text: &str, report: &KernelReport<Message>) -> Weight {
    Weight { bytes: text.len() + 512 + report.findings.len() * 4096, work: text.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use base::Cancel;
    use ttgir::Document;

    const TEXT: &str = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {
  tt.func @first() {
    %done = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %done, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.arrive_barrier %done, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
}
";

    /// Analyses a text with an engine of its own; gives how many kernels that engine explored.
    fn explorations(cache: &Arc<SharedCache>, limits: Limits, text: &str) -> u64 {
        let mut engine = Engine::with_cache(limits, cache.clone());
        let analysis = engine.analyse(&Document::new(text), &Cancel::never()).expect("nobody cancels");
        assert_eq!((analysis.kernels.len(), analysis.syntax.len()), (1, 0));
        engine.explorations()
    }

    #[test]
    fn documents_that_share_a_cache_explore_equal_kernels_once() {
        let cache = Arc::default();
        let other = TEXT.replace("@first", "@second").replace("%done", "%ready");
        assert_eq!(explorations(&cache, Limits::default(), TEXT), 1);
        assert_eq!(explorations(&cache, Limits::default(), &other), 0);
        assert_eq!(explorations(&cache, Limits::default(), &TEXT.replace("%done, 1", "%done, 2")), 1);
        assert_eq!(explorations(&cache, Limits { findings: 1, ..Limits::default() }, TEXT), 1, "other limits");
        assert_eq!(explorations(&Arc::default(), Limits::default(), TEXT), 1, "nothing is shared unasked");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test is about threads")]
    fn threads_that_share_a_cache_explore_equal_kernels_once() {
        let cache = Arc::default();
        let explored: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| explorations(&cache, Limits::default(), TEXT))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(explored, 1);
    }
}
