//! Kernels that are made at random: pipelines in Gluon that are right by construction, and the same with one slip.
//!
//! A [`Design`] says which partitions there are and what hands which memory to whom. It is written as Python, read as a
//! user's file would be, judged, and run on the CPU ([`judge`]).

mod cursor;
mod judge;
mod product;
mod slip;
mod stream;
mod text;

use base::rng::SplitMix64;

use crate::runs::Numbers;
pub use judge::{Answer, Seen, judge, ran};
pub use slip::{Slip, SlipKind};

/// What a random kernel is made from.
#[derive(Clone, Debug)]
pub enum Design {
    /// Tiles that partitions hand on, each after some arithmetic.
    Stream(stream::Stream),
    /// A matrix product whose operands go through a ring.
    Product(product::Product),
}

/// A kernel as text, and how it is run.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The Python file.
    pub text: String,
    /// The recipe of its launch.
    pub recipe: String,
}

impl Design {
    /// A random one.
    pub fn random(rng: &mut SplitMix64) -> Design {
        if rng.below(5) < 3 {
            Design::Stream(stream::Stream::random(rng))
        } else {
            Design::Product(product::Product::random(rng))
        }
    }

    /// The slips that make it wrong.
    pub fn slips(&self) -> Vec<Slip> {
        match self {
            Design::Stream(stream) => stream.slips(),
            Design::Product(product) => product.slips(),
        }
    }

    /// The kernel, with or without a slip.
    pub fn write(&self, slip: Option<Slip>) -> Generated {
        match self {
            Design::Stream(stream) => stream.write(slip),
            Design::Product(product) => product.write(slip),
        }
    }

    /// What its outputs have to be, by the argument's name.
    pub fn expected(&self, given: &crate::runs::Given) -> Vec<(String, Numbers)> {
        match self {
            Design::Stream(stream) => stream.expected(given),
            Design::Product(product) => vec![("c_desc".to_owned(), product.expected(given))],
        }
    }
}

/// One of some.
fn one_of<T: Copy>(rng: &mut SplitMix64, all: &[T]) -> T {
    all[rng.below(all.len())]
}
