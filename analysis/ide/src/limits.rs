//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "ide":
    mod names {
        /// Times that what is known of parameters is handed on through calls.
        ROUNDS: usize = 4, Count, Shown;
        /// Imports that lead on to imports, for one name.
        STEPS: u32 = 12, Count, Shown;
        /// Classes in which a field is looked for whose object is not known.
        GUESSES: usize = 8, Count, Shown;
        /// How far one expression leads to another where its class is looked for.
        INFERENCE: u32 = 10, Count, Shown;
        /// How far one expression leads to another where the definition of its type is looked for.
        TYPES: u32 = 8, Count, Shown;
    }

    mod hover {
        /// Names that one expression of Python is followed through.
        NUMBERS: u32 = 12, Count, Shown;
        /// Bytes of a line that is looked through for brackets.
        LINE: usize = 1 << 16, Bytes, Shown;
        /// Rows of one hover; a screen holds no more.
        ROWS: usize = 48, Count, Shown;
    }

    mod completion {
        /// Blocks of a region beyond which only the entry is said to dominate.
        BLOCKS: usize = 256, Count, Shown;
        /// The most items of one answer.
        ITEMS: usize = 256, Count, Said;
    }

    mod cadence {
        /// Times that the phases of one wait are shown.
        TIMES: usize = 8, Count, Shown;
        /// Iterations of a loop that are stepped through for that.
        ITERATIONS: usize = 64, Count, Shown;
        /// Operations that are stepped through for that.
        FUEL: u32 = 100_000, Steps, Shown;
    }

    mod dumps {
        /// Sections of a dump that are read at once; with more each is read as it is asked for.
        EAGER_SECTIONS: usize = 32, Count, Waited;
        /// Sections of a dump that are read for the ops of one line.
        SECTIONS: usize = 16, Count, Shown;
    }

    mod links {
        /// Links of one document.
        MOST: usize = 5_000, Count, Shown;
    }

    mod selection {
        /// Bytes of a header beyond which it is not cut into tokens.
        LONG: u32 = 1 << 16, Bytes, Shown;
    }

    mod tokens {
        /// Views that are followed from a buffer to what it is a view of.
        VIEWS: usize = 16, Count, Shown;
        /// Bytes of text beyond which a whole text is not painted: its parts are, as they are looked at.
        WHOLE: usize = 2 << 20, Bytes, Shown;
    }
}
