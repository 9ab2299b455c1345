//! The clock on the wall: what is written must mean the same after a restart.

pub mod lease;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub i64);

impl WallTime {
    /// A moment as it is written.
    pub fn of(time: SystemTime) -> Self {
        Self(milliseconds(time.duration_since(UNIX_EPOCH).unwrap_or_default()))
    }

    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(milliseconds(since))
    }

    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(milliseconds(duration)))
    }

    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(milliseconds(duration)))
    }

    /// From another one to this; nothing if that is later.
    pub fn since(self, other: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(other.0)).unwrap_or_default())
    }

    pub fn time(self) -> SystemTime {
        let since = Duration::from_millis(u64::try_from(self.0).unwrap_or_default());
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
