//! What a hover says, part by part.

use base::TextRange;

/// A hover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    /// The word it is about.
    pub range: TextRange,
    /// What it is, one line.
    pub title: String,
    /// Its definition, as it is written.
    pub code: String,
    /// Sentences about it; code in them stands between backticks.
    pub words: Vec<String>,
    /// Lines of equal-width text.
    pub picture: String,
    /// Text of the user's, as it is written: a docstring.
    pub quote: String,
    /// What the rows are about, where that is not what the title says: one line.
    pub subject: String,
    /// Who does what with it, in the order of the text.
    pub rows: Vec<OperationRow>,
    /// How many rows were left out.
    pub more: usize,
    /// What each wait sees, time after time.
    pub cadence: Vec<CadenceRow>,
    /// What the loops do with the values that the rows name: `%phase`, `0, then %phase ^ 1`.
    pub carried: Vec<(String, String)>,
    /// Where the kernel is named that it is in.
    pub kernel: Option<TextRange>,
}

/// What one operation does with a barrier or buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRow {
    /// The operation's name in the document.
    pub range: TextRange,
    /// `default`, `partition0`, …
    pub partition: String,
    /// One word.
    pub verb: String,
    /// The slot, as the expression that computes it: `[%i % 2]`; empty for the whole.
    pub slot: String,
    /// Counts, phases, predicates.
    pub detail: String,
    /// Which way it orders, where that is known: `forward to default`.
    pub edge: String,
}

/// What a wait sees, the first times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CadenceRow {
    /// The wait's name in the document.
    pub range: TextRange,
    /// `default`, `partition0`, …
    pub partition: String,
    /// The slots that it waits on; empty where there is one.
    pub slots: Vec<i64>,
    /// The parities that it waits for.
    pub phases: Vec<i64>,
    /// Which flip of its slot it sees, from 1; 0 where it goes on at once.
    pub flips: Vec<u64>,
    /// Whether some of them sees no new flip.
    pub repeats: bool,
}
