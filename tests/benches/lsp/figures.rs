//! Percentiles and tables.

use std::time::Duration;

use serde_json::{Value, json};

/// Times, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn add(&mut self, time: Option<Duration>) {
        // What did not come in time counts as the longest.
        self.0.push(time.map_or(f64::INFINITY, |time| time.as_secs_f64() * 1e3));
    }

    pub(crate) fn extend(&mut self, other: &Times) {
        self.0.extend(&other.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn percentile(&self, part: f64) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = ((sorted.len() as f64 * part) as usize).min(sorted.len().checked_sub(1)?);
        sorted.get(at).copied()
    }

    pub(crate) fn json(&self) -> Value {
        let at = |part| self.percentile(part).filter(|value| value.is_finite());
        json!({ "n": self.0.len(), "p50_ms": at(0.5), "p95_ms": at(0.95), "max_ms": at(1.0) })
    }
}

/// A time in a column of a table.
pub(crate) fn cell(value: Option<f64>) -> String {
    match value {
        None => format!("{:>8}", "-"),
        Some(value) if value.is_infinite() => format!("{:>8}", "never"),
        Some(value) if value >= 100.0 => format!("{value:>8.0}"),
        Some(value) => format!("{value:>8.1}"),
    }
}

/// How many times as long as the first.
pub(crate) fn ratio(value: Option<f64>, first: Option<f64>) -> String {
    match (value, first) {
        (Some(value), Some(first)) if first > 0.0 && value.is_finite() && first.is_finite() => {
            format!("{:>7.2}×", value / first)
        }
        _ => format!("{:>8}", ""),
    }
}
