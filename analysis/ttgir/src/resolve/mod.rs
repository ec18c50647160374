//! Names to values: scopes as MLIR has them, then the checks that need to know both ends.
//!
//! A name lives in its region and the regions inside it, up to one that is isolated from above;
//! it may be used before it is defined, as far as names go, and must not be defined twice where
//! both are visible. The whole pass works on interned names, so that it can be run again after
//! every edit.

mod blocks;
mod flow;
mod order;
mod scope;
mod typing;

use super::error::SyntaxError;
use super::ids::Sym;
use super::store::Store;
use super::suggest::nearest;
use base::TextRange;

/// Fills `store.used` and reports what does not fit.
pub(super) fn resolve(store: &mut Store, errors: &mut Vec<SyntaxError>) {
    scope::bind(store, errors);
    aliases(store, errors);
    typing::check(store, errors);
    let labels = blocks::labels(store, errors);
    order::check(store, &labels, errors);
    blocks::check(store, &labels, errors);
    flow::check(store, errors);
}

/// Reports aliases that are used but not defined, each once.
fn aliases(store: &Store, errors: &mut Vec<SyntaxError>) {
    let mut refs = store.alias_refs.clone();
    refs.sort_by_key(|(_, start, _)| *start);
    let mut said: Vec<Sym> = Vec::new();
    for (sym, start, end) in refs {
        if said.contains(&sym) {
            continue;
        }
        said.push(sym);
        let name = store.names.get(sym);
        let sigil = name.get(..1).unwrap_or("");
        let above = store.aliases.iter().filter(|alias| alias.start < start);
        let names = above.map(|alias| store.names.get(alias.name)).filter(|other| other.starts_with(sigil));
        let message = format!("nothing above defines the alias `{name}`");
        let error = SyntaxError::new(TextRange::new(start, end), "unknown-alias", message);
        errors.push(error.suggest(nearest(name, names)));
    }
}
