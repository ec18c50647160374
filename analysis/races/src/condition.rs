//! What a launcher computes of the numbers of a launch to switch a kernel: a run whose numbers say otherwise is no launch.

use base::condition::Switch;

use crate::choose::round_up;
use crate::launch::Known;
use crate::program::Program;
use crate::run::Setting;
use crate::term::Symbol;

/// By the place of a name of a switch, the argument that it is.
fn argument(of: &Switch, program: &Program, name: u32) -> Option<u32> {
    let name = of.names.get(name as usize)?;
    let mut arguments = (0u32..).zip(&program.arguments);
    arguments.find(|(_, argument)| argument.name.trim_start_matches('%') == name).map(|(at, _)| at)
}

fn number(of: &Switch, program: &Program, setting: &Setting, name: u32) -> Option<i64> {
    setting.values.get(&Symbol::Argument(argument(of, program, name)?)).copied()
}

impl Known {
    /// Whether a launch with these numbers switches the kernel as it was compiled, as far as is known.
    pub(crate) fn switches_so(&self, program: &Program, setting: &Setting) -> bool {
        self.switches.iter().all(|switch| {
            let holds = switch.condition.value(&|name| number(switch, program, setting, name));
            holds.is_none_or(|holds| holds == switch.holds)
        })
    }

    /// Makes numbers multiples of others, or none, where that switches the kernel as it was compiled.
    pub(crate) fn switch(&self, program: &Program, setting: &mut Setting, numbers: &mut crate::host::Numbers) {
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
                    setting.values.entry(Symbol::Argument(at)).and_modify(|now| *now = adjusted(*now));
                }
            }
        }
    }
}
