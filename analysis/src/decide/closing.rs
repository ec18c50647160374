//! Closing the loop: why the runs made cover all trip counts.

use super::Decision;
use super::inputs::Plan;
use super::outcome::Reach;
use crate::base::{Cancel, Cancelled, Limits};
use crate::sync::Kernel;

pub(super) fn close(
    kernel: &Kernel,
    _plan: &Plan,
    _limits: &Limits,
    _cancel: &Cancel<'_>,
    _decision: &mut Decision<'_>,
) -> Result<Reach, Cancelled> {
    Ok(if kernel.inputs.is_empty() { Reach::NoInputs } else { Reach::Runs })
}
