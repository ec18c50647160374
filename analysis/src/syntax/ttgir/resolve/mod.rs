//! Names to values: scopes as MLIR has them, then the checks that need to know both ends.
//!
//! A name lives in its region and the regions inside it, up to one that is isolated from above;
//! it may be used before it is defined, as far as names go, and must not be defined twice where
//! both are visible. The whole pass works on interned names, so that it can be run again after
//! every edit.

mod blocks;
mod order;
mod scope;
mod typing;

use super::error::SyntaxError;
use super::store::Store;

/// Fills `store.used` and reports what does not fit.
pub(super) fn resolve(store: &mut Store, errors: &mut Vec<SyntaxError>) {
    scope::bind(store, errors);
    typing::check(store, errors);
    order::check(store, errors);
    blocks::check(store, errors);
}
