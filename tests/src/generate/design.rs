//! What a random kernel is made from.

use base::rng::SplitMix64;

use super::product::Product;
use super::slip::Slip;
use super::stream::Stream;
use super::text::Generated;
use crate::runs::{Given, Numbers};

/// A design of either kind.
#[derive(Clone, Debug)]
pub enum Design {
    /// Tiles that partitions hand on, each after some arithmetic.
    Stream(Stream),
    /// A matrix product whose operands go through a ring.
    Product(Product),
}

impl Design {
    /// A random one.
    pub fn random(rng: &mut SplitMix64) -> Design {
        if rng.below(5) < 3 { Design::Stream(Stream::random(rng)) } else { Design::Product(Product::random(rng)) }
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
    pub fn expected(&self, given: &Given) -> Vec<(String, Numbers)> {
        match self {
            Design::Stream(stream) => stream.expected(given),
            Design::Product(product) => vec![("c_desc".to_owned(), product.expected(given))],
        }
    }
}
