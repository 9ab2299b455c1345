//! The store as a ledger of sessions of clients.

use std::time::Duration;

use toolcrib_core::{BoxFuture, LONGEST_GREETING, LedgerError, SessionLedger, SessionRecord};

use super::Store;
use crate::writes::job::Durability;
use crate::writes::requests::session_requests::WriteSession;

impl SessionLedger for Store {
    fn put(
        &self,
        session: SessionRecord,
        life: Duration,
        most: usize,
    ) -> BoxFuture<'_, Result<bool, LedgerError>> {
        Box::pin(async move {
            bounded(&session.greeting)?;
            self.is_there(WriteSession::Put { session, life, most }).await
        })
    }

    fn find<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<SessionRecord>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.session(name.to_owned()).await?) })
    }

    fn keep(
        &self,
        names: Vec<String>,
        life: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        Box::pin(self.ask_of_sessions(WriteSession::Keep { names, life }))
    }

    fn leave(&self, names: Vec<String>, left: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            self.ask_of_sessions(WriteSession::Leave { names, left }).await.map(drop)
        })
    }

    fn greet<'a>(
        &'a self,
        name: &'a str,
        greeting: String,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            bounded(&greeting)?;
            let greet = WriteSession::Greet { name: name.to_owned(), greeting };
            self.ask_of_sessions(greet).await.map(drop)
        })
    }

    fn end<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(self.is_there(WriteSession::End { name: name.to_owned() }))
    }

    fn ended(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.ended_sessions(names).await?) })
    }
}

impl Store {
    async fn ask_of_sessions(&self, asked: WriteSession) -> Result<Vec<String>, LedgerError> {
        Ok(self.0.writer.ask(Durability::Commit, asked).await?)
    }

    /// Whether the one that it is about is there, or was.
    async fn is_there(&self, asked: WriteSession) -> Result<bool, LedgerError> {
        Ok(!self.ask_of_sessions(asked).await?.is_empty())
    }
}

fn bounded(greeting: &str) -> Result<(), LedgerError> {
    if greeting.len() <= LONGEST_GREETING {
        return Ok(());
    }
    Err(LedgerError::new(format!("a greeting has at most {LONGEST_GREETING} bytes")))
}
