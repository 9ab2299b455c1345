//! The engine through its door.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod again;
mod alike;
mod away;
mod batch;
mod batch_faults;
mod batch_properties;
mod catalog;
mod client_sessions;
mod consent;
mod discovery;
mod hosted;
mod ledger;
mod library;
mod limits;
mod lock;
mod lock_properties;
mod observer;
mod of_one_source;
mod outbound_requests;
mod plan;
mod plan_properties;
mod previews;
mod questions;
mod reading;
mod redaction;
mod resent;

mod rules;
mod runs;
mod selection;
mod spellings;
mod starting;
mod tickets;
mod tickets_expiry;
mod times;
mod toolsets;
mod verified;
mod weighing;

/// The ledger that the tests are about.
fn ledger() -> std::sync::Arc<dyn toolcrib_core::Ledger> {
    std::sync::Arc::new(toolcrib_engine::ledger::MemoryLedger::default())
}

/// The runs that the tests are about.
fn runs() -> std::sync::Arc<dyn toolcrib_core::RunLedger> {
    std::sync::Arc::new(toolcrib_engine::ledger::MemoryRuns::default())
}

/// The sessions that the tests are about.
fn client_sessions() -> std::sync::Arc<dyn toolcrib_core::SessionLedger> {
    std::sync::Arc::new(toolcrib_engine::ledger::MemorySessions::default())
}

/// The beginning of a crib with the ledger that the tests are about.
fn builder() -> toolcrib_engine::CribBuilder {
    builder_within(toolcrib_core::TicketBounds::default())
}

fn builder_within(tickets: toolcrib_core::TicketBounds) -> toolcrib_engine::CribBuilder {
    let limits = toolcrib_core::CribLimits { tickets, ..Default::default() };
    toolcrib_engine::Crib::builder().limits(limits)
}
