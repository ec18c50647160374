//! Calls of a table's functions, in the form of the configured release or an earlier one.

use super::removed;
use super::row::{Args, Bound, Row};
use crate::interp::{Eval, Interp, Stop};
use crate::target::Version;

impl Row {
    /// Runs it on arguments as they were written.
    pub fn call<'a>(&'static self, interp: &mut Interp<'a>, args: Args<'a>) -> Eval<'a> {
        let made = self.bound(interp, args).and_then(|(row, bound)| (row.run)(interp, &bound));
        let result = made.and_then(|made| interp.check_registers(&made).map(|()| made));
        if self.effect
            && let Err(Stop::Unknown(_, reason)) = &result
        {
            let reason = reason.to_string();
            interp.unmodelled(reason);
        }
        result
    }

    /// Binds the arguments to the form of this release, or to an earlier one that they fit: that is said, and the
    /// call means what it meant then.
    fn bound<'a>(&'static self, interp: &mut Interp<'a>, args: Args<'a>) -> Result<(&'static Row, Bound<'a>), Stop> {
        // Where this form is as old as the table there is no earlier one.
        let older = match self.since {
            Version(3, 5..) => interp.library.earlier(self.path, interp.version),
            _ => smallvec::SmallVec::new(),
        };
        let again = (!older.is_empty()).then(|| args.clone());
        let refused = match Bound::bind(interp, self.what(), self.params, args) {
            Err(refused @ Stop::Raised(..)) => refused,
            bound => return bound.map(|bound| (self, bound)),
        };
        for row in older {
            let Some(args) = &again else { break };
            if let Ok(bound) = Bound::bind(interp, row.what(), row.params, args.clone()) {
                removed::earlier(interp, row);
                return Ok((row, bound));
            }
        }
        Err(refused)
    }
}
