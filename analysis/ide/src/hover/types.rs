//! Types and layouts in plain words.

use super::content::Hover;
use crate::limits::hover::LINE;
use crate::sizes::bytes;
use base::TextRange;
use ttgir::layout::{Described, LayoutSpec, describe, read};
use ttgir::queries::spot::Spot;
use ttgir::{MemSpace, Tree, Ty, TypeId};

/// A memory space in words.
pub(super) fn space_name(space: MemSpace) -> &'static str {
    match space {
        MemSpace::Shared => "shared memory",
        MemSpace::Tensor => "tensor memory",
        MemSpace::SharedCluster => "the cluster's shared memory",
        MemSpace::Other => "memory",
    }
}

/// The hover of the alias, layout or type at a place.
pub(super) fn hover(spot: Spot<'_>) -> Option<Hover> {
    let tree = spot.tree();
    let line = Line::around(tree.text(), spot.offset as usize)?;
    let at = spot.offset as usize - line.start;
    if line.is_comment(at) {
        return None;
    }
    let lift =
        |start: usize, end: usize| spot.lift(TextRange::new((line.start + start) as u32, (line.start + end) as u32));
    let mut around = line.brackets(at);
    if let Some((start, end)) = line.word(at) {
        let word = line.text.get(start..end)?;
        if word.starts_with(['#', '!']) && !word.contains('.') {
            let target = tree.alias_text(word)?;
            if word.starts_with("#loc") && !target.starts_with('#') {
                return None;
            }
            // In a type its shape says how often the layout repeats.
            let shape = around.iter().find_map(|(start, end)| shape_of(tree, line.text.get(*start..*end)?));
            let described = match word.starts_with('#') {
                true => described(tree, target, shape.as_deref())?,
                false => tree.type_spelled(word).map(|ty| value_type(tree, ty))?,
            };
            return Some(made(format!("{word} = {target}"), described, lift(start, end)));
        }
        // The name in front of a bracket counts as inside.
        let open = line.text.as_bytes().get(end) == Some(&b'<');
        if open {
            around = line.brackets(end + 1);
        } else if let Some(described) = plain_word(tree, word) {
            return Some(made(word.to_owned(), described, lift(start, end)));
        }
    }
    around.into_iter().find_map(|(start, end)| {
        let text = line.text.get(start..end)?;
        let described = match text.starts_with('#') {
            true => described(tree, text, None)?,
            false => tree.type_spelled(text).map(|ty| value_type(tree, ty)).filter(|it| !it.words.is_empty())?,
        };
        Some(made(text.to_owned(), described, lift(start, end)))
    })
}

fn made(title: String, described: Described, range: TextRange) -> Hover {
    Hover { range, title, words: described.words, picture: described.picture, ..Hover::default() }
}

fn plain_word(tree: &Tree, word: &str) -> Option<Described> {
    if word.starts_with('#') {
        return described(tree, word, None);
    }
    let words = vec![match word {
        "!ttg.async.token" => "A token of an asynchronous operation: who needs its result depends on it.".to_owned(),
        _ => return None,
    }];
    Some(Described { words, picture: String::new() })
}

/// What a layout's text says.
fn described(tree: &Tree, text: &str, shape: Option<&[i64]>) -> Option<Described> {
    let spec = read(text, &|name| tree.alias_text(name).map(str::to_owned))?;
    Some(layout_of_spec(&spec, shape))
}

/// What a layout says of a tensor or buffer of this shape, whose first dimensions may be slots of a ring.
pub(crate) fn layout_of_spec(spec: &LayoutSpec, shape: Option<&[i64]>) -> Described {
    let rank = match spec.kind.as_str() {
        "ttg.nvmma_shared" | "ttng.tensor_memory_encoding" => 2,
        _ => spec.ints("order").map_or(usize::MAX, |order| order.len()),
    };
    let own = shape.map(|shape| shape.get(shape.len().saturating_sub(rank)..).unwrap_or(shape));
    describe(spec, own)
}

fn shape_of(tree: &Tree, text: &str) -> Option<Vec<i64>> {
    match tree.ty(tree.type_spelled(text)?) {
        Ty::MemDesc { shape, .. } | Ty::Tensor { shape, .. } | Ty::TensorDesc { shape, .. } => Some(shape),
        _ => None,
    }
}

/// What a type says: first what it is, then its layout.
pub(crate) fn value_type(tree: &Tree, ty: TypeId) -> Described {
    let product = |shape: &[i64], bits: u32| {
        let elements = shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size).filter(|_| *size >= 0))?;
        Some(elements.checked_mul(i64::from(bits))? / 8).filter(|size| *size > 0)
    };
    let sized =
        |shape: &[i64], bits: u32| product(shape, bits).map_or_else(String::new, |size| format!(", {}", bytes(size)));
    let dims = |shape: &[i64]| shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    let (what, shape) = match tree.ty(ty) {
        Ty::MemDesc { shape, elem, space, mutable, .. } => {
            let may = if mutable { "may be written" } else { "is only read" };
            let size = sized(&shape, elem.bits);
            (format!("A buffer of {} {} in {}{size}, that {may}.", dims(&shape), elem.name, space_name(space)), shape)
        }
        Ty::Tensor { shape, elem } => (format!("A tensor of {} {} in registers.", dims(&shape), elem.name), shape),
        Ty::TensorDesc { shape, elem } => {
            let size = sized(&shape, elem.bits);
            (format!("A descriptor of a tensor, for blocks of {} {}{size}.", dims(&shape), elem.name), shape)
        }
        Ty::AsyncToken => {
            let what = "A token of an asynchronous operation: who needs its result depends on it.";
            return Described { words: vec![what.to_owned()], picture: String::new() };
        }
        Ty::Ptr => {
            let words = vec!["A pointer to global memory.".to_owned()];
            return Described { words, picture: String::new() };
        }
        Ty::Int(_) | Ty::Index | Ty::Float(_) | Ty::Other => return Described::default(),
    };
    let layout = tree.type_encoding(ty).and_then(|attr| described(tree, tree.attr_text(attr), Some(&shape)));
    let layout = layout.unwrap_or_default();
    let words = std::iter::once(what).chain(layout.words).collect();
    Described { words, picture: layout.picture }
}

/// A line of a text.
struct Line<'t> {
    start: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn around(text: &'t str, offset: usize) -> Option<Line<'t>> {
        let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..)?.split('\n').next()?;
        (line.len() <= LINE).then_some(Line { start, text: line })
    }

    /// Whether a comment begins before a place.
    fn is_comment(&self, at: usize) -> bool {
        self.text
            .find("//")
            .is_some_and(|comment| comment < at && !self.text.get(..comment).is_some_and(|it| it.contains('"')))
    }

    /// The word with its sigil around a place.
    fn word(&self, at: usize) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$#!".contains(byte);
        let start = at - bytes.get(..at)?.iter().rev().take_while(|byte| is_word(byte)).count();
        let end = at + bytes.get(at..)?.iter().take_while(|byte| is_word(byte)).count();
        // `2x#shared` and the like: the word begins with its last sigil.
        let sigil = self.text.get(start..end)?.rfind(['#', '!']).map_or(start, |sigil| start + sigil);
        (sigil < end).then_some((sigil, end))
    }

    /// `name<…>` around a place, the innermost first.
    fn brackets(&self, at: usize) -> Vec<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let (mut open, mut found) = (Vec::new(), Vec::new());
        let mut quoted = false;
        for (here, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'<' => {
                    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$#!".contains(byte);
                    let name =
                        bytes.get(..here).map_or(0, |before| before.iter().rev().take_while(|it| is_name(it)).count());
                    open.push(here - name);
                }
                b'>' if here > 0 && bytes.get(here - 1) == Some(&b'-') => {}
                b'>' => {
                    if let Some(start) = open.pop()
                        && start <= at
                        && at <= here + 1
                    {
                        found.push((start, here + 1));
                    }
                }
                _ => {}
            }
        }
        found
    }
}
