//! Kernels with other constants than those that were chosen: of constants that are alike, or powers of two, one may stand where
//! another one should, and no launch shows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ElaboratedInstance;
use super::merge::Premise;
use super::premise::{Variation, blames, is_followed, key};
use super::varied::Varied;
use crate::Engine;
use crate::limits::premises::UNLIKE;
use base::condition::{Condition, Order};
use base::{Cancel, Cancelled, Quantity};
use findings::{KernelReport, Kind, Verdict};
use gluon::{Given, LaunchFacts, ValueSource};

/// What the host is handed, number by number, in place of what was chosen: no multiples of each other, and each twice or
/// half the one before.
const NUMBERS: [[i64; 6]; 3] = [[40, 24, 56, 72, 88, 104], [64, 32, 16, 8, 4, 2], [3, 6, 12, 24, 48, 96]];

/// The largest constant that is computed so.
const MOST: i64 = 1 << 16;

/// How many constants are named.
const NAMED: usize = 4;

impl Engine {
    /// Races of instances without any that have them with other constants, all of which the host computes of sizes that may
    /// be any. They are added to the reports; beside each what it rests on.
    pub(super) fn with_unlike_constants(
        &mut self,
        varied: Varied<'_>,
        reports: &mut [KernelReport],
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Premise>, Cancelled> {
        let mut premises = Vec::new();
        let mut left = UNLIKE;
        for (number, (report, elaborated)) in reports.iter_mut().zip(&varied.kernel.instances).enumerate() {
            let told = report.global.as_mut().filter(|of| matches!(of.verdict, Verdict::Proved(_) | Verdict::Clean(_)));
            let plain = elaborated.lowered().is_some_and(|lowered| lowered.kernel.effects.is_empty());
            let (Some(global), true, None) = (told, plain, elaborated.stale()) else { continue };
            for (variation, facts) in unlike(elaborated) {
                if left == 0 {
                    break;
                }
                left -= 1;
                let other = varied.launched(elaborated, &variation, Some(facts), cancel)?;
                if !is_followed(&other, elaborated) {
                    continue;
                }
                let races = self.races_of(&other, number, cancel)?;
                let found = races.findings.into_iter().filter(|it| it.kind == Kind::GlobalRace && blames(it));
                let words = format!("with {}, which was chosen; with {} it is not there", variation.is, variation.was);
                let before = report.findings.len();
                for finding in found {
                    premises.push((key(&finding), words.clone()));
                    report.findings.push(finding);
                }
                if report.findings.len() > before {
                    (global.verdict, report.verdict) = (Verdict::Found, Verdict::Found);
                    break;
                }
            }
        }
        Ok(premises)
    }
}

/// Instances with other constants, each with the launch that has them; none where the host does not say of each constant that
/// was chosen what it computes it of.
fn unlike(of: &ElaboratedInstance) -> Vec<(Variation, Arc<LaunchFacts>)> {
    let (spec, computed) = (&of.instance.spec, of.computed());
    let number = |given: &Given| match given {
        Given::Value(text) => text.parse::<i64>().ok(),
        Given::Type(_) => None,
    };
    let chosen = spec.arguments.iter().enumerate().filter(|(_, of)| of.source == ValueSource::Chosen);
    let chosen: Vec<(usize, &str, i64)> = chosen
        .filter(|(_, of)| !computed.contains(&of.name))
        .filter_map(|(at, of)| Some((at, of.name.as_str(), number(&of.given)?)))
        .collect();
    let formulas = |facts: &LaunchFacts| -> Option<Vec<Quantity>> {
        let of = |name: &str| facts.arguments.iter().find(|of| of.name == name)?.quantity.clone();
        chosen.iter().map(|(_, name, _)| of(name)).collect()
    };
    let launch = of.instance.launches.iter().find_map(|facts| Some((formulas(facts)?, Arc::new(facts.clone()))));
    let Some((formulas, facts)) = launch.filter(|_| !chosen.is_empty()) else { return Vec::new() };
    let mut ids: Vec<u32> = Vec::new();
    for formula in &formulas {
        formula.unknowns(&mut |id, _| {
            if !ids.contains(&id) {
                ids.push(id);
            }
        });
    }
    let mut all: Vec<(Variation, Arc<LaunchFacts>)> = Vec::new();
    for numbers in NUMBERS {
        let value = |id: u32| numbers.get(ids.iter().position(|of| *of == id)?).copied();
        let values: Option<Vec<i64>> = formulas.iter().map(|formula| formula.value(&value)).collect();
        let Some(values) = values.filter(|values| values.iter().all(|value| (1..=MOST).contains(value))) else {
            continue;
        };
        let is_launched = facts.conditions.iter().all(|condition| condition.value(&value) != Some(false));
        if !is_launched || chosen.iter().zip(&values).all(|((.., was), is)| was == is) {
            continue;
        }
        let mut spec = spec.clone();
        let (mut was, mut is) = (Vec::new(), Vec::new());
        for ((at, name, before), value) in chosen.iter().zip(&values) {
            let Some(argument) = spec.arguments.get_mut(*at) else { continue };
            argument.given = Given::Value(value.to_string());
            if before != value && was.len() < NAMED {
                was.push(format!("{name}={before}"));
                is.push(format!("{name}={value}"));
            }
        }
        let mut facts = LaunchFacts::clone(&facts);
        for (formula, value) in formulas.iter().zip(&values) {
            let mut of = BTreeSet::new();
            formula.unknowns(&mut |id, _| _ = of.insert(id));
            // Of one number it follows anyway.
            if of.len() > 1 {
                facts.conditions.push(Condition::Compare(Order::Equal, formula.clone(), Quantity::Known(*value)));
            }
        }
        all.push((Variation { was: was.join(", "), is: is.join(", "), spec }, Arc::new(facts)));
    }
    all
}
