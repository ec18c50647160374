//! Messages out of a stream of bytes: headers, an empty line, and as many bytes as the headers say.
//!
//! What is wrong with one message costs that message. Where a length is missing or wrong, the next headers are
//! looked for: they end in an empty line, and no JSON has a line end inside its texts, so that headers cannot be
//! part of a message.

use std::ops::Range;

use crate::limits::frames::{BODY as MAX_BODY, HEADERS as MAX_HEADERS};
use bytes::BytesMut;
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The name of the one header that counts.
const LENGTH: &[u8] = b"content-length:";

/// Bytes asked for at once, at least and at most: a length is only believed as far as bytes have followed it.
const CHUNK: Range<usize> = 64 << 10..1 << 20;

/// The bytes before a place that may be the beginning of headers which end behind it.
const OVERLAP: usize = 256;

/// What a stream holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// As many bytes as the headers say.
    Body(BytesMut),
    /// Bytes that are no message, and what is wrong with them.
    Broken(&'static str, BytesMut),
}

/// Reads messages.
pub(crate) struct FrameReader<R> {
    inner: R,
    buffer: BytesMut,
    /// Where the body that is being read begins and ends in the buffer.
    body: Option<Range<usize>>,
    /// The part of the buffer without headers inside.
    searched: usize,
    /// Whether what was read last was no message: the rest of it is none either and is not told again.
    lost: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `inner`.
    pub(crate) fn new(inner: R) -> FrameReader<R> {
        FrameReader { inner, buffer: BytesMut::new(), body: None, searched: 0, lost: false }
    }

    /// The next message; `None` at the end of the stream, be it in the middle of one.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.take() {
                return Some(frame);
            }
            // The room for a body grows with it.
            let room = self.body.as_ref().map_or(0, |body| body.end.saturating_sub(self.buffer.len()));
            self.buffer.reserve(room.clamp(CHUNK.start, CHUNK.end));
            match self.inner.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Says that the last body was no message, so that what follows may be its rest; or its length was a little too
    /// large, and it ends in the beginning of the next headers.
    pub(crate) fn was_unreadable(&mut self, body: &[u8]) {
        self.lost = true;
        let begun = body.len().saturating_sub(OVERLAP)..body.len();
        let begun = begun.filter_map(|start| body.get(start..)).find(|tail| is_begun_header(tail));
        if let Some(begun) = begun {
            let mut buffer = BytesMut::from(begun);
            buffer.extend_from_slice(&self.buffer);
            self.buffer = buffer;
        }
    }

    /// What the buffer holds as a whole.
    fn take(&mut self) -> Option<Frame> {
        loop {
            let frame = match self.body.clone() {
                Some(body) => self.take_body(body)?,
                None => self.take_headers()?,
            };
            if let Some(frame) = frame {
                return Some(frame);
            }
        }
    }

    /// A body, if all of it is there. Outer `None`: it is not.
    fn take_body(&mut self, body: Range<usize>) -> Option<Option<Frame>> {
        let end = body.end.min(self.buffer.len());
        let from = self.searched.saturating_sub(OVERLAP).max(body.start);
        if let Some(headers) = self.buffer.get(from..end).and_then(headers_within) {
            let broken = self.cut_body(body.start, from + headers);
            return Some(self.broken("the length of a message is too large", broken));
        }
        self.searched = end;
        if self.buffer.len() < body.end {
            return None;
        }
        self.lost = false;
        Some(Some(Frame::Body(self.cut_body(body.start, body.end))))
    }

    /// The headers before a body, if they are there. Outer `None`: they are not.
    fn take_headers(&mut self) -> Option<Option<Frame>> {
        let Some((end, after)) = end_of_headers(&self.buffer) else {
            if self.buffer.len() <= MAX_HEADERS {
                return None;
            }
            let bytes = self.buffer.split_to(self.buffer.len() - OVERLAP);
            return Some(self.broken("there are no headers", bytes));
        };
        let headers = self.buffer.get(..end).unwrap_or_default();
        match body_length(headers) {
            Ok(length) => {
                self.body = Some(after..after.saturating_add(length));
                self.searched = after;
                Some(None)
            }
            Err(why) => {
                // Headers may stand behind the rest of a message whose length was too small.
                let start = last_header(headers).filter(|start| *start > 0).unwrap_or(after);
                let bytes = self.buffer.split_to(start);
                Some(self.broken(why, bytes))
            }
        }
    }

    /// Takes a body off the buffer, and the headers before it.
    fn cut_body(&mut self, start: usize, end: usize) -> BytesMut {
        (self.body, self.searched) = (None, 0);
        let mut body = self.buffer.split_to(end);
        body.split_off(start)
    }

    /// Tells what is wrong, once for all that is no message in one place.
    fn broken(&mut self, why: &'static str, bytes: BytesMut) -> Option<Frame> {
        (!std::mem::replace(&mut self.lost, true)).then_some(Frame::Broken(why, bytes))
    }
}

/// Where headers end, and where what follows them begins.
fn end_of_headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let strict = memmem::find(bytes, b"\r\n\r\n").map(|at| (at, at + 4));
    let loose = memmem::find(bytes, b"\n\n").map(|at| (at, at + 2));
    match (strict, loose) {
        (Some(strict), Some(loose)) => Some(strict.min(loose)),
        (strict, loose) => strict.or(loose),
    }
}

/// The length that headers give.
fn body_length(headers: &[u8]) -> Result<usize, &'static str> {
    let mut length = None;
    for line in headers.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        let name = line.iter().position(|byte| *byte == b':').and_then(|colon| line.get(..colon));
        let is_name =
            |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        // A header that gives the length begins its line, or what stands before it is none.
        if !name.is_some_and(is_name) || last_header(line).is_some_and(|start| start > 0) {
            return Err("there are bytes between messages");
        }
        if let Some(value) = header_value(line) {
            let digits = std::str::from_utf8(value).ok().map(str::trim).filter(|value| !value.starts_with('+'));
            let value = digits.and_then(|value| value.parse().ok()).filter(|value| *value <= MAX_BODY);
            length = Some(value.ok_or("the length of a message is no number, or too large")?);
        }
    }
    length.ok_or("the length of a message is missing")
}

/// What stands behind the name of the header that gives the length.
fn header_value(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(LENGTH.len())?;
    name.eq_ignore_ascii_case(LENGTH).then_some(value)
}

/// Whether bytes are how the header that gives the length begins.
fn is_begun_header(bytes: &[u8]) -> bool {
    let (name, value) = bytes.split_at(bytes.len().min(LENGTH.len()));
    let is_value = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'\r' | b'\n');
    LENGTH.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name)) && value.iter().all(is_value)
}

/// Where the last of the headers that give a length begins.
fn last_header(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).rev().find(|at| bytes.get(*at..).is_some_and(|rest| header_value(rest).is_some()))
}

/// Where the first headers begin inside a body.
fn headers_within(body: &[u8]) -> Option<usize> {
    let found = |start: &usize| {
        let value = body.get(*start..).and_then(header_value).unwrap_or_default().trim_ascii_start();
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && value.get(digits..).is_some_and(|rest| rest.starts_with(b"\r\n"))
    };
    memmem::find_iter(body, b"ontent-").filter_map(|at| at.checked_sub(1)).find(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All frames of some bytes that come in pieces of a size.
    async fn frames(bytes: &[u8], piece: usize) -> Vec<Frame> {
        let (mut client, server) = tokio::io::duplex(piece);
        let bytes = bytes.to_owned();
        tokio::spawn(async move {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut client, &bytes).await;
        });
        let mut reader = FrameReader::new(server);
        let mut all = Vec::new();
        while let Some(frame) = reader.next().await {
            all.push(frame);
        }
        all
    }

    fn check(bytes: &str, expected: &[Option<&str>]) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let pieces = if bytes.len() > MAX_HEADERS { [4000, 7001, 1 << 16] } else { [1, 7, 1 << 16] };
        for piece in pieces {
            let all = runtime.block_on(frames(bytes.as_bytes(), piece));
            let shown: Vec<Option<String>> = all
                .into_iter()
                .map(|frame| match frame {
                    Frame::Body(body) => Some(String::from_utf8(body.to_vec()).expect("text")),
                    Frame::Broken(..) => None,
                })
                .collect();
            let shown: Vec<Option<&str>> = shown.iter().map(Option::as_deref).collect();
            assert_eq!(shown, expected, "{bytes:?} in pieces of {piece}");
        }
    }

    #[test]
    fn whole_messages_come_as_they_are() {
        check(
            "Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x; y=z\r\n\r\n[1]",
            &[Some("{}"), Some("[1]")],
        );
        check("Content-Length: 0\r\n\r\nContent-Length: 2\n\n{}", &[Some(""), Some("{}")]);
        check("Content-Length: 9\r\n\r\n{}", &[]);
    }

    #[test]
    fn a_wrong_length_costs_one_message() {
        // Missing, no number, far too large.
        check("Content-Type: x\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        check("Content-Length: two\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        check("Content-Length: -2\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        check("Content-Length: 99999999999999999999\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        // Too large: the next headers end it.
        check("Content-Length: 30\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        check("Content-Length: 4000000\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        // Headers that end in no empty line are the rest of a message.
        check("Content-Length: 2\r\n:5}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        check("Content-Length: 2\r\nX: 5}Content-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
        // Too small: the rest is skipped.
        check("Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n[]", &[Some("{"), None, Some("[]")]);
    }

    #[test]
    fn noise_is_told_once() {
        let noise = format!("{}\r\n\r\n", "noise ".repeat(20_000));
        check(&format!("{noise}{noise}Content-Length: 2\r\n\r\n[]"), &[None, Some("[]")]);
        check("GET / HTTP/1.1\r\nHost: x\r\n\r\nContent-Length: 2\r\n\r\n[]", &[None, Some("[]")]);
    }

    #[test]
    fn headers_in_a_text_are_text() {
        let body = r#"{"text":"Content-Length: 2\r\n\r\n{}"}"#;
        check(&format!("Content-Length: {}\r\n\r\n{body}", body.len()), &[Some(body)]);
    }
}
