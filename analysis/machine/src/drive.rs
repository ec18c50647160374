//! The machine under a driver that computes what the machine does not: scalars, jumps and host ops are the
//! driver's, effects and the start and end of partitions the machine's.

use super::Machine;
use super::cluster::Cluster;
use super::state::{MachineError, State};
use super::valuation::Valuation;
use base::Limits;
use kernel::{BlockId, Effect, Instr, JumpTarget, Kernel, Terminator};

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramPoint<'k> {
    /// Before an instruction.
    Instr(&'k Instr),
    /// At the end of its block.
    End(&'k Terminator),
    /// Nowhere: the kernel is ill-formed.
    Nowhere,
}

impl<'k> Machine<'k> {
    /// A machine of a kernel that was lowered for execution. All CTAs are run, since what they compute differs
    /// even where they synchronise alike. Without `watches`, barriers and clocks go on, and accesses are judged
    /// by nobody.
    pub fn driven(kernel: &'k Kernel, valuation: &'k Valuation, limits: &Limits, watches: bool) -> Machine<'k> {
        let mut machine = Machine::of(kernel, valuation, limits, Cluster::whole(kernel));
        machine.leaves_scalars = true;
        machine.watches = watches;
        machine
    }

    /// Where a thread stands.
    pub fn program_point(&self, state: &State, thread: usize) -> ProgramPoint<'k> {
        let Some(at) = state.threads.get(thread) else { return ProgramPoint::Nowhere };
        let Some(block) = self.kernel().blocks.get(at.block.index()) else { return ProgramPoint::Nowhere };
        block.instrs.get(at.instr as usize).map_or(ProgramPoint::End(&block.terminator), ProgramPoint::Instr)
    }

    /// Whether a thread executes an effect that it stands at: its CTA takes part, and the predicate holds.
    pub fn executes(&self, state: &State, thread: usize, effect: &Effect) -> bool {
        effect.leaders & self.cta_of(thread) == 0 && self.holds(state, thread, effect.predicate)
    }

    /// A thread does what the machine does not follow and others may see: an event of its own.
    pub fn mark(&self, state: &mut State, thread: usize) {
        if thread < state.threads.len() {
            self.tick(state, thread);
        }
    }

    /// Takes a thread to another block, whose parameters it assigns.
    ///
    /// # Errors
    ///
    /// Where the kernel has no such block.
    pub fn jump_to(&self, state: &mut State, thread: usize, target: &JumpTarget) -> Result<(), MachineError> {
        self.jump(state, thread, target)
    }

    /// The parameters of a block.
    pub fn params(&self, block: BlockId) -> &'k [kernel::Var] {
        self.kernel().blocks.get(block.index()).map_or(&[], |block| &block.params)
    }
}
