//! Names in a sentence that was rendered already.

/// A sentence about IR with other names in it: `value` knows what `%x` is by its name without `%`, `word` what any other
/// word is. What neither knows stays as it is.
pub fn renamed(text: &str, value: &dyn Fn(&str) -> Option<String>, word: &dyn Fn(&str) -> Option<String>) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let sigil = first == '%';
        let body = if sigil { &rest[1..] } else { rest };
        let starts = body.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !starts || is_name(before) {
            out.push(first);
            before = first;
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        }
        let end = body.find(|c| !is_name(c)).unwrap_or(body.len());
        let whole = body.get(..end).unwrap_or("");
        // A full stop ends the sentence, not the name.
        let name = whole.trim_end_matches('.');
        let said = if sigil { value(name) } else { word(name) };
        match said {
            Some(said) => out.push_str(&said),
            None => {
                if sigil {
                    out.push('%');
                }
                out.push_str(name);
            }
        }
        before = name.chars().next_back().unwrap_or(before);
        rest = body.get(name.len()..).unwrap_or("");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_are_whole_words() {
        let value = |name: &str| (name == "full_3").then(|| "full".to_owned());
        let word = |name: &str| (name == "ttng.fence").then(|| "fence".to_owned());
        let say = |text: &str| renamed(text, &value, &word);
        assert_eq!(
            say("`%full_3[1]` of %full_3, not %full_30: `ttng.fence`."),
            "`full[1]` of full, not %full_30: `fence`."
        );
        assert_eq!(say("100% full_3, a%full_3"), "100% full_3, a%full_3");
    }
}
