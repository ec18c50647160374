//! Completion in TTGIR: what may stand at a place, the likeliest first. The line is read up to the place alone, by the
//! form of its op, so that it need not parse.

mod form;
pub(super) mod item;
mod line;
mod offer;
mod scope;
mod signature;
#[cfg(test)]
mod tests;

pub use item::{CodeCompletion, CompletionKind, Completions, DocKey, Signature, SignaturePart};
pub use offer::completions;
pub use signature::signature;

/// What an item is and does.
pub fn documentation(key: &DocKey) -> Option<String> {
    match key {
        DocKey::Op(name) => {
            let code = dialects::OpCode::of_name(name)?;
            let form = signature::label_of(code).unwrap_or_default();
            let doc = code.decl().doc.trim();
            Some(if form.is_empty() { doc.to_owned() } else { format!("{doc}\n\n{form}") })
        }
        DocKey::Builtin(path) => {
            let doc = gluon::catalog::documentation(path);
            (!doc.is_empty()).then(|| doc.to_owned())
        }
        DocKey::Finding(name) => {
            let kind = findings::Kind::ALL.iter().find(|kind| kind.name() == name.as_str())?;
            findings_summary(*kind)
        }
    }
}

/// The first paragraph of the page of a kind.
fn findings_summary(kind: findings::Kind) -> Option<String> {
    let paragraphs = kind.page().split("\n\n").map(str::trim);
    paragraphs.filter(|text| !text.starts_with('#') && !text.is_empty()).map(str::to_owned).next()
}
