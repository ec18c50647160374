//! Who is told of an analysis while it goes on.

use findings::KernelReport;
use ttgir::SyntaxError;

/// How far what is said of a kernel goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// It was run with few inputs: what is found so is there, and its words may change. Nothing is said of a proof,
    /// of global memory, of other values in place of chosen ones, or of fixes.
    Quick,
    /// All of it.
    Full,
}

/// Which kernel of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelNumber {
    /// The section that it stands in; 0 in Python.
    pub section: usize,
    /// Its number there.
    pub kernel: usize,
}

/// What was found out.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Of one kernel, with ranges from the start of the document's text.
    Kernel {
        /// Which.
        number: KernelNumber,
        /// How far that goes.
        depth: Depth,
        /// It.
        report: &'a KernelReport,
    },
    /// That a section does not parse, with ranges from the start of the document's text.
    Syntax(&'a [SyntaxError]),
}

/// Is told of each kernel as soon as something is known of it, and again when all is.
pub type Listener<'a> = dyn FnMut(Progress<'_>) + Send + 'a;
