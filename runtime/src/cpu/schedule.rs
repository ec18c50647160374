//! The programs of a launch: which run at a time, and for how long each.

use std::collections::VecDeque;
use std::time::Instant;

use asserts::run_finding;
use base::{Cancel, IrNames, Message, TextRange, message};
use findings::Kind;
use kernel::{InputKind, Var};
use machine::MachineError;
use ttgir::OpId;

use super::driver::StepResult;
use super::gsan::Gsan;
use super::launch_state::LaunchState;
use super::program::{Halt, ParameterValue, Program};
use crate::run::{ASKS, RunEnd, RunEvent, RunLimits};
use tensors::Trap;

/// Programs that run at a time, unless they wait for others.
const WINDOW: usize = 4;

/// Steps of a program before another may go on, at most.
const TURN: usize = 48;

/// Atomics since a program ended or began, after which one more begins: those that run may be waiting for it.
const PATIENCE: u64 = 256;

/// What the elaborator emits for a call that it follows no further.
const PLACEHOLDER: &str = "tt.opaque";

/// What a run may use up, and what it has.
pub(super) struct LaunchLimits<'a> {
    pub(super) bounds: &'a RunLimits,
    pub(super) start: Instant,
    pub(super) cancel: &'a Cancel<'a>,
    /// Most bytes held at a time.
    pub(super) most: u64,
}

impl LaunchLimits<'_> {
    /// Why the run ends, if it has used up what it may.
    fn over(&mut self, steps: u64, held: u64) -> Option<RunEnd> {
        self.most = self.most.max(held);
        if self.cancel.is_cancelled() {
            return Some(RunEnd::Cancelled);
        }
        let (time, memory) = (self.bounds.time, self.bounds.memory);
        if self.start.elapsed() > time {
            return Some(RunEnd::Hung(vec![format!("it did not end within {} seconds", time.as_secs())]));
        }
        if steps > self.bounds.steps {
            return Some(RunEnd::Hung(vec![format!("it did not end within {} steps", self.bounds.steps)]));
        }
        if held > memory {
            return Some(RunEnd::Failed(format!("it holds more than {} MiB of memory", memory >> 20)));
        }
        None
    }
}

/// Runs all programs; `None` where all came to their ends.
pub(super) fn launch<'k>(
    run: &mut LaunchState<'_, 'k>,
    arguments: &[(Var, ParameterValue)],
    bounded: &mut LaunchLimits<'_>,
    progress: &mut dyn FnMut(RunEvent),
) -> Option<RunEnd> {
    let mut window: VecDeque<Program<'k>> = VecDeque::new();
    // Cluster launch control hands out programs that have not begun: there have to be some.
    let hands_out = run.context.machine.kernel().inputs.iter().any(|input| input.kind == InputKind::Tiles);
    let (mut room, mut ended) = (if hands_out { 1 + run.random.below(2) } else { WINDOW }, 0i64);
    let total = run.grid.total();
    loop {
        while window.len() < room {
            let number = run.grid.started() as u32;
            let Some(id) = run.grid.take() else { break };
            match Program::new(run.context, &mut run.random, (id, number), arguments) {
                Some(program) => {
                    run.moves += 1;
                    window.push_back(program);
                }
                None => {
                    return Some(RunEnd::Failed("its shared and tensor memory are larger than any GPU's".to_owned()));
                }
            }
        }
        if window.is_empty() {
            return None;
        }
        let at = run.random.below(window.len());
        let program = window.get_mut(at)?;
        let steps = 1 + run.random.below(TURN);
        let mut over = false;
        for _ in 0..steps {
            match program.step(run) {
                Ok(StepResult::Progressed) => {}
                Ok(StepResult::Finished | StepResult::Deadlocked) => {
                    over = true;
                    break;
                }
                Err(stop) => match halted(run, stop) {
                    Some(end) => return Some(end),
                    None => {
                        over = true;
                        break;
                    }
                },
            }
        }
        if over {
            window.swap_remove_back(at);
            run.moves += 1;
            (run.atomics, ended) = (0, ended + 1);
            progress(RunEvent::Progress(ended as f32 / total.max(1) as f32));
        }
        let held: u64 = window.iter().map(Program::held_bytes).sum::<u64>() + run.world.global.held();
        let held = held + run.gsan.as_ref().map_or(0, Gsan::held);
        if run.atomics > PATIENCE && run.grid.started() < total {
            (room, run.atomics) = (window.len() + 1, 0);
        }
        let changes = run.changes();
        if run.grid.started() >= total
            && !window.is_empty()
            && window.iter().all(|program| program.stands_still(run.context, changes))
        {
            return Some(stands_still(run, &window));
        }
        match bounded.over(run.steps, held) {
            Some(RunEnd::Hung(mut why)) => {
                why.extend(threads(run, &window));
                return Some(RunEnd::Hung(why));
            }
            Some(end) => return Some(end),
            None => {}
        }
    }
}

/// Where the threads of the first programs stand.
fn threads<'k>(run: &LaunchState<'_, 'k>, window: &VecDeque<Program<'k>>) -> Vec<String> {
    window.iter().take(2).flat_map(|program| program.describe_threads(run.context, &run.world.global)).collect()
}

/// Says of a launch in which nobody goes on any more for which words its programs wait.
fn stands_still<'k>(run: &mut LaunchState<'_, 'k>, window: &VecDeque<Program<'k>>) -> RunEnd {
    let (tree, changes) = (run.context.tree, run.changes());
    for asked in window.iter().flat_map(|program| program.asked_in_rounds(changes)) {
        let word = run.world.global.word(asked.address, asked.bytes, asked.value);
        let (name, range) = (Message::op(tree.op_name(asked.op).to_owned()), tree.op_name_range(asked.op));
        let message = message!("`{op}` {asks}: {word}", name, ASKS.to_owned(), word.to_string());
        let place = (range, message.clone());
        let told = run_finding(&run.context.made.lowered.map, Kind::Deadlock, message, vec![place]);
        run.findings.add(told.render(&IrNames));
    }
    let mut why = vec!["no program can go on: nothing changes any more that one of them waits for".to_owned()];
    why.extend(threads(run, window));
    RunEnd::Hung(why)
}

/// What a program that cannot go on says: an end of the launch, or a finding, after which the others go on.
fn halted(run: &mut LaunchState<'_, '_>, stop: Halt) -> Option<RunEnd> {
    let context = run.context;
    let tree = context.tree;
    let line =
        |range: TextRange| tree.text().get(..range.start as usize).map_or(0, |text| text.matches('\n').count()) + 1;
    let place = |op: OpId, range: TextRange| match context.source(op) {
        Some(source) => source,
        None => format!("line {} of the IR", line(range)),
    };
    let map = &context.made.lowered.map;
    let named = |op: OpId| (Message::op(tree.op_name(op).to_owned()), tree.op_name_range(op));
    match stop {
        Halt::Trap(op, Trap::OutOfBounds { fault, write, element }) => {
            let (name, range) = named(op);
            let does = if write { "writes" } else { "reads" };
            let message = message!(
                "`{op}` {does} outside of its allocation: {fault} (element {element} of its tile)",
                name,
                does,
                fault.to_string(),
                element.to_string(),
            );
            run.findings.add(
                run_finding(map, Kind::OutOfBounds, message.clone(), vec![(range, message.clone())]).render(&IrNames),
            );
            // On a GPU it takes the whole launch with it.
            Some(RunEnd::Asserted)
        }
        Halt::Trap(op, Trap::Index { index, size, element }) => {
            let (name, range) = named(op);
            let message = message!(
                "`{op}` goes outside of the tensor that it indexes: index {index} of {size} (element {element} of its tile)",
                name,
                index.to_string(),
                size.to_string(),
                element.to_string(),
            );
            run.findings
                .add(run_finding(map, Kind::OutOfBounds, message.clone(), vec![(range, message)]).render(&IrNames));
            Some(RunEnd::Asserted)
        }
        Halt::Trap(op, Trap::Assert(message)) => {
            let (name, range) = named(op);
            let place = (range, message!("`{op}` fails", name));
            let told = run_finding(map, Kind::DeviceAssert, message.to_string().into(), vec![place]);
            run.findings.add(told.render(&IrNames));
            None
        }
        Halt::Trap(op, trap) => {
            let (name, range) = named(op);
            let why = format!(": {trap}");
            let (what, why) = match tree.loc(op).into_iter().next().and_then(|loc| loc.name) {
                // It stands for a call of the Python that nothing is elaborated to, whose name it has.
                Some(call) if tree.op_name(op) == PLACEHOLDER => {
                    (call, " without Triton: what it computes is not elaborated; with --python it is")
                }
                _ => (name.to_string(), why.as_str()),
            };
            Some(RunEnd::Undecided(vec![format!("`{what}` at {} is not followed{why}", place(op, range))]))
        }
        Halt::Unmodelled(site) => {
            let site = map.sites.get(site.index())?;
            let reasons = context.made.lowered.unmodelled.iter().filter(|item| site.range.contains(item.range));
            let why = reasons.map(|item| item.reason.to_string()).collect::<Vec<_>>().join("; ");
            Some(RunEnd::Undecided(vec![format!(
                "`{}` at {} is not followed: {why}",
                site.op,
                site.source.first().cloned().unwrap_or_else(|| format!("line {} of the IR", line(site.name)))
            )]))
        }
        Halt::Machine(MachineError::Undefined) => {
            Some(RunEnd::Undecided(vec!["an index or bound divides by zero or shifts by its width or more".to_owned()]))
        }
        Halt::Machine(MachineError::Limit) => Some(RunEnd::Hung(vec!["the limit on steps was met".to_owned()])),
        Halt::Machine(MachineError::IllFormed) => Some(RunEnd::Undecided(vec!["the kernel is ill-formed".to_owned()])),
    }
}
