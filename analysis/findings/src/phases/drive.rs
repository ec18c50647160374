//! What drives a phase and what drives a barrier's flips, in words.

use super::super::paths::Loops;
use super::super::replay::walk;
use super::super::words::Words;
use super::formula::name;
use crate::limits::phases::DEPTH;
use base::{Message, message};
use explore::canonical;
use kernel::{BlockId, EffectId, Kernel, Pure, Var};
use machine::{BarrierAction, BarrierPlace, Machine, State};
use verify::Slices;

/// What a wait names: `always 0`, `%i & 1`, `%phase, which starts with 0 and then is %phase ^ 1`.
pub(super) fn phase(words: &Words<'_>, loops: &Loops<'_>, named: Var) -> Message {
    let slices = Slices::new(words.kernel);
    if let Some(value) = slices.constant(named) {
        return message!("always {phase}", value & 1);
    }
    let mut carried = Vec::new();
    let text = expression(words, &slices, named, DEPTH, &mut carried).text;
    let told: Vec<(Message, Message)> =
        carried.iter().filter_map(|&var| next_value(words, &slices, loops, var)).take(2).collect();
    match told.as_slice() {
        [] => message!("`{phase}`", text),
        [(of, how)] if *of == text => message!("`{phase}`, which {how}", text, how),
        many => {
            let many = many.iter().map(|(of, how)| message!("`{of}` {how}", of, how));
            message!("`{phase}`, where {many}", text, Message::join(many, " and "))
        }
    }
}

/// The loops whose counters or carried values a phase is made of.
pub(super) fn drivers(kernel: &Kernel, named: Var) -> Vec<usize> {
    let slices = Slices::new(kernel);
    let heads: Vec<&[Var]> = kernel.loops.iter().map(|info| kernel.block(info.head).params.as_slice()).collect();
    let mut out = Vec::new();
    let mut seen = vec![false; kernel.vars.len()];
    let mut open = vec![named];
    while let Some(var) = open.pop() {
        let var = slices.root(var);
        if std::mem::replace(&mut seen[var.index()], true) {
            continue;
        }
        if let Some(pure) = slices.pure(var) {
            open.extend(pure.operands());
            continue;
        }
        out.extend((0..heads.len()).filter(|number| heads[*number].contains(&var)));
        // What is carried comes from all that is passed for it.
        for block in &kernel.blocks {
            for target in block.terminator.targets() {
                let params = &kernel.block(target.block).params;
                open.extend(params.iter().zip(&target.args).filter(|(param, _)| **param == var).map(|(_, arg)| *arg));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// A value as an expression of the IR's names.
struct Expression {
    text: Message,
    /// Whether it is an operator with its operands, which needs brackets inside of another.
    operator: bool,
}

impl Expression {
    fn operand(self) -> Message {
        if self.operator { message!("({expression})", self.text) } else { self.text }
    }
}

/// A value in terms of the values that it is computed from; those that loops carry are added to `carried`.
fn expression(words: &Words<'_>, slices: &Slices<'_>, var: Var, depth: u32, carried: &mut Vec<Var>) -> Expression {
    use Pure::*;
    let named = |var: Var| Expression { text: name(words, var).unwrap_or_else(|| "…".into()), operator: false };
    let Some(pure) = slices.pure(var) else {
        let root = slices.root(var);
        if !carried.contains(&root) {
            carried.push(root);
        }
        return named(var);
    };
    if let Const(value) = pure {
        return Expression { text: message!("{value}", value), operator: false };
    }
    if depth == 0 {
        return named(var);
    }
    let mut at = |var: Var| expression(words, slices, var, depth - 1, carried);
    let mut two = |sign: &'static str, a: Var, b: Var| {
        let (a, b) = (at(a).operand(), at(b).operand());
        Expression { text: message!("{a} {sign} {b}", a, sign, b), operator: true }
    };
    match pure {
        Add(_, a, b) => two("+", a, b),
        Sub(_, a, b) => two("-", a, b),
        Mul(_, a, b) => two("*", a, b),
        DivS(_, a, b) | DivU(_, a, b) | FloorDivS(_, a, b) => two("/", a, b),
        RemS(_, a, b) | RemU(_, a, b) => two("%", a, b),
        And(_, a, b) => two("&", a, b),
        Or(_, a, b) => two("|", a, b),
        Xor(_, a, b) => two("^", a, b),
        ShrS(_, a, b) | ShrU(_, a, b) => two(">>", a, b),
        Select(condition, a, b) => {
            let (condition, a, b) = (named(condition).text, at(a).operand(), at(b).text);
            Expression { text: message!("{a} if {condition} else {b}", a, condition, b), operator: true }
        }
        Copy(a) | ExtS(_, _, a) | ExtU(_, _, a) | Trunc(_, a) => at(a),
        _ => named(var),
    }
}

/// A value that a loop carries, and how it goes on: `starts with 0 and then is %phase ^ 1`.
fn next_value(words: &Words<'_>, slices: &Slices<'_>, loops: &Loops<'_>, var: Var) -> Option<(Message, Message)> {
    let kernel = words.kernel;
    let (number, position) = kernel.loops.iter().enumerate().find_map(|(number, info)| {
        let params = &kernel.blocks.get(info.head.index())?.params;
        let counter = info.counted.map(|(counter, ..)| counter);
        params.iter().position(|param| *param == var && Some(*param) != counter).map(|at| (number, at))
    })?;
    let head = kernel.loops[number].head;
    let (mut first, mut next) = (None, None);
    for (at, block) in kernel.blocks.iter().enumerate() {
        let inside = loops.around(BlockId(at as u32)).contains(&number);
        for target in block.terminator.targets().into_iter().filter(|target| target.block == head) {
            *(if inside { &mut next } else { &mut first }) = target.args.get(position).copied();
        }
    }
    let told = |var: Var| expression(words, slices, var, 3, &mut Vec::new()).text;
    let again = loops.around(head).iter().copied().rev().find(|outer| *outer != number).and_then(|outer| {
        let constant = first.and_then(|first| slices.constant(first)).is_some();
        loops.counter(words, outer).filter(|_| constant)
    });
    let again = again.map(|outer| message!(" in each iteration of {outer}", outer));
    Some((name(words, var)?, message!("starts with {}{again} and then is `{}`", told(first?), again, told(next?))))
}

/// Who flips the barriers of an allocation, and how often each.
pub(super) struct Flips {
    /// The op that does it most.
    pub effect: EffectId,
    /// Its thread.
    pub thread: u16,
    /// `once every 2 iterations of %i`.
    pub often: Message,
}

/// A flip: op, thread, barrier, iterations of the loops around the op.
type Flip = (EffectId, u16, BarrierPlace, Vec<i64>);

/// Watches a run for the flips of a barrier and its ring; `None` where the barrier itself is never flipped.
pub(super) fn flips(words: &Words<'_>, machine: &Machine<'_>, place: BarrierPlace) -> Option<Flips> {
    let kernel = machine.kernel();
    let loops = Loops::new(kernel);
    let mut seen: Vec<Flip> = Vec::new();
    let before = |state: &State, thread: usize| {
        let (effect, vars) = (machine.next_effect_id(state, thread)?, machine.vars(state, thread));
        let around = loops.around_effect(effect);
        let iterations = around.iter().filter_map(|number| loops.iteration(*number, vars)).collect();
        Some((effect, iterations))
    };
    let schedule = canonical(machine).schedule;
    walk(machine, &schedule, before, |at: Option<(EffectId, Vec<i64>)>, record| {
        let Some((effect, iterations)) = at else { return };
        for barrier in record.barriers.iter().filter(|barrier| barrier.place.buffer == place.buffer) {
            if barrier.act == (BarrierAction::Arrive { flipped: true }) {
                seen.push((effect, record.thread, barrier.place, iterations.clone()));
            }
        }
    });
    if seen.iter().all(|flip| flip.2 != place) {
        return None;
    }
    let count = |effect: EffectId| seen.iter().filter(|flip| flip.0 == effect).count();
    let &(effect, thread, ..) = seen.iter().rev().max_by_key(|flip| count(flip.0))?;
    let around = loops.around_effect(effect);
    let own: Vec<&Flip> = seen.iter().filter(|flip| flip.0 == effect).collect();
    let often = match around {
        [] => "outside of loops".into(),
        [.., inner] => {
            let mut gaps = Vec::new();
            for (at, flip) in own.iter().enumerate() {
                let next = own[at + 1..].iter().find(|later| later.2 == flip.2);
                if let (Some(next), Some((now, outer))) = (next, flip.3.split_last())
                    && let Some((then, above)) = next.3.split_last()
                    && outer == above
                {
                    gaps.push(then - now);
                }
            }
            gaps.sort_unstable();
            gaps.dedup();
            match (gaps.as_slice(), around) {
                ([gap], _) if *gap > 0 => every(*gap, loops.counter(words, *inner)),
                ([], _) if slots(&own) > 1 => every(slots(&own), loops.counter(words, *inner)),
                ([], [.., outer, _]) => every(1, loops.counter(words, *outer)),
                _ => "at an uneven pace".into(),
            }
        }
    };
    Some(Flips { effect, thread, often })
}

/// How many barriers were flipped.
fn slots(flips: &[&Flip]) -> i64 {
    let mut places: Vec<BarrierPlace> = flips.iter().map(|flip| flip.2).collect();
    places.sort_unstable();
    places.dedup();
    places.len() as i64
}

fn every(number: i64, counter: Option<Message>) -> Message {
    let of = counter.map(|counter| message!(" of {counter}", counter));
    if number == 1 {
        message!("once an iteration{of}", of)
    } else {
        message!("once every {number} iterations{of}", number, of)
    }
}
