//! Host ops: what the machine does not do itself.

use dialects::DataMovement;
use kernel::HostId;
use machine::MachineError;

use super::gsan;
use super::host_call::{HostCall, OpResult};
use super::launch_state::LaunchState;
use super::memory_ops;
use super::program::{AskedWord, Halt, Program};
use tensors::{RuntimeValue, Trap, evaluate, evaluate_cluster};

/// What a thread does after a host op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AfterHostOp {
    /// The next instruction.
    Continue,
    /// The next instruction, and other threads may go on before.
    Yield,
    /// The same instruction again, after other threads.
    Again,
    /// It waits for the same op in the other CTAs, whose tiles it needs.
    Exchange,
}

/// Carries out a host op in a thread.
pub(super) fn execute<'k>(
    program: &mut Program<'k>,
    run: &mut LaunchState<'_, 'k>,
    thread: usize,
    id: HostId,
) -> Result<AfterHostOp, Halt> {
    let mut call = HostCall::new(program, run, thread, id).ok_or(Halt::Machine(MachineError::IllFormed))?;
    call.take_effects();
    carry_out(&mut call).map_err(|error| error.at(call.host.op))
}

fn carry_out(call: &mut HostCall<'_, '_, '_>) -> OpResult<AfterHostOp> {
    match call.info.data_movement {
        DataMovement::Nothing if call.run.gsan.is_some() => {
            let program = &mut *call.program;
            gsan::waited(call.run.context, &mut program.clocks, &program.state, call.thread, call.host.op);
        }
        DataMovement::Nothing => {}
        DataMovement::Evaluate => return evaluate_in_cta(call),
        DataMovement::Pass => {
            for position in 0..call.info.results.len() {
                pass(call, position)?;
            }
        }
        DataMovement::Unknown => {
            return Err(Trap::not_followed("what it does with its operands is not followed").into());
        }
        movement => {
            call.run.moves += 1;
            memory_ops::execute(call, movement)?;
        }
    }
    Ok(AfterHostOp::Continue)
}

/// A result that is the operand of the same position; what an asynchronous dot will make stays to be made.
fn pass(call: &mut HostCall<'_, '_, '_>, position: usize) -> OpResult {
    let operand = call.host.operands.get(position).copied().flatten();
    let handle = operand.and_then(|var| call.program.handle(call.cta, var)).cloned();
    if let (Some(handle), Some(Some(result))) = (handle, call.host.results.get(position)) {
        call.program.put(call.cta, *result, Some(handle));
        return Ok(());
    }
    let value = call.operand(position)?;
    call.give(position, value);
    Ok(())
}

fn evaluate_in_cta(call: &mut HostCall<'_, '_, '_>) -> OpResult<AfterHostOp> {
    let operands = call.operands()?;
    call.run.world.program = call.program.id;
    let results = match evaluate(&call.site(), &operands, &mut call.run.world) {
        Err(Trap::Exchange) => return Ok(AfterHostOp::Exchange),
        Err(Trap::Again) => return Ok(AfterHostOp::Again),
        results => results?,
    };
    let name = call.site().name();
    let (run, program) = (&mut *call.run, &mut *call.program);
    if let Some(gsan) = &mut run.gsan {
        let clocks = (&mut program.clocks, &mut program.state);
        gsan.executed(run.context, &run.world.global, clocks, &[call.thread], call.host.op);
    }
    if matches!(name, "tt.load" | "tt.atomic_rmw" | "tt.atomic_cas")
        && let (Some(address), Some(RuntimeValue::Tensor(word))) =
            (operands.first().and_then(RuntimeValue::as_int), results.first())
        && word.dtype().is_int()
        && word.len() == 1
    {
        let (bytes, value) = (word.dtype().bytes() as u64, word.int_at(0));
        program.asked[call.thread] = Some(AskedWord { op: call.host.op, address: address as u64, bytes, value });
    }
    for (result, value) in results.into_iter().enumerate() {
        call.give(result, value);
    }
    let atomic = name.starts_with("tt.atomic");
    Ok(if atomic { AfterHostOp::Yield } else { AfterHostOp::Continue })
}

/// Does an op in all CTAs of the cluster, if all have come to it.
pub(super) fn exchange<'k>(
    program: &mut Program<'k>,
    run: &mut LaunchState<'_, 'k>,
    thread: usize,
    id: HostId,
) -> Result<(), Halt> {
    let context = run.context;
    let (machine, Some((host, _))) = (&context.machine, context.host(id)) else { return Ok(()) };
    let partition = machine.partition_of(thread);
    let threads: Vec<usize> = (0..machine.cluster().len()).map(|cta| cta * machine.partitions() + partition).collect();
    if threads.iter().any(|thread| program.exchanges.get(*thread) != Some(&Some(id))) {
        return Ok(());
    }
    let mut operands = Vec::new();
    for &thread in &threads {
        let Some(mut call) = HostCall::new(program, run, thread, id) else { return Ok(()) };
        operands.push(call.operands().map_err(|error| error.at(host.op))?);
    }
    run.world.program = program.id;
    let results = evaluate_cluster(context.tree, host.op, &operands, &mut run.world);
    if matches!(results, Err(Trap::Again)) {
        run.atomics += 1;
        threads.iter().for_each(|thread| program.exchanges[*thread] = None);
        return Ok(());
    }
    let results = results.map_err(|trap| Halt::Trap(host.op, trap))?;
    if let Some(gsan) = &mut run.gsan {
        let clocks = (&mut program.clocks, &mut program.state);
        gsan.executed(run.context, &run.world.global, clocks, &threads, host.op);
    }
    for (&thread, results) in threads.iter().zip(results) {
        let Some(mut call) = HostCall::new(program, run, thread, id) else { return Ok(()) };
        for (result, value) in results.into_iter().enumerate() {
            call.give(result, value);
        }
        program.exchanges[thread] = None;
        program.state.skip_instr(thread);
    }
    Ok(())
}
