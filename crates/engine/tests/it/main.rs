//! The engine through its door.

mod batch;
mod batch_properties;
mod catalog;
mod plan;
mod plan_properties;
mod tickets;
