//! Warps and registers of `warp_specialize`: what cannot be, and what Triton passes over in silence.

use python::interp::{Interp, Problem, Stop};

/// Threads of a block, and registers of a multiprocessor, on all NVIDIA GPUs so far.
const MOST_WARPS: i64 = 32;
const REGISTERS: i64 = 65536;
/// What the hardware can set as registers of a thread.
const FEWEST: i64 = 24;

/// Checks the lists that `warp_specialize` is given: one entry for each worker partition, of which there are
/// `workers`.
pub(super) fn check_partitions(
    interp: &mut Interp<'_>,
    workers: usize,
    warps: &[i64],
    registers: Option<&[i64]>,
) -> Result<(), Stop> {
    if warps.len() != workers {
        return interp.raise(format!("{workers} worker partitions, and {} numbers of warps", warps.len()));
    }
    if let Some(registers) = registers
        && registers.len() != workers
    {
        return interp.raise(format!("{workers} worker partitions, and {} numbers of registers", registers.len()));
    }
    if let Some((at, count)) = warps.iter().enumerate().find(|(_, count)| **count <= 0 || **count & (**count - 1) != 0)
    {
        return interp.raise(format!("worker partition {at} has {count} warps, which is no power of two"));
    }
    if !matches!(interp.target, python::target::Target::Cuda(_)) {
        return Ok(());
    }
    // Warps come in groups of four.
    let all = warps.iter().fold(0_i64, |sum, count| sum.saturating_add(*count)).saturating_add(3) / 4 * 4;
    let default = i64::from(interp.num_warps);
    if default.saturating_add(all) > MOST_WARPS {
        let total = default.saturating_add(all);
        interp.problem(
            "warp-count",
            format!(
                "the partitions have {total} warps together; a block has at most {MOST_WARPS}, so no launch succeeds"
            ),
        );
    }
    if let Some(registers) = registers {
        let asked = warps.iter().zip(registers).fold(0_i64, |sum, (count, registers)| {
            let each = registers.saturating_add(7) / 8 * 8;
            sum.saturating_add(each.max(FEWEST).saturating_mul(count.saturating_mul(32)))
        });
        let left = REGISTERS.saturating_sub(asked) / default.max(1).saturating_mul(32).max(1);
        if left < FEWEST {
            let message = format!(
                "the workers ask for {asked} of {REGISTERS} registers, which leaves {} a thread of the default \
                 partition; below {FEWEST} Triton ignores all these requests",
                left.max(0)
            );
            let problem =
                Problem { file: interp.file, range: interp.at, code: "register-count", message, hint: true, fix: None };
            if !interp.problems.contains(&problem) {
                interp.problems.push(problem);
            }
        }
    }
    Ok(())
}
