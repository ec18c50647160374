//! Kinds of findings.

use findings::Kind;

/// The first sentence of a kind's page, without its heading.
pub fn summary(kind: Kind) -> String {
    let body = kind.page().lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
    let paragraph: Vec<&str> = body.take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let paragraph = paragraph.join(" ");
    match paragraph.find(". ") {
        Some(end) => paragraph[..=end].to_owned(),
        None => paragraph,
    }
}
