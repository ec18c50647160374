//! A tensor in registers: an element type, a shape, and the bits of its elements in one typed buffer.
//!
//! Elements are kept as bits in the narrowest of four buffers, whatever they mean: moving them needs no more, and
//! arithmetic reads them as what the type says. A buffer of one element stands for as many as the shape has.
//! Deviation: elements of one and of four bits take a byte; `i1` is 0 or 1.

use std::rc::Rc;

use crate::array::ElemType;
pub use crate::array::strides;

/// Sizes, outermost first.
pub type Sizes = Rc<[u64]>;

/// The bits of elements; cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Words of up to eight bits.
    B8(Rc<Vec<u8>>),
    /// Words of sixteen bits.
    B16(Rc<Vec<u16>>),
    /// Words of thirty-two bits.
    B32(Rc<Vec<u32>>),
    /// Words of sixty-four bits.
    B64(Rc<Vec<u64>>),
}

/// An unsigned word that holds an element.
pub trait Word: Copy + Default + PartialEq + std::fmt::Debug + 'static {
    /// How many bytes it has.
    const BYTES: usize;
    /// The buffer around these.
    fn wrap(words: Vec<Self>) -> Data;
    /// The words of a buffer of this width.
    fn of(data: &Data) -> Option<&[Self]>;
    /// From its bytes; missing ones are 0.
    fn read(bytes: &[u8]) -> Self;
    /// Its bytes into a slice of that many.
    fn write(self, bytes: &mut [u8]);
    /// Its bits in the low bits of a wider word.
    fn to_u64(self) -> u64;
    /// The low bits.
    fn from_u64(bits: u64) -> Self;
}

macro_rules! word {
    ($ty:ty, $case:ident) => {
        impl Word for $ty {
            const BYTES: usize = size_of::<$ty>();

            fn wrap(words: Vec<$ty>) -> Data {
                Data::$case(Rc::new(words))
            }

            fn of(data: &Data) -> Option<&[$ty]> {
                match data {
                    Data::$case(words) => Some(words),
                    _ => None,
                }
            }

            #[inline]
            fn read(bytes: &[u8]) -> $ty {
                match bytes.first_chunk() {
                    Some(chunk) => <$ty>::from_le_bytes(*chunk),
                    None => bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte)) as $ty,
                }
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                if let Some(chunk) = bytes.first_chunk_mut() {
                    *chunk = self.to_le_bytes();
                }
            }

            #[inline]
            fn to_u64(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_u64(bits: u64) -> $ty {
                bits as $ty
            }
        }
    };
}

word!(u8, B8);
word!(u16, B16);
word!(u32, B32);
word!(u64, B64);

/// Runs an expression with the words of a buffer, whatever their width.
macro_rules! each {
    ($data:expr, $words:ident => $body:expr) => {
        match $data {
            $crate::tensor::Data::B8($words) => $body,
            $crate::tensor::Data::B16($words) => $body,
            $crate::tensor::Data::B32($words) => $body,
            $crate::tensor::Data::B64($words) => $body,
        }
    };
}
pub(crate) use each;

/// Runs an expression with a word type wide enough for an element type.
macro_rules! with_word {
    ($dtype:expr, $word:ident => $body:expr) => {
        match $dtype.bits() {
            0..=8 => {
                type $word = u8;
                $body
            }
            9..=16 => {
                type $word = u16;
                $body
            }
            17..=32 => {
                type $word = u32;
                $body
            }
            _ => {
                type $word = u64;
                $body
            }
        }
    };
}
pub(crate) use with_word;

/// A tensor, or a scalar as one without dimensions.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorValue {
    dtype: ElemType,
    shape: Sizes,
    data: Data,
}

/// Elements of a shape.
pub fn count(shape: &[u64]) -> usize {
    shape.iter().product::<u64>() as usize
}

impl TensorValue {
    /// Of words that are as many as the shape has elements, or one for all of them; others are made to fit.
    pub fn of<W: Word>(dtype: ElemType, shape: Sizes, mut words: Vec<W>) -> TensorValue {
        let len = count(&shape);
        if words.len() != 1 && words.len() != len {
            words.resize(len, W::default());
        }
        if W::BYTES != dtype.bytes() {
            return with_word!(dtype, V => {
                let words: Vec<V> = words.iter().map(|word| V::from_u64(word.to_u64())).collect();
                TensorValue { dtype, shape, data: V::wrap(words) }
            });
        }
        TensorValue { dtype, shape, data: W::wrap(words) }
    }

    /// The same element everywhere.
    pub fn splat(dtype: ElemType, shape: Sizes, bits: u64) -> TensorValue {
        with_word!(dtype, W => TensorValue::of(dtype, shape, vec![W::from_u64(bits)]))
    }

    /// Of elements' bits.
    pub fn from_bits(dtype: ElemType, shape: Sizes, bits: impl Iterator<Item = u64>) -> TensorValue {
        with_word!(dtype, W => TensorValue::of(dtype, shape, bits.map(W::from_u64).collect()))
    }

    /// The type of its elements.
    pub fn dtype(&self) -> ElemType {
        self.dtype
    }

    /// Sizes, outermost first; none of a scalar.
    pub fn shape(&self) -> &Sizes {
        &self.shape
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        count(&self.shape)
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer: as many words as elements, or one for all.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The words, if they are of this width: as many as elements, or one for all.
    pub fn words<W: Word>(&self) -> Option<&[W]> {
        W::of(&self.data)
    }

    /// Whether one word stands for all elements.
    pub fn is_splat(&self) -> bool {
        each!(&self.data, words => words.len() == 1)
    }

    /// The bits of an element; 0 past the end.
    pub fn bits(&self, at: usize) -> u64 {
        each!(&self.data, words => match words.get(if words.len() == 1 { 0 } else { at }) {
            Some(word) => word.to_u64(),
            None => 0,
        })
    }

    /// An integer element, sign-extended; `i1` is 0 or 1.
    pub fn int_at(&self, at: usize) -> i64 {
        extend(self.dtype, self.bits(at))
    }

    /// All integer elements, sign-extended.
    pub fn ints(&self) -> Vec<i64> {
        (0..self.len()).map(|at| self.int_at(at)).collect()
    }

    /// With a word an element.
    pub fn dense(&self) -> TensorValue {
        let len = self.len();
        if !self.is_splat() || len == 1 {
            return self.clone();
        }
        let data = each!(&self.data, words => Word::wrap(words.first().map_or(Vec::new(), |word| vec![*word; len])));
        TensorValue { dtype: self.dtype, shape: self.shape.clone(), data }
    }

    /// The same bits under another shape of as many elements, or of one word for all.
    pub fn with_shape(&self, shape: Sizes) -> TensorValue {
        if count(&shape) == self.len() || self.is_splat() {
            return TensorValue { dtype: self.dtype, shape, data: self.data.clone() };
        }
        each!(&self.data, words => TensorValue::of(self.dtype, shape, words.to_vec()))
    }

    /// The same bits as another type of the same width.
    pub fn with_dtype(&self, dtype: ElemType) -> TensorValue {
        if dtype.bits() == self.dtype.bits() {
            return TensorValue { dtype, shape: self.shape.clone(), data: self.data.clone() };
        }
        each!(&self.data, words => TensorValue::of(dtype, self.shape.clone(), words.to_vec()))
    }

    /// The elements at these places, as another shape.
    pub fn pick(&self, shape: Sizes, at: impl Iterator<Item = usize>) -> TensorValue {
        if self.is_splat() {
            return TensorValue { dtype: self.dtype, shape, data: self.data.clone() };
        }
        each!(&self.data, words => {
            let picked = at.map(|at| words.get(at).copied().unwrap_or_default()).collect();
            TensorValue::of(self.dtype, shape, picked)
        })
    }
}

/// Writes words as bytes.
pub fn put<W: Word>(words: &[W], bytes: &mut [u8]) {
    for (word, chunk) in words.iter().zip(bytes.chunks_exact_mut(W::BYTES)) {
        word.write(chunk);
    }
}

/// An integer of a type from its bits: sign-extended; `i1` is 0 or 1.
pub fn extend(dtype: ElemType, bits: u64) -> i64 {
    match dtype.bits() {
        1 => (bits & 1) as i64,
        4 => ((bits as i8) << 4 >> 4).into(),
        8 => (bits as i8).into(),
        16 => (bits as i16).into(),
        32 => (bits as i32).into(),
        _ => bits as i64,
    }
}
