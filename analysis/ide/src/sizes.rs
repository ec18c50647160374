//! Bytes, counted and said.

use ttgir::{Tree, Ty, ValueId};

/// `16 KiB`, `96 bytes`.
pub(crate) fn bytes(count: i64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        count if count >= 1024 && count % 1024 == 0 => format!("{} KiB", count / 1024),
        count => format!("{count} bytes"),
    }
}

/// Bytes of the elements of a buffer.
pub(crate) fn bytes_of(tree: &Tree, value: ValueId) -> Option<i64> {
    let Ty::MemDesc { shape, elem, .. } = tree.ty(tree.value_type(value)?) else { return None };
    let elements = shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size).filter(|_| *size >= 0))?;
    Some(elements.checked_mul(i64::from(elem.bits))?.checked_add(7)? / 8)
}

/// How many CTAs a cluster has, by the module's attribute.
pub(crate) fn ctas(tree: &Tree) -> i64 {
    let module = tree.top().first().and_then(|module| tree.attr(*module, "ttg.num-ctas"));
    module.and_then(|attr| tree.attr_int(attr)).filter(|ctas| *ctas > 0).unwrap_or(1)
}
