//! What stands against chosen values: where it is, and which values it speaks for.

use super::Given;
use super::domain::MOST_SLOTS;
use base::TextRange;
use python::doubt::DoubtKind;
use python::elaborated::Attempt;
use python::origin::FileId;
use python::value::DType;

/// A place at which values are refused, are not followed, or show that others are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub path: String,
    pub range: TextRange,
    pub message: String,
    /// Whether the elaboration ends there.
    pub fatal: bool,
    pub doubt: Option<DoubtKind>,
}

/// All that stands against some values, in the order in which it is to be mended.
pub(super) fn troubles(attempt: &Attempt) -> Vec<Trouble> {
    let path = |file: FileId| attempt.files.get(file.0 as usize).cloned().unwrap_or_default();
    let refused = attempt.problems.iter().filter(|problem| !problem.hint).map(|problem| Trouble {
        path: path(problem.file),
        range: problem.range,
        message: problem.message.clone(),
        fatal: true,
        doubt: None,
    });
    let count = attempt.unmodelled.len();
    let not_followed = attempt.unmodelled.iter().enumerate().map(|(at, (file, range, why))| Trouble {
        path: path(*file),
        range: *range,
        message: why.clone(),
        // What ends the elaboration is said last.
        fatal: !attempt.ended && at + 1 == count && attempt.problems.iter().all(|problem| problem.hint),
        doubt: None,
    });
    // How many CTAs there are is settled before all else.
    let settled = |kind: DoubtKind| matches!(kind, DoubtKind::Ctas(_));
    let doubts = attempt.doubts.iter().filter(|doubt| !settled(doubt.kind)).map(|doubt| Trouble {
        path: path(doubt.file),
        range: doubt.range,
        message: String::new(),
        fatal: false,
        doubt: Some(doubt.kind),
    });
    // What two types lead to is refused later on, and not mended there.
    let (first, doubts): (Vec<Trouble>, Vec<Trouble>) =
        doubts.partition(|trouble| trouble.doubt == Some(DoubtKind::TwoTypes));
    let mut all: Vec<Trouble> = refused.chain(not_followed).collect();
    all.sort_by_key(|trouble| !trouble.fatal);
    all.splice(0..0, first);
    all.extend(doubts);
    all
}

impl Trouble {
    /// Whether it can be what comes behind another one, and no consequence of a worse value.
    pub(super) fn follows(&self, other: &Trouble) -> bool {
        self.path != other.path || self.range != other.range || self.message != other.message
    }

    /// Values that the message speaks for, of those that a parameter may have or that are like what it has now.
    pub(super) fn suggests(&self, now: Option<&Given>, domain: &[Given]) -> Vec<Given> {
        let mut out = Vec::new();
        if self.doubt == Some(DoubtKind::IdleLoop) {
            // More rounds: what is divided larger, what divides smaller.
            out.extend(["1024", "512", "2048", "4096", "32", "16"].map(|text| Given::Value(text.to_owned())));
            // No ring has as many slots as a block has rows.
            out.retain(|_| domain.iter().any(|given| number(given) > Some(MOST_SLOTS)));
            return out;
        }
        if matches!(self.doubt, Some(DoubtKind::NoInteger | DoubtKind::TwoTypes)) {
            let pointer = matches!(now, Some(Given::Type(ty)) if ty.starts_with('*'));
            return if pointer { vec![Given::Type("*i32".to_owned())] } else { Vec::new() };
        }
        if self.doubt == Some(DoubtKind::TooLarge) {
            out.extend(["2", "3", "4", "32", "16"].map(|text| Given::Value(text.to_owned())));
            out.retain(|_| domain.iter().any(|given| number(given).is_some()));
            return out;
        }
        let pointer = matches!(now, Some(Given::Type(ty)) if ty.starts_with('*'));
        let descriptor = match now {
            Some(Given::Type(ty)) => ty.strip_prefix("tensordesc<").and_then(|rest| rest.strip_suffix('>')),
            _ => None,
        };
        for word in self.message.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            let Some(dtype) = DType::named(word) else { continue };
            let name = dtype.name_in_signatures();
            if pointer {
                out.push(Given::Type(format!("*{name}")));
            } else if let Some((_, shape)) = descriptor.and_then(|inner| inner.split_once('[')) {
                out.push(Given::Type(format!("tensordesc<{name}[{shape}>")));
            } else if domain.contains(&Given::Value(name.to_owned())) {
                out.push(Given::Value(name.to_owned()));
            }
        }
        if let Some((element, block)) = descriptor.and_then(|inner| inner.split_once('[')) {
            let rank = block.split(']').next().map_or(0, |block| block.split(',').count());
            for shape in shapes(&self.message) {
                // A block of as many dimensions as it has now, the first of length 1: it is reshaped to what the message says.
                let missing = rank.saturating_sub(shape.split(',').count());
                if missing > 0 {
                    out.push(Given::Type(format!("tensordesc<{element}[{}{shape}]>", "1, ".repeat(missing))));
                }
                out.push(Given::Type(format!("tensordesc<{element}[{shape}]>")));
            }
        }
        if domain.iter().any(|given| number(given).is_some()) && !matches!(now, Some(Given::Type(_))) {
            let numbers = self.message.split(|c: char| !c.is_ascii_digit()).filter_map(|text| text.parse::<u32>().ok());
            out.extend(numbers.filter(|number| *number <= 8192).map(|number| Given::Value(number.to_string())));
        }
        let mut distinct: Vec<Given> = Vec::new();
        for given in out {
            if !distinct.contains(&given) {
                distinct.push(given);
            }
        }
        distinct
    }
}

/// The number that a value is.
fn number(given: &Given) -> Option<i64> {
    match given {
        Given::Value(text) => text.parse().ok(),
        Given::Type(_) => None,
    }
}

/// Lists of numbers in brackets: `128, 64`.
fn shapes(message: &str) -> Vec<String> {
    let mut out = Vec::new();
    for part in message.split('[').skip(1) {
        let Some((inner, _)) = part.split_once(']') else { continue };
        let numbers: Vec<&str> = inner.split(',').map(str::trim).collect();
        if !numbers.is_empty() && numbers.iter().all(|number| number.parse::<u32>().is_ok_and(|size| size > 0)) {
            out.push(numbers.join(", "));
        }
    }
    out
}
