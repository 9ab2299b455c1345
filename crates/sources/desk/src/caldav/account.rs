//! What is known of an account.

use std::sync::Arc;

use tokio::time::Instant;
use url::Url;

use super::collection::CalendarCollection;
use crate::owner::CalendarOwner;

/// What does not change of an account.
pub(super) struct CalDavAccountInfo {
    pub(super) place: CalendarUrl,
    /// With what the server says of the owner's addresses.
    pub(super) home: CalendarOwner,
}

pub(super) enum CalendarUrl {
    /// Collections stand in it, and more may be made.
    Home(Url),
    /// The settings name one calendar.
    Single(Url),
}

/// The collections, and since when they are known.
pub(super) struct CollectionCache {
    pub(super) since: Instant,
    pub(super) all: Arc<Vec<CalendarCollection>>,
}
