//! What the program that runs the kernel tells.

use serde::Deserialize;

/// A line of its standard output.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum DriverEvent {
    /// The versions of Python, Triton and PyTorch.
    Hello { python: String, triton: Option<String>, torch: Option<String>, why: Option<String> },
    /// The device that it runs on.
    Gpu { name: String, kind: String, arch: String, driver: Option<String> },
    /// A stage begins.
    Stage { text: String },
    /// A kernel is compiled.
    Kernel { instrumented: bool },
    /// It came back, or died.
    Launched,
    /// A tensor was read back.
    Output { name: String },
    /// It cannot be run, and why.
    Refused { why: String },
    /// Python raised an exception.
    Failed { kind: String, text: String, trace: String },
    /// The launch is over, and the outputs are read back.
    Done,
}

/// What the driver has said so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DriverState {
    /// What it ran on, name and value.
    pub(crate) on: Vec<(String, String)>,
    /// It said hello.
    pub(crate) greeted: bool,
    /// Its Python has no Triton; the words.
    pub(crate) no_triton: Option<String>,
    /// Why it refused.
    pub(crate) refused: Option<String>,
    /// What Python raised: kind, text, trace.
    pub(crate) failed: Option<(String, String, String)>,
    /// Whether the one kernel of a TTGIR file is instrumented.
    pub(crate) instrumented: Option<bool>,
    /// Tensors that were read back.
    pub(crate) outputs: Vec<String>,
    /// It came to its end.
    pub(crate) done: bool,
    /// Where it was last.
    pub(crate) stage: Option<String>,
}

impl DriverState {
    /// One more line. What is no such line is not for us.
    pub(crate) fn line(&mut self, line: &str) -> Option<String> {
        match serde_json::from_str(line).ok()? {
            DriverEvent::Hello { python, triton, torch, why } => {
                self.greeted = true;
                if triton.is_none() {
                    self.no_triton = Some(why.unwrap_or_default());
                }
                let known = [("Triton", triton), ("Python", Some(python)), ("PyTorch", torch)];
                self.on.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            }
            DriverEvent::Gpu { name, kind, arch, driver } => {
                let arch = if kind == "cuda" { format!("sm_{arch}") } else { arch };
                self.on.push(("GPU".to_owned(), format!("{name} ({arch})")));
                self.on.extend(driver.map(|driver| ("driver".to_owned(), driver)));
            }
            DriverEvent::Stage { text } => {
                self.stage = Some(text.clone());
                return Some(text);
            }
            DriverEvent::Kernel { instrumented } => self.instrumented = Some(instrumented),
            DriverEvent::Launched => {}
            DriverEvent::Output { name } => self.outputs.push(name),
            DriverEvent::Refused { why } => self.refused = Some(why),
            DriverEvent::Failed { kind, text, trace } => self.failed = Some((kind, text, trace)),
            DriverEvent::Done => self.done = true,
        }
        None
    }
}
