//! What a calendar object leaves open: where its owner is at home, and who they are.

use jiff::tz::TimeZone;

/// Where the owner of a calendar is at home.
#[derive(Debug, Clone)]
pub struct CalendarOwner {
    /// Days begin here, and times without a zone are of here.
    pub zone: TimeZone,
    /// The owner's own addresses of mail, by which they are found among the guests of an event.
    pub addresses: Vec<String>,
}

impl CalendarOwner {
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, addresses: Vec::new() }
    }

    /// Whether an address is one of the owner's.
    pub(crate) fn is_own(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own.eq_ignore_ascii_case(address))
    }
}
