//! What a random kernel is made from.

use base::rng::SplitMix64;

use super::cluster::Cluster;
use super::groups::Groups;
use super::handover::Handover;
use super::product::Product;
use super::slip::Slip;
use super::stream::Stream;
use super::text::Generated;
use crate::runs::{Given, Numbers};

/// A design of any kind.
#[derive(Clone, Debug)]
pub enum Design {
    /// Tiles that partitions hand on, each after some arithmetic.
    Stream(Stream),
    /// A matrix product whose operands go through a ring.
    Product(Product),
    /// Tiles that are copied ahead and counted.
    Groups(Groups),
    /// Products whose accumulators are handed on.
    Handover(Handover),
    /// Work of a cluster.
    Cluster(Cluster),
}

impl Design {
    /// A random one.
    pub fn random(rng: &mut SplitMix64) -> Design {
        match rng.below(8) {
            0..=2 => Design::Stream(Stream::random(rng)),
            3 | 4 => Design::Product(Product::random(rng)),
            5 => Design::Groups(Groups::random(rng)),
            6 => Design::Handover(Handover::random(rng)),
            _ => Design::Cluster(Cluster::random(rng)),
        }
    }

    /// What sort of design it is.
    pub fn sort(&self) -> &'static str {
        match self {
            Design::Stream(_) => "stream",
            Design::Product(_) => "product",
            Design::Groups(groups) => groups.sort(),
            Design::Handover(_) => "handover",
            Design::Cluster(cluster) => cluster.sort(),
        }
    }

    /// Whether the CPU can run it.
    pub fn is_run(&self) -> bool {
        !matches!(self, Design::Cluster(cluster) if !cluster.is_run())
    }

    /// The slips that make it wrong.
    pub fn slips(&self) -> Vec<Slip> {
        match self {
            Design::Stream(stream) => stream.slips(),
            Design::Product(product) => product.slips(),
            Design::Groups(groups) => groups.slips(),
            Design::Handover(handover) => handover.slips(),
            Design::Cluster(cluster) => cluster.slips(),
        }
    }

    /// The kernel, with or without a slip.
    pub fn write(&self, slip: Option<Slip>) -> Generated {
        match self {
            Design::Stream(stream) => stream.write(slip),
            Design::Product(product) => product.write(slip),
            Design::Groups(groups) => groups.write(slip),
            Design::Handover(handover) => handover.write(slip),
            Design::Cluster(cluster) => cluster.write(slip),
        }
    }

    /// What its outputs have to be, by the argument's name.
    pub fn expected(&self, given: &Given) -> Vec<(String, Numbers)> {
        match self {
            Design::Stream(stream) => stream.expected(given),
            Design::Product(product) => vec![("c_desc".to_owned(), product.expected(given))],
            Design::Groups(groups) => vec![("y".to_owned(), groups.expected(given))],
            Design::Handover(handover) => vec![("c_desc".to_owned(), handover.expected(given))],
            Design::Cluster(cluster) => cluster.expected(given),
        }
    }
}
