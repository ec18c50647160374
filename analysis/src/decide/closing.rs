//! Closing the loop: why the runs made cover all trip counts.

use super::Decision;
use super::inputs::Plan;
use super::outcome::Reach;
use crate::base::{Cancel, Cancelled, Limits};
use crate::sync::{Instr, Kernel, Pure};

pub(super) fn close(
    kernel: &Kernel,
    _plan: &Plan,
    _limits: &Limits,
    _cancel: &Cancel<'_>,
    _decision: &mut Decision<'_>,
) -> Result<Reach, Cancelled> {
    Ok(if !uses_inputs(kernel) { Reach::NoInputs } else { Reach::Runs })
}

fn uses_inputs(kernel: &Kernel) -> bool {
    kernel
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .any(|instr| matches!(instr, Instr::Let(_, Pure::Input(_) | Pure::Load(..))))
}
