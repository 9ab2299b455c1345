//! A session with the database: opened, looked at, and spoken to in prepared statements.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::address::DatabaseAddress;
use crate::error::SessionError;

pub(crate) type Answer<T> = Result<T, SessionError>;

/// Each has a bound, so that nobody waits for a statement that hangs.
const SETTINGS: &str = "SET statement_timeout = '30s'; SET lock_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '30s'; SET client_min_messages = warning; \
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; \
     SET tcp_keepalives_count = 3; SET search_path = toolcrib";

/// The oldest version that is tested.
const OLDEST: i32 = 150_000;

pub(crate) struct Session {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
}

impl Session {
    /// Opens one; who calls is within the runtime that serves it.
    pub(crate) async fn open(address: &DatabaseAddress) -> Answer<Self> {
        let (client, connection) = address.config.connect(NoTls).await?;
        // Its fault is told to whoever asks next.
        tokio::spawn(async move { drop(connection.await) });
        let session = Self { client, statements: Mutex::default() };
        session.batch(SETTINGS).await?;
        Ok(session)
    }

    /// Whether the server can keep a record: what it confirms must be on its disk.
    pub(crate) async fn inspect(&self) -> Answer<()> {
        let row = self
            .row(
                "SELECT current_setting('server_version_num')::int, \
                 current_setting('server_encoding'), current_setting('fsync')::bool, \
                 current_setting('full_page_writes')::bool, pg_is_in_recovery()",
                &[],
            )
            .await?
            .ok_or(SessionError::Unreadable("no settings"))?;
        let encoding: String = row.try_get(1)?;
        let (syncs, pages): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
        let told = if row.try_get::<_, i32>(0)? < OLDEST {
            "is of a version before 15: use a newer server"
        } else if encoding != "UTF8" {
            "does not keep text as UTF-8: make its database with `ENCODING 'UTF8'`"
        } else if !syncs || !pages {
            "loses what it confirmed when its machine stops: set `fsync` and `full_page_writes` \
             to `on`"
        } else if row.try_get(4)? {
            "is a copy of another server: name the one that writes"
        } else {
            // Each group says how much it needs.
            return self.batch("SET synchronous_commit = on").await;
        };
        Err(SessionError::Unfit(told))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Statements without values, one after the other.
    pub(crate) async fn batch(&self, sql: &str) -> Answer<()> {
        Ok(self.client.batch_execute(sql).await?)
    }

    pub(crate) async fn rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Answer<Vec<Row>> {
        Ok(self.client.query(&self.prepared(sql).await?, values).await?)
    }

    pub(crate) async fn row(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Option<Row>> {
        Ok(self.client.query_opt(&self.prepared(sql).await?, values).await?)
    }

    /// How many rows changed.
    pub(crate) async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Answer<u64> {
        Ok(self.client.execute(&self.prepared(sql).await?, values).await?)
    }

    async fn prepared(&self, sql: &str) -> Answer<Statement> {
        let known = || self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        known().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}
