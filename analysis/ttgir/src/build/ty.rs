//! Types of values.

use std::fmt;
use std::rc::Rc;

use crate::ty::MemSpace;

/// A layout at the top of the module; prints as `#a0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LayoutAlias(pub(super) u32);

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// An element type or `index`, by its name in the IR: `i32`, `f8E5M2`.
    Scalar(&'static str),
    /// `!tt.ptr<f16>`, by what it points to.
    Pointer(&'static str),
    /// Registers: `tensor<128x64xf16>`.
    Tensor {
        /// Elements along each dimension, outermost first.
        shape: Rc<[i64]>,
        /// A scalar or a pointer.
        element: Rc<Type>,
    },
    /// A buffer: `!ttg.memdesc<128x64xf16, #a0, #ttg.shared_memory, mutable>`.
    MemDesc {
        /// Elements along each dimension, outermost first.
        shape: Rc<[i64]>,
        /// A scalar or a pointer.
        element: Rc<Type>,
        /// How elements lie in it.
        layout: LayoutAlias,
        /// Shared or tensor memory.
        space: MemSpace,
        /// The shape of the allocation that it is a view of.
        alloc_shape: Rc<[i64]>,
    },
    /// `!tt.tensordesc<128x64xf16, #a0>`.
    TensorDesc {
        /// Whether it is one for im2col.
        im2col: bool,
        /// Elements of a block along each dimension, outermost first.
        block: Rc<[i64]>,
        /// The element type, where unsigned ones are told apart: `ui8`.
        element: &'static str,
        /// How a block lies in shared memory, where that was chosen.
        layout: Option<LayoutAlias>,
    },
    /// `!ttg.async.token`.
    Token,
}

impl Type {
    /// `i1`.
    pub const BOOL: Type = Type::Scalar("i1");
    /// `i32`.
    pub const I32: Type = Type::Scalar("i32");

    /// Whether it prints as this text.
    pub(super) fn is_spelled(&self, text: &str) -> bool {
        match self {
            Type::Scalar(name) => *name == text,
            other => other.to_string() == text,
        }
    }

    /// Without the dialect's name, as forms that leave it out print the type of a buffer.
    pub(super) fn stripped(&self) -> String {
        let whole = self.to_string();
        match self {
            Type::MemDesc { .. } => whole.trim_start_matches("!ttg.memdesc").to_owned(),
            _ => whole,
        }
    }
}

impl fmt::Display for LayoutAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#a{}", self.0)
    }
}

/// `64x128x`.
fn sizes(f: &mut fmt::Formatter<'_>, shape: &[i64]) -> fmt::Result {
    shape.iter().try_for_each(|size| write!(f, "{size}x"))
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(name) => f.write_str(name),
            Type::Pointer(to) => write!(f, "!tt.ptr<{to}>"),
            Type::Tensor { shape, element } => {
                f.write_str("tensor<")?;
                sizes(f, shape)?;
                write!(f, "{element}>")
            }
            Type::MemDesc { shape, element, layout, space, alloc_shape } => {
                f.write_str("!ttg.memdesc<")?;
                sizes(f, shape)?;
                let space = if *space == MemSpace::Tensor { "#ttng.tensor_memory" } else { "#ttg.shared_memory" };
                write!(f, "{element}, {layout}, {space}, mutable")?;
                if shape != alloc_shape {
                    let sizes: Vec<String> = alloc_shape.iter().map(i64::to_string).collect();
                    write!(f, ", {}", sizes.join("x"))?;
                }
                f.write_str(">")
            }
            Type::TensorDesc { im2col, block, element, layout } => {
                f.write_str(if *im2col { "!ttng.tensordesc_im2col<" } else { "!tt.tensordesc<" })?;
                sizes(f, block)?;
                match layout {
                    Some(layout) => write!(f, "{element}, {layout}>"),
                    None => write!(f, "{element}>"),
                }
            }
            Type::Token => f.write_str("!ttg.async.token"),
        }
    }
}
