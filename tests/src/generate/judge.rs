//! What is said of a generated kernel, and what it does on the CPU.

use std::path::PathBuf;
use std::sync::Arc;

use base::{Cancel, Limits};
use engine::Engine;
use engine::instances::{Config, Elaborator, PythonFile};
use findings::{Severity, Verdict};
use python::syntax::NoSources;
use runtime::run::{Instrument, RunEnd};

use super::design::Design;
use super::text::Generated;
use crate::runs::{self, Distance, Runnable};

/// What the analysis says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict's name.
    pub verdict: &'static str,
    /// Findings as bad as a warning, by their kinds; of a kernel that is refused why it is.
    pub found: Vec<String>,
    /// Findings that are hints or information, by their kinds.
    pub hints: Vec<String>,
    /// The IR that was judged.
    pub ir: Option<Arc<str>>,
}

/// What a run on the CPU showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It ends without an assert, and computes what it should with all seeds.
    Right,
    /// A rule was broken, or it hangs, under a seed.
    Asserts(u64, String),
    /// The outputs are others than they should be under a seed.
    Wrong(u64),
    /// It could not be run.
    NotRun(String),
}

/// Judges a kernel as a user's file is judged.
pub fn judge(kernel: &Generated) -> Answer {
    let file = PythonFile::new("generated.py", kernel.text.as_str());
    let none = |verdict: &'static str, why: String| Answer { verdict, found: vec![why], hints: Vec::new(), ir: None };
    let Ok(of) = Elaborator::new(Config::default()).elaborate(&file, &NoSources, &Cancel::never()) else {
        return none("cancelled", "the elaboration was cancelled".to_owned());
    };
    let of = Arc::new(of);
    let Ok(analysis) = Engine::new(Limits::default()).analyse_python(&of, &NoSources, &Cancel::never()) else {
        return none("cancelled", "the analysis was cancelled".to_owned());
    };
    let refused = analysis.problems.iter().filter(|problem| problem.severity <= Severity::Warning);
    let mut found: Vec<String> = refused.map(|problem| problem.message.clone()).collect();
    let Some(report) = analysis.kernels.first() else { return none("none", "there is no kernel".to_owned()) };
    let bad = |severity: Severity| severity <= Severity::Warning;
    let kinds = |wanted: bool| {
        let all = report.findings.iter().filter(move |finding| bad(finding.severity) == wanted);
        all.map(|finding| finding.kind.name().to_owned()).collect::<Vec<_>>()
    };
    found.extend(kinds(true));
    if let Verdict::Undecided(why) = &report.verdict {
        found.extend(why.iter().map(|why| format!("undecided: {why}")));
    }
    let instances = of.kernels.first().map(|kernel| kernel.instances.as_slice()).unwrap_or_default();
    let ir = instances.first().map(|instance| instance.document().shared_text().clone());
    Answer { verdict: report.verdict.name(), found, hints: kinds(false), ir }
}

/// Runs a kernel on the CPU with each of so many seeds.
pub fn ran(design: &Design, kernel: &Generated, ir: &Arc<str>, seeds: u64) -> Seen {
    let launch = runs::read("generated", &kernel.recipe);
    let runnable =
        Runnable { stem: "generated".to_owned(), path: PathBuf::from("generated.ttgir"), text: ir.clone(), launch };
    let want = design.expected(&runs::given(&runnable.launch));
    for seed in 0..seeds {
        let report = runs::run(&runnable, Instrument::ConSan, seed);
        match report.end {
            RunEnd::Passed => {}
            RunEnd::Asserted => {
                let finding = report.kernels.iter().flat_map(|kernel| &kernel.findings).next();
                let why = finding.map_or_else(|| report.elsewhere.join("; "), |finding| finding.kind.name().to_owned());
                return Seen::Asserts(seed, why);
            }
            RunEnd::Hung(waits) => return Seen::Asserts(seed, format!("hangs: {}", waits.join("; "))),
            RunEnd::Failed(why) => return Seen::NotRun(why),
            RunEnd::Cancelled => return Seen::NotRun("cancelled".to_owned()),
            RunEnd::Undecided(why) => return Seen::NotRun(why.join("; ")),
        }
        for (name, want) in &want {
            let Some((_, got)) = report.outputs.iter().find(|(known, _)| known == name) else {
                return Seen::NotRun(format!("{name} is not among the outputs"));
            };
            let allowed = Distance::allowed(got.dtype, got.dtype);
            let apart = runs::compare(&runs::numbers(got), want).relative;
            // NaN is no distance at all.
            if apart.is_nan() || apart > allowed {
                return Seen::Wrong(seed);
            }
        }
    }
    Seen::Right
}
