//! Catalogs, rules, pins and records: the rooms around the gate.
//!
//! Read in this order: [`Crib`], [`catalog`], [`ledger`], [`rules`], [`lock`],
//! [`discovery`].

pub mod catalog;
mod crib;
pub mod discovery;
pub mod ledger;
pub mod lock;
mod looking_up;
mod own;
mod reading;
pub mod rules;

pub use crib::{Crib, CribBuilder};
