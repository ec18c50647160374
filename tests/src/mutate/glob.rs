//! Patterns for names: `*` stands for any characters, `?` for one.

/// Whether a name fits a pattern.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Places of the pattern that the name read so far can have led to.
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    skip_stars(&pattern, &mut at);
    for letter in name {
        let mut next = vec![false; at.len()];
        for place in 0..pattern.len() {
            match pattern[place] {
                _ if !at[place] => {}
                '*' => next[place] = true,
                wanted => next[place + 1] |= wanted == '?' || wanted == letter,
            }
        }
        at = next;
        skip_stars(&pattern, &mut at);
    }
    at[pattern.len()]
}

fn skip_stars(pattern: &[char], at: &mut [bool]) {
    for place in 0..pattern.len() {
        at[place + 1] |= at[place] && pattern[place] == '*';
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        assert!(fits("*", ""));
        assert!(fits("ws_*", "ws_gemm.alloc"));
        assert!(fits("*/ws_gemm", "sm_90/ws_gemm"));
        assert!(fits("ws_?emm", "ws_gemm"));
        assert!(!fits("ws_gemm", "ws_gemm.alloc"));
        assert!(!fits("a*b", "ac"));
    }
}
