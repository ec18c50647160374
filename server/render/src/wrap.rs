//! Breaking text into lines.

/// Words in rows of at most `width` characters; a longer word is cut.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut rest = word;
        loop {
            let length = rest.chars().count();
            let space = usize::from(used > 0);
            if used + space + length <= width {
                break;
            }
            if used == 0 {
                let cut = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
                if let Some(row) = rows.last_mut() {
                    row.push_str(&rest[..cut]);
                }
                rest = &rest[cut..];
            }
            rows.push(String::new());
            used = 0;
        }
        if let Some(row) = rows.last_mut() {
            if used > 0 {
                row.push(' ');
                used += 1;
            }
            row.push_str(rest);
            used += rest.chars().count();
        }
    }
    rows
}

/// Ends a line without trailing space.
pub(crate) fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut() {
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
