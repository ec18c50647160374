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
