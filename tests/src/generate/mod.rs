//! Kernels that are made at random: pipelines in Gluon that are right by construction, and the same with one slip.
//!
//! A [`Design`] says which partitions there are and what hands which memory to whom. It is written as Python, read as a
//! user's file would be, judged, and run on the CPU ([`judge`]).

mod choice;
mod cluster;
mod cursor;
mod design;
mod groups;
mod handover;
mod judge;
mod product;
mod slip;
mod stream;
mod text;

pub use cluster::Cluster;
pub use design::Design;
pub use groups::Groups;
pub use handover::Handover;
pub use judge::{Answer, Seen, judge, ran};
pub use product::Product;
pub use slip::{Slip, SlipKind};
pub use stream::Stream;
pub use text::Generated;
