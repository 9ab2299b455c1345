//! The open tickets, a page at a time.

use super::ticket::ParkedCall;

/// Bytes of arguments and reasons that a page takes, if it has more than one ticket.
const LARGEST: usize = 4 * 1024 * 1024;

/// Some of the open tickets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenTickets {
    /// Oldest first.
    pub tickets: Vec<ParkedCall>,
    /// Of the last one, behind which the next page begins; `None`: there is none.
    pub next: Option<u64>,
}

impl OpenTickets {
    /// Takes tickets with their numbers, oldest first, up to the limit, and fewer if they are
    /// large.
    pub fn of<E>(
        numbered: impl IntoIterator<Item = Result<(u64, ParkedCall), E>>,
        limit: usize,
    ) -> Result<Self, E> {
        let (mut tickets, mut bytes, mut last) = (Vec::new(), 0, None);
        for ticket in numbered {
            let (number, parked) = ticket?;
            if bytes >= LARGEST || tickets.len() >= limit.max(1) {
                return Ok(Self { tickets, next: last });
            }
            bytes += parked.reason.len() + parked.arguments.clone().into_value().to_string().len();
            last = Some(number);
            tickets.push(parked);
        }
        Ok(Self { tickets, next: None })
    }
}
