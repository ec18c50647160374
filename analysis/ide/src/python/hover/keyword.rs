//! Keywords of calls of builtins, and element types.

use gluon::catalog;
use python::syntax::{CurrentTree, path_at, range};
use ruff_python_ast::AnyNodeRef;
use specialize::Imports;

use super::place::Place;
use crate::Hover;
use crate::python::functions::dotted;

/// What parameters of builtins mean that several builtins have.
const MEANINGS: &[(&str, &str)] = &[
    ("mask", "Elements for which it is false are not touched."),
    ("other", "What is given for elements whose mask is false."),
    ("pred", "Whether the operation takes place at all."),
    ("count", "How many arrivals complete a phase, or how many arrive at once."),
    ("batch", "How many barriers are allocated."),
    ("phase", "The parity of the phase that is waited for."),
    ("deps", "Memory that the wait guards: it is kept until then."),
    ("axis", "The dimension that the operation goes along."),
    ("layout", "Which thread holds which element, or where in memory an element lies."),
    ("dtype", "The element type of the result."),
    ("use_acc", "Whether the product is added to what the accumulator holds."),
    ("mbarriers", "Barriers that arrive when the operation is done."),
    ("keep_dims", "Whether the dimension stays, with one element."),
    ("eviction_policy", "Which lines the caches give up first."),
    ("cache_modifier", "Which caches are used."),
    ("sem", "Which accesses of memory are ordered by it."),
    ("scope", "Which threads it is ordered for."),
    ("num_stages", "How many iterations are in flight at once."),
    ("boundary_check", "The dimensions in which the block may reach beyond the tensor."),
    ("padding_option", "What is read beyond the tensor."),
];

/// The hover of a keyword of a builtin's call.
pub(super) fn hover(place: &Place<'_>) -> Option<Hover> {
    let tree = CurrentTree::of(place.module);
    let path = path_at(&tree, place.offset);
    let at = path.iter().rposition(|node| match node {
        AnyNodeRef::Keyword(keyword) => keyword.arg.as_ref().is_some_and(|arg| range(arg) == place.word),
        _ => false,
    })?;
    let call = path.get(..at)?.iter().rev().find_map(|node| match node {
        AnyNodeRef::ExprCall(call) => Some(*call),
        _ => None,
    })?;
    let name = dotted(&call.func)?;
    let full = Imports::of(place.module, place.sources).path(&name)?;
    let builtin = catalog::find(&full, place.version)?;
    let parameter = builtin.params.iter().find(|parameter| parameter.name == place.name())?;
    let title = match parameter.default {
        Some(default) => format!("{}={default}", parameter.name),
        None => parameter.name.to_owned(),
    };
    let meaning = MEANINGS.iter().find(|(name, _)| *name == parameter.name).map(|(_, meaning)| (*meaning).to_owned());
    let words = std::iter::once(format!("A parameter of `{name}`.")).chain(meaning).collect();
    Some(Hover { range: place.word, title, words, ..Hover::default() })
}

/// The hover of an element type: `gl.int64`.
pub(super) fn element(place: &Place<'_>) -> Option<Hover> {
    let dotted = place.dotted.as_deref()?;
    let full = Imports::of(place.module, place.sources).path(dotted)?;
    let builtin = catalog::find(&full, place.version)?;
    if builtin.kind != catalog::BuiltinKind::ElementType {
        return None;
    }
    let name = builtin.name;
    let kind = match name {
        _ if name.starts_with("uint") => "unsigned integers",
        _ if name.starts_with("int") && name != "int1" => "signed integers",
        "int1" => "truth values",
        "bfloat16" => "numbers with an exponent of 8 bits",
        _ if name.starts_with("float") => "floating-point numbers",
        _ => "values",
    };
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let bits = if digits == "1" { "1 bit".to_owned() } else { format!("{digits} bits") };
    let words = vec![format!("An element type: {kind} of {bits}.")];
    Some(Hover { range: place.word, title: dotted.to_owned(), words, ..Hover::default() })
}
