//! Rust text as words and punctuation, as far as a check needs it: no comments, literals or test-only items.

/// Names, `::` and single characters of punctuation, in the order of the text.
///
/// What it misses: a token that a macro builds. A raw identifier loses its `r#`.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => block_comment(rest),
            '"' => quoted(rest, 1),
            '\'' => apostrophe(rest),
            'r' | 'b' | 'c' if literal(rest) > 0 => literal(rest),
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                found.push(&rest[..length]);
                length
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
                found.push(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    without_tests(found)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the nested comment at the start.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let step = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a literal with escapes, whose opening takes `opening` bytes and ends in the closing quote.
fn quoted(text: &str, opening: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = opening;
    while at < bytes.len() && bytes[at] != bytes[opening - 1] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Length of a character, or of the apostrophe alone where it starts a lifetime.
fn apostrophe(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) | (Some(_), Some((_, '\''))) => quoted(text, 1),
        _ => 1,
    }
}

/// Length of the literal with a prefix (`r"`, `r#"`, `br"`, `b'`, `c"`) at the start, 0 if there is none.
fn literal(text: &str) -> usize {
    let plain = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - plain.len();
    let Some(raw) = plain.strip_prefix('r') else {
        let is_quote = prefix == 1 && plain.starts_with(['"', '\'']);
        return if is_quote { quoted(text, prefix + 1) } else { 0 };
    };
    let body = raw.trim_start_matches('#');
    let hashes = raw.len() - body.len();
    if prefix > 1 || !body.starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let opening = prefix + 1 + hashes + 1;
    text[opening..].find(&close).map_or(text.len(), |at| opening + at + close.len())
}

/// Leaves out the items behind `#[cfg(test)]`.
fn without_tests(all: Vec<&str>) -> Vec<&str> {
    const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(all.len());
    let mut at = 0;
    while at < all.len() {
        if all[at..].starts_with(&CFG_TEST) {
            at = item_end(&all, at + CFG_TEST.len());
        } else {
            kept.push(all[at]);
            at += 1;
        }
    }
    kept
}

/// Where the item ends that starts at a token: behind its `;`, or behind its first block.
fn item_end(all: &[&str], start: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in all.iter().enumerate().skip(start) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    all.len()
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_literals_and_tests_are_left_out() {
        let text = "use a::b; // use c::d\n/* x /* y */ z */ const A: &'static str = \"use e::f\\\" {\";\n\
                    const B: char = '{'; const C: &str = r#\"\"{\"#; #[cfg(test)]\nmod tests { use g::h; }\nfn i() {}";
        let words: Vec<&str> = tokens(text).into_iter().filter(|token| token.len() > 2 || *token == "{").collect();
        assert_eq!(words, ["use", "const", "static", "str", "const", "char", "const", "str", "{"]);
    }

    #[test]
    fn an_item_ends_behind_its_block_or_semicolon() {
        assert_eq!(tokens("#[cfg(test)] #[path = \"x\"] mod tests; fn a() {}")[..2], ["fn", "a"]);
        assert_eq!(tokens("#[cfg(test)] fn b(c: [u8; 2]) { (d) } fn a() {}")[..2], ["fn", "a"]);
    }
}
