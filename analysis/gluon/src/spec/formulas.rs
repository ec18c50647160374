//! Constants that host code computes from others, where a launch gives a formula and no number: of a tile that is chosen
//! its parts follow, and how many of them there are.

use base::Quantity;
use python::host::Partly;
use python::specialization::LaunchFacts;

use super::domain::Open;
use super::entries::Param;
use super::instance::Base;
use super::{Given, Source};
use crate::limits::chosen::COMPUTED;

/// The constants of which a launch gives no number, as far as some of them follow from others; numbered from 0 in the
/// order of the parameters, so that launches are told apart by what their formulas are alone.
pub(super) fn of(facts: &LaunchFacts, partly: &[(String, Partly)], params: &[Param]) -> Vec<(String, Quantity)> {
    let open = |param: &&Param| {
        param.constexpr && partly.iter().any(|(name, part)| *name == param.name && matches!(part, Partly::Int))
    };
    let quantity = |param: &Param| {
        let fact = facts.arguments.iter().find(|fact| fact.name == param.name)?;
        Some((param.name.clone(), fact.quantity.clone()?))
    };
    let all: Vec<(String, Quantity)> = params.iter().filter(open).filter_map(quantity).collect();
    let mut ids: Vec<u32> = Vec::new();
    for (_, quantity) in &all {
        if let Quantity::Unknown { id, .. } = quantity {
            ids.push(*id);
        }
    }
    let follows = |quantity: &Quantity| {
        let mut known = true;
        quantity.unknowns(&mut |id, _| known &= ids.contains(&id));
        known
    };
    if !all.iter().any(|(_, quantity)| matches!(quantity, Quantity::Made(..)) && follows(quantity)) {
        return Vec::new();
    }
    let kept = all.iter().filter(|(_, quantity)| follows(quantity));
    kept.filter_map(|(name, quantity)| Some((name.clone(), numbered(quantity, &ids)?))).collect()
}

/// With the places of its numbers in a list for these; `None` of what has a stride in it.
fn numbered(quantity: &Quantity, ids: &[u32]) -> Option<Quantity> {
    Some(match quantity {
        Quantity::Known(value) => Quantity::Known(*value),
        Quantity::Unknown { id, .. } => {
            let at = ids.iter().position(|known| known == id)?;
            Quantity::Unknown { id: u32::try_from(at).ok()?, of: None }
        }
        Quantity::Made(op, parts) => Quantity::Made(*op, (numbered(&parts.0, ids)?, numbered(&parts.1, ids)?).into()),
        Quantity::Stride { .. } => return None,
    })
}

/// Gives constants what the host computes from those that were chosen.
pub(super) fn agree(base: &mut Base, open: &mut [Open]) {
    let formulas = std::mem::take(&mut base.formulas);
    let number = |base: &Base, name: &str| {
        let argument = base.arguments.iter().find(|argument| argument.name == name)?;
        match &argument.given {
            Given::Value(text) => text.parse::<i64>().ok(),
            Given::Type(_) => None,
        }
    };
    let mut chosen: Vec<(u32, i64)> = Vec::new();
    for (name, quantity) in &formulas {
        if let (Quantity::Unknown { id, .. }, Some(number)) = (quantity, number(base, name)) {
            chosen.push((*id, number));
        }
    }
    for (name, quantity) in formulas.iter().filter(|(_, quantity)| matches!(quantity, Quantity::Made(..))) {
        let value = quantity.value(&|id| chosen.iter().find(|(of, _)| *of == id).map(|(_, value)| *value));
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
        base.give(name, given, Source::Chosen);
    }
}
