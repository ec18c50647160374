//! What may stand at a place in `fencepost.toml`.

use base::TextRange;
use engine::instances::Version;
use findings::Kind;

use crate::hover::{place, words};
use crate::read::setting;
use crate::table::{self, SETTINGS, Said, Setting, Takes};

/// Something that may stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingCompletion {
    /// What it is called.
    pub label: String,
    /// What is replaced.
    pub range: TextRange,
    /// By what.
    pub text: String,
    /// Whether it is a key, else a value.
    pub key: bool,
    /// Markdown.
    pub documentation: String,
}

/// What may stand at a place.
pub fn completions(text: &str, offset: u32) -> Vec<SettingCompletion> {
    let Some(place) = place(text, offset as usize) else { return Vec::new() };
    let range = place.word;
    let make = |label: &str, text: String, key: bool, documentation: String| SettingCompletion {
        label: label.to_owned(),
        range,
        text,
        key,
        documentation,
    };
    if place.header {
        let tables = SETTINGS.iter().filter(|row| row.is_table() && row.said == Said::Anywhere);
        return tables.map(|row| make(row.name, row.name.to_owned(), true, words(row))).collect();
    }
    if place.value {
        let Some((key, _)) = place.key else { return Vec::new() };
        let key: Vec<&str> = key.split('.').map(str::trim).collect();
        let path: Vec<&str> = if place.table.is_empty() { key } else { [place.table].into_iter().chain(key).collect() };
        let quote = |word: &str| if place.quoted { word.to_owned() } else { format!("\"{word}\"") };
        let values = values(&path);
        return values
            .iter()
            .map(|(word, plain, of)| make(word, if *plain { word.clone() } else { quote(word) }, false, of.clone()))
            .collect();
    }
    let given = |name: &str| is_given(text, place.table, name);
    // Where there is a value already, only the key is replaced.
    let has_value =
        text.get(range.end as usize..).is_some_and(|rest| rest.lines().next().is_some_and(|rest| rest.contains('=')));
    let row = |name: &str, start: &str, documentation: String| {
        let text = if has_value { name.to_owned() } else { format!("{name} = {start}") };
        make(name, text, true, documentation)
    };
    let rows = |rows: &'static [Setting]| -> Vec<SettingCompletion> {
        let rows = rows.iter().filter(|one| one.said == Said::Anywhere && !given(one.name));
        rows.map(|one| {
            if one.is_table() && place.table.is_empty() {
                make(one.name, format!("[{}]\n", one.name), true, words(one))
            } else {
                row(one.name, one.example, words(one))
            }
        })
        .collect()
    };
    match setting(&[place.table]).map(|table| table.takes) {
        None if place.table.is_empty() => rows(SETTINGS),
        Some(Takes::Rows(inner)) => rows(inner),
        Some(Takes::Kinds) => {
            let kinds = Kind::ALL.iter().filter(|kind| !given(kind.name()));
            kinds
                .map(|kind| row(kind.name(), "\"off\"", format!("Usually shown as `{}`.", kind.severity().name())))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a table of the text has a row of this name.
fn is_given(text: &str, table: &str, name: &str) -> bool {
    let mut inside = "";
    text.lines().any(|line| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = header.trim();
            return table.is_empty() && inside == name;
        }
        inside == table && line.split_once('=').is_some_and(|(key, _)| key.trim().trim_matches('"') == name)
    })
}

/// Values of a setting: the word, whether it stands without quotes, and what it means.
fn values(path: &[&str]) -> Vec<(String, bool, String)> {
    let of = |words: &[&str]| words.iter().map(|word| ((*word).to_owned(), false, String::new())).collect();
    if let ["kinds", name] = path {
        let usual = Kind::from_name(name).map(|kind| kind.severity().name());
        return table::levels()
            .map(|level| {
                let said = if usual == Some(level) { "As it is without a setting." } else { "" };
                (level.to_owned(), false, said.to_owned())
            })
            .collect();
    }
    match setting(path).map(|row| (row.takes, row.usual())) {
        Some((Takes::Target, _)) => of(table::TARGETS),
        Some((Takes::Word(words), _)) => of(words),
        Some((Takes::Release, _)) => {
            let Version(major, newest) = Version::default();
            (2..=newest).rev().map(|minor| (format!("{major}.{minor}"), false, String::new())).collect()
        }
        Some((Takes::Switch, _)) => ["true", "false"].map(|word| (word.to_owned(), true, String::new())).into(),
        Some((Takes::Number(..), Some(usual))) => vec![(usual, true, "As it is without a setting.".to_owned())],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Vec<String> {
        let offset = text.find('|').unwrap_or(0);
        completions(&text.replacen('|', "", 1), offset as u32).into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn keys_and_values() {
        let top = at("target = \"sm_90\"\n|\n");
        assert!(top.contains(&"triton = \"3.9\"".to_owned()) && top.contains(&"[kinds]\n".to_owned()), "{top:?}");
        assert!(!top.iter().any(|text| text.starts_with("target") || text.starts_with("python")), "{top:?}");
        assert!(at("[k|\n").contains(&"kinds".to_owned()));
        assert!(at("[kinds]\ndead|").contains(&"deadlock = \"off\"".to_owned()));
        assert!(at("[kinds]\ndead| = \"off\"").contains(&"deadlock".to_owned()));
        assert_eq!(at("[kinds]\ndeadlock = \"|\"")[0], "off");
        assert_eq!(at("[kinds]\ndeadlock = |")[0], "\"off\"");
        assert!(at("target = \"sm|").contains(&"sm_100".to_owned()));
        assert!(at("[limits]\nstates = |").contains(&"20000".to_owned()));
        assert!(at("[values]\n|").is_empty());
        assert!(at("# |").is_empty());
    }
}
