//! Sessions of clients in memory: for servers of one process, which keep no more of them than they
//! have.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use toolcrib_core::{BoxFuture, ENDED_FOR, LedgerError, SessionLedger, SessionRecord};

use super::{locked, ready};

/// Keeps sessions as long as they live.
#[derive(Default)]
pub struct MemorySessions(Mutex<HashMap<String, SessionRow>>);

struct SessionRow {
    session: SessionRecord,
    until: Instant,
    is_ended: bool,
}

impl SessionRow {
    fn lives(&self) -> bool {
        !self.is_ended && self.until > Instant::now()
    }
}

/// One that would outlive every clock does not end.
fn after(life: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(life).unwrap_or_else(|| now + Duration::from_hours(24 * 365))
}

impl SessionLedger for MemorySessions {
    fn put(
        &self,
        session: SessionRecord,
        life: Duration,
        most: usize,
    ) -> BoxFuture<'_, Result<bool, LedgerError>> {
        let mut all = locked(&self.0);
        all.retain(|_, row| row.until > Instant::now());
        if all.contains_key(&session.name) {
            return ready(Ok(true));
        }
        let of_caller = |row: &&SessionRow| row.lives() && row.session.caller.is(&session.caller);
        if all.values().filter(of_caller).count() >= most {
            return ready(Ok(false));
        }
        let row = SessionRow { until: after(life), is_ended: false, session };
        all.insert(row.session.name.clone(), row);
        ready(Ok(true))
    }

    fn find<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<SessionRecord>, LedgerError>> {
        let all = locked(&self.0);
        let found = all.get(name).filter(|row| row.lives());
        ready(Ok(found.map(|row| row.session.clone())))
    }

    fn keep(&self, names: Vec<String>, life: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        let (mut all, until) = (locked(&self.0), after(life));
        for name in names {
            if let Some(row) = all.get_mut(&name).filter(|row| row.lives()) {
                row.until = row.until.max(until);
            }
        }
        ready(Ok(()))
    }

    fn leave(&self, names: Vec<String>, left: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        let (mut all, now, until) = (locked(&self.0), Instant::now(), after(left));
        for name in names {
            if let Some(row) = all.get_mut(&name).filter(|row| row.lives() && row.until <= until) {
                row.until = now;
            }
        }
        ready(Ok(()))
    }

    fn greet<'a>(
        &'a self,
        name: &'a str,
        greeting: String,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        if let Some(row) = locked(&self.0).get_mut(name) {
            row.session.greeting = greeting;
        }
        ready(Ok(()))
    }

    fn end<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let mut all = locked(&self.0);
        let Some(row) = all.get_mut(name).filter(|row| row.lives()) else {
            return ready(Ok(false));
        };
        row.is_ended = true;
        row.until = after(ENDED_FOR);
        ready(Ok(true))
    }

    fn ended(&self) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        let all = locked(&self.0);
        let ended = all.iter().filter(|(_, row)| row.is_ended && row.until > Instant::now());
        ready(Ok(ended.map(|(name, _)| name.clone()).collect()))
    }
}
