//! Constants that host code computes from others, where a launch gives a formula and no number: of a tile that is chosen
//! its parts follow, and how many of them there are.

use base::Quantity;
use python::host::Partly;
use python::specialization::LaunchFacts;

use super::domain::Open;
use super::entries::Param;
use super::instance::{Base, Formula};
use super::{Given, ValueSource};
use crate::limits::chosen::COMPUTED;

/// What is chosen of most constants.
const USUAL: i64 = 128;

/// The constants of which a launch gives no number, as far as some of them follow from others or are bounded; those that
/// follow come last. Numbers are those of the list, so that launches are told apart by what their formulas are alone.
pub(super) fn of(facts: &LaunchFacts, partly: &[(String, Partly)], params: &[Param]) -> Vec<Formula> {
    let open = |param: &&Param| {
        param.constexpr && partly.iter().any(|(name, part)| *name == param.name && matches!(part, Partly::Int))
    };
    let quantity = |param: &Param| {
        let fact = facts.arguments.iter().find(|fact| fact.name == param.name)?;
        Some((param.name.clone(), fact.quantity.clone()?))
    };
    let mut all: Vec<(String, Quantity)> = params.iter().filter(open).filter_map(quantity).collect();
    // What others are made of comes before them.
    all.sort_by_cached_key(|(_, quantity)| parts(quantity));
    let mut free: Vec<Quantity> = Vec::new();
    let mut formulas: Vec<Formula> = Vec::new();
    for (name, quantity) in all {
        let made = matches!(quantity, Quantity::Made(..));
        match numbered(&quantity, &free).filter(|_| made) {
            Some(quantity) => formulas.push(Formula { name, quantity, may_be: Vec::new() }),
            None => {
                let may_be = if made { values(&quantity) } else { Vec::new() };
                let may_be = if may_be.contains(&USUAL) { Vec::new() } else { may_be };
                let known = free.iter().position(|known| *known == quantity);
                let id = known.unwrap_or(free.len());
                if known.is_none() {
                    free.push(quantity);
                }
                let quantity = Quantity::Unknown { id: u32::try_from(id).unwrap_or(0), of: None };
                formulas.push(Formula { name, quantity, may_be });
            }
        }
    }
    if formulas.len() == free.len() && formulas.iter().all(|formula| formula.may_be.is_empty()) {
        return Vec::new();
    }
    formulas.sort_by_key(|formula| matches!(formula.quantity, Quantity::Made(..)));
    formulas
}

/// Of how many parts a quantity is made.
fn parts(of: &Quantity) -> usize {
    match of {
        Quantity::Known(_) | Quantity::Unknown { .. } => 1,
        Quantity::Made(_, made) => parts(&made.0).saturating_add(parts(&made.1)),
        Quantity::Stride { dense, .. } => parts(dense),
    }
}

/// With the places in a list of those that are there; `None` where it is made of others.
fn numbered(quantity: &Quantity, free: &[Quantity]) -> Option<Quantity> {
    if let Some(at) = free.iter().position(|known| known == quantity) {
        return Some(Quantity::Unknown { id: u32::try_from(at).ok()?, of: None });
    }
    Some(match quantity {
        Quantity::Known(value) => Quantity::Known(*value),
        Quantity::Made(op, parts) => Quantity::Made(*op, (numbered(&parts.0, free)?, numbered(&parts.1, free)?).into()),
        Quantity::Unknown { .. } | Quantity::Stride { .. } => return None,
    })
}

/// What a quantity is for many numbers that it may be made of, ascending; nothing where that is of several.
fn values(of: &Quantity) -> Vec<i64> {
    let mut ids: Vec<u32> = Vec::new();
    of.unknowns(&mut |id, _| ids.push(id));
    ids.dedup();
    if ids.len() != 1 {
        return Vec::new();
    }
    let sizes = (0..20).flat_map(|power| [1i64 << power, 3i64 << power]);
    let mut all: Vec<i64> = sizes.filter_map(|size| of.value(&|_| Some(size))).collect();
    all.retain(|value| (1..=COMPUTED).contains(value));
    all.sort_unstable();
    all.dedup();
    all
}

/// Gives constants what the host computes: of what it bounds the largest that is no more than what was chosen, and of
/// those that follow from others what follows.
pub(super) fn agree(base: &mut Base, open: &mut [Open]) {
    let formulas = std::mem::take(&mut base.formulas);
    let mut chosen: Vec<(u32, i64)> = Vec::new();
    for Formula { name, quantity, may_be } in &formulas {
        let given = base.arguments.iter().find(|argument| argument.name == *name).map(|argument| &argument.given);
        let number = match given {
            Some(Given::Value(text)) => text.parse::<i64>().ok(),
            _ => None,
        };
        let known = |id: u32| chosen.iter().find(|(of, _)| *of == id).map(|(_, value)| *value);
        let value = match quantity {
            Quantity::Unknown { id, .. } if known(*id).is_none() => {
                let fits = |number: i64| may_be.iter().rev().find(|value| **value <= number).or(may_be.first());
                let value = number.map(|number| fits(number).copied().unwrap_or(number));
                chosen.extend(value.map(|value| (*id, value)));
                value.filter(|value| Some(*value) != number)
            }
            made => made.value(&known),
        };
        let (Some(value), Some(of)) = (value, open.iter_mut().find(|of| of.name == *name && !of.wait)) else {
            continue;
        };
        if !(1..=COMPUTED).contains(&value) {
            continue;
        }
        let given = Given::Value(value.to_string());
        of.domain.retain(|other| *other != given);
        of.domain.insert(0, given.clone());
        of.choices = vec![given.clone()];
        base.give(name, given, ValueSource::Chosen);
    }
}
