//! Interned types: one entry a spelling, with a canonical spelling to compare by.

use super::ids::{AttrId, Sym, TypeId};
use super::names::Names;

/// All types of a tree.
#[derive(Clone, Default, Debug)]
pub(super) struct Types {
    texts: Names,
    /// The entry whose text is this one's with aliases expanded and white space gone.
    canon: Vec<TypeId>,
    /// The layout of a canonical shaped type, as an attribute of its own.
    encoding: Vec<Option<AttrId>>,
    /// Whether the spelling was read and has no mistake; each use of another one has to be read.
    sound: Vec<bool>,
}

impl Types {
    /// The entry of an exact spelling.
    pub(crate) fn find(&self, text: &str) -> Option<TypeId> {
        self.texts.find(text).map(|sym| TypeId(sym.0))
    }

    /// Adds a spelling; `canonical` is its canonical one.
    pub(crate) fn intern(&mut self, text: &str, canonical: &str) -> TypeId {
        if let Some(id) = self.find(text) {
            return id;
        }
        let id = TypeId(self.texts.intern(text).0);
        self.canon.push(id);
        self.encoding.push(None);
        self.sound.push(false);
        if canonical != text {
            let canon = self.intern(canonical, canonical);
            self.canon[id.index()] = canon;
        }
        id
    }

    /// The canonical entry.
    pub(crate) fn canon(&self, id: TypeId) -> TypeId {
        self.canon.get(id.index()).copied().unwrap_or(id)
    }

    /// The entry of a spelling that is known to be without mistake.
    pub(crate) fn find_sound(&self, text: &str) -> Option<TypeId> {
        self.find(text).filter(|id| self.sound.get(id.index()) == Some(&true))
    }

    /// Remembers whether a spelling that was read has no mistake.
    pub(crate) fn set_sound(&mut self, id: TypeId, sound: bool) {
        if let Some(slot) = self.sound.get_mut(id.index()) {
            *slot = sound;
        }
    }

    /// Remembers the layout of a canonical type.
    pub(crate) fn set_encoding(&mut self, id: TypeId, attr: AttrId) {
        if let Some(slot) = self.encoding.get_mut(id.index()) {
            *slot = Some(attr);
        }
    }

    /// The layout of a type.
    pub(crate) fn encoding(&self, id: TypeId) -> Option<AttrId> {
        self.encoding.get(self.canon(id).index()).copied().flatten()
    }

    /// The spelling of an interned type.
    pub(crate) fn text(&self, id: TypeId) -> &str {
        self.texts.get(Sym(id.0))
    }
}
