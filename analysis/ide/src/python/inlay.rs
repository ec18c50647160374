//! Hints behind the calls of a Python file that wait, arrive or expect: slot, phase and bytes.

use crate::{Inlay, friendly, inlay_of};
use base::TextRange;
use engine::instances::{ElaboratedInstance, Elaboration};
use ttgir::OpId;
use ttgir::queries::spot::walk;

/// What one place may say in different iterations or instances.
const WAYS: usize = 3;

/// The hints of a range of a file: those of each kernel's first instance that was elaborated.
pub fn inlays(of: &Elaboration, range: TextRange) -> Vec<Inlay> {
    let mut found: Vec<(TextRange, Vec<String>)> = Vec::new();
    for kernel in &of.kernels {
        let known = kernel.instances.iter().find(|known| known.tree().is_some_and(|tree| !tree.top().is_empty()));
        if let Some(elaborated) = known {
            collect(elaborated, range, &mut found);
        }
    }
    found.sort_by_key(|(place, _)| (place.end, place.start));
    let text = of.module.text();
    let hint = |(place, said): (TextRange, Vec<String>)| {
        let more = if said.len() > WAYS { " | …" } else { "" };
        let label = said.iter().take(WAYS).cloned().collect::<Vec<_>>().join(" | ") + more;
        let written = place.of(text);
        (!is_written(written, &label)).then_some(Inlay { offset: place.end, label })
    };
    found.into_iter().filter_map(hint).collect()
}

fn collect(elaborated: &ElaboratedInstance, range: TextRange, found: &mut Vec<(TextRange, Vec<String>)>) {
    let Some(tree) = elaborated.tree() else { return };
    let mut ops: Vec<OpId> = Vec::new();
    walk(tree, tree.top(), &mut |op| {
        if tree.code(op).is_some_and(|code| code.decl().barrier.is_some()) {
            ops.push(op);
        }
    });
    for op in ops {
        let place = elaborated.place(tree.op_name_range(op));
        // What stands in another file is no hint of the call that leads there.
        let inside = range.start <= place.range.end && place.range.end <= range.end;
        if place.stale || place.source.is_some() || !inside {
            continue;
        }
        let Some(label) = inlay_of(tree, op).map(|label| friendly(&elaborated.say(&label))) else { continue };
        match found.iter_mut().find(|(known, _)| *known == place.range) {
            Some((_, said)) if said.contains(&label) => {}
            Some((_, said)) => said.push(label),
            None => found.push((place.range, vec![label])),
        }
    }
}

/// Whether a call says the same by itself: every part of the label stands in it, but for blanks and brackets around it.
fn is_written(call: &str, label: &str) -> bool {
    let bare = |text: &str| text.replace("//", "/").replace(char::is_whitespace, "");
    let call = bare(call);
    label.split(", ").all(|part| {
        let value = part.strip_prefix("slot ").or_else(|| part.strip_prefix("phase ")).unwrap_or(part);
        let value = bare(value);
        // A single number may be a part of another one.
        value.len() > 1 && call.contains(&value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_not_said_again() {
        assert!(is_written("mbarrier.wait(ready.index(i % 2), (i // 2) & 1)", "slot i % 2, phase (i / 2) & 1"));
        assert!(!is_written("mbarrier.wait(ready.index(slot), phase)", "slot i % 2, phase (i / 2) & 1"));
        assert!(!is_written("mbarrier.wait(bar, 0)", "phase 0"));
    }
}
