//! From broken rules to findings: the words of the sanitizer, and who met whom.

use asserts::{AssertMessage, DeadlockAt, violation_finding};
use base::IrNames;
use findings::{Finding, Kind};
use machine::{Rule, State};

use super::context::Context;

/// What was said, each thing once.
#[derive(Debug, Default)]
pub(super) struct FindingLog {
    found: Vec<(Finding, u64)>,
    inputs: Vec<(String, i64)>,
    /// Asserts, identical ones counted.
    pub(super) asserts: u64,
    /// Where the end of a thread lets a deadlock be noticed.
    pub(super) noticed: Option<DeadlockAt>,
}

impl FindingLog {
    pub(super) fn new(inputs: Vec<(String, i64)>) -> FindingLog {
        FindingLog { inputs, ..FindingLog::default() }
    }

    /// Takes what the machine has found since, and what it keeps for other schedules.
    pub(super) fn record(&mut self, context: &Context<'_>, state: &mut State) {
        for violation in state.take_violations() {
            let message = match (AssertMessage::of(&context.machine, state, &violation), self.noticed) {
                (Some(AssertMessage::Deadlock(_)), Some(at)) => Some(AssertMessage::Deadlock(at)),
                (message, _) => message,
            };
            if message.is_some() || violation.rule == Rule::ArrivedTwice {
                let lowered = &context.made.lowered;
                self.add(violation_finding(lowered, &context.machine, &violation, message.as_ref()).render(&IrNames));
            }
        }
    }

    /// Another finding.
    pub(super) fn add(&mut self, told: Finding) {
        self.asserts += 1;
        // One deadlock has several words, by who comes to notice it.
        let same = |(known, _): &&mut (Finding, u64)| {
            known.kind == told.kind
                && known.sites == told.sites
                && (known.message == told.message || told.kind == Kind::Deadlock)
        };
        match self.found.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => self.found.push((Finding { inputs: self.inputs.clone(), ..told }, 1)),
        }
    }

    /// All findings, by place; one that was met often says how often.
    pub(super) fn findings(self) -> Vec<Finding> {
        let told = self.found.into_iter().map(|(mut finding, count)| {
            if count > 1 {
                finding.message = format!("{} ({count} times)", finding.message);
            }
            finding
        });
        let mut findings: Vec<Finding> = told.collect();
        findings.sort_by_key(|finding| (finding.severity, finding.range));
        findings
    }
}
