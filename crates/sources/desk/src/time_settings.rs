//! Whose clock and zone the desk has.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Tells what time it is.
pub type DeskClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What phrases of time are read by.
#[derive(Clone)]
pub struct DeskTimeSettings {
    /// Where the owners are: phrases are meant there and times are told there.
    pub zone: TimeZone,
    pub clock: DeskClock,
}

impl DeskTimeSettings {
    /// A zone by the clock of the system.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, clock: Arc::new(Timestamp::now) }
    }

    /// The same with another clock.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }
}
