//! A session with the database: opened, looked at, and spoken to in prepared statements.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use crate::address::DatabaseAddress;
use crate::error::SessionError;

pub(crate) type Answer<T> = Result<T, SessionError>;

/// Each has a bound, so that nobody waits for a statement that hangs.
const SETTINGS: &str = "SET statement_timeout = '30s'; SET lock_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '30s'; SET client_min_messages = warning; \
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; \
     SET tcp_keepalives_count = 3; SET search_path = toolcrib";

/// What is said on from the moment at which callers wait for the session.
const BRIEF: &str = "SET statement_timeout = '8s'";

/// What is said on where others share the record: one that was stopped within a group keeps them
/// waiting.
const SHARED: &str = "SET idle_in_transaction_session_timeout = '3s'; SET lock_timeout = '2s'";

/// How long a session may take to come about, however the server falls silent.
const OPENING: Duration = Duration::from_secs(8);

/// How long an answer may take: somewhat more than the server gives itself, so that it tells first.
const LONG: Duration = Duration::from_secs(35);
const SHORT: Duration = Duration::from_secs(9);

/// The number of a process that shares its record with nobody.
const ALONE: i64 = 0;

/// The oldest version that is tested.
const OLDEST: i32 = 150_000;

pub(crate) struct Session {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    is_brief: AtomicBool,
    /// It owes an answer, which would be taken for that of the next question.
    is_silent: AtomicBool,
    /// The numbers of this process, the one that it has now before those that it had.
    owners: Vec<i64>,
}

impl Session {
    /// Opens one for what may take a while; who calls is within the runtime that serves it.
    pub(crate) async fn open(address: &DatabaseAddress) -> Answer<Self> {
        in_opening(Self::begin(address)).await
    }

    /// Opens one that callers wait for from the beginning.
    pub(crate) async fn open_brief(address: &DatabaseAddress) -> Answer<Self> {
        let opening = async {
            let session = Self::begin(address).await?;
            session.be_brief().await?;
            Answer::Ok(session)
        };
        in_opening(opening).await
    }

    async fn begin(address: &DatabaseAddress) -> Answer<Self> {
        let session = Self {
            client: address.connect().await?,
            statements: Mutex::default(),
            is_brief: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            owners: vec![ALONE],
        };
        session.batch(SETTINGS).await?;
        Ok(session)
    }

    /// From now on callers wait for it, and none waits long.
    pub(crate) async fn be_brief(&self) -> Answer<()> {
        self.batch(BRIEF).await?;
        self.is_brief.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes as a replica from now on.
    pub(crate) async fn be_one_of_several(&mut self, owners: Vec<i64>) -> Answer<()> {
        self.owners = owners;
        self.batch(SHARED).await
    }

    /// The number under which this process writes.
    pub(crate) fn owner(&self) -> i64 {
        self.owners.first().copied().unwrap_or(ALONE)
    }

    /// The same with those before: what was begun under them may end late.
    pub(crate) fn owners(&self) -> &Vec<i64> {
        &self.owners
    }

    /// Statements for which the server takes the time that they need; this side waits no longer.
    pub(crate) async fn unhurried(&self, sql: &str) -> Answer<()> {
        self.batch("SET statement_timeout = 0").await?;
        self.batch(sql).await?;
        self.batch(BRIEF).await
    }

    /// Whether the server can keep a record: what it confirms must be on its disk, and on that of
    /// whoever takes its place.
    pub(crate) async fn inspect(&self) -> Answer<()> {
        let row = self
            .row(
                "SELECT current_setting('server_version_num')::int, \
                 current_setting('server_encoding'), current_setting('fsync')::bool, \
                 current_setting('full_page_writes')::bool, pg_is_in_recovery(), \
                 current_setting('transaction_read_only')::bool, \
                 current_setting('synchronous_standby_names'), \
                 (SELECT count(*) FROM pg_stat_replication WHERE coalesce(application_name, '') NOT IN \
                 ('pg_basebackup', 'pg_receivewal') AND pid NOT IN (SELECT active_pid FROM \
                 pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL))",
                &[],
            )
            .await?
            .ok_or(SessionError::Unreadable("no settings"))?;
        let encoding: String = row.try_get(1)?;
        let (syncs, pages): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
        let (names, standbys): (String, i64) = (row.try_get(6)?, row.try_get(7)?);
        let told = if row.try_get::<_, i32>(0)? < OLDEST {
            "is of a version before 15: use a newer server"
        } else if encoding != "UTF8" {
            "does not keep text as UTF-8: make its database with `ENCODING 'UTF8'`"
        } else if !syncs || !pages {
            "loses what it confirmed when its machine stops: set `fsync` and `full_page_writes` \
             to `on`"
        } else if row.try_get(4)? {
            "is a copy of another server: name the one that writes"
        } else if row.try_get(5)? {
            "may be read only: let this user write, and set `default_transaction_read_only` to \
             `off`"
        } else if standbys > 0 && names.trim().is_empty() {
            "has a standby that may lack what was confirmed last: name it in \
             `synchronous_standby_names`"
        } else {
            // Each group says how much it needs, whatever the server is set to.
            return self.batch("SET synchronous_commit = on").await;
        };
        Err(SessionError::unfit(told))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.is_silent.load(Ordering::Relaxed)
    }

    /// Statements without values, one after the other.
    pub(crate) async fn batch(&self, sql: &str) -> Answer<()> {
        self.in_time(self.client.batch_execute(sql)).await
    }

    /// The same; how many rows each of them found or changed.
    pub(crate) async fn batch_counts(&self, sql: &str) -> Answer<Vec<u64>> {
        let told = self.in_time(self.client.simple_query(sql)).await?;
        let counts = told.into_iter().filter_map(|told| {
            if let SimpleQueryMessage::CommandComplete(count) = told { Some(count) } else { None }
        });
        Ok(counts.collect())
    }

    pub(crate) async fn rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Answer<Vec<Row>> {
        let statement = self.prepared(sql).await?;
        self.in_time(self.client.query(&statement, values)).await
    }

    pub(crate) async fn row(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Option<Row>> {
        let statement = self.prepared(sql).await?;
        self.in_time(self.client.query_opt(&statement, values)).await
    }

    /// How many rows changed.
    pub(crate) async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Answer<u64> {
        let statement = self.prepared(sql).await?;
        self.in_time(self.client.execute(&statement, values)).await
    }

    async fn prepared(&self, sql: &str) -> Answer<Statement> {
        let known = || self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.in_time(self.client.prepare(sql)).await?;
        known().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// An answer of a server that may have fallen silent.
    async fn in_time<T>(
        &self,
        asking: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Answer<T> {
        let patience = if self.is_brief.load(Ordering::Relaxed) { SHORT } else { LONG };
        if let Ok(answer) = tokio::time::timeout(patience, asking).await {
            return Ok(answer?);
        }
        self.is_silent.store(true, Ordering::Relaxed);
        Err(SessionError::Silent)
    }
}

/// What is said while a session comes about has no bounds of its own that are short enough.
async fn in_opening<T>(opening: impl Future<Output = Answer<T>>) -> Answer<T> {
    tokio::time::timeout(OPENING, opening).await.unwrap_or(Err(SessionError::Silent))
}
