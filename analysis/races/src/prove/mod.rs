//! Proofs that two program instances never touch the same bytes.

mod convert;
mod pair;
mod poly;
mod range;
mod refute;
mod table;
mod ticket;

pub(crate) use convert::{Converter, Count};
pub(crate) use pair::{Instances, Prover};
pub(crate) use poly::{Monomial, Poly};
pub(crate) use refute::Spread;
pub(crate) use table::{Premise, Table, tables};
pub(crate) use ticket::{Counter, tickets};
