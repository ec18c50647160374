//! The encoding of a Python file: UTF-8, or Latin-1 where its first two lines say so (PEP 263).
//!
//! Other encodings are named and not read, unless a file holds ASCII alone.

use std::fs;
use std::io;
use std::path::Path;

/// How the text of a file is written down as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// ISO 8859-1: a byte is the character of its number.
    Latin1,
}

/// Why bytes are no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// The bytes are no UTF-8 from this one on.
    At(usize),
    /// The file names an encoding that is not read.
    Encoding(String),
}

/// Names of Latin-1 that Python knows, in lower case with `-` for `_`.
const LATIN1: &[&str] =
    &["latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-latin-1", "8859", "cp819", "l1", "latin", "ibm819"];

impl Encoding {
    /// The encoding in which Python reads a file with these bytes.
    ///
    /// # Errors
    ///
    /// With the name of the encoding, where it is none of these.
    pub fn of_python(bytes: &[u8]) -> Result<Encoding, String> {
        let Some(name) = declared(bytes) else { return Ok(Encoding::Utf8) };
        let plain = name.to_ascii_lowercase().replace('_', "-");
        if LATIN1.contains(&plain.as_str()) {
            Ok(Encoding::Latin1)
        } else if plain == "utf-8" || plain == "utf8" || plain.starts_with("utf-8-") || bytes.is_ascii() {
            Ok(Encoding::Utf8)
        } else {
            Err(name)
        }
    }

    /// The text of a Python file, and its encoding.
    ///
    /// # Errors
    ///
    /// Where the bytes are none in the encoding that the file is in, or that encoding is not read.
    pub fn decode_python(bytes: Vec<u8>) -> Result<(String, Encoding), Undecodable> {
        match Encoding::of_python(&bytes).map_err(Undecodable::Encoding)? {
            Encoding::Latin1 => Ok((bytes.into_iter().map(char::from).collect(), Encoding::Latin1)),
            Encoding::Utf8 => match String::from_utf8(bytes) {
                Ok(text) => Ok((text, Encoding::Utf8)),
                Err(error) => Err(Undecodable::At(error.utf8_error().valid_up_to())),
            },
        }
    }

    /// The bytes of a text; `None` where a character has none in this encoding.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Encoding::Utf8 => Some(text.as_bytes().to_vec()),
            Encoding::Latin1 => text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect(),
        }
    }
}

/// The name behind `coding:` or `coding=` in a comment on one of the first two lines, of which only blank lines and
/// comments may come before it.
fn declared(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.split(|&byte| byte == b'\n').take(2) {
        let line = line.trim_ascii();
        let comment = match line {
            [] => continue,
            [b'#', comment @ ..] => String::from_utf8_lossy(comment),
            _ => return None,
        };
        for (at, _) in comment.match_indices("coding") {
            let Some(name) = comment[at + "coding".len()..].strip_prefix([':', '=']) else { continue };
            let name: String = name
                .trim_start_matches([' ', '\t'])
                .chars()
                .take_while(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))
                .collect();
            if !name.is_empty() {
                return Some(name);
            }
        }
    }
    None
}

/// The text of a file on the disk: Python as Python reads it, anything else as UTF-8.
///
/// # Errors
///
/// Where the file cannot be read, or is no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "py") {
        return fs::read_to_string(path);
    }
    let decoded = Encoding::decode_python(fs::read(path)?);
    decoded.map(|(text, _)| text).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_lines_name_the_encoding() {
        let of = |text: &[u8]| Encoding::of_python(text);
        assert_eq!(of(b"# -*- coding: latin-1 -*-\n"), Ok(Encoding::Latin1));
        assert_eq!(of(b"#!/usr/bin/env python\n# vim: set fileencoding=ISO_8859_1 :\n"), Ok(Encoding::Latin1));
        assert_eq!(of(b"\n\t# coding=L1\n"), Ok(Encoding::Latin1));
        assert_eq!(of(b"# coding: utf-8\n"), Ok(Encoding::Utf8));
        // Too late, behind a statement, or in a string.
        assert_eq!(of(b"#\n#\n# coding: latin-1\n"), Ok(Encoding::Utf8));
        assert_eq!(of(b"import a\n# coding: latin-1\n"), Ok(Encoding::Utf8));
        assert_eq!(of(b"x = '# coding: latin-1'\n"), Ok(Encoding::Utf8));
        // Another one is no trouble as long as it makes no difference.
        assert_eq!(of(b"# coding: koi8-r\n"), Ok(Encoding::Utf8));
        assert_eq!(of(b"# coding: koi8-r\n# \xd4\n"), Err("koi8-r".to_owned()));
    }

    #[test]
    fn what_was_decoded_is_encoded_as_it_was() {
        let bytes = b"# coding: latin-1\r\n# caf\xe9\r\n".to_vec();
        let (text, encoding) = Encoding::decode_python(bytes.clone()).expect("it is Latin-1");
        assert!(text.ends_with("café\r\n"), "{text}");
        assert_eq!(encoding.encode(&text), Some(bytes));
        assert_eq!(encoding.encode("→"), None);
        assert_eq!(Encoding::decode_python(b"# caf\xe9".to_vec()), Err(Undecodable::At(5)));
    }
}
