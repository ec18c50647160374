//! Values for each way through the host code: a launch that is made only where a condition holds of a constant, such as
//! `block >= 512`, has an instance with which it does.

use base::condition::Condition;
use base::{Cancelled, Quantity};
use python::specialization::LaunchFacts;

use super::instance::{Base, excludes};
use super::{Argument, Given, Instances, Spec, ValueSource};
use crate::limits::chosen::COMPUTED;

/// A chosen constant by its place among the arguments, and a number for it.
type Chosen = (usize, i64);

/// Adds to `bases` what `ways` need: launches, each with the arguments of an instance of `bases` that it would be one of if
/// it were not for values that were chosen. An instance that no launch is left for is taken away. `accepts` tells whether
/// the kernel is not refused with such values.
///
/// # Errors
///
/// When `accepts` says so.
pub(super) fn with_each(
    bases: &mut Vec<Base>,
    spec: &dyn Fn(&Base) -> Spec,
    launches: &dyn Fn(&Base, &Spec) -> Vec<LaunchFacts>,
    accepts: &dyn Fn(&Base) -> Result<bool, Cancelled>,
) -> Result<(), Cancelled> {
    let is_chosen = |base: &Base| base.arguments.iter().any(|of| of.source == ValueSource::Chosen);
    if !bases.iter().any(is_chosen) {
        return Ok(());
    }
    let before: Vec<(Vec<Argument>, Vec<LaunchFacts>)> = bases
        .iter()
        .map(|base| {
            let spec = spec(base);
            let launches = launches(base, &spec);
            (spec.arguments, launches)
        })
        .collect();
    let is_made = |launch: &LaunchFacts| before.iter().any(|(own, all)| all.contains(launch) && !excludes(launch, own));
    let mut seen: Vec<&LaunchFacts> = Vec::new();
    let mut added: Vec<Base> = Vec::new();
    for (base, (_, all)) in bases.iter().zip(&before).filter(|(base, _)| is_chosen(base)) {
        for launch in all {
            if bases.len() + added.len() >= Instances::MOST || seen.contains(&launch) || is_made(launch) {
                continue;
            }
            seen.push(launch);
            let Some(values) = values(launch, &base.arguments) else { continue };
            let mut other = base.clone();
            for (at, value) in values {
                if let Some(argument) = other.arguments.get_mut(at) {
                    argument.given = Given::Value(value.to_string());
                }
            }
            if !bases.contains(&other) && !added.contains(&other) && accepts(&other)? {
                added.push(other);
            }
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    let has_launch = |(own, all): &(Vec<Argument>, Vec<LaunchFacts>)| {
        all.is_empty() || all.iter().any(|launch| !excludes(launch, own))
    };
    let mut launched = before.iter().map(has_launch);
    bases.retain(|_| launched.next().unwrap_or(true));
    bases.extend(added);
    Ok(())
}

/// Numbers for chosen constants with which host code comes to a launch, where it computes them so; `None` where none
/// were found.
fn values(launch: &LaunchFacts, arguments: &[Argument]) -> Option<Vec<Chosen>> {
    let chosen = arguments.iter().enumerate().filter(|(_, of)| of.source == ValueSource::Chosen);
    let formula = |(at, of): (usize, &Argument)| {
        let Given::Value(text) = &of.given else { return None };
        let fact = launch.arguments.iter().find(|fact| fact.name == of.name)?;
        Some((at, text.parse::<i64>().ok()?, fact.quantity.clone()?))
    };
    let formulas: Vec<(usize, i64, Quantity)> = chosen.filter_map(formula).collect();
    let mut ids: Vec<u32> = Vec::new();
    for (.., quantity) in &formulas {
        quantity.unknowns(&mut |id, _| {
            if !ids.contains(&id) {
                ids.push(id);
            }
        });
    }
    let of_id =
        |id: u32| formulas.iter().find(|(.., of)| matches!(of, Quantity::Unknown { id: own, .. } if *own == id));
    let now: Vec<(u32, i64)> = ids.iter().filter_map(|id| Some((*id, of_id(*id)?.1))).collect();
    let numbers = numbers(&launch.conditions);
    let fits = |changed: &[(u32, i64)]| {
        let value = |id: u32| changed.iter().chain(&now).find(|(own, _)| *own == id).map(|(_, value)| *value);
        let mut others = arguments.to_vec();
        let mut values = Vec::new();
        for (at, was, quantity) in &formulas {
            let Some(is) = quantity.value(&value).filter(|is| is != was) else { continue };
            if !(1..=COMPUTED).contains(&is) {
                return None;
            }
            others.get_mut(*at)?.given = Given::Value(is.to_string());
            values.push((*at, is));
        }
        let holds = |condition: &Condition| condition.value(&value) != Some(false);
        (!values.is_empty() && launch.conditions.iter().all(holds) && !excludes(launch, &others)).then_some(values)
    };
    let one = ids.iter().flat_map(|id| numbers.iter().map(move |number| (*id, *number)));
    if let Some(found) = one.clone().find_map(|one| fits(&[one])) {
        return Some(found);
    }
    let mut two = one
        .clone()
        .flat_map(|first| one.clone().filter(move |other| other.0 > first.0).map(move |other| [first, other]));
    two.find_map(|two| fits(&two))
}

/// Numbers that may make conditions hold: powers of two, the usual sizes of blocks first, and what is compared with and
/// beside it.
fn numbers(conditions: &[Condition]) -> Vec<i64> {
    let mut all: Vec<i64> = vec![128, 64, 256, 32, 512, 16, 1024, 8, 2048, 4, 4096, 2, 8192, 1];
    let mut compared: Vec<i64> = Vec::new();
    conditions.iter().for_each(|condition| constants(condition, &mut compared));
    for number in compared {
        for near in [number, number.saturating_add(1), number.saturating_sub(1)] {
            if near > 0 && !all.contains(&near) {
                all.push(near);
            }
        }
    }
    all.truncate(NUMBERS);
    all
}

/// The most numbers that are tried for one.
const NUMBERS: usize = 40;

fn constants(of: &Condition, out: &mut Vec<i64>) {
    match of {
        Condition::Compare(_, one, other) => out.extend([one, other].into_iter().filter_map(|of| of.value(&|_| None))),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| constants(part, out)),
    }
}
