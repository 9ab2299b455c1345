//! What is asked of the rows of sessions of clients.

use std::time::Duration;

use toolcrib_core::SessionRecord;

use crate::writes::awaited::WriteRequest;

/// Answers the names of those sessions that are there, or were.
pub enum WriteSession {
    /// Writes one down, unless its caller has so many already.
    Put {
        session: SessionRecord,
        life: Duration,
        most: usize,
    },
    /// Has them live so long from now on.
    Keep {
        names: Vec<String>,
        life: Duration,
    },
    /// Has those be over that have no more than this left.
    Leave {
        names: Vec<String>,
        left: Duration,
    },
    /// Writes what is known of a client by now.
    Greet {
        name: String,
        greeting: String,
    },
    End {
        name: String,
    },
}

impl WriteRequest for WriteSession {
    type Answer = Vec<String>;
}
