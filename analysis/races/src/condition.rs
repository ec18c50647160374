//! What a launcher computes of the numbers of a launch to switch a kernel: a run whose numbers say otherwise is no launch.

use base::{Operation, Quantity};

use crate::choose::round_up;
use crate::launch::Known;
use crate::program::Program;
use crate::run::Setting;
use crate::term::Symbol;

/// A condition on numbers of a launch. An unknown of a quantity is a name of [`Switch::names`] by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison.
    Compare(Order, Quantity, Quantity),
    /// Each of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Order {
    Equal,
    Unequal,
    Less,
    AtMost,
}

/// A condition that was decided before a kernel was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The condition.
    pub condition: Condition,
    /// The arguments that it names.
    pub names: Vec<String>,
    /// Whether it holds.
    pub holds: bool,
}

impl Condition {
    /// Whether it holds with these numbers; `None` where that is not known.
    fn value(&self, of: &dyn Fn(u32) -> Option<i64>) -> Option<bool> {
        match self {
            Condition::Compare(order, one, other) => {
                let (one, other) = (one.value(of)?, other.value(of)?);
                Some(match order {
                    Order::Equal => one == other,
                    Order::Unequal => one != other,
                    Order::Less => one < other,
                    Order::AtMost => one <= other,
                })
            }
            Condition::All(parts) => each(parts, of, false),
            Condition::Any(parts) => each(parts, of, true),
        }
    }

    /// Names that have to be multiples of numbers, or must not be, for it to hold or not.
    fn multiples<'c>(&'c self, holds: bool, out: &mut Vec<(u32, &'c Quantity, bool)>) {
        match self {
            Condition::Compare(order @ (Order::Equal | Order::Unequal), Quantity::Made(op, of), Quantity::Known(0)) => {
                if let (Operation::Mod, Quantity::Unknown { id, .. }, by) = (op, &of.0, &of.1) {
                    out.push((*id, by, (*order == Order::Equal) == holds));
                }
            }
            Condition::All(parts) if holds => parts.iter().for_each(|part| part.multiples(holds, out)),
            Condition::Any(parts) if !holds => parts.iter().for_each(|part| part.multiples(holds, out)),
            _ => {}
        }
    }
}

/// `decides` where one of the parts is that, the other where none is; `None` where that is not known.
fn each(parts: &[Condition], of: &dyn Fn(u32) -> Option<i64>, decides: bool) -> Option<bool> {
    let values: Vec<Option<bool>> = parts.iter().map(|part| part.value(of)).collect();
    if values.contains(&Some(decides)) {
        return Some(decides);
    }
    values.iter().all(Option::is_some).then_some(!decides)
}

impl Switch {
    /// By the place of a name, the argument that it is.
    fn argument(&self, program: &Program, name: u32) -> Option<u32> {
        let name = self.names.get(name as usize)?;
        let mut arguments = (0u32..).zip(&program.arguments);
        arguments.find(|(_, argument)| argument.name.trim_start_matches('%') == name).map(|(at, _)| at)
    }

    fn number(&self, program: &Program, setting: &Setting, name: u32) -> Option<i64> {
        setting.values.get(&Symbol::Argument(self.argument(program, name)?)).copied()
    }
}

impl Known {
    /// Whether a launch with these numbers switches the kernel as it was compiled, as far as is known.
    pub(crate) fn switches_so(&self, program: &Program, setting: &Setting) -> bool {
        self.switches.iter().all(|switch| {
            let holds = switch.condition.value(&|name| switch.number(program, setting, name));
            holds.is_none_or(|holds| holds == switch.holds)
        })
    }

    /// Makes numbers multiples of others, or none, where that switches the kernel as it was compiled.
    pub(crate) fn switch(&self, program: &Program, setting: &mut Setting, numbers: &mut crate::host::Numbers) {
        for switch in &self.switches {
            let mut wanted = Vec::new();
            switch.condition.multiples(switch.holds, &mut wanted);
            for (name, by, multiple) in wanted {
                let Some(at) = switch.argument(program, name).filter(|at| self.value(*at).is_none()) else { continue };
                let by = by.value(&|name| switch.number(program, setting, name)).filter(|by| *by > 1);
                let (Some(by), Some(argument)) = (by, program.arguments.get(at as usize)) else { continue };
                let own = argument.divisor.max(1);
                let adjusted = |now: i64| match multiple {
                    true if by % own == 0 => round_up(now, by),
                    true => round_up(now, by.saturating_mul(own)),
                    false if now % by == 0 => now.saturating_add(own),
                    false => now,
                };
                if let Some(number) = self.host.number(at) {
                    numbers.entry(number).and_modify(|now| *now = adjusted(*now));
                } else if self.host.of(at).is_none() {
                    setting.values.entry(Symbol::Argument(at)).and_modify(|now| *now = adjusted(*now));
                }
            }
        }
    }
}
