//! On what an answer rests beside the text.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::decide::Decider;
use crate::launch::Views;
use crate::program::Base;
use crate::prove::{Premise, Spread};
use crate::report::{Assumption, Reason};

impl Decider<'_> {
    /// On what an answer rests.
    pub(crate) fn assumptions(
        &self,
        axes: &[u8],
        (spreads, premises): (&[Spread], &BTreeSet<Premise>),
        zeros: &FxHashSet<u32>,
        waits: bool,
    ) -> Vec<Assumption> {
        let mut all = Vec::new();
        // A launch that gives some sizes of its grid has no others.
        if self.launch.grid.iter().any(Option::is_none) && !self.launch.given.contains(&true) {
            match axes {
                [] => all.push(Assumption::text("one program is launched")),
                [0] => all.push(Assumption::text("the grid has one axis")),
                [0, 1] => all.push(Assumption::text("the grid has two axes")),
                [0, 1, 2] => {}
                _ => {
                    let used: Vec<String> = axes.iter().map(ToString::to_string).collect();
                    all.push(Assumption::text(format!("the grid is 1 but along axis {}", used.join(" and "))));
                }
            }
        }
        let mut said: Vec<String> = Vec::new();
        for spread in crate::say::largest(&self.program, spreads) {
            let text = crate::say::spread(&self.program, spread);
            if !said.contains(&text) {
                said.push(text);
            }
        }
        said.extend(premises.iter().map(|premise| crate::say::premise(&self.program, premise)));
        all.extend(said.into_iter().map(Assumption::text));
        let pointers = self.program.arguments.iter().filter(|argument| argument.pointer || argument.rank > 0).count();
        if pointers > 1 && !self.launch.apart {
            all.push(Assumption::text("arguments point into distinct tensors"));
        }
        all.extend(self.views());
        let mut zeros: Vec<u32> = zeros.iter().copied().collect();
        zeros.sort_unstable();
        for tensor in zeros {
            if let Some(argument) = self.program.arguments.get(tensor as usize) {
                all.push(Assumption::text(format!("`{}` is 0 at first", argument.name)));
            }
        }
        if waits {
            all.push(Assumption::text("waits for other programs end"));
        }
        all
    }

    /// Of views of one tensor of which a program writes one: that they have nothing in common.
    fn views(&self) -> Vec<Assumption> {
        let said = |(one, other): (String, String)| {
            Assumption::text(format!("`{one}` and `{other}`, which may be parts of one tensor, have none in common"))
        };
        self.written(Views::PartsOrCopy).into_iter().map(said).collect()
    }

    /// Pairs of views that hang together so and of which a program writes one.
    pub(crate) fn written(&self, how: Views) -> Vec<(String, String)> {
        let used = |argument: u32, writes: bool| {
            let mut accesses = self.program.accesses.iter();
            accesses.any(|access| access.base == Base::Argument(argument) && (access.action.writes() || !writes))
        };
        let name = |argument: u32| self.program.arguments.get(argument as usize).map(|argument| argument.name.clone());
        let meets = |(a, b): (u32, u32)| (used(a, true) && used(b, false)) || (used(a, false) && used(b, true));
        let views = self.launch.views.iter().filter(|(a, b, of)| *of == how && meets((*a, *b)));
        views.filter_map(|(a, b, _)| Some((name(*a)?, name(*b)?))).collect()
    }

    /// That two views of one tensor, of which a program writes one, may have bytes in common.
    pub(crate) fn parts(&self) -> Option<Reason> {
        let (one, other) = self.written(Views::Parts).into_iter().next()?;
        let text = format!("`{one}` and `{other}` are parts of one tensor, and where they lie in it is not known");
        Some(Reason { range: self.range, text })
    }
}
