//! What the elaboration of a kernel gives.

use std::rc::Rc;

use base::TextRange;

use crate::doubt::Doubt;
use crate::emit::IrModule;
use crate::interp::Problem;
use crate::origin::FileId;
use crate::origin::Origins;

/// How far an elaboration comes, of which nothing else is wanted: whether chosen values are accepted.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// What Triton would refuse.
    pub problems: Vec<Problem>,
    /// What could not be followed.
    pub unmodelled: Vec<(FileId, TextRange, String)>,
    /// What is accepted, but not what the kernel's author means.
    pub doubts: Vec<Doubt>,
    /// How many statements of the kernel and its helpers were run, each counted once.
    pub reached: usize,
    /// Statements and expressions that were run.
    pub steps: u64,
    /// Whether it came to the end of the kernel.
    pub ended: bool,
    /// The files that were looked at, by [`FileId`].
    pub files: Vec<String>,
}

/// A kernel as it was elaborated.
#[derive(Clone, Debug, Default)]
pub struct Elaborated {
    /// The function's name.
    pub kernel: String,
    /// Its name in the file's source.
    pub name: TextRange,
    /// The module, as it was built; empty where nothing could be made.
    pub module: IrModule,
    /// Whether some op of the module stands for what could not be followed.
    pub has_unmodelled_op: bool,
    /// Its text, with values named after their Python variables.
    pub ir: String,
    /// Where the ops of the text come from.
    pub origins: Origins,
    /// Names of values in the text, without `%`, with the Python names that they were made of.
    pub names: Vec<(String, Rc<str>)>,
    /// The files that were looked at, by [`FileId`]: 0 is the kernel's own.
    pub files: Vec<String>,
    /// Labels of the partitions, in order: the functions that they run.
    pub partitions: Vec<String>,
    /// What Triton would refuse.
    pub problems: Vec<Problem>,
    /// What could not be followed.
    pub unmodelled: Vec<(FileId, TextRange, String)>,
    /// Functions and classes that were run, by where they start in which file: what an edit must touch
    /// to change this kernel, beside the statements of the files themselves.
    pub touched: Vec<(FileId, TextRange)>,
    /// Which of these statements of its own file that are; `None` where it is all of them.
    pub demanded: Option<crate::syntax::Demanded>,
}
