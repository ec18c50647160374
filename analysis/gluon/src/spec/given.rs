//! What is given for a parameter, without what only one launch of many has.

use super::Given;

/// A type without its divisibility, and a descriptor without its layout.
pub(super) fn plain(ty: &str) -> String {
    if let Some((head, rest)) = ty.split_once('[')
        && head.starts_with("tensordesc")
        && let Some((shape, _)) = rest.split_once(']')
    {
        let shape: String = shape.split_whitespace().collect();
        return format!("{head}[{}]>", shape.replace(',', ", "));
    }
    ty.strip_suffix(":16").or_else(|| ty.strip_suffix(":1")).unwrap_or(ty).to_owned()
}

/// The type that is given without its divisibility; a value as it is.
pub(super) fn plain_given(given: &Given) -> String {
    match given {
        Given::Value(value) => value.clone(),
        Given::Type(ty) => plain(ty),
    }
}
