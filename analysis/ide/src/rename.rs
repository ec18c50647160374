//! New names for values, aliases and functions of TTGIR.

use super::names::{named, words};
use base::TextRange;
use ttgir::queries::spot::{Spot, function};
use ttgir::queries::words::{places, word_at};
use ttgir::{Def, Document, Tree, ValueId};

/// What can be renamed at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// The name under the cursor, without sigil and number.
    pub range: TextRange,
    /// The name.
    pub name: String,
}

/// Why something is not renamed, for the user.
pub type Refused = String;

/// The places that get another text.
pub type NewTexts = Vec<(TextRange, String)>;

/// What the name at an offset is, if it can be renamed at all.
///
/// # Errors
///
/// Where it cannot, with the reason.
pub fn renamable(document: &Document, offset: u32) -> Result<Renamable, Refused> {
    let spot = Spot::at(document, offset).ok_or("there is no name here")?;
    let tree = spot.tree();
    if let Some((value, range)) = tree.value_at(spot.offset) {
        if tree.value_def(value) == Def::Undefined {
            return Err(format!("nothing defines `{}`", tree.value_name(value)));
        }
        let (range, name) = bare(tree, range);
        return Ok(Renamable { range: spot.lift(range), name });
    }
    let token = word_at(tree, spot.offset).ok_or("there is no name here")?;
    let word = token.range.of(tree.text());
    if !words(tree, spot.offset).iter().any(|found| found.definition) {
        return Err(format!("`{word}` is not defined in this module"));
    }
    if word.contains('"') {
        return Err(format!("`{word}` is a name in quotes, which is not renamed"));
    }
    let (range, name) = bare(tree, token.range);
    Ok(Renamable { range: spot.lift(range), name })
}

/// The edits that give the name at an offset another one, which may be written with its sigil.
///
/// # Errors
///
/// Where the text would not mean the same then, with the reason.
pub fn rename(document: &Document, offset: u32, name: &str) -> Result<NewTexts, Refused> {
    let old = renamable(document, offset)?;
    let spot = Spot::at(document, offset).ok_or("there is no name here")?;
    let tree = spot.tree();
    let value = tree.value_at(spot.offset);
    let sigil = match (value, word_at(tree, spot.offset)) {
        (Some(_), _) => "%",
        (None, Some(token)) => token.range.of(tree.text()).get(..1).unwrap_or(""),
        (None, None) => "",
    };
    let name = name.strip_prefix(sigil).unwrap_or(name);
    check_spelling(name, sigil)?;
    if name == old.name {
        return Ok(Vec::new());
    }
    let found: Vec<TextRange> = match value {
        Some((value, _)) => {
            check_value(tree, value, name)?;
            let pack = siblings(tree, value);
            pack.into_iter().flat_map(|value| named(tree, value)).map(|found| found.range).collect()
        }
        None => {
            check_word(tree, sigil, name)?;
            words(tree, spot.offset).into_iter().map(|found| found.range).collect()
        }
    };
    let mut edits: NewTexts =
        found.into_iter().map(|range| (spot.lift(bare(tree, range).0), name.to_owned())).collect();
    edits.sort();
    edits.dedup();
    Ok(edits)
}

/// The name of a range without its sigil and without the number of a result, `%x:2` and `%x#1`.
fn bare(tree: &Tree, range: TextRange) -> (TextRange, String) {
    let text = range.of(tree.text());
    let name = text.get(1..).unwrap_or("");
    let value = text.starts_with('%');
    let end = if value { name.find(['#', ':']).unwrap_or(name.len()) } else { name.len() };
    let name = name.get(..end).unwrap_or("");
    let start = range.start + 1;
    (TextRange::new(start, start + name.len() as u32), name.to_owned())
}

/// The values that one name stands for: the results of `%x:2`.
fn siblings(tree: &Tree, value: ValueId) -> Vec<ValueId> {
    let Def::Result(op, _) = tree.value_def(value) else { return vec![value] };
    let place = tree.value_range(value);
    tree.results(op).iter().copied().filter(|other| tree.value_range(*other) == place).collect()
}

/// Whether MLIR reads the name: letters, digits and `_ $ . -`, or digits alone for a value; aliases have neither `.` nor
/// `-`, which dialects use.
fn check_spelling(name: &str, sigil: &str) -> Result<(), Refused> {
    let first = name.bytes().next().ok_or("the new name is empty")?;
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    let more: &[u8] = match sigil {
        "%" => b"_$.-",
        "@" => b"_$.",
        _ => b"_$",
    };
    let start = first.is_ascii_alphabetic() || first == b'_' || (sigil == "%" && matches!(first, b'$' | b'.' | b'-'));
    let word = start && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte));
    if word || (digits && sigil == "%") { Ok(()) } else { Err(format!("`{sigil}{name}` is no name of MLIR")) }
}

/// A value's new name may stand nowhere else in its function: names of regions beside and inside of it would shadow or
/// be shadowed.
fn check_value(tree: &Tree, value: ValueId, name: &str) -> Result<(), Refused> {
    let op = super::hover::defining_op(tree, value).ok_or("nothing defines it")?;
    let within = function(tree, op).map_or_else(|| TextRange::new(0, tree.text().len() as u32), |op| tree.op_range(op));
    let taken = tree.tokens_in(within).any(|token| {
        let text = token.range.of(tree.text());
        text.strip_prefix('%').is_some_and(|text| text.split('#').next() == Some(name))
    });
    if taken { Err(format!("`%{name}` already stands in this function")) } else { Ok(()) }
}

fn check_word(tree: &Tree, sigil: &str, name: &str) -> Result<(), Refused> {
    let word = format!("{sigil}{name}");
    let taken = !places(tree, &word).is_empty();
    if taken { Err(format!("`{word}` already stands in this module")) } else { Ok(()) }
}
