//! Semantic tokens: what each word of a text is, for an editor to paint.

mod ttgir;
mod values;

pub(super) use ttgir::of_effect;
pub use ttgir::tokens;

use base::TextRange;

/// A word and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticToken {
    /// Where it stands; never over the end of a line.
    pub range: TextRange,
    /// What it is.
    pub kind: SemanticKind,
    /// What else is known of it, as bits of [`Modifiers`].
    pub modifiers: Modifiers,
}

/// Makes an enum and the list of its names in the order of their numbers.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal),* $(,)?) => {
        /// What a word is, by the names of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SemanticKind { $($(#[$doc])* $kind,)* }

        impl SemanticKind {
            /// The names of all kinds, in the order of their numbers.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The number of the kind.
            pub fn number(self) -> u32 {
                self as u32
            }
        }
    };
}

kinds! {
    /// A module of Python.
    Namespace = "namespace",
    /// A type: of a value of TTGIR, an element type in Python.
    Type = "type",
    /// A class, such as a layout.
    Class = "class",
    /// A parameter, or the argument of a block.
    Parameter = "parameter",
    /// A variable, or a result.
    Variable = "variable",
    /// The name of an attribute or field.
    Property = "property",
    /// A word that an attribute is.
    EnumMember = "enumMember",
    /// A function.
    Function = "function",
    /// An op.
    Method = "method",
    /// An attribute of a dialect, or an alias of one.
    Macro = "macro",
    /// A keyword.
    Keyword = "keyword",
    /// A comment.
    Comment = "comment",
    /// A string.
    Str = "string",
    /// A number.
    Number = "number",
    /// The label of a block.
    Label = "label",
}

/// What else is known of a word, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers(pub u32);

/// Makes a constant of each bit and the list of their names.
macro_rules! modifiers {
    ($($(#[$doc:meta])* $name:ident = $bit:literal $text:literal),* $(,)?) => {
        impl Modifiers {
            /// The names of all modifiers, in the order of their bits.
            pub const NAMES: &'static [&'static str] = &[$($text),*];
            $($(#[$doc])* pub const $name: Modifiers = Modifiers(1 << $bit);)*
        }
    };
}

modifiers! {
    /// It is defined here.
    DECLARATION = 0 "declaration",
    /// It never changes.
    READONLY = 1 "readonly",
    /// It goes on after the program has gone on.
    ASYNC = 2 "async",
    /// This release does not have it any more.
    DEPRECATED = 3 "deprecated",
    /// Triton brings it along.
    LIBRARY = 4 "defaultLibrary",
    /// A barrier, or an op that does something with one.
    BARRIER = 5 "barrier",
    /// Shared or tensor memory, or an op that touches it.
    MEMORY = 6 "memory",
    /// A tensor descriptor.
    DESCRIPTOR = 7 "descriptor",
    /// A constant of the compilation.
    CONSTEXPR = 8 "constexpr",
    /// A kernel.
    KERNEL = 9 "kernel",
    /// Of the dialect `tt`.
    TT = 10 "tt",
    /// Of the dialect `ttg`.
    TTG = 11 "ttg",
    /// Of the dialect `ttng`.
    TTNG = 12 "ttng",
    /// Of the dialect `nvws`.
    NVWS = 13 "nvws",
    /// Of the dialect `amdg`.
    AMDG = 14 "amdg",
    /// Of the dialects `arith` and `math`.
    ARITH = 15 "arith",
    /// Of the dialects `scf`, `cf` and `ub`.
    CONTROL = 16 "control",
}

impl Modifiers {
    /// No modifier.
    pub const NONE: Modifiers = Modifiers(0);

    /// These and those.
    #[must_use]
    pub fn and(self, other: Modifiers) -> Modifiers {
        Modifiers(self.0 | other.0)
    }

    /// These, if a condition holds.
    #[must_use]
    pub fn when(self, holds: bool) -> Modifiers {
        if holds { self } else { Modifiers::NONE }
    }

    /// Whether all of these are among them.
    pub fn has(self, other: Modifiers) -> bool {
        self.0 & other.0 == other.0
    }
}
