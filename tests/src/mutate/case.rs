//! A mutant that was judged.

use super::judge::Verdict;
use super::make::Mutant;
use super::meaning::Meaning;

/// A mutant of a file, judged.
#[derive(Clone, Debug)]
pub struct Case {
    /// The clean file, from the corpus's folder.
    pub file: String,
    /// The slip.
    pub mutant: Mutant,
    /// What the analysis says.
    pub verdict: Verdict,
    /// What it means.
    pub meaning: Meaning,
}
