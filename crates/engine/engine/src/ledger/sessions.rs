//! Sessions of clients in memory: for servers of one process, which keep no more of them than they
//! have.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolcrib_core::{BoxFuture, ENDED_FOR, LedgerError, SessionLedger, SessionRecord};

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

impl MemorySessions {
    fn locked(&self) -> MutexGuard<'_, HashMap<String, SessionRow>> {
        // What a panic left behind is whole: every change is one insertion or of one row.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
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
        let mut all = self.locked();
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
        let all = self.locked();
        let found = all.get(name).filter(|row| row.lives());
        ready(Ok(found.map(|row| row.session.clone())))
    }

    fn keep(
        &self,
        mut names: Vec<String>,
        life: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        let (mut all, until) = (self.locked(), after(life));
        names.retain(|name| {
            let Some(row) = all.get_mut(name).filter(|row| row.lives()) else { return false };
            row.until = row.until.max(until);
            true
        });
        ready(Ok(names))
    }

    fn leave(&self, names: Vec<String>, left: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        let (mut all, now, until) = (self.locked(), Instant::now(), after(left));
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
        if let Some(row) = self.locked().get_mut(name) {
            row.session.greeting = greeting;
        }
        ready(Ok(()))
    }

    fn end<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let mut all = self.locked();
        let Some(row) = all.get_mut(name).filter(|row| row.lives()) else {
            return ready(Ok(false));
        };
        row.is_ended = true;
        row.until = after(ENDED_FOR);
        ready(Ok(true))
    }

    fn ended(&self, mut names: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        let (all, now) = (self.locked(), Instant::now());
        names.retain(|name| all.get(name).is_some_and(|row| row.is_ended && row.until > now));
        ready(Ok(names))
    }
}
