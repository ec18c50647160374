//! Codes of what is said beside findings, and their pages.

use super::{Kind, Severity};

/// A code that is printed, with its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedCode {
    /// The name that users see.
    pub name: &'static str,
    /// How bad it is where nothing is assumed.
    pub severity: Severity,
    /// The Markdown page.
    pub page: &'static str,
    /// Other names that lead here: finer codes of the same thing.
    pub finer: &'static [&'static str],
}

macro_rules! codes {
    ($($name:literal $severity:ident $finer:expr),* $(,)?) => {
        /// Codes that are no kinds of findings, in the order of the documentation.
        const CODES: &[PrintedCode] = &[$(PrintedCode {
            name: $name,
            severity: Severity::$severity,
            page: include_str!(concat!("codes/", $name, ".md")),
            finer: $finer,
        }),*];
    };
}

codes! {
    "undecided" Information &[],
    "refused" Error &[],
    "removed-name" Information &[],
    "unknown-location" Information &[],
    "warp-count" Error &[],
    "register-count" Hint &[],
    "directive" Error &[],
    "suppression" Warning &[],
    "unused-suppression" Warning &[],
    "suppressed" Hint &[],
    "configuration" Warning &[],
    "assumed" Hint &[],
    "unread" Information &[],
    "syntax" Error &[
        "duplicate-attribute", "literal", "nesting", "operand-count", "result-count", "split-input-file",
        "type-mismatch", "undefined-value", "unknown-alias", "unknown-block", "unknown-dialect", "unknown-op",
        "unknown-type",
    ],
    "disagreement" Warning &[],
    "run" Error &["compiled", "hung", "failed", "schedules-differ", "elsewhere"],
}

impl PrintedCode {
    /// All codes that are printed: the kinds of findings, then the others.
    pub fn all() -> impl Iterator<Item = PrintedCode> {
        let kinds = Kind::ALL.iter().map(|kind| PrintedCode {
            name: kind.name(),
            severity: kind.severity(),
            page: kind.page(),
            finer: &[],
        });
        kinds.chain(CODES.iter().copied())
    }

    /// The code of this name, or the one that a finer name belongs to.
    pub fn from_name(name: &str) -> Option<PrintedCode> {
        PrintedCode::all().find(|code| code.name == name || code.finer.contains(&name))
    }

    /// The first sentence of the page, without its heading.
    pub fn summary(&self) -> String {
        let body = self.page.lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        let paragraph: Vec<&str> = body.take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
        let paragraph = paragraph.join(" ");
        match paragraph.find(". ") {
            Some(end) => paragraph[..=end].to_owned(),
            None => paragraph,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_stands_once_and_its_page_bears_its_name() {
        let all: Vec<PrintedCode> = PrintedCode::all().collect();
        for (at, code) in all.iter().enumerate() {
            assert!(code.page.starts_with(&format!("# {}\n", code.name)), "{}", code.name);
            assert!(!code.summary().is_empty(), "{}", code.name);
            let others =
                all.iter().take(at).flat_map(|other| [other.name].into_iter().chain(other.finer.iter().copied()));
            assert!(!others.into_iter().any(|other| other == code.name), "{} stands twice", code.name);
        }
        assert_eq!(PrintedCode::from_name("operand-count").map(|code| code.name), Some("syntax"));
        assert_eq!(PrintedCode::from_name("deadlock").map(|code| code.name), Some("deadlock"));
    }
}
