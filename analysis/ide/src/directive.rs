//! Completion in comments that speak to Fencepost: suppressions, `ignore[kind] reason`, in both languages.

use base::TextRange;
use findings::Kind;

use super::completion::item::{CodeCompletion, CompletionKind, Completions, DocKey, matching};

/// What every such comment has in front.
pub(super) const MARK: &str = "fencepost:";

/// The word that opens a suppression.
const IGNORE: &str = "ignore";

/// The part of a comment behind `fencepost:` and before an offset, and where it starts.
pub(super) fn body(text: &str, offset: u32) -> Option<(&str, u32)> {
    let before = text.get(..offset as usize)?;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.get(line_start..)?;
    let at = line.rfind(MARK)?;
    let comment = line.get(..at)?.trim_end();
    let opened = comment.ends_with('#') || comment.ends_with("//");
    let start = line_start + at + MARK.len();
    opened.then_some((before.get(start..)?, start as u32))
}

/// The kinds that a suppression at an offset may name, and the word that opens one; `None` outside of such comments.
pub(super) fn kinds(text: &str, offset: u32) -> Option<Completions> {
    let (body, start) = body(text, offset)?;
    let Some((open, list)) = body.split_once('[') else {
        let typed = body.trim_start();
        if !IGNORE.starts_with(typed) {
            return None;
        }
        let word = TextRange::new(offset - typed.len() as u32, offset);
        let mut item = CodeCompletion::new(IGNORE, CompletionKind::Keyword, "leaves out findings of this line");
        item.insert = Some(format!("{IGNORE}["));
        return Some(answer(text, word, vec![item], typed));
    };
    if open.trim() != IGNORE || list.contains(']') {
        return None;
    }
    let typed = list.rsplit(',').next().unwrap_or(list).trim_start();
    let named: Vec<&str> = list.split(',').map(str::trim).collect();
    let word = TextRange::new(offset - typed.len() as u32, offset);
    debug_assert!(word.start >= start);
    let kinds = Kind::ALL.iter().filter(|kind| kind.name() == typed || !named.contains(&kind.name()));
    let items = kinds.map(|kind| {
        let severity = kind.severity().name();
        CodeCompletion::new(kind.name(), CompletionKind::Finding, severity)
            .documented(DocKey::Finding(kind.name().to_owned()))
    });
    Some(answer(text, word, items.collect(), typed))
}

/// The items that what is typed may mean.
pub(super) fn answer(text: &str, word: TextRange, items: Vec<CodeCompletion>, typed: &str) -> Completions {
    let (items, incomplete) = matching(items, typed);
    let rest = text.get(word.end as usize..).unwrap_or("");
    let more = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    let replace = TextRange::new(word.start, word.end + more as u32);
    Completions { insert: word, replace, items, incomplete }
}
