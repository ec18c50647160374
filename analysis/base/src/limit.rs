//! A limit as data, so that all of them can be listed: what it bounds, by how much, and what happens when it is met.
//!
//! A crate declares its limits in its `limits.rs`, by [`limits!`](crate::limits!): each is a constant that the code uses,
//! and a row of the crate's `LIMITS` that `fencepost limits` prints. There is no second list.

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part of the program that keeps it.
    pub area: &'static str,
    /// What part of that.
    pub group: &'static str,
    /// The constant's name.
    pub constant: &'static str,
    /// What it bounds, as a phrase or sentences.
    pub what: &'static str,
    /// How much that is, where nobody sets it.
    pub default: u64,
    /// Of what.
    pub unit: Unit,
    /// What happens when it is met.
    pub met: Met,
    /// The key in `fencepost.toml` that sets it.
    pub setting: Option<&'static str>,
}

impl Limit {
    /// Its name, for instance `python.values.nesting`.
    pub fn name(&self) -> String {
        format!("{}.{}.{}", self.area, self.group, self.constant.to_ascii_lowercase().replace('_', "-"))
    }

    /// The default with its unit, for instance `64 MiB`.
    pub fn amount(&self) -> String {
        match self.unit {
            Unit::Bytes => bytes(self.default),
            Unit::Time if self.default.is_multiple_of(1000) => format!("{} s", self.default / 1000),
            Unit::Time => format!("{} ms", self.default),
            Unit::Steps => format!("{} steps", grouped(self.default)),
            Unit::Count => grouped(self.default),
        }
    }
}

/// What a limit is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a text, a file, a message or memory.
    Bytes,
    /// Milliseconds.
    Time,
    /// Steps of a machine, an interpreter or a solver: no clock has a part in them.
    Steps,
    /// Things that are counted: files, values, levels.
    Count,
}

impl Unit {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Time => "milliseconds",
            Unit::Steps => "steps",
            Unit::Count => "count",
        }
    }
}

/// What happens when a limit is met. In no case is a kernel called clean for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Met {
    /// The kernel is `undecided`, unless something was found, and the reason says so.
    Undecided,
    /// A proof is given up; runs decide, and the verdict is `clean` at best.
    NotProved,
    /// Something is left out, which is counted or said.
    Said,
    /// Fewer values, launches or ways are known of a kernel than the text may hold; what is taken instead is said.
    Assumed,
    /// An error in the text, at its place.
    Error,
    /// A file, a text or a message is refused, with a message.
    Refused,
    /// A file is not looked at beside the one that is asked about.
    Skipped,
    /// A text, a run or a list that is shown is less short or less complete; verdicts stay.
    Shown,
    /// No fix is offered.
    NoFix,
    /// What was kept is computed anew when it is asked for.
    Forgotten,
    /// It is waited for no longer: an answer comes without it, or later.
    Waited,
    /// The run or the process ends, which is said.
    Ended,
    /// A run may miss what it is about; a run is no proof, and decides no verdict.
    Missed,
}

impl Met {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Met::Undecided => "undecided",
            Met::NotProved => "not-proved",
            Met::Said => "said",
            Met::Assumed => "assumed",
            Met::Error => "error",
            Met::Refused => "refused",
            Met::Skipped => "skipped",
            Met::Shown => "shown",
            Met::NoFix => "no-fix",
            Met::Forgotten => "forgotten",
            Met::Waited => "waited",
            Met::Ended => "ended",
            Met::Missed => "missed",
        }
    }

    /// What it means, as a sentence without an end.
    pub fn sentence(self) -> &'static str {
        match self {
            Met::Undecided => "The kernel is `undecided` unless something was found, and the reason is said",
            Met::NotProved => "A proof is given up; runs decide, and the verdict is `clean` at best",
            Met::Said => "What is left out is counted or said beside the verdict",
            Met::Assumed => "Values are taken that the text does not give, and said to be so",
            Met::Error => "An error in the text, at its place; the exit code is 2",
            Met::Refused => "The file, value or message is refused with a message; never read in part",
            Met::Skipped => "The file is not looked at beside the one that is asked about",
            Met::Shown => "What is shown is less short or less complete; verdicts stay",
            Met::NoFix => "No fix is offered; the finding stays",
            Met::Forgotten => "What was kept is computed anew when it is asked for",
            Met::Waited => "It is waited for no longer: the answer comes without it, or later",
            Met::Ended => "The run or the process is ended, which is said",
            Met::Missed => "A run may miss what it is about; a run proves nothing",
        }
    }

    /// All of them.
    pub const ALL: [Met; 13] = [
        Met::Undecided,
        Met::NotProved,
        Met::Said,
        Met::Assumed,
        Met::Error,
        Met::Refused,
        Met::Skipped,
        Met::Shown,
        Met::NoFix,
        Met::Forgotten,
        Met::Waited,
        Met::Ended,
        Met::Missed,
    ];
}

/// Bytes in the largest unit that they fill.
fn bytes(count: u64) -> String {
    let scales = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match scales.iter().find(|(shift, _)| count >= 1 << shift) {
        Some((shift, name)) if count.is_multiple_of(1 << shift) => format!("{} {name}", count >> shift),
        _ if count == u64::from(u32::MAX) => "4 GiB".to_owned(),
        _ => format!("{} bytes", grouped(count)),
    }
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Declares the limits of a crate: modules of constants, and `LIMITS`, which lists them.
///
/// ```
/// base::limits! { "python":
///     mod values {
///         /// How deep values may hold each other.
///         NESTING: u32 = 64, Count, Undecided;
///     }
/// }
///
/// fn main() {
///     assert_eq!(values::NESTING, 64);
///     assert_eq!((LIMITS[0].name().as_str(), LIMITS[0].default), ("python.values.nesting", 64));
/// }
/// ```
#[macro_export]
macro_rules! limits {
    ($area:literal: $(mod $group:ident {
        $($(#[doc = $what:literal])+ $name:ident: $ty:ty = $value:expr, $unit:ident, $met:ident $(, $setting:literal)?;)*
    })*) => {
        $(pub(crate) mod $group {
            #[allow(unused_imports, reason = "types of some constants")]
            use super::*;

            $($(#[doc = $what])+ pub(crate) const $name: $ty = $value;)*
        })*

        /// The limits of this crate, in the order of their declaration.
        pub const LIMITS: &[$crate::limit::Limit] = &[$($($crate::limit::Limit {
            area: $area,
            group: stringify!($group),
            constant: stringify!($name),
            what: concat!($($what),+),
            default: $crate::limits!(@amount $unit, $group::$name),
            unit: $crate::limit::Unit::$unit,
            met: $crate::limit::Met::$met,
            setting: $crate::limits!(@setting $($setting)?),
        },)*)*];
    };
    (@amount Time, $value:expr) => { $value.as_millis() as u64 };
    (@amount $unit:ident, $value:expr) => { $value as u64 };
    (@setting) => { None };
    (@setting $setting:literal) => { Some($setting) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_said_in_their_largest_unit() {
        let said = |default, unit| {
            let limit = Limit {
                area: "a",
                group: "b",
                constant: "MOST_C",
                what: "",
                default,
                unit,
                met: Met::Said,
                setting: None,
            };
            assert_eq!(limit.name(), "a.b.most-c");
            limit.amount()
        };
        assert_eq!(said(64 << 20, Unit::Bytes), "64 MiB");
        assert_eq!(said(1_500, Unit::Bytes), "1,500 bytes");
        assert_eq!(said(u64::from(u32::MAX), Unit::Bytes), "4 GiB");
        assert_eq!(said(2_000, Unit::Time), "2 s");
        assert_eq!(said(25, Unit::Time), "25 ms");
        assert_eq!(said(1_000_000, Unit::Steps), "1,000,000 steps");
        assert_eq!(said(999, Unit::Count), "999");
    }
}
