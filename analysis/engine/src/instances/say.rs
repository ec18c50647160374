//! Names: those of Python for the values of an elaborated instance, and its words in those of Python.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use base::renamed;
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
/// is called, and `op` what is called for an op.
pub(super) fn say(
    text: &str,
    value: &dyn Fn(&str) -> Option<String>,
    partition: &dyn Fn(usize) -> Option<String>,
    op: &dyn Fn(&str) -> Option<&'static str>,
) -> String {
    renamed(text, value, &|name| {
        let number = name.strip_prefix("partition").and_then(|number| number.parse().ok());
        number.and_then(partition).or_else(|| op(name).map(str::to_owned))
    })
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
        let say = |text: &str| say(text, &value, &partition, &python_name);
        assert_eq!(say("`%full_3[1]` is %full_3."), "`full[1]` is full.");
        assert_eq!(say("partition1 waits (`ttng.wait_barrier`)"), "mma_partition waits (`mbarrier.wait`)");
        assert_eq!(say("100% of %i % 2, partition12, tt.unknown"), "100% of %i % 2, partition12, tt.unknown");
    }
}
