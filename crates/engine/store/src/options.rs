//! How much is kept, and for how long.

use std::time::Duration;

use toolcrib_core::TicketBounds;

/// The bounds of a store, each with a default that is safe to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long a call that ended can be looked up, and a run of an agent.
    pub calls_for: Duration,
    /// Calls that are kept at the most, about, and runs as well; the oldest that ended go first.
    pub most_calls: u64,
    pub results_for: Duration,
    /// Bytes of kept results of one tenant; its oldest go first.
    pub result_bytes_per_tenant: u64,
    /// How long a key answers for the call that was made under it.
    pub keys_for: Duration,
    /// What may wait for a person.
    pub tickets: TicketBounds,
    /// Largest size of the file in bytes, besides its log; `None`: as large as the disk.
    pub max_bytes: Option<u64>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            calls_for: Duration::from_hours(30 * 24),
            most_calls: 5_000_000,
            results_for: Duration::from_hours(24),
            result_bytes_per_tenant: 256 * 1024 * 1024,
            keys_for: Duration::from_hours(24),
            tickets: TicketBounds::default(),
            max_bytes: None,
        }
    }
}
