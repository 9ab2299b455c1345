//! The record that replicas share, as a test has it.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toolcrib_core::{BoxFuture, LedgerError, SessionLedger, SessionRecord};
use toolcrib_engine::ledger::MemorySessions;

/// A caller of whom nothing can be written.
pub(super) const BROKEN: &str = "broken";

/// What all replicas have, which may be away.
#[derive(Default)]
pub(super) struct SharedRecord {
    pub(super) sessions: MemorySessions,
    is_away: AtomicBool,
    /// Nothing is written down until that is over.
    pub(super) is_slow: AtomicBool,
    /// How often it was asked which sessions were ended.
    pub(super) looks: AtomicUsize,
    /// The names of all sessions, as they began.
    pub(super) names: Mutex<Vec<String>>,
    /// The names of those that were kept.
    pub(super) kept: Mutex<Vec<String>>,
    /// The replicas that live.
    pub(super) living: Mutex<BTreeSet<String>>,
}

impl SharedRecord {
    pub(super) fn is_there(&self) -> Result<(), LedgerError> {
        if self.is_away.load(Ordering::SeqCst) { Err(LedgerError::new("away")) } else { Ok(()) }
    }

    pub(super) fn goes(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    pub(super) fn returns(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }

    pub(super) fn dies(&self, home: &str) {
        assert!(self.living.lock().unwrap().remove(home));
    }

    pub(super) fn name(&self, at: usize) -> String {
        self.names.lock().unwrap()[at].clone()
    }

    /// Waits until somebody may take up the session of that name, or nobody any more.
    pub(super) async fn until_found(&self, name: &str, is_found: bool) {
        let found = async {
            while self.sessions.find(name).await.unwrap().is_some() != is_found {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_secs(20), found).await.unwrap();
    }
}

impl SessionLedger for SharedRecord {
    fn put(
        &self,
        session: SessionRecord,
        life: Duration,
        most: usize,
    ) -> BoxFuture<'_, Result<bool, LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            if &*session.caller.subject == BROKEN {
                return Err(LedgerError::new("never"));
            }
            self.names.lock().unwrap().push(session.name.clone());
            while self.is_slow.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            self.sessions.put(session, life, most).await
        })
    }

    fn find<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<SessionRecord>, LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            self.sessions.find(name).await
        })
    }

    fn keep(
        &self,
        names: Vec<String>,
        life: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            let kept = self.sessions.keep(names, life).await?;
            self.kept.lock().unwrap().extend(kept.iter().cloned());
            Ok(kept)
        })
    }

    fn leave(&self, names: Vec<String>, left: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            self.sessions.leave(names, left).await
        })
    }

    fn greet<'a>(
        &'a self,
        name: &'a str,
        greeting: String,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            self.sessions.greet(name, greeting).await
        })
    }

    fn end<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            self.sessions.end(name).await
        })
    }

    fn ended(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        Box::pin(async move {
            self.is_there()?;
            self.looks.fetch_add(1, Ordering::SeqCst);
            self.sessions.ended(names).await
        })
    }
}
