//! A TTGIR text without its locations, line by line where it was.
//!
//! Triton then takes the file's own lines as locations, and an assert names the line of one op, where the locations of
//! the source name a line that may stand for many. The way on to the source is in the text that was left as it is.

/// The text without `loc(…)`, each line where it stood.
pub fn without_locations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with("#loc") {
            // An alias that nobody names is no error, but its line is not needed.
            out.push_str(line.strip_suffix('\n').map_or("", |_| "\n"));
        } else {
            strip(line, &mut out);
        }
    }
    out
}

fn strip(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = next_location(rest) {
        out.push_str(rest[..at].trim_end_matches(' '));
        let Some(len) = closed(&rest[at..]) else {
            // It goes on in the next line, which nothing prints: it is left as it is.
            out.push_str(&rest[at..]);
            return;
        };
        rest = &rest[at + len..];
    }
    out.push_str(rest);
}

/// The next `loc(` that is a word of its own, outside of strings and comments.
fn next_location(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quoted = false;
    for at in 0..bytes.len() {
        match bytes[at] {
            b'"' if at == 0 || bytes[at - 1] != b'\\' => quoted = !quoted,
            b'/' if !quoted && bytes[at..].starts_with(b"//") => return None,
            b'l' if !quoted
                && bytes[at..].starts_with(b"loc(")
                && (at == 0 || matches!(bytes[at - 1], b' ' | b',' | b'\t')) =>
            {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}

/// Length of `loc(…)` up to its closing bracket.
fn closed(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut quoted) = (0usize, false);
    for at in 0..bytes.len() {
        match bytes[at] {
            b'"' if at == 0 || bytes[at - 1] != b'\\' => quoted = !quoted,
            _ if quoted => {}
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_go_and_lines_stay() {
        let text = concat!(
            "#loc = loc(unknown)\n",
            "module {\n",
            "  tt.func @k(%a: i32 loc(\"a\"(#loc)), %b: i32 loc(\"b)\"(#loc))) {\n",
            "    %0 = tt.print \"a loc(x)\" {} : i32 loc(callsite(#loc1 at #loc2))\n",
            "  } loc(#loc)\n",
            "} loc(#loc)\n",
            "#loc1 = loc(\"f.py\":3:4)\n"
        );
        let expected = concat!(
            "\nmodule {\n",
            "  tt.func @k(%a: i32, %b: i32) {\n",
            "    %0 = tt.print \"a loc(x)\" {} : i32\n",
            "  }\n}\n\n"
        );
        assert_eq!(without_locations(text), expected);
    }
}
