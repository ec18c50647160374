//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "ttgir":
    mod edit {
        /// Nodes of earlier texts that a tree carries on; with more it is read anew.
        GARBAGE: usize = 1 << 14, Count, Forgotten;
    }

    mod names {
        /// Errors up to which it is guessed which name was meant.
        GUESSES: usize = 16, Count, Shown;
        /// The longest name that a suggestion is looked for.
        SUGGESTED: usize = 63, Bytes, Shown;
    }

    mod locations {
        /// Steps of a chain of locations; cycles end here.
        STEPS: usize = 256, Count, Shown;
    }

    mod types {
        /// Aliases of one type that are expanded; the rest, and cycles, stay as they are.
        ALIASES: u32 = 256, Count, Undecided;
        /// Longest type text that is looked for as a whole.
        QUICK: usize = 1 << 14, Bytes, Forgotten;
    }

    mod layouts {
        /// Layouts inside of layouts, and aliases of aliases.
        DEPTH: u32 = 8, Count, Shown;
        /// Elements of a layout that are enumerated.
        ELEMENTS: i64 = 1 << 15, Count, Shown;
    }

    mod parse {
        /// How deep regions may nest.
        REGIONS: u32 = 128, Count, Error;
        /// How deep types and attributes may nest.
        NESTING: u32 = 96, Count, Error;
        /// Syntax errors of a module that are listed.
        ERRORS: usize = 500, Count, Shown;
    }

    mod queries {
        /// Operations by which a number is computed for a hover.
        NUMBERS: u32 = 512, Steps, Shown;
        /// Values that are looked at to find the roots of one: enough for any chain of views, and an end
        /// for a chain that is longer than that.
        ROOTS: usize = 4096, Count, Shown;
        /// How deep operands are expanded in words; deeper ones are named.
        EXPRESSIONS: u32 = 4, Count, Shown;
    }
}
