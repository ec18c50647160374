//! Top-level statements of a Python text, found without parsing it.

use base::TextRange;

/// The text cut where a statement of column 0 starts; decorators belong to what they decorate. Brackets
/// and strings are not looked at, so a line in column 0 inside of them cuts too: that only makes pieces
/// that do not parse by themselves, and those are told by parsing the whole first.
pub(super) fn chunks(text: &str) -> Vec<TextRange> {
    let mut starts = vec![0];
    let mut decorated = false;
    for (at, line) in lines(text) {
        let first = line.bytes().next().unwrap_or(b'\n');
        let opens = first.is_ascii_alphabetic() || first == b'_' || first == b'@' || first >= 0x80;
        let continues = ["else:", "elif ", "except", "finally:", "else ", "finally "];
        if !opens || continues.iter().any(|word| line.starts_with(word)) {
            continue;
        }
        if !decorated && at > 0 {
            starts.push(at);
        }
        decorated = first == b'@';
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let chunks = starts.iter().zip(ends).map(|(&start, end)| TextRange::new(start as u32, end as u32));
    chunks.filter(|range| !range.is_empty()).collect()
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decorator_stays_with_its_function() {
        let text = "import a\n\n@jit\ndef f(x):\n    return x\n\n@c(\n  1)\nclass D:\n  pass\nx = 1\n";
        let parts: Vec<&str> = chunks(text).into_iter().map(|range| range.of(text)).collect();
        assert_eq!(parts[0], "import a\n\n");
        assert_eq!(parts[1], "@jit\ndef f(x):\n    return x\n\n");
        assert_eq!(parts.last().copied(), Some("x = 1\n"));
        assert_eq!(parts.concat(), text);
    }
}
