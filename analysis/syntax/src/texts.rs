//! Texts that stand for something: paths, types with parts in brackets.

/// A path with another behind it, which replaces it where it starts at the root. Paths are their texts.
pub fn join_paths(path: &str, part: &str) -> String {
    match path {
        _ if part.starts_with('/') => part.to_owned(),
        "" | "." => part.to_owned(),
        _ if path.ends_with('/') => format!("{path}{part}"),
        _ => format!("{path}/{part}"),
    }
}

/// Parts between commas that are in no bracket.
pub fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Whether a text is a name, as of a field.
pub fn is_name(text: &str) -> bool {
    let start = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(start) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The last part of a name with dots.
pub fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The text of a layout without the modules in front of its class, as its `repr` is.
pub fn without_modules(layout: &str) -> &str {
    let end = layout.find('(').unwrap_or(layout.len());
    let start = layout.get(..end).and_then(|path| path.rfind('.')).map_or(0, |dot| dot + 1);
    layout.get(start..).unwrap_or(layout)
}
