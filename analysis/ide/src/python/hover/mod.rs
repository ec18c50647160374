//! What stands at a place of a Python file: a barrier or buffer of a kernel, a builtin, a helper, a layout.
//!
//! What a name means is read off the text and its imports; what it is in a kernel off an elaborated instance, the first
//! of its kernel that reaches the place.

mod builtin;
mod helper;
mod keyword;
mod layout;
mod layout_call;
mod member;
mod numbers;
mod place;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use value::{Found, found};

use super::name_values::Spot;
use super::navigate::about;
use super::word;
use crate::Hover;
use engine::instances::{Elaboration, PythonFile};
use place::{Place, dotted, in_comment};
use python::syntax::Sources;

/// The hover at an offset of a file's text.
pub fn hover(file: &PythonFile, of: Option<&Elaboration>, sources: &dyn Sources, offset: u32) -> Option<Hover> {
    let module = file.module();
    let text = module.text();
    if !file.mentions_kernels() || in_comment(text, offset) {
        return None;
    }
    let instances = of.into_iter().flat_map(|of| &of.kernels).flat_map(|kernel| &kernel.instances);
    let version = instances.map(|known| known.instance.spec.version).next().unwrap_or_default();
    let around = || of.and_then(|of| value::around(of, offset));
    let Some(word) = word(text, offset) else { return around() };
    let place = Place { module, of, sources, offset, word, dotted: dotted(text, word), version };
    let spot = of.map_or(Spot::Other, |of| Spot::at(of, offset));
    let about = about(module, offset, sources);
    let mut hover = member::method(&place, about.as_ref())
        .or_else(|| builtin::hover(&place))
        .or_else(|| numbers::of_parameter(&place))
        .or_else(|| of.and_then(|of| value::of_name(of, &spot, offset)))
        .or_else(|| member::hover(&place, about.as_ref()))
        .or_else(|| helper::hover(&place))
        .or_else(|| layout::of_variable(&place))
        .or_else(|| keyword::hover(&place))
        .or_else(|| keyword::element(&place))?;
    if hover.kernel.is_none() {
        let around = of.and_then(|of| of.kernels.iter().find(|kernel| kernel.entry.range.touches(offset)));
        hover.kernel = around.map(|kernel| module.place(kernel.entry.name_range).0);
    }
    Some(hover)
}
