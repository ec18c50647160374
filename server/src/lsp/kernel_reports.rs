//! Barrier reports that hovers use: made in the background once a text is analysed, and kept until the next text.
//!
//! Whoever asks first waits a moment for the report, and does without it if it takes longer.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::limits::hover::REPORT as WAIT;
use crate::limits::memo::REPORTS;
use base::TextRange;
use report::Report;
use rustc_hash::FxHashMap;

/// The reports of one document.
#[derive(Clone, Default)]
pub(crate) struct KernelReports {
    shared: Arc<(Mutex<Known>, Condvar)>,
}

#[derive(Default)]
struct Known {
    /// The text that they are of.
    generation: u64,
    /// By where the kernel is named; `None` while it is made, and where there is none.
    reports: FxHashMap<TextRange, Option<Arc<Report>>>,
}

impl KernelReports {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The report of the kernel that is named at a place in a text, if it is at hand; else `make` makes it.
    pub(crate) fn report(
        &self,
        generation: u64,
        kernel: TextRange,
        make: impl FnOnce() -> Option<Report> + Send + 'static,
    ) -> Option<Arc<Report>> {
        let mut known = self.known();
        if known.generation != generation || known.reports.len() > REPORTS {
            *known = Known { generation, ..Known::default() };
        }
        if let Some(report) = known.reports.get(&kernel) {
            return report.clone();
        }
        known.reports.insert(kernel, None);
        drop(known);
        let own = self.clone();
        let work = move || {
            let made = make().map(Arc::new);
            let mut known = own.known();
            if known.generation == generation {
                known.reports.insert(kernel, made);
            }
            own.shared.1.notify_all();
        };
        thread::Builder::new().name("hover report".to_owned()).spawn(work).ok()?;
        let missing = |known: &mut Known| {
            known.generation == generation && known.reports.get(&kernel).is_some_and(Option::is_none)
        };
        let waited = self.shared.1.wait_timeout_while(self.known(), WAIT, missing);
        let (known, _) = waited.unwrap_or_else(PoisonError::into_inner);
        known.reports.get(&kernel).cloned().flatten()
    }
}
