//! Catalogs, rules, pins and records: what is around the gate.
//!
//! Read in this order: [`Crib`], [`catalog`], [`ledger`], [`rules`], [`pins`],
//! [`discovery`], [`selection`], [`toolsets`].

mod builtin;
pub mod catalog;
mod crib;
pub mod discovery;
pub mod ledger;
pub mod pins;
pub mod policy;
pub mod rules;
pub mod selection;
pub mod source;
pub mod toolsets;

pub use crib::Crib;
pub use crib::builder::CribBuilder;
