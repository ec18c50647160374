//! What is given for a parameter, without what only one launch of many has.

use super::Given;

/// A type without its divisibility, and a descriptor without its layout.
pub(super) fn plain(ty: &str) -> String {
    if let Some((head, shape)) = descriptor(ty) {
        let shape: String = shape.split_whitespace().collect();
        return format!("{head}[{}]>", shape.replace(',', ", "));
    }
    undivided(ty).to_owned()
}

/// What stands before the shape of a descriptor, and its shape.
fn descriptor(ty: &str) -> Option<(&str, &str)> {
    let (head, rest) = ty.split_once('[').filter(|(head, _)| head.starts_with("tensordesc"))?;
    Some((head, rest.split_once(']')?.0))
}

fn undivided(ty: &str) -> &str {
    ty.strip_suffix(":16").or_else(|| ty.strip_suffix(":1")).unwrap_or(ty)
}

/// Whether what is given is the same, divisibility and layouts of descriptors left aside.
pub(super) fn same_plain(a: &Given, b: &Given) -> bool {
    let (Given::Type(one), Given::Type(other)) = (a, b) else {
        return a == b || (std::mem::discriminant(a) != std::mem::discriminant(b) && plain_given(a) == plain_given(b));
    };
    match (descriptor(one), descriptor(other)) {
        (Some((head, shape)), Some((other, others))) => {
            head == other
                && shape.split_whitespace().flat_map(str::chars).eq(others.split_whitespace().flat_map(str::chars))
        }
        (None, None) => undivided(one) == undivided(other),
        _ => plain(one) == plain(other),
    }
}

/// The type that is given without its divisibility; a value as it is.
pub(super) fn plain_given(given: &Given) -> String {
    match given {
        Given::Value(value) => value.clone(),
        Given::Type(ty) => plain(ty),
    }
}
