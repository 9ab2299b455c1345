//! The revisions of the protocol that we serve. They are dates, which go in the order of their
//! letters.

/// Oldest first.
pub(crate) const REVISIONS: [&str; 4] = ["2025-03-26", OBJECTS, "2025-11-25", LATEST];

/// The first with results that are data, and with links.
pub(crate) const OBJECTS: &str = "2025-06-18";

/// The first without a greeting: each request says by itself who asks.
pub(crate) const LATEST: &str = "2026-07-28";

/// A client of this one names no revision in its requests.
pub(crate) const UNNAMED: &str = "2025-03-26";

/// The newest that begins with a greeting.
pub(crate) const GREETED: &str = "2025-11-25";

/// Ones that clients of others may name, though they are not served.
pub(crate) const FORMER: &str = "2024-11-05";

/// Whether its clients greet first, and belong to a session.
pub(crate) fn has_greeting(revision: &str) -> bool {
    revision < LATEST
}

/// The one that a greeting is answered with.
pub(crate) fn agreed(wanted: &str) -> &'static str {
    let served = REVISIONS.into_iter().find(|served| *served == wanted);
    served.filter(|served| has_greeting(served)).unwrap_or(GREETED)
}
