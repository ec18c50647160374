//! What is offered at a place, and how a call or an op is written, as plain data.

use crate::limits::completion::ITEMS as MOST;
use base::TextRange;

/// What may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// From the start of the word to the place: what an item takes the place of where it is inserted.
    pub insert: TextRange,
    /// The whole word: what it takes the place of where it replaces.
    pub replace: TextRange,
    /// The items, the likeliest first.
    pub items: Vec<CodeCompletion>,
    /// Whether more letters may bring others.
    pub incomplete: bool,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeCompletion {
    /// What is shown and inserted.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its type or signature, one line.
    pub detail: String,
    /// What is inserted, where that is not the label.
    pub insert: Option<String>,
    /// By what [`documentation`](super::documentation) is asked.
    pub key: Option<DocKey>,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// An op.
    Op,
    /// An SSA value, or a variable.
    Value,
    /// An alias of an attribute, or an attribute of a dialect.
    Attribute,
    /// A type.
    Type,
    /// A function.
    Function,
    /// A method.
    Method,
    /// A class.
    Class,
    /// A module.
    Module,
    /// The name of an attribute, or a field.
    Property,
    /// One of a list of words.
    Word,
    /// A keyword.
    Keyword,
    /// A parameter that is given by its name.
    Parameter,
    /// A constant.
    Constant,
    /// The label of a block.
    Label,
    /// A kind of finding.
    Finding,
}

/// What the documentation of an item is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocKey {
    /// An op, by its full name.
    Op(String),
    /// A builtin of Python, by its full name.
    Builtin(String),
    /// A kind of finding, by its name.
    Finding(String),
}

impl CodeCompletion {
    /// An item that is inserted as it is shown.
    pub(crate) fn new(label: impl Into<String>, kind: CompletionKind, detail: impl Into<String>) -> CodeCompletion {
        CodeCompletion { label: label.into(), kind, detail: detail.into(), insert: None, key: None }
    }

    /// With what its documentation is found by.
    #[must_use]
    pub(crate) fn documented(mut self, key: DocKey) -> CodeCompletion {
        self.key = Some(key);
        self
    }
}

/// How a call or an op is written, and which part of it a place is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The whole form.
    pub label: String,
    /// What it does.
    pub doc: String,
    /// Its parts.
    pub parts: Vec<SignaturePart>,
    /// The part that the place is in.
    pub active: Option<usize>,
}

/// A part of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignaturePart {
    /// Its bytes in the label.
    pub range: TextRange,
    /// What is said of it; empty where nothing is.
    pub doc: String,
}

/// The items that what is typed may mean: those that begin with it first, then those that hold it, then those that have
/// its letters in order; and whether there are more than one answer holds.
pub(crate) fn matching(items: Vec<CodeCompletion>, typed: &str) -> (Vec<CodeCompletion>, bool) {
    let typed = typed.to_lowercase();
    let ranked = items.into_iter().filter_map(|item| Some((rank(&item.label, &typed)?, item)));
    let mut ranked: Vec<(u8, CodeCompletion)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let incomplete = ranked.len() > MOST;
    ranked.truncate(MOST);
    (ranked.into_iter().map(|(_, item)| item).collect(), incomplete)
}

/// How well a label fits what is typed in small letters; `None` where it does not.
fn rank(label: &str, typed: &str) -> Option<u8> {
    let label = label.to_lowercase();
    let word_start = |at: usize| at == 0 || label.as_bytes().get(at - 1).is_some_and(|b| !b.is_ascii_alphanumeric());
    match label.find(typed) {
        Some(0) => return Some(0),
        Some(at) => return Some(if word_start(at) { 1 } else { 2 }),
        None => {}
    }
    let mut letters = typed.chars();
    let first = letters.next()?;
    let (start, _) = label.match_indices(first).find(|(at, _)| word_start(*at))?;
    let mut rest = label.get(start + first.len_utf8()..)?.chars();
    letters.all(|typed| rest.any(|letter| letter == typed)).then_some(3)
}
