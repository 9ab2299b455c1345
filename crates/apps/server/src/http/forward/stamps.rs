//! Stamps: each is good for one request, and for a short time. Whoever answers gives them out, and by
//! its own clock, so that no other clock decides and what was held up is not begun late.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolcrib_auth::ClusterKey;
use toolcrib_core::Secret;
use uuid::Uuid;

/// Stamps that were used within their time, at the most.
const MOST: usize = 65_536;
/// Characters of a stamp, at the most.
pub(super) const LONGEST: usize = 160;

pub(super) struct StampBook {
    /// Of this process alone: nobody else gives out stamps of it.
    key: ClusterKey,
    began: Instant,
    life: Duration,
    used: Mutex<HashMap<Uuid, Instant>>,
}

/// Why a stamp is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StampFault {
    Unknown,
    Late,
    Used,
    Full,
}

impl StampBook {
    pub(super) fn new(life: Duration) -> Self {
        // 244 random bits of the operating system.
        let random = format!("{}{}", Uuid::new_v4(), Uuid::new_v4());
        let key = ClusterKey::new(&Secret::new(random), "stamps");
        Self { key, began: Instant::now(), life, used: Mutex::default() }
    }

    pub(super) fn give(&self) -> String {
        self.at(self.began.elapsed(), Uuid::new_v4())
    }

    fn at(&self, time: Duration, name: Uuid) -> String {
        let text = format!("{}.{}", time.as_millis(), name.simple());
        let mark = self.key.mark(&[text.as_bytes()]);
        format!("{text}.{}", hex(&mark))
    }

    /// Takes one, once.
    pub(super) fn take(&self, stamp: &str) -> Result<(), StampFault> {
        let (text, mark) = stamp.rsplit_once('.').ok_or(StampFault::Unknown)?;
        let own = hex(&self.key.mark(&[text.as_bytes()]));
        // Both are marked once more, so that the time it takes tells nothing of the right one.
        if self.key.mark(&[own.as_bytes()]) != self.key.mark(&[mark.as_bytes()]) {
            return Err(StampFault::Unknown);
        }
        let (time, name) = text.split_once('.').ok_or(StampFault::Unknown)?;
        let (time, name) = (time.parse().ok(), Uuid::parse_str(name).ok());
        let (Some(time), Some(name)) = (time, name) else { return Err(StampFault::Unknown) };
        let given = self.began + Duration::from_millis(time);
        if given.elapsed() > self.life {
            return Err(StampFault::Late);
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MOST {
            used.retain(|_, given| given.elapsed() <= self.life);
        }
        if used.contains_key(&name) {
            return Err(StampFault::Used);
        }
        if used.len() >= MOST {
            return Err(StampFault::Full);
        }
        used.insert(name, given);
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_good_once_where_it_was_given_and_in_time() {
        let book = StampBook::new(Duration::from_hours(1));
        let stamp = book.give();
        assert!(stamp.len() <= LONGEST);
        let other = StampBook::new(Duration::from_hours(1));
        assert_eq!(other.take(&stamp), Err(StampFault::Unknown));
        assert_eq!(book.take(&stamp), Ok(()));
        assert_eq!(book.take(&stamp), Err(StampFault::Used));
        for nothing in ["", ".", "1.2.3", &stamp[1..], &stamp[..stamp.len() - 1]] {
            assert_eq!(book.take(nothing), Err(StampFault::Unknown), "{nothing}");
        }
        let brief = StampBook::new(Duration::ZERO);
        let late = brief.at(Duration::ZERO, Uuid::new_v4());
        while brief.began.elapsed().is_zero() {}
        assert_eq!(brief.take(&late), Err(StampFault::Late));
    }

    #[test]
    fn no_more_stamps_are_remembered_than_there_is_room_for() {
        let book = StampBook::new(Duration::from_hours(1));
        let given = Instant::now();
        book.used.lock().unwrap().extend((0..MOST).map(|_| (Uuid::new_v4(), given)));
        assert_eq!(book.take(&book.give()), Err(StampFault::Full));
    }
}
