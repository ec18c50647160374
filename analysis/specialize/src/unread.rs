//! Functions that may be kernels and are not read as such: which a directive makes kernels, and what is said of the others.

use super::directive::directives;
use super::entries::Entry;
use super::instance::{SpecNote, SpecNoteKind};
use super::survey::{Func, Kind, Survey};
use super::usage::ParamUse;
use crate::limits::entries::NAMED;
use python::interp::Interp;
use python::specialization::Language;
use python::syntax::Module;

/// Makes kernels of those that a directive stands above, in the order of the text; the others are given back.
pub(super) fn directed(module: &Module, entries: &mut Vec<Entry>, unlaunchable: Vec<Entry>) -> Vec<Entry> {
    let told = |entry: &Entry| !directives(module, entry.range).is_empty();
    let (kernels, others): (Vec<Entry>, Vec<Entry>) = unlaunchable.into_iter().partition(told);
    entries.extend(kernels);
    entries.sort_by_key(|entry| entry.def);
    others
}

/// What is to be said of functions that run in kernels and are not read as kernels: those of `unlaunchable` that take
/// objects, those in strings that are not read, and where no kernel is read, that none is.
pub(super) fn unread(
    module: &Module,
    survey: &Survey<'_>,
    entries: &[Entry],
    unlaunchable: Vec<Entry>,
) -> Vec<SpecNote> {
    let device: Vec<&Func<'_>> =
        survey.functions.iter().filter(|func| func.device() && survey.is_tritons(func)).collect();
    let known = |entry: &&Entry| device.iter().any(|func| func.start() == entry.def);
    // Helpers in Gluon are handed barriers and memory as a matter of course.
    let may_be = |entry: &&Entry| entry.language == Language::Triton && known(entry);
    let objects = unlaunchable.iter().filter(may_be).filter_map(|entry| {
        let of = entry.unlaunchable().filter(|param| param.used == ParamUse::Object)?;
        let message = format!(
            "`{}` is not read as a kernel: it uses `{}` as an object, which no launch gives; a line above it says what \
             it is launched with: `# fencepost: {}=…`",
            entry.name, of.name, of.name
        );
        Some(SpecNote { range: entry.name_range, message, kind: SpecNoteKind::Unread })
    });
    let strange = survey.functions.iter().filter_map(|func| {
        let decorator = func.strange.as_deref().filter(|_| func.kind == Kind::Host)?;
        let name = func.def.name.as_str();
        let message = format!("`{name}` is not read as a kernel: what `@{decorator}` makes of it is not known");
        Some(SpecNote { range: Interp::range(&func.def.name), message, kind: SpecNoteKind::Unread })
    });
    let strings = module.strings().iter().filter_map(|string| {
        let message = format!("the kernel in the string of `{}` is not read: {}", string.name, string.unread?);
        Some(SpecNote { range: string.name_range, message, kind: SpecNoteKind::Unread })
    });
    let mut notes: Vec<SpecNote> = objects.chain(strange).chain(strings).collect();
    if let Some(first) = device.first()
        && device.iter().all(|func| func.kind == Kind::Triton)
        && entries.is_empty()
        && notes.is_empty()
    {
        let names: Vec<String> = device.iter().map(|func| format!("`{}`", func.def.name)).take(NAMED).collect();
        let more = device.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!(
            "no kernel is read here: what no launch can give all to, other functions call or gives something back is looked \
             at where kernels call it ({}{more})",
            names.join(", ")
        );
        notes.push(SpecNote { range: Interp::range(&first.def.name), message, kind: SpecNoteKind::Unread });
    }
    notes
}
