//! The inputs of a run as people see them.

use base::Message;
use kernel::{InputId, InputKind, Kernel, SourceMap};
use machine::Valuation;

/// The inputs that a person can choose or see, with their values.
pub fn inputs(kernel: &Kernel, map: &SourceMap, valuation: &Valuation) -> Vec<(Message, i64)> {
    let shown = |kind: InputKind| !matches!(kind, InputKind::Pointer(_));
    // Inputs without a name stand for bounds that the text has as constants.
    let named = kernel.inputs.iter().take(map.inputs.len()).enumerate();
    let inputs = named.filter(|(_, input)| shown(input.kind));
    inputs
        .map(|(at, _)| {
            let id = InputId(at as u32);
            (Message::value(map.input(id)), valuation.get(id))
        })
        .collect()
}
