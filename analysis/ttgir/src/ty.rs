//! What types say.

use super::ids::{AttrId, TypeId, ValueId};
use super::queries::spot::walk;
use super::shape;
use super::tree::Tree;

/// An element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elem {
    /// Its width; 64 for pointers and `index`, 0 where it is unknown.
    pub bits: u32,
    /// As it is written.
    pub name: String,
}

/// Where a buffer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemSpace {
    /// Shared memory of one CTA.
    Shared,
    /// Tensor memory (tcgen05).
    Tensor,
    /// Shared memory of the cluster.
    SharedCluster,
    /// What none of these is.
    Other,
}

/// A type, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `i32` and its like.
    Int(u32),
    /// The type `index`.
    Index,
    /// A floating-point number of this width.
    Float(u32),
    /// A memory descriptor, `!ttg.memdesc<…>`.
    MemDesc {
        /// Sizes of its dimensions, outermost first.
        shape: Vec<i64>,
        /// What it holds.
        elem: Elem,
        /// Its layout, aliases expanded.
        encoding: Option<AttrId>,
        /// Where it lives.
        space: MemSpace,
        /// Whether it may be written.
        mutable: bool,
        /// The shape of the allocation it is a view of, where that is given.
        alloc_shape: Option<Vec<i64>>,
    },
    /// A tensor in registers, `tensor<…>`.
    Tensor {
        /// Sizes of its dimensions, outermost first.
        shape: Vec<i64>,
        /// What it holds.
        elem: Elem,
    },
    /// A pointer, `!tt.ptr<…>`.
    Ptr,
    /// `!tt.tensordesc<…>` in both spellings, and its im2col form.
    TensorDesc {
        /// The shape of a block.
        shape: Vec<i64>,
        /// What it holds.
        elem: Elem,
    },
    /// A token of an asynchronous operation, `!ttg.async.token`.
    AsyncToken,
    /// What none of these is.
    Other,
}

impl Tree {
    /// The type as it is written.
    pub fn type_text(&self, ty: TypeId) -> &str {
        self.store.types.text(ty)
    }

    /// The type that is written so, if a value has it in this spelling: types of earlier texts are still known.
    pub fn type_spelled(&self, text: &str) -> Option<TypeId> {
        let ty = self.store.types.find(text)?;
        let is_its = |value: &ValueId| self.value_type(*value) == Some(ty);
        let mut is_used = false;
        walk(self, self.top(), &mut |op| {
            let arguments = self.regions(op).iter().flat_map(|region| self.blocks(*region));
            let mut arguments = arguments.flat_map(|block| self.block_args(*block));
            is_used = is_used || self.results(op).iter().any(is_its) || arguments.any(is_its);
        });
        is_used.then_some(ty)
    }

    /// The type with aliases expanded and without white space: equal texts are equal types.
    pub fn type_canonical(&self, ty: TypeId) -> &str {
        self.store.types.text(self.store.types.canon(ty))
    }

    /// The layout of a tensor or buffer type.
    pub fn type_encoding(&self, ty: TypeId) -> Option<AttrId> {
        self.store.types.encoding(ty)
    }

    /// The type, read.
    pub fn ty(&self, ty: TypeId) -> Ty {
        let text = self.type_canonical(ty);
        if text == "index" {
            return Ty::Index;
        }
        if let Some(bits) = text.trim_start_matches(['s', 'u']).strip_prefix('i').and_then(|d| d.parse().ok()) {
            return Ty::Int(bits);
        }
        if text == "!ttg.async.token" {
            return Ty::AsyncToken;
        }
        if text.starts_with("!tt.ptr<") {
            return Ty::Ptr;
        }
        if text.starts_with("tensor<") {
            return match shape::shaped(text) {
                Some(s) => Ty::Tensor { shape: shape::dims(s.dims), elem: elem(s.element) },
                None => Ty::Other,
            };
        }
        if let Some(inner) = text.strip_prefix("!tt.tensordesc<") {
            let shaped = if inner.starts_with("tensor<") { shape::shaped(inner) } else { shape::shaped(text) };
            return match shaped {
                Some(s) => Ty::TensorDesc { shape: shape::dims(s.dims), elem: elem(s.element) },
                None => Ty::Other,
            };
        }
        if text.starts_with("!ttng.tensordesc_im2col<") {
            let inner =
                text.find("tensor<").map(|at| &text[at..]).and_then(shape::shaped).or_else(|| shape::shaped(text));
            return match inner {
                Some(s) => Ty::TensorDesc { shape: shape::dims(s.dims), elem: elem(s.element) },
                None => Ty::Other,
            };
        }
        if text.starts_with("!ttg.memdesc<") {
            return self.memdesc(ty, text);
        }
        let bits = elem(text).bits;
        let float = text.starts_with('f') || text.starts_with("bf") || text.starts_with("tf");
        if float && bits > 0 { Ty::Float(bits) } else { Ty::Other }
    }

    fn memdesc(&self, ty: TypeId, text: &str) -> Ty {
        let Some(s) = shape::shaped(text) else { return Ty::Other };
        let rest = shape::parts(s.after.trim_start_matches(','));
        let mut spaces = rest.iter().skip(1).filter_map(|part| match *part {
            "#ttg.shared_memory" => Some(MemSpace::Shared),
            "#ttng.tensor_memory" => Some(MemSpace::Tensor),
            "#ttng.shared_cluster_memory" => Some(MemSpace::SharedCluster),
            _ => None,
        });
        let alloc = rest.iter().skip(2).find(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        Ty::MemDesc {
            shape: shape::dims(s.dims),
            elem: elem(s.element),
            encoding: self.store.types.encoding(ty),
            space: spaces.next().unwrap_or(MemSpace::Other),
            mutable: rest.contains(&"mutable"),
            alloc_shape: alloc.map(|dims| shape::dims(dims)),
        }
    }
}

/// An element type by its text.
fn elem(text: &str) -> Elem {
    let digits = |prefix: &str| {
        let rest = text.strip_prefix(prefix)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse::<u32>().ok()
    };
    let bits = if text == "index" || text.starts_with("!tt.ptr<") || text.starts_with("!llvm.ptr") {
        64
    } else if text == "tf32" {
        32
    } else {
        ["i", "si", "ui", "f", "bf"].into_iter().find_map(digits).unwrap_or(0)
    };
    Elem { bits, name: text.to_owned() }
}
