//! Patterns of paths: `*` is any part of a name, `?` one character, `**` any folders.

/// Whether a path matches a pattern. Both are relative, with `/` between their parts. A pattern without `/` matches a
/// name in any folder; one that matches a folder matches all that is in it.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let wanted: Vec<&str> = match pattern.strip_prefix('/') {
        Some(rooted) => rooted.split('/').collect(),
        None if pattern.contains('/') => pattern.split('/').collect(),
        None => ["**", pattern].into(),
    };
    // A prefix of the path is a folder around it.
    (1..=parts.len()).any(|end| parts.get(..end).is_some_and(|parts| all(&wanted, parts)))
}

fn all(wanted: &[&str], parts: &[&str]) -> bool {
    // Which beginnings of the path the pattern so far matches.
    let mut reached = vec![false; parts.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for part in wanted {
        let mut next = vec![false; parts.len() + 1];
        for at in 0..=parts.len() {
            let before = at > 0 && reached.get(at - 1) == Some(&true);
            let here = reached.get(at) == Some(&true);
            let through = *part == "**" && (here || (at > 0 && next.get(at - 1) == Some(&true)));
            let one = *part != "**" && before && parts.get(at - 1).is_some_and(|name| name_matches(part, name));
            if let Some(next) = next.get_mut(at) {
                *next = through || one;
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

/// `*` and `?` within a name, in time that is linear in the product of the lengths.
fn name_matches(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reached: Vec<bool> = (0..=name.len()).map(|at| at == 0).collect();
    for wanted in pattern.chars() {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            let before = at > 0 && reached.get(at - 1) == Some(&true);
            let matched = match wanted {
                '*' => reached.get(at) == Some(&true) || (at > 0 && next.get(at - 1) == Some(&true)),
                '?' => before,
                letter => before && name.get(at - 1) == Some(&letter),
            };
            if let Some(next) = next.get_mut(at) {
                *next = matched;
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_names() {
        let yes = [
            ("*.py", "a/b/k.py"),
            ("gen/**", "gen/a/k.py"),
            ("gen", "x/gen/a/k.py"),
            ("/gen", "gen/k.py"),
            ("a/*/k.py", "a/b/k.py"),
            ("a/**/k.py", "a/k.py"),
            ("a/**/k.py", "a/b/c/k.py"),
            ("./a/", "a/k.py"),
            ("k?.py", "k1.py"),
            ("**", "x"),
        ];
        let no = [
            ("*.py", "k.pyi"),
            ("/gen", "x/gen/k.py"),
            ("a/*/k.py", "a/b/c/k.py"),
            ("gen/**", "regen/k.py"),
            ("k?.py", "k.py"),
            ("", "k.py"),
        ];
        for (pattern, path) in yes {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in no {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}
