//! What a launcher computes of the numbers of a launch to switch a kernel: a run whose numbers say otherwise is no launch.

use std::borrow::Cow;

use base::condition::{Choosable, Switch};

use crate::choose::round_up;
use crate::host::Numbers;
use crate::launch::Known;
use crate::program::Program;
use crate::run::Setting;
use terms::Variable;

/// By the place of a name of a switch, the argument that it is.
fn argument(of: &Switch, program: &Program, name: u32) -> Option<u32> {
    let name = of.names.get(name as usize)?;
    let mut arguments = (0u32..).zip(&program.arguments);
    arguments.find(|(_, argument)| argument.name.trim_start_matches('%') == name).map(|(at, _)| at)
}

fn number(of: &Switch, program: &Program, setting: &Setting, name: u32) -> Option<i64> {
    setting.values.get(&Variable::Argument(argument(of, program, name)?)).copied()
}

impl Known {
    /// The same where host code may have taken any way.
    pub(crate) fn without_conditions(&self) -> Cow<'_, Known> {
        match self.conditions.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Known { conditions: Vec::new(), ..self.clone() }),
        }
    }

    /// Whether a launch with these numbers switches the kernel as it was compiled, as far as is known.
    pub(crate) fn switches_so(&self, program: &Program, setting: &Setting) -> bool {
        self.switches.iter().all(|switch| {
            let holds = switch.condition.value(&|name| number(switch, program, setting, name));
            holds.is_none_or(|holds| holds == switch.holds)
        }) && self.conditions.iter().all(|condition| {
            condition.value(&|id| self.number_of(id, setting, &setting.numbers)).is_none_or(|holds| holds)
        })
    }

    /// The value of a number without a formula.
    fn number_of(&self, id: u32, setting: &Setting, numbers: &Numbers) -> Option<i64> {
        let argument = || setting.values.get(&Variable::Argument(*self.numbered.get(&id)?)).copied();
        numbers.get(&id).copied().or_else(argument)
    }

    /// Changes numbers so that the kernel is switched as it was compiled, and that host code comes to its launch.
    pub(crate) fn switch(&self, program: &Program, setting: &mut Setting, numbers: &mut Numbers) {
        // What one of them needs may be too much for another one.
        for _ in 0..2 {
            let mut chosen = Chosen { known: self, program, setting, numbers };
            self.conditions.iter().for_each(|condition| _ = condition.fulfil(&mut chosen));
        }
        for switch in &self.switches {
            let mut wanted = Vec::new();
            switch.condition.multiples(switch.holds, &mut wanted);
            for (name, by, multiple) in wanted {
                let Some(at) = argument(switch, program, name).filter(|at| self.value(*at).is_none()) else { continue };
                let by = by.value(&|name| number(switch, program, setting, name)).filter(|by| *by > 1);
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
                    setting.values.entry(Variable::Argument(at)).and_modify(|now| *now = adjusted(*now));
                }
            }
        }
    }
}

/// Numbers of a launch that is being made up.
struct Chosen<'c> {
    known: &'c Known,
    program: &'c Program,
    setting: &'c mut Setting,
    numbers: &'c mut Numbers,
}

impl Choosable for Chosen<'_> {
    fn get(&self, id: u32) -> Option<i64> {
        self.known.number_of(id, self.setting, self.numbers)
    }

    fn set(&mut self, id: u32, value: i64) -> bool {
        if let Some(number) = self.numbers.get_mut(&id) {
            let is_free = !self.known.host.is_bounded(id);
            if is_free {
                *number = value;
            }
            return is_free;
        }
        let Some(at) = self.known.numbered.get(&id).filter(|at| self.known.value(**at).is_none()) else { return false };
        let divisor = self.program.arguments.get(*at as usize).map_or(1, |argument| argument.divisor);
        self.setting.values.insert(Variable::Argument(*at), round_up(value, divisor));
        true
    }
}
