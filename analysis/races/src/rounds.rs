//! That a kernel in whose runs no program takes two tiles is not clean: no run shows what comes of the second one.

use rustc_hash::FxHashSet;

use crate::decide::Decider;
use crate::persistent::{goes_twice, shared};
use crate::report::Reason;
use crate::run::Setting;

impl Decider<'_> {
    /// A loop that no program goes around twice in the launches that were run.
    pub(crate) fn once_at_most(&self, settings: &[&Setting], asked: &FxHashSet<u32>) -> Option<Reason> {
        let never = |number: &u32| {
            let mut known = settings.iter().map(|setting| goes_twice(&self.program, setting, *number));
            known.all(|twice| twice == Some(false))
        };
        let number = shared(&self.program, &self.launch, asked).into_iter().find(never)?;
        let range = self.program.loops.get(number as usize)?.range;
        Some(Reason { range, text: "in the launches that were run no program goes around this loop twice".to_owned() })
    }
}
