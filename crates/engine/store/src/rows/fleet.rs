//! The processes that share a record, as the database tells of them.

use std::time::SystemTime;

use serde_json::Value;

/// Those that share a record, and what keeps its database from tidying up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fleet {
    /// Those that are not over, and those that ended within the last hour; in the order of their
    /// numbers.
    pub replicas: Vec<FleetReplica>,
    /// The oldest first.
    pub transactions: Vec<OldTransaction>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetReplica {
    pub id: i64,
    /// Nobody else's.
    pub name: String,
    pub stage: ReplicaStage,
    pub version: String,
    /// Where the others reach it.
    pub address: Option<String>,
    /// By the clock of the database.
    pub began: SystemTime,
    /// Milliseconds that are left of its lease; below zero: since when it is over.
    pub lease_left: i64,
    /// The digest of the secret that it seals with.
    pub secret: String,
    /// What it said of itself when it renewed its lease: an object of whatever its release says.
    pub said: Value,
    pub holds: ReplicaHoldings,
}

/// How far the life of a replica has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaStage {
    Live,
    /// Its lease is over, and nobody has taken it for dead yet.
    Late,
    /// What it left is being put in order.
    Dead,
    Over,
    /// A newer release has a word for it.
    Unclear,
}

impl ReplicaStage {
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Late => "late",
            Self::Dead => "dead",
            Self::Over => "over",
            Self::Unclear => "unclear",
        }
    }
}

/// Rows without an end that are of a replica.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplicaHoldings {
    /// Calls, of which so many wait for their turn.
    pub calls: u64,
    pub queued: u64,
    /// Keys of calls that run.
    pub keys: u64,
    /// Tickets that were taken, and whose calls were not sent yet.
    pub tickets: u64,
    /// Runs of agents.
    pub runs: u64,
}

/// A transaction that has been open for long. What was changed since it began stays beside what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldTransaction {
    /// The process of the server that has it; `None`: it is prepared, and of no process.
    pub process: Option<i64>,
    pub user: String,
    /// What its client is called, or it itself if it is prepared.
    pub application: String,
    /// What it does now, in the words of Postgres.
    pub state: String,
    /// How long it has been open, in milliseconds.
    pub open_for: i64,
    /// How many transactions began since the oldest that it may still see.
    pub behind: i64,
}
