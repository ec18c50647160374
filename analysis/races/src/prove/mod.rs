//! Proofs that two program instances never touch the same bytes.

mod convert;
mod linear;
mod pair;
mod poly;
mod refute;
mod table;
mod ticket;

pub(crate) use convert::Converter;
pub(crate) use pair::Prover;
pub(crate) use poly::Poly;
pub(crate) use refute::Spread;
pub(crate) use table::{Premise, Table, tables};
pub(crate) use ticket::{Counter, tickets};
