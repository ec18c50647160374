//! Lines of a log that are asserts.
//!
//! Forms: CUDA's ``FILE:LINE: FUNCTION: block: [x,y,z], thread: [x,y,z] Assertion `MESSAGE` failed.``, whose
//! function is `unknown` from one sanitizer and empty from the other, and AMD's `device assertion failed:
//! 'MESSAGE', in FUNCTION at FILE:LINE`. Whatever stands before them (a time, a rank, a test runner's margin) is
//! left out, as are colours. A file whose path is relative and holds a space is cut at the space where something
//! stands before it.

use std::collections::BTreeSet;
use std::mem::take;

use rustc_hash::FxHashMap;

use super::AssertMessage;
use crate::limits::log::{DISTINCT, LINE, REMEMBERED};

/// One assert, as a device says it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Assert {
    /// The file, as the compiler names it.
    pub file: String,
    /// Line, from 1; 0 where the compiler knew none.
    pub line: u32,
    /// The message.
    pub message: AssertMessage,
    /// Which program, where the form says so.
    pub block: Option<[u32; 3]>,
    /// Which thread of it.
    pub thread: Option<[u32; 3]>,
}

/// The assert of a line, if it is one.
pub fn read_line(line: &str) -> Option<Assert> {
    if !line.contains("ssert") {
        return None;
    }
    let plain = without_colours(line);
    let line = plain.trim_end();
    cuda(line).or_else(|| amd(line))
}

fn cuda(line: &str) -> Option<Assert> {
    let at = line.find("Assertion `")?;
    let (head, rest) = (&line[..at], &line[at + "Assertion `".len()..]);
    let message = rest.rfind("` failed").map_or(rest, |end| &rest[..end]);
    let place = head.rfind(" block: [")?;
    let numbers = &head[place..];
    let block = triple(numbers.split("block: [").nth(1)?);
    let thread = numbers.split("thread: [").nth(1).and_then(triple);
    let (file, number) = file_and_line(&head[..place])?;
    Some(Assert { file, line: number, message: AssertMessage::read(message), block, thread })
}

fn amd(line: &str) -> Option<Assert> {
    let start = line.find("device assertion failed: '")? + "device assertion failed: '".len();
    let rest = line.get(start..)?;
    let end = rest.rfind("', in ")?;
    let place = &rest[end..];
    let place = &place[place.rfind(" at ")? + " at ".len()..];
    let (file, number) = place.trim().rsplit_once(':')?;
    let message = AssertMessage::read(&rest[..end]);
    Some(Assert { file: file.to_owned(), line: number.trim().parse().ok()?, message, block: None, thread: None })
}

/// `x,y,z]…`.
fn triple(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(']').next()?.split(',').map(|number| number.trim().parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Of `PREFIX FILE:LINE: FUNCTION:` the file and the line.
fn file_and_line(head: &str) -> Option<(String, u32)> {
    // The last `:number:`: a function's name has none, and a time before the file comes first.
    let colons: Vec<usize> = head.match_indices(':').map(|(at, _)| at).collect();
    let (end, line) = colons.windows(2).rev().find_map(|pair| {
        let number = head[pair[0] + 1..pair[1]].parse::<u32>().ok()?;
        (pair[0] > 0).then_some((pair[0], number))
    })?;
    let path = &head[..end];
    Some((path[path_start(path)..].to_owned(), line))
}

/// Where the path begins in what stands before a line's number.
fn path_start(text: &str) -> usize {
    let starts_word = |at: usize| at == 0 || text[..at].ends_with([' ', '\t', '|', ']', ':', '>', '"', '(']);
    let absolute = text.match_indices('/').map(|(at, _)| at).find(|&at| starts_word(at));
    let drive = text.match_indices(":\\").map(|(at, _)| at).find_map(|at| {
        let letter = at.checked_sub(1)?;
        (text.as_bytes()[letter].is_ascii_alphabetic() && starts_word(letter)).then_some(letter)
    });
    let relative = || text.rfind([' ', '\t']).map_or(0, |at| at + 1);
    drive.or(absolute).unwrap_or_else(relative)
}

fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        // CSI: `ESC [`, parameters, a letter.
        if chars.next() == Some('[') {
            for c in chars.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        }
    }
    out
}

/// An assert, and how often it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedAssert {
    /// The first of them.
    pub first: Assert,
    /// How many lines say it, of whatever program and thread.
    pub count: u64,
    /// Threads that say it (the first number of each), not more than a limit.
    pub threads: BTreeSet<u32>,
    /// Programs that say it, not more than a limit.
    pub blocks: BTreeSet<[u32; 3]>,
}

/// The asserts of a log that is read as it comes, in bounded memory.
#[derive(Clone, Default, Debug)]
pub struct AssertLog {
    partial: Vec<u8>,
    /// Whether the rest of the current line is dropped.
    skipping: bool,
    at: FxHashMap<(String, u32, AssertMessage), usize>,
    /// In the order in which they first came.
    pub asserts: Vec<CountedAssert>,
    /// Lines that are asserts beyond the number that is told apart.
    pub dropped: u64,
    /// The driver's words for a kernel that did not end well, where they came.
    pub failure: Option<String>,
    /// Bytes that came.
    pub bytes: u64,
}

impl AssertLog {
    /// A log that is complete.
    pub fn read(text: &str) -> AssertLog {
        let mut log = AssertLog::default();
        log.feed(text.as_bytes());
        log.end();
        log
    }

    /// More of it.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            self.piece(&rest[..at]);
            self.close();
            rest = &rest[at + 1..];
        }
        self.piece(rest);
    }

    /// There is no more.
    pub fn end(&mut self) {
        self.close();
    }

    /// How many lines are asserts.
    pub fn total(&self) -> u64 {
        self.dropped + self.asserts.iter().map(|counted| counted.count).sum::<u64>()
    }

    fn piece(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        self.partial.extend_from_slice(&bytes[..bytes.len().min(LINE + 1)]);
        self.skipping = self.partial.len() > LINE;
    }

    fn close(&mut self) {
        self.skipping = false;
        let line = take(&mut self.partial);
        if memchr::memmem::find(&line, b"ssert").is_some() || memchr::memmem::find(&line, b"launch failure").is_some() {
            self.line(&String::from_utf8_lossy(&line));
        }
        // The buffer is used again, so that a long log allocates once.
        self.partial = line;
        self.partial.clear();
    }

    fn line(&mut self, line: &str) {
        let Some(assert) = read_line(line) else {
            let known = ["device-side assert", "unspecified launch failure"];
            if let Some(words) = known.iter().find(|words| line.contains(**words)) {
                self.failure.get_or_insert_with(|| (*words).to_owned());
            }
            return;
        };
        let key = (assert.file.clone(), assert.line, assert.message.clone());
        let at = match self.at.get(&key) {
            Some(&at) => at,
            None if self.asserts.len() == DISTINCT => {
                self.dropped += 1;
                return;
            }
            None => {
                self.at.insert(key, self.asserts.len());
                let first = assert.clone();
                self.asserts.push(CountedAssert { first, count: 0, threads: BTreeSet::new(), blocks: BTreeSet::new() });
                self.asserts.len() - 1
            }
        };
        let Some(counted) = self.asserts.get_mut(at) else { return };
        counted.count += 1;
        if let Some([thread, _, _]) = assert.thread.filter(|_| counted.threads.len() < REMEMBERED) {
            counted.threads.insert(thread);
        }
        if let Some(block) = assert.block.filter(|_| counted.blocks.len() < REMEMBERED) {
            counted.blocks.insert(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITES: &str = "Buffer being accessed has outstanding writes.";

    fn place(line: &str) -> (String, u32, String, Option<[u32; 3]>) {
        let assert = read_line(line).expect("it is an assert");
        (assert.file, assert.line, assert.message.text(), assert.thread)
    }

    #[test]
    fn every_form_is_read() {
        let consan = format!("/a/b c.py:107: unknown: block: [1,2,3], thread: [128,0,0] Assertion `{WRITES}` failed.");
        let expected = ("/a/b c.py".to_owned(), 107, WRITES.to_owned(), Some([128, 0, 0]));
        assert_eq!(place(&consan), expected);
        for prefix in ["[rank0]: ", "12:30:45.123 | ", "E       ", "\u{1b}[31m", "2026-01-01T00:00:00Z "] {
            assert_eq!(place(&format!("{prefix}{consan}\r\n")), expected, "{prefix}");
        }
        let gsan = "/k.py:9: : block: [0,0,0], thread: [0,0,0] Assertion `Read after write race detected` failed.";
        assert_eq!(place(gsan).2, "Read after write race detected");
        let amd = "device assertion failed: 'it's off', in matmul at C:\\k.py:12";
        assert_eq!(place(amd), ("C:\\k.py".to_owned(), 12, "it's off".to_owned(), None));
        let windows = "x C:\\my files\\k.py:5: void f(int): block: [0,0,0], thread: [3,0,0] Assertion `a` failed.";
        assert_eq!(place(windows).0, "C:\\my files\\k.py");
        let relative = "k.py:5: unknown: block: [0,0,0], thread: [3,0,0] Assertion `a `b` c` failed.";
        assert_eq!(place(relative), ("k.py".to_owned(), 5, "a `b` c".to_owned(), Some([3, 0, 0])));
    }

    #[test]
    fn what_is_no_assert_is_none() {
        for line in ["", "AssertionError: x", "Assertion `x` failed.", "block: [0,0,0] Assertion `", "/a.py:1: ssert"] {
            assert_eq!(read_line(line), None, "{line}");
        }
    }

    #[test]
    fn a_log_is_counted_in_bounded_memory() {
        let mut log = AssertLog::default();
        let line = |thread: u32| {
            format!("/k.py:7: unknown: block: [{thread},0,0], thread: [{thread},0,0] Assertion `{WRITES}` failed.\n")
        };
        for thread in 0..5000 {
            let text = line(thread % 256);
            let (a, b) = text.as_bytes().split_at(11);
            log.feed(a);
            log.feed(b);
        }
        log.feed(&vec![b'x'; 1 << 20]);
        log.feed(b" Assertion `x` failed.\nCUDA error: device-side assert triggered");
        log.end();
        assert_eq!((log.asserts.len(), log.total()), (1, 5000));
        assert_eq!(log.asserts[0].threads.len(), REMEMBERED);
        assert_eq!(log.failure.as_deref(), Some("device-side assert"));
        assert!(log.partial.capacity() < 1 << 20);
    }

    #[test]
    fn asserts_beyond_the_limit_are_counted() {
        let text: String = (0..DISTINCT + 10)
            .map(|at| format!("/k.py:{at}: : block: [0,0,0], thread: [0,0,0] Assertion `a` failed.\n"))
            .collect();
        let log = AssertLog::read(&text);
        assert_eq!((log.asserts.len(), log.dropped), (DISTINCT, 10));
    }
}
