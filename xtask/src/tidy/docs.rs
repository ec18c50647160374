//! Doc comments of one or two words are riddles: they repeat the name or hide what they mean.

use super::tree::{BrokenRule, File};

/// How many there may be. It may only fall.
const MOST: usize = 567;

/// Words that a doc comment needs at least.
const WORDS: usize = 3;

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let production = files.iter().filter(|file| {
        let tests = file.path.starts_with("tests/") || file.path.contains("/tests/") || file.path.ends_with("tests.rs");
        file.path.ends_with(".rs") && !tests
    });
    let found: Vec<BrokenRule> = production.flat_map(riddles).collect();
    if found.len() > MOST { found } else { Vec::new() }
}

/// The doc comments of a file that are too short, up to its unit tests.
fn riddles(file: &File) -> Vec<BrokenRule> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        let line = line.trim();
        if line == "#[cfg(test)]" {
            break;
        }
        match line.strip_prefix("///") {
            Some(text) => words.extend(text.split_whitespace()),
            None => {
                if !words.is_empty() && words.len() < WORDS {
                    let said = words.join(" ");
                    found.push(file.problem(at, format!("`{said}` is a riddle: say what it is, in a sentence")));
                }
                words.clear();
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_two_words_is_named_and_a_sentence_is_not() {
        let text = "/// Who.\nfn a() {}\n/// The thread that\n/// waits.\nfn b() {}\n#[cfg(test)]\n/// No.\nmod t {}\n";
        let found = riddles(&File { path: "a/src/lib.rs".into(), text: text.into() });
        assert_eq!(found.iter().map(|problem| problem.line).collect::<Vec<_>>(), [1]);
    }
}
