//! Catalogs, rules, pins and records: the rooms around the gate.
//!
//! Read in this order: [`Crib`], [`catalog`], [`ledger`].

pub mod catalog;
mod crib;
pub mod ledger;

pub use crib::{Crib, CribBuilder};
