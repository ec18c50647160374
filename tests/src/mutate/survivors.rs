//! The file of survivors that were looked at by hand: `tests/corpus/survivors.txt`.
//!
//! A line is `FILE LINE:MUTATION equivalent|gap: why`; `#` starts a comment. A line that names no
//! mutant, or one that is found by now, is stale, and so is one that the runs contradict.

use super::case::Case;
use super::meaning::Meaning;
use std::path::Path;

/// A line of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Survivor {
    /// The clean file.
    pub file: String,
    /// Name of the mutant in it.
    pub id: String,
    /// Whether it changes nothing.
    pub equivalent: bool,
    /// Why.
    pub why: String,
}

/// Reads the file of a corpus; one that is not there has no lines.
pub fn read(folder: &Path) -> Result<Vec<Survivor>, String> {
    let Ok(text) = std::fs::read_to_string(folder.join("survivors.txt")) else { return Ok(Vec::new()) };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| parse(line).ok_or(format!("survivors.txt:{}: not understood", at + 1))).collect()
}

fn parse(line: &str) -> Option<Survivor> {
    let mut words = line.splitn(4, ' ');
    let (file, id, word, why) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let equivalent = match word {
        "equivalent:" => true,
        "gap:" => false,
        _ => return None,
    };
    Some(Survivor { file: file.into(), id: id.into(), equivalent, why: why.into() })
}

/// Puts the file's words to the cases; gives what is stale. Only files that were run are looked at.
pub fn apply(cases: &mut [Case], survivors: &[Survivor], whole: bool) -> Vec<String> {
    let mut stale = Vec::new();
    for survivor in survivors {
        let Survivor { file, id, equivalent, why } = survivor;
        if !cases.iter().any(|case| case.file == *file) {
            continue;
        }
        let mut say = |problem: &str| stale.push(format!("survivors.txt: {file} {id}: {problem}"));
        let Some(case) = cases.iter_mut().find(|case| case.file == *file && case.mutant.id() == *id) else {
            // Of a sample, not every mutant is made.
            if whole {
                say("there is no such mutant");
            }
            continue;
        };
        match (&case.meaning, equivalent) {
            (Meaning::Rejected | Meaning::Found(_), _) => say("it does not survive any more"),
            (Meaning::Gap(shown), true) => say(&format!("it is no equivalent: {shown}")),
            (Meaning::Equivalent(_), false) => say("the runs show no change"),
            (_, true) => case.meaning = Meaning::Equivalent(why.clone()),
            (_, false) => case.meaning = Meaning::Gap(why.clone()),
        }
    }
    stale
}
