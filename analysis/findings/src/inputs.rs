//! The inputs of a run as people see them.

use base::{Message, message};
use kernel::{InputId, InputKind, Kernel, SourceMap};
use machine::Valuation;

/// The inputs that a person can choose or see, with their values.
pub fn inputs(kernel: &Kernel, map: &SourceMap, valuation: &Valuation) -> Vec<(Message, i64)> {
    // Each CTA has a rank of its own in every run.
    let shown = |kind: InputKind| !matches!(kind, InputKind::Pointer(_) | InputKind::CtaRank);
    // Inputs without a name stand for bounds that the text has as constants.
    let named = kernel.inputs.iter().take(map.inputs.len()).enumerate();
    let inputs = named.filter(|(_, input)| shown(input.kind));
    let mut inputs: Vec<(Message, i64)> = inputs
        .map(|(at, _)| {
            let id = InputId(at as u32);
            (Message::value(map.input(id)), valuation.get(id))
        })
        .collect();
    inputs.extend(valuation.words.iter().map(|word| (place(kernel, map, valuation, word.address), word.value)));
    inputs
}

/// A place of memory by the pointer that leads there.
fn place(kernel: &Kernel, map: &SourceMap, valuation: &Valuation, address: i64) -> Message {
    let pointers = kernel.inputs.iter().enumerate().filter(|(_, input)| matches!(input.kind, InputKind::Pointer(_)));
    let behind = pointers.filter_map(|(at, _)| {
        let id = InputId(at as u32);
        let offset = address.checked_sub(valuation.get(id)).filter(|offset| *offset >= 0)?;
        (at < map.inputs.len()).then_some((offset, id))
    });
    match behind.min() {
        Some((0, id)) => message!("the word at `{pointer}`", Message::value(map.input(id))),
        Some((offset, id)) => {
            message!("the word {offset} bytes behind `{pointer}`", offset, Message::value(map.input(id)))
        }
        None => message!("the word at address {address}", address),
    }
}
