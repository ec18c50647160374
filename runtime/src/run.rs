//! One run of a kernel, whoever executes it: what is asked for, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::run::{MEMORY, OUTPUT, STEPS, TIME};

use base::{Cancel, Cancelled};
use findings::KernelReport;
use kernel::Lowered;

pub use crate::error::RunError;
use crate::launch::LaunchSpec;
use tensors::array::Array;

/// The sanitizer that watches a kernel while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Instrument {
    /// Triton's concurrency sanitizer: shared and tensor memory, barriers.
    #[default]
    ConSan,
    /// Triton's global-memory race sanitizer.
    GSan,
    /// Both.
    Both,
    /// No sanitizer.
    Plain,
}

impl Instrument {
    /// `consan`, `gsan`, `none`: the value of `TRITON_INSTRUMENTATION_MODE`.
    pub fn name(self) -> &'static str {
        match self {
            Instrument::ConSan => "consan",
            Instrument::GSan => "gsan",
            Instrument::Both => "consan and gsan",
            Instrument::Plain => "none",
        }
    }

    /// Whether shared and tensor memory and barriers are watched.
    pub fn has_consan(self) -> bool {
        matches!(self, Instrument::ConSan | Instrument::Both)
    }

    /// Whether global memory is watched.
    pub fn has_gsan(self) -> bool {
        matches!(self, Instrument::GSan | Instrument::Both)
    }
}

/// How much the sanitizer of global memory keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GsanOptions {
    /// Reads of a byte that are kept until it is written, chosen at random where there are more; all without.
    pub read_slots: Option<u32>,
    /// Releases of a thread that can be acquired, the newest; all without.
    pub clock_ring: Option<u32>,
}

/// What may be used up before a run is ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLimits {
    /// Wall-clock time of the kernel and of what launches it.
    pub time: Duration,
    /// Bytes that a child process may write to its outputs; what follows is counted and dropped.
    pub output: u64,
    /// Bytes of memory that the CPU backend may hold.
    pub memory: u64,
    /// Steps of the CPU backend over all programs.
    pub steps: u64,
    /// What the sanitizer of global memory keeps.
    pub gsan: GsanOptions,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        let gsan = GsanOptions::default();
        RunLimits { time: TIME, output: OUTPUT, memory: MEMORY, steps: STEPS, gsan }
    }
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Its text: TTGIR or Python.
    pub text: Arc<str>,
    /// Of a Python file: the TTGIR that Triton compiled of the kernel, with locations, where there is one.
    pub compiled: Option<Arc<str>>,
    /// With which grid and arguments.
    pub launch: LaunchSpec,
    /// The sanitizer that watches it.
    pub instrument: Instrument,
    /// What may be used up.
    pub bounds: RunLimits,
    /// Seed of random inputs: the one that [`crate::launch::fill`] is given. Apart from the other, so that several
    /// schedules can be run on the same inputs.
    pub inputs: u64,
    /// Seed of the schedule.
    pub seed: u64,
}

impl RunRequest {
    /// Whether the text is Python.
    pub fn is_python(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "py")
    }
}

/// The analysis of one kernel, which the findings of a run are compared with.
pub type KernelChecker = Box<dyn FnMut(&Lowered, &Cancel<'_>) -> Result<KernelReport, Cancelled> + Send>;

/// What is said while a run goes on.
#[derive(Clone, PartialEq, Debug)]
pub enum RunEvent {
    /// A stage begins (`compiling gemm`, `program 3 of 16`).
    Stage(String),
    /// So much of the whole is done, from 0 to 1.
    Progress(f32),
}

/// A way to execute kernels.
pub trait RunBackend {
    /// `cpu`, `triton`, `replay`.
    fn name(&self) -> &'static str;

    /// Runs the request. A kernel that asserts, hangs or crashes is a result; an error is that it could not be
    /// run at all.
    ///
    /// # Errors
    ///
    /// Where nothing could be run; the message says what to do about it.
    fn run(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError>;
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunReport {
    /// Name of the backend that ran it.
    pub backend: &'static str,
    /// The sanitizer that watched it.
    pub instrument: Instrument,
    /// What it ran on, name and value: `Triton` `3.9.0`, `GPU` `NVIDIA H200 (sm_90)`, `seed` `0`.
    pub on: Vec<(String, String)>,
    /// How it ended.
    pub end: RunEnd,
    /// What was said of each kernel that ran: one finding an assert, at ranges of the request's text; its
    /// message quotes the sanitizer. Identical asserts are one finding, which says how many there were.
    pub kernels: Vec<KernelReport>,
    /// Asserts whose place is not in the request's text, one sentence each with its `file:line`.
    pub elsewhere: Vec<String>,
    /// What the user should know beside: limits of this version, chosen sizes, mapped paths.
    pub notes: Vec<String>,
    /// Arguments that are tensors, after the run, by name; empty where a backend cannot read them back.
    pub outputs: Vec<(String, Array)>,
    /// What it cost.
    pub cost: RunCost,
}

impl RunReport {
    /// A report that says nothing yet but who ran, and how it ended.
    pub fn new(backend: &'static str, instrument: Instrument, end: RunEnd) -> RunReport {
        RunReport {
            backend,
            instrument,
            on: Vec::new(),
            end,
            kernels: Vec::new(),
            elsewhere: Vec::new(),
            notes: Vec::new(),
            outputs: Vec::new(),
            cost: RunCost::default(),
        }
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub enum RunEnd {
    /// To its end, without an assert.
    Passed,
    /// The sanitizer or the kernel asserted.
    Asserted,
    /// It did not end within its time; which waits are stuck, one sentence each, where that is known.
    Hung(Vec<String>),
    /// It failed for another reason (Python's or the driver's words).
    Failed(String),
    /// It was cancelled.
    Cancelled,
    /// It ran, and what it says is no verdict, for these reasons (an op that is not followed).
    Undecided(Vec<String>),
}

/// What is said of a thread that a run was ended in while it ran, and waited at no barrier.
pub const SPINS: &str = "goes round";

/// What is said of an op that asks for a word of global memory for ever.
pub const ASKS: &str = "is asked for ever for a word that nobody changes any more";

/// What watching global memory took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GsanCost {
    /// Bytes of global memory in pages of which something was touched.
    pub covered: u64,
    /// Bytes of shadow memory for these.
    pub shadow: u64,
    /// Bytes of accesses and sets of them.
    pub clocks: u64,
}

/// What a run cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunCost {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Steps of the CPU backend, 0 of others.
    pub steps: u64,
    /// Most bytes held at a time, 0 where unknown.
    pub memory: u64,
    /// What watching global memory on the CPU took.
    pub gsan: Option<GsanCost>,
}
