//! A use's type against its definition's.

use rustc_hash::FxHashMap;

use super::super::error::SyntaxError;
use super::super::ids::ValueId;
use super::super::store::{Owner, Store};
use base::TextRange;

/// Reports uses whose type is not the definition's. Where no use of a value agrees with its
/// definition, only the first is reported: the definition is then the likelier mistake.
pub(super) fn check(store: &Store, errors: &mut Vec<SyntaxError>) {
    let mut wrong: Vec<(usize, ValueId)> = Vec::new();
    for (at, (used, &value)) in store.uses.iter().zip(&store.used).enumerate() {
        let Some(value) = value.some() else { continue };
        let def = &store.values[value.index()];
        if used.ty == def.ty || used.ty.some().is_none() || def.ty.some().is_none() {
            continue;
        }
        if store.types.canon(used.ty) != store.types.canon(def.ty) {
            wrong.push((at, value));
        }
    }
    if wrong.is_empty() {
        return;
    }
    wrong.sort_by_key(|(at, _)| store.uses[*at].start);
    let mut agreeing: FxHashMap<ValueId, bool> = wrong.iter().map(|(_, value)| (*value, false)).collect();
    for (used, value) in store.uses.iter().zip(&store.used) {
        let Some(agrees) = agreeing.get_mut(value) else { continue };
        let def = &store.values[value.index()];
        *agrees |= used.ty.some().is_some() && store.types.canon(used.ty) == store.types.canon(def.ty);
    }
    let mut said: FxHashMap<ValueId, ()> = FxHashMap::default();
    for (at, value) in wrong {
        if said.insert(value, ()).is_some() && !agreeing.get(&value).copied().unwrap_or(false) {
            continue;
        }
        let (used, def) = (&store.uses[at], &store.values[value.index()]);
        if def.owner == Owner::Nobody {
            continue;
        }
        let name = store.names.get(used.sym);
        let (here, there) = (store.types.text(used.ty), store.types.text(def.ty));
        let message = format!("`{name}` is `{there}`, but is used as `{here}`");
        let error = SyntaxError::new(TextRange::new(used.start, used.end), "type-mismatch", message);
        errors.push(error.relate(TextRange::new(def.start, def.end), format!("defined as `{there}`")));
    }
}
