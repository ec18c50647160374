//! What a place in `fencepost.toml` is about.

use base::TextRange;
use findings::Kind;

use crate::read::setting;
use crate::table::{Said, Setting, Takes};

/// What there is to say of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingHover {
    /// What it is about.
    pub range: TextRange,
    /// Markdown.
    pub text: String,
}

/// Where a place stands: in a table, at a key, behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The table of the line, empty above the first; and whether the line is its header.
    pub(crate) table: &'a str,
    pub(crate) header: bool,
    /// The key of the line, where there is one before the place or at it, and where it stands.
    pub(crate) key: Option<(&'a str, TextRange)>,
    /// Whether the place is behind the `=`.
    pub(crate) value: bool,
    /// The name around the place, quotes left out.
    pub(crate) word: TextRange,
    /// Whether the place stands inside quotes.
    pub(crate) quoted: bool,
}

/// Reads the lines up to a place; they need not parse.
pub(crate) fn place(text: &str, offset: usize) -> Option<Place<'_>> {
    let before = text.get(..offset)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(offset..)?.find('\n').map_or(text.len(), |at| offset + at);
    let line = text.get(start..end)?;
    let header = |line: &'_ str| {
        let name = line.trim_start().strip_prefix('[')?;
        // Of an array over several lines a line may start with a bracket, but not end as a header.
        let name = name.split(']').next().unwrap_or(name).trim().trim_matches('"');
        (!line.contains('=') && !name.contains(['"', ','])).then_some(())
    };
    let name = |line: &'_ str| -> Option<(usize, usize)> {
        header(line)?;
        let open = line.find('[')? + 1;
        let close = line.find(']').unwrap_or(line.len());
        Some((open, close))
    };
    let mut table = "";
    let mut at = 0;
    for above in text.get(..start)?.split_inclusive('\n') {
        if let Some((open, close)) = name(above) {
            table = text.get(at + open..at + close)?.trim();
        }
        at += above.len();
    }
    let own = name(line);
    if let Some((open, close)) = own {
        table = line.get(open..close)?.trim();
    }
    let column = offset - start;
    if line.get(..column).is_some_and(is_comment) {
        return None;
    }
    let equals = line.find('=');
    let value = equals.is_some_and(|at| at < column);
    let key = equals.map_or(line, |at| line.get(..at).unwrap_or(line));
    let trimmed = key.trim();
    let key_start = start + (key.len() - key.trim_start().len());
    let key_range = TextRange::new(key_start as u32, (key_start + trimmed.len()) as u32);
    let key = (own.is_none() && !trimmed.is_empty()).then(|| (trimmed.trim_matches(['"', '\'']), key_range));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let (left, right) = line.split_at_checked(column)?;
    let from = left
        .rfind(|c| !is_name(c))
        .map_or(0, |at| at + left.get(at..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8));
    let to = column + right.find(|c| !is_name(c)).unwrap_or(right.len());
    let quoted = left.matches('"').count() % 2 == 1 || left.matches('\'').count() % 2 == 1;
    let word = TextRange::new((start + from) as u32, (start + to) as u32);
    Some(Place { table, header: own.is_some(), key, value, word, quoted })
}

/// Whether the end of this beginning of a line stands in a comment.
fn is_comment(left: &str) -> bool {
    let mut quote = None;
    for c in left.chars() {
        match (quote, c) {
            (None, '#') => return true,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    false
}

/// What a place of a text is about.
pub fn hover(text: &str, offset: u32) -> Option<SettingHover> {
    let place = place(text, offset as usize)?;
    if place.header {
        return Some(SettingHover { range: place.word, text: words(setting(&[place.table])?) });
    }
    let (key, range) = place.key?;
    if place.table == "kinds" {
        return Some(SettingHover { range, text: kind(key)? });
    }
    let path: Vec<&str> =
        if place.table.is_empty() { key.split('.').map(str::trim).collect() } else { vec![place.table, key] };
    if let (["kinds", name], false) = (path.as_slice(), place.value) {
        return Some(SettingHover { range, text: kind(name)? });
    }
    Some(SettingHover { range, text: words(setting(&path)?) })
}

/// A kind, by the first paragraph of its page.
fn kind(name: &str) -> Option<String> {
    let kind = Kind::from_name(name)?;
    let page = kind.page();
    let first = page.split("\n\n").map(str::trim).find(|part| !part.is_empty() && !part.starts_with('#'))?;
    let usual = kind.severity().name();
    Some(format!(
        "**{name}**: {first}\n\nUsually shown as `{usual}`; takes `\"off\"`, `\"hint\"`, `\"information\"`, `\"warning\"` or `\"error\"`."
    ))
}

/// A setting in Markdown.
pub(crate) fn words(setting: &Setting) -> String {
    let mut text = format!("**{}**: {}\n\nTakes {}.", setting.name, setting.documentation, setting.takes_words());
    if let Some(usual) = setting.usual() {
        text.push_str(&format!(" Usually `{usual}`."));
    }
    if setting.said == Said::Editor {
        text.push_str(&format!(" A setting of the editor: `fencepost.{}`.", setting.editor_name()));
    } else if !matches!(setting.takes, Takes::Rows(_)) {
        text.push_str(&format!("\n\nFor example `{} = {}`.", setting.name, setting.example));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<SettingHover> {
        let offset = text.find('|').unwrap_or(0);
        hover(&text.replacen('|', "", 1), offset as u32)
    }

    #[test]
    fn keys_tables_and_kinds_are_explained() {
        let said = |text: &str| at(text).map(|hover| hover.text).unwrap_or_default();
        assert!(said("tar|get = \"sm_90\"\n").contains("compiled for"));
        assert!(said("[lim|its]\n").contains("How much work"));
        assert!(said("[limits]\nstates = 3|\n").contains("exploration"));
        assert!(said("[kinds]\n\"dead|lock\" = \"off\"\n").contains("Usually shown as `error`"));
        assert!(said("limits.sta|tes = 3\n").contains("exploration"));
        assert!(said("[limits\nst|ates = \n").contains("exploration"), "it need not parse");
        assert_eq!(at("# tar|get\n"), None);
        assert_eq!(at("nothing| = 3\n"), None);
    }
}
