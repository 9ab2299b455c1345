//! The clock on the wall: what is written must mean the same after a restart.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WallTime(pub(crate) i64);

impl WallTime {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(milliseconds(since))
    }

    pub(crate) fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(milliseconds(duration)))
    }

    pub(crate) fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(milliseconds(duration)))
    }

    /// From another one to this; nothing if that is later.
    pub(crate) fn since(self, other: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(other.0)).unwrap_or_default())
    }

    pub(crate) fn time(self) -> SystemTime {
        let since = Duration::from_millis(u64::try_from(self.0).unwrap_or_default());
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
