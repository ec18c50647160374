//! Sentences as fragments: a name in one is known to be a name until the text is rendered, in the language and with
//! the names of the file that the user has open.
//!
//! [`message!`](crate::message) makes one from a template. Each pair of braces is a part, in order, and what stands in
//! it is for the reader; but an op's full name in braces is that op, and `{:}` or `{;}` is where the reasons of a sentence
//! begin:
//!
//! ```
//! use base::{Message, message};
//! let who = Message::partition("partition0");
//! let wait = message!("{who} never passes `{ttng.wait_barrier}`{:}nobody arrives on `{barrier}`", who, Message::value("%full"));
//! assert_eq!(wait.to_string(), "partition0 never passes `ttng.wait_barrier`: nobody arrives on `%full`");
//! assert_eq!(wait.claim().to_string(), "partition0 never passes `ttng.wait_barrier`");
//! ```

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write};

/// What the parts of a kernel are called in a language; the provided methods keep the names of the IR.
pub trait Names {
    /// A value or buffer, by its name in the IR: `%full`; one that has none there (`buffer 3`) is given without `%`.
    fn value<'a>(&'a self, ir: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(ir)
    }

    /// An op, by its full name: `ttng.wait_barrier`.
    fn op<'a>(&'a self, ir: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(ir)
    }

    /// A partition, by its label: `default`, `partition0`.
    fn partition<'a>(&'a self, label: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(label)
    }
}

/// The names of the IR itself.
#[derive(Clone, Copy, Debug)]
pub struct IrNames;

impl Names for IrNames {}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// Words that are the same in every language.
    Text(Cow<'static, str>),
    /// The name of a value or buffer, as the IR has it.
    Value(Box<str>),
    /// The full name of an op.
    Op(Cow<'static, str>),
    /// The label of a partition.
    Partition(Box<str>),
    /// A number.
    Number(i64),
    /// What parts a sentence from the reason behind it: `: ` or `; `.
    Because(&'static str),
}

/// A sentence, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message(Vec<Fragment>);

impl Message {
    /// The name of a value or buffer of the IR.
    pub fn value(name: impl Into<Box<str>>) -> Message {
        Message(vec![Fragment::Value(name.into())])
    }

    /// The full name of an op.
    pub fn op(name: impl Into<Cow<'static, str>>) -> Message {
        Message(vec![Fragment::Op(name.into())])
    }

    /// The label of a partition.
    pub fn partition(label: impl Into<Box<str>>) -> Message {
        Message(vec![Fragment::Partition(label.into())])
    }

    /// Fills a template; use [`message!`](crate::message).
    pub fn fill(template: &'static str, parts: &[&dyn MessagePart]) -> Message {
        let mut message = Message(Vec::with_capacity(2 * parts.len() + 1));
        let (mut rest, mut parts) = (template, parts.iter());
        while let Some((before, (hole, after))) =
            rest.split_once('{').and_then(|(at, all)| Some((at, all.split_once('}')?)))
        {
            before.append_to(&mut message);
            match hole {
                ":" => message.0.push(Fragment::Because(": ")),
                ";" => message.0.push(Fragment::Because("; ")),
                op if op.contains('.') => message.0.push(Fragment::Op(Cow::Borrowed(op))),
                _ => {
                    let part = parts.next();
                    debug_assert!(part.is_some(), "too few parts: {template}");
                    part.iter().for_each(|part| part.append_to(&mut message));
                }
            }
            rest = after;
        }
        debug_assert!(parts.next().is_none(), "too many parts: {template}");
        rest.append_to(&mut message);
        message
    }

    /// Several messages in a row.
    pub fn join(parts: impl IntoIterator<Item = Message>, between: &'static str) -> Message {
        let mut joined = Message::default();
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                between.append_to(&mut joined);
            }
            joined.0.extend(part.0);
        }
        joined
    }

    /// Puts something behind it.
    #[must_use]
    pub fn and(mut self, part: impl MessagePart) -> Message {
        part.append_to(&mut self);
        self
    }

    /// The sentence without its reasons.
    #[must_use]
    pub fn claim(&self) -> Message {
        Message(self.0.iter().take_while(|part| !matches!(part, Fragment::Because(_))).cloned().collect())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its pieces, in order.
    pub fn fragments(&self) -> &[Fragment] {
        &self.0
    }

    /// The text, with these names.
    pub fn render(&self, names: &dyn Names) -> String {
        let mut text = String::with_capacity(16 * self.0.len());
        for fragment in &self.0 {
            match fragment {
                Fragment::Text(words) => text.push_str(words),
                Fragment::Value(name) => text.push_str(&names.value(name)),
                Fragment::Op(name) => text.push_str(&names.op(name)),
                Fragment::Partition(label) => text.push_str(&names.partition(label)),
                Fragment::Because(sign) => text.push_str(sign),
                Fragment::Number(number) => _ = write!(text, "{number}"),
            }
        }
        text
    }
}

/// With the names of the IR.
impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&IrNames))
    }
}

/// What can stand in a message.
pub trait MessagePart {
    /// Adds it to a message.
    fn append_to(&self, message: &mut Message);
}

impl MessagePart for &'static str {
    fn append_to(&self, message: &mut Message) {
        if !self.is_empty() {
            message.0.push(Fragment::Text(Cow::Borrowed(self)));
        }
    }
}

impl MessagePart for String {
    fn append_to(&self, message: &mut Message) {
        message.0.push(Fragment::Text(Cow::Owned(self.clone())));
    }
}

impl MessagePart for Message {
    fn append_to(&self, message: &mut Message) {
        message.0.extend_from_slice(&self.0);
    }
}

impl MessagePart for Option<Message> {
    fn append_to(&self, message: &mut Message) {
        if let Some(part) = self {
            part.append_to(message);
        }
    }
}

impl<P: MessagePart + ?Sized> MessagePart for &P {
    fn append_to(&self, message: &mut Message) {
        (**self).append_to(message);
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl MessagePart for $ty {
            fn append_to(&self, message: &mut Message) {
                message.0.push(match i64::try_from(*self) {
                    Ok(number) => Fragment::Number(number),
                    Err(_) => Fragment::Text(self.to_string().into()),
                });
            }
        }
    )*};
}

numbers! { i64 u64 u32 u16 i32 usize }

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Message {
        Message::default().and(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message(vec![Fragment::Text(Cow::Owned(text))])
    }
}

/// A [`Message`] of a template and its parts: `message!("{who} reads {buffer}", who, buffer)`.
#[macro_export]
macro_rules! message {
    ($template:literal $(, $part:expr)* $(,)?) => {
        $crate::Message::fill($template, &[$(&$part as &dyn $crate::MessagePart),*])
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shouting;

    impl Names for Shouting {
        fn value<'a>(&'a self, ir: &'a str) -> Cow<'a, str> {
            Cow::Owned(ir.trim_start_matches('%').to_uppercase())
        }
    }

    #[test]
    fn names_alone_are_renamed() {
        let slot = message!("{name}[{slot}]", Message::value("%full"), 2u64);
        let text = message!("{who} waits on `{slot}`: 100% of %full", Message::partition("partition0"), slot);
        assert_eq!(text.render(&Shouting), "partition0 waits on `FULL[2]`: 100% of %full");
        assert_eq!(text.to_string(), "partition0 waits on `%full[2]`: 100% of %full");
    }

    #[test]
    fn a_claim_ends_where_its_reasons_begin() {
        let text = message!("it is late{:}nobody came");
        assert_eq!(
            (text.claim().to_string(), text.to_string()),
            ("it is late".into(), "it is late: nobody came".into())
        );
        assert_eq!(Message::from("plain").claim(), Message::from("plain"));
        assert!(Message::join([Message::default(), Message::default()], "").is_empty());
    }
}
