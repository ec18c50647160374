//! Names: those of Python for the values of an elaborated instance, and its words in those of Python.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use dialects::OpCode;

/// Which name of the elaborated instance is which of Python.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VariableNames(FxHashMap<String, String>);

impl VariableNames {
    /// Of values as the elaboration named them.
    pub(super) fn new(names: &[(String, Rc<str>)]) -> VariableNames {
        VariableNames(names.iter().map(|(name, python)| (name.clone(), python.to_string())).collect())
    }

    /// The Python name of a value, by its name in the elaborated instance without `%`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// A sentence about an elaborated instance, said of the Python: `value` knows what `%x` is, `partition` what a partition
/// is called.
pub(super) fn say(
    text: &str,
    value: &dyn Fn(&str) -> Option<String>,
    partition: &dyn Fn(usize) -> Option<String>,
) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let sigil = first == '%';
        let body = if sigil { &rest[1..] } else { rest };
        let starts = body.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !starts || is_name(before) {
            out.push(first);
            before = first;
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        }
        let end = body.find(|c| !is_name(c)).unwrap_or(body.len());
        let whole = body.get(..end).unwrap_or("");
        // A full stop ends the sentence, not the name.
        let name = whole.trim_end_matches('.');
        let said = if sigil {
            value(name)
        } else {
            let number = name.strip_prefix("partition").and_then(|number| number.parse().ok());
            number.and_then(partition).or_else(|| python_name(name).map(str::to_owned))
        };
        match said {
            Some(said) => out.push_str(&said),
            None => {
                if sigil {
                    out.push('%');
                }
                out.push_str(name);
            }
        }
        before = name.chars().next_back().unwrap_or(before);
        rest = body.get(name.len()..).unwrap_or("");
    }
    out
}

/// What Python calls an op.
pub(super) fn python_name(op: &str) -> Option<&'static str> {
    OpCode::of_name(op)?.decl().python.map(|python| python.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_speak_python() {
        let value = |name: &str| (name == "full_3").then(|| "full".to_owned());
        let partition = |at: usize| (at == 1).then(|| "mma_partition".to_owned());
        let say = |text: &str| say(text, &value, &partition);
        assert_eq!(say("`%full_3[1]` is %full_3."), "`full[1]` is full.");
        assert_eq!(say("partition1 waits (`ttng.wait_barrier`)"), "mma_partition waits (`mbarrier.wait`)");
        assert_eq!(say("100% of %i % 2, partition12, tt.unknown"), "100% of %i % 2, partition12, tt.unknown");
    }
}
